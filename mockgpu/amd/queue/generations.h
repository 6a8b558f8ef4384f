// SPDX-License-Identifier: Apache-2.0
#pragma once
// The generations of engines that the mock machine has: graphics cores (GC) and copy engines (SDMA). The
// packet processors choose their layout by one of these when a queue is created, and ask the layout from then
// on.

#include <cstdint>
#include <optional>

namespace understudy::mockgpu::amd {

// By the headers that describe their packets and registers: kGc9 is GC 9.4.2 to 9.5 (soc15d.h, gc_9_4_3),
// kGc11 GC 11.0 and 11.5 (nvd.h, gc_11_0_0), kGc12 GC 12.0 (nvd.h, gc_12_0_0).
enum class Gc : uint8_t { kGc9, kGc11, kGc12 };
// kSdma4 is SDMA 4.4 (vega10_sdma_pkt_open.h), kSdma6 SDMA 6.0 and 6.1 (sdma_v6_0_0_pkt_open.h), kSdma7 SDMA
// 7.0 (the same, with what sdma_v7_0.c adds).
enum class Sdma : uint8_t { kSdma4, kSdma6, kSdma7 };

// Sets of generations, for tables.
constexpr uint32_t Bit(Gc gc) { return 1u << static_cast<uint32_t>(gc); }
constexpr uint32_t Bit(Sdma sdma) { return 1u << static_cast<uint32_t>(sdma); }
constexpr uint32_t kAll = ~0u;
constexpr uint32_t kGc9Only = Bit(Gc::kGc9), kGc11Up = Bit(Gc::kGc11) | Bit(Gc::kGc12);
constexpr uint32_t kSdma4Only = Bit(Sdma::kSdma4), kSdma6Up = Bit(Sdma::kSdma6) | Bit(Sdma::kSdma7);

// By major and minor version; none where no layout is known.
constexpr std::optional<Gc> GcOfVersion(uint32_t major, uint32_t minor) {
  if (major == 9 && minor >= 4) return Gc::kGc9;
  if (major == 11) return Gc::kGc11;
  if (major == 12 && minor == 0) return Gc::kGc12;
  return std::nullopt;
}
constexpr std::optional<Sdma> SdmaOfVersion(uint32_t major, uint32_t minor) {
  if (major == 4 && minor >= 4) return Sdma::kSdma4;
  if (major == 6) return Sdma::kSdma6;
  if (major == 7 && minor == 0) return Sdma::kSdma7;
  return std::nullopt;
}

}  // namespace understudy::mockgpu::amd
