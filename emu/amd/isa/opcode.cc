// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/isa/opcode.h"

namespace understudy::emu::amd {
namespace {

constexpr const char* kOpcodeNames[] = {
#define AMD_OPCODE(name) #name,
#include "emu/amd/isa/opcodes.inc"
#undef AMD_OPCODE
};

constexpr const char* kEncodingNames[] = {
#define AMD_ENCODING(name) #name,
#include "emu/amd/isa/encodings.inc"
#undef AMD_ENCODING
};

constexpr const char* kDataTypeNames[] = {
    "NONE",
#define AMD_DATA_TYPE(name) #name,
#include "emu/amd/isa/data_types.inc"
#undef AMD_DATA_TYPE
};

}  // namespace

const char* OpcodeName(Opcode op) { return op < Opcode::kCount ? kOpcodeNames[static_cast<int>(op)] : "?"; }

const char* EncodingName(Encoding encoding) {
  return encoding < Encoding::kCount ? kEncodingNames[static_cast<int>(encoding)] : "?";
}

const char* DataTypeName(DataType type) {
  return type < DataType::kCount ? kDataTypeNames[static_cast<int>(type)] : "?";
}

const char* IsaName(Isa isa) {
  switch (isa) {
    case Isa::kRdna3:
      return "rdna3";
    case Isa::kRdna35:
      return "rdna3.5";
    case Isa::kRdna4:
      return "rdna4";
    case Isa::kCdna4:
      return "cdna4";
  }
  return "?";
}

}  // namespace understudy::emu::amd
