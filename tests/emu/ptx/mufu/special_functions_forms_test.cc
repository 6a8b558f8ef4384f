// SPDX-License-Identifier: Apache-2.0
// Every form of an approximate function that an H200 has answered (tests/data/conformance/ptx/h200.jsonl),
// executor by executor, and the combinations that PTX does not have.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "emu/ptx/core/program.h"
#include "emu/ptx/core/warp.h"
#include "emu/ptx/semantics/find_exec.h"

namespace understudy::emu::ptx {
namespace {

// One instruction over hand-made rows.
struct Runner {
  explicit Runner(const std::string& name, const std::vector<int>& bits = {}) {
    std::vector<std::string> words;
    for (size_t begin = 0; begin <= name.size();) {
      const size_t end = std::min(name.find('.', begin), name.size());
      words.push_back(name.substr(begin, end - begin));
      begin = end + 1;
    }
    text.modifiers.assign(words.begin() + 1, words.end());
    for (const std::string& m : text.modifiers) {
      Type type;
      if (FindType(m, &type)) text.types.push_back(type);
    }
    if (!FindOp(words[0], &text.op)) return;
    exec = FindSpecialFunctionExec(text, ExecContext());
    for (size_t i = 0; i < bits.size(); ++i) {
      BoundOperand operand;
      operand.kind = Operand::Kind::kRegister;
      operand.row.offset = static_cast<uint32_t>(i * 256);
      operand.row.bytes = static_cast<uint8_t>(bits[i] / 8);
      operands.push_back(operand);
    }
    inst.operands = operands.data();
    inst.num_operands = static_cast<uint16_t>(operands.size());
    warp.base[0] = reinterpret_cast<uint8_t*>(rows);
    warp.mask = ~0u;
  }

  Instruction text;
  Exec exec;
  Inst inst;
  std::vector<BoundOperand> operands;
  Warp warp;
  alignas(64) uint64_t rows[4 * 32] = {};
};

int RegisterBits(char kind) { return kind == 'h' ? 16 : kind == 'r' ? 32 : 64; }

TEST(SpecialFunctionForms, AnswerWhatAnH200Answered) {
  std::ifstream file("tests/data/conformance/ptx/h200.jsonl");
  ASSERT_TRUE(file.good());
  int forms = 0;
  std::string line;
  while (std::getline(file, line)) {
    const nlohmann::json row = nlohmann::json::parse(line);
    const std::string op = row["op"];
    if (op.find(".approx") == std::string::npos && op.find(".full") == std::string::npos) continue;
    std::vector<int> bits = {RegisterBits(row["d"].get<std::string>()[0])};
    for (char kind : row["s"].get<std::string>()) bits.push_back(RegisterBits(kind));
    Runner runner(op.substr(0, op.find(' ')), bits);
    ASSERT_NE(runner.exec.fn, nullptr) << op << ": " << runner.exec.note;
    EXPECT_EQ(runner.exec.state, SemanticState::kExact);
    ++forms;
    const size_t count = row["out"].size();
    for (size_t begin = 0; begin + 32 <= count; begin += 32) {
      for (size_t s = 0; s < row["in"].size(); ++s)
        for (int lane = 0; lane < 32; ++lane)
          runner.warp.SetLane(runner.operands[s + 1].row, lane,
                              std::stoull(row["in"][s][begin + lane].get<std::string>(), nullptr, 16));
      ASSERT_EQ(runner.exec.fn(runner.warp, runner.inst), ExecResult::kNext);
      for (int lane = 0; lane < 32; ++lane)
        EXPECT_EQ(runner.warp.Lane(runner.operands[0].row, lane),
                  std::stoull(row["out"][begin + lane].get<std::string>(), nullptr, 16))
            << op << " of " << row["in"][0][begin + lane];
    }
  }
  std::printf("%d forms\n", forms);
  EXPECT_EQ(forms, 30);
}

TEST(SpecialFunctionForms, WriteOnlyTheLanesThatExecute) {
  Runner runner("ex2.approx.f32", {32, 32});
  for (int lane = 0; lane < 32; ++lane) {
    runner.warp.SetLane(runner.operands[0].row, lane, 7);
    runner.warp.SetLane(runner.operands[1].row, lane, 0x40000000);
  }
  runner.warp.mask = 0xA5;
  runner.exec.fn(runner.warp, runner.inst);
  for (int lane = 0; lane < 32; ++lane)
    EXPECT_EQ(runner.warp.Lane(runner.operands[0].row, lane), 0xA5 >> lane & 1 ? 0x40800000u : 7u);
}

TEST(SpecialFunctionForms, CombinationsThatPtxLacksAreRefusedByName) {
  for (const char* name :
       {"tanh.approx.ftz.f32", "sin.approx.f64", "rcp.approx.f64", "ex2.approx.bf16", "ex2.approx.ftz.f16",
        "div.full.f64", "sin.f32", "lg2.full.f32", "rcp.approx.rn.f32", "sqrt.approx.f16"}) {
    const Runner runner(name);
    EXPECT_EQ(runner.exec.fn, nullptr) << name;
    EXPECT_NE(runner.exec.note.find(name), std::string::npos) << name;
  }
  for (const char* name : {"rcp.rn.f32", "sqrt.rn.f64", "div.rn.f32", "add.f32"}) {
    const Runner runner(name);
    EXPECT_EQ(runner.exec.fn, nullptr) << name;
    EXPECT_EQ(runner.exec.note, "") << name;
  }
}

}  // namespace
}  // namespace understudy::emu::ptx
