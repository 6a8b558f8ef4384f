// SPDX-License-Identifier: Apache-2.0
#pragma once
// A family's executors by instruction name, compiled once for each host instruction set. The kernels_*.cc
// file of a family makes the rows from its .inc list; its find function looks names up. Built once,
// immutable.
//
//   namespace kernels_<arch> { extern const SemanticRow kIntegerRows[]; extern const int kNumIntegerRows; }
//   static const SemanticRow* const rows[] = {kernels_baseline::kIntegerRows, kernels_avx2::...,
//   kernels_avx512::...}; static const SemanticTable table(rows, kernels_baseline::kNumIntegerRows); const
//   SemanticRow* row = table.Find(inst.Name());

#include <cstdint>
#include <string>
#include <unordered_map>

#include "emu/ptx/semantics/find_exec.h"

namespace understudy::emu::ptx {

struct SemanticRow {
  const char* name;  // the instruction with all its modifiers: "add.sat.s32"
  ExecFn fn;
  SemanticState state;
  const char* note;
};

enum class HostArch : uint8_t { kBaseline, kAvx2, kAvx512 };
// What the host can do; US_SEMANTICS_ARCH=baseline or avx2 in the environment keeps to that, so that all can
// be tested on one host.
HostArch ChosenArch();

class SemanticTable {
 public:
  // Parallel arrays, by HostArch.
  SemanticTable(const SemanticRow* const rows[3], int count);

  const SemanticRow* Find(const std::string& name) const {
    const auto it = by_name_.find(name);
    return it == by_name_.end() ? nullptr : it->second;
  }
  const SemanticRow* begin() const { return rows_; }
  const SemanticRow* end() const { return rows_ + count_; }

 private:
  const SemanticRow* rows_;
  int count_;
  std::unordered_map<std::string, const SemanticRow*> by_name_;
};

}  // namespace understudy::emu::ptx
