// SPDX-License-Identifier: Apache-2.0
// Every float form that an H200 has answered (tests/data/conformance/ptx/h200.jsonl), executor by executor.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/emu/ptx/semantics/float_harness.h"

namespace understudy::emu::ptx {
namespace {

int RegisterBits(char kind) { return kind == 'p' ? 1 : kind == 'h' ? 16 : kind == 'r' ? 32 : 64; }

TEST(FloatForms, AnswerWhatAnH200Answered) {
  std::ifstream file("tests/data/conformance/ptx/h200.jsonl");
  ASSERT_TRUE(file.good());
  int forms = 0, equal = 0;
  std::string line;
  while (std::getline(file, line)) {
    const nlohmann::json row = nlohmann::json::parse(line);
    const std::string op = row["op"];
    if (op[0] == '{') continue;
    std::vector<int> registers = {RegisterBits(row["d"].get<std::string>()[0])};
    for (char kind : row["s"].get<std::string>()) registers.push_back(RegisterBits(kind));
    FloatHarness harness(op.substr(0, op.find(' ')), registers);
    if (!harness.ok()) {
      EXPECT_EQ(harness.exec().note, "") << op;
      continue;
    }
    ++forms;
    const size_t count = row["out"].size();
    int wrong = 0;
    std::string shown;
    for (size_t begin = 0; begin < count; begin += 32) {
      std::vector<std::vector<uint64_t>> sources;
      for (const auto& values : row["in"]) {
        std::vector<uint64_t> lanes;
        for (size_t i = begin; i < std::min(begin + 32, count); ++i)
          lanes.push_back(std::stoull(values[i].get<std::string>(), nullptr, 16));
        sources.push_back(lanes);
      }
      const std::vector<uint64_t> out = harness.Run(sources);
      for (size_t i = 0; i < sources[0].size(); ++i) {
        const uint64_t want = std::stoull(row["out"][begin + i].get<std::string>(), nullptr, 16);
        if (out[i] == want) continue;
        if (++wrong > 4) continue;
        char text[200];
        std::snprintf(text, sizeof text, "\n  %llx %llx %llx -> %llx, the H200 %llx",
                      static_cast<unsigned long long>(sources[0][i]),
                      static_cast<unsigned long long>(sources.size() > 1 ? sources[1][i] : 0),
                      static_cast<unsigned long long>(sources.size() > 2 ? sources[2][i] : 0),
                      static_cast<unsigned long long>(out[i]), static_cast<unsigned long long>(want));
        shown += text;
      }
    }
    equal += wrong == 0;
    EXPECT_EQ(wrong, 0) << op << shown;
  }
  std::printf("%d of %d float forms bit-equal\n", equal, forms);
  EXPECT_GE(forms, 500);
}

}  // namespace
}  // namespace understudy::emu::ptx
