// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is known of every opcode of every generation: whether it executes and how well, and which oracles
// stand behind it. The source of `understudy conform --list` and of docs/fidelity.md. It runs nothing: states
// come from the families of instructions, evidence from evidence.inc, which tools/evidence.py makes from the
// logs of the tests.

#include <cstdint>
#include <string>
#include <vector>

#include "emu/amd/decode/inst.h"
#include "emu/amd/semantics/op_state.h"

namespace understudy::emu::amd::coverage {

// What a result was compared with, by the tests that executed the instruction and passed.
enum class Oracle : uint8_t {
#define COVERAGE_ORACLE(id, letter, name, meaning) id,
#include "emu/amd/coverage/oracles.inc"
#undef COVERAGE_ORACLE
  kCount,
};
const char* OracleName(Oracle oracle);
const char* OracleMeaning(Oracle oracle);
char OracleLetter(Oracle oracle);

struct OpcodeCoverage {
  Isa isa;
  Encoding enc;
  uint16_t number;
  Opcode op;
  OpState state;
  // False for the graphics instructions that are out of scope: sampling, ray tracing, export, interpolation,
  // global wave sync, ordered append. They are refused by name.
  bool compute = true;
  // Bit i: Oracle i, on this generation; and on some other generation, where the mnemonic means the same.
  uint8_t oracles = 0, oracles_elsewhere = 0;

  bool executes() const { return state.state != SemanticState::kRefused; }
  bool HasOracle(Oracle o) const { return (oracles >> static_cast<int>(o) & 1) != 0; }
  // An oracle for what the instruction computes, not only for how it is encoded.
  bool HasValueOracle() const {
    return ((oracles | oracles_elsewhere) & ~(1u << static_cast<int>(Oracle::kMc))) != 0;
  }
};

// Every row of the generation's table, in the table's order.
std::vector<OpcodeCoverage> Coverage(Isa isa);

struct Totals {
  int known = 0, compute = 0;
  int exact = 0, approximate = 0, refused = 0;  // of the compute opcodes
  int graphics = 0;                             // out of scope, refused by name
  int decoded = 0;                              // with MC as oracle for bytes and text
  int value_oracle = 0;                         // of the compute opcodes that execute
  int by_oracle[static_cast<int>(Oracle::kCount)] = {};
  void Add(const OpcodeCoverage& row);
};

// The page docs/fidelity.md.
std::string FidelityPage();

}  // namespace understudy::emu::amd::coverage
