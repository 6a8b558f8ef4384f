// SPDX-License-Identifier: Apache-2.0
// What kernels that are compared with the host are written in: one C text, compiled for an AMD GPU and for
// the host. KERNEL(Name) { ... } is a function run for each work-item, and has
//   i    the item in the grid                 l    the item in its workgroup (of kProgramGroup)
//   in   kProgramInWords random words         out  the kProgramOutWords words of this item
//   mem  kProgramMemWords words that all items share: atomics whose result does not depend on their order
//   lds  kProgramLdsWords words of the workgroup, undefined at first
// Whatever C defines must come out alike, bit for bit. The device side needs -DWAVE_SIZE=32 or 64.

#pragma once
#include "fuzz/amd_programs/host_item.h"

#define IN(k) in[(i * 13u + (k) * 7u) & 1023u]
#define IN64(k) ((uint64_t)IN(k) | (uint64_t)IN((k) + 1) << 32)
#define OUT64(k, v)                          \
  do {                                       \
    const uint64_t value_ = (v);             \
    out[(k)] = (uint32_t)value_;             \
    out[(k) + 1] = (uint32_t)(value_ >> 32); \
  } while (0)
#define NOINLINE __attribute__((noinline))

typedef unsigned __int128 uint128_t;
typedef __int128 int128_t;

#ifdef __AMDGCN__

#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))
#define ITEM_PARAMETER
#define ITEM_ARGUMENT

// The same 128 items whatever the workgroup's dimensions are.
#ifndef GROUP_X
#define GROUP_X 128u
#define GROUP_Y 1u
#define GROUP_Z 1u
#endif

#define KERNEL(name)                                                                                        \
  static inline void name##Body(uint32_t i, uint32_t l, GLOBAL const uint32_t* in, GLOBAL uint32_t* out,    \
                                GLOBAL uint32_t* mem, LDS uint32_t* lds);                                   \
  __attribute__((amdgpu_kernel, visibility("protected"), amdgpu_flat_work_group_size(128, 128))) void name( \
      GLOBAL const uint32_t* in, GLOBAL uint32_t* out, GLOBAL uint32_t* mem) {                              \
    static LDS __attribute__((loader_uninitialized, aligned(16))) uint32_t lds[kProgramLdsWords];           \
    const uint32_t l =                                                                                      \
        __builtin_amdgcn_workitem_id_x() +                                                                  \
        GROUP_X * (__builtin_amdgcn_workitem_id_y() + GROUP_Y * __builtin_amdgcn_workitem_id_z());          \
    const uint32_t i = __builtin_amdgcn_workgroup_id_x() * 128u + l;                                        \
    name##Body(i, l, in, out + kProgramOutWords * i, mem, lds);                                             \
  }                                                                                                         \
  static inline void name##Body(uint32_t i, uint32_t l, GLOBAL const uint32_t* in, GLOBAL uint32_t* out,    \
                                GLOBAL uint32_t* mem, LDS uint32_t* lds)

#define BARRIER()                                          \
  do {                                                     \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
    __builtin_amdgcn_s_barrier();                          \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); \
  } while (0)

#if WAVE_SIZE == 32
#define BALLOT(p) ((uint64_t)__builtin_amdgcn_ballot_w32(p))
#else
#define BALLOT(p) ((uint64_t)__builtin_amdgcn_ballot_w64(p))
#endif
#define READ_LANE(v, lane) ((uint32_t)__builtin_amdgcn_readlane((int)(v), (int)(lane)))
#define READ_FIRST_LANE(v) ((uint32_t)__builtin_amdgcn_readfirstlane((int)(v)))
// From a lane of the same 32 lanes (a wave of 64 lanes exchanges within its halves on RDNA).
#define SHUFFLE(v, lane) \
  ((uint32_t)__builtin_amdgcn_ds_bpermute((int)(((l & 32u) | ((lane) & 31u)) << 2), (int)(v)))
#define DPP(v, old, control, bound) \
  ((uint32_t)__builtin_amdgcn_update_dpp((int)(old), (int)(v), control, 15, 15, bound))
#define SWIZZLE(v, pattern) ((uint32_t)__builtin_amdgcn_ds_swizzle((int)(v), pattern))

#define ATOMIC_LOAD(p, order) __atomic_load_n(p, order)
#define ATOMIC_STORE(p, v, order) __atomic_store_n(p, v, order)
#define ATOMIC_ADD(p, v, order) __atomic_fetch_add(p, v, order)
#define ATOMIC_SUB(p, v, order) __atomic_fetch_sub(p, v, order)
#define ATOMIC_AND(p, v, order) __atomic_fetch_and(p, v, order)
#define ATOMIC_OR(p, v, order) __atomic_fetch_or(p, v, order)
#define ATOMIC_XOR(p, v, order) __atomic_fetch_xor(p, v, order)
#define ATOMIC_NAND(p, v, order) __atomic_fetch_nand(p, v, order)
#define ATOMIC_MIN(p, v, order) __atomic_fetch_min(p, v, order)
#define ATOMIC_MAX(p, v, order) __atomic_fetch_max(p, v, order)
#define ATOMIC_EXCHANGE(p, v, order) __atomic_exchange_n(p, v, order)
#define ATOMIC_CAS(p, expected, v, order) \
  __atomic_compare_exchange_n(p, expected, v, 0, order, __ATOMIC_RELAXED)
#define ATOMIC_ADD_FLOAT(p, v) __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define WAVE_OF(item) WAVE_SIZE

#else  // the host

#define GLOBAL
#define LDS
#define ITEM_PARAMETER , HostItem* item
#define ITEM_ARGUMENT , item

#define KERNEL(name)                                                                                        \
  static void name(uint32_t i, uint32_t l, const uint32_t* in, uint32_t* out, uint32_t* mem, uint32_t* lds, \
                   HostItem* item)

#define BARRIER() item->barrier(item)

// Every item of the group gives a value and gets the group's values; `first` is its wave's first item.
#define HOST_EXCHANGE(v)                                                  \
  item->exchange[item->local] = (uint64_t)(v);                            \
  item->barrier(item);                                                    \
  const uint32_t first = item->local / item->wave_size * item->wave_size; \
  const uint32_t lane_ = item->local - first;                             \
  (void)lane_

static inline uint64_t HostBallot(HostItem* item, int p) {
  HOST_EXCHANGE(p != 0);
  uint64_t mask = 0;
  for (uint32_t k = 0; k < item->wave_size; ++k) mask |= item->exchange[first + k] << k;
  item->barrier(item);
  return mask;
}
static inline uint32_t HostReadLane(HostItem* item, uint32_t v, uint32_t lane) {
  HOST_EXCHANGE(v);
  const uint32_t r = (uint32_t)item->exchange[first + lane];
  item->barrier(item);
  return r;
}
static inline uint32_t HostShuffle(HostItem* item, uint32_t v, uint32_t lane) {
  HOST_EXCHANGE(v);
  const uint32_t r = (uint32_t)item->exchange[first + (lane_ & 32u) + (lane & 31u)];
  item->barrier(item);
  return r;
}
#define BALLOT(p) HostBallot(item, (p) != 0)
#define READ_LANE(v, lane) HostReadLane(item, v, lane)
#define READ_FIRST_LANE(v) HostReadLane(item, v, 0)
#define SHUFFLE(v, lane) HostShuffle(item, v, lane)

// DPP controls by the ISA manuals' table: quad_perm, row_shl, row_shr, row_ror, row_mirror, row_half_mirror.
static inline uint32_t HostDpp(HostItem* item, uint32_t v, uint32_t old, uint32_t control, int bound) {
  HOST_EXCHANGE(v);
  const uint32_t row = lane_ & ~15u, n = control & 15u, at = lane_ & 15u;
  uint32_t from = at;
  int valid = 1;
  if (control < 0x100) {
    from = (at & ~3u) | (control >> (2 * (at & 3u)) & 3u);
  } else if (control > 0x100 && control < 0x110) {
    from = at + n, valid = from < 16;
  } else if (control > 0x110 && control < 0x120) {
    from = at - n, valid = at >= n;
  } else if (control > 0x120 && control < 0x130) {
    from = (at - n) & 15u;
  } else if (control == 0x140) {
    from = 15u - at;
  } else if (control == 0x141) {
    from = (at & 8u) | (7u - (at & 7u));
  } else {
    __builtin_trap();
  }
  const uint32_t r = valid ? (uint32_t)item->exchange[first + row + from] : bound ? 0u : old;
  item->barrier(item);
  return r;
}
#define DPP(v, old, control, bound) HostDpp(item, v, old, control, bound)

// ds_swizzle_b32's two modes (ISA manuals, "DS_SWIZZLE_B32"): quads, or and/or/xor masks within 32 lanes.
static inline uint32_t HostSwizzle(HostItem* item, uint32_t v, uint32_t pattern) {
  HOST_EXCHANGE(v);
  const uint32_t at = lane_ & 31u;
  const uint32_t from = pattern & 0x8000u
                            ? (at & ~3u) | (pattern >> (2 * (at & 3u)) & 3u)
                            : ((at & (pattern & 31u)) | (pattern >> 5 & 31u)) ^ (pattern >> 10 & 31u);
  const uint32_t r = (uint32_t)item->exchange[first + (lane_ & 32u) + from];
  item->barrier(item);
  return r;
}
#define SWIZZLE(v, pattern) HostSwizzle(item, v, pattern)

// Items of a host run take turns at barriers only: plain code is atomic.
#define HOST_ATOMIC(p, expression)        \
  ({                                      \
    __typeof__(p) p_ = (p);               \
    const __typeof__(*(p)) old = *p_;     \
    *p_ = (__typeof__(*(p)))(expression); \
    old;                                  \
  })
#define ATOMIC_LOAD(p, order) (*(p))
#define ATOMIC_STORE(p, v, order) ((void)(*(p) = (v)))
#define ATOMIC_ADD(p, v, order) HOST_ATOMIC(p, old + (v))
#define ATOMIC_SUB(p, v, order) HOST_ATOMIC(p, old - (v))
#define ATOMIC_AND(p, v, order) HOST_ATOMIC(p, old&(v))
#define ATOMIC_OR(p, v, order) HOST_ATOMIC(p, old | (v))
#define ATOMIC_XOR(p, v, order) HOST_ATOMIC(p, old ^ (v))
#define ATOMIC_NAND(p, v, order) HOST_ATOMIC(p, ~(old & (v)))
#define ATOMIC_MIN(p, v, order) HOST_ATOMIC(p, old < (v) ? old : (v))
#define ATOMIC_MAX(p, v, order) HOST_ATOMIC(p, old > (v) ? old : (v))
#define ATOMIC_EXCHANGE(p, v, order) HOST_ATOMIC(p, v)
#define ATOMIC_CAS(p, expected, v, order) \
  ({                                      \
    __typeof__(p) q_ = (p);               \
    const int same_ = *q_ == *(expected); \
    if (same_)                            \
      *q_ = (v);                          \
    else                                  \
      *(expected) = *q_;                  \
    same_;                                \
  })
#define ATOMIC_ADD_FLOAT(p, v) HOST_ATOMIC(p, old + (v))
#define WAVE_OF(item) ((item)->wave_size)

#endif

#define LANE (l & (WAVE_OF(item) - 1u))

// Floats as bits. Which NaN an operation gives is not defined, so results are written with one NaN.
static inline float AsFloat(uint32_t bits) {
  float v;
  __builtin_memcpy(&v, &bits, 4);
  return v;
}
static inline uint32_t FloatBits(float v) {
  uint32_t bits;
  __builtin_memcpy(&bits, &v, 4);
  return v != v ? 0x7fc00000u : bits;
}
static inline double AsDouble(uint64_t bits) {
  double v;
  __builtin_memcpy(&v, &bits, 8);
  return v;
}
static inline uint64_t DoubleBits(double v) {
  uint64_t bits;
  __builtin_memcpy(&bits, &v, 8);
  return v != v ? 0x7ff8000000000000u : bits;
}
static inline uint32_t HalfBits(_Float16 v) {
  uint16_t bits;
  __builtin_memcpy(&bits, &v, 2);
  return v != v ? 0x7e00u : bits;
}
static inline _Float16 AsHalf(uint32_t bits) {
  const uint16_t half = (uint16_t)bits;
  _Float16 v;
  __builtin_memcpy(&v, &half, 2);
  return v;
}
// One operation, one rounding: a host that computes halves as floats rounds at the return.
static inline _Float16 HalfAdd(_Float16 a, _Float16 b) { return (_Float16)(a + b); }
static inline _Float16 HalfSub(_Float16 a, _Float16 b) { return (_Float16)(a - b); }
static inline _Float16 HalfMul(_Float16 a, _Float16 b) { return (_Float16)(a * b); }
static inline _Float16 HalfDiv(_Float16 a, _Float16 b) { return (_Float16)(a / b); }

// Conversions that C leaves undefined outside the integer's range.
static inline int32_t IntOfFloat(float v) {
  return v > -2147483000.0f && v < 2147483000.0f ? (int32_t)v : 77;
}
static inline uint32_t UintOfFloat(float v) { return v >= 0.0f && v < 4294967000.0f ? (uint32_t)v : 78u; }
static inline int64_t LongOfFloat(float v) { return v > -9.2e18f && v < 9.2e18f ? (int64_t)v : 79; }
static inline uint64_t UlongOfFloat(float v) { return v >= 0.0f && v < 1.84e19f ? (uint64_t)v : 80u; }
static inline int32_t IntOfDouble(double v) {
  return v > -2147483648.0 && v < 2147483647.0 ? (int32_t)v : 81;
}
static inline uint32_t UintOfDouble(double v) { return v >= 0.0 && v < 4294967295.0 ? (uint32_t)v : 82u; }
static inline int64_t LongOfDouble(double v) { return v > -9.2e18 && v < 9.2e18 ? (int64_t)v : 83; }
static inline uint64_t UlongOfDouble(double v) { return v >= 0.0 && v < 1.84e19 ? (uint64_t)v : 84u; }

static inline uint32_t RotateLeft32(uint32_t v, uint32_t n) { return v << (n & 31u) | v >> (-n & 31u); }
static inline uint64_t RotateLeft64(uint64_t v, uint32_t n) { return v << (n & 63u) | v >> (-n & 63u); }
#ifdef __AMDGCN__
#define REVERSE_BITS32(v) __builtin_bitreverse32(v)
#define REVERSE_BITS64(v) __builtin_bitreverse64(v)
#else
static inline uint64_t REVERSE_BITS64(uint64_t v) {
  uint64_t r = 0;
  for (int k = 0; k < 64; ++k) r |= (v >> k & 1u) << (63 - k);
  return r;
}
static inline uint32_t REVERSE_BITS32(uint32_t v) { return (uint32_t)(REVERSE_BITS64(v) >> 32); }
#endif
