// SPDX-License-Identifier: Apache-2.0
// CDNA2, CDNA3 and CDNA4: no encoder yet; every instruction is refused by name.
#include "absl/strings/str_cat.h"
#include "emu/amd/decode/encode.h"

namespace understudy::emu::amd {

absl::StatusOr<int> EncodeCdna(const Inst& inst, uint8_t* /*out*/) {
  return absl::UnimplementedError(absl::StrCat("no encoder for ", IsaName(inst.isa)));
}

}  // namespace understudy::emu::amd
