// SPDX-License-Identifier: Apache-2.0
#include "src/render/machine/select.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/render/machine/selector.h"

namespace understudy::machine {

absl::StatusOr<Selection> Selector::Run() {
  f_.name = k_.name;
  NewBlock(0);
  e_.set_block(0);
  e_.Begin();
  for (const KernelParam& p : k_.params) buffers_[p.position] = e_.Buffer(p.position);
  for (size_t i = 0; i < k_.vars.size(); ++i) vars_[k_.vars[i].name] = e_.Variable(static_cast<int64_t>(i));
  for (const UOpRef& n : k_.ops) {
    if (n->op() == Op::kSpecial) {
      workgroup_ = e_.Workgroup();
      break;
    }
  }
  scopes_.push_back({0, false, {}});
  StartBlock(0);
  FindArrays();
  for (op_ = 0; op_ < static_cast<int>(k_.ops.size()); ++op_) {
    US_RETURN_IF_ERROR(Emit(*k_.ops[op_]));
  }
  if (!loops_.empty()) return absl::InternalError("a loop is not closed");
  out_.blocks.back().end = op_;
  e_.Return();
  return std::move(out_);
}

absl::Status Selector::Emit(const UOp& n) {
  switch (n.op()) {
    case Op::kSink:
    case Op::kAfter:
    case Op::kIndex:
    case Op::kParam:
      return absl::OkStatus();
    case Op::kConst: {
      if (!Knows(n.dtype())) return Refuse(n);
      New(n).constant = &n;
      return absl::OkStatus();
    }
    case Op::kVar: {
      const Reg v = vars_.at(n.arg_as<VarArg>().name);
      DefineLanes(n, {IntCast(dtypes::kInt64, n.dtype(), v)});
      return absl::OkStatus();
    }
    case Op::kSpecial:
      if (n.arg_as<std::string>() != "g0") return Refuse(n);
      DefineLanes(n, {IntCast(dtypes::kInt64, n.dtype(), workgroup_)});
      return absl::OkStatus();
    case Op::kDefineReg:
      DefineArray(n);
      return absl::OkStatus();
    case Op::kRange:
      OpenLoop(n);
      return absl::OkStatus();
    case Op::kEnd:
      return CloseLoops(n);
    case Op::kIf: {
      const Condition c = Test(n.src(0), 0);
      ifs_.push_back(e_.block());
      e_.BranchIf({Negate(c.cond), c.bits, c.a, c.b}, -1);
      StartBlock(Depth());
      scopes_.push_back({-1, true, {}});
      return absl::OkStatus();
    }
    case Op::kEndIf: {
      if (ifs_.empty()) return absl::InternalError("an ENDIF without an IF");
      CloseScope();
      const int after = StartBlock(Depth());
      PatchBranch(ifs_.back(), after);
      ifs_.pop_back();
      return absl::OkStatus();
    }
    case Op::kLoad:
      return Load(n);
    case Op::kStore:
      return Store(n);
    case Op::kVectorize: {
      Value& v = New(n);
      for (const UOpRef& s : n.src()) v.parts_of.emplace_back(&V(s), 0);
      return absl::OkStatus();
    }
    case Op::kGep: {
      Value& from = V(n.src(0));
      Value& v = New(n);
      v.parts_of.emplace_back(&from, static_cast<int>(n.arg_as<int64_t>()));
      return absl::OkStatus();
    }
    default:
      break;
  }
  if (!IsAlu(n.op()) || !Knows(n.dtype())) return Refuse(n);
  for (const UOpRef& s : n.src()) {
    if (!Knows(s->dtype())) return Refuse(n);
  }
  if (n.dtype().lanes > 1 && VectorAlu(n)) return absl::OkStatus();
  if (n.dtype().lanes == 1 && ScalarBool(n)) return absl::OkStatus();
  std::vector<Reg> lanes;
  for (int i = 0; i < n.dtype().lanes; ++i) {
    if (IsComparison(n.op()) && !n.src(0)->dtype().IsFloat()) {
      lanes.push_back(e_.Compare(CompareOf(n, i)));
      continue;
    }
    US_ASSIGN_OR_RETURN(const Reg r, ScalarAlu(n, i));
    lanes.push_back(r);
  }
  DefineLanes(n, std::move(lanes));
  return absl::OkStatus();
}

void Selector::PatchBranch(int block, int target) {
  Inst& jump = f_.blocks[block].insts.back();
  for (int i = 0; i < jump.count; ++i) {
    if (jump.ops[i].kind == Operand::Kind::kBlock) jump.ops[i].imm = target;
  }
  f_.blocks[block].next.push_back(target);
}

void Selector::OpenLoop(const UOp& n) {
  Loop loop;
  loop.range = &n;
  loop.bits = IntBits(n.dtype());
  loop.end = Int(n.src(0), 0);
  const bool runs = loop.end.IsConst() && loop.end.value > 0;
  if (loop.end.IsConst() && !runs) loop.end = IntArg::Of(e_.IntConst(loop.bits, loop.end.value));
  if (!runs) {
    loop.guard = e_.block();
    e_.BranchIf({Cond::kLe, loop.bits, loop.end.reg, IntArg::Const(0)}, -1);
    StartBlock(Depth());
  }
  loop.counter = e_.Copy(e_.IntConst(loop.bits, 0));
  const int before = e_.block();
  loops_.push_back(loop);
  loops_.back().header = StartBlock(Depth());
  out_.blocks.back().begin = op_ + 1;
  scopes_.push_back({before, !runs, {}});
  Value& v = New(n);
  v.lanes = {loop.counter};
  Record(n, v);
}

absl::Status Selector::CloseLoops(const UOp& n) {
  for (size_t i = n.num_src(); i-- > 1;) {
    if (loops_.empty() || loops_.back().range != n.src(i).get())
      return absl::InternalError("an END closes a loop that is not the innermost");
    const Loop loop = loops_.back();
    e_.CopyTo(loop.counter, e_.IntBinary(Op::kAdd, true, loop.bits, loop.counter, IntArg::Const(1)));
    e_.BranchIf({Cond::kLt, loop.bits, loop.counter, loop.end}, loop.header);
    f_.blocks[e_.block()].next.push_back(loop.header);
    loops_.pop_back();
    CloseScope();
    const int after = StartBlock(Depth());
    out_.blocks[after].begin = op_ + 1;
    if (loop.guard >= 0) PatchBranch(loop.guard, after);
  }
  return absl::OkStatus();
}

absl::StatusOr<Selection> Select(const LinearKernel& kernel, Function& function, Emitter& emitter) {
  absl::StatusOr<Selection> out = Selector(kernel, function, emitter).Run();
  if (out.ok()) return out;
  return absl::Status(out.status().code(),
                      absl::StrCat("kernel ", kernel.name, ": ", std::string(out.status().message())));
}

}  // namespace understudy::machine
