// SPDX-License-Identifier: Apache-2.0
#pragma once
// The interpreter's reading of the integer semantics: one lane's builder, and the loops over a warp that the
// compiler vectorises. Rows are read and written here, semantics see values. Allocates nothing.

#include <type_traits>
#include <utility>

#include "emu/lanes/lane_int.h"
#include "emu/ptx/core/program.h"
#include "emu/ptx/core/warp.h"
#include "emu/ptx/semantics/integer_kernels.h"
#include "emu/ptx/semantics/integer_semantics.h"
#include "emu/ptx/semantics/lane_rows.h"

namespace understudy::emu::ptx {
inline namespace US_SEMANTICS_ARCH {

struct IntegerLane : LaneInt {
  US_OP static U16 Mul(U16 a, U16 b) { return LaneInt::Mul(a, b); }
  // In 32 bits, as hosts multiply.
  US_OP static U32 Mul(U32 a, U32 b) { return a * b; }
  US_OP static U64 Mul(U64 a, U64 b) { return a * b; }
#define US_DIVIDE(T)                                              \
  US_OP static T UDiv(T a, T b) { return static_cast<T>(a / b); } \
  US_OP static T URem(T a, T b) { return static_cast<T>(a % b); }
  US_DIVIDE(U16)
  US_DIVIDE(U32)
  US_DIVIDE(U64)
#undef US_DIVIDE
};

// A source of a kernel: the width that the semantics read, or kPred for a predicate.
constexpr int kPred = 1;

template <int kBits>
struct LaneSource {
  using Value =
      std::conditional_t<kBits == 16, uint16_t, std::conditional_t<kBits == 32, uint32_t, uint64_t>>;
  using Rows = std::conditional_t<kBits == 64, Row64, Row32>;
  // What the loop reads: a plain pointer that stays in a register.
  struct Reader {
    const std::conditional_t<kBits == 64, uint64_t, uint32_t>* row;
    US_OP Value At(int lane) const { return static_cast<Value>(row[lane]); }
  };
  US_OP LaneSource(const Warp& warp, Src s) : rows(warp, s) {}
  US_OP Reader Read() const { return {rows.row}; }
  Rows rows;
};
template <>
struct LaneSource<kPred> {
  struct Reader {
    uint32_t mask;
    US_OP bool At(int lane) const { return (mask >> lane & 1) != 0; }
  };
  US_OP LaneSource(const Warp& warp, Src s) : mask(warp.Pred(s)) {}
  US_OP Reader Read() const { return {mask}; }
  uint32_t mask;
};

template <class Semantic>
concept HasPlan = requires { typename Semantic::Plan; };

// out[lane] = the semantics of the lane. Rows are the same or apart, and an element is read before it is
// written.
template <class Semantic, class Word, class... Readers>
US_OP void FillRow(const Inst& inst, Word* out, Readers... readers) {
  const IntegerLane b;
  if constexpr (HasPlan<Semantic>) {
    typename Semantic::Plan plan;
    static_assert(sizeof(plan) <= sizeof(inst.aux));
    __builtin_memcpy(&plan, inst.aux, sizeof plan);
#pragma GCC ivdep
    for (int lane = 0; lane < kWarpSize; ++lane)
      out[lane] = static_cast<Word>(Semantic::Run(b, plan, readers.At(lane)...));
  } else {
#pragma GCC ivdep
    for (int lane = 0; lane < kWarpSize; ++lane)
      out[lane] = static_cast<Word>(Semantic::Run(b, readers.At(lane)...));
  }
}

// Where a kernel of results of kBits writes: the register's own row when every lane executes, else a copy.
template <int kBits>
struct LaneResult {
  using Word = std::conditional_t<kBits == 64, uint64_t, uint32_t>;
  US_OP LaneResult(Warp& warp, Src s)
      : dst(s),
        direct(warp.mask == ~0u && s.bytes == kBits / 8),
        row(direct ? reinterpret_cast<Word*>(warp.base[s.base] + s.offset) : copy) {}
  LaneResult(const LaneResult&) = delete;
  US_OP void Store(Warp& warp) {
    if (!direct) [[unlikely]]
      StoreCopy(warp);
  }
  Src dst;
  bool direct;
  Word* row;
  alignas(64) Word copy[kWarpSize];

 private:
  [[gnu::noinline]] void StoreCopy(Warp& warp) {
    if constexpr (kBits != 64) {
      if (dst.bytes < 4) {
        const uint32_t keep = (1u << 8 * dst.bytes) - 1;
        for (uint32_t& value : copy) value &= keep;
      }
    }
    StoreRow(warp, dst, copy);
  }
};

// Source i of the semantics is operand i + 1; one that the instruction has not got is any, and not looked at.
US_OP Src SourceAt(const Inst& inst, size_t i) {
  return inst.src(i + 1 < inst.num_operands ? static_cast<int>(i) + 1 : 1);
}

template <class Semantic, int kResult, int... kSources, size_t... kIndex>
US_OP void RunValueAt(Warp& w, const Inst& inst, std::index_sequence<kIndex...>) {
  [&](const LaneSource<kSources>&... sources) __attribute__((always_inline)) {
    LaneResult<kResult> result(w, inst.src(0));
    FillRow<Semantic>(inst, result.row, sources.Read()...);
    result.Store(w);
  }(LaneSource<kSources>(w, SourceAt(inst, kIndex))...);
}
// A value of kResult bits from sources of kSources bits.
template <class Semantic, int kResult, int... kSources>
[[gnu::flatten]] ExecResult RunValue(Warp& w, const Inst& inst) {
  RunValueAt<Semantic, kResult, kSources...>(w, inst, std::make_index_sequence<sizeof...(kSources)>());
  return ExecResult::kNext;
}

template <class Semantic, int kBits>
[[gnu::flatten]] ExecResult RunCompare(Warp& w, const Inst& inst) {
  const LaneSource<kBits> x(w, inst.src(1)), y(w, inst.src(2));
  // As wide as the sources, so that the loop has one vector width.
  alignas(64) uint32_t flags[kWarpSize];
  const auto p = x.Read(), q = y.Read();
  const IntegerLane b;
  for (int lane = 0; lane < kWarpSize; ++lane)
    flags[lane] = Semantic::Run(b, p.At(lane), q.At(lane)) ? 1u : 0u;
  const uint32_t holds = PackFlags(flags);
  const auto op = static_cast<BoolOp>(inst.aux[0]);
  if (inst.aux[1] == 0) {
    StoreCompare(w, inst, op, holds);
  } else {
    StoreSet(w, inst, op, holds, static_cast<uint32_t>(inst.aux[1]));
  }
  return ExecResult::kNext;
}

// Extended precision: the warp's carries come in and go out as aux[0] says.
template <class Semantic, int kBits, int kSources>
[[gnu::flatten]] ExecResult RunCarry(Warp& w, const Inst& inst) {
  using Value = typename LaneSource<kBits>::Value;
  const LaneSource<kBits> x(w, inst.src(1)), y(w, inst.src(2)), z(w, inst.src(kSources > 2 ? 3 : 2));
  const auto p = x.Read(), q = y.Read(), r = z.Read();
  const uint32_t carries = (inst.aux[0] & kCarryIn) != 0 ? w.carry : (inst.aux[0] & kCarrySet) != 0 ? ~0u : 0;
  alignas(64) uint32_t flags[kWarpSize];
  LaneResult<kBits> result(w, inst.src(0));
  const IntegerLane b;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const bool in = (carries >> lane & 1) != 0;
    WithFlag<Value, bool> out;
    if constexpr (kSources > 2) {
      out = Semantic::Run(b, p.At(lane), q.At(lane), r.At(lane), in);
    } else {
      out = Semantic::Run(b, p.At(lane), q.At(lane), in);
    }
    result.row[lane] = out.value;
    flags[lane] = out.flag ? 1u : 0u;
  }
  result.Store(w);
  if ((inst.aux[0] & kCarryOut) != 0) w.carry = (w.carry & ~w.mask) | (PackFlags(flags) & w.mask);
  return ExecResult::kNext;
}

// The value of a semantic with a plan, and a predicate that says whether it is not zero, joined with operand
// 5 (lop3).
template <class Semantic, BoolOp kOp>
[[gnu::flatten]] ExecResult RunWithPredicate(Warp& w, const Inst& inst) {
  const LaneSource<32> x(w, inst.src(1)), y(w, inst.src(2)), z(w, inst.src(3));
  const uint32_t joined = w.Pred(inst.src(5));
  alignas(64) uint32_t value[kWarpSize], flags[kWarpSize];
  FillRow<Semantic>(inst, value, x.Read(), y.Read(), z.Read());
  for (int lane = 0; lane < kWarpSize; ++lane) flags[lane] = value[lane] != 0 ? 1u : 0u;
  const BoundOperand& dst = inst.op(0);
  if (!dst.elements[0].row.sink) StoreRow(w, dst.elements[0].row, value);
  w.SetPred(dst.elements[1].row, Combine(kOp, PackFlags(flags), joined));
  return ExecResult::kNext;
}

}  // namespace US_SEMANTICS_ARCH
}  // namespace understudy::emu::ptx
