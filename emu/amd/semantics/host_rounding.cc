// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/host_rounding.h"

#include <cfenv>
#include <cmath>

namespace understudy::emu::amd {
namespace {

// Holds the host in one rounding mode for a scope.
class ScopedRounding {
 public:
  explicit ScopedRounding(Round round) : old_(std::fegetround()) {
    constexpr int kHost[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    std::fesetround(kHost[static_cast<int>(round)]);
  }
  ~ScopedRounding() { std::fesetround(old_); }
  ScopedRounding(const ScopedRounding&) = delete;
  ScopedRounding& operator=(const ScopedRounding&) = delete;

 private:
  int old_;
};

}  // namespace

// The volatile copies keep the operation between the two changes of mode.
double AddRounded(double a, double b, Round round) {
  volatile double x = a, y = b;
  ScopedRounding scope(round);
  volatile double r = x + y;
  return r;
}
double MulRounded(double a, double b, Round round) {
  volatile double x = a, y = b;
  ScopedRounding scope(round);
  volatile double r = x * y;
  return r;
}
double FmaRounded(double a, double b, double c, Round round) {
  volatile double x = a, y = b, z = c;
  ScopedRounding scope(round);
  volatile double r = std::fma(x, y, z);
  return r;
}
double SqrtRounded(double a, Round round) {
  volatile double x = a;
  ScopedRounding scope(round);
  volatile double r = std::sqrt(x);
  return r;
}

}  // namespace understudy::emu::amd
