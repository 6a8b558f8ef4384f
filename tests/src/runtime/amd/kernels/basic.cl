// SPDX-License-Identifier: Apache-2.0
// Kernels that the driver's tests load as any runtime would: OpenCL C through clang, no device library.
typedef unsigned int uint32;
typedef unsigned long uint64;
#define LID __builtin_amdgcn_workitem_id_x()
#define GRP __builtin_amdgcn_workgroup_id_x()
#define LSZ __builtin_amdgcn_workgroup_size_x()
#define GID (GRP * LSZ + LID)

__kernel void add(__global const float* a, __global const float* b, __global float* c, int n) {
  uint32 i = GID;
  if (i < (uint32)n) c[i] = a[i] + b[i];
}

// out[i] = in[i] + 1: a chain of these is wrong if any link is lost or out of order.
__kernel void increment(__global uint32* p, uint32 n) {
  uint32 i = GID;
  if (i < n) p[i] = p[i] + 1;
}

// LDS whose size the launch decides, and a barrier.
__kernel void reverse(__global const uint32* in, __global uint32* out, __local uint32* tmp) {
  uint32 l = LID, size = LSZ;
  tmp[l] = in[GRP * size + l];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[GRP * size + l] = tmp[size - 1 - l];
}

// Scratch: indexed by a value that the compiler cannot know.
__kernel void scratch(__global uint32* out, uint32 k) {
  volatile uint32 buf[64];
  for (uint32 i = 0; i < 64; ++i) buf[i] = i * k + LID;
  out[GID] = buf[(k + LID) & 63];
}

// Every hidden argument of the launch's shape.
__kernel void shape(__global uint32* out) {
  if (__builtin_amdgcn_workitem_id_x() | __builtin_amdgcn_workitem_id_y() | __builtin_amdgcn_workitem_id_z()) return;
  uint32 gx = __builtin_amdgcn_workgroup_id_x(), gy = __builtin_amdgcn_workgroup_id_y(),
         gz = __builtin_amdgcn_workgroup_id_z();
  __constant uint32* counts = (__constant uint32*)__builtin_amdgcn_implicitarg_ptr();
  uint32 at = ((gz * counts[1] + gy) * counts[0] + gx) * 6;
  out[at] = counts[0];
  out[at + 1] = counts[1];
  out[at + 2] = counts[2];
  out[at + 3] = __builtin_amdgcn_workgroup_size_x();
  out[at + 4] = __builtin_amdgcn_workgroup_size_y();
  out[at + 5] = __builtin_amdgcn_workgroup_size_z();
}

__kernel void store_at(__global uint32* p, uint32 value) {
  if (GID == 0) *p = value;
}
__kernel void load_at(__global const uint32* p, __global uint32* out) {
  if (GID == 0) *out = *p;
}
__kernel void atomic_at(__global uint32* p) {
  __scoped_atomic_fetch_add(p, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
__kernel void illegal(__global uint32* out) {
  __asm__ volatile(".long 0xfe000000\n.long 0xfe000000");
  out[0] = 1;
}
__kernel void forever(__global volatile uint32* p) {
  while (*p == 0) __builtin_amdgcn_s_sleep(1);
}
