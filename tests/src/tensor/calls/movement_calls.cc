// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numeric>

#include "src/tensor/movement_ops.h"
#include "src/tensor/rearrange.h"
#include "tests/src/tensor/calls/calls.h"

namespace understudy::vectors {
namespace {

using nlohmann::json;
using In = const std::vector<Tensor>&;
using Out = std::vector<Tensor>;
using Ints = std::vector<int64_t>;

template <Tensor (*F)(const Tensor&)>
Out One(In x, const json&) {
  return {F(x[0])};
}
template <Tensor (*F)(const std::vector<Tensor>&)>
Out All(In x, const json&) {
  return {F(x)};
}
template <PadMode M>
Out Padded(In x, const json& a) {
  return {Pad(x[0], a["pads"].get<Ints>(), M)};
}
AxisSizes Sizes(const json& a) {
  AxisSizes out;
  for (const auto& [name, n] : a["sizes"].items()) out.push_back({name, n.get<int64_t>()});
  return out;
}
template <EinopsReduction R>
Out Reduced(In x, const json& a) {
  return {EinopsReduce(x[0], a["pattern"], R, Sizes(a))};
}

}  // namespace

const Calls& MovementCalls() {
  static const Calls* const calls = new Calls{
      {"unflatten",
       [](In x, const json& a) -> Out { return {Unflatten(x[0], a["axis"], a["sizes"].get<Ints>())}; }},
      {"movedim",
       [](In x, const json& a) -> Out {
         return {Movedim(x[0], a["from"].get<Ints>(), a["to"].get<Ints>())};
       }},
      {"atleast_1d", One<Atleast1d>},
      {"atleast_2d", One<Atleast2d>},
      {"atleast_3d", One<Atleast3d>},
      {"broadcast_tensors", [](In x, const json&) -> Out { return BroadcastTensors(x); }},
      {"narrow",
       [](In x, const json& a) -> Out { return {Narrow(x[0], a["axis"], a["start"], a["length"])}; }},
      {"select", [](In x, const json& a) -> Out { return {Select(x[0], a["axis"], a["index"])}; }},
      {"split", [](In x, const json& a) -> Out { return Split(x[0], a["size"].get<int64_t>(), a["axis"]); }},
      {"split_sizes",
       [](In x, const json& a) -> Out { return Split(x[0], a["sizes"].get<Ints>(), a["axis"]); }},
      {"chunk", [](In x, const json& a) -> Out { return Chunk(x[0], a["n"], a["axis"]); }},
      {"tensor_split",
       [](In x, const json& a) -> Out { return TensorSplit(x[0], a["n"].get<int64_t>(), a["axis"]); }},
      {"tensor_split_at",
       [](In x, const json& a) -> Out { return TensorSplit(x[0], a["at"].get<Ints>(), a["axis"]); }},
      {"unbind", [](In x, const json& a) -> Out { return Unbind(x[0], a["axis"]); }},
      {"unfold", [](In x, const json& a) -> Out { return {Unfold(x[0], a["axis"], a["size"], a["step"])}; }},
      {"unfold_twice", [](In x, const json&) -> Out { return {Unfold(Unfold(x[0], 0, 2, 1), 1, 3, 2)}; }},
      {"roll",
       [](In x, const json& a) -> Out {
         return {Roll(x[0], a["shifts"].get<Ints>(), a["axes"].get<Ints>())};
       }},
      {"rot90", [](In x, const json& a) -> Out { return {Rot90(x[0], a["k"], a["from"], a["to"])}; }},
      {"fliplr", One<Fliplr>},
      {"flipud", One<Flipud>},
      {"repeat", [](In x, const json& a) -> Out { return {Repeat(x[0], a["repeats"].get<Ints>())}; }},
      {"tile", [](In x, const json& a) -> Out { return {Tile(x[0], a["repeats"].get<Ints>())}; }},
      {"repeat_interleave",
       [](In x, const json& a) -> Out {
         return {RepeatInterleave(x[0], a["repeats"].get<int64_t>(), a["axis"].get<int64_t>())};
       }},
      {"repeat_interleave_flat",
       [](In x, const json& a) -> Out { return {RepeatInterleave(x[0], a["repeats"].get<int64_t>())}; }},
      {"repeat_interleave_list",
       [](In x, const json& a) -> Out {
         return {RepeatInterleave(x[0], a["repeats"].get<Ints>(), a["axis"].get<int64_t>())};
       }},
      {"pad_reflect", Padded<PadMode::kReflect>},
      {"pad_replicate", Padded<PadMode::kReplicate>},
      {"pad_circular", Padded<PadMode::kCircular>},
      {"pad_constant",
       [](In x, const json& a) -> Out {
         return {Pad(x[0], a["pads"].get<Ints>(), PadMode::kConstant, a["value"].get<double>())};
       }},
      {"diag", [](In x, const json& a) -> Out { return {Diag(x[0], a["k"])}; }},
      {"diagonal", [](In x, const json& a) -> Out { return {Diagonal(x[0], a["k"], a["a"], a["b"])}; }},
      {"diag_embed", [](In x, const json& a) -> Out { return {DiagEmbed(x[0], a["k"], a["a"], a["b"])}; }},
      {"tril", [](In x, const json& a) -> Out { return {Tril(x[0], a["k"])}; }},
      {"triu", [](In x, const json& a) -> Out { return {Triu(x[0], a["k"])}; }},
      {"block_diag", All<BlockDiag>},
      {"hstack", All<Hstack>},
      {"vstack", All<Vstack>},
      {"dstack", All<Dstack>},
      {"column_stack", All<ColumnStack>},
      {"cartesian_prod", All<CartesianProd>},
      {"meshgrid", [](In x, const json& a) -> Out { return Meshgrid(x, a["indexing"]); }},
      {"rearrange", [](In x, const json& a) -> Out { return {Rearrange(x[0], a["pattern"], Sizes(a))}; }},
      {"einops_repeat",
       [](In x, const json& a) -> Out { return {EinopsRepeat(x[0], a["pattern"], Sizes(a))}; }},
      {"einops_reduce_sum", Reduced<EinopsReduction::kSum>},
      {"einops_reduce_mean", Reduced<EinopsReduction::kMean>},
      {"einops_reduce_max", Reduced<EinopsReduction::kMax>},
      {"einops_reduce_min", Reduced<EinopsReduction::kMin>},
      {"einops_reduce_prod", Reduced<EinopsReduction::kProd>},
  };
  return *calls;
}

}  // namespace understudy::vectors
