// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/semantics/memory_access.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "emu/ptx/check/access_log.h"
#include "emu/ptx/core/cta.h"

namespace understudy::emu::ptx {
namespace {

const char* SpaceText(MemSpace space) {
  switch (space) {
    case MemSpace::kGeneric:
      return "generic";
    case MemSpace::kGlobal:
      return "global";
    case MemSpace::kShared:
      return "shared";
    case MemSpace::kSharedCluster:
      return "shared::cluster";
    case MemSpace::kLocal:
      return "local";
    case MemSpace::kEntryParam:
    case MemSpace::kFrameParam:
      return "param";
  }
  return "?";
}

std::nullptr_t FailRange(Warp& warp, const Inst& inst, FaultKind kind, int lane, MemSpace space,
                         uint64_t address, uint64_t bytes, Access access, uint64_t limit) {
  warp.Fail(kind, lane,
            absl::StrFormat("%s: %s of %d bytes at %s address 0x%x, of which there are %d bytes",
                            InstName(inst), AccessName(access), bytes, SpaceText(space), address, limit));
  return nullptr;
}

void FailAlignment(Warp& warp, const Inst& inst, int lane, MemSpace space, uint64_t address, uint64_t bytes,
                   uint32_t alignment, Access access) {
  warp.Fail(FaultKind::kMisaligned, lane,
            absl::StrFormat("%s: %s of %d bytes at %s address 0x%x, which is not a multiple of %d",
                            InstName(inst), AccessName(access), bytes, SpaceText(space), address, alignment));
}

std::nullptr_t FailGlobal(Warp& warp, const Inst& inst, int lane, uint64_t address, uint64_t bytes,
                          Access access) {
  MemoryFault fault = warp.mem->Explain(address, bytes, access);
  warp.fault->memory = fault;
  warp.Fail(FaultKind::kMemory, lane, InstName(inst) + ": " + fault.Message());
  return nullptr;
}

// Out of line, so that what resolves addresses does not save registers for checks that are off.
[[gnu::noinline, gnu::cold]] void Note(AccessLog* log, LoggedSpace space, Access access, int lane,
                                       uint64_t address, uint64_t bytes, const uint8_t* host, Cta* cta) {
  log->Add(space, access, lane, address, static_cast<uint32_t>(bytes), host, cta);
}

// Notes a lane's access for the checks.
uint8_t* Logged(const Warp& warp, LoggedSpace space, Access access, int lane, uint64_t address,
                uint64_t bytes, uint8_t* host, Cta* cta = nullptr) {
  if (warp.log != nullptr) [[unlikely]]
    Note(warp.log, space, access, lane, address, bytes, host, cta);
  return host;
}

LoggedSpace SpaceInLog(MemSpace space) {
  switch (space) {
    case MemSpace::kShared:
    case MemSpace::kSharedCluster:
      return LoggedSpace::kShared;
    case MemSpace::kLocal:
      return LoggedSpace::kLocal;
    case MemSpace::kEntryParam:
      return LoggedSpace::kEntryParam;
    case MemSpace::kFrameParam:
      return LoggedSpace::kFrameParam;
    case MemSpace::kGeneric:
    case MemSpace::kGlobal:
      break;
  }
  return LoggedSpace::kGlobal;
}

// The accesses of all executing lanes, which lie in one space. `skip` is what their addresses have above the
// offset in that space.
[[gnu::noinline, gnu::cold]] void LogLanes(const Warp& warp, MemSpace space, Access access,
                                           const LaneAddresses& addresses, uint64_t skip, uint32_t bytes,
                                           const LanePointers& p) {
  for (uint32_t rest = warp.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    warp.log->Add(SpaceInLog(space), access, lane, addresses.at[lane] - skip, bytes, p.at[lane], warp.cta);
  }
}

// Shared, local and param offsets wrap at 32 bits, as the hardware's address units do.
bool IsNarrow(MemSpace space) { return space != MemSpace::kGeneric && space != MemSpace::kGlobal; }

}  // namespace

std::string InstName(const Inst& inst) {
  return inst.text != nullptr ? inst.text->Name() : "memory instruction";
}

uint64_t GetAddress(const Warp& warp, const BoundOperand& operand, int lane) {
  const uint64_t base = warp.Lane(operand.row, lane);
  // The address of a .local variable is where it lies in its frame.
  const bool in_frame = operand.space == Space::kLocal && operand.row.base == Src::kConstant;
  return base + static_cast<uint64_t>(operand.offset) + (in_frame ? warp.frame->local_base : 0);
}

void GetAddresses(const Warp& warp, const BoundOperand& operand, LaneAddresses* out) {
  uint64_t add = static_cast<uint64_t>(operand.offset);
  if (operand.space == Space::kLocal && operand.row.base == Src::kConstant) add += warp.frame->local_base;
  if (operand.row.bytes == 8) {
    const uint64_t* row = warp.U64(operand.row);
    for (int lane = 0; lane < kWarpSize; ++lane) out->at[lane] = row[lane] + add;
  } else {
    const uint32_t* row = warp.U32(operand.row);
    for (int lane = 0; lane < kWarpSize; ++lane) out->at[lane] = row[lane] + add;
  }
}

MemSpace SpaceOfGeneric(uint64_t address) {
  if (!InAnyWindow(address)) return MemSpace::kGlobal;
  if (InWindow(address, kSharedWindow, kSharedWindowSize)) return MemSpace::kSharedCluster;
  if (InWindow(address, kLocalWindow, kLocalWindowSize)) return MemSpace::kLocal;
  if (InWindow(address, kParamWindow, kParamWindowSize)) return MemSpace::kEntryParam;
  return MemSpace::kGlobal;  // a gap between windows: nothing is mapped there
}

Cta* CtaOfSharedAddress(const Warp& warp, uint64_t* address) {
  const uint32_t prefix = static_cast<uint32_t>(*address) >> kClusterRankShift;
  *address &= (uint32_t{1} << kClusterRankShift) - 1;
  if (prefix == 0) return warp.cta;
  if (warp.cta == nullptr) return nullptr;
  if (prefix - 1 == warp.cta->rank) return warp.cta;
  if (warp.cta->cluster == nullptr || prefix > warp.cta->cluster->num_ctas) return nullptr;
  return warp.cta->cluster->ctas[prefix - 1].get();
}

uint8_t* ResolveLane(Warp& warp, const Inst& inst, uint64_t address, MemSpace space, uint64_t bytes,
                     uint32_t alignment, Access access, int lane) {
  if (IsNarrow(space)) address = static_cast<uint32_t>(address);
  if ((address & (alignment - 1)) != 0) {
    FailAlignment(warp, inst, lane, space, address, bytes, alignment, access);
    return nullptr;
  }
  switch (space) {
    case MemSpace::kGeneric: {
      const MemSpace real = SpaceOfGeneric(address);
      const uint64_t inner = real == MemSpace::kGlobal ? address : address & (kSharedWindowSize - 1);
      return ResolveLane(warp, inst, inner, real, bytes, alignment, access, lane);
    }
    case MemSpace::kGlobal: {
      uint8_t* host = warp.mem->Translate(address, bytes, access);
      return host != nullptr ? Logged(warp, LoggedSpace::kGlobal, access, lane, address, bytes, host)
                             : FailGlobal(warp, inst, lane, address, bytes, access);
    }
    case MemSpace::kShared:
    case MemSpace::kSharedCluster: {
      uint64_t offset = address;
      if (offset >> kClusterRankShift == 0) {
        if (offset + bytes <= warp.shared_bytes)
          return Logged(warp, LoggedSpace::kShared, access, lane, offset, bytes, warp.shared + offset,
                        warp.cta);
        return FailRange(warp, inst, FaultKind::kSharedOutOfRange, lane, space, address, bytes, access,
                         warp.shared_bytes);
      }
      Cta* cta = CtaOfSharedAddress(warp, &offset);
      if (cta == nullptr) {
        warp.Fail(FaultKind::kSharedOutOfRange, lane,
                  absl::StrFormat(
                      "%s: shared address 0x%x names CTA %d of a cluster of %d", InstName(inst), address,
                      (address >> kClusterRankShift) - 1,
                      warp.cta != nullptr && warp.cta->cluster != nullptr ? warp.cta->cluster->num_ctas : 1));
        return nullptr;
      }
      if (space == MemSpace::kShared && cta != warp.cta) {
        warp.Fail(FaultKind::kAddressSpace, lane,
                  absl::StrFormat("%s: shared address 0x%x is of CTA %d of the cluster, .shared::cta means "
                                  "the executing one, %d",
                                  InstName(inst), address, cta->rank, warp.cta->rank));
        return nullptr;
      }
      if (offset + bytes <= cta->shared_bytes)
        return Logged(warp, LoggedSpace::kShared, access, lane, offset, bytes, cta->shared + offset, cta);
      return FailRange(warp, inst, FaultKind::kSharedOutOfRange, lane, space, address, bytes, access,
                       cta->shared_bytes);
    }
    case MemSpace::kLocal:
      if (address + bytes <= warp.local_bytes)
        return Logged(warp, LoggedSpace::kLocal, access, lane, address, bytes,
                      warp.local + uint64_t(lane) * warp.local_bytes + address);
      return FailRange(warp, inst, FaultKind::kLocalOutOfRange, lane, space, address, bytes, access,
                       warp.local_bytes);
    case MemSpace::kEntryParam:
      if (access != Access::kRead) {
        warp.Fail(FaultKind::kAddressSpace, lane,
                  absl::StrFormat("%s: %s of kernel parameters, which are read-only", InstName(inst),
                                  AccessName(access)));
        return nullptr;
      }
      if (address + bytes <= warp.kernel_param_bytes)
        return Logged(warp, LoggedSpace::kEntryParam, access, lane, address, bytes,
                      const_cast<uint8_t*>(warp.kernel_params) + address);
      return FailRange(warp, inst, FaultKind::kMemory, lane, space, address, bytes, access,
                       warp.kernel_param_bytes);
    case MemSpace::kFrameParam: {
      const uint64_t limit = warp.frame->function->param_bytes;
      if (address + bytes <= limit)
        return Logged(warp, LoggedSpace::kFrameParam, access, lane, address, bytes,
                      warp.frame->params + uint64_t(lane) * limit + address);
      return FailRange(warp, inst, FaultKind::kMemory, lane, space, address, bytes, access, limit);
    }
  }
  return nullptr;
}

bool ResolveLanes(Warp& warp, const Inst& inst, const LaneAddresses& addresses, MemSpace space,
                  uint32_t bytes, uint32_t alignment, Access access, LanePointers* out) {
  const uint32_t mask = warp.mask;
  if (mask == 0) return true;
  const int first = __builtin_ctz(mask);
  const uint64_t at_first = addresses.at[first];
  // Bounds and alignment of all executing lanes, and how they lie; the others count as the first.
  uint64_t lowest = at_first, highest = at_first, low_bits = 0, stride_error = 0, differ = 0;
  if (mask == ~0u) {
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const uint64_t a = addresses.at[lane];
      lowest = std::min(lowest, a);
      highest = std::max(highest, a);
      low_bits |= a;
      differ |= a ^ at_first;
      stride_error |= a ^ (at_first + uint64_t(lane) * bytes);
    }
  } else {
    stride_error = 1;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const uint64_t a = (mask >> lane & 1) != 0 ? addresses.at[lane] : at_first;
      lowest = std::min(lowest, a);
      highest = std::max(highest, a);
      low_bits |= a;
      differ |= a ^ at_first;
    }
  }
  out->pattern = AccessPattern::kScattered;
  if ((low_bits & (alignment - 1)) == 0 && highest - lowest < (uint64_t{1} << 40)) {
    const uint64_t span = highest - lowest + bytes;
    // One check for the warp where one piece of memory holds all lanes; whatever does not fit goes lane by
    // lane.
    uint8_t* host = nullptr;
    MemSpace real = space;
    uint64_t base = lowest;
    if (space == MemSpace::kGeneric) {
      if (highest < kSharedWindow || lowest >= kParamWindow + kParamWindowSize) {
        real = MemSpace::kGlobal;
      } else if (SpaceOfGeneric(lowest) == SpaceOfGeneric(highest)) {
        real = SpaceOfGeneric(lowest);
        if (real != MemSpace::kGlobal) base = lowest & (kSharedWindowSize - 1);
      }
    }
    switch (real) {
      case MemSpace::kGlobal:
        host = warp.mem->Translate(base, span, access);
        break;
      case MemSpace::kShared:
      case MemSpace::kSharedCluster:
        if (base < warp.shared_bytes && span <= warp.shared_bytes - base) host = warp.shared + base;
        break;
      case MemSpace::kEntryParam:
        if (access == Access::kRead && base < warp.kernel_param_bytes &&
            span <= warp.kernel_param_bytes - base)
          host = const_cast<uint8_t*>(warp.kernel_params) + base;
        break;
      case MemSpace::kLocal:
        if (base < warp.local_bytes && span <= warp.local_bytes - base) {
          uint8_t* lane_zero = warp.local + base;
          for (int lane = 0; lane < kWarpSize; ++lane)
            out->at[lane] = lane_zero + (addresses.at[lane] - lowest) + uint64_t(lane) * warp.local_bytes;
          if (warp.log != nullptr) [[unlikely]]
            LogLanes(warp, real, access, addresses, lowest - base, bytes, *out);
          return true;
        }
        break;
      case MemSpace::kFrameParam: {
        const uint64_t limit = warp.frame->function->param_bytes;
        if (base < limit && span <= limit - base) {
          uint8_t* lane_zero = warp.frame->params + base;
          for (int lane = 0; lane < kWarpSize; ++lane)
            out->at[lane] = lane_zero + (addresses.at[lane] - lowest) + uint64_t(lane) * limit;
          if (warp.log != nullptr) [[unlikely]]
            LogLanes(warp, real, access, addresses, lowest - base, bytes, *out);
          return true;
        }
        break;
      }
      case MemSpace::kGeneric:
        break;
    }
    if (host != nullptr) {
      if (differ == 0)
        out->pattern = AccessPattern::kUniform;
      else if (stride_error == 0)
        out->pattern = AccessPattern::kContiguous;
      // Integers, since lanes that do not execute may hold any address.
      const uint64_t delta = reinterpret_cast<uint64_t>(host) - lowest;
      for (int lane = 0; lane < kWarpSize; ++lane)
        out->at[lane] = reinterpret_cast<uint8_t*>(addresses.at[lane] + delta);
      if (warp.log != nullptr) [[unlikely]]
        LogLanes(warp, real, access, addresses, lowest - base, bytes, *out);
      return true;
    }
  }
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    out->at[lane] = ResolveLane(warp, inst, addresses.at[lane], space, bytes, alignment, access, lane);
    if (out->at[lane] == nullptr) return false;
  }
  return true;
}

}  // namespace understudy::emu::ptx
