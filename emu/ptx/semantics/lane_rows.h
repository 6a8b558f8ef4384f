// SPDX-License-Identifier: Apache-2.0
#pragma once
// How kernels of the interpreter reach the rows of a warp: sources as arrays of 32 lanes whatever the width
// of their register, results written to the lanes of the mask only, lane flags packed to masks. Used by lane
// loops and by executors written by hand; it knows no instruction.

#include <cstdint>
#include <cstring>

#include "emu/lanes/lane_int.h"
#include "emu/ptx/core/program.h"
#include "emu/ptx/core/warp.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace understudy::emu::ptx {
inline namespace US_SEMANTICS_ARCH {

// A source as a uint32_t row. Registers of up to 32 bits are rows already; a 64-bit row (an immediate, an
// address, a wider register where the ISA allows one) is narrowed, a predicate becomes 0 or 1.
struct Row32 {
  const uint32_t* row;
  alignas(64) uint32_t copy[kWarpSize];

  US_OP Row32(const Warp& warp, Src s) : row(warp.U32(s)) {
    if (s.bytes == 8 || s.bytes == 0) [[unlikely]]
      Convert(warp, s);
  }
  Row32(const Row32&) = delete;

 private:
  [[gnu::noinline]] void Convert(const Warp& warp, Src s) {
    if (s.bytes == 8) {
      const uint64_t* wide = warp.U64(s);
      for (int i = 0; i < kWarpSize; ++i) copy[i] = static_cast<uint32_t>(wide[i]);
    } else {
      const uint32_t mask = warp.Pred(s);
      for (int i = 0; i < kWarpSize; ++i) copy[i] = mask >> i & 1;
    }
    row = copy;
  }
};

// A source as a uint64_t row; narrower registers are zero-extended.
struct Row64 {
  const uint64_t* row;
  alignas(64) uint64_t copy[kWarpSize];

  US_OP Row64(const Warp& warp, Src s) : row(warp.U64(s)) {
    if (s.bytes < 8) [[unlikely]]
      Convert(warp, s);
  }
  Row64(const Row64&) = delete;

 private:
  [[gnu::noinline]] void Convert(const Warp& warp, Src s) {
    const Row32 narrow(warp, s);
    for (int i = 0; i < kWarpSize; ++i) copy[i] = narrow.row[i];
    row = copy;
  }
};

// dst[lane] = value[lane] where `mask` has the lane's bit.
US_OP void Blend(uint32_t* dst, const uint32_t* value, uint32_t mask) {
#if defined(__AVX512F__)
  for (int i = 0; i < kWarpSize; i += 16)
    _mm512_mask_storeu_epi32(dst + i, static_cast<__mmask16>(mask >> i), _mm512_loadu_si512(value + i));
#else
  for (int i = 0; i < kWarpSize; ++i) dst[i] = (mask >> i & 1) != 0 ? value[i] : dst[i];
#endif
}
US_OP void Blend(uint64_t* dst, const uint64_t* value, uint32_t mask) {
#if defined(__AVX512F__)
  for (int i = 0; i < kWarpSize; i += 8)
    _mm512_mask_storeu_epi64(dst + i, static_cast<__mmask8>(mask >> i), _mm512_loadu_si512(value + i));
#else
  for (int i = 0; i < kWarpSize; ++i) dst[i] = (mask >> i & 1) != 0 ? value[i] : dst[i];
#endif
}

// Bit i of the result is flag[i], which is 0 or 1.
US_OP uint32_t PackFlags(const uint32_t* flag) {
  uint32_t mask = 0;
#if defined(__AVX512F__)
  for (int i = 0; i < kWarpSize; i += 16) {
    const __m512i v = _mm512_loadu_si512(flag + i);
    mask |= static_cast<uint32_t>(_mm512_test_epi32_mask(v, v)) << i;
  }
#elif defined(__AVX2__)
  for (int i = 0; i < kWarpSize; i += 8) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(flag + i));
    mask |= static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32(v, 31)))) << i;
  }
#else
  for (int i = 0; i < kWarpSize; ++i) mask |= (flag[i] & 1u) << i;
#endif
  return mask;
}
// The inverse.
US_OP void ExpandFlags(uint32_t mask, uint32_t* flag) {
  for (uint32_t i = 0; i < kWarpSize; ++i) flag[i] = mask >> i & 1;
}

// Writes a row of values to the lanes of warp.mask, cut or zero-extended to the register.
US_OP void StoreRow(Warp& warp, Src dst, const uint32_t* value) {
  if (dst.bytes == 8) [[unlikely]] {
    alignas(64) uint64_t wide[kWarpSize];
    for (int i = 0; i < kWarpSize; ++i) wide[i] = value[i];
    Blend(warp.Dst64(dst), wide, warp.mask);
    return;
  }
  Blend(warp.Dst32(dst), value, warp.mask);
}
US_OP void StoreRow(Warp& warp, Src dst, const uint64_t* value) {
  if (dst.bytes != 8) [[unlikely]] {
    alignas(64) uint32_t narrow[kWarpSize];
    const uint32_t keep = dst.bytes >= 4 ? ~0u : (1u << 8 * dst.bytes) - 1;
    for (int i = 0; i < kWarpSize; ++i) narrow[i] = static_cast<uint32_t>(value[i]) & keep;
    Blend(warp.Dst32(dst), narrow, warp.mask);
    return;
  }
  Blend(warp.Dst64(dst), value, warp.mask);
}

// The .BoolOp that combines a comparison with a predicate operand.
enum class BoolOp : uint8_t { kNone, kAnd, kOr, kXor };
US_OP uint32_t Combine(BoolOp op, uint32_t a, uint32_t c) {
  switch (op) {
    case BoolOp::kAnd:
      return a & c;
    case BoolOp::kOr:
      return a | c;
    case BoolOp::kXor:
      return a ^ c;
    case BoolOp::kNone:
      break;
  }
  return a;
}

// setp's results: p = flags BoolOp c and, where operand 0 is a pair p|q, q = !flags BoolOp c. `c` is
// operand 3.
US_OP void StoreCompare(Warp& warp, const Inst& inst, BoolOp op, uint32_t flags) {
  const uint32_t c = op == BoolOp::kNone ? 0 : warp.Pred(inst.src(3));
  const BoundOperand& dst = inst.op(0);
  if (dst.kind == Operand::Kind::kPredicatePair) {
    warp.SetPred(dst.elements[0].row, Combine(op, flags, c));
    warp.SetPred(dst.elements[1].row, Combine(op, ~flags, c));
  } else {
    warp.SetPred(dst.row, Combine(op, flags, c));
  }
}
// set's result: `true_value` (all ones, or one as a float) or 0.
US_OP void StoreSet(Warp& warp, const Inst& inst, BoolOp op, uint32_t flags, uint32_t true_value) {
  const uint32_t c = op == BoolOp::kNone ? 0 : warp.Pred(inst.src(3));
  const uint32_t mask = Combine(op, flags, c);
  alignas(64) uint32_t value[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) value[i] = (mask >> i & 1) != 0 ? true_value : 0;
  StoreRow(warp, inst.src(0), value);
}

}  // namespace US_SEMANTICS_ARCH
}  // namespace understudy::emu::ptx
