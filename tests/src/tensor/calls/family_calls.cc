// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/create_ops.h"
#include "src/tensor/gather.h"
#include "src/tensor/reduce_ops.h"
#include "src/tensor/scan.h"
#include "src/tensor/sort.h"
#include "tests/src/tensor/calls/calls.h"

namespace understudy::vectors {
namespace {

using nlohmann::json;
using Args = const json&;
using Dims = std::vector<int64_t>;

std::optional<DType> TypeOf(Args a) {
  if (!a.contains("dtype")) return std::nullopt;
  const auto t = ParseDType(a["dtype"].get<std::string>());
  return t.ok() ? *t : dtypes::kVoid;
}
Dims List(Args a) { return a.at("dim").get<Dims>(); }
int64_t Dim(Args a) { return a.at("dim").get<int64_t>(); }
std::optional<int64_t> MaybeDim(Args a) {
  return a.contains("dim") ? std::optional<int64_t>(Dim(a)) : std::nullopt;
}
bool Keep(Args a) { return a.value("keepdim", false); }
Out Both(const ValuesAndIndices& v) { return {v.values, v.indices}; }
Out Both(const std::pair<Tensor, Tensor>& v) { return {v.first, v.second}; }
Number Num(Args v) { return v.is_number_integer() ? Number(v.get<int64_t>()) : Number(v.get<double>()); }
TensorOptions Options(Args a) { return {TypeOf(a).value_or(dtypes::kFloat32), a.value("device", "CPU")}; }
ScatterMode Mode(Args a) {
  const auto m = a.at("mode").get<std::string>();
  return m == "sum"    ? ScatterMode::kSum
         : m == "prod" ? ScatterMode::kProd
         : m == "mean" ? ScatterMode::kMean
         : m == "amax" ? ScatterMode::kAmax
                       : ScatterMode::kAmin;
}

}  // namespace

const Calls& FamilyCalls() {
  static const Calls* const calls = new Calls{
      {"sum", [](In x, Args a) -> Out { return {Sum(x[0], List(a), Keep(a), TypeOf(a))}; }},
      {"prod", [](In x, Args a) -> Out { return {Prod(x[0], List(a), Keep(a), TypeOf(a))}; }},
      {"mean", [](In x, Args a) -> Out { return {Mean(x[0], List(a), Keep(a), TypeOf(a))}; }},
      {"nansum", [](In x, Args a) -> Out { return {Nansum(x[0], List(a), Keep(a))}; }},
      {"nanmean", [](In x, Args a) -> Out { return {Nanmean(x[0], List(a), Keep(a))}; }},
      {"any", [](In x, Args a) -> Out { return {Any(x[0], List(a), Keep(a))}; }},
      {"all", [](In x, Args a) -> Out { return {All(x[0], List(a), Keep(a))}; }},
      {"count_nonzero", [](In x, Args a) -> Out { return {CountNonzero(x[0], List(a))}; }},
      {"logsumexp", [](In x, Args a) -> Out { return {Logsumexp(x[0], List(a), Keep(a))}; }},
      {"var", [](In x, Args a) -> Out { return {Var(x[0], List(a), a["correction"], Keep(a))}; }},
      {"std", [](In x, Args a) -> Out { return {Std(x[0], List(a), a["correction"], Keep(a))}; }},
      {"var_mean", [](In x, Args a) { return Both(VarMean(x[0], List(a), a["correction"], Keep(a))); }},
      {"std_mean", [](In x, Args a) { return Both(StdMean(x[0], List(a), a["correction"], Keep(a))); }},
      {"amax", [](In x, Args a) -> Out { return {Amax(x[0], List(a), Keep(a))}; }},
      {"amin", [](In x, Args a) -> Out { return {Amin(x[0], List(a), Keep(a))}; }},
      {"aminmax", [](In x, Args a) { return Both(Aminmax(x[0], Dim(a), Keep(a))); }},
      {"max", [](In x, Args a) { return Both(Max(x[0], Dim(a), Keep(a))); }},
      {"min", [](In x, Args a) { return Both(Min(x[0], Dim(a), Keep(a))); }},
      {"argmax", [](In x, Args a) -> Out { return {Argmax(x[0], MaybeDim(a), Keep(a))}; }},
      {"argmin", [](In x, Args a) -> Out { return {Argmin(x[0], MaybeDim(a), Keep(a))}; }},
      {"softmax", [](In x, Args a) -> Out { return {Softmax(x[0], Dim(a), TypeOf(a))}; }},
      {"log_softmax", [](In x, Args a) -> Out { return {LogSoftmax(x[0], Dim(a), TypeOf(a))}; }},

      {"cumsum", [](In x, Args a) -> Out { return {Cumsum(x[0], Dim(a), TypeOf(a))}; }},
      {"cumprod", [](In x, Args a) -> Out { return {Cumprod(x[0], Dim(a), TypeOf(a))}; }},
      {"cummax", [](In x, Args a) { return Both(Cummax(x[0], Dim(a))); }},
      {"cummin", [](In x, Args a) { return Both(Cummin(x[0], Dim(a))); }},
      {"logcumsumexp", [](In x, Args a) -> Out { return {Logcumsumexp(x[0], Dim(a))}; }},
      {"diff",
       [](In x, Args a) -> Out {
         return {Diff(x[0], a["n"], Dim(a), x.size() > 1 ? &x[1] : nullptr, x.size() > 2 ? &x[2] : nullptr)};
       }},
      {"trapezoid",
       [](In x, Args a) -> Out {
         return {x.size() > 1 ? Trapezoid(x[0], x[1], Dim(a))
                              : Trapezoid(x[0], a["dx"].get<double>(), Dim(a))};
       }},
      {"cumulative_trapezoid",
       [](In x, Args a) -> Out {
         return {x.size() > 1 ? CumulativeTrapezoid(x[0], x[1], Dim(a))
                              : CumulativeTrapezoid(x[0], a["dx"].get<double>(), Dim(a))};
       }},

      {"gather", [](In x, Args a) -> Out { return {Gather(x[0], Dim(a), x[1])}; }},
      {"take", [](In x, Args) -> Out { return {Take(x[0], x[1])}; }},
      {"take_along_dim", [](In x, Args a) -> Out { return {TakeAlongDim(x[0], x[1], MaybeDim(a))}; }},
      {"index_select", [](In x, Args a) -> Out { return {IndexSelect(x[0], Dim(a), x[1])}; }},
      {"index_add",
       [](In x, Args a) -> Out {
         return {IndexAdd(x[0], Dim(a), x[1], x[2], a.contains("alpha") ? Num(a["alpha"]) : Number(1))};
       }},
      {"index_copy", [](In x, Args a) -> Out { return {IndexCopy(x[0], Dim(a), x[1], x[2])}; }},
      {"index_fill", [](In x, Args a) -> Out { return {IndexFill(x[0], Dim(a), x[1], Num(a["value"]))}; }},
      {"scatter", [](In x, Args a) -> Out { return {Scatter(x[0], Dim(a), x[1], x[2])}; }},
      {"scatter_value", [](In x, Args a) -> Out { return {Scatter(x[0], Dim(a), x[1], Num(a["value"]))}; }},
      {"scatter_add", [](In x, Args a) -> Out { return {ScatterAdd(x[0], Dim(a), x[1], x[2])}; }},
      {"scatter_reduce",
       [](In x, Args a) -> Out {
         return {ScatterReduce(x[0], Dim(a), x[1], x[2], Mode(a), a["include_self"].get<bool>())};
       }},
      {"nonzero_static",
       [](In x, Args a) -> Out { return {NonzeroStatic(x[0], a["size"], a["fill_value"])}; }},
      {"masked_select_static",
       [](In x, Args a) -> Out {
         const MaskedSelection s = MaskedSelectStatic(x[0], x[1], a["size"], Num(a["fill_value"]));
         return {s.values, s.count};
       }},
      {"searchsorted",
       [](In x, Args a) -> Out { return {Searchsorted(x[0], x[1], a["right"].get<bool>())}; }},
      {"bucketize", [](In x, Args a) -> Out { return {Bucketize(x[0], x[1], a["right"].get<bool>())}; }},
      {"bincount",
       [](In x, Args a) -> Out { return {Bincount(x[0], a["size"], x.size() > 1 ? &x[1] : nullptr)}; }},
      {"histc",
       [](In x, Args a) -> Out {
         return {Histc(x[0], a["bins"], a["min"].get<double>(), a["max"].get<double>())};
       }},

      {"sort", [](In x, Args a) { return Both(Sort(x[0], Dim(a), a["descending"].get<bool>())); }},
      {"argsort", [](In x, Args a) -> Out { return {Argsort(x[0], Dim(a), a["descending"].get<bool>())}; }},
      {"msort", [](In x, Args) -> Out { return {Msort(x[0])}; }},
      {"topk", [](In x, Args a) { return Both(Topk(x[0], a["k"], Dim(a), a["largest"].get<bool>())); }},
      {"kthvalue", [](In x, Args a) { return Both(Kthvalue(x[0], a["k"], Dim(a), Keep(a))); }},
      {"median",
       [](In x, Args a) {
         return a.contains("dim") ? Both(Median(x[0], Dim(a), Keep(a))) : Out{Median(x[0])};
       }},
      {"nanmedian",
       [](In x, Args a) {
         return a.contains("dim") ? Both(Nanmedian(x[0], Dim(a), Keep(a))) : Out{Nanmedian(x[0])};
       }},
      {"median_value", [](In x, Args a) -> Out { return {Median(x[0], Dim(a)).values}; }},
      {"nanmedian_value", [](In x, Args a) -> Out { return {Nanmedian(x[0], Dim(a)).values}; }},

      {"full",
       [](In, Args a) -> Out {
         return {Tensor::Full(a["shape"].get<Shape>(), Num(a["value"]), Options(a))};
       }},
      {"zeros", [](In, Args a) -> Out { return {Tensor::Zeros(a["shape"].get<Shape>(), Options(a))}; }},
      {"ones", [](In, Args a) -> Out { return {Tensor::Ones(a["shape"].get<Shape>(), Options(a))}; }},
      {"full_like", [](In x, Args a) -> Out { return {FullLike(x[0], Num(a["value"]))}; }},
      {"zeros_like", [](In x, Args) -> Out { return {ZerosLike(x[0])}; }},
      {"ones_like", [](In x, Args) -> Out { return {OnesLike(x[0])}; }},
      {"arange",
       [](In, Args a) -> Out {
         return {Tensor::Arange(Num(a["a"][0]), Num(a["a"][1]), Num(a["a"][2]), Options(a))};
       }},
      {"linspace",
       [](In, Args a) -> Out {
         return {Tensor::Linspace(Num(a["a"][0]), Num(a["a"][1]), a["a"][2].get<int64_t>(), Options(a))};
       }},
      {"logspace",
       [](In, Args a) -> Out {
         return {Logspace(Num(a["a"][0]), Num(a["a"][1]), a["a"][2].get<int64_t>(), a["base"].get<double>(),
                          Options(a))};
       }},
      {"eye", [](In, Args a) -> Out { return {Tensor::Eye(a["n"], a["m"].get<int64_t>())}; }},
      {"tril_indices", [](In, Args a) -> Out { return {TrilIndices(a["n"], a["m"], a["offset"])}; }},
      {"triu_indices", [](In, Args a) -> Out { return {TriuIndices(a["n"], a["m"], a["offset"])}; }},
      {"vander",
       [](In x, Args a) -> Out {
         return {Vander(x[0], a["n"].is_null() ? std::nullopt : std::optional<int64_t>(a["n"].get<int64_t>()),
                        a["increasing"].get<bool>())};
       }},
  };
  return *calls;
}

}  // namespace understudy::vectors
