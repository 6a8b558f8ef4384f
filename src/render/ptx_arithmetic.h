// SPDX-License-Identifier: Apache-2.0
#pragma once
// PTX line by line, and the arithmetic of one lane: what the renderer of PTX is built on. Knows registers and
// values, no kernel and no memory. Internal to src/render.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/dtype/dtype.h"
#include "src/uop/uop.h"

namespace understudy {

// The classes of registers. Integers of up to 32 bits live in 32-bit registers, extended by their sign or by
// zeros; a bool is a predicate; narrow floats that are moved only are their bits.
enum class Bank : uint8_t { kPred, kHalf, kWord, kLong, kFloat, kDouble };
inline constexpr const char* kBankType[] = {"pred", "b16", "b32", "b64", "f32", "f64"};
inline constexpr const char* kBankPrefix[] = {"%p", "%h", "%r", "%rd", "%f", "%fd"};

inline Bank BankOf(DType t) {
  if (t.IsBool()) return Bank::kPred;
  if (t.scalar == Scalar::kFloat16) return Bank::kHalf;
  if (t.scalar == Scalar::kFloat32) return Bank::kFloat;
  if (t.scalar == Scalar::kFloat64) return Bank::kDouble;
  return t.BitWidth() == 64 ? Bank::kLong : Bank::kWord;
}

inline bool IsWide(DType t) { return t.BitWidth() == 64; }

// "s32": the type in which an integer of this type is computed.
inline std::string ComputeType(DType t) {
  return absl::StrCat(t.IsSigned() ? "s" : "u", IsWide(t) ? 64 : 32);
}

// The text of a kernel's body as it grows, and its registers.
class PtxLines {
 protected:
  template <class... T>
  void Line(const T&... parts) {
    absl::StrAppend(&body_, "  ", parts..., ";\n");
  }
  void Label(const std::string& label) { absl::StrAppend(&body_, label, ":\n"); }
  std::string NewLabel(const char* what) { return absl::StrCat("$", what, labels_++); }
  std::string New(Bank bank) {
    return absl::StrCat(kBankPrefix[static_cast<int>(bank)], count_[static_cast<int>(bank)]++);
  }
  std::string New(DType t) { return New(BankOf(t)); }
  // A new register of this bank with the value of one instruction.
  template <class... T>
  std::string Make(Bank bank, const std::string& instruction, const T&... operands) {
    const std::string d = New(bank);
    Line(instruction, " ", d, operands...);
    return d;
  }
  std::string Op1(Bank bank, const std::string& instruction, const std::string& x) {
    return Make(bank, instruction, ", ", x);
  }
  std::string Op2(Bank bank, const std::string& instruction, const std::string& x, const std::string& y) {
    return Make(bank, instruction, ", ", x, ", ", y);
  }
  std::string Op3(Bank bank, const std::string& instruction, const std::string& x, const std::string& y,
                  const std::string& z) {
    return Make(bank, instruction, ", ", x, ", ", y, ", ", z);
  }

  static const char* MoveName(Bank bank) {
    constexpr const char* kMoves[] = {"mov.pred", "mov.b16", "mov.b32", "mov.b64", "mov.f32", "mov.f64"};
    return kMoves[static_cast<int>(bank)];
  }
  static const char* ZeroOf(Bank bank) {
    return bank == Bank::kFloat ? "0f00000000" : bank == Bank::kDouble ? "0d0000000000000000" : "0";
  }
  // `x` in a register if it is an immediate, for instructions that take no others.
  std::string InRegister(Bank bank, const std::string& x) {
    return x[0] == '%' ? x : Op1(bank, MoveName(bank), x);
  }

  std::string body_;
  int count_[6] = {};  // registers of each bank

 private:
  int labels_ = 0;
};

// A lane at a time: registers or immediates in, a register (or the operand itself) out; "" where PTX has no
// such operation.
class PtxArithmetic : protected PtxLines {
 protected:
  using Lanes = std::vector<std::string>;  // a register or an immediate a lane

  std::string Alu(const UOp& n, const Lanes& x);

 private:
  std::string Select(DType t, const std::string& c, const std::string& x, const std::string& y);
  std::string BoolAlu(Op op, const Lanes& x);
  std::string FloatAlu(Op op, DType t, const Lanes& x);
  // The low bits of a 32-bit value, extended as its type wants it.
  std::string Narrowed(DType t, const std::string& x);
  std::string IntAlu(Op op, DType t, const Lanes& x);
  // "f16", or "" for those that PTX does not compute with.
  static std::string FloatType(DType t);
  std::string Cast(DType from, DType to, const std::string& x);
  // Saturating, NaN gives 0. The conversions to 32 bits do so; to 64 bits NaN is the least number (PTX ISA,
  // cvt), and narrower types are clamped once in 32 bits.
  std::string ToInt(DType from, DType to, const std::string& x);
  std::string Bitcast(DType from, DType to, const std::string& x);
  static DType StorageType(DType t);
};

}  // namespace understudy
