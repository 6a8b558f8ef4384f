// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the address operand of a memory instruction to host pointers of the lanes that execute: windows of the
// generic space, bounds, alignment, and the fault that names the nearest allocation. Used by every executor
// that touches memory; it moves no data itself.

#include <cstdint>
#include <cstring>
#include <string>

#include "emu/ptx/core/program.h"
#include "emu/ptx/core/warp.h"

namespace understudy::emu::ptx {

// Where the bytes of an access live: a state space, with the two kinds of .param apart.
enum class MemSpace : uint8_t {
  kGeneric,
  kGlobal,
  kShared,
  kSharedCluster,
  kLocal,
  kEntryParam,
  kFrameParam
};

// How the lanes' addresses lie.
enum class AccessPattern : uint8_t {
  kScattered,
  kContiguous,  // lane l at the first lane's address + l * bytes, all 32 lanes execute
  kUniform,     // every executing lane at one address
};

struct LanePointers {
  uint8_t* at[kWarpSize];  // of lanes that do not execute: undefined
  AccessPattern pattern = AccessPattern::kScattered;
};

struct LaneAddresses {
  uint64_t at[kWarpSize];
};

// Whether the generic address lies in the window that begins at `window`.
inline bool InWindow(uint64_t address, uint64_t window, uint64_t size) { return address - window < size; }
inline bool InAnyWindow(uint64_t address) {
  return InWindow(address, kSharedWindow, kParamWindow + kParamWindowSize - kSharedWindow);
}

// The addresses of all lanes, offset added, in the space that the instruction names.
void GetAddresses(const Warp& warp, const BoundOperand& operand, LaneAddresses* out);
// The same for one lane.
uint64_t GetAddress(const Warp& warp, const BoundOperand& operand, int lane);

// Host pointers of all executing lanes for an access of `bytes` a lane, aligned to `alignment`. False after
// Warp::Fail(). The pattern is only looked for where it can speed the access up.
bool ResolveLanes(Warp& warp, const Inst& inst, const LaneAddresses& addresses, MemSpace space,
                  uint32_t bytes, uint32_t alignment, Access access, LanePointers* out);
inline bool ResolveOperand(Warp& warp, const Inst& inst, const BoundOperand& operand, MemSpace space,
                           uint32_t bytes, Access access, LanePointers* out) {
  LaneAddresses addresses;
  GetAddresses(warp, operand, &addresses);
  return ResolveLanes(warp, inst, addresses, space, bytes, bytes, access, out);
}

// One lane. nullptr after Warp::Fail(). `bytes` may be any size that lies in one allocation.
uint8_t* ResolveLane(Warp& warp, const Inst& inst, uint64_t address, MemSpace space, uint64_t bytes,
                     uint32_t alignment, Access access, int lane);

// What a resolved address turned out to be: the space of a generic address.
MemSpace SpaceOfGeneric(uint64_t address);

// Shared memory of the CTA that a shared::cluster address names; nullptr where the cluster has none such.
// `address` loses its rank.
Cta* CtaOfSharedAddress(const Warp& warp, uint64_t* address);
// The CTA of the executing warp or another of its cluster, by a shared or generic address.
constexpr uint32_t SharedClusterAddress(uint32_t rank, uint32_t offset) {
  return (rank + 1) << kClusterRankShift | offset;
}

// "ld.global.b32".
std::string InstName(const Inst& inst);

// One element of `kBytes` (1, 2, 4, 8) at a host address, of the memory's order.
template <int kBytes>
struct UintOfBytes;
template <>
struct UintOfBytes<1> {
  using type = uint8_t;
};
template <>
struct UintOfBytes<2> {
  using type = uint16_t;
};
template <>
struct UintOfBytes<4> {
  using type = uint32_t;
};
template <>
struct UintOfBytes<8> {
  using type = uint64_t;
};
template <int kBytes>
using UintOf = typename UintOfBytes<kBytes>::type;

template <class T>
inline T LoadAs(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}
template <class T>
inline void StoreAs(uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

// Calls fn(lane) for each set bit, lowest first.
template <class Fn>
inline void ForLanes(uint32_t mask, Fn&& fn) {
  for (; mask != 0; mask &= mask - 1) fn(__builtin_ctz(mask));
}

}  // namespace understudy::emu::ptx
