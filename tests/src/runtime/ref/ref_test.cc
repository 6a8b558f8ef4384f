// SPDX-License-Identifier: Apache-2.0
// REF against loops written by hand, and its refusals.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "src/runtime/ref/ref_device.h"
#include "src/uop/build.h"

namespace understudy {
namespace {

using namespace uop::expr;  // NOLINT
using uop::IndexOf;
using uop::Load;
using uop::Param;
using uop::Range;
using uop::Reduce;
using uop::Store;

constexpr DType kF32 = dtypes::kFloat32;

class RefTest : public ::testing::Test {
 protected:
  template <class T>
  Allocation Put(const std::vector<T>& v) {
    const Allocation a = *device_.Allocate(v.size() * sizeof(T));
    EXPECT_TRUE(device_.CopyIn(a, v.data(), v.size() * sizeof(T)).ok());
    return a;
  }
  template <class T>
  std::vector<T> Get(const Allocation& a) {
    std::vector<T> v(a.bytes / sizeof(T));
    EXPECT_TRUE(device_.CopyOut(v.data(), a, a.bytes).ok());
    return v;
  }
  absl::Status Run(const UOpRef& kernel, std::vector<Allocation> buffers, std::vector<int64_t> vars = {}) {
    auto program = device_.Compile(kernel, nullptr);
    if (!program.ok()) return program.status();
    return device_.Launch(**program, buffers, vars, nullptr);
  }
  RefDevice device_;
};

std::vector<float> Ramp(size_t n) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = std::sin(static_cast<float>(i) * 0.37f) * 3;
  return v;
}

TEST_F(RefTest, MatmulEqualsLoopsInIndexOrder) {
  const int n = 128;
  const UOpRef i = Range(n, 0, AxisKind::kGlobal), j = Range(n, 1, AxisKind::kGlobal),
               k = Range(n, 2, AxisKind::kReduce);
  const UOpRef product = Load(IndexOf(Param(kF32, 1), i * n + k)) * Load(IndexOf(Param(kF32, 2), k * n + j));
  const UOpRef kernel = uop::Sink(
      {Store(IndexOf(Param(kF32, 0), i * n + j), Reduce(Op::kAdd, product, {k}), {i, j})}, "matmul");
  const std::vector<float> a = Ramp(n * n), b = Ramp(n * n);
  const Allocation c = Put(std::vector<float>(n * n));
  ASSERT_TRUE(Run(kernel, {c, Put(a), Put(b)}).ok());
  std::vector<float> expected(n * n);
  for (int x = 0; x < n; ++x) {
    for (int y = 0; y < n; ++y) {
      float sum = 0;
      for (int z = 0; z < n; ++z) sum += a[x * n + z] * b[z * n + y];
      expected[x * n + y] = sum;
    }
  }
  EXPECT_EQ(Get<float>(c), expected);
}

// Two reductions over the same range, the second using the first.
TEST_F(RefTest, NestedReductionsOverOneRange) {
  const int rows = 3, n = 17;
  const UOpRef i = Range(rows, 0, AxisKind::kGlobal), r = Range(n, 1, AxisKind::kReduce);
  const UOpRef x = Load(IndexOf(Param(kF32, 1), i * n + r));
  const UOpRef sum = Reduce(Op::kAdd, x - Reduce(Op::kMax, x, {r}), {r});
  const UOpRef kernel = uop::Sink({Store(IndexOf(Param(kF32, 0), i), sum, {i})}, "nested");
  const std::vector<float> in = Ramp(rows * n);
  const Allocation out = Put(std::vector<float>(rows));
  ASSERT_TRUE(Run(kernel, {out, Put(in)}).ok());
  for (int a = 0; a < rows; ++a) {
    float max = -std::numeric_limits<float>::infinity(), expected = 0;
    for (int b = 0; b < n; ++b) max = std::fmax(max, in[a * n + b]);
    for (int b = 0; b < n; ++b) expected += in[a * n + b] + -max;
    EXPECT_EQ(Get<float>(out)[a], expected);
  }
}

// A reduction over two ranges runs the last one fastest, and one inside another sees the outer range.
TEST_F(RefTest, OrderOfRangesAndReductionInsideReduction) {
  const int n = 5, m = 7;
  const UOpRef a = Range(n, 0, AxisKind::kReduce), b = Range(m, 1, AxisKind::kReduce);
  const UOpRef x = Load(IndexOf(Param(kF32, 2), a * m + b));
  const UOpRef both = Reduce(Op::kAdd, x, {a, b});
  const UOpRef inside = Reduce(Op::kMul, Reduce(Op::kAdd, x, {b}), {a});
  const UOpRef kernel = uop::Sink({Store(IndexOf(Param(kF32, 0), uop::IndexConst(0)), both, {}),
                                   Store(IndexOf(Param(kF32, 1), uop::IndexConst(0)), inside, {})},
                                  "two");
  const std::vector<float> in = Ramp(n * m);
  const Allocation p = Put(std::vector<float>(1)), q = Put(std::vector<float>(1));
  ASSERT_TRUE(Run(kernel, {p, q, Put(in)}).ok());
  float sum = 0, product = 1;
  for (int i = 0; i < n; ++i) {
    float row = 0;
    for (int j = 0; j < m; ++j) {
      sum += in[i * m + j];
      row += in[i * m + j];
    }
    product *= row;
  }
  EXPECT_EQ(Get<float>(p)[0], sum);
  EXPECT_EQ(Get<float>(q)[0], product);
}

TEST_F(RefTest, InvalidLoadGivesZeroAndInvalidStoreDoesNothing) {
  const int n = 6;
  const UOpRef i = Range(n, 0, AxisKind::kGlobal);
  const UOpRef x = Load(IndexOf(Param(dtypes::kInt16, 1), i - 2, 1 < i));
  const UOpRef kernel = uop::Sink({Store(IndexOf(Param(dtypes::kInt16, 0), i, i < 5), x, {i})}, "pad");
  const Allocation out = Put(std::vector<int16_t>(n, 99));
  ASSERT_TRUE(Run(kernel, {out, Put(std::vector<int16_t>{10, 11, 12, 13})}).ok());
  EXPECT_EQ(Get<int16_t>(out), (std::vector<int16_t>{0, 0, 10, 11, 12, 99}));
}

TEST_F(RefTest, VariablesComeInNameOrder) {
  const UOpRef a = uop::Var("alpha", 0, 100), b = uop::Var("beta", 0, 100);
  const UOpRef kernel = uop::Sink({Store(IndexOf(Param(dtypes::kInt64, 0), uop::IndexConst(0)),
                                         uop::Cast(b * 10 + a, dtypes::kInt64), {})},
                                  "vars");
  const Allocation out = Put(std::vector<int64_t>(1));
  ASSERT_TRUE(Run(kernel, {out}, {7, 4}).ok());
  EXPECT_EQ(Get<int64_t>(out)[0], 47);
  EXPECT_EQ(Run(kernel, {out}, {7, 101}).message(), "kernel vars: variable beta = 101, expected [0, 100]");
}

TEST_F(RefTest, OutOfRangeNamesBufferIndexAndSize) {
  const UOpRef i = Range(4, 3, AxisKind::kGlobal);
  const UOpRef x = Load(IndexOf(Param(kF32, 1), i + 1));
  const UOpRef kernel = uop::Sink({Store(IndexOf(Param(kF32, 0), i), x, {i})}, "wild");
  const absl::Status status = Run(kernel, {Put(std::vector<float>(4)), Put(std::vector<float>(4))});
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(status.message(), "kernel wild: LOAD of buffer 1 (f32) at index 4, size 4; r3=3");
}

TEST_F(RefTest, RefusesWhatIsNoKernelGraph) {
  const UOpRef i = Range(4, 0, AxisKind::kGlobal);
  const UOpRef vector = Load(IndexOf(Param(kF32, 1), i), 4);
  const UOpRef kernel = uop::Sink({Store(IndexOf(Param(kF32, 0), i), vector, {i})}, "v");
  EXPECT_EQ(device_.Compile(kernel, nullptr).status().message(),
            "kernel v: LOAD of f32x4: REF evaluates scalars");
  const UOpRef open =
      uop::Sink({Store(IndexOf(Param(kF32, 0), i), Load(IndexOf(Param(kF32, 1), i)), {})}, "open");
  EXPECT_EQ(device_.Compile(open, nullptr).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace understudy
