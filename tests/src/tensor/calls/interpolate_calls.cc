// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/interpolate.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/nn_args.h"

namespace understudy::vectors {
namespace {

using nlohmann::json;

InterpolateOptions Options(const json& a) {
  InterpolateOptions o;
  o.size = MaybeSizes(a, "size");
  if (a.contains("scale_factor")) {
    const json& s = a["scale_factor"];
    o.scale_factor = s.is_array() ? s.get<std::vector<double>>() : std::vector<double>{s.get<double>()};
  }
  const std::string m = a["mode"];
  o.mode = m == "nearest"         ? InterpolateMode::kNearest
           : m == "nearest-exact" ? InterpolateMode::kNearestExact
           : m == "area"          ? InterpolateMode::kArea
           : m == "bicubic"       ? InterpolateMode::kCubic
                                  : InterpolateMode::kLinear;
  o.align_corners = a["align_corners"];
  o.recompute_scale_factor = a.value("recompute_scale_factor", false);
  return o;
}

}  // namespace

const Calls& InterpolateCalls() {
  static const Calls* const calls = new Calls{
      {"interpolate", [](In x, const json& a) -> Out { return {Interpolate(x[0], Options(a))}; }},
      {"pixel_shuffle", [](In x, const json& a) -> Out { return {PixelShuffle(x[0], a["r"])}; }},
      {"pixel_unshuffle", [](In x, const json& a) -> Out { return {PixelUnshuffle(x[0], a["r"])}; }},
      {"channel_shuffle", [](In x, const json& a) -> Out { return {ChannelShuffle(x[0], a["groups"])}; }},
      {"grid_sample",
       [](In x, const json& a) -> Out {
         using O = GridSampleOptions;
         return {GridSample(x[0], x[1],
                            {a["mode"] == "nearest" ? O::Mode::kNearest : O::Mode::kBilinear,
                             a["padding"] == "zeros"    ? O::Padding::kZeros
                             : a["padding"] == "border" ? O::Padding::kBorder
                                                        : O::Padding::kReflection,
                             a["align_corners"].get<bool>()})};
       }},
  };
  return *calls;
}

}  // namespace understudy::vectors
