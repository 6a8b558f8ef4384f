// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/ptx/parse/ptxas.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include "emu/ptx/isa/forms.h"

namespace understudy::emu::ptx {
namespace {

struct Outcome {
  bool ok = false;
  std::map<int, std::string> errors;  // by line
  std::string rest;                   // without a line
};

// Whether it ended well; what it printed.
bool RunCommand(const std::string& command, std::string* output) {
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return false;
  char buffer[4096];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) output->append(buffer, n);
  return pclose(pipe) == 0;
}

Outcome Assemble(const std::string& ptxas, const std::string& text, const std::string& target) {
  const char* const folder = std::getenv("TEST_TMPDIR");
  const std::string path =
      std::string(folder == nullptr ? "/tmp" : folder) + "/ask_" + std::to_string(getpid()) + ".ptx";
  std::ofstream(path) << text;
  // Targets before sm_75 are still taken as .target, not as -arch.
  const std::string arch = std::stoi(target.substr(3)) < 75 ? "sm_75" : target;
  const std::string command = "'" + ptxas + "' -O0 -arch " + arch + " -o /dev/null '" + path + "' 2>&1";
  Outcome answer;
  std::string output;
  answer.ok = RunCommand(command, &output);
  unlink(path.c_str());
  for (size_t at = 0; at < output.size();) {
    const size_t end = std::min(output.find('\n', at), output.size());
    const std::string line = output.substr(at, end - at);
    at = end + 1;
    const size_t mark = line.find(", line "), semicolon = line.find("; ");
    if (mark != std::string::npos && semicolon != std::string::npos && semicolon > mark) {
      const std::string message = line.substr(semicolon + 2);
      const bool fault = message.compare(0, 5, "error") == 0 || message.compare(0, 5, "fatal") == 0;
      if (fault)
        answer.errors.emplace(std::atoi(line.c_str() + mark + 7), message.substr(message.find(':') + 2));
    } else if (line.find("aborted due to errors") == std::string::npos) {
      answer.rest += line + "\n";
    }
  }
  return answer;
}

void Ask(const std::string& ptxas, const std::string& version, const std::string& target,
         const std::vector<std::string>& instructions, std::vector<size_t> which,
         std::vector<std::string>* out) {
  // Errors of a later pass show when those of the earlier ones are gone.
  while (!which.empty()) {
    std::vector<std::string> lines;
    for (size_t i : which) lines.push_back(instructions[i]);
    const std::string text = FormModule(lines, version, target);
    const int first = static_cast<int>(
        1 + std::count(text.begin(),
                       text.begin() + static_cast<std::ptrdiff_t>(text.find("\n" + lines[0] + "\n") + 1),
                       '\n'));
    const Outcome answer = Assemble(ptxas, text, target);
    if (answer.ok) return;
    // What follows a line that its parser stumbles over may be blamed for nothing.
    int stumbled = first + static_cast<int>(which.size());
    for (const auto& [line, message] : answer.errors)
      if (message.compare(0, 13, "Parsing error") == 0) stumbled = std::min(stumbled, line);
    std::vector<size_t> left;
    for (size_t i = 0; i < which.size(); ++i) {
      const auto it = answer.errors.find(first + static_cast<int>(i));
      if (it == answer.errors.end() || it->first > stumbled)
        left.push_back(which[i]);
      else
        (*out)[which[i]] = it->second.empty() ? "refused" : it->second;
      // ptxas 13.0 sometimes stumbles over a legal instruction of a long text, or holds it to one before it
      // that uses the same routine; it takes it by itself.
      const std::string& said = (*out)[which[i]];
      if (which.size() > 1 && (said.compare(0, 13, "Parsing error") == 0 ||
                               said.find("does not match formal parameter") != std::string::npos)) {
        (*out)[which[i]].clear();
        Ask(ptxas, version, target, instructions, {which[i]}, out);
      }
    }
    if (left.size() == which.size()) {
      if (which.size() == 1) {
        (*out)[which[0]] = "?" + answer.rest + (answer.errors.empty() ? "" : answer.errors.begin()->second);
        return;
      }
      const auto half = static_cast<std::ptrdiff_t>(which.size() / 2);
      Ask(ptxas, version, target, instructions, {which.begin(), which.begin() + half}, out);
      Ask(ptxas, version, target, instructions, {which.begin() + half, which.end()}, out);
      return;
    }
    which = std::move(left);
  }
}

}  // namespace

std::string PtxasPath() {
  const char* const given = std::getenv("UNDERSTUDY_PTXAS");
  const std::string path = given != nullptr ? given : "/usr/local/cuda/bin/ptxas";
  return access(path.c_str(), X_OK) == 0 ? path : "";
}

std::string PtxasRelease(const std::string& ptxas) {
  std::string output;
  RunCommand("'" + ptxas + "' --version", &output);
  const size_t at = output.find("release ");
  return at == std::string::npos ? "" : output.substr(at + 8, output.find(',', at) - at - 8);
}

std::vector<std::string> AskPtxas(const std::string& ptxas, const std::string& version,
                                  const std::string& target, const std::vector<std::string>& instructions) {
  std::vector<std::string> out(instructions.size());
  std::vector<size_t> all(instructions.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  Ask(ptxas, version, target, instructions, all, &out);
  return out;
}

}  // namespace understudy::emu::ptx
