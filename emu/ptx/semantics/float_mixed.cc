// SPDX-License-Identifier: Apache-2.0
// Mixed precision (PTX ISA 8.6, sm_100): f32 arithmetic whose factors, or first operand, are f16 or bf16.
#include "emu/ptx/semantics/float_mixed.h"

#include "emu/ptx/core/program.h"
#include "emu/ptx/semantics/float_lanes.h"

namespace understudy::emu::ptx {
namespace {

// Widening is exact, so each is the f32 operation.
enum class MixedOp { kAdd, kSub, kFma };

template <class E, MixedOp kOp, bool kSaturate>
ExecResult RunMixed(Warp& w, const Inst& inst) {
  using M = Modifiers<false, kSaturate ? Clamp::kSaturate : Clamp::kNone>;
  const Row32 row_a(w, inst.src(1)), row_b(w, inst.src(2)), row_c(w, inst.src(kOp == MixedOp::kFma ? 3 : 2));
  const uint32_t *a = row_a.row, *b = row_b.row, *c = row_c.row;
  alignas(64) uint32_t out[kWarpSize];
  const FloatLane<Single> lane;
  for (int i = 0; i < kWarpSize; ++i) {
    const float x = E::Decode(a[i]), z = FloatOf(c[i]);
    const float r = kOp == MixedOp::kFma   ? lane.Fma(x, E::Decode(b[i]), z)
                    : kOp == MixedOp::kAdd ? x + z
                                           : x - z;
    out[i] = lane.Finish<M>(r);
  }
  StoreRow(w, inst.src(0), out);
  return ExecResult::kNext;
}

template <class E, bool kSaturate>
ExecFn Find(Op op) {
  switch (op) {
    case Op::kAdd:
      return &RunMixed<E, MixedOp::kAdd, kSaturate>;
    case Op::kSub:
      return &RunMixed<E, MixedOp::kSub, kSaturate>;
    case Op::kFma:
      return &RunMixed<E, MixedOp::kFma, kSaturate>;
    default:
      return nullptr;
  }
}

}  // namespace

ExecFn FindMixed(Op op, Type type, bool saturate) {
  if (type == Type::kF16) return saturate ? Find<Half, true>(op) : Find<Half, false>(op);
  if (type == Type::kBf16) return saturate ? Find<Brain, true>(op) : Find<Brain, false>(op);
  return nullptr;
}

}  // namespace understudy::emu::ptx
