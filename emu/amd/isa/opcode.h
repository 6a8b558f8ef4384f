// SPDX-License-Identifier: Apache-2.0
#pragma once
// The vocabulary of AMD machine code as enumerations: generations, encodings, mnemonics and data types, each
// made from one generated .inc file. Everything in emu/amd uses it; it holds no semantics and no bit layouts.

#include <cstdint>

namespace understudy::emu::amd {

// A generation of the instruction set: opcode and operand numbers are per generation.
// kRdna3 is gfx1100-gfx1103; kRdna35 is gfx1150 and its kin, which add scalar float arithmetic; kRdna4
// gfx1200 and gfx1201; kCdna2 gfx90a; kCdna3 gfx942; kCdna4 gfx950.
enum class Isa : uint8_t { kRdna3, kRdna35, kRdna4, kCdna2, kCdna3, kCdna4 };
inline constexpr Isa kAllIsas[] = {Isa::kRdna3, Isa::kRdna35, Isa::kRdna4,
                                   Isa::kCdna2, Isa::kCdna3,  Isa::kCdna4};

constexpr bool IsCdna(Isa isa) { return isa >= Isa::kCdna2; }
constexpr bool IsRdna(Isa isa) { return !IsCdna(isa); }

// One enumerator a mnemonic, spelled as the ISA manual does but without _e32/_e64: V_ADD_F32 is one Opcode
// whether it came as VOP2, VOP3, with DPP or as a half of a VOPD pair.
enum class Opcode : uint16_t {
#define AMD_OPCODE(name) name,
#include "emu/amd/isa/opcodes.inc"
#undef AMD_OPCODE
  kCount,
};

// Instruction layouts. A literal or a DPP word does not change the encoding.
enum class Encoding : uint8_t {
#define AMD_ENCODING(name) name,
#include "emu/amd/isa/encodings.inc"
#undef AMD_ENCODING
  kCount,
};

// How an instruction reads an operand's bits. M64 is a lane mask: as wide as the wave (32 or 64 bits).
enum class DataType : uint8_t {
  NONE,
#define AMD_DATA_TYPE(name) name,
#include "emu/amd/isa/data_types.inc"
#undef AMD_DATA_TYPE
  kCount,
};

// "V_ADD_F32".
const char* OpcodeName(Opcode op);
// "VOP3".
const char* EncodingName(Encoding encoding);
// "PK2_F16".
const char* DataTypeName(DataType type);
// "rdna3".
const char* IsaName(Isa isa);
// The processor that stands for a generation in assemblers and compilers: "gfx1100".
const char* IsaTarget(Isa isa);
// The generation of a processor ("gfx1201" -> kRdna4); false for one that no table describes.
bool IsaOfTarget(const char* target, Isa* isa);

// V_FMA_MIX_F32, _MIXLO_F16 and _MIXHI_F16, whose sources are f32 or halves one by one: packed by encoding
// alone.
constexpr bool IsFmaMix(Opcode op) {
  return op == Opcode::V_FMA_MIX_F32 || op == Opcode::V_FMA_MIXLO_F16 || op == Opcode::V_FMA_MIXHI_F16;
}

}  // namespace understudy::emu::amd
