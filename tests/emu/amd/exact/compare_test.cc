// SPDX-License-Identifier: Apache-2.0
// Vector comparisons of every generation, in both encodings: conditions over the host's own types. V_CMP
// writes a mask, V_CMPX writes EXEC (and, on CDNA, that mask too); bits of inactive lanes become 0.

#include <gtest/gtest.h>

#include <cstring>

#include "tests/emu/amd/exact/bench.h"
#include "tests/emu/amd/exact/host_float.h"

namespace understudy::emu::amd::exact {
namespace {

// What is known of two values: exactly one of the four.
enum class Order { kLess, kEqual, kGreater, kUnordered };

template <class T>
Order Compare(T a, T b) {
  return a < b ? Order::kLess : a > b ? Order::kGreater : a == b ? Order::kEqual : Order::kUnordered;
}

struct Condition {
  const char* name;
  bool less, equal, greater, unordered;
};
constexpr Condition kConditions[] = {
    {"F", false, false, false, false}, {"LT", true, false, false, false}, {"EQ", false, true, false, false},
    {"LE", true, true, false, false},  {"GT", false, false, true, false}, {"GE", false, true, true, false},
    {"LG", true, false, true, false},  {"O", true, true, true, false},    {"U", false, false, false, true},
    {"NGE", true, false, false, true}, {"NLG", false, true, false, true}, {"NGT", true, true, false, true},
    {"NLE", false, false, true, true}, {"NEQ", true, false, true, true},  {"NLT", false, true, true, true},
    {"T", true, true, true, true},     {"TRU", true, true, true, true},   {"NE", true, false, true, false},
};

struct Type {
  const char* name;
  int bits;
  bool is_float;
  Order (*compare)(uint64_t a, uint64_t b);
};
constexpr Type kTypes[] = {
    {"I16", 16, false,
     [](uint64_t a, uint64_t b) { return Compare(static_cast<int16_t>(a), static_cast<int16_t>(b)); }},
    {"U16", 16, false, [](uint64_t a, uint64_t b) { return Compare(a & 0xffff, b & 0xffff); }},
    {"I32", 32, false,
     [](uint64_t a, uint64_t b) { return Compare(static_cast<int32_t>(a), static_cast<int32_t>(b)); }},
    {"U32", 32, false,
     [](uint64_t a, uint64_t b) { return Compare(static_cast<uint32_t>(a), static_cast<uint32_t>(b)); }},
    {"I64", 64, false,
     [](uint64_t a, uint64_t b) { return Compare(static_cast<int64_t>(a), static_cast<int64_t>(b)); }},
    {"U64", 64, false, [](uint64_t a, uint64_t b) { return Compare(a, b); }},
    {"F16", 16, true, [](uint64_t a, uint64_t b) { return Compare(F16(a & 0xffff), F16(b & 0xffff)); }},
    {"F32", 32, true,
     [](uint64_t a, uint64_t b) {
       return Compare(F32(static_cast<uint32_t>(a)), F32(static_cast<uint32_t>(b)));
     }},
    {"F64", 64, true, [](uint64_t a, uint64_t b) { return Compare(F64(a), F64(b)); }},
};

// The bit of a class mask that a value has: signalling NaN, quiet NaN, -infinity, -normal, -denormal, -0, +0,
// +denormal, +normal, +infinity.
int ClassBit(int bits, uint64_t value) {
  const int fraction_bits = bits == 16 ? 10 : bits == 32 ? 23 : 52;
  const uint64_t fraction = value & ((uint64_t{1} << fraction_bits) - 1);
  const uint64_t exponent_ones = (uint64_t{1} << (bits - 1 - fraction_bits)) - 1;
  const uint64_t exponent = value >> fraction_bits & exponent_ones;
  const bool negative = (value >> (bits - 1) & 1) != 0;
  if (exponent == exponent_ones && fraction != 0) return (fraction >> (fraction_bits - 1)) != 0 ? 1 : 0;
  const int magnitude = exponent == exponent_ones ? 3 : exponent != 0 ? 2 : fraction != 0 ? 1 : 0;
  return negative ? 5 - magnitude : 6 + magnitude;
}

uint64_t MinusMagnitude(uint64_t value, int bits) { return value | uint64_t{1} << (bits - 1); }
uint64_t Magnitude(uint64_t value, int bits) { return value & ~(uint64_t{1} << (bits - 1)); }

// Adds V_CMP and V_CMPX of one condition and type. Returns the number of instructions.
using Decide = std::function<bool(uint64_t a, uint64_t b)>;
int AddComparison(Bench& bench, const std::string& name, int bits, int second_bits, bool is_float,
                  bool second_is_float, const Decide& decide) {
  int added = 0;
  const bool rdna = IsRdna(bench.isa());
  for (const bool x : {false, true}) {
    const std::string mnemonic = (x ? "V_CMPX_" : "V_CMP_") + name;
    for (const Encoding enc : {Encoding::VOPC, Encoding::VOP3}) {
      const decode::Row* row = bench.Find(enc, mnemonic);
      if (row == nullptr) continue;
      ++added;
      const bool e64 = enc == Encoding::VOP3;
      for (const bool mods : {false, true}) {
        if (mods && !(e64 && is_float)) continue;
        Case c;
        std::string a = bits == 64 ? "v[4:5]" : "v4", b = second_bits == 64 ? "v[6:7]" : "v6";
        if (rdna && row->src[0].half) a += ".l";
        if (rdna && row->src[1].half) b += ".l";
        if (mods) a = "-|" + a + "|";
        if (mods && second_is_float) b = "|" + b + "|";
        std::string destination;
        if (!x || !rdna) {
          destination = (e64 ? bench.S40() : bench.Vcc()) + ", ";
          c.masks |= e64 ? kToS40 : kToVcc;
        }
        if (x) c.masks |= kToExec;
        c.text = LowerCase(mnemonic.c_str()) + (e64 ? "_e64 " : "_e32 ") + destination + a + ", " + b;
        c.lane = [=](Lane& lane) {
          uint64_t first = lane.Wide(0), second = lane.Wide(2);
          if (bits < 64) first &= (uint64_t{1} << bits) - 1;
          if (second_bits < 64) second &= (uint64_t{1} << second_bits) - 1;
          if (mods) first = MinusMagnitude(first, bits);
          if (mods && second_is_float) second = Magnitude(second, second_bits);
          lane.bit = decide(first, second);
        };
        bench.Add(std::move(c));
      }
    }
  }
  return added;
}

class Comparison : public testing::TestWithParam<Isa> {};

TEST_P(Comparison, ConditionsOfEveryType) {
  int instructions = 0;
  for (const int wave_size : WaveSizes(GetParam())) {
    Bench bench(GetParam(), wave_size);
    for (const Type& type : kTypes) {
      for (const Condition& condition : kConditions) {
        instructions +=
            AddComparison(bench, std::string(condition.name) + "_" + type.name, type.bits, type.bits,
                          type.is_float, type.is_float, [&type, &condition](uint64_t a, uint64_t b) {
                            switch (type.compare(a, b)) {
                              case Order::kLess:
                                return condition.less;
                              case Order::kEqual:
                                return condition.equal;
                              case Order::kGreater:
                                return condition.greater;
                              default:
                                return condition.unordered;
                            }
                          });
      }
    }
    bench.Run(24);
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(instructions, 2 * 2 * 9 * 6);
}

TEST_P(Comparison, Classes) {
  for (const int wave_size : WaveSizes(GetParam())) {
    Bench bench(GetParam(), wave_size);
    for (const int bits : {16, 32, 64}) {
      // The mask is the low ten bits of a number, whose other bits have no meaning.
      EXPECT_EQ(
          AddComparison(bench, "CLASS_F" + std::to_string(bits), bits, bits == 16 ? 16 : 32, true, false,
                        [bits](uint64_t a, uint64_t b) { return (b >> ClassBit(bits, a) & 1) != 0; }),
          4);
    }
    bench.Run(60);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Generations, Comparison, testing::ValuesIn(kAllIsas),
                         [](const auto& info) { return std::string(IsaTarget(info.param)); });

}  // namespace
}  // namespace understudy::emu::amd::exact
