// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/tensor_core.h"

#include "absl/strings/str_cat.h"

namespace understudy {
namespace {

using namespace dtypes;  // NOLINT

TensorCore Rdna3(const char* name, DType in, DType out) {
  return {name, 16, 16, 16, in, out, 32, {16, 1, 16}, {16, 1, 16}, {8, 2, 1}};
}
TensorCore Rdna4(const char* name, DType in, DType out) {
  return {name,     16, 16, 16, in, out, 32, {8, 2, 8 / in.ScalarBytes()}, {8, 2, 8 / in.ScalarBytes()},
          {8, 2, 8}};
}
// 16 x 16 of k, four groups of sixteen lanes, each with k / 4 elements in a row.
TensorCore Cdna(const char* name, int k, DType in, DType out) {
  const Fragment side{k / 4, 4, k / 4};
  return {name, 16, 16, k, in, out, 64, side, side, {4, 4, out == kFloat64 ? 1 : 4}};
}

}  // namespace

std::vector<TensorCore> AmdTensorCores(const std::string& isa) {
  if (isa.rfind("gfx11", 0) == 0) {
    return {Rdna3("wmma.f32.16x16x16.f16", kFloat16, kFloat32),
            Rdna3("wmma.f32.16x16x16.bf16", kBFloat16, kFloat32),
            Rdna3("wmma.i32.16x16x16.iu8", kInt8, kInt32), Rdna3("wmma.i32.16x16x16.iu8", kUInt8, kInt32)};
  }
  if (isa.rfind("gfx12", 0) == 0) {
    return {Rdna4("wmma.f32.16x16x16.f16", kFloat16, kFloat32),
            Rdna4("wmma.f32.16x16x16.bf16", kBFloat16, kFloat32),
            Rdna4("wmma.i32.16x16x16.iu8", kInt8, kInt32),
            Rdna4("wmma.i32.16x16x16.iu8", kUInt8, kInt32),
            Rdna4("wmma.f32.16x16x16.fp8.fp8", kFloat8E4M3, kFloat32),
            Rdna4("wmma.f32.16x16x16.bf8.bf8", kFloat8E5M2, kFloat32)};
  }
  std::vector<TensorCore> cores;
  if (isa == "gfx90a" || isa == "gfx942" || isa == "gfx950") {
    cores = {Cdna("mfma.f32.16x16x16f16", 16, kFloat16, kFloat32),
             Cdna("mfma.f32.16x16x16bf16.1k", 16, kBFloat16, kFloat32),
             Cdna("mfma.f32.16x16x4f32", 4, kFloat32, kFloat32),
             Cdna("mfma.f64.16x16x4f64", 4, kFloat64, kFloat64)};
    if (isa == "gfx90a") {
      cores.push_back(Cdna("mfma.i32.16x16x16i8", 16, kInt8, kInt32));
    } else {
      cores.push_back(Cdna("mfma.i32.16x16x32.i8", 32, kInt8, kInt32));
      const bool ocp = isa == "gfx950";
      cores.push_back(Cdna("mfma.f32.16x16x32.fp8.fp8", 32, ocp ? kFloat8E4M3 : kFloat8E4M3Fnuz, kFloat32));
      cores.push_back(Cdna("mfma.f32.16x16x32.bf8.bf8", 32, ocp ? kFloat8E5M2 : kFloat8E5M2Fnuz, kFloat32));
    }
    if (isa == "gfx950") {
      // Twice as much of K at a time; first, for they are preferred.
      cores.insert(cores.begin(), {Cdna("mfma.f32.16x16x32.f16", 32, kFloat16, kFloat32),
                                   Cdna("mfma.f32.16x16x32.bf16", 32, kBFloat16, kFloat32)});
      cores.push_back(Cdna("mfma.i32.16x16x64.i8", 64, kInt8, kInt32));
    }
  }
  return cores;
}

std::vector<TensorCore> NvidiaTensorCores(int sm) {
  // Four neighbours a line; A and C have two lines a lane, eight apart.
  const auto mma = [](int k, const char* types, DType in, DType out) {
    const int chunk = in.ScalarBytes() < 4 ? 4 / in.ScalarBytes() : 1;
    return TensorCore{absl::StrCat("mma.sync.aligned.m16n8k", k, ".row.col.", types),
                      16,
                      8,
                      k,
                      in,
                      out,
                      32,
                      {k / 2, 4, chunk, 2, true},
                      {k / 4, 4, chunk, 1, true},
                      {4, 4, 2, 2, true},
                      true};
  };
  std::vector<TensorCore> cores;
  if (sm < 80) return cores;
  cores = {mma(16, "f32.f16.f16.f32", kFloat16, kFloat32), mma(16, "f32.bf16.bf16.f32", kBFloat16, kFloat32),
           mma(32, "s32.s8.s8.s32", kInt8, kInt32), mma(32, "s32.u8.u8.s32", kUInt8, kInt32)};
  if (sm >= 89) {
    cores.push_back(mma(32, "f32.e4m3.e4m3.f32", kFloat8E4M3, kFloat32));
    cores.push_back(mma(32, "f32.e5m2.e5m2.f32", kFloat8E5M2, kFloat32));
  }
  if (sm >= 90) cores.push_back(mma(8, "f64.f64.f64.f64", kFloat64, kFloat64));
  return cores;
}

}  // namespace understudy
