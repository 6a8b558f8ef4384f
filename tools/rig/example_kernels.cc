// SPDX-License-Identifier: Apache-2.0
#include "tools/rig/example_kernels.h"

#include "absl/strings/str_cat.h"
#include "src/uop/build.h"

namespace understudy {
namespace {

using namespace uop::expr;  // NOLINT
using uop::Load;
using uop::Range;
using uop::Reduce;
using uop::Store;

constexpr DType kF32 = dtypes::kFloat32;

UOpRef At(int64_t param, const UOpRef& index, DType type = kF32) {
  return uop::IndexOf(uop::Param(type, param), index);
}

UOpRef Matmul() { return MatmulKernel(64, 64, 64, kF32, kF32); }
UOpRef MatmulF16() { return MatmulKernel(64, 64, 64, dtypes::kFloat16, kF32); }
// Extents that no power of two divides.
UOpRef MatmulOdd() { return MatmulKernel(60, 50, 45, kF32, kF32); }

// y[o][r][c] = sum of x[i][r + a][c + b] w[o][i][a][b].
UOpRef Conv() {
  constexpr int64_t kIn = 8, kOut = 16, kSize = 14, kWindow = 3, kWide = kSize + kWindow - 1;
  const UOpRef o = Range(kOut, 0, AxisKind::kGlobal), r = Range(kSize, 1, AxisKind::kGlobal),
               c = Range(kSize, 2, AxisKind::kGlobal);
  const UOpRef i = Range(kIn, 3, AxisKind::kReduce), a = Range(kWindow, 4, AxisKind::kReduce),
               b = Range(kWindow, 5, AxisKind::kReduce);
  const UOpRef x = Load(At(1, i * (kWide * kWide) + (r + a) * kWide + (c + b)));
  const UOpRef w = Load(At(2, ((o * kIn + i) * kWindow + a) * kWindow + b));
  return uop::Sink({Store(At(0, (o * kSize + r) * kSize + c), Reduce(Op::kAdd, x * w, {i, a, b}), {o, r, c})},
                   "conv");
}

// exp(x - max) / sum of each row, in one kernel.
UOpRef Softmax() {
  constexpr int64_t kRows = 32, kN = 128;
  const UOpRef i = Range(kRows, 0, AxisKind::kGlobal), j = Range(kN, 1, AxisKind::kGlobal);
  const auto x = [&](const UOpRef& c) { return Load(At(1, i * kN + c)); };
  const UOpRef a = Range(kN, 2, AxisKind::kReduce), b = Range(kN, 3, AxisKind::kReduce);
  const UOpRef max = Reduce(Op::kMax, x(a), {a});
  const auto e = [&](const UOpRef& c) { return uop::Exp2((x(c) - max) * 1.4426950408889634); };
  return uop::Sink({Store(At(0, i * kN + j), e(j) / Reduce(Op::kAdd, e(b), {b}), {i, j})}, "softmax");
}

// The sum of each of a few long rows.
UOpRef RowSum() {
  constexpr int64_t kRows = 16, kN = 2048;
  const UOpRef i = Range(kRows, 0, AxisKind::kGlobal), k = Range(kN, 1, AxisKind::kReduce);
  return uop::Sink({Store(At(0, i), Reduce(Op::kAdd, Load(At(1, i * kN + k)), {k}), {i})}, "reduce");
}

UOpRef Elementwise() {
  constexpr int64_t kRows = 128, kN = 192;
  const UOpRef i = Range(kRows, 0, AxisKind::kGlobal), j = Range(kN, 1, AxisKind::kGlobal);
  const UOpRef x = Load(At(1, i * kN + j)), y = Load(At(2, i * kN + j)), bias = Load(At(3, j));
  return uop::Sink({Store(At(0, i * kN + j), uop::Max(x * y + bias, uop::Const(kF32, 0.0)), {i, j})},
                   "elementwise");
}

UOpRef Transpose() {
  constexpr int64_t kN = 128;
  const UOpRef i = Range(kN, 0, AxisKind::kGlobal), j = Range(kN, 1, AxisKind::kGlobal);
  return uop::Sink({Store(At(0, i * kN + j), Load(At(1, j * kN + i)), {i, j})}, "transpose");
}

}  // namespace

UOpRef MatmulKernel(int64_t m, int64_t n, int64_t k, DType in, DType accumulate) {
  const UOpRef i = Range(m, 0, AxisKind::kGlobal), j = Range(n, 1, AxisKind::kGlobal),
               l = Range(k, 2, AxisKind::kReduce);
  const UOpRef a = uop::Cast(Load(At(1, i * k + l, in)), accumulate),
               b = uop::Cast(Load(At(2, l * n + j, in)), accumulate);
  return uop::Sink({Store(At(0, i * n + j, accumulate), Reduce(Op::kAdd, a * b, {l}), {i, j})}, "matmul");
}

const std::vector<ExampleKernel>& ExampleKernels() {
  static const std::vector<ExampleKernel> kKernels = {
      {"matmul", "f32 64x64 by 64x64", Matmul},
      {"matmul_f16", "f16 64x64 by 64x64, summed in f32", MatmulF16},
      {"matmul_odd", "f32 60x45 by 45x50", MatmulOdd},
      {"conv", "f32 8x16x16 by 16x8x3x3", Conv},
      {"softmax", "f32, rows of 32x128, one kernel", Softmax},
      {"reduce", "f32, sums of 16 rows of 2048", RowSum},
      {"elementwise", "f32 max(x y + bias, 0), 128x192", Elementwise},
      {"transpose", "f32 128x128", Transpose},
  };
  return kKernels;
}

absl::StatusOr<UOpRef> MakeExampleKernel(const std::string& name) {
  std::string names;
  for (const ExampleKernel& k : ExampleKernels()) {
    if (name == k.name) return k.make();
    absl::StrAppend(&names, names.empty() ? "" : ", ", k.name);
  }
  return absl::NotFoundError(absl::StrCat("no kernel ", name, "; there are ", names));
}

}  // namespace understudy
