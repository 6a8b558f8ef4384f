// SPDX-License-Identifier: Apache-2.0
#pragma once
// The fatbinary container that nvcc puts into programs: PTX and machine code for several GPUs in one blob,
// plain or compressed. The driver takes the PTX that fits its device best. Any bytes are safe; machine code
// is listed and never read.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace understudy::mockgpu::nv {

constexpr uint32_t kFatbinMagic = 0xba55ed50, kFatbinWrapperMagic = 0x466243b1;
constexpr size_t kFatbinHeaderBytes = 16;

enum class FatbinKind : uint16_t { kPtx = 1, kElf = 2 };

struct FatbinEntry {
  FatbinKind kind = FatbinKind::kPtx;
  int sm = 0;                // 90
  int major = 0, minor = 0;  // of the format: the PTX ISA's version
  bool compressed = false;
  std::string text;  // of PTX, decompressed, without the zero at its end; empty for machine code
};

// Size of the whole container from its header, or 0 when `header` (kFatbinHeaderBytes long) begins no
// container.
uint64_t FatbinBytes(const uint8_t* header);

// InvalidArgument says what is wrong where; Unimplemented names a compression or kind that is not known.
absl::StatusOr<std::vector<FatbinEntry>> ReadFatbin(absl::Span<const uint8_t> bytes);

// The entry of PTX with the highest target that a device of `sm` (90) runs: targets up to its own, and such
// with the suffix of an architecture ("sm_90a") only for exactly it. nullptr: none.
const FatbinEntry* ChoosePtx(const std::vector<FatbinEntry>& entries, int sm, bool accelerated);
// "PTX sm_80, machine code sm_90"
std::string ListEntries(const std::vector<FatbinEntry>& entries);

}  // namespace understudy::mockgpu::nv
