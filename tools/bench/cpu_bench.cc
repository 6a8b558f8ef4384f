// SPDX-License-Identifier: Apache-2.0
// Tensor operations compiled for the CPU, on one thread, beside the limits of the machine: OpenBLAS for
// products, plain loops at the speed of memory for the rest. Times are CPU time of the thread, so that a busy
// machine shows little in them:
//
//   bazel run --config=opt //tools/bench:cpu_bench -- --benchmark_filter=Matmul
//
// `x` of a line is the best time of ours divided by that of its limit, both measured in turns; `compile_ms`
// is what lowering and LLVM took for all kernels of the operation; the label lists the kernels' choices,
// which CHOICES="upcast(0,4) ..." in the environment replaces. TEXT=1 prints the kernels' LLVM IR.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/codegen/codegen.h"
#include "src/render/render.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/engine.h"
#include "src/tensor/activation.h"
#include "src/tensor/norm.h"
#include "src/tensor/tensor.h"
#include "tools/bench/blas.h"
#include "tools/bench/host_loops.h"

namespace understudy {
namespace {

double ThreadSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Target OneThread() {
  Target t = HostTarget();
  t.has_threads = false;
  t.threads = 1;
  return t;
}

// The CPU, keeping account of what its kernels take.
class TimedCpu : public CpuDevice {
 public:
  TimedCpu() : CpuDevice(OneThread()) { set_cache_limit(size_t{1} << 30); }

  absl::StatusOr<std::unique_ptr<Program>> Compile(const UOpRef& kernel, const ChoiceList* choices) override {
    absl::StrAppend(&label, label.empty() ? "" : " | ",
                    ChoicesText(choices == nullptr ? HeuristicChoices(kernel, target()) : *choices));
    const double start = ThreadSeconds();
    auto program = CpuDevice::Compile(kernel, choices);
    compile_seconds += ThreadSeconds() - start;
    if (std::getenv("TEXT") != nullptr && program.ok()) std::printf("%s\n", (*program)->text().c_str());
    return program;
  }
  absl::Status Launch(Program& program, absl::Span<const Allocation> buffers, absl::Span<const int64_t> vars,
                      LaunchInfo* info) override {
    const double start = ThreadSeconds();
    const absl::Status status = CpuDevice::Launch(program, buffers, vars, info);
    run_seconds += ThreadSeconds() - start;
    ++kernels;
    return status;
  }

  double compile_seconds = 0, run_seconds = 0;
  int kernels = 0;
  std::string label;
};

std::vector<float> Numbers(size_t n) {
  std::vector<float> data(n);
  for (size_t i = 0; i < n; ++i) data[i] = static_cast<float>(i * 37 % 1000) / 500.0f - 1.0f;
  return data;
}

using Inputs = std::vector<Tensor>;
struct Case {
  std::string name;
  std::vector<Shape> shapes;  // of the inputs
  std::function<Tensor(const Inputs&)> op;
  // The same work at the machine's limit, on its own arrays; null when there is none.
  std::function<std::function<void()>()> limit;
  double flops = 0, bytes = 0;
  DType dtype = dtypes::kFloat32;
};

void Run(benchmark::State& state, const Case& c) {
  auto cpu = std::make_shared<TimedCpu>();
  DeviceRegistry devices;
  devices.Register(cpu);
  EngineOptions options;
  if (const char* text = std::getenv("CHOICES")) {
    auto choices = ParseChoices(text);
    US_CHECK_OK(choices);
    options.choices = *choices;
  }
  Engine engine(devices, options), plain(devices, EngineOptions());
  Inputs inputs;
  for (const Shape& shape : c.shapes) {
    size_t n = 1;
    for (const int64_t d : shape) n *= static_cast<size_t>(d);
    inputs.push_back(Tensor::FromData(Numbers(n), shape));
    if (c.dtype != dtypes::kFloat32) inputs.back() = inputs.back().Cast(c.dtype);
    US_CHECK_OK(plain.Realize(inputs.back()));
  }
  cpu->label.clear();
  cpu->compile_seconds = 0;
  std::function<void()> limit = c.limit ? c.limit() : nullptr;
  double ours = 1e9, best = 1e9;
  const auto once = [&] {
    cpu->run_seconds = 0;
    cpu->kernels = 0;
    Tensor y = c.op(inputs);
    US_CHECK_OK(engine.Realize(y));
    return cpu->run_seconds;
  };
  once();  // compiles, and touches fresh memory
  if (limit != nullptr) limit();
  for (auto _ : state) {
    const double seconds = once();
    state.SetIterationTime(seconds);
    ours = std::min(ours, seconds);
    if (limit != nullptr) {
      const double start = ThreadSeconds();
      limit();
      best = std::min(best, ThreadSeconds() - start);
    }
  }
  state.SetLabel(cpu->label);
  state.counters["best_ms"] = ours * 1e3;
  if (limit != nullptr) {
    state.counters["limit_ms"] = best * 1e3;
    state.counters["x"] = ours / best;
  }
  if (c.flops > 0) state.counters["GFLOP/s"] = c.flops / ours * 1e-9;
  if (c.bytes > 0) state.counters["GB/s"] = c.bytes / ours * 1e-9;
  state.counters["kernels"] = cpu->kernels;
  state.counters["compile_ms"] = cpu->compile_seconds * 1e3;
}

// 128 MiB of f32.
constexpr int64_t kRows = 8192, kColumns = 4096, kAll = kRows * kColumns;

std::vector<Case> Cases() {
  std::vector<Case> cases;
  const auto matmul = [&](int64_t n, bool ta, bool tb) {
    Case c;
    c.name = absl::StrCat("Matmul", ta ? "TransposedA" : "", tb ? "TransposedB" : "", "/", n);
    c.shapes = {{n, n}, {n, n}};
    c.op = [=](const Inputs& in) {
      return (ta ? in[0].Transpose() : in[0]).Matmul(tb ? in[1].Transpose() : in[1]);
    };
    if (bench::OpenBlas()) {
      c.limit = [=] {
        const size_t s = n * n;
        auto a = std::make_shared<std::vector<float>>(Numbers(s)), b = a;
        auto out = std::make_shared<std::vector<float>>(s);
        return [=] { bench::BlasMatmul(a->data(), b->data(), out->data(), n, ta, tb); };
      };
    }
    c.flops = 2.0 * n * n * n;
    return c;
  };
  for (const int64_t n : {256, 512, 1000, 1024, 2048}) cases.push_back(matmul(n, false, false));
  cases.push_back(matmul(1024, true, false));
  cases.push_back(matmul(1024, false, true));
  {
    Case c = matmul(1024, false, false);
    c.name = "MatmulF64/1024";
    c.dtype = dtypes::kFloat64;
    if (bench::OpenBlas()) {
      c.limit = [] {
        auto a = std::make_shared<std::vector<double>>(1024 * 1024, 0.5), b = a;
        auto out = std::make_shared<std::vector<double>>(1024 * 1024);
        return [=] { bench::BlasMatmul(a->data(), b->data(), out->data(), 1024); };
      };
    }
    cases.push_back(c);
    c.name = "MatmulBF16/1024";  // beside the f32 product
    c.dtype = dtypes::kBFloat16;
    c.limit = matmul(1024, false, false).limit;
    cases.push_back(c);
  }
  {
    Case c = matmul(1024, false, false);
    c.name = "MatmulBiasRelu/1024";
    c.shapes.push_back({1024});
    c.op = [](const Inputs& in) { return (in[0].Matmul(in[1]) + in[2]).Relu(); };
    cases.push_back(c);
  }
  {
    Case c;
    c.name = "MatrixVector/4096";
    c.shapes = {{4096, 4096}, {4096, 1}};
    c.op = [](const Inputs& in) { return in[0].Matmul(in[1]); };
    c.limit = [] {
      auto a = std::make_shared<std::vector<float>>(Numbers(4096 * 4096));
      return [=] { benchmark::DoNotOptimize(bench::HostRead(a->data(), a->size())); };
    };
    c.bytes = 4.0 * 4096 * 4096;
    cases.push_back(c);
  }
  {
    Case c;  // beside the product of equal size
    c.name = "Conv2d3x3/8x64x56x56";
    c.shapes = {{8, 64, 56, 56}, {64, 64, 3, 3}};
    c.op = [](const Inputs& in) {
      Tensor::Conv2dOptions options;
      options.padding = {1, 1};
      return in[0].Conv2d(in[1], nullptr, options);
    };
    if (bench::OpenBlas()) {
      c.limit = [] {
        const int64_t m = 64, n = 8 * 56 * 56, k = 64 * 9;
        auto a = std::make_shared<std::vector<float>>(Numbers(m * k));
        auto b = std::make_shared<std::vector<float>>(Numbers(k * n));
        auto out = std::make_shared<std::vector<float>>(m * n);
        return [=] { bench::BlasMatmul(a->data(), b->data(), out->data(), m, n, k); };
      };
    }
    c.flops = 2.0 * 64 * 8 * 56 * 56 * 64 * 9;
    cases.push_back(c);
  }

  const auto copy_limit = [] {
    auto a = std::make_shared<std::vector<float>>(Numbers(kAll));
    auto out = std::make_shared<std::vector<float>>(kAll);
    return [=] { bench::HostCopy(a->data(), out->data(), kAll); };
  };
  const auto add_limit = [] {
    auto a = std::make_shared<std::vector<float>>(Numbers(kAll));
    auto b = std::make_shared<std::vector<float>>(Numbers(kAll));
    auto out = std::make_shared<std::vector<float>>(kAll);
    return [=] { bench::HostAdd(a->data(), b->data(), out->data(), kAll); };
  };
  const auto read_limit = [] {
    auto a = std::make_shared<std::vector<float>>(Numbers(kAll));
    return [=] { benchmark::DoNotOptimize(bench::HostRead(a->data(), kAll)); };
  };
  const auto memory = [&](const char* name, int inputs, auto op, auto limit, double passes) {
    Case c;
    c.name = name;
    for (int i = 0; i < inputs; ++i) c.shapes.push_back({kRows, kColumns});
    c.op = op;
    c.limit = limit;
    c.bytes = passes * 4 * kAll;
    cases.push_back(c);
  };
  memory("Add", 2, [](const Inputs& in) { return in[0] + in[1]; }, add_limit, 3);
  memory("Exp", 1, [](const Inputs& in) { return in[0].Exp(); }, copy_limit, 2);
  memory("GeluTanh", 1, [](const Inputs& in) { return in[0].Gelu(); }, copy_limit, 2);
  memory("GeluExact", 1, [](const Inputs& in) { return Gelu(in[0]); }, copy_limit, 2);
  memory("Transpose", 1, [](const Inputs& in) { return in[0].Transpose().Contiguous(); }, copy_limit, 2);
  memory("SumAll", 1, [](const Inputs& in) { return in[0].Sum(); }, read_limit, 1);
  memory("SumRows", 1, [](const Inputs& in) { return in[0].Sum({1}); }, read_limit, 1);
  memory("SumColumns", 1, [](const Inputs& in) { return in[0].Sum({0}); }, read_limit, 1);
  memory("MaxAll", 1, [](const Inputs& in) { return in[0].Max(); }, read_limit, 1);
  memory("Softmax", 1, [](const Inputs& in) { return in[0].Softmax(); }, copy_limit, 2);
  memory("LogSoftmax", 1, [](const Inputs& in) { return in[0].LogSoftmax(-1); }, copy_limit, 2);
  memory("RmsNorm", 1, [](const Inputs& in) { return RmsNorm(in[0], {kColumns}); }, copy_limit, 2);
  memory("LayerNorm", 1, [](const Inputs& in) { return in[0].LayerNorm(1); }, copy_limit, 2);
  return cases;
}

}  // namespace
}  // namespace understudy

int main(int argc, char** argv) {
  static const std::vector<understudy::Case>* const cases =
      new std::vector<understudy::Case>(understudy::Cases());
  for (const understudy::Case& c : *cases) {
    benchmark::RegisterBenchmark(c.name.c_str(), [&c](benchmark::State& s) { understudy::Run(s, c); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
