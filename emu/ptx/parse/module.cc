// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/parse/module.h"

namespace understudy::emu::ptx {

std::string Instruction::Name() const {
  std::string name = OpName(op);
  for (const std::string& modifier : modifiers) name += "." + modifier;
  return name;
}

const Function* Module::FindFunction(const std::string& wanted) const {
  for (const Function& function : functions)
    if (function.name == wanted) return &function;
  return nullptr;
}

const Variable* Module::FindVariable(const std::string& wanted) const {
  for (const Variable& variable : variables)
    if (variable.name == wanted) return &variable;
  return nullptr;
}

std::string Module::SourceLine(int line) const {
  size_t begin = 0;
  for (int i = 1; i < line && begin != std::string::npos; ++i) {
    begin = source.find('\n', begin);
    if (begin != std::string::npos) ++begin;
  }
  if (line < 1 || begin == std::string::npos || begin >= source.size()) return "";
  std::string text = source.substr(begin, source.find('\n', begin) - begin);
  size_t first = text.find_first_not_of(" \t\r");
  size_t last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

}  // namespace understudy::emu::ptx
