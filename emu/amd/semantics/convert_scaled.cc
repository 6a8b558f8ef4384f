// SPDX-License-Identifier: Apache-2.0
// CDNA4's conversions with a block scale (CDNA4 ISA, V_CVT_SCALEF32_*): between f32, f16, bf16 and the 8-, 6-
// and 4-bit formats of OCP, one to 32 values a lane. The scale is the exponent field of an f32, as E8M0 has
// it: narrowing divides by 2^(field - 127), widening multiplies. Every form is one row of a table; all share
// the loop.

#include <array>
#include <cstring>
#include <string>

#include "emu/amd/semantics/lane_math.h"
#include "emu/amd/semantics/operands.h"
#include "emu/amd/semantics/vector_table.h"
#include "emu/amd/semantics/wave_ops.h"

namespace understudy::emu::amd {
namespace {

enum class Type : uint8_t { kF32, kF16, kBF16, kFp8, kBf8, kFp6, kBf6, kFp4 };

constexpr int Bits(Type type) {
  switch (type) {
    case Type::kF32:
      return 32;
    case Type::kF16:
    case Type::kBF16:
      return 16;
    case Type::kFp8:
    case Type::kBf8:
      return 8;
    case Type::kFp6:
    case Type::kBf6:
      return 6;
    default:
      return 4;
  }
}
constexpr bool IsWide(Type type) { return type <= Type::kBF16; }

// How one opcode reads and writes.
struct Form {
  Type from, to;
  int count;         // values
  bool random;       // source 1 has random bits
  bool two_sources;  // values come from sources 0 and 1 in turn
};

// Rows are named as the instructions are: count, from, to.
constexpr bool FindForm(Opcode op, Form* form) {
  switch (op) {
#define US_FORM(opcode, ...) \
  case Opcode::opcode:       \
    *form = {__VA_ARGS__};   \
    return true;
    US_FORM(V_CVT_SCALEF32_PK_FP8_F32, Type::kF32, Type::kFp8, 2, false, true)
    US_FORM(V_CVT_SCALEF32_PK_BF8_F32, Type::kF32, Type::kBf8, 2, false, true)
    US_FORM(V_CVT_SCALEF32_SR_FP8_F32, Type::kF32, Type::kFp8, 1, true, false)
    US_FORM(V_CVT_SCALEF32_SR_BF8_F32, Type::kF32, Type::kBf8, 1, true, false)
    US_FORM(V_CVT_SCALEF32_PK_F32_FP8, Type::kFp8, Type::kF32, 2, false, false)
    US_FORM(V_CVT_SCALEF32_PK_F32_BF8, Type::kBf8, Type::kF32, 2, false, false)
    US_FORM(V_CVT_SCALEF32_F32_FP8, Type::kFp8, Type::kF32, 1, false, false)
    US_FORM(V_CVT_SCALEF32_F32_BF8, Type::kBf8, Type::kF32, 1, false, false)
    US_FORM(V_CVT_SCALEF32_PK_FP4_F32, Type::kF32, Type::kFp4, 2, false, true)
    US_FORM(V_CVT_SCALEF32_SR_PK_FP4_F32, Type::kF32, Type::kFp4, 2, true, false)
    US_FORM(V_CVT_SCALEF32_PK_F32_FP4, Type::kFp4, Type::kF32, 2, false, false)
    US_FORM(V_CVT_SCALEF32_PK_FP8_F16, Type::kF16, Type::kFp8, 2, false, false)
    US_FORM(V_CVT_SCALEF32_PK_BF8_F16, Type::kF16, Type::kBf8, 2, false, false)
    US_FORM(V_CVT_SCALEF32_SR_FP8_F16, Type::kF16, Type::kFp8, 1, true, false)
    US_FORM(V_CVT_SCALEF32_SR_BF8_F16, Type::kF16, Type::kBf8, 1, true, false)
    US_FORM(V_CVT_SCALEF32_PK_FP8_BF16, Type::kBF16, Type::kFp8, 2, false, false)
    US_FORM(V_CVT_SCALEF32_PK_BF8_BF16, Type::kBF16, Type::kBf8, 2, false, false)
    US_FORM(V_CVT_SCALEF32_SR_FP8_BF16, Type::kBF16, Type::kFp8, 1, true, false)
    US_FORM(V_CVT_SCALEF32_SR_BF8_BF16, Type::kBF16, Type::kBf8, 1, true, false)
    US_FORM(V_CVT_SCALEF32_PK_F16_FP8, Type::kFp8, Type::kF16, 2, false, false)
    US_FORM(V_CVT_SCALEF32_PK_F16_BF8, Type::kBf8, Type::kF16, 2, false, false)
    US_FORM(V_CVT_SCALEF32_F16_FP8, Type::kFp8, Type::kF16, 1, false, false)
    US_FORM(V_CVT_SCALEF32_F16_BF8, Type::kBf8, Type::kF16, 1, false, false)
    US_FORM(V_CVT_SCALEF32_PK_FP4_F16, Type::kF16, Type::kFp4, 2, false, false)
    US_FORM(V_CVT_SCALEF32_PK_FP4_BF16, Type::kBF16, Type::kFp4, 2, false, false)
    US_FORM(V_CVT_SCALEF32_SR_PK_FP4_F16, Type::kF16, Type::kFp4, 2, true, false)
    US_FORM(V_CVT_SCALEF32_SR_PK_FP4_BF16, Type::kBF16, Type::kFp4, 2, true, false)
    US_FORM(V_CVT_SCALEF32_PK_F16_FP4, Type::kFp4, Type::kF16, 2, false, false)
    US_FORM(V_CVT_SCALEF32_PK_BF16_FP4, Type::kFp4, Type::kBF16, 2, false, false)
    US_FORM(V_CVT_SCALEF32_2XPK16_FP6_F32, Type::kF32, Type::kFp6, 32, false, true)
    US_FORM(V_CVT_SCALEF32_2XPK16_BF6_F32, Type::kF32, Type::kBf6, 32, false, true)
    US_FORM(V_CVT_SCALEF32_SR_PK32_FP6_F32, Type::kF32, Type::kFp6, 32, true, false)
    US_FORM(V_CVT_SCALEF32_SR_PK32_BF6_F32, Type::kF32, Type::kBf6, 32, true, false)
    US_FORM(V_CVT_SCALEF32_PK32_F32_FP6, Type::kFp6, Type::kF32, 32, false, false)
    US_FORM(V_CVT_SCALEF32_PK32_F32_BF6, Type::kBf6, Type::kF32, 32, false, false)
    US_FORM(V_CVT_SCALEF32_PK32_FP6_F16, Type::kF16, Type::kFp6, 32, false, false)
    US_FORM(V_CVT_SCALEF32_PK32_FP6_BF16, Type::kBF16, Type::kFp6, 32, false, false)
    US_FORM(V_CVT_SCALEF32_PK32_BF6_F16, Type::kF16, Type::kBf6, 32, false, false)
    US_FORM(V_CVT_SCALEF32_PK32_BF6_BF16, Type::kBF16, Type::kBf6, 32, false, false)
    US_FORM(V_CVT_SCALEF32_SR_PK32_FP6_F16, Type::kF16, Type::kFp6, 32, true, false)
    US_FORM(V_CVT_SCALEF32_SR_PK32_FP6_BF16, Type::kBF16, Type::kFp6, 32, true, false)
    US_FORM(V_CVT_SCALEF32_SR_PK32_BF6_F16, Type::kF16, Type::kBf6, 32, true, false)
    US_FORM(V_CVT_SCALEF32_SR_PK32_BF6_BF16, Type::kBF16, Type::kBf6, 32, true, false)
    US_FORM(V_CVT_SCALEF32_PK32_F16_FP6, Type::kFp6, Type::kF16, 32, false, false)
    US_FORM(V_CVT_SCALEF32_PK32_BF16_FP6, Type::kFp6, Type::kBF16, 32, false, false)
    US_FORM(V_CVT_SCALEF32_PK32_F16_BF6, Type::kBf6, Type::kF16, 32, false, false)
    US_FORM(V_CVT_SCALEF32_PK32_BF16_BF6, Type::kBf6, Type::kBF16, 32, false, false)
    US_FORM(V_CVT_SCALEF32_PK_BF16_FP8, Type::kFp8, Type::kBF16, 2, false, false)
    US_FORM(V_CVT_SCALEF32_PK_BF16_BF8, Type::kBf8, Type::kBF16, 2, false, false)
#undef US_FORM
    default:
      return false;
  }
}

float Widen(Type type, uint32_t code) {
  switch (type) {
    case Type::kF32:
      return FloatOf(code);
    case Type::kF16:
      return FloatFromHalf(static_cast<uint16_t>(code));
    case Type::kBF16:
      return FloatOf(code << 16);
    case Type::kFp8:
      return WidenSmall<Fp8>(code);
    case Type::kBf8:
      return WidenSmall<Bf8>(code);
    case Type::kFp6:
      return WidenSmall<Fp6>(code);
    case Type::kBf6:
      return WidenSmall<Bf6>(code);
    default:
      return WidenSmall<Fp4>(code);
  }
}

template <class Format>
uint32_t NarrowTo(double v, bool is_random, uint32_t random, bool saturate) {
  return is_random ? NarrowSmall<Format, true>(v, random >> (9 + Format::kMan), saturate)
                   : NarrowSmall<Format, false>(v, 0, saturate);
}
uint32_t Narrow(Type type, double v, bool is_random, uint32_t random, bool saturate) {
  switch (type) {
    case Type::kF32:
      return static_cast<uint32_t>(RoundDouble<8, 23>(v, Round::kNearestEven, false));
    case Type::kF16:
      return NarrowTo<Binary16>(v, false, 0, saturate);
    case Type::kBF16:
      return NarrowTo<BFloat16>(v, false, 0, false);
    case Type::kFp8:
      return NarrowTo<Fp8>(v, is_random, random, saturate);
    case Type::kBf8:
      return NarrowTo<Bf8>(v, is_random, random, saturate);
    case Type::kFp6:
      return NarrowTo<Fp6>(v, is_random, random, true);
    case Type::kBf6:
      return NarrowTo<Bf6>(v, is_random, random, true);
    default:
      return NarrowTo<Fp4>(v, is_random, random, true);
  }
}

constexpr int kMaxWords = 32;

// Fields of any width in a row of dwords.
uint32_t Field(const uint32_t* words, int bit, int bits) {
  const int word = bit / 32, shift = bit % 32;
  const uint64_t pair = words[word] | (shift + bits > 32 ? uint64_t{words[word + 1]} << 32 : 0);
  return static_cast<uint32_t>(pair >> shift) & static_cast<uint32_t>((uint64_t{1} << bits) - 1);
}
void SetField(uint32_t* words, int bit, int bits, uint32_t value) {
  const int word = bit / 32, shift = bit % 32;
  words[word] |= value << shift;
  if (shift + bits > 32) words[word + 1] |= value >> (32 - shift);
}

// The dwords of a vector source, or a scalar repeated.
void Gather(const Operand& operand, int count, int lane, const WaveState& wave, uint32_t* out) {
  if (IsVectorRegister(operand)) {
    for (int w = 0; w < count; ++w) out[w] = wave.Vgpr(StorageIndex(operand, w))[lane];
    return;
  }
  const uint64_t value = ScalarOperand(operand, count > 1 ? 2 : 1, wave);
  for (int w = 0; w < count; ++w) out[w] = static_cast<uint32_t>(value >> (32 * (w & 1)));
}

int Dwords(Type type, int count) { return (Bits(type) * count + 31) / 32; }
// The part of a source register that OPSEL[1:0] chooses, in bits.
int SourceOffset(const Form& form, uint8_t op_sel) {
  const int bits = Bits(form.from) * form.count;
  if (IsWide(form.from) || bits > 16) return 0;
  return bits == 16 ? (op_sel & 1) * 16 : (op_sel & 3) * 8;
}

uint32_t NextRandom(uint32_t x) { return x << 1 ^ ((x >> 31) != 0 ? 0xc5u : 0u); }

uint32_t Signs(const Inst& inst, int i, uint32_t code, Type type) {
  if (type != Type::kF32) return code;
  if (((inst.abs >> i) & 1) != 0) code &= 0x7fffffffu;
  return ((inst.neg >> i) & 1) != 0 ? code ^ 0x80000000u : code;
}

void WriteResult(const Inst& inst, const Form& form, int lane, const uint32_t* result, WaveState& wave) {
  const int bits = Bits(form.to) * form.count;
  uint32_t* const first = wave.Vgpr(StorageIndex(inst.dst[0]));
  if (bits >= 32) {
    for (int w = 0; w < bits / 32; ++w) wave.Vgpr(StorageIndex(inst.dst[0], w))[lane] = result[w];
    return;
  }
  // OPSEL[3:2] is a byte, OPSEL[3] a half; the rest of the register is kept.
  const int shift = bits == 16 ? ((inst.op_sel >> 3) & 1) * 16 : ((inst.op_sel >> 2) & 3) * 8;
  const uint32_t field = ((1u << bits) - 1) << shift;
  first[lane] = (first[lane] & ~field) | result[0] << shift;
}

}  // namespace

ExecResult ConvertScaled(const Inst& inst, WaveState& wave) {
  Form form{};
  FindForm(inst.op, &form);
  const bool saturate = ModeOf(wave).fp16_ovfl;
  const int scale_source = form.random || form.two_sources ? 2 : 1;
  const bool separate = form.two_sources;
  const int per_source = separate ? form.count / 2 : form.count;
  const int offset = SourceOffset(form, inst.op_sel);
  const uint64_t exec = wave.exec();
  for (int lane = 0; lane < wave.wave_size; ++lane) {
    if (((exec >> lane) & 1) == 0) continue;
    uint32_t source[2][kMaxWords + 1] = {}, scale_word, random = 0;
    Gather(inst.src[0], Dwords(form.from, per_source), lane, wave, source[0]);
    if (separate) Gather(inst.src[1], Dwords(form.from, per_source), lane, wave, source[1]);
    if (form.random) Gather(inst.src[1], 1, lane, wave, &random);
    Gather(inst.src[scale_source], 1, lane, wave, &scale_word);
    const int field = static_cast<int>((scale_word >> 23) & 0xff);
    const double factor = PowerOfTwo(IsWide(form.to) ? field - 127 : 127 - field);
    uint32_t result[kMaxWords + 1] = {};
    for (int i = 0; i < form.count; ++i) {
      const int which = separate ? i & 1 : 0, index = separate ? i / 2 : i;
      const int bits = Bits(form.from);
      uint32_t code = Field(source[which], offset + index * bits, bits);
      code = Signs(inst, which, code, form.from);
      const float value = Widen(form.from, code);
      const double scaled = field == 0xff ? DoubleOf(kInf64 | kQuiet64) : static_cast<double>(value) * factor;
      SetField(result, i * Bits(form.to), Bits(form.to),
               Narrow(form.to, scaled, form.random, random, saturate));
      random = NextRandom(random);
    }
    WriteResult(inst, form, lane, result, wave);
  }
  return ExecResult::kNext;
}

std::string ConvertScaledProblem(const Inst& inst) {
  Form form{};
  if (!FindForm(inst.op, &form)) return "";
  const bool three = form.random || form.two_sources;
  if (inst.n_src < (three ? 3 : 2)) return "a source is missing";
  const int sources = three ? 3 : 2;
  for (int i = 0; i < sources; ++i) {
    const int values = i == 0 || (i == 1 && form.two_sources) ? form.count / (form.two_sources ? 2 : 1) : 0;
    const int dwords = values == 0 ? 1 : Dwords(form.from, values);
    if (IsVectorRegister(inst.src[i]) && inst.src[i].reg + dwords > 256) {
      return "source " + std::to_string(i) + " reaches beyond the last register";
    }
  }
  if (inst.dst[0].reg + Dwords(form.to, form.count) > 256)
    return "the destination reaches beyond the last register";
  if (form.from != Type::kF32 && ((inst.neg | inst.abs) & 1) != 0) return "a sign modifier on packed values";
  if (inst.clamp || inst.omod != 0) return "clamp or omod on a scaled conversion";
  return "";
}

}  // namespace understudy::emu::amd
