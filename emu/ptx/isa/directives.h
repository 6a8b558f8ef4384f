// SPDX-License-Identifier: Apache-2.0
#pragma once
// The directives of PTX: where each may stand, and which PTX versions and targets have it. The parser asks;
// what a directive means is the parser's.

#include <cstdint>
#include <string>
#include <string_view>

namespace understudy::emu::ptx {

enum DirectivePlace : uint8_t {
  kAtModule = 1,
  kInBody = 2,
  kAtLabel = 4,         // name: .branchtargets
  kAfterKernel = 8,     // behind the header of an .entry
  kAfterFunction = 16,  // behind the header of a .func, or in a .callprototype
  kInDeclaration = 32,
};

enum class DirectiveId : uint8_t {
#define PTX_DIRECTIVE(id, name, since, sm, until, places) id,
#include "emu/ptx/isa/directives.inc"
#undef PTX_DIRECTIVE
};

struct Directive {
  DirectiveId id;
  const char* name;      // without the dot
  int since, sm, until;  // PTX versions x10; until: the first one that no longer has it, 0: none
  uint8_t places;
};

const Directive& DirectiveOf(DirectiveId id);
const Directive* FindDirective(std::string_view name);  // nullptr: there is none

// Calls visit(directive) for each that may stand in one of `places`.
template <class Visit>
void ForEachDirective(uint8_t places, Visit&& visit) {
#define PTX_DIRECTIVE(id, name, since, sm, until, where) \
  if (((where) & places) != 0) visit(DirectiveOf(DirectiveId::id));
#include "emu/ptx/isa/directives.inc"
#undef PTX_DIRECTIVE
}

// "at module level", "in a function or at module level".
std::string PlacesText(uint8_t places);

}  // namespace understudy::emu::ptx
