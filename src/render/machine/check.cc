// SPDX-License-Identifier: Apache-2.0
#include "src/render/machine/check.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"

namespace understudy::machine {
namespace {

using Values = std::set<Reg>;         // registers of the program before allocation
using State = std::map<int, Values>;  // by place: a real register, or kFirstVirtual + a slot of the allocator

class Checker {
 public:
  Checker(const Function& before, const Function& after, const Processor& processor)
      : before_(before), after_(after), processor_(processor) {
    for (const Block& b : before.blocks) {
      for (const Inst& i : b.insts) original_.push_back(&i);
    }
    FindConstants();
  }

  absl::Status Run(const std::vector<Reg>& live_in) {
    if (before_.blocks.size() != after_.blocks.size()) return absl::InternalError("blocks came or went");
    std::vector<std::optional<State>> in(after_.blocks.size());
    State entry;
    for (const Reg r : live_in) entry[static_cast<int>(r)] = {r};
    in[0] = entry;
    std::vector<int> work{0};
    while (!work.empty()) {
      const int b = work.back();
      work.pop_back();
      State s = *in[b];
      for (const Inst& i : after_.blocks[b].insts) (void)Step(i, s);
      for (const int n : after_.blocks[b].next) {
        if (!in[n]) {
          in[n] = s;
          work.push_back(n);
        } else if (Meet(*in[n], s)) {
          work.push_back(n);
        }
      }
    }
    std::vector<bool> seen(original_.size());
    for (size_t b = 0; b < after_.blocks.size(); ++b) {
      if (after_.blocks[b].next != before_.blocks[b].next) return absl::InternalError("an edge changed");
      int last = -1;
      if (!in[b]) continue;  // never reached
      for (const Inst& i : after_.blocks[b].insts) {
        if (const absl::Status s = Step(i, *in[b]); !s.ok())
          return absl::InternalError(absl::StrCat("register allocation of ", after_.name, ", block ", b,
                                                  ": `", processor_.Text(i),
                                                  "`: ", std::string(s.message())));
        if (i.origin < 0) continue;
        if (i.origin <= last) return absl::InternalError("instructions changed places");
        last = i.origin;
        seen[i.origin] = true;
      }
    }
    int number = 0;
    for (size_t b = 0; b < before_.blocks.size(); ++b) {
      for (size_t i = 0; i < before_.blocks[b].insts.size(); ++i, ++number) {
        if (in[b] && !seen[number])
          return absl::InternalError(absl::StrCat("instruction ", number, " is lost"));
      }
    }
    return absl::OkStatus();
  }

 private:
  // Registers that hold one constant wherever they hold anything.
  void FindConstants() {
    std::map<Reg, int> writes;
    std::map<Reg, const Inst*> writer;
    for (const Inst* i : original_) {
      ForEachReg(*i, [&](Reg r, Role role) {
        if (role == Role::kUse) return;
        ++writes[r];
        writer[r] = i;
      });
    }
    for (bool more = true; more;) {
      more = false;
      for (const auto& [r, n] : writes) {
        if (n != 1 || !IsVirtual(r) || constant_.count(r)) continue;
        const Inst* i = writer[r];
        const Inst* maker = i->flags & Inst::kRemake ? i : nullptr;
        if (i->flags & Inst::kMove && constant_.count(i->ops[1].reg)) maker = constant_[i->ops[1].reg];
        if (maker == nullptr) continue;
        constant_[r] = maker;
        more = true;
      }
    }
  }
  static bool SameMaker(const Inst& a, const Inst& b) {
    if (a.op != b.op || a.bytes != b.bytes || a.count != b.count) return false;
    for (int i = 1; i < a.count; ++i) {
      if (!(a.ops[i] == b.ops[i])) return false;
    }
    return true;
  }
  Values MadeBy(const Inst& i) const {
    Values v;
    for (const auto& [r, maker] : constant_) {
      if (SameMaker(*maker, i)) v.insert(r);
    }
    return v;
  }

  // A register or a slot of the allocator's; -1 for other memory.
  int PlaceOf(const Operand& o) const {
    if (o.IsReg()) return static_cast<int>(o.reg);
    if (o.kind == Operand::Kind::kSlot && o.slot >= static_cast<int>(before_.slots.size()))
      return static_cast<int>(kFirstVirtual) + o.slot;
    return -1;
  }
  static bool Meet(State& into, const State& other) {
    bool changed = false;
    for (auto& [place, values] : into) {
      const auto it = other.find(place);
      for (auto v = values.begin(); v != values.end();) {
        if (it == other.end() || !it->second.count(*v)) {
          v = values.erase(v);
          changed = true;
        } else {
          ++v;
        }
      }
    }
    return changed;
  }
  static void Forget(State& s, Reg value) {
    for (auto& [place, values] : s) values.erase(value);
  }
  absl::Status Expect(const State& s, int place, Reg value) const {
    const auto it = s.find(place);
    if (it != s.end() && it->second.count(value)) return absl::OkStatus();
    std::string held;
    if (it != s.end()) {
      for (const Reg r : it->second) absl::StrAppend(&held, " ", r);
    }
    return absl::InternalError(absl::StrCat("reads place ", place, ", expected value ", value, ", it holds",
                                            held.empty() ? " nothing" : held));
  }

  absl::Status Step(const Inst& i, State& s) const {
    const Inst* o = i.origin >= 0 ? original_[i.origin] : nullptr;
    const bool deleted = i.flags & Inst::kDeleted;
    if (o == nullptr) {
      if (i.flags & Inst::kRemake) {
        s[PlaceOf(i.ops[0])] = MadeBy(i);
        return absl::OkStatus();
      }
      const int to = PlaceOf(i.ops[0]), from = PlaceOf(i.ops[1]);
      if (i.count != 2 || to < 0 || from < 0) return absl::InternalError("the allocator's own, and no copy");
      const Values v = s[from];
      s[to] = v;
      return absl::OkStatus();
    }
    if (o->flags & Inst::kMove) {
      const Reg to = o->ops[0].reg, from = o->ops[1].reg;
      absl::Status status = absl::OkStatus();
      Values copied;
      if (!deleted && i.flags & Inst::kRemake) {
        copied = MadeBy(i);
        if (!copied.count(from))
          status = absl::InternalError(absl::StrCat("makes another constant than ", from));
      } else if (!deleted) {
        const int source = PlaceOf(i.ops[1]);
        if (source < 0 || PlaceOf(i.ops[0]) < 0) return absl::InternalError("a copy to or from elsewhere");
        status = Expect(s, source, from);
        copied = s[source];
      }
      for (auto& [place, values] : s) {
        values.erase(to);
        if (values.count(from)) values.insert(to);
      }
      if (!deleted) {
        copied.erase(to);
        if (copied.count(from)) copied.insert(to);
        s[PlaceOf(i.ops[0])] = copied;
      }
      return status;
    }
    if (deleted) {
      if (!(o->flags & Inst::kRemake)) return absl::InternalError("gone, but it is no constant");
      Forget(s, o->ops[0].reg);
      return absl::OkStatus();
    }
    if (i.op != o->op || i.count != o->count || i.cond != o->cond)
      return absl::InternalError("another instruction");
    absl::Status status = absl::OkStatus();
    const auto note = [&](const absl::Status& bad) {
      if (status.ok()) status = bad;
    };
    std::vector<std::pair<Reg, int>> writes;
    for (int k = 0; k < i.count; ++k) {
      const Operand &was = o->ops[k], &is = i.ops[k];
      if (was.IsReg()) {
        if (was.role != Role::kDef) {
          if (is.kind == Operand::Kind::kPool) {
            const auto c = constant_.find(was.reg);
            if (c == constant_.end() || c->second->ops[1].kind != Operand::Kind::kPool ||
                c->second->ops[1].imm != is.imm)
              note(absl::InternalError("another constant of the pool"));
          } else {
            note(Expect(s, PlaceOf(is), was.reg));
          }
        }
        if (was.role != Role::kUse) {
          if (!is.IsReg()) return absl::InternalError("a written operand is no register");
          writes.emplace_back(was.reg, PlaceOf(is));
        }
        if (was.role == Role::kUse ? !(is.IsReg() || is.IsMemory()) : !is.IsReg())
          return absl::InternalError("an operand of another kind");
        continue;
      }
      if (was.kind != is.kind || was.imm != is.imm || was.slot != is.slot || was.scale != is.scale)
        return absl::InternalError("another operand");
      if (was.kind == Operand::Kind::kMem) {
        if (was.reg != kNoReg) note(Expect(s, static_cast<int>(is.reg), was.reg));
        if (was.index != kNoReg) note(Expect(s, static_cast<int>(is.index), was.index));
      }
    }
    for (size_t a = 0; a < writes.size(); ++a) {
      for (size_t b = 0; b < a; ++b) {
        if (writes[a].second == writes[b].second) note(absl::InternalError("two results in one register"));
      }
    }
    for (const auto& [value, place] : writes) {
      Forget(s, value);
      s[place].clear();
    }
    for (const auto& [value, place] : writes) s[place] = {value};
    return status;
  }

  const Function &before_, &after_;
  const Processor& processor_;
  std::vector<const Inst*> original_;
  std::map<Reg, const Inst*> constant_;
};

}  // namespace

absl::Status CheckAllocation(const Function& before, const Function& after, const std::vector<Reg>& live_in,
                             const Processor& processor) {
  return Checker(before, after, processor).Run(live_in);
}

}  // namespace understudy::machine
