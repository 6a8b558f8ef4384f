// SPDX-License-Identifier: Apache-2.0
// Kernels compiled for the CPU beside loops written by hand (as the compiler of this file vectorizes them).
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "src/base/status.h"
#include "src/codegen/codegen.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/uop/build.h"

namespace understudy {
namespace {

using namespace uop::expr;  // NOLINT
using uop::IndexOf;
using uop::Load;
using uop::Param;
using uop::Range;
using uop::Reduce;

constexpr DType kF32 = dtypes::kFloat32;

UOpRef MatmulKernel(int64_t n) {
  const UOpRef i = Range(n, 0, AxisKind::kGlobal), j = Range(n, 1, AxisKind::kGlobal),
               k = Range(n, 2, AxisKind::kReduce);
  const UOpRef product = Load(IndexOf(Param(kF32, 1), i * n + k)) * Load(IndexOf(Param(kF32, 2), k * n + j));
  return uop::Sink({uop::Store(IndexOf(Param(kF32, 0), i * n + j), Reduce(Op::kAdd, product, {k}), {i, j})},
                   "matmul");
}

// One kernel: exp(x - max) / sum of each row.
UOpRef SoftmaxKernel(int64_t rows, int64_t n) {
  const UOpRef i = Range(rows, 0, AxisKind::kGlobal), j = Range(n, 1, AxisKind::kGlobal);
  const auto x = [&](const UOpRef& c) { return Load(IndexOf(Param(kF32, 1), i * n + c)); };
  const UOpRef a = Range(n, 2, AxisKind::kReduce), b = Range(n, 3, AxisKind::kReduce);
  const UOpRef max = Reduce(Op::kMax, x(a), {a});
  const auto e = [&](const UOpRef& c) { return uop::Exp2((x(c) - max) * 1.4426950408889634); };
  const UOpRef value = e(j) / Reduce(Op::kAdd, e(b), {b});
  return uop::Sink({uop::Store(IndexOf(Param(kF32, 0), i * n + j), value, {i, j})}, "softmax");
}

// The buffers hold the same small numbers in every run.
void RunKernel(benchmark::State& state, const UOpRef& kernel, std::vector<size_t> sizes,
               const ChoiceList* choices) {
  CpuDevice cpu;
  auto program = cpu.Compile(kernel, choices);
  US_CHECK_OK(program);
  state.SetLabel(ChoicesText(choices == nullptr ? HeuristicChoices(kernel, cpu.target()) : *choices));
  std::vector<Allocation> buffers;
  for (const size_t n : sizes) {
    buffers.push_back(*cpu.Allocate(n * 4));
    std::vector<float> data(n);
    for (size_t i = 0; i < n; ++i) data[i] = std::sin(static_cast<float>(i));
    US_CHECK_OK(cpu.CopyIn(buffers.back(), data.data(), n * 4));
  }
  for (auto _ : state) US_CHECK_OK(cpu.Launch(**program, buffers));
}

const ChoiceList kNone;

void MatmulCompiled(benchmark::State& state) {
  const int64_t n = state.range(0);
  const size_t s = n * n;
  RunKernel(state, MatmulKernel(n), {s, s, s}, nullptr);
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * n * n * n, benchmark::Counter::kIsIterationInvariantRate);
}
void MatmulNoChoices(benchmark::State& state) {
  const int64_t n = state.range(0);
  const size_t s = n * n;
  RunKernel(state, MatmulKernel(n), {s, s, s}, &kNone);
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * n * n * n, benchmark::Counter::kIsIterationInvariantRate);
}
// i k j: the order in which a plain compiler vectorizes.
void MatmulHandLoop(benchmark::State& state) {
  const int64_t n = state.range(0);
  std::vector<float> a(n * n, 0.5f), b(n * n, 0.25f), c(n * n);
  for (auto _ : state) {
    std::fill(c.begin(), c.end(), 0.0f);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = 0; k < n; ++k) {
        const float x = a[i * n + k];
        for (int64_t j = 0; j < n; ++j) c[i * n + j] += x * b[k * n + j];
      }
    }
    benchmark::DoNotOptimize(c.data());
    benchmark::ClobberMemory();
  }
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * n * n * n, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(MatmulCompiled)->Arg(128)->Arg(512);
BENCHMARK(MatmulNoChoices)->Arg(128)->Arg(512);
BENCHMARK(MatmulHandLoop)->Arg(128)->Arg(512);

void SoftmaxCompiled(benchmark::State& state) {
  RunKernel(state, SoftmaxKernel(256, 1024), {256 * 1024, 256 * 1024}, nullptr);
}
void SoftmaxNoChoices(benchmark::State& state) {
  RunKernel(state, SoftmaxKernel(256, 1024), {256 * 1024, 256 * 1024}, &kNone);
}
void SoftmaxHandLoop(benchmark::State& state) {
  const int64_t rows = 256, n = 1024;
  std::vector<float> x(rows * n), y(rows * n);
  for (int64_t i = 0; i < rows * n; ++i) x[i] = std::sin(static_cast<float>(i));
  for (auto _ : state) {
    for (int64_t i = 0; i < rows; ++i) {
      float max = -HUGE_VALF, sum = 0;
      for (int64_t j = 0; j < n; ++j) max = std::fmax(max, x[i * n + j]);
      for (int64_t j = 0; j < n; ++j) sum += y[i * n + j] = std::exp(x[i * n + j] - max);
      for (int64_t j = 0; j < n; ++j) y[i * n + j] /= sum;
    }
    benchmark::DoNotOptimize(y.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(SoftmaxCompiled);
BENCHMARK(SoftmaxNoChoices);
BENCHMARK(SoftmaxHandLoop);

void CompileMatmul(benchmark::State& state) {
  CpuDevice cpu;
  for (auto _ : state) US_CHECK_OK(cpu.Compile(MatmulKernel(128), nullptr));
}
BENCHMARK(CompileMatmul)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace understudy
