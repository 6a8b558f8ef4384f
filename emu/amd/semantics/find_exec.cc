// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/find_exec.h"

#include "absl/strings/str_format.h"
#include "emu/amd/semantics/matrix_table.h"
#include "emu/amd/semantics/memory_state.h"
#include "emu/amd/semantics/scalar_control.h"
#include "emu/amd/semantics/vector_exec.h"
#include "emu/amd/semantics/vector_table.h"

namespace understudy::emu::amd {

ExecFn FindExec(const Inst& inst, std::string* refusal) {
  ExecFn fn = nullptr;
  switch (inst.enc) {
    case Encoding::SOP1:
    case Encoding::SOP2:
    case Encoding::SOPC:
    case Encoding::SOPK:
    case Encoding::SOPP:
      fn = FindScalarExec(inst);
      break;
    case Encoding::SMEM:
      fn = FindScalarMemoryExec(inst);
      break;
    case Encoding::DS:
      fn = FindDsExec(inst);
      break;
    case Encoding::FLAT:
    case Encoding::GLOBAL:
    case Encoding::SCRATCH:
    case Encoding::VFLAT:
    case Encoding::VGLOBAL:
    case Encoding::VSCRATCH:
      fn = FindFlatExec(inst);
      break;
    case Encoding::MUBUF:
    case Encoding::MTBUF:
    case Encoding::VBUFFER:
      fn = FindBufferExec(inst);
      break;
    case Encoding::MIMG:
    case Encoding::VIMAGE:
      fn = FindImageExec(inst);
      break;
    case Encoding::VSAMPLE:
    case Encoding::EXP:
      break;
    default:
      fn = FindVectorExec(inst);
      break;
  }
  if (fn == nullptr) {
    const std::string reason = RefusalReason(inst);
    *refusal = absl::StrFormat("%s (%s) is refused%s%s", OpcodeName(inst.op), EncodingName(inst.enc),
                               reason.empty() ? "" : ": ", reason);
  }
  return fn;
}

OpState StateOf(Isa isa, Encoding enc, Opcode op) {
  switch (enc) {
    case Encoding::SOP1:
    case Encoding::SOP2:
    case Encoding::SOPC:
    case Encoding::SOPK:
    case Encoding::SOPP:
      return ScalarState(isa, op);
    case Encoding::EXP:
    case Encoding::VEXPORT:
      return {SemanticState::kRefused, "exports belong to the graphics pipeline"};
    default:
      break;
  }
  if (IsMemoryEncoding(enc)) return MemoryState(isa, op, enc);
  if (IsMatrixOpcode(op)) {
    const MatrixStateRow matrix = MatrixState(isa, op);
    return {matrix.state, matrix.note};
  }
  const VectorEntry& vector = VectorEntryOf(isa, op);
  return {vector.state, vector.known ? vector.note : "not implemented"};
}

std::string RefusalReason(const Inst& inst) {
  if (IsMemoryEncoding(inst.enc)) return MemoryRefusal(inst);
  switch (inst.enc) {
    case Encoding::SOP1:
    case Encoding::SOP2:
    case Encoding::SOPC:
    case Encoding::SOPK:
    case Encoding::SOPP:
      return ScalarRefusal(inst);
    case Encoding::EXP:
      return "a graphics instruction";
    default:
      return VectorRefusal(inst);
  }
}

}  // namespace understudy::emu::amd
