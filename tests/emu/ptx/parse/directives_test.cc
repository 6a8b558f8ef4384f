// SPDX-License-Identifier: Apache-2.0
// Directives and declarations: the parser takes and refuses what ptxas takes and refuses, module by module,
// and its error stands where it is marked; what they mean is kept in the module. ptxas's answers are recorded
// (tests/data/ptx/directives.txt).
#include "emu/ptx/isa/directives.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "emu/ptx/parse/parse.h"

namespace understudy::emu::ptx {
namespace {

constexpr const char* kHead = ".version 8.8\n.target sm_90a\n.address_size 64\n";
constexpr const char* kMark = "\xC2\xAB";

struct Case {
  std::string name, ptxas, stricter, laxer, text;
  bool elsewhere = false;
  int line = 0, column = 0;  // of the mark
};

std::vector<Case> Cases() {
  std::ifstream file("tests/data/ptx/directives.txt");
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    const bool in_head = !cases.empty() && cases.back().text.empty();
    const auto note = [&](const char* prefix, std::string* value) {
      if (!in_head || line.rfind(prefix, 0) != 0) return false;
      *value = line.substr(std::string(prefix).size());
      return true;
    };
    std::string ignored;
    if (line.rfind("== ", 0) == 0) {
      cases.emplace_back();
      cases.back().name = line.substr(3);
    } else if (!cases.empty() && !note("ptxas: ", &cases.back().ptxas) &&
               !note("stricter: ", &cases.back().stricter) && !note("laxer: ", &cases.back().laxer)) {
      if (note("elsewhere: ", &ignored))
        cases.back().elsewhere = true;
      else
        cases.back().text += line + "\n";
    }
  }
  for (Case& one : cases) {
    if (one.text.find(".version") == std::string::npos) one.text = kHead + one.text;
    const size_t mark = one.text.find(kMark);
    if (mark == std::string::npos) continue;
    one.line = 1;
    size_t begin = 0;
    for (size_t i = 0; i < mark; ++i)
      if (one.text[i] == '\n') {
        ++one.line;
        begin = i + 1;
      }
    one.column = static_cast<int>(mark - begin) + 1;
    one.text.erase(mark, 2);
  }
  return cases;
}

TEST(PtxDirectives, TakesAndRefusesWhatPtxasDoesWhereItIsMarked) {
  const std::vector<Case> cases = Cases();
  ASSERT_GE(cases.size(), 1500u);
  size_t taken = 0, stricter = 0, laxer = 0;
  for (const Case& one : cases) {
    const ParseResult result = Parse(one.text);
    const bool takes = one.ptxas == "takes";
    taken += takes;
    stricter += !one.stricter.empty();
    laxer += !one.laxer.empty();
    const std::string what = one.name + "\nptxas: " + one.ptxas + "\nparser: " + result.Text() + one.text;
    EXPECT_FALSE(one.ptxas.empty()) << what;
    EXPECT_TRUE(one.stricter.empty() || takes) << what;
    EXPECT_TRUE(one.laxer.empty() || !takes) << what;
    const bool expected = (takes && one.stricter.empty()) || !one.laxer.empty();
    ASSERT_EQ(result.module != nullptr, expected) << what;
    if (expected) {
      EXPECT_TRUE(result.diagnostics.empty()) << what;
      continue;
    }
    const Location at = result.diagnostics.front().location;
    EXPECT_EQ(at.line, one.line) << what;
    EXPECT_EQ(at.column, one.column) << what;
    const int theirs = std::atoi(one.ptxas.c_str());
    if (theirs != 0 && !one.elsewhere) {
      EXPECT_EQ(at.line, theirs) << what;
    }
  }
  std::printf(
      "%zu modules, ptxas takes %zu; the parser refuses %zu of them, and takes %zu that ptxas refuses\n",
      cases.size(), taken, stricter, laxer);
  EXPECT_GE(taken, 500u);
  EXPECT_LE(stricter, 45u);
  EXPECT_LE(laxer, 9u);
}

// Every directive of the table stands in a module that ptxas takes, or is too new for PTX 8.8 and stands in
// one that it refuses for that.
TEST(PtxDirectives, EveryOneIsInTheCases) {
  std::set<std::string> taken, refused;
  for (const Case& one : Cases())
    ForEachDirective(0xff, [&](const Directive& directive) {
      const size_t at = one.text.find(std::string(".") + directive.name);
      if (at != std::string::npos) (one.ptxas == "takes" ? taken : refused).insert(directive.name);
    });
  ForEachDirective(0xff, [&](const Directive& directive) {
    EXPECT_EQ(taken.count(directive.name), 1u) << directive.name;
    EXPECT_EQ(refused.count(directive.name), 1u) << directive.name;
  });
}

const Function& Only(const ParseResult& result) { return result.module->functions.back(); }

TEST(PtxDirectives, PerformanceDirectivesAreKeptAsWhatTheyAre) {
  const ParseResult old = Parse(
      ".version 2.0\n.target sm_20\n.entry k() .maxntid 64 .maxnctapersm 5 .minnctapersm 2 { exit; }\n");
  ASSERT_NE(old.module, nullptr) << old.Text();
  EXPECT_EQ(Only(old).max_blocks_per_sm, 5u);
  EXPECT_EQ(Only(old).min_blocks_per_sm, 2u);
  // Of several of a kind the last one counts, as in what ptxas writes into its image.
  const ParseResult twice = Parse(std::string(kHead) +
                                  ".entry k() .maxntid 64 .maxntid 32,2 .maxnreg 32 .maxnreg 64 "
                                  ".reqnctapercluster 2 .reqnctapercluster 4 { ret; }\n");
  ASSERT_NE(twice.module, nullptr) << twice.Text();
  EXPECT_EQ(Only(twice).max_threads[0], 32u);
  EXPECT_EQ(Only(twice).max_threads[1], 2u);
  EXPECT_EQ(Only(twice).max_registers, 64u);
  EXPECT_EQ(Only(twice).cluster[0], 4u);
  // A cluster of 0 is none.
  const ParseResult none = Parse(std::string(kHead) + ".entry k() .reqnctapercluster 0,1 { ret; }\n");
  ASSERT_NE(none.module, nullptr) << none.Text();
  EXPECT_EQ(Only(none).cluster[0], 0u);
  EXPECT_EQ(Only(none).cluster[1], 0u);
}

TEST(PtxDirectives, TheLastTargetCounts) {
  const ParseResult result = Parse(".version 8.8\n.target sm_80, compute_90a\n.target sm_86\n");
  ASSERT_NE(result.module, nullptr) << result.Text();
  EXPECT_EQ(result.module->target, "sm_86");
  EXPECT_EQ(result.module->sm, 86);
}

TEST(PtxDirectives, NumberedVariablesAreVariables) {
  const ParseResult result = Parse(std::string(kHead) + ".global .u32 x<3>;\n.global .u64 y = x2;\n");
  ASSERT_NE(result.module, nullptr) << result.Text();
  ASSERT_EQ(result.module->variables.size(), 4u);
  EXPECT_EQ(result.module->variables[2].name, "x2");
  EXPECT_EQ(result.module->variables[3].relocations.at(0).symbol, "x2");
}

// The parser goes on to the next error, over every kind of statement.
TEST(PtxDirectives, EveryErrorIsReported) {
  const ParseResult result = Parse(
      ".version 8.8\n.target sm_80, frob\n.global .u33 a;\n.global .align 3 .u32 b;\n"
      ".func f(.param .u32 p) .noreturn .noreturn { exit; }\n"
      ".entry k() .reqntid 32 .maxntid 32 .explicitcluster {\n  .reg .u32 r\n  .locla .u32 x;\n  call f, "
      "(1);\n  ret;;\n}\n"
      ".section .debug_info { .b8 256 }\n.file 1 2\n.frob\n");
  std::vector<int> lines;
  for (const Diagnostic& d : result.diagnostics) lines.push_back(d.location.line);
  EXPECT_EQ(lines, (std::vector<int>{2, 3, 4, 5, 6, 6, 8, 9, 10, 12, 13, 14})) << result.Text();
}

TEST(PtxDirectives, MessagesNameTheThingAndWhatWasExpected) {
  const auto error = [](const std::string& text) {
    const ParseResult result = Parse(kHead + text);
    return result.diagnostics.empty() ? "" : result.diagnostics[0].message;
  };
  EXPECT_EQ(error(".entry k() .reqntid 32 .maxntid 32 { ret; }"),
            "'.maxntid' of 'k', which has '.reqntid': expected one of them");
  EXPECT_EQ(error(".entry k() .blocksareclusters { ret; }"),
            "'.blocksareclusters' needs PTX 9.0: the module has PTX 8.8 and sm_90a");
  EXPECT_EQ(
      error(".entry k() .maxntidd 3 { ret; }"),
      "unknown directive '.maxntidd' after the header of 'k': expected a performance directive; did you "
      "mean 'maxntid'?");
  EXPECT_EQ(error(".maxntid 32"), "'.maxntid' at module level: expected it behind the header of an .entry");
  EXPECT_EQ(error(".func f(.param .u32 a);"),
            "the function 'f' is declared and not defined: expected a body, an .alias or .extern");
  EXPECT_EQ(error(".func f(.param .u32 a) { ret; } .entry k() { .param .f32 x; call f, (x); ret; }"),
            "the argument 'a' of 'f' is 'x' of type .f32: expected .u32");
  EXPECT_EQ(error(".func f(.param .u32 a) { ret; } .entry k() { call f; ret; }"),
            "the call of 'f' with 0 arguments: it has 1");
  EXPECT_EQ(error(".entry k(.param .b8 p[32765]) { ret; }"),
            "the kernel's parameters have 32765 bytes in all: expected at most 32764");
  EXPECT_EQ(error(".common .func f() { ret; }"), "'.common' of a function: expected a .global variable");
}

}  // namespace
}  // namespace understudy::emu::ptx
