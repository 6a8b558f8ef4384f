// SPDX-License-Identifier: Apache-2.0
#pragma once
// Assembles a kernel and runs it on the emulator with a handful of buffers: the harness of the core's tests.
// Buffer addresses are in user SGPRs s[0:1], s[2:3], ... in the order of AddBuffer.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emu/amd/core/dispatch.h"
#include "emu/amd/core/program_cache.h"
#include "emu/memory/address_space.h"

namespace understudy::emu::amd {

class KernelRunner {
 public:
  static constexpr uint64_t kProgramVa = 0x10000, kBufferVa = 0x1000000, kScratchVa = 0x40000000;

  explicit KernelRunner(int wave_size = 32, Isa isa = Isa::kRdna3);
  // Notes what was executed (tests/emu/amd/evidence).
  ~KernelRunner();

  // Fails the test when the text does not assemble. s_endpgm is not added.
  void Program(const std::string& assembly);
  // A zeroed buffer, mapped alone: an address past its end is unmapped. Returns its index.
  int AddBuffer(size_t words, Perm perm = Perm::kReadWrite);
  std::vector<uint32_t>& Buffer(int index) { return *buffers_[index]; }
  uint64_t BufferVa(int index) const { return kBufferVa + 0x100000 * static_cast<uint64_t>(index); }
  // gfx90a: the wave's offset follows in a system SGPR, and the program sets FLAT_SCRATCH.
  void ReserveScratch(uint32_t bytes_per_lane, uint32_t waves);

  std::unique_ptr<Dispatch> Start();
  // Runs to the end; the test fails with the fault's message if there is one.
  void Run();
  // Runs into the fault that is expected.
  WaveFault RunToFault();

  AddressSpace memory;
  DispatchRegs regs;
  Dispatch::Options options;
  std::string features;  // of the assembler, after the wave size: ",+real-true16"

 private:
  const int wave_size_;
  const Isa isa_;
  ProgramCache cache_;
  std::vector<uint8_t> program_;
  std::vector<std::unique_ptr<std::vector<uint32_t>>> buffers_;
  std::vector<uint8_t> scratch_;
};

}  // namespace understudy::emu::amd
