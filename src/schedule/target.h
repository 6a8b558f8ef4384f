// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the compiler may know of a device: a plain value of limits and abilities. A Device offers one, codegen
// and the renderers read it; nothing in the compiler ever asks for a device by name.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "src/dtype/dtype.h"
#include "src/schedule/tensor_core.h"

namespace understudy {

// A set of element types.
class ScalarSet {
 public:
  constexpr ScalarSet() = default;
  constexpr ScalarSet(std::initializer_list<Scalar> scalars) {
    for (Scalar s : scalars) Add(s);
  }
  constexpr void Add(Scalar s) { bits_ |= 1u << static_cast<int>(s); }
  constexpr bool Has(Scalar s) const { return bits_ >> static_cast<int>(s) & 1; }
  constexpr bool Has(DType t) const { return Has(t.scalar); }
  friend constexpr bool operator==(ScalarSet, ScalarSet) = default;

 private:
  uint32_t bits_ = 0;
};

struct Target {
  // What the renderer dispatches on: "host" (LLVM for this machine), "gfx1100", ...; "" for devices that
  // evaluate kernel graphs and compile nothing.
  std::string isa;

  int wave_size = 1;
  int64_t max_workgroup = 1;                                    // threads in a workgroup
  std::array<int64_t, 3> max_grid = {INT32_MAX, 65535, 65535};  // workgroups in each dimension
  int64_t local_bytes = 0;                                      // shared memory of a workgroup
  int max_vector_bytes = 16;                                    // widest single load or store
  int vector_bytes = 0;      // a vector register; 0 where a lane is a thread
  int vector_registers = 0;  // how many of them
  int64_t pack_bytes = 0;    // copies of operands that stay in the cache
  int64_t stream_bytes = 0;  // outputs so large are written past the caches
  int max_buffers = 30;      // pointer arguments of a kernel

  bool has_local = false;    // workgroups with shared memory and barriers
  bool has_threads = false;  // the launcher runs workgroups (of one work-item) on several host threads
  int threads = 1;           // how many at once

  std::vector<TensorCore> tensor_cores;  // matrix instructions of a wave; needs has_local
  bool float_tensor_cores = false;       // the heuristic may use those of floats: sums round as the core does

  // Types with native arithmetic. Every type can be stored; arithmetic of the others is decomposed (computed
  // in f32 and rounded after each op for floats, in pairs of u32 for 64-bit integers).
  ScalarSet arithmetic = {Scalar::kBool,   Scalar::kInt8,    Scalar::kUInt8,   Scalar::kInt16,
                          Scalar::kUInt16, Scalar::kInt32,   Scalar::kUInt32,  Scalar::kInt64,
                          Scalar::kUInt64, Scalar::kFloat32, Scalar::kFloat64, Scalar::kIndex};
  // What reads the code divides by constants with multiplications; where not, the compiler does (types of up to
  // 32 bits).
  bool divides_by_constants = true;
  // Types for which EXP2, LOG2 and SIN exist with at most 2 ulp over the whole range; the others are
  // decomposed to polynomials.
  ScalarSet transcendental;
  // Float types with IEEE 754-2019 maximum and minimum (NaN wins, -0 < +0); MAX and MIN of the others become
  // comparisons.
  ScalarSet maximum;
  // Types with a correctly rounded square root and a fused multiply-add.
  ScalarSet sqrt = {Scalar::kFloat32, Scalar::kFloat64};
  ScalarSet fma = {Scalar::kFloat32, Scalar::kFloat64};

  friend bool operator==(const Target&, const Target&) = default;
};

}  // namespace understudy
