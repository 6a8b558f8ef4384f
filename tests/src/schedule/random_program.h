// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random programs over small integer tensors: shared values, views, reductions, wrappers and assignments,
// each value beside the same value on plain arrays. For tests of the scheduler and of devices; a program is
// its seed.

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "src/tensor/tensor.h"
#include "tests/src/tensor/nd.h"

namespace understudy::random_program {

using nd::Array;
using nd::Dims;

inline double Wrap(double x) { return static_cast<double>(static_cast<int32_t>(static_cast<int64_t>(x))); }

inline constexpr size_t kNone = SIZE_MAX;

struct Value {
  Tensor t;
  Array a;
  // Of a view: the value that it is a view of, which is none itself, and where its elements lie there.
  size_t of = kNone;
  std::vector<size_t> at = {};
};

// What an op that only moves elements does with them.
inline Array Moved(int64_t kind, const Array& x) {
  Dims s = x.shape;
  const size_t rank = s.size();
  switch (kind) {
    case 7:
      std::swap(s[rank - 1], s[rank - 2]);
      return nd::Make(s, [&](Dims at) {
        std::swap(at[rank - 1], at[rank - 2]);
        return x.At(at);
      });
    case 8:
      return nd::Make(s, [&](Dims at) {
        at[0] = s[0] - 1 - at[0];
        return x.At(at);
      });
    case 10:
      --s[0];
      return nd::Make(s, [&](Dims at) {
        ++at[0];
        return x.At(at);
      });
    case 11:
      return {{nd::Count(s)}, x.v};
    default:
      return x;
  }
}

class Program {
 public:
  explicit Program(uint64_t seed, std::string device = "CPU") : device_(std::move(device)), rng_(seed) {
    for (int i = 0; i < 3; ++i) AddLeaf();
  }

  int64_t Int(int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(rng_); }
  bool Chance(double p) { return std::uniform_real_distribution<double>(0, 1)(rng_) < p; }
  // Later values more often, so that graphs get deep.
  size_t AnyIndex() {
    return static_cast<size_t>(std::max(Int(0, static_cast<int64_t>(values.size()) - 1),
                                        Int(0, static_cast<int64_t>(values.size()) - 1)));
  }
  Value& Any() { return values[AnyIndex()]; }

  void AddLeaf() {
    static const Dims kShapes[] = {{4, 3}, {3}, {4, 1}, {2, 6}, {1}, {3, 4}, {2, 2, 3}};
    Array a = nd::Make(kShapes[Int(0, 6)], [&](const Dims&) { return static_cast<double>(Int(-9, 9)); });
    std::vector<int32_t> data(a.v.begin(), a.v.end());
    leaves.push_back(values.size());
    values.push_back({Tensor::FromData<int32_t>(data, a.shape, device_), a});
    log << "v" << values.size() - 1 << " = leaf\n";
  }

  void Step() {
    const size_t from_index = AnyIndex();
    const Value x = values[from_index];
    const size_t rank = x.a.shape.size();
    Value out;
    const int64_t kind = Int(0, 14);
    switch (kind) {
      case 0:
      case 1:
      case 2:
      case 3: {
        Value y;
        bool fits = false;
        for (int tries = 0; tries < 8 && !fits; ++tries) {
          y = Any();
          fits = true;
          for (size_t i = 0; i < std::min(rank, y.a.shape.size()); ++i) {
            const int64_t p = x.a.shape[rank - 1 - i], q = y.a.shape[y.a.shape.size() - 1 - i];
            fits &= p == q || p == 1 || q == 1;
          }
        }
        if (!fits) return;
        if (kind == 0) out = {x.t + y.t, nd::Zip(x.a, y.a, [](double p, double q) { return Wrap(p + q); })};
        if (kind == 1)
          out = {x.t * y.t, nd::Zip(x.a, y.a, [](double p, double q) {
                   return Wrap(static_cast<double>(
                       static_cast<int64_t>(static_cast<uint64_t>(static_cast<int64_t>(p)) *
                                                static_cast<uint64_t>(static_cast<int64_t>(q)) &
                                            0xffffffff)));
                 })};
        if (kind == 2)
          out = {x.t.Maximum(y.t), nd::Zip(x.a, y.a, [](double p, double q) { return std::max(p, q); })};
        if (kind == 3)
          out = {Where(x.t.Lt(y.t), x.t, y.t - 1),
                 nd::Zip(x.a, y.a, [](double p, double q) { return p < q ? p : Wrap(q - 1); })};
        break;
      }
      case 4:
      case 5: {
        if (rank == 0) return;
        std::vector<bool> marked(rank);
        std::vector<int64_t> axes;
        for (size_t i = 0; i < rank; ++i) {
          if (Chance(0.5)) marked[i] = true, axes.push_back(static_cast<int64_t>(i));
        }
        if (axes.empty()) marked[0] = true, axes = {0};
        if (kind == 4)
          out = {x.t.Sum(axes, true).Cast(dtypes::kInt32),
                 nd::Reduce(x.a, marked, 0, [](double p, double q) { return Wrap(p + q); })};
        else if (nd::Count(x.a.shape) == 0)
          return;
        else
          out = {x.t.Max(axes, true),
                 nd::Reduce(x.a, marked, -3e9, [](double p, double q) { return std::max(p, q); })};
        break;
      }
      case 6: {
        Dims s = x.a.shape;
        for (int64_t& d : s) {
          if (d == 1) d = Int(1, 3);
        }
        out = {x.t.Expand(s), nd::Make(s, [&](const Dims& at) { return nd::Broadcast(x.a, at); })};
        break;
      }
      case 7:
        if (rank < 2) return;
        out = {x.t.Transpose(), Moved(kind, x.a)};
        break;
      case 8:
        if (rank == 0) return;
        out = {x.t.Flip({0}), Moved(kind, x.a)};
        break;
      case 9: {
        if (rank == 0) return;
        Dims s = x.a.shape;
        const int64_t lo = Int(0, 1), hi = Int(0, 1);
        s[0] += lo + hi;
        std::vector<std::pair<int64_t, int64_t>> pad(rank, {0, 0});
        pad[0] = {lo, hi};
        out = {x.t.Pad(pad), nd::Make(s, [&](Dims at) {
                 at[0] -= lo;
                 return at[0] < 0 || at[0] >= x.a.shape[0] ? 0 : x.a.At(at);
               })};
        break;
      }
      case 10: {
        if (rank == 0 || x.a.shape[0] < 2) return;
        std::vector<std::pair<int64_t, int64_t>> cut;
        for (const int64_t d : x.a.shape) cut.push_back({0, d});
        cut[0].first = 1;
        out = {x.t.Shrink(cut), Moved(kind, x.a)};
        break;
      }
      case 11:
        out = {x.t.Reshape({nd::Count(x.a.shape)}), Moved(kind, x.a)};
        break;
      case 12:
        out = {x.t.Contiguous(), x.a};
        break;
      case 13:
        out = {Chance(0.5) ? x.t.Detach() : x.t.Clone(), x.a};
        break;
      default: {  // write a value over another's storage: what was computed before keeps the old contents
        const size_t to = Chance(0.5) ? leaves[Int(0, static_cast<int64_t>(leaves.size()) - 1)] : from_index;
        Value& target = values[to];
        std::vector<size_t> same;
        for (size_t i = 0; i < values.size(); ++i) {
          if (values[i].a.shape == target.a.shape) same.push_back(i);
        }
        const size_t from = same[Int(0, static_cast<int64_t>(same.size()) - 1)];
        const Value v = values[from];
        target.t.Assign(v.t);
        const size_t base = target.of == kNone ? to : target.of;
        for (size_t i = 0; i < v.a.v.size(); ++i)
          values[base].a.v[target.of == kNone ? i : target.at[i]] = v.a.v[i];
        for (Value& view : values) {
          if (view.of != base) continue;
          for (size_t i = 0; i < view.at.size(); ++i) view.a.v[i] = values[base].a.v[view.at[i]];
        }
        log << "v" << to << " := v" << from << "\n";
        return;
      }
    }
    if (nd::Count(out.a.shape) > 200) return;
    // An op that changes nothing gives the tensor itself.
    const bool view = kind == 7 || kind == 8 || kind == 10 || kind == 11 || out.t.uop() == x.t.uop() ||
                      (kind == 13 && out.t.uop()->op() == Op::kDetach);
    if (view) {
      // Where each element lies: the same movement of the places.
      const bool nested = x.of != kNone;
      out.of = nested ? x.of : from_index;
      Array places = x.a;
      for (size_t i = 0; i < places.v.size(); ++i) places.v[i] = static_cast<double>(nested ? x.at[i] : i);
      for (const double v : Moved(kind, places).v) out.at.push_back(static_cast<size_t>(v));
    }
    values.push_back(out);
    log << "v" << values.size() - 1 << " = op " << kind << " of v" << Find(x) << (view ? " (view)" : "")
        << "\n";
  }

  size_t Find(const Value& x) const {
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].t.uop() == x.t.uop()) return i;
    }
    return values.size();
  }

  std::vector<Value> values;
  std::vector<size_t> leaves;
  std::ostringstream log;

 private:
  std::string device_;
  std::mt19937_64 rng_;
};

}  // namespace understudy::random_program
