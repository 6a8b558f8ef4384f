// SPDX-License-Identifier: Apache-2.0
// Differential: every Tensor operation, every element type that it takes, random shapes: CPU and the mock AMD
// device against REF. Bit for bit where arithmetic is exact or correctly rounded, within the case's bound
// elsewhere.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>

#include "gtest/gtest.h"
#include "src/base/float_format.h"
#include "tests/e2e/bench_of_devices.h"
#include "tests/e2e/op_cases.h"

namespace understudy {
namespace {

double Epsilon(DType t) { return std::ldexp(1.0, -FormatOf(t).man_bits); }

// Distance in units in the last place of b's binade.
double UlpsApart(double a, double b, DType t) {
  if (a == b) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return INFINITY;
  const FloatFormat& f = FormatOf(t);
  const int e = std::max(b == 0 ? INT32_MIN : std::ilogb(b), 1 - f.bias);
  return std::abs(a - b) / std::ldexp(1.0, e - f.man_bits);
}

struct Differ {
  double worst = 0;
  std::string first;  // of those beyond the bound
};

Differ Compare(const std::vector<uint8_t>& got, const std::vector<uint8_t>& want, DType t,
               Tolerance tolerance) {
  Differ d;
  const int width = t.ScalarBytes();
  for (size_t i = 0; i * width < want.size(); ++i) {
    uint64_t g = 0, w = 0;
    std::memcpy(&g, &got[i * width], width);
    std::memcpy(&w, &want[i * width], width);
    if (g == w) continue;
    const ConstValue gv = FromBits(t, g), wv = FromBits(t, w);
    bool fine = false;
    if (t.IsFloat()) {
      const double a = std::get<double>(gv), b = std::get<double>(wv);
      if (std::isnan(a) && std::isnan(b)) continue;
      if (tolerance.kind == Tolerance::Kind::kUlp) {
        const double u = UlpsApart(a, b, t);
        fine = u <= tolerance.amount;
        d.worst = std::max(d.worst, u);
      } else if (tolerance.kind == Tolerance::Kind::kAbsolute) {
        const double u = std::abs(a - b) / (Epsilon(t) * std::max(1.0, std::abs(b)));
        fine = u <= tolerance.amount;
        d.worst = std::max(d.worst, std::isnan(u) ? INFINITY : u);
      }
    }
    if (!fine && d.first.empty()) {
      d.first = "element " + std::to_string(i) + ": " + ConstText(t, gv) + ", REF has " + ConstText(t, wv);
    }
  }
  return d;
}

class Runner {
 public:
  void Run(const std::vector<OpCase>& table) {
    for (const OpCase& c : table) {
      double worst = 0;
      for (const DType t : TypesOf(c.types)) {
        const int repeats = t == dtypes::kFloat32 || t == dtypes::kInt32 ? 3 : 1;
        for (int r = 0; r < repeats; ++r)
          worst = std::max(worst, One(c, t, 1000003 * (r + 1) + static_cast<int>(t.scalar)));
      }
      if (c.tolerance.kind != Tolerance::Kind::kExact)
        std::cout << c.name << ": largest difference " << worst << " of " << c.tolerance.amount << "\n";
    }
    std::cout << cases_ << " cases on each device\n";
    const McCheckedDevice& mc = bench_.mc_checked();
    std::cout << mc.code_objects() << " code objects, " << mc.instructions()
              << " instructions compared with LLVM MC\n";
    EXPECT_GT(mc.instructions(), 0);
    for (const std::string& d : mc.differences()) ADD_FAILURE() << "LLVM MC: " << d;
  }

 private:
  absl::StatusOr<std::vector<uint8_t>> On(const std::string& device, const OpCase& c, DType t, uint64_t seed,
                                          DType* type) {
    CaseGen g(seed, t, device);
    Tensor result = c.make(g);
    *type = result.dtype();
    return bench_.engine().Bytes(result);
  }

  double One(const OpCase& c, DType t, uint64_t seed) {
    ++cases_;
    DType type;
    const auto want = On("REF", c, t, seed, &type);
    const std::string where = std::string(c.name) + " " + t.Name() + " seed " + std::to_string(seed);
    if (!want.ok()) {
      ADD_FAILURE() << where << " on REF: " << want.status();
      return 0;
    }
    double worst = 0;
    for (const std::string& device : ComparedDevices()) {
      const auto got = On(device, c, t, seed, &type);
      if (!got.ok()) {
        ADD_FAILURE() << where << " on " << device << ": " << got.status();
        continue;
      }
      if (got->size() != want->size()) {
        ADD_FAILURE() << where << " on " << device << ": " << got->size() << " bytes, REF has "
                      << want->size();
        continue;
      }
      const Differ d = Compare(*got, *want, type, c.tolerance);
      worst = std::max(worst, d.worst);
      if (!d.first.empty())
        ADD_FAILURE() << where << " -> " << type.Name() << " on " << device << ": " << d.first;
    }
    return worst;
  }

  BenchOfDevices bench_;
  int cases_ = 0;
};

// The part of the table that this binary runs.
TEST(TensorOps, AgreeWithRef) { Runner().Run(US_OP_CASES()); }

}  // namespace
}  // namespace understudy
