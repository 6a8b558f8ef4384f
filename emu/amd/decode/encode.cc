// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/decode/encode.h"

#include "absl/strings/str_cat.h"

namespace understudy::emu::amd {

absl::StatusOr<int> EncodeRdna(const Inst& inst, uint8_t* /*out*/) {
  return absl::UnimplementedError(absl::StrCat("no encoder for ", IsaName(inst.isa)));
}

absl::StatusOr<int> Encode(const Inst& inst, uint8_t out[kMaxInstBytes]) {
  return IsCdna(inst.isa) ? EncodeCdna(inst, out) : EncodeRdna(inst, out);
}

}  // namespace understudy::emu::amd
