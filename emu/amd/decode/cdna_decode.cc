// SPDX-License-Identifier: Apache-2.0
// CDNA2, CDNA3 and CDNA4: no decoder yet; every instruction is refused by name.
#include "absl/strings/str_cat.h"
#include "emu/amd/decode/cursor.h"
#include "emu/amd/decode/rows.h"

namespace understudy::emu::amd::decode {

absl::Status DecodeCdna(Cursor* c, Inst* /*inst*/) {
  return absl::UnimplementedError(
      absl::StrCat("no decoder for ", IsaName(c->isa), "; there is one for rdna3, rdna3.5 and rdna4"));
}

Table BuildCdnaTable(Isa /*isa*/) { return Table(); }

}  // namespace understudy::emu::amd::decode
