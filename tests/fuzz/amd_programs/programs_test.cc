// SPDX-License-Identifier: Apache-2.0
// The parts of the program fuzzer: seeds, reduction, and runs of work-items on the host.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "fuzz/amd_programs/generate.h"
#include "fuzz/amd_programs/host_run.h"
#include "fuzz/amd_programs/reduce.h"

namespace understudy::programs {
namespace {

TEST(Generator, TheSameSeedGivesTheSameTextAndOthersGiveOthers) {
  std::set<std::string> texts;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const std::string text = Text(Generate(seed));
    EXPECT_EQ(text, Text(Generate(seed)));
    EXPECT_NE(text.find("KERNEL(Random" + std::to_string(seed) + ") {"), std::string::npos);
    // Neighbours may not share their streams of random numbers: compare what follows the names.
    EXPECT_TRUE(texts.insert(text.substr(text.find("= "))).second) << seed;
  }
}

// Every construct is drawn; each needs what keeps it defined.
TEST(Generator, DrawsEveryConstruct) {
  std::string all;
  for (uint64_t seed = 1; seed <= 400; ++seed) all += Text(Generate(seed));
  for (const char* construct : {"uint8_t",
                                "int8_t",
                                "uint16_t",
                                "int16_t",
                                "uint32_t",
                                "int32_t",
                                "uint64_t",
                                "int64_t",
                                "uint128_t",
                                "int128_t",
                                "_Float16",
                                "float",
                                "double",
                                "struct ",
                                "packed",
                                "switch (",
                                "goto ",
                                "break;",
                                "continue;",
                                "do {",
                                "volatile ",
                                "NOINLINE",
                                "Step(",
                                "List[n & 1u](z)",
                                "BARRIER();",
                                "BALLOT(",
                                "SHUFFLE(",
                                "READ_LANE(",
                                "ATOMIC_ADD(",
                                "ATOMIC_MIN(",
                                "ATOMIC_ADD_FLOAT(",
                                "__builtin_memcpy",
                                "_overflow(",
                                "__builtin_fma",
                                "__builtin_ldexp",
                                " / ",
                                " % "}) {
    EXPECT_NE(all.find(construct), std::string::npos) << construct;
  }
}

int Removable(const std::vector<Node>& nodes) {
  int count = 0;
  for (const Node& node : nodes) count += (node.removable ? 1 : 0) + Removable(node.children);
  return count;
}

TEST(Reducer, LeavesOnlyWhatTheFailureNeeds) {
  int reduced = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Program program = Generate(seed);
    const auto holds = [](const Program& p) { return Text(p).find("_overflow(") != std::string::npos; };
    if (!holds(program)) continue;
    ++reduced;
    const Program small = Reduce(program, 10000, holds);
    EXPECT_TRUE(holds(small));
    // What is left is the statement itself and the blocks around it: two deep, each of a switch and its case.
    EXPECT_LE(Removable(small.nodes), 5) << Text(small);
  }
  EXPECT_GT(reduced, 3);
}

TEST(Reducer, StopsAtItsBound) {
  int tries = 0;
  Reduce(Generate(3), 5, [&tries](const Program&) {
    ++tries;
    return false;
  });
  EXPECT_LE(tries, 5);
}

// The sum of the group through LDS, and a vote: both need that every item reaches the barrier before any goes
// on.
void GroupSum(uint32_t i, uint32_t l, const uint32_t* in, uint32_t* out, uint32_t* mem, uint32_t* lds,
              HostItem* item) {
  lds[l] = in[i];
  item->exchange[l] = l & 1u;
  item->barrier(item);
  uint32_t sum = 0, odd = 0;
  for (uint32_t k = 0; k < kProgramGroup; ++k) sum += lds[k], odd += static_cast<uint32_t>(item->exchange[k]);
  out[0] = sum, out[1] = odd, mem[0] += 1;
}

TEST(HostRun, BarriersHoldAllItemsOfAGroup) {
  ProgramData data = MakeProgramData(7);
  ASSERT_TRUE(RunOnHost(GroupSum, 32, &data).ok());
  for (uint32_t group = 0; group < kProgramItems / kProgramGroup; ++group) {
    uint32_t sum = 0;
    for (uint32_t k = 0; k < kProgramGroup; ++k) sum += data.in[group * kProgramGroup + k];
    for (uint32_t k = 0; k < kProgramGroup; ++k) {
      EXPECT_EQ(data.out[(group * kProgramGroup + k) * kProgramOutWords], sum);
      EXPECT_EQ(data.out[(group * kProgramGroup + k) * kProgramOutWords + 1], uint32_t{kProgramGroup} / 2);
    }
  }
  EXPECT_EQ(data.mem[0], uint32_t{kProgramItems});
}

void HalfLeaves(uint32_t, uint32_t l, const uint32_t*, uint32_t*, uint32_t*, uint32_t*, HostItem* item) {
  if (l & 1u) item->barrier(item);
}

TEST(HostRun, ABarrierThatSomeNeverReachIsAnError) {
  ProgramData data = MakeProgramData(7);
  const absl::Status status = RunOnHost(HalfLeaves, 32, &data);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(std::string(status.message()).find("ended at a barrier that the others wait at"),
            std::string::npos)
      << status.ToString();
}

TEST(HostRun, TheFirstDifferenceIsNamed) {
  const ProgramData a = MakeProgramData(7);
  ProgramData b = a;
  EXPECT_EQ(FirstDifference(a, b), "");
  b.out[3 * kProgramOutWords + 2] ^= 1u;
  EXPECT_NE(FirstDifference(a, b).find("out: item 3, word 2"), std::string::npos);
  b = a, b.mem[5] ^= 1u;
  EXPECT_NE(FirstDifference(a, b).find("mem: word 5"), std::string::npos);
}

}  // namespace
}  // namespace understudy::programs
