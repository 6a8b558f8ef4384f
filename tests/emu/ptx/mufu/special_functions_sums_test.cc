// SPDX-License-Identifier: Apache-2.0
// Checksums of what an H200 answers for all 2^32 inputs of each approximate function (recorded by
// tools/hw/record_special_functions.cc), against the emulation. The file has, for each form, a name of 32
// bytes, sums of 512 blocks of 2^23 inputs, and sums of every 127th block of 2^16; by default the latter are
// compared.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <string>

#include "emu/ptx/semantics/special_functions.h"

namespace understudy::emu::ptx {
namespace {

#ifdef UNDERSTUDY_EXHAUSTIVE
constexpr bool kExhaustive = true;
#else
constexpr bool kExhaustive = false;
#endif
constexpr int kExponents = 512, kSamples = 517, kSampleStride = 127;

uint32_t Mix(uint32_t v) {
  v ^= v >> 15;
  v *= 0x85EBCA77;
  v ^= v >> 13;
  v *= 0xC2B2AE3D;
  return v ^ v >> 16;
}

struct Recording {
  char name[32];
  uint64_t exponents[kExponents];
  uint64_t samples[kSamples];
};

// The sum of one block of 2^16 inputs, as the recorder's kernel makes it.
using Sum = std::function<uint64_t(uint32_t block)>;

template <class F>
Sum Words(F f) {
  return [f](uint32_t block) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 65536; ++i) {
      const uint32_t x = block << 16 | i;
      sum += Mix(x * 0x9E3779B1u ^ f(x));
    }
    return sum;
  };
}

template <class F>
Sum Doubles(F f, bool low) {
  return [f, low](uint32_t block) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 65536; ++i) {
      const uint32_t x = block << 16 | i;
      const uint64_t out = f(low ? uint64_t{x} : uint64_t{x} << 32 | Mix(x));
      sum += Mix(x * 0x9E3779B1u ^ static_cast<uint32_t>(out));
      sum += Mix(x * 0x85EBCA6Bu ^ static_cast<uint32_t>(out >> 32));
    }
    return sum;
  };
}

template <class F>
Sum Halves(F f) {
  return Words([f](uint32_t x) {
    return f(static_cast<uint16_t>(x)) | uint32_t{f(static_cast<uint16_t>(x >> 16))} << 16;
  });
}

// The recorder's operands of divisions.
struct Pairs {
  uint32_t a_and, a_or, b_and, b_or;
};
constexpr Pairs kPairs[] = {{0xFFFFFFFF, 0, 0xFFFFFFFF, 0},
                            {0xFFFFFFFF, 0, 0x80FFFFFF, 0x7E000000},
                            {0xBFFFFFFF, 0x20000000, 0xBFFFFFFF, 0x20000000},
                            {0xFFFFFFFF, 0, 0x81FFFFFF, 0},
                            {0x81FFFFFF, 0, 0xFFFFFFFF, 0}};

template <class F>
Sum Quotients(F f, Pairs p) {
  return Words([f, p](uint32_t x) {
    const uint32_t a = Mix(x + 0x9E3779B9), b = Mix((a ^ 0x7F4A7C15) * 0x9E3779B1u);
    return f((a & p.a_and) | p.a_or, (b & p.b_and) | p.b_or);
  });
}

std::map<std::string, Sum> Forms() {
  std::map<std::string, Sum> forms;
  for (const bool ftz : {false, true}) {
    const std::string suffix = ftz ? "_ftz" : "";
    forms["rcp" + suffix] = Words([ftz](uint32_t x) { return RcpApproxF32(x, ftz); });
    forms["rsqrt" + suffix] = Words([ftz](uint32_t x) { return RsqrtApproxF32(x, ftz); });
    forms["sqrt" + suffix] = Words([ftz](uint32_t x) { return SqrtApproxF32(x, ftz); });
    forms["sin" + suffix] = Words([](uint32_t x) { return SinApproxF32(x); });
    forms["cos" + suffix] = Words([](uint32_t x) { return CosApproxF32(x); });
    forms["lg2" + suffix] = Words([ftz](uint32_t x) { return Lg2ApproxF32(x, ftz); });
    forms["ex2" + suffix] = Words([ftz](uint32_t x) { return Ex2ApproxF32(x, ftz); });
    forms["rsqrt64" + suffix] = Doubles([ftz](uint64_t x) { return RsqrtApproxF64(x, ftz); }, false);
    for (size_t p = 0; p < std::size(kPairs); ++p) {
      const std::string end = suffix + "." + std::to_string(p);
      forms["div" + end] =
          Quotients([ftz](uint32_t a, uint32_t b) { return DivApproxF32(a, b, ftz); }, kPairs[p]);
      forms["div_full" + end] =
          Quotients([ftz](uint32_t a, uint32_t b) { return DivFullF32(a, b, ftz); }, kPairs[p]);
    }
  }
  forms["tanh"] = Words([](uint32_t x) { return TanhApproxF32(x); });
  forms["rcp64_ftz"] = Doubles([](uint64_t x) { return RcpApproxFtzF64(x); }, false);
  forms["rsqrt64_low"] = Doubles([](uint64_t x) { return RsqrtApproxF64(x, false); }, true);
  forms["ex2_f16x2"] = Halves([](uint16_t x) { return Ex2ApproxF16(x); });
  forms["tanh_f16x2"] = Halves([](uint16_t x) { return TanhApproxF16(x); });
  forms["ex2_bf16x2"] = Halves([](uint16_t x) { return Ex2ApproxFtzBf16(x); });
  forms["tanh_bf16x2"] = Halves([](uint16_t x) { return TanhApproxBf16(x); });
  return forms;
}

TEST(SpecialFunctions, HaveTheSumsOfAnH200) {
  std::ifstream file("tests/data/conformance/ptx/h200_special_functions.bin", std::ios::binary);
  ASSERT_TRUE(file.good());
  const std::map<std::string, Sum> forms = Forms();
  Recording recording;
  size_t seen = 0;
  while (file.read(reinterpret_cast<char*>(&recording), sizeof recording)) {
    recording.name[31] = 0;
    const auto found = forms.find(recording.name);
    ASSERT_NE(found, forms.end()) << recording.name;
    ++seen;
    if (kExhaustive) {
      for (uint32_t e = 0; e < kExponents; ++e) {
        uint64_t sum = 0;
        for (uint32_t block = e * 128; block < (e + 1) * 128; ++block) sum += found->second(block);
        EXPECT_EQ(sum, recording.exponents[e]) << recording.name << " from " << std::hex << (e << 23);
      }
    } else {
      for (uint32_t s = 0; s < kSamples; s += 2) {
        EXPECT_EQ(found->second(s * kSampleStride), recording.samples[s])
            << recording.name << " from " << std::hex << (s * kSampleStride << 16);
      }
    }
  }
  EXPECT_EQ(seen, forms.size());
}

}  // namespace
}  // namespace understudy::emu::ptx
