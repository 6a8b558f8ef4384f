// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/indexing.h"
#include "tests/src/tensor/calls/calls.h"

namespace understudy::vectors {
namespace {

using nlohmann::json;
using In = const std::vector<Tensor>&;
using Out = std::vector<Tensor>;

std::vector<TensorIndex> Items(In x, const json& a) {
  const auto bound = [](const json& v) {
    return v.is_null() ? std::nullopt : std::optional(v.get<int64_t>());
  };
  std::vector<TensorIndex> out;
  for (const json& i : a["items"]) {
    if (i.is_number())
      out.push_back(i.get<int64_t>());
    else if (i.is_null())
      out.push_back(NewAxis{});
    else if (i.is_string())
      out.push_back(Ellipsis{});
    else if (i.contains("slice"))
      out.push_back(Slice{bound(i["slice"][0]), bound(i["slice"][1]), i["slice"][2].get<int64_t>()});
    else if (i.contains("t"))
      out.push_back(x[i["t"].get<size_t>()]);
    else
      out.push_back(Mask{x[i["mask"].get<size_t>()], a["count"].get<int64_t>()});
  }
  return out;
}
Out Read(In x, const json& a) { return {IndexBy(x[0], Items(x, a))}; }

}  // namespace

const Calls& IndexingCalls() {
  static const Calls* const calls = new Calls{
      {"index", Read},
      {"index_flip", Read},
      {"index_bool_values", Read},
      {"index_mask", Read},
      {"masked_select", [](In x, const json& a) -> Out { return {MaskedSelect(x[0], x[1], a["count"])}; }},
      {"index_put",
       [](In x, const json& a) -> Out { return {IndexPut(x[0], Items(x, a), x.back(), a["accumulate"])}; }},
      {"index_put_mask",
       [](In x, const json& a) -> Out {
         return {IndexPut(x[0], {Mask{x[1], a["count"].get<int64_t>()}}, x[2])};
       }},
      {"index_put_mask_free", [](In x, const json&) -> Out { return {IndexPut(x[0], {x[1]}, x[2])}; }},
  };
  return *calls;
}

}  // namespace understudy::vectors
