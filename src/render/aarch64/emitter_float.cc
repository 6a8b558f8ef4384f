// SPDX-License-Identifier: Apache-2.0
// Floats, conversions and vectors.
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/render/aarch64/emitter.h"

namespace understudy::aarch64 {

using machine::Inst;
using machine::IntArg;
using machine::kNoReg;
using machine::Operand;
using machine::Reg;
using O = understudy::Op;

namespace {

Inst Make(Op op, int bytes) {
  Inst i;
  i.op = op;
  i.bytes = static_cast<uint8_t>(bytes);
  return i;
}
bool IsFloatElement(DType t) { return t.scalar == Scalar::kFloat32 || t.scalar == Scalar::kFloat64; }

}  // namespace

bool A64Emitter::HasVector(DType t) const {
  return IsFloatElement(t) || (t.IsInt() && (t.BitWidth() == 32 || t.BitWidth() == 64));
}

Reg A64Emitter::Vector3(Op op, int bytes, Reg a, Reg b) {
  const Reg r = Vector(16);
  Inst i = Make(op, bytes);
  i.Add(Operand::Def(r, bytes));
  i.Add(Operand::Use(a, bytes));
  i.Add(Operand::Use(b, bytes));
  Append(i);
  return r;
}
Reg A64Emitter::Vector2(Op op, int bytes, Reg a) {
  const Reg r = Vector(16);
  Inst i = Make(op, bytes);
  i.Add(Operand::Def(r, bytes));
  i.Add(Operand::Use(a, bytes));
  Append(i);
  return r;
}
Reg A64Emitter::Not(Reg a) { return Vector2(kVNotOp, 16, a); }

Reg A64Emitter::MakeConstant(const uint8_t* data, int bytes) {
  bool zero = true;
  for (int i = 0; i < bytes; ++i) zero &= data[i] == 0;
  const Reg r = Vector(16);
  Inst i = Make(zero ? kZeroOp : kLiteralQOp, 16);
  i.flags |= Inst::kRemake;
  i.Add(Operand::Def(r, 16));
  if (!zero) i.Add(Operand::Pool(PoolConstant(data, bytes), 16));
  AppendToEntry(i);
  return r;
}

Reg A64Emitter::FloatBinary(O op, int bytes, Reg a, Reg b) {
  switch (op) {
    case O::kAdd:
      return Vector3(kFaddOp, bytes, a, b);
    case O::kSub:
      return Vector3(kFsubOp, bytes, a, b);
    case O::kMul:
      return Vector3(kFmulOp, bytes, a, b);
    case O::kFDiv:
      return Vector3(kFdivOp, bytes, a, b);
    case O::kMax:
      return Vector3(kFmaxOp, bytes, a, b);
    case O::kMin:
      return Vector3(kFminOp, bytes, a, b);
    default:
      return kNoReg;
  }
}
Reg A64Emitter::FloatUnary(O op, int bytes, Reg a) {
  switch (op) {
    case O::kSqrt:
      return Vector2(kFsqrtOp, bytes, a);
    case O::kTrunc:
      return Vector2(kFrintzOp, bytes, a);
    case O::kNeg:
      return Vector2(kFnegOp, bytes, a);
    default:
      return kNoReg;
  }
}
Reg A64Emitter::FloatMulAcc(int bytes, Reg a, Reg b, Reg c) {
  const Reg r = Vector3(kFmaddOp, bytes, a, b);
  f_.blocks[block_].insts.back().Add(Operand::Use(c, bytes));
  return r;
}
Reg A64Emitter::FloatCompare(O op, int bytes, Reg a, Reg b) {
  if (op == O::kCmpLt) return Vector3(kFcmgtOp, bytes, b, a);
  const Reg equal = Vector3(kFcmeqOp, bytes, a, b);
  return op == O::kCmpEq ? equal : Not(equal);
}
Reg A64Emitter::FloatCast(int from_bytes, int to_bytes, Reg a) {
  if (from_bytes == to_bytes) return a;
  const Reg r = Vector(16);
  Inst i = Make(from_bytes == 4 ? kFcvtSToDOp : kFcvtDToSOp, to_bytes);
  i.Add(Operand::Def(r, to_bytes));
  i.Add(Operand::Use(a, from_bytes));
  Append(i);
  return r;
}
Reg A64Emitter::HalfToFloat(Reg a) {
  const Reg r = Vector(16);
  const Reg bits = BitsToFloat(4, a);
  Inst i = Make(kFcvtHToSOp, 4);
  i.Add(Operand::Def(r, 4));
  i.Add(Operand::Use(bits, 2));
  Append(i);
  return r;
}
Reg A64Emitter::FloatToHalf(Reg a) {
  const Reg r = Vector(16);
  Inst i = Make(kFcvtSToHOp, 4);
  i.Add(Operand::Def(r, 2));
  i.Add(Operand::Use(a, 4));
  Append(i);
  return FloatToBits(4, r);  // the rest of the register is zero
}
Reg A64Emitter::BitsToFloat(int bytes, Reg a) {
  const Reg r = Vector(16);
  Inst i = Make(kFMovFromGeneralOp, bytes);
  i.Add(Operand::Def(r, bytes));
  i.Add(Operand::Use(a, bytes));
  Append(i);
  return r;
}
Reg A64Emitter::FloatToBits(int bytes, Reg a) {
  const Reg r = General();
  Inst i = Make(kFMovToGeneralOp, bytes);
  i.Add(Operand::Def(r, bytes));
  i.Add(Operand::Use(a, bytes));
  Append(i);
  return r;
}
Reg A64Emitter::IntToFloat(DType from, int to_bytes, Reg a) {
  const Reg r = Vector(16);
  Inst i = Make(from.IsSigned() ? kScvtfOp : kUcvtfOp, to_bytes);
  i.Add(Operand::Def(r, to_bytes));
  i.Add(Operand::Use(a, from.BitWidth() == 64 ? 8 : 4));
  Append(i);
  return r;
}
Reg A64Emitter::FloatToInt(int from_bytes, DType to, Reg a) {
  // Saturates, and NaN gives 0: at 32 and 64 bits by itself.
  const int bits = to.BitWidth(), wide = bits == 64 ? 8 : 4;
  Reg r = General();
  Inst i = Make(to.IsSigned() ? kFcvtzsOp : kFcvtzuOp, from_bytes);
  i.Add(Operand::Def(r, wide));
  i.Add(Operand::Use(a, from_bytes));
  Append(i);
  if (bits >= 32) return r;
  const int64_t most = (int64_t{1} << (to.IsSigned() ? bits - 1 : bits)) - 1;
  r = IntBinary(O::kMin, to.IsSigned(), 32, r, IntArg::Const(most));
  return to.IsSigned() ? IntBinary(O::kMax, true, 32, r, IntArg::Const(-most - 1)) : r;
}

// --- vectors

Reg A64Emitter::VectorBinary(O op, DType t, int, Reg a, Reg b) {
  const int lane = t.ScalarBytes();
  Op which = kNumOps;
  switch (op) {
    case O::kAnd:
      return Vector3(kVAndOp, 16, a, b);
    case O::kOr:
      return Vector3(kVOrrOp, 16, a, b);
    case O::kXor:
      return Vector3(kVEorOp, 16, a, b);
    case O::kAdd:
      which = IsFloatElement(t) ? kVFaddOp : kVAddOp;
      break;
    case O::kSub:
      which = IsFloatElement(t) ? kVFsubOp : kVSubOp;
      break;
    case O::kMul:
      which = IsFloatElement(t) ? kVFmulOp : lane == 4 ? kVMulOp : kNumOps;
      break;
    case O::kFDiv:
      which = kVFdivOp;
      break;
    case O::kMax:
      which = IsFloatElement(t) ? kVFmaxOp : lane == 8 ? kNumOps : t.IsSigned() ? kVSmaxOp : kVUmaxOp;
      break;
    case O::kMin:
      which = IsFloatElement(t) ? kVFminOp : lane == 8 ? kNumOps : t.IsSigned() ? kVSminOp : kVUminOp;
      break;
    default:
      break;
  }
  if (which == kNumOps) return kNoReg;
  const Reg r = Vector3(which, lane, a, b);
  return r;
}
Reg A64Emitter::VectorShift(O op, DType t, int, Reg a, int64_t amount) {
  if (!t.IsInt()) return kNoReg;
  if (amount == 0) return a;
  const Reg r = Vector2(op == O::kShl ? kVShlOp : t.IsSigned() ? kVSshrOp : kVUshrOp, t.ScalarBytes(), a);
  f_.blocks[block_].insts.back().Add(Operand::Imm(amount));
  return r;
}
Reg A64Emitter::VectorUnary(O op, DType t, int, Reg a) {
  const int lane = t.ScalarBytes();
  if (t.IsInt()) return op == O::kNeg ? Vector2(kVNegOp, lane, a) : kNoReg;
  switch (op) {
    case O::kSqrt:
      return Vector2(kVFsqrtOp, lane, a);
    case O::kTrunc:
      return Vector2(kVFrintzOp, lane, a);
    case O::kNeg:
      return Vector2(kVFnegOp, lane, a);
    default:
      return kNoReg;
  }
}
Reg A64Emitter::VectorMulAcc(DType t, int, Reg a, Reg b, Reg c) {
  if (!IsFloatElement(t)) return kNoReg;
  const int lane = t.ScalarBytes();
  const Reg r = Copy(c);
  Inst i = Make(kVFmlaOp, lane);
  i.Add(Operand::UseDef(r, lane));
  i.Add(Operand::Use(a, lane));
  i.Add(Operand::Use(b, lane));
  Append(i);
  return r;
}
Reg A64Emitter::VectorCompare(O op, DType t, int, Reg a, Reg b) {
  const int lane = t.ScalarBytes();
  const bool is_float = IsFloatElement(t);
  if (op == O::kCmpLt) return Vector3(is_float ? kVFcmgtOp : t.IsSigned() ? kVCmgtOp : kVCmhiOp, lane, b, a);
  const Reg equal = Vector3(is_float ? kVFcmeqOp : kVCmeqOp, lane, a, b);
  return op == O::kCmpEq ? equal : Not(equal);
}
Reg A64Emitter::VectorChoose(int, int, Reg mask, Reg then, Reg otherwise) {
  const Reg r = Copy(mask);
  Inst i = Make(kVBslOp, 16);
  i.Add(Operand::UseDef(r, 16));
  i.Add(Operand::Use(then, 16));
  i.Add(Operand::Use(otherwise, 16));
  Append(i);
  return r;
}
Reg A64Emitter::VectorCast(DType from, DType to, int, Reg a) {
  // Of lanes of one size.
  if (from.IsInt() && IsFloatElement(to))
    return Vector2(from.IsSigned() ? kVScvtfOp : kVUcvtfOp, to.ScalarBytes(), a);
  if (IsFloatElement(from) && to.IsInt())
    return Vector2(to.IsSigned() ? kVFcvtzsOp : kVFcvtzuOp, to.ScalarBytes(), a);
  return kNoReg;
}
Reg A64Emitter::VectorBuild(int lane_bytes, bool is_float, int, const std::vector<Reg>& lanes) {
  bool equal = true;
  for (const Reg r : lanes) equal &= r == lanes[0];
  const Reg first = Vector(16);
  if (equal) {
    Inst i = Make(is_float ? kDupLaneOp : kDupGeneralOp, lane_bytes);
    i.Add(Operand::Def(first, 16));
    i.Add(Operand::Use(lanes[0], is_float ? 16 : lane_bytes));
    if (is_float) i.Add(Operand::Imm(0));
    Append(i);
    return first;
  }
  const Reg r = is_float ? Copy(lanes[0]) : Copy(BitsToFloat(lane_bytes, lanes[0]));
  for (size_t k = 1; k < lanes.size(); ++k) {
    Inst i = Make(is_float ? kInsLaneOp : kInsGeneralOp, lane_bytes);
    i.Add(Operand::UseDef(r, 16));
    i.Add(Operand::Use(lanes[k], is_float ? 16 : lane_bytes));
    i.Add(Operand::Imm(static_cast<int64_t>(k)));
    Append(i);
  }
  return r;
}
Reg A64Emitter::VectorExtract(int lane_bytes, bool is_float, int, Reg a, int lane) {
  if (lane == 0) return is_float ? a : FloatToBits(lane_bytes, a);
  const Reg r = is_float ? Vector(16) : General();
  Inst i = Make(is_float ? kDupScalarOp : kUmovOp, lane_bytes);
  i.Add(Operand::Def(r, lane_bytes));
  i.Add(Operand::Use(a, 16));
  i.Add(Operand::Imm(lane));
  Append(i);
  return r;
}

}  // namespace understudy::aarch64
