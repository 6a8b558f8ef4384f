// SPDX-License-Identifier: Apache-2.0
#pragma once
// The solver's reading of the instruction semantics: an instruction applied to terms gives terms. Used to
// prove instruction identities and to compare the templates with the manuals' formulas for all inputs. It
// covers integer and logic instructions of one lane and of the scalar unit; it never touches a wave.

#include <z3++.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/amd/isa/opcode.h"

namespace understudy::emu::amd::solver {

// What one lane of a vector instruction writes. `value` is 32, 64 or 128 bits wide (a 16-bit result is
// extended with zeros); `mask` is the lane's bit of VCC, of an SGPR pair or of EXEC.
struct VectorResult {
  std::optional<z3::expr> value, mask;
};
struct VectorModifiers {
  bool clamp = false;   // integer saturation
  uint8_t signs = 0;    // bit i: source i of an iu8/iu4 dot product is signed
  uint8_t selects = 0;  // bit i: op_sel of source i, where an instruction asks for it (V_PK_MOV_B32)
};

// Whether VectorTerms knows the instruction.
bool ReadsVector(Opcode op);

// sources[i]: 32 bits (16-bit operands take the low half), 64 or 128 bits, or a Bool for a mask operand. A
// tied accumulator is source 2. Errors: kUnimplemented for an instruction without a solver reading,
// kInvalidArgument for a source that is missing or of another width.
absl::StatusOr<VectorResult> VectorTerms(Opcode op, const std::vector<z3::expr>& sources,
                                         const VectorModifiers& modifiers = {});

// What a scalar instruction reads beside its sources, and what it writes. Absent results are not written.
struct ScalarState {
  z3::expr scc, exec /*64 bits*/, old /*64 bits: the destination before*/, simm /*32 bits, sign-extended*/;
};
struct ScalarResult {
  std::optional<z3::expr> value /*32 or 64 bits*/, scc, exec;
};
bool ReadsScalar(Opcode op);
absl::StatusOr<ScalarResult> ScalarTerms(Opcode op, const std::vector<z3::expr>& sources,
                                         const ScalarState& state);

// "" when `claim` holds for every value of its constants; else a counterexample, or why the solver gave up.
std::string Refutation(const z3::expr& claim, unsigned timeout_ms = 600'000);

}  // namespace understudy::emu::amd::solver
