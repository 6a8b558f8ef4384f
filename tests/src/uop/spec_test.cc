// SPDX-License-Identifier: Apache-2.0
// Specs of stages: legal graphs pass, and each kind of fault is refused with stage, node and rule.
#include "src/uop/spec.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "src/uop/build.h"

namespace understudy::uop {
namespace {

using namespace expr;

void ExpectRefused(const UOpRef& root, Stage stage, const std::vector<std::string>& parts) {
  const absl::Status s = CheckSpecAlways(root, stage);
  ASSERT_FALSE(s.ok()) << parts[0];
  EXPECT_EQ(s.code(), absl::StatusCode::kInternal);
  for (const std::string& p : parts)
    EXPECT_NE(std::string(s.message()).find(p), std::string::npos) << s << "\n lacks " << p;
}

UOpRef SmallKernel() {
  const UOpRef out = Param(dtypes::kFloat32, 0), in = Param(dtypes::kFloat32, 1);
  const UOpRef i = Range(8, 0, AxisKind::kGlobal), r = Range(4, 1, AxisKind::kReduce);
  const UOpRef sum = Reduce(Op::kAdd, Load(IndexOf(in, i * 4 + r, r < 3)), {r});
  return Sink({Store(IndexOf(out, i), sum, {i})}, "k");
}

TEST(Spec, LegalGraphsPass) {
  const UOpRef b = NewBuffer(dtypes::kFloat32, 6, "CPU");
  EXPECT_TRUE(CheckSpecAlways(ReduceAxis(Exp2(Reshape(b, {2, 3})), Op::kAdd, {1}), Stage::kTensor).ok());
  EXPECT_TRUE(CheckSpecAlways(Sink({Store(TensorParam(dtypes::kFloat32, 0, {6}),
                                          Neg(TensorParam(dtypes::kFloat32, 1, {6})))}),
                              Stage::kCall)
                  .ok());
  EXPECT_TRUE(CheckSpecAlways(SmallKernel(), Stage::kKernel).ok())
      << CheckSpecAlways(SmallKernel(), Stage::kKernel);
  EXPECT_TRUE(CheckSpecAlways(SmallKernel(), Stage::kExpanded).ok())
      << CheckSpecAlways(SmallKernel(), Stage::kExpanded);
}

TEST(Spec, FaultsNameStageNodeAndRule) {
  const UOpRef b = NewBuffer(dtypes::kFloat32, 6, "CPU");
  const UOpRef p = Param(dtypes::kFloat32, 0);
  const UOpRef i = Range(8, 0, AxisKind::kGlobal);
  ExpectRefused(Range(8, 0), Stage::kTensor,
                {"stage tensor", "RANGE index (CONST:index) : range(0, loop)", "no rule accepts RANGE"});
  ExpectRefused(Sink({Store(TensorParam(dtypes::kFloat32, 0, {6}), b)}), Stage::kCall,
                {"stage call", "BUFFER f32", "no rule accepts BUFFER"});
  ExpectRefused(Sink({Store(IndexOf(p, i), Recip(Load(IndexOf(p, i))), {i})}, "k"), Stage::kKernel,
                {"stage kernel", "RECIP f32", "no rule accepts RECIP"});
  const UOpRef up = Range(4, 1, AxisKind::kUpcast);
  ExpectRefused(Sink({Store(IndexOf(p, up), Const(dtypes::kFloat32, 1.0), {up})}, "k"), Stage::kExpanded,
                {"stage expanded", "range(1, upcast)", "refused by range"});
  ExpectRefused(SmallKernel(), Stage::kDecomposed, {"stage decomposed", "index"});
  ExpectRefused(Sink({Store(IndexOf(p, i), Load(IndexOf(p, i), 1, {Barrier({})}), {i})}, "k"), Stage::kKernel,
                {"stage kernel", "BARRIER"});
  ExpectRefused(Sink({Store(IndexOf(p, i), Const(dtypes::kFloat32, 1.0), {i})}), Stage::kKernel,
                {"refused by kernel (a KernelArg"});
  ExpectRefused(i, Stage::kKernel, {"the root of a kernel is a SINK"});
}

TEST(Spec, OneIdOneRangeAndOnePositionOneParam) {
  const UOpRef p = Param(dtypes::kFloat32, 0), q = Param(dtypes::kInt32, 0);
  const UOpRef i = Range(8, 0, AxisKind::kGlobal), j = Range(9, 0, AxisKind::kGlobal);
  ExpectRefused(Sink({Store(IndexOf(p, i + j), Const(dtypes::kFloat32, 1.0), {i, j})}, "k"), Stage::kKernel,
                {"another RANGE has its id"});
  const UOpRef v = Cast(Load(IndexOf(q, i)), dtypes::kFloat32);
  ExpectRefused(Sink({Store(IndexOf(p, i), v, {i})}, "k"), Stage::kKernel,
                {"another PARAM has its position"});
}

TEST(Spec, ListsExecuteInOrderWithNestedLoops) {
  const UOpRef p = Param(dtypes::kFloat32, 0), end = Const(dtypes::kInt32, 4);
  const UOpRef i = UOp::Make(Op::kRange, dtypes::kInt32, {end}, RangeArg{0, AxisKind::kLoop});
  const UOpRef j = UOp::Make(Op::kRange, dtypes::kInt32, {end}, RangeArg{1, AxisKind::kLoop});
  const UOpRef one = Const(dtypes::kFloat32, 1.0), at = IndexOf(p, i), st = Store(at, one), e = End(st, {i});
  const auto list = [](std::vector<UOpRef> ops) { return Sink(std::move(ops), "k"); };
  EXPECT_TRUE(CheckSpecAlways(list({p, end, one, i, at, st, e}), Stage::kLinear).ok())
      << CheckSpecAlways(list({p, end, one, i, at, st, e}), Stage::kLinear);
  ExpectRefused(list({p, end, one, at, i, st, e}), Stage::kLinear,
                {"stage linear", "does not come before it"});
  ExpectRefused(list({p, end, one, i, at, st}), Stage::kLinear, {"never closed"});
  ExpectRefused(list({p, end, one, i, j, at, st, e}), Stage::kLinear,
                {"closes RANGE", "range(0, loop)", "but open is", "range(1, loop)"});
}

TEST(Spec, SpecZeroTurnsChecksOff) {
  setenv("SPEC", "0", 1);
  EXPECT_TRUE(CheckSpec(Range(8, 0), Stage::kTensor).ok());
  setenv("SPEC", "1", 1);
  EXPECT_FALSE(CheckSpec(Range(8, 0), Stage::kTensor).ok());
}

TEST(Spec, EveryOpIsLegalSomewhere) {
  for (int op = 0; op < kNumOps; ++op) {
    bool legal = false;
    for (int stage = 0; stage <= static_cast<int>(Stage::kLinear); ++stage) {
      for (const SpecRule& r : SpecRules(static_cast<Stage>(stage))) legal |= r.ops.test(op);
    }
    // RECIP is replaced by the pass that would make it legal.
    EXPECT_TRUE(legal || static_cast<Op>(op) == Op::kRecip) << OpName(static_cast<Op>(op));
  }
}

}  // namespace
}  // namespace understudy::uop
