// SPDX-License-Identifier: Apache-2.0
// Module level: version, target, functions with their parameters and performance directives, debug data.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "emu/ptx/parse/parser.h"

namespace understudy::emu::ptx {
namespace {

// The last minor version of each major one.
constexpr int kLastMinor[] = {0, 5, 3, 2, 3, 1, 5, 8, 8, 9};

bool StartsModuleStatement(const Token& token) {
  if (token.kind != Token::Kind::kDot) return false;
  for (const char* word :
       {"version", "target", "address_size", "func", "entry", "extern", "visible", "weak", "common", "alias",
        "global", "const", "shared", "local", "file", "section", "pragma", "tex"})
    if (token.text == word) return true;
  return false;
}

}  // namespace

Parser::Parser(std::string_view source, Module* module, Diagnostics* diagnostics)
    : source_(source),
      module_(*module),
      diagnostics_(*diagnostics),
      cursor_(Lex(source, diagnostics), diagnostics) {}

void Parser::Run() {
  while (!cursor_.AtEnd() && !diagnostics_.Full()) ModuleStatement();
  const Location start{1, 1};
  if (module_.version_major == 0 && diagnostics_.errors() == 0)
    Fail(start, "the text has no .version: expected '.version 8.8' or the like as its first statement");
  else if (module_.sm == 0 && diagnostics_.errors() == 0)
    Fail(start, "the text has no .target: expected '.target sm_90' or the like after .version");
  ResolveAliases();
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
    } else if (!in_body && braces == 0 && StartsModuleStatement(cursor_.Peek()) &&
               cursor_.Peek().location.column == 1) {
      return;
    }
    cursor_.Next();
  }
}

Linkage Parser::AcceptLinkage(Location* where) {
  *where = cursor_.Peek().location;
  static constexpr std::pair<const char*, Linkage> kWords[] = {{"extern", Linkage::kExtern},
                                                               {"visible", Linkage::kVisible},
                                                               {"weak", Linkage::kWeak},
                                                               {"common", Linkage::kCommon}};
  for (const auto& [word, linkage] : kWords)
    if (cursor_.AcceptDot(word)) return linkage;
  return Linkage::kNone;
}

void Parser::ModuleStatement() {
  const size_t before = cursor_.position();
  bool ok = true;
  if (cursor_.AcceptPunct(";")) return;
  if (cursor_.IsPunct("}")) {
    Fail(cursor_.Peek().location, "'}' without a '{' that it closes");
    cursor_.Next();
    return;
  }
  Location where;
  const Linkage linkage = AcceptLinkage(&where);
  const Token word = cursor_.Peek();
  if (word.kind != Token::Kind::kDot) {
    ok = Fail(word.location, "expected a directive at module level, got " + Describe(word));
  } else if (cursor_.AcceptDot("entry") || cursor_.AcceptDot("func")) {
    ok = ParseFunction(linkage, word.location, word.text == "entry");
  } else if (word.text == "global" || word.text == "const" || word.text == "shared" || word.text == "local" ||
             word.text == "param" || word.text == "tex" || word.text == "reg") {
    if (word.text == "reg" || word.text == "param" || word.text == "local")
      ok = Fail(word.location,
                "'." + std::string(word.text) + "' at module level: expected it inside a function");
    else
      ok = ParseVariableDeclaration(linkage);
  } else if (linkage != Linkage::kNone) {
    ok = Fail(word.location,
              "expected .entry, .func or a variable's state space after a linking directive, got " +
                  Describe(word));
  } else if (cursor_.AcceptDot("version")) {
    ok = ParseVersion();
  } else if (cursor_.AcceptDot("target")) {
    ok = ParseTarget();
  } else if (cursor_.AcceptDot("address_size")) {
    ok = ParseAddressSize();
  } else if (cursor_.AcceptDot("file")) {
    ok = ParseFile();
  } else if (cursor_.AcceptDot("section")) {
    ok = ParseSection();
  } else if (cursor_.AcceptDot("pragma")) {
    ok = ParsePragma();
  } else if (cursor_.AcceptDot("alias")) {
    ok = ParseAlias();
  } else if (cursor_.IsDot("loc")) {
    ok = ParseLoc();
  } else {
    ok = Fail(word.location, "unknown directive " + Describe(word) + " at module level");
  }
  if (!ok) Recover(false);
  if (cursor_.position() == before) cursor_.Next();
}

bool Parser::ParseVersion() {
  const Token number = cursor_.Next();
  const std::string text(number.text);
  int major = 0, minor = 0;
  char rest = 0;
  if (number.kind != Token::Kind::kF64 || std::sscanf(text.c_str(), "%4d.%4d%c", &major, &minor, &rest) != 2)
    return Fail(number.location, "expected a version like 8.8 after .version, got " + Describe(number));
  if (module_.version_major != 0) return Fail(number.location, "a second .version: expected one in a module");
  if (major < 1 || major > 9)
    return Fail(number.location, "PTX version " + text + " is not known: expected 1.0 to 9.9");
  module_.version_major = major;
  module_.version_minor = minor;
  if (minor > kLastMinor[major])
    return Fail(number.location, "there is no PTX version " + text + ": " + std::to_string(major) + "." +
                                     std::to_string(kLastMinor[major]) + " is the last of " +
                                     std::to_string(major));
  return true;
}

bool Parser::ParseTarget() {
  do {
    const Token word = cursor_.Next();
    if (word.kind != Token::Kind::kName)
      return Fail(word.location, "expected a target like sm_90a after .target, got " + Describe(word));
    const std::string text(word.text);
    if (text.rfind("sm_", 0) == 0 || text.rfind("compute_", 0) == 0) {
      if (module_.sm != 0) return Fail(word.location, "a second architecture '" + text + "' in .target");
      const std::string digits = text.substr(text.find('_') + 1);
      size_t end = 0;
      int sm = 0;
      while (end < digits.size() && end < 4 && digits[end] >= '0' && digits[end] <= '9')
        sm = sm * 10 + digits[end++] - '0';
      const char suffix = end < digits.size() ? digits[end] : '\0';
      const int version = end + (suffix == 0 ? 0 : 1) == digits.size() ? TargetVersion(sm, suffix) : 0;
      const bool known = version != 0;
      if (!known || text[0] != 's')
        return Fail(word.location, "unknown target '" + text +
                                       "': expected sm_10 to sm_121, with suffix a from sm_90 and f "
                                       "from sm_100");
      const int has = module_.version_major * 10 + module_.version_minor;
      if (has != 0 && has < version)
        Fail(word.location, text + " needs PTX " + std::to_string(version / 10) + "." +
                                std::to_string(version % 10) + ": the module has PTX " +
                                std::to_string(module_.version_major) + "." +
                                std::to_string(module_.version_minor));
      module_.target = text;
      module_.sm = sm;
      module_.sm_suffix = suffix;
    } else if (text == "debug") {
      module_.debug = true;
    } else if (text == "texmode_independent") {
      module_.texmode_independent = true;
    } else if (text != "texmode_unified" && text != "map_f64_to_f32") {
      return Fail(word.location,
                  "unknown target option '" + text +
                      "': expected debug, texmode_unified, texmode_independent or map_f64_to_f32");
    }
  } while (cursor_.AcceptPunct(","));
  return true;
}

bool Parser::ParseAddressSize() {
  const Token number = cursor_.Next();
  if (number.kind != Token::Kind::kInteger || (number.value != 32 && number.value != 64))
    return Fail(number.location, "expected 32 or 64 after .address_size, got " + Describe(number));
  module_.address_size = static_cast<int>(number.value);
  return true;
}

bool Parser::ParseFile() {
  const Token number = cursor_.Next();
  const Token name = cursor_.Next();
  if (number.kind != Token::Kind::kInteger || name.kind != Token::Kind::kString)
    return Fail(number.location, "expected a number and a string after .file");
  if (number.value < 4096) {
    if (module_.files.size() <= number.value) module_.files.resize(number.value + 1);
    module_.files[number.value] = std::string(name.text);
  }
  Constant ignored;
  for (int i = 0; i < 2 && cursor_.AcceptPunct(","); ++i)
    if (!ParseInteger(&cursor_, "a .file's time or size", &ignored)) return false;
  return true;
}

// .section .name { label: .b32 1, label, .section, label-label, label+4 ... }: checked for shape, kept
// nowhere.
bool Parser::ParseSection() {
  if (cursor_.Peek().kind != Token::Kind::kDot)
    return Fail(cursor_.Peek().location,
                "expected a section's name like .debug_info, got " + Describe(cursor_.Peek()));
  cursor_.Next();
  if (!Expect("{", "after a section's name")) return false;
  while (!cursor_.IsPunct("}")) {
    const Token token = cursor_.Next();
    if (token.kind == Token::Kind::kEnd) return Fail(token.location, "a .section has no closing '}'");
    if (token.kind == Token::Kind::kName && cursor_.AcceptPunct(":")) continue;
    if (token.kind != Token::Kind::kDot ||
        (token.text != "b8" && token.text != "b16" && token.text != "b32" && token.text != "b64"))
      return Fail(token.location,
                  "expected a label or .b8, .b16, .b32 or .b64 in a .section, got " + Describe(token));
    do {
      const Token value = cursor_.Peek();
      if (value.kind == Token::Kind::kName || value.kind == Token::Kind::kDot) {
        cursor_.Next();
        if (cursor_.AcceptPunct("+")) {
          Constant ignored;
          if (!ParseInteger(&cursor_, "an offset", &ignored)) return false;
        } else if (cursor_.AcceptPunct("-")) {
          const Token other = cursor_.Next();
          if (other.kind != Token::Kind::kName && other.kind != Token::Kind::kInteger)
            return Fail(other.location, "expected a label after '-', got " + Describe(other));
        }
      } else {
        Constant ignored;
        if (!ParseInteger(&cursor_, "a value of a .section", &ignored)) return false;
      }
    } while (cursor_.AcceptPunct(","));
  }
  cursor_.Next();
  return true;
}

bool Parser::ParsePragma() {
  do {
    const Token text = cursor_.Next();
    if (text.kind != Token::Kind::kString)
      return Fail(text.location, "expected a string after .pragma, got " + Describe(text));
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
  function.alias_of = std::string(target);
  aliases_.push_back({it->second.index, target_at});
  return true;
}

void Parser::ResolveAliases() {
  for (const AliasLine& line : aliases_) {
    const std::string& name = module_.functions[static_cast<size_t>(line.function)].alias_of;
    auto it = module_symbols_.find(name);
    if (it == module_symbols_.end() || it->second.kind != Symbol::Kind::kFunction) {
      Fail(line.location, "the aliased function '" + name + "' is not defined in this module");
      continue;
    }
    const Function& target = module_.functions[static_cast<size_t>(it->second.index)];
    if (target.is_declaration || target.is_entry || target.linkage == Linkage::kWeak)
      Fail(line.location, "the aliased function '" + name + "' is " +
                              (target.is_entry         ? "a kernel"
                               : target.is_declaration ? "only declared"
                                                       : "weak") +
                              ": expected a .func with a body that is not weak");
  }
}

bool Parser::ParseFunction(Linkage linkage, Location where, bool is_entry) {
  Function function;
  function.is_entry = is_entry;
  function.linkage = linkage;
  function.is_declaration = true;
  function.location = where;
  function_ = &function;
  scopes_.Clear();
  scopes_.Push();
  struct Leave {
    Parser* parser;
    ~Leave() {
      parser->function_ = nullptr;
      parser->scopes_.Clear();
    }
  } leave{this};
  // ".attribute(.unified(...))" may stand before the name.
  while (cursor_.AcceptDot("attribute")) {
    if (!Expect("(", "after .attribute")) return false;
    int depth = 1;
    while (depth > 0) {
      const Token token = cursor_.Next();
      if (token.kind == Token::Kind::kEnd) return Fail(token.location, "an .attribute has no closing ')'");
      if (token.kind == Token::Kind::kPunct) depth += token.text == "(" ? 1 : token.text == ")" ? -1 : 0;
    }
  }
  if (cursor_.IsPunct("(")) {
    if (is_entry)
      return Fail(cursor_.Peek().location, "a kernel returns nothing: expected its name after .entry");
    if (!ParseParameters(&function.returns, &function.return_registers, Operand::Scope::kReturn, false))
      return false;
  }
  std::string_view name;
  Location name_at;
  if (!ParseName(is_entry ? "a kernel" : "a function", &name, &name_at)) return false;
  function.name = std::string(name);
  if (cursor_.IsPunct("(") && !ParseParameters(&function.parameters, &function.parameter_registers,
                                               Operand::Scope::kParameter, is_entry))
    return false;
  for (bool known = true; known;)
    if (!ParsePerformanceDirective(&function, &known)) return false;
  const bool has_body = cursor_.IsPunct("{");
  if (has_body && linkage == Linkage::kExtern)
    return Fail(name_at, "the .extern function '" + function.name + "' has a body: expected ';'");
  if (!has_body && !cursor_.IsPunct(";"))
    return Fail(cursor_.Peek().location,
                "expected '{', ';' or a performance directive after the header of '" + function.name +
                    "', got " + Describe(cursor_.Peek()));
  function.is_declaration = !has_body;
  int index = -1;
  if (!AddFunction(std::move(function), &index)) return false;
  module_symbols_[name] = {Symbol::Kind::kFunction, Operand::Scope::kModule, Type::kNone, 1, index, 0};
  if (!has_body) return Expect(";", "after a function's declaration");
  function_ = &module_.functions[static_cast<size_t>(index)];
  cursor_.Next();
  ParseBody();
  return true;
}

// A declaration and the definition after it are one function.
bool Parser::AddFunction(Function function, int* index) {
  auto variable = module_symbols_.find(function.name);
  if (variable == module_symbols_.end()) {
    *index = static_cast<int>(module_.functions.size());
    module_.functions.push_back(std::move(function));
    return true;
  }
  if (variable->second.kind != Symbol::Kind::kFunction)
    return Fail(function.location, "'" + function.name + "' is a variable already: expected a new name");
  *index = variable->second.index;
  Function& before = module_.functions[static_cast<size_t>(*index)];
  if (!before.is_declaration && !function.is_declaration)
    return Fail(function.location, "'" + function.name + "' is defined twice: first in line " +
                                       std::to_string(before.location.line));
  if (!CheckSameSignature(before, function)) return false;
  if (before.is_declaration) {
    if (function.linkage == Linkage::kNone && before.linkage != Linkage::kExtern)
      function.linkage = before.linkage;
    function.noreturn = function.noreturn || before.noreturn;
    function.alias_of = before.alias_of;
    before = std::move(function);
  }
  return true;
}

bool Parser::CheckSameSignature(const Function& before, const Function& now) {
  const auto same = [](const std::vector<Variable>& a, const std::vector<Variable>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Variable& x, const Variable& y) {
      return x.size == y.size && x.space == y.space;
    });
  };
  if (before.is_entry == now.is_entry && same(before.parameters, now.parameters) &&
      same(before.returns, now.returns))
    return true;
  return Fail(now.location, "'" + now.name + "' differs from its declaration in line " +
                                std::to_string(before.location.line) +
                                ": expected the same parameters and results");
}

bool Parser::ParseParameters(std::vector<Variable>* parameters, std::vector<int>* registers,
                             Operand::Scope scope, bool is_entry) {
  cursor_.Next();  // (
  if (cursor_.AcceptPunct(")")) return true;
  do {
    Variable parameter;
    if (!ParseOneParameter(&parameter, is_entry, false)) return false;
    int index = -1;
    Symbol symbol{Symbol::Kind::kVariable, scope, Type::kNone, 1, static_cast<int>(parameters->size()), 0};
    if (parameter.space == Space::kReg) {
      index = AddRegister(parameter.name, parameter.type);
      symbol = {Symbol::Kind::kRegister, Operand::Scope::kModule, parameter.type, 1, index, 0};
    }
    if (!scopes_.Declare(parameter_name_, symbol))
      return Fail(parameter.location, "the parameter '" + parameter.name + "' is declared twice");
    registers->push_back(index);
    parameters->push_back(std::move(parameter));
  } while (cursor_.AcceptPunct(","));
  return Expect(")", "after the parameters");
}

bool Parser::ParseOneParameter(Variable* parameter, bool is_entry, bool allow_unnamed) {
  const Token space = cursor_.Peek();
  if (cursor_.AcceptDot("param") || cursor_.AcceptDot("param::func") || cursor_.AcceptDot("param::entry")) {
    parameter->space = Space::kParam;
  } else if (!is_entry && cursor_.AcceptDot("reg")) {
    parameter->space = Space::kReg;
  } else {
    return Fail(space.location, std::string("expected .param ") + (is_entry ? "" : "or .reg ") +
                                    "at the start of a parameter, got " + Describe(space));
  }
  DeclarationHead head;
  head.variable = *parameter;
  if (!ParseHead(&head, "a parameter")) return false;
  *parameter = std::move(head.variable);
  parameter->location = cursor_.Peek().location;
  if (allow_unnamed && (cursor_.IsPunct(",") || cursor_.IsPunct(")") || cursor_.IsPunct("["))) {
    parameter->name = "_";
  } else if (allow_unnamed && cursor_.Peek().text == "_") {
    cursor_.Next();
    parameter->name = "_";
  } else {
    if (!ParseName("a parameter", &parameter_name_, &parameter->location)) return false;
    parameter->name = std::string(parameter_name_);
  }
  if (cursor_.IsPunct("[") && !ParseDimensions(parameter, true)) return false;
  return FinishSize(parameter);
}

bool Parser::ParseCount(uint32_t* count, const char* directive) {
  const Location where = cursor_.Peek().location;
  Constant value;
  const std::string what = std::string("the count of .") + directive;
  if (!ParseInteger(&cursor_, what.c_str(), &value)) return false;
  if (value.bits == 0 || value.bits > 0x7fffffff)
    return Fail(where,
                what + " is " + std::to_string(static_cast<int64_t>(value.bits)) + ": expected 1 or more");
  *count = static_cast<uint32_t>(value.bits);
  return true;
}

// One to three counts; those left out are 1.
bool Parser::ParseCounts(uint32_t* counts, const char* directive) {
  for (int i = 0; i < 3; ++i) counts[i] = 1;
  for (int i = 0; i < 3; ++i) {
    if (!ParseCount(&counts[i], directive)) return false;
    if (!cursor_.AcceptPunct(",")) return true;
  }
  return Fail(cursor_.Peek().location, std::string(".") + directive + " has more than three counts");
}

bool Parser::ParsePerformanceDirective(Function* function, bool* known) {
  const Token word = cursor_.Peek();
  *known = word.kind == Token::Kind::kDot;
  if (!*known) return true;
  cursor_.Next();
  const std::string name(word.text);
  if (name == "noreturn") {
    if (function->is_entry) return Fail(word.location, ".noreturn of a kernel: expected a .func");
    function->noreturn = true;
    return true;
  }
  if (name == "pragma") return ParsePragma();
  if (name == "abi_preserve") {
    uint32_t ignored;
    return ParseCount(&ignored, "abi_preserve");
  }
  if (name == "abi_preserve_control") {
    uint32_t ignored;
    return ParseCount(&ignored, "abi_preserve_control");
  }
  static constexpr const char* kKernelOnly[] = {"maxntid",         "reqntid",        "minnctapersm",
                                                "maxnctapersm",    "maxnreg",        "reqnctapercluster",
                                                "explicitcluster", "maxclusterrank", "blocksareclusters"};
  const bool listed = std::any_of(std::begin(kKernelOnly), std::end(kKernelOnly),
                                  [&](const char* entry) { return name == entry; });
  if (!listed)
    return Fail(word.location,
                "unknown directive " + Describe(word) + " after the header of '" + function->name +
                    "': expected .maxntid, .reqntid, .minnctapersm, .maxnreg, .reqnctapercluster, "
                    ".explicitcluster, .maxclusterrank, .blocksareclusters, .noreturn or .pragma");
  if (!function->is_entry)
    return Fail(word.location, "." + name + " of a function that is no kernel: expected it after .entry");
  if (name == "maxntid") return ParseCounts(function->max_threads, "maxntid");
  if (name == "reqntid") return ParseCounts(function->required_threads, "reqntid");
  if (name == "reqnctapercluster") return ParseCounts(function->cluster, "reqnctapercluster");
  if (name == "minnctapersm" || name == "maxnctapersm")
    return ParseCount(&function->min_blocks_per_sm, name.c_str());
  if (name == "maxnreg") return ParseCount(&function->max_registers, "maxnreg");
  if (name == "maxclusterrank") return ParseCount(&function->max_cluster_rank, "maxclusterrank");
  if (name == "explicitcluster") function->explicit_cluster = true;
  if (name == "blocksareclusters") function->blocks_are_clusters = true;
  return true;
}

}  // namespace understudy::emu::ptx
