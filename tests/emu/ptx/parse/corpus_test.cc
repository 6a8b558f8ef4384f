// SPDX-License-Identifier: Apache-2.0
// PTX of real producers (Triton, TorchInductor, NVRTC) and the recorded instruction forms parse without a
// diagnostic, and what comes out is what a plain reading of the text says.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "emu/ptx/parse/parse.h"

namespace understudy::emu::ptx {
namespace {

std::vector<nlohmann::json> Lines(const std::string& name) {
  std::ifstream file("tests/data/conformance/ptx/" + name);
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

// Statements that end in ';' and begin with an instruction, counted without the parser.
int CountInstructions(const std::string& text) {
  std::string code;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0)
      while (i < text.size() && text[i] != '\n') ++i;
    code += i < text.size() ? text[i] : '\n';
  }
  int count = 0;
  for (size_t at = code.find('{'); at < code.size(); ++at) {
    // What stands before each ';', back to the statement's start.
    if (code[at] != ';') continue;
    size_t begin = code.find_last_of(";\n", at - 1) + 1;
    std::string statement = code.substr(begin, at - begin);
    const size_t last_colon = statement.rfind(": ");
    if (last_colon != std::string::npos) statement = statement.substr(last_colon + 1);
    statement.erase(0, statement.find_first_not_of(" \t{"));
    if (!statement.empty() && statement[0] != '.' && statement[0] != '}') ++count;
  }
  return count;
}

TEST(PtxCorpus, ProgramsAndCorpusParseWithoutDiagnostics) {
  size_t files = 0;
  for (const char* name : {"programs.jsonl", "corpus.jsonl"}) {
    for (const nlohmann::json& line : Lines(name)) {
      const ParseResult result = Parse(line["ptx"], {line["name"], 50});
      EXPECT_TRUE(result.diagnostics.empty()) << result.Text();
      ASSERT_NE(result.module, nullptr) << line["name"];
      ++files;
    }
  }
  EXPECT_EQ(files, 102u);
}

TEST(PtxCorpus, EntriesHaveTheTextsParametersAndInstructions) {
  for (const nlohmann::json& line : Lines("programs.jsonl")) {
    const std::string text = line["ptx"];
    const ParseResult result = Parse(text, {line["name"], 50});
    ASSERT_NE(result.module, nullptr) << result.Text();
    const Function* entry = result.module->FindFunction(line["entry"]);
    ASSERT_NE(entry, nullptr);
    EXPECT_TRUE(entry->is_entry);
    EXPECT_EQ(entry->linkage, Linkage::kVisible);
    EXPECT_GE(entry->parameters.size(), line["params"].size()) << line["name"];
    EXPECT_EQ(entry->parameters.size(), entry->parameter_registers.size());
    if (text.find(".reqntid") != std::string::npos) {
      EXPECT_EQ(entry->required_threads[0], line["block"][0].get<uint32_t>());
      EXPECT_EQ(entry->required_threads[1], 1u);
    }
    for (const Instruction& instruction : entry->body) {
      // Each stands where its location says.
      std::string at = result.module->SourceLine(instruction.location.line);
      EXPECT_NE(at.find(OpName(instruction.op)), std::string::npos) << at;
      for (const Operand& operand : instruction.operands)
        if (operand.kind == Operand::Kind::kLabel) {
          EXPECT_GE(operand.index, 0) << at;
          EXPECT_LE(operand.index, static_cast<int>(entry->body.size()));
        }
    }
    if (text.find("call") == std::string::npos) {
      EXPECT_EQ(static_cast<int>(entry->body.size()), CountInstructions(text)) << line["name"];
    }
  }
}

TEST(PtxCorpus, EveryRecordedFormParses) {
  const std::string kinds = "hrlp";
  const char* const types[] = {".b16", ".b32", ".b64", ".pred"};
  const auto type_of = [&](char kind) { return std::string(types[kinds.find(kind)]); };
  size_t forms = 0;
  for (const nlohmann::json& line : Lines("h200.jsonl")) {
    std::string text = ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n";
    text += ".reg " + type_of(line["d"].get<std::string>()[0]) + " %d;\n";
    const std::string sources = line["s"];
    for (size_t i = 0; i < sources.size(); ++i)
      text += ".reg " + type_of(sources[i]) + " %" + "abce"[i] + ";\n";
    text += line["op"].get<std::string>() + "\n}\n";
    const ParseResult result = Parse(text);
    EXPECT_TRUE(result.diagnostics.empty()) << result.Text();
    ++forms;
  }
  EXPECT_EQ(forms, 954u);
}

}  // namespace
}  // namespace understudy::emu::ptx
