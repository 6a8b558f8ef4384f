// SPDX-License-Identifier: Apache-2.0
// Random graphs over a variable size, their gradients among them, against the same graphs with constant
// sizes. VARIABLE_GRAPHS=first,count in the environment runs other seeds.
#include <cstdio>
#include <cstdlib>
#include <random>

#include "src/tensor/movement_ops.h"
#include "tests/src/schedule/variable_check.h"

namespace understudy {
namespace {

class VariableRandomTest : public VariableTest {};
UNDERSTUDY_STORAGE_DEVICES(VariableRandomTest);

// One graph a seed. What is drawn depends on the seed alone, never on a size that is variable.
class Grower {
 public:
  // `least`: of the size; decisions must not depend on whether it is variable.
  Grower(uint64_t seed, const Size& n, int64_t least, const std::function<Tensor(const Shape&, int)>& numbers)
      : random_(seed), n_(n) {
    // {room, 3} and {2, room}: cut to the size.
    const Tensor a = numbers({6, 3}, 1), b = numbers({2, 6}, 2);
    leaves_ = {a, b};
    Add(Narrow(a, 0, 1, n), 0, {0, 3}, n, least);
    Add(Narrow(b, 1, 0, n), 1, {2, 0}, n, least);
  }

  Tensor Grow(int steps) {
    for (int i = 0; i < steps; ++i) Step();
    return pool_.back().t;
  }
  const std::vector<Tensor>& leaves() const { return leaves_; }
  const std::string& log() const { return log_; }

 private:
  struct Value {
    Tensor t;
    int axis;     // of variable size
    Shape fixed;  // 0 at the axis
    Size size;
    int64_t least;
  };
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  void Add(const Tensor& t, int axis, Shape fixed, const Size& size, int64_t least) {
    pool_.push_back({t, axis, std::move(fixed), size, least});
  }

  void Step() {
    const Value v = pool_[pool_.size() - 1 -
                          static_cast<size_t>(Below(std::min<int>(3, static_cast<int>(pool_.size()))))];
    const int rank = static_cast<int>(v.fixed.size());
    const int any = Below(rank), op = Below(15);
    int64_t elements = 16;
    for (const int64_t d : v.fixed) elements *= d == 0 ? 1 : d;
    const bool small = elements < 2000;
    log_ += std::to_string(op) + " ";
    const auto same = [&](const Tensor& t) { Add(t, v.axis, v.fixed, v.size, v.least); };
    switch (op) {
      case 0:
        return same((v.t * 2 - 1).Maximum(-6).Minimum(6));
      case 1:
        return same((v.t + v.t.Flip({any})).Relu());
      case 2:
        return same(v.t - v.t.Max({any}, true));
      case 3:
        return same(v.t + v.t.Min({v.axis}, true) * 0.5);
      case 4:
        return same(v.t * v.t.Sum({any}, true).Gt(0).Cast(dtypes::kFloat32));
      case 5: {
        const int other = Below(rank);
        Shape fixed = v.fixed;
        std::swap(fixed[any], fixed[other]);
        return Add(v.t.Transpose(any, other),
                   v.axis == any     ? other
                   : v.axis == other ? any
                                     : v.axis,
                   fixed, v.size, v.least);
      }
      case 6: {
        if (!small) return;
        std::vector<std::pair<int64_t, int64_t>> amounts(rank, {0, 0});
        amounts[any] = {Below(3), Below(2)};
        const int64_t more = amounts[any].first + amounts[any].second;
        Shape fixed = v.fixed;
        if (any != v.axis) fixed[any] += more;
        return Add(v.t.Pad(amounts, Below(2) * 2.5), v.axis, fixed, any == v.axis ? v.size + more : v.size,
                   any == v.axis ? v.least + more : v.least);
      }
      case 7: {
        if (v.axis + 1 >= rank) return;
        const int64_t inner = v.fixed[v.axis + 1];
        Shape fixed = v.fixed, shape = v.t.shape();
        fixed.erase(fixed.begin() + v.axis + 1);
        shape.erase(shape.begin() + v.axis + 1);
        shape[v.axis] *= inner;
        return Add(v.t.Reshape(shape), v.axis, fixed, v.size * inner, v.least * inner);
      }
      case 8:
        if (!small) return;
        return Add(Cat({v.t, v.t * 0.5}, v.axis), v.axis, v.fixed, v.size * 2, v.least * 2);
      case 9: {
        if (!small || any == v.axis) return;
        Shape fixed = v.fixed;
        fixed[any] *= 2;
        return Add(Cat({v.t, -v.t}, any), v.axis, fixed, v.size, v.least);
      }
      case 10:
        if (v.least < 2) return;
        return Add(Narrow(v.t, v.axis, 1, v.size - 1), v.axis, v.fixed, v.size - 1, v.least - 1);
      case 11: {
        if (rank > 3) return;
        Shape fixed = v.fixed;
        fixed.insert(fixed.begin() + any, 1);
        return Add(v.t.Unsqueeze(any), v.axis + (any <= v.axis), fixed, v.size, v.least);
      }
      case 12: {
        if (rank != 2 || !small) return;
        // Contracts one axis and has the other twice.
        const Tensor t = v.t.Maximum(-3).Minimum(3);
        if (v.axis == 0) {
          const Tensor p = t.Transpose(0, 1).Matmul(t);  // {d, d}
          return Add((t.Matmul(p)).Maximum(-6).Minimum(6), 0, v.fixed, v.size, v.least);
        }
        return Add(t.Matmul(t.Transpose(0, 1)).Matmul(t).Maximum(-6).Minimum(6), 1, v.fixed, v.size, v.least);
      }
      case 13: {
        Shape along(rank, 1);
        along[v.axis] = v.t.shape()[v.axis];
        const Tensor position = Arange(v.size, {dtypes::kInt64, v.t.device()}).Reshape(along);
        return same(Where(position.Lt(2), v.t, 1.5));
      }
      default:
        return same((v.t.Contiguous() + v.size.AsTensor(dtypes::kFloat32, v.t.device())) * 0.5);
    }
  }

  std::mt19937_64 random_;
  const Size n_;
  std::vector<Tensor> leaves_;
  std::vector<Value> pool_;
  std::string log_;
};

TEST_P(VariableRandomTest, EqualConstantSizes) {
  const std::string kind = GetParam();
  uint64_t first = 1, count = kind == "REF" ? 150 : 12;
  if (const char* env = std::getenv("VARIABLE_GRAPHS")) {
    unsigned long a = 0, b = 0;  // NOLINT: what %lu takes
    if (std::sscanf(env, "%lu,%lu", &a, &b) == 2) first = a, count = b;
  }
  const auto numbers = [&](const Shape& shape, int seed) { return Numbers(shape, seed); };
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const int steps = 3 + static_cast<int>(seed % 9);
    Grower log(seed, Size(3), 1, numbers);
    log.Grow(steps);
    SameAsConstant("seed " + std::to_string(seed) + " ops " + log.log(), 1, kind == "REF" ? 5 : 3,
                   [&](const Size& n) { return Grower(seed, n, 1, numbers).Grow(steps); });
  }
}

TEST_P(VariableRandomTest, GradientsEqualThoseOfConstantSizes) {
  const std::string kind = GetParam();
  const uint64_t count = kind == "REF" ? 60 : 5;
  const auto numbers = [&](const Shape& shape, int seed) { return Numbers(shape, seed); };
  for (uint64_t seed = 1; seed <= count && !HasFailure(); ++seed) {
    const int steps = 2 + static_cast<int>(seed % 6);
    for (const int leaf : {0, 1}) {
      const auto gradient = [&](const Size& n) {
        Grower g(seed, n, 2, numbers);
        const Tensor y = g.Grow(steps);
        const Tensor loss = (y * y).Sum() + g.leaves()[0].Sum() * 0 + g.leaves()[1].Sum() * 0;
        return Gradients(loss, {g.leaves()[leaf]})[0];
      };
      Grower log(seed, Size(3), 2, numbers);
      log.Grow(steps);
      const Variable n("n", 2, 4);
      for (const int64_t v : {2, 4}) {
        const std::vector<float> want = Get(gradient(Size(v))), got = Get(gradient(n.Bind(v)));
        ASSERT_EQ(got.size(), want.size());
        for (size_t i = 0; i < want.size(); ++i) {
          // Sums over what was expanded may be taken in another order.
          const float near = 1e-4f * std::max(1.0f, std::abs(want[i]));
          ASSERT_TRUE(std::abs(got[i] - want[i]) <= near || (std::isnan(got[i]) && std::isnan(want[i])))
              << "seed " << seed << " leaf " << leaf << " n " << v << " element " << i << ": " << got[i]
              << ", expected " << want[i] << " ops " << log.log();
        }
      }
    }
  }
}

}  // namespace
}  // namespace understudy
