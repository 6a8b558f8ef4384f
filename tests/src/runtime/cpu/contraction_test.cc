// SPDX-License-Identifier: Apache-2.0
// Products of matrices, convolutions and long sums as the CPU's heuristic tiles and packs them, against REF:
// bit for bit where the order of a sum is kept, by exactly representable sums where it is cut into parts.
#include <gtest/gtest.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/codegen/choices.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/ref/ref_device.h"
#include "src/uop/build.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {
namespace {

using namespace uop::expr;  // NOLINT
using uop::IndexOf;
using uop::Load;
using uop::Param;
using uop::Range;
using uop::Reduce;

// Elements that no sum of few terms rounds evenly (`odd`), or small integers.
std::vector<uint8_t> Elements(DType t, int64_t n, bool odd) {
  std::vector<uint8_t> bytes(n * t.ScalarBytes());
  for (int64_t i = 0; i < n; ++i) {
    const int64_t whole = i * 7919 % 31 - 15;
    const ConstValue v = t.IsFloat() ? ConstValue(odd ? static_cast<double>(whole) / 7 + 0.01 : whole * 1.0)
                                     : ConstValue(whole);
    const uint64_t bits = ToBits(t, v);
    std::memcpy(&bytes[i * t.ScalarBytes()], &bits, t.ScalarBytes());
  }
  return bytes;
}

RandomKernel With(UOpRef kernel, DType out, int64_t out_size, std::vector<std::pair<DType, int64_t>> inputs,
                  bool odd = true) {
  RandomKernel k;
  k.kernel = std::move(kernel);
  k.dtypes = {out};
  k.bytes = {std::vector<uint8_t>(out_size * out.ScalarBytes(), 0xa5)};
  for (const auto& [t, n] : inputs) {
    k.dtypes.push_back(t);
    k.bytes.push_back(Elements(t, n, odd));
  }
  return k;
}

// a or b may be stored transposed; operands are widened to `sum` first.
RandomKernel Matmul(DType in, DType sum, int64_t m, int64_t n, int64_t depth, bool ta, bool tb) {
  const UOpRef i = Range(m, 0, AxisKind::kGlobal), j = Range(n, 1, AxisKind::kGlobal),
               k = Range(depth, 2, AxisKind::kReduce);
  const UOpRef a = Load(IndexOf(Param(in, 1), ta ? k * m + i : i * depth + k)),
               b = Load(IndexOf(Param(in, 2), tb ? j * depth + k : k * n + j));
  const UOpRef product = uop::Cast(a, sum) * uop::Cast(b, sum);
  return With(
      uop::Sink({uop::Store(IndexOf(Param(sum, 0), i * n + j), Reduce(Op::kAdd, product, {k}), {i, j})},
                "matmul"),
      sum, m * n, {{in, m * depth}, {in, depth * n}});
}

void ExpectEqualsRef(const RandomKernel& k, const std::string& mentions) {
  RefDevice ref;
  CpuDevice cpu;
  const std::string choices = ChoicesText(HeuristicChoices(k.kernel, cpu.target()));
  if (cpu.target().pack_bytes > 0 && cpu.target().vector_bytes == 64) {
    EXPECT_NE(choices.find(mentions), std::string::npos) << choices;
  }
  const auto expected = RunKernel(ref, k, nullptr);
  const auto got = RunKernel(cpu, k, nullptr);
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_TRUE(got.ok()) << got.status() << choices;
  EXPECT_EQ(Difference(k.dtypes[0], *expected, *got), "") << choices;
}

TEST(Contraction, ProductsOfAnySizeAreRefsBitForBit) {
  constexpr int64_t kSizes[][3] = {{64, 64, 64}, {33, 47, 61}, {17, 97, 32}, {48, 16, 129}, {100, 40, 50}};
  for (const auto& [m, n, depth] : kSizes) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        SCOPED_TRACE(absl::StrCat(m, " x ", n, " x ", depth, ta ? " a^T" : "", tb ? " b^T" : ""));
        ExpectEqualsRef(Matmul(dtypes::kFloat32, dtypes::kFloat32, m, n, depth, ta, tb), "pack(0,2)");
      }
    }
  }
}

TEST(Contraction, NarrowAndWideTypes) {
  ExpectEqualsRef(Matmul(dtypes::kBFloat16, dtypes::kFloat32, 40, 50, 60, false, false), "pack(0,2)");
  ExpectEqualsRef(Matmul(dtypes::kFloat16, dtypes::kFloat32, 40, 50, 60, true, false), "pack(0,2)");
  ExpectEqualsRef(Matmul(dtypes::kBFloat16, dtypes::kBFloat16, 40, 50, 60, false, true), "pack(0,2)");
  ExpectEqualsRef(Matmul(dtypes::kFloat64, dtypes::kFloat64, 40, 50, 60, false, false), "pack(0,2)");
  ExpectEqualsRef(Matmul(dtypes::kInt8, dtypes::kInt32, 40, 50, 60, false, true), "pack(0,2)");
}

TEST(Contraction, ScatteredRowsArePackedForSeveralTiles) {
  ExpectEqualsRef(Matmul(dtypes::kFloat32, dtypes::kFloat32, 64, 128, 40, true, false), "pack(1,1)");
}

TEST(Contraction, PaddedConvolution) {
  constexpr int64_t kChannels = 5, kOut = 16, kSize = 20;
  const UOpRef oc = Range(kOut, 0, AxisKind::kGlobal), y = Range(kSize, 1, AxisKind::kGlobal),
               x = Range(kSize, 2, AxisKind::kGlobal), c = Range(kChannels, 3, AxisKind::kReduce),
               ky = Range(3, 4, AxisKind::kReduce), kx = Range(3, 5, AxisKind::kReduce);
  const auto inside = [](const UOpRef& v) {
    return uop::CmpLt(uop::IndexConst(0), v) & uop::CmpLt(v, uop::IndexConst(kSize + 1));
  };
  const UOpRef iy = y + ky, ix = x + kx;
  const UOpRef pixel = Load(IndexOf(Param(dtypes::kFloat32, 1), (c * kSize + iy - 1) * kSize + ix - 1,
                                    inside(iy) & inside(ix))),
               weight = Load(IndexOf(Param(dtypes::kFloat32, 2), ((oc * kChannels + c) * 3 + ky) * 3 + kx));
  ExpectEqualsRef(
      With(uop::Sink({uop::Store(IndexOf(Param(dtypes::kFloat32, 0), (oc * kSize + y) * kSize + x),
                                 Reduce(Op::kAdd, pixel * weight, {c, ky, kx}), {oc, y, x})},
                     "conv"),
           dtypes::kFloat32, kOut * kSize * kSize,
           {{dtypes::kFloat32, kChannels * kSize * kSize}, {dtypes::kFloat32, kOut * kChannels * 9}}),
      "pack(0,1)");
}

// Integers in floats: no order rounds.
TEST(LongSums, InPartsAddUpExactly) {
  const UOpRef i = Range(5, 0, AxisKind::kGlobal), k = Range(1024, 1, AxisKind::kReduce);
  const UOpRef x = Load(IndexOf(Param(dtypes::kFloat32, 1), i * 1024 + k));
  const auto kernel = [&](const UOpRef& value) {
    return With(uop::Sink({uop::Store(IndexOf(Param(dtypes::kFloat32, 0), i), value, {i})}, "sum"),
                dtypes::kFloat32, 5, {{dtypes::kFloat32, 5 * 1024}}, /*odd=*/false);
  };
  ExpectEqualsRef(kernel(Reduce(Op::kAdd, x, {k})), "group(0,16) upcast(0,4)");
  ExpectEqualsRef(kernel(Reduce(Op::kMax, x, {k})), "unroll(0,16)");
}

TEST(LongSums, PartsOfVectors) {
  const UOpRef i = Range(4, 0, AxisKind::kGlobal), j = Range(16, 1, AxisKind::kGlobal),
               k = Range(64, 2, AxisKind::kReduce);
  const UOpRef x = Load(IndexOf(Param(dtypes::kFloat32, 1), (i * 64 + k) * 16 + j));
  const RandomKernel sum = With(uop::Sink({uop::Store(IndexOf(Param(dtypes::kFloat32, 0), i * 16 + j),
                                                      Reduce(Op::kAdd, x, {k}), {i, j})},
                                          "sum"),
                                dtypes::kFloat32, 64, {{dtypes::kFloat32, 4 * 64 * 16}}, /*odd=*/false);
  RefDevice ref;
  CpuDevice cpu;
  for (const char* text : {"vectorize(1,8) group(0,4)", "group(0,8) upcast(0,3)", "group(0,64)"}) {
    const ChoiceList choices = *ParseChoices(text);
    EXPECT_EQ(Difference(dtypes::kFloat32, *RunKernel(ref, sum, nullptr), *RunKernel(cpu, sum, &choices)), "")
        << text;
  }
}

TEST(Packing, RefusalsSayWhy) {
  const RandomKernel k = Matmul(dtypes::kFloat32, dtypes::kFloat32, 32, 32, 32, false, false);
  Target t = CpuDevice().target();
  t.pack_bytes = 1 << 20;
  const auto refusal = [&](const std::string& text) {
    ChoiceList list = *ParseChoices(text);
    const Choice last = list.back();
    list.pop_back();
    return std::string(CheckChoice(k.kernel, t, list, last).message());
  };
  EXPECT_EQ(refusal("pack(0,2)"), "");
  EXPECT_EQ(refusal("pack(1,2)"), "choice pack(1,2): no value of PARAM 2 stays the same in that loop");
  EXPECT_EQ(refusal("pack(0,0)"), "choice pack(0,0): no value of PARAM 0 stays the same in that loop");
  EXPECT_EQ(refusal("pack(0,2) upcast(1,2)"), "choice upcast(1,2): it comes before operands are packed");
  t.pack_bytes = 1000;
  EXPECT_EQ(refusal("pack(0,2)"), "choice pack(0,2): the copies need more than 1000 bytes");
  t.pack_bytes = 0;
  EXPECT_EQ(refusal("pack(0,2)"), "choice pack(0,2): the target has no cache to pack operands into");
}

}  // namespace
}  // namespace understudy::test
