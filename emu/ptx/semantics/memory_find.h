// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of the memory family and the helpers with which they read an instruction's modifiers when a
// program is bound. Internal to emu/ptx/semantics.

#include <string>

#include "emu/ptx/semantics/find_exec.h"
#include "emu/ptx/semantics/memory_access.h"

namespace understudy::emu::ptx {

Exec FindLoadStore(const Instruction& inst, const ExecContext& context);  // ld ldu st
Exec FindAddress(const Instruction& inst, const ExecContext& context);    // cvta isspacep mapa getctarank
Exec FindCacheAndFence(const Instruction& inst,
                       const ExecContext& context);                          // prefetch fence createpolicy...
Exec FindAtomic(const Instruction& inst, const ExecContext& context);        // atom red multimem
Exec FindAsyncCopy(const Instruction& inst, const ExecContext& context);     // cp.async, st.async, red.async
Exec FindAsyncBarrier(const Instruction& inst, const ExecContext& context);  // mbarrier
Exec FindAsyncBulk(const Instruction& inst, const ExecContext& context);   // cp.async.bulk, tensor, tensormap
Exec FindMatrixMove(const Instruction& inst, const ExecContext& context);  // ldmatrix stmatrix movmatrix wmma

// The space of the instruction's address operand, and where .param is.
inline MemSpace SpaceOfOperand(const Instruction& inst, const Operand& address, const ExecContext& context,
                               size_t which = 0) {
  switch (inst.space(which)) {
    case Space::kGlobal:
    case Space::kConst:
      return MemSpace::kGlobal;
    case Space::kShared:
      return MemSpace::kShared;
    case Space::kSharedCluster:
      return MemSpace::kSharedCluster;
    case Space::kLocal:
      return MemSpace::kLocal;
    case Space::kParam: {
      if (inst.Has("param::entry")) return MemSpace::kEntryParam;
      if (inst.Has("param::func")) return MemSpace::kFrameParam;
      // In a kernel: its own parameters, or the .param variables that it declares for calls.
      const bool entry = context.function != nullptr && context.function->is_entry;
      const bool own =
          address.base_kind == Operand::Base::kVariable && address.scope == Operand::Scope::kFunctionLocal;
      return entry && !own ? MemSpace::kEntryParam : MemSpace::kFrameParam;
    }
    default:
      return MemSpace::kGeneric;
  }
}

inline bool HasPrefix(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

}  // namespace understudy::emu::ptx
