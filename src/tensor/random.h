// SPDX-License-Identifier: Apache-2.0
#pragma once
// Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): a random
// number is a function of (seed, counter), so the same seed gives the same bits wherever it is computed. On
// the host for tests and single numbers; as a graph for tensors.

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "src/tensor/tensor.h"

namespace understudy {

std::array<uint32_t, 2> Threefry2x32(std::array<uint32_t, 2> key, std::array<uint32_t, 2> counter);
// The same on u32 tensors, element by element.
std::array<Tensor, 2> Threefry2x32(const std::array<Tensor, 2>& key, const std::array<Tensor, 2>& counter);

// A multiple of 2^-24 in [0, 1): exact in f32.
double RandomUnit(uint64_t seed, uint64_t counter);

// A seed and how many numbers have been drawn from it. Explicit: no function has a hidden one. Equal seeds
// give equal sequences of draws on every device; two generators with one seed overlap.
class Generator {
 public:
  struct State {
    uint64_t seed, counter;
  };
  explicit Generator(uint64_t seed, uint64_t counter = 0)
      : state_(std::make_shared<State>(State{seed, counter})) {}
  // A copy draws the same numbers from here on, and on its own.
  Generator(const Generator& o) : state_(std::make_shared<State>(*o.state_)) {}
  Generator& operator=(const Generator& o) {
    *state_ = *o.state_;
    return *this;
  }
  uint64_t seed() const { return state_->seed; }
  uint64_t counter() const { return state_->counter; }
  // The first of n counters that nobody else gets.
  uint64_t Take(uint64_t n) {
    state_->counter += n;
    return state_->counter - n;
  }
  // For whoever draws again later: empty when the generator is gone.
  std::weak_ptr<State> state() const { return state_; }

 private:
  std::shared_ptr<State> state_;  // this generator's alone
};

// Every draw is a graph that fuses into what uses it (and is computed again where it is used again, unless it
// is stored: Contiguous). The bits are the same on every device.

// [0, 1): 24 bits (f32 and narrower, the bits of Tensor::Uniform), 53 bits (f64).
Tensor Rand(const Shape& shape, Generator& generator, const TensorOptions& options = {});
Tensor Randn(const Shape& shape, Generator& generator, const TensorOptions& options = {});
// [low, high), i64 unless options say otherwise; the bias is below 2^-31 (ranges up to 2^32) or range / 2^64.
Tensor Randint(int64_t low, int64_t high, const Shape& shape, Generator& generator,
               const TensorOptions& options = {dtypes::kInt64});
Tensor RandLike(const Tensor& x, Generator& generator);
Tensor RandnLike(const Tensor& x, Generator& generator);
// 0 .. n-1 in random order: random 32-bit keys, sorted.
Tensor Randperm(int64_t n, Generator& generator, const TensorOptions& options = {dtypes::kInt64});
// 1 with the probability that the element says, else 0; in x's type.
Tensor Bernoulli(const Tensor& probability, Generator& generator);
// Each element is 0 with probability p, else x / (1 - p). x itself unless `training`.
Tensor Dropout(const Tensor& x, double p, bool training, Generator& generator);
Tensor Exponential(const Shape& shape, Generator& generator, double lambda = 1,
                   const TensorOptions& options = {});
// Normal, cut off at [a, b]; through the inverse of the distribution in f32 (relative error about 1e-6).
Tensor TruncNormal(const Shape& shape, Generator& generator, double mean = 0, double stddev = 1,
                   double a = -2, double b = 2, const TensorOptions& options = {});
// Column numbers, i64, {num_samples} for weights {n}, {rows, num_samples} for {rows, n}; weights are not
// negative and need not add up to 1. Without replacement every number comes once.
Tensor Multinomial(const Tensor& weights, int64_t num_samples, bool replacement, Generator& generator);

// --- Initialisers: shape {out, in, kernel...}, as torch.nn.init ---

enum class FanMode { kFanIn, kFanOut };
// "linear", "conv2d", "sigmoid": 1; "tanh": 5/3; "relu": sqrt 2; "leaky_relu": sqrt(2 / (1 + a^2)); "selu":
// 3/4.
absl::StatusOr<double> CalculateGain(const std::string& nonlinearity, double a = 0.01);
Tensor XavierUniform(const Shape& shape, Generator& generator, double gain = 1,
                     const TensorOptions& options = {});
Tensor XavierNormal(const Shape& shape, Generator& generator, double gain = 1,
                    const TensorOptions& options = {});
struct KaimingOptions {
  double a = 0;
  FanMode mode = FanMode::kFanIn;
  std::string nonlinearity = "leaky_relu";
};
Tensor KaimingUniform(const Shape& shape, Generator& generator, const KaimingOptions& init = {},
                      const TensorOptions& options = {});
Tensor KaimingNormal(const Shape& shape, Generator& generator, const KaimingOptions& init = {},
                     const TensorOptions& options = {});

}  // namespace understudy
