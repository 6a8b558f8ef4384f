// SPDX-License-Identifier: Apache-2.0
// Part 2 of the demo: a two-layer network learns handwritten digits on the mock AMD device.

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/tensor/tensor.h"
#include "tools/demo/demo.h"
#include "tools/demo/digits.h"

namespace understudy::demo {
namespace {

constexpr int64_t kBatch = 100, kTrain = kBatch * kStepsPerEpoch, kPixels = 64, kHidden = 32, kClasses = 10;
constexpr double kLearningRate = 0.5;
constexpr char kDevice[] = "AMD";

struct Network {
  std::vector<Tensor> params;

  Network() {
    const TensorOptions on{dtypes::kFloat32, kDevice};
    params = {
        Tensor::Normal({kPixels, kHidden}, 101, 0, 0.18, on).Clone(), Tensor::Zeros({kHidden}, on).Clone(),
        Tensor::Normal({kHidden, kClasses}, 102, 0, 0.25, on).Clone(), Tensor::Zeros({kClasses}, on).Clone()};
  }
  Tensor Logits(const Tensor& x) const {
    return (x.Matmul(params[0]) + params[1]).Relu().Matmul(params[2]) + params[3];
  }
};

// Rows `order[first .. first + count)` of the set.
std::pair<Tensor, Tensor> Rows(const Digits& digits, const std::vector<int64_t>& order, int64_t first,
                               int64_t count) {
  std::vector<float> pixels;
  std::vector<int32_t> labels;
  for (int64_t i = first; i < first + count; ++i) {
    const auto row = digits.pixels.begin() + order[static_cast<size_t>(i)] * kPixels;
    pixels.insert(pixels.end(), row, row + kPixels);
    labels.push_back(digits.labels[static_cast<size_t>(order[static_cast<size_t>(i)])]);
  }
  return {Tensor::FromData(pixels, {count, kPixels}, kDevice), Tensor::FromData(labels, {count}, kDevice)};
}

absl::StatusOr<double> Accuracy(Rig& rig, const Network& net, const Digits& digits,
                                const std::vector<int64_t>& order, int64_t first, int64_t count) {
  const auto [x, labels] = Rows(digits, order, first, count);
  Tensor logits = net.Logits(x);
  US_ASSIGN_OR_RETURN(const std::vector<float> values, rig.engine().Data<float>(logits));
  int64_t right = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto row = values.begin() + i * kClasses;
    const int64_t guess = std::max_element(row, row + kClasses) - row;
    right += guess == digits.labels[static_cast<size_t>(order[static_cast<size_t>(first + i)])];
  }
  return static_cast<double>(right) / static_cast<double>(count);
}

}  // namespace

absl::StatusOr<nlohmann::json> RunTraining(Rig& rig, int epochs, const ProgressFn& progress) {
  US_ASSIGN_OR_RETURN(const Digits digits, LoadDigits());
  if (digits.count <= kTrain)
    return absl::FailedPreconditionError("the digits data set is smaller than the training part");
  std::vector<int64_t> order(static_cast<size_t>(digits.count));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 shuffle(5);
  std::shuffle(order.begin(), order.end(), shuffle);

  const auto start = std::chrono::steady_clock::now();
  const RigCounters before = rig.counters();
  Network net;
  nlohmann::json losses = nlohmann::json::array();
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::shuffle(order.begin(), order.begin() + kTrain, shuffle);
    double epoch_loss = 0;
    for (int step = 0; step < kStepsPerEpoch; ++step) {
      const auto [x, labels] = Rows(digits, order, step * kBatch, kBatch);
      Tensor loss = net.Logits(x).CrossEntropy(labels);
      const std::vector<Tensor> gradients = Gradients(loss, net.params);
      std::vector<Tensor> updated = {loss};
      for (size_t i = 0; i < net.params.size(); ++i)
        updated.push_back(net.params[i] - gradients[i] * kLearningRate);
      std::vector<Tensor*> outputs;
      for (Tensor& t : updated) outputs.push_back(&t);
      US_RETURN_IF_ERROR(rig.engine().Realize(outputs));
      US_ASSIGN_OR_RETURN(const std::vector<float> value, rig.engine().Data<float>(updated[0]));
      for (size_t i = 0; i < net.params.size(); ++i) net.params[i] = updated[i + 1];
      epoch_loss += value[0];
      progress(epoch * kStepsPerEpoch + step + 1, epochs * kStepsPerEpoch,
               "loss " + std::to_string(value[0]));
    }
    losses.push_back({{"loss", epoch_loss / kStepsPerEpoch}});
  }
  US_ASSIGN_OR_RETURN(const double train, Accuracy(rig, net, digits, order, 0, kTrain));
  US_ASSIGN_OR_RETURN(const double test, Accuracy(rig, net, digits, order, kTrain, digits.count - kTrain));
  const RigCounters used = rig.counters() - before;
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return nlohmann::json{{"samples", {{"train", kTrain}, {"test", digits.count - kTrain}}},
                        {"epochs", losses},
                        {"train_accuracy", train},
                        {"test_accuracy", test},
                        {"kernels", used.kernels},
                        {"packets", used.packets},
                        {"wave_instructions", used.wave_instructions},
                        {"ms", ms},
                        {"ok", test > 0.9}};
}

}  // namespace understudy::demo
