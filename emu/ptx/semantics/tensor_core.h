// SPDX-License-Identifier: Apache-2.0
#pragma once
// The arithmetic of NVIDIA's tensor cores as an H200 (sm_90) does it: which products are summed at once, how
// many bits survive their alignment, how the sum is rounded. Used by the executors of mma, wmma and wgmma and
// by tests; it knows matrices of raw elements, not registers or shared memory. docs/tensor-cores.md states
// and sources the rules.

#include <cstdint>

#include "emu/ptx/isa/isa.h"
#include "src/base/float_format.h"

namespace understudy::emu::ptx {

struct TensorKernels;

// Whose product it is. Only three things depend on it: tf32 products of wmma, 8-bit float products.
enum class TensorUnit : uint8_t { kMma, kWmma, kWgmma };

// How one kind of float product is summed. The products of a step and the accumulator are aligned to the
// largest exponent among them (of factors' exponents summed, so a product counts as 1.x even where it is 2.x
// or 3.x), cut toward zero below 2^(largest - fraction_bits), and added exactly.
struct FloatRule {
  TensorUnit unit;
  Type type;              // of elements; kE4m3 stands for both 8-bit formats
  uint8_t fraction_bits;  // kept below the largest exponent
  uint8_t result_bits;  // of the f32 result's fraction, cut toward zero; an f16 result is rounded to nearest
  uint8_t step;         // products a step; more are summed in further steps, each onto the last one's result
  // The compiler's substitute for an 8-bit product that the hardware lacks: elements become f16 (e4m3's
  // denormals normal numbers); elements 0 and 1 of every four are summed from zero, then 2 and 3 onto them; C
  // is added to that, rounded to nearest.
  bool through_half;
};

// The rule for elements `a` and `b` (kF16, kBf16, kTf32, kE4m3, kE5m2); nullptr when there is none.
const FloatRule* FindFloatRule(TensorUnit unit, Type a, Type b);

// D = A B + C. Elements are raw, one in each word, low bits first. n is a multiple of 8.
struct MatrixOperands {
  int m = 0, n = 0;
  int k = 0;                        // products of one output: A's columns (those stored, where it is sparse)
  int b_rows = 0;                   // k, or more where A is sparse
  const uint32_t* a = nullptr;      // [row * k + col]
  const uint32_t* b = nullptr;      // [row * n + col]
  const uint8_t* select = nullptr;  // [row * k + col]: the row of B for each element of a sparse A
  const uint32_t* c = nullptr;      // [row * n + col]
  uint32_t* d = nullptr;            // may be c
  bool negate_a = false, negate_b = false;
};
// Limits of the arrays above, which set the scratch space: elements of A, of B, of C.
constexpr int kMaxTensorA = 1024, kMaxTensorB = 4096, kMaxTensorC = 1024;

// `c` and `d` are kF16 or kF32. NaN results are 0x7fffffff and 0x7fff.
void MultiplyFloats(const FloatRule& rule, Type a, Type b, Type c, Type d, const MatrixOperands& matrices);
// m8n8k4 of f16, 8 x 8 x 4, for which sm_90 has no matrix unit: f32 multiply-adds, each rounded to nearest.
// ((p0 + p1 + p2) + p3) + C for f32 results, ((p0 + p1) + C) + (p2 + p3) for f16 ones.
void MultiplyQuad(Type c, Type d, const MatrixOperands& matrices);
// kS8, kU8, kS4, kU4 elements, 32-bit C and D: the exact sum, cut to 32 bits or saturated once at the end.
void MultiplyIntegers(Type a, Type b, bool saturate, const MatrixOperands& matrices);

// One-bit matrices: a[row * words + w], b[col * words + w], 32 elements in a word. Counts the bits of
// and/xor.
enum class BitProduct : uint8_t { kAnd, kXor };
void MultiplyBits(BitProduct product, int m, int n, int words, const uint32_t* a, const uint32_t* b,
                  const uint32_t* c, uint32_t* d);

// f64: a chain of fused multiply-adds from C in order of k, each rounded. NaNs as the unit gives them.
void MultiplyDoubles(Rounding rounding, int m, int n, int k, const uint64_t* a, const uint64_t* b,
                     const uint64_t* c, uint64_t* d);

// Loops for the host's instruction sets; tests run them all against each other. Index from 0 to the number of
// those that this host has.
int NumTensorKernels();
const char* TensorKernelName(int index);
// Chooses one for the process (the best is chosen at start).
void UseTensorKernels(int index);

}  // namespace understudy::emu::ptx
