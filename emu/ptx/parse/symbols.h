// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names that a PTX function body sees: nested scopes of registers, variables and parameters, each shadowing
// those outside it, and labels that may be used before they stand. Used by the parser alone.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "emu/ptx/parse/module.h"

namespace understudy::emu::ptx {

struct NameHash {
  size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
};
template <class Value>
using NameMap = absl::flat_hash_map<std::string_view, Value, NameHash, std::equal_to<std::string_view>>;

struct Symbol {
  enum class Kind : uint8_t {
    kNone,
    kRegister,        // index
    kVectorRegister,  // index: the first element's, `count` of them
    kRange,           // "%r<10>": count, type; registers are made when they are first used
    kVariable,        // scope, index
    kFunction,        // index: Module::functions
  };
  Kind kind = Kind::kNone;
  Operand::Scope scope = Operand::Scope::kModule;
  Type type = Type::kNone;  // of a register
  uint8_t vector = 1;       // of a range: elements of each
  int index = -1;
  uint64_t count = 0;
};

// What a label stands for.
struct LabelEntry {
  enum class Kind : uint8_t { kCode, kBranchTargets, kPrototype };
  Kind kind = Kind::kCode;
  int index = -1;
};

// A use of a label, waiting for the end of its scope.
struct LabelUse {
  enum class Wanted : uint8_t {
    kBranch,         // bra
    kBranchTargets,  // brx.idx
    kPrototype,      // call
    kTargetElement,  // an element of .branchtargets
  };
  Wanted wanted = Wanted::kBranch;
  std::string_view name;
  Location location;
  int instruction = -1, operand = -1;  // or list, element of .branchtargets
};

class Scopes {
 public:
  void Clear() { scopes_.clear(); }
  void Push() { scopes_.emplace_back(); }
  // The uses of labels that the innermost scope does not have go to the scope around it, or are returned from
  // the outermost one. Calls resolve(use, entry) for the others.
  template <class Resolve>
  std::vector<LabelUse> Pop(Resolve&& resolve) {
    Scope scope = std::move(scopes_.back());
    scopes_.pop_back();
    std::vector<LabelUse> left;
    for (const LabelUse& use : scope.uses) {
      auto it = scope.labels.find(use.name);
      if (it != scope.labels.end()) {
        resolve(use, it->second);
      } else if (scopes_.empty()) {
        left.push_back(use);
      } else {
        scopes_.back().uses.push_back(use);
      }
    }
    return left;
  }
  size_t depth() const { return scopes_.size(); }

  // False when the innermost scope has the name, as a symbol, as one of a range or as a label.
  bool Declare(std::string_view name, const Symbol& symbol) {
    Scope& scope = scopes_.back();
    if (scope.labels.count(name) != 0 || InRange(scope, name)) return false;
    return scope.symbols.emplace(name, symbol).second;
  }
  bool Declares(std::string_view name) const {
    return scopes_.back().symbols.count(name) != 0 || InRange(scopes_.back(), name);
  }
  bool DeclareRange(std::string_view prefix, const Symbol& symbol) {
    return scopes_.back().ranges.emplace(prefix, symbol).second;
  }
  bool DeclareLabel(std::string_view name, const LabelEntry& entry) {
    return !Declares(name) && scopes_.back().labels.emplace(name, entry).second;
  }
  size_t uses() const { return scopes_.back().uses.size(); }
  // Forgets those of an instruction that was not kept.
  void DropUses(size_t count) { scopes_.back().uses.resize(count); }
  void Use(const LabelUse& use) { scopes_.back().uses.push_back(use); }

  // The label that the innermost scope that has it gives the name, if one stands before this place.
  const LabelEntry* FindLabel(std::string_view name) const {
    for (size_t i = scopes_.size(); i-- > 0;) {
      auto it = scopes_[i].labels.find(name);
      if (it != scopes_[i].labels.end()) return &it->second;
    }
    return nullptr;
  }

  // kNone when no scope has it. make(range symbol) makes the register(s) of a range's element and answers the
  // symbol, which is then remembered.
  template <class Make>
  Symbol Find(std::string_view name, Make&& make) {
    const Numbered numbered = Split(name);
    for (size_t i = scopes_.size(); i-- > 0;) {
      Scope& scope = scopes_[i];
      auto it = scope.symbols.find(name);
      if (it != scope.symbols.end()) return it->second;
      if (!numbered.valid || scope.ranges.empty()) continue;
      auto range = scope.ranges.find(numbered.prefix);
      if (range == scope.ranges.end() || numbered.number >= range->second.count) continue;
      const Symbol made = make(range->second);
      scope.symbols.emplace(name, made);
      return made;
    }
    return {};
  }

  // Every name in sight, for suggestions.
  template <class Visit>
  void ForEach(Visit&& visit) const {
    for (const Scope& scope : scopes_)
      for (const auto& [name, symbol] : scope.symbols) visit(name);
  }
  const Symbol* FindRange(std::string_view prefix) const {
    for (size_t i = scopes_.size(); i-- > 0;) {
      auto it = scopes_[i].ranges.find(prefix);
      if (it != scopes_[i].ranges.end()) return &it->second;
    }
    return nullptr;
  }

 private:
  struct Scope {
    NameMap<Symbol> symbols, ranges;
    NameMap<LabelEntry> labels;
    std::vector<LabelUse> uses;
  };
  // "%r10" is number 10 of "%r"; "%r007" is none, nor has a prefix digits at its end ("%r1<4>" declares names
  // that nothing can use).
  struct Numbered {
    bool valid;
    std::string_view prefix;
    uint64_t number;
  };
  static Numbered Split(std::string_view name) {
    size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
    Numbered split{digits < name.size() && (name[digits] != '0' || digits + 1 == name.size()) &&
                       name.size() - digits < 19,
                   name.substr(0, digits), 0};
    for (size_t i = digits; split.valid && i < name.size(); ++i)
      split.number = split.number * 10 + static_cast<uint64_t>(name[i] - '0');
    return split;
  }
  static bool InRange(const Scope& scope, std::string_view name) {
    if (scope.ranges.empty()) return false;
    const Numbered numbered = Split(name);
    if (!numbered.valid) return false;
    auto range = scope.ranges.find(numbered.prefix);
    return range != scope.ranges.end() && numbered.number < range->second.count;
  }
  std::vector<Scope> scopes_;
};

}  // namespace understudy::emu::ptx
