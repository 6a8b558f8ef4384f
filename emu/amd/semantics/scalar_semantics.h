// SPDX-License-Identifier: Apache-2.0
#pragma once
// What scalar ALU instructions mean (RDNA3, RDNA4 and CDNA4 ISA, chapters "SOP2" to "SOPP instructions"), over a builder: see
// builder.h for the arithmetic. Read by the interpreter in scalar_exec.cc; control flow and hardware registers
// are not here, for they act on the wave rather than on values.
//
// Operands that the scalar reading adds: SrcU32 SrcU64 SrcF32 SrcF16 (i), OldU32 OldU64 OldF32 OldF16 (the
// destination before the write), SImm UImm (the 16-bit immediate, extended to U32), DstU32 DstU64 DstF32 DstF16,
// Scc SetScc (Bool), ExecU32 SetExecU32 ExecU64 SetExecU64 (EXEC_LO alone, or the pair).

namespace understudy::emu::amd::scalar {

// 0 or 1.
template <class B> auto SccBit(B& b) { return b.Select(b.Scc(), b.C32(1), b.C32(0)); }

// --- Addition and multiplication ------------------------------------------------------------------------

template <class B> void SAddU32(B& b) {
  const auto x = b.SrcU32(0), y = b.SrcU32(1), sum = b.Add(x, y);
  b.DstU32(sum);
  b.SetScc(b.ULt(sum, x));
}
template <class B> void SSubU32(B& b) {
  const auto x = b.SrcU32(0), y = b.SrcU32(1);
  b.DstU32(b.Sub(x, y));
  b.SetScc(b.ULt(x, y));
}
// Signed overflow of x + y = sum: both operands differ in sign from the sum.
template <class B, class T> auto AddOverflows(B& b, T x, T y, T sum) {
  return b.SLt(b.And(b.Xor(x, sum), b.Xor(y, sum)), b.C32(0));
}
template <class B> void SAddI32(B& b) {
  const auto x = b.SrcU32(0), y = b.SrcU32(1), sum = b.Add(x, y);
  b.DstU32(sum);
  b.SetScc(AddOverflows(b, x, y, sum));
}
template <class B> void SSubI32(B& b) {
  const auto x = b.SrcU32(0), y = b.SrcU32(1), difference = b.Sub(x, y);
  b.DstU32(difference);
  b.SetScc(b.SLt(b.And(b.Xor(x, y), b.Xor(x, difference)), b.C32(0)));
}
template <class B> void SAddcU32(B& b) {
  const auto sum = b.Add(b.Add(b.Zext64(b.SrcU32(0)), b.Zext64(b.SrcU32(1))), b.Zext64(SccBit(b)));
  b.DstU32(b.Lo32(sum));
  b.SetScc(b.Ne(b.Hi32(sum), b.C32(0)));
}
template <class B> void SSubbU32(B& b) {
  const auto difference = b.Sub(b.Sub(b.Zext64(b.SrcU32(0)), b.Zext64(b.SrcU32(1))), b.Zext64(SccBit(b)));
  b.DstU32(b.Lo32(difference));
  b.SetScc(b.Ne(b.Hi32(difference), b.C32(0)));
}
template <class B> void SAddkI32(B& b) {
  const auto x = b.OldU32(), y = b.SImm(), sum = b.Add(x, y);
  b.DstU32(sum);
  b.SetScc(AddOverflows(b, x, y, sum));
}
// RDNA4's 64-bit sums and products leave SCC alone.
template <class B> void SAddNcU64(B& b) { b.DstU64(b.Add(b.SrcU64(0), b.SrcU64(1))); }
template <class B> void SSubNcU64(B& b) { b.DstU64(b.Sub(b.SrcU64(0), b.SrcU64(1))); }
template <class B> void SMulU64(B& b) { b.DstU64(b.Mul(b.SrcU64(0), b.SrcU64(1))); }
template <class B> void SMulkI32(B& b) { b.DstU32(b.Mul(b.OldU32(), b.SImm())); }
template <class B> void SMulI32(B& b) { b.DstU32(b.Mul(b.SrcU32(0), b.SrcU32(1))); }
template <class B> void SMulHiU32(B& b) { b.DstU32(b.MulHiU(b.SrcU32(0), b.SrcU32(1))); }
template <class B> void SMulHiI32(B& b) { b.DstU32(b.MulHiS(b.SrcU32(0), b.SrcU32(1))); }
template <class B> void SAbsI32(B& b) {
  const auto x = b.SrcU32(0), r = b.Select(b.SLt(x, b.C32(0)), b.Neg(x), x);
  b.DstU32(r);
  b.SetScc(b.Ne(r, b.C32(0)));
}
template <class B> void SAbsdiffI32(B& b) {
  const auto d = b.Sub(b.SrcU32(0), b.SrcU32(1)), r = b.Select(b.SLt(d, b.C32(0)), b.Neg(d), d);
  b.DstU32(r);
  b.SetScc(b.Ne(r, b.C32(0)));
}
template <int kShift, class B> void SLshlAddU32(B& b) {
  const auto sum = b.Add(b.Shl(b.Zext64(b.SrcU32(0)), b.C32(kShift)), b.Zext64(b.SrcU32(1)));
  b.DstU32(b.Lo32(sum));
  b.SetScc(b.Ne(b.Hi32(sum), b.C32(0)));
}

// --- Minimum and maximum: SCC says that the first operand was chosen ------------------------------------

template <class B> void SMinI32(B& b) {
  const auto x = b.SrcU32(0), y = b.SrcU32(1);
  const auto first = b.SLt(x, y);
  b.DstU32(b.Select(first, x, y));
  b.SetScc(first);
}
template <class B> void SMinU32(B& b) {
  const auto x = b.SrcU32(0), y = b.SrcU32(1);
  const auto first = b.ULt(x, y);
  b.DstU32(b.Select(first, x, y));
  b.SetScc(first);
}
template <class B> void SMaxI32(B& b) {
  const auto x = b.SrcU32(0), y = b.SrcU32(1);
  const auto first = b.SGe(x, y);
  b.DstU32(b.Select(first, x, y));
  b.SetScc(first);
}
template <class B> void SMaxU32(B& b) {
  const auto x = b.SrcU32(0), y = b.SrcU32(1);
  const auto first = b.UGe(x, y);
  b.DstU32(b.Select(first, x, y));
  b.SetScc(first);
}

// --- Bitwise logic: SCC says that the result is not zero ------------------------------------------------

template <class B, class T> void Logic32(B& b, T r) {
  b.DstU32(r);
  b.SetScc(b.Ne(r, b.C32(0)));
}
template <class B, class T> void Logic64(B& b, T r) {
  b.DstU64(r);
  b.SetScc(b.Ne(r, b.C64(0)));
}
#define US_SCALAR_LOGIC(name, expr)                            \
  template <class B> void S##name##B32(B& b) {                 \
    const auto x = b.SrcU32(0), y = b.SrcU32(1);               \
    Logic32(b, expr);                                          \
  }                                                            \
  template <class B> void S##name##B64(B& b) {                 \
    const auto x = b.SrcU64(0), y = b.SrcU64(1);               \
    Logic64(b, expr);                                          \
  }
US_SCALAR_LOGIC(And, b.And(x, y))
US_SCALAR_LOGIC(Or, b.Or(x, y))
US_SCALAR_LOGIC(Xor, b.Xor(x, y))
US_SCALAR_LOGIC(Nand, b.Not(b.And(x, y)))
US_SCALAR_LOGIC(Nor, b.Not(b.Or(x, y)))
US_SCALAR_LOGIC(Xnor, b.Not(b.Xor(x, y)))
US_SCALAR_LOGIC(AndNot1, b.And(x, b.Not(y)))
US_SCALAR_LOGIC(OrNot1, b.Or(x, b.Not(y)))
#undef US_SCALAR_LOGIC
template <class B> void SNotB32(B& b) { Logic32(b, b.Not(b.SrcU32(0))); }
template <class B> void SNotB64(B& b) { Logic64(b, b.Not(b.SrcU64(0))); }

// EXEC is combined with the source; the destination gets EXEC as it was (SaveExec) or as it becomes (WrExec).
#define US_SCALAR_EXEC(name, expr, bits, result)               \
  template <class B> void S##name##B##bits(B& b) {             \
    const auto x = b.SrcU##bits(0), old = b.ExecU##bits();     \
    const auto now = expr;                                     \
    b.DstU##bits(result);                                      \
    b.SetExecU##bits(now);                                     \
    b.SetScc(b.Ne(now, b.C##bits(0)));                         \
  }
#define US_SCALAR_SAVEEXEC(name, expr)            \
  US_SCALAR_EXEC(name##Saveexec, expr, 32, old)   \
  US_SCALAR_EXEC(name##Saveexec, expr, 64, old)
US_SCALAR_SAVEEXEC(And, b.And(x, old))
US_SCALAR_SAVEEXEC(Or, b.Or(x, old))
US_SCALAR_SAVEEXEC(Xor, b.Xor(x, old))
US_SCALAR_SAVEEXEC(Nand, b.Not(b.And(x, old)))
US_SCALAR_SAVEEXEC(Nor, b.Not(b.Or(x, old)))
US_SCALAR_SAVEEXEC(Xnor, b.Not(b.Xor(x, old)))
US_SCALAR_SAVEEXEC(AndNot0, b.And(b.Not(x), old))
US_SCALAR_SAVEEXEC(OrNot0, b.Or(b.Not(x), old))
US_SCALAR_SAVEEXEC(AndNot1, b.And(x, b.Not(old)))
US_SCALAR_SAVEEXEC(OrNot1, b.Or(x, b.Not(old)))
US_SCALAR_EXEC(AndNot0Wrexec, b.And(b.Not(x), old), 32, now)
US_SCALAR_EXEC(AndNot0Wrexec, b.And(b.Not(x), old), 64, now)
US_SCALAR_EXEC(AndNot1Wrexec, b.And(x, b.Not(old)), 32, now)
US_SCALAR_EXEC(AndNot1Wrexec, b.And(x, b.Not(old)), 64, now)
#undef US_SCALAR_SAVEEXEC
#undef US_SCALAR_EXEC

// --- Shifts and bit fields ------------------------------------------------------------------------------

template <class B> void SLshlB32(B& b) { Logic32(b, b.Shl(b.SrcU32(0), b.SrcU32(1))); }
template <class B> void SLshlB64(B& b) { Logic64(b, b.Shl(b.SrcU64(0), b.SrcU32(1))); }
template <class B> void SLshrB32(B& b) { Logic32(b, b.Shr(b.SrcU32(0), b.SrcU32(1))); }
template <class B> void SLshrB64(B& b) { Logic64(b, b.Shr(b.SrcU64(0), b.SrcU32(1))); }
template <class B> void SAshrI32(B& b) { Logic32(b, b.Sar(b.SrcU32(0), b.SrcU32(1))); }
template <class B> void SAshrI64(B& b) { Logic64(b, b.Sar(b.SrcU64(0), b.SrcU32(1))); }

// The second source of s_bfe: offset in its low bits, width in 22:16.
template <class B, class T> auto FieldWidth(B& b, T control) { return b.And(b.Shr(control, b.C32(16)), b.C32(127)); }

template <class B> void SBfeU32(B& b) {
  const auto control = b.SrcU32(1), width = FieldWidth(b, control);
  const auto shifted = b.Shr(b.SrcU32(0), control);
  const auto mask = b.Sub(b.Shl(b.C32(1), width), b.C32(1));
  Logic32(b, b.Select(b.UGe(width, b.C32(32)), shifted, b.And(shifted, mask)));
}
template <class B> void SBfeU64(B& b) {
  const auto control = b.SrcU32(1), width = FieldWidth(b, control);
  const auto shifted = b.Shr(b.SrcU64(0), control);
  const auto mask = b.Sub(b.Shl(b.C64(1), width), b.C64(1));
  Logic64(b, b.Select(b.UGe(width, b.C32(64)), shifted, b.And(shifted, mask)));
}
template <class B> void SBfeI32(B& b) {
  const auto control = b.SrcU32(1), width = FieldWidth(b, control);
  const auto shifted = b.Sar(b.SrcU32(0), control);
  const auto up = b.Sub(b.C32(32), width);
  const auto field = b.Sar(b.Shl(shifted, up), up);
  Logic32(b, b.Select(b.Eq(width, b.C32(0)), b.C32(0), b.Select(b.UGe(width, b.C32(32)), shifted, field)));
}
template <class B> void SBfeI64(B& b) {
  const auto control = b.SrcU32(1), width = FieldWidth(b, control);
  const auto shifted = b.Sar(b.SrcU64(0), control);
  const auto up = b.Sub(b.C32(64), width);
  const auto field = b.Sar(b.Shl(shifted, up), up);
  Logic64(b, b.Select(b.Eq(width, b.C32(0)), b.C64(0), b.Select(b.UGe(width, b.C32(64)), shifted, field)));
}
template <class B> void SBfmB32(B& b) {
  b.DstU32(b.Shl(b.Sub(b.Shl(b.C32(1), b.SrcU32(0)), b.C32(1)), b.SrcU32(1)));
}
template <class B> void SBfmB64(B& b) {
  b.DstU64(b.Shl(b.Sub(b.Shl(b.C64(1), b.SrcU32(0)), b.C64(1)), b.SrcU32(1)));
}
template <class B> void SBitset0B32(B& b) { b.DstU32(b.And(b.OldU32(), b.Not(b.Shl(b.C32(1), b.SrcU32(0))))); }
template <class B> void SBitset0B64(B& b) { b.DstU64(b.And(b.OldU64(), b.Not(b.Shl(b.C64(1), b.SrcU32(0))))); }
template <class B> void SBitset1B32(B& b) { b.DstU32(b.Or(b.OldU32(), b.Shl(b.C32(1), b.SrcU32(0)))); }
template <class B> void SBitset1B64(B& b) { b.DstU64(b.Or(b.OldU64(), b.Shl(b.C64(1), b.SrcU32(0)))); }

// --- Counting -------------------------------------------------------------------------------------------

template <class B> void SBrevB32(B& b) { b.DstU32(b.BitReverse(b.SrcU32(0))); }
template <class B> void SBrevB64(B& b) {
  const auto x = b.SrcU64(0);
  b.DstU64(b.Pack32(b.BitReverse(b.Hi32(x)), b.BitReverse(b.Lo32(x))));
}
template <class B> void SBcnt0I32B32(B& b) { Logic32(b, b.PopCount(b.Not(b.SrcU32(0)))); }
template <class B> void SBcnt1I32B32(B& b) { Logic32(b, b.PopCount(b.SrcU32(0))); }
template <class B, class T> auto PopCount64(B& b, T x) { return b.Add(b.PopCount(b.Lo32(x)), b.PopCount(b.Hi32(x))); }
template <class B> void SBcnt0I32B64(B& b) { Logic32(b, PopCount64(b, b.Not(b.SrcU64(0)))); }
template <class B> void SBcnt1I32B64(B& b) { Logic32(b, PopCount64(b, b.SrcU64(0))); }

template <class B, class T> auto Clz64(B& b, T x) {
  return b.Select(b.Eq(b.Hi32(x), b.C32(0)), b.Add(b.C32(32), b.Clz(b.Lo32(x))), b.Clz(b.Hi32(x)));
}
// The counts are -1 where no bit is found.
template <class B> void SCtzI32B32(B& b) {
  const auto x = b.SrcU32(0);
  b.DstU32(b.Select(b.Eq(x, b.C32(0)), b.C32(~0u), b.Ctz(x)));
}
template <class B> void SCtzI32B64(B& b) {
  const auto x = b.SrcU64(0);
  const auto count = b.Select(b.Eq(b.Lo32(x), b.C32(0)), b.Add(b.C32(32), b.Ctz(b.Hi32(x))), b.Ctz(b.Lo32(x)));
  b.DstU32(b.Select(b.Eq(x, b.C64(0)), b.C32(~0u), count));
}
template <class B> void SClzI32U32(B& b) {
  const auto x = b.SrcU32(0);
  b.DstU32(b.Select(b.Eq(x, b.C32(0)), b.C32(~0u), b.Clz(x)));
}
template <class B> void SClzI32U64(B& b) {
  const auto x = b.SrcU64(0);
  b.DstU32(b.Select(b.Eq(x, b.C64(0)), b.C32(~0u), Clz64(b, x)));
}
// Leading bits equal to the sign bit.
template <class B> void SClsI32(B& b) {
  const auto x = b.SrcU32(0), differs = b.Xor(x, b.Sar(x, b.C32(31)));
  b.DstU32(b.Select(b.Eq(differs, b.C32(0)), b.C32(~0u), b.Clz(differs)));
}
template <class B> void SClsI32I64(B& b) {
  const auto x = b.SrcU64(0), differs = b.Xor(x, b.Sar(x, b.C32(63)));
  b.DstU32(b.Select(b.Eq(differs, b.C64(0)), b.C32(~0u), Clz64(b, differs)));
}
// The first zero from below; -1 where there is none (CDNA).
template <class B> void SFf0I32B32(B& b) {
  const auto x = b.Not(b.SrcU32(0));
  b.DstU32(b.Select(b.Eq(x, b.C32(0)), b.C32(~0u), b.Ctz(x)));
}
template <class B> void SFf0I32B64(B& b) {
  const auto x = b.Not(b.SrcU64(0));
  const auto count = b.Select(b.Eq(b.Lo32(x), b.C32(0)), b.Add(b.C32(32), b.Ctz(b.Hi32(x))), b.Ctz(b.Lo32(x)));
  b.DstU32(b.Select(b.Eq(x, b.C64(0)), b.C32(~0u), count));
}
template <class B> void SSextI32I8(B& b) { b.DstU32(b.Sar(b.Shl(b.SrcU32(0), b.C32(24)), b.C32(24))); }
template <class B> void SSextI32I16(B& b) { b.DstU32(b.Sar(b.Shl(b.SrcU32(0), b.C32(16)), b.C32(16))); }

template <class B> void SBitreplicateB64B32(B& b) {
  const auto x = b.SrcU32(0);
  auto r = b.C64(0);
  for (int i = 0; i < 32; ++i) {
    const auto bit = b.And(b.Shr(x, b.C32(i)), b.C32(1));
    r = b.Or(r, b.Shl(b.Zext64(b.Mul(bit, b.C32(3))), b.C32(2 * i)));
  }
  b.DstU64(r);
}

// One bit a quad of lanes: set if any of the four is.
template <class B, class T> auto QuadMask32(B& b, T x) {
  auto r = b.C32(0);
  for (int i = 0; i < 8; ++i) {
    const auto any = b.Ne(b.And(x, b.C32(0xfu << (4 * i))), b.C32(0));
    r = b.Or(r, b.Select(any, b.C32(1u << i), b.C32(0)));
  }
  return r;
}
// Whole quad mode: all four bits of a quad set if any of them is.
template <class B, class T> auto WholeQuad32(B& b, T x) {
  auto r = b.C32(0);
  for (int i = 0; i < 8; ++i) {
    const auto any = b.Ne(b.And(x, b.C32(0xfu << (4 * i))), b.C32(0));
    r = b.Or(r, b.Select(any, b.C32(0xfu << (4 * i)), b.C32(0)));
  }
  return r;
}
template <class B> void SQuadmaskB32(B& b) { Logic32(b, QuadMask32(b, b.SrcU32(0))); }
template <class B> void SQuadmaskB64(B& b) {
  const auto x = b.SrcU64(0);
  Logic64(b, b.Zext64(b.Or(QuadMask32(b, b.Lo32(x)), b.Shl(QuadMask32(b, b.Hi32(x)), b.C32(8)))));
}
template <class B> void SWqmB32(B& b) { Logic32(b, WholeQuad32(b, b.SrcU32(0))); }
template <class B> void SWqmB64(B& b) {
  const auto x = b.SrcU64(0);
  Logic64(b, b.Pack32(WholeQuad32(b, b.Lo32(x)), WholeQuad32(b, b.Hi32(x))));
}

// --- Moves ----------------------------------------------------------------------------------------------

template <class B> void SMovB32(B& b) { b.DstU32(b.SrcU32(0)); }
template <class B> void SMovB64(B& b) { b.DstU64(b.SrcU64(0)); }
template <class B> void SMovkI32(B& b) { b.DstU32(b.SImm()); }
template <class B> void SCmovB32(B& b) { b.DstU32(b.Select(b.Scc(), b.SrcU32(0), b.OldU32())); }
template <class B> void SCmovB64(B& b) { b.DstU64(b.Select(b.Scc(), b.SrcU64(0), b.OldU64())); }
template <class B> void SCmovkI32(B& b) { b.DstU32(b.Select(b.Scc(), b.SImm(), b.OldU32())); }
template <class B> void SCselectB32(B& b) { b.DstU32(b.Select(b.Scc(), b.SrcU32(0), b.SrcU32(1))); }
template <class B> void SCselectB64(B& b) { b.DstU64(b.Select(b.Scc(), b.SrcU64(0), b.SrcU64(1))); }
template <class B> void SPackLlB32B16(B& b) { b.DstU32(b.Pack16(b.Lo16(b.SrcU32(0)), b.Lo16(b.SrcU32(1)))); }
template <class B> void SPackLhB32B16(B& b) { b.DstU32(b.Pack16(b.Lo16(b.SrcU32(0)), b.Hi16(b.SrcU32(1)))); }
template <class B> void SPackHhB32B16(B& b) { b.DstU32(b.Pack16(b.Hi16(b.SrcU32(0)), b.Hi16(b.SrcU32(1)))); }
template <class B> void SPackHlB32B16(B& b) { b.DstU32(b.Pack16(b.Hi16(b.SrcU32(0)), b.Lo16(b.SrcU32(1)))); }

// --- Comparisons ----------------------------------------------------------------------------------------

#define US_SCALAR_COMPARE(name, compare)                                                              \
  template <class B> void SCmp##name(B& b) { b.SetScc(b.compare(b.SrcU32(0), b.SrcU32(1))); }
#define US_SCALAR_COMPARE_K(name, compare, immediate)                                                 \
  template <class B> void SCmpk##name(B& b) { b.SetScc(b.compare(b.OldU32(), b.immediate())); }
#define US_SCALAR_COMPARES(name, signed_compare, unsigned_compare)     \
  US_SCALAR_COMPARE(name##I32, signed_compare)                         \
  US_SCALAR_COMPARE(name##U32, unsigned_compare)                       \
  US_SCALAR_COMPARE_K(name##I32, signed_compare, SImm)                 \
  US_SCALAR_COMPARE_K(name##U32, unsigned_compare, UImm)
US_SCALAR_COMPARES(Eq, Eq, Eq)
US_SCALAR_COMPARES(Lg, Ne, Ne)
US_SCALAR_COMPARES(Gt, SGt, UGt)
US_SCALAR_COMPARES(Ge, SGe, UGe)
US_SCALAR_COMPARES(Lt, SLt, ULt)
US_SCALAR_COMPARES(Le, SLe, ULe)
#undef US_SCALAR_COMPARES
#undef US_SCALAR_COMPARE_K
#undef US_SCALAR_COMPARE
template <class B> void SCmpEqU64(B& b) { b.SetScc(b.Eq(b.SrcU64(0), b.SrcU64(1))); }
template <class B> void SCmpLgU64(B& b) { b.SetScc(b.Ne(b.SrcU64(0), b.SrcU64(1))); }
template <bool kSet, class B> void SBitcmpB32(B& b) {
  b.SetScc(b.Eq(b.And(b.Shr(b.SrcU32(0), b.SrcU32(1)), b.C32(1)), b.C32(kSet ? 1 : 0)));
}
template <bool kSet, class B> void SBitcmpB64(B& b) {
  b.SetScc(b.Eq(b.And(b.Shr(b.SrcU64(0), b.SrcU32(1)), b.C64(1)), b.C64(kSet ? 1 : 0)));
}

#define US_SCALAR_COMPARE_F(name, expr)                        \
  template <class B> void SCmp##name##F32(B& b) {              \
    const auto x = b.SrcF32(0), y = b.SrcF32(1);               \
    b.SetScc(expr);                                            \
  }                                                            \
  template <class B> void SCmp##name##F16(B& b) {              \
    const auto x = b.SrcF16(0), y = b.SrcF16(1);               \
    b.SetScc(expr);                                            \
  }
US_SCALAR_COMPARE_F(Lt, b.FLt(x, y))
US_SCALAR_COMPARE_F(Eq, b.FEq(x, y))
US_SCALAR_COMPARE_F(Le, b.FLe(x, y))
US_SCALAR_COMPARE_F(Gt, b.FGt(x, y))
US_SCALAR_COMPARE_F(Lg, b.FLg(x, y))
US_SCALAR_COMPARE_F(Ge, b.FGe(x, y))
US_SCALAR_COMPARE_F(O, b.Not(b.FUnord(x, y)))
US_SCALAR_COMPARE_F(U, b.FUnord(x, y))
US_SCALAR_COMPARE_F(Nge, b.Not(b.FGe(x, y)))
US_SCALAR_COMPARE_F(Nlg, b.Not(b.FLg(x, y)))
US_SCALAR_COMPARE_F(Ngt, b.Not(b.FGt(x, y)))
US_SCALAR_COMPARE_F(Nle, b.Not(b.FLe(x, y)))
US_SCALAR_COMPARE_F(Neq, b.Not(b.FEq(x, y)))
US_SCALAR_COMPARE_F(Nlt, b.Not(b.FLt(x, y)))
#undef US_SCALAR_COMPARE_F

// --- Floating point (gfx1150 and RDNA4 have it; the RDNA3 tables list it) ------------------------------------------

#define US_SCALAR_FLOAT1(name, fn)                                              \
  template <class B> void S##name##F32(B& b) { b.DstF32(b.fn(b.SrcF32(0))); }   \
  template <class B> void S##name##F16(B& b) { b.DstF16(b.fn(b.SrcF16(0))); }
#define US_SCALAR_FLOAT2(name, fn)                                                           \
  template <class B> void S##name##F32(B& b) { b.DstF32(b.fn(b.SrcF32(0), b.SrcF32(1))); }   \
  template <class B> void S##name##F16(B& b) { b.DstF16(b.fn(b.SrcF16(0), b.SrcF16(1))); }
US_SCALAR_FLOAT1(Ceil, FCeil)
US_SCALAR_FLOAT1(Floor, FFloor)
US_SCALAR_FLOAT1(Trunc, FTrunc)
US_SCALAR_FLOAT1(Rndne, FRndne)
US_SCALAR_FLOAT2(Add, FAdd)
US_SCALAR_FLOAT2(Sub, FSub)
US_SCALAR_FLOAT2(Mul, FMul)
US_SCALAR_FLOAT2(Min, FMin)
US_SCALAR_FLOAT2(Max, FMax)
#undef US_SCALAR_FLOAT2
#undef US_SCALAR_FLOAT1
// IEEE 754-2019 minimumNumber and maximumNumber (RDNA4 ISA, S_MIN_NUM_F32): a number wins over a NaN, two NaNs give
// the first, quieted. -0 < +0.
#define US_SCALAR_NUM(name, fn, F, Word, quiet_bit)                                                       \
  template <class B> void S##name##Num##F(B& b) {                                                         \
    const auto x = b.Src##F(0), y = b.Src##F(1);                                                          \
    const auto quiet = b.As##F(b.Or(b.Bits(x), b.Word(quiet_bit)));                                       \
    b.Dst##F(b.Select(b.And(b.IsNan(x), b.IsNan(y)), quiet, b.fn(x, y)));                                 \
  }
US_SCALAR_NUM(Min, FMin, F32, C32, 0x400000)
US_SCALAR_NUM(Max, FMax, F32, C32, 0x400000)
US_SCALAR_NUM(Min, FMin, F16, C16, 0x200)
US_SCALAR_NUM(Max, FMax, F16, C16, 0x200)
#undef US_SCALAR_NUM
// IEEE 754-2019 minimum and maximum: a NaN wins, a signalling one first, and is quieted.
#define US_SCALAR_EXTREME(name, fn, F, Word, quiet_bit)                                                   \
  template <class B> void S##name##F(B& b) {                                                              \
    const auto x = b.Src##F(0), y = b.Src##F(1);                                                          \
    const auto quiet_x = b.As##F(b.Or(b.Bits(x), b.Word(quiet_bit)));                                     \
    const auto quiet_y = b.As##F(b.Or(b.Bits(y), b.Word(quiet_bit)));                                     \
    const auto nan = b.Select(b.IsSNan(x), quiet_x,                                                       \
                              b.Select(b.IsSNan(y), quiet_y, b.Select(b.IsNan(x), x, y)));                \
    b.Dst##F(b.Select(b.Or(b.IsNan(x), b.IsNan(y)), nan, b.fn(x, y)));                                    \
  }
US_SCALAR_EXTREME(Minimum, FMin, F32, C32, 0x400000)
US_SCALAR_EXTREME(Maximum, FMax, F32, C32, 0x400000)
US_SCALAR_EXTREME(Minimum, FMin, F16, C16, 0x200)
US_SCALAR_EXTREME(Maximum, FMax, F16, C16, 0x200)
#undef US_SCALAR_EXTREME
template <class B> void SFmacF32(B& b) { b.DstF32(b.FFma(b.SrcF32(0), b.SrcF32(1), b.OldF32())); }
template <class B> void SFmacF16(B& b) { b.DstF16(b.FFma(b.SrcF16(0), b.SrcF16(1), b.OldF16())); }
// s_fmaak and s_fmamk: the decoder has put the literal where the product or the sum reads it.
template <class B> void SFmaF32(B& b) { b.DstF32(b.FFma(b.SrcF32(0), b.SrcF32(1), b.SrcF32(2))); }
template <class B> void SCvtF32I32(B& b) { b.DstF32(b.F32FromS32(b.SrcU32(0))); }
template <class B> void SCvtF32U32(B& b) { b.DstF32(b.F32FromU32(b.SrcU32(0))); }
template <class B> void SCvtI32F32(B& b) { b.DstU32(b.S32FromF32(b.SrcF32(0))); }
template <class B> void SCvtU32F32(B& b) { b.DstU32(b.U32FromF32(b.SrcF32(0))); }
template <class B> void SCvtF16F32(B& b) { b.DstF16(b.F16FromF32(b.SrcF32(0))); }
template <class B> void SCvtF32F16(B& b) { b.DstF32(b.F32FromF16(b.SrcF16(0))); }
template <class B> void SCvtHiF32F16(B& b) { b.DstF32(b.F32FromF16(b.AsF16(b.Hi16(b.SrcU32(0))))); }
template <class B> void SCvtPkRtzF16F32(B& b) {
  b.DstU32(b.Pack16(b.Bits(b.F16FromF32Rtz(b.SrcF32(0))), b.Bits(b.F16FromF32Rtz(b.SrcF32(1)))));
}

}  // namespace understudy::emu::amd::scalar
