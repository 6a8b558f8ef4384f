// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/ptx/parse/mutations.h"

#include <algorithm>
#include <tuple>

#include "emu/ptx/isa/compiled_form.h"
#include "emu/ptx/isa/forms.h"
#include "emu/ptx/parse/parse.h"

namespace understudy::emu::ptx {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  size_t Below(size_t n) {
    state_ += 0x9e3779b97f4a7c15u;  // splitmix64
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<size_t>((z ^ (z >> 31)) % n);
  }
  template <typename T>
  const T& Of(const std::vector<T>& list) {
    return list[Below(list.size())];
  }

 private:
  uint64_t state_;
};

// "add.sat.s32 %r1, %r2, %r3;" taken apart.
struct Text {
  std::string op;
  std::vector<std::string> modifiers, operands;

  explicit Text(const std::string& instruction) {
    const std::string body = instruction.substr(0, instruction.find(';'));
    const size_t space = body.find(' ');
    std::string name = body.substr(0, space);
    for (size_t at = 0; at <= name.size();) {
      const size_t dot = std::min(name.find('.', at), name.size());
      (at == 0 ? op : modifiers.emplace_back()) = name.substr(at, dot - at);
      at = dot + 1;
    }
    if (space == std::string::npos) return;
    int depth = 0;
    operands.emplace_back();
    for (size_t i = space + 1; i < body.size(); ++i) {
      if (depth == 0 && body[i] == ',') {
        operands.emplace_back();
        ++i;  // the space
        continue;
      }
      depth += body[i] == '[' || body[i] == '{';
      depth -= body[i] == ']' || body[i] == '}';
      operands.back() += body[i];
    }
  }
  std::string Join() const {
    std::string text = op;
    for (const std::string& modifier : modifiers) text += "." + modifier;
    for (size_t i = 0; i < operands.size(); ++i) text += (i == 0 ? " " : ", ") + operands[i];
    return text + ";";
  }
};

std::vector<std::string> TypeNames() {
  return {
#define PTX_TYPE(id, name, bits) name,
#include "emu/ptx/isa/types.inc"
#undef PTX_TYPE
  };
}

const std::vector<std::string>& OtherModifiers() {
  static const std::vector<std::string> words = {
      "sat",      "ftz",     "rn",  "rz",        "approx", "full",        "cc",    "hi",    "wide",
      "uni",      "sync",    "v2",  "v4",        "global", "shared",      "local", "param", "ca",
      "cg",       "relaxed", "cta", "gpu",       "relu",   "NaN",         "abs",   "noftz", "and",
      "popc",     "eq",      "lt",  "aligned",   "trans",  "row",         "x2",    "to",    "nc",
      "volatile", "rni",     "rna", "satfinite", "frob",   "shared::cta", "pack",  "b"};
  return words;
}

// Operands of every kind, of names that FormModule declares.
const std::vector<std::string>& Operands() {
  static const std::vector<std::string> operands = {
      "%p5",         "!%p5",        "%h9",         "%r9",
      "-%r9",        "%l9",         "%f9",         "-%f9",
      "%d9",         "%c5",         "1",           "-1",
      "17",          "0f3f800000",  "1.0",         "0d3ff0000000000000",
      "_",           "%tid.x",      "%clock64",    "%laneid",
      "gv",          "sv",          "fn",          "[%r9]",
      "[%l9]",       "[%l9+8]",     "[gv]",        "[sv]",
      "{%r9, %r10}", "{%f9, %f10}", "{%h9, %h10}", "{%r9, %r10, %r11, %r12}",
      "{%l9, %l10}", "%r9|%p5",     "%p5|%p6",     "%r9.h0",
      "%r9.b0",      "WARP_SZ",     "[%f9]",       "gv+4",
      "%r9+4",       "[1024]",      "nowhere"};
  return operands;
}

const std::vector<std::string>& Versions() {
  static const std::vector<std::string> versions = {"3.0", "4.2", "5.0", "6.0", "6.3", "6.5", "7.0", "7.1",
                                                    "7.4", "7.8", "8.0", "8.1", "8.4", "8.6", "8.7", "8.8"};
  return versions;
}

const std::vector<std::string>& Targets() {
  static const std::vector<std::string> targets = {
      "sm_50",  "sm_60",   "sm_70",   "sm_75",  "sm_80",   "sm_86",  "sm_89",   "sm_90",  "sm_90a",
      "sm_100", "sm_100f", "sm_100a", "sm_103", "sm_103a", "sm_120", "sm_120f", "sm_120a"};
  return targets;
}

std::string Later(const std::string& version, const std::string& target) {
  const int has = std::stoi(version) * 10 + (version[version.find('.') + 1] - '0');
  const char suffix = target.back() == 'a' || target.back() == 'f' ? target.back() : '\0';
  const int least = std::max(
      {has, TargetVersion(std::stoi(target.substr(3)), suffix), 60});  // 64-bit addresses, sm_50 and later
  return std::to_string(least / 10) + "." + std::to_string(least % 10);
}

// The least target that a present-day assembler still takes.
std::string AtLeast50(const std::string& target) {
  return std::stoi(target.substr(3)) < 50 ? "sm_50" : target;
}

class Mutator {
 public:
  Mutator(Op op, Random* random) : random_(*random), known_(ModifiersOf(op)) {}

  void Mutate(Case* example) {
    Text text(example->instruction);
    switch (random_.Below(16)) {
      case 0:
        Erase(&text.modifiers);
        break;
      case 1:
        if (!text.modifiers.empty()) Insert(&text.modifiers, random_.Of(text.modifiers));
        break;
      case 2:
      case 3:
        if (!known_.empty()) Insert(&text.modifiers, random_.Of(known_));
        break;
      case 4:
        Insert(&text.modifiers, random_.Of(OtherModifiers()));
        break;
      case 5:
      case 6:
        if (!known_.empty()) Replace(&text.modifiers, random_.Of(known_));
        break;
      case 7:
        ReplaceType(&text.modifiers);
        break;
      case 8:
        if (text.modifiers.size() > 1) {
          const size_t at = random_.Below(text.modifiers.size() - 1);
          std::swap(text.modifiers[at], text.modifiers[at + 1]);
        }
        break;
      case 9:
        Erase(&text.operands);
        break;
      case 10:
        Insert(&text.operands, random_.Of(Operands()));
        break;
      case 11:
      case 12:
        Replace(&text.operands, random_.Of(Operands()));
        break;
      case 13:
        ChangeVector(&text.operands);
        break;
      case 14:
        example->version = Later(random_.Of(Versions()), example->target);
        break;
      default:
        example->target = random_.Of(Targets());
        example->version = Later(example->version, example->target);
        break;
    }
    example->instruction = text.Join();
  }

 private:
  void Erase(std::vector<std::string>* list) {
    if (!list->empty()) list->erase(list->begin() + static_cast<std::ptrdiff_t>(random_.Below(list->size())));
  }
  void Insert(std::vector<std::string>* list, const std::string& word) {
    list->insert(list->begin() + static_cast<std::ptrdiff_t>(random_.Below(list->size() + 1)), word);
  }
  void Replace(std::vector<std::string>* list, const std::string& word) {
    if (!list->empty()) (*list)[random_.Below(list->size())] = word;
  }
  void ReplaceType(std::vector<std::string>* modifiers) {
    static const std::vector<std::string> types = TypeNames();
    std::vector<size_t> at;
    Type type;
    for (size_t i = 0; i < modifiers->size(); ++i)
      if (FindType((*modifiers)[i], &type)) at.push_back(i);
    if (!at.empty()) (*modifiers)[random_.Of(at)] = random_.Of(types);
  }
  // An element more or fewer, or another register kind in it.
  void ChangeVector(std::vector<std::string>* operands) {
    std::vector<size_t> at;
    for (size_t i = 0; i < operands->size(); ++i)
      if ((*operands)[i].find('{') != std::string::npos) at.push_back(i);
    if (at.empty()) return;
    std::string& operand = (*operands)[random_.Of(at)];
    const size_t open = operand.find('{'), close = operand.find('}'), comma = operand.find(',', open);
    static const std::vector<std::string> registers = {"%r200", "%f200", "%h20", "%l20", "%p4", "_", "3"};
    switch (random_.Below(3)) {
      case 0:
        operand.insert(close, ", " + random_.Of(registers));
        break;
      case 1:
        if (comma < close) operand.erase(open + 1, comma + 2 - (open + 1));
        break;
      default:
        operand.replace(open + 1, std::min(comma, close) - (open + 1), random_.Of(registers));
        break;
    }
  }

  Random& random_;
  std::vector<std::string> known_;
};

}  // namespace

bool Case::operator<(const Case& other) const {
  return std::tie(version, target, instruction) < std::tie(other.version, other.target, other.instruction);
}
bool Case::operator==(const Case& other) const {
  return std::tie(version, target, instruction) == std::tie(other.version, other.target, other.instruction);
}

std::vector<Case> NearForm(int form, uint64_t seed, size_t examples, size_t mistakes) {
  Random random(seed * 1000003 + static_cast<uint64_t>(form));
  const std::string target = AtLeast50(FormTarget(form));
  const std::string version = Later(FormVersion(form), target);
  std::vector<std::string> legal = FormExamples(form);
  std::vector<Case> cases;
  for (size_t i = 0; i < std::min(examples, legal.size()); ++i) {
    std::swap(legal[i], legal[i + random.Below(legal.size() - i)]);
    cases.push_back({version, target, legal[i]});
  }
  Mutator mutator(Forms()[static_cast<size_t>(form)].op, &random);
  for (size_t i = 0; i < mistakes; ++i) {
    Case example{version, target, random.Of(legal)};
    mutator.Mutate(&example);
    if (random.Below(8) == 0) mutator.Mutate(&example);
    cases.push_back(std::move(example));
  }
  std::sort(cases.begin(), cases.end());
  cases.erase(std::unique(cases.begin(), cases.end()), cases.end());
  return cases;
}

std::vector<std::string> AskParser(const std::string& version, const std::string& target,
                                   const std::vector<std::string>& instructions) {
  // What FormModule declares for the instructions it sees.
  const std::string text = FormModule(instructions, version, target);
  const auto line_of =
      1 + std::count(text.begin(),
                     text.begin() +
                         static_cast<std::ptrdiff_t>(
                             text.find(instructions.empty() ? "LABEL:" : "\n" + instructions[0] + "\n") + 1),
                     '\n');
  std::vector<std::string> out(instructions.size());
  for (const Diagnostic& d : Parse(text, {"module", 10 * instructions.size() + 10}).diagnostics) {
    const auto at = d.location.line - line_of;
    const std::string message = std::to_string(d.location.column) + ": " + d.message;
    if (at < 0 || static_cast<size_t>(at) >= out.size()) {
      if (instructions.size() > 1) {  // of what the module declares for one of them
        const auto half = instructions.begin() + static_cast<std::ptrdiff_t>(instructions.size() / 2);
        out = AskParser(version, target, {instructions.begin(), half});
        for (std::string& said : AskParser(version, target, {half, instructions.end()}))
          out.push_back(std::move(said));
        return out;
      }
      return std::vector<std::string>(out.size(),
                                      "elsewhere: " + std::to_string(d.location.line) + ":" + message);
    }
    if (out[static_cast<size_t>(at)].empty()) out[static_cast<size_t>(at)] = message;
  }
  return out;
}

std::vector<Group> Grouped(std::vector<Case> cases, size_t limit) {
  std::sort(cases.begin(), cases.end());
  std::vector<Group> groups;
  for (Case& one : cases) {
    if (groups.empty() || groups.back().version != one.version || groups.back().target != one.target ||
        groups.back().instructions.size() == limit)
      groups.push_back({one.version, one.target, {}});
    groups.back().instructions.push_back(std::move(one.instruction));
  }
  return groups;
}

}  // namespace understudy::emu::ptx
