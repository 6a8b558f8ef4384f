// SPDX-License-Identifier: Apache-2.0
// Programs of random instructions: whatever they do to memory and to themselves, they end in a state or a
// named fault, and a second run, cut into other steps, ends in the same one.

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "emu/amd/core/dispatch.h"
#include "emu/amd/core/kernel_descriptor.h"
#include "emu/amd/decode/inst.h"
#include "src/base/status.h"

namespace understudy::emu::amd {
namespace {

constexpr uint64_t kProgramVa = 0x10000, kBufferVa = 0, kScratchVa = 0x40000;

// Fixed bits of the encodings, drawn equally often, so that vector and memory instructions are not crowded
// out: {mask of the drawn bits, fixed bits}.
using Prefixes = std::vector<std::pair<uint32_t, uint32_t>>;

const Prefixes& PrefixesOf(Isa isa) {
  static const auto* rdna3 = new Prefixes{
      {0x01ffffff, 0x7e000000}, {0x03ffffff, 0xd4000000}, {0x03ffffff, 0xd8000000}, {0x03ffffff, 0xdc000000},
      {0x03ffffff, 0xe0000000}, {0x03ffffff, 0xcc000000}, {0x03ffffff, 0xc8000000}, {0x01ffffff, 0x7c000000},
      {0x007fffff, 0xbe800000}, {0x03ffffff, 0xf4000000}, {0x7fffffff, 0x00000000}, {0x3fffffff, 0x80000000},
      {0x0fffffff, 0xb0000000}, {0x007fffff, 0xbf000000}, {0x007fffff, 0xbf800000}};
  static const auto* rdna4 = new Prefixes{
      {0x01ffffff, 0x7e000000}, {0x03ffffff, 0xd4000000}, {0x03ffffff, 0xd8000000}, {0x03ffffff, 0xec000000},
      {0x03ffffff, 0xc4000000}, {0x03ffffff, 0xcc000000}, {0x03ffffff, 0xc8000000}, {0x01ffffff, 0x7c000000},
      {0x007fffff, 0xbe800000}, {0x03ffffff, 0xf4000000}, {0x7fffffff, 0x00000000}, {0x3fffffff, 0x80000000},
      {0x0fffffff, 0xb0000000}, {0x007fffff, 0xbf000000}, {0x007fffff, 0xbf800000}};
  static const auto* cdna = new Prefixes{
      {0x01ffffff, 0x7e000000}, {0x03ffffff, 0xd0000000}, {0x007fffff, 0xd3800000}, {0x03ffffff, 0xd8000000},
      {0x03ffffff, 0xdc000000}, {0x03ffffff, 0xe0000000}, {0x03ffffff, 0xe8000000}, {0x03ffffff, 0xc0000000},
      {0x01ffffff, 0x7c000000}, {0x007fffff, 0xbe800000}, {0x7fffff00, 0x000000f9}, {0x7fffff00, 0x000000fa},
      {0x7fffffff, 0x00000000}, {0x3fffffff, 0x80000000}, {0x0fffffff, 0xb0000000}, {0x007fffff, 0xbf000000},
      {0x007fffff, 0xbf800000}};
  return IsCdna(isa) ? *cdna : isa == Isa::kRdna4 ? *rdna4 : *rdna3;
}

struct Result {
  Dispatch::State state;
  std::string message;
  uint64_t instructions;
  std::vector<uint8_t> buffer, scratch;
  bool operator==(const Result&) const = default;
};

Result RunRandom(Isa isa, uint64_t seed, uint64_t step, uint32_t threads) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> program;
  while (program.size() < 400) {
    uint32_t words[4];
    for (uint32_t& w : words) w = static_cast<uint32_t>(random());
    const auto& prefix = PrefixesOf(isa)[random() % PrefixesOf(isa).size()];
    words[0] = (words[0] & prefix.first) | prefix.second;
    Inst inst;
    const uint8_t* bytes = reinterpret_cast<const uint8_t*>(words);
    if (DecodeInto(isa, bytes, sizeof(words), &inst).ok())
      program.insert(program.end(), bytes, bytes + inst.size);
  }
  const uint32_t endpgm = IsCdna(isa) ? 0xbf810000 : 0xbfb00000;
  const uint8_t* end = reinterpret_cast<const uint8_t*>(&endpgm);
  for (int i = 0; i < 4; ++i) program.insert(program.end(), end, end + 4);
  std::vector<uint8_t> buffer(8192), scratch(4 * 64 * 256);
  for (uint8_t& b : buffer) b = static_cast<uint8_t>(random());

  AddressSpace memory;
  US_CHECK_OK(memory.Map(kProgramVa, program.size(), program.data(), Perm::kReadExec, "program"));
  US_CHECK_OK(memory.Map(kBufferVa, buffer.size(), buffer.data(), Perm::kReadWrite, "buffer"));
  US_CHECK_OK(memory.Map(kScratchVa, scratch.size(), scratch.data(), Perm::kReadWrite, "scratch"));
  DispatchRegs regs;
  const bool wave32 = random() % 2 == 0 && IsRdna(isa);
  regs.pgm_addr = kProgramVa;
  regs.rsrc1 = (wave32 ? 31u : 63u) | static_cast<uint32_t>(random() % 256) << 12;
  if (IsCdna(isa)) {
    regs.rsrc1 |= 13u << 6;
    regs.rsrc3 = 63;
  }
  regs.rsrc2 = 1 | 16u << 1 | 7u << 7 | 2u << 11 | static_cast<uint32_t>(random() % 3) << 15;
  regs.num_thread[0] = 1 + static_cast<uint32_t>(random() % 128);
  regs.dim[0] = 2;
  regs.initiator = wave32 ? kCsW32En : 0;
  regs.scratch_base = kScratchVa;
  regs.tmpring_size = TmpringSize(isa, 4, ScratchWaveBytes(isa, 64, wave32 ? 32 : 64));
  for (uint32_t& u : regs.user_data)
    u = static_cast<uint32_t>(random() % 3 == 0 ? random() : random() % 6000);
  Dispatch::Options options;
  options.instruction_budget = 5000;
  options.threads = threads;
  options.vgpr_fill = static_cast<uint32_t>(random() % 4 == 0 ? random() : random() % 6000);

  Result result{Dispatch::State::kRunning, "", 0, {}, {}};
  // A program rarely gets far: what is refused or faults is replaced by s_nop, and the run starts again.
  for (int attempt = 0; attempt < 40; ++attempt) {
    Dispatch dispatch(isa, regs, &memory, options);
    while (dispatch.Step(step) == Dispatch::State::kRunning) {
    }
    result.state = dispatch.state();
    result.instructions += dispatch.stats().wave_instructions;
    if (result.state == Dispatch::State::kDone) break;
    const WaveFault& fault = dispatch.fault();
    EXPECT_NE(fault.kind, FaultKind::kNone);
    EXPECT_FALSE(fault.message.empty());
    result.message += fault.message + "\n";
    Inst inst;
    const uint64_t at = fault.pc - kProgramVa;
    if (at >= program.size() || !DecodeInto(isa, &program[at], program.size() - at, &inst).ok()) break;
    for (int i = 0; i < inst.size; i += 4) {
      constexpr uint32_t kNop = 0xbf800000;
      std::memcpy(&program[at + i], &kNop, 4);
    }
  }
  result.buffer = std::move(buffer);
  result.scratch = std::move(scratch);
  return result;
}

class RandomPrograms : public testing::TestWithParam<Isa> {};

TEST_P(RandomPrograms, EndInAStateThatDoesNotDependOnSteps) {
  const Isa isa = GetParam();
  uint64_t instructions = 0, done = 0;
  const uint64_t seeds = isa == Isa::kRdna3 ? 250 : 120;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const Result once = RunRandom(isa, seed, 1'000'000, 1);
    ASSERT_TRUE(once == RunRandom(isa, seed, 97, 1)) << "seed " << seed;
    instructions += once.instructions;
    done += once.state == Dispatch::State::kDone ? 1 : 0;
  }
  // The programs do run.
  EXPECT_GT(instructions, 80 * seeds);
  EXPECT_GT(done, seeds / 3);
}

// Two workgroups of a random program race for memory; on two threads they end all the same.
TEST_P(RandomPrograms, EndOnTwoThreads) {
  for (uint64_t seed = 1000; seed < 1040; ++seed) {
    const Result result = RunRandom(GetParam(), seed, 1'000'000, 2);
    EXPECT_NE(result.state, Dispatch::State::kRunning);
  }
}

INSTANTIATE_TEST_SUITE_P(Generations, RandomPrograms, testing::ValuesIn(kAllIsas),
                         [](const auto& info) { return std::string(IsaTarget(info.param)); });

}  // namespace
}  // namespace understudy::emu::amd
