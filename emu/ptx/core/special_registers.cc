// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/core/special_registers.h"

#include <cstddef>
#include <map>
#include <vector>

#include "src/base/bits.h"

namespace understudy::emu::ptx {
namespace {

struct SpecialInfo {
  std::string name;
  int bits;
  bool dynamic;
};
// By Special.
const std::vector<SpecialInfo>& Specials() {
  static const auto* const specials = [] {
    auto* list = new std::vector<SpecialInfo>;
    const auto add = [list](const std::string& name, Type type, bool dynamic) {
      list->push_back({name, TypeBits(type), dynamic});
    };
#define PTX_SREG(id, name, type, version, sm, dynamic) add(name, Type::type, dynamic);
#define PTX_SREG_VECTOR(id, name, version, sm) \
  for (const char* element : {".x", ".y", ".z", ".w"}) add(std::string(name) + element, Type::kU32, false);
#define PTX_SREG_RANGE(id, prefix, suffix, count, type, version, sm) \
  for (int i = 0; i < count; ++i) add(prefix + std::to_string(i) + suffix, Type::type, false);
#include "emu/ptx/isa/special_registers.inc"
#undef PTX_SREG_RANGE
#undef PTX_SREG_VECTOR
#undef PTX_SREG
    add("", Type::kU32, false);  // kDynamicSharedBase
    return list;
  }();
  return *specials;
}
// An H200 runs a CTA of 1024 threads in at most 64 warps of an SM.
constexpr uint32_t kWarpSlots = 64;
// Shared memory of an H200 (tests/data/ptx/special.jsonl.zst): the driver keeps the first KiB of a CTA's
// (cudaDevAttrReservedSharedMemoryPerBlock), of which it uses 288 bytes; a kernel's own is given in units of
// 128.
constexpr uint32_t kReservedShared = 1024, kReservedSharedInUse = 288, kSharedUnit = 128;

std::map<std::string, Special> MakeNames() {
  std::map<std::string, Special> names;
  for (size_t i = 0; i < Specials().size(); ++i)
    if (!Specials()[i].name.empty()) names[Specials()[i].name] = static_cast<Special>(i);
  return names;
}

uint64_t Clock(const WarpState& warp) {
  return warp.launch->executed.load(std::memory_order_relaxed) + warp.cta->cluster->executed + warp.executed +
         warp.executed_of_group;
}
// One instruction a nanosecond: near enough to the hardware for waits to end.
uint64_t Nanoseconds(const WarpState& warp) { return warp.launch->options.time_ns + Clock(warp); }

// The value that all lanes share.
uint64_t UniformValue(const WarpState& warp, Special special) {
  const Launch& launch = *warp.launch;
  const Cta& cta = *warp.cta;
  const LaunchConfig& config = launch.config;
  switch (special) {
    case Special::kNtidX:
      return config.block.x;
    case Special::kNtidY:
      return config.block.y;
    case Special::kNtidZ:
      return config.block.z;
    case Special::kCtaidX:
      return cta.id[0];
    case Special::kCtaidY:
      return cta.id[1];
    case Special::kCtaidZ:
      return cta.id[2];
    case Special::kNctaidX:
      return config.grid.x;
    case Special::kNctaidY:
      return config.grid.y;
    case Special::kNctaidZ:
      return config.grid.z;
    case Special::kClusteridX:
      return cta.cluster->id[0];
    case Special::kClusteridY:
      return cta.cluster->id[1];
    case Special::kClusteridZ:
      return cta.cluster->id[2];
    case Special::kNclusteridX:
      return launch.clusters.x;
    case Special::kNclusteridY:
      return launch.clusters.y;
    case Special::kNclusteridZ:
      return launch.clusters.z;
    case Special::kClusterCtaidX:
      return cta.rank_id[0];
    case Special::kClusterCtaidY:
      return cta.rank_id[1];
    case Special::kClusterCtaidZ:
      return cta.rank_id[2];
    case Special::kClusterNctaidX:
      return config.cluster.x;
    case Special::kClusterNctaidY:
      return config.cluster.y;
    case Special::kClusterNctaidZ:
      return config.cluster.z;
    case Special::kClusterCtarank:
      return cta.rank;
    case Special::kClusterNctarank:
      return launch.ctas_per_cluster;
    case Special::kIsExplicitCluster:
      return launch.explicit_cluster;
    case Special::kWarpid:
      return warp.index;
    case Special::kNwarpid:
      return kWarpSlots;
    case Special::kSmid:
      return static_cast<uint32_t>(cta.ordinal % launch.options.device.sm_count);
    case Special::kNsmid:
      return launch.options.device.sm_count;
    case Special::kGridid:
      return launch.options.grid_id;
    case Special::kTotalSmemSize:
      return AlignUp(launch.shared_bytes, kSharedUnit);
    case Special::kDynamicSmemSize:
      return config.dynamic_shared_bytes;
    case Special::kAggrSmemSize:
      return launch.shared_bytes + kReservedShared;
    case Special::kReservedSmemOffsetEnd:
      return kReservedSharedInUse;
    case Special::kReservedSmemOffsetCap:
      return kReservedShared;
    case Special::kClock:
    case Special::kClock64:
      return Clock(warp);
    case Special::kClockHi:
      return Clock(warp) >> 32;
    case Special::kGlobaltimer:
    case Special::kGlobaltimerLo:
      return Nanoseconds(warp);
    case Special::kGlobaltimerHi:
      return Nanoseconds(warp) >> 32;
    case Special::kDynamicSharedBase:
      return launch.dynamic_shared_base;
    case Special::kCurrentGraphExec:
      return launch.config.graph_exec;
    default:
      break;
  }
  // The halves of the grid's workspace, through which cooperative groups synchronise a grid.
  const int environment = static_cast<int>(special) - static_cast<int>(Special::kEnvreg0);
  if (environment == 1) return config.grid_workspace >> 32;
  if (environment == 2) return config.grid_workspace & 0xffffffff;
  // What the emulator does not count, the other %envreg (an H200's driver keeps numbers of its own in 0, 6
  // and 10), and the fourth elements of vectors.
  return 0;
}

}  // namespace

bool FindSpecial(const std::string& name, Special* special) {
  static const auto* const names = new std::map<std::string, Special>(MakeNames());
  auto it = names->find(name);
  if (it == names->end()) return false;
  *special = it->second;
  return true;
}

int SpecialBits(Special special) { return Specials()[static_cast<size_t>(special)].bits; }

bool IsDynamic(Special special) { return Specials()[static_cast<size_t>(special)].dynamic; }

void FillSpecial(WarpState& warp, const SpecialRow& row) {
  const Special special = static_cast<Special>(row.special);
  const Dim3 block = warp.launch->config.block;
  const uint64_t uniform = UniformValue(warp, special) + static_cast<uint64_t>(row.addend);
  uint8_t* out = warp.base[Src::kSpecialRow] + row.offset;
  if (row.bytes == 0) {
    *reinterpret_cast<uint32_t*>(out) = uniform != 0 ? ~0u : 0;
    return;
  }
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    uint64_t value = uniform;
    const uint32_t thread = warp.index * kWarpSize + lane;
    switch (special) {
      case Special::kTidX:
        value = thread % block.x;
        break;
      case Special::kTidY:
        value = thread / block.x % block.y;
        break;
      case Special::kTidZ:
        value = thread / block.x / block.y;
        break;
      case Special::kLaneid:
        value = lane;
        break;
      case Special::kLanemaskEq:
        value = 1u << lane;
        break;
      case Special::kLanemaskLe:
        value = (2u << lane) - 1;
        break;
      case Special::kLanemaskLt:
        value = (1u << lane) - 1;
        break;
      case Special::kLanemaskGe:
        value = ~((1u << lane) - 1);
        break;
      case Special::kLanemaskGt:
        value = ~((2u << lane) - 1);
        break;
      default:
        break;
    }
    if (row.bytes == 8)
      reinterpret_cast<uint64_t*>(out)[lane] = value;
    else
      reinterpret_cast<uint32_t*>(out)[lane] =
          row.bytes == 4 ? static_cast<uint32_t>(value)
                         : static_cast<uint32_t>(value) & ((1u << 8 * row.bytes) - 1);
  }
}

}  // namespace understudy::emu::ptx
