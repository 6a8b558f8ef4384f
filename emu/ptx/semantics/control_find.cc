// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/semantics/find_exec.h"

namespace understudy::emu::ptx {

Exec FindControlExec(const Instruction&, const ExecContext&) { return {}; }

}  // namespace understudy::emu::ptx
