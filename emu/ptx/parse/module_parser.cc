// SPDX-License-Identifier: Apache-2.0
// Module level: version, target, what may stand where, pragmas, aliases, and what can be said at the end
// only.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "emu/ptx/parse/parser.h"
#include "emu/ptx/parse/suggest.h"

namespace understudy::emu::ptx {
namespace {

// The last minor version of each major one. 9.0 is the last that ptxas 13.0, to which the tables are held,
// has.
constexpr int kLastMinor[] = {0, 5, 3, 2, 3, 1, 5, 8, 8, 0};
constexpr uint64_t kConstantBytes = 65536;  // PTX ISA, "Constant State Space"

std::string VersionText(int version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

}  // namespace

Parser::Parser(std::string_view source, Module* module, Diagnostics* diagnostics)
    : source_(source),
      module_(*module),
      diagnostics_(*diagnostics),
      cursor_(Lex(source, diagnostics), diagnostics) {}

void Parser::Run() {
  while (!cursor_.AtEnd() && !diagnostics_.Full()) ModuleStatement();
  const Location end = cursor_.Peek().location;
  if (module_.version_major == 0 && diagnostics_.errors() == 0)
    Fail(end, "the text has no .version: expected '.version 8.8' or the like as its first statement");
  else if (module_.sm == 0 && diagnostics_.errors() == 0)
    Fail(end, "the text has no .target: expected '.target sm_90' or the like after .version");
  ResolveAliases();
  CheckDebugData();
  if (diagnostics_.errors() == 0) CheckDefinitions();  // after an error a definition may just not be known
}

void Parser::Require(const std::string& what, int since, int sm, Location where) {
  if (module_.version_major == 0 || module_.sm == 0) return;  // already told
  const int version = module_.version_major * 10 + module_.version_minor;
  if (version >= since && module_.sm >= sm) return;
  std::string need;
  if (version < since) need = "PTX " + VersionText(since);
  if (module_.sm < sm) need += (need.empty() ? "sm_" : " and sm_") + std::to_string(sm);
  Fail(where,
       what + " needs " + need + ": the module has PTX " + VersionText(version) + " and " + module_.target);
}

void Parser::Require(DirectiveId id, Location where) {
  const Directive& directive = DirectiveOf(id);
  const std::string name = std::string("'.") + directive.name + "'";
  const int version = module_.version_major * 10 + module_.version_minor;
  if (directive.until != 0 && version >= directive.until)
    Fail(where, name + " ended with PTX " + VersionText(directive.until) + ": the module has PTX " +
                    VersionText(version));
  Require(name, directive.since, directive.sm, where);
}

void Parser::Recover(bool in_body) {
  int braces = 0;
  while (!cursor_.AtEnd()) {
    if (cursor_.IsPunct("{")) {
      ++braces;
    } else if (cursor_.IsPunct("}")) {
      if (braces == 0 && in_body && cursor_.IsPunct(";", 1)) {  // "{%r1, %r2 };" that lost its '{'
        cursor_.Next();
        cursor_.Next();
        return;
      }
      if (braces == 0) {
        if (!in_body) cursor_.Next();
        return;
      }
      if (--braces == 0 && !in_body) {
        cursor_.Next();
        cursor_.AcceptPunct(";");
        return;
      }
    } else if ((braces == 0 || in_body) && cursor_.IsPunct(";")) {
      cursor_.Next();
      return;
    } else if (!in_body && braces == 0 && cursor_.Peek().kind == Token::Kind::kDot &&
               cursor_.Peek().location.column == 1) {
      const Directive* directive = FindDirective(cursor_.Peek().text);
      if (directive == nullptr || (directive->places & kAtModule) != 0) return;
    }
    cursor_.Next();
  }
}

Linkage Parser::AcceptLinkage(Token* word) {
  *word = cursor_.Peek();
  static constexpr std::pair<DirectiveId, Linkage> kWords[] = {{DirectiveId::kExtern, Linkage::kExtern},
                                                               {DirectiveId::kVisible, Linkage::kVisible},
                                                               {DirectiveId::kWeak, Linkage::kWeak},
                                                               {DirectiveId::kCommon, Linkage::kCommon}};
  for (const auto& [id, linkage] : kWords)
    if (cursor_.AcceptDot(DirectiveOf(id).name)) {
      Require(id, word->location);
      return linkage;
    }
  return Linkage::kNone;
}

void Parser::ModuleStatement() {
  const size_t before = cursor_.position();
  if (cursor_.IsPunct("}")) {
    Fail(cursor_.Peek().location, "'}' without a '{' that it closes");
    cursor_.Next();
    return;
  }
  bool ok = true;
  if (cursor_.IsPunct("@") && cursor_.IsPunct("@", 1)) {
    ok = ParseDwarfLine();
  } else {
    Token linking;
    const Linkage linkage = AcceptLinkage(&linking);
    const Token word = cursor_.Peek();
    const Directive* directive = word.kind == Token::Kind::kDot ? FindDirective(word.text) : nullptr;
    if (word.kind != Token::Kind::kDot) {
      ok = Fail(word.location, "expected a directive at module level, got " + Describe(word));
    } else if (directive == nullptr) {
      Nearest nearest(word.text);
      ForEachDirective(kAtModule, [&](const Directive& d) { nearest.Try(d.name); });
      ok = Fail(word.location, "unknown directive " + Describe(word) + " at module level" + nearest.Text());
    } else if ((directive->places & kAtModule) == 0) {
      ok = Fail(word.location, "'." + std::string(word.text) + "' at module level: expected it " +
                                   PlacesText(directive->places));
    } else {
      ok = Begin(*directive, linkage == Linkage::kNone ? word : linking) &&
           ModuleDirective(*directive, linkage, word);
    }
  }
  if (!ok) Recover(false);
  if (cursor_.position() == before) cursor_.Next();
}

// .version, .target and .address_size come first, in this order.
bool Parser::Begin(const Directive& directive, const Token& word) {
  switch (directive.id) {
    case DirectiveId::kVersion:
      if (module_.version_major != 0)
        return Fail(word.location, "a second .version: expected one in a module");
      if (stage_ != Stage::kVersion)
        return Fail(word.location, "'.version' is not the first statement: expected it before all others");
      stage_ = Stage::kTarget;
      return true;
    case DirectiveId::kTarget:
      if (stage_ == Stage::kTarget || (stage_ == Stage::kAddressSize && module_.sm != 0)) break;
      if (stage_ == Stage::kVersion) break;  // told below
      return Fail(word.location, "'.target' in the middle of a module: expected it right after .version");
    case DirectiveId::kAddressSize:
      if (stage_ == Stage::kRest && module_.sm != 0)
        return Fail(word.location,
                    "'.address_size' in the middle of a module: expected it once, right "
                    "after .target");
      break;
    default:
      break;
  }
  if (stage_ == Stage::kVersion) {
    Fail(word.location,
         "the text has no .version: expected '.version 8.8' or the like as its first statement");
  } else if (stage_ == Stage::kTarget && directive.id != DirectiveId::kTarget) {
    Fail(word.location, "the text has no .target: expected '.target sm_90' or the like after .version");
  }
  stage_ = directive.id == DirectiveId::kTarget ? Stage::kAddressSize : Stage::kRest;
  return true;
}

bool Parser::ModuleDirective(const Directive& directive, Linkage linkage, const Token& word) {
  switch (directive.id) {
    case DirectiveId::kEntry:
    case DirectiveId::kFunc:
      cursor_.Next();
      return ParseFunction(linkage, word, directive.id == DirectiveId::kEntry);
    case DirectiveId::kGlobal:
    case DirectiveId::kConst:
    case DirectiveId::kShared:
    case DirectiveId::kTex:
      return ParseVariableDeclaration(linkage, {});
    case DirectiveId::kAttribute: {  // before the state space
      Variable attributes;
      attributes.space = Space::kGlobal;
      if (!ParseAttributes(&attributes)) return false;
      if (!cursor_.IsDot("global"))
        return Fail(cursor_.Peek().location,
                    "expected .global after .attribute, got " + Describe(cursor_.Peek()));
      return ParseVariableDeclaration(linkage, attributes);
    }
    default:
      break;
  }
  if (linkage != Linkage::kNone)
    return Fail(word.location,
                "expected .entry, .func or a variable's state space after a linking directive, got " +
                    Describe(word));
  cursor_.Next();
  Require(directive.id, word.location);
  switch (directive.id) {
    case DirectiveId::kVersion:
      return ParseVersion();
    case DirectiveId::kTarget:
      return ParseTarget();
    case DirectiveId::kAddressSize:
      return ParseAddressSize();
    case DirectiveId::kFile:
      return ParseFile();
    case DirectiveId::kSection:
      return ParseSection();
    case DirectiveId::kPragma:
      return ParsePragma(kAtModule);
    case DirectiveId::kAlias:
      return ParseAlias();
    default:
      return Fail(word.location, "unknown directive " + Describe(word) + " at module level");
  }
}

bool Parser::ParseVersion() {
  const Token number = cursor_.Next();
  const std::string text(number.text);
  int major = 0, minor = 0;
  char rest = 0;
  if (number.kind != Token::Kind::kF64 || std::sscanf(text.c_str(), "%4d.%4d%c", &major, &minor, &rest) != 2)
    return Fail(number.location, "expected a version like 8.8 after .version, got " + Describe(number));
  if (major < 1 || major > 9)
    return Fail(number.location, "PTX version " + text + " is not known: expected 1.0 to 9.0");
  module_.version_major = major;
  module_.version_minor = minor;
  if (minor > kLastMinor[major])
    return Fail(number.location, (major == 9 ? "PTX version " + text + " is not known: "
                                             : "there is no PTX version " + text + ": ") +
                                     std::to_string(major) + "." + std::to_string(kLastMinor[major]) +
                                     " is the last of " + std::to_string(major));
  if (text != VersionText(major * 10 + minor))
    return Fail(number.location, "expected a version like 8.8 after .version, got " + Describe(number));
  return true;
}

// A list may name several architectures, and several lists may follow each other: the last one counts.
bool Parser::ParseTarget() {
  do {
    const Token word = cursor_.Next();
    if (word.kind != Token::Kind::kName)
      return Fail(word.location, "expected a target like sm_90a after .target, got " + Describe(word));
    if (!ParseTargetWord(word)) return false;
  } while (cursor_.AcceptPunct(","));
  return true;
}

bool Parser::ParseTargetWord(const Token& word) {
  const std::string text(word.text);
  if (text.rfind("sm_", 0) == 0 || text.rfind("compute_", 0) == 0) {
    const std::string digits = text.substr(text.find('_') + 1);
    size_t end = 0;
    int sm = 0;
    while (end < digits.size() && end < 4 && digits[end] >= '0' && digits[end] <= '9')
      sm = sm * 10 + digits[end++] - '0';
    const char suffix = end < digits.size() ? digits[end] : '\0';
    const int version = end + (suffix == 0 ? 0 : 1) == digits.size() ? TargetVersion(sm, suffix) : 0;
    if (version == 0)
      return Fail(word.location, "unknown target '" + text +
                                     "': expected sm_10 to sm_121, with suffix a from sm_90 and f "
                                     "from sm_100");
    const int has = module_.version_major * 10 + module_.version_minor;
    if (has != 0 && has < version)
      Fail(word.location,
           text + " needs PTX " + VersionText(version) + ": the module has PTX " + VersionText(has));
    module_.target = "sm_" + digits;
    module_.sm = sm;
    module_.sm_suffix = suffix;
    return true;
  }
  if (module_.sm == 0)
    return Fail(word.location, "'" + text + "' before an architecture: expected a target like sm_90a first");
  if (text == "debug") {
    Require("'debug'", 30, 0, word.location);
    module_.debug = true;  // whether there is debug data does not matter here, as it does to ptxas
    return true;
  }
  if (text == "texmode_unified" || text == "texmode_independent") {
    Require("'" + text + "'", 15, 0, word.location);
    const bool independent = text == "texmode_independent";
    if (texmode_at_.line != 0 && module_.texmode_independent != independent)
      return Fail(word.location, "'" + text + "' after another texture mode in line " +
                                     std::to_string(texmode_at_.line) + ": expected one");
    texmode_at_ = word.location;
    module_.texmode_independent = independent;
    return true;
  }
  if (text == "map_f64_to_f32") {
    if (module_.sm < 13) return true;
    return Fail(word.location, "'map_f64_to_f32' of " + module_.target +
                                   ", which has f64: expected it of targets before sm_13");
  }
  return Fail(word.location, "unknown target option '" + text +
                                 "': expected debug, texmode_unified, texmode_independent or map_f64_to_f32");
}

bool Parser::ParseAddressSize() {
  const Token number = cursor_.Next();
  if (number.kind != Token::Kind::kInteger || (number.value != 32 && number.value != 64))
    return Fail(number.location, "expected 32 or 64 after .address_size, got " + Describe(number));
  module_.address_size = static_cast<int>(number.value);
  return true;
}

// What a string asks for is ptxas's business (PTX ISA, "Descriptions of .pragma Strings"); where it may stand
// is checked. Strings that ptxas does not know are errors at module level and passed over elsewhere.
bool Parser::ParsePragma(DirectivePlace place) {
  struct Known {
    const char* name;
    int since;
    uint8_t places;
  };
  static constexpr Known kKnown[] = {{"nounroll", 20, kAtModule | kAfterKernel | kInBody},
                                     {"used_bytes_mask", 83, kInBody},
                                     {"enable_smem_spilling", 20, kInBody},
                                     {"frequency", 90, kInBody}};
  do {
    const Token text = cursor_.Next();
    if (text.kind != Token::Kind::kString)
      return Fail(text.location, "expected a string after .pragma, got " + Describe(text));
    const std::string_view name = text.text.substr(0, text.text.find(' '));
    const auto known = std::find_if(std::begin(kKnown), std::end(kKnown),
                                    [&](const Known& row) { return name == row.name; });
    const std::string what = "the pragma \"" + std::string(text.text) + "\"";
    if (known == std::end(kKnown)) {
      if (place == kAtModule)
        Fail(text.location, what + " is not known at module level: expected \"nounroll\"");
      continue;
    }
    if ((known->places & place) == 0)
      Fail(text.location, what + " " + PlacesText(place) + ": expected it " + PlacesText(known->places));
    Require(what, known->since, 0, text.location);
  } while (cursor_.AcceptPunct(","));
  return Expect(";", "after .pragma");
}

bool Parser::ParseAlias() {
  std::string_view name, target;
  Location name_at, target_at;
  if (!ParseName("an alias", &name, &name_at) || !Expect(",", "after the name of an alias") ||
      !ParseName("a function", &target, &target_at) || !Expect(";", "after .alias"))
    return false;
  auto it = module_symbols_.find(name);
  if (it == module_symbols_.end() || it->second.kind != Symbol::Kind::kFunction)
    return Fail(name_at, "the alias '" + std::string(name) +
                             "' is not declared: expected a .func declaration before .alias");
  Function& function = module_.functions[static_cast<size_t>(it->second.index)];
  if (!function.is_declaration || function.is_entry)
    return Fail(name_at,
                "the alias '" + std::string(name) + "' has a body: expected a declared .func without one");
  if (!function.alias_of.empty())
    return Fail(name_at, "'" + std::string(name) + "' is an alias of '" + function.alias_of +
                             "' already: expected one .alias of it");
  auto aliased = module_symbols_.find(target);
  if (aliased == module_symbols_.end() || aliased->second.kind != Symbol::Kind::kFunction)
    return Fail(target_at, "the aliased function '" + std::string(target) +
                               "' is not declared before its alias" + Suggest(target));
  const std::string difference =
      SignatureDifference(module_.functions[static_cast<size_t>(aliased->second.index)], function);
  if (!difference.empty())
    return Fail(target_at, "'" + std::string(name) + "' differs from the aliased function '" +
                               std::string(target) + "' in " + difference);
  function.alias_of = std::string(target);
  aliases_.push_back({it->second.index, target_at});
  return true;
}

void Parser::ResolveAliases() {
  for (const AliasLine& line : aliases_) {
    // An alias of an alias leads on.
    const Function* target = &module_.functions[static_cast<size_t>(line.function)];
    for (size_t hops = 0; !target->alias_of.empty() && hops <= aliases_.size(); ++hops)
      target = &module_.functions[static_cast<size_t>(module_symbols_.find(target->alias_of)->second.index)];
    if (target->alias_of.empty() && !target->is_declaration && !target->is_entry &&
        target->linkage != Linkage::kWeak)
      continue;
    Fail(line.location, "the aliased function '" + target->name + "' is " +
                            (target->is_entry            ? "a kernel"
                             : !target->alias_of.empty() ? "an alias of itself"
                             : target->is_declaration    ? "only declared"
                                                         : "weak") +
                            ": expected a .func with a body that is not weak");
  }
}

// What is declared without .extern is defined in the module, but for what the device's runtime has.
void Parser::CheckDefinitions() {
  static constexpr const char* kRuntime[] = {"vprintf", "malloc", "free", "__assertfail"};
  for (const Function& function : module_.functions)
    if (function.is_declaration && function.alias_of.empty() && function.linkage != Linkage::kExtern &&
        !function.is_entry && std::none_of(std::begin(kRuntime), std::end(kRuntime), [&](const char* name) {
          return function.name == name;
        }))
      Fail(function.location, "the function '" + function.name +
                                  "' is declared and not defined: expected a body, an .alias or .extern");
    else if (function.is_declaration && function.is_entry && function.linkage != Linkage::kExtern)
      Fail(function.location,
           "the kernel '" + function.name + "' is declared and not defined: expected a body or .extern");
  if (constant_bytes_ > kConstantBytes)
    for (const Variable& variable : module_.variables)
      if (variable.space == Space::kConst) {
        Fail(variable.location, "the module's .const variables have " + std::to_string(constant_bytes_) +
                                    " bytes in all: expected at most " + std::to_string(kConstantBytes));
        break;
      }
}

}  // namespace understudy::emu::ptx
