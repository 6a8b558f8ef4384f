// SPDX-License-Identifier: Apache-2.0
#pragma once
// The vocabulary in which instruction semantics are written, and the way they are read.
//
// The meaning of an instruction is one function template over a builder B, run once per lane:
//
//   template <class B> constexpr void VAddF32(B& b) { b.DstF32(b.FAdd(b.SrcF32(0), b.SrcF32(1))); }
//
// It never branches on a lane's value (b.Select instead of `if` or ?:), keeps no state, and touches operands
// only through b, so that a reading may compute 32 lanes at once, emit LLVM IR, or build solver terms.
// `if constexpr` and plain loops with constant bounds are fine.
//
// Value types: typename B::U16 U32 U64 F16 BF16 F32 F64 Bool. Integers have no sign; operations have.
//
// clang-format off
// Arithmetic (every builder derives it from its reading's math class; LaneMath in lane_math.h for C++):
//   constants   C16(v) C32(v) C64(v) CF16(bits) CF32(v) CF64(v) CBool(v)  TwoOverPiBits(shift) (U64)
//   integer     Add Sub Mul And Or Xor Not Neg  (U16, U32, U64; wrap)     And Or Xor Not also on Bool
//               Shl Shr Sar (value, U32 amount; the amount is taken modulo the width, as AMD shifts take it)
//               UMin UMax SMin SMax  Eq Ne ULt ULe UGt UGe SLt SLe SGt SGe  Select(Bool, T, T)
//               MulHiU MulHiS (U32)  PopCount Clz Ctz (width for zero; result U32)  BitReverse
//   width       Zext32 Sext32 (U16)  Zext64 Sext64 (U32)  Lo16 Hi16 (U32)  Lo32 Hi32 (U64)  Pack16 Pack32 (lo, hi)
//               SextFrom<N>(U32)  Byte<N>(U32)  FromBool (1 or 0 as U32)  SatS16 (U32 as signed)
//   float       FAdd FSub FMul FFma FFmaScaled (times 2^n) FFmaTo16  FMin FMax (MODE.IEEE decides on NaN)
//               FMinNum FMaxNum (prefer the number to a NaN)  FMinimum FMaximum (the NaN)  (IEEE 754-2019)
//               FMad (two roundings, no denormals: gfx9's MAD and MAC)  FNeg FAbs (sign bit only)
//               FSqrt FRcp FRsq FExp2 FLog2 FSinTurns FCosTurns  FTrunc FCeil FFloor FRndne FFract
//               FLdexp(F, U32)  FrexpMant FrexpExp  FMulZero FFmaZero FMadZero (DX9: 0 * anything = 0)
//               FEq FLt FLe FGt FGe FLg (ordered and different)  FUnord
//               IsNan IsSNan IsInf IsZero IsDenorm SignBit ExpField  (bits as they are, no flushing)
//               In (input denormals as MODE says)  Quiet
//               on F16, F32 and F64 alike; rounding, denormals and NaN rules come from MODE
//   convert     Bits(F)  AsF16 AsBF16 AsF32 AsF64 (bits)  F32FromU32 F32FromS32 F64FromU32 F64FromS32
//               F16FromU16 F16FromS16 U32FromF32 S32FromF32 U32FromF64 S32FromF64 U16FromF16 S16FromF16
//               (truncate, saturate, NaN -> 0)  F32FromF16 F16FromF32 F16FromF32Rtz F16FromF32Nearest F32FromF64
//               F64FromF32 F32FromBF16 BF16FromF32
//               F32FromSmall<Format> SmallFromF32<Format> SmallFromF32Random<Format>(value, bits): fp8 and smaller,
//               by their code in a U32
//
// Operands of the vector reading (modifiers, op_sel, DPP and constants are already applied):
//   SrcU16 SrcU32 SrcU64 SrcF16 SrcBF16 SrcF32 SrcF64 (i)      one value
//   SrcByte(i)                                                 the byte that op_sel or SDWA names, as U32
//   SrcPkU16 SrcPkF16 SrcPkBF16 SrcPkF32 (i, half)             half 0 or 1 of a packed source
//   SrcMixF32(i)                                               fma_mix source, f16 or f32 by op_sel_hi
//   SrcMask(i)                                                 this lane's bit of a mask operand (VCC too)
//   SrcWord(i, k)                                              dword k of a 128-bit source
//   SrcIsSigned(i)                                             NEG bit read as signedness (iu8, iu4)
//   SelectsHigh(i)                                             op_sel bit i, of instructions that choose dwords by it
//   TruthTable()                                               V_BITOP3's, as U32
//   LaneId()                                                   U32
//   Saturate(overflow, limit, value)                           the integer CLAMP modifier
//   DstU16 DstU32 DstU64 DstF16 DstBF16 DstF32 DstF64 (v)      omod, clamp, op_sel and EXEC applied by the core
//   DstPkU16 DstPkF16 DstPkF32 (lo, hi)   DstByte(U32)
//   DstMask(Bool)                                              mask: VCC, an SGPR pair, or EXEC for CMPX
//   DstWord(k, v)                                              dword k of a 128-bit result
//   DstLoF16 DstHiF16 (v)                                      one half, the other is kept whatever op_sel says
// A tied accumulator (FMAC, dot products) is source 2.
// What the scalar reading adds to the arithmetic is at the top of scalar_semantics.h.
// clang-format on

#include <cstdint>

#include "emu/amd/semantics/fp_mode.h"
#include "emu/amd/semantics/lane_math.h"
#include "emu/amd/semantics/op_state.h"
