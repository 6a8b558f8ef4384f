// SPDX-License-Identifier: Apache-2.0
// CDNA's text: the name alone as long as nothing decodes there.
#include "emu/amd/disasm/text_writer.h"

namespace understudy::emu::amd::disasm {

std::string CdnaMnemonic(const Inst& inst) { return Lower(OpcodeName(inst.op)); }

std::string CdnaText(const Inst& inst, const TextOptions& /*options*/) { return CdnaMnemonic(inst); }

}  // namespace understudy::emu::amd::disasm
