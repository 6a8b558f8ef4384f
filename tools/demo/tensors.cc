// SPDX-License-Identifier: Apache-2.0
// Part 1 of the demo: the same tensor programs on REF, CPU and the mock AMD device.

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/base/ulp.h"
#include "src/tensor/tensor.h"
#include "tools/demo/demo.h"

namespace understudy::demo {
namespace {

// Inputs are drawn on the host from a seed, so every device starts from the same bits.
Tensor Random(Shape shape, uint64_t seed, const std::string& device) {
  return Tensor::Normal(std::move(shape), seed, 0, 1, {dtypes::kFloat32, device});
}

std::vector<Tensor> Elementwise(const std::string& d) {
  const Tensor a = Random({64, 1, 96}, 1, d), b = Random({1, 48, 96}, 2, d), c = Random({96}, 3, d);
  return {(a * b + c).Maximum(0.0) / (b.Square() + 1.0)};
}

std::vector<Tensor> Matmul(const std::string& d) { return {Random({128, 128}, 4, d).Matmul(Random({128, 128}, 5, d))}; }

std::vector<Tensor> Softmax(const std::string& d) { return {Random({64, 256}, 6, d).Softmax()}; }

std::vector<Tensor> LayerNorm(const std::string& d) {
  const Tensor weight = Random({256}, 8, d), bias = Random({256}, 9, d);
  return {Random({64, 256}, 7, d).LayerNorm(1, &weight, &bias)};
}

std::vector<Tensor> Conv2d(const std::string& d) {
  const Tensor bias = Random({16}, 12, d);
  Tensor::Conv2dOptions options;
  options.padding = {1, 1};
  return {Random({1, 8, 16, 16}, 10, d).Conv2d(Random({16, 8, 3, 3}, 11, d), &bias, options)};
}

// Forward, backward and an SGD update of a two-layer network: the loss and the four new parameters.
std::vector<Tensor> TrainingStep(const std::string& d) {
  const Tensor x = Random({32, 64}, 13, d), target = Random({32, 10}, 14, d);
  const std::vector<Tensor> params = {Random({64, 32}, 15, d) * 0.125, Random({32}, 16, d), Random({32, 10}, 17, d) * 0.25,
                                      Random({10}, 18, d)};
  const Tensor hidden = (x.Matmul(params[0]) + params[1]).Relu();
  const Tensor loss = ((hidden.Matmul(params[2]) + params[3]) - target).Square().Mean();
  std::vector<Tensor> outputs = {loss};
  const std::vector<Tensor> gradients = Gradients(loss, params);
  for (size_t i = 0; i < params.size(); ++i) outputs.push_back(params[i] - gradients[i] * 0.1);
  return outputs;
}

struct TensorProgram {
  const char* name;
  std::vector<Tensor> (*build)(const std::string& device);
  // Largest accepted distance from REF. 0 where every operation rounds once and in the same order on each device;
  // more where a device may sum in another order.
  uint64_t allowed_ulp;
};

constexpr TensorProgram kPrograms[] = {
    {"elementwise, broadcast 64x48x96", Elementwise, 0},
    {"matmul 128x128x128", Matmul, 0},
    {"softmax 64x256", Softmax, 64},
    {"layer norm 64x256", LayerNorm, 4096},
    {"conv2d 1x8x16x16 by 16x8x3x3", Conv2d, 0},
    {"training step 64-32-10, batch 32", TrainingStep, 4096},
};

absl::StatusOr<std::vector<std::vector<float>>> RunOn(Rig& rig, const TensorProgram& program, const std::string& device) {
  std::vector<Tensor> outputs = program.build(device);
  std::vector<Tensor*> pointers;
  for (Tensor& t : outputs) pointers.push_back(&t);
  US_RETURN_IF_ERROR(rig.engine().Realize(pointers));
  std::vector<std::vector<float>> data;
  for (Tensor& t : outputs) {
    US_ASSIGN_OR_RETURN(data.emplace_back(), rig.engine().Data<float>(t));
  }
  return data;
}

}  // namespace

absl::StatusOr<nlohmann::json> RunTensorPrograms(Rig& rig, const ProgressFn& progress) {
  nlohmann::json rows = nlohmann::json::array();
  const int total = 2 * static_cast<int>(std::size(kPrograms));
  int done = 0;
  for (const TensorProgram& program : kPrograms) {
    US_ASSIGN_OR_RETURN(const auto want, RunOn(rig, program, "REF"));
    for (const std::string device : {"CPU", "AMD"}) {
      progress(done++, total, device + " " + program.name);
      const RigCounters before = rig.counters();
      const auto start = std::chrono::steady_clock::now();
      US_ASSIGN_OR_RETURN(const auto got, RunOn(rig, program, device));
      const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
      const RigCounters used = rig.counters() - before;
      uint64_t worst = 0;
      for (size_t i = 0; i < want.size(); ++i) {
        if (want[i].size() != got[i].size()) return absl::InternalError("output sizes differ");
        for (size_t k = 0; k < want[i].size(); ++k) worst = std::max(worst, UlpDistance(want[i][k], got[i][k]));
      }
      rows.push_back({{"name", program.name},
                      {"device", device},
                      {"kernels", used.kernels},
                      {"packets", used.packets},
                      {"wave_instructions", used.wave_instructions},
                      {"ms", ms},
                      {"max_ulp", worst},
                      {"allowed_ulp", program.allowed_ulp},
                      {"ok", worst <= program.allowed_ulp}});
    }
  }
  return nlohmann::json{{"programs", rows}};
}

}  // namespace understudy::demo
