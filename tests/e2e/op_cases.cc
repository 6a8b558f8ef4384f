// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/op_cases.h"

#include <cmath>

#include "src/tensor/activation.h"
#include "src/tensor/elementwise_ops.h"
#include "src/tensor/indexing.h"
#include "src/tensor/movement_ops.h"
#include "src/tensor/rearrange.h"

namespace understudy {

Tensor CaseGen::FromValues(const Shape& shape, DType t, const std::function<uint64_t()>& bits) {
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  std::vector<uint8_t> bytes(n * t.ScalarBytes());
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t b = bits();
    __builtin_memcpy(&bytes[i * t.ScalarBytes()], &b, t.ScalarBytes());
  }
  return Tensor::FromBytes(std::move(bytes), t, shape, device);
}

Tensor CaseGen::AnythingOf(const Shape& shape, DType t) {
  static const double kSpecial[] = {0.0,     -0.0, 1,    -1,    INFINITY, -INFINITY, NAN, 1e-40,
                                    -1e-310, 0.5,  1e30, 65504, 448,      6e-8,      255, -129};
  return FromValues(shape, t, [&] {
    if (t.IsBool()) return static_cast<uint64_t>(Int(0, 1));
    if (Chance(0.4)) return ToBits(t, Canonical(t, ConstValue(static_cast<double>(Int(-40, 40)) / 4)));
    if (t.IsFloat() && Chance(0.5)) return ToBits(t, Canonical(t, ConstValue(kSpecial[Int(0, 15)])));
    // Raw bits, canonical where a NaN has several.
    return ToBits(t, FromBits(t, rng_() >> (64 - t.BitWidth())));
  });
}

Tensor CaseGen::SmallOf(const Shape& shape, DType t) {
  return FromValues(shape, t, [&] {
    if (t.IsBool()) return static_cast<uint64_t>(Int(0, 1));
    return ToBits(t, Canonical(t, ConstValue(static_cast<double>(Int(-6, 6)) / (t.IsFloat() ? 2 : 1))));
  });
}

Tensor CaseGen::Within(const Shape& shape, double lo, double hi) {
  return FromValues(shape, dtype, [&] {
    return ToBits(dtype, Canonical(dtype, ConstValue(std::uniform_real_distribution<double>(lo, hi)(rng_))));
  });
}

std::vector<DType> TypesOf(Types types) {
  using namespace dtypes;
  const std::vector<DType> ints = {kInt8, kUInt8, kInt16, kUInt16, kInt32, kUInt32, kInt64, kUInt64};
  const std::vector<DType> wide = {kFloat32, kFloat64, kFloat16, kBFloat16};
  const std::vector<DType> narrow = {kFloat8E4M3, kFloat8E5M2, kFloat8E4M3Fnuz, kFloat8E5M2Fnuz};
  std::vector<DType> out;
  const auto add = [&](const std::vector<DType>& v) { out.insert(out.end(), v.begin(), v.end()); };
  switch (types) {
    case Types::kOnce:
      return {kFloat32};
    case Types::kWideFloats:
      return wide;
    case Types::kFloats:
      add(wide), add(narrow);
      break;
    case Types::kInts:
      add(ints);
      break;
    case Types::kIntsAndBool:
      add(ints), out.push_back(kBool);
      break;
    case Types::kNumbers:
      add(wide), add(ints), add(narrow);
      break;
    case Types::kAll:
      add(wide), add(ints), add(narrow), out.push_back(kBool);
      break;
  }
  return out;
}

namespace {

using Unary = Tensor (Tensor::*)() const;
using Binary = Tensor (Tensor::*)(const Operand&) const;

OpCase One(const char* name, Types types, Tolerance tolerance, Unary f) {
  return {name, types, tolerance, [f](CaseGen& g) { return (g.Anything(g.AnyShape()).*f)(); }};
}
OpCase Function(const char* name, Types types, Tolerance tolerance, Tensor (*f)(const Tensor&)) {
  return {name, types, tolerance, [f](CaseGen& g) { return f(g.Anything(g.AnyShape())); }};
}
OpCase OneWithin(const char* name, Types types, Tolerance tolerance, double lo, double hi, Unary f) {
  return {name, types, tolerance, [=](CaseGen& g) { return (g.Within(g.AnyShape(), lo, hi).*f)(); }};
}
OpCase Two(const char* name, Types types, Tolerance tolerance, Binary f) {
  return {name, types, tolerance, [f](CaseGen& g) {
            const Shape s = g.AnyShape();
            const Tensor a = g.Anything(s), b = g.Anything(g.Narrower(s));
            return g.Chance(0.5) ? (a.*f)(b) : (b.*f)(a);
          }};
}

std::vector<int64_t> SomeAxes(CaseGen& g, size_t rank) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < rank; ++i) {
    if (g.Chance(0.5)) axes.push_back(static_cast<int64_t>(i));
  }
  return axes;
}

OpCase ReduceCase(const char* name, Types types, Tolerance tolerance, bool anything,
                  const std::function<Tensor(const Tensor&, const std::vector<int64_t>&, bool)>& f) {
  return {name, types, tolerance, [=](CaseGen& g) {
            const Shape s = g.AnyShape(1, 3, false);
            const Tensor x = anything ? g.Anything(s) : g.Small(s);
            return f(x, SomeAxes(g, s.size()), g.Chance(0.5));
          }};
}

}  // namespace

const std::vector<OpCase>& UnaryCases() {
  static const std::vector<OpCase> table = {
      One("neg", Types::kNumbers, kExact, &Tensor::Neg),
      One("abs", Types::kNumbers, kExact, &Tensor::Abs),
      One("sqrt", Types::kNumbers, kExact, &Tensor::Sqrt),
      One("rsqrt", Types::kFloats, kExact, &Tensor::Rsqrt),
      One("exp", Types::kNumbers, Ulp(4), &Tensor::Exp),
      One("exp2", Types::kNumbers, Ulp(2), &Tensor::Exp2),
      One("log", Types::kNumbers, Ulp(4), &Tensor::Log),
      One("log2", Types::kNumbers, Ulp(2), &Tensor::Log2),
      One("sin", Types::kNumbers, Ulp(2), &Tensor::Sin),
      One("cos", Types::kNumbers, Ulp(2), &Tensor::Cos),
      One("tanh", Types::kNumbers, Ulp(8), &Tensor::Tanh),
      One("sigmoid", Types::kNumbers, Ulp(8), &Tensor::Sigmoid),
      Function("expm1", Types::kWideFloats, Ulp(6), Expm1),
      Function("log1p", Types::kWideFloats, Ulp(6), Log1p),
      Function("tan", Types::kWideFloats, Ulp(6), Tan),
      Function("acos", Types::kWideFloats, Ulp(4), Acos),
      Function("atan", Types::kWideFloats, Ulp(6), Atan),
      Function("sinh", Types::kWideFloats, Ulp(8), Sinh),
      Function("asinh", Types::kWideFloats, Ulp(8), Asinh),
      Function("erf", Types::kWideFloats, Ulp(4), Erf),
      Function("erfc", Types::kWideFloats, Ulp(10), Erfc),
      Function("round", Types::kFloats, kExact, [](const Tensor& x) { return Round(x); }),
      OneWithin("gelu", Types::kFloats, Absolute(16), -8, 8, &Tensor::Gelu),
      One("relu", Types::kNumbers, kExact, &Tensor::Relu),
      One("reciprocal", Types::kNumbers, kExact, &Tensor::Reciprocal),
      One("floor", Types::kNumbers, kExact, &Tensor::Floor),
      One("ceil", Types::kNumbers, kExact, &Tensor::Ceil),
      One("trunc", Types::kNumbers, kExact, &Tensor::Trunc),
      One("sign", Types::kAll, kExact, &Tensor::Sign),
      One("square", Types::kAll, kExact, &Tensor::Square),
      One("logical_not", Types::kAll, kExact, &Tensor::LogicalNot),
      One("bitwise_not", Types::kIntsAndBool, kExact, &Tensor::BitwiseNot),
      One("isnan", Types::kAll, kExact, &Tensor::IsNan),
      {"cast", Types::kAll, kExact,
       [](CaseGen& g) {
         const std::vector<DType> all = TypesOf(Types::kAll);
         const Tensor x = g.Anything({24});
         return x.Cast(all[g.Int(0, static_cast<int64_t>(all.size()) - 1)]);
       }},
      {"bitcast", Types::kNumbers, kExact,
       [](CaseGen& g) {
         const int width = g.dtype.BitWidth();
         const DType to = width == 8    ? dtypes::kInt8
                          : width == 16 ? dtypes::kUInt16
                          : width == 32 ? dtypes::kInt32
                                        : dtypes::kUInt64;
         return g.Anything(g.AnyShape()).Bitcast(to);
       }},
      {"clamp", Types::kNumbers, kExact, [](CaseGen& g) { return g.Anything(g.AnyShape()).Clamp(1, 3); }},
  };
  return table;
}

const std::vector<OpCase>& BinaryCases() {
  static const std::vector<OpCase> table = {
      Two("add", Types::kAll, kExact, &Tensor::Add),
      Two("sub", Types::kNumbers, kExact, &Tensor::Sub),
      Two("mul", Types::kAll, kExact, &Tensor::Mul),
      Two("div", Types::kNumbers, kExact, &Tensor::Div),
      Two("floor_div", Types::kInts, kExact, &Tensor::FloorDiv),
      Two("trunc_div", Types::kNumbers, kExact, &Tensor::TruncDiv),
      Two("mod", Types::kInts, kExact, &Tensor::Mod),
      Two("fmod", Types::kInts, kExact, &Tensor::Fmod),
      {"float_remainders", Types::kWideFloats, kExact,
       [](CaseGen& g) {
         const Tensor a = g.Small({3, 8}), b = g.Small({8});
         return Stack({a.Fmod(b), a.Mod(b), a.FloorDiv(b)});
       }},
      Two("maximum", Types::kAll, kExact, &Tensor::Maximum),
      Two("minimum", Types::kAll, kExact, &Tensor::Minimum),
      Two("lt", Types::kAll, kExact, &Tensor::Lt),
      Two("le", Types::kAll, kExact, &Tensor::Le),
      Two("gt", Types::kAll, kExact, &Tensor::Gt),
      Two("ge", Types::kAll, kExact, &Tensor::Ge),
      Two("eq", Types::kAll, kExact, &Tensor::Eq),
      Two("ne", Types::kAll, kExact, &Tensor::Ne),
      Two("bit_and", Types::kIntsAndBool, kExact, &Tensor::BitAnd),
      Two("bit_or", Types::kIntsAndBool, kExact, &Tensor::BitOr),
      Two("bit_xor", Types::kIntsAndBool, kExact, &Tensor::BitXor),
      Two("shl", Types::kInts, kExact, &Tensor::Shl),
      Two("shr", Types::kInts, kExact, &Tensor::Shr),
      {"where", Types::kAll, kExact,
       [](CaseGen& g) {
         const Shape s = g.AnyShape();
         return Where(g.AnythingOf(g.Narrower(s), dtypes::kBool), g.Anything(s), g.Anything(g.Narrower(s)));
       }},
      {"lerp", Types::kWideFloats, kExact,
       [](CaseGen& g) { return g.Small({9}).Lerp(g.Small({9}), g.Within({9}, 0, 1)); }},
      {"pow_constant", Types::kWideFloats, kExact, [](CaseGen& g) { return g.Small({9}).Pow(g.Int(0, 5)); }},
      {"pow", Types::kOnce, Ulp(2), [](CaseGen& g) { return g.Anything({16}).Pow(g.Small({16})); }},
      {"promotion", Types::kAll, kExact,
       [](CaseGen& g) {
         const std::vector<DType> all = TypesOf(Types::kAll);
         return g.Small({9}) + g.SmallOf({9}, all[g.Int(0, static_cast<int64_t>(all.size()) - 1)]);
       }},
  };
  return table;
}

const std::vector<OpCase>& MovementCases() {
  static const std::vector<OpCase> table = {
      {"reshape", Types::kAll, kExact,
       [](CaseGen& g) {
         return g.Anything({4, 6}).Reshape({3, -1}).Transpose().Reshape({2, 12}).Contiguous();
       }},
      {"permute", Types::kAll, kExact,
       [](CaseGen& g) { return g.Anything(g.AnyShape(3, 3)).Permute({2, 0, 1}); }},
      {"expand", Types::kAll, kExact,
       [](CaseGen& g) { return g.Anything({g.Size(), 1}).Expand({3, -1, 4}); }},
      {"pad", Types::kAll, kExact, [](CaseGen& g) { return g.Anything({3, 5}).Pad({{1, 2}, {0, 3}}, 1); }},
      {"pad_of_arithmetic", Types::kFloats, kExact,
       [](CaseGen& g) { return (1.0 / g.Small({3, 5})).Pad({{1, 2}, {-1, 3}}).Neg(); }},
      {"shrink", Types::kAll, kExact, [](CaseGen& g) { return g.Anything({5, 7}).Shrink({{1, 4}, {2, 7}}); }},
      {"flip", Types::kAll, kExact, [](CaseGen& g) { return g.Anything({3, 5}).Flip({0, 1}); }},
      {"slice", Types::kAll, kExact,
       [](CaseGen& g) {
         const int64_t step = g.Int(1, 3) * (g.Chance(0.5) ? 1 : -1);
         return g.Anything({9, 4}).Index(
             {Slice{std::nullopt, std::nullopt, step}, Slice{3, std::nullopt, -2}});
       }},
      {"index", Types::kAll, kExact,
       [](CaseGen& g) { return g.Anything({3, 4, 5}).Index({-1, Ellipsis{}, NewAxis{}, 2}); }},
      {"cat", Types::kAll, kExact,
       [](CaseGen& g) { return Cat({g.Anything({2, 3}), g.Anything({1, 3}), g.Anything({4, 3})}); }},
      {"stack", Types::kAll, kExact, [](CaseGen& g) { return Stack({g.Anything({5}), g.Anything({5})}, 1); }},
      {"squeeze_flatten", Types::kOnce, kExact,
       [](CaseGen& g) { return (g.Anything({3, 1, 4}).Squeeze(1).Unsqueeze(0).Flatten() + 1.0); }},
      {"assign_part", Types::kAll, kExact,
       [](CaseGen& g) {
         Tensor x = g.Anything({4, 5});
         x.AssignIndex({Slice{1, 4, 2}, Slice{std::nullopt, std::nullopt, -2}}, g.Anything({2, 3}));
         return x;
       }},
      {"assign_flipped_self", Types::kAll, kExact,
       [](CaseGen& g) {
         Tensor x = g.Anything({7});
         x.Assign(x.Flip({0}));
         return x;
       }},
  };
  return table;
}

const std::vector<OpCase>& ReductionCases() {
  using Axes = std::vector<int64_t>;
  static const std::vector<OpCase> table = {
      ReduceCase("sum", Types::kAll, kExact, false,
                 [](const Tensor& x, const Axes& a, bool k) { return x.Sum(a, k); }),
      ReduceCase("prod", Types::kIntsAndBool, kExact, false,
                 [](const Tensor& x, const Axes& a, bool k) { return x.Prod(a, k); }),
      {"prod_float", Types::kFloats, kExact, [](CaseGen& g) { return g.Small({5, 4}).Prod({1}); }},
      ReduceCase("max", Types::kAll, kExact, true,
                 [](const Tensor& x, const Axes& a, bool k) { return x.Max(a, k); }),
      ReduceCase("min", Types::kAll, kExact, true,
                 [](const Tensor& x, const Axes& a, bool k) { return x.Min(a, k); }),
      ReduceCase("mean", Types::kFloats, kExact, false,
                 [](const Tensor& x, const Axes& a, bool k) { return x.Mean(a, k); }),
      {"var", Types::kFloats, Absolute(16), [](CaseGen& g) { return g.Small({4, 6}).Var({1}); }},
      {"argmax", Types::kAll, kExact, [](CaseGen& g) { return g.Anything({3, 9}).Argmax(1); }},
      {"sum_of_one_row", Types::kNumbers, kExact, [](CaseGen& g) { return g.Small({100}).Sum(); }},
      {"sum_anything", Types::kInts, kExact, [](CaseGen& g) { return g.Anything({3, 40}).Sum({1}); }},
      {"sum_over_padding", Types::kFloats, kExact,
       [](CaseGen& g) { return (g.Small({5, 5}).Pad({{1, 1}, {2, 0}}) * 2.0).Sum({0}); }},
      {"empty_sum", Types::kNumbers, kExact, [](CaseGen& g) { return g.Small({3, 0}).Sum({1}) + 1; }},
  };
  return table;
}

const std::vector<OpCase>& NetworkCases() {
  static const std::vector<OpCase> table = {
      {"matmul", Types::kAll, kExact,
       [](CaseGen& g) {
         const int64_t k = g.Size();
         return g.Small({g.Size(), k}).Matmul(g.Small({k, g.Size()}));
       }},
      {"matmul_batched", Types::kWideFloats, kExact,
       [](CaseGen& g) { return g.Small({2, 1, 3, 4}).Matmul(g.Small({3, 4, 5})); }},
      {"matmul_vector", Types::kWideFloats, kExact,
       [](CaseGen& g) { return g.Small({5}).Matmul(g.Small({5, 3})); }},
      {"matmul_larger", Types::kOnce, kExact,
       [](CaseGen& g) { return g.Small({17, 33}).Matmul(g.Small({33, 20})); }},
      {"index_by", Types::kAll, kExact,
       [](CaseGen& g) {
         const Tensor at = Tensor::FromData<int64_t>({2, -1, 0, 2}, {4}, g.device);
         return IndexBy(g.Anything({3, 2, 3}), {at, Slice{}, at});
       }},
      {"index_put", Types::kNumbers, kExact,
       [](CaseGen& g) {
         const Tensor at = Tensor::FromData<int64_t>({2, -1, 0, 2}, {4}, g.device);
         return IndexPut(g.Anything({3, 5}), {at}, g.Anything({4, 5}));
       }},
      {"unfold", Types::kWideFloats, kExact, [](CaseGen& g) { return Unfold(g.Anything({3, 9}), 1, 4, 2); }},
      {"pad_reflect", Types::kWideFloats, kExact,
       [](CaseGen& g) { return Pad(g.Anything({3, 5}), {2, 3, 1, 0}, PadMode::kReflect); }},
      {"tril", Types::kWideFloats, kExact, [](CaseGen& g) { return Tril(g.Anything({2, 4, 5}), 1); }},
      {"rearrange", Types::kAll, kExact,
       [](CaseGen& g) { return Rearrange(g.Anything({2, 3, 8}), "b t (h d) -> (b h) d t", {{"h", 2}}); }},
      {"gelu_exact", Types::kWideFloats, Ulp(14), [](CaseGen& g) { return Gelu(g.Within({3, 7}, -5, 5)); }},
      {"softmax", Types::kFloats, Absolute(32),
       [](CaseGen& g) { return g.Within({3, 7}, -10, 10).Softmax(); }},
      {"log_softmax", Types::kFloats, Absolute(32),
       [](CaseGen& g) { return g.Within({3, 7}, -10, 10).LogSoftmax(0); }},
      {"layer_norm", Types::kFloats, Absolute(64),
       [](CaseGen& g) {
         const Tensor w = g.Within({8}, -1, 1), b = g.Within({8}, -1, 1);
         return g.Within({3, 8}, -4, 4).LayerNorm(1, &w, &b);
       }},
      {"conv2d", Types::kAll, kExact,
       [](CaseGen& g) {
         Tensor::Conv2dOptions o;
         o.groups = 2;
         o.stride = {g.Int(1, 2), g.Int(1, 2)};
         o.dilation = {g.Int(1, 2), 1};
         o.padding = {g.Int(0, 1), g.Int(0, 2)};
         return g.Small({2, 4, 6, 5}).Conv2d(g.Small({4, 2, 3, 2}), nullptr, o);
       }},
      {"cross_entropy", Types::kWideFloats, Absolute(32),
       [](CaseGen& g) {
         return g.Within({4, 5}, -3, 3).CrossEntropy(Tensor::FromData<int32_t>({0, 4, 2, 2}, {4}, g.device));
       }},
      {"gradient_of_network", Types::kOnce, Absolute(64),
       [](CaseGen& g) {
         const Tensor x = g.Within({6, 5}, -1, 1), w = g.Within({5, 7}, -1, 1), b = g.Within({7}, -1, 1);
         const Tensor loss = (x.Matmul(w) + b)
                                 .Relu()
                                 .CrossEntropy(Tensor::FromData<int32_t>({0, 6, 2, 2, 1, 5}, {6}, g.device));
         const std::vector<Tensor> d = Gradients(loss, {w, b});
         return d[0] + d[1];
       }},
      {"gradient_of_conv2d", Types::kOnce, kExact,
       [](CaseGen& g) {
         const Tensor x = g.Small({1, 2, 6, 6}), w = g.Small({3, 2, 3, 3});
         Tensor::Conv2dOptions o;
         o.padding = {1, 1};
         o.stride = {2, 1};
         const Tensor y = x.Conv2d(w, nullptr, o);
         const std::vector<Tensor> d = Gradients((y * g.Small(y.shape())).Sum(), {x, w});
         return Cat({d[0].Flatten(), d[1].Flatten()});
       }},
      {"gradient_of_layer_norm", Types::kOnce, Absolute(128),
       [](CaseGen& g) {
         const Tensor x = g.Within({3, 8}, -2, 2), w = g.Within({8}, -1, 1), b = g.Within({8}, -1, 1);
         return Gradients((x.LayerNorm(1, &w, &b) * g.Within({3, 8}, -1, 1)).Sum(), {x})[0];
       }},
  };
  return table;
}

}  // namespace understudy
