// SPDX-License-Identifier: Apache-2.0
// Distributions and initialisers over the counter-based bits of random.cc.
#include <cmath>
#include <cstring>
#include <numbers>

#include "src/base/status.h"
#include "src/tensor/gather.h"
#include "src/tensor/internal.h"
#include "src/tensor/random.h"
#include "src/tensor/reduce_ops.h"
#include "src/tensor/scan.h"
#include "src/tensor/sort.h"
#include "src/tensor/watch.h"

namespace understudy {

using tensor_internal::Bad;
using tensor_internal::CheckCreate;
using tensor_internal::Product;
using tensor_internal::Text;

namespace {

using Words = std::array<Tensor, 2>;

absl::Status CheckFloat(const char* op, const Shape& shape, DType dtype) {
  US_RETURN_IF_ERROR(CheckCreate(op, shape, dtype));
  if (!dtype.IsFloat()) return Bad(op, "dtype ", dtype.Name(), ", expected a float");
  return absl::OkStatus();
}

// Two words an element, of counters that nobody else gets.
Words Draw(const Shape& shape, Generator& g, const std::string& device) {
  const auto contents = [state = g.state(), n = static_cast<uint64_t>(
                                                Product(shape))]() -> absl::StatusOr<std::vector<uint8_t>> {
    const std::shared_ptr<Generator::State> s = state.lock();
    if (s == nullptr)
      return absl::FailedPreconditionError("a generator that is drawn from again no longer exists");
    std::vector<uint8_t> bytes(16);
    std::memcpy(bytes.data(), &s->seed, 8);
    std::memcpy(bytes.data() + 8, &s->counter, 8);
    s->counter += n;
    return bytes;
  };
  return tensor_internal::RandomBits(shape, HostTensor(contents, dtypes::kUInt64, {2}, device), 1);
}

// [0, 1) in the compute type of `dtype`.
Tensor Unit(const Shape& shape, Generator& g, DType dtype, const std::string& device) {
  const Words w = Draw(shape, g, device);
  return dtype == dtypes::kFloat64 ? tensor_internal::UnitFromBits64(w[0], w[1])
                                   : tensor_internal::UnitFromBits(w[0]);
}

// Standard exponential: -log(1 - u).
Tensor UnitExponential(const Shape& shape, Generator& g, DType dtype, const std::string& device) {
  return -tensor_internal::ExactLog(1.0 - Unit(shape, g, dtype, device));
}

// Giles, "Approximating the erfinv function" (2010), single precision.
Tensor ErfInverse(const Tensor& x) {
  static constexpr double kCentre[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                       -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                       -0.00417768164,  0.246640727,    1.50140941};
  static constexpr double kTail[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                                     -0.00367342844,  0.00573950773,  -0.0076224613,
                                     0.00943887047,   1.00167406,     2.83297682};
  const Tensor w = -tensor_internal::ExactLog((1.0 - x) * (x + 1.0));
  const auto series = [](const Tensor& t, const double (&c)[9]) {
    Tensor p = t * c[0] + c[1];
    for (int i = 2; i < 9; ++i) p = p * t + c[i];
    return p;
  };
  return Where(w.Lt(5.0), series(w - 2.5, kCentre), series(w.Maximum(5.0).Sqrt() - 3.0, kTail)) * x;
}

double NormalCdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

}  // namespace

Tensor Rand(const Shape& shape, Generator& g, const TensorOptions& o) {
  if (absl::Status s = CheckFloat("Rand", shape, o.dtype); !s.ok()) return Tensor(s);
  return Unit(shape, g, o.dtype, o.device).Cast(o.dtype);
}
Tensor RandLike(const Tensor& x, Generator& g) {
  return x.ok() ? Rand(x.shape(), g, {x.dtype(), x.device()}) : x;
}

Tensor Randn(const Shape& shape, Generator& g, const TensorOptions& o) {
  if (absl::Status s = CheckFloat("Randn", shape, o.dtype); !s.ok()) return Tensor(s);
  if (o.dtype == dtypes::kFloat64) {
    const Tensor u = Unit(shape, g, o.dtype, o.device);
    return tensor_internal::BoxMuller(u, Unit(shape, g, o.dtype, o.device));
  }
  const Words w = Draw(shape, g, o.device);
  return tensor_internal::BoxMuller(tensor_internal::UnitFromBits(w[0]), tensor_internal::UnitFromBits(w[1]))
      .Cast(o.dtype);
}
Tensor RandnLike(const Tensor& x, Generator& g) {
  return x.ok() ? Randn(x.shape(), g, {x.dtype(), x.device()}) : x;
}

Tensor Randint(int64_t low, int64_t high, const Shape& shape, Generator& g, const TensorOptions& o) {
  if (absl::Status s = CheckCreate("Randint", shape, o.dtype); !s.ok()) return Tensor(s);
  if (low >= high) return Tensor(Bad("Randint", "from ", low, " to ", high, ", expected low < high"));
  const Words w = Draw(shape, g, o.device);
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  const Tensor w0 = w[0].Cast(dtypes::kUInt64), w1 = w[1].Cast(dtypes::kUInt64);
  const auto r = static_cast<int64_t>(range);
  // The upper half of word * range, or the remainder of 64 bits where the range is too wide for that.
  const Tensor v =
      range <= uint64_t{1} << 32 ? (w0 * r + (w1 * r).Shr(32)).Shr(32) : w0.Shl(32).BitOr(w1).Mod(r);
  return (v.Bitcast(dtypes::kInt64) + low).Cast(o.dtype);
}

Tensor Randperm(int64_t n, Generator& g, const TensorOptions& o) {
  if (absl::Status s = CheckCreate("Randperm", {n}, o.dtype); !s.ok()) return Tensor(s);
  return Argsort(Draw({n}, g, o.device)[0], 0).Cast(o.dtype);
}

Tensor Bernoulli(const Tensor& p, Generator& g) {
  if (!p.ok()) return p;
  if (absl::Status s = CheckFloat("Bernoulli", p.shape(), p.dtype()); !s.ok()) return Tensor(s);
  return Unit(p.shape(), g, p.dtype(), p.device()).Lt(p.Detach()).Cast(p.dtype());
}

Tensor Dropout(const Tensor& x, double p, bool training, Generator& g) {
  if (!x.ok()) return x;
  if (!(p >= 0 && p <= 1)) return Tensor(Bad("Dropout", "probability ", p, ", expected 0 to 1"));
  if (absl::Status s = CheckFloat("Dropout", x.shape(), x.dtype()); !s.ok()) return Tensor(s);
  if (!training || p == 0) return x;
  if (p == 1) return x * 0.0;
  // A word is below p 2^32 with probability p.
  const auto limit = static_cast<int64_t>(std::ceil(p * 0x1p32));
  const Tensor word = Draw(x.shape(), g, x.device())[0].Cast(dtypes::kUInt64);
  return Where(word.Ge(limit), x * (1 / (1 - p)), 0.0);
}

Tensor Exponential(const Shape& shape, Generator& g, double lambda, const TensorOptions& o) {
  if (absl::Status s = CheckFloat("Exponential", shape, o.dtype); !s.ok()) return Tensor(s);
  if (!(lambda > 0)) return Tensor(Bad("Exponential", "rate ", lambda, ", expected a positive number"));
  return (UnitExponential(shape, g, o.dtype, o.device) / lambda).Cast(o.dtype);
}

Tensor TruncNormal(const Shape& shape, Generator& g, double mean, double stddev, double a, double b,
                   const TensorOptions& o) {
  if (absl::Status s = CheckFloat("TruncNormal", shape, o.dtype); !s.ok()) return Tensor(s);
  if (!(stddev > 0) || !(a < b))
    return Tensor(Bad("TruncNormal", "deviation ", stddev, " between ", a, " and ", b,
                      ", expected a positive deviation and a < b"));
  const double low = 2 * NormalCdf((a - mean) / stddev) - 1, high = 2 * NormalCdf((b - mean) / stddev) - 1;
  const Tensor u = Unit(shape, g, dtypes::kFloat32, o.device) * (high - low) + low;
  // +-1 has no inverse.
  const Tensor z = ErfInverse(u.Maximum(-1 + 0x1p-24).Minimum(1 - 0x1p-24));
  return (z * (stddev * std::numbers::sqrt2) + mean).Maximum(a).Minimum(b).Cast(o.dtype);
}

Tensor Multinomial(const Tensor& weights, int64_t num_samples, bool replacement, Generator& g) {
  if (!weights.ok()) return weights;
  if (absl::Status s = CheckFloat("Multinomial", weights.shape(), weights.dtype()); !s.ok()) return Tensor(s);
  if (weights.ndim() != 1 && weights.ndim() != 2)
    return Tensor(Bad("Multinomial", "weights of shape ", Text(weights.shape()), ", expected rank 1 or 2"));
  const int64_t n = weights.shape().back();
  if (num_samples < 1 || n < 1 || (!replacement && num_samples > n)) {
    return Tensor(Bad("Multinomial", num_samples, " samples of ", n, replacement ? " with" : " without",
                      " replacement"));
  }
  const DType t = tensor_internal::ComputeType(weights.dtype());
  const Tensor w = weights.Detach().Cast(t);
  if (!replacement) {
    // The earliest of exponential clocks that run at these rates.
    const Tensor clock = Where(w.Gt(0.0), UnitExponential(w.shape(), g, t, w.device()) / w, INFINITY);
    return Topk(clock, num_samples, -1, false).indices;
  }
  const Tensor running = Cumsum(w, -1);
  std::vector<std::pair<int64_t, int64_t>> last;
  for (const int64_t d : running.shape()) last.push_back({0, d});
  last.back().first = n - 1;
  const Tensor total = running.Shrink(last);
  Shape shape = w.shape();
  shape.back() = num_samples;
  const Tensor target = Unit(shape, g, t, w.device()) * total;
  // The product may round up to the total: then the last weight that is not 0.
  return Searchsorted(running, target, true).Minimum(Searchsorted(running, total));
}

namespace {

// Elements that feed one output, and outputs that one element feeds.
absl::StatusOr<std::pair<double, double>> Fans(const char* op, const Shape& shape) {
  if (shape.size() < 2) return Bad(op, "shape ", Text(shape), ", expected at least rank 2");
  double field = 1;
  for (size_t i = 2; i < shape.size(); ++i) field *= static_cast<double>(shape[i]);
  return std::pair<double, double>(static_cast<double>(shape[1]) * field,
                                   static_cast<double>(shape[0]) * field);
}

Tensor Spread(const Shape& shape, Generator& g, double deviation, bool uniform, const TensorOptions& o) {
  const DType t = tensor_internal::ComputeType(o.dtype);
  const TensorOptions wide{t, o.device};
  if (!uniform) return (Randn(shape, g, wide) * deviation).Cast(o.dtype);
  const double bound = std::sqrt(3.0) * deviation;
  return (Rand(shape, g, wide) * (2 * bound) - bound).Cast(o.dtype);
}

Tensor Xavier(const char* op, const Shape& shape, Generator& g, double gain, bool uniform,
              const TensorOptions& o) {
  if (absl::Status s = CheckFloat(op, shape, o.dtype); !s.ok()) return Tensor(s);
  const auto fans = Fans(op, shape);
  if (!fans.ok()) return Tensor(fans.status());
  return Spread(shape, g, gain * std::sqrt(2 / (fans->first + fans->second)), uniform, o);
}

Tensor Kaiming(const char* op, const Shape& shape, Generator& g, const KaimingOptions& init, bool uniform,
               const TensorOptions& o) {
  if (absl::Status s = CheckFloat(op, shape, o.dtype); !s.ok()) return Tensor(s);
  const auto fans = Fans(op, shape);
  if (!fans.ok()) return Tensor(fans.status());
  const auto gain = CalculateGain(init.nonlinearity, init.a);
  if (!gain.ok()) return Tensor(gain.status());
  return Spread(shape, g, *gain / std::sqrt(init.mode == FanMode::kFanIn ? fans->first : fans->second),
                uniform, o);
}

}  // namespace

absl::StatusOr<double> CalculateGain(const std::string& name, double a) {
  if (name == "linear" || name == "conv1d" || name == "conv2d" || name == "conv3d" || name == "sigmoid")
    return 1.0;
  if (name == "tanh") return 5.0 / 3;
  if (name == "relu") return std::numbers::sqrt2;
  if (name == "leaky_relu") return std::sqrt(2 / (1 + a * a));
  if (name == "selu") return 0.75;
  return Bad("CalculateGain", "nonlinearity '", name,
             "', expected linear, conv1d, conv2d, conv3d, sigmoid, tanh, relu, leaky_relu or selu");
}

Tensor XavierUniform(const Shape& shape, Generator& g, double gain, const TensorOptions& o) {
  return Xavier("XavierUniform", shape, g, gain, true, o);
}
Tensor XavierNormal(const Shape& shape, Generator& g, double gain, const TensorOptions& o) {
  return Xavier("XavierNormal", shape, g, gain, false, o);
}
Tensor KaimingUniform(const Shape& shape, Generator& g, const KaimingOptions& init, const TensorOptions& o) {
  return Kaiming("KaimingUniform", shape, g, init, true, o);
}
Tensor KaimingNormal(const Shape& shape, Generator& g, const KaimingOptions& init, const TensorOptions& o) {
  return Kaiming("KaimingNormal", shape, g, init, false, o);
}

}  // namespace understudy
