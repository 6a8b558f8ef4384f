// SPDX-License-Identifier: Apache-2.0
// Convolution as a sum of products over windows; its transpose as a convolution of the spread input.
#include "src/tensor/conv.h"

#include "src/base/status.h"
#include "src/tensor/nn_internal.h"

namespace understudy {
namespace {

using tensor_internal::Bad;
using tensor_internal::Text;

using Ints = std::vector<int64_t>;
using Pads = std::vector<std::pair<int64_t, int64_t>>;

// input {N, C, spatial...}, already padded; weight {O, C / groups, kernel...}. Answers in `t`.
Tensor Correlate(const char* op, const Tensor& padded, const Tensor& weight, const Tensor* bias,
                 const Ints& stride, const Ints& dilation, int64_t groups, DType t) {
  const int n = static_cast<int>(stride.size());
  const int64_t batch = padded.shape()[0], out = weight.shape()[0], per = weight.shape()[1];
  // {N, C, O1, K1, O2, K2, ...}
  Tensor x = padded;
  for (int i = 0; i < n; ++i)
    x = tensor_internal::Windows(x, 2 + 2 * i, weight.shape()[2 + i], stride[i], dilation[i]);
  if (!x.ok()) return x;
  // {N, G, 1, O1.., C/G, K1..} times {G, O/G, 1.., C/G, K1..}
  Shape split{batch, groups, 1, per}, result{batch, out};
  Shape kernel{groups, out / groups};
  Ints order{0, 1, 2}, axes;
  for (int i = 0; i < n; ++i) {
    split.insert(split.end(), {x.shape()[2 + 2 * i], x.shape()[3 + 2 * i]});
    result.push_back(x.shape()[2 + 2 * i]);
    order.push_back(4 + 2 * i);
    kernel.push_back(1);
  }
  order.push_back(3);
  kernel.push_back(per);
  for (int i = 0; i < n; ++i) {
    order.push_back(5 + 2 * i);
    kernel.push_back(weight.shape()[2 + i]);
  }
  for (int i = 0; i <= n; ++i) axes.push_back(3 + n + i);
  const DType acc = tensor_internal::ProductType(t);
  Tensor y =
      tensor_internal::SumOfProducts(op, x.Reshape(split).Permute(order), weight.Reshape(kernel), axes, acc)
          .Reshape(result);
  if (bias != nullptr) {
    Shape along(n + 1, 1);
    along[0] = out;
    y = y + bias->Cast(acc).Reshape(along);
  }
  return y.Cast(t);
}

// What both directions check: ranks, and that nothing is an error.
absl::Status CheckRanks(const char* op, int n, const Tensor& input, const Tensor& weight,
                        const Tensor* bias) {
  US_RETURN_IF_ERROR(tensor_internal::FirstError({&input, &weight, bias}));
  if ((input.ndim() != n + 1 && input.ndim() != n + 2) || weight.ndim() != n + 2) {
    return Bad(op, "input ", Text(input.shape()), " and weight ", Text(weight.shape()), ", expected rank ",
               n + 1, " or ", n + 2, " and rank ", n + 2);
  }
  for (int i = 0; i < n; ++i) {
    if (weight.shape()[2 + i] < 1) return Bad(op, "weight ", Text(weight.shape()), " has an empty kernel");
  }
  return absl::OkStatus();
}

DType ResultType(const Tensor& input, const Tensor& weight, const Tensor* bias) {
  const DType t = Promote(input.dtype(), weight.dtype());
  return bias == nullptr ? t : Promote(t, bias->dtype());
}

absl::StatusOr<Tensor> Conv(const char* op, int n, const Tensor& input, const Tensor& weight,
                            const Tensor* bias, const ConvOptions& o) {
  US_RETURN_IF_ERROR(CheckRanks(op, n, input, weight, bias));
  const bool batched = input.ndim() == n + 2;
  const Tensor x = batched ? input : input.Unsqueeze(0);
  const int64_t channels = x.shape()[1], out = weight.shape()[0], per = weight.shape()[1], groups = o.groups;
  int64_t all = 0;
  if (groups < 1 || __builtin_mul_overflow(per, groups, &all) || all != channels || out % groups != 0) {
    return Bad(op, channels, " input channels, weight ", Text(weight.shape()), " and ", groups,
               " groups do not fit");
  }
  if (bias != nullptr && bias->shape() != Shape{out})
    return Bad(op, "bias of shape ", Text(bias->shape()), ", expected [", out, "]");
  US_ASSIGN_OR_RETURN(const Ints stride, o.stride.Resolve(op, "stride", n, 1));
  US_ASSIGN_OR_RETURN(const Ints dilation, o.dilation.Resolve(op, "dilation", n, 1));
  Ints reach(n);
  for (int i = 0; i < n; ++i) reach[i] = tensor_internal::Reach(weight.shape()[2 + i], dilation[i]);
  US_ASSIGN_OR_RETURN(const Pads padding, o.padding.Resolve(op, reach, stride));
  Pads amounts(2, {0, 0});
  amounts.insert(amounts.end(), padding.begin(), padding.end());
  const Tensor padded = x.Pad(amounts, 0);
  US_RETURN_IF_ERROR(padded.status());
  for (int i = 0; i < n; ++i) {
    if (padded.shape()[2 + i] < reach[i]) {
      return Bad(op, "padded input ", Text(padded.shape()), " is smaller than the kernel's reach ",
                 Text(reach));
    }
  }
  const Tensor y =
      Correlate(op, padded, weight, bias, stride, dilation, groups, ResultType(input, weight, bias));
  return batched ? y : y.Squeeze(0);
}

absl::StatusOr<Tensor> ConvTranspose(const char* op, int n, const Tensor& input, const Tensor& weight,
                                     const Tensor* bias, const ConvTransposeOptions& o) {
  US_RETURN_IF_ERROR(CheckRanks(op, n, input, weight, bias));
  const bool batched = input.ndim() == n + 2;
  Tensor x = batched ? input : input.Unsqueeze(0);
  const int64_t channels = x.shape()[1], per = weight.shape()[1], groups = o.groups;
  int64_t out = 0;
  if (groups < 1 || weight.shape()[0] != channels || channels % groups != 0 ||
      __builtin_mul_overflow(per, groups, &out)) {
    return Bad(op, channels, " input channels, weight ", Text(weight.shape()), " and ", groups,
               " groups do not fit");
  }
  if (bias != nullptr && bias->shape() != Shape{out})
    return Bad(op, "bias of shape ", Text(bias->shape()), ", expected [", out, "]");
  US_ASSIGN_OR_RETURN(const Ints stride, o.stride.Resolve(op, "stride", n, 1));
  US_ASSIGN_OR_RETURN(const Ints dilation, o.dilation.Resolve(op, "dilation", n, 1));
  US_ASSIGN_OR_RETURN(const Ints padding, o.padding.Resolve(op, "padding", n, 0));
  US_ASSIGN_OR_RETURN(const Ints extra, o.output_padding.Resolve(op, "output_padding", n, 0));
  Pads amounts(2, {0, 0});
  Ints flipped;
  for (int i = 0; i < n; ++i) {
    if (extra[i] >= stride[i] && extra[i] >= dilation[i]) {
      return Bad(op, "output_padding ", extra[i], ", expected less than stride ", stride[i], " or dilation ",
                 dilation[i]);
    }
    const int64_t in = x.shape()[2 + i], reach = tensor_internal::Reach(weight.shape()[2 + i], dilation[i]);
    if (in < 1 || in > (int64_t{1} << 31) || (in - 1) * stride[i] - 2 * padding[i] + reach + extra[i] < 1) {
      return Bad(op, "input ", Text(x.shape()), " gives no output at spatial axis ", i);
    }
    x = tensor_internal::SpreadAxis(x, 2 + i, stride[i]);
    amounts.push_back({reach - 1 - padding[i], reach - 1 - padding[i] + extra[i]});
    flipped.push_back(2 + i);
  }
  // {C, O/G, K..} -> {O, C/G, K..}, with the kernel turned round.
  Shape split{groups, channels / groups, per}, joined{out, channels / groups};
  Ints order{0, 2, 1};
  for (int i = 0; i < n; ++i) {
    split.push_back(weight.shape()[2 + i]);
    joined.push_back(weight.shape()[2 + i]);
    order.push_back(3 + i);
  }
  const Tensor w = weight.Reshape(split).Permute(order).Reshape(joined).Flip(flipped);
  const Tensor padded = x.Pad(amounts, 0);
  US_RETURN_IF_ERROR(padded.status());
  const Tensor y =
      Correlate(op, padded, w, bias, Ints(n, 1), dilation, groups, ResultType(input, weight, bias));
  return batched ? y : y.Squeeze(0);
}

Tensor OrError(absl::StatusOr<Tensor> t) { return t.ok() ? *std::move(t) : Tensor(t.status()); }

}  // namespace

Tensor Conv1d(const Tensor& x, const Tensor& w, const Tensor* b, const ConvOptions& o) {
  return OrError(Conv("Conv1d", 1, x, w, b, o));
}
Tensor Conv2d(const Tensor& x, const Tensor& w, const Tensor* b, const ConvOptions& o) {
  return OrError(Conv("Conv2d", 2, x, w, b, o));
}
Tensor Conv3d(const Tensor& x, const Tensor& w, const Tensor* b, const ConvOptions& o) {
  return OrError(Conv("Conv3d", 3, x, w, b, o));
}
Tensor ConvTranspose1d(const Tensor& x, const Tensor& w, const Tensor* b, const ConvTransposeOptions& o) {
  return OrError(ConvTranspose("ConvTranspose1d", 1, x, w, b, o));
}
Tensor ConvTranspose2d(const Tensor& x, const Tensor& w, const Tensor* b, const ConvTransposeOptions& o) {
  return OrError(ConvTranspose("ConvTranspose2d", 2, x, w, b, o));
}
Tensor ConvTranspose3d(const Tensor& x, const Tensor& w, const Tensor* b, const ConvTransposeOptions& o) {
  return OrError(ConvTranspose("ConvTranspose3d", 3, x, w, b, o));
}

namespace {

// What Im2col and Col2im need of their arguments.
struct Columns {
  Ints kernel, dilation, padding, stride, count;
};
absl::StatusOr<Columns> ResolveColumns(const char* op, const Ints& size, const PerAxis& kernel,
                                       const WindowOptions& o) {
  Columns c;
  US_ASSIGN_OR_RETURN(c.kernel, kernel.Resolve(op, "kernel", 2, 1));
  US_ASSIGN_OR_RETURN(c.dilation, o.dilation.Resolve(op, "dilation", 2, 1));
  US_ASSIGN_OR_RETURN(c.padding, o.padding.Resolve(op, "padding", 2, 0));
  US_ASSIGN_OR_RETURN(c.stride, o.stride.Resolve(op, "stride", 2, 1));
  for (int i = 0; i < 2; ++i) {
    const int64_t n = size[i] + 2 * c.padding[i], reach = tensor_internal::Reach(c.kernel[i], c.dilation[i]);
    if (n < reach)
      return Bad(op, "padded size ", n, " of spatial axis ", i, " is smaller than the kernel's reach ",
                 reach);
    c.count.push_back((n - reach) / c.stride[i] + 1);
  }
  return c;
}

absl::StatusOr<Tensor> ToColumns(const Tensor& input, const PerAxis& kernel, const WindowOptions& o) {
  US_RETURN_IF_ERROR(input.status());
  if (input.ndim() != 3 && input.ndim() != 4)
    return Bad("Im2col", "input ", Text(input.shape()), ", expected rank 3 or 4 ({N,C,H,W})");
  const bool batched = input.ndim() == 4;
  const Tensor x = batched ? input : input.Unsqueeze(0);
  US_ASSIGN_OR_RETURN(const Columns c, ResolveColumns("Im2col", {x.shape()[2], x.shape()[3]}, kernel, o));
  Tensor w = x.Pad({{0, 0}, {0, 0}, {c.padding[0], c.padding[0]}, {c.padding[1], c.padding[1]}}, 0);
  w = tensor_internal::Windows(w, 2, c.kernel[0], c.stride[0], c.dilation[0]);
  w = tensor_internal::Windows(w, 4, c.kernel[1], c.stride[1], c.dilation[1]);
  w = w.Permute({0, 1, 3, 5, 2, 4})
          .Reshape({x.shape()[0], x.shape()[1] * c.kernel[0] * c.kernel[1], c.count[0] * c.count[1]});
  return batched ? w : w.Squeeze(0);
}

absl::StatusOr<Tensor> FromColumns(const Tensor& input, const PerAxis& output_size, const PerAxis& kernel,
                                   const WindowOptions& o) {
  US_RETURN_IF_ERROR(input.status());
  if (input.ndim() != 2 && input.ndim() != 3)
    return Bad("Col2im", "input ", Text(input.shape()), ", expected rank 2 or 3 ({N,C*KH*KW,L})");
  const bool batched = input.ndim() == 3;
  const Tensor x = batched ? input : input.Unsqueeze(0);
  US_ASSIGN_OR_RETURN(const Ints size, output_size.Resolve("Col2im", "output_size", 2, 1));
  US_ASSIGN_OR_RETURN(const Columns c, ResolveColumns("Col2im", size, kernel, o));
  const int64_t area = c.kernel[0] * c.kernel[1];
  if (x.shape()[1] % area != 0 || x.shape()[2] != c.count[0] * c.count[1]) {
    return Bad("Col2im", "input ", Text(input.shape()), ", expected a multiple of ", area, " rows and ",
               c.count[0] * c.count[1], " columns");
  }
  Tensor w =
      x.Cast(tensor_internal::ProductType(x.dtype()))
          .Reshape({x.shape()[0], x.shape()[1] / area, c.kernel[0], c.kernel[1], c.count[0], c.count[1]})
          .Permute({0, 1, 4, 2, 5, 3});
  w = tensor_internal::PlaceWindows(w, 4, size[1] + 2 * c.padding[1], c.stride[1], c.dilation[1]);
  w = tensor_internal::PlaceWindows(w, 2, size[0] + 2 * c.padding[0], c.stride[0], c.dilation[0]);
  w = tensor_internal::PlainSum("Col2im", w, {2, 4}).Cast(x.dtype());
  w = tensor_internal::Cut(w, 2, c.padding[0], c.padding[0] + size[0]);
  w = tensor_internal::Cut(w, 3, c.padding[1], c.padding[1] + size[1]);
  return batched ? w : w.Squeeze(0);
}

}  // namespace

Tensor Im2col(const Tensor& input, const PerAxis& kernel, const WindowOptions& options) {
  return OrError(ToColumns(input, kernel, options));
}
Tensor Col2im(const Tensor& input, const PerAxis& output_size, const PerAxis& kernel,
              const WindowOptions& options) {
  return OrError(FromColumns(input, output_size, kernel, options));
}

}  // namespace understudy
