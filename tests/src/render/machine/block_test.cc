// SPDX-License-Identifier: Apache-2.0
// Block by block: while Unicorn runs a kernel's machine code, every value that a block computes is read from
// the register that it was given and compared with what its node computes of the values that Unicorn computed
// for the node's sources. A wrong instruction is found where it stands, also when its result would be masked
// later.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/dtype/const_value.h"
#include "src/render/aarch64/aarch64.h"
#include "src/render/x86_64/x86_64.h"
#include "src/uop/eval.h"
#include "src/uop/print.h"
#include "tests/src/codegen/random_kernel.h"
#include "tests/src/render/machine/unicorn_run.h"

namespace understudy::test {
namespace {

using machine::MachineDetails;
using machine::Reg;

class BlockChecker {
 public:
  // The values to read behind each instruction, by its offset.
  explicit BlockChecker(const MachineDetails& details) {
    std::vector<size_t> next(details.after.blocks.size());
    std::map<std::pair<int, int>, int64_t> line_of;  // block, place in it
    {
      std::vector<std::vector<int64_t>> offsets(details.after.blocks.size());
      for (const auto& line : details.lines)
        if (line.block >= 0) offsets[line.block].push_back(line.offset);
      for (size_t b = 0; b < offsets.size(); ++b) {
        size_t at = 0;
        const auto& insts = details.after.blocks[b].insts;
        for (size_t i = 0; i < insts.size() && at < offsets[b].size(); ++i) {
          if (insts[i].flags & machine::Inst::kDeleted) continue;
          line_of[{static_cast<int>(b), static_cast<int>(i)}] = offsets[b][at++];
        }
      }
    }
    for (size_t b = 0; b < details.selection.blocks.size(); ++b) {
      for (const machine::ValuePlace& place : details.selection.blocks[b].values) {
        // The last instruction of the block that writes the value, before allocation...
        int origin = -1;
        for (const machine::Inst& inst : details.before.blocks[b].insts) {
          for (int i = 0; i < inst.count; ++i) {
            const machine::Operand& o = inst.ops[i];
            if (o.IsReg() && o.reg == place.reg && o.role != machine::Role::kUse) origin = inst.origin;
          }
        }
        // ...and after it.
        const auto& insts = details.after.blocks[b].insts;
        for (size_t i = 0; origin >= 0 && i < insts.size(); ++i) {
          const machine::Inst& inst = insts[i];
          if (inst.origin != origin || (inst.flags & machine::Inst::kDeleted)) continue;
          const auto line = line_of.find({static_cast<int>(b), static_cast<int>(i)});
          if (line == line_of.end()) continue;
          for (int k = 0; k < inst.count; ++k) {
            const machine::Operand& o = inst.ops[k];
            if (!o.IsReg() || o.role == machine::Role::kUse) continue;
            reads_[line->second].push_back({place, o.reg});
            break;
          }
        }
      }
    }
  }

  void Watch(int64_t offset, const ReadRegister& read) {
    if (previous_ >= 0) {
      const auto it = reads_.find(previous_);
      if (it != reads_.end())
        for (const Read& r : it->second) Observe(r, read);
    }
    previous_ = offset;
  }

  int64_t compared = 0, observed = 0;
  std::string error;

 private:
  struct Read {
    machine::ValuePlace place;
    Reg reg;
  };

  void Observe(const Read& r, const ReadRegister& read) {
    uint8_t bytes[32] = {};
    read(r.reg, bytes);
    const UOp& n = *r.place.node;
    const DType t = n.dtype().Element();
    if (n.dtype().IsPointer() || t.IsVoid()) return;
    for (int i = 0; i < r.place.lanes; ++i) {
      const int width = r.place.lane_bytes == 0 ? 8 : r.place.lane_bytes;
      uint64_t bits = 0;
      std::memcpy(&bits, bytes + (r.place.lane_bytes == 0 ? 0 : i * width), width);
      const ConstValue value =
          t.IsBool() ? ConstValue(int64_t{bits != 0}) : FromBits(t, Low(bits, t.BitWidth()));
      const int lane = r.place.lane + i;
      ++observed;
      Compare(n, lane, value);
      latest_[{&n, lane}] = value;
    }
  }
  static uint64_t Low(uint64_t bits, int width) {
    return width >= 64 ? bits : bits & ((uint64_t{1} << width) - 1);
  }

  void Compare(const UOp& n, int lane, const ConstValue& value) {
    if (!IsAlu(n.op())) return;
    if (n.op() == Op::kBitcast && n.src(0)->dtype().lanes != n.dtype().lanes) return;
    std::vector<ConstValue> args;
    for (const UOpRef& s : n.src()) {
      const auto v = Latest(s.get(), s->dtype().lanes == 1 ? 0 : lane);
      if (!v.has_value()) return;
      args.push_back(*v);
    }
    // Values here have one NaN; its bits are the processor's.
    if (n.op() == Op::kBitcast && std::holds_alternative<double>(args[0]) &&
        std::isnan(std::get<double>(args[0])))
      return;
    ++compared;
    const ConstValue want = uop::EvalNode(n, args);
    if (error.empty() &&
        !SameConst(Canonical(n.dtype().Element(), want), Canonical(n.dtype().Element(), value))) {
      error = absl::StrCat(OpName(n.op()), " of ", n.dtype().Name(), " lane ", lane, ": Unicorn has ",
                           ConstText(n.dtype().Element(), value), ", the node is ",
                           ConstText(n.dtype().Element(), want), " of");
      for (size_t i = 0; i < args.size(); ++i)
        absl::StrAppend(&error, " ", ConstText(n.src(i)->dtype().Element(), args[i]));
    }
  }

  std::optional<ConstValue> Latest(const UOp* n, int lane) const {
    for (;;) {
      if (n->op() == Op::kAfter) {
        n = n->src(0).get();
      } else if (n->op() == Op::kGep) {
        lane = static_cast<int>(n->arg_as<int64_t>());
        n = n->src(0).get();
      } else if (n->op() == Op::kVectorize) {
        n = n->src(lane).get();
        lane = 0;
      } else {
        break;
      }
    }
    if (n->op() == Op::kConst) return n->value();
    const auto it = latest_.find({n, lane});
    if (it == latest_.end()) return std::nullopt;
    return it->second;
  }

  std::map<int64_t, std::vector<Read>> reads_;
  absl::flat_hash_map<std::pair<const UOp*, int>, ConstValue> latest_;
  int64_t previous_ = -1;
};

class BlockTest : public ::testing::TestWithParam<Isa> {};

TEST_P(BlockTest, EveryBlockComputesItsNodes) {
  const Isa isa = GetParam();
  const Target target = isa == Isa::kX86 ? X86Target(false) : A64Target();
  const auto [first, end] = RandomSeeds(40);
  int64_t compared = 0, observed = 0;
  int kernels = 0;
  for (const int few : {0, 6}) {
    for (uint64_t seed = first; seed < end; ++seed) {
      const RandomKernel k = MakeRandomKernel(seed * 5171);
      const ChoiceList choices = RandomChoices(k.kernel, target, seed, 3, false);
      const auto linear = LowerKernel(k.kernel, target, &choices);
      ASSERT_TRUE(linear.ok()) << linear.status();
      MachineDetails details;
      machine::MachineOptions options{.registers = {.most_general = few, .most_vector = few},
                                      .details = &details};
      const auto code = isa == Isa::kX86 ? RenderX86(*linear, target, options) : RenderA64(*linear, options);
      if (!code.ok()) continue;  // refused by name, as unicorn_test.cc counts
      BlockChecker checker(details);
      std::vector<std::vector<uint8_t>> bytes = k.bytes;
      const absl::Status ran =
          RunUnderUnicorn(isa, *code, &bytes, {},
                          [&](int64_t offset, const ReadRegister& read) { checker.Watch(offset, read); });
      ASSERT_TRUE(ran.ok()) << ran;
      ASSERT_EQ(checker.error, "") << "seed " << seed << " choices " << ChoicesText(choices) << "\n"
                                   << code->text << uop::Print(k.kernel);
      compared += checker.compared;
      observed += checker.observed;
      ++kernels;
    }
  }
  std::printf("%d kernels, %lld values read, %lld compared with their nodes\n", kernels,
              static_cast<long long>(observed), static_cast<long long>(compared));
  EXPECT_GT(kernels, 40);
  EXPECT_GT(compared, observed / 4);
}

INSTANTIATE_TEST_SUITE_P(Processors, BlockTest, ::testing::Values(Isa::kX86, Isa::kA64),
                         [](const auto& info) { return info.param == Isa::kX86 ? "x86_64" : "aarch64"; });

}  // namespace
}  // namespace understudy::test
