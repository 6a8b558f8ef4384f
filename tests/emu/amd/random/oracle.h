// SPDX-License-Identifier: Apache-2.0
#pragma once
// What instructions compute, written down a second time: plain C++ on 64-bit words, soft-float for floating
// point, and nothing of emu/. The random programs of this folder are evaluated with it, thread by thread, and
// compared with what the emulator makes of their machine code.

#include <cstdint>
#include <vector>

#include "src/base/soft_float.h"

namespace understudy::emu::amd::random {

// How MODE is set for a program.
struct FloatMode {
  Rounding round32 = Rounding::kNearestEven, round16_64 = Rounding::kNearestEven;
  bool keep32 = true, keep16_64 = true;  // denormals, in and out
  SoftContext Context32() const {
    return {round32, keep32 ? DenormMode::kKeep : DenormMode::kFlushBoth, Overflow::kInf};
  }
  SoftContext Context16() const {
    return {round16_64, keep16_64 ? DenormMode::kKeep : DenormMode::kFlushBoth, Overflow::kInf};
  }
};

// How a result is used and a source is drawn.
enum class Kind : uint8_t { kU16, kU32, kU64, kF16, kF32, kF64 };
constexpr int WordsOf(Kind kind) { return kind == Kind::kU64 || kind == Kind::kF64 ? 2 : 1; }

// A vector instruction: one value out of up to three. Sources arrive zero-extended.
struct VectorOp {
  const char* rdna;  // mnemonic on RDNA3 and RDNA4; nullptr where they lack it
  const char* cdna;  // on CDNA
  Kind dst;
  std::vector<Kind> src;
  // A result that is NaN is replaced (the program does it with two instructions more): which NaN is a matter
  // of its own.
  uint64_t (*value)(const uint64_t* s, const FloatMode& mode);
};
const std::vector<VectorOp>& VectorOps();

// A scalar instruction: value and SCC out of two sources, the old SCC and (s_addk and the like) nothing else.
struct ScalarOp {
  const char* rdna;
  const char* cdna;
  Kind dst;
  std::vector<Kind> src;
  // Returns the value; *scc holds the old SCC and receives the new one where the instruction writes it.
  uint64_t (*value)(const uint64_t* s, bool* scc);
};
const std::vector<ScalarOp>& ScalarOps();

// A comparison: a mask bit of two sources (vector), or SCC (scalar).
struct CompareOp {
  const char* name;  // the part after v_cmp_ or s_cmp_
  Kind src;
  bool (*value)(uint64_t a, uint64_t b, const FloatMode& mode);
};
const std::vector<CompareOp>& VectorCompares();
const std::vector<CompareOp>& ScalarCompares();

bool IsNan(Kind kind, uint64_t bits);

}  // namespace understudy::emu::amd::random
