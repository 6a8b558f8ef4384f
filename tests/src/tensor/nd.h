// SPDX-License-Identifier: Apache-2.0
#pragma once
// An independent host implementation of array operations for tests: doubles in row-major vectors and plain
// loops over indices. It shares nothing with the compiler; what it computes is the expected value.

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "src/base/status.h"

namespace understudy::nd {

using Dims = std::vector<int64_t>;

struct Array {
  Dims shape;
  std::vector<double> v;

  int64_t Offset(const Dims& at) const {
    int64_t o = 0;
    for (size_t i = 0; i < shape.size(); ++i) o = o * shape[i] + at[i];
    return o;
  }
  double At(const Dims& at) const { return v[Offset(at)]; }
};

inline int64_t Count(const Dims& shape) {
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  return n;
}

// An array of that shape with f(index) everywhere.
inline Array Make(const Dims& shape, const std::function<double(const Dims&)>& f) {
  Array a{shape, {}};
  const int64_t n = Count(shape);
  Dims at(shape.size(), 0);
  for (int64_t k = 0; k < n; ++k) {
    a.v.push_back(f(at));
    for (size_t i = shape.size(); i-- > 0;) {
      if (++at[i] < shape[i]) break;
      at[i] = 0;
    }
  }
  return a;
}

inline Array Map(const Array& a, const std::function<double(double)>& f) {
  return Make(a.shape, [&](const Dims& at) { return f(a.At(at)); });
}

// The element of `a` that stands at `at` of a shape that `a` broadcasts to.
inline double Broadcast(const Array& a, const Dims& at) {
  Dims own(a.shape.size());
  for (size_t i = 0; i < own.size(); ++i) own[i] = a.shape[i] == 1 ? 0 : at[at.size() - own.size() + i];
  return a.At(own);
}

inline Dims BroadcastShape(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

inline Array Zip(const Array& a, const Array& b, const std::function<double(double, double)>& f) {
  return Make(BroadcastShape(a.shape, b.shape),
              [&](const Dims& at) { return f(Broadcast(a, at), Broadcast(b, at)); });
}

// Folds the axes marked true, which stay as 1.
inline Array Reduce(const Array& a, const std::vector<bool>& axes, double start,
                    const std::function<double(double, double)>& f) {
  Dims out = a.shape;
  for (size_t i = 0; i < out.size(); ++i) {
    if (axes[i]) out[i] = 1;
  }
  Array r = Make(out, [&](const Dims&) { return start; });
  Make(a.shape, [&](const Dims& at) {
    Dims to = at;
    for (size_t i = 0; i < to.size(); ++i) {
      if (axes[i]) to[i] = 0;
    }
    double& slot = r.v[r.Offset(to)];
    slot = f(slot, a.At(at));
    return 0;
  });
  return r;
}

}  // namespace understudy::nd
