// SPDX-License-Identifier: Apache-2.0
// Part 1 of the demo: the same tensor programs on REF, CPU, and the AMD and CUDA devices.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/base/ulp.h"
#include "src/tensor/tensor.h"
#include "tools/demo/demo.h"
#include "tools/rig/cuda_devices.h"

namespace understudy::demo {
namespace {

// Inputs of one program: drawn lazily from a seed (the same bits on every device) and realised before the
// program is measured, so that the figures are the program's alone.
class Inputs {
 public:
  explicit Inputs(std::string device) : device_(std::move(device)) {}
  // Standard normal values times `scale`.
  Tensor Random(Shape shape, double scale = 1) {
    all_.push_back(Tensor::Normal(std::move(shape), ++seed_, 0, scale, {dtypes::kFloat32, device_}).Clone());
    return all_.back();
  }
  std::vector<Tensor>& all() { return all_; }

 private:
  std::string device_;
  uint64_t seed_ = 0;
  std::vector<Tensor> all_;
};

std::vector<Tensor> Elementwise(Inputs& in) {
  const Tensor a = in.Random({64, 1, 96}), b = in.Random({1, 48, 96}), c = in.Random({96});
  return {(a * b + c).Maximum(0.0) / (b.Square() + 1.0)};
}

std::vector<Tensor> Matmul(Inputs& in) {
  const Tensor a = in.Random({128, 128}), b = in.Random({128, 128});
  return {a.Matmul(b)};
}

std::vector<Tensor> Softmax(Inputs& in) { return {in.Random({64, 256}).Softmax()}; }

std::vector<Tensor> LayerNorm(Inputs& in) {
  const Tensor x = in.Random({64, 256}), weight = in.Random({256}), bias = in.Random({256});
  return {x.LayerNorm(1, &weight, &bias)};
}

std::vector<Tensor> Conv2d(Inputs& in) {
  const Tensor x = in.Random({1, 8, 16, 16}), weight = in.Random({16, 8, 3, 3}), bias = in.Random({16});
  Tensor::Conv2dOptions options;
  options.padding = {1, 1};
  return {x.Conv2d(weight, &bias, options)};
}

// Forward, backward and an SGD update of a two-layer network: the loss and the four new parameters.
std::vector<Tensor> TrainingStep(Inputs& in) {
  const Tensor x = in.Random({32, 64}), target = in.Random({32, 10});
  const std::vector<Tensor> params = {in.Random({64, 32}, 0.125), in.Random({32}), in.Random({32, 10}, 0.25),
                                      in.Random({10})};
  const Tensor hidden = (x.Matmul(params[0]) + params[1]).Relu();
  const Tensor loss = ((hidden.Matmul(params[2]) + params[3]) - target).Square().Mean();
  std::vector<Tensor> outputs = {loss};
  const std::vector<Tensor> gradients = Gradients(loss, params);
  for (size_t i = 0; i < params.size(); ++i) outputs.push_back(params[i] - gradients[i] * 0.1);
  return outputs;
}

struct TensorProgram {
  const char* name;
  std::vector<Tensor> (*build)(Inputs&);
  // Largest accepted error, in units in the last place of the output's largest value. 0 where every operation
  // rounds once and in the same order on each device; more where a device may sum in another order or has its
  // own transcendental functions (an element near zero is then many of its own ulps away, by cancellation).
  double allowed;
};

constexpr TensorProgram kPrograms[] = {
    {"elementwise, broadcast 64x48x96", Elementwise, 0},
    {"matmul 128x128x128", Matmul, 0},
    {"softmax 64x256", Softmax, 16},
    {"layer norm 64x256", LayerNorm, 16},
    {"conv2d 1x8x16x16 by 16x8x3x3", Conv2d, 0},
    {"training step 64-32-10, batch 32", TrainingStep, 16},
};

static_assert(std::size(kPrograms) == kTensorPrograms);

// The largest distance between two outputs: in each element's own ulps, and in ulps of the largest element.
struct Error {
  uint64_t ulp = 0;
  double scaled = 0;
  void Take(const Error& o) {
    ulp = std::max(ulp, o.ulp);
    scaled = std::max(scaled, o.scaled);
  }
};

Error ErrorOf(const std::vector<float>& want, const std::vector<float>& got) {
  float largest = 0;
  for (float v : want) largest = std::max(largest, std::fabs(v));
  const double unit = std::ldexp(1.0, std::max(std::ilogb(largest), -126) - 23);
  Error e;
  for (size_t i = 0; i < want.size(); ++i) {
    e.ulp = std::max(e.ulp, UlpDistance(want[i], got[i]));
    const double distance = std::fabs(static_cast<double>(want[i]) - got[i]);
    // NaN or infinity on one side only is beyond every bound.
    e.scaled = UlpDistance(want[i], got[i]) == 0 ? e.scaled
               : std::isfinite(distance)         ? std::max(e.scaled, distance / unit)
                                                 : HUGE_VAL;
  }
  return e;
}

std::vector<Tensor*> Pointers(std::vector<Tensor>& tensors) {
  std::vector<Tensor*> pointers;
  for (Tensor& t : tensors) pointers.push_back(&t);
  return pointers;
}

struct Measured {
  std::vector<std::vector<float>> values;
  RigCounters used;
  double ms = 0;  // scheduling, compiling and running
};

absl::StatusOr<Measured> RunOn(Rig& rig, const TensorProgram& program, const std::string& device) {
  Inputs inputs(device);
  std::vector<Tensor> outputs = program.build(inputs);
  US_RETURN_IF_ERROR(rig.engine().Realize(Pointers(inputs.all())));
  US_RETURN_IF_ERROR(rig.engine().Synchronize());
  Measured m;
  const RigCounters before = rig.counters();
  const auto start = std::chrono::steady_clock::now();
  US_RETURN_IF_ERROR(rig.engine().Realize(Pointers(outputs)));
  US_RETURN_IF_ERROR(rig.engine().Synchronize());
  m.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  m.used = rig.counters() - before;
  for (Tensor& t : outputs) {
    US_ASSIGN_OR_RETURN(m.values.emplace_back(), rig.engine().Data<float>(t));
  }
  return m;
}

}  // namespace

absl::StatusOr<nlohmann::json> RunTensorPrograms(Rig& rig, const ProgressFn& progress) {
  nlohmann::json rows = nlohmann::json::array();
  const std::vector<std::string> devices = ComparedDevices();
  const int total = static_cast<int>(devices.size() * std::size(kPrograms));
  int done = 0;
  for (const TensorProgram& program : kPrograms) {
    US_ASSIGN_OR_RETURN(const Measured reference, RunOn(rig, program, "REF"));
    const auto& want = reference.values;
    for (const std::string& device : devices) {
      progress(done++, total, DeviceTitle(device) + " " + program.name);
      US_ASSIGN_OR_RETURN(const Measured measured, RunOn(rig, program, device));
      const auto& got = measured.values;
      Error worst;
      for (size_t i = 0; i < want.size(); ++i) {
        if (want[i].size() != got[i].size())
          return absl::InternalError(
              absl::StrCat(program.name, ": output ", i, " has another size than on REF"));
        worst.Take(ErrorOf(want[i], got[i]));
      }
      rows.push_back({{"name", program.name},
                      {"device", DeviceTitle(device)},
                      {"kernels", measured.used.kernels},
                      {"packets", measured.used.packets},
                      {"wave_instructions", measured.used.wave_instructions},
                      {"ms", measured.ms},
                      {"max_ulp", worst.ulp},
                      {"scaled_ulp", worst.scaled},
                      {"allowed", program.allowed},
                      {"ok", worst.scaled <= program.allowed}});
    }
  }
  return nlohmann::json{{"programs", rows}};
}

}  // namespace understudy::demo
