// SPDX-License-Identifier: Apache-2.0
// A step of a small network, eager and captured: what building, scheduling and launching one by one cost, and
// what is left in a replay. peer_tinygrad_capture.py runs the same steps under tinygrad's TinyJit.
//
//   bazel run --config=opt //tools/bench:capture_bench
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>

#include "src/base/status.h"
#include "src/runtime/capture.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/tensor/nn/layers.h"
#include "src/tensor/optim/optimizer.h"
#include "tools/rig/rig.h"

namespace understudy {
namespace {

constexpr int64_t kBatch = 32, kIn = 64, kHidden = 64, kOut = 10;

// Two dense layers, cross entropy, Adam.
struct Network {
  explicit Network(const std::string& device)
      : generator(1),
        first(kIn, kHidden, generator, true, {dtypes::kFloat32, device}),
        second(kHidden, kOut, generator, true, {dtypes::kFloat32, device}) {
    std::vector<Tensor> params = nn::Parameters(first);
    for (const Tensor& p : nn::Parameters(second)) params.push_back(p);
    auto made = optim::Adam(params, {1e-3});
    US_CHECK_OK(made);
    optimizer = *std::move(made);
    std::vector<float> data(kBatch * kIn);
    for (size_t i = 0; i < data.size(); ++i) data[i] = std::sin(static_cast<float>(i));
    std::vector<int32_t> classes(kBatch);
    for (size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<int32_t>(i % kOut);
    x = Tensor::FromData(data, {kBatch, kIn}, device);
    labels = Tensor::FromData(classes, {kBatch}, device);
  }
  absl::StatusOr<std::vector<Tensor>> Step(absl::Span<const Tensor> in) {
    const Tensor loss = second.Forward(first.Forward(in[0]).Relu()).CrossEntropy(in[1]);
    US_RETURN_IF_ERROR(optimizer->Step(Gradients(loss, optimizer->params())));
    return std::vector<Tensor>{loss};
  }
  absl::StatusOr<std::vector<Tensor>> Infer(absl::Span<const Tensor> in) {
    return std::vector<Tensor>{second.Forward(first.Forward(in[0]).Relu())};
  }

  Generator generator;
  nn::Linear first, second;
  std::unique_ptr<optim::Optimizer> optimizer;
  Tensor x, labels;
};

enum class Mode { kEager, kCaptured };

void Measure(benchmark::State& state, Engine& engine, const std::string& device, Mode mode, bool train) {
  Network net(device);
  const auto body = [&](absl::Span<const Tensor> in) { return train ? net.Step(in) : net.Infer(in); };
  CapturedFunction captured(engine, body, train ? "step" : "infer");
  const std::vector<Tensor> in{net.x, net.labels};
  const auto once = [&] {
    if (mode == Mode::kCaptured) {
      US_CHECK_OK(captured(in));
    } else {
      auto out = body(in);
      US_CHECK_OK(out);
      std::vector<Tensor*> list{&(*out)[0]};
      US_CHECK_OK(engine.Realize(train ? net.optimizer->Pending(list) : list));
    }
    US_CHECK_OK(engine.Synchronize());
  };
  for (int i = 0; i < 3; ++i) once();
  engine.ResetStats();
  for (auto _ : state) once();
  const auto steps = static_cast<double>(state.iterations());
  state.counters["kernels"] = static_cast<double>(engine.stats().kernels_launched) / steps;
  state.counters["schedules"] = static_cast<double>(engine.stats().schedule_cache_hits) / steps;
}

void Cpu(benchmark::State& state, Mode mode, bool train) {
  DeviceRegistry devices;
  devices.Register(std::make_shared<CpuDevice>());
  Engine engine(devices);
  Measure(state, engine, "CPU", mode, train);
}

// The machine's own time is the emulator's; packets are what the driver wrote.
void Amd(benchmark::State& state, Mode mode, bool train) {
  auto rig = Rig::Create();
  US_CHECK_OK(rig);
  const amd::GpuStats before = (*rig)->gpu().stats();
  Measure(state, (*rig)->engine(), (*rig)->amd().name(), mode, train);
  const amd::GpuStats after = (*rig)->gpu().stats();
  const auto steps = static_cast<double>(state.iterations() + 3);
  state.counters["doorbells"] = static_cast<double>(after.submissions - before.submissions) / steps;
  state.counters["ring_words"] = static_cast<double>(after.compute_words - before.compute_words) / steps;
}

BENCHMARK_CAPTURE(Cpu, train_eager, Mode::kEager, true)
    ->Unit(benchmark::kMicrosecond)
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(Cpu, train_captured, Mode::kCaptured, true)
    ->Unit(benchmark::kMicrosecond)
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(Cpu, infer_eager, Mode::kEager, false)
    ->Unit(benchmark::kMicrosecond)
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(Cpu, infer_captured, Mode::kCaptured, false)
    ->Unit(benchmark::kMicrosecond)
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(Amd, train_eager, Mode::kEager, true)
    ->Unit(benchmark::kMicrosecond)
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(Amd, train_captured, Mode::kCaptured, true)
    ->Unit(benchmark::kMicrosecond)
    ->MeasureProcessCPUTime();

}  // namespace
}  // namespace understudy
