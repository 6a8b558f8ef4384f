// SPDX-License-Identifier: Apache-2.0
// Executors of the approximate special functions: rows of lanes through special_functions.h.
#include <cstdint>
#include <string>

#include "emu/ptx/core/program.h"
#include "emu/ptx/semantics/find_exec.h"
#include "emu/ptx/semantics/lane_rows.h"
#include "emu/ptx/semantics/special_functions.h"

namespace understudy::emu::ptx {
namespace {

template <class F>
ExecResult Run32(Warp& w, const Inst& inst, F f) {
  const Row32 a(w, inst.src(1));
  alignas(64) uint32_t out[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) out[i] = f(a.row[i]);
  StoreRow(w, inst.src(0), out);
  return ExecResult::kNext;
}

template <uint32_t (*kFunction)(uint32_t)>
ExecResult RunPlain(Warp& w, const Inst& inst) {
  return Run32(w, inst, kFunction);
}

template <uint32_t (*kFunction)(uint32_t, bool), bool kFtz>
ExecResult RunFtz(Warp& w, const Inst& inst) {
  return Run32(w, inst, [](uint32_t x) { return kFunction(x, kFtz); });
}

template <uint32_t (*kFunction)(uint32_t, uint32_t, bool), bool kFtz>
ExecResult RunDivide(Warp& w, const Inst& inst) {
  const Row32 a(w, inst.src(1)), b(w, inst.src(2));
  alignas(64) uint32_t out[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) out[i] = kFunction(a.row[i], b.row[i], kFtz);
  StoreRow(w, inst.src(0), out);
  return ExecResult::kNext;
}

template <uint16_t (*kFunction)(uint16_t), bool kPair>
ExecResult RunHalf(Warp& w, const Inst& inst) {
  return Run32(w, inst, [](uint32_t x) {
    const uint32_t low = kFunction(static_cast<uint16_t>(x));
    return kPair ? low | uint32_t{kFunction(static_cast<uint16_t>(x >> 16))} << 16 : low;
  });
}

uint64_t Rsqrt64(uint64_t x) { return RsqrtApproxF64(x, false); }
uint64_t RsqrtFtz64(uint64_t x) { return RsqrtApproxF64(x, true); }

template <uint64_t (*kFunction)(uint64_t)>
ExecResult RunDouble(Warp& w, const Inst& inst) {
  const Row64 a(w, inst.src(1));
  alignas(64) uint64_t out[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) out[i] = kFunction(a.row[i]);
  StoreRow(w, inst.src(0), out);
  return ExecResult::kNext;
}

template <uint32_t (*kFunction)(uint32_t, bool)>
ExecFn Ftz(bool ftz) {
  return ftz ? &RunFtz<kFunction, true> : &RunFtz<kFunction, false>;
}

// The executor of a legal combination, or null.
ExecFn Find(Op op, Type type, bool full, bool ftz) {
  if (op == Op::kDiv) {
    if (type != Type::kF32) return nullptr;
    if (full) return ftz ? &RunDivide<&DivFullF32, true> : &RunDivide<&DivFullF32, false>;
    return ftz ? &RunDivide<&DivApproxF32, true> : &RunDivide<&DivApproxF32, false>;
  }
  if (full) return nullptr;
  switch (type) {
    case Type::kF32:
      switch (op) {
        case Op::kRcp:
          return Ftz<&RcpApproxF32>(ftz);
        case Op::kRsqrt:
          return Ftz<&RsqrtApproxF32>(ftz);
        case Op::kSqrt:
          return Ftz<&SqrtApproxF32>(ftz);
        case Op::kLg2:
          return Ftz<&Lg2ApproxF32>(ftz);
        case Op::kEx2:
          return Ftz<&Ex2ApproxF32>(ftz);
        case Op::kSin:
          return &RunPlain<&SinApproxF32>;
        case Op::kCos:
          return &RunPlain<&CosApproxF32>;
        case Op::kTanh:
          return ftz ? nullptr : &RunPlain<&TanhApproxF32>;
        default:
          return nullptr;
      }
    case Type::kF64:
      if (op == Op::kRcp && ftz) return &RunDouble<&RcpApproxFtzF64>;
      if (op == Op::kRsqrt) return ftz ? &RunDouble<&RsqrtFtz64> : &RunDouble<&Rsqrt64>;
      return nullptr;
    case Type::kF16:
      if (ftz) return nullptr;
      return op == Op::kEx2    ? &RunHalf<&Ex2ApproxF16, false>
             : op == Op::kTanh ? &RunHalf<&TanhApproxF16, false>
                               : nullptr;
    case Type::kF16x2:
      if (ftz) return nullptr;
      return op == Op::kEx2    ? &RunHalf<&Ex2ApproxF16, true>
             : op == Op::kTanh ? &RunHalf<&TanhApproxF16, true>
                               : nullptr;
    case Type::kBf16:
      if (op == Op::kEx2 && ftz) return &RunHalf<&Ex2ApproxFtzBf16, false>;
      return op == Op::kTanh && !ftz ? &RunHalf<&TanhApproxBf16, false> : nullptr;
    case Type::kBf16x2:
      if (op == Op::kEx2 && ftz) return &RunHalf<&Ex2ApproxFtzBf16, true>;
      return op == Op::kTanh && !ftz ? &RunHalf<&TanhApproxBf16, true> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

Exec FindSpecialFunctionExec(const Instruction& inst, const ExecContext&) {
  const bool approx = inst.Has("approx"), full = inst.Has("full");
  switch (inst.op) {
    case Op::kRcp:
    case Op::kSqrt:
    case Op::kDiv:
      if (!approx && !full) return {};  // the float family's rounded ones
      break;
    case Op::kRsqrt:
    case Op::kSin:
    case Op::kCos:
    case Op::kLg2:
    case Op::kEx2:
    case Op::kTanh:
      break;
    default:
      return {};
  }
  const bool ftz = inst.Has("ftz");
  // The type, .approx or .full, and .ftz are all that may be written.
  const size_t words = 2 + (ftz ? 1 : 0);
  ExecFn fn = nullptr;
  if (approx != full && inst.types.size() == 1 && inst.modifiers.size() == words)
    fn = Find(inst.op, inst.type(), full, ftz);
  return fn != nullptr ? Exact(fn) : Refused(inst, "PTX has no such combination of type and modifiers");
}

}  // namespace understudy::emu::ptx
