// SPDX-License-Identifier: Apache-2.0
#pragma once
// The interpreter's reading of the vector semantics: one lane of staged operand arrays. RunLanes<> is the
// loop over a wave with the semantics inlined; it allocates nothing, calls nothing virtual, and sees neither
// EXEC nor modifiers, which operands.h applies before and after.

#include "emu/amd/semantics/lane_arrays.h"
#include "emu/amd/semantics/lane_math.h"
#include "emu/amd/semantics/two_over_pi.h"

namespace understudy::emu::amd {
inline namespace US_SEMANTICS_ARCH {

template <bool kHostLike>
class LaneBuilder : public LaneMath<kHostLike> {
  using Math = LaneMath<kHostLike>;

 public:
  using U16 = uint16_t;
  using U32 = uint32_t;
  using U64 = uint64_t;
  using Bool = bool;

  US_OP explicit LaneBuilder(const LaneArrays& a) : Math(a.mode), a_(a) {}

  int lane = 0;

  US_OP U32 SrcU32(int i) const { return a_.src[i][0][lane]; }
  US_OP U16 SrcU16(int i) const { return static_cast<U16>(a_.src[i][0][lane]); }
  US_OP U64 SrcU64(int i) const { return a_.src[i][0][lane] | uint64_t{a_.src[i][1][lane]} << 32; }
  US_OP float SrcF32(int i) const { return FloatOf(SrcU32(i)); }
  US_OP double SrcF64(int i) const { return DoubleOf(SrcU64(i)); }
  US_OP Half SrcF16(int i) const { return Half{SrcU16(i)}; }
  US_OP BFloat SrcBF16(int i) const { return BFloat{SrcU16(i)}; }
  US_OP U16 SrcPkU16(int i, int half) const { return static_cast<U16>(SrcU32(i) >> (16 * half)); }
  US_OP Half SrcPkF16(int i, int half) const { return Half{SrcPkU16(i, half)}; }
  US_OP BFloat SrcPkBF16(int i, int half) const { return BFloat{SrcPkU16(i, half)}; }
  US_OP float SrcPkF32(int i, int half) const { return FloatOf(a_.src[i][half][lane]); }
  US_OP U32 SrcByte(int i) const { return SrcU32(i) & 0xffu; }
  US_OP Bool SelectsHigh(int i) const { return ((a_.selects >> i) & 1) != 0; }
  US_OP U32 TruthTable() const { return a_.truth_table; }
  US_OP float SrcMixF32(int i) const { return SrcF32(i); }
  US_OP U32 SrcWord(int i, int word) const { return a_.src[i][word][lane]; }
  US_OP Bool SrcMask(int i) const { return a_.src[i][0][lane] != 0; }
  US_OP Bool SrcIsSigned(int i) const { return ((a_.signs >> i) & 1) != 0; }
  US_OP U32 LaneId() const { return static_cast<U32>(lane); }

  template <class T>
  US_OP T Saturate(Bool overflow, T limit, T value) const {
    return overflow & a_.saturate ? limit : value;
  }

  US_OP void DstU32(U32 v) { a_.dst[0][lane] = v; }
  US_OP void DstU16(U16 v) { DstU32(v); }
  US_OP void DstF16(Half v) { DstU32(v.bits); }
  US_OP void DstBF16(BFloat v) { DstU32(v.bits); }
  US_OP void DstF32(float v) { DstU32(BitsOf(v)); }
  US_OP void DstU64(U64 v) {
    a_.dst[0][lane] = static_cast<U32>(v);
    a_.dst[1][lane] = static_cast<U32>(v >> 32);
  }
  US_OP void DstF64(double v) { DstU64(BitsOf(v)); }
  US_OP void DstPkU16(U16 lo, U16 hi) { DstU32(lo | uint32_t{hi} << 16); }
  US_OP void DstPkF16(Half lo, Half hi) { DstPkU16(lo.bits, hi.bits); }
  US_OP void DstPkF32(float lo, float hi) {
    a_.dst[0][lane] = BitsOf(lo);
    a_.dst[1][lane] = BitsOf(hi);
  }
  US_OP void DstByte(U32 v) { DstU32(v & 0xffu); }
  US_OP void DstLoF16(Half v) { DstU32(v.bits); }
  US_OP void DstHiF16(Half v) { DstU32(v.bits); }
  US_OP void DstWord(int word, U32 v) { a_.dst[word][lane] = v; }
  US_OP void DstMask(Bool v) { a_.mask[lane] = v ? 1u : 0u; }

  US_OP static U64 TwoOverPiBits(U32 shift) { return TwoOverPiWindow(shift); }

 private:
  LaneArrays a_;  // by value: the loop keeps the pointers in registers
};

// All lanes of a wave: 32 or 64, in blocks of 32 so that the trip count is known.
template <class Semantic, bool kHostLike>
[[gnu::flatten]] void RunLanes(const LaneArrays& arrays) {
  const int blocks = arrays.lanes / 32;
  LaneBuilder<kHostLike> b(arrays);
  for (int block = 0; block < blocks; ++block) {
#pragma GCC ivdep
    for (int i = 0; i < 32; ++i) {
      b.lane = block * 32 + i;
      Semantic::Run(b);
    }
  }
}

}  // namespace US_SEMANTICS_ARCH
}  // namespace understudy::emu::amd
