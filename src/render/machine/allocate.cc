// SPDX-License-Identifier: Apache-2.0
#include "src/render/machine/allocate.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "absl/strings/str_cat.h"
#include "src/render/machine/liveness.h"

namespace understudy::machine {
namespace {

constexpr float kNever = std::numeric_limits<float>::infinity();

// One try: registers for all, or the values that have to leave.
class Scan {
 public:
  Scan(Function& f, const Processor& processor, const std::vector<Reg>& live_in,
       const AllocateOptions& options)
      : f_(f), processor_(processor), live_(ComputeLiveness(f, live_in)) {
    for (const RegClass c : {RegClass::kGeneral, RegClass::kVector}) {
      std::vector<Reg>& regs = registers_[static_cast<int>(c)];
      regs = processor.Allocatable(c);
      const int most = c == RegClass::kGeneral ? options.most_general : options.most_vector;
      if (most > 0 && most < static_cast<int>(regs.size())) regs.resize(most);
    }
    parent_.resize(f.virtuals.size());
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  // Joins the two registers of every move whose ranges are apart; returns how many moves are gone.
  int Coalesce() {
    struct Candidate {
      int depth, block, inst;
    };
    std::vector<Candidate> moves;
    for (size_t b = 0; b < f_.blocks.size(); ++b) {
      for (size_t i = 0; i < f_.blocks[b].insts.size(); ++i) {
        const Inst& m = f_.blocks[b].insts[i];
        if (!(m.flags & Inst::kMove) || m.flags & Inst::kDeleted) continue;
        if (IsVirtual(m.ops[0].reg) && IsVirtual(m.ops[1].reg))
          moves.push_back({f_.blocks[b].depth, static_cast<int>(b), static_cast<int>(i)});
      }
    }
    std::stable_sort(moves.begin(), moves.end(),
                     [](const Candidate& a, const Candidate& b) { return a.depth > b.depth; });
    int gone = 0;
    for (const Candidate& c : moves) {
      Inst& m = f_.blocks[c.block].insts[c.inst];
      const int a = Find(m.ops[0].reg), b = Find(m.ops[1].reg);
      if (a != b) {
        const VirtualReg &x = f_.virtuals[a], &y = f_.virtuals[b];
        if (x.reg_class != y.reg_class || x.keep || y.keep || Overlap(live_.of[a], live_.of[b])) continue;
        live_.of[a] = Union(live_.of[a], live_.of[b]);
        live_.of[b].clear();
        live_.weight[a] += live_.weight[b];
        f_.virtuals[a].bytes = std::max(x.bytes, y.bytes);
        parent_[b] = a;
      }
      m.flags |= Inst::kDeleted;
      ++gone;
    }
    for (Block& block : f_.blocks) {
      for (Inst& i : block.insts) {
        ForEachReg(i, [&](Reg& r, Role) {
          if (IsVirtual(r)) r = kFirstVirtual + static_cast<Reg>(Find(r));
        });
      }
    }
    return gone;
  }

  // Empty: `assigned` holds everybody's register. Otherwise the registers to spill.
  absl::StatusOr<std::vector<int>> Run() {
    Hints();
    std::vector<int> order;
    for (size_t v = 0; v < f_.virtuals.size(); ++v) {
      if (!live_.of[v].empty()) order.push_back(static_cast<int>(v));
    }
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      const int x = live_.of[a].front().begin, y = live_.of[b].front().begin;
      return x != y ? x < y : a < b;
    });
    assigned.assign(f_.virtuals.size(), kNoReg);
    for (const int v : order) {
      const Segments& range = live_.of[v];
      const std::vector<Reg>& regs = registers_[static_cast<int>(f_.virtuals[v].reg_class)];
      Reg best = kNoReg;
      for (const Reg hint : hints_[v]) {
        const Reg r = IsVirtual(hint) ? assigned[hint - kFirstVirtual] : hint;
        if (r != kNoReg && std::find(regs.begin(), regs.end(), r) != regs.end() && Cost(r, range) == 0) {
          best = r;
          break;
        }
      }
      if (best == kNoReg) {
        for (const Reg r : regs) {
          if (Cost(r, range) == 0) {
            best = r;
            break;
          }
        }
      }
      if (best == kNoReg) {
        float least = Weight(v);
        for (const Reg r : regs) {
          const float cost = Cost(r, range);
          if (cost < least) {
            least = cost;
            best = r;
          }
        }
        if (best == kNoReg && Weight(v) == kNever)
          return absl::ResourceExhaustedError(absl::StrCat(
              f_.name, ": an instruction needs more than ", regs.size(), " ",
              f_.virtuals[v].reg_class == RegClass::kGeneral ? "general" : "vector", " registers"));
        if (best == kNoReg) {
          spilled_.push_back(v);
          continue;
        }
        std::vector<int>& held = held_[best];
        for (size_t i = 0; i < held.size();) {
          if (Overlap(live_.of[held[i]], range)) {
            spilled_.push_back(held[i]);
            assigned[held[i]] = kNoReg;
            held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
          } else {
            ++i;
          }
        }
      }
      assigned[v] = best;
      held_[best].push_back(v);
    }
    return spilled_;
  }

  std::vector<Reg> assigned;

 private:
  int Find(Reg r) {
    int v = static_cast<int>(r - kFirstVirtual);
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  // What a read or write of it costs against the space that it takes.
  float Weight(int v) const {
    if (f_.virtuals[v].keep) return kNever;
    int length = 0;
    for (const Segment& s : live_.of[v]) length += s.end - s.begin;
    return live_.weight[v] / static_cast<float>(length + 8);
  }
  // What would have to leave register `r`: 0 nothing, kNever what cannot.
  float Cost(Reg r, const Segments& range) {
    if (Overlap(live_.real[r], range)) return kNever;
    float cost = 0;
    std::vector<int>& held = held_[r];
    for (size_t i = 0; i < held.size();) {
      if (live_.of[held[i]].back().end <= range.front().begin) {  // over for all that come
        held[i] = held.back();
        held.pop_back();
        continue;
      }
      if (Overlap(live_.of[held[i]], range)) cost += Weight(held[i]);
      ++i;
    }
    return cost;
  }
  void Hints() {
    hints_.resize(f_.virtuals.size());
    for (const Block& block : f_.blocks) {
      for (const Inst& i : block.insts) {
        if (!(i.flags & Inst::kMove) || i.flags & Inst::kDeleted) continue;
        const Reg to = i.ops[0].reg, from = i.ops[1].reg;
        if (IsVirtual(to)) hints_[to - kFirstVirtual].push_back(from);
        if (IsVirtual(from)) hints_[from - kFirstVirtual].push_back(to);
      }
    }
  }

  Function& f_;
  const Processor& processor_;
  Liveness live_;
  std::vector<Reg> registers_[2];
  std::vector<int> parent_;
  std::vector<int> held_[kFirstVirtual];
  std::vector<std::vector<Reg>> hints_;
  std::vector<int> spilled_;
};

// Moves values out of registers, by rewriting every instruction that names them.
class Spiller {
 public:
  Spiller(Function& f, const Processor& processor, const std::vector<int>& spilled)
      : f_(f), processor_(processor), homes_(f.virtuals.size()) {
    // A constant that is written in one place only is made again.
    std::vector<int> writes(f.virtuals.size());
    std::vector<const Inst*> maker(f.virtuals.size());
    for (const Block& b : f.blocks) {
      for (const Inst& i : b.insts) {
        if (i.flags & Inst::kDeleted) continue;
        ForEachReg(i, [&](Reg r, Role role) {
          if (role == Role::kUse || !IsVirtual(r)) return;
          ++writes[r - kFirstVirtual];
          maker[r - kFirstVirtual] = &i;
        });
      }
    }
    for (const int v : spilled) {
      Home& home = homes_[v].emplace();
      if (writes[v] == 1 && maker[v]->flags & Inst::kRemake) {
        home.maker = *maker[v];
      } else {
        const int bytes = f.virtuals[v].bytes;
        home.slot = f.NewSlot(bytes, bytes);
      }
    }
  }

  void Run() {
    for (Block& b : f_.blocks) {
      out_.clear();
      for (const Inst& i : b.insts) {
        if (i.flags & Inst::kDeleted) {
          out_.push_back(i);
        } else {
          Rewrite(i);
        }
      }
      b.insts = out_;
    }
  }

 private:
  struct Home {
    int slot = -1;
    std::optional<Inst> maker;
  };

  Home* HomeOf(Reg r) {
    if (!IsVirtual(r)) return nullptr;
    const size_t v = r - kFirstVirtual;
    return v < homes_.size() && homes_[v] ? &*homes_[v] : nullptr;
  }

  void Rewrite(Inst i) {
    // The maker itself goes; the value is made where it is read.
    if (Home* home = HomeOf(i.ops[0].reg);
        home != nullptr && home->maker && i.ops[0].IsReg() && i.ops[0].role == Role::kDef) {
      i.flags |= Inst::kDeleted;
      out_.push_back(i);
      return;
    }
    if (i.flags & Inst::kMove) {
      Home *to = HomeOf(i.ops[0].reg), *from = HomeOf(i.ops[1].reg);
      if (to != nullptr && from == nullptr) {
        const VirtualReg info = f_.InfoOf(i.ops[0].reg);
        Replace(i, processor_.Spill(info.reg_class, info.bytes, Operand::Slot(to->slot, info.bytes),
                                    i.ops[1].reg));
        return;
      }
      if (from != nullptr && to == nullptr) {
        if (from->maker) {
          Inst made = *from->maker;
          made.ops[0].reg = i.ops[0].reg;
          Replace(i, made);
        } else {
          const VirtualReg info = f_.InfoOf(i.ops[1].reg);
          Replace(i, processor_.Reload(info.reg_class, info.bytes, i.ops[0].reg,
                                       Operand::Slot(from->slot, info.bytes)));
        }
        return;
      }
    }
    // One register for one value, however often the instruction names it.
    std::vector<std::pair<Reg, Reg>> fresh;
    std::vector<Reg> loaded;
    std::vector<Inst> after;
    int direct = 0;  // operands that are memory instead
    for (int o = 0; o < i.count; ++o) {
      if (i.ops[o].IsMemory()) ++direct;
    }
    for (int o = 0; o < i.count; ++o) {
      Operand& operand = i.ops[o];
      Home* home = operand.IsReg() && operand.role == Role::kUse ? HomeOf(operand.reg) : nullptr;
      if (home == nullptr || direct > 0 || !processor_.MayBeMemory(i, o)) continue;
      if (home->slot >= 0) {
        operand = Operand::Slot(home->slot, operand.bytes);
        ++direct;
      } else if (home->maker->ops[1].kind == Operand::Kind::kPool) {
        operand = Operand::Pool(home->maker->ops[1].imm, operand.bytes);
        ++direct;
      }
    }
    ForEachReg(i, [&](Reg& r, Role role) {
      Home* home = HomeOf(r);
      if (home == nullptr) return;
      const Reg old = r;
      const VirtualReg info = f_.InfoOf(old);
      auto known = std::find_if(fresh.begin(), fresh.end(), [&](const auto& p) { return p.first == old; });
      if (known == fresh.end()) {
        const Reg temporary = f_.NewReg(info.reg_class, info.bytes);
        f_.virtuals[temporary - kFirstVirtual].keep = true;
        fresh.emplace_back(old, temporary);
        known = fresh.end() - 1;
      }
      r = known->second;
      if (role != Role::kDef && std::find(loaded.begin(), loaded.end(), r) == loaded.end()) {
        loaded.push_back(r);
        if (home->maker) {
          Inst made = *home->maker;
          made.ops[0].reg = r;
          made.origin = -1;
          out_.push_back(made);
        } else {
          out_.push_back(
              processor_.Reload(info.reg_class, info.bytes, r, Operand::Slot(home->slot, info.bytes)));
        }
      }
      if (role != Role::kUse)
        after.push_back(
            processor_.Spill(info.reg_class, info.bytes, Operand::Slot(home->slot, info.bytes), r));
    });
    out_.push_back(i);
    out_.insert(out_.end(), after.begin(), after.end());
  }
  // In place of a move, so with its number.
  void Replace(const Inst& move, Inst by) {
    by.origin = move.origin;
    out_.push_back(by);
  }

  Function& f_;
  const Processor& processor_;
  std::vector<std::optional<Home>> homes_;
  std::vector<Inst> out_;
};

}  // namespace

absl::StatusOr<Allocation> Allocate(Function& f, const Processor& processor, const std::vector<Reg>& live_in,
                                    const AllocateOptions& options) {
  int number = 0;
  for (Block& b : f.blocks) {
    for (Inst& i : b.insts) i.origin = number++;
  }
  Allocation out;
  out.code = f;
  constexpr int kMostRounds = 40;
  for (;;) {
    if (++out.rounds > kMostRounds)
      return absl::InternalError(absl::StrCat(f.name, ": spilling does not end"));
    Scan scan(out.code, processor, live_in, options);
    out.coalesced += scan.Coalesce();
    US_ASSIGN_OR_RETURN(const std::vector<int> spilled, scan.Run());
    if (spilled.empty()) {
      for (Block& b : out.code.blocks) {
        for (Inst& i : b.insts) {
          ForEachReg(i, [&](Reg& r, Role) {
            // A deleted instruction may name a register that lives nowhere.
            if (IsVirtual(r)) r = scan.assigned[r - kFirstVirtual];
          });
        }
      }
      return out;
    }
    const size_t slots = out.code.slots.size();
    Spiller(out.code, processor, spilled).Run();
    out.spilled += static_cast<int>(out.code.slots.size() - slots);
    out.remade += static_cast<int>(spilled.size() - (out.code.slots.size() - slots));
  }
}

}  // namespace understudy::machine
