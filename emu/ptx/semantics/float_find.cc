// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include "emu/ptx/semantics/convert_find.h"
#include "emu/ptx/semantics/find_exec.h"
#include "emu/ptx/semantics/float_bits.h"
#include "emu/ptx/semantics/float_compare.h"
#include "emu/ptx/semantics/float_host.h"
#include "emu/ptx/semantics/float_kernels.h"
#include "emu/ptx/semantics/float_mixed.h"
#include "emu/ptx/semantics/float_modifiers.h"
#include "emu/ptx/semantics/float_semantics.h"

namespace understudy::emu::ptx {
namespace {

bool FindFloatType(Type type, FloatType* result) {
  switch (type) {
    case Type::kF32:
      *result = FloatType::kF32;
      return true;
    case Type::kF64:
      *result = FloatType::kF64;
      return true;
    case Type::kF16:
      *result = FloatType::kF16;
      return true;
    case Type::kF16x2:
      *result = FloatType::kF16x2;
      return true;
    case Type::kBf16:
      *result = FloatType::kBf16;
      return true;
    case Type::kBf16x2:
      *result = FloatType::kBf16x2;
      return true;
    case Type::kF32x2:
      *result = FloatType::kF32x2;
      return true;
    default:
      return false;
  }
}

Exec Finish(const Instruction& inst, ExecFn fn, const FloatModifiers& modifiers, Round round) {
  if (!modifiers.empty()) return Refused(inst, "modifier ." + modifiers.first() + " does not belong here");
  if (fn == nullptr) return Refused(inst, "PTX has no such combination of type and modifiers");
  if (round == Round::kNearestEven) return Exact(fn);
  return Exact(&RunDirected, static_cast<uint64_t>(HostRounding(round)), reinterpret_cast<uint64_t>(fn));
}

Exec FindArithmetic(const Instruction& inst, FloatOp op, FloatType type) {
  FloatModifiers modifiers(inst);
  // The special functions' own.
  if (modifiers.Take("approx") || modifiers.Take("full")) return {};
  Round round;
  modifiers.TakeRound(&round);
  const bool ftz = modifiers.Take("ftz"), sat = modifiers.Take("sat"), relu = modifiers.Take("relu");
  if (op == FloatOp::kFma && modifiers.Take("oob")) op = FloatOp::kFmaOob;
  if (inst.types.size() == 2) {
    if (inst.type(0) != Type::kF32 || ftz || relu)
      return Refused(inst, "mixed precision knows .f32.f16 and .f32.bf16 with .sat only");
    return Finish(inst, FindMixed(inst.op, inst.type(1), sat), modifiers, round);
  }
  const bool wide = type == FloatType::kF32 || type == FloatType::kF64 || type == FloatType::kF32x2;
  if (round != Round::kNearestEven && !wide) return Refused(inst, "16-bit floats round to nearest only");
  if (sat && relu) return Refused(inst, ".sat and .relu exclude each other");
  const Clamp clamp = sat ? Clamp::kSaturate : relu ? Clamp::kRelu : Clamp::kNone;
  const ExecFn fn =
      HostFloatKernels()
          .arithmetic[static_cast<int>(op)][static_cast<int>(type)][static_cast<int>(clamp)][ftz ? 1 : 0];
  return Finish(inst, fn, modifiers, round);
}

Exec FindMinMax(const Instruction& inst, FloatType type) {
  FloatModifiers modifiers(inst);
  const bool max = inst.op == Op::kMax, ftz = modifiers.Take("ftz"), nan = modifiers.Take("NaN");
  const bool xorsign = modifiers.Take("xorsign"), abs = modifiers.Take("abs");
  if (xorsign && !abs) return Refused(inst, ".xorsign needs .abs");
  const MinMaxSign sign = xorsign ? MinMaxSign::kXorSign : abs ? MinMaxSign::kAbs : MinMaxSign::kPlain;
  const FloatKernels& kernels = HostFloatKernels();
  ExecFn fn = nullptr;
  if (inst.operands.size() == 4) {
    if (type == FloatType::kF32) fn = kernels.min_max3[max][nan][static_cast<int>(sign)][ftz];
  } else {
    fn = kernels.min_max[static_cast<int>(type)][max][nan][static_cast<int>(sign)][ftz];
  }
  return Finish(inst, fn, modifiers, Round::kNearestEven);
}

bool FindTrueValue(Type to, bool pair, TrueValue* value) {
  switch (to) {
    case Type::kU32:
    case Type::kS32:
      *value = pair ? TrueValue::kMaskPair : TrueValue::kMask32;
      return true;
    case Type::kF16x2:
      *value = TrueValue::kOneF16Pair;
      return pair;
    case Type::kBf16x2:
      *value = TrueValue::kOneBf16Pair;
      return pair;
    case Type::kU16:
    case Type::kS16:
      *value = TrueValue::kMask16;
      return !pair;
    case Type::kF16:
      *value = TrueValue::kOneF16;
      return !pair;
    case Type::kBf16:
      *value = TrueValue::kOneBf16;
      return !pair;
    case Type::kF32:
      *value = TrueValue::kOneF32;
      return !pair;
    default:
      return false;
  }
}

Exec FindCompare(const Instruction& inst, FloatType type) {
  FloatModifiers modifiers(inst);
  uint32_t relations = 0;
  std::string name;
  for (const std::string& m : modifiers.left()) {
    relations = RelationsOf(m);
    if (relations != 0) {
      name = m;
      break;
    }
  }
  if (relations == 0) return Refused(inst, "has no comparison of floats");
  modifiers.Take(name.c_str());
  BoolOp combine = BoolOp::kNone;
  if (modifiers.Take("and"))
    combine = BoolOp::kAnd;
  else if (modifiers.Take("or"))
    combine = BoolOp::kOr;
  else if (modifiers.Take("xor"))
    combine = BoolOp::kXor;
  const bool ftz = modifiers.Take("ftz");
  if (!modifiers.empty()) return Refused(inst, "modifier ." + modifiers.first() + " does not belong here");
  if (HostFloatKernels().compare[static_cast<int>(type)][ftz] == nullptr)
    return Refused(inst, "this type has no comparisons");
  uint64_t aux = relations | static_cast<uint64_t>(combine) << 4 | static_cast<uint64_t>(type) << 8 |
                 uint64_t{ftz} << 12;
  if (inst.op == Op::kSetp) return Exact(&SetPredicate, aux);
  const bool pair = type == FloatType::kF16x2 || type == FloatType::kBf16x2;
  TrueValue value;
  if (!FindTrueValue(inst.type(0), pair, &value)) return Refused(inst, "set has no such result type");
  return Exact(&SetRegister, aux | static_cast<uint64_t>(value) << 16);
}

Exec FindTest(const Instruction& inst, FloatType type) {
  FloatModifiers modifiers(inst);
  static constexpr struct {
    const char* name;
    FloatClass value;
  } kClasses[] = {{"finite", FloatClass::kFinite}, {"infinite", FloatClass::kInfinite},
                  {"number", FloatClass::kNumber}, {"notanumber", FloatClass::kNotANumber},
                  {"normal", FloatClass::kNormal}, {"subnormal", FloatClass::kSubnormal}};
  for (const auto& row : kClasses) {
    if (modifiers.Take(row.name) && modifiers.empty())
      return Exact(&TestProperty, static_cast<uint64_t>(row.value), type == FloatType::kF64);
  }
  return Refused(inst, "testp knows finite, infinite, number, notanumber, normal and subnormal");
}

}  // namespace

Exec FindFloatExec(const Instruction& inst, const ExecContext& context) {
  if (inst.op == Op::kCvt) return FindConvertExec(inst, context);
  // Of set the operands' type is the second.
  const Type operand_type = inst.op == Op::kSet ? inst.type(1) : inst.type(0);
  FloatType type;
  if (!FindFloatType(operand_type, &type)) return {};
  switch (inst.op) {
    case Op::kAdd:
      return FindArithmetic(inst, FloatOp::kAdd, type);
    case Op::kSub:
      return FindArithmetic(inst, FloatOp::kSub, type);
    case Op::kMul:
      return FindArithmetic(inst, FloatOp::kMul, type);
    case Op::kMad:
    case Op::kFma:
      return FindArithmetic(inst, FloatOp::kFma, type);
    case Op::kDiv:
      return FindArithmetic(inst, FloatOp::kDiv, type);
    case Op::kRcp:
      return FindArithmetic(inst, FloatOp::kRcp, type);
    case Op::kSqrt:
      return FindArithmetic(inst, FloatOp::kSqrt, type);
    case Op::kAbs:
      return FindArithmetic(inst, FloatOp::kAbs, type);
    case Op::kNeg:
      return FindArithmetic(inst, FloatOp::kNeg, type);
    case Op::kCopysign:
      return FindArithmetic(inst, FloatOp::kCopySign, type);
    case Op::kMin:
    case Op::kMax:
      return FindMinMax(inst, type);
    case Op::kSet:
    case Op::kSetp:
      return FindCompare(inst, type);
    case Op::kTestp:
      return FindTest(inst, type);
    default:
      return {};
  }
}

}  // namespace understudy::emu::ptx
