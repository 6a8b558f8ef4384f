// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/operands.h"

#include <cstring>

#include "emu/amd/semantics/lane_math.h"
#include "emu/amd/semantics/scalar_operands.h"
#include "emu/amd/semantics/sdwa.h"

namespace understudy::emu::amd {
namespace {

bool Bit(uint8_t bits, int i) { return ((bits >> i) & 1) != 0; }

void Fill(uint32_t* out, uint32_t value, int lanes) {
  for (int lane = 0; lane < lanes; ++lane) out[lane] = value;
}

bool IsSingleHalf(SrcKind kind) {
  return kind == SrcKind::kU16 || kind == SrcKind::kF16 || kind == SrcKind::kBF16;
}
bool IsPacked(SrcKind kind) {
  return kind == SrcKind::kPkU16 || kind == SrcKind::kPkF16 || kind == SrcKind::kPkBF16;
}

// Sign-bit modifiers: |x| first, then negation.
void ApplySign(uint32_t* words, bool abs, bool neg, uint32_t sign, int lanes) {
  const uint32_t keep = abs ? ~sign : ~0u, flip = neg ? sign : 0;
  for (int lane = 0; lane < lanes; ++lane) words[lane] = (words[lane] & keep) ^ flip;
}

}  // namespace

uint64_t ScalarOperand(const Operand& operand, int dwords, const WaveState& wave) {
  switch (operand.kind) {
    case Operand::Kind::kSgpr: {
      if (operand.reg == kRegNull) return 0;
      const uint64_t low = wave.sgpr[operand.reg & 127];
      return dwords < 2 ? low : low | uint64_t{wave.sgpr[(operand.reg + 1) & 127]} << 32;
    }
    case Operand::Kind::kInlineInt:
    case Operand::Kind::kInlineFloat:
    case Operand::Kind::kLiteral:
      return operand.imm;
    default:
      return ReadSpecialScalar(operand, wave);
  }
}

uint64_t MaskOperand(const Operand& operand, const WaveState& wave) {
  if (operand.kind == Operand::Kind::kSgpr) {
    return operand.reg == kRegNull ? 0 : wave.Mask(operand.reg & 127) & wave.lane_mask;
  }
  return ScalarOperand(operand, 2, wave) & wave.lane_mask;
}

void WriteMask(const Operand& operand, uint64_t mask, WaveState& wave) {
  if (operand.kind == Operand::Kind::kSgpr && operand.reg != kRegNull) wave.SetMask(operand.reg & 127, mask);
}

// M0 holds the byte address and, from bit 16 on, the type (CDNA ISA, "LDS Direct Read"; RDNA3 ISA, "LDS
// Direct Load").
uint32_t LdsDirectValue(const WaveState& wave) {
  const uint32_t m0 = wave.sgpr[kM0], type = (m0 >> 16) & 7;
  const uint32_t bytes = type == 2 ? 4 : (type == 1 || type == 5) ? 2 : 1;
  const uint32_t address = (m0 & 0xffffu) & ~(bytes - 1);
  uint32_t value = 0;
  for (uint32_t i = 0; i < bytes; ++i) {
    if (address + i < wave.lds_bytes) value |= uint32_t{wave.lds[address + i]} << (8 * i);
  }
  if (type == 4) return LaneInt::SextFrom<8>(value);
  if (type == 5) return LaneInt::SextFrom<16>(value);
  return value;
}

void StagePlain(const Operand& operand, SrcKind kind, const WaveState& wave, const KernelSet& kernels,
                uint32_t (*buffer)[kMaxLanes], const uint32_t** words) {
  if (kind == SrcKind::kMask) {
    kernels.expand_mask(MaskOperand(operand, wave), buffer[0], wave.wave_size);
    words[0] = buffer[0];
    return;
  }
  const int count = SrcWords(kind);
  if (IsVectorRegister(operand)) {
    for (int w = 0; w < count; ++w) words[w] = wave.Vgpr(StorageIndex(operand, w));
    return;
  }
  const uint64_t value =
      operand.kind == Operand::Kind::kLdsDirect ? LdsDirectValue(wave) : ScalarOperand(operand, count, wave);
  for (int w = 0; w < count; ++w) {
    Fill(buffer[w], w < 2 ? static_cast<uint32_t>(value >> (32 * w)) : 0, wave.wave_size);
    words[w] = buffer[w];
  }
}

uint8_t PackedSelectLow(const Inst& inst) { return inst.enc == Encoding::VOP3P ? inst.op_sel : 0; }
uint8_t PackedSelectHigh(const Inst& inst) { return inst.enc == Encoding::VOP3P ? inst.op_sel_hi : 7; }

bool SourceIsModified(const Inst& inst, int i, SrcKind kind) {
  const bool neg = Bit(inst.neg, i), abs = Bit(inst.abs, i);
  switch (kind) {
    case SrcKind::kU16:
      return Bit(inst.op_sel, i);
    case SrcKind::kF16:
    case SrcKind::kBF16:
      return Bit(inst.op_sel, i) || neg || abs;
    case SrcKind::kF32:
    case SrcKind::kF64:
      return neg || abs;
    case SrcKind::kPkU16:
      return Bit(PackedSelectLow(inst), i) || !Bit(PackedSelectHigh(inst), i);
    case SrcKind::kPkF16:
    case SrcKind::kPkBF16:
      return Bit(PackedSelectLow(inst), i) || !Bit(PackedSelectHigh(inst), i) || neg || Bit(inst.neg_hi, i);
    case SrcKind::kPkF32:
      return Bit(PackedSelectLow(inst), i) || !Bit(PackedSelectHigh(inst), i) || neg || Bit(inst.neg_hi, i);
    case SrcKind::kByte:
      return (inst.op_sel & 3) != 0;
    case SrcKind::kMix:
      return Bit(inst.op_sel_hi, i) || neg || abs;
    default:
      return false;
  }
}

namespace {

// The controls that CDNA alone has; row_newbcast is RDNA's row_share. False for any other.
bool CdnaSourceLane(int ctrl, int lane, int lanes, int* from) {
  switch (ctrl) {
    case 0x130:  // wave_shl: lane i reads lane i + 1
      *from = lane + 1 < lanes ? lane + 1 : -1;
      return true;
    case 0x134:  // wave_rol
      *from = (lane + 1) % lanes;
      return true;
    case 0x138:  // wave_shr
      *from = lane - 1;
      return true;
    case 0x13c:  // wave_ror
      *from = (lane + lanes - 1) % lanes;
      return true;
    case 0x142:  // row_bcast15: the last lane of the row below
      *from = lane >= 16 ? (lane & ~15) - 1 : -1;
      return true;
    case 0x143:  // row_bcast31: rows 2 and 3 read lane 31
      *from = lane >= 32 ? 31 : -1;
      return true;
    default:
      return false;
  }
}

}  // namespace

bool DppSourceLanes(const DppInfo& dpp, Isa isa, int lanes, int8_t* source) {
  for (int lane = 0; lane < lanes; ++lane) {
    int from = -1;
    if (dpp.kind == DppInfo::Kind::kDpp8) {
      from = (lane & ~7) + dpp.lane_sel[lane & 7];
    } else {
      const int ctrl = dpp.ctrl, n = ctrl & 15, row = lane & ~15, i = lane & 15;
      if (IsCdna(isa) && CdnaSourceLane(ctrl, lane, lanes, &from)) {
        source[lane] = static_cast<int8_t>(from);
        continue;
      }
      switch (ctrl >> 4) {
        case 0x10:  // row_shl: lane i reads lane i + n
          if (n == 0) return false;
          from = i + n < 16 ? lane + n : -1;
          break;
        case 0x11:  // row_shr
          if (n == 0) return false;
          from = i - n >= 0 ? lane - n : -1;
          break;
        case 0x12:  // row_ror
          if (n == 0) return false;
          from = row + ((i - n) & 15);
          break;
        case 0x14:  // row_mirror, row_half_mirror
          if (n > 1) return false;
          from = n == 0 ? row + 15 - i : (lane & ~7) + 7 - (lane & 7);
          break;
        case 0x15:  // row_share
          from = row + n;
          break;
        case 0x16:  // row_xmask
          if (IsCdna(isa)) return false;
          from = row + (i ^ n);
          break;
        default:
          if (ctrl > 0xff) return false;
          from = (lane & ~3) + ((ctrl >> (2 * (lane & 3))) & 3);  // quad_perm
      }
    }
    source[lane] = static_cast<int8_t>(from);
  }
  return true;
}

namespace {

// Source 0 under DPP: gathers each dword, and takes out of `written` the lanes that get nothing. A source
// lane outside EXEC counts as none unless FI is set; none reads as 0 under BOUND_CTRL (and for DPP8, which
// has no such field), else the lane is not written. Row and bank masks disable the write.
void StageDpp(const DppInfo& dpp, const uint32_t* const* from, int count, const WaveState& wave,
              uint32_t (*buffer)[kMaxLanes], uint64_t* written) {
  const int lanes = wave.wave_size;
  const uint64_t exec = wave.exec();
  int8_t source[kMaxLanes];
  DppSourceLanes(dpp, wave.isa, lanes, source);
  const bool dpp16 = dpp.kind == DppInfo::Kind::kDpp16;
  const bool zero_fill = !dpp16 || dpp.bound_ctrl;
  uint64_t enabled = 0;
  for (int lane = 0; lane < lanes; ++lane) {
    const int s = source[lane];
    const bool valid = s >= 0 && (dpp.fetch_inactive || ((exec >> s) & 1) != 0);
    for (int w = 0; w < count; ++w) buffer[w][lane] = valid ? from[w][s] : 0;
    const bool masked = dpp16 && !(Bit(dpp.row_mask, (lane / 16) & 3) && Bit(dpp.bank_mask, (lane / 4) & 3));
    if ((valid || zero_fill) && !masked) enabled |= uint64_t{1} << lane;
  }
  *written &= enabled;
}

}  // namespace

void StageModified(const Inst& inst, int i, SrcKind kind, const WaveState& wave, const KernelSet& kernels,
                   uint32_t (*buffer)[kMaxLanes], const uint32_t** words, uint64_t* written) {
  const Operand& operand = inst.src[i];
  const int lanes = wave.wave_size, count = SrcWords(kind);
  StagePlain(operand, kind, wave, kernels, buffer, words);
  if (i == 0 && inst.dpp.kind != DppInfo::Kind::kNone && IsVectorRegister(operand)) {
    StageDpp(inst.dpp, words, count, wave, buffer, written);
    for (int w = 0; w < count; ++w) words[w] = buffer[w];
  }
  const bool sdwa = inst.sdwa.present && i < 2 && SdwaSelects(inst.sdwa, i);
  if (!sdwa && !SourceIsModified(inst, i, kind)) return;
  for (int w = 0; w < count; ++w) {
    if (words[w] != buffer[w]) std::memcpy(buffer[w], words[w], sizeof(uint32_t) * lanes);
    words[w] = buffer[w];
  }
  const bool neg = Bit(inst.neg, i), abs = Bit(inst.abs, i);
  uint32_t* const x = buffer[0];
  if (sdwa) SelectSdwaSource(inst.sdwa, i, lanes, x);
  if (IsSingleHalf(kind)) {
    // A 16-bit inline constant has its value in the low half only, whatever op_sel says.
    const bool has_halves =
        operand.kind != Operand::Kind::kInlineInt && operand.kind != Operand::Kind::kInlineFloat;
    if (Bit(inst.op_sel, i) && has_halves) {
      for (int lane = 0; lane < lanes; ++lane) x[lane] >>= 16;
    }
    if (kind != SrcKind::kU16) ApplySign(x, abs, neg, 0x8000u, lanes);
  } else if (kind == SrcKind::kF32) {
    ApplySign(x, abs, neg, 0x80000000u, lanes);
  } else if (kind == SrcKind::kF64) {
    ApplySign(buffer[1], abs, neg, 0x80000000u, lanes);
  } else if (IsPacked(kind)) {
    const int low = Bit(PackedSelectLow(inst), i) ? 16 : 0, high = Bit(PackedSelectHigh(inst), i) ? 16 : 0;
    const bool is_float = kind != SrcKind::kPkU16;
    const uint32_t flip = is_float ? (neg ? 0x8000u : 0u) | (Bit(inst.neg_hi, i) ? 0x80000000u : 0u) : 0u;
    for (int lane = 0; lane < lanes; ++lane) {
      x[lane] = (((x[lane] >> low) & 0xffffu) | (x[lane] >> high) << 16) ^ flip;
    }
  } else if (kind == SrcKind::kPkF32) {
    // The dword for the low result, then that for the high one.
    const bool low = Bit(PackedSelectLow(inst), i), high = Bit(PackedSelectHigh(inst), i);
    const uint32_t flip[2] = {neg ? 0x80000000u : 0u, Bit(inst.neg_hi, i) ? 0x80000000u : 0u};
    for (int lane = 0; lane < lanes; ++lane) {
      const uint32_t pair[2] = {buffer[0][lane], buffer[1][lane]};
      buffer[0][lane] = pair[low ? 1 : 0] ^ flip[0];
      buffer[1][lane] = pair[high ? 1 : 0] ^ flip[1];
    }
  } else if (kind == SrcKind::kByte) {
    // RDNA4: "Byte select bits are reversed".
    const int select = inst.op_sel & 3;
    const int byte = IsCdna(inst.isa) ? select : (select >> 1) | (select & 1) << 1;
    for (int lane = 0; lane < lanes; ++lane) x[lane] >>= 8 * byte;
  } else if (kind == SrcKind::kMix) {
    if (Bit(inst.op_sel_hi, i)) {
      const LaneMath<true> math(ModeOf(wave));
      const int shift = Bit(inst.op_sel, i) ? 16 : 0;
      for (int lane = 0; lane < lanes; ++lane) {
        x[lane] = BitsOf(math.F32FromF16(Half{static_cast<uint16_t>(x[lane] >> shift)}));
      }
    }
    ApplySign(x, abs, neg, 0x80000000u, lanes);
  }
}

namespace {

// Output modifiers of one precision. OMOD: scale, flush a denormal, and -0 becomes +0. CLAMP: to [0, 1], NaN
// to 0 in DX10 mode.
template <class Float>
Float Modified(const LaneMath<false>& math, Float v, uint8_t omod, Float factor, bool clamp, Float zero,
               Float one) {
  if (omod != 0) {
    v = math.FMul(v, factor);
    if (math.IsDenorm(v) || math.IsZero(v)) v = zero;
  }
  if (clamp) {
    if (math.IsNan(v)) return math.mode.dx10_clamp ? zero : v;
    if (math.SignBit(v)) return zero;
    if (math.FGt(v, one)) return one;
  }
  return v;
}

}  // namespace

void ApplyOutputModifiers(DstKind kind, uint8_t omod, bool clamp, const FpMode& mode, int lanes,
                          LaneBuffers* buffers) {
  const bool single = kind == DstKind::kF32;
  // "If output denormals are enabled, then output modifiers are ignored ... ignored if the IEEE mode bit is
  // set."
  const bool keeps = single ? !mode.flush_out32 : !mode.flush_out16_64;
  if (keeps || mode.ieee || kind == DstKind::kPkF16 || kind == DstKind::kPkF32) omod = 0;
  if (omod == 0 && !clamp) return;
  constexpr float kFactor[4] = {1.0f, 2.0f, 4.0f, 0.5f};
  constexpr uint16_t kFactor16[4] = {0x3c00, 0x4000, 0x4400, 0x3800};
  const LaneMath<false> math(mode);
  uint32_t* const x = buffers->dst[0];
  uint32_t* const high = buffers->dst[1];
  const auto half = [&](uint32_t bits) {
    const Half v{static_cast<uint16_t>(bits)};
    return uint32_t{Modified(math, v, omod, Half{kFactor16[omod & 3]}, clamp, Half{0}, Half{0x3c00}).bits};
  };
  for (int lane = 0; lane < lanes; ++lane) {
    switch (kind) {
      case DstKind::kF32:
        x[lane] = BitsOf(Modified(math, FloatOf(x[lane]), omod, kFactor[omod & 3], clamp, 0.0f, 1.0f));
        break;
      case DstKind::kF16:
      case DstKind::kLoF16:
      case DstKind::kHiF16:
        x[lane] = half(x[lane]);
        break;
      case DstKind::kPkF32:
        x[lane] = BitsOf(Modified(math, FloatOf(x[lane]), omod, kFactor[omod & 3], clamp, 0.0f, 1.0f));
        high[lane] = BitsOf(Modified(math, FloatOf(high[lane]), omod, kFactor[omod & 3], clamp, 0.0f, 1.0f));
        break;
      case DstKind::kPkF16:
        x[lane] = half(x[lane] & 0xffffu) | half(x[lane] >> 16) << 16;
        break;
      case DstKind::kF64: {
        const double v = DoubleOf(x[lane] | uint64_t{high[lane]} << 32);
        const uint64_t r = BitsOf(Modified(math, v, omod, double{kFactor[omod & 3]}, clamp, 0.0, 1.0));
        x[lane] = static_cast<uint32_t>(r);
        high[lane] = static_cast<uint32_t>(r >> 32);
        break;
      }
      default:
        break;
    }
  }
}

void WriteBack(const Operand& operand, DstKind kind, uint8_t op_sel, bool clears_other_half, uint64_t exec,
               const KernelSet& kernels, const LaneBuffers& buffers, WaveState& wave) {
  const int lanes = wave.wave_size;
  alignas(64) uint32_t merged[kMaxLanes];
  switch (kind) {
    case DstKind::kNone:
      return;
    case DstKind::kU16:
    case DstKind::kF16:
    case DstKind::kBF16:
    case DstKind::kLoF16:
    case DstKind::kHiF16: {
      // 16-bit results keep the other half of the register, but for the older ones of CDNA.
      const bool high = kind == DstKind::kHiF16 || ((op_sel & 8) != 0 && kind != DstKind::kLoF16);
      uint32_t* const out = wave.Vgpr(StorageIndex(operand));
      const uint32_t keep_above = clears_other_half ? 0 : 0xffff0000u;
      for (int lane = 0; lane < lanes; ++lane) {
        const uint32_t v = buffers.dst[0][lane] & 0xffffu;
        merged[lane] = high ? (out[lane] & 0xffffu) | v << 16 : (out[lane] & keep_above) | v;
      }
      kernels.store_masked(out, merged, exec, lanes);
      return;
    }
    case DstKind::kByte: {
      const int shift = 8 * ((op_sel >> 2) & 3);
      uint32_t* const out = wave.Vgpr(StorageIndex(operand));
      for (int lane = 0; lane < lanes; ++lane) {
        merged[lane] = (out[lane] & ~(0xffu << shift)) | (buffers.dst[0][lane] & 0xffu) << shift;
      }
      kernels.store_masked(out, merged, exec, lanes);
      return;
    }
    default:
      for (int w = 0; w < DstWords(kind); ++w) {
        kernels.store_masked(wave.Vgpr(StorageIndex(operand, w)), buffers.dst[w], exec, lanes);
      }
  }
}

}  // namespace understudy::emu::amd
