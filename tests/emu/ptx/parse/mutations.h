// SPDX-License-Identifier: Apache-2.0
#pragma once
// Instructions near the legal ones: each form's examples and what becomes of them by one mistake (a modifier,
// a type, an operand, a version, a target). For tests that hold the parser to what an assembler takes. Says
// nothing of which are right.

#include <cstdint>
#include <string>
#include <vector>

namespace understudy::emu::ptx {

// One instruction of FormModule(.., version, target).
struct Case {
  std::string version, target, instruction;
  bool operator<(const Case& other) const;
  bool operator==(const Case& other) const;
};

// `examples` legal instructions of the form and `mistakes` of them with one mistake each, a few with two; the
// same for the same seed. Fewer where the form has few.
std::vector<Case> NearForm(int form, uint64_t seed, size_t examples, size_t mistakes);

// What the parser says of each instruction: "" where it takes it. All in one module, as one text.
std::vector<std::string> AskParser(const std::string& version, const std::string& target,
                                   const std::vector<std::string>& instructions);

// Cases of one version and target after the other, each group at most `limit` long.
struct Group {
  std::string version, target;
  std::vector<std::string> instructions;
};
std::vector<Group> Grouped(std::vector<Case> cases, size_t limit = 400);

}  // namespace understudy::emu::ptx
