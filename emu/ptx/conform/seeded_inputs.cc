// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/conform/seeded_inputs.h"

#include <cstring>

namespace understudy::emu::ptx::conform {
namespace {

enum class InputStream : uint8_t { kA, kB, kC, kMetadata, kShared };
enum class InputClass : uint8_t { kBits, kNarrow, kWide, kEdge };

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

InputClass InputClassOf(const std::string& name) {
  return name == "bits"     ? InputClass::kBits
         : name == "narrow" ? InputClass::kNarrow
         : name == "wide"   ? InputClass::kWide
                            : InputClass::kEdge;
}

std::vector<uint64_t> Registers(Type type, int count, InputClass cls, uint64_t seed, InputStream stream,
                                int sample, int lanes) {
  const int bits = TypeBits(type), per = bits == 64 ? 1 : 32 / bits;
  std::vector<uint64_t> out(static_cast<size_t>(count * lanes));
  uint64_t index = 0;
  for (uint64_t& word : out)
    for (int e = 0; e < per; ++e)
      word |= Element(type, cls, RandomWord(seed, stream, sample, index++)) << (e * bits);
  return out;
}

// A word of valid ordered metadata a lane.
std::vector<uint64_t> Metadata(Type type, uint64_t seed, int sample, int lanes) {
  static constexpr uint32_t kPairs[] = {0x4, 0x8, 0xC, 0x9, 0xD, 0xE}, kHalves[] = {0x4, 0xE};
  std::vector<uint64_t> out(static_cast<size_t>(lanes));
  uint64_t index = 0;
  for (uint64_t& word : out)
    for (int i = 0; i < 8; ++i) {
      const uint64_t r = RandomWord(seed, InputStream::kMetadata, sample, index++) >> 20;
      word |= (type == Type::kTf32 ? kHalves[r % 2] : kPairs[r % 6]) << (4 * i);
    }
  return out;
}

uint64_t SmallNumber(Type type, uint32_t value) {
  static constexpr uint8_t kE4m3[] = {0, 0x38, 0x40, 0x44, 0x48, 0x4A, 0x4C, 0x4E};
  if (type == Type::kE4m3) return kE4m3[value];
  if (type != Type::kTf32) return value;
  const float number = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &number, 4);
  return bits;
}

// The stored column `column` of a is ones, and b's rows spell their number in octal digits: the result names
// the row that the metadata selected.
void FillOneHot(const Seeded& seeded, int column, SeededInputs* inputs) {
  const Type type = seeded.types[1];
  const int bits = TypeBits(type), per = 32 / bits;
  for (int r = 0; r < seeded.registers[1]; ++r)
    for (int lane = 0; lane < 32; ++lane) {
      uint64_t word = 0;
      for (int e = 0; e < per; ++e)
        if ((4 * (r >> 1) + lane % 4) * per + e == column) word |= SmallNumber(type, 1) << (bits * e);
      inputs->a.push_back(word);
    }
  for (int r = 0; r < seeded.registers[2]; ++r)
    for (int lane = 0; lane < 32; ++lane) {
      uint64_t word = 0;
      for (int e = 0; e < per; ++e) {
        const int k = (4 * r + lane % 4) * per + e, n = lane / 4;
        word |= SmallNumber(type, n < 3 ? static_cast<uint32_t>(k >> (3 * n)) & 7 : 0) << (bits * e);
      }
      inputs->b.push_back(word);
    }
  inputs->c.assign(static_cast<size_t>(seeded.registers[3] * 32), 0);
}

}  // namespace

SeededInputs InputsOf(const Seeded& seeded, int index) {
  SeededInputs inputs;
  const int sample = seeded.first + index, lanes = seeded.lanes();
  const InputClass cls = InputClassOf(seeded.input_class);
  if (seeded.input_class == "onehot") {
    FillOneHot(seeded, sample, &inputs);
  } else {
    const auto draw = [&](int operand, int count, InputStream stream, int wide) {
      return Registers(seeded.types[operand], count, cls, seeded.seed, stream, sample, wide);
    };
    inputs.a = draw(1, seeded.registers[1], InputStream::kA, lanes);
    inputs.c = draw(seeded.warpgroup ? 0 : 3, seeded.registers[3], InputStream::kC, lanes);
    if (seeded.warpgroup) {
      constexpr int kRows = static_cast<int>(kOperandBytes / 128);
      inputs.shared = draw(1, kRows, InputStream::kShared, 32);
      const std::vector<uint64_t> b = draw(2, kRows, InputStream::kB, 32);
      inputs.shared.insert(inputs.shared.end(), b.begin(), b.end());
    } else {
      inputs.b = draw(2, seeded.registers[2], InputStream::kB, lanes);
    }
  }
  if (seeded.sparse) inputs.metadata = Metadata(seeded.types[1], seeded.seed, sample, lanes);
  return inputs;
}

}  // namespace understudy::emu::ptx::conform
