// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/isa/opcode.h"

#include <cstring>

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

namespace {

struct Generation {
  Isa isa;
  const char* name;
  const char* targets[4];  // the first stands for the generation
};

constexpr Generation kGenerations[] = {
    {Isa::kRdna3, "rdna3", {"gfx1100", "gfx1101", "gfx1102", "gfx1103"}},
    {Isa::kRdna35, "rdna3.5", {"gfx1150", "gfx1151", "gfx1152", "gfx1153"}},
    {Isa::kRdna4, "rdna4", {"gfx1200", "gfx1201"}},
    {Isa::kCdna2, "cdna2", {"gfx90a"}},
    {Isa::kCdna3, "cdna3", {"gfx942"}},
    {Isa::kCdna4, "cdna4", {"gfx950"}},
};

const Generation& Find(Isa isa) { return kGenerations[static_cast<int>(isa)]; }

}  // namespace

const char* IsaName(Isa isa) { return Find(isa).name; }

const char* IsaTarget(Isa isa) { return Find(isa).targets[0]; }

bool IsaOfTarget(const char* target, Isa* isa) {
  for (const Generation& generation : kGenerations) {
    for (const char* name : generation.targets) {
      if (name == nullptr || std::strcmp(name, target) != 0) continue;
      *isa = generation.isa;
      return true;
    }
  }
  return false;
}

}  // namespace understudy::emu::amd
