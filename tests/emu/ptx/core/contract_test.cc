// SPDX-License-Identifier: Apache-2.0
// Which sums are fused with which products: as ptxas 13.0's machine code for sm_90 has it, case by case.
#include "emu/ptx/core/contract.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emu/ptx/parse/parse.h"

namespace understudy::emu::ptx {
namespace {

// One a line: the sum's result, '=', the fused factors' product by its result, signs.
std::string Fused(const std::string& body) {
  const std::string text =
      ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .b32 "
      "a, b, c, e, p, q, r, s, t, u, v, n;\n.reg .pred g;\n.reg .b64 o;\nld.param.u64 o, "
      "[out];\nld.global.b32 "
      "a, [o];\nld.global.b32 b, [o+4];\nld.global.b32 c, [o+8];\nld.global.b32 e, [o+12];\nsetp.gt.f32 g, "
      "c, "
      "e;\n" +
      body + "\nret;\n}\n";
  const ParseResult parsed = Parse(text);
  if (parsed.module == nullptr) return "does not parse: " + text;
  const Function& f = parsed.module->functions[0];
  std::vector<Flow> flow(f.body.size());
  for (size_t i = 0; i < f.body.size(); ++i) {
    const Instruction& inst = f.body[i];
    if (inst.op == Op::kBra) {
      flow[i].targets.push_back(static_cast<uint32_t>(inst.operands[0].index));
      flow[i].falls_through = inst.has_guard;
    }
    if (inst.op == Op::kRet) flow[i].leaves = true;
  }
  const auto name = [&](int at) {
    return f.registers[static_cast<size_t>(f.body[static_cast<size_t>(at)].operands[0].index)].name;
  };
  std::string out;
  for (const Contraction& c : FindContractions(f, flow)) {
    const Operand& addend = f.body[static_cast<size_t>(c.sum)].operands[static_cast<size_t>(c.addend)];
    out += (out.empty() ? "" : "; ") + name(c.sum) + " = " + (c.negate_product ? "-" : "") + name(c.product) +
           (c.negate_addend ? " - " : " + ") +
           (addend.kind == Operand::Kind::kRegister ? f.registers[static_cast<size_t>(addend.index)].name
                                                    : "constant");
    if (c.keep_factors) out += ", kept";
  }
  return out;
}

std::string Store(const std::string& names) {
  std::string out;
  int at = 64;
  for (const char c : names) out += "st.global.b32 [o+" + std::to_string(at += 4) + "], " + c + ";\n";
  return out;
}

constexpr char kPQ[] = "mul.f32 p, a, b; mul.f32 q, c, e; ";

TEST(ContractTest, SumsOfOneProduct) {
  EXPECT_EQ(Fused("mul.f32 p, a, b; add.f32 r, p, c;" + Store("r")), "r = p + c");
  EXPECT_EQ(Fused("mul.f32 p, a, b; add.f32 r, c, p;" + Store("r")), "r = p + c");
  EXPECT_EQ(Fused("mul.f32 p, a, b; sub.f32 r, p, c;" + Store("r")), "r = p - c");
  EXPECT_EQ(Fused("mul.f32 p, a, b; sub.f32 r, c, p;" + Store("r")), "r = -p + c");
  EXPECT_EQ(Fused("mul.f32 p, a, b; add.f32 r, p, 0f3F800000;" + Store("r")), "r = p + constant");
  EXPECT_EQ(Fused("mul.f32 p, a, b; add.f32 r, p, c; add.f32 s, p, e;" + Store("rs")),
            "r = p + c; s = p + e");
  EXPECT_EQ(Fused("mul.f32 p, a, b; mul.f32 q, p, c; add.f32 r, q, e;" + Store("r")), "r = q + e");
}

TEST(ContractTest, RoundingModifiersForbidIt) {
  EXPECT_EQ(Fused("mul.rn.f32 p, a, b; add.f32 r, p, c;" + Store("r")), "");
  EXPECT_EQ(Fused("mul.rz.f32 p, a, b; add.f32 r, p, c;" + Store("r")), "");
  EXPECT_EQ(Fused("mul.f32 p, a, b; add.rn.f32 r, p, c;" + Store("r")), "");
  EXPECT_EQ(Fused("mul.f32 p, a, b; add.rn.f32 s, p, e; add.f32 r, p, c;" + Store("rs")), "");
}

TEST(ContractTest, FlushingMustAgreeAndSaturationComesLast) {
  EXPECT_EQ(Fused("mul.ftz.f32 p, a, b; add.ftz.f32 r, p, c;" + Store("r")), "r = p + c");
  EXPECT_EQ(Fused("mul.ftz.f32 p, a, b; add.f32 r, p, c;" + Store("r")), "");
  EXPECT_EQ(Fused("mul.f32 p, a, b; add.ftz.f32 r, p, c;" + Store("r")), "");
  EXPECT_EQ(Fused("mul.f32 p, a, b; add.sat.f32 r, p, c;" + Store("r")), "r = p + c");
  EXPECT_EQ(Fused("mul.sat.f32 p, a, b; add.f32 r, p, c;" + Store("r")), "");
}

TEST(ContractTest, AProductThatIsNeededStays) {
  EXPECT_EQ(Fused("mul.f32 p, a, b; add.f32 r, p, c;" + Store("rp")), "");
  EXPECT_EQ(Fused("mul.f32 p, a, b; add.f32 r, p, c; mul.f32 s, p, e;" + Store("rs")), "");
  EXPECT_EQ(Fused("mul.f32 p, a, b; add.f32 r, p, p;" + Store("r")), "");
  EXPECT_EQ(Fused("mul.f32 p, a, b; add.f32 r, p, p; add.f32 s, p, c;" + Store("rs")), "");
  EXPECT_EQ(Fused("mul.f32 p, a, b; fma.rn.f32 s, c, e, p; add.f32 r, p, c;" + Store("rs")), "");
}

TEST(ContractTest, OfTwoProductsTheOneWithFewerUsesElseTheFirst) {
  EXPECT_EQ(Fused(kPQ + ("add.f32 r, p, q;" + Store("r"))), "r = p + q");
  EXPECT_EQ(Fused(kPQ + ("add.f32 r, q, p;" + Store("r"))), "r = q + p");
  EXPECT_EQ(Fused(kPQ + ("sub.f32 r, p, q;" + Store("r"))), "r = p - q");
  EXPECT_EQ(Fused(kPQ + ("sub.f32 r, q, p;" + Store("r"))), "r = q - p");
  EXPECT_EQ(Fused(kPQ + ("add.f32 r, p, q; add.f32 s, p, a;" + Store("rs"))), "r = q + p");
  EXPECT_EQ(Fused(kPQ + ("add.f32 r, p, q; add.f32 s, q, a;" + Store("rs"))), "r = p + q");
  EXPECT_EQ(Fused(kPQ + ("add.f32 r, p, q; add.f32 s, p, a; add.f32 t, q, b;" + Store("rst"))),
            "r = p + q; s = p + a");
  EXPECT_EQ(Fused(kPQ + ("add.f32 r, p, q; sub.f32 s, p, q;" + Store("rs"))), "r = p + q; s = p - q");
  EXPECT_EQ(Fused(kPQ + ("add.f32 r, p, q;" + Store("rp"))), "r = q + p");
  EXPECT_EQ(Fused(kPQ + ("add.f32 r, p, q;" + Store("rq"))), "r = p + q");
  EXPECT_EQ(Fused(kPQ + ("mul.f32 t, a, e; add.f32 r, p, q; add.f32 s, t, r;" + Store("s"))),
            "r = p + q; s = t + r");
}

TEST(ContractTest, SignsAndCopiesPassAProductOn) {
  EXPECT_EQ(Fused("mul.f32 p, a, b; neg.f32 n, p; add.f32 r, n, c;" + Store("r")), "r = -p + c");
  EXPECT_EQ(Fused("mul.f32 p, a, b; neg.f32 n, p; sub.f32 r, n, c;" + Store("r")), "r = -p - c");
  EXPECT_EQ(Fused("mul.f32 p, a, b; neg.f32 n, p; add.f32 r, n, c; add.f32 s, p, e;" + Store("rs")),
            "r = -p + c; s = p + e");
  EXPECT_EQ(Fused("mul.f32 p, a, b; neg.f32 n, p; add.f32 r, n, c;" + Store("rn")), "");
  EXPECT_EQ(Fused("mul.f32 p, a, b; mov.b32 n, p; add.f32 r, n, c;" + Store("r")), "r = p + c");
  EXPECT_EQ(Fused("mul.f32 p, a, b; abs.f32 n, p; add.f32 r, n, c;" + Store("r")), "");
}

TEST(ContractTest, OnlyWithinABlock) {
  EXPECT_EQ(Fused("mul.f32 p, a, b; @g bra L; add.f32 r, p, c;" + Store("r") + "L:"), "");
  EXPECT_EQ(Fused("mul.f32 p, a, b; @g bra L; mov.f32 c, e; L: add.f32 r, p, c;" + Store("r")), "");
  EXPECT_EQ(Fused("mul.f32 p, a, b; @g ret; add.f32 r, p, c;" + Store("r")), "");
  EXPECT_EQ(Fused("mul.f32 p, a, b; L: add.f32 r, p, c;" + Store("r")), "r = p + c");
  EXPECT_EQ(Fused("mul.f32 p, a, b; bar.sync 0; add.f32 r, p, c;" + Store("r")), "r = p + c");
  EXPECT_EQ(
      Fused("mov.f32 r, c; L: mul.f32 p, a, b; add.f32 r, r, p; setp.lt.f32 g, r, e; @g bra L;" + Store("r")),
      "r = p + r");
  // The loop's next turn reads the product.
  EXPECT_EQ(
      Fused("mov.f32 p, c; L: add.f32 r, p, e; mul.f32 p, a, b; add.f32 s, p, e; setp.lt.f32 g, r, s; @g bra "
            "L;" +
            Store("rs")),
      "");
}

TEST(ContractTest, GuardedSumsButNoGuardedProducts) {
  EXPECT_EQ(Fused("mov.f32 r, e; mul.f32 p, a, b; @g add.f32 r, p, c;" + Store("r")), "r = p + c");
  EXPECT_EQ(Fused("mul.f32 p, a, b; @g add.f32 r, p, c; @!g sub.f32 r, e, p;" + Store("r")),
            "r = p + c; r = -p + e");
  EXPECT_EQ(Fused("mov.f32 p, e; @g mul.f32 p, a, b; add.f32 r, p, c;" + Store("r")), "");
  EXPECT_EQ(Fused("mov.f32 p, e; @g mul.f32 p, a, b; @g add.f32 r, p, c;" + Store("r")), "");
}

TEST(ContractTest, QuotientsEndInAProduct) {
  EXPECT_EQ(Fused("div.full.f32 p, a, b; sub.f32 r, c, p;" + Store("r")), "r = -p + c");
  EXPECT_EQ(Fused("div.approx.ftz.f32 p, a, b; add.ftz.f32 r, c, p;" + Store("r")), "r = p + c");
  EXPECT_EQ(Fused("rcp.approx.f32 p, a; add.f32 r, p, c;" + Store("r")), "r = p + c");
  EXPECT_EQ(Fused("rcp.approx.ftz.f32 p, a; add.ftz.f32 r, p, c;" + Store("r")), "");
  EXPECT_EQ(Fused("rsqrt.approx.f32 p, a; add.f32 r, p, c;" + Store("r")), "");
  EXPECT_EQ(Fused("div.rn.f32 p, a, b; add.f32 r, p, c;" + Store("r")), "");
}

TEST(ContractTest, AFactorThatChangesInBetweenIsKept) {
  EXPECT_EQ(Fused("mul.f32 p, a, b; mov.f32 a, e; add.f32 r, p, c;" + Store("ra")), "r = p + c, kept");
  EXPECT_EQ(Fused("mul.f32 a, a, b; add.f32 r, a, c;" + Store("r")), "r = a + c, kept");
  EXPECT_EQ(Fused("mul.f32 p, a, b; add.f32 a, p, c;" + Store("a")), "a = p + c");
}

}  // namespace
}  // namespace understudy::emu::ptx
