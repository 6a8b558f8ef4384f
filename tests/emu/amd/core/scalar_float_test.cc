// SPDX-License-Identifier: Apache-2.0
// Scalar float instructions (gfx1150 and RDNA4) against exact soft-float arithmetic, under every rounding
// mode, with denormals kept and flushed.

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "src/base/bits.h"
#include "src/base/soft_float.h"
#include "tests/emu/amd/core/dialect.h"
#include "tests/emu/amd/core/kernel_runner.h"

namespace understudy::emu::amd {
namespace {

struct Input {
  uint32_t a, b, d;
};
struct Output {
  uint32_t d;
  bool scc;
};

// What the instruction sees: its sources with denormals flushed where the mode says so.
struct Machine {
  SoftContext ctx;
  uint32_t Flush32(uint32_t v) const {
    return ctx.denorm != DenormMode::kKeep && (v & 0x7f800000) == 0 ? v & 0x80000000 : v;
  }
  uint16_t Flush16(uint32_t v) const {
    return static_cast<uint16_t>(ctx.denorm != DenormMode::kKeep && (v & 0x7c00) == 0 ? v & 0x8000
                                                                                      : v & 0xffff);
  }
};

bool IsNan32(uint32_t v) { return (v & 0x7fffffff) > 0x7f800000; }
bool IsSnan32(uint32_t v) { return IsNan32(v) && (v & 0x400000) == 0; }
bool IsNan16(uint32_t v) { return (v & 0x7fff) > 0x7c00; }
bool IsSnan16(uint32_t v) { return IsNan16(v) && (v & 0x200) == 0; }
// On the number line, with -0 below +0.
int64_t Key(uint32_t v, int width) {
  const int64_t magnitude = v & LowMask(width - 1);
  return (v >> (width - 1) & 1) != 0 ? -1 - magnitude : magnitude;
}

enum class Extreme { kNum, kNan, kLegacy };
// minimumNumber / minimum (IEEE 754-2019) / RDNA3's min without MODE.IEEE; `sign` -1 for maxima.
uint32_t Min(uint32_t x, uint32_t y, int width, Extreme kind, int sign) {
  const auto nan = [&](uint32_t v) { return width == 32 ? IsNan32(v) : IsNan16(v); };
  const auto snan = [&](uint32_t v) { return width == 32 ? IsSnan32(v) : IsSnan16(v); };
  const uint32_t quiet = width == 32 ? 0x400000 : 0x200;
  if (nan(x) || nan(y)) {
    if (kind == Extreme::kNan) {
      if (snan(x)) return x | quiet;
      if (snan(y)) return y | quiet;
      return nan(x) ? x : y;
    }
    if (nan(x) && nan(y)) return kind == Extreme::kNum ? x | quiet : x;
    return nan(x) ? y : x;
  }
  return sign * Key(x, width) < sign * Key(y, width) ? x : y;
}

using Oracle = std::function<Output(const Machine&, const Input&)>;
struct Case {
  std::string text;  // sources s8 and s9, destination s10
  Oracle oracle;
};

// Which NaN arithmetic gives is not compared here (tests/emu/amd/semantics does); a choice or a conversion of
// NaNs is.
bool ComputesNan(const std::string& text) {
  return text.find("_m") == std::string::npos ? text.find("cvt") == std::string::npos
                                              : text.find("_mul_") != std::string::npos;
}

const FloatFormat& F32() { return formats::kF32; }
const FloatFormat& F16() { return formats::kF16; }

std::vector<Case> Cases(Isa isa) {
  std::vector<Case> cases;
  const auto f32 = [&](const char* text, std::function<uint32_t(const Machine&, const Input&)> fn) {
    cases.push_back({text, [fn](const Machine& m, const Input& i) { return Output{fn(m, i), false}; }});
  };
  const auto u32 = [](uint64_t v) { return static_cast<uint32_t>(v); };
  f32("s_add_f32 s10, s8, s9",
      [=](const Machine& m, const Input& i) { return u32(SoftAdd(F32(), i.a, i.b, m.ctx)); });
  f32("s_sub_f32 s10, s8, s9",
      [=](const Machine& m, const Input& i) { return u32(SoftSub(F32(), i.a, i.b, m.ctx)); });
  f32("s_mul_f32 s10, s8, s9",
      [=](const Machine& m, const Input& i) { return u32(SoftMul(F32(), i.a, i.b, m.ctx)); });
  f32("s_fmac_f32 s10, s8, s9",
      [=](const Machine& m, const Input& i) { return u32(SoftFma(F32(), i.a, i.b, i.d, m.ctx)); });
  f32("s_fmaak_f32 s10, s8, s9, 0x40490fdb",
      [=](const Machine& m, const Input& i) { return u32(SoftFma(F32(), i.a, i.b, 0x40490fdb, m.ctx)); });
  f32("s_fmamk_f32 s10, s8, 0xc0490fdb, s9",
      [=](const Machine& m, const Input& i) { return u32(SoftFma(F32(), i.a, 0xc0490fdb, i.b, m.ctx)); });
  f32("s_add_f16 s10, s8, s9", [=](const Machine& m, const Input& i) {
    return u32(SoftAdd(F16(), i.a & 0xffff, i.b & 0xffff, m.ctx));
  });
  f32("s_sub_f16 s10, s8, s9", [=](const Machine& m, const Input& i) {
    return u32(SoftSub(F16(), i.a & 0xffff, i.b & 0xffff, m.ctx));
  });
  f32("s_mul_f16 s10, s8, s9", [=](const Machine& m, const Input& i) {
    return u32(SoftMul(F16(), i.a & 0xffff, i.b & 0xffff, m.ctx));
  });
  f32("s_fmac_f16 s10, s8, s9", [=](const Machine& m, const Input& i) {
    return u32(SoftFma(F16(), i.a & 0xffff, i.b & 0xffff, i.d & 0xffff, m.ctx));
  });
  const struct {
    const char* name;
    Rounding rounding;
  } kIntegral[] = {{"ceil", Rounding::kUp},
                   {"floor", Rounding::kDown},
                   {"trunc", Rounding::kToZero},
                   {"rndne", Rounding::kNearestEven}};
  for (const auto& op : kIntegral) {
    const Rounding rounding = op.rounding;
    f32((std::string("s_") + op.name + "_f32 s10, s8").c_str(), [=](const Machine& m, const Input& i) {
      SoftContext ctx = m.ctx;
      ctx.rounding = rounding;
      return u32(SoftRoundToIntegral(F32(), i.a, ctx));
    });
    f32((std::string("s_") + op.name + "_f16 s10, s8").c_str(), [=](const Machine& m, const Input& i) {
      SoftContext ctx = m.ctx;
      ctx.rounding = rounding;
      return u32(SoftRoundToIntegral(F16(), i.a & 0xffff, ctx));
    });
  }
  f32("s_cvt_f32_i32 s10, s8", [=](const Machine& m, const Input& i) {
    return u32(SoftFromInt(F32(), static_cast<int32_t>(i.a), m.ctx));
  });
  f32("s_cvt_f32_u32 s10, s8",
      [=](const Machine& m, const Input& i) { return u32(SoftFromUint(F32(), i.a, m.ctx)); });
  f32("s_cvt_i32_f32 s10, s8", [=](const Machine&, const Input& i) {
    return u32(static_cast<uint64_t>(SoftToInt(F32(), i.a, 32, {Rounding::kToZero})));
  });
  f32("s_cvt_u32_f32 s10, s8",
      [=](const Machine&, const Input& i) { return u32(SoftToUint(F32(), i.a, 32, {Rounding::kToZero})); });
  f32("s_cvt_f16_f32 s10, s8",
      [=](const Machine& m, const Input& i) { return u32(SoftConvert(F32(), F16(), i.a, m.ctx)); });
  f32("s_cvt_f32_f16 s10, s8",
      [=](const Machine& m, const Input& i) { return u32(SoftConvert(F16(), F32(), i.a & 0xffff, m.ctx)); });
  f32("s_cvt_hi_f32_f16 s10, s8",
      [=](const Machine& m, const Input& i) { return u32(SoftConvert(F16(), F32(), i.a >> 16, m.ctx)); });
  f32("s_cvt_pk_rtz_f16_f32 s10, s8, s9", [=](const Machine& m, const Input& i) {
    SoftContext ctx = m.ctx;
    ctx.rounding = Rounding::kToZero;
    return u32(SoftConvert(F32(), F16(), i.a, ctx) | SoftConvert(F32(), F16(), i.b, ctx) << 16);
  });
  const auto extreme = [&](const std::string& name, Extreme kind, int sign) {
    cases.push_back({"s_" + name + "_f32 s10, s8, s9", [=](const Machine& m, const Input& i) {
                       return Output{Min(m.Flush32(i.a), m.Flush32(i.b), 32, kind, sign), false};
                     }});
    cases.push_back({"s_" + name + "_f16 s10, s8, s9", [=](const Machine& m, const Input& i) {
                       return Output{Min(m.Flush16(i.a), m.Flush16(i.b), 16, kind, sign), false};
                     }});
  };
  if (isa == Isa::kRdna4) {
    extreme("min_num", Extreme::kNum, 1);
    extreme("max_num", Extreme::kNum, -1);
    extreme("minimum", Extreme::kNan, 1);
    extreme("maximum", Extreme::kNan, -1);
  } else {
    extreme("min", Extreme::kLegacy, 1);
    extreme("max", Extreme::kLegacy, -1);
  }
  const struct {
    const char* name;
    int relations;  // bit 0 less, 1 equal, 2 greater, 3 unordered
  } kCompares[] = {{"lt", 1}, {"eq", 2},  {"le", 3},   {"gt", 4},   {"lg", 5},   {"ge", 6},   {"o", 7},
                   {"u", 8},  {"nge", 9}, {"nlg", 10}, {"ngt", 11}, {"nle", 12}, {"neq", 13}, {"nlt", 14}};
  for (const auto& compare : kCompares) {
    for (const int width : {32, 16}) {
      const int relations = compare.relations;
      cases.push_back({std::string("s_cmp_") + compare.name + (width == 32 ? "_f32" : "_f16") + " s8, s9",
                       [=](const Machine& m, const Input& i) {
                         const uint32_t x = width == 32 ? m.Flush32(i.a) : m.Flush16(i.a),
                                        y = width == 32 ? m.Flush32(i.b) : m.Flush16(i.b);
                         const bool nan = width == 32 ? IsNan32(x) || IsNan32(y) : IsNan16(x) || IsNan16(y);
                         const uint32_t magnitude = static_cast<uint32_t>(LowMask(width - 1));
                         const bool equal = x == y || ((x | y) & magnitude) == 0;
                         const int relation = nan ? 8 : equal ? 2 : Key(x, width) < Key(y, width) ? 1 : 4;
                         return Output{i.d, (relation & relations) != 0};
                       }});
    }
  }
  return cases;
}

std::vector<Input> Inputs() {
  const uint32_t kEdges[] = {
      0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000,
      0x3f000001, 0x3effffff, 0x4b000001, 0x4f000000, 0xcf000000, 0x4f800000, 0x7f7fffff, 0x7f800000,
      0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001, 0xff812345, 0x33000000, 0x387fc000, 0x477ff000,
      0x477fefff, 0x00013c00, 0x80007c00, 0x3c007e01, 0x7c01fc00, 0x03ff0001, 0xfbff7bff, 0x40200000};
  std::vector<Input> inputs;
  std::mt19937 random(5);
  for (const uint32_t a : kEdges) {
    for (const uint32_t b : kEdges) inputs.push_back({a, b, static_cast<uint32_t>(random())});
  }
  for (int i = 0; i < 300; ++i) {
    const auto draw = [&] {
      return static_cast<uint32_t>((random() & 0x83ffffff) | (30 + random() % 4) << 25);
    };
    inputs.push_back({draw(), draw(), draw()});
    inputs.push_back({static_cast<uint32_t>(random()), static_cast<uint32_t>(random()), draw()});
  }
  return inputs;
}

class ScalarFloat : public testing::TestWithParam<Isa> {};

TEST_P(ScalarFloat, AgreesWithExactArithmeticInEveryMode) {
  const Isa isa = GetParam();
  const std::vector<Input> inputs = Inputs();
  const std::vector<Case> cases = Cases(isa);
  constexpr Rounding kRoundings[] = {Rounding::kNearestEven, Rounding::kUp, Rounding::kDown,
                                     Rounding::kToZero};
  // All instructions in one kernel a mode: a row of results an input.
  std::string program = R"(
      s_lshl_b32 s20, $wgx, 4
      s_add_u32 s6, s0, s20
      s_addc_u32 s7, s1, 0
      s_load_b128 s[12:15], s[6:7], 0x0
      s_waitcnt lgkmcnt(0)
      s_mul_i32 s20, $wgx, )" +
                        std::to_string(8 * cases.size()) + "\n";
  for (size_t c = 0; c < cases.size(); ++c) {
    program += "s_mov_b32 s8, s12\ns_mov_b32 s9, s13\ns_mov_b32 s10, s14\ns_cmp_lg_u32 s12, s12\n" +
               cases[c].text +
               R"(
      s_cselect_b32 s11, 1, 0
      v_mov_b32 v1, s20
      v_mov_b32 v2, s10
      v_mov_b32 v3, s11
      global_store_b64 v1, v[2:3], s[2:3]
      s_add_u32 s20, s20, 8
)";
  }
  program += "s_endpgm";
  for (uint32_t mode = 0; mode < 8; ++mode) {
    KernelRunner runner(32, isa);
    const int in = runner.AddBuffer(4 * inputs.size(), Perm::kRead),
              out = runner.AddBuffer(2 * cases.size() * inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const uint32_t words[] = {inputs[i].a, inputs[i].b, inputs[i].d, 0};
      std::copy(words, words + 4, &runner.Buffer(in)[4 * i]);
    }
    const uint32_t round = mode & 3, denorm = mode < 4 ? 0xf : 0;
    runner.regs.rsrc1 = (runner.regs.rsrc1 & ~(0xffu << 12)) | (round | round << 2 | denorm << 4) << 12;
    runner.regs.rsrc2 |= 7u << 7;
    runner.regs.num_thread[0] = 1;
    runner.regs.dim[0] = static_cast<uint32_t>(inputs.size());
    runner.Program(Respell(isa, 32, 4, program));
    runner.Run();
    if (HasFailure()) return;
    Machine machine;
    machine.ctx.rounding = kRoundings[round];
    machine.ctx.denorm = denorm != 0 ? DenormMode::kKeep : DenormMode::kFlushBoth;
    for (size_t i = 0; i < inputs.size(); ++i) {
      for (size_t c = 0; c < cases.size(); ++c) {
        const uint32_t* got = &runner.Buffer(out)[2 * (i * cases.size() + c)];
        const Output want = cases[c].oracle(machine, inputs[i]);
        const bool f16 = cases[c].text.find("_f16 ") != std::string::npos;
        const bool both_nan = f16 ? IsNan16(got[0]) && IsNan16(want.d) : IsNan32(got[0]) && IsNan32(want.d);
        ASSERT_TRUE((got[0] == want.d || (ComputesNan(cases[c].text) && both_nan)) && got[1] == want.scc)
            << std::hex << cases[c].text << " a " << inputs[i].a << " b " << inputs[i].b << " d "
            << inputs[i].d << " mode " << mode << ": want " << want.d << " scc " << want.scc << ", got "
            << got[0] << " scc " << got[1];
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Generations, ScalarFloat, testing::Values(Isa::kRdna35, Isa::kRdna4),
                         [](const auto& info) { return std::string(IsaTarget(info.param)); });

}  // namespace
}  // namespace understudy::emu::amd
