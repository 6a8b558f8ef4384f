// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/ptx/mma/seeded_inputs.h"

namespace understudy::emu::ptx {
namespace {

// splitmix64 at a position.
uint64_t RandomWord(uint64_t seed, InputStream stream, int sample, uint64_t index) {
  uint64_t z = index + (static_cast<uint64_t>(stream) << 24) + (static_cast<uint64_t>(sample) << 32) + 1;
  z = seed + z * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

struct Format {
  int exponent, fraction;
};
Format FormatOf(Type type) {
  switch (type) {
    case Type::kF16:
      return {5, 10};
    case Type::kBf16:
      return {8, 7};
    case Type::kTf32:  // with low bits that do not count
    case Type::kF32:
      return {8, 23};
    case Type::kF64:
      return {11, 52};
    case Type::kE4m3:
      return {4, 3};
    case Type::kE5m2:
      return {5, 2};
    default:
      return {0, 0};
  }
}

uint64_t Element(Type type, InputClass cls, uint64_t r) {
  const int bits = TypeBits(type);
  const Format f = FormatOf(type);
  if (cls == InputClass::kBits || f.exponent == 0) return bits == 64 ? r : r & ((uint64_t{1} << bits) - 1);
  const bool e4m3 = type == Type::kE4m3;
  const uint64_t bias = (1u << (f.exponent - 1)) - 1, top = (1u << f.exponent) - 1;
  const uint64_t all = (uint64_t{1} << f.fraction) - 1, pick = r >> 54;
  uint64_t fraction = (r >> 1) & all;
  const uint64_t narrow = bias - 3 + pick % 7;
  const uint64_t wide = f.exponent >= 8 ? bias - 20 + pick % 41 : pick % (e4m3 ? 16 : top);
  uint64_t field = cls == InputClass::kWide ? wide : narrow;
  if (cls == InputClass::kEdge) {
    const uint64_t choice = pick % 8, rare = pick / 8 % 16;
    if (choice == 5) field = wide;
    if (choice <= 1) field = 0;
    if (choice == 0 || choice == 4) fraction = 0;
    if (choice == 2) {
      field = e4m3 ? top : top - 1;
      fraction = e4m3 ? 6 : all;
    }
    if (choice == 4) field = bias;
    if (choice == 6 && rare <= 1) {
      field = top;
      fraction = rare == 0 ? (e4m3 ? 6 : 0) : fraction | 1;
    }
  } else if (e4m3 && field == 15 && fraction == 7) {
    fraction = 6;
  }
  return (r & 1) << (f.exponent + f.fraction) | field << f.fraction | fraction;
}

}  // namespace

InputClass InputClassOf(const std::string& name) {
  return name == "bits"     ? InputClass::kBits
         : name == "narrow" ? InputClass::kNarrow
         : name == "wide"   ? InputClass::kWide
                            : InputClass::kEdge;
}

std::vector<uint64_t> SeededRegisters(Type type, int count, InputClass cls, uint64_t seed, InputStream stream,
                                      int sample, int lanes) {
  const int bits = TypeBits(type), per = bits == 64 ? 1 : 32 / bits;
  std::vector<uint64_t> out(count * lanes);
  for (int i = 0; i < count * lanes; ++i)
    for (int e = 0; e < per; ++e)
      out[i] |=
          Element(type, cls, RandomWord(seed, stream, sample, uint64_t{static_cast<unsigned>(i)} * per + e))
          << (e * bits);
  return out;
}

std::vector<uint32_t> SeededMetadata(Type type, uint64_t seed, int sample, int lanes) {
  static constexpr uint32_t kPairs[] = {0x4, 0x8, 0xC, 0x9, 0xD, 0xE}, kHalves[] = {0x4, 0xE};
  std::vector<uint32_t> out(lanes);
  for (int lane = 0; lane < lanes; ++lane)
    for (int i = 0; i < 8; ++i) {
      const uint64_t r = RandomWord(seed, InputStream::kMetadata, sample, lane * 8 + i) >> 20;
      out[lane] |= (type == Type::kTf32 ? kHalves[r % 2] : kPairs[r % 6]) << (4 * i);
    }
  return out;
}

uint64_t HashWords(const std::vector<uint32_t>& words) {
  uint64_t h = 0xCBF29CE484222325;
  for (const uint32_t word : words) h = (h ^ word) * 0x100000001B3;
  return h;
}

}  // namespace understudy::emu::ptx
