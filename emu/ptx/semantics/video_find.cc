// SPDX-License-Identifier: Apache-2.0
// The plan and kernel of a video instruction, from its types, modifiers and the selectors of its operands.
#include <cstring>
#include <string>

#include "emu/ptx/semantics/integer.h"
#include "emu/ptx/semantics/integer_kernels.h"
#include "emu/ptx/semantics/video_semantics.h"

namespace understudy::emu::ptx {
namespace {

using K = IntegerKernel;

template <class Plan>
Exec ExactWithPlan(IntegerKernel kernel, const Plan& plan) {
  Exec exec = Exact(HostKernel(kernel));
  static_assert(sizeof plan <= sizeof exec.aux);
  std::memcpy(exec.aux, &plan, sizeof plan);
  return exec;
}

bool Is32(Type type) { return type == Type::kU32 || type == Type::kS32; }

// ".b2" or ".h1"; none is the whole register.
bool FindPart(const std::string& selector, VideoPart* part) {
  if (selector.empty()) return true;
  if (selector.size() != 2) return false;
  part->bits = selector[0] == 'b' ? 8 : 16;
  const int number = selector[1] - '0';
  if (number < 0 || number * part->bits >= 32) return false;
  part->at = static_cast<uint8_t>(number * part->bits);
  return true;
}

bool FindCompare(const Instruction& inst, VideoCompare* compare) {
  constexpr const char* kNames[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  for (int i = 0; i < 6; ++i) {
    if (!inst.Has(kNames[i])) continue;
    *compare = static_cast<VideoCompare>(i);
    return true;
  }
  return false;
}

const char* const kBadSelector = "a selector that the instruction has not got";

// vset, vset2 and vset4 have no type of a result: a second operation compares as the first source's
// (recorded).
void FindSigns(const Instruction& inst, bool* a, bool* b, bool* d) {
  const bool compares = inst.types.size() == 2;
  *d = IsSigned(inst.type(0));
  *a = IsSigned(inst.type(compares ? 0 : 1));
  *b = IsSigned(inst.type(compares ? 1 : 2));
}

Exec FindScalar(const Instruction& inst, VideoOp op) {
  VideoPlan plan;
  const bool compares = op == VideoOp::kSet;
  const size_t n = inst.operands.size();
  if (inst.types.size() != (compares ? 2u : 3u) || n < 3 || n > 4)
    return Refused(inst, "PTX has no such combination of types and operands");
  for (Type type : inst.types)
    if (!Is32(type)) return Refused(inst, "types other than u32 and s32");
  FindSigns(inst, &plan.a_signed, &plan.b_signed, &plan.d_signed);
  if (!FindPart(inst.operands[0].selector, &plan.d) || !FindPart(inst.operands[1].selector, &plan.a) ||
      !FindPart(inst.operands[2].selector, &plan.b) || (n == 4 && !inst.operands[3].selector.empty()))
    return Refused(inst, kBadSelector);
  if (compares && !FindCompare(inst, &plan.compare)) return Refused(inst, "no comparison");
  plan.saturate = inst.Has("sat");
  plan.wrap = inst.Has("wrap");
  const bool joins = inst.Has("add") || inst.Has("min") || inst.Has("max");
  if ((n == 3 && (joins || plan.d.bits != 32)) || (joins && plan.d.bits != 32))
    return Refused(inst,
                   "a second operation or a selector of the result goes with a fourth operand, one of them");
  plan.second = inst.Has("add")    ? VideoSecond::kAdd
                : inst.Has("min")  ? VideoSecond::kMin
                : inst.Has("max")  ? VideoSecond::kMax
                : plan.d.bits < 32 ? VideoSecond::kMerge
                                   : VideoSecond::kNone;
  return ExactWithPlan(static_cast<K>(static_cast<int>(K::kVAdd) + static_cast<int>(op)), plan);
}

Exec FindVmad(const Instruction& inst) {
  VmadPlan plan;
  bool d_signed = false;
  if (inst.types.size() != 3 || inst.operands.size() != 4)
    return Refused(inst, "PTX has no such combination of types and operands");
  for (Type type : inst.types)
    if (!Is32(type)) return Refused(inst, "types other than u32 and s32");
  FindSigns(inst, &plan.a_signed, &plan.b_signed, &d_signed);
  const Operand &a = inst.operands[1], &b = inst.operands[2], &c = inst.operands[3];
  if (!inst.operands[0].selector.empty() || !FindPart(a.selector, &plan.a) ||
      !FindPart(b.selector, &plan.b) || !c.selector.empty())
    return Refused(inst, kBadSelector);
  plan.negate_product = a.negated != b.negated;
  plan.negate_c = c.negated;
  plan.plus_one = inst.Has("po");
  if ((plan.plus_one && (a.negated || b.negated || c.negated)) || (plan.negate_product && plan.negate_c))
    return Refused(inst, "the product or c is negated, not both, and neither with .po");
  plan.saturate = inst.Has("sat");
  plan.scale = inst.Has("shr7") ? 7 : inst.Has("shr15") ? 15 : 0;
  return ExactWithPlan(K::kVmad, plan);
}

// "h31" or "b7210": element i is the digit i places from the right.
bool FindElements(const std::string& selector, char kind, int elements, uint16_t* numbers) {
  if (selector.empty()) return true;
  if (selector[0] != kind || selector.size() != static_cast<size_t>(elements) + 1) return false;
  *numbers = 0;
  for (int i = 0; i < elements; ++i) {
    const int number = selector[static_cast<size_t>(elements - i)] - '0';
    if (number < 0 || number >= 2 * elements) return false;
    *numbers = static_cast<uint16_t>(*numbers | number << (4 * i));
  }
  return true;
}
// "h0", "b320": the elements that are named, highest first.
bool FindMask(const std::string& selector, char kind, int elements, uint8_t* mask) {
  *mask = static_cast<uint8_t>((1 << elements) - 1);
  if (selector.empty()) return true;
  if (selector[0] != kind || selector.size() < 2) return false;
  *mask = 0;
  int above = elements;
  for (char digit : selector.substr(1)) {
    const int number = digit - '0';
    if (number < 0 || number >= above) return false;
    above = number;
    *mask = static_cast<uint8_t>(*mask | 1 << number);
  }
  return true;
}

Exec FindSimd(const Instruction& inst, VideoOp op, int elements) {
  VideoSimdPlan plan;
  const bool compares = op == VideoOp::kSet;
  if (inst.types.size() != (compares ? 2u : 3u) || inst.operands.size() != 4)
    return Refused(inst, "PTX has no such combination of types and operands");
  for (Type type : inst.types)
    if (!Is32(type)) return Refused(inst, "types other than u32 and s32");
  FindSigns(inst, &plan.a_signed, &plan.b_signed, &plan.d_signed);
  if (elements == 2) {
    plan.a = 0x10;
    plan.b = 0x32;
  }
  const char kind = elements == 2 ? 'h' : 'b';
  if (!FindMask(inst.operands[0].selector, kind, elements, &plan.mask) ||
      !FindElements(inst.operands[1].selector, kind, elements, &plan.a) ||
      !FindElements(inst.operands[2].selector, kind, elements, &plan.b) || !inst.operands[3].selector.empty())
    return Refused(inst, kBadSelector);
  if (compares && !FindCompare(inst, &plan.compare)) return Refused(inst, "no comparison");
  plan.saturate = inst.Has("sat");
  plan.accumulate = inst.Has("add");
  if (plan.saturate && plan.accumulate) return Refused(inst, ".sat does not go with .add");
  return ExactWithPlan(
      static_cast<K>(static_cast<int>(elements == 2 ? K::kVAdd2 : K::kVAdd4) + static_cast<int>(op)), plan);
}

}  // namespace

Exec FindVideo(const Instruction& inst) {
  switch (inst.op) {
    case Op::kVadd:
      return FindScalar(inst, VideoOp::kAdd);
    case Op::kVsub:
      return FindScalar(inst, VideoOp::kSub);
    case Op::kVabsdiff:
      return FindScalar(inst, VideoOp::kAbsdiff);
    case Op::kVmin:
      return FindScalar(inst, VideoOp::kMin);
    case Op::kVmax:
      return FindScalar(inst, VideoOp::kMax);
    case Op::kVset:
      return FindScalar(inst, VideoOp::kSet);
    case Op::kVshl:
      return FindScalar(inst, VideoOp::kShl);
    case Op::kVshr:
      return FindScalar(inst, VideoOp::kShr);
    case Op::kVmad:
      return FindVmad(inst);
    case Op::kVadd2:
      return FindSimd(inst, VideoOp::kAdd, 2);
    case Op::kVadd4:
      return FindSimd(inst, VideoOp::kAdd, 4);
    case Op::kVsub2:
      return FindSimd(inst, VideoOp::kSub, 2);
    case Op::kVsub4:
      return FindSimd(inst, VideoOp::kSub, 4);
    case Op::kVavrg2:
      return FindSimd(inst, VideoOp::kAvrg, 2);
    case Op::kVavrg4:
      return FindSimd(inst, VideoOp::kAvrg, 4);
    case Op::kVabsdiff2:
      return FindSimd(inst, VideoOp::kAbsdiff, 2);
    case Op::kVabsdiff4:
      return FindSimd(inst, VideoOp::kAbsdiff, 4);
    case Op::kVmin2:
      return FindSimd(inst, VideoOp::kMin, 2);
    case Op::kVmin4:
      return FindSimd(inst, VideoOp::kMin, 4);
    case Op::kVmax2:
      return FindSimd(inst, VideoOp::kMax, 2);
    case Op::kVmax4:
      return FindSimd(inst, VideoOp::kMax, 4);
    case Op::kVset2:
      return FindSimd(inst, VideoOp::kSet, 2);
    case Op::kVset4:
      return FindSimd(inst, VideoOp::kSet, 4);
    default:
      return {};
  }
}

}  // namespace understudy::emu::ptx
