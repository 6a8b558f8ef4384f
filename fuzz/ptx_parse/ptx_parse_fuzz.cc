// SPDX-License-Identifier: Apache-2.0
// Property: any bytes parse to a module or are refused with an error that has a place in the text; a module's
// instructions all have a form of the ISA, its indices are in range, and binding it ends with a program or a
// reason. Nothing crashes.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "emu/ptx/core/program.h"
#include "emu/ptx/isa/forms.h"
#include "emu/ptx/parse/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace understudy::emu::ptx;  // NOLINT
  const std::string text(reinterpret_cast<const char*>(data), size);
  const ParseResult result = Parse(text);
  if (result.module == nullptr) {
    if (result.diagnostics.empty() || result.Text().empty()) std::abort();
    return 0;
  }
  SymbolAddresses addresses;
  uint64_t at = uint64_t{1} << 32;
  const auto place = [&](const Variable& variable, const std::string& name) {
    if (variable.space != Space::kGlobal && variable.space != Space::kConst && variable.space != Space::kTex)
      return;
    addresses[name] = at;
    at += 4096;
  };
  for (const Variable& variable : result.module->variables) place(variable, variable.name);
  for (const Function& function : result.module->functions) {
    for (const Variable& variable : function.variables) place(variable, function.name + "." + variable.name);
    for (const Instruction& instruction : function.body) {
      if (instruction.form < 0 || instruction.form >= static_cast<int>(Forms().size())) std::abort();
      if (Forms()[static_cast<size_t>(instruction.form)].op != instruction.op) std::abort();
      if (instruction.has_guard && instruction.guard >= static_cast<int>(function.registers.size()))
        std::abort();
    }
  }
  const auto program = Program::Build(result.module, addresses);
  if (!program.ok() && program.status().message().empty()) std::abort();
  return 0;
}
