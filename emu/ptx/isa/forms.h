// SPDX-License-Identifier: Apache-2.0
#pragma once
// The instruction forms of PTX ISA 8.8: the rows of forms.inc, taken apart. The parser checks instructions
// against them, the coverage report lists them. Knows no registers of a function and no executor.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "emu/ptx/isa/isa.h"

namespace understudy::emu::ptx {

enum class FormFamily : uint8_t {
  kInteger,
  kExtended,
  kFloat,
  kHalf,
  kMixed,
  kCompare,
  kLogic,
  kConvert,
  kVideo,
  kMove,
  kMemory,
  kAtomic,
  kAsync,
  kSync,
  kWarp,
  kControl,
  kStack,
  kMisc,
  kMatrix,
  kWgmma,
  kTcgen05,
  kTexture,
  kSurface
};
const char* FormFamilyName(FormFamily family);  // "integer"

struct Form {
  Op op;
  std::string syntax;   // "add{.sat}.s32 d:T0, a:T0, b:T0": the language is forms.inc's
  int ptx_version;      // x10: the first that has it
  std::string targets;  // "80", "90a|100f": as forms.inc says
  FormFamily family;
};
// Every form; Instruction::form is an index here.
const std::vector<Form>& Forms();

// Instructions of a form as text: "add.s32 %r1, %r2, %r3;", with the registers and variables that FormModule
// declares. Together they use every alternative of every choice of the form at least once, and every
// combination of types as far as `limit` allows, but for what FormModule's addresses of 64 bits forbid. Never
// empty.
std::vector<std::string> FormExamples(int form, size_t limit = 64);

// A .version and a .target for which the form and all of these examples are legal: the least ones.
std::string FormVersion(int form);
std::string FormTarget(int form);

// A whole module whose kernel `k` holds these instructions, one a line.
std::string FormModule(const std::vector<std::string>& instructions, const std::string& version,
                       const std::string& target);

}  // namespace understudy::emu::ptx
