// SPDX-License-Identifier: Apache-2.0
// Any kernel descriptor with any launch is refused with a message, or starts: the dispatch ends, faults with
// a message or is still running when its steps are used up.
//
// Input: byte 0 the generation, byte 1 where scratch, kernel arguments and packet are (bits 0 to 2; elsewhere
// where nothing is mapped), strict mode (bit 3); 64 bytes of descriptor; six 16-bit sizes of grid and
// workgroup; 16 bits of dynamic LDS; 16 bits of scratch waves; 16 bits of stack.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "emu/amd/core/dispatch.h"
#include "emu/amd/core/kernel_descriptor.h"
#include "emu/memory/address_space.h"

namespace {

using namespace understudy::emu;
using namespace understudy::emu::amd;

constexpr uint64_t kImageVa = 0x10000, kKernargVa = 0x20000, kPacketVa = 0x30000, kScratchVa = 0x1000000,
                   kNowhere = 0x7fff00000000;
constexpr uint64_t kSteps = 2000;
constexpr uint64_t kMostScratch = 8 << 20;
constexpr size_t kHeader = 2, kSizes = 9;

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kHeader) return 0;
  const Isa isa = kAllIsas[data[0] % std::size(kAllIsas)];
  const uint8_t flags = data[1];
  // A block of exactly what is there, so that ASAN sees a read past the end.
  const std::vector<uint8_t> bytes(data + kHeader, data + std::min(size, kHeader + KernelDescriptor::kBytes));
  const auto descriptor = ParseKernelDescriptor(bytes.data(), bytes.size());
  if (!descriptor.ok()) {
    Require(!descriptor.status().message().empty());
    return 0;
  }
  uint16_t sizes[kSizes] = {1, 1, 1, 64, 1, 1, 0, 4, 0};
  const size_t rest = kHeader + KernelDescriptor::kBytes;
  if (size > rest) std::memcpy(sizes, data + rest, std::min(size - rest, sizeof sizes));

  std::vector<uint8_t> image(4096), arguments(4096), packet(64);
  const uint32_t end = IsCdna(isa) ? 0xbf810000 : 0xbfb00000;
  for (size_t at = 0; at < image.size(); at += 4) std::memcpy(&image[at], &end, 4);
  AddressSpace memory;
  const auto map = [&memory](uint64_t va, std::vector<uint8_t>& block, Perm perm) {
    if (!block.empty()) Require(memory.Map(va, block.size(), block.data(), perm, "fuzz").ok());
  };
  map(kImageVa, image, Perm::kReadExec);
  map(kKernargVa, arguments, Perm::kRead);
  map(kPacketVa, packet, Perm::kRead);
  KernelLaunch launch;
  launch.descriptor_va = kImageVa;
  for (int k = 0; k < 3; ++k) launch.grid[k] = sizes[k], launch.workgroup[k] = sizes[3 + k];
  launch.dynamic_lds = sizes[6];
  launch.scratch_waves = sizes[7] % 64;
  launch.stack_per_lane = sizes[8];
  launch.scratch_va = (flags & 1) != 0 ? kNowhere : kScratchVa;
  launch.kernarg_va = (flags & 2) != 0 ? kNowhere : kKernargVa;
  launch.dispatch_packet_va = (flags & 4) != 0 ? kNowhere : kPacketVa;
  const uint64_t scratch_bytes = ScratchBytes(isa, *descriptor, launch);
  std::vector<uint8_t> scratch(scratch_bytes <= kMostScratch ? scratch_bytes : 0);
  map(kScratchVa, scratch, Perm::kReadWrite);

  const auto regs = MakeDispatchRegs(isa, *descriptor, launch, &memory);
  if (!regs.ok()) {
    Require(!regs.status().message().empty());
    return 0;
  }
  Dispatch::Options options;
  options.instruction_budget = kSteps;
  if ((flags & 8) != 0) {
    options.checks.waits = options.checks.hazards = options.checks.uninit = options.checks.races =
        CheckMode::kWarn;
  }
  Dispatch dispatch(isa, *regs, &memory, options);
  const Dispatch::State state = dispatch.Step(kSteps);
  Require(dispatch.stats().wave_instructions <= kSteps);
  if (state == Dispatch::State::kFault) Require(!dispatch.fault().message.empty());
  return 0;
}
