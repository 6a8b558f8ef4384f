// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/blas.h"

#include <dlfcn.h>

namespace understudy::bench {
namespace {

// CBLAS (netlib): order, transpositions, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc.
using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                       float*, int);
using Dgemm = void (*)(int, int, int, int, int, int, double, const double*, int, const double*, int, double,
                       double*, int);
constexpr int kRowMajor = 101, kNoTrans = 111, kTrans = 112;

struct Library {
  Sgemm sgemm = nullptr;
  Dgemm dgemm = nullptr;
};

const Library& Blas() {
  static const Library library = [] {
    Library l;
    void* handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return l;
    if (auto* set = reinterpret_cast<void (*)(int)>(dlsym(handle, "openblas_set_num_threads"))) set(1);
    l.sgemm = reinterpret_cast<Sgemm>(dlsym(handle, "cblas_sgemm"));
    l.dgemm = reinterpret_cast<Dgemm>(dlsym(handle, "cblas_dgemm"));
    return l;
  }();
  return library;
}

}  // namespace

bool OpenBlas() { return Blas().sgemm != nullptr && Blas().dgemm != nullptr; }

void BlasMatmul(const float* a, const float* b, float* c, int64_t n, bool transpose_a, bool transpose_b) {
  const int s = static_cast<int>(n);
  Blas().sgemm(kRowMajor, transpose_a ? kTrans : kNoTrans, transpose_b ? kTrans : kNoTrans, s, s, s, 1, a, s,
               b, s, 0, c, s);
}

void BlasMatmul(const double* a, const double* b, double* c, int64_t n) {
  const int s = static_cast<int>(n);
  Blas().dgemm(kRowMajor, kNoTrans, kNoTrans, s, s, s, 1, a, s, b, s, 0, c, s);
}

void BlasMatmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  Blas().sgemm(kRowMajor, kNoTrans, kNoTrans, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k),
               1, a, static_cast<int>(k), b, static_cast<int>(n), 0, c, static_cast<int>(n));
}

}  // namespace understudy::bench
