// SPDX-License-Identifier: Apache-2.0
// Operators that make or view shapes: their sizes come from attributes or from tensors that are evaluated.
#include <algorithm>
#include <cmath>

#include "src/tensor/create_ops.h"
#include "src/tensor/elementwise_ops.h"
#include "src/tensor/gather.h"
#include "src/tensor/internal.h"
#include "src/tensor/movement_ops.h"
#include "src/tensor/onnx/ops.h"
#include "src/tensor/variable.h"

namespace understudy::onnx::ops {
namespace {

// Axes from an attribute before `since`, from input `i` after; nothing when not given.
std::optional<std::vector<int64_t>> AxesFrom(NodeContext& c, int64_t since, int i,
                                             const char* attribute = "axes") {
  if (c.opset() < since) return c.IntList(attribute);
  if (!c.Has(i)) return std::nullopt;
  return c.Ints(i);
}

// A variable size is none that the graph could be built with.
bool KnownSize(NodeContext& c, const Tensor& x, int64_t axis) {
  const understudy::Size size = SizeOf(x, axis);
  if (size.status().ok() && size.IsFixed()) return true;
  c.Refuse("the size of axis ", axis, " is ", size.Text(), ", a variable; expected a number");
  return false;
}

}  // namespace

void Reshape(NodeContext& c) {
  const Tensor x = c.In(0);
  std::vector<int64_t> shape = c.Ints(1);
  if (!c.ok()) return;
  const bool allow_zero = c.Int("allowzero", 0) != 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 0 || allow_zero) continue;
    if (!c.Want(i < x.shape().size(), "size 0 at axis ", i, " of a tensor with ", x.ndim(), " axes")) return;
    shape[i] = x.shape()[i];
  }
  c.OutMoved(0, x.Reshape(shape));
}

void Transpose(NodeContext& c) {
  const Tensor x = c.In(0);
  auto perm = c.IntList("perm");
  if (!perm) {
    perm.emplace();
    for (int64_t i = x.ndim(); i-- > 0;) perm->push_back(i);
  }
  c.OutMoved(0, x.Permute(*perm));
}

void Concat(NodeContext& c) {
  std::vector<Tensor> parts;
  for (int i = 0; i < c.num_inputs(); ++i) parts.push_back(c.In(i));
  if (!c.Want(!parts.empty(), "no inputs")) return;
  const Tensor joined = Cat(parts, c.Int("axis", 0));
  c.OutMoved(0, joined);
}

void Split(NodeContext& c) {
  const Tensor x = c.In(0);
  const int64_t axis = c.Axis(c.Int("axis", 0), x.ndim());
  std::optional<std::vector<int64_t>> sizes = AxesFrom(c, 13, 1, "split");
  if (!c.ok()) return;
  const int64_t n = x.shape()[axis];
  if (!sizes) {
    const int64_t parts = c.opset() >= 18 ? c.Int("num_outputs", c.num_outputs()) : c.num_outputs();
    if (!c.Want(parts > 0 && parts <= 65536, parts, " parts")) return;
    const int64_t size = c.opset() >= 18 ? (n + parts - 1) / parts : n / parts;
    if (!c.Want(c.opset() >= 18 || size * parts == n, "axis ", axis, " of ", n, " elements into ", parts,
                " equal parts"))
      return;
    sizes.emplace();
    for (int64_t i = 0; i < parts; ++i) sizes->push_back(std::clamp<int64_t>(n - i * size, 0, size));
  }
  const std::vector<Tensor> parts = understudy::Split(x, *sizes, axis);
  for (size_t i = 0; i < parts.size(); ++i) c.OutMoved(static_cast<int>(i), parts[i]);
}

void Slice(NodeContext& c) {
  const Tensor x = c.In(0);
  std::vector<int64_t> starts, ends, axes, steps;
  if (c.opset() < 10) {
    starts = c.IntList("starts").value_or(axes);
    ends = c.IntList("ends").value_or(axes);
    axes = c.IntList("axes").value_or(axes);
  } else {
    starts = c.Ints(1);
    ends = c.Ints(2);
    if (c.Has(3)) axes = c.Ints(3);
    if (c.Has(4)) steps = c.Ints(4);
  }
  if (axes.empty()) {
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (!c.Want(starts.size() == ends.size() && starts.size() == axes.size() && starts.size() == steps.size(),
              starts.size(), " starts, ", ends.size(), " ends, ", axes.size(), " axes, ", steps.size(),
              " steps")) {
    return;
  }
  std::vector<IndexItem> items(x.ndim(), understudy::Slice{});
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = c.Axis(axes[i], x.ndim());
    if (!c.Want(steps[i] != 0 && steps[i] != INT64_MIN, "step ", steps[i])) return;
    // Clamped here, so that a negative end below the axis' start means "to the first element".
    const int64_t n = x.shape()[axis];
    const auto place = [&](int64_t v, int64_t low, int64_t high) {
      if (v < 0) v = v < -n ? -1 : v + n;
      return std::clamp(v, low, high);
    };
    const bool back = steps[i] < 0;
    const int64_t from = place(starts[i], back ? -1 : 0, back ? n - 1 : n);
    const int64_t to = place(ends[i], back ? -1 : 0, back ? n - 1 : n);
    understudy::Slice s;
    s.step = steps[i];
    if (back ? from <= to : from >= to) {
      s = understudy::Slice{0, 0, 1};
    } else {
      s.start = from;
      if (to >= 0) s.stop = to;
    }
    items[axis] = s;
  }
  if (!c.ok()) return;
  c.OutMoved(0, x.Index(items));
}

void Squeeze(NodeContext& c) {
  const Tensor x = c.In(0);
  std::vector<int64_t> axes = AxesFrom(c, 13, 1).value_or(std::vector<int64_t>{});
  const bool all = c.opset() < 13 ? c.Attribute("axes") == nullptr : !c.Has(1);
  for (int64_t& a : axes) a = c.Axis(a, x.ndim());
  Shape shape;
  for (int64_t i = 0; i < x.ndim(); ++i) {
    const bool listed = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (listed && !c.Want(x.shape()[i] == 1, "axis ", i, " has ", x.shape()[i], " elements, expected 1"))
      return;
    if (listed || (all && x.shape()[i] == 1)) continue;
    shape.push_back(x.shape()[i]);
  }
  c.OutMoved(0, x.Reshape(shape));
}

void Unsqueeze(NodeContext& c) {
  const Tensor x = c.In(0);
  const std::vector<int64_t> axes = AxesFrom(c, 13, 1).value_or(std::vector<int64_t>{});
  const int64_t rank = x.ndim() + static_cast<int64_t>(axes.size());
  std::vector<bool> is_new(rank, false);
  for (const int64_t a : axes) {
    const int64_t axis = c.Axis(a, rank);
    if (!c.Want(!is_new[axis], "axis ", a, " twice")) return;
    is_new[axis] = true;
  }
  Shape shape;
  size_t next = 0;
  for (int64_t i = 0; i < rank; ++i) shape.push_back(is_new[i] ? 1 : x.shape()[next++]);
  c.OutMoved(0, x.Reshape(shape));
}

void Flatten(NodeContext& c) {
  const Tensor x = c.In(0);
  int64_t axis = c.Int("axis", 1);
  if (!c.Want(axis >= -x.ndim() && axis <= x.ndim(), "axis ", axis, " of a tensor with ", x.ndim(), " axes"))
    return;
  if (axis < 0) axis += x.ndim();
  const Shape& s = x.shape();
  c.OutMoved(0, x.Reshape({tensor_internal::Product(Shape(s.begin(), s.begin() + axis)),
                           tensor_internal::Product(Shape(s.begin() + axis, s.end()))}));
}

void Expand(NodeContext& c) {
  const Tensor x = c.In(0);
  const std::vector<int64_t> shape = c.Ints(1);
  if (!c.ok()) return;
  const auto both = tensor_internal::BroadcastShapes("EXPAND", x.shape(), shape);
  if (!both.ok()) return c.Fail(both.status());
  c.OutMoved(0, BroadcastTo(x, *both));
}

void Tile(NodeContext& c) {
  const Tensor x = c.In(0);
  const std::vector<int64_t> repeats = c.Ints(1);
  if (!c.Want(static_cast<int>(repeats.size()) == x.ndim(), repeats.size(), " repeats of ", x.ndim(),
              " axes"))
    return;
  c.OutMoved(0, Repeat(x, repeats));
}

void Shape_(NodeContext& c) {
  const Tensor x = c.In(0);
  const int64_t rank = x.ndim();
  const auto place = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  const int64_t start = place(c.Int("start", 0)), end = place(c.Int("end", rank));
  std::vector<int64_t> sizes;
  for (int64_t i = start; i < end; ++i) {
    if (!KnownSize(c, x, i)) return;
    sizes.push_back(x.shape()[i]);
  }
  const auto n = static_cast<int64_t>(sizes.size());
  c.Out(0, c.Host(sizes, {n}));
}

void Size(NodeContext& c) {
  for (int64_t i = 0; i < c.In(0).ndim(); ++i) {
    if (!KnownSize(c, c.In(0), i)) return;
  }
  c.Out(0, c.Host(std::vector<int64_t>{c.In(0).numel()}, {}));
}

void Constant(NodeContext& c) {
  if (c.node().attributes.size() != 1) return c.Bad(c.node().attributes.size(), " attributes, expected one");
  const std::string name = c.node().attributes[0].name;
  const AttributeProto* a = c.Attribute(name);
  if (a == nullptr) return c.Bad("attribute '", name, "' has no value");
  if (name == "value") {
    if (a->t == nullptr) return c.Bad("attribute 'value' holds no tensor");
    const auto bytes = Elements(*a->t);
    if (!bytes.ok()) return c.Fail(bytes.status());
    return c.Out(0, Tensor::FromBytes(*bytes, HeldIn(a->t->type()), a->t->dims, c.device()), a->t->type());
  }
  if (name == "value_float") return c.Out(0, c.Host(std::vector<float>{a->f}, {}));
  if (name == "value_int") return c.Out(0, c.Host(std::vector<int64_t>{a->i}, {}));
  if (name == "value_floats") return c.Out(0, c.Host(a->floats, {static_cast<int64_t>(a->floats.size())}));
  if (name == "value_ints") return c.Out(0, c.Host(a->ints, {static_cast<int64_t>(a->ints.size())}));
  c.Refuse("attribute '", name, "': only tensors and numbers are read");
}

void ConstantOfShape(NodeContext& c) {
  const std::vector<int64_t> shape = c.Ints(0);
  if (!c.ok()) return;
  const AttributeProto* a = c.Attribute("value");
  if (a == nullptr) return c.Out(0, Tensor::Zeros(shape, c.Options(dtypes::kFloat32)));
  if (a->t == nullptr) return c.Bad("attribute 'value' holds no tensor");
  const auto bytes = Elements(*a->t);
  if (!bytes.ok()) return c.Fail(bytes.status());
  const Tensor one = Tensor::FromBytes(*bytes, HeldIn(a->t->type()), a->t->dims, c.device());
  if (!c.Want(one.numel() == 1, "attribute 'value' has ", one.numel(), " elements, expected one")) return;
  c.Out(0, BroadcastTo(one.Reshape({}), shape), a->t->type());
}

void Range(NodeContext& c) {
  const Tensor start = c.In(0);
  if (!c.ok()) return;
  const DType t = start.dtype();
  if (t.IsInt()) {
    const int64_t from = c.IntOf(0), to = c.IntOf(1), step = c.IntOf(2);
    if (!c.Want(step != 0, "step 0")) return;
    return c.Out(0, Tensor::Arange(from, to, step, c.Options(t)));
  }
  const double from = c.DoubleOf(0), to = c.DoubleOf(1), step = c.DoubleOf(2);
  if (!c.Want(step != 0 && std::isfinite(from) && std::isfinite(to) && std::isfinite(step), "from ", from,
              " to ", to, " by ", step))
    return;
  const double n = std::max(0.0, std::ceil((to - from) / step));
  if (!c.Want(n < 9e15, n, " elements")) return;
  const Tensor i = Tensor::Arange(0, static_cast<int64_t>(n), 1, c.Options(dtypes::kInt64));
  c.Out(0, (i.Cast(t == dtypes::kFloat64 ? t : dtypes::kFloat32) * step + from).Cast(t));
}

void EyeLike(NodeContext& c) {
  const Tensor x = c.In(0);
  if (!c.Want(x.ndim() == 2, "a tensor with ", x.ndim(), " axes, expected 2")) return;
  const auto to = static_cast<ElemType>(c.Int("dtype", static_cast<int64_t>(c.TypeOf(0))));
  if (HeldIn(to).IsVoid()) return c.Refuse("elements of ", ElemTypeName(to));
  const int64_t k = c.Int("k", 0), rows = x.shape()[0], cols = x.shape()[1];
  const Tensor i = Tensor::Arange(0, rows, 1, c.Options(dtypes::kInt64)).Reshape({rows, 1});
  const Tensor j = Tensor::Arange(0, cols, 1, c.Options(dtypes::kInt64));
  c.Out(0, (i + k).Eq(j).Cast(HeldIn(to)), to);
}

void Trilu(NodeContext& c) {
  const Tensor x = c.In(0);
  const int64_t k = c.Has(1) ? c.IntOf(1) : 0;
  if (!c.ok()) return;
  c.OutMoved(0, c.Int("upper", 1) != 0 ? Triu(x, k) : Tril(x, k));
}

void DepthToSpace(NodeContext& c) {
  const Tensor x = c.In(0);
  const int64_t b = c.Int("blocksize", 0);
  const std::string mode = c.Text("mode", "DCR");
  if (!c.Want(x.ndim() == 4 && b > 0 && b < 65536 && x.shape()[1] % (b * b) == 0, "blocks of ", b, " in ",
              tensor_internal::Text(x.shape())) ||
      !c.Want(mode == "DCR" || mode == "CRD", "mode '", mode, "'")) {
    return;
  }
  const int64_t n = x.shape()[0], d = x.shape()[1] / (b * b), h = x.shape()[2], w = x.shape()[3];
  const Tensor y = mode == "DCR" ? x.Reshape({n, b, b, d, h, w}).Permute({0, 3, 4, 1, 5, 2})
                                 : x.Reshape({n, d, b, b, h, w}).Permute({0, 1, 4, 2, 5, 3});
  c.OutMoved(0, y.Reshape({n, d, h * b, w * b}));
}

void SpaceToDepth(NodeContext& c) {
  const Tensor x = c.In(0);
  const int64_t b = c.Int("blocksize", 0);
  const std::string mode = c.Text("mode", "DCR");
  if (!c.Want(x.ndim() == 4 && b > 0 && b < 65536 && x.shape()[2] % b == 0 && x.shape()[3] % b == 0,
              "blocks of ", b, " in ", tensor_internal::Text(x.shape())) ||
      !c.Want(mode == "DCR" || mode == "CRD", "mode '", mode, "'")) {
    return;
  }
  const int64_t n = x.shape()[0], d = x.shape()[1], h = x.shape()[2] / b, w = x.shape()[3] / b;
  const Tensor y = x.Reshape({n, d, h, b, w, b});
  c.OutMoved(0, y.Permute(mode == "DCR" ? std::vector<int64_t>{0, 3, 5, 1, 2, 4}
                                        : std::vector<int64_t>{0, 1, 3, 5, 2, 4})
                    .Reshape({n, d * b * b, h, w}));
}

void CenterCropPad(NodeContext& c) {
  Tensor x = c.In(0);
  const std::vector<int64_t> sizes = c.Ints(1);
  std::vector<int64_t> axes;
  if (const auto given = c.IntList("axes")) {
    axes = *given;
  } else {
    for (int64_t i = 0; i < x.ndim(); ++i) axes.push_back(i);
  }
  if (!c.Want(axes.size() == sizes.size(), sizes.size(), " sizes of ", axes.size(), " axes")) return;
  std::vector<std::pair<int64_t, int64_t>> amounts(x.ndim());
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = c.Axis(axes[i], x.ndim());
    if (!c.Want(sizes[i] >= 0, "size ", sizes[i])) return;
    // An odd one is added or cut after.
    const int64_t d = sizes[i] - x.shape()[axis], half = d < 0 ? -(-d / 2) : d / 2;
    amounts[axis] = {half, d - half};
  }
  if (!c.ok()) return;
  c.OutMoved(0, x.Pad(amounts));
}

void Pad(NodeContext& c) {
  Tensor x = c.In(0);
  const std::string mode = c.Text("mode", "constant");
  std::vector<int64_t> pads, axes;
  std::optional<Tensor> value;
  if (c.opset() < 11) {
    pads = c.IntList("pads").value_or(pads);
    value = Tensor::Full({}, c.Float("value", 0), c.Options(x.dtype()));
  } else {
    pads = c.Ints(1);
    if (c.Has(2)) value = c.In(2).Reshape({});
    if (c.Has(3)) axes = c.Ints(3);
  }
  if (!c.Has(3) || c.opset() < 18) {
    axes.clear();
    for (int64_t i = 0; i < x.ndim(); ++i) axes.push_back(i);
  }
  if (!c.Want(pads.size() == 2 * axes.size(), pads.size(), " pads of ", axes.size(), " axes")) return;
  std::vector<std::pair<int64_t, int64_t>> amounts(x.ndim());
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = c.Axis(axes[i], x.ndim());
    amounts[axis] = {pads[i], pads[i + axes.size()]};
  }
  if (!c.ok()) return;
  if (mode == "constant") {
    Tensor y = x.Pad(amounts);
    if (value) {
      const Tensor ones = Tensor::Ones(x.shape(), c.Options(dtypes::kBool)).Pad(amounts);
      y = understudy::Where(ones, y, value->Cast(x.dtype()));
    }
    return c.OutMoved(0, y);
  }
  // Cuts first; then by index, axis by axis: position i shows the element that reflection, clamping or
  // wrapping leads to.
  const bool reflect = mode == "reflect", edge = mode == "edge", wrap = mode == "wrap";
  if (!c.Want(reflect || edge || wrap, "mode '", mode, "', expected constant, reflect, edge or wrap")) return;
  for (int64_t axis = 0; axis < x.ndim(); ++axis) {
    const auto [before, after] = amounts[axis];
    if (before == 0 && after == 0) continue;
    const int64_t n = x.shape()[axis];
    std::vector<std::pair<int64_t, int64_t>> cut(x.ndim());
    cut[axis] = {std::min<int64_t>(before, 0), std::min<int64_t>(after, 0)};
    x = x.Pad(cut);
    const int64_t lo = std::max<int64_t>(before, 0), hi = std::max<int64_t>(after, 0),
                  m = n + cut[axis].first + cut[axis].second;
    if (!c.Want(m > 0, "nothing to pad with")) return;
    if (lo == 0 && hi == 0) continue;
    const auto cut_axis = [&](const Tensor& t, int64_t from, int64_t to) {
      std::vector<IndexItem> items(t.ndim(), understudy::Slice{});
      items[axis] = understudy::Slice{from, to, 1};
      return t.Index(items);
    };
    std::vector<Tensor> left, right;  // outwards
    const auto fill = [&](int64_t want, std::vector<Tensor>& parts, bool leftwards) -> bool {
      bool backwards = true;
      while (want > 0) {
        if (parts.size() > 65536) {
          c.Bad("pads of ", want, " around ", m, " elements");
          return false;
        }
        if (edge) {
          const Tensor one = leftwards ? cut_axis(x, 0, 1) : cut_axis(x, m - 1, m);
          Shape shape = one.shape();
          shape[axis] = want;
          parts.push_back(BroadcastTo(one, shape));
          return true;
        }
        Tensor run = x;
        int64_t size = m;
        if (reflect && m > 1) {
          // Every run shares its first element with the end of the one before it, which is left out.
          size = m - 1;
          if (backwards)
            run = leftwards ? cut_axis(x.Flip({axis}), 0, m - 1) : cut_axis(x.Flip({axis}), 1, m);
          else
            run = leftwards ? cut_axis(x, 0, m - 1) : cut_axis(x, 1, m);
          backwards = !backwards;
        }
        const int64_t take = std::min(size, want);
        parts.push_back(leftwards ? cut_axis(run, size - take, size) : cut_axis(run, 0, take));
        want -= take;
      }
      return true;
    };
    if (!fill(lo, left, true) || !fill(hi, right, false)) return;
    std::reverse(left.begin(), left.end());
    left.push_back(x);
    left.insert(left.end(), right.begin(), right.end());
    x = Cat(left, axis);
  }
  c.OutMoved(0, x);
}

void ReverseSequence(NodeContext& c) {
  const Tensor x = c.In(0), lens = c.In(1);
  const int64_t time = c.Axis(c.Int("time_axis", 0), x.ndim()),
                batch = c.Axis(c.Int("batch_axis", 1), x.ndim());
  if (!c.Want(time != batch && lens.ndim() == 1, "time and batch axis ", time, " and ", batch)) return;
  if (!c.Want(lens.shape()[0] == x.shape()[batch], "lengths of ", lens.numel(), " rows, expected ",
              x.shape()[batch]))
    return;
  Shape along(x.ndim(), 1), rows(x.ndim(), 1);
  along[time] = x.shape()[time];
  rows[batch] = x.shape()[batch];
  const Tensor t = Tensor::Arange(0, x.shape()[time], 1, c.Options(dtypes::kInt64)).Reshape(along);
  const Tensor n = lens.Cast(dtypes::kInt64).Reshape(rows);
  const Tensor from = understudy::Where(t < n, n - t - 1, t);
  c.OutMoved(0, TakeAlongDim(x, BroadcastTo(from, x.shape()), time));
}

}  // namespace understudy::onnx::ops
