// SPDX-License-Identifier: Apache-2.0
// Views, padding and concatenation against plain loops: chains of random movement ops, alone and inside
// arithmetic and reductions. A failing seed reproduces the case.
#include "tests/src/tensor/value_check.h"

namespace understudy {
namespace {

// Random chains of movement ops, followed by the same on plain arrays.
TEST(Values, MovementChains) {
  for (uint64_t seed = 1; seed <= 400 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Gen g(seed);
    Array a =
        nd::Make(g.Shape(1, 4, false), [n = 0](const Dims&) mutable { return static_cast<double>(++n); });
    Tensor t = ToTensor(a);
    const int64_t steps = g.Int(1, 6);
    for (int64_t k = 0; k < steps; ++k) {
      const size_t rank = a.shape.size();
      const Array from = a;
      switch (g.Int(0, 6)) {
        case 0: {  // reshape: to a random factorisation
          Dims factors;
          int64_t n = nd::Count(a.shape);
          for (int64_t p = 2; p <= n;) {
            if (n % p == 0)
              factors.push_back(p), n /= p;
            else
              ++p;
          }
          Dims shape;
          for (const int64_t f : factors) {
            if (!shape.empty() && g.Chance(0.5))
              shape.back() *= f;
            else
              shape.insert(shape.begin() + g.Int(0, static_cast<int64_t>(shape.size())), f);
          }
          if (nd::Count(a.shape) == 0) shape = {0, 3};
          if (g.Chance(0.3)) shape.insert(shape.begin() + g.Int(0, static_cast<int64_t>(shape.size())), 1);
          t = t.Reshape(shape);
          a.shape = shape;
          break;
        }
        case 1: {
          Dims perm(rank);
          for (size_t i = 0; i < rank; ++i) perm[i] = static_cast<int64_t>(i);
          for (size_t i = rank; i > 1; --i)
            std::swap(perm[i - 1], perm[g.Int(0, static_cast<int64_t>(i) - 1)]);
          t = t.Permute(perm);
          Dims shape;
          for (const int64_t p : perm) shape.push_back(from.shape[p]);
          a = nd::Make(shape, [&](const Dims& at) {
            Dims src(rank);
            for (size_t i = 0; i < rank; ++i) src[perm[i]] = at[i];
            return from.At(src);
          });
          break;
        }
        case 2: {
          Dims shape = a.shape;
          for (int64_t& d : shape) d = d == 1 ? g.Int(1, 3) : d;
          if (g.Chance(0.3)) shape.insert(shape.begin(), g.Int(1, 2));
          t = t.Expand(shape);
          a = nd::Make(shape, [&](const Dims& at) { return nd::Broadcast(from, at); });
          break;
        }
        case 3: {
          std::vector<std::pair<int64_t, int64_t>> pad;
          Dims shape = a.shape;
          for (size_t i = 0; i < rank; ++i) {
            pad.push_back({g.Int(-1, 2), g.Int(-1, 2)});
            if (shape[i] + std::min<int64_t>(0, pad[i].first) + std::min<int64_t>(0, pad[i].second) < 0)
              pad[i] = {0, 0};
            shape[i] += pad[i].first + pad[i].second;
          }
          const double fill = g.Chance(0.5) ? 0 : -7;
          t = t.Pad(pad, fill);
          a = nd::Make(shape, [&](const Dims& at) {
            Dims src(rank);
            for (size_t i = 0; i < rank; ++i) {
              src[i] = at[i] - pad[i].first;
              // what a negative amount cut away is not there to be padded with
              if (src[i] < std::max<int64_t>(0, -pad[i].first) ||
                  src[i] >= from.shape[i] - std::max<int64_t>(0, -pad[i].second))
                return fill;
            }
            return from.At(src);
          });
          break;
        }
        case 4: {
          Dims axes;
          for (size_t i = 0; i < rank; ++i) {
            if (g.Chance(0.5)) axes.push_back(static_cast<int64_t>(i));
          }
          t = t.Flip(axes);
          a = nd::Make(a.shape, [&](const Dims& at) {
            Dims src = at;
            for (const int64_t x : axes) src[x] = from.shape[x] - 1 - at[x];
            return from.At(src);
          });
          break;
        }
        default: {  // slices with any step, integers
          std::vector<IndexItem> items;
          Dims shape;
          std::vector<std::vector<int64_t>> picks;  // per source axis
          std::vector<bool> kept;
          for (size_t i = 0; i < rank; ++i) {
            const int64_t n = from.shape[i];
            if (n > 0 && g.Chance(0.2)) {
              const int64_t at = g.Int(-n, n - 1);
              items.push_back(at);
              picks.push_back({at < 0 ? at + n : at});
              kept.push_back(false);
              continue;
            }
            Slice s;
            if (g.Chance(0.7)) s.start = g.Int(-n - 1, n + 1);
            if (g.Chance(0.7)) s.stop = g.Int(-n - 1, n + 1);
            s.step = g.Chance(0.4) ? 1 : g.Int(1, 3) * (g.Chance(0.5) ? 1 : -1);
            items.push_back(s);
            // Python's definition, element by element.
            std::vector<int64_t> p;
            const auto wrap = [&](int64_t x) { return x < 0 ? x + n : x; };
            if (s.step > 0) {
              const int64_t b = s.start ? std::clamp<int64_t>(wrap(*s.start), 0, n) : 0,
                            e = s.stop ? std::clamp<int64_t>(wrap(*s.stop), 0, n) : n;
              for (int64_t x = b; x < e; x += s.step) p.push_back(x);
            } else {
              const int64_t b = s.start ? std::clamp<int64_t>(wrap(*s.start), -1, n - 1) : n - 1,
                            e = s.stop ? std::clamp<int64_t>(wrap(*s.stop), -1, n - 1) : -1;
              for (int64_t x = b; x > e; x += s.step) p.push_back(x);
            }
            shape.push_back(static_cast<int64_t>(p.size()));
            picks.push_back(p);
            kept.push_back(true);
          }
          t = t.Index(items);
          a = nd::Make(shape, [&](const Dims& at) {
            Dims src;
            size_t next = 0;
            for (size_t i = 0; i < rank; ++i) src.push_back(picks[i][kept[i] ? at[next++] : 0]);
            return from.At(src);
          });
        }
      }
      ASSERT_TRUE(t.ok()) << t.status();
      ASSERT_EQ(t.shape(), a.shape) << "step " << k;
    }
    // Alone, inside arithmetic (so that padding must not leak into it), and reduced.
    ExpectEqual(t, a);
    ExpectEqual((t + 1.0) * 2.0, nd::Map(a, [](double x) { return (x + 1) * 2; }));
    ExpectEqual(
        t.Sum().Reshape({1}),
        nd::Array{{1}, {nd::Reduce(a, std::vector<bool>(a.shape.size(), true), 0, std::plus<>()).v[0]}});
  }
}

TEST(Values, PaddingAfterArithmeticIsZero) {
  const double inf = INFINITY;
  const Tensor t = ToTensor({{2}, {0, 1}});
  ExpectEqual((1.0 / t).Pad({{1, 1}}), {{4}, {0, inf, 1, 0}});
  ExpectEqual((t + 1.0).Pad({{1, 0}}).Sum(), {{}, {3}});
  ExpectEqual((t.Log()).Pad({{2, 0}}, -inf), {{4}, {-inf, -inf, -inf, 0}});
  ExpectEqual(ToTensor({{1}, {5}}).Pad({{1, 1}}, NAN), {{3}, {NAN, 5, NAN}});
  ExpectEqual(ToTensor({{1}, {5}}).Pad({{1, 1}}, -0.0), {{3}, {-0.0, 5, -0.0}});
}

TEST(Values, CatAndStackMoveValuesExactly) {
  const double inf = INFINITY;
  const Tensor a = ToTensor({{3}, {-0.0, NAN, inf}}), b = ToTensor({{2}, {-inf, -0.0}});
  ExpectEqual(Cat({a, b}), {{5}, {-0.0, NAN, inf, -inf, -0.0}});
  ExpectEqual(Cat({a, b.Flip({0}), a}), {{8}, {-0.0, NAN, inf, -0.0, -inf, -0.0, NAN, inf}});
  ExpectEqual(Stack({a, a.Neg()}, 1), {{3, 2}, {-0.0, 0.0, NAN, NAN, inf, -inf}});
  EACH_CASE(g) {
    SCOPED_TRACE(seed);
    Dims s = g.Shape(1, 3, false);
    const int64_t axis = g.Int(0, static_cast<int64_t>(s.size()) - 1);
    std::vector<Array> parts;
    std::vector<Tensor> tensors;
    const int64_t count = g.Int(1, 5);
    int64_t total = 0;
    for (int64_t i = 0; i < count; ++i) {
      s[axis] = g.Int(0, 3);
      total += s[axis];
      parts.push_back(g.Halves(s));
      tensors.push_back(ToTensor(parts.back()));
    }
    s[axis] = total;
    ExpectEqual(Cat(tensors, axis), nd::Make(s, [&](const Dims& at) {
                  Dims src = at;
                  for (const Array& p : parts) {
                    if (src[axis] < p.shape[axis]) return p.At(src);
                    src[axis] -= p.shape[axis];
                  }
                  return std::nan("");
                }));
  }
}

}  // namespace
}  // namespace understudy
