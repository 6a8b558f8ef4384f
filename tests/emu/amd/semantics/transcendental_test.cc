// SPDX-License-Identifier: Apache-2.0
// The seven approximate functions of f32 over all 2^32 inputs (US_EXHAUSTIVE=1; without it over an eighth of
// them, in runs of 512 from every sign and exponent), through the loops that this host runs, against
// references in double precision of another construction: residuals for reciprocals and roots, tables with
// short polynomials for the others (themselves held against long double). The bound asserted is 0.5001 ulp,
// where the manual allows 1. The f16 forms are compared with the rounded long double value for every input.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "emu/amd/semantics/float_bits.h"
#include "src/base/float_format.h"
#include "tests/emu/amd/semantics/machine.h"

namespace understudy::emu::amd {
namespace {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define US_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define US_CLONES
#endif

constexpr int kChunk = 512;  // consecutive inputs: all of one sign and exponent

// A function: what it gives for `n` inputs, as doubles; results beyond f32 are infinite or below the least
// normal.
struct Tables {
  double exp2[32], log2[129], inverse[129], sine[64], cosine[64];
  Tables() {
    constexpr long double kPi = 3.14159265358979323846264338327950288L;
    for (int i = 0; i < 32; ++i) exp2[i] = static_cast<double>(std::exp2(static_cast<long double>(i) / 32));
    for (int i = 0; i <= 128; ++i) {
      inverse[i] = 1.0 / (1.0 + i / 128.0);
      log2[i] = static_cast<double>(-std::log2(static_cast<long double>(inverse[i])));
    }
    for (int i = 0; i < 64; ++i) {
      sine[i] = i % 32 == 0 ? 0 : static_cast<double>(std::sin(2 * kPi * i / 64));
      cosine[i] = i % 32 == 16 ? 0 : static_cast<double>(std::cos(2 * kPi * i / 64));
    }
  }
};
const Tables kTables;

US_CLONES void RefExp2(const float* in, double* out) {
  const double* const table = kTables.exp2;
  for (int i = 0; i < kChunk; ++i) {
    const double x = std::fmin(std::fmax(static_cast<double>(in[i]), -200.0), 200.0);
    const double k = std::floor(x * 32.0 + 0.5), t = (x - k / 32.0) * 0.693147180559945309417;
    const int32_t n = static_cast<int32_t>(k);
    const double p =
        1.0 + t * (1.0 + t * (1.0 / 2 + t * (1.0 / 6 + t * (1.0 / 24 + t * (1.0 / 120 + t / 720)))));
    out[i] = p * table[n & 31] * DoubleOf(static_cast<uint64_t>(int64_t{n >> 5} + 1023) << 52);
  }
}
US_CLONES void RefLog2(const float* in, double* out) {
  const double *const table = kTables.log2, *const inverse = kTables.inverse;
  for (int i = 0; i < kChunk; ++i) {
    const uint32_t bits = BitsOf(in[i]);
    const int32_t e = static_cast<int32_t>(bits >> 23) - 127;
    const double m = DoubleOf(uint64_t{0x3ff} << 52 | uint64_t{bits & 0x7fffffu} << 29);
    const int32_t j = static_cast<int32_t>((bits & 0x7fffffu) + 0x8000u) >> 16;
    const double r = m * inverse[j] - 1.0;
    const double p =
        r * (1.0 - r * (1.0 / 2 - r * (1.0 / 3 - r * (1.0 / 4 - r * (1.0 / 5 - r * (1.0 / 6 - r / 7))))));
    out[i] = (e + table[j]) + p * 1.44269504088896340736;
  }
}
template <bool kCosine>
inline double RefTurn(float v) {
  const double x = v;
  const double r = x - std::floor(x);
  const double k = std::floor(r * 64.0 + 0.5), d = (r - k / 64.0) * 6.28318530717958647693;
  const int32_t j = static_cast<int32_t>(k) & 63;
  const double q = d * d;
  const double s = d * (1.0 - q * (1.0 / 6 - q * (1.0 / 120 - q / 5040)));
  const double c = 1.0 - q * (1.0 / 2 - q * (1.0 / 24 - q * (1.0 / 720 - q / 40320)));
  return kCosine ? kTables.cosine[j] * c - kTables.sine[j] * s : kTables.sine[j] * c + kTables.cosine[j] * s;
}
US_CLONES void RefSin(const float* in, double* out) {
  for (int i = 0; i < kChunk; ++i)
    out[i] = RefTurn<false>(std::fabs(in[i])) * (std::signbit(in[i]) ? -1.0 : 1.0);
}
US_CLONES void RefCos(const float* in, double* out) {
  for (int i = 0; i < kChunk; ++i) out[i] = RefTurn<true>(std::fabs(in[i]));
}
US_CLONES void RefRcp(const float* in, double* out) {
  for (int i = 0; i < kChunk; ++i) out[i] = 1.0 / static_cast<double>(in[i]);
}
// The square root by its residual: sqrt(a) = r + (a - r * r) / (2 r) + ..., with r a first guess of 24 bits.
US_CLONES void RefSqrt(const float* in, double* out) {
  for (int i = 0; i < kChunk; ++i) {
    const double a = in[i];
    double r = DoubleOf((BitsOf(a) >> 1) +
                        (uint64_t{0x1ff8} << 48));  // Newton's iteration from the exponent's half
    for (int step = 0; step < 5; ++step) r = 0.5 * (r + a / r);
    out[i] = r;
  }
}
US_CLONES void RefRsq(const float* in, double* out) {
  for (int i = 0; i < kChunk; ++i) {
    const double a = in[i];
    double y = DoubleOf(0x5fe6eb50c7b537a9u - (BitsOf(a) >> 1));
    for (int step = 0; step < 5; ++step) y = y * (1.5 - 0.5 * a * y * y);
    out[i] = y;
  }
}

// The greatest distance in units of the last place; 1e9 where a result that is flushed or infinite is not.
US_CLONES double Distance(const double* wanted, const float* got, bool flushes) {
  double worst = 0;
  for (int i = 0; i < kChunk; ++i) {
    const double w = wanted[i], magnitude = std::fabs(w);
    const uint32_t bits = BitsOf(got[i]), field = (BitsOf(static_cast<float>(w)) >> 23) & 0xff;
    const int64_t exponent = field == 0 ? 1 : field;
    const double inverse_ulp = DoubleOf(static_cast<uint64_t>(1023 + 150 - exponent) << 52);
    const double distance = std::fabs(w - static_cast<double>(got[i])) * inverse_ulp;
    const bool over = magnitude >= 0x1.ffffffp127, under = flushes && magnitude < 0x1.ffffffp-127;
    const uint32_t sign = BitsOf(w) >> 63 != 0 ? 0x80000000u : 0u;
    const double wrong_special = bits == (over ? sign | 0x7f800000u : sign) ? 0.0 : 1e9;
    const double error = over || under ? wrong_special : distance;
    worst = error > worst ? error : worst;
    worst = error == error ? worst : 1e9;
  }
  return worst;
}

struct Function {
  const char* name;
  Opcode op;
  void (*reference)(const float*, double*);
  long double (*precise)(long double);
  bool flushes;          // denormals in and out
  bool nan_of_negative;  // not defined below zero
  // Results for +0, -0, +inf, -inf; NaN stands for the default NaN.
  uint32_t special[4];
};
constexpr uint32_t kInf = 0x7f800000u, kMinusInf = 0xff800000u, kNan = 0xffc00000u, kOne = 0x3f800000u,
                   kMinus0 = 0x80000000u;
constexpr long double kTwoPi = 6.28318530717958647692528676655900577L;
const Function kFunctions[] = {
    {"exp",
     Opcode::V_EXP_F32,
     RefExp2,
     [](long double x) { return std::exp2(x); },
     true,
     false,
     {kOne, kOne, kInf, 0}},
    {"log",
     Opcode::V_LOG_F32,
     RefLog2,
     [](long double x) { return std::log2(x); },
     true,
     true,
     {kMinusInf, kMinusInf, kInf, kNan}},
    {"rcp",
     Opcode::V_RCP_F32,
     RefRcp,
     [](long double x) { return 1 / x; },
     true,
     false,
     {kInf, kMinusInf, 0, kMinus0}},
    {"rsq",
     Opcode::V_RSQ_F32,
     RefRsq,
     [](long double x) { return 1 / std::sqrt(x); },
     true,
     true,
     {kInf, kMinusInf, 0, kNan}},
    {"sqrt",
     Opcode::V_SQRT_F32,
     RefSqrt,
     [](long double x) { return std::sqrt(x); },
     true,
     true,
     {0, kMinus0, kInf, kNan}},
    {"sin",
     Opcode::V_SIN_F32,
     RefSin,
     [](long double x) { return std::sin(kTwoPi * (x - std::rint(x))); },
     false,
     false,
     {0, kMinus0, kNan, kNan}},
    {"cos",
     Opcode::V_COS_F32,
     RefCos,
     [](long double x) { return std::cos(kTwoPi * (x - std::rint(x))); },
     false,
     false,
     {kOne, kOne, kNan, kNan}},
};

void RunLoop(Opcode op, const float* in, float* out) {
  const LaneFn kernel = VectorEntryOf(Isa::kRdna3, op).kernel.host_like;
  LaneArrays arrays = {};
  arrays.mode = FpMode::FromModeRegister(0xf0);
  arrays.lanes = 64;
  for (int base = 0; base < kChunk; base += 64) {
    arrays.src[0][0] = reinterpret_cast<const uint32_t*>(in + base);
    arrays.dst[0] = reinterpret_cast<uint32_t*>(out + base);
    kernel(arrays);
  }
}

// One input whose result does not depend on rounding, or 0 where it does: true where `got` is right.
bool SpecialIsRight(const Function& f, uint32_t in, uint32_t got) {
  if ((in & 0x7fffffffu) > kInf) return got == (in | 0x400000u);
  if ((in & 0x7fffffffu) == kInf) return got == f.special[in == kInf ? 2 : 3];
  return got == f.special[in >> 31];
}

// Every input whose leading 9 bits are `top`.
double CheckExponent(const Function& f, uint32_t top, std::atomic<int>* wrong,
                     std::atomic<uint32_t>* example) {
  alignas(64) float in[kChunk], got[kChunk];
  alignas(64) double wanted[kChunk];
  double worst = 0;
  const bool negative = (top & 0x100) != 0, zero = (top & 0xff) == 0, special = (top & 0xff) == 0xff;
  const uint32_t stride = std::getenv("US_EXHAUSTIVE") != nullptr ? kChunk : 8 * kChunk;
  for (uint32_t base = 0; base < 0x800000; base += stride) {
    const uint32_t first = top << 23 | base;
    for (uint32_t i = 0; i < kChunk; ++i) in[i] = FloatOf(first + i);
    RunLoop(f.op, in, got);
    if (special || (zero && (f.flushes || base == 0)) || (negative && f.nan_of_negative)) {
      for (uint32_t i = 0; i < kChunk; ++i) {
        const uint32_t bits = first + i;
        bool right;
        if (special || (zero && (f.flushes || bits << 1 == 0))) {
          right = SpecialIsRight(f, bits, BitsOf(got[i]));
        } else if (negative && f.nan_of_negative) {
          right = BitsOf(got[i]) == kNan;
        } else {
          continue;
        }
        if (!right && (*wrong)++ == 0) *example = bits;
      }
      if (special || f.flushes || (negative && f.nan_of_negative)) continue;
      if (base == 0) in[0] = in[1], got[0] = got[1];  // zero has been seen to
    }
    f.reference(in, wanted);
    const double distance = Distance(wanted, got, f.flushes);
    if (distance > worst) {
      worst = distance;
      if (distance > 0.5001) *example = first;
    }
  }
  return worst;
}

class Transcendentals : public ::testing::TestWithParam<Function> {};

TEST_P(Transcendentals, InputsAreWithinTheBound) {
  const Function& f = GetParam();
  const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::atomic<uint32_t> next{0}, example{0};
  std::atomic<int> wrong{0};
  std::vector<double> worst(static_cast<size_t>(threads), 0);
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t) {
    pool.emplace_back([&, t] {
      for (uint32_t top = next++; top < 512; top = next++) {
        const double distance = CheckExponent(f, top, &wrong, &example);
        worst[static_cast<size_t>(t)] = std::max(worst[static_cast<size_t>(t)], distance);
      }
    });
  }
  for (std::thread& thread : pool) thread.join();
  double most = 0;
  for (const double w : worst) most = std::max(most, w);
  EXPECT_LE(most, 0.5001) << "near " << std::hex << example;
  EXPECT_EQ(wrong, 0) << "for example " << std::hex << example;
  RecordExecuted(Isa::kRdna3, f.op);
}

TEST_P(Transcendentals, ReferenceAgreesWithLongDouble) {
  const Function& f = GetParam();
  testing::Draws draws(static_cast<uint64_t>(f.op));
  for (int round = 0; round < 200; ++round) {
    float in[kChunk];
    double out[kChunk];
    for (float& v : in) {
      v = FloatOf((draws.Word() & 0x807fffffu) | (f.flushes ? 1 + draws.Below(254) : 90 + draws.Below(60))
                                                     << 23);
      if (f.nan_of_negative) v = std::fabs(v);
      if (f.op == Opcode::V_EXP_F32) v = FloatOf((BitsOf(v) & 0x807fffffu) | (100 + draws.Below(34)) << 23);
    }
    f.reference(in, out);
    for (int i = 0; i < kChunk; ++i) {
      const long double wanted = f.precise(in[i]);
      ASSERT_LE(std::fabs(static_cast<double>(out[i] - wanted)),
                std::fabs(static_cast<double>(wanted)) * 0x1p-36 + 1e-18)
          << f.name << " of " << in[i];
    }
  }
}

TEST_P(Transcendentals, EveryHalfIsTheRoundedValue) {
  const Function& f = GetParam();
  std::string name = OpcodeName(f.op);
  name.replace(name.size() - 3, 3, "F16");
  Opcode op = Opcode::kCount;
  for (int i = 0; i < static_cast<int>(Opcode::kCount); ++i) {
    if (name == OpcodeName(static_cast<Opcode>(i))) op = static_cast<Opcode>(i);
  }
  testing::Machine m(64);
  for (uint32_t base = 0; base < 0x10000; base += 64) {
    for (uint32_t lane = 0; lane < 64; ++lane) m.Reg(1, static_cast<int>(lane)) = base + lane;
    ASSERT_EQ(m.Execute(testing::Make(op, Encoding::VOP1, {testing::V(9)}, {testing::V(1)})), "");
    for (uint32_t lane = 0; lane < 64; ++lane) {
      const double x = DecodeFloat(formats::kF16, base + lane);
      const uint64_t got = m.Reg(9, static_cast<int>(lane)) & 0xffff;
      if (x == 0 || std::isnan(x) || std::isinf(x))
        continue;  // as f32's, whose special values are checked above
      const uint64_t wanted = EncodeFloat(formats::kF16, static_cast<double>(f.precise(x)));
      if (formats::kF16.IsNan(wanted)) {
        ASSERT_TRUE(formats::kF16.IsNan(got)) << name << " of " << x;
      } else if ((wanted & 0x7fff) == 0 && !f.flushes) {
        ASSERT_EQ(got & 0x7fff, 0u) << name << " of " << x;  // whole turns: the sign of zero is f32's
      } else {
        ASSERT_EQ(got, wanted) << name << " of " << x;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Transcendentals, ::testing::ValuesIn(kFunctions),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace understudy::emu::amd
