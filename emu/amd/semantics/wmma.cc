// SPDX-License-Identifier: Apache-2.0
// Matrix multiply-accumulate, 16x16x16 (RDNA3 ISA, "Wave Matrix Multiply Accumulate"). EXEC is ignored.
// Layouts: lane l (mod 16) holds row l of A and column l of B, its elements packed in K order from the first
// register up; the upper lanes repeat the lower sixteen. C and D: column = lane mod 16; in wave32 register v
// of lanes 0-15 holds row 2v and of lanes 16-31 row 2v + 1; in wave64 register v of lanes 16q.. holds row 4v
// + q. 16-bit C and D use one half of each register (OPSEL[2]) and keep the other.
//
// Float sums: one f32 FMA an element, K ascending from C, denormals kept; 16-bit results are rounded once.

#include <cmath>
#include <cstdint>

#include "emu/amd/semantics/lane_math.h"
#include "emu/amd/semantics/operands.h"
#include "emu/amd/semantics/vector_table.h"
#include "emu/amd/semantics/wave_ops.h"

namespace understudy::emu::amd {
namespace {

constexpr int kN = 16;

bool Bit(uint8_t bits, int i) { return ((bits >> i) & 1) != 0; }

// Element k of the 16 in lane `index` of source `i`, `bits` wide.
uint32_t Element(const Inst& inst, int i, int index, int k, int bits, const WaveState& wave) {
  const int per_word = 32 / bits;
  const uint32_t word = wave.Vgpr(inst.src[i].reg + k / per_word)[index];
  return (word >> (bits * (k % per_word))) & ((1u << bits) - 1);
}

struct Place {
  int reg, lane;
};
Place PlaceOf(int row, int column, int wave_size) {
  const int groups = wave_size / kN;
  return {row / groups, (row % groups) * kN + column};
}

// The dword of C that holds (row, column); an inline constant stands for every element.
uint32_t WordC(const Inst& inst, Place place, const WaveState& wave) {
  if (inst.src[2].kind == Operand::Kind::kVgpr) return wave.Vgpr(inst.src[2].reg + place.reg)[place.lane];
  return static_cast<uint32_t>(ScalarOperand(inst.src[2], 1, wave));
}

enum class Elem { kF16, kBf16 };

float FloatElement(Elem type, uint32_t bits) {
  return type == Elem::kF16 ? FloatFromHalf(static_cast<uint16_t>(bits)) : FloatOf(bits << 16);
}

// NEG and NEG_HI of A and B flip the even and odd elements; of C they are negation and absolute value.
uint32_t SignedElement(const Inst& inst, int i, int k, uint32_t bits) {
  return Bit((k & 1) != 0 ? inst.neg_hi : inst.neg, i) ? bits ^ 0x8000u : bits;
}

float SignedC(const Inst& inst, float c) {
  if (Bit(inst.neg_hi, 2)) c = std::fabs(c);
  return Bit(inst.neg, 2) ? -c : c;
}

// D = A * B + C in f32. `read_c` and `write_d` convert an element.
template <Elem kIn, class ReadC, class WriteD>
ExecResult WmmaFloat(const Inst& inst, WaveState& wave, ReadC read_c, WriteD write_d) {
  float a[kN][kN], b[kN][kN], sum[kN][kN];
  for (int i = 0; i < kN; ++i) {
    for (int k = 0; k < kN; ++k) {
      a[i][k] = FloatElement(kIn, SignedElement(inst, 0, k, Element(inst, 0, i, k, 16, wave)));
      b[k][i] = FloatElement(kIn, SignedElement(inst, 1, k, Element(inst, 1, i, k, 16, wave)));
      sum[i][k] = SignedC(inst, read_c(WordC(inst, PlaceOf(i, k, wave.wave_size), wave)));
    }
  }
  HostKernels().matrix_fma(a, b, sum);
  for (int row = 0; row < kN; ++row) {
    for (int column = 0; column < kN; ++column) {
      const Place place = PlaceOf(row, column, wave.wave_size);
      write_d(&wave.Vgpr(inst.dst[0].reg + place.reg)[place.lane], sum[row][column]);
    }
  }
  return ExecResult::kNext;
}

template <Elem kIn>
ExecResult WmmaF32(const Inst& inst, WaveState& wave) {
  return WmmaFloat<kIn>(
      inst, wave, [](uint32_t word) { return FloatOf(word); },
      [](uint32_t* word, float v) { *word = BitsOf(v); });
}

template <Elem kType>
ExecResult Wmma16(const Inst& inst, WaveState& wave) {
  const int shift = Bit(inst.op_sel, 2) ? 16 : 0;
  const int c_shift = inst.src[2].kind == Operand::Kind::kVgpr ? shift : 0;
  return WmmaFloat<kType>(
      inst, wave, [c_shift](uint32_t word) { return FloatElement(kType, (word >> c_shift) & 0xffffu); },
      [shift](uint32_t* word, float v) {
        const uint32_t half = kType == Elem::kF16 ? HalfFromFloat(v) : LaneMath<true>::BF16FromF32(v).bits;
        *word = (*word & ~(0xffffu << shift)) | half << shift;
      });
}

// NEG[0] and NEG[1] say that A and B are signed; CLAMP saturates the exact sum.
template <int kBits>
ExecResult WmmaI32(const Inst& inst, WaveState& wave) {
  const auto element = [&](int i, int index, int k) -> int64_t {
    const uint32_t bits = Element(inst, i, index, k, kBits, wave);
    return Bit(inst.neg, i) ? static_cast<int32_t>(LaneInt::SextFrom<kBits>(bits))
                            : static_cast<int64_t>(bits);
  };
  uint32_t result[kN][kN];
  for (int row = 0; row < kN; ++row) {
    for (int column = 0; column < kN; ++column) {
      int64_t sum = static_cast<int32_t>(WordC(inst, PlaceOf(row, column, wave.wave_size), wave));
      for (int k = 0; k < kN; ++k) sum += element(0, row, k) * element(1, column, k);
      if (inst.clamp) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
      result[row][column] = static_cast<uint32_t>(sum);
    }
  }
  for (int row = 0; row < kN; ++row) {
    for (int column = 0; column < kN; ++column) {
      const Place place = PlaceOf(row, column, wave.wave_size);
      wave.Vgpr(inst.dst[0].reg + place.reg)[place.lane] = result[row][column];
    }
  }
  return ExecResult::kNext;
}

}  // namespace

ExecResult WmmaF32F16(const Inst& inst, WaveState& wave) { return WmmaF32<Elem::kF16>(inst, wave); }
ExecResult WmmaF32Bf16(const Inst& inst, WaveState& wave) { return WmmaF32<Elem::kBf16>(inst, wave); }
ExecResult WmmaF16F16(const Inst& inst, WaveState& wave) { return Wmma16<Elem::kF16>(inst, wave); }
ExecResult WmmaBf16Bf16(const Inst& inst, WaveState& wave) { return Wmma16<Elem::kBf16>(inst, wave); }
ExecResult WmmaI32Iu8(const Inst& inst, WaveState& wave) { return WmmaI32<8>(inst, wave); }
ExecResult WmmaI32Iu4(const Inst& inst, WaveState& wave) { return WmmaI32<4>(inst, wave); }

}  // namespace understudy::emu::amd
