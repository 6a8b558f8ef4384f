// SPDX-License-Identifier: Apache-2.0
// The program of docs/tutorial.md: a small network from tensors to kernels on three devices.
#include <cstdio>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/engine.h"
#include "src/schedule/call.h"
#include "src/schedule/schedule.h"
#include "src/tensor/tensor.h"
#include "src/uop/print.h"
#include "tools/rig/rig.h"

namespace understudy {
namespace {

// Probabilities of three classes for two rows of four numbers.
struct Classifier {
  Tensor weight, bias;
  explicit Classifier(const std::string& device)
      : weight(Tensor::FromData<float>({1, 0, -1, 2, 1, 0, -2, 0, 1, 1, -1, 0}, {4, 3}, device)),
        bias(Tensor::FromData<float>({0.5, 0, -0.5}, {3}, device)) {}
  Tensor Forward(const Tensor& x) const { return (x.Matmul(weight) + bias).Softmax(); }
};

Tensor Rows(const std::string& device) {
  return Tensor::FromData<float>({1, 2, 3, 4, 0.5, -1, 0.25, 2}, {2, 4}, device);
}

absl::Status PrintValues(Engine& engine, const std::string& device) {
  Tensor y = Classifier(device).Forward(Rows(device));
  US_ASSIGN_OR_RETURN(const std::vector<float> values, engine.Data<float>(y));
  std::printf("%-4s", device.c_str());
  for (const float v : values) std::printf(" %.6f", v);
  std::printf("\n");
  return absl::OkStatus();
}

// What realising a tensor would run, without running it.
absl::StatusOr<Schedule> ScheduleOf(const Tensor& y) {
  const OutputRequest wanted{y.uop(), y.device()};
  US_ASSIGN_OR_RETURN(const Call call, MakeCall({&wanted, 1}));
  return MakeSchedule(call);
}

absl::Status PrintKernels(Engine& engine, const std::string& device) {
  US_ASSIGN_OR_RETURN(const Schedule schedule, ScheduleOf(Classifier(device).Forward(Rows(device))));
  US_ASSIGN_OR_RETURN(const std::shared_ptr<Device> target, engine.devices().Find(device));
  for (const ScheduleItem& item : schedule.items) {
    US_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, target->Compile(item.kernel, nullptr));
    std::printf("== %s on %s: %zu bytes of machine code\n%s\n", program->name().c_str(), device.c_str(),
                program->code().size(), program->text().c_str());
  }
  return absl::OkStatus();
}

// One step down the slope of the cross entropy.
absl::Status PrintTraining(Engine& engine, const std::string& device) {
  Classifier net(device);
  net.weight.set_requires_grad();
  const Tensor labels = Tensor::FromData<int32_t>({0, 2}, {2}, device);
  for (int step = 0; step < 3; ++step) {
    Tensor loss = (Rows(device).Matmul(net.weight) + net.bias).CrossEntropy(labels);
    const Tensor gradient = Gradients(loss, {net.weight})[0];
    net.weight.Assign(net.weight - gradient * 0.1);
    US_RETURN_IF_ERROR(engine.Realize(std::vector<Tensor*>{&loss, &net.weight}));
    US_ASSIGN_OR_RETURN(const std::vector<float> value, engine.Data<float>(loss));
    std::printf("step %d: loss %.6f, kernels compiled so far: %ld\n", step, value[0],
                static_cast<long>(engine.stats().kernels_compiled));
  }
  return absl::OkStatus();
}

absl::Status Main(const std::string& what, const std::string& device) {
  // A mock machine with an AMD GPU, and an engine over the devices REF, CPU, NULL and AMD.
  US_ASSIGN_OR_RETURN(const std::unique_ptr<Rig> rig, Rig::Create());
  Engine& engine = rig->engine();
  if (what == "values") {
    for (const char* each : {"REF", "CPU", "AMD"}) US_RETURN_IF_ERROR(PrintValues(engine, each));
    return absl::OkStatus();
  }
  if (what == "schedule" || what == "graph") {
    US_ASSIGN_OR_RETURN(const Schedule schedule, ScheduleOf(Classifier("CPU").Forward(Rows("CPU"))));
    if (what == "schedule") {
      std::printf("%s", ScheduleText(schedule).c_str());
    } else {
      std::printf("%s", uop::Print(schedule.items[0].kernel).c_str());
    }
    return absl::OkStatus();
  }
  if (what == "kernels") return PrintKernels(engine, device);
  if (what == "training") return PrintTraining(engine, device);
  return absl::InvalidArgumentError(what + ": expected values, schedule, graph, kernels or training");
}

}  // namespace
}  // namespace understudy

int main(int argc, char** argv) {
  const absl::Status done = understudy::Main(argc > 1 ? argv[1] : "values", argc > 2 ? argv[2] : "AMD");
  if (!done.ok()) std::fprintf(stderr, "%s\n", std::string(done.message()).c_str());
  return done.ok() ? 0 : 1;
}
