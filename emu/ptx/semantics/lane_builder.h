// SPDX-License-Identifier: Apache-2.0
#pragma once
// The vocabulary in which per-lane PTX semantics are written, and the interpreter's reading of it.
//
// The meaning of an instruction is a function template over a builder B: its source operands are the
// parameters (operand 1 and on), its destination (operand 0) is the result, and their types say how the rows
// are read and written:
//
//   template <class B> U32<B> AddU32(B& b, U32<B> x, U32<B> y) { return b.Add(x, y); }
//   template <class B> Bool<B> SetpLtS32(B& b, U32<B> x, U32<B> y) { return b.SLt(x, y); }
//
// It never branches on a lane's value (b.Select instead of `if` or ?:), keeps no state and touches lanes only
// through its parameters and b, so that a reading may compute 32 lanes at once, emit code, or build solver
// terms. `if constexpr` and loops with constant bounds are fine. Integers have no sign; operations have.
// What b offers is LaneInt (emu/lanes/lane_int.h): C16 C32 C64, Add Sub Mul Neg And Or Xor Not Shl Shr Sar
// (amount modulo the width) UMin UMax SMin SMax, Eq Ne ULt ULe UGt UGe SLt SLe SGt SGe, Select, FromBool,
// MulHiU MulHiS, PopCount Clz Ctz BitReverse, Zext32 Sext32 Zext64 Sext64 Lo16 Hi16 Lo32 Hi32 Pack16 Pack32
// SextFrom<N> Byte<N>; and the divisions below.
//
// Parameter types                                  Result types
//   U8 U16    low bits of a 32-bit row               U16 U32    zero-extended into the row
//   U32 U64   a row (of another width: converted)    U64
//   Bool      a predicate, negation applied          Bool       a predicate
//   Carry     the warp's carry flag; no operand      WithCarry<B, T>      the result, and the carry flag
//   Aux       Inst::aux[0], the same in all lanes    WithPredicate<B, T>  d|p: p is flag combined by aux[1]
//
// An executor is RunLanes<&AddU32<LaneBuilder>>; a comparison's are RunSetp and RunSet (aux[0]: BoolOp; set's
// aux[1]: the value of true). B is deduced from the function, so a family may derive its own builder from
// LaneBuilder. Tables of executors are in semantic_table.h. All kernels are compiled once a host instruction
// set (US_SEMANTICS_ARCH).

#include <type_traits>
#include <utility>

#include "emu/ptx/semantics/lane_rows.h"

namespace understudy::emu::ptx {

// clang-format off
template <class B> using U8 = typename B::U8;
template <class B> using U16 = typename B::U16;
template <class B> using U32 = typename B::U32;
template <class B> using U64 = typename B::U64;
template <class B> using Bool = typename B::Bool;
template <class B> using Carry = typename B::Carry;
template <class B> using Aux = typename B::Aux;
// clang-format on

template <class B, class T>
struct WithCarry {
  T value;
  typename B::Bool flag;
};
template <class B, class T>
struct WithPredicate {
  T value;
  typename B::Bool flag;
};

inline namespace US_SEMANTICS_ARCH {

struct LaneBuilder : LaneInt {
  using U8 = uint8_t;
  struct Carry {
    uint32_t bit;  // 0 or 1
  };
  struct Aux {
    uint64_t bits;
  };

  // Quotient and remainder towards zero. By zero, which the manual leaves open and no recording has: all
  // ones, and the dividend. The most negative number by -1 is itself with remainder 0 (not recorded either).
#define US_DIVISIONS(T, S)                                                                              \
  US_OP static T UDiv(T a, T b) { return b == 0 ? static_cast<T>(~T{0}) : static_cast<T>(a / b); }      \
  US_OP static T URem(T a, T b) { return b == 0 ? a : static_cast<T>(a % b); }                          \
  US_OP static T SDiv(T a, T b) {                                                                       \
    if (b == 0) return static_cast<T>(~T{0});                                                           \
    return b == static_cast<T>(~T{0}) ? Neg(a) : static_cast<T>(static_cast<S>(a) / static_cast<S>(b)); \
  }                                                                                                     \
  US_OP static T SRem(T a, T b) {                                                                       \
    if (b == 0) return a;                                                                               \
    return b == static_cast<T>(~T{0}) ? T{0} : static_cast<T>(static_cast<S>(a) % static_cast<S>(b));   \
  }
  US_DIVISIONS(uint16_t, int16_t)
  US_DIVISIONS(uint32_t, int32_t)
  US_DIVISIONS(uint64_t, int64_t)
#undef US_DIVISIONS
};

// --- sources ---
template <class T>
struct SourceOf {  // U8, U16, U32
  static constexpr int kOperands = 1, kRowBytes = 4;
  Row32 row;
  US_OP SourceOf(const Warp& warp, const Inst& inst, int operand) : row(warp, inst.src(operand)) {}
  US_OP T At(int lane) const { return static_cast<T>(row.row[lane]); }
};
template <>
struct SourceOf<uint64_t> {
  static constexpr int kOperands = 1, kRowBytes = 8;
  Row64 row;
  US_OP SourceOf(const Warp& warp, const Inst& inst, int operand) : row(warp, inst.src(operand)) {}
  US_OP uint64_t At(int lane) const { return row.row[lane]; }
};
template <>
struct SourceOf<bool> {
  static constexpr int kOperands = 1, kRowBytes = 0;
  alignas(64) uint32_t flag[kWarpSize];
  US_OP SourceOf(const Warp& warp, const Inst& inst, int operand) {
    ExpandFlags(warp.Pred(inst.src(operand)), flag);
  }
  US_OP bool At(int lane) const { return flag[lane] != 0; }
};
template <>
struct SourceOf<LaneBuilder::Carry> {
  static constexpr int kOperands = 0, kRowBytes = 0;
  alignas(64) uint32_t flag[kWarpSize];
  US_OP SourceOf(const Warp& warp, const Inst&, int) { ExpandFlags(warp.carry, flag); }
  US_OP LaneBuilder::Carry At(int lane) const { return {flag[lane]}; }
};
template <>
struct SourceOf<LaneBuilder::Aux> {
  static constexpr int kOperands = 0, kRowBytes = 0;
  uint64_t bits;
  US_OP SourceOf(const Warp&, const Inst& inst, int) : bits(inst.aux[0]) {}
  US_OP LaneBuilder::Aux At(int) const { return {bits}; }
};

// --- results ---
template <class R>
struct ResultOf {  // U16, U32
  static constexpr bool kHasValue = true, kHasFlag = false;
  using Word = uint32_t;
  US_OP static Word Value(R r) { return r; }
};
template <>
struct ResultOf<uint64_t> {
  static constexpr bool kHasValue = true, kHasFlag = false;
  using Word = uint64_t;
  US_OP static Word Value(uint64_t r) { return r; }
};
template <>
struct ResultOf<bool> {
  static constexpr bool kHasValue = false, kHasFlag = true;
  using Word = uint32_t;
  US_OP static uint32_t Flag(bool r) { return r ? 1u : 0u; }
  US_OP static void StoreFlags(Warp& warp, const Inst& inst, uint32_t flags) {
    warp.SetPred(inst.src(0), flags);
  }
};
template <class B, class T>
struct ResultOf<WithCarry<B, T>> {
  static constexpr bool kHasValue = true, kHasFlag = true;
  using Word = typename ResultOf<T>::Word;
  US_OP static Word Value(const WithCarry<B, T>& r) { return r.value; }
  US_OP static uint32_t Flag(const WithCarry<B, T>& r) { return r.flag ? 1u : 0u; }
  US_OP static void StoreFlags(Warp& warp, const Inst&, uint32_t flags) {
    warp.carry = (warp.carry & ~warp.mask) | (flags & warp.mask);
  }
};
template <class B, class T>
struct ResultOf<WithPredicate<B, T>> {
  static constexpr bool kHasValue = true, kHasFlag = true;
  using Word = typename ResultOf<T>::Word;
  US_OP static Word Value(const WithPredicate<B, T>& r) { return r.value; }
  US_OP static uint32_t Flag(const WithPredicate<B, T>& r) { return r.flag ? 1u : 0u; }
  // The predicate operand is the last one.
  US_OP static void StoreFlags(Warp& warp, const Inst& inst, uint32_t flags) {
    const uint32_t q = warp.Pred(inst.src(inst.num_operands - 1));
    warp.SetPred(inst.op(0).elements[1].row, Combine(static_cast<BoolOp>(inst.aux[1]), flags, q));
  }
};

// Where the value of operand 0 goes: d of d|p, else the operand itself.
US_OP Src ValueRow(const Inst& inst) {
  const BoundOperand& dst = inst.op(0);
  return dst.kind == Operand::Kind::kPredicatePair ? dst.elements[0].row : dst.row;
}

template <class F>
struct LaneFunction;
template <class R, class B, class... A>
struct LaneFunction<R (*)(B&, A...)> {
  using Result = ResultOf<R>;
  static constexpr int kSources = static_cast<int>(sizeof...(A));

  // The operand number of parameter i: those that are no operands are not counted.
  static constexpr int OperandOf(int i) {
    constexpr int counts[] = {SourceOf<A>::kOperands..., 0};
    int operand = 1;
    for (int k = 0; k < i; ++k) operand += counts[k];
    return operand;
  }

  // All 32 lanes: values into `value`, flags (0 or 1) into `flag`; either may be unused.
  template <auto kFn, size_t... I>
  US_OP static void Compute(const Warp& warp, const Inst& inst, typename Result::Word* value, uint32_t* flag,
                            std::index_sequence<I...>) {
    Loop<kFn>(value, flag, SourceOf<A>(warp, inst, OperandOf(static_cast<int>(I)))...);
  }

 private:
  template <auto kFn, class... S>
  US_OP static void Loop([[maybe_unused]] typename Result::Word* value, [[maybe_unused]] uint32_t* flag,
                         const S&... source) {
    // Stores go to rows of the same lanes that the loads come from, or to rows apart.
#pragma GCC ivdep
    for (int lane = 0; lane < kWarpSize; ++lane) {
      B b;
      const R r = kFn(b, source.At(lane)...);
      if constexpr (Result::kHasValue) value[lane] = Result::Value(r);
      if constexpr (Result::kHasFlag) flag[lane] = Result::Flag(r);
    }
  }
};

template <auto kFn>
using FunctionOf = LaneFunction<decltype(kFn)>;

// The executor of a semantic that writes its result.
template <auto kFn>
[[gnu::flatten]] ExecResult RunLanes(Warp& warp, const Inst& inst) {
  using F = FunctionOf<kFn>;
  using Result = typename F::Result;
  using Word = typename Result::Word;
  alignas(64) uint32_t flag[kWarpSize];
  constexpr std::make_index_sequence<F::kSources> kIndices;
  if constexpr (Result::kHasValue) {
    const Src dst = ValueRow(inst);
    Word* const row = reinterpret_cast<Word*>(warp.Dst32(dst));
    constexpr bool kWide = sizeof(Word) == 8;
    alignas(64) Word value[kWarpSize];
    const bool direct = warp.mask == ~0u && (dst.bytes == 8) == kWide;
    F::template Compute<kFn>(warp, inst, direct ? row : value, flag, kIndices);
    if (!direct) StoreRow(warp, dst, value);
  } else {
    F::template Compute<kFn>(warp, inst, nullptr, flag, kIndices);
  }
  if constexpr (Result::kHasFlag) Result::StoreFlags(warp, inst, PackFlags(flag));
  return ExecResult::kNext;
}

// The lanes' answers of a comparison (Bool) as a mask.
template <auto kFn>
US_OP uint32_t CompareLanes(const Warp& warp, const Inst& inst) {
  using F = FunctionOf<kFn>;
  alignas(64) uint32_t flag[kWarpSize];

  F::template Compute<kFn>(warp, inst, nullptr, flag, std::make_index_sequence<F::kSources>());
  return PackFlags(flag);
}
template <auto kFn>
[[gnu::flatten]] ExecResult RunSetp(Warp& warp, const Inst& inst) {
  StoreCompare(warp, inst, static_cast<BoolOp>(inst.aux[0]), CompareLanes<kFn>(warp, inst));
  return ExecResult::kNext;
}
template <auto kFn>
[[gnu::flatten]] ExecResult RunSet(Warp& warp, const Inst& inst) {
  StoreSet(warp, inst, static_cast<BoolOp>(inst.aux[0]), CompareLanes<kFn>(warp, inst),
           static_cast<uint32_t>(inst.aux[1]));
  return ExecResult::kNext;
}

}  // namespace US_SEMANTICS_ARCH
}  // namespace understudy::emu::ptx
