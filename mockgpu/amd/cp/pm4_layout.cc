// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/cp/pm4_layout.h"

#include "emu/amd/core/dispatch.h"

namespace understudy::mockgpu::amd {
namespace {

constexpr uint32_t kStateOfAll =
    emu::amd::kPartialTgEn | emu::amd::kForceStartAt000 | emu::amd::kUseThreadDimensions;
// ORDER_MODE, and the L1 volatile invalidates, which have no cache to act on.
constexpr uint32_t kHintsOfAll = 1u << 6 | 1u << 10 | 1u << 11;
constexpr uint32_t kDisableDispatchPreemption = 1u << 17;

constexpr Pm4Layout kGc9 = {
    .header = "soc15d.h",
    .acquire_mem_dwords = 6,
    .acquire_mem_caches = 1,
    // CP_COHER_CNTL: TC_NC 3, TC_WC 4, TC_INV_METADATA 5, TCL1_VOL 15, TC_WB 18, TCL1 22, TC 23, CB 25, DB
    // 26, SH_KCACHE 27, SH_KCACHE_VOL 28, SH_ICACHE 29, SH_KCACHE_WB 30.
    .acquire_mem_reserved = 0x813b7fc7,
    // TCL1_VOL 12, TC_VOL 13, TC_WB 15, TCL1 16, TC 17, TC_NC 19, TC_WC 20, TC_MD 21, cache policy 26:25,
    // EXEC 28, PQ_EXE_STATUS 29.
    .release_mem_reserved = 0xc9c440c0,
    .initiator_state = kStateOfAll,
    .initiator_hints = kHintsOfAll,
};

constexpr Pm4Layout kGc11 = {
    .header = "nvd.h",
    .acquire_mem_dwords = 7,
    .acquire_mem_caches = 7,
    .acquire_mem_reserved = 0xfff80000,  // GCR_CNTL 18:0
    // GCR_CNTL 24:12, cache policy 26:25, EXECUTE 28.
    .release_mem_reserved = 0xe80000c0,
    .initiator_state = kStateOfAll | emu::amd::kCsW32En,
    .initiator_hints = kHintsOfAll | kDisableDispatchPreemption,
};

}  // namespace

const Pm4Layout& Pm4LayoutOf(Gc gc) { return gc == Gc::kGc9 ? kGc9 : kGc11; }

}  // namespace understudy::mockgpu::amd
