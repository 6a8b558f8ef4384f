// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/scatter_parts.h"

#include <algorithm>
#include <vector>

#include "src/schedule/scatter.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

// Threads that a scatter should have, at most. Sums of no more than these parts keep their order on every
// device.
constexpr int64_t kThreads = 64;
// With fewer parts or fewer sources, combining costs more than it saves.
constexpr int64_t kFewParts = 4, kFewSources = 4096;

// Which axis is cut into how many parts; the rest of it that they leave out.
struct Cut {
  int64_t axis = -1, parts = 0, rest = 0;
};

Cut FindCut(const UOp& reduce) {
  const int64_t places = ScatterPlaces(reduce);
  if (places == 0) return {};
  const UOpRef& source = reduce.src(0);
  const int64_t sources = source->numel() / reduce.numel(), lanes = reduce.numel() / places;
  // The parts' places are no more than the sources.
  const int64_t most = std::min(kThreads / lanes, sources / places);
  if (sources < kFewSources || most < kFewParts) return {};
  Cut best;
  for (const int64_t axis : reduce.arg_as<ReduceArg>().axes) {
    const int64_t size = source->shape()[static_cast<size_t>(axis)];
    if (size < 2 * most) continue;
    for (int64_t parts = most; parts >= kFewParts && parts > most / 2; --parts) {
      const int64_t rest = size % parts;
      if (best.axis < 0 || rest < best.rest) best = {axis, parts, rest};
    }
    if (best.rest == 0) break;
  }
  return best;
}

UOpRef Split(const UOpRef& reduce, const Cut& cut) {
  const auto& arg = reduce->arg_as<ReduceArg>();
  const UOpRef source(reduce->src(0));
  const auto axis = static_cast<size_t>(cut.axis);
  const int64_t size = source->shape()[axis], end = size - cut.rest;
  const auto part = [&](int64_t from, int64_t to) {
    std::vector<int64_t> bounds;
    for (const int64_t d : source->shape()) bounds.insert(bounds.end(), {0, d});
    bounds[2 * axis] = from, bounds[2 * axis + 1] = to;
    return from == 0 && to == size ? source : uop::Shrink(source, bounds);
  };
  Shape shape = source->shape();
  shape[axis] = end / cut.parts;
  shape.insert(shape.begin() + cut.axis, cut.parts);
  std::vector<int64_t> axes;
  for (const int64_t a : arg.axes) axes.push_back(a < cut.axis ? a : a + 1);
  const UOpRef each = uop::ReduceAxis(uop::Reshape(part(0, end), shape), arg.op, axes);
  const UOpRef all = uop::Reshape(uop::ReduceAxis(each, arg.op, {cut.axis}), reduce->shape());
  if (cut.rest == 0) return all;
  return uop::Binary(arg.op, all, uop::ReduceAxis(part(end, size), arg.op, arg.axes));
}

}  // namespace

UOpRef SplitScatters(const UOpRef& sink) {
  return uop::Rebuild(sink, [](const UOpRef& n) -> UOpRef {
    if (n->op() != Op::kReduceAxis || n->numel() == 0) return n;
    const Cut cut = FindCut(*n);
    return cut.axis < 0 ? n : Split(n, cut);
  });
}

}  // namespace understudy
