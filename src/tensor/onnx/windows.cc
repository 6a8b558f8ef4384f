// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/onnx/windows.h"

#include <algorithm>

#include "src/tensor/nn_internal.h"

namespace understudy::onnx {

std::optional<SpatialWindows> ReadWindows(NodeContext& c, const Shape& input,
                                          const std::vector<int64_t>& kernel, bool ceil_mode) {
  const size_t axes = kernel.size();
  if (!c.Want(axes > 0 && input.size() == axes + 2, "a kernel over ", axes, " axes of an input with ",
              input.size())) {
    return std::nullopt;
  }
  const auto list = [&](const char* name, size_t n, int64_t otherwise, int64_t least) {
    std::vector<int64_t> v = c.IntList(name).value_or(std::vector<int64_t>(n, otherwise));
    if (v.size() != n) c.Bad(name, " has ", v.size(), " entries, expected ", n);
    for (const int64_t i : v) c.Want(i >= least && i <= INT32_MAX, name, " ", i);
    v.resize(n, otherwise);
    return v;
  };
  SpatialWindows w;
  w.kernel = kernel;
  w.stride = list("strides", axes, 1, 1);
  w.dilation = list("dilations", axes, 1, 1);
  const std::vector<int64_t> pads = list("pads", 2 * axes, 0, 0);
  const std::string auto_pad = c.Text("auto_pad", "NOTSET");
  const bool upper = auto_pad == "SAME_UPPER", lower = auto_pad == "SAME_LOWER";
  c.Want(upper || lower || auto_pad == "VALID" || auto_pad == "NOTSET" || auto_pad.empty(), "auto_pad '",
         auto_pad, "'");
  for (size_t i = 0; c.ok() && i < axes; ++i) {
    if (!c.Want(kernel[i] >= 1 && kernel[i] <= INT32_MAX, "a kernel of ", kernel[i])) break;
    const int64_t n = input[i + 2], reach = (kernel[i] - 1) * w.dilation[i] + 1, stride = w.stride[i];
    if (upper || lower) {
      const int64_t count = (n + stride - 1) / stride;
      const int64_t total = std::max<int64_t>((count - 1) * stride + reach - n, 0);
      const int64_t before = upper ? total / 2 : total - total / 2;
      w.pads.emplace_back(before, total - before);
      w.count.push_back(count);
      continue;
    }
    w.pads.emplace_back(auto_pad == "VALID" ? 0 : pads[i], auto_pad == "VALID" ? 0 : pads[i + axes]);
    const int64_t room = n + w.pads[i].first + w.pads[i].second - reach;
    if (!c.Want(room >= 0, "windows of ", reach, " over ", room + reach, " elements")) break;
    int64_t count = room / stride + 1;
    if (ceil_mode && room % stride != 0) {
      ++count;
      // The last window starts inside the input or the padding before it.
      if ((count - 1) * stride >= n + w.pads[i].first) --count;
    }
    w.count.push_back(count);
  }
  if (!c.ok()) return std::nullopt;
  return w;
}

Tensor WindowsOf(const Tensor& x, const SpatialWindows& w, Number fill) {
  Tensor y = x;
  const int axes = static_cast<int>(w.kernel.size());
  // From the last axis, so that those before keep their places: {.., n} -> {.., count, k}.
  for (int i = axes; i-- > 0;) {
    if (!y.ok()) return y;
    const int64_t axis = i + 2, reach = tensor_internal::Reach(w.kernel[i], w.dilation[i]);
    const int64_t want = (w.count[i] - 1) * w.stride[i] + reach;
    // Windows take no more than what they need: the rest is cut.
    const int64_t after = want - y.shape()[axis] - w.pads[i].first;
    y = tensor_internal::PadAxis(y, axis, w.pads[i].first, std::max<int64_t>(after, 0), fill);
    if (!y.ok()) return y;
    if (y.shape()[axis] > want) y = tensor_internal::Cut(y, axis, 0, want);
    y = tensor_internal::Windows(y, axis, w.kernel[i], w.stride[i], w.dilation[i]);
  }
  // {N, C, count, k, count, k ...} -> {N, C, count..., k...}.
  std::vector<int64_t> order = {0, 1};
  for (int i = 0; i < axes; ++i) order.push_back(2 + 2 * i);
  for (int i = 0; i < axes; ++i) order.push_back(3 + 2 * i);
  return y.Permute(order);
}

Tensor PlaceAxis(const Tensor& x, int64_t kernel_axis, int64_t count_axis, int64_t size, int64_t stride,
                 int64_t dilation) {
  if (!x.ok()) return x;
  std::vector<int64_t> order;
  for (int64_t i = 0; i < x.ndim(); ++i) {
    if (i == count_axis) continue;
    if (i == kernel_axis) order.push_back(count_axis);
    order.push_back(i);
  }
  const Tensor y = tensor_internal::PlaceWindows(x.Permute(order), kernel_axis, size, stride, dilation);
  return tensor_internal::PlainSum("COL2IM", y, {kernel_axis});
}

}  // namespace understudy::onnx
