// SPDX-License-Identifier: Apache-2.0
// Which kernel an integer, logic, shift, comparison or selection instruction has.
#include <cstring>

#include "emu/ptx/semantics/find_exec.h"
#include "emu/ptx/semantics/integer.h"
#include "emu/ptx/semantics/integer_bit_semantics.h"
#include "emu/ptx/semantics/integer_kernels.h"
#include "emu/ptx/semantics/lane_rows.h"
#include "emu/ptx/semantics/semantic_table.h"

namespace understudy::emu::ptx {
namespace {

using K = IntegerKernel;

const IntegerKernels& HostIntegerKernels() {
  static const IntegerKernels kernels = [] {
    IntegerKernels set;
    const auto fill = [&set](auto... chapters) { (chapters(&set), ...); };
    switch (ChosenArch()) {
#define US_FILL(arch)                                                                       \
  fill(integer_kernels_##arch::RegisterArithmetic, integer_kernels_##arch::RegisterCompare, \
       integer_kernels_##arch::RegisterBits, integer_kernels_##arch::RegisterVideo)
      case HostArch::kBaseline:
        US_FILL(baseline);
        break;
      case HostArch::kAvx2:
        US_FILL(avx2);
        break;
      case HostArch::kAvx512:
        US_FILL(avx512);
        break;
#undef US_FILL
    }
    return set;
  }();
  return kernels;
}

int WidthIndex(int narrowest, int bits) {
  int index = 0;
  for (int width = narrowest; width < bits; width *= 2) ++index;
  return index;
}

K Plus(K first, int offset) { return static_cast<K>(static_cast<int>(first) + offset); }

template <class Plan>
Exec ExactWithPlan(ExecFn fn, const Plan& plan) {
  Exec exec = Exact(fn);
  static_assert(sizeof plan <= sizeof exec.aux);
  std::memcpy(exec.aux, &plan, sizeof plan);
  return exec;
}

Exec NoSuchType(const Instruction& inst) {
  return Refused(inst, "PTX has no such combination of type and modifiers");
}

// What most of the finders ask.
struct Shape {
  explicit Shape(const Instruction& inst)
      : type(inst.type(0)),
        bits(TypeBits(type)),
        is_signed(IsSigned(type)),
        plain(IsPlainInteger(type)),
        halves(type == Type::kU16x2 || type == Type::kS16x2) {}
  Type type;
  int bits;
  bool is_signed, plain, halves;
};

ExecFn At(K first, int narrowest, const Shape& shape) { return HostKernel(first, narrowest, shape.bits); }
ExecFn SignedAt(K first, int narrowest, const Shape& shape) {
  return HostKernel(first, narrowest, shape.bits, shape.is_signed);
}

// add, sub, addc, subc.
Exec FindSum(const Instruction& inst) {
  const Shape shape(inst);
  const bool subtracts = inst.op == Op::kSub || inst.op == Op::kSubc;
  if (inst.op == Op::kAddc || inst.op == Op::kSubc || inst.Has("cc")) {
    if (!shape.plain || shape.bits < 32) return NoSuchType(inst);
    const bool in = inst.op == Op::kAddc || inst.op == Op::kSubc;
    return Exact(At(subtracts ? K::kSubCarry32 : K::kAddCarry32, 32, shape),
                 (in          ? kCarryIn
                  : subtracts ? kCarrySet
                              : 0) |
                     (inst.Has("cc") ? kCarryOut : 0));
  }
  if (inst.types.size() != 1 || IsFloat(shape.type)) return {};
  if (shape.halves && !subtracts) return Exact(HostKernel(K::kAddHalves));
  if (!shape.plain) return NoSuchType(inst);
  if (inst.Has("sat")) {
    if (shape.type != Type::kS32) return NoSuchType(inst);
    return Exact(HostKernel(subtracts ? K::kSubSat : K::kAddSat));
  }
  return Exact(At(subtracts ? K::kSub16 : K::kAdd16, 16, shape));
}

// mul, mad, madc.
Exec FindProduct(const Instruction& inst) {
  const Shape shape(inst);
  if (IsFloat(shape.type)) return {};
  if (!shape.plain) return NoSuchType(inst);
  const bool adds = inst.op != Op::kMul;
  if (inst.op == Op::kMadc || inst.Has("cc")) {
    if (shape.bits < 32 || (!inst.Has("hi") && !inst.Has("lo"))) return NoSuchType(inst);
    const uint64_t carries = (inst.op == Op::kMadc ? kCarryIn : 0u) | (inst.Has("cc") ? kCarryOut : 0u);
    return Exact(inst.Has("hi") ? SignedAt(K::kMadHiCarryU32, 32, shape) : At(K::kMadCarry32, 32, shape),
                 carries);
  }
  if (inst.Has("sat")) {
    if (!adds || !inst.Has("hi") || shape.type != Type::kS32) return NoSuchType(inst);
    return Exact(HostKernel(K::kMadHiSat));
  }
  if (inst.Has("wide")) {
    if (shape.bits > 32) return NoSuchType(inst);
    return Exact(SignedAt(adds ? K::kMadWideU16 : K::kMulWideU16, 16, shape));
  }
  if (inst.Has("hi")) return Exact(SignedAt(adds ? K::kMadHiU16 : K::kMulHiU16, 16, shape));
  if (!inst.Has("lo")) return NoSuchType(inst);
  return Exact(At(adds ? K::kMad16 : K::kMul16, 16, shape));
}

Exec FindProduct24(const Instruction& inst) {
  const Shape shape(inst);
  if (!shape.plain || shape.bits != 32) return NoSuchType(inst);
  const bool adds = inst.op == Op::kMad24, high = inst.Has("hi");
  if (inst.Has("sat")) {
    if (!adds || !high || !shape.is_signed) return NoSuchType(inst);
    return Exact(HostKernel(K::kMad24HiSat));
  }
  return Exact(HostKernel(Plus(adds ? K::kMad24 : K::kMul24, (shape.is_signed ? 2 : 0) + (high ? 1 : 0))));
}

Exec FindMinMax(const Instruction& inst) {
  const Shape shape(inst);
  if (IsFloat(shape.type)) return {};
  const bool max = inst.op == Op::kMax, relu = inst.Has("relu");
  if (shape.halves) {
    if (relu && !shape.is_signed) return NoSuchType(inst);
    return Exact(HostKernel(Plus(max ? K::kMaxHalvesU : K::kMinHalvesU, relu ? 2 : shape.is_signed ? 1 : 0)));
  }
  if (!shape.plain || (relu && shape.type != Type::kS32)) return NoSuchType(inst);
  if (relu) return Exact(HostKernel(max ? K::kMaxRelu : K::kMinRelu));
  return Exact(SignedAt(max ? K::kMaxU16 : K::kMinU16, 16, shape));
}

// One kernel a width, or a width and sign.
Exec FindByWidth(const Instruction& inst, K first, int narrowest) {
  const Shape shape(inst);
  if (IsFloat(shape.type)) return {};
  if (!shape.plain || shape.bits < narrowest) return NoSuchType(inst);
  return Exact(At(first, narrowest, shape));
}
Exec FindBySign(const Instruction& inst, K first, int narrowest) {
  const Shape shape(inst);
  if (IsFloat(shape.type)) return {};
  if (!shape.plain || shape.bits < narrowest) return NoSuchType(inst);
  return Exact(SignedAt(first, narrowest, shape));
}

Exec FindDotProduct(const Instruction& inst) {
  const Shape shape(inst);
  if (shape.bits != 32 || inst.types.size() != 2 || TypeBits(inst.type(1)) != 32) return NoSuchType(inst);
  const int signs = (IsSigned(inst.type(1)) ? 2 : 0) + (shape.is_signed ? 1 : 0);
  if (inst.op == Op::kDp4a) return Exact(HostKernel(Plus(K::kDp4a, signs)));
  return Exact(HostKernel(Plus(inst.Has("hi") ? K::kDp2aHi : K::kDp2a, signs)));
}

Exec FindPermute(const Instruction& inst) {
  constexpr const char* kModes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  int mode = 0;
  for (int i = 0; i < 6; ++i)
    if (inst.Has(kModes[i])) mode = i + 1;
  return Exact(HostKernel(Plus(K::kPrmt, mode)));
}

Exec FindTable(const Instruction& inst) {
  if (inst.operands.size() < 5 || inst.operands[4].kind != Operand::Kind::kImmediate)
    return Refused(inst, "the table is no constant");
  const Lop3Plan plan{inst.operands[4].bits & 0xff};
  const bool joins_or = inst.Has("or"), joins_and = inst.Has("and");
  if (!joins_or && !joins_and) {
    if (inst.operands.size() != 5) return NoSuchType(inst);
    return ExactWithPlan(HostKernel(K::kLop3), plan);
  }
  if (inst.operands.size() != 6 || inst.operands[0].kind != Operand::Kind::kPredicatePair)
    return Refused(inst, "expected d|p, a, b, c, table, q");
  return ExactWithPlan(HostKernel(joins_or ? K::kLop3Or : K::kLop3And), plan);
}

// The comparison's kernel; null for one of floats alone (equ, num ...).
ExecFn FindComparison(const Instruction& inst, Type type) {
  const int bits = TypeBits(type);
  const bool is_signed = IsSigned(type);
  if (inst.Has("eq")) return HostKernel(K::kEq16, 16, bits);
  if (inst.Has("ne")) return HostKernel(K::kNe16, 16, bits);
  if (inst.Has("lt") || inst.Has("lo")) return HostKernel(K::kLtU16, 16, bits, is_signed);
  if (inst.Has("le") || inst.Has("ls")) return HostKernel(K::kLeU16, 16, bits, is_signed);
  if (inst.Has("gt") || inst.Has("hi")) return HostKernel(K::kGtU16, 16, bits, is_signed);
  if (inst.Has("ge") || inst.Has("hs")) return HostKernel(K::kGeU16, 16, bits, is_signed);
  return nullptr;
}
BoolOp FindBoolOp(const Instruction& inst) {
  return inst.Has("and")   ? BoolOp::kAnd
         : inst.Has("or")  ? BoolOp::kOr
         : inst.Has("xor") ? BoolOp::kXor
                           : BoolOp::kNone;
}
// What `set` gives where the comparison holds; 0: no such type.
uint64_t TrueValue(Type type) {
  switch (type) {
    case Type::kU32:
    case Type::kS32:
      return 0xffffffff;
    case Type::kF32:
      return 0x3f800000;
    case Type::kF16:
      return 0x3c00;
    case Type::kBf16:
      return 0x3f80;
    default:
      return 0;
  }
}
Exec FindCompare(const Instruction& inst) {
  const bool to_value = inst.op == Op::kSet;
  const Type type = inst.type(to_value ? 1 : 0);
  if (IsFloat(type) || inst.types.size() != (to_value ? 2u : 1u)) return {};
  if (!IsPlainInteger(type)) return NoSuchType(inst);
  const uint64_t true_value = to_value ? TrueValue(inst.type(0)) : 0;
  const ExecFn fn = FindComparison(inst, type);
  if (fn == nullptr || (to_value && true_value == 0)) return NoSuchType(inst);
  return Exact(fn, static_cast<uint64_t>(FindBoolOp(inst)), true_value);
}

Exec FindSelect(const Instruction& inst) {
  const int bits = TypeBits(inst.type(0));
  if (bits != 16 && bits != 32 && bits != 64) return NoSuchType(inst);
  if (inst.op == Op::kSelp) return Exact(HostKernel(K::kSelp16, 16, bits));
  if (inst.type(1) != Type::kF32) return Exact(HostKernel(K::kSlct16, 16, bits));
  return Exact(HostKernel(inst.Has("ftz") ? K::kSlctFtz16 : K::kSlctFloat16, 16, bits));
}

// cvt between integers; those from and to floats are another family's.
Exec FindConvert(const Instruction& inst, const ExecContext& context) {
  const Type to = inst.type(0), from = inst.type(1);
  const auto is_integer = [](Type type) {
    return IsPlainInteger(type) || type == Type::kU8 || type == Type::kS8;
  };
  if (inst.Has("pack")) {
    if (from != Type::kS32 || !inst.Has("sat")) return NoSuchType(inst);
    const ConvertPackPlan plan{static_cast<uint32_t>(TypeBits(to)), IsSigned(to) ? 1u : 0u,
                               inst.operands.size() > 3 ? 1u : 0u};
    return ExactWithPlan(HostKernel(K::kConvertPack), plan);
  }
  if (inst.types.size() != 2 || !is_integer(to) || !is_integer(from)) return {};
  const bool wide = TypeBits(to) == 64 || TypeBits(from) == 64 || context.OperandBits(inst.operands[0]) > 32;
  const int row = (inst.Has("sat") ? 4 : 0) + (IsSigned(from) ? 2 : 0) + (IsSigned(to) ? 1 : 0);
  const ConvertPlan32 plan{static_cast<uint8_t>(TypeBits(from)), static_cast<uint8_t>(TypeBits(to))};
  return ExactWithPlan(HostKernel(Plus(wide ? K::kConvert64 : K::kConvert32, row)), plan);
}

}  // namespace

ExecFn HostKernel(IntegerKernel kernel) { return HostIntegerKernels().fn[static_cast<int>(kernel)]; }
ExecFn HostKernel(IntegerKernel first, int narrowest, int bits) {
  return HostKernel(Plus(first, WidthIndex(narrowest, bits)));
}
ExecFn HostKernel(IntegerKernel first, int narrowest, int bits, bool is_signed) {
  return HostKernel(Plus(first, 2 * WidthIndex(narrowest, bits) + (is_signed ? 1 : 0)));
}

Exec FindIntegerExec(const Instruction& inst, const ExecContext& context) {
  const Shape shape(inst);
  const bool predicates = shape.type == Type::kPred;
  switch (inst.op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kAddc:
    case Op::kSubc:
      return FindSum(inst);
    case Op::kMul:
    case Op::kMad:
    case Op::kMadc:
      return FindProduct(inst);
    case Op::kMul24:
    case Op::kMad24:
      return FindProduct24(inst);
    case Op::kMin:
    case Op::kMax:
      return FindMinMax(inst);
    case Op::kDiv:
      return FindBySign(inst, K::kDivU16, 16);
    case Op::kRem:
      return FindBySign(inst, K::kRemU16, 16);
    case Op::kSad:
      return FindBySign(inst, K::kSadU16, 16);
    case Op::kAbs:
      return FindByWidth(inst, K::kAbs16, 16);
    case Op::kNeg:
      return FindByWidth(inst, K::kNeg16, 16);
    case Op::kDp4a:
    case Op::kDp2a:
      return FindDotProduct(inst);
    case Op::kPopc:
      return FindByWidth(inst, K::kPopc32, 32);
    case Op::kClz:
      return FindByWidth(inst, K::kClz32, 32);
    case Op::kBrev:
      return FindByWidth(inst, K::kBrev32, 32);
    case Op::kBfind:
      return FindBySign(inst, inst.Has("shiftamt") ? K::kBfindAmountU32 : K::kBfindU32, 32);
    case Op::kBfe:
      return FindBySign(inst, K::kBfeU32, 32);
    case Op::kBfi:
      return FindByWidth(inst, K::kBfi32, 32);
    case Op::kFns:
      return Exact(HostKernel(K::kFns));
    case Op::kBmsk:
      return Exact(HostKernel(inst.Has("wrap") ? K::kBmskWrap : K::kBmskClamp));
    case Op::kSzext:
      return Exact(HostKernel(Plus(K::kSzextUClamp, (shape.is_signed ? 2 : 0) + (inst.Has("wrap") ? 1 : 0))));
    case Op::kAnd:
      return predicates ? FindPredicateLogic(inst) : FindByWidth(inst, K::kAnd16, 16);
    case Op::kOr:
      return predicates ? FindPredicateLogic(inst) : FindByWidth(inst, K::kOr16, 16);
    case Op::kXor:
      return predicates ? FindPredicateLogic(inst) : FindByWidth(inst, K::kXor16, 16);
    case Op::kNot:
      return predicates ? FindPredicateLogic(inst) : FindByWidth(inst, K::kNot16, 16);
    case Op::kCnot:
      return FindByWidth(inst, K::kCnot16, 16);
    case Op::kShl:
      return FindByWidth(inst, K::kShl16, 16);
    case Op::kShr:
      return FindByWidth(inst, shape.is_signed ? K::kSar16 : K::kShr16, 16);
    case Op::kShf:
      return Exact(HostKernel(Plus(K::kShfLWrap, (inst.Has("r") ? 2 : 0) + (inst.Has("clamp") ? 1 : 0))));
    case Op::kLop3:
      return FindTable(inst);
    case Op::kPrmt:
      return FindPermute(inst);
    case Op::kSet:
    case Op::kSetp:
      return FindCompare(inst);
    case Op::kSelp:
    case Op::kSlct:
      return FindSelect(inst);
    case Op::kCvt:
      return FindConvert(inst, context);
    case Op::kMov:
      return FindMove(inst);
    default:
      return FindVideo(inst);
  }
}

}  // namespace understudy::emu::ptx
