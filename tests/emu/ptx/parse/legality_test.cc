// SPDX-License-Identifier: Apache-2.0
// An instruction that the ISA does not have is refused where it stands, with what is wrong and what would be
// right; the parser then goes on to the next one. Everything that the table of forms allows parses.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emu/ptx/isa/compiled_form.h"
#include "emu/ptx/isa/forms.h"
#include "emu/ptx/parse/parse.h"

namespace understudy::emu::ptx {
namespace {

// The line of the first instruction in FormModule's text.
int FirstLine(const std::string& text) {
  int line = 1;
  for (size_t i = 0; i < text.find("LABEL:"); ++i) line += text[i] == '\n';
  return line;
}

// "line+column: message" of each error, lines counted from the first instruction (1).
std::vector<std::string> Errors(const std::vector<std::string>& instructions,
                                const std::string& version = "8.8", const std::string& target = "sm_90a") {
  const int first = FirstLine(FormModule({}, version, target));
  std::vector<std::string> out;
  for (const Diagnostic& d : Parse(FormModule(instructions, version, target)).diagnostics)
    out.push_back(std::to_string(d.location.line - first + 1) + ":" + std::to_string(d.location.column) +
                  ": " + d.message);
  return out;
}

std::string Error(const std::string& instruction, const std::string& version = "8.8",
                  const std::string& target = "sm_90a") {
  const std::vector<std::string> errors = Errors({instruction}, version, target);
  std::string text;
  for (const std::string& error : errors) text += (text.empty() ? "" : "\n") + error;
  return text;
}

TEST(PtxLegality, UnknownModifiersAreNamedWithASuggestion) {
  EXPECT_EQ(Error("add.sta.s32 %r1, %r2, %r3;"),
            "1:4: unknown modifier '.sta' of 'add'; did you mean '.sat'?");
  EXPECT_EQ(Error("@%p1 ld.globl.u32 %r1, [%l1];"),
            "1:8: unknown modifier '.globl' of 'ld'; did you mean '.global'?");
  EXPECT_EQ(Error("shl.tf32 %r1, %r2, %r3;"),
            "1:4: 'shl' has no form with the type '.tf32'; did you mean '.b32'?");
}

TEST(PtxLegality, ModifiersThatDoNotGoTogether) {
  EXPECT_EQ(Error("add.sat.u64 %l1, %l2, %l3;"),
            "1:4: the modifier '.sat' does not go with 'add.u64': expected add$int");
  EXPECT_EQ(Error("fma.f32 %f1, %f2, %f3, %f4;"),
            "1:1: 'fma.f32' lacks a modifier like '.rn': expected fma$rnd{.ftz}{.sat}.f32");
  EXPECT_EQ(Error("setp.lt.b32 %p1, %r1, %r2;").substr(0, 46),
            "1:8: the type '.b32' does not fit in 'setp.lt.");
  EXPECT_EQ(Error("add.ftz.ftz.f32 %f1, %f2, %f3;"), "1:8: '.ftz' stands twice in 'add.ftz.ftz.f32'");
  EXPECT_EQ(Error("ld.shared.L2::128B.u32 %r1, [%l1];").substr(0, 4), "1:10");
}

TEST(PtxLegality, WrongNumbersOfOperands) {
  EXPECT_EQ(Error("add.u32 %r1, %r2;"),
            "1:1: 'add.u32' has 2 operands: expected 3 as in 'add$int d:T0, a:T0, b:T0'");
  EXPECT_EQ(Error("add.u32 %r1, %r2, %r3, %r4;"),
            "1:24: 'add.u32' has 4 operands: expected 3 as in 'add$int d:T0, a:T0, b:T0'");
  EXPECT_EQ(Error("shfl.sync.idx.b32 %r1, %r2, %r3;").substr(0, 47),
            "1:1: 'shfl.sync.idx.b32' has 3 operands: expect");
  EXPECT_EQ(Error("exit %r1;").substr(0, 28), "1:6: 'exit' has 1 operands: ");
}

TEST(PtxLegality, RegistersAndConstantsThatDoNotFit) {
  EXPECT_EQ(
      Error("add.u32 %r1, %f2, %r3;"),
      "1:14: operand 2 of 'add.u32' is the register '%f2' of type .f32: expected a register or constant of "
      "type .u32");
  EXPECT_EQ(
      Error("add.f32 %f1, %f2, 1;"),
      "1:19: operand 3 of 'add.f32' is an integer constant: expected a register or constant of type .f32");
  EXPECT_EQ(Error("add.u32 5, %r2, %r3;"),
            "1:9: operand 1 of 'add.u32' is an integer constant: expected a register of type .u32");
  EXPECT_EQ(Error("add.u32 %r1, %tid.x, 1;"),
            "1:14: operand 2 of 'add.u32' is the special register '%tid.x': expected a register or constant "
            "of type "
            ".u32");
  EXPECT_EQ(Error("add.u32 _, %r1, %r2;"),
            "1:9: operand 1 of 'add.u32' is '_': expected a register of type .u32");
  EXPECT_EQ(Error("st.global.u64 [%l1], %r1;"),
            "1:22: operand 2 of 'st.global.u64' is the register '%r1' of type .b32: expected a register or "
            "constant "
            "of type .u64 or wider");
  EXPECT_EQ(Error("ld.global.v2.u32 {%r1, %r2, %r3}, [%l1];"),
            "1:18: operand 1 of 'ld.global.v2.u32' is a vector of 3: expected a vector of 2 registers of "
            "type .u32");
  EXPECT_EQ(Error("ld.global.u32 %r1, [%f1];"),
            "1:20: operand 2 of 'ld.global.u32' is an address in a register of type .f32: expected a "
            "register of 32 "
            "or 64 bits that is no float");
  EXPECT_EQ(Error("cp.async.cg.shared.global [%l1], [%l2], 8;"),
            "1:41: operand 3 of 'cp.async.cg.shared.global' is 8: expected 16");
  EXPECT_EQ(Error("bar.sync 16;"), "1:10: operand 1 of 'bar.sync' is 16: expected 0 to 15");
  EXPECT_EQ(
      Error("lop3.b32 %r1, %r2, %r3, %r4, %r5;"),
      "1:30: operand 5 of 'lop3.b32' is the register '%r5' of type .b32: expected a constant of type .u32");
}

TEST(PtxLegality, VersionsAndTargets) {
  EXPECT_EQ(Error("add.bf16 %h1, %h2, %h3;", "8.8", "sm_80"),
            "1:1: 'add.bf16' needs target sm_90 or later: the module has PTX 8.8 and sm_80");
  EXPECT_EQ(Error("fence.proxy.alias;", "7.0", "sm_80"),
            "1:1: 'fence.proxy.alias' needs PTX 7.5: the module has PTX 7.0 and sm_80");
  EXPECT_EQ(Error("wgmma.fence.sync.aligned;", "8.8", "sm_90"),
            "1:1: 'wgmma.fence.sync.aligned' needs target sm_90a: the module has PTX 8.8 and sm_90");
  EXPECT_EQ(Error("wgmma.fence.sync.aligned;", "8.8", "sm_100a").substr(0, 42),
            "1:1: 'wgmma.fence.sync.aligned' needs targ");
  EXPECT_EQ(Error("max.xorsign.abs.f32 %f1, %f2, %f3;", "8.8", "sm_80"),
            "1:4: '.xorsign' of 'max' needs target sm_86 or later: the module has PTX 8.8 and sm_80");
  EXPECT_EQ(
      Error("shfl.idx.b32 %r1, %r2, %r3, %r4;"),
      "1:1: 'shfl.idx.b32' without '.sync' ended with PTX 6.4 on sm_70 and later: the module has PTX 8.8 and "
      "sm_90a");
  EXPECT_EQ(Error("shfl.idx.b32 %r1, %r2, %r3, %r4;", "6.0", "sm_60"), "");
  // Features of a family: sm_103 has what sm_100f has, sm_120 has not.
  EXPECT_EQ(Error("tcgen05.fence::before_thread_sync;", "8.8", "sm_103f"), "");
  EXPECT_EQ(Error("tcgen05.fence::before_thread_sync;", "8.8", "sm_100a"), "");
  EXPECT_NE(Error("tcgen05.fence::before_thread_sync;", "8.8", "sm_100"), "");
  EXPECT_NE(Error("tcgen05.fence::before_thread_sync;", "8.8", "sm_120a"), "");
}

TEST(PtxLegality, VersionsOfTargets) {
  const auto report = [](const std::string& version, const std::string& target) {
    return Parse(FormModule({}, version, target), {"m", 5}).Text();
  };
  EXPECT_EQ(report("7.7", "sm_90"),
            "m:2:9: error: sm_90 needs PTX 7.8: the module has PTX 7.7\n    .target sm_90\n");
  EXPECT_EQ(report("8.6", "sm_100f"),
            "m:2:9: error: sm_100f needs PTX 8.8: the module has PTX 8.6\n    .target sm_100f\n");
  EXPECT_EQ(report("7.9", "sm_80"),
            "m:1:10: error: there is no PTX version 7.9: 7.8 is the last of 7\n    .version 7.9\n");
  EXPECT_EQ(report("8.8", "sm_80a").substr(0, 36), "m:2:9: error: unknown target 'sm_80a");
  for (const char* target : {"sm_75", "sm_90a", "sm_100a", "sm_103f", "sm_120"})
    EXPECT_EQ(report("8.8", target), "") << target;
}

TEST(PtxLegality, EveryWrongInstructionIsReported) {
  const std::vector<std::string> errors =
      Errors({"add.u32 %r1, %r2, %r3;", "add.u33 %r1, %r2, %r3;", "  mul.u32 %r1, %r2, %r3;",
              "mov.u32 %r1, %r2;", "mov.u64 %r1, %l2;", "frob %r1;", "sub.s32 %r1, %r2, %r3"});
  ASSERT_EQ(errors.size(), 5u);
  EXPECT_EQ(errors[0].substr(0, 4), "2:4:");
  EXPECT_EQ(errors[1].substr(0, 4), "3:3:");
  EXPECT_EQ(errors[2].substr(0, 4), "5:9:");
  EXPECT_EQ(errors[3], "6:1: unknown instruction 'frob'");
  EXPECT_EQ(errors[4].substr(0, 4), "8:1:");  // the ';' that is missing, seen at what follows
}

TEST(PtxLegality, ModifiersComeInAnyOrderAndLeaveInTheManuals) {
  const std::string text =
      FormModule({"atom.add.relaxed.global.gpu.u32 %r1, [%l1], %r2;", "add.f32.ftz.rn %f1, %f2, %f3;",
                  "ld.u32.v2.global {%r1, %r2}, [%l1];"},
                 "8.8", "sm_90a");
  const ParseResult result = Parse(text);
  ASSERT_NE(result.module, nullptr) << result.Text();
  const Function* k = result.module->FindFunction("k");
  EXPECT_EQ(k->body[0].Name(), "atom.relaxed.gpu.global.add.u32");
  EXPECT_EQ(k->body[1].Name(), "add.rn.ftz.f32");
  EXPECT_EQ(k->body[2].Name(), "ld.global.v2.u32");
  // Types, spaces and layouts keep their order: it tells them apart.
  EXPECT_NE(Error("cp.async.bulk.shared::cta.global.bulk_group [%l1], [%l2], %r1;"), "");
  EXPECT_NE(Error("cvt.f32.u32 %f1, %r1;"), "");
}

TEST(PtxLegality, PartsOfTheNameComeFirst) {
  EXPECT_EQ(Error("mul.s32.wide %l1, %r1, %r2;"),
            "1:8: '.wide' is out of place in 'mul.s32.wide': expected 'mul.wide.s32'");
  EXPECT_EQ(Error("bar.cta.popc.red.u32 %r1, 0, %p1;").substr(0, 23), "1:13: '.red' is out of ");
  EXPECT_EQ(
      Error("cp.bulk.async.commit_group;"),
      "1:8: '.async' is out of place in 'cp.bulk.async.commit_group': expected 'cp.async.bulk.commit_group'");
}

TEST(PtxLegality, Addresses) {
  EXPECT_EQ(Error("ld.global.u32 %r1, [%l1-8];"), "1:24: '-' after an address: expected '+', as in [a+-8]");
  EXPECT_EQ(Error("ld.global.u32 %r1, [%l1+-8];"), "");
  EXPECT_EQ(Error("ld.global.u32 %r1, [gv-4];"), "1:23: '-' after an address: expected '+', as in [a+-8]");
  EXPECT_EQ(Error("ld.global.u32 %r1, [1024];"),
            "1:20: operand 2 of 'ld.global.u32' is a constant address: expected a register or a variable");
  EXPECT_EQ(Error("ld.local.u32 %r1, [8];"), "");
  EXPECT_EQ(
      Error("ld.global.u32 %r1, [sv];"),
      "1:20: operand 2 of 'ld.global.u32' is the variable 'sv' in .shared: expected a variable in .global");
  EXPECT_EQ(
      Error("ld.u32 %r1, [cv];"),
      "1:13: operand 2 of 'ld.u32' is the variable 'cv' in .const: expected a variable that has a generic "
      "address");
  EXPECT_EQ(Error("st.param.u32 [pp], %r1;"),
            "1:14: operand 1 of 'st.param.u32' is the kernel's parameter 'pp': expected memory that can be "
            "written");
  EXPECT_EQ(
      Error("ld.global.u32 %r1, [%r2];"),
      "1:20: operand 2 of 'ld.global.u32' is an address in a register of type .b32: expected a register of "
      "64 bits, as .address_size says");
  EXPECT_EQ(Error("ld.shared.u32 %r1, [%r2];"), "");
  EXPECT_EQ(Error("mov.u32 %r1, gv;").substr(0, 60),
            "1:14: operand 2 of 'mov.u32' is the address of 'gv': expecte");
  EXPECT_EQ(Error("cvta.global.u32 %r1, %r2;"),
            "1:1: 'cvta.global.u32' converts addresses of 32 bits: the module has .address_size 64");
  EXPECT_EQ(Error("ld.global.u32 %r1, [nowhere];"), "1:21: 'nowhere' is not declared");
  EXPECT_EQ(Error("ld.global.u32 %r1, [%r999];"), "1:21: '%r999' is not declared: '%r<301>' ends before it");
  EXPECT_EQ(Error("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%l1, {%r1}], [%l2];"),
            "1:55: operand 1 of 'cp.async.bulk.tensor.2d.global.shared::cta.bulk_group' is an address with a "
            "vector of 1: expected 2 coordinates in {}, of 32 bits that are no float");
}

TEST(PtxLegality, VectorsAndSelectors) {
  EXPECT_EQ(
      Error("ld.global.v2.u32 {%r1, %l2}, [%l1];"),
      "1:18: operand 1 of 'ld.global.v2.u32' is a vector of registers of types .b32 and .b64: expected a "
      "vector of 2 registers of type .u32");
  EXPECT_EQ(
      Error("ld.global.v2.u32 {%f1, %f2}, [%l1];"),
      "1:18: operand 1 of 'ld.global.v2.u32' is a vector of registers of type .f32: expected a vector of 2 "
      "registers of type .u32");
  EXPECT_EQ(Error("ld.global.v2.u32 {%r1, _}, [%l1];"), "");
  EXPECT_EQ(Error("ld.global.v2.u32 {_, _}, [%l1];").substr(0, 62),
            "1:18: operand 1 of 'ld.global.v2.u32' is a vector of '_' alone");
  EXPECT_EQ(Error("st.global.v2.u32 [%l1], {%r1, _};").substr(0, 48),
            "1:25: operand 2 of 'st.global.v2.u32' is '_': ex");
  EXPECT_EQ(
      Error("vadd.u32.u32.u32 %r1, %r2.b4, %r3;"),
      "1:23: operand 2 of 'vadd.u32.u32.u32' is a register with '.b4': expected one of .b0 to .b3, .h0 and "
      ".h1");
  EXPECT_EQ(Error("vadd2.u32.u32.u32 %r1, %r2.h10, 1, %r4;").substr(0, 60),
            "1:33: operand 3 of 'vadd2.u32.u32.u32' is an integer constan");
  EXPECT_EQ(Error("add.u32 %r1.h0, %r2, %r3;"),
            "1:9: operand 1 of 'add.u32' is a part of a register: expected a whole register");
}

// A brace that is missing costs its own instruction alone.
TEST(PtxLegality, AMissingBraceDoesNotSwallowTheFunction) {
  const std::vector<std::string> errors =
      Errors({"ld.global.v2.u32 {%r1, %r2, [%l1];", "add.u32 %r1, %r2, %r3;", "st.global.v2.u32 [%l1], %r1};",
              "add.u33 %r1, %r2, %r3;"});
  ASSERT_EQ(errors.size(), 3u);
  EXPECT_EQ(errors[0], "1:29: expected an element of a vector, got '['");
  EXPECT_EQ(errors[1].substr(0, 4), "3:28");
  EXPECT_EQ(errors[2].substr(0, 4), "4:4:");
}

// Errors of every layer of the parser come together, in the order of the text, each with the line it is in.
TEST(PtxLegality, TheWholeReport) {
  const ParseResult result = Parse(
      ".version 8.8\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .u64 p)\n{\n"
      "  .reg .b32 %r<3>;\n"
      "  add.u23 %r1, %r2, %r1;\n"
      "  mvo.u32 %r1, %r2;\n"
      "  add.u32 %r1, %r5, %r1;\n"
      "  bra.uni AWAY;\n"
      "  ret;\n}\n",
      {"k.ptx", 50});
  EXPECT_EQ(result.module, nullptr);
  EXPECT_EQ(result.Text(),
            "k.ptx:7:6: error: unknown modifier '.u23' of 'add'; did you mean '.u32'?\n"
            "    add.u23 %r1, %r2, %r1;\n"
            "k.ptx:8:3: error: unknown instruction 'mvo'; did you mean 'mov'?\n"
            "    mvo.u32 %r1, %r2;\n"
            "k.ptx:9:16: error: '%r5' is not declared: '%r<3>' ends before it\n"
            "    add.u32 %r1, %r5, %r1;\n"
            "k.ptx:10:11: error: the label 'AWAY' is not defined in this block or around it\n"
            "    bra.uni AWAY;\n");
}

// Every example of every form parses for the form's version and target, as an instruction of that form or of
// one with the same name: no row of the table is dead.
TEST(PtxLegality, EveryExampleOfEveryFormParses) {
  size_t parsed = 0;
  for (size_t i = 0; i < Forms().size(); ++i) {
    const int form = static_cast<int>(i);
    const std::vector<std::string> examples = FormExamples(form, 16);
    ASSERT_FALSE(examples.empty()) << Forms()[i].syntax;
    const ParseResult result =
        Parse(FormModule(examples, FormVersion(form), FormTarget(form)), {"module", 3});
    ASSERT_NE(result.module, nullptr) << Forms()[i].syntax << "\n" << result.Text();
    const Function* k = result.module->FindFunction("k");
    ASSERT_GE(k->body.size(), examples.size());
    for (size_t j = 0; j < examples.size(); ++j, ++parsed) {
      ASSERT_GE(k->body[j].form, 0) << examples[j];
      EXPECT_EQ(Forms()[static_cast<size_t>(k->body[j].form)].op, Forms()[i].op);
    }
  }
  EXPECT_GE(Forms().size(), 580u);
  EXPECT_GE(parsed, 3600u);
}

// Every instruction of the ISA has at least one form.
TEST(PtxLegality, EveryInstructionHasAForm) {
#define PTX_OP(id, name) EXPECT_FALSE(FormsOf(Op::id).empty()) << name;
#include "emu/ptx/isa/opcodes.inc"
#undef PTX_OP
}

}  // namespace
}  // namespace understudy::emu::ptx
