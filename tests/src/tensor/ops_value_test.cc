// SPDX-License-Identifier: Apache-2.0
// Every Tensor operation but views (movement_value_test.cc) against plain loops over doubles, on random
// shapes with sizes 0, 1 and odd ones. A failing seed reproduces the case.
#include "tests/src/tensor/value_check.h"

namespace understudy {
namespace {

struct UnaryCase {
  const char* name;
  Tensor (Tensor::*f)() const;
  double (*expected)(double);
  double lo, hi, tolerance;
};

double RoundHalf(double x) { return static_cast<double>(static_cast<float>(x)); }

const UnaryCase kUnary[] = {
    {"Neg", &Tensor::Neg, [](double x) { return -x; }, -9, 9, 0},
    {"Abs", &Tensor::Abs, [](double x) { return std::abs(x); }, -9, 9, 0},
    {"Sqrt", &Tensor::Sqrt, [](double x) { return RoundHalf(std::sqrt(x)); }, 0, 9, 0},
    {"Rsqrt", &Tensor::Rsqrt, [](double x) { return 1 / std::sqrt(x); }, 0.1, 9, 3e-7},
    {"Exp", &Tensor::Exp, [](double x) { return std::exp(x); }, -9, 9, 1e-6},
    {"Exp2", &Tensor::Exp2, [](double x) { return std::exp2(x); }, -9, 9, 1e-7},
    {"Log", &Tensor::Log, [](double x) { return std::log(x); }, 0.01, 9, 3e-7},
    {"Log2", &Tensor::Log2, [](double x) { return std::log2(x); }, 0.01, 9, 1e-7},
    {"Sin", &Tensor::Sin, [](double x) { return std::sin(x); }, -100, 100, 1e-7},
    {"Cos", &Tensor::Cos, [](double x) { return std::cos(x); }, -100, 100, 4e-7},
    {"Tanh", &Tensor::Tanh, [](double x) { return std::tanh(x); }, -9, 9, 1e-6},
    {"Sigmoid", &Tensor::Sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -9, 9, 1e-6},
    {"Relu", &Tensor::Relu, [](double x) { return x > 0 ? x : 0; }, -9, 9, 0},
    {"Gelu", &Tensor::Gelu,
     [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }, -5,
     5, 2e-6},
    {"Reciprocal", &Tensor::Reciprocal, [](double x) { return RoundHalf(1 / x); }, 0.5, 9, 0},
    {"Floor", &Tensor::Floor, [](double x) { return std::floor(x); }, -9, 9, 0},
    {"Ceil", &Tensor::Ceil, [](double x) { return std::ceil(x); }, -9, 9, 0},
    {"Trunc", &Tensor::Trunc, [](double x) { return std::trunc(x); }, -9, 9, 0},
    {"Sign", &Tensor::Sign, [](double x) { return x > 0   ? 1.0
                                                  : x < 0 ? -1.0
                                                          : 0.0; }, -9, 9, 0},
    {"Square", &Tensor::Square, [](double x) { return RoundHalf(x * x); }, -9, 9, 0},
    {"IsNan", &Tensor::IsNan, [](double x) { return std::isnan(x) ? 1.0 : 0.0; }, -9, 9, 0},
    {"LogicalNot", &Tensor::LogicalNot, [](double x) { return x == 0 ? 1.0 : 0.0; }, -1, 1, 0},
};

TEST(Values, Unary) {
  for (const UnaryCase& c : kUnary) {
    SCOPED_TRACE(c.name);
    EACH_CASE(g) {
      SCOPED_TRACE(seed);
      const Array a = g.Reals(g.Shape(), c.lo, c.hi);
      ExpectEqual((ToTensor(a).*c.f)(), nd::Map(a, c.expected), c.tolerance);
    }
  }
}

TEST(Values, UnaryAtTheEdges) {
  const double inf = INFINITY;
  const Array a{{6}, {0.0, -0.0, inf, -inf, NAN, 2.5}};
  const Tensor t = ToTensor(a);
  ExpectEqual(t.Abs(), {{6}, {0.0, 0.0, inf, inf, NAN, 2.5}});
  ExpectEqual(t.Relu(), {{6}, {0.0, 0.0, inf, 0.0, NAN, 2.5}});
  ExpectEqual(t.Floor(), {{6}, {0.0, -0.0, inf, -inf, NAN, 2}});
  ExpectEqual(t.Sign(), {{6}, {0.0, 0.0, 1, -1, 0, 1}});
  ExpectEqual(t.Exp(), {{6}, {1, 1, inf, 0, NAN, 12.182494}}, 1e-6);
  ExpectEqual(t.Sigmoid(), {{6}, {0.5, 0.5, 1, 0, NAN, 0.924141819}}, 1e-6);
  ExpectEqual(t.Tanh(), {{6}, {0, 0, 1, -1, NAN, 0.986614298}}, 1e-6);
  ExpectEqual(t.Clamp(-1, 1), {{6}, {0.0, -0.0, 1, -1, NAN, 1}});
}

double FloorMod(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

struct BinaryCase {
  const char* name;
  Tensor (Tensor::*f)(const Operand&) const;
  double (*expected)(double, double);
};

const BinaryCase kBinaryF32[] = {
    {"Add", &Tensor::Add, [](double a, double b) { return a + b; }},
    {"Sub", &Tensor::Sub, [](double a, double b) { return a - b; }},
    {"Mul", &Tensor::Mul, [](double a, double b) { return a * b; }},
    {"Div", &Tensor::Div,
     [](double a, double b) { return static_cast<double>(static_cast<float>(a) / static_cast<float>(b)); }},
    {"FloorDiv", &Tensor::FloorDiv,
     [](double a, double b) { return b == 0 ? a / b : std::floor(a / b) + 0.0; }},
    {"TruncDiv", &Tensor::TruncDiv, [](double a, double b) { return std::trunc(a / b); }},
    {"Mod", &Tensor::Mod, FloorMod},
    {"Fmod", &Tensor::Fmod, [](double a, double b) { return std::fmod(a, b); }},
    {"Maximum", &Tensor::Maximum, [](double a, double b) { return std::max(a, b); }},
    {"Minimum", &Tensor::Minimum, [](double a, double b) { return std::min(a, b); }},
    {"Lt", &Tensor::Lt, [](double a, double b) { return a < b ? 1.0 : 0.0; }},
    {"Le", &Tensor::Le, [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
    {"Gt", &Tensor::Gt, [](double a, double b) { return a > b ? 1.0 : 0.0; }},
    {"Ge", &Tensor::Ge, [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
    {"Eq", &Tensor::Eq, [](double a, double b) { return a == b ? 1.0 : 0.0; }},
    {"Ne", &Tensor::Ne, [](double a, double b) { return a != b ? 1.0 : 0.0; }},
};

TEST(Values, BinaryWithBroadcasting) {
  for (const BinaryCase& c : kBinaryF32) {
    SCOPED_TRACE(c.name);
    EACH_CASE(g) {
      SCOPED_TRACE(seed);
      const Dims s = g.Shape();
      Array a = g.Halves(s), b = g.Halves(g.Narrower(s));
      for (double& x : b.v) x = x == 0 ? 1.5 : x;
      for (double& x : a.v) x = x == 0 ? 0.5 : x;  // signs of zeros have a test of their own
      if (g.Chance(0.5)) std::swap(a, b);
      Array expected = nd::Zip(a, b, c.expected);
      const Tensor t = (ToTensor(a).*c.f)(ToTensor(b));
      for (double& x : expected.v) x = x == 0 ? 0.0 : x;
      ExpectEqual(t.dtype().IsFloat() ? t + 0.0 : t, expected);
    }
  }
}

const BinaryCase kBinaryInt[] = {
    {"Add", &Tensor::Add, [](double a, double b) { return a + b; }},
    {"Sub", &Tensor::Sub, [](double a, double b) { return a - b; }},
    {"Mul", &Tensor::Mul, [](double a, double b) { return a * b; }},
    {"FloorDiv", &Tensor::FloorDiv, [](double a, double b) { return b == 0 ? 0 : std::floor(a / b); }},
    {"TruncDiv", &Tensor::TruncDiv, [](double a, double b) { return b == 0 ? 0 : std::trunc(a / b); }},
    {"Mod", &Tensor::Mod, [](double a, double b) { return b == 0 ? a : FloorMod(a, b); }},
    {"Fmod", &Tensor::Fmod, [](double a, double b) { return b == 0 ? a : std::fmod(a, b); }},
    {"Maximum", &Tensor::Maximum, [](double a, double b) { return std::max(a, b); }},
    {"Minimum", &Tensor::Minimum, [](double a, double b) { return std::min(a, b); }},
    {"Le", &Tensor::Le, [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
    {"BitAnd", &Tensor::BitAnd,
     [](double a, double b) {
       return static_cast<double>(static_cast<int64_t>(a) & static_cast<int64_t>(b));
     }},
    {"BitOr", &Tensor::BitOr,
     [](double a, double b) {
       return static_cast<double>(static_cast<int64_t>(a) | static_cast<int64_t>(b));
     }},
    {"BitXor", &Tensor::BitXor,
     [](double a, double b) {
       return static_cast<double>(static_cast<int64_t>(a) ^ static_cast<int64_t>(b));
     }},
    {"Shl", &Tensor::Shl, [](double a, double b) { return b < 0 ? 0 : a * std::exp2(b); }},
    {"Shr", &Tensor::Shr,
     [](double a, double b) { return b < 0 ? (a < 0 ? -1.0 : 0.0) : std::floor(a / std::exp2(b)); }},
};

TEST(Values, BinaryOnIntegers) {
  for (const BinaryCase& c : kBinaryInt) {
    SCOPED_TRACE(c.name);
    EACH_CASE(g) {
      SCOPED_TRACE(seed);
      const Dims s = g.Shape();
      const Array a = g.Ints(s), b = g.Ints(g.Narrower(s));
      Array expected = nd::Zip(a, b, c.expected);
      for (double& x : expected.v) x += 0.0;
      ExpectEqual((ToTensor(a, dtypes::kInt32).*c.f)(ToTensor(b, dtypes::kInt16)), expected);
    }
  }
}

TEST(Values, RemainderSignsAndInfinities) {
  const double inf = INFINITY;
  const Tensor a = ToTensor({{8}, {0.0, -0.0, 5, -5, 1, -1, 3, NAN}}),
               b = ToTensor({{8}, {3, 3, -3, 3, inf, inf, 0, 1}});
  ExpectEqual(a.Fmod(b), {{8}, {0.0, -0.0, 2, -2, 1, -1, NAN, NAN}});
  ExpectEqual(a.Mod(b), {{8}, {0.0, -0.0, -1, 1, 1, inf, NAN, NAN}});
  ExpectEqual(a.FloorDiv(b), {{8}, {0.0, -0.0, -2, -2, 0, -1, inf, NAN}}, 1e-30);
  // A quotient of more than 24 bits.
  ExpectEqual(ToTensor({{1}, {16777215}}).Fmod(0.75), {{1}, {std::fmod(16777215, 0.75)}});
  ExpectEqual(ToTensor({{2}, {1e15, -7.25}}, dtypes::kFloat64).Mod(0.1),
              {{2}, {FloorMod(1e15, 0.1), FloorMod(-7.25, 0.1)}}, 1e-12);
}

TEST(Values, Power) {
  const double inf = INFINITY;
  const Tensor a = ToTensor({{8}, {2, -2, 0, 9, -8, 1, 0.5, inf}});
  ExpectEqual(a.Pow(3), {{8}, {8, -8, 0, 729, -512, 1, 0.125, inf}});
  ExpectEqual(a.Pow(-1), {{8}, {0.5, -0.5, inf, 1.0 / 9, -0.125, 1, 2, 0}}, 1e-7);
  ExpectEqual(a.Pow(0), {{8}, {1, 1, 1, 1, 1, 1, 1, 1}});
  ExpectEqual(a.Pow(0.5), {{8}, {std::sqrt(2.0), NAN, 0, 3, NAN, 1, std::sqrt(0.5), inf}}, 1e-7);
  const Tensor e = ToTensor({{8}, {1.5, 3, 0, -0.5, 2, NAN, 10, -1}});
  ExpectEqual(a.Pow(e), {{8}, {std::pow(2, 1.5), -8, 1, 1.0 / 3, 64, 1, std::pow(0.5, 10), 0}}, 1e-7);
  ExpectEqual(ToTensor({{3}, {2, -3, 7}}, dtypes::kInt32).Pow(5), {{3}, {32, -243, 16807}});
}

TEST(Values, WhereClampLerp) {
  EACH_CASE(g) {
    SCOPED_TRACE(seed);
    const Dims s = g.Shape();
    const Array a = g.Halves(s), b = g.Halves(g.Narrower(s)), c = g.Ints(g.Narrower(s), 0, 1);
    const Array ab = nd::Zip(a, b, [](double x, double) { return x; }),
                ba = nd::Zip(a, b, [](double, double y) { return y; });
    const Array expected =
        nd::Make(ab.shape, [&](const Dims& at) { return nd::Broadcast(c, at) != 0 ? ab.At(at) : ba.At(at); });
    ExpectEqual(Where(ToTensor(c, dtypes::kBool), ToTensor(a), ToTensor(b)), expected);
    ExpectEqual(ToTensor(a).Clamp(-1.5, 2), nd::Map(a, [](double x) { return std::clamp(x, -1.5, 2.0); }));
    ExpectEqual(ToTensor(a).Lerp(ToTensor(b), 0.25),
                nd::Zip(a, b, [](double x, double y) { return x + 0.25 * (y - x); }), 1e-6);
  }
}

// --- Reductions ---

TEST(Values, Reductions) {
  EACH_CASE(g) {
    SCOPED_TRACE(seed);
    const Dims s = g.Shape(1, 4);
    std::vector<int64_t> axes;
    std::vector<bool> marked(s.size());
    for (size_t i = 0; i < s.size(); ++i) {
      if (g.Chance(0.5))
        marked[i] = true,
        axes.push_back(g.Chance(0.5) ? static_cast<int64_t>(i)
                                     : static_cast<int64_t>(i) - static_cast<int64_t>(s.size()));
    }
    if (axes.empty()) marked.assign(s.size(), true);
    const bool keep = g.Chance(0.5);
    int64_t reduced = 1;
    Dims dropped;
    for (size_t i = 0; i < s.size(); ++i) {
      if (marked[i])
        reduced *= s[i];
      else
        dropped.push_back(s[i]);
    }
    const auto shaped = [&](Array a) {
      if (!keep) a.shape = dropped;
      return a;
    };
    const Array a = g.Halves(s);
    const Tensor t = ToTensor(a);
    ExpectEqual(t.Sum(axes, keep), shaped(nd::Reduce(a, marked, 0, std::plus<>())));
    const Array ones = nd::Map(a, [](double x) { return x > 3 ? 2.0 : -1.0; });
    ExpectEqual(ToTensor(ones).Prod(axes, keep), shaped(nd::Reduce(ones, marked, 1, std::multiplies<>())));
    ExpectEqual(ToTensor(a, dtypes::kInt8).Sum(axes, keep),
                shaped(nd::Reduce(nd::Map(a, [](double x) { return std::trunc(x); }), marked, 0,
                                  [](double x, double y) { return x + y + 0.0; })));
    if (reduced > 0) {
      const double n = static_cast<double>(reduced);
      const auto big = [](double x, double y) { return std::max(x, y); };
      const auto small = [](double x, double y) { return std::min(x, y); };
      ExpectEqual(t.Max(axes, keep), shaped(nd::Reduce(a, marked, -1e9, big)));
      ExpectEqual(t.Min(axes, keep), shaped(nd::Reduce(a, marked, 1e9, small)));
      const Array mean = nd::Map(nd::Reduce(a, marked, 0, std::plus<>()), [&](double x) { return x / n; });
      ExpectEqual(t.Mean(axes, keep), shaped(mean), 1e-6);
      if (reduced > 1) {
        const Array squares = nd::Zip(a, mean, [](double x, double m) { return (x - m) * (x - m); });
        ExpectEqual(t.Var(axes, 1, keep),
                    shaped(nd::Map(nd::Reduce(squares, marked, 0, std::plus<>()),
                                   [&](double x) { return x / (n - 1); })),
                    1e-5);
      }
    }
  }
}

TEST(Values, ReductionTypes) {
  EXPECT_EQ(Tensor::Ones({3}, {dtypes::kBool}).Sum().dtype(), dtypes::kInt64);
  EXPECT_EQ(Tensor::Ones({3}, {dtypes::kInt8}).Sum().dtype(), dtypes::kInt64);
  // 2048 + 1 halves: f16 alone would stick at 2048.
  ExpectEqual(ToTensor({{4096}, std::vector<double>(4096, 1)}, dtypes::kFloat16).Sum(), {{}, {4096}});
  ExpectEqual(ToTensor({{300}, std::vector<double>(300, 1)}, dtypes::kInt8).Sum(), {{}, {300}});
  ExpectEqual(ToTensor({{2, 3}, {0, 1, NAN, 5, 9, 2}}).Max({1}), {{2}, {NAN, 9}});
  ExpectEqual(ToTensor({{2, 4}, {0, 7, 7, 1, 5, NAN, 2, NAN}}).Argmax(1), {{2}, {1, 1}});
  ExpectEqual(ToTensor({{2, 2}, {0, 1, 0, 0}}, dtypes::kBool).Max({1}), {{2}, {1, 0}});
}

// --- Networks ---

TEST(Values, Matmul) {
  EACH_CASE(g) {
    SCOPED_TRACE(seed);
    const int64_t m = g.Size(), k = g.Size(), n = g.Size();
    Dims batch = g.Shape(0, 2, false), left = g.Narrower(batch), right = batch;
    if (g.Chance(0.5)) std::swap(left, right);
    Dims sa = left, sb = right;
    const bool vector_a = g.Chance(0.2), vector_b = g.Chance(0.2);
    if (vector_a)
      sa = {k};
    else
      sa.insert(sa.end(), {m, k});
    if (vector_b)
      sb = {k};
    else
      sb.insert(sb.end(), {k, n});
    const Array a = g.Halves(sa), b = g.Halves(sb);
    Array a2 = a, b2 = b;
    if (vector_a) a2.shape = {1, k};
    if (vector_b) b2.shape = {k, 1};
    const Dims ba(a2.shape.begin(), a2.shape.end() - 2), bb(b2.shape.begin(), b2.shape.end() - 2);
    Dims out = nd::BroadcastShape(ba, bb);
    const size_t nb = out.size();
    out.insert(out.end(), {a2.shape[a2.shape.size() - 2], b2.shape.back()});
    Array expected = nd::Make(out, [&](const Dims& at) {
      double sum = 0;
      for (int64_t i = 0; i < k; ++i) {
        Dims pa(at.begin(), at.begin() + nb), pb = pa;
        pa.insert(pa.end(), {at[nb], i});
        pb.insert(pb.end(), {i, at[nb + 1]});
        sum += nd::Broadcast(a2, pa) * nd::Broadcast(b2, pb);
      }
      return sum;
    });
    if (vector_a) expected.shape.erase(expected.shape.end() - 2);
    if (vector_b) expected.shape.pop_back();
    ExpectEqual(ToTensor(a).Matmul(ToTensor(b)) + 0.0, nd::Map(expected, [](double x) { return x + 0.0; }));
    ExpectEqual(
        ToTensor(a, dtypes::kFloat16).Matmul(ToTensor(b, dtypes::kFloat16)).Cast(dtypes::kFloat32) + 0.0,
        nd::Map(expected, [](double x) { return x + 0.0; }));
  }
}

TEST(Values, SoftmaxFamily) {
  EACH_CASE(g) {
    SCOPED_TRACE(seed);
    const Dims s = g.Shape(1, 3, false);
    const int64_t axis = g.Int(0, static_cast<int64_t>(s.size()) - 1);
    std::vector<bool> marked(s.size());
    marked[axis] = true;
    const Array a = g.Reals(s, -20, 20);
    const Array top = nd::Reduce(a, marked, -1e9, [](double x, double y) { return std::max(x, y); });
    const Array e = nd::Zip(a, top, [](double x, double m) { return std::exp(x - m); });
    const Array sum = nd::Reduce(e, marked, 0, std::plus<>());
    ExpectEqual(ToTensor(a).Softmax(axis), nd::Zip(e, sum, std::divides<>()), 3e-6);
    ExpectEqual(
        ToTensor(a).LogSoftmax(axis),
        nd::Zip(nd::Zip(a, top, std::minus<>()), sum, [](double x, double y) { return x - std::log(y); }),
        3e-6);
  }
}

TEST(Values, LayerNorm) {
  EACH_CASE(g) {
    SCOPED_TRACE(seed);
    Dims s = g.Shape(1, 3, false);
    const int64_t axes = g.Int(1, static_cast<int64_t>(s.size()));
    std::vector<bool> marked(s.size());
    double n = 1;
    for (size_t i = s.size() - axes; i < s.size(); ++i) marked[i] = true, n *= static_cast<double>(s[i]);
    const Dims normal(s.end() - axes, s.end());
    const Array a = g.Reals(s, -3, 3), w = g.Reals(normal, -1, 1), b = g.Reals(normal, -1, 1);
    const Array mean = nd::Map(nd::Reduce(a, marked, 0, std::plus<>()), [&](double x) { return x / n; });
    const Array c = nd::Zip(a, mean, std::minus<>());
    const Array var =
        nd::Map(nd::Reduce(nd::Map(c, [](double x) { return x * x; }), marked, 0, std::plus<>()),
                [&](double x) { return x / n; });
    const Array y =
        nd::Zip(nd::Zip(nd::Zip(c, var, [](double x, double v) { return x / std::sqrt(v + 1e-5); }), w,
                        std::multiplies<>()),
                b, std::plus<>());
    const Tensor tw = ToTensor(w), tb = ToTensor(b);
    ExpectEqual(ToTensor(a).LayerNorm(axes, &tw, &tb), y, 1e-4);
  }
}

TEST(Values, Convolution) {
  EACH_CASE(g) {
    SCOPED_TRACE(seed);
    const int64_t groups = g.Int(1, 2), per = g.Int(1, 2), each = g.Int(1, 2), kh = g.Int(1, 3),
                  kw = g.Int(1, 3);
    Tensor::Conv2dOptions o;
    o.groups = groups;
    o.stride = {g.Int(1, 3), g.Int(1, 3)};
    o.dilation = {g.Int(1, 2), g.Int(1, 2)};
    o.padding = {g.Int(0, 2), g.Int(0, 2)};
    const int64_t h = o.dilation.first * (kh - 1) + 1 + g.Int(0, 4),
                  w = o.dilation.second * (kw - 1) + 1 + g.Int(0, 4);
    const Array x = g.Halves({g.Int(1, 2), per * groups, h, w}), k = g.Halves({each * groups, per, kh, kw}),
                bias = g.Halves({each * groups});
    const int64_t oh = (h + 2 * o.padding.first - o.dilation.first * (kh - 1) - 1) / o.stride.first + 1;
    const int64_t ow = (w + 2 * o.padding.second - o.dilation.second * (kw - 1) - 1) / o.stride.second + 1;
    const Array expected = nd::Make({x.shape[0], each * groups, oh, ow}, [&](const Dims& at) {
      double sum = 0;
      for (int64_t c = 0; c < per; ++c) {
        for (int64_t i = 0; i < kh; ++i) {
          for (int64_t j = 0; j < kw; ++j) {
            const int64_t r = at[2] * o.stride.first + i * o.dilation.first - o.padding.first;
            const int64_t q = at[3] * o.stride.second + j * o.dilation.second - o.padding.second;
            if (r < 0 || r >= h || q < 0 || q >= w) continue;
            sum += x.At({at[0], at[1] / each * per + c, r, q}) * k.At({at[1], c, i, j});
          }
        }
      }
      return sum + bias.v[at[1]] + 0.0;
    });
    const Tensor b = ToTensor(bias);
    ExpectEqual(ToTensor(x).Conv2d(ToTensor(k), &b, o) + 0.0, expected);
  }
}

TEST(Values, CrossEntropy) {
  const Array a{{2, 3}, {1, 2, 3, 0, -1, 1}};
  const Tensor target = Tensor::FromData<int32_t>({2, 0}, {2});
  const double l0 = std::log(std::exp(1.0) + std::exp(2.0) + std::exp(3.0)) - 3,
               l1 = std::log(1 + std::exp(-1.0) + std::exp(1.0));
  ExpectEqual(ToTensor(a).CrossEntropy(target), {{}, {(l0 + l1) / 2}}, 1e-6);
  ExpectEqual(ToTensor(a).CrossEntropy(Tensor::FromData<int32_t>({2, 3}, {2})), {{}, {NAN}});
}

TEST(Values, Creation) {
  ExpectEqual(Tensor::Arange(2, 11, 3), {{3}, {2, 5, 8}});
  ExpectEqual(Tensor::Arange(5, 0, -2, {dtypes::kInt16}), {{3}, {5, 3, 1}});
  ExpectEqual(Tensor::Linspace(0, 1, 5), {{5}, {0, 0.25, 0.5, 0.75, 1}});
  ExpectEqual(Tensor::Eye(2, 3), {{2, 3}, {1, 0, 0, 0, 1, 0}});
  ExpectEqual(Tensor::Full({2}, -0.0), {{2}, {-0.0, -0.0}});
  MiniEngine e;
  const auto u = *e.Values(Tensor::Uniform({4000}, 5)), n = *e.Values(Tensor::Normal({4000}, 5));
  double mean_u = 0, mean_n = 0, var_n = 0;
  for (int i = 0; i < 4000; ++i) {
    ASSERT_TRUE(u[i] >= 0 && u[i] < 1);
    mean_u += u[i] / 4000, mean_n += n[i] / 4000, var_n += n[i] * n[i] / 4000;
  }
  EXPECT_NEAR(mean_u, 0.5, 0.02);
  EXPECT_NEAR(mean_n, 0, 0.06);
  EXPECT_NEAR(var_n, 1, 0.08);
}

TEST(Values, CastsAndBitcasts) {
  const Tensor t = ToTensor({{6}, {1.75, -1.75, 300, -300, NAN, INFINITY}});
  ExpectEqual(t.Cast(dtypes::kInt8), {{6}, {1, -1, 127, -128, 0, 127}});
  ExpectEqual(t.Cast(dtypes::kBool), {{6}, {1, 1, 1, 1, 1, 1}});
  ExpectEqual(ToTensor({{2}, {1, -2}}).Bitcast(dtypes::kInt32), {{2}, {0x3f800000, -1073741824.0}});
  ExpectEqual(ToTensor({{2}, {300, -1}}, dtypes::kInt32).Cast(dtypes::kUInt8), {{2}, {44, 255}});
}

}  // namespace
}  // namespace understudy
