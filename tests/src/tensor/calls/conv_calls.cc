// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/conv.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/nn_args.h"

namespace understudy::vectors {
namespace {

using nlohmann::json;

ConvOptions Options(const json& a) {
  ConvOptions o;
  o.stride = Sizes(a, "stride", 1);
  o.dilation = Sizes(a, "dilation", 1);
  o.groups = a.value("groups", 1);
  if (a.contains("pairs"))
    o.padding = a["pairs"].get<std::vector<std::pair<int64_t, int64_t>>>();
  else if (a.contains("padding") && a["padding"].is_string())
    o.padding = a["padding"] == "same" ? PaddingMode::kSame : PaddingMode::kValid;
  else
    o.padding = Sizes(a, "padding", 0).values();
  return o;
}

template <Tensor (*F)(const Tensor&, const Tensor&, const Tensor*, const ConvOptions&)>
Out Conv(In x, const json& a) {
  return {F(x[0], x[1], Optional(x, 2), Options(a))};
}

template <Tensor (*F)(const Tensor&, const Tensor&, const Tensor*, const ConvTransposeOptions&)>
Out Transpose(In x, const json& a) {
  ConvTransposeOptions o;
  o.stride = Sizes(a, "stride", 1);
  o.padding = Sizes(a, "padding", 0);
  o.output_padding = Sizes(a, "output_padding", 0);
  o.dilation = Sizes(a, "dilation", 1);
  o.groups = a.value("groups", 1);
  return {F(x[0], x[1], Optional(x, 2), o)};
}

WindowOptions Columns(const json& a) {
  return {Sizes(a, "dilation", 1), Sizes(a, "padding", 0), Sizes(a, "stride", 1)};
}

}  // namespace

const Calls& ConvCalls() {
  static const Calls* const calls = new Calls{
      {"conv1d", Conv<Conv1d>},
      {"conv2d", Conv<Conv2d>},
      {"conv3d", Conv<Conv3d>},
      {"conv_transpose1d", Transpose<ConvTranspose1d>},
      {"conv_transpose2d", Transpose<ConvTranspose2d>},
      {"conv_transpose3d", Transpose<ConvTranspose3d>},
      {"im2col",
       [](In x, const json& a) -> Out { return {Im2col(x[0], Sizes(a, "kernel", 1), Columns(a))}; }},
      {"col2im",
       [](In x, const json& a) -> Out {
         return {Col2im(x[0], Sizes(a, "size", 1), Sizes(a, "kernel", 1), Columns(a))};
       }},
  };
  return *calls;
}

}  // namespace understudy::vectors
