// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/core/kernel_runner.h"

#include <gtest/gtest.h>

#include "emu/amd/core/kernel_descriptor.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "tests/emu/amd/asm/assembler.h"
#include "tests/emu/amd/evidence/evidence.h"

namespace understudy::emu::amd {

KernelRunner::KernelRunner(int wave_size, Isa isa) : wave_size_(wave_size), isa_(isa), cache_(isa) {
  options.program_cache = &cache_;
  // 64 VGPRs (CDNA: 64 AGPRs more, and all SGPRs); denormals kept; no LDS.
  regs.rsrc1 = (wave_size == 32 ? 7u : 15u) | 0xf0u << 12;
  if (IsCdna(isa)) {
    US_CHECK(wave_size == 64) << "CDNA has waves of 64 lanes";
    regs.rsrc1 |= 13u << 6;
    regs.rsrc3 = 64 / 4 - 1;
  }
  regs.initiator = wave_size == 32 ? kCsW32En : 0;
  regs.pgm_addr = kProgramVa;
  regs.num_thread[0] = static_cast<uint32_t>(wave_size);
  options.instruction_budget = 10'000'000;
}

KernelRunner::~KernelRunner() { RecordExecuted(cache_); }

void KernelRunner::Program(const std::string& assembly) {
  RecordExecuted(cache_);
  cache_.Invalidate();
  const std::string wave = !IsRdna(isa_) ? "" : wave_size_ == 64 ? "+wavefrontsize64" : "+wavefrontsize32";
  auto code = Assemble(IsaTarget(isa_), assembly, wave + features);
  ASSERT_TRUE(code.ok()) << code.status().ToString();
  if (!program_.empty()) US_CHECK_OK(memory.Unmap(kProgramVa, program_.size()));
  program_ = *std::move(code);
  program_.resize(AlignUp(program_.size() + 64, 256));
  US_CHECK_OK(memory.Map(kProgramVa, program_.size(), program_.data(), Perm::kReadExec, "program"));
}

int KernelRunner::AddBuffer(size_t words, Perm perm) {
  const int index = static_cast<int>(buffers_.size());
  buffers_.push_back(std::make_unique<std::vector<uint32_t>>(words));
  const uint64_t va = BufferVa(index);
  US_CHECK_OK(memory.Map(va, 4 * words, reinterpret_cast<uint8_t*>(buffers_.back()->data()), perm,
                         "buffer" + std::to_string(index)));
  regs.user_data[2 * index] = static_cast<uint32_t>(va);
  regs.user_data[2 * index + 1] = static_cast<uint32_t>(va >> 32);
  regs.rsrc2 = (regs.rsrc2 & ~0x3eu) | static_cast<uint32_t>(2 * buffers_.size()) << 1;
  return index;
}

void KernelRunner::ReserveScratch(uint32_t bytes_per_lane, uint32_t waves) {
  const uint32_t wave_bytes = ScratchWaveBytes(isa_, bytes_per_lane, wave_size_);
  scratch_.assign(uint64_t{wave_bytes} * waves, 0);
  US_CHECK_OK(memory.Map(kScratchVa, scratch_.size(), scratch_.data(), Perm::kReadWrite, "scratch"));
  regs.scratch_base = kScratchVa;
  regs.tmpring_size = TmpringSize(isa_, waves, wave_bytes);
  regs.rsrc2 |= 1;
}

std::unique_ptr<Dispatch> KernelRunner::Start() {
  return std::make_unique<Dispatch>(isa_, regs, &memory, options);
}

void KernelRunner::Run() {
  auto dispatch = Start();
  ASSERT_EQ(dispatch->Step(options.instruction_budget + 1), Dispatch::State::kDone)
      << dispatch->fault().message;
}

WaveFault KernelRunner::RunToFault() {
  auto dispatch = Start();
  EXPECT_EQ(dispatch->Step(options.instruction_budget + 1), Dispatch::State::kFault);
  return dispatch->fault();
}

}  // namespace understudy::emu::amd
