// SPDX-License-Identifier: Apache-2.0
// Matrix instructions as text: every one that was recorded parses and has an exact executor; what there is
// not is refused by name.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "emu/ptx/parse/parse.h"
#include "emu/ptx/semantics/find_exec.h"
#include "tests/emu/ptx/mma/matrix_machine.h"

namespace understudy::emu::ptx {
namespace {

using nlohmann::json;

std::string Vector(const std::string& name, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i ? ", %" : "%") + name + std::to_string(i);
  return text + "}";
}
std::string RegisterType(const std::string& type) { return type == "f64" || type == "f32" ? type : "b32"; }

std::string Kernel(const json& line) {
  const std::vector<std::string> types = line["types"];
  std::string text = line["op"], declarations;
  const auto declare = [&](const char* name, const std::string& type) {
    declarations += ".reg ." + RegisterType(type) + " %" + name + "<129>;\n";
  };
  declare("d", types[0]);
  declare("a", types[1] == "tf32" ? "b32" : types[1]);
  declare("b", types[2] == "tf32" ? "b32" : types[2]);
  declare("c", types[3]);
  declarations += ".reg .b64 %x, %y;\n.reg .pred %p;\n.reg .b32 %e;\n";
  if (line.contains("a_regs")) {
    const bool sparse = line.contains("selector");
    const int bits = types[1] == "tf32"                         ? 32
                     : types[1] == "b1"                         ? 1
                     : types[1].find("16") != std::string::npos ? 16
                                                                : 8;
    const int stored = line["k"].get<int>() / (sparse ? 2 : 1);
    text += " " + Vector("d", line["regs"][3]) + ", " +
            (line["a_regs"].get<bool>() ? Vector("a", 16 * stored * bits / 1024) : "%x") + ", %y";
    if (sparse) text += ", %e, " + std::to_string(line["selector"].get<int>());
    text += ", %p";
    if (types[0] != "s32") {
      text +=
          ", " + std::to_string(line["imm"][0].get<int>()) + ", " + std::to_string(line["imm"][1].get<int>());
      if (bits == 16)
        text += std::string(line["a_regs"].get<bool>() ? ""
                                                       : ", " + std::to_string(line["trans"][0].get<int>())) +
                ", " + std::to_string(line["trans"][1].get<int>());
    }
  } else {
    text += " " + Vector("d", line["regs"][3]) + ", " + Vector("a", line["regs"][0]) + ", " +
            Vector("b", line["regs"][1]) + ", " + Vector("c", line["regs"][2]);
    if (line.contains("selector")) text += ", %e, " + std::to_string(line["selector"].get<int>());
  }
  return ".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n" + declarations + text +
         ";\nwgmma.fence.sync.aligned;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned "
         "0;\nret;\n}\n";
}

TEST(MatrixText, EveryRecordedInstructionParsesAndIsExact) {
  std::ifstream in("tests/data/conformance/ptx/mma_seeded.jsonl");
  std::set<std::string> seen;
  for (std::string text; std::getline(in, text);) {
    const std::string kernel = Kernel(json::parse(text));
    if (!seen.insert(kernel).second) continue;
    const ParseResult parsed = Parse(kernel);
    ASSERT_NE(parsed.module, nullptr) << parsed.Text();
    const std::vector<Instruction>& body = parsed.module->functions.at(0).body;
    ASSERT_EQ(body.size(), 5u);
    for (int i = 0; i < 4; ++i) {
      const Exec exec = FindMatrixExec(body[i], {parsed.module.get(), &parsed.module->functions[0]});
      EXPECT_NE(exec.fn, nullptr) << body[i].Name() << ": " << exec.note;
      EXPECT_EQ(exec.state, SemanticState::kExact);
    }
  }
  EXPECT_GT(seen.size(), 350u);
}

using Arg = MatrixMachine::Arg;

std::string RefusalOf(const std::string& op, const std::vector<Arg>& args) {
  const MatrixMachine machine(op, args);
  EXPECT_EQ(machine.exec().fn, nullptr) << op;
  return machine.exec().note;
}

TEST(MatrixText, WhatThereIsNotIsRefusedByName) {
  const Arg v4 = Arg::Vector(4), v2 = Arg::Vector(2);
  EXPECT_EQ(RefusalOf("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32", {v4, v4, v2, v4}),
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32: no product of these types");
  EXPECT_EQ(RefusalOf("mma.sync.aligned.m16n8k12.row.col.f32.f16.f16.f32", {v4, v4, v2, v4}),
            "mma.sync.aligned.m16n8k12.row.col.f32.f16.f16.f32: no such shape of these types");
  EXPECT_EQ(RefusalOf("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", {v4, v2, v2, v4}),
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32: operand A has 2 registers, expected 4");
  const std::string sparse = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32";
  EXPECT_EQ(RefusalOf(sparse, {v4, v4, v4, v4, Arg::Register(), Arg::Constant(2)}),
            sparse + ": sparsity selector 2 of a shape that has 2");
  EXPECT_EQ(RefusalOf(sparse, {v4, v4, v4, v4, Arg::Register(), Arg::Register()}),
            sparse + ": the sparsity selector is no constant");
  EXPECT_EQ(RefusalOf("wmma.mma.sync.aligned.row.col.m16n16k8.f32.f32",
                      {Arg::Vector(8), Arg::Vector(8), Arg::Vector(8), Arg::Vector(8)}),
            "wmma.mma.sync.aligned.row.col.m16n16k8.f32.f32: no such shape of these types");
  const std::string wgmma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16";
  EXPECT_EQ(RefusalOf(wgmma, {v4, v4, Arg::Register(64), Arg::Predicate(), Arg::Constant(2), Arg::Constant(1),
                              Arg::Constant(0)}),
            wgmma + ": scales of A and B are 1 or -1");
}

TEST(MatrixText, RegistersOfAnotherWidthAreRefused) {
  const ParseResult parsed = Parse(
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n"
      ".reg .f32 %f<4>;\n.reg .b32 %r<4>;\n.reg .b64 %d<4>;\n.reg .f64 %x<4>;\n.reg .pred %p;\n"
      "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%x0, %x1}, {%f0}, {%x3}, {%x0, %x1};\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d0, %r0, %p, 1, 1, 0, 0;\n"
      "ret;\n}\n");
  if (parsed.module == nullptr) return;  // the parser may well say so first
  const Function& function = parsed.module->functions[0];
  EXPECT_EQ(FindMatrixExec(function.body[0], {parsed.module.get(), &function}).note,
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64: A is a register of 32 bits, expected 64");
  EXPECT_EQ(FindMatrixExec(function.body[1], {parsed.module.get(), &function}).note,
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16: B's descriptor is a register of 32 bits, "
            "expected 64");
}

TEST(MatrixText, LaterGenerationsAreRefusedByName) {
  const Arg v4 = Arg::Vector(4), v2 = Arg::Vector(2);
  EXPECT_EQ(RefusalOf("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32", {v4, v4, v2, v4}),
            "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32: .kind::f8f6f4 is of sm_120's "
            "matrix unit: "
            "sm_90's arithmetic is what is emulated");
  EXPECT_EQ(
      RefusalOf("tcgen05.mma.cta_group::1.kind::f16", {Arg::Register()}),
      "tcgen05.mma.cta_group::1.kind::f16: tensor memory and its matrix unit are sm_100's; sm_90 is what is "
      "emulated");
}

TEST(MatrixText, DivergedWarpsFault) {
  MatrixMachine machine("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
                        {Arg::Vector(4), Arg::Vector(2), Arg::Vector(1), Arg::Vector(4)});
  EXPECT_EQ(machine.Run(0xffff),
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 is executed by lanes 0x0000ffff of 0xffffffff: "
            ".aligned "
            "needs all threads of the warp");
}

TEST(MatrixText, DescriptorsOutsideSharedMemoryFault) {
  MatrixMachine machine("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
                        {Arg::Vector(4), Arg::Vector(4), Arg::Register(64), Arg::Predicate(),
                         Arg::Constant(1), Arg::Constant(1), Arg::Constant(0)},
                        4);
  machine.shared().resize(1024);
  for (int lane = 0; lane < 128; ++lane) machine.Set(2, 0, lane, 1000 / 16 + (uint64_t{8} << 16));
  EXPECT_EQ(machine.Run(),
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 reads 16 bytes of shared memory at 0x400, the "
            "block has "
            "0x400");
}

}  // namespace
}  // namespace understudy::emu::ptx
