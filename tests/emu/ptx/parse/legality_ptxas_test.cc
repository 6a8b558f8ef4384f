// SPDX-License-Identifier: Apache-2.0
// The parser takes and refuses what ptxas takes and refuses: instructions near every form, with one mistake
// or two in a modifier, a type, an operand, the PTX version or the target. ptxas's answers are recorded;
// where ptxas is installed it is asked as well.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>

#include "emu/ptx/conform/vectors.h"
#include "tests/emu/ptx/parse/legality_answers.h"
#include "tests/emu/ptx/parse/ptxas.h"

namespace understudy::emu::ptx {
namespace {

std::vector<Answer> Recorded() {
  const auto text = conform::ReadVectorFile("tests/data/ptx/legality.txt.zst");
  return text.ok() ? ParseAnswers(*text) : std::vector<Answer>{};
}

std::map<Case, std::string> KnownDifferences() {
  std::ifstream file("tests/data/ptx/legality_differences.txt");
  return ParseDifferences({std::istreambuf_iterator<char>(file), {}});
}

// What the parser says of each, in the order asked.
std::map<Case, std::string> AskParserAll(const std::vector<Answer>& answers) {
  std::vector<Case> cases;
  for (const Answer& answer : answers) cases.push_back(answer.asked);
  std::map<Case, std::string> out;
  for (const Group& group : Grouped(std::move(cases))) {
    const auto said = AskParser(group.version, group.target, group.instructions);
    for (size_t i = 0; i < said.size(); ++i)
      out[{group.version, group.target, group.instructions[i]}] = said[i];
  }
  return out;
}

std::string Show(const Case& one) { return one.version + " " + one.target + " " + one.instruction; }

TEST(PtxLegality, TakesAndRefusesWhatPtxasDoes) {
  const std::vector<Answer> recorded = Recorded();
  ASSERT_GE(recorded.size(), 7000u);
  const std::map<Case, std::string> known = KnownDifferences();
  const std::map<Case, std::string> ours = AskParserAll(recorded);
  size_t taken = 0, differ = 0;
  std::set<Case> seen;
  for (const Answer& answer : recorded) {
    const std::string& message = ours.at(answer.asked);
    taken += answer.taken;
    seen.insert(answer.asked);
    const auto it = known.find(answer.asked);
    if (answer.taken == message.empty()) {
      EXPECT_EQ(it, known.end()) << "no longer a difference: " << Show(answer.asked);
      continue;
    }
    ++differ;
    EXPECT_NE(it, known.end()) << Show(answer.asked) << "\nptxas " << (answer.taken ? "takes" : "refuses")
                               << " it, the parser " << (message.empty() ? "takes it" : "says " + message);
  }
  for (const auto& [one, reason] : known) {
    EXPECT_EQ(seen.count(one), 1u) << "not recorded: " << Show(one);
    EXPECT_GT(reason.size(), 10u) << "without a reason: " << Show(one);
  }
  std::printf("%zu instructions, ptxas takes %zu; %zu differ, all listed\n", recorded.size(), taken, differ);
  EXPECT_GE(taken, 2000u);
  EXPECT_LE(differ * 100, recorded.size() * 2);
}

// Each refusal says where, on the instruction's own line, and an error does not spill over to the next line:
// ptxas's answers were of many instructions in one module, the parser's are of each by itself.
TEST(PtxLegality, ErrorsKeepToTheirLines) {
  const std::vector<Answer> recorded = Recorded();
  size_t checked = 0;
  for (size_t i = 0; i < recorded.size(); i += 29) {
    const Case& one = recorded[i].asked;
    const auto alone = AskParser(one.version, one.target, {one.instruction});
    const auto between =
        AskParser(one.version, one.target, {"add.s32 %r1, %r2, %r3;", one.instruction, "mov.b32 %r1, %r2;"});
    EXPECT_EQ(between[0], "") << Show(one);
    EXPECT_EQ(between[1], alone[0]) << Show(one);
    EXPECT_EQ(between[2], "") << Show(one);
    ++checked;
  }
  EXPECT_GE(checked, 400u);
}

class Ptxas : public testing::Test {
 protected:
  void SetUp() override {
    path_ = PtxasPath();
    if (path_.empty()) GTEST_SKIP() << "no ptxas: neither $UNDERSTUDY_PTXAS nor /usr/local/cuda/bin/ptxas";
    if (PtxasRelease(path_) != "13.0")
      GTEST_SKIP() << "ptxas " << PtxasRelease(path_) << ": the table of forms is held to 13.0";
  }
  std::string path_;
};

// The recording is what ptxas says.
TEST_F(Ptxas, SaysWhatIsRecorded) {
  const std::vector<Answer> recorded = Recorded();
  std::map<Case, bool> taken;
  std::vector<Case> cases;
  for (const Answer& answer : recorded) {
    taken[answer.asked] = answer.taken;
    cases.push_back(answer.asked);
  }
  size_t which = 0;
  for (const Group& group : Grouped(std::move(cases), 100)) {
    if (++which % 16 != 0) continue;  // ptxas is started several times a group
    const auto said = AskPtxas(path_, group.version, group.target, group.instructions);
    for (size_t i = 0; i < said.size(); ++i) {
      const Case one{group.version, group.target, group.instructions[i]};
      EXPECT_EQ(said[i].empty(), taken.at(one)) << Show(one) << "\n" << said[i];
    }
  }
}

// Instructions that no list of differences has seen.
TEST_F(Ptxas, AgreesOnOtherInstructions) {
  size_t asked = 0, differ = 0, which = 0;
  std::string list;
  for (const Group& group : Grouped(NearForms(20250, 0, 5))) {
    if (++which % 2 != 0) continue;
    const auto theirs = AskPtxas(path_, group.version, group.target, group.instructions);
    const auto ours = AskParser(group.version, group.target, group.instructions);
    for (size_t i = 0; i < theirs.size(); ++i) {
      if (theirs[i][0] == '?') continue;
      ++asked;
      if (theirs[i].empty() == ours[i].empty()) continue;
      ++differ;
      list += group.version + " " + group.target + " " + group.instructions[i] + "\n  ptxas: " + theirs[i] +
              "\n  parser: " + ours[i] + "\n";
    }
  }
  std::printf("%zu other instructions, %zu differ\n%s", asked, differ, list.c_str());
  EXPECT_GE(asked, 500u);
  EXPECT_LE(differ * 100, asked * 3) << list;
}

}  // namespace
}  // namespace understudy::emu::ptx
