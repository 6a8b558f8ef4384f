// SPDX-License-Identifier: Apache-2.0
// The mock library answers as NVIDIA's did on an H200, case by case: tests/data/cuda/h200_driver.txt holds
// the answers (of hw_tests/cuda_driver there), mock_differences.txt the cases that differ, each with its
// reason.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

// Case to answer. A name that comes again has its number after it.
std::map<std::string, std::string> Answers(const std::vector<std::string>& lines) {
  std::map<std::string, std::string> out;
  for (const std::string& line : lines) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    std::string name = line.substr(0, colon);
    for (int again = 2; out.count(name) != 0; ++again)
      name = line.substr(0, colon) + "#" + std::to_string(again);
    out[name] = line.substr(colon + 2);
  }
  return out;
}

std::vector<std::string> ReadLines(std::FILE* file) {
  std::vector<std::string> lines(1);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += static_cast<char>(c);
  }
  return lines;
}

std::vector<std::string> ReadFile(const std::string& name) {
  std::ifstream in(name);
  EXPECT_TRUE(in.good()) << name;
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(H200Driver, EveryCaseIsAnsweredAsOnTheCard) {
  // One process a section; the card's faults are final, so the mock's are here.
  std::FILE* const probe = popen(
      "UNDERSTUDY_CUDA_GPUS=h200 UNDERSTUDY_CUDA_FAULTS=final hw_tests/cuda_driver/probe --jobs 2 --library "
      "mockgpu/nv/cuda/libcuda.so.1 2>/dev/null",
      "r");
  ASSERT_NE(probe, nullptr);
  const std::map<std::string, std::string> mock = Answers(ReadLines(probe));
  EXPECT_EQ(pclose(probe), 0);
  const std::map<std::string, std::string> card = Answers(ReadFile("tests/data/cuda/h200_driver.txt"));
  EXPECT_GT(card.size(), 4800u);

  struct Known {
    std::string name;
    bool all = false, used = false;
  };
  std::vector<Known> known;
  for (const std::string& line : ReadFile("tests/data/cuda/mock_differences.txt")) {
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.find(' ');
    ASSERT_NE(space, std::string::npos) << "no reason: " << line;
    std::string name = line.substr(0, space);
    const bool all = name.back() == '*';
    if (all) name.pop_back();
    known.push_back({name, all, false});
  }
  size_t same = 0, differ = 0;
  for (const auto& [name, answer] : card) {
    const auto it = mock.find(name);
    const std::string here = it == mock.end() ? "not reached" : it->second;
    if (here == answer) {
      ++same;
      continue;
    }
    bool expected = false;
    for (Known& k : known)
      if (k.all ? name.rfind(k.name, 0) == 0 : name == k.name) expected = k.used = true;
    differ += expected;
    EXPECT_TRUE(expected) << name << ": " << answer << " on the card, " << here << " here";
  }
  for (const Known& k : known) EXPECT_TRUE(k.used) << "no longer differs: " << k.name;
  // A section that ended early would have hidden its cases.
  for (const auto& [name, answer] : mock)
    EXPECT_TRUE(name.find(".ended") == std::string::npos && name.find(".needs ") == std::string::npos)
        << name << ": " << answer;
  std::printf("%zu cases as on the card, %zu that differ are listed\n", same, differ);
}

}  // namespace
