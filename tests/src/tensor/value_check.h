// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests that compare Tensor operations with plain loops: random shapes and arrays, tensors made from
// arrays, and the comparison on REF, exact to the sign of a zero or within a tolerance. Each case runs under
// its seed.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/src/schedule/mini_engine.h"
#include "tests/src/tensor/nd.h"

namespace understudy {

using nd::Array;
using nd::Dims;

inline constexpr int kCases = 30;

class Gen {
 public:
  explicit Gen(uint64_t seed) : rng_(seed) {}
  int64_t Int(int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(rng_); }
  bool Chance(double p) { return std::uniform_real_distribution<double>(0, 1)(rng_) < p; }
  int64_t Size(bool zero = true) {
    static constexpr int64_t kSizes[] = {1, 1, 2, 3, 4, 5, 7};
    return zero && Chance(0.05) ? 0 : kSizes[Int(0, 6)];
  }
  Dims Shape(int lo = 0, int hi = 4, bool zero = true) {
    Dims s(Int(lo, hi));
    for (int64_t& d : s) d = Size(zero);
    return s;
  }
  // Halves in [-4, 4]: exact in every type of 16 bits and more, sums too.
  Array Halves(const Dims& shape) {
    return nd::Make(shape, [&](const Dims&) { return static_cast<double>(Int(-8, 8)) / 2; });
  }
  Array Ints(const Dims& shape, int64_t lo = -9, int64_t hi = 9) {
    return nd::Make(shape, [&](const Dims&) { return static_cast<double>(Int(lo, hi)); });
  }
  Array Reals(const Dims& shape, double lo, double hi) {
    return nd::Make(shape, [&](const Dims&) {
      return static_cast<double>(static_cast<float>(std::uniform_real_distribution<double>(lo, hi)(rng_)));
    });
  }
  // Drops axes from the left and sets some to 1, so that the result broadcasts back.
  Dims Narrower(Dims s) {
    s.erase(s.begin(), s.begin() + Int(0, static_cast<int64_t>(s.size())));
    for (int64_t& d : s) {
      if (Chance(0.3)) d = 1;
    }
    return s;
  }

 private:
  std::mt19937_64 rng_;
};

inline Tensor ToTensor(const Array& a, DType t = dtypes::kFloat32) {
  std::vector<uint8_t> bytes(a.v.size() * t.ScalarBytes());
  for (size_t i = 0; i < a.v.size(); ++i) {
    const uint64_t bits = ToBits(t, Canonical(t, ConstValue(a.v[i])));
    std::memcpy(&bytes[i * t.ScalarBytes()], &bits, t.ScalarBytes());
  }
  return Tensor::FromBytes(std::move(bytes), t, a.shape);
}

inline void ExpectEqual(const Tensor& t, const Array& expected, double tolerance = 0) {
  ASSERT_TRUE(t.ok()) << t.status();
  ASSERT_EQ(t.shape(), expected.shape);
  MiniEngine engine;
  auto got = engine.Values(t);
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(got->size(), expected.v.size());
  for (size_t i = 0; i < got->size(); ++i) {
    const double g = (*got)[i], e = expected.v[i];
    if (std::isnan(e)) {
      ASSERT_TRUE(std::isnan(g)) << "element " << i << ": " << g << ", expected NaN";
    } else if (tolerance == 0) {
      ASSERT_TRUE(g == e && std::signbit(g) == std::signbit(e))
          << "element " << i << ": " << g << ", expected " << e;
    } else if (g != e) {
      ASSERT_NEAR(g, e, tolerance * std::max(1.0, std::abs(e))) << "element " << i;
    }
  }
}

#define EACH_CASE(gen)                                                                   \
  for (uint64_t seed = 1; seed <= kCases && !::testing::Test::HasFatalFailure(); ++seed) \
    for (Gen gen(seed * 7919), *once = &gen; once != nullptr; once = nullptr)

}  // namespace understudy
