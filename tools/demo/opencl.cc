// SPDX-License-Identifier: Apache-2.0
// Part 3 of the demo: OpenCL C kernels that clang compiled, on the mock AMD device and on the host.

#include <array>
#include <chrono>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "tools/demo/demo.h"
#include "tools/demo/device_vector.h"
#include "tools/demo/host_grid.h"

extern "C" {
const unsigned char* tiled_matmul_co(const char* gpu, size_t* size);
const unsigned char* collatz_co(const char* gpu, size_t* size);
void tiled_matmul(const float* a, const float* b, float* c, int m, int n, int k);
void collatz(int* lengths, int* histogram, int* longest, int count);
}

namespace understudy::demo {
namespace {

using amd::GlobalPointer;
using amd::Scalar;

absl::StatusOr<amd::LoadedKernel> LoadKernel(amd::AmdGpu& gpu,
                                             const unsigned char* (*code_of)(const char*, size_t*),
                                             const std::string& name) {
  size_t size = 0;
  const unsigned char* const file = code_of(gpu.isa().c_str(), &size);
  if (file == nullptr) return absl::NotFoundError(absl::StrCat("the demo has no kernels for ", gpu.isa()));
  US_ASSIGN_OR_RETURN(const amd::LoadedCode* code, gpu.Load({file, size}));
  return code->Kernel(name);
}

nlohmann::json Row(const std::string& name, const amd::Dim3& groups, size_t values, uint64_t differences,
                   const RigCounters& used, double ms) {
  return {{"name", name},
          {"groups", groups[0] * groups[1] * groups[2]},
          {"values", values},
          {"differences", differences},
          {"packets", used.packets},
          {"wave_instructions", used.wave_instructions},
          {"ms", ms},
          {"ok", differences == 0}};
}

// How many elements differ in any bit.
template <class T>
uint64_t CountDifferences(const std::vector<T>& a, const std::vector<T>& b) {
  uint64_t n = 0;
  for (size_t i = 0; i < a.size(); ++i) n += std::memcmp(&a[i], &b[i], sizeof(T)) != 0;
  return n;
}

absl::StatusOr<nlohmann::json> TiledMatmul(Rig& rig) {
  constexpr int kM = 100, kN = 75, kK = 130;  // no multiple of the tile
  std::mt19937 rng(1);
  std::normal_distribution<float> normal;
  std::vector<float> a(kM * kK), b(kK * kN), want(kM * kN), got(kM * kN);
  for (float& v : a) v = normal(rng);
  for (float& v : b) v = normal(rng);
  const amd::Dim3 groups = {(kN + 15) / 16, (kM + 15) / 16, 1}, local = {16, 16, 1};
  US_RETURN_IF_ERROR(
      RunOnHost(groups, local, [&] { tiled_matmul(a.data(), b.data(), want.data(), kM, kN, kK); }));

  amd::AmdGpu& gpu = rig.gpu();
  US_ASSIGN_OR_RETURN(const amd::LoadedKernel kernel, LoadKernel(gpu, tiled_matmul_co, "tiled_matmul"));
  US_ASSIGN_OR_RETURN(const auto device_a, DeviceVector<float>::From(gpu, a));
  US_ASSIGN_OR_RETURN(const auto device_b, DeviceVector<float>::From(gpu, b));
  US_ASSIGN_OR_RETURN(const auto device_c, DeviceVector<float>::From(gpu, got));
  const RigCounters before = rig.counters();
  const auto start = std::chrono::steady_clock::now();
  US_RETURN_IF_ERROR(gpu.Launch(kernel, {groups, local},
                                {GlobalPointer{device_a.va()}, GlobalPointer{device_b.va()},
                                 GlobalPointer{device_c.va()}, Scalar(kM), Scalar(kN), Scalar(kK)}));
  US_RETURN_IF_ERROR(gpu.Synchronize());
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  const RigCounters used = rig.counters() - before;
  US_RETURN_IF_ERROR(device_c.Read(&got));
  return Row("tiled matmul 100x75x130 (LDS, barriers)", groups, got.size(), CountDifferences(want, got), used,
             ms);
}

absl::StatusOr<nlohmann::json> Collatz(Rig& rig) {
  constexpr int kCount = 5000, kBins = 64;
  std::vector<int> lengths(kCount, -1), histogram(kBins), longest(1);
  std::vector<int> got_lengths = lengths, got_histogram = histogram, got_longest = longest;
  const amd::Dim3 groups = {(kCount + 127) / 128, 1, 1}, local = {128, 1, 1};
  US_RETURN_IF_ERROR(
      RunOnHost(groups, local, [&] { collatz(lengths.data(), histogram.data(), longest.data(), kCount); }));

  amd::AmdGpu& gpu = rig.gpu();
  US_ASSIGN_OR_RETURN(const amd::LoadedKernel kernel, LoadKernel(gpu, collatz_co, "collatz"));
  US_ASSIGN_OR_RETURN(const auto device_lengths, DeviceVector<int>::From(gpu, got_lengths));
  US_ASSIGN_OR_RETURN(const auto device_histogram, DeviceVector<int>::From(gpu, got_histogram));
  US_ASSIGN_OR_RETURN(const auto device_longest, DeviceVector<int>::From(gpu, got_longest));
  const RigCounters before = rig.counters();
  const auto start = std::chrono::steady_clock::now();
  US_RETURN_IF_ERROR(gpu.Launch(kernel, {groups, local},
                                {GlobalPointer{device_lengths.va()}, GlobalPointer{device_histogram.va()},
                                 GlobalPointer{device_longest.va()}, Scalar(kCount)}));
  US_RETURN_IF_ERROR(gpu.Synchronize());
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  const RigCounters used = rig.counters() - before;
  US_RETURN_IF_ERROR(device_lengths.Read(&got_lengths));
  US_RETURN_IF_ERROR(device_histogram.Read(&got_histogram));
  US_RETURN_IF_ERROR(device_longest.Read(&got_longest));
  const uint64_t differences = CountDifferences(lengths, got_lengths) +
                               CountDifferences(histogram, got_histogram) +
                               CountDifferences(longest, got_longest);
  return Row("collatz lengths of 5000 (divergence, atomics)", groups, lengths.size() + kBins + 1, differences,
             used, ms);
}

}  // namespace

absl::StatusOr<nlohmann::json> RunOpenClKernels(Rig& rig) {
  nlohmann::json rows = nlohmann::json::array();
  for (auto* run : {TiledMatmul, Collatz}) {
    US_ASSIGN_OR_RETURN(nlohmann::json row, run(rig));
    rows.push_back(std::move(row));
  }
  return nlohmann::json{{"kernels", rows}};
}

}  // namespace understudy::demo
