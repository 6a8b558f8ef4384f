// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/isa/forms.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "emu/ptx/isa/compiled_form.h"
#include "src/base/status.h"

namespace understudy::emu::ptx {
namespace {

struct SetRow {
  const char* name;
  const char* words;
};
constexpr SetRow kSets[] = {
#define SET(name, words) {#name, words},
#include "emu/ptx/isa/forms.inc"
};
struct NeedRow {
  const char* op;
  const char* modifier;
  int version;
  const char* targets;
};
constexpr NeedRow kNeeds[] = {
#define NEEDS(op, modifier, version, targets) {op, modifier, version, targets},
#include "emu/ptx/isa/forms.inc"
};
struct RuleRow {
  bool exclude;
  const char* op;
  const char* when;
  const char* then;
};
constexpr RuleRow kRules[] = {
#define EXCLUDE(op, when, then) {true, op, when, then},
#define DEMAND(op, when, then) {false, op, when, then},
#include "emu/ptx/isa/forms.inc"
};
struct NameRow {
  const char* ops;
  const char* words;
};
constexpr NameRow kNames[] = {
#define NAME(ops, words) {ops, words},
#include "emu/ptx/isa/forms.inc"
};
struct FormRow {
  Op op;
  const char* syntax;
  int version;
  const char* targets;
  FormFamily family;
};
constexpr FormRow kForms[] = {
#define FORM(op, syntax, version, targets, family) {Op::op, syntax, version, targets, FormFamily::family},
#include "emu/ptx/isa/forms.inc"
};

using Sequence = std::vector<std::string>;

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> out;
  for (size_t at = 0; at <= text.size();) {
    size_t end = text.find(separator, at);
    if (end == std::string::npos) end = text.size();
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// ".a.b", "$set", ".a$set": every sequence it stands for.
std::vector<Sequence> ExpandSequence(const std::string& text) {
  std::vector<Sequence> out = {{}};
  size_t i = 0;
  while (i < text.size()) {
    const char kind = text[i++];
    size_t end = i;
    while (end < text.size() && text[end] != '.' && text[end] != '$') ++end;
    const std::string word = text.substr(i, end - i);
    i = end;
    std::vector<std::string> choices;
    if (kind == '.') {
      choices = {word};
    } else {
      US_CHECK(kind == '$');
      for (const SetRow& row : kSets) {
        if (word != row.name) continue;
        const std::string words = row.words;
        for (size_t at = 0; at < words.size();) {
          size_t space = words.find(' ', at);
          if (space == std::string::npos) space = words.size();
          choices.push_back(words.substr(at + 1, space - at - 1));
          at = space + 1;
        }
      }
      US_CHECK(!choices.empty());
    }
    std::vector<Sequence> longer;
    for (const Sequence& sequence : out)
      for (const std::string& choice : choices) {
        longer.push_back(sequence);
        longer.back().push_back(choice);
      }
    out = std::move(longer);
  }
  return out;
}

ModifierSlot ParseSlot(const std::string& body, bool optional) {
  ModifierSlot slot;
  slot.optional = optional;
  for (size_t at = 0; at <= body.size();) {
    size_t bar = body.find('|', at);
    if (bar == std::string::npos) bar = body.size();
    for (Sequence& sequence : ExpandSequence(body.substr(at, bar - at)))
      slot.alternatives.push_back(std::move(sequence));
    at = bar + 1;
  }
  return slot;
}

std::vector<ModifierSlot> ParseModifiers(const std::string& text) {
  std::vector<ModifierSlot> slots;
  size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (c == '(' || c == '{') {
      const size_t end = text.find(c == '(' ? ')' : '}', i);
      US_CHECK(end != std::string::npos);
      slots.push_back(ParseSlot(text.substr(i + 1, end - i - 1), c == '{'));
      i = end + 1;
      continue;
    }
    size_t end = i + 1;
    while (end < text.size() && std::string(".$({").find(text[end]) == std::string::npos) ++end;
    slots.push_back(ParseSlot(text.substr(i, end - i), false));
    i = end;
  }
  return slots;
}

OperandSpec ParseOperandSpec(std::string text) {
  OperandSpec spec;
  if (text[0] == '[') {
    spec.shape =
        text.find('{') == std::string::npos ? OperandSpec::Shape::kAddress : OperandSpec::Shape::kTensor;
    spec.name = text.substr(1, text.find_first_of(",:]") - 1);
    spec.type = text.find(":b32") == std::string::npos ? Type::kNone : Type::kB32;
    return spec;
  }
  if (text == "_") {
    spec.shape = OperandSpec::Shape::kSink;
    return spec;
  }
  for (const auto& [word, shape] :
       {std::pair<const char*, OperandSpec::Shape>{"label", OperandSpec::Shape::kLabel},
        {"targets", OperandSpec::Shape::kTargets},
        {"callee", OperandSpec::Shape::kCallee}})
    if (text == word) {
      spec.shape = shape;
      spec.name = text;
      return spec;
    }
  if (const size_t bar = text.find('|'); bar != std::string::npos) {
    spec.pair = true;
    spec.pair_optional = bar > 0 && text[bar - 1] == '{';
    text = text.substr(0, spec.pair_optional ? bar - 1 : bar);
  }
  size_t i = 0;
  for (;; ++i) {
    if (text[i] == '#')
      spec.constant = true;
    else if (text[i] == '!')
      spec.negatable = true;
    else if (text[i] == '-')
      spec.minus = true;
    else
      break;
  }
  const size_t colon = text.find(':', i);
  US_CHECK(colon != std::string::npos);
  spec.name = text.substr(i, colon - i);
  if (const size_t equals = spec.name.find('='); equals != std::string::npos) {
    for (const std::string& part : Split(spec.name.substr(equals + 1), '/')) {
      const size_t to = part.find("..");
      OperandSpec::Range range{std::stoll(part), std::stoll(part), 1};
      if (to != std::string::npos) {
        const size_t by = part.find("..", to + 2);
        range.last = std::stoll(part.substr(to + 2));
        if (by != std::string::npos) range.step = std::stoll(part.substr(by + 2));
      }
      spec.values.push_back(range);
    }
    spec.name.resize(equals);
  }
  spec.destination = spec.name[0] == 'd';
  size_t end = colon + 1;
  while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end]))) ++end;
  const std::string type = text.substr(colon + 1, end - colon - 1);
  if (type == "addr") {
    spec.width = OperandSpec::Width::kAddress;
  } else if (type.size() == 2 && (type[0] == 'T' || type[0] == 'W' || type[0] == 'A')) {
    spec.width = type[0] == 'T'   ? OperandSpec::Width::kTyped
                 : type[0] == 'W' ? OperandSpec::Width::kDouble
                                  : OperandSpec::Width::kAccumulator;
    spec.type_index = type[1] - '0';
  } else {
    US_CHECK(FindType(type, &spec.type));
  }
  for (; end < text.size(); ++end) {
    switch (text[end]) {
      case '~':
        spec.wider = true;
        break;
      case '&':
        spec.variable = true;
        break;
      case '%':
        spec.special = true;
        break;
      case '^':
        spec.no_float = true;
        break;
      case '@':
        spec.selector = true;
        break;
      case '+':
        spec.register_only = true;
        break;
      case '_':
        spec.sink = true;
        break;
      case '*': {
        size_t stop = end + 1;
        while (stop < text.size() && std::isalnum(static_cast<unsigned char>(text[stop]))) ++stop;
        spec.vector = text.substr(end + 1, stop - end - 1);
        end = stop - 1;
        break;
      }
      default:
        US_CHECK(false);
    }
  }
  return spec;
}

// Splits at ", " outside brackets.
std::vector<std::string> SplitOperands(const std::string& text) {
  std::vector<std::string> out;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (depth == 0 && text[i] == ',')) {
      out.push_back(text.substr(begin, i - begin));
      begin = i + 1;
      while (begin < text.size() && text[begin] == ' ') ++begin;
      continue;
    }
    if (text[i] == '[') ++depth;
    if (text[i] == ']') --depth;
  }
  return out;
}

// "d:T0, a:T0{, b:u32}{mod?, cp:b64}".
std::vector<OperandSpec> ParseOperandSpecs(const std::string& text) {
  std::vector<OperandSpec> specs;
  std::string plain;
  const auto flush = [&] {
    if (plain.empty()) return;
    if (plain.compare(0, 2, ", ") == 0) plain = plain.substr(2);
    for (const std::string& part : SplitOperands(plain)) specs.push_back(ParseOperandSpec(part));
    plain.clear();
  };
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']') --depth;
    if (text[i] != '{' || depth > 0 || text[i + 1] == '|') {
      plain += text[i];
      continue;
    }
    flush();
    const size_t end = text.find('}', i);
    US_CHECK(end != std::string::npos);
    std::string body = text.substr(i + 1, end - i - 1);
    std::string needs;
    if (const size_t mark = body.find("?, "); mark != std::string::npos) {
      needs = body.substr(0, mark);
      body = body.substr(mark + 3);
    } else if (body.compare(0, 2, ", ") == 0) {
      body = body.substr(2);
    }
    for (const std::string& part : SplitOperands(body)) {
      specs.push_back(ParseOperandSpec(part));
      specs.back().optional = true;
      if (!needs.empty()) specs.back().needs_modifier = Split(needs, '|');
    }
    i = end;
  }
  flush();
  return specs;
}

std::vector<TargetSpec> ParseTargets(const std::string& text) {
  std::vector<TargetSpec> out;
  for (size_t at = 0; at < text.size();) {
    TargetSpec spec;
    while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])))
      spec.sm = spec.sm * 10 + text[at++] - '0';
    if (at < text.size() && text[at] != '|' && text[at] != '@') spec.suffix = text[at++];
    if (at < text.size() && text[at] == '@')
      for (++at; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]));)
        spec.ptx_version = spec.ptx_version * 10 + text[at++] - '0';
    if (at < text.size()) US_CHECK(text[at] == '|');
    ++at;
    out.push_back(spec);
  }
  return out;
}

CompiledForm Compile(const Form& form) {
  CompiledForm out;
  const size_t space = form.syntax.find(' ');
  const std::string name = form.syntax.substr(0, space);
  const std::string op = OpName(form.op);
  US_CHECK(name.compare(0, op.size(), op) == 0);
  out.slots = ParseModifiers(name.substr(op.size()));
  if (space != std::string::npos) out.operands = ParseOperandSpecs(form.syntax.substr(space + 1));
  out.targets = ParseTargets(form.targets);
  for (const NameRow& row : kNames) {
    const std::vector<std::string> ops = Split(row.ops, '|');
    if (std::find(ops.begin(), ops.end(), op) != ops.end()) out.name_words = Split(row.words, ' ');
  }
  for (const OperandSpec& spec : out.operands) out.least_operands += spec.optional ? 0 : 1;
  return out;
}

// Families of architecture-specific features: "f" of the first is had by every member.
bool SameFamily(int family, int sm) {
  if (family / 10 == 11 || family == 101) return sm == 101 || sm == 110;
  return family / 10 == sm / 10 && sm >= family;
}

// Types, state spaces, layouts and the like keep their order among themselves.
int OrderedClass(const std::string& modifier) {
  static const auto* const classes = [] {
    auto* table = new std::unordered_map<std::string, int>{
#define PTX_TYPE(id, name, bits) {name, 1},
#include "emu/ptx/isa/types.inc"
#undef PTX_TYPE
    };
    for (const char* space : {"global", "shared", "shared::cta", "shared::cluster", "const", "local", "param",
                              "param::entry", "param::func"})
      (*table)[space] = 2;
    (*table)["row"] = (*table)["col"] = 3;
    // The operation and its reduction; the primary and the secondary priority.
    for (const char* operation : {"and", "or", "xor", "popc"}) (*table)[operation] = 4;
    for (const char* part : {"b8x16", "b6x16_p32", "b4x16_p64"}) (*table)[part] = 6;
    return table;
  }();
  const auto it = classes->find(modifier);
  if (it != classes->end()) return it->second;
  return modifier.compare(0, 9, "L2::evict") == 0 ? 5 : 0;
}

class ModifierMatcher {
 public:
  ModifierMatcher(const CompiledForm& form, const std::vector<std::string>& modifiers)
      : form_(form), modifiers_(modifiers), used_(modifiers.size(), false) {
    for (const std::string& modifier : modifiers) classes_.push_back(OrderedClass(modifier));
  }
  bool Match(size_t slot) {
    if (slot == form_.slots.size()) return order_.size() == modifiers_.size();
    for (const Sequence& sequence : form_.slots[slot].alternatives) {
      const size_t before = order_.size();
      bool fits = true;
      for (const std::string& word : sequence)
        if (!(fits = Take(word))) break;
      if (fits && Match(slot + 1)) return true;
      while (order_.size() > before) {
        used_[order_.back()] = false;
        order_.pop_back();
      }
    }
    return form_.slots[slot].optional && Match(slot + 1);
  }
  const std::vector<size_t>& order() const { return order_; }

 private:
  bool Take(const std::string& word) {
    const int wanted = OrderedClass(word);
    for (size_t i = 0; i < modifiers_.size(); ++i) {
      if (used_[i]) continue;
      if (modifiers_[i] != word) {
        if (wanted != 0 && classes_[i] == wanted) return false;
        continue;
      }
      used_[i] = true;
      order_.push_back(i);
      return true;
    }
    return false;
  }
  const CompiledForm& form_;
  const std::vector<std::string>& modifiers_;
  std::vector<bool> used_;
  std::vector<int> classes_;
  std::vector<size_t> order_;
};

}  // namespace

const char* FormFamilyName(FormFamily family) {
  constexpr const char* kNames[] = {"integer", "extended", "float",   "half",    "mixed",  "compare",
                                    "logic",   "convert",  "video",   "move",    "memory", "atomic",
                                    "async",   "sync",     "warp",    "control", "stack",  "misc",
                                    "matrix",  "wgmma",    "tcgen05", "texture", "surface"};
  return kNames[static_cast<size_t>(family)];
}

const std::vector<Form>& Forms() {
  static const auto* const forms = [] {
    auto* list = new std::vector<Form>;
    for (const FormRow& row : kForms)
      list->push_back({row.op, row.syntax, row.version, row.targets, row.family});
    return list;
  }();
  return *forms;
}

const CompiledForm& Compiled(int form) {
  static const auto* const compiled = [] {
    auto* list = new std::vector<CompiledForm>;
    for (const Form& row : Forms()) list->push_back(Compile(row));
    return list;
  }();
  return (*compiled)[static_cast<size_t>(form)];
}

Type OperandType(const OperandSpec& spec, const std::vector<Type>& types) {
  if (spec.width == OperandSpec::Width::kFixed) return spec.type;
  if (spec.width == OperandSpec::Width::kAddress) return Type::kNone;
  const auto index = static_cast<size_t>(spec.type_index);
  if (index >= types.size()) return Type::kNone;
  if (spec.width == OperandSpec::Width::kTyped) return types[index];
  if (spec.width == OperandSpec::Width::kAccumulator)
    return types[index] == Type::kF16 ? Type::kB32 : types[index];
  switch (types[index]) {
    case Type::kU16:
      return Type::kU32;
    case Type::kS16:
      return Type::kS32;
    case Type::kU32:
      return Type::kU64;
    case Type::kS32:
      return Type::kS64;
    default:
      return Type::kNone;
  }
}

const std::vector<int>& FormsOf(Op op) {
  static const auto* const by_op = [] {
    auto* lists = new std::vector<std::vector<int>>;
    for (size_t i = 0; i < Forms().size(); ++i) {
      const auto at = static_cast<size_t>(Forms()[i].op);
      if (lists->size() <= at) lists->resize(at + 1);
      (*lists)[at].push_back(static_cast<int>(i));
    }
    return lists;
  }();
  static const std::vector<int> none;
  const auto at = static_cast<size_t>(op);
  return at < by_op->size() ? (*by_op)[at] : none;
}

std::vector<std::string> ModifiersOf(Op op) {
  std::vector<std::string> words;
  for (int form : FormsOf(op))
    for (const ModifierSlot& slot : Compiled(form).slots)
      for (const auto& sequence : slot.alternatives)
        for (const std::string& word : sequence)
          if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  return words;
}

const std::vector<ModifierNeed>& ModifierNeeds() {
  static const auto* const needs = [] {
    auto* list = new std::vector<ModifierNeed>;
    for (const NeedRow& row : kNeeds)
      for (const std::string& op : Split(row.op, '|'))
        for (const std::string& when : Split(row.modifier, '|')) {
          ModifierNeed need;
          need.any_op = op == "*";
          if (!need.any_op) US_CHECK(FindOp(op, &need.op));
          need.modifiers = Split(when, '+');
          need.ptx_version = row.version;
          need.targets = ParseTargets(row.targets);
          list->push_back(std::move(need));
        }
    return list;
  }();
  return *needs;
}

bool ModifierNeed::AppliesTo(Op of, const std::vector<std::string>& have) const {
  if (!any_op && op != of) return false;
  for (const std::string& modifier : modifiers)
    if (std::find(have.begin(), have.end(), modifier) == have.end()) return false;
  return true;
}

std::string ModifierNeed::Text() const {
  std::string text = modifiers[0];
  for (size_t i = 1; i < modifiers.size(); ++i) text += (i == 1 ? " with ." : ".") + modifiers[i];
  return text;
}

const std::vector<ModifierRule>& ModifierRules() {
  static const auto* const rules = [] {
    auto* list = new std::vector<ModifierRule>;
    for (const RuleRow& row : kRules)
      for (const std::string& op : Split(row.op, '|'))
        for (const std::string& when : Split(row.when, '|')) {
          ModifierRule rule;
          rule.exclude = row.exclude;
          rule.any_op = op == "*";
          if (!rule.any_op) US_CHECK(FindOp(op, &rule.op));
          rule.when = Split(when, '+');
          for (const std::string& words : Split(row.then, '|')) rule.then.push_back(Split(words, '+'));
          list->push_back(std::move(rule));
        }
    return list;
  }();
  return *rules;
}

std::string ModifierRule::Text() const {
  std::string text = "'";
  for (const std::string& word : when) text += "." + word;
  text += exclude ? "' does not go with" : "' demands";
  for (size_t i = 0; i < then.size(); ++i) {
    text += (i == 0 ? " '." : i + 1 == then.size() ? " or '." : ", '.") + then[i][0];
    for (size_t k = 1; k < then[i].size(); ++k) text += "+" + then[i][k];
    text += "'";
  }
  return text;
}

const ModifierRule* BrokenRule(Op op, const std::vector<std::string>& modifiers, int* at) {
  const auto has = [&](const std::string& word) {
    return std::find(modifiers.begin(), modifiers.end(), word) != modifiers.end();
  };
  for (const ModifierRule& rule : ModifierRules()) {
    if (!rule.any_op && rule.op != op) continue;
    if (!std::all_of(rule.when.begin(), rule.when.end(), has)) continue;
    if (std::any_of(rule.then.begin(), rule.then.end(), [&](const std::vector<std::string>& words) {
          return std::all_of(words.begin(), words.end(), has);
        }) != rule.exclude)
      continue;
    for (size_t i = 0; i < modifiers.size(); ++i)
      if (modifiers[i] == rule.when[0]) *at = static_cast<int>(i);
    return &rule;
  }
  return nullptr;
}

bool TargetSpec::Admits(int sm_of_module, char suffix_of_module, int version_of_module) const {
  if (version_of_module < ptx_version) return false;
  if (suffix == 0) return sm_of_module >= sm;
  if (suffix == 'a') return suffix_of_module == 'a' && sm_of_module == sm;
  return suffix_of_module != 0 && SameFamily(sm, sm_of_module);
}

bool MatchModifiers(const CompiledForm& form, const std::vector<std::string>& modifiers,
                    std::vector<std::string>* canonical, bool loose) {
  if (modifiers.size() > 64) return false;
  ModifierMatcher matcher(form, modifiers);
  if (!matcher.Match(0)) return false;
  const std::vector<size_t>& order = matcher.order();
  for (size_t i = 0; i < order.size() && !loose; ++i) {
    const std::string& word = modifiers[order[i]];
    if (std::find(form.name_words.begin(), form.name_words.end(), word) == form.name_words.end()) break;
    if (order[i] != i) return false;
  }
  if (canonical != nullptr) {
    canonical->clear();
    for (size_t index : matcher.order()) canonical->push_back(modifiers[index]);
  }
  return true;
}

}  // namespace understudy::emu::ptx
