// SPDX-License-Identifier: Apache-2.0
#pragma once
// The operand signature of an instruction, obtained by running its semantics over a builder whose values are
// types only. The interpreter's operand fetch and write-back are driven by it, so that no second list of
// operand types is kept by hand. It computes nothing at run time.

#include <cstdint>

namespace understudy::emu::amd {

// How the semantics ask for a source. One staged array of 32-bit lanes a dword, lane-contiguous.
enum class SrcKind : uint8_t {
  kNone,
  kU16,  // low half of a dword
  kF16,  // the same, neg/abs applied
  kBF16,
  kU32,
  kF32,
  kU64,  // two dwords
  kF64,
  kPkU16,  // both halves of a dword, op_sel/op_sel_hi applied
  kPkF16,  // the same with neg/neg_hi
  kPkBF16,
  kPkF32,   // two dwords, op_sel/op_sel_hi and neg/neg_hi applied
  kByte,    // the byte that op_sel (RDNA4) or SDWA (CDNA) selects
  kMix,     // fma_mix source as the f32 it stands for
  kWords4,  // four dwords
  kMask,    // lane mask as 0 or 1 a lane
};

enum class DstKind : uint8_t {
  kNone,
  kU16,
  kF16,
  kBF16,
  kU32,
  kF32,
  kU64,
  kF64,
  kPkU16,
  kPkF16,
  kPkF32,
  kByte,   // one byte by op_sel[3:2], the others are kept
  kLoF16,  // low half, the high half is kept
  kHiF16,
  kWords4,
};

struct Signature {
  SrcKind src[4] = {SrcKind::kNone, SrcKind::kNone, SrcKind::kNone, SrcKind::kNone};
  DstKind dst = DstKind::kNone;
  bool writes_mask = false;  // DstMask was called
  bool uses_float = false;   // a result depends on MODE's float fields
  bool saturates = false;    // CLAMP means integer saturation
  bool reads_signs = false;  // NEG bits mean signedness
  bool reads_lane_id = false;
  bool reads_selects = false;  // op_sel bits are asked for one by one, not applied to sources
};

constexpr int SrcWords(SrcKind kind) {
  return kind == SrcKind::kNone                                                      ? 0
         : kind == SrcKind::kU64 || kind == SrcKind::kF64 || kind == SrcKind::kPkF32 ? 2
         : kind == SrcKind::kWords4                                                  ? 4
                                                                                     : 1;
}
constexpr int DstWords(DstKind kind) {
  return kind == DstKind::kNone                                                      ? 0
         : kind == DstKind::kU64 || kind == DstKind::kF64 || kind == DstKind::kPkF32 ? 2
         : kind == DstKind::kWords4                                                  ? 4
                                                                                     : 1;
}

// The builder of types.
class SignatureReader {
 public:
  struct U16 {};
  struct U32 {};
  struct U64 {};
  struct F16 {};
  struct BF16 {};
  struct F32 {};
  struct F64 {};
  struct Bool {};

  Signature signature;

  // --- operands ---
#define US_SRC(name, T, kind)         \
  constexpr T name(int i) {           \
    signature.src[i] = SrcKind::kind; \
    return {};                        \
  }
  US_SRC(SrcU16, U16, kU16)
  US_SRC(SrcF16, F16, kF16)
  US_SRC(SrcBF16, BF16, kBF16)
  US_SRC(SrcU32, U32, kU32)
  US_SRC(SrcF32, F32, kF32)
  US_SRC(SrcU64, U64, kU64)
  US_SRC(SrcF64, F64, kF64)
  US_SRC(SrcMixF32, F32, kMix)
  US_SRC(SrcMask, Bool, kMask)
  US_SRC(SrcByte, U32, kByte)
#undef US_SRC
  constexpr U16 SrcPkU16(int i, int) { return signature.src[i] = SrcKind::kPkU16, U16{}; }
  constexpr F16 SrcPkF16(int i, int) { return signature.src[i] = SrcKind::kPkF16, F16{}; }
  constexpr BF16 SrcPkBF16(int i, int) { return signature.src[i] = SrcKind::kPkBF16, BF16{}; }
  constexpr F32 SrcPkF32(int i, int) { return signature.src[i] = SrcKind::kPkF32, F32{}; }
  constexpr Bool SelectsHigh(int) { return signature.reads_selects = true, Bool{}; }
  constexpr U32 TruthTable() { return {}; }
  constexpr U32 SrcWord(int i, int) { return signature.src[i] = SrcKind::kWords4, U32{}; }
  constexpr Bool SrcIsSigned(int) { return signature.reads_signs = true, Bool{}; }
  constexpr U32 LaneId() { return signature.reads_lane_id = true, U32{}; }
  template <class T>
  constexpr T Saturate(Bool, T, T) {
    return signature.saturates = true, T{};
  }
  constexpr void DstU16(U16) { signature.dst = DstKind::kU16; }
  constexpr void DstF16(F16) { signature.dst = DstKind::kF16; }
  constexpr void DstBF16(BF16) { signature.dst = DstKind::kBF16; }
  constexpr void DstU32(U32) { signature.dst = DstKind::kU32; }
  constexpr void DstF32(F32) { signature.dst = DstKind::kF32; }
  constexpr void DstU64(U64) { signature.dst = DstKind::kU64; }
  constexpr void DstF64(F64) { signature.dst = DstKind::kF64; }
  constexpr void DstPkU16(U16, U16) { signature.dst = DstKind::kPkU16; }
  constexpr void DstPkF16(F16, F16) { signature.dst = DstKind::kPkF16; }
  constexpr void DstPkF32(F32, F32) { signature.dst = DstKind::kPkF32; }
  constexpr void DstByte(U32) { signature.dst = DstKind::kByte; }
  constexpr void DstLoF16(F16) { signature.dst = DstKind::kLoF16; }
  constexpr void DstHiF16(F16) { signature.dst = DstKind::kHiF16; }
  constexpr void DstWord(int, U32) { signature.dst = DstKind::kWords4; }
  constexpr void DstMask(Bool) { signature.writes_mask = true; }

  // --- constants ---
  constexpr U16 C16(uint16_t) { return {}; }
  constexpr U32 C32(uint32_t) { return {}; }
  constexpr U64 C64(uint64_t) { return {}; }
  constexpr F16 CF16(uint16_t) { return {}; }
  constexpr F32 CF32(float) { return {}; }
  constexpr F64 CF64(double) { return {}; }
  constexpr Bool CBool(bool) { return {}; }

  // --- integers ---
#define US_SAME2(name)     \
  template <class T>       \
  constexpr T name(T, T) { \
    return {};             \
  }
  US_SAME2(Add)
  US_SAME2(Sub)
  US_SAME2(Mul)
  US_SAME2(And)
  US_SAME2(Or)
  US_SAME2(Xor)
  US_SAME2(UMin)
  US_SAME2(UMax)
  US_SAME2(SMin)
  US_SAME2(SMax)
  US_SAME2(MulHiU)
  US_SAME2(MulHiS)
#undef US_SAME2
#define US_SAME1(name)  \
  template <class T>    \
  constexpr T name(T) { \
    return {};          \
  }
  US_SAME1(Not)
  US_SAME1(Neg)
  US_SAME1(BitReverse)
#undef US_SAME1
#define US_SHIFT(name)       \
  template <class T>         \
  constexpr T name(T, U32) { \
    return {};               \
  }
  US_SHIFT(Shl)
  US_SHIFT(Shr)
  US_SHIFT(Sar)
#undef US_SHIFT
#define US_TEST2(name)        \
  template <class T>          \
  constexpr Bool name(T, T) { \
    return {};                \
  }
  US_TEST2(Eq)
  US_TEST2(Ne)
  US_TEST2(ULt)
  US_TEST2(ULe)
  US_TEST2(UGt)
  US_TEST2(UGe)
  US_TEST2(SLt)
  US_TEST2(SLe)
  US_TEST2(SGt)
  US_TEST2(SGe)
  US_TEST2(FUnord)
#undef US_TEST2
  template <class T>
  constexpr T Select(Bool, T, T) {
    return {};
  }
  template <class T>
  constexpr U32 PopCount(T) {
    return {};
  }
  template <class T>
  constexpr U32 Clz(T) {
    return {};
  }
  template <class T>
  constexpr U32 Ctz(T) {
    return {};
  }
  constexpr U32 FromBool(Bool) { return {}; }
  constexpr U32 Zext32(U16) { return {}; }
  constexpr U32 Sext32(U16) { return {}; }
  constexpr U64 Zext64(U32) { return {}; }
  constexpr U64 Sext64(U32) { return {}; }
  constexpr U16 Lo16(U32) { return {}; }
  constexpr U16 Hi16(U32) { return {}; }
  constexpr U32 Lo32(U64) { return {}; }
  constexpr U32 Hi32(U64) { return {}; }
  constexpr U32 Pack16(U16, U16) { return {}; }
  constexpr U64 Pack32(U32, U32) { return {}; }
  template <int N>
  constexpr U32 SextFrom(U32) {
    return {};
  }
  template <int N>
  constexpr U32 Byte(U32) {
    return {};
  }
  constexpr U64 TwoOverPiBits(U32) { return {}; }

  // --- floats: reinterpretation and classification do not depend on MODE ---
  constexpr U16 Bits(F16) { return {}; }
  constexpr U16 Bits(BF16) { return {}; }
  constexpr U32 Bits(F32) { return {}; }
  constexpr U64 Bits(F64) { return {}; }
  constexpr F16 AsF16(U16) { return {}; }
  constexpr BF16 AsBF16(U16) { return {}; }
  constexpr F32 AsF32(U32) { return {}; }
  constexpr F64 AsF64(U64) { return {}; }
  template <class F>
  constexpr U32 ExpField(F) {
    return {};
  }
#define US_CLASS(name)     \
  template <class F>       \
  constexpr Bool name(F) { \
    return {};             \
  }
  US_CLASS(IsNan)
  US_CLASS(IsSNan)
  US_CLASS(IsInf)
  US_CLASS(IsZero)
  US_CLASS(IsDenorm)
  US_CLASS(SignBit)
#undef US_CLASS
  template <class F>
  constexpr F FNeg(F) {
    return {};
  }
  template <class F>
  constexpr F FAbs(F) {
    return {};
  }
  template <class F>
  constexpr F Quiet(F) {
    return {};
  }

#define US_FLOAT_N(name)                     \
  template <class F, class... More>          \
  constexpr F name(F, More...) {             \
    return signature.uses_float = true, F{}; \
  }
  US_FLOAT_N(FAdd)
  US_FLOAT_N(FSub)
  US_FLOAT_N(FMul)
  US_FLOAT_N(FFma)
  US_FLOAT_N(FFmaScaled)
  US_FLOAT_N(FMulZero)
  US_FLOAT_N(FFmaZero)
  US_FLOAT_N(FMin)
  US_FLOAT_N(FMax)
  US_FLOAT_N(FMinNum)
  US_FLOAT_N(FMaxNum)
  US_FLOAT_N(FMinimum)
  US_FLOAT_N(FMaximum)
  US_FLOAT_N(FMad)
  US_FLOAT_N(FMadZero)
  US_FLOAT_N(FTrunc)
  US_FLOAT_N(FCeil)
  US_FLOAT_N(FFloor)
  US_FLOAT_N(FRndne)
  US_FLOAT_N(FFract)
  US_FLOAT_N(FLdexp)
  US_FLOAT_N(FrexpMant)
  US_FLOAT_N(FSqrt)
  US_FLOAT_N(FRcp)
  US_FLOAT_N(FRsq)
  US_FLOAT_N(FExp2)
  US_FLOAT_N(FLog2)
  US_FLOAT_N(FSinTurns)
  US_FLOAT_N(FCosTurns)
  US_FLOAT_N(In)
  US_FLOAT_N(Out)
#undef US_FLOAT_N
  template <class F>
  constexpr U32 FrexpExp(F) {
    return signature.uses_float = true, U32{};
  }
#define US_FLOAT_TEST(name)                     \
  template <class F>                            \
  constexpr Bool name(F, F) {                   \
    return signature.uses_float = true, Bool{}; \
  }
  US_FLOAT_TEST(FEq)
  US_FLOAT_TEST(FLt)
  US_FLOAT_TEST(FLe)
  US_FLOAT_TEST(FGt)
  US_FLOAT_TEST(FGe)
  US_FLOAT_TEST(FLg)
#undef US_FLOAT_TEST
#define US_CONVERT(name, To, From) \
  constexpr To name(From) { return signature.uses_float = true, To{}; }
  US_CONVERT(F32FromU32, F32, U32)
  US_CONVERT(F32FromS32, F32, U32)
  US_CONVERT(F64FromU32, F64, U32)
  US_CONVERT(F64FromS32, F64, U32)
  US_CONVERT(F16FromU16, F16, U16)
  US_CONVERT(F16FromS16, F16, U16)
  US_CONVERT(U32FromF32, U32, F32)
  US_CONVERT(S32FromF32, U32, F32)
  US_CONVERT(U32FromF64, U32, F64)
  US_CONVERT(S32FromF64, U32, F64)
  US_CONVERT(U16FromF16, U16, F16)
  US_CONVERT(S16FromF16, U16, F16)
  US_CONVERT(F32FromF16, F32, F16)
  US_CONVERT(F16FromF32, F16, F32)
  US_CONVERT(F16FromF32Rtz, F16, F32)
  US_CONVERT(F32FromF64, F32, F64)
  US_CONVERT(F64FromF32, F64, F32)
  US_CONVERT(F32FromBF16, F32, BF16)
  US_CONVERT(BF16FromF32, BF16, F32)
#undef US_CONVERT
  template <class Format>
  constexpr F32 F32FromSmall(U32) {
    return signature.uses_float = true, F32{};
  }
  template <class Format>
  constexpr U32 SmallFromF32(F32) {
    return signature.uses_float = true, U32{};
  }
  template <class Format>
  constexpr U32 SmallFromF32Random(F32, U32) {
    return signature.uses_float = true, U32{};
  }
  constexpr F16 F16FromF32Nearest(F32) { return signature.uses_float = true, F16{}; }
  constexpr F16 FFmaTo16(F32, F32, F32) { return signature.uses_float = true, F16{}; }
  constexpr U16 SatS16(U32) { return {}; }
};

template <class Semantic>
constexpr Signature SignatureOf() {
  SignatureReader reader;
  Semantic::Run(reader);
  return reader.signature;
}

}  // namespace understudy::emu::amd
