// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/isa/directives.h"

#include <utility>

namespace understudy::emu::ptx {
namespace {

constexpr Directive kDirectives[] = {
#define PTX_DIRECTIVE(id, name, since, sm, until, places) \
  {DirectiveId::id, name, since, sm, until, static_cast<uint8_t>(places)},
#include "emu/ptx/isa/directives.inc"
#undef PTX_DIRECTIVE
};

}  // namespace

const Directive& DirectiveOf(DirectiveId id) { return kDirectives[static_cast<size_t>(id)]; }

const Directive* FindDirective(std::string_view name) {
  for (const Directive& directive : kDirectives)
    if (name == directive.name) return &directive;
  return nullptr;
}

std::string PlacesText(uint8_t places) {
  static constexpr std::pair<DirectivePlace, const char*> kTexts[] = {
      {kAtModule, "at module level"},
      {kInBody, "in a function"},
      {kAtLabel, "behind a label"},
      {kAfterKernel, "behind the header of an .entry"},
      {kAfterFunction, "behind the header of a .func"},
      {kInDeclaration, "in a declaration"}};
  std::string text;
  for (const auto& [place, words] : kTexts)
    if ((places & place) != 0) text += (text.empty() ? "" : " or ") + std::string(words);
  return text;
}

}  // namespace understudy::emu::ptx
