// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/find_exec.h"

#include "absl/strings/str_format.h"
#include "emu/amd/semantics/scalar_control.h"
#include "emu/amd/semantics/vector_exec.h"

namespace understudy::emu::amd {
namespace {

std::string DsRefusal(const Inst& inst) {
  if (inst.gds) return "global data share is not modelled";
  switch (inst.op) {
    case Opcode::DS_ORDERED_COUNT:
    case Opcode::DS_ADD_GS_REG_RTN:
    case Opcode::DS_SUB_GS_REG_RTN:
      return "ordered append belongs to the graphics pipeline";
    case Opcode::DS_BVH_STACK_RTN_B32:
      return "ray tracing is not modelled";
    default:
      return "global wave sync is not modelled";
  }
}

}  // namespace

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

std::string RefusalReason(const Inst& inst) {
  switch (inst.enc) {
    case Encoding::SOP1:
    case Encoding::SOP2:
    case Encoding::SOPC:
    case Encoding::SOPK:
    case Encoding::SOPP:
      return ScalarRefusal(inst);
    case Encoding::SMEM:
      return "address translation probes are not modelled";
    case Encoding::DS:
      return DsRefusal(inst);
    case Encoding::FLAT:
    case Encoding::GLOBAL:
    case Encoding::SCRATCH:
      return "loads from memory into LDS are not modelled";
    case Encoding::MUBUF:
      return "buffer formats and loads into LDS are not modelled";
    case Encoding::MTBUF:
      return "typed buffers are not modelled";
    case Encoding::MIMG:
      return "images are not modelled";
    case Encoding::EXP:
      return "a graphics instruction";
    default:
      return VectorRefusal(inst);
  }
}

}  // namespace understudy::emu::amd
