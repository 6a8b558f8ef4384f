// SPDX-License-Identifier: Apache-2.0
// Kernels whose machine code the decoder is compared on: LDS and barriers, doubles, halves and packed halves, 64-bit
// integers and atomics, bytes and private arrays, matrices, lane exchange.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

typedef half half16v __attribute__((ext_vector_type(16)));
typedef float float8v __attribute__((ext_vector_type(8)));

kernel void local_memory(global float* out, global const float* in, int n) {
  local float tile[256];
  int item = get_global_id(0), lane = get_local_id(0);
  float sum = 0;
  for (int k = 0; k < n; k++) {
    tile[lane] = in[item * n + k] * 3.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int q = 0; q < 16; q++) sum = fma(tile[(lane + q) & 255], in[k + q], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[item] = __builtin_sqrtf(sum) + 1.0f / sum;
}

kernel void doubles(global double* out, global const double* in, int n) {
  int item = get_global_id(0);
  double sum = 0;
  for (int k = 0; k < n; k++) sum += in[item * n + k] / in[k];
  out[item] = sum * sum - __builtin_sqrt(sum);
}

kernel void halves(global half* out, global const half* in, int n) {
  int item = get_global_id(0);
  half sum = 0;
  half2 pair = 0;
  for (int k = 0; k < n; k += 2) {
    sum += in[item * n + k] * in[k];
    pair += (half2)(in[k], in[k + 1]) * (half2)(in[item], in[item + 1]);
  }
  out[item] = sum + pair.x * pair.y;
}

kernel void wide_integers(global long* out, global const long* in, int n, global int* count) {
  int item = get_global_id(0);
  long sum = 0;
  for (int k = 0; k < n; k++) sum += in[item * n + k] * in[k] % (k + 7);
  out[item] = sum;
  if (sum & 1) __atomic_fetch_add(count, (int)sum, __ATOMIC_RELAXED);
}

kernel void bytes(global uchar* out, global const ushort* in, int n) {
  int item = get_global_id(0);
  uint sum = 0;
  uchar table[64];
  for (int k = 0; k < 64; k++) table[k] = (uchar)(in[k] * item);
  for (int k = 0; k < n; k++) sum += table[(k * sum) & 63] ^ in[k];
  out[item] = sum >> 3;
  out[item + 1] = __builtin_popcount(sum) + __builtin_clz(sum | 1);
}

#if !defined(WAVE64)
kernel void matrices(global float8v* c, global const half16v* a, global const half16v* b) {
  int i = get_local_id(0);
#if defined(__gfx1201__)
  c[i] = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a[i].lo, b[i].lo, c[i]);
#else
  c[i] = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a[i], b[i], c[i]);
#endif
}
#endif

kernel void lanes(global int* out, int n) {
  int item = get_global_id(0), v = out[item];
  v += __builtin_amdgcn_update_dpp(0, v, 0x111, 0xf, 0xf, 0);
#if !defined(__GFX9__)
  v += __builtin_amdgcn_mov_dpp8(v, 0x1234);
#endif
  v += __builtin_amdgcn_ds_bpermute(item * 4, v);
#if defined(__GFX9__)
  out[item] = __builtin_amdgcn_readfirstlane(v);
#else
  out[item] = __builtin_amdgcn_readfirstlane(v) + __builtin_amdgcn_permlane16(v, v, 1, 2, 0, 0);
#endif
}

#if defined(__GFX9__)
typedef float float4v __attribute__((ext_vector_type(4)));
typedef half half4v __attribute__((ext_vector_type(4)));

kernel void matrices_of_cdna(global float4v* c, global const half4v* a, global const half4v* b) {
  int i = get_global_id(0);
  float4v sum = c[i];
  for (int k = 0; k < 4; k++) sum = __builtin_amdgcn_mfma_f32_16x16x16f16(a[i + k], b[i + k], sum, 0, 0, 0);
  c[i] = sum;
}

kernel void doubles_of_cdna(global double* c, global const double* a) {
  int i = get_global_id(0);
  c[i] = __builtin_amdgcn_mfma_f64_4x4x4f64(a[i], a[i + 1], c[i], 0, 0, 0);
}
#endif
