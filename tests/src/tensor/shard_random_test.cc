// SPDX-License-Identifier: Apache-2.0
// Random programs over spread tensors: integer tensors of random shapes are made, viewed, combined, reduced,
// assigned to and realised at random, once on one device and once spread over several, with random
// shardings. Every bit must agree.
#include <random>

#include "src/tensor/elementwise_ops.h"
#include "src/tensor/movement_ops.h"
#include "tests/src/tensor/shard_devices.h"

namespace understudy {
namespace {

struct Both {
  Tensor one, many;
};

class Program {
 public:
  Program(ShardDevices& d, uint64_t seed, size_t devices) : d_(d), rng_(seed), devices_(d.First(devices)) {
    // The group's order is not that of the names.
    std::shuffle(devices_.begin(), devices_.end(), rng_);
  }

  void Run(int steps) {
    for (int i = 0; i < 3; ++i) pool_.push_back(Fresh(RandomShape()));
    for (int i = 0; i < steps; ++i) {
      Both next = Step();
      if (!next.one.ok() || next.one.numel() > 400) continue;
      ASSERT_TRUE(next.many.ok()) << next.many.status();
      // Small again, so that nothing overflows into what no longer tells mistakes apart.
      if (Chance(0.5)) next = {next.one.Mod(97), next.many.Mod(97)};
      if (Chance(0.2)) {
        ASSERT_TRUE(d_.Realize({next.many}).ok()) << trace_;
      }
      pool_.push_back(next);
      if (pool_.size() > 8) pool_.erase(pool_.begin() + Int(0, 7));
    }
    for (const Both& b : pool_) ASSERT_NO_FATAL_FAILURE(ExpectSame(d_, b.many, b.one)) << trace_;
  }

 private:
  int64_t Int(int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(rng_); }
  bool Chance(double p) { return std::uniform_real_distribution<double>(0, 1)(rng_) < p; }
  Shape RandomShape() {
    static constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 6, 7};
    Shape s(static_cast<size_t>(Int(1, 3)));
    for (int64_t& n : s) n = kSizes[Int(0, 6)];
    return s;
  }
  Tensor Spread(const Tensor& x) {
    if (x.ndim() == 0 || Chance(0.2)) return Replicate(x, devices_);
    return Shard(x, devices_, Int(0, x.ndim() - 1));
  }
  Both Fresh(const Shape& shape) {
    const Tensor x = d_.Whole(shape, static_cast<int>(Int(1, 1000)), dtypes::kInt32);
    return {x, Spread(x)};
  }
  const Both& Any() { return pool_[static_cast<size_t>(Int(0, static_cast<int64_t>(pool_.size()) - 1))]; }

  Both Step() {
    const Both x = Any();
    const int64_t rank = x.one.ndim(), axis = rank > 0 ? Int(0, rank - 1) : 0;
    const auto both = [&](const char* name, const auto& f) {
      absl::StrAppend(&trace_, name, " ");
      return Both{f(x.one), f(x.many)};
    };
    // A partner of the same shape, sharded in a way of its own.
    const auto with = [&](const char* name, const auto& f) {
      absl::StrAppend(&trace_, name, " ");
      for (const Both& y : pool_) {
        if (y.one.shape() == x.one.shape() && Chance(0.5)) return Both{f(x.one, y.one), f(x.many, y.many)};
      }
      const Both y = Fresh(x.one.shape());
      return Both{f(x.one, y.one), f(x.many, y.many)};
    };
    using T = const Tensor&;
    switch (Int(0, 19)) {
      case 0:
        return with("add", [](T a, T b) { return a + b; });
      case 1:
        return with("mul", [](T a, T b) { return a * b; });
      case 2:
        return with("where", [](T a, T b) { return Where(a.Lt(b), a, b * 2); });
      case 3:
        return both("not", [](T a) { return a.BitwiseNot(); });
      case 4:
        return both("flip", [&](T a) { return rank > 0 ? a.Flip({axis}) : a; });
      case 5: {
        std::vector<int64_t> perm(static_cast<size_t>(rank));
        for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
        std::shuffle(perm.begin(), perm.end(), rng_);
        return both("permute", [&](T a) { return a.Permute(perm); });
      }
      case 6: {
        std::vector<std::pair<int64_t, int64_t>> bounds;
        for (const int64_t n : x.one.shape()) {
          const int64_t lo = Int(0, n - 1);
          bounds.emplace_back(lo, Int(lo + 1, n));
        }
        return both("shrink", [&](T a) { return a.Shrink(bounds); });
      }
      case 7: {
        std::vector<std::pair<int64_t, int64_t>> pad;
        for (int64_t i = 0; i < rank; ++i) pad.emplace_back(Int(0, 2), Int(0, 2));
        return both("pad", [&](T a) { return a.Pad(pad, 3); });
      }
      case 8: {
        // Axes merged, and one split where it can be.
        Shape s = x.one.shape();
        if (s.size() > 1 && Chance(0.5)) {
          const auto i = static_cast<size_t>(Int(0, rank - 2));
          s[i] *= s[i + 1];
          s.erase(s.begin() + static_cast<int>(i) + 1);
        } else if (!s.empty()) {
          const auto i = static_cast<size_t>(axis);
          for (const int64_t k : {2, 3, 1}) {
            if (s[i] % k != 0) continue;
            s[i] /= k;
            s.insert(s.begin() + static_cast<int>(i) + (Chance(0.5) ? 1 : 0), k);
            break;
          }
        }
        return both("reshape", [&](T a) { return a.Reshape(s); });
      }
      case 9: {
        Shape s = x.one.shape();
        const auto i = static_cast<size_t>(Int(0, rank));
        const int64_t k = Int(2, 3);
        s.insert(s.begin() + static_cast<int>(i), 1);
        Shape wide = s;
        wide[i] = k;
        return both("expand", [&](T a) { return a.Reshape(s).Expand(wide); });
      }
      case 10:
        return both("sum", [&](T a) {
          return a.Sum(rank > 0 ? std::vector<int64_t>{axis} : std::vector<int64_t>{}).Cast(dtypes::kInt32);
        });
      case 11:
        return both("max", [&](T a) { return rank > 0 ? a.Max({axis}, true) : a; });
      case 12:
        return both("all", [&](T a) { return a - a.Min(); });
      case 13:
        return both("matmul", [&](T a) { return rank == 2 ? a.Transpose().Matmul(a) : a * 3; });
      case 14:
        return both("cat", [&](T a) { return rank > 0 ? Cat({a, a + 1}, axis) : a; });
      case 15:
        return both("contiguous", [&](T a) { return Chance(0.5) ? a.Contiguous() : a; });
      case 16:
        return both("clone", [](T a) { return a.Clone() + 1; });
      case 17: {
        absl::StrAppend(&trace_, "again ");
        return {x.one, Spread(x.many)};
      }
      case 18: {
        absl::StrAppend(&trace_, "gather ");
        return {x.one, Spread(Unshard(x.many, "REF:3"))};
      }
      default: {
        // Storage of its own, part of which is written.
        absl::StrAppend(&trace_, "assign ");
        Both y{x.one.Clone(), x.many.Clone()};
        if (Chance(0.5)) {
          EXPECT_TRUE(d_.Realize({y.many}).ok());
        }
        std::vector<IndexItem> part;
        for (const int64_t n : x.one.shape()) {
          const int64_t lo = Int(0, n - 1);
          part.push_back(Slice{lo, Int(lo + 1, n)});
        }
        const Both v{x.one.Index(part), x.many.Index(part)};
        y.one.AssignIndex(part, v.one * 5);
        y.many.AssignIndex(part, v.many * 5);
        return y;
      }
    }
  }

  ShardDevices& d_;
  std::mt19937_64 rng_;
  std::vector<std::string> devices_;
  std::vector<Both> pool_;
  std::string trace_;
};

TEST(ShardRandom, ProgramsGiveTheBitsOfOneDevice) {
  ShardDevices d;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ASSERT_NO_FATAL_FAILURE(Program(d, seed, 2 + seed % 3).Run(12));
  }
}

}  // namespace
}  // namespace understudy
