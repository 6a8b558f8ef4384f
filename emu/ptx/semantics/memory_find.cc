// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/semantics/memory_find.h"

namespace understudy::emu::ptx {

Exec FindMemoryExec(const Instruction& inst, const ExecContext& context) {
  constexpr decltype(&FindMemoryExec) kParts[] = {FindLoadStore, FindAddress,   FindCacheAndFence,
                                                  FindAtomic,    FindAsyncCopy, FindAsyncBarrier,
                                                  FindAsyncBulk, FindMatrixMove};
  for (auto* part : kParts) {
    Exec exec = part(inst, context);
    if (exec.fn != nullptr || !exec.note.empty()) return exec;
  }
  return {};
}

}  // namespace understudy::emu::ptx
