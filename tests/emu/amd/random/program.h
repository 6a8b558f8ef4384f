// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random wave programs: straight-line arithmetic, divergent and uniform branches, loops, LDS and barriers. A
// program is a tree of statements with two readings: machine code for a generation and wave size (through
// LLVM MC), and the values that every thread ends with (through oracle.h). Used by the random-program test;
// the same seed gives the same tree.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "emu/amd/isa/opcode.h"
#include "tests/emu/amd/random/oracle.h"

namespace understudy::emu::amd::random {

constexpr int kThreads = 64;  // one workgroup
constexpr int kVectors = 12;  // v4-v15: the variables of a thread; 64-bit values take an even pair
constexpr int kScalars = 8;   // s8-s15: the variables of the workgroup

struct Source {
  enum class From : uint8_t { kVector, kScalar, kConstant };
  From from = From::kVector;
  int index = 0;
  uint64_t value = 0;  // constant
  std::string text;    // constant, as the assembler writes it
};

struct Statement {
  enum class Type : uint8_t { kVector, kSelect, kCarry, kScalar, kIf, kUniformIf, kLoop, kExchange };
  Type type = Type::kVector;
  const VectorOp* vector = nullptr;
  const ScalarOp* scalar = nullptr;
  const CompareOp* compare = nullptr;  // kSelect, kIf (vector); kUniformIf, and before kScalar (scalar)
  std::vector<Source> sources, compared;
  int dst = 0, dst2 = 0;  // kScalar: dst2 receives SCC
  int amount = 0;         // kLoop: trips; kExchange: the other thread is this one XOR amount
  std::vector<Statement> body, otherwise;
};

struct Program {
  FloatMode mode;
  std::vector<Statement> statements;
};

// Of statements that every generation has.
Program Generate(uint64_t seed);

struct State {
  std::array<std::array<uint32_t, kVectors>, kThreads> vectors;
  std::array<uint32_t, kScalars> scalars;
  bool operator==(const State&) const = default;
};

// Buffer 0 holds `vectors` on entry, buffer 1 `scalars`; both receive the final state (scalars from each
// thread: the first 64 * kScalars words of buffer 2).
std::string AssemblyOf(const Program& program, Isa isa, int wave_size);
State Evaluate(const Program& program, const State& initial);

}  // namespace understudy::emu::amd::random
