// SPDX-License-Identifier: Apache-2.0
// What the demo kernels need of OpenCL C's built-in functions, for two targets: an AMD GPU without device
// libraries, and the host, where tools/demo/host_grid.cc runs the work items of a group as fibers.
#pragma once

typedef unsigned int uint;
typedef unsigned long ulong;

#ifdef __AMDGCN__
static inline uint get_local_id(uint d) {
  return d == 0   ? __builtin_amdgcn_workitem_id_x()
         : d == 1 ? __builtin_amdgcn_workitem_id_y()
                  : __builtin_amdgcn_workitem_id_z();
}
static inline uint get_group_id(uint d) {
  return d == 0   ? __builtin_amdgcn_workgroup_id_x()
         : d == 1 ? __builtin_amdgcn_workgroup_id_y()
                  : __builtin_amdgcn_workgroup_id_z();
}
static inline uint get_local_size(uint d) {
  return d == 0   ? __builtin_amdgcn_workgroup_size_x()
         : d == 1 ? __builtin_amdgcn_workgroup_size_y()
                  : __builtin_amdgcn_workgroup_size_z();
}
static inline void local_barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#else
uint host_local_id(uint d);
uint host_group_id(uint d);
uint host_local_size(uint d);
void host_barrier(void);
static inline uint get_local_id(uint d) { return host_local_id(d); }
static inline uint get_group_id(uint d) { return host_group_id(d); }
static inline uint get_local_size(uint d) { return host_local_size(d); }
static inline void local_barrier(void) { host_barrier(); }
#endif

static inline uint get_global_id(uint d) { return get_group_id(d) * get_local_size(d) + get_local_id(d); }

// Relaxed additions; both return the old value. Scope numbers as the compiler defines them (1 workgroup, 2
// device).
static inline int local_atomic_add(local int* p, int v) {
  return __opencl_atomic_fetch_add((volatile local atomic_int*)p, v, __ATOMIC_RELAXED, 1);
}
static inline int global_atomic_add(global int* p, int v) {
  return __opencl_atomic_fetch_add((volatile global atomic_int*)p, v, __ATOMIC_RELAXED, 2);
}
static inline int global_atomic_max(global int* p, int v) {
  return __opencl_atomic_fetch_max((volatile global atomic_int*)p, v, __ATOMIC_RELAXED, 2);
}
