// SPDX-License-Identifier: Apache-2.0
// Losses as formulas, computed in f32 or f64 and rounded at the end.
#include "src/tensor/loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "src/base/status.h"
#include "src/tensor/activation.h"
#include "src/tensor/nn_internal.h"
#include "src/tensor/norm.h"
#include "src/tensor/scan.h"
#include "src/tensor/variable.h"

namespace understudy {
namespace {

using tensor_internal::Bad;
using tensor_internal::ComputeType;
using tensor_internal::Refuse;
using tensor_internal::Text;
using tensor_internal::WantFloats;

Tensor OrError(absl::StatusOr<Tensor> t) { return t.ok() ? *std::move(t) : Tensor(t.status()); }

Tensor Reduced(const Tensor& loss, Reduction reduction, DType t) {
  if (reduction == Reduction::kSum) return loss.Sum().Cast(t);
  if (reduction == Reduction::kMean) return loss.Mean().Cast(t);
  return loss.Cast(t);
}

// f(input, target) in the compute type; float operands that broadcast.
template <class F>
Tensor Elementwise(const char* op, const Tensor& input, const Tensor& target, Reduction reduction, F f) {
  if (absl::Status s = WantFloats(op, {&input}); !s.ok()) return Tensor(s);
  if (!target.ok()) return target;
  const auto shape = tensor_internal::BroadcastShapes(op, input.shape(), target.shape());
  if (!shape.ok()) return Tensor(shape.status());
  const DType t = Promote(input.dtype(), target.dtype()), compute = ComputeType(t);
  return Reduced(f(input.Cast(compute), target.Cast(compute)), reduction, t);
}

// max(x, 0) whose gradient at 0 is 1, as that of clamp_min.
Tensor Hinge(const Tensor& x) { return Where(x.Lt(0), 0.0, x); }
// log(1 + e^x) everywhere: torch.nn's Softplus becomes x itself past a threshold.
Tensor LogOnePlusExp(const Tensor& x) { return Softplus(x, 1, INFINITY); }
// max(log x, -100), with a gradient of 0 below.
Tensor BoundedLog(const Tensor& x) {
  const Tensor low = x.Le(std::exp(-100.0));
  return Where(low, -100.0, Where(low, 1.0, x).Log());
}

// No index of a target is ignored.
constexpr int64_t kIgnoreNone = std::numeric_limits<int64_t>::min();

// Class indices beside {N, C, ...}: what both class losses share.
struct Classes {
  Tensor input;    // {.., C, ..} in the compute type
  int64_t axis;    // of the classes
  Tensor hit;      // of the input's shape: this is the target's class
  Tensor ignored;  // of the target's shape
  Tensor inside;   // the class exists
  Tensor weights;  // {1, C, 1...}, or ones
  bool weighted;   // they are not all 1
  bool ignores;    // some index may be ignored
};

absl::StatusOr<int64_t> ClassAxis(const char* op, const Tensor& input, const ClassLossOptions& o) {
  US_RETURN_IF_ERROR(WantFloats(op, {&input, o.weight}));
  if (input.ndim() < 1) return Bad(op, "input ", Text(input.shape()), ", expected [C] or [N,C,...]");
  const int64_t axis = input.ndim() == 1 ? 0 : 1;
  if (HasVariableSize(input) && input.uop()->sizes()[axis] != nullptr)
    return Bad(op, "a number of classes that depends on a variable (axis ", axis, "), expected a constant");
  if (o.weight != nullptr && o.weight->shape() != Shape{input.shape()[axis]})
    return Bad(op, "weight of shape ", Text(o.weight->shape()), ", expected [", input.shape()[axis], "]");
  if (!(o.label_smoothing >= 0 && o.label_smoothing <= 1))
    return Bad(op, "label_smoothing ", o.label_smoothing, ", expected 0 to 1");
  return axis;
}

Tensor WeightsAlong(const Tensor& input, int64_t axis, const Tensor* weight) {
  Shape along(input.ndim(), 1);
  along[axis] = input.shape()[axis];
  if (weight == nullptr) return Tensor::Ones(along, {input.dtype(), input.device()});
  return weight->Cast(input.dtype()).Reshape(along);
}

absl::StatusOr<Classes> ResolveClasses(const char* op, const Tensor& input, const Tensor& target,
                                       const ClassLossOptions& o) {
  US_ASSIGN_OR_RETURN(const int64_t axis, ClassAxis(op, input, o));
  US_RETURN_IF_ERROR(target.status());
  Shape want = input.shape();
  want.erase(want.begin() + axis);
  if (target.shape() != want || !target.dtype().IsInt()) {
    return Bad(op, "target of ", target.dtype().Name(), Text(target.shape()), " for input ",
               Text(input.shape()), ", expected integers (class indices) of shape ", Text(want));
  }
  Classes c;
  c.axis = axis;
  c.input = input.Cast(ComputeType(input.dtype()));
  const Tensor index = target.Cast(dtypes::kInt64);
  const int64_t classes = input.shape()[axis];
  c.hit = index.Unsqueeze(axis).Eq(
      tensor_internal::Positions(classes, static_cast<int>(axis), input.ndim(), input));
  c.ignored = index.Eq(o.ignore_index);
  c.inside = index.Ge(0).BitAnd(index.Lt(classes));
  c.weights = WeightsAlong(c.input, axis, o.weight);
  c.weighted = o.weight != nullptr;
  c.ignores = o.ignore_index != kIgnoreNone;
  return c;
}

// -w[target] logp[target], and the mean's divisor sum w[target]; smoothing blends in the mean over classes.
Tensor Likelihood(const Classes& c, const Tensor& logp, const ClassLossOptions& o, DType t) {
  const auto counted = [&](const Tensor& x) { return c.ignores ? Where(c.ignored, 0.0, x) : x; };
  const auto picked = [&](const Tensor& x) {
    return counted(Where(c.inside, Where(c.hit, x, 0.0).Sum({c.axis}), NAN));
  };
  const Tensor weighted = c.weighted ? logp * c.weights : logp;
  Tensor loss = -picked(weighted);
  if (o.label_smoothing > 0) {
    const double share = o.label_smoothing / static_cast<double>(std::max<int64_t>(1, logp.shape()[c.axis]));
    loss = loss * (1 - o.label_smoothing) + counted(-weighted.Sum({c.axis})) * share;
  }
  if (o.reduction != Reduction::kMean || !(c.weighted || c.ignores)) return Reduced(loss, o.reduction, t);
  const Tensor divisor = c.weighted ? picked(c.weights) : c.ignored.LogicalNot().Cast(loss.dtype());
  return (loss.Sum() / divisor.Sum()).Cast(t);
}

absl::StatusOr<Tensor> CrossEntropyOf(const Tensor& input, const Tensor& target, const ClassLossOptions& o) {
  const char* op = "CrossEntropy";
  US_ASSIGN_OR_RETURN(const int64_t axis, ClassAxis(op, input, o));
  US_RETURN_IF_ERROR(target.status());
  if (!target.dtype().IsFloat()) {
    US_ASSIGN_OR_RETURN(const Classes c, ResolveClasses(op, input, target, o));
    return Likelihood(c, c.input.LogSoftmax(axis), o, input.dtype());
  }
  if (target.shape() != input.shape())
    return Bad(op, "probabilities of shape ", Text(target.shape()), ", expected the input's ",
               Text(input.shape()));
  const Tensor x = input.Cast(ComputeType(input.dtype()));
  const int64_t classes = std::max<int64_t>(1, input.shape()[axis]);
  Tensor p = target.Cast(x.dtype());
  if (o.label_smoothing > 0)
    p = p * (1 - o.label_smoothing) + o.label_smoothing / static_cast<double>(classes);
  const Tensor loss = -(x.LogSoftmax(axis) * p * WeightsAlong(x, axis, o.weight)).Sum({axis});
  return Reduced(loss, o.reduction, input.dtype());
}

}  // namespace

Tensor MseLoss(const Tensor& input, const Tensor& target, Reduction reduction) {
  return Elementwise("MseLoss", input, target, reduction,
                     [](const Tensor& x, const Tensor& y) { return (x - y).Square(); });
}

Tensor L1Loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  return Elementwise("L1Loss", input, target, reduction,
                     [](const Tensor& x, const Tensor& y) { return (x - y).Abs(); });
}

Tensor SmoothL1Loss(const Tensor& input, const Tensor& target, Reduction reduction, double beta) {
  if (!(beta >= 0)) return Refuse("SmoothL1Loss", "beta ", beta, ", expected at least 0");
  if (beta == 0) return L1Loss(input, target, reduction);
  return Elementwise("SmoothL1Loss", input, target, reduction, [&](const Tensor& x, const Tensor& y) {
    const Tensor d = (x - y).Abs();
    return Where(d.Lt(beta), d.Square() * (0.5 / beta), d - 0.5 * beta);
  });
}

Tensor HuberLoss(const Tensor& input, const Tensor& target, Reduction reduction, double delta) {
  if (!(delta > 0)) return Refuse("HuberLoss", "delta ", delta, ", expected more than 0");
  return Elementwise("HuberLoss", input, target, reduction, [&](const Tensor& x, const Tensor& y) {
    const Tensor d = (x - y).Abs();
    return Where(d.Le(delta), d.Square() * 0.5, (d - 0.5 * delta) * delta);
  });
}

Tensor CrossEntropy(const Tensor& input, const Tensor& target, const ClassLossOptions& options) {
  return OrError(CrossEntropyOf(input, target, options));
}

Tensor Tensor::CrossEntropy(const Tensor& target) const {
  if (!ok()) return *this;
  if (!target.ok()) return target;
  if (ndim() != 2 || target.ndim() != 1 || target.shape()[0] != shape()[0]) {
    return Refuse("CrossEntropy", "logits ", Text(shape()), " and target ", Text(target.shape()),
                  ", expected [N,C] and [N]");
  }
  if (!target.dtype().IsInt()) {
    return Refuse("CrossEntropy", "target of dtype ", target.dtype().Name(),
                  ", expected integers (class indices)");
  }
  // Here -100 is outside the classes like any other.
  ClassLossOptions options;
  options.ignore_index = kIgnoreNone;
  return understudy::CrossEntropy(*this, target, options);
}

Tensor NllLoss(const Tensor& input, const Tensor& target, const ClassLossOptions& options) {
  if (options.label_smoothing != 0)
    return Refuse("NllLoss", "label_smoothing ", options.label_smoothing, ", expected none");
  auto c = ResolveClasses("NllLoss", input, target, options);
  if (!c.ok()) return Tensor(c.status());
  return Likelihood(*c, c->input, options, input.dtype());
}

Tensor BinaryCrossEntropy(const Tensor& input, const Tensor& target, const Tensor* weight,
                          Reduction reduction) {
  if (absl::Status s = tensor_internal::FirstError({&input, &target, weight}); !s.ok()) return Tensor(s);
  if (target.shape() != input.shape()) {
    return Refuse("BinaryCrossEntropy", "input ", Text(input.shape()), " and target ", Text(target.shape()),
                  ", expected equal shapes");
  }
  return Elementwise("BinaryCrossEntropy", input, target, reduction, [&](const Tensor& x, const Tensor& y) {
    Tensor loss = -(y * BoundedLog(x) + (1.0 - y) * BoundedLog(1.0 - x));
    return weight == nullptr ? loss : loss * weight->Cast(x.dtype());
  });
}

Tensor BinaryCrossEntropyWithLogits(const Tensor& input, const Tensor& target, const Tensor* weight,
                                    Reduction reduction, const Tensor* pos_weight) {
  if (absl::Status s = tensor_internal::FirstError({&input, &target, weight, pos_weight}); !s.ok())
    return Tensor(s);
  if (target.shape() != input.shape()) {
    return Refuse("BinaryCrossEntropyWithLogits", "input ", Text(input.shape()), " and target ",
                  Text(target.shape()), ", expected equal shapes");
  }
  return Elementwise("BinaryCrossEntropyWithLogits", input, target, reduction,
                     [&](const Tensor& x, const Tensor& y) {
                       // -log sigmoid(x) is softplus(-x), -log(1 - sigmoid(x)) is x more.
                       Tensor positive = LogOnePlusExp(-x);
                       if (pos_weight != nullptr)
                         positive = positive * ((pos_weight->Cast(x.dtype()) - 1.0) * y + 1.0);
                       const Tensor loss = (1.0 - y) * x + positive;
                       return weight == nullptr ? loss : loss * weight->Cast(x.dtype());
                     });
}

Tensor KlDiv(const Tensor& input, const Tensor& target, Reduction reduction, bool log_target,
             bool batch_mean) {
  const auto f = [&](const Tensor& x, const Tensor& y) {
    if (log_target) return y.Exp() * (y - x);
    const Tensor zero = y.Eq(0);
    return Where(zero, 0.0, y * Where(zero, 1.0, y).Log()) - y * x;
  };
  if (!batch_mean) return Elementwise("KlDiv", input, target, reduction, f);
  if (input.ok() && (input.ndim() < 1 || input.shape()[0] < 1))
    return Refuse("KlDiv", "input ", Text(input.shape()), " with batch_mean, expected a batch");
  const Tensor sum = Elementwise("KlDiv", input, target, Reduction::kSum, f);
  return sum.ok() ? sum / tensor_internal::ElementsAlong(input, {0}, sum.dtype()) : sum;
}

Tensor PoissonNllLoss(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps,
                      Reduction reduction) {
  return Elementwise("PoissonNllLoss", input, target, reduction, [&](const Tensor& x, const Tensor& y) {
    Tensor loss = log_input ? x.Exp() - y * x : x - y * (x + eps).Log();
    if (full) {
      // Stirling's approximation of log(target!).
      const Tensor large = y.Gt(1), safe = Where(large, y, 1.0);
      loss = loss + Where(large, safe * safe.Log() - safe + (safe * (2 * std::numbers::pi)).Log() * 0.5, 0.0);
    }
    return loss;
  });
}

Tensor GaussianNllLoss(const Tensor& input, const Tensor& target, const Tensor& var, bool full, double eps,
                       Reduction reduction) {
  if (absl::Status s = WantFloats("GaussianNllLoss", {&input, &target, &var}); !s.ok()) return Tensor(s);
  Tensor v = var;
  if (var.shape() != input.shape()) {
    // One variance for the last axis, as size 1 or left out.
    if (input.ndim() >= 1 && var.shape() == Shape(input.shape().begin(), input.shape().end() - 1))
      v = var.Unsqueeze(-1);
    const bool fits = v.ndim() == input.ndim() && input.ndim() >= 1 && v.shape().back() == 1 &&
                      std::equal(v.shape().begin(), v.shape().end() - 1, input.shape().begin());
    if (!fits) {
      return Refuse("GaussianNllLoss", "input ", Text(input.shape()), " and var ", Text(var.shape()),
                    ", expected equal shapes but for a last axis of 1");
    }
  }
  return Elementwise("GaussianNllLoss", input, target, reduction, [&](const Tensor& x, const Tensor& y) {
    const Tensor given = v.Cast(x.dtype());
    // Held above eps in value; the gradient is the unbounded one.
    const Tensor s = Where(given.Lt(eps), given + (eps - given).Detach(), given);
    const Tensor loss = (s.Log() + (x - y).Square() / s) * 0.5;
    return full ? loss + 0.5 * std::log(2 * std::numbers::pi) : loss;
  });
}

Tensor HingeEmbeddingLoss(const Tensor& input, const Tensor& target, double margin, Reduction reduction) {
  return Elementwise("HingeEmbeddingLoss", input, target, reduction, [&](const Tensor& x, const Tensor& y) {
    return Where(y.Ne(1), Hinge(margin - x), 0.0) + Where(y.Ne(-1), x, 0.0);
  });
}

Tensor MarginRankingLoss(const Tensor& a, const Tensor& b, const Tensor& target, double margin,
                         Reduction reduction) {
  if (absl::Status s = WantFloats("MarginRankingLoss", {&a, &b}); !s.ok()) return Tensor(s);
  return Elementwise("MarginRankingLoss", a - b, target, reduction,
                     [&](const Tensor& x, const Tensor& y) { return Hinge(-y * x + margin); });
}

Tensor CosineEmbeddingLoss(const Tensor& a, const Tensor& b, const Tensor& target, double margin,
                           Reduction reduction) {
  if (absl::Status s = WantFloats("CosineEmbeddingLoss", {&a, &b}); !s.ok()) return Tensor(s);
  if (!target.ok()) return target;
  if (a.shape() != b.shape() || a.ndim() < 1 || a.ndim() > 2 ||
      target.shape() != Shape(a.shape().begin(), a.shape().end() - 1)) {
    return Refuse("CosineEmbeddingLoss", "inputs ", Text(a.shape()), " and ", Text(b.shape()), ", target ",
                  Text(target.shape()), ", expected [N,D], [N,D] and [N]");
  }
  const DType t = Promote(a.dtype(), b.dtype()), compute = ComputeType(t);
  const Tensor x = a.Cast(compute), y = b.Cast(compute);
  const auto squares = [](const Tensor& v) { return v.Square().Sum({-1}) + 1e-12; };
  const Tensor cosine = (x * y).Sum({-1}) / (squares(x) * squares(y)).Sqrt();
  return Reduced(Where(target.Eq(1), 1.0 - cosine, 0.0) + Where(target.Eq(-1), Hinge(cosine - margin), 0.0),
                 reduction, t);
}

Tensor TripletMarginLoss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                         const TripletMarginOptions& o) {
  if (absl::Status s = WantFloats("TripletMarginLoss", {&anchor, &positive, &negative}); !s.ok())
    return Tensor(s);
  const DType t = Promote(Promote(anchor.dtype(), positive.dtype()), negative.dtype()),
              compute = ComputeType(t);
  const Tensor a = anchor.Cast(compute), p = positive.Cast(compute), n = negative.Cast(compute);
  Tensor far = PairwiseDistance(a, n, o.p, o.eps);
  if (o.swap) far = far.Minimum(PairwiseDistance(p, n, o.p, o.eps));
  return Reduced(Hinge(PairwiseDistance(a, p, o.p, o.eps) - far + o.margin), o.reduction, t);
}

Tensor SoftMarginLoss(const Tensor& input, const Tensor& target, Reduction reduction) {
  return Elementwise("SoftMarginLoss", input, target, reduction,
                     [](const Tensor& x, const Tensor& y) { return LogOnePlusExp(-y * x); });
}

Tensor MultiMarginLoss(const Tensor& input, const Tensor& target, const MultiMarginOptions& o) {
  if (o.p != 1 && o.p != 2) return Refuse("MultiMarginLoss", "p ", o.p, ", expected 1 or 2");
  ClassLossOptions classes;
  classes.weight = o.weight;
  classes.ignore_index = kIgnoreNone;
  if (input.ok() && input.ndim() > 2)
    return Refuse("MultiMarginLoss", "input ", Text(input.shape()), ", expected [N,C] or [C]");
  const auto c = ResolveClasses("MultiMarginLoss", input, target, classes);
  if (!c.ok()) return Tensor(c.status());
  const auto picked = [&](const Tensor& x) { return Where(c->hit, x, 0.0).Sum({c->axis}, true); };
  const Tensor gap = Hinge(c->input - picked(c->input) + o.margin);
  const Tensor loss =
      Where(c->hit, 0.0, o.p == 1 ? gap : gap.Square()).Mean({c->axis}) * picked(c->weights).Squeeze(c->axis);
  return Reduced(Where(c->inside, loss, NAN), o.reduction, input.dtype());
}

Tensor MultiLabelMarginLoss(const Tensor& input, const Tensor& target, Reduction reduction) {
  const char* op = "MultiLabelMarginLoss";
  if (absl::Status s = WantFloats(op, {&input}); !s.ok()) return Tensor(s);
  if (!target.ok()) return target;
  if (target.shape() != input.shape() || input.ndim() < 1 || input.ndim() > 2 || !target.dtype().IsInt()) {
    return Refuse(op, "input ", Text(input.shape()), " and ", target.dtype().Name(), " target ",
                  Text(target.shape()), ", expected integers of the shape [N,C] or [C]");
  }
  const int64_t classes = input.shape().back();
  const Tensor x = input.Cast(ComputeType(input.dtype())), y = target.Cast(dtypes::kInt64);
  // {..., place in the list, class}: whether the list names the class there.
  const Tensor open = Cumsum(y.Lt(0).Cast(dtypes::kInt64), -1).Eq(0);
  const Tensor named = y.Unsqueeze(-1).Eq(tensor_internal::Positions(classes, 1, 2, input));
  const Tensor hit = named.BitAnd(open.Unsqueeze(-1)).Contiguous();
  const Tensor is_target = hit.Cast(dtypes::kInt64).Max({-2}, true).Gt(0);
  const Tensor picked = Where(hit, x.Unsqueeze(-2), 0.0).Sum({-1}, true);
  const Tensor gap = Hinge(x.Unsqueeze(-2) - picked + 1.0);
  const Tensor counted = open.Unsqueeze(-1).BitAnd(is_target.LogicalNot());
  Tensor loss = Where(counted, gap, 0.0).Sum({-2, -1}) / classes;
  // A class that does not exist.
  const Tensor outside = open.BitAnd(y.Ge(classes)).Cast(dtypes::kInt64).Max({-1}).Gt(0);
  loss = Where(outside, NAN, loss);
  return Reduced(loss, reduction, input.dtype());
}

Tensor MultiLabelSoftMarginLoss(const Tensor& input, const Tensor& target, const Tensor* weight,
                                Reduction reduction) {
  if (absl::Status s = WantFloats("MultiLabelSoftMarginLoss", {&input, weight}); !s.ok()) return Tensor(s);
  if (!target.ok()) return target;
  if (target.shape() != input.shape() || input.ndim() < 1) {
    return Refuse("MultiLabelSoftMarginLoss", "input ", Text(input.shape()), " and target ",
                  Text(target.shape()), ", expected equal shapes [...,C]");
  }
  const Tensor x = input.Cast(ComputeType(input.dtype())), y = target.Cast(x.dtype());
  Tensor loss = y * LogOnePlusExp(-x) + (1.0 - y) * LogOnePlusExp(x);
  if (weight != nullptr) loss = loss * weight->Cast(x.dtype());
  return Reduced(loss.Mean({-1}), reduction, input.dtype());
}

namespace {

// log(e^a + e^b + e^c), -inf where all are.
Tensor LogSumOf(const std::vector<Tensor>& terms) {
  Tensor top = terms[0].Detach();
  for (size_t i = 1; i < terms.size(); ++i) top = top.Maximum(terms[i].Detach());
  const Tensor none = top.Eq(-INFINITY), shift = Where(none, 0.0, top);
  Tensor sum;
  for (size_t i = 0; i < terms.size(); ++i) {
    const Tensor e = (terms[i] - shift).Exp();
    sum = i == 0 ? e : sum + e;
  }
  return Where(none, -INFINITY, Where(none, 1.0, sum).Log() + shift);
}

// Graves et al. 2006: alpha over the target with blanks between and around, one step of time after another.
absl::StatusOr<Tensor> Ctc(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                           const Tensor& target_lengths, const CtcLossOptions& o) {
  const char* op = "CtcLoss";
  US_RETURN_IF_ERROR(WantFloats(op, {&log_probs}));
  US_RETURN_IF_ERROR(tensor_internal::FirstError({&targets, &input_lengths, &target_lengths}));
  if (log_probs.ndim() != 3 || targets.ndim() != 2 || targets.shape()[0] != log_probs.shape()[1] ||
      input_lengths.shape() != Shape{log_probs.shape()[1]} ||
      target_lengths.shape() != input_lengths.shape()) {
    return Bad(op, "log_probs ", Text(log_probs.shape()), ", targets ", Text(targets.shape()), ", lengths ",
               Text(input_lengths.shape()), " and ", Text(target_lengths.shape()),
               ", expected [T,N,C], [N,S], [N] and [N]");
  }
  if (!targets.dtype().IsInt() || !input_lengths.dtype().IsInt() || !target_lengths.dtype().IsInt())
    return Bad(op, "targets or lengths that are not integers");
  const int64_t steps = log_probs.shape()[0], batch = log_probs.shape()[1], classes = log_probs.shape()[2],
                s = targets.shape()[1];
  if (o.blank < 0 || o.blank >= classes)
    return Bad(op, "blank ", o.blank, ", expected a class below ", classes);
  if (steps < 1 || batch < 1)
    return Bad(op, "log_probs ", Text(log_probs.shape()), ", expected at least one step and one sample");
  const DType compute = ComputeType(log_probs.dtype());
  const TensorOptions ints{dtypes::kInt64, log_probs.device()};
  const int64_t width = 2 * s + 1;
  // blank, t0, blank, t1, ..., blank
  const Tensor label = targets.Cast(dtypes::kInt64);
  Tensor extended = Tensor::Full({batch, 1}, o.blank, ints);
  if (s > 0) {
    const Tensor pairs = Stack({Tensor::Full({batch, s}, o.blank, ints), label}, 2).Reshape({batch, 2 * s});
    extended = Cat({pairs, extended}, 1);
  }
  extended = extended.Contiguous();
  // {T, N, width}: the log-probability of each place's label.
  const Tensor all = log_probs.Cast(compute).Permute({0, 2, 1});  // {T, C, N}
  const Tensor emitted =
      tensor_internal::TakeAlong(all.Unsqueeze(3), 1, extended.Transpose().Reshape({1, width, batch, 1}),
                                 -INFINITY)
          .Reshape({steps, width, batch})
          .Permute({0, 2, 1})
          .Contiguous();
  // A place may be reached past a blank when the label two before it is another.
  const Tensor place = tensor_internal::Positions(width, 1, 2, log_probs);
  const Tensor before =
      tensor_internal::PadAxis(tensor_internal::Cut(extended, 1, 0, std::max<int64_t>(0, width - 2)), 1,
                               std::min<int64_t>(2, width), 0);
  const Tensor skips = extended.Ne(o.blank).BitAnd(extended.Ne(before)).BitAnd(place.Ge(2)).Contiguous();
  const auto shifted = [&](const Tensor& a, int64_t by) {
    if (by >= width) return Tensor::Full(a.shape(), -INFINITY, {compute, a.device()});
    return tensor_internal::PadAxis(tensor_internal::Cut(a, 1, 0, width - by), 1, by, 0, -INFINITY);
  };
  const auto at = [&](int64_t t) {
    return tensor_internal::Cut(emitted, 0, t, t + 1).Reshape({batch, width});
  };
  const Tensor target_length = target_lengths.Cast(dtypes::kInt64).Unsqueeze(1);
  const Tensor length = input_lengths.Cast(dtypes::kInt64).Unsqueeze(1);
  Tensor alpha = Where(place.Lt(2), at(0), -INFINITY).Contiguous();
  for (int64_t t = 1; t < steps; ++t) {
    const Tensor next =
        at(t) + LogSumOf({alpha, shifted(alpha, 1), Where(skips, shifted(alpha, 2), -INFINITY)});
    alpha = Where(length.Gt(t), next, alpha).Contiguous();
  }
  // The end is the last label or the blank after it.
  const auto last = [&](const Tensor& index) { return Where(place.Eq(index), alpha, 0.0).Sum({1}); };
  const Tensor end = target_length * 2;
  const Tensor before_end = Where(target_length.Squeeze(1).Gt(0), last(end - 1), -INFINITY);
  Tensor loss = -LogSumOf({last(end), before_end});
  // A target longer than there is room for.
  loss = Where(target_length.Squeeze(1).Gt(s), NAN, loss);
  if (o.zero_infinity) loss = Where(loss.Eq(INFINITY), 0.0, loss);
  if (o.reduction == Reduction::kMean) loss = loss / target_length.Squeeze(1).Maximum(1).Cast(compute);
  return Reduced(loss, o.reduction, log_probs.dtype());
}

// {total} one after another to {N, longest}.
absl::StatusOr<Tensor> PaddedTargets(const Tensor& targets, const Tensor& target_lengths, int64_t longest) {
  if (!targets.dtype().IsInt() || !target_lengths.dtype().IsInt() || target_lengths.ndim() != 1)
    return Bad("CtcLoss", "targets one after another, expected integers and lengths [N]");
  if (longest < 0) return Bad("CtcLoss", "max_target_length ", longest, ", expected at least 0");
  const int64_t batch = target_lengths.shape()[0];
  if (longest == 0) return targets.Reshape({0}).Reshape({batch, 0});
  const Tensor length = target_lengths.Cast(dtypes::kInt64), first = Cumsum(length, 0) - length;
  const Tensor index = first.Unsqueeze(1) + tensor_internal::Positions(longest, 1, 2, targets);
  return tensor_internal::TakeAlong(targets, 0, index.Reshape({batch * longest}), 0)
      .Reshape({batch, longest});
}

}  // namespace

Tensor CtcLoss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
               const Tensor& target_lengths, const CtcLossOptions& options) {
  if (targets.ok() && target_lengths.ok() && targets.ndim() == 1) {
    const auto padded =
        PaddedTargets(targets, target_lengths, options.max_target_length.value_or(targets.numel()));
    if (!padded.ok()) return Tensor(padded.status());
    return OrError(Ctc(log_probs, *padded, input_lengths, target_lengths, options));
  }
  return OrError(Ctc(log_probs, targets, input_lengths, target_lengths, options));
}

}  // namespace understudy
