// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of the integer family that its find function is made of. Private to it.

#include "emu/ptx/semantics/find_exec.h"

namespace understudy::emu::ptx {

// u16 .. s64 and b16 .. b64.
inline bool IsPlainInteger(Type type) {
  const int bits = TypeBits(type);
  return type != Type::kPred && !IsFloat(type) && type != Type::kU16x2 && type != Type::kS16x2 &&
         (bits == 16 || bits == 32 || bits == 64);
}

// mov of every type, with packing and unpacking, and logic on predicates.
Exec FindMove(const Instruction& inst);
Exec FindPredicateLogic(const Instruction& inst);
// Instructions of the chapter "Video Instructions".
Exec FindVideo(const Instruction& inst);

}  // namespace understudy::emu::ptx
