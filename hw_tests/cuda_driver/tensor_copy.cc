// SPDX-License-Identifier: Apache-2.0
// What tensor copies do to elements on the way: the data types that convert, and what lies outside the
// tensor.
#include <cstdio>

#include "hw_tests/cuda_driver/probe.h"

namespace understudy::probe {
namespace {

std::string N(const std::string& stem, long long n) { return stem + "." + std::to_string(n); }

// A box of 8 rows of 128 bytes: into shared memory and out, or from `words` through shared memory into the
// tensor.
constexpr char kCopies[] = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry load(.param .align 64 .b8 map[128], .param .u64 words, .param .u32 x, .param .u32 bytes)
{
  .shared .align 1024 .b8 box[1024];
  .shared .align 8 .b64 arrived;
  .reg .b64 %m, %w, %s; .reg .b32 %t, %x, %v, %b, %a, %n, %at; .reg .pred %p, %q;
  mov.b64 %m, map;
  cvta.param.u64 %m, %m;
  ld.param.u64 %w, [words];
  ld.param.u32 %x, [x];
  ld.param.u32 %n, [bytes];
  mov.u32 %t, %tid.x;
  mov.u32 %b, box;
  mov.u32 %a, arrived;
  shl.b32 %at, %t, 2;
  add.u32 %at, %at, %b;
  st.shared.b32 [%at], 0xeeeeeeee;
  bar.sync 0;
  setp.ne.u32 %q, %t, 0;
  @%q bra WAIT;
  mbarrier.init.shared.b64 [%a], 1;
  fence.mbarrier_init.release.cluster;
  fence.proxy.async;
  mbarrier.arrive.expect_tx.shared.b64 %s, [%a], %n;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%b], [%m, {%x, 0}], [%a];
WAIT:
  bar.sync 0;
  mov.u32 %n, 1000;
LOOP:
  mbarrier.try_wait.parity.shared.b64 %p, [%a], 0;
  @%p bra HERE;
  sub.u32 %n, %n, 1;
  setp.ne.u32 %q, %n, 0;
  @%q bra LOOP;
HERE:
  st.global.b32 [%w+1024], %n;
  shl.b32 %x, %t, 2;
  cvt.u64.u32 %s, %x;
  add.u64 %w, %w, %s;
  ld.shared.b32 %v, [%at];
  st.global.b32 [%w], %v;
  ret;
}
.visible .entry store(.param .align 64 .b8 map[128], .param .u64 words, .param .u32 add)
{
  .shared .align 128 .b8 box[1024];
  .reg .b64 %m, %w, %s; .reg .b32 %t, %x, %v, %b; .reg .pred %p, %q;
  mov.b64 %m, map;
  cvta.param.u64 %m, %m;
  ld.param.u64 %w, [words];
  mov.u32 %t, %tid.x;
  mov.u32 %b, box;
  shl.b32 %x, %t, 2;
  cvt.u64.u32 %s, %x;
  add.u64 %w, %w, %s;
  add.u32 %x, %b, %x;
  ld.global.b32 %v, [%w];
  st.shared.b32 [%x], %v;
  fence.proxy.async;
  bar.sync 0;
  setp.ne.u32 %q, %t, 0;
  @%q bra DONE;
  ld.param.u32 %x, [add];
  setp.ne.u32 %p, %x, 0;
  @%p bra ADD;
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%m, {0, 0}], [%b];
  bra END;
ADD:
  cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%m, {0, 0}], [%b];
END:
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:
  ret;
}
)";

// The same without a tensor: KIND stands for the operation.
constexpr char kBulkAdd[] = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry add(.param .u64 to, .param .u64 words)
{
  .shared .align 128 .b8 box[1024];
  .reg .b64 %m, %w, %s; .reg .b32 %t, %x, %v, %b; .reg .pred %q;
  ld.param.u64 %m, [to];
  ld.param.u64 %w, [words];
  mov.u32 %t, %tid.x;
  mov.u32 %b, box;
  shl.b32 %x, %t, 2;
  cvt.u64.u32 %s, %x;
  add.u64 %w, %w, %s;
  add.u32 %x, %b, %x;
  ld.global.b32 %v, [%w];
  st.shared.b32 [%x], %v;
  fence.proxy.async;
  bar.sync 0;
  setp.ne.u32 %q, %t, 0;
  @%q bra DONE;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.KIND [%m], [%b], 1024;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:
  ret;
}
)";

// Words where conversions show: every kind of number, with low bits below, at and above halves.
std::vector<uint32_t> Words() {
  std::vector<uint32_t> words;
  const uint32_t highs[] = {0x00000000, 0x00002000, 0x007fe000, 0x00800000, 0x3f800000, 0x3f802000,
                            0x3fffe000, 0xff800000, 0x7f7fe000, 0x7f800000, 0x7fc00000, 0x7fffe000,
                            0x80000000, 0xffc00000, 0xbf802000, 0xff7fe000};
  const uint32_t lows[] = {0,      1,    0x7ff, 0x800,  0xfff, 0x1000, 0x1001, 0x1800,
                           0x1fff, 0x10, 0x100, 0x1f00, 0x8,   0x400,  0x1400, 0x1ffe};
  for (const uint32_t high : highs)
    for (const uint32_t low : lows) words.push_back(high | low);
  return words;
}

// The words that are not what `before` holds, as place:word.
std::string Changes(const std::vector<uint32_t>& before, const std::vector<uint32_t>& after) {
  std::string text;
  for (size_t i = 0; i < after.size(); ++i) {
    if (after[i] == before[i]) continue;
    char one[40];
    std::snprintf(one, sizeof one, "%s%zu:%08x", text.empty() ? "" : " ", i, after[i]);
    text += one;
  }
  return text.empty() ? "as before" : text;
}

void TensorCopies() {
  Start();
  CUmodule module = nullptr;
  US_NEED(cuModuleLoadData(&module, kCopies));
  const CUfunction load = Kernel(module, "load"), store = Kernel(module, "store");
  const std::vector<uint32_t> words = Words();
  const size_t bytes = words.size() * 4;
  const CUdeviceptr tensor = Device(4096), buffer = Device(4096);
  struct Kind {
    const char* name;
    int type;
    cuuint64_t elements;  // of 128 bytes
  };
  for (const Kind& kind :
       {Kind{"f32", CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 32}, Kind{"u32", CU_TENSOR_MAP_DATA_TYPE_UINT32, 32},
        Kind{"f16", CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 64}, Kind{"bf16", CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 64},
        Kind{"f64", CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 16},
        Kind{"f32ftz", CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, 32},
        Kind{"tf32", CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 32},
        Kind{"tf32ftz", CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ, 32}}) {
    const std::string name = kind.name;
    const cuuint64_t dims[2] = {kind.elements, 8}, strides[1] = {128};
    const cuuint32_t box[2] = {static_cast<cuuint32_t>(kind.elements), 8}, steps[2] = {1, 1};
    alignas(64) CUtensorMap map;
    std::vector<uint32_t> after(words.size());
    for (int fill = 0; fill <= 1; ++fill) {
      const CUresult made = cuTensorMapEncodeTiled(&map, kind.type, 2, reinterpret_cast<void*>(tensor), dims,
                                                   strides, box, steps, 0, 0, 0, fill);
      Case(N(name + ".encode", fill), made);
      if (made != CUDA_SUCCESS) continue;
      // The box whole, and with its last quarter outside.
      for (const int x : {0, static_cast<int>(kind.elements) / 4}) {
        if (x == 0 && fill == 1) continue;
        int box_bytes = 1024;
        void* params[] = {&map, const_cast<CUdeviceptr*>(&buffer), const_cast<int*>(&x), &box_bytes};
        US_NEED(cuMemcpyHtoD_v2(tensor, words.data(), bytes));
        US_NEED(cuMemsetD8_v2(buffer, 0xee, bytes));
        US_NEED(cuLaunchKernel(load, 1, 1, 1, 256, 1, 1, 0, nullptr, params, nullptr));
        US_NEED(cuCtxSynchronize());
        US_NEED(cuMemcpyDtoH_v2(after.data(), buffer, bytes));
        std::vector<uint32_t> expected(words.size());
        for (size_t i = 0; i < words.size(); ++i) {
          const size_t column = i % 32 + (x == 0 ? 0 : 8);
          expected[i] = column < 32 ? words[i / 32 * 32 + column] : 0;
        }
        Fact(N(N(name + ".load", fill), x), Changes(expected, after));
      }
    }
    const CUresult made = cuTensorMapEncodeTiled(&map, kind.type, 2, reinterpret_cast<void*>(tensor), dims,
                                                 strides, box, steps, 0, 0, 0, 0);
    if (made != CUDA_SUCCESS) continue;
    for (int add = 0; add <= 1; ++add) {
      void* params[] = {&map, const_cast<CUdeviceptr*>(&buffer), &add};
      US_NEED(cuMemcpyHtoD_v2(buffer, words.data(), bytes));
      // To add to: rows turned by one, so that sums are of different numbers.
      std::vector<uint32_t> at(words.size(), 0);
      if (add != 0)
        for (size_t i = 0; i < at.size(); ++i) at[i] = words[(i + 32) % words.size()];
      US_NEED(cuMemcpyHtoD_v2(tensor, at.data(), bytes));
      US_NEED(cuLaunchKernel(store, 1, 1, 1, 256, 1, 1, 0, nullptr, params, nullptr));
      US_NEED(cuCtxSynchronize());
      US_NEED(cuMemcpyDtoH_v2(after.data(), tensor, bytes));
      Fact(name + (add != 0 ? ".add" : ".store"), Changes(add != 0 ? at : words, after));
    }
  }
}

// Where the rows of a box lie that are shorter than its swizzle.
void TensorPlaces() {
  Start();
  CUmodule module = nullptr;
  US_NEED(cuModuleLoadData(&module, kCopies));
  const CUfunction load = Kernel(module, "load");
  const CUdeviceptr tensor = Device(4096), buffer = Device(4096);
  std::vector<uint32_t> words(1024);
  for (uint32_t i = 0; i < 1024; ++i) words[i] = i;
  US_NEED(cuMemcpyHtoD_v2(tensor, words.data(), 4096));
  const std::vector<uint32_t> nothing(256, 0xeeeeeeee);
  for (int swizzle = 0; swizzle <= 3; ++swizzle)
    for (const cuuint32_t width : {4u, 8u, 12u, 16u, 20u, 32u}) {
      const cuuint64_t dims[2] = {32, 8}, strides[1] = {128};
      const cuuint32_t box[2] = {width, 8}, steps[2] = {1, 1};
      alignas(64) CUtensorMap map;
      const CUresult made =
          cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, reinterpret_cast<void*>(tensor),
                                 dims, strides, box, steps, 0, swizzle, 0, 0);
      const std::string name = N(N("swizzle", swizzle), width);
      Case(name, made);
      if (made != CUDA_SUCCESS) continue;
      const int packed = static_cast<int>(width * 4 * 8), span = swizzle == 0 ? packed : 16 * 8 << swizzle;
      for (int bytes : {packed, span}) {
        int x = 0;
        void* params[] = {&map, const_cast<CUdeviceptr*>(&buffer), &x, &bytes};
        US_NEED(cuLaunchKernel(load, 1, 1, 1, 256, 1, 1, 0, nullptr, params, nullptr));
        US_NEED(cuCtxSynchronize());
        std::vector<uint32_t> after(257);
        US_NEED(cuMemcpyDtoH_v2(after.data(), buffer, after.size() * 4));
        Fact(N(name + ".arrived", bytes), after.back() != 0 ? "yes" : "no");
        after.pop_back();
        if (bytes == packed) Fact(name + ".places", Changes(nothing, after));
        if (packed == span) break;
      }
    }
}

void BulkAdditions() {
  Start();
  const std::vector<uint32_t> words = Words();
  const size_t bytes = words.size() * 4;
  const CUdeviceptr to = Device(4096), buffer = Device(4096);
  for (const std::string kind : {"add.f32", "add.f64", "add.noftz.f16", "add.noftz.bf16", "add.u32"}) {
    std::string text = kBulkAdd;
    text.replace(text.find("KIND"), 4, kind);
    CUmodule module = nullptr;
    const CUresult loaded = cuModuleLoadData(&module, text.c_str());
    Case(kind + ".module", loaded);
    if (loaded != CUDA_SUCCESS) continue;
    void* params[] = {const_cast<CUdeviceptr*>(&to), const_cast<CUdeviceptr*>(&buffer)};
    std::vector<uint32_t> at(words.size()), after(words.size());
    for (size_t i = 0; i < at.size(); ++i) at[i] = words[(i + 32) % words.size()];
    US_NEED(cuMemcpyHtoD_v2(buffer, words.data(), bytes));
    US_NEED(cuMemcpyHtoD_v2(to, at.data(), bytes));
    US_NEED(cuLaunchKernel(Kernel(module, "add"), 1, 1, 1, 256, 1, 1, 0, nullptr, params, nullptr));
    US_NEED(cuCtxSynchronize());
    US_NEED(cuMemcpyDtoH_v2(after.data(), to, bytes));
    Fact(kind, Changes(at, after));
  }
}

}  // namespace

const std::vector<NamedSection>& TensorCopySections() {
  static const auto* const all = new std::vector<NamedSection>{
      {"tensorCopy", TensorCopies}, {"tensorPlace", TensorPlaces}, {"bulkAdd", BulkAdditions}};
  return *all;
}

}  // namespace understudy::probe
