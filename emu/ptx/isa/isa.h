// SPDX-License-Identifier: Apache-2.0
#pragma once
// The vocabulary of PTX: types, state spaces and opcodes, with their names. Every part of the PTX emulator
// uses it; it holds no behaviour.

#include <cstdint>
#include <string>

namespace understudy::emu::ptx {

enum class Type : uint8_t {
  kNone,
#define PTX_TYPE(id, name, bits) id,
#include "emu/ptx/isa/types.inc"
#undef PTX_TYPE
};
const char* TypeName(Type type);                     // "f16x2"; "" for kNone
bool FindType(const std::string& name, Type* type);  // without the dot
int TypeBits(Type type);                             // 0 for kNone and opaque types
bool IsSigned(Type type);                            // s2 .. s64, s16x2
bool IsFloat(Type type);                             // every float format, packed ones included
// Bytes in memory: bits rounded up to a byte (pred: 0).
inline int TypeBytes(Type type) { return (TypeBits(type) + 7) / 8; }

// State spaces (PTX ISA, "State Spaces"). kGeneric stands for an absent space in ld, st, atom...
enum class Space : uint8_t {
  kGeneric,
  kReg,
  kSreg,
  kConst,
  kGlobal,
  kLocal,
  kParam,
  kShared,
  kSharedCluster,
  kTex
};
const char* SpaceName(Space space);  // "shared::cluster"

enum class Op : uint16_t {
#define PTX_OP(id, name) id,
#include "emu/ptx/isa/opcodes.inc"
#undef PTX_OP
};
const char* OpName(Op op);
bool FindOp(const std::string& name, Op* op);

// The first PTX version (x10) that has the target sm_90 or, with the suffix 'a' or 'f', sm_90a; 0: there is none.
int TargetVersion(int sm, char suffix);

struct SpecialRegister {
  std::string name;  // without '%' and element: "tid", "envreg3"
  Type type;         // of an element
  int elements;      // 4: .x .y .z .w, else 1
  int ptx_version;   // x10: the first that has it
  int sm;            // the first target that has it, 0: all
};
// nullptr when there is none of that name (without '%').
const SpecialRegister* FindSpecialRegister(const std::string& name);

}  // namespace understudy::emu::ptx
