// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/parse/legality.h"

#include <algorithm>
#include <utility>

#include "emu/ptx/isa/compiled_form.h"
#include "emu/ptx/parse/suggest.h"

namespace understudy::emu::ptx {
namespace {

std::string Spell(Op op, const std::vector<std::string>& modifiers) {
  std::string text = OpName(op);
  for (const std::string& modifier : modifiers) text += "." + modifier;
  return text;
}

bool Contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The modifiers' part of a form's syntax, for messages.
std::string Mnemonic(int form) {
  const std::string& syntax = Forms()[static_cast<size_t>(form)].syntax;
  return syntax.substr(0, syntax.find(' '));
}

std::string VersionText(int version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

std::string TargetsText(const std::vector<TargetSpec>& targets) {
  std::string text;
  for (const TargetSpec& target : targets) {
    if (!text.empty()) text += " or ";
    text += "sm_" + std::to_string(target.sm);
    if (target.suffix != 0)
      text += target.suffix;
    else
      text += " or later";
    if (target.suffix == 'f') text += " (or its family's)";
    if (target.ptx_version != 0) text += " from PTX " + VersionText(target.ptx_version) + " on";
  }
  return text;
}

// "" when the module is new enough, else what it lacks.
std::string Lacks(const Module& module, int version, const std::vector<TargetSpec>& targets) {
  std::string text;
  if (module.version_major == 0 || module.sm == 0) return "";  // already told
  if (module.version_major * 10 + module.version_minor < version) text = "PTX " + VersionText(version);
  bool admitted = targets.empty();
  for (const TargetSpec& target : targets)
    admitted = admitted ||
               target.Admits(module.sm, module.sm_suffix, module.version_major * 10 + module.version_minor);
  if (!admitted) text += (text.empty() ? "" : " and ") + ("target " + TargetsText(targets));
  return text;
}

std::string Has(const Module& module) {
  return "the module has PTX " + std::to_string(module.version_major) + "." +
         std::to_string(module.version_minor) + " and " + module.target;
}

bool AnyMatches(Op op, const std::vector<std::string>& modifiers) {
  for (int form : FormsOf(op))
    if (MatchModifiers(Compiled(form), modifiers, nullptr)) return true;
  return false;
}

// How many of the modifiers a form has a place for.
size_t Overlap(int form, const std::vector<std::string>& modifiers) {
  size_t count = 0;
  for (const std::string& modifier : modifiers) {
    bool found = false;
    for (const ModifierSlot& slot : Compiled(form).slots)
      for (const auto& sequence : slot.alternatives) found = found || Contains(sequence, modifier);
    count += found ? 2 : 0;
  }
  return count;
}

// The form that the writer most likely meant.
int Likeliest(Op op, const std::vector<std::string>& modifiers) {
  int best = -1;
  size_t best_score = 0;
  for (int form : FormsOf(op)) {
    size_t mandatory = 0;
    for (const ModifierSlot& slot : Compiled(form).slots) mandatory += slot.optional ? 0 : 1;
    const size_t score = 1000 + Overlap(form, modifiers) - std::min<size_t>(mandatory, 100);
    if (best < 0 || score > best_score) {
      best = form;
      best_score = score;
    }
  }
  return best;
}

void ExplainModifiers(Op op, const std::vector<std::string>& modifiers, FormChoice* choice) {
  const std::string name = OpName(op);
  const std::vector<std::string> known = ModifiersOf(op);
  for (size_t i = 0; i < modifiers.size(); ++i) {
    if (Contains(known, modifiers[i])) continue;
    const std::string dotted = "." + modifiers[i];
    Nearest nearest(dotted);
    for (const std::string& word : known) nearest.Try("." + word);
    Type type;
    choice->modifier = static_cast<int>(i);
    choice->error = FindType(modifiers[i], &type)
                        ? "'" + name + "' has no form with the type '." + modifiers[i] + "'" + nearest.Text()
                        : "unknown modifier '." + modifiers[i] + "' of '" + name + "'" + nearest.Text();
    return;
  }
  const std::string whole = Spell(op, modifiers);
  for (size_t i = 0; i < modifiers.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (modifiers[i] == modifiers[j]) {
        std::vector<std::string> fewer = modifiers;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        if (!AnyMatches(op, fewer)) continue;
        choice->modifier = static_cast<int>(i);
        choice->error = "'." + modifiers[i] + "' stands twice in '" + whole + "'";
        return;
      }
  for (int form : FormsOf(op)) {
    std::vector<std::string> right;
    if (modifiers.size() > 24 || !MatchModifiers(Compiled(form), modifiers, &right, true)) continue;
    size_t i = 0;
    while (right[i] == modifiers[i]) ++i;
    choice->modifier =
        static_cast<int>(std::find(modifiers.begin(), modifiers.end(), right[i]) - modifiers.begin());
    choice->error =
        "'." + right[i] + "' is out of place in '" + whole + "': expected '" + Spell(op, right) + "'";
    return;
  }
  const int likeliest = Likeliest(op, modifiers);
  if (modifiers.size() > 24) {
    choice->error = "'" + whole.substr(0, 200) + "' has " + std::to_string(modifiers.size()) +
                    " modifiers: no form has so many";
    return;
  }
  const std::string expected = likeliest < 0 ? "" : ": expected " + Mnemonic(likeliest);
  // One modifier too many, from the end: types stand there and are seldom the mistake.
  for (size_t i = 0; i < modifiers.size(); ++i) {
    std::vector<std::string> fewer = modifiers;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (!AnyMatches(op, fewer)) continue;
    std::vector<std::string> with;
    for (int form : FormsOf(op))
      if (MatchModifiers(Compiled(form), fewer, nullptr)) with.push_back(Mnemonic(form));
    choice->modifier = static_cast<int>(i);
    choice->error = "the modifier '." + modifiers[i] + "' does not go with '" + Spell(op, fewer) +
                    "': expected " + with[0];
    return;
  }
  // One that is missing.
  for (const std::string& word : known)
    for (size_t at = 0; at <= modifiers.size(); ++at) {
      std::vector<std::string> more = modifiers;
      more.insert(more.begin() + static_cast<std::ptrdiff_t>(at), word);
      if (!AnyMatches(op, more)) continue;
      choice->error = "'" + whole + "' lacks a modifier like '." + word + "'" + expected;
      return;
    }
  // One that should be another.
  for (size_t i = modifiers.size(); i-- > 0;) {
    std::vector<std::string> other = modifiers;
    std::vector<std::string> fit;
    for (const std::string& word : known) {
      other[i] = word;
      if (AnyMatches(op, other)) fit.push_back(word);
    }
    if (fit.empty()) continue;
    Type type;
    const bool is_type = FindType(modifiers[i], &type);
    std::string list;
    for (size_t j = 0; j < fit.size() && j < 12; ++j)
      list += (j == 0 ? "." : j + 1 == fit.size() ? " or ." : ", .") + fit[j];
    if (fit.size() > 12) list += " ...";
    choice->modifier = static_cast<int>(i);
    choice->error = std::string(is_type ? "the type '." : "the modifier '.") + modifiers[i] +
                    "' does not fit in '" + whole + "': expected " + list;
    return;
  }
  choice->error = "'" + whole + "' is no form of '" + name + "'" + expected;
}

// Forms that a later version withdrew.
struct Withdrawal {
  Op op;
  const char* without;
  int version, sm;
};
constexpr Withdrawal kWithdrawn[] = {
    {Op::kShfl, "sync", 64, 70}, {Op::kVote, "sync", 64, 70}, {Op::kWmma, "aligned", 63, 0}};

}  // namespace

FormChoice ChooseForms(const Module& module, Op op, const std::vector<std::string>& modifiers,
                       const std::vector<Type>& types) {
  FormChoice choice;
  std::vector<FormChoice::Candidate> matching;
  for (int form : FormsOf(op)) {
    FormChoice::Candidate candidate;
    candidate.form = form;
    if (MatchModifiers(Compiled(form), modifiers, &candidate.modifiers))
      matching.push_back(std::move(candidate));
  }
  if (matching.empty()) {
    ExplainModifiers(op, modifiers, &choice);
    return choice;
  }
  const std::string whole = Spell(op, modifiers);
  if (const ModifierRule* broken = BrokenRule(op, modifiers, &choice.modifier)) {
    choice.error = "in '" + whole + "' " + broken->Text();
    return choice;
  }
  for (const Withdrawal& row : kWithdrawn)
    if (row.op == op && !Contains(modifiers, row.without) && module.sm >= row.sm &&
        module.version_major * 10 + module.version_minor >= row.version) {
      choice.error =
          "'" + whole + "' without '." + row.without + "' ended with PTX " + VersionText(row.version) +
          (row.sm == 0 ? "" : " on sm_" + std::to_string(row.sm) + " and later") + ": " + Has(module);
      return choice;
    }
  for (const ModifierNeed& need : ModifierNeeds()) {
    if (!need.AppliesTo(op, modifiers)) continue;
    const std::string lacks = Lacks(module, need.ptx_version, need.targets);
    if (lacks.empty()) continue;
    for (size_t i = 0; i < modifiers.size(); ++i)
      if (modifiers[i] == need.modifiers[0]) choice.modifier = static_cast<int>(i);
    choice.error = "'." + need.Text() + "' of '" + OpName(op) + "' needs " + lacks + ": " + Has(module);
    return choice;
  }
  if (op == Op::kCvta && module.address_size == 64 && types.size() == 1 && types[0] == Type::kU32) {
    choice.error = "'" + whole + "' converts addresses of 32 bits: the module has .address_size 64";
    return choice;
  }
  std::string lacks;
  for (FormChoice::Candidate& candidate : matching) {
    const std::string now = Lacks(module, Forms()[static_cast<size_t>(candidate.form)].ptx_version,
                                  Compiled(candidate.form).targets);
    if (now.empty())
      choice.candidates.push_back(std::move(candidate));
    else if (lacks.empty())
      lacks = now;
  }
  if (choice.candidates.empty()) choice.error = "'" + whole + "' needs " + lacks + ": " + Has(module);
  return choice;
}

}  // namespace understudy::emu::ptx
