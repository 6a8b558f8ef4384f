// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/core/operand_width.h"

#include <cstring>

namespace understudy::emu::ptx {
namespace {

Type Widened(Type type) {
  switch (type) {
    case Type::kU16:
    case Type::kB16:
      return Type::kU32;
    case Type::kS16:
      return Type::kS32;
    case Type::kU32:
    case Type::kB32:
      return Type::kU64;
    case Type::kS32:
      return Type::kS64;
    default:
      return type;
  }
}

}  // namespace

Type OperandType(const Instruction& inst, int index) {
  const Type first = inst.type(0);
  switch (inst.op) {
    case Op::kMul:
    case Op::kMad:
      if (inst.Has("wide")) return index == 0 || index == 3 ? Widened(first) : first;
      return first;
    case Op::kShl:
    case Op::kShr:
      return index == 2 ? Type::kU32 : first;
    case Op::kBfe:
      return index >= 2 ? Type::kU32 : first;
    case Op::kBfi:
      return index >= 3 ? Type::kU32 : first;
    case Op::kCvt:
      // cvt.dtype.atype; cvt.pack has three types, the converted one second; with more sources
      // (cvt.rn.f16x2.f32 d, a, b) all are of the second.
      return index == 0 || inst.types.size() < 2 ? first : inst.types[1];
    case Op::kSet:
      return index == 0 ? first : index == 3 ? Type::kPred : inst.type(1);
    case Op::kSetp:
      return index == 0 || index == 3 ? Type::kPred : first;
    case Op::kSelp:
      return index == 3 ? Type::kPred : first;
    case Op::kSlct:
      return index == 3 ? inst.type(1) : first;
    case Op::kMatch:
      return index == 1 ? first : Type::kU32;
    case Op::kVote:
      return index == 0   ? (first == Type::kPred ? Type::kPred : Type::kU32)
             : index == 1 ? Type::kPred
                          : Type::kU32;
    case Op::kBar:
    case Op::kBarrier:
      // .red takes its predicate last.
      return inst.Has("red") && index + 1 == static_cast<int>(inst.operands.size()) ? Type::kPred
                                                                                    : Type::kU32;
    case Op::kLd:
    case Op::kLdu:
    case Op::kSt:
      // Value and address; then a cache policy.
      return index >= 2 ? Type::kB64 : first;
    case Op::kAtom:
    case Op::kRed: {
      const int values = inst.op == Op::kAtom ? 2 : 1;
      if (inst.Has("cas")) return index <= 3 ? first : Type::kB64;
      return index <= values ? first : Type::kB64;
    }
    case Op::kPopc:
    case Op::kClz:
    case Op::kBfind:
      return index == 0 ? Type::kU32 : first;
    case Op::kTestp:
      return index == 0 ? Type::kPred : first;
    case Op::kIsspacep:
      return index == 0 ? Type::kPred : Type::kU64;
    case Op::kMapa:
      return index == 2 ? Type::kU32 : first;
    case Op::kGetctarank:
      return index == 0 ? Type::kU32 : first;
    case Op::kMbarrier:
      // The state is 64 bits wide; counts, parities and hints are 32.
      if (inst.Has("test_wait") || inst.Has("try_wait")) {
        if (index == 0) return Type::kPred;
        return index == 2 && !inst.Has("parity") ? Type::kB64 : Type::kU32;
      }
      if (inst.Has("pending_count")) return index == 0 ? Type::kU32 : Type::kB64;
      if (inst.Has("arrive") || inst.Has("arrive_drop")) return index == 0 ? Type::kB64 : Type::kU32;
      return Type::kU32;
    case Op::kCp:
    case Op::kPrefetch:
    case Op::kBrx:
    case Op::kFns:
    case Op::kShfl:
    case Op::kRedux:
    case Op::kElect:
    case Op::kNanosleep:
    case Op::kSetmaxnreg:
    case Op::kPmevent:
    case Op::kWgmma:
      return Type::kU32;
    case Op::kMma:
      // Fragments are registers; what else there is (sparsity selectors, scale ids) has 32 bits.
      return index >= 4 ? Type::kU32 : inst.Has("f64") ? Type::kF64 : Type::kU32;
    case Op::kWmma:
      // The stride of wmma.load and wmma.store.
      return index >= 2 && (inst.Has("load") || inst.Has("store")) ? Type::kU32 : first;
    case Op::kCreatepolicy:
      return index == 0 ? Type::kB64 : inst.Has("fractional") ? Type::kF32 : Type::kU32;
    case Op::kVset:
    case Op::kVadd:
    case Op::kVsub:
    case Op::kVmad:
    case Op::kVabsdiff:
    case Op::kVmin:
    case Op::kVmax:
    case Op::kVshl:
    case Op::kVshr:
      return Type::kU32;
    case Op::kFma:
    case Op::kAdd:
    case Op::kSub:
      // Mixed precision: fma.f32.f16 d, a, b, c has d and c in f32.
      if (inst.types.size() > 1 && (index == 1 || (index == 2 && inst.op == Op::kFma))) return inst.types[1];
      return first;
    default:
      return first;
  }
}

uint8_t RowBytes(Type type) {
  if (type == Type::kPred) return 0;
  const int bits = TypeBits(type);
  if (bits == 0) return 4;
  return static_cast<uint8_t>(bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : bits <= 64 ? 8 : 16);
}

uint64_t ImmediateBits(const Operand& operand, Type type) {
  const uint8_t bytes = RowBytes(type);
  uint64_t bits = operand.bits;
  if (operand.kind == Operand::Kind::kFloat) {
    if (operand.is_f32 && bytes == 8) {
      const uint32_t word = static_cast<uint32_t>(bits);
      float value;
      std::memcpy(&value, &word, 4);
      const double wide = value;
      std::memcpy(&bits, &wide, 8);
    } else if (!operand.is_f32 && bytes == 4) {
      double value;
      std::memcpy(&value, &bits, 8);
      const float narrow = static_cast<float>(value);
      uint32_t word;
      std::memcpy(&word, &narrow, 4);
      bits = word;
    }
  }
  switch (bytes) {
    case 0:
      return bits != 0 ? 0xffffffff : 0;
    case 1:
      return bits & 0xff;
    case 2:
      return bits & 0xffff;
    case 4:
      return bits & 0xffffffff;
    default:
      return bits;
  }
}

}  // namespace understudy::emu::ptx
