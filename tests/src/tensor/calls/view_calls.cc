// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/indexing.h"
#include "src/tensor/movement_ops.h"
#include "tests/src/tensor/calls/calls.h"

namespace understudy::vectors {
namespace {

using nlohmann::json;
using Ints = std::vector<int64_t>;
using Pairs = std::vector<std::pair<int64_t, int64_t>>;

std::vector<IndexItem> Items(const json& a) {
  const auto bound = [](const json& v) {
    return v.is_null() ? std::nullopt : std::optional(v.get<int64_t>());
  };
  std::vector<IndexItem> out;
  for (const json& i : a["items"]) {
    if (i.is_number())
      out.push_back(i.get<int64_t>());
    else if (i.is_null())
      out.push_back(NewAxis{});
    else if (i.is_string())
      out.push_back(Ellipsis{});
    else
      out.push_back(Slice{bound(i["slice"][0]), bound(i["slice"][1]), i["slice"][2].get<int64_t>()});
  }
  return out;
}
// The index tensors of AssignIndexBy: the inputs between the first and the last.
std::vector<TensorIndex> IndexTensors(In x) { return std::vector<TensorIndex>(x.begin() + 1, x.end() - 1); }

}  // namespace

const Calls& ViewCalls() {
  static const Calls* const calls = new Calls{
      {"view", [](In x, const json& a) -> Out { return {View(x[0], a["shape"].get<Shape>())}; }},
      {"reshape", [](In x, const json& a) -> Out { return {x[0].Reshape(a["shape"].get<Shape>())}; }},
      {"view_as", [](In x, const json&) -> Out { return {ViewAs(x[0], x[1])}; }},
      {"expand_as", [](In x, const json&) -> Out { return {ExpandAs(x[0], x[1])}; }},
      {"ravel", [](In x, const json&) -> Out { return {Ravel(x[0])}; }},
      {"flatten", [](In x, const json& a) -> Out { return {x[0].Flatten(a["start"], a["end"])}; }},
      {"squeeze",
       [](In x, const json& a) -> Out {
         return {a["axis"].is_null() ? x[0].Squeeze() : x[0].Squeeze(a["axis"].get<int64_t>())};
       }},
      {"unsqueeze", [](In x, const json& a) -> Out { return {x[0].Unsqueeze(a["axis"])}; }},
      {"permute", [](In x, const json& a) -> Out { return {x[0].Permute(a["axes"].get<Ints>())}; }},
      {"transpose", [](In x, const json& a) -> Out { return {x[0].Transpose(a["a"], a["b"])}; }},
      {"swapaxes", [](In x, const json& a) -> Out { return {Swapaxes(x[0], a["a"], a["b"])}; }},
      {"expand", [](In x, const json& a) -> Out { return {x[0].Expand(a["shape"].get<Shape>())}; }},
      {"broadcast_to",
       [](In x, const json& a) -> Out { return {BroadcastTo(x[0], a["shape"].get<Shape>())}; }},
      {"flip", [](In x, const json& a) -> Out { return {x[0].Flip(a["axes"].get<Ints>())}; }},
      {"shrink", [](In x, const json& a) -> Out { return {x[0].Shrink(a["bounds"].get<Pairs>())}; }},
      {"pad",
       [](In x, const json& a) -> Out {
         return {x[0].Pad(a["amounts"].get<Pairs>(), a["value"].get<double>())};
       }},
      {"cat", [](In x, const json& a) -> Out { return {Cat(x, a["axis"])}; }},
      {"stack", [](In x, const json& a) -> Out { return {Stack(x, a["axis"])}; }},
      {"contiguous", [](In x, const json&) -> Out { return {x[0].Transpose().Contiguous()}; }},
      {"clone", [](In x, const json&) -> Out { return {x[0].Clone()}; }},
      {"slice", [](In x, const json& a) -> Out { return {x[0].Index(Items(a))}; }},
      {"assign",
       [](In x, const json&) -> Out {
         Tensor y = x[0].Clone();
         return {y.Assign(x[1])};
       }},
      {"assign_index",
       [](In x, const json& a) -> Out {
         Tensor y = x[0].Clone();
         return {y.AssignIndex(Items(a), x[1])};
       }},
      {"assign_view",
       [](In x, const json& a) -> Out {
         Tensor y = x[0].Clone();
         return {y.AssignView(y.Permute(a["axes"].get<Ints>()), x[1])};
       }},
      {"assign_index_by",
       [](In x, const json& a) -> Out {
         Tensor y = x[0].Clone();
         return {AssignIndexBy(y, IndexTensors(x), x.back(), a["accumulate"])};
       }},
  };
  return *calls;
}

}  // namespace understudy::vectors
