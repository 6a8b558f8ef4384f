// SPDX-License-Identifier: Apache-2.0
// Random wave programs compute what an oracle apart from the emulator computes for each thread, on every
// generation, in waves of 32 and of 64 lanes alike.
#include <gtest/gtest.h>

#include <random>

#include "absl/strings/str_format.h"
#include "emu/amd/decode/inst.h"
#include "tests/emu/amd/core/kernel_runner.h"
#include "tests/emu/amd/random/program.h"

namespace understudy::emu::amd::random {
namespace {

constexpr uint64_t kPrograms = 150;  // per generation and wave size

State InitialState(uint64_t seed) {
  std::mt19937_64 random(seed ^ 0x5eed);
  State state;
  const auto word = [&]() -> uint32_t {
    static constexpr uint32_t kEdges[] = {
        0,          1,          31,         0x7fffffff, 0x80000000, 0xffffffff, 0x3f800000, 0xbf800000,
        0x00800000, 0x00400000, 0x80000001, 0x7f7fffff, 0x7f800000, 0x3c003c00, 0x40000000, 0x4b800001};
    switch (random() % 4) {
      case 0:
        return kEdges[random() % std::size(kEdges)];
      case 1:  // a float of moderate size
        return (static_cast<uint32_t>(random()) & 0x807fffff) | static_cast<uint32_t>(117 + random() % 24)
                                                                    << 23;
      default:
        return static_cast<uint32_t>(random());
    }
  };
  for (auto& thread : state.vectors) {
    for (uint32_t& v : thread) v = word();
  }
  for (uint32_t& v : state.scalars) v = word();
  return state;
}

struct Machine {
  Isa isa;
  int wave_size;
};

// "" when the emulator agrees with the oracle on this program.
std::string Difference(const Program& program, uint64_t seed, const Machine& machine) {
  const State initial = InitialState(seed), want = Evaluate(program, initial);
  KernelRunner runner(machine.wave_size, machine.isa);
  runner.regs.num_thread[0] = kThreads;
  runner.regs.rsrc2 |= 1u << 15;  // the smallest LDS block holds the 64 slots on every generation
  const std::string text = AssemblyOf(program, machine.isa, machine.wave_size);
  runner.Program(text);
  if (::testing::Test::HasFatalFailure()) return text;
  const int vectors = runner.AddBuffer(kThreads * kVectors), scalars = runner.AddBuffer(kScalars),
            out = runner.AddBuffer(kThreads * kScalars);
  for (int t = 0; t < kThreads; ++t) {
    for (int i = 0; i < kVectors; ++i) {
      runner.Buffer(vectors)[static_cast<size_t>(t * kVectors + i)] =
          initial.vectors[static_cast<size_t>(t)][static_cast<size_t>(i)];
    }
  }
  std::copy(initial.scalars.begin(), initial.scalars.end(), runner.Buffer(scalars).begin());
  runner.Run();
  if (::testing::Test::HasFatalFailure()) return text;
  for (int t = 0; t < kThreads; ++t) {
    for (int i = 0; i < kVectors; ++i) {
      const uint32_t got = runner.Buffer(vectors)[static_cast<size_t>(t * kVectors + i)];
      const uint32_t expected = want.vectors[static_cast<size_t>(t)][static_cast<size_t>(i)];
      if (got != expected)
        return absl::StrFormat("thread %d v%d: got %08x, oracle %08x\n%s", t, i + 4, got, expected, text);
    }
    for (int i = 0; i < kScalars; ++i) {
      const uint32_t got = runner.Buffer(out)[static_cast<size_t>(t * kScalars + i)];
      if (got != want.scalars[static_cast<size_t>(i)]) {
        return absl::StrFormat("thread %d s%d: got %08x, oracle %08x\n%s", t, i + 8, got,
                               want.scalars[static_cast<size_t>(i)], text);
      }
    }
  }
  return "";
}

// Every list of statements in the tree.
void Lists(std::vector<Statement>* statements, std::vector<std::vector<Statement>*>* out) {
  out->push_back(statements);
  for (Statement& s : *statements) {
    if (!s.body.empty()) Lists(&s.body, out);
    if (!s.otherwise.empty()) Lists(&s.otherwise, out);
  }
}

// Drops statements as long as the difference stays.
std::string Smallest(Program program, uint64_t seed, const Machine& machine, std::string difference) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    std::vector<std::vector<Statement>*> lists;
    Lists(&program.statements, &lists);
    for (size_t l = 0; l < lists.size() && !smaller; ++l) {
      for (size_t i = 0; i < lists[l]->size() && !smaller; ++i) {
        const Statement dropped = (*lists[l])[i];
        lists[l]->erase(lists[l]->begin() + static_cast<std::ptrdiff_t>(i));
        const std::string still = Difference(program, seed, machine);
        if (!still.empty()) {
          difference = still;
          smaller = true;
        } else {
          lists[l]->insert(lists[l]->begin() + static_cast<std::ptrdiff_t>(i), dropped);
        }
      }
    }
  }
  return difference;
}

class RandomPrograms : public ::testing::TestWithParam<Machine> {};

TEST_P(RandomPrograms, AgreeWithTheOracle) {
  Inst inst;
  const uint8_t nop[] = {0, 0, 0x80, 0xbf};
  ASSERT_TRUE(DecodeInto(GetParam().isa, nop, sizeof(nop), &inst).ok()) << "no decoder";
  for (uint64_t seed = 1; seed <= kPrograms; ++seed) {
    const Program program = Generate(seed);
    const std::string difference = Difference(program, seed, GetParam());
    if (difference.empty()) continue;
    FAIL() << "seed " << seed << ": " << Smallest(program, seed, GetParam(), difference);
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, RandomPrograms,
                         ::testing::Values(Machine{Isa::kRdna3, 32}, Machine{Isa::kRdna3, 64},
                                           Machine{Isa::kRdna35, 32}, Machine{Isa::kRdna4, 32},
                                           Machine{Isa::kRdna4, 64}, Machine{Isa::kCdna2, 64},
                                           Machine{Isa::kCdna3, 64}, Machine{Isa::kCdna4, 64}),
                         [](const auto& info) {
                           return std::string(IsaTarget(info.param.isa)) + "Wave" +
                                  std::to_string(info.param.wave_size);
                         });

}  // namespace
}  // namespace understudy::emu::amd::random
