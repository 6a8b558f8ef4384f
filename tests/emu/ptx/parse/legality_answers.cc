// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/ptx/parse/legality_answers.h"

#include <algorithm>
#include <sstream>

#include "emu/ptx/isa/forms.h"

namespace understudy::emu::ptx {

std::vector<Answer> ParseAnswers(const std::string& text) {
  std::vector<Answer> answers;
  std::istringstream lines(text);
  std::string line, version, target;
  while (std::getline(lines, line)) {
    if (line.compare(0, 7, "module ") == 0) {
      const size_t space = line.find(' ', 7);
      version = line.substr(7, space - 7);
      target = line.substr(space + 1);
    } else if (line.size() > 2 && (line[0] == '+' || line[0] == '-')) {
      answers.push_back({{version, target, line.substr(2)}, line[0] == '+'});
    }
  }
  return answers;
}

std::string FormatAnswers(std::vector<Answer> answers) {
  std::sort(answers.begin(), answers.end(),
            [](const Answer& a, const Answer& b) { return a.asked < b.asked; });
  std::string text, module;
  for (const Answer& answer : answers) {
    const std::string now = "module " + answer.asked.version + " " + answer.asked.target + "\n";
    if (now != module) text += now;
    module = now;
    text += (answer.taken ? "+ " : "- ") + answer.asked.instruction + "\n";
  }
  return text;
}

std::map<Case, std::string> ParseDifferences(const std::string& text) {
  std::map<Case, std::string> differences;
  std::istringstream lines(text);
  std::string line, reason;
  while (std::getline(lines, line)) {
    if (line.empty()) continue;
    if (line[0] == '#') {
      reason = line.substr(1);
      continue;
    }
    const size_t first = line.find(' '), second = line.find(' ', first + 1);
    differences[{line.substr(0, first), line.substr(first + 1, second - first - 1),
                 line.substr(second + 1)}] = reason;
  }
  return differences;
}

std::vector<Case> NearForms(uint64_t seed, size_t examples, size_t mistakes) {
  std::vector<Case> cases;
  for (size_t form = 0; form < Forms().size(); ++form) {
    const FormFamily family = Forms()[form].family;
    if (family == FormFamily::kTexture || family == FormFamily::kSurface) continue;
    for (Case& one : NearForm(static_cast<int>(form), seed, examples, mistakes))
      cases.push_back(std::move(one));
  }
  std::sort(cases.begin(), cases.end());
  cases.erase(std::unique(cases.begin(), cases.end()), cases.end());
  return cases;
}

}  // namespace understudy::emu::ptx
