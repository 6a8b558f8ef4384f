// SPDX-License-Identifier: Apache-2.0
// Kernels that need waits, distances and barriers of every kind, for the strict checks: what clang makes of them has to
// pass, and stops passing when a wait, an s_nop or a barrier is taken out.

typedef __attribute__((address_space(1))) unsigned Global;
typedef __attribute__((address_space(1))) float GlobalF;
typedef __attribute__((address_space(1))) double GlobalD;
#define KERNEL __attribute__((amdgpu_kernel, visibility("protected"), amdgpu_flat_work_group_size(128, 128))) void
#define ID (__builtin_amdgcn_workgroup_id_x() * 128u + __builtin_amdgcn_workitem_id_x())
#define BARRIER()                                      \
  do {                                                 \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
    __builtin_amdgcn_s_barrier();                      \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); \
  } while (0)

__attribute__((address_space(3), loader_uninitialized)) static unsigned tile[128];
__attribute__((address_space(3), loader_uninitialized)) static unsigned total;

// Loads in flight together, used in another order.
KERNEL Loads(Global* in, Global* out) {
  const unsigned i = ID;
  unsigned a = in[i & 255], b = in[(i + 1) & 255], c = in[(i * 3) & 255], d = in[(i * 5) & 255];
  out[i] = (c ^ (d >> 3)) + (b | a) * 7u;
}

// Scalar loads of several widths with vector loads in between.
KERNEL Scalars(Global* in, Global* out) {
  const unsigned i = ID, g = __builtin_amdgcn_workgroup_id_x();
  unsigned sum = 0;
  for (unsigned k = 0; k < 12; ++k) sum += in[g * 16 + k] * (k + 1);
  out[i] = sum + in[(i * 7) & 255];
}

// Reverses within the workgroup through LDS.
KERNEL Reverse(Global* in, Global* out) {
  const unsigned t = __builtin_amdgcn_workitem_id_x();
  tile[t] = in[ID & 255];
  BARRIER();
  out[ID] = tile[127 - t] + 1;
}

// A tree of sums with a barrier a level.
KERNEL Tree(Global* in, Global* out) {
  const unsigned t = __builtin_amdgcn_workitem_id_x();
  tile[t] = in[ID & 255];
  for (unsigned width = 64; width > 0; width >>= 1) {
    BARRIER();
    if (t < width) tile[t] += tile[t + width];
  }
  BARRIER();
  out[ID] = tile[0] + t;
}

// Atomics in LDS and memory.
KERNEL Atomics(Global* in, Global* out) {
  const unsigned t = __builtin_amdgcn_workitem_id_x();
  if (t == 0) total = 0;
  BARRIER();
  const unsigned old = __scoped_atomic_fetch_add(&total, in[t], __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  __scoped_atomic_fetch_add(&out[2048], old & 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  BARRIER();
  out[ID] = total;
}

// Divisions: v_div_scale, v_div_fmas, transcendentals.
KERNEL Divide(GlobalF* in, GlobalF* out) {
  const unsigned i = ID;
  const float a = (float)(i + 1), b = (float)(i % 13u + 2u);
  out[i] = a / b + __builtin_amdgcn_rcpf(b) * __builtin_amdgcn_sqrtf(a);
  ((GlobalD*)out)[1024 + i] = (double)a / (double)b;
}

// Lane exchanges, lane selects from the VALU, loops with EXEC.
KERNEL Lanes(Global* in, Global* out) {
  const unsigned i = ID, t = __builtin_amdgcn_workitem_id_x();
  unsigned v = in[i & 255];
  unsigned first = __builtin_amdgcn_readfirstlane(v);
  unsigned chosen = __builtin_amdgcn_readlane(v, (int)(first & 31u));
  v += (unsigned)__builtin_amdgcn_update_dpp(0, (int)v, 0xb1, 0xf, 0xf, 0);
  v ^= (unsigned)__builtin_amdgcn_ds_bpermute((int)(((t + 1) & 31u) * 4u), (int)v);
  for (unsigned k = 0; k < 9 && (v & 7u) != 0u; ++k) v = v * 3u + t;
  out[i] = v + chosen;
}

// A local array, indexed by what was loaded: private memory.
KERNEL Private(Global* in, Global* out) {
  const unsigned i = ID;
  volatile unsigned a[16];
  for (unsigned k = 0; k < 16; ++k) a[k] = k * i;
  a[in[i & 255] & 15u] += 5;
  out[i] = a[in[(i + 3) & 255] & 15u];
}

// 64-bit products and conditions in scalar registers.
KERNEL Conditions(Global* in, Global* out) {
  const unsigned i = ID;
  const unsigned long p = (unsigned long)in[i & 255] * in[(i + 9) & 255] + 12345678901234ul;
  unsigned r = (unsigned)(p >> 13);
  if (p % 7u == 3u || (r & 64u)) r += in[r & 255];
  if (__builtin_amdgcn_workgroup_id_x() > 1u && (r & 1u)) r ^= 0x55u;
  for (unsigned k = 0; k < (in[0] & 7u); ++k) r = r * 5u + (unsigned)(p >> k);
  out[i] = r;
}

#ifdef __gfx90a__
#define HAS_MFMA 1
#endif
#ifdef __gfx942__
#define HAS_MFMA 1
#endif
#ifdef __gfx950__
#define HAS_MFMA 1
#endif
#ifdef HAS_MFMA
typedef float F4 __attribute__((ext_vector_type(4)));
typedef float F16 __attribute__((ext_vector_type(16)));
typedef double D4 __attribute__((ext_vector_type(4)));
KERNEL Matrix(GlobalF* in, GlobalF* out) {
  const unsigned i = ID;
  F4 c = {1, 2, 3, 4};
  F16 d = {0};
  const float a = (float)(i & 7u), b = (float)(i % 5u);
  c = __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, c, 0, 0, 0);
  c = __builtin_amdgcn_mfma_f32_16x16x4f32(c[0], b, c, 0, 0, 0);
  d = __builtin_amdgcn_mfma_f32_32x32x2f32(a, c[1], d, 0, 0, 0);
  out[i] = c[0] + c[3] * d[7] + d[15];
}
KERNEL MatrixDouble(GlobalD* in, GlobalD* out) {
  const unsigned i = ID;
  D4 c = {1, 2, 3, 4};
  const double a = (double)(i & 7u), b = (double)(i % 5u);
  c = __builtin_amdgcn_mfma_f64_16x16x4f64(a, b, c, 0, 0, 0);
  c = __builtin_amdgcn_mfma_f64_16x16x4f64(c[0], b, c, 0, 0, 0);
  const double e = __builtin_amdgcn_mfma_f64_4x4x4f64(a, b, c[1], 0, 0, 0);
  out[i] = c[0] + c[3] * e;
}
#endif
