// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/dropout.h"

#include <cmath>

#include "src/tensor/activation.h"
#include "src/tensor/nn_internal.h"

namespace understudy {
namespace {

using tensor_internal::Refuse;
using tensor_internal::Text;

// 1 / (1 - p) where a place is kept, else 0.
Tensor Kept(const Tensor& x, Shape shape, double p, Generator& g) {
  return Dropout(Tensor::Ones(std::move(shape), {tensor_internal::ComputeType(x.dtype()), x.device()}), p,
                 true, g);
}

// {N, C, 1, ...}
absl::StatusOr<Shape> ChannelShape(const char* op, const Tensor& x) {
  if (absl::Status s = tensor_internal::WantFloats(op, {&x}); !s.ok()) return s;
  if (x.ndim() < 2) return tensor_internal::Bad(op, "input ", Text(x.shape()), ", expected [N,C,...]");
  Shape s(x.ndim(), 1);
  s[0] = x.shape()[0];
  s[1] = x.shape()[1];
  return s;
}

absl::Status CheckProbability(const char* op, double p) {
  if (p >= 0 && p <= 1) return absl::OkStatus();
  return tensor_internal::Bad(op, "probability ", p, ", expected 0 to 1");
}

Tensor Alpha(const char* op, const Tensor& x, const absl::StatusOr<Shape>& shape, double p, bool training,
             Generator& g) {
  if (!shape.ok()) return Tensor(shape.status());
  if (absl::Status s = CheckProbability(op, p); !s.ok()) return Tensor(s);
  if (!training || p == 0) return x;
  if (p == 1) return x * 0.0;
  // Klambauer et al., "Self-normalizing neural networks" (2017): alpha' = -scale * alpha of SELU.
  constexpr double kAlpha = 1.7580993408473766;
  const double scale = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  const Tensor keep = Kept(x, *shape, p, g).Gt(0);
  const Tensor wide = x.Cast(tensor_internal::ComputeType(x.dtype()));
  return (Where(keep, wide, -kAlpha) * scale + kAlpha * scale * p).Cast(x.dtype());
}

}  // namespace

Tensor FeatureDropout(const Tensor& x, double p, bool training, Generator& g) {
  const auto shape = ChannelShape("FeatureDropout", x);
  if (!shape.ok()) return Tensor(shape.status());
  if (absl::Status s = CheckProbability("FeatureDropout", p); !s.ok()) return Tensor(s);
  if (!training || p == 0) return x;
  if (p == 1) return x * 0.0;
  return (x * Kept(x, *shape, p, g)).Cast(x.dtype());
}

Tensor AlphaDropout(const Tensor& x, double p, bool training, Generator& g) {
  if (absl::Status s = tensor_internal::WantFloats("AlphaDropout", {&x}); !s.ok()) return Tensor(s);
  return Alpha("AlphaDropout", x, x.shape(), p, training, g);
}

Tensor FeatureAlphaDropout(const Tensor& x, double p, bool training, Generator& g) {
  return Alpha("FeatureAlphaDropout", x, ChannelShape("FeatureAlphaDropout", x), p, training, g);
}

Tensor Rrelu(const Tensor& x, double lower, double upper, bool training, Generator& g) {
  if (absl::Status s = tensor_internal::WantFloats("Rrelu", {&x}); !s.ok()) return Tensor(s);
  if (!(lower <= upper)) return Refuse("Rrelu", "slopes from ", lower, " to ", upper, ", expected an order");
  if (!training) return RreluEval(x, lower, upper);
  const DType compute = tensor_internal::ComputeType(x.dtype());
  const Tensor wide = x.Cast(compute),
               slope = Rand(x.shape(), g, {compute, x.device()}) * (upper - lower) + lower;
  return Where(wide.Le(0), wide * slope, wide).Cast(x.dtype());
}

}  // namespace understudy
