// SPDX-License-Identifier: Apache-2.0
#pragma once
// The inner loops of matrix instructions: bringing rows of elements from registers into arrays, and products
// of one block by each rule. Compiled for several host instruction sets with equal results; matrix_exec.cc
// chooses one at run time and is their only caller.

#include <cstdint>

#include "emu/amd/semantics/matrix_table.h"

namespace understudy::emu::amd {

// How an element of A or B is read from its register.
enum class MatrixCoding : uint8_t { kF64, kF32, kXf32, kF16, kBf16, kTable, kI8, kU8, kI4, kU4 };

// Exponent of a zero element: the exponent of a product with it is below that of any other product.
constexpr int kZeroExponent = -512;
// Fraction bits of a staged significand, so that the product of two has 24.
constexpr int kStagedBits = 12;

struct MatrixStage {
  const uint32_t* regs;  // lane 0 of the first register
  int lanes;             // of a register
  const MatrixSlice* slices;
  int count;   // slices
  int width;   // elements of a slice: 4, 16 or 32
  int blocks;  // slices of one k
  MatrixCoding coding;
  int bits;                                  // of an element with kTable
  const float* table;                        // its values
  bool flip_even = false, flip_odd = false;  // negate the elements of even or odd k
  bool flush = false;                        // denormal elements become zeros of their sign
  int min_exponent = 0;                      // of the format: exponents of denormals
  // Results, [slice * width + i]; value or significand and exponent, integers or doubles as the rule needs.
  float* value = nullptr;
  float* significand = nullptr;  // times 2^kStagedBits
  int32_t* exponent = nullptr;
  int32_t* integer = nullptr;
  double* f64 = nullptr;
};

struct MatrixProduct {
  int rows, cols;          // M, and N: 4, 16 or 32
  int k;                   // products an element
  int group;               // products a step
  int a_stride, b_stride;  // from one k to the next
  // Of the block; which ones are set depends on the rule.
  const float* a = nullptr;  // values or significands
  const float* b = nullptr;
  const float* a_value = nullptr;  // beside significands, for p.slow
  const float* b_value = nullptr;
  const int32_t* a_exponent = nullptr;
  const int32_t* b_exponent = nullptr;
  const int32_t* a_integer = nullptr;
  const int32_t* b_integer = nullptr;
  const double* a_f64 = nullptr;
  const double* b_f64 = nullptr;
  // Sparse A: the row of B that belongs to stored element k of `row`, [row * k_count + k]; null: k.
  const uint8_t* select = nullptr;
  // F8F6F4: scales, [block of 32 * rows + row] and [block of 32 * cols + col].
  const double* a_scale = nullptr;
  const double* b_scale = nullptr;
  MatrixType d = MatrixType::kF32;  // of the accumulator; the steps of f16 and bf16 round to it
  bool in_range = false;            // products of A and B are neither beyond f32's range nor denormal
  bool clamp = false;               // integers saturate
  bool flush = false;               // CDNA2: denormals are zeros
  bool fp16_ovfl = false;           // MODE.FP16_OVFL: a sum beyond f16 is its largest value
  // C, replaced by D: bits of f32, of f16 or bf16 widened to f32, or of integers; f64 has its own array.
  uint32_t* cd = nullptr;
  double* cd_f64 = nullptr;
  // Computes `n` elements of a row when a value is infinite, NaN or outside what the vector loop handles.
  void (*slow)(const MatrixProduct& p, int row, int col, int n) = nullptr;
};

struct MatrixKernels {
  // Returns true where an element is an infinity or a NaN.
  bool (*stage)(const MatrixStage& stage);
  void (*integer)(const MatrixProduct& p);
  void (*fma_f64)(const MatrixProduct& p);
  void (*fma_f32)(const MatrixProduct& p);
  void (*dot2)(const MatrixProduct& p);
  void (*dot4)(const MatrixProduct& p);
  void (*pairwise)(const MatrixProduct& p);
  void (*fused)(const MatrixProduct& p);
  void (*fused_halves)(const MatrixProduct& p);
  void (*blocks)(const MatrixProduct& p);
};

namespace matrix_baseline {
extern const MatrixKernels kKernels;
}
namespace matrix_avx2 {
extern const MatrixKernels kKernels;
}
namespace matrix_avx512 {
extern const MatrixKernels kKernels;
}

// The kernels for this host; US_SEMANTICS_ARCH=baseline or avx2 in the environment chooses lesser ones.
const MatrixKernels& HostMatrixKernels();

}  // namespace understudy::emu::amd
