// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of Program::Build: rows for everything that an instruction can name, and the instructions bound
// to them. Private to the core.

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "emu/ptx/core/layout.h"
#include "emu/ptx/core/program.h"
#include "emu/ptx/semantics/fused_sum.h"

namespace understudy::emu::ptx {

// Function addresses: above every window, 16 bytes apart.
constexpr uint64_t kCodeWindow = 0x7fd0'0000'0000;

// Rows of constants, each value once per width.
class ConstantPool {
 public:
  Src Row(uint8_t bytes, uint64_t value);
  const uint8_t* Finish();  // 64-byte aligned; no Row() afterwards

 private:
  std::map<std::pair<uint8_t, uint64_t>, uint32_t> rows_;
  std::vector<std::pair<uint8_t, uint64_t>> values_;
  uint32_t used_ = 0;
  std::vector<uint64_t> storage_;
};

struct Program::Impl {
  std::shared_ptr<const Module> module;
  std::vector<BoundFunction> functions;
  ConstantPool constants;
  const uint8_t* constant_rows = nullptr;
  std::vector<SpecialRow> special_rows;
  uint32_t special_bytes = 0;
  SharedLayout shared;
  std::vector<int64_t> module_local_offsets;
  uint64_t module_local_bytes = 0;
  std::deque<std::vector<BoundOperand>> operand_storage;
  std::deque<CallPlan> calls;
  std::deque<std::string> notes;
  std::deque<FusedSum> fused_sums;
  std::deque<KeptFactors> kept_factors;
  BuildOptions options;
  std::map<uint64_t, uint64_t> constant_variables;  // begin to end

  absl::Status Bind(const SymbolAddresses& addresses);
  Src SpecialRowOf(uint16_t special, uint8_t bytes, int64_t addend);
};

}  // namespace understudy::emu::ptx
