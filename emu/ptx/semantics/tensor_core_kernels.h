// SPDX-License-Identifier: Apache-2.0
#pragma once
// Inner loops of tensor_core.cc, compiled once for each host instruction set. They take decoded elements and
// know no rule but their parameters.

#include <cstdint>

namespace understudy::emu::ptx {

// Elements taken apart: value = significand * 2^(exponent - 10), the significand signed and below 2^11 in
// magnitude. `exponent` of zero is kZeroExponent.
constexpr int32_t kZeroExponent = -4096;

struct FloatCoding {
  uint8_t exponent_bits, fraction_bits;
  uint8_t skipped_bits;  // low bits of the word that do not count (tf32: 13)
  bool finite;           // e4m3: the top exponent holds numbers, all ones is NaN
  bool normalize;        // denormals become normal numbers
};

// Products of a step at most.
constexpr int kMaxStep = 32;

struct FloatBlock {
  int m, n;
  int first, count, stride;      // columns [first, first + count) of rows of `stride`
  const int32_t *a_sig, *a_exp;  // [row * stride + k]; significands, or the bits of f32 values
  const int32_t *b_sig, *b_exp;  // [b row * n + col]
  const uint8_t* select;         // [row * stride + k], or null: the row of B is k
  const uint32_t* c;             // [row * n + col], or null for zeros
  uint32_t* d;
  bool half_c, half_d;
  int fraction_bits;
  int result_bits;
};

struct IntegerBlock {
  int m, n, k;
  int32_t *a, *b;  // signed, in 16 bits each, upper halves clear; overwritten
  const uint8_t* select;
  int32_t* sum;  // [row * n + col]
};

struct DecodedRange {
  bool special = false;  // an element is infinite or NaN
  bool wide = false;     // an exponent is outside -60 .. 60
};

struct TensorKernels {
  const char* name;
  // Elements as f32 values and exponents; values of wide ones are meaningless.
  DecodedRange (*decode)(const FloatCoding& coding, const uint32_t* raw, int count, int32_t* value,
                         int32_t* exp);
  // Elements as significands times 2^shift, kept in 16 bits, upper halves clear, and exponents.
  void (*decode_wide)(const FloatCoding& coding, const uint32_t* raw, int count, int shift, int32_t* sig,
                      int32_t* exp);
  // Whether any accumulator (f16 or f32) is infinite or NaN.
  bool (*any_special)(bool half, const uint32_t* bits, int count);
  // Of values. False where terms are so small that their scale has no f32: then nothing is to be used.
  bool (*floats)(const FloatBlock& block);
  // Of significands.
  void (*wide_floats)(const FloatBlock& block);
  // Low `bits` of each word as a signed or unsigned integer in 16 bits, upper halves clear.
  void (*extend)(int bits, bool is_signed, const uint32_t* raw, int count, int32_t* out);
  void (*integers)(const IntegerBlock& block);
};

// a_sig is scaled by 2^kShiftA, b_sig by 2^kShiftB: their product then is in units of 2^(exponent - 25).
constexpr int kShiftA = 4, kShiftB = 1;

extern const TensorKernels kTensorKernels_baseline, kTensorKernels_avx2, kTensorKernels_avx512;

}  // namespace understudy::emu::ptx
