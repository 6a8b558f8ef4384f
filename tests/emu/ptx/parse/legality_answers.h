// SPDX-License-Identifier: Apache-2.0
#pragma once
// What ptxas answered to instructions, as text: "module VERSION TARGET", then "+ INSTRUCTION" for what it
// takes and "- INSTRUCTION" for what it refuses. record_legality writes it, the tests read it.

#include <map>
#include <string>
#include <vector>

#include "tests/emu/ptx/parse/mutations.h"

namespace understudy::emu::ptx {

struct Answer {
  Case asked;
  bool taken = false;
};
std::vector<Answer> ParseAnswers(const std::string& text);
std::string FormatAnswers(std::vector<Answer> answers);

// Known differences: "# reason" above lines "VERSION TARGET INSTRUCTION".
std::map<Case, std::string> ParseDifferences(const std::string& text);

// Instructions near every form that is executed (textures and surfaces are not), and two of each form alone.
std::vector<Case> NearForms(uint64_t seed, size_t examples, size_t mistakes);

}  // namespace understudy::emu::ptx
