// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/semantics/convert_find.h"

#include <string>

#include "emu/ptx/semantics/convert_packed.h"
#include "emu/ptx/semantics/convert_plan.h"
#include "emu/ptx/semantics/float_kernels.h"
#include "emu/ptx/semantics/float_modifiers.h"

namespace understudy::emu::ptx {
namespace {

bool FindNumber(Type type, Number* number) {
  switch (type) {
    case Type::kU8:
      *number = Number::kU8;
      return true;
    case Type::kS8:
      *number = Number::kS8;
      return true;
    case Type::kU16:
      *number = Number::kU16;
      return true;
    case Type::kS16:
      *number = Number::kS16;
      return true;
    case Type::kU32:
      *number = Number::kU32;
      return true;
    case Type::kS32:
      *number = Number::kS32;
      return true;
    case Type::kU64:
      *number = Number::kU64;
      return true;
    case Type::kS64:
      *number = Number::kS64;
      return true;
    case Type::kF16:
      *number = Number::kF16;
      return true;
    case Type::kBf16:
      *number = Number::kBf16;
      return true;
    case Type::kF32:
      *number = Number::kF32;
      return true;
    case Type::kF64:
      *number = Number::kF64;
      return true;
    default:
      return false;
  }
}

ExecFn Fast(FastConvert which) { return HostFloatKernels().fast_convert[static_cast<int>(which)]; }

// A loop of its own for a plan between registers of the types' widths, or null.
ExecFn FindFast(const ConvertPlan& plan) {
  if (plan.flush || plan.saturate || plan.finite) return nullptr;
  if (plan.integral) {
    const bool truncation = plan.from == Number::kF32 && plan.to == Number::kS32;
    return truncation && plan.round == Round::kToZero ? Fast(FastConvert::kS32FromF32Truncated) : nullptr;
  }
  if (plan.round != Round::kNearestEven) return nullptr;
  if (plan.to == Number::kF32) {
    switch (plan.from) {
      case Number::kF16:
        return Fast(FastConvert::kF32FromF16);
      case Number::kBf16:
        return Fast(FastConvert::kF32FromBf16);
      case Number::kS32:
        return Fast(FastConvert::kF32FromS32);
      case Number::kU32:
        return Fast(FastConvert::kF32FromU32);
      default:
        return nullptr;
    }
  }
  if (plan.from != Number::kF32) return nullptr;
  if (plan.to == Number::kF16)
    return Fast(plan.relu ? FastConvert::kF16FromF32Relu : FastConvert::kF16FromF32);
  if (plan.to == Number::kBf16)
    return Fast(plan.relu ? FastConvert::kBf16FromF32Relu : FastConvert::kBf16FromF32);
  return nullptr;
}

Exec FindPlain(const Instruction& inst, const ExecContext& context, ConvertPlan plan) {
  FloatModifiers modifiers(inst);
  Round round;
  plan.integral = modifiers.TakeIntegralRound(&round);
  bool rounds = plan.integral;
  if (!plan.integral) rounds = modifiers.TakeRound(&round);
  plan.round = round;
  // An H200 does not flush the f32 that becomes an f16.
  plan.flush = modifiers.Take("ftz") && !(plan.from == Number::kF32 && plan.to == Number::kF16);
  plan.saturate = modifiers.Take("sat");
  plan.relu = modifiers.Take("relu");
  plan.finite = modifiers.Take("satfinite");
  if (!modifiers.empty()) return Refused(inst, "modifier ." + modifiers.first() + " does not belong here");
  if (IsInteger(plan.to) && !plan.integral)
    return Refused(inst, "a float becomes an integer by .rni, .rzi, .rmi or .rpi only");
  if (plan.integral && !IsInteger(plan.to) && plan.from != plan.to)
    return Refused(inst, "integer rounding of floats keeps the type");
  if (IsInteger(plan.to)) plan.saturate = false;  // they always saturate
  const bool same_width = plan.from == plan.to && !plan.integral;
  // bf16 is the upper half of an f32.
  const bool brain = plan.from == Number::kBf16 && plan.to == Number::kF32;
  // The 16-bit formats have one NaN.
  const bool one_nan = plan.to == Number::kF16 || plan.to == Number::kBf16;
  plan.pass = ((same_width && !one_nan) || brain) && !plan.flush && !plan.saturate && !plan.relu && !plan.finite && !rounds;
  plan.pass_shift = brain ? 16 : 0;
  const auto fits = [&](size_t operand, Number number) {
    const int bits = context.OperandBits(inst.operands[operand]);
    return bits <= 32 && (NumberBits(number) < 64);
  };
  if (inst.operands.size() != 2) return Refused(inst, "takes one source");
  if (fits(0, plan.to) && fits(1, plan.from)) {
    if (const ExecFn fast = FindFast(plan)) return Exact(fast);
  }
  return Exact(HostFloatKernels().convert, plan.Pack());
}

Exec FindPair(const Instruction& inst, Number to) {
  FloatModifiers modifiers(inst);
  ConvertPlan plan;
  plan.to = to;
  if (modifiers.Take("rs")) {
    uint64_t flags = modifiers.Take("relu") ? uint64_t{kPackedRelu} : 0;
    if (modifiers.Take("satfinite")) flags |= kPackedFinite;
    if (!modifiers.empty()) return Refused(inst, "modifier ." + modifiers.first() + " does not belong here");
    return Exact(FindStochasticConvert(inst.type(0)), flags);
  }
  modifiers.TakeRound(&plan.round);
  plan.relu = modifiers.Take("relu");
  plan.finite = modifiers.Take("satfinite");
  if (!modifiers.empty()) return Refused(inst, "modifier ." + modifiers.first() + " does not belong here");
  if (plan.round == Round::kNearestEven && !plan.finite) {
    const bool half = to == Number::kF16;
    return Exact(Fast(half ? (plan.relu ? FastConvert::kF16x2FromF32Relu : FastConvert::kF16x2FromF32)
                           : (plan.relu ? FastConvert::kBf16x2FromF32Relu : FastConvert::kBf16x2FromF32)));
  }
  return Exact(HostFloatKernels().convert_packed, plan.Pack());
}

Exec FindNarrow(const Instruction& inst) {
  FloatModifiers modifiers(inst);
  const Type to = inst.type(0), from = inst.type(1);
  uint64_t flags = modifiers.Take("relu") ? uint64_t{kPackedRelu} : 0;
  if (modifiers.Take("satfinite")) flags |= kPackedFinite;
  ExecFn fn = nullptr;
  Round round = Round::kNearestEven;
  if (modifiers.Take("rs")) {
    if (from == Type::kF32) fn = FindStochasticConvert(to);
  } else {
    if (modifiers.Take("rna"))
      round = Round::kNearestAway;
    else
      modifiers.TakeRound(&round);
    if (round == Round::kUp) flags |= kPackedUp;
    const bool directed = round == Round::kToZero || round == Round::kUp;
    const bool right = to == Type::kTf32      ? round != Round::kUp && round != Round::kDown
                       : to == Type::kUe8m0x2 ? directed
                                              : round == Round::kNearestEven;
    if (right) fn = FindPackedConvert(to, from);
  }
  if (!modifiers.empty()) {
    return Refused(inst, "modifier ." + modifiers.first() +
                             " is not known here (scaled conversions came after PTX 8.8)");
  }
  if (fn == nullptr) return Refused(inst, "PTX 8.8 has no such conversion");
  return Exact(fn, flags, static_cast<uint64_t>(round));
}

}  // namespace

Exec FindConvertExec(const Instruction& inst, const ExecContext& context) {
  if (inst.Has("pack") || inst.types.size() != 2) return {};
  const Type to = inst.type(0), from = inst.type(1);
  ConvertPlan plan;
  if (FindNumber(to, &plan.to) && FindNumber(from, &plan.from)) {
    if (IsInteger(plan.to) && IsInteger(plan.from)) return {};
    return FindPlain(inst, context, plan);
  }
  if (from == Type::kF32 && to == Type::kF16x2) return FindPair(inst, Number::kF16);
  if (from == Type::kF32 && to == Type::kBf16x2) return FindPair(inst, Number::kBf16);
  return FindNarrow(inst);
}

}  // namespace understudy::emu::ptx
