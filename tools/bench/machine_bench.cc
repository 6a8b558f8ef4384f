// SPDX-License-Identifier: Apache-2.0
// Our own x86-64 code beside LLVM's, on one thread: how long a kernel takes to compile and to run. SPEC=0
// leaves out the checks between stages and the proof of each register allocation.
#include <benchmark/benchmark.h>

#include <cmath>

#include "src/base/status.h"
#include "src/codegen/codegen.h"
#include "src/render/render.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/machine/x86_device.h"
#include "src/uop/build.h"

namespace understudy {
namespace {

using namespace uop::expr;  // NOLINT
using uop::IndexOf;
using uop::Load;
using uop::Param;
using uop::Range;
using uop::Reduce;

UOpRef Matmul(int64_t n) {
  const DType t = dtypes::kFloat32;
  const UOpRef i = Range(n, 0, AxisKind::kGlobal), j = Range(n, 1, AxisKind::kGlobal),
               k = Range(n, 2, AxisKind::kReduce);
  const UOpRef product = Load(IndexOf(Param(t, 1), i * n + k)) * Load(IndexOf(Param(t, 2), k * n + j));
  return uop::Sink({uop::Store(IndexOf(Param(t, 0), i * n + j), Reduce(Op::kAdd, product, {k}), {i, j})},
                   "matmul");
}
UOpRef Exponential(int64_t n) {
  const DType t = dtypes::kFloat32;
  const UOpRef i = Range(n, 0, AxisKind::kGlobal);
  return uop::Sink({uop::Store(IndexOf(Param(t, 0), i), uop::Exp2(Load(IndexOf(Param(t, 1), i))), {i})},
                   "exp2");
}

UOpRef Divide(int64_t n) {
  const DType t = dtypes::kInt32;
  const UOpRef i = Range(n, 0, AxisKind::kGlobal);
  const UOpRef value = uop::IDiv(Load(IndexOf(Param(t, 1), i)), uop::Const(t, 1000));
  return uop::Sink({uop::Store(IndexOf(Param(t, 0), i), value, {i})}, "divide");
}

std::shared_ptr<Device> Open(bool own) {
  if (own) {
    auto device = X86Device::Open();
    US_CHECK_OK(device);
    return *device;
  }
  Target one = HostTarget();
  one.threads = 1;
  one.has_threads = false;
  return std::make_shared<CpuDevice>(one);
}

void Compile(benchmark::State& state, const UOpRef& kernel, bool own) {
  const auto device = Open(own);
  for (auto _ : state) US_CHECK_OK(device->Compile(kernel, nullptr));
}
void Run(benchmark::State& state, const UOpRef& kernel, const std::vector<size_t>& sizes, bool own) {
  const auto device = Open(own);
  auto program = device->Compile(kernel, nullptr);
  US_CHECK_OK(program);
  state.SetLabel(ChoicesText(HeuristicChoices(kernel, device->target())));
  std::vector<Allocation> buffers;
  for (const size_t n : sizes) {
    buffers.push_back(*device->Allocate(n * 4));
    std::vector<float> data(n);
    for (size_t i = 0; i < n; ++i) data[i] = std::sin(static_cast<float>(i));
    US_CHECK_OK(device->CopyIn(buffers.back(), data.data(), n * 4));
  }
  for (auto _ : state) US_CHECK_OK(device->Launch(**program, buffers));
}

void CompileMatmulOwn(benchmark::State& s) { Compile(s, Matmul(256), true); }
void CompileMatmulLlvm(benchmark::State& s) { Compile(s, Matmul(256), false); }
void CompileExp2Own(benchmark::State& s) { Compile(s, Exponential(1 << 16), true); }
void CompileExp2Llvm(benchmark::State& s) { Compile(s, Exponential(1 << 16), false); }
void RunMatmulOwn(benchmark::State& s) { Run(s, Matmul(256), {65536, 65536, 65536}, true); }
void RunMatmulLlvm(benchmark::State& s) { Run(s, Matmul(256), {65536, 65536, 65536}, false); }
void RunExp2Own(benchmark::State& s) { Run(s, Exponential(1 << 16), {65536, 65536}, true); }
void RunExp2Llvm(benchmark::State& s) { Run(s, Exponential(1 << 16), {65536, 65536}, false); }
void RunDivideOwn(benchmark::State& s) { Run(s, Divide(1 << 16), {65536, 65536}, true); }
void RunDivideLlvm(benchmark::State& s) { Run(s, Divide(1 << 16), {65536, 65536}, false); }

BENCHMARK(CompileMatmulOwn)->Unit(benchmark::kMicrosecond);
BENCHMARK(CompileMatmulLlvm)->Unit(benchmark::kMicrosecond);
BENCHMARK(CompileExp2Own)->Unit(benchmark::kMicrosecond);
BENCHMARK(CompileExp2Llvm)->Unit(benchmark::kMicrosecond);
BENCHMARK(RunMatmulOwn)->Unit(benchmark::kMicrosecond);
BENCHMARK(RunMatmulLlvm)->Unit(benchmark::kMicrosecond);
BENCHMARK(RunExp2Own)->Unit(benchmark::kMicrosecond);
BENCHMARK(RunExp2Llvm)->Unit(benchmark::kMicrosecond);
BENCHMARK(RunDivideOwn)->Unit(benchmark::kMicrosecond);
BENCHMARK(RunDivideLlvm)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace understudy
