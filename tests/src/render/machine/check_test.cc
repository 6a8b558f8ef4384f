// SPDX-License-Identifier: Apache-2.0
// The proof of register allocations finds wrong ones: allocations of random kernels are broken (registers and
// slots exchanged, copies left out, moved or added), and what an independent run of the code then sees to be
// wrong, CheckAllocation must refuse. That run follows random paths and gives every value a number: what an
// instruction makes is a hash of what it is and reads, so that two programs agree where they compute alike.
#include "src/render/machine/check.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "src/render/aarch64/aarch64.h"
#include "src/render/machine/machine_code.h"
#include "src/render/x86_64/x86_64.h"
#include "src/uop/print.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {
namespace {

using machine::Function;
using machine::Inst;
using machine::MachineDetails;
using machine::Operand;
using machine::Reg;
using machine::Role;

// CheckAllocation asks it for the text of an error only.
class NoProcessor : public machine::Processor {
 public:
  const std::vector<Reg>& Allocatable(machine::RegClass) const override { return none_; }
  Inst Move(machine::RegClass, int, Reg, Reg) const override { return {}; }
  Inst Reload(machine::RegClass, int, Reg, const Operand&) const override { return {}; }
  Inst Spill(machine::RegClass, int, const Operand&, Reg) const override { return {}; }
  bool MayBeMemory(const Inst&, int) const override { return false; }
  std::string Text(const Inst&) const override { return "instruction"; }

 private:
  std::vector<Reg> none_;
};

using Value = uint64_t;
Value Mix(Value a, Value b) {
  a = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdu;
  return a ^ (a >> 32);
}

// One program in the course of a run.
class Run {
 public:
  Run(const Function& before, const std::vector<Reg>& live_in) : before_(before) {
    for (const Reg r : live_in) at_[r] = Mix(1, r);
    for (const machine::Block& b : before.blocks) {
      for (const Inst& i : b.insts) {
        if ((i.flags & Inst::kMove) != 0) moves_.insert(i.origin);
        if ((i.flags & Inst::kRemake) != 0 && i.count == 2 && i.ops[1].kind == Operand::Kind::kPool)
          pool_[i.ops[1].imm] = Constant(i);
      }
    }
  }

  // What each original instruction of the block read, by its number.
  std::map<int, std::vector<Value>> Block(const std::vector<Inst>& insts) {
    std::map<int, std::vector<Value>> reads;
    for (const Inst& i : insts) {
      if ((i.flags & Inst::kDeleted) != 0) continue;
      if ((i.flags & Inst::kRemake) != 0) {
        at_[Place(i.ops[0])] = Constant(i);
        continue;
      }
      if (i.origin < 0 || moves_.count(i.origin) != 0) {
        at_[Place(i.ops[0])] = Read(i.ops[1]);
        continue;
      }
      Value result = Mix(Mix(2, i.op), static_cast<Value>(i.cond));
      std::vector<Value>& read = reads[i.origin];
      const auto use = [&](Value v) {
        read.push_back(v);
        result = Mix(result, v);
      };
      for (int k = 0; k < i.count; ++k) {
        const Operand& o = i.ops[k];
        if (o.kind == Operand::Kind::kMem) {
          if (o.reg != machine::kNoReg) use(Look(o.reg));
          if (o.index != machine::kNoReg) use(Look(o.index));
        } else if ((o.IsReg() && o.role != Role::kDef) || IsOwnSlot(o) || IsPool(i, k)) {
          use(Read(o));
        } else {
          result = Mix(result, static_cast<Value>(o.imm));
        }
      }
      for (int k = 0; k < i.count; ++k) {
        if (i.ops[k].IsReg() && i.ops[k].role != Role::kUse) at_[Place(i.ops[k])] = Mix(result, k);
      }
    }
    return reads;
  }

 private:
  static Value Constant(const Inst& i) {
    // However it is loaded.
    if (i.count == 2 && i.ops[1].kind == Operand::Kind::kPool)
      return Mix(6, static_cast<Value>(i.ops[1].imm));
    Value v = Mix(Mix(3, i.op), i.bytes);
    for (int k = 1; k < i.count; ++k) {
      v = Mix(Mix(v, static_cast<Value>(i.ops[k].imm)), static_cast<Value>(i.ops[k].kind));
    }
    return v;
  }
  bool IsOwnSlot(const Operand& o) const {
    return o.kind == Operand::Kind::kSlot && o.slot >= static_cast<int>(before_.slots.size());
  }
  // A constant that stands where a register was read (or did before).
  bool IsPool(const Inst& i, int k) const {
    return i.ops[k].kind == Operand::Kind::kPool && pool_.count(i.ops[k].imm) != 0;
  }
  static Reg Place(const Operand& o) {
    return o.IsReg() ? o.reg : machine::kFirstVirtual + static_cast<Reg>(o.slot) + (Reg{1} << 30);
  }
  Value Look(Reg place) const {
    const auto it = at_.find(place);
    return it == at_.end() ? Value{4} : it->second;  // nothing yet
  }
  Value Read(const Operand& o) const {
    if (o.kind == Operand::Kind::kPool) return pool_.at(o.imm);
    return Look(Place(o));
  }

  const Function& before_;
  std::map<Reg, Value> at_;
  std::map<int64_t, Value> pool_;
  std::set<int> moves_;  // what only copies, by number: it may have become a load or a store of the frame
};

// Whether `after` reads what `before` reads along some random paths.
bool Agrees(const MachineDetails& d, const Function& after, uint64_t seed,
            std::string* difference = nullptr) {
  for (uint64_t path = 0; path < 3; ++path) {
    std::mt19937_64 random(seed * 31 + path);
    Run was(d.before, d.live_in), is(d.before, d.live_in);
    int block = 0;
    for (int steps = 0; steps < 16; ++steps) {
      const auto want = was.Block(d.before.blocks[block].insts), got = is.Block(after.blocks[block].insts);
      for (const auto& [origin, values] : got) {
        const auto it = want.find(origin);
        if (it != want.end() && it->second == values) continue;
        if (difference != nullptr)
          *difference = "block " + std::to_string(block) + " instruction " + std::to_string(origin);
        return false;
      }
      const std::vector<int>& next = after.blocks[block].next;
      if (next.empty()) break;
      block = next[random() % next.size()];
    }
  }
  return true;
}

// One fault; false when the place that was drawn cannot have it.
bool Break(Function& f, size_t own_slots, std::mt19937_64& random) {
  machine::Block& b = f.blocks[random() % f.blocks.size()];
  if (b.insts.empty()) return false;
  const size_t at = random() % b.insts.size();
  Inst& i = b.insts[at];
  if ((i.flags & Inst::kDeleted) != 0) return false;
  const auto other = [&](Reg& r) {
    const Reg base = r < machine::kVectorBase ? 0 : machine::kVectorBase, was = r;
    r = base + static_cast<Reg>(random() % 16);
    return r != was;
  };
  switch (random() % 4) {
    case 0: {  // another register
      Operand& o = i.ops[random() % std::max<size_t>(1, i.count)];
      if (i.count == 0) return false;
      if (o.IsReg()) return other(o.reg);
      if (o.kind == Operand::Kind::kMem && o.index != machine::kNoReg && random() % 2 == 0)
        return other(o.index);
      return o.kind == Operand::Kind::kMem && o.reg != machine::kNoReg && other(o.reg);
    }
    case 1: {  // another slot
      for (int k = 0; k < i.count; ++k) {
        Operand& o = i.ops[k];
        if (o.kind != Operand::Kind::kSlot || o.slot < static_cast<int>(own_slots)) continue;
        const int was = o.slot;
        o.slot = static_cast<int>(own_slots + random() % (f.slots.size() - own_slots));
        return o.slot != was;
      }
      return false;
    }
    case 2:  // a copy of the allocator's is left out
      if (i.origin >= 0 && (i.flags & Inst::kMove) == 0) return false;
      if (i.origin >= 0)
        i.flags |= Inst::kDeleted;
      else
        b.insts.erase(b.insts.begin() + static_cast<std::ptrdiff_t>(at));
      return true;
    default:  // a copy comes one instruction early
      if (at == 0 || i.origin >= 0) return false;
      std::swap(b.insts[at - 1], i);
      return true;
  }
}

enum class Isa { kX86, kA64 };
class CheckAllocationTest : public ::testing::TestWithParam<Isa> {};

TEST_P(CheckAllocationTest, FindsEveryAllocationThatReadsAnotherValue) {
  const Target target = GetParam() == Isa::kX86 ? X86Target(true) : A64Target();
  const NoProcessor processor;
  int planted = 0, wrong = 0, refused = 0;
  for (const int few : {0, 6}) {
    for (uint64_t seed = 1; seed <= 16; ++seed) {
      const RandomKernel k = MakeRandomKernel(seed * 7907);
      const ChoiceList choices = RandomChoices(k.kernel, target, seed, 3, false);
      const auto linear = LowerKernel(k.kernel, target, &choices);
      ASSERT_TRUE(linear.ok()) << linear.status();
      MachineDetails d;
      const machine::MachineOptions options{.registers = {.most_general = few, .most_vector = few},
                                            .details = &d};
      const auto code =
          GetParam() == Isa::kX86 ? RenderX86(*linear, target, options) : RenderA64(*linear, options);
      if (!code.ok()) continue;  // refused by name
      ASSERT_TRUE(CheckAllocation(d.before, d.after, d.live_in, processor).ok());
      std::string difference;
      ASSERT_TRUE(Agrees(d, d.after, seed, &difference))
          << "the run itself is wrong: seed " << seed << " " << difference << "\n"
          << code->text;
      std::mt19937_64 random(seed);
      for (int n = 0; n < 40; ++n) {
        Function broken = d.after;
        if (!Break(broken, d.before.slots.size(), random)) continue;
        ++planted;
        const absl::Status status = CheckAllocation(d.before, broken, d.live_in, processor);
        refused += !status.ok();
        if (Agrees(d, broken, seed * 1000 + n)) continue;
        ++wrong;
        ASSERT_FALSE(status.ok()) << "seed " << seed << ", fault " << n << " is not found\n" << code->text;
      }
    }
  }
  std::printf("%d faults planted, %d seen to read another value, %d refused\n", planted, wrong, refused);
  EXPECT_GT(wrong, 200);
  EXPECT_GE(refused, wrong);
}

INSTANTIATE_TEST_SUITE_P(Processors, CheckAllocationTest, ::testing::Values(Isa::kX86, Isa::kA64),
                         [](const auto& info) { return info.param == Isa::kX86 ? "x86_64" : "aarch64"; });

}  // namespace
}  // namespace understudy::test
