// SPDX-License-Identifier: Apache-2.0
// Instructions that a form allows, as text.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "emu/ptx/isa/compiled_form.h"

namespace understudy::emu::ptx {
namespace {

using Shape = OperandSpec::Shape;

bool NamesType(const ModifierSlot& slot) {
  Type type;
  for (const auto& sequence : slot.alternatives)
    for (const std::string& word : sequence)
      if (FindType(word, &type)) return true;
  return false;
}

// Which alternative each slot takes in an example; -1: left out.
std::vector<std::vector<int>> Choices(const CompiledForm& form, size_t limit) {
  size_t count = 1;
  for (const ModifierSlot& slot : form.slots) {
    if (NamesType(slot)) count = std::min(limit, count * slot.alternatives.size());
  }
  for (const ModifierSlot& slot : form.slots)
    count = std::max(count, slot.alternatives.size() + (slot.optional ? 1 : 0));
  std::vector<std::vector<int>> out;
  for (size_t example = 0; example < count; ++example) {
    std::vector<int> choice;
    size_t rest = example;
    for (const ModifierSlot& slot : form.slots) {
      const size_t n = slot.alternatives.size();
      if (NamesType(slot) && !slot.optional) {
        choice.push_back(static_cast<int>(rest % n));
        rest /= n;
      } else {
        const size_t i = example % (n + (slot.optional ? 1 : 0));
        choice.push_back(slot.optional ? static_cast<int>(i) - 1 : static_cast<int>(i));
      }
    }
    out.push_back(std::move(choice));
  }
  return out;
}

// Names registers of FormModule, each time the next one of its kind.
class Namer {
 public:
  std::string Register(Type type) {
    switch (TypeBits(type)) {
      case 1:
        return Next("%p", 0, 7);
      case 4:
      case 6:
      case 8:
        return Next("%c", 1, 7);
      case 16:
        return Next("%h", 2, 40);
      case 32:
        return type == Type::kF32 ? Next("%f", 3, 300) : Next("%r", 4, 300);
      case 64:
        return type == Type::kF64 ? Next("%d", 5, 60) : Next("%l", 6, 60);
      case 128:
        return Next("%q", 7, 7);
      default:
        return Next("%r", 4, 300);
    }
  }
  std::string Vector(Type type, int length) {
    std::string text = "{";
    for (int i = 0; i < length; ++i) text += (i ? ", " : "") + Register(type);
    return text + "}";
  }

 private:
  std::string Next(const char* prefix, size_t kind, int count) {
    used_[kind] = used_[kind] % count + 1;
    return prefix + std::to_string(used_[kind]);
  }
  std::array<int, 8> used_{};
};

class Example {
 public:
  Example(const Form& form, const CompiledForm& compiled, const std::vector<int>& choice, bool with_optional)
      : form_(form), compiled_(compiled), with_optional_(with_optional) {
    for (size_t i = 0; i < choice.size(); ++i)
      if (choice[i] >= 0)
        for (const std::string& word : compiled.slots[i].alternatives[static_cast<size_t>(choice[i])]) {
          modifiers_.push_back(word);
          Type type;
          if (FindType(word, &type)) types_.push_back(type);
        }
  }
  const std::vector<std::string>& modifiers() const { return modifiers_; }
  std::string Text() {
    std::string text = OpName(form_.op);
    for (const std::string& modifier : modifiers_) text += "." + modifier;
    const char* separator = " ";
    for (const OperandSpec& spec : compiled_.operands) {
      if (spec.optional && !(spec.needs_modifier.empty() ? with_optional_ : HasOneOf(spec.needs_modifier)))
        continue;
      text += separator + Operand(spec);
      separator = ", ";
    }
    return text + ";";
  }

 private:
  bool Has(const std::string& word) const {
    return std::find(modifiers_.begin(), modifiers_.end(), word) != modifiers_.end();
  }
  bool HasOneOf(const std::vector<std::string>& words) const {
    return std::any_of(words.begin(), words.end(), [this](const std::string& word) { return Has(word); });
  }
  std::string Address() {
    if (Has("param") || Has("param::func") || Has("param::entry")) return form_.op == Op::kSt ? "op" : "pp";
    if (form_.op == Op::kTxq) return "tx";
    if (form_.op == Op::kSuq) return "sf";
    return names_.Register(Type::kB64);
  }
  std::string Tensor() {
    const bool texture = form_.op == Op::kTex || form_.op == Op::kTld4;
    const bool surface = form_.op == Op::kSuld || form_.op == Op::kSust || form_.op == Op::kSured;
    const std::string base = texture ? "tx" : surface ? "sf" : Address();
    Type type = Type::kS32;
    if (texture) type = form_.op == Op::kTld4 ? Type::kF32 : types_.back();
    const bool multisample = Has("2dms") || Has("a2dms");
    if (!texture && !surface) type = Type::kB32;
    return "[" + base + ", " +
           names_.Vector(multisample ? Type::kS32 : type, CoordinateCount(form_.op, modifiers_)) + "]";
  }
  std::string Operand(const OperandSpec& spec) {
    switch (spec.shape) {
      case Shape::kLabel:
        return "LABEL";
      case Shape::kTargets:
        return "TARGETS";
      case Shape::kCallee:
        return "fn";
      case Shape::kSink:
        return "_";
      case Shape::kAddress:
        return "[" + (spec.type == Type::kB32 ? names_.Register(Type::kB32) : Address()) + "]";
      case Shape::kTensor:
        return Tensor();
      case Shape::kValue:
        break;
    }
    if (spec.constant) return spec.values.empty() ? "1" : std::to_string(spec.values[0].first);
    Type type = OperandType(spec, types_);
    if (spec.width == OperandSpec::Width::kAddress) type = Type::kB64;
    if (spec.wider && TypeBits(type) < 16) type = Type::kB16;
    std::string text;
    if (spec.vector == "pack") {
      text = names_.Vector(TypeBits(type) == 128  ? Type::kB64
                           : TypeBits(type) == 64 ? Type::kB32
                           : TypeBits(type) == 32 ? Type::kB16
                                                  : Type::kB8,
                           2);
    } else {
      int length = VectorLength(spec.vector, form_.op, modifiers_, types_);
      if (length < 0) length = 1;
      text = length == 0 && (spec.vector.empty() || spec.vector == "V") ? names_.Register(type)
                                                                        : names_.Vector(type, length);
    }
    if (spec.pair && (!spec.pair_optional || with_optional_)) text += "|" + names_.Register(Type::kPred);
    return text;
  }

  const Form& form_;
  const CompiledForm& compiled_;
  bool with_optional_;
  std::vector<std::string> modifiers_;
  std::vector<Type> types_;
  Namer names_;
};

struct Written {
  std::string text;
  std::vector<std::string> modifiers;
};

std::vector<Written> Write(int form, size_t limit) {
  const CompiledForm& compiled = Compiled(form);
  const Form& row = Forms()[static_cast<size_t>(form)];
  bool optional = false;
  for (const OperandSpec& spec : compiled.operands)
    optional = optional || (spec.optional && spec.needs_modifier.empty()) || spec.pair_optional;
  std::vector<Written> out;
  const std::vector<std::vector<int>> choices = Choices(compiled, std::max<size_t>(limit, 1));
  for (size_t i = 0; i < choices.size(); ++i) {
    const auto add = [&](bool with_optional) {
      Example example(row, compiled, choices[i], with_optional);
      int at = -1;
      // cvta.u32 is for modules with addresses of 32 bits, which FormModule is not.
      if (row.op == Op::kCvta && example.modifiers().back() == "u32") return;
      if (BrokenRule(row.op, example.modifiers(), &at) == nullptr)
        out.push_back({example.Text(), example.modifiers()});
    };
    add(i % 2 == 1);
    if (optional && choices.size() == 1) add(true);
  }
  return out;
}

struct Requirement {
  int version = 0;
  std::string target;
};

bool Admits(const std::vector<TargetSpec>& targets, int sm, char suffix, int version) {
  return std::any_of(targets.begin(), targets.end(),
                     [&](const TargetSpec& target) { return target.Admits(sm, suffix, version); });
}

Requirement Require(int form) {
  const CompiledForm& compiled = Compiled(form);
  const Form& row = Forms()[static_cast<size_t>(form)];
  std::vector<const ModifierNeed*> needs;
  Requirement out;
  out.version = row.ptx_version;
  for (const Written& example : Write(form, 64))
    for (const ModifierNeed& need : ModifierNeeds()) {
      if (!need.AppliesTo(row.op, example.modifiers)) continue;
      needs.push_back(&need);
      out.version = std::max(out.version, need.ptx_version);
    }
  static constexpr std::pair<int, char> kTargets[] = {
      {10, 0},   {11, 0},  {13, 0},    {20, 0},    {30, 0},    {32, 0},    {50, 0},    {52, 0},   {53, 0},
      {60, 0},   {61, 0},  {70, 0},    {72, 0},    {75, 0},    {80, 0},    {86, 0},    {89, 0},   {90, 0},
      {90, 'a'}, {100, 0}, {100, 'f'}, {100, 'a'}, {103, 'f'}, {103, 'a'}, {120, 'f'}, {120, 'a'}};
  for (const bool all : {true, false})
    for (const auto& [sm, suffix] : kTargets) {
      if (!Admits(compiled.targets, sm, suffix, out.version)) continue;
      if (all &&
          !std::all_of(needs.begin(), needs.end(), [&, sm = sm, suffix = suffix](const ModifierNeed* need) {
            return Admits(need->targets, sm, suffix, out.version);
          }))
        continue;
      out.target = "sm_" + std::to_string(sm);
      if (suffix != 0) out.target += suffix;
      out.version = std::max(out.version, TargetVersion(sm, suffix));
      return out;
    }
  return out;
}

}  // namespace

std::vector<std::string> FormExamples(int form, size_t limit) {
  std::vector<std::string> out;
  for (Written& example : Write(form, limit)) out.push_back(std::move(example.text));
  return out;
}

std::string FormVersion(int form) {
  const int version = Require(form).version;
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

std::string FormTarget(int form) { return Require(form).target; }

std::string FormModule(const std::vector<std::string>& instructions, const std::string& version,
                       const std::string& target) {
  // Addresses of 64 bits came with PTX 2.3 and sm_20.
  const bool old_version = version < "2.3";
  const bool old_target = target == "sm_10" || target == "sm_11" || target == "sm_13";
  std::string text = ".version " + (old_version ? "2.3" : version) + "\n.target " +
                     (old_target ? "sm_20" : target) + "\n.address_size 64\n";
  text +=
      ".global .texref tx;\n.global .surfref sf;\n.global .align 16 .b8 gv[256];\n"
      ".shared .align 16 .b8 sv[256];\n.const .align 16 .b8 cv[256];\n"
      ".func fn() { ret; }\n"
      ".visible .entry k(.param .align 16 .b8 pp[256])\n{\n"
      ".local .align 16 .b8 lv[256];\n.param .align 16 .b8 op[256];\n"
      ".reg .pred %p<8>;\n.reg .b16 %h<41>;\n.reg .b32 %r<301>;\n.reg .b64 %l<61>;\n.reg .f32 %f<301>;\n"
      ".reg .f64 %d<61>;\n.reg .b8 %c<8>;\n";
  if (std::any_of(instructions.begin(), instructions.end(),
                  [](const std::string& line) { return line.find("%q") != std::string::npos; }))
    text += ".reg .b128 %q<8>;\n";
  if (std::any_of(instructions.begin(), instructions.end(),
                  [](const std::string& line) { return line.find("TARGETS") != std::string::npos; }))
    text += "TARGETS: .branchtargets LABEL;\n";
  for (const std::string& line : instructions) text += line + "\n";
  return text + "LABEL:\nret;\n}\n";
}

}  // namespace understudy::emu::ptx
