// SPDX-License-Identifier: Apache-2.0
#pragma once
// The table of Tensor operations that the differential tests run: how to make a random case of each, the
// element types that it takes, and how far a device may be from REF. Each test binary runs a part of the
// table.

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "src/tensor/tensor.h"

namespace understudy {

// Random inputs on one device. A copy started from the same seed makes the same case on another device.
class CaseGen {
 public:
  CaseGen(uint64_t seed, DType dtype, std::string device)
      : dtype(dtype), device(std::move(device)), rng_(seed) {}

  int64_t Int(int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(rng_); }
  bool Chance(double p) { return std::uniform_real_distribution<double>(0, 1)(rng_) < p; }
  int64_t Size(bool zero = true) {
    static constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 7, 8};
    return zero && Chance(0.04) ? 0 : kSizes[Int(0, 6)];
  }
  Shape AnyShape(int lo = 0, int hi = 3, bool zero = true) {
    Shape s(Int(lo, hi));
    for (int64_t& d : s) d = Size(zero);
    return s;
  }
  // Drops axes from the left and sets some to 1: broadcasts with s.
  Shape Narrower(Shape s) {
    s.erase(s.begin(), s.begin() + Int(0, static_cast<int64_t>(s.size())));
    for (int64_t& d : s) {
      if (Chance(0.3)) d = 1;
    }
    return s;
  }

  // Any values of the type: for floats also zeros of both signs, infinities, NaN, denormals and the largest
  // values.
  Tensor Anything(const Shape& shape) { return AnythingOf(shape, dtype); }
  Tensor AnythingOf(const Shape& shape, DType t);
  // Small whole numbers and halves: sums and products of a few are exact in f32.
  Tensor Small(const Shape& shape) { return SmallOf(shape, dtype); }
  Tensor SmallOf(const Shape& shape, DType t);
  Tensor Within(const Shape& shape, double lo, double hi);

  const DType dtype;
  const std::string device;

 private:
  Tensor FromValues(const Shape& shape, DType t, const std::function<uint64_t()>& bits);
  std::mt19937_64 rng_;
};

enum class Types {
  kAll,
  kNumbers,
  kFloats,
  kInts,
  kIntsAndBool,
  kWideFloats /* f16 and wider */,
  kOnce /* f32 */
};

// How far a result may be from REF's.
struct Tolerance {
  enum class Kind { kExact, kUlp, kAbsolute } kind = Kind::kExact;
  // kUlp: units in the last place of the result type. kAbsolute: |a - b| <= amount * epsilon(type) * max(1,
  // |b|).
  double amount = 0;
};
inline constexpr Tolerance kExact{};
constexpr Tolerance Ulp(double n) { return {Tolerance::Kind::kUlp, n}; }
constexpr Tolerance Absolute(double n) { return {Tolerance::Kind::kAbsolute, n}; }

struct OpCase {
  const char* name;
  Types types;
  Tolerance tolerance;
  std::function<Tensor(CaseGen&)> make;
};

const std::vector<OpCase>& UnaryCases();
const std::vector<OpCase>& BinaryCases();
const std::vector<OpCase>& MovementCases();
const std::vector<OpCase>& ReductionCases();
const std::vector<OpCase>& NetworkCases();
const std::vector<OpCase>& LayerCases();  // layer_cases.cc

std::vector<DType> TypesOf(Types types);

}  // namespace understudy
