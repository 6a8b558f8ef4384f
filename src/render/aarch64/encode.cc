// SPDX-License-Identifier: Apache-2.0
// Words of instructions: Arm Architecture Reference Manual for A-profile, chapter C4.
#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/render/aarch64/ops.h"

namespace understudy::aarch64 {
namespace {

using machine::Inst;
using machine::kNoReg;
using machine::kVectorBase;
using machine::Operand;

uint32_t Number(const Operand& o) {
  US_CHECK(o.IsReg() && machine::IsReal(o.reg)) << "expected a real register";
  return o.reg < kVectorBase ? o.reg : o.reg - kVectorBase;
}

// MOVZ or MOVN: the half word's place and bits, and whether it is MOVN.
struct Moved {
  bool ok = false, inverted = false;
  uint32_t half = 0, bits = 0;
};
Moved MovedOf(int bits, int64_t value) {
  const uint64_t mask = LowMask(bits), v = static_cast<uint64_t>(value) & mask;
  for (const bool inverted : {false, true}) {
    const uint64_t u = inverted ? ~v & mask : v;
    for (uint32_t half = 0; half < static_cast<uint32_t>(bits) / 16; ++half) {
      if ((u & ~(uint64_t{0xffff} << (16 * half))) == 0)
        return {true, inverted, half, static_cast<uint32_t>(u >> (16 * half))};
    }
  }
  return {};
}

// By its opcode: log2 of the bytes that a load or store moves.
uint32_t SizeOf(uint32_t word) {
  const bool quad = (word & 0x04800000) == 0x04800000;  // V and the high bit of opc
  return quad ? 4 : word >> 30;
}

absl::StatusOr<uint32_t> Memory(uint32_t word, const Operand& m, const Layout& layout) {
  const uint32_t size = SizeOf(word);
  uint32_t base = kSp;
  int64_t at = 0;
  if (m.kind == Operand::Kind::kSlot) {
    at = layout.slot_offsets[m.slot] + m.imm;
  } else {
    US_CHECK(m.kind == Operand::Kind::kMem && machine::IsReal(m.reg)) << "an operand that is no memory";
    base = m.reg;
    at = m.imm;
    if (m.index != kNoReg) {
      US_CHECK(at == 0 && (m.scale == 1 || m.scale == 1 << size)) << "no such address";
      return (word & ~0x01000000u) | 0x00206800 | m.index << 16 | (m.scale != 1 ? 1 : 0) << 12 | base << 5;
    }
  }
  if (at >= 0 && at % (1 << size) == 0 && (at >> size) < 4096)
    return word | static_cast<uint32_t>(at >> size) << 10 | base << 5;
  if (at >= -256 && at < 256)
    return (word & ~0x01000000u) | (static_cast<uint32_t>(at) & 0x1ff) << 12 | base << 5;
  return absl::ResourceExhaustedError(absl::StrCat("AArch64: an offset of ", at, " bytes does not fit"));
}

absl::StatusOr<uint32_t> Distance(int64_t bytes, int bits, const char* what) {
  if (bytes < -(int64_t{1} << (bits + 1)) || bytes >= int64_t{1} << (bits + 1))
    return absl::ResourceExhaustedError(absl::StrCat("AArch64: ", what, " ", bytes, " bytes away"));
  return static_cast<uint32_t>(bytes >> 2) & static_cast<uint32_t>(LowMask(bits));
}

constexpr uint32_t kConditions[] = {0, 1, 11, 13, 12, 10, 3, 9, 8, 2};

}  // namespace

bool IsMovImm(int bits, int64_t value) { return MovedOf(bits, value).ok; }
bool IsMask(int bits, int64_t value) {
  const uint64_t v = static_cast<uint64_t>(value) & LowMask(bits);
  return v != 0 && v != LowMask(bits) && (v & (v + 1)) == 0;
}

absl::StatusOr<uint32_t> Encode(const Inst& inst, const Layout& layout, int64_t offset, int64_t target) {
  const OpInfo& info = InfoOf(inst.op);
  const auto& ops = inst.ops;
  uint32_t word = info.word;
  bool sf = false;
  for (int i = 0; i < inst.count; ++i) {
    if (ops[i].IsReg() && ops[i].reg < kVectorBase && ops[i].bytes == 8) sf = true;
  }
  if (info.widths & kSf && sf) word |= 0x80000000;
  if (info.widths & kWide && inst.bytes == 8) word |= 0x00400000;
  const int bits = sf ? 64 : 32;
  // UBFM, SBFM and the logical immediates repeat the width in bit 22.
  const auto number = [&](int i) { return Number(ops[i]); };
  switch (info.encoding) {
    case Encoding::kRegs: {
      static constexpr int kPlaces[] = {0, 5, 16, 10};
      for (int i = 0; i < inst.count; ++i) word |= number(i) << kPlaces[i];
      return word;
    }
    case Encoding::kRm:
      return word | number(0) | number(1) << 16;
    case Encoding::kBoth:
      return word | number(0) | number(1) << 5 | number(1) << 16;
    case Encoding::kShifted:
      return word | number(0) | number(1) << 5 | number(2) << 16 | static_cast<uint32_t>(ops[3].imm) << 10;
    case Encoding::kImm12: {
      const int64_t v = ops[2].imm;
      US_CHECK(v >= 0 && (v < 4096 || (v % 4096 == 0 && v < 4096 * 4096))) << "an immediate of " << v;
      const uint32_t field = v < 4096 ? static_cast<uint32_t>(v) : static_cast<uint32_t>(v >> 12) | 1 << 12;
      return word | number(0) | number(1) << 5 | field << 10;
    }
    case Encoding::kMask: {
      const uint32_t ones = static_cast<uint32_t>(__builtin_popcountll(static_cast<uint64_t>(ops[2].imm)));
      return word | (sf ? 0x00400000 : 0) | number(0) | number(1) << 5 | (ones - 1) << 10;
    }
    case Encoding::kMovImm: {
      const Moved m = MovedOf(bits, ops[1].imm);
      US_CHECK(m.ok) << "no single move makes " << ops[1].imm;
      return (m.inverted ? word & ~0x40000000u : word) | m.half << 21 | m.bits << 5 | number(0);
    }
    case Encoding::kShiftLeft: {
      const auto s = static_cast<uint32_t>(ops[2].imm), b = static_cast<uint32_t>(bits);
      return word | (sf ? 0x00400000 : 0) | ((b - s) % b) << 16 | (b - 1 - s) << 10 | number(1) << 5 |
             number(0);
    }
    case Encoding::kShiftRight:
      return word | (sf ? 0x00400000 : 0) | static_cast<uint32_t>(ops[2].imm) << 16 |
             static_cast<uint32_t>(bits - 1) << 10 | number(1) << 5 | number(0);
    case Encoding::kExtend:
      return word | (sf ? 0x00400000 : 0) | number(1) << 5 | number(0);
    case Encoding::kCompare:
      return word | number(0) << 5 | number(1) << 16;
    case Encoding::kCompareImm:
      US_CHECK(ops[1].imm >= 0 && ops[1].imm < 4096) << "a comparison with " << ops[1].imm;
      return word | number(0) << 5 | static_cast<uint32_t>(ops[1].imm) << 10;
    case Encoding::kSelect:
      return word | number(0) | number(1) << 5 | number(2) << 16 |
             kConditions[static_cast<int>(inst.cond)] << 12;
    case Encoding::kSet:
      return word | number(0) | (kConditions[static_cast<int>(inst.cond)] ^ 1) << 12;
    case Encoding::kBranch: {
      US_ASSIGN_OR_RETURN(const uint32_t d, Distance(target - offset, 26, "a jump goes"));
      return word | d;
    }
    case Encoding::kBranchIf: {
      US_ASSIGN_OR_RETURN(const uint32_t d, Distance(target - offset, 19, "a jump goes"));
      return word | d << 5 | kConditions[static_cast<int>(inst.cond)];
    }
    case Encoding::kAdr: {
      const int64_t d = layout.pool_offset + ops[1].imm - offset;
      if (d >= 1 << 20)
        return absl::ResourceExhaustedError(absl::StrCat("AArch64: a constant is ", d, " bytes away"));
      return word | (static_cast<uint32_t>(d) & 3) << 29 | (static_cast<uint32_t>(d >> 2) & 0x7ffff) << 5 |
             number(0);
    }
    case Encoding::kLiteral: {
      US_ASSIGN_OR_RETURN(const uint32_t d,
                          Distance(layout.pool_offset + ops[1].imm - offset, 19, "a constant is"));
      return word | d << 5 | number(0);
    }
    case Encoding::kMemory: {
      US_ASSIGN_OR_RETURN(const uint32_t w, Memory(word, ops[1], layout));
      return w | number(0);
    }
    case Encoding::kStore: {
      US_ASSIGN_OR_RETURN(const uint32_t w, Memory(word, ops[0], layout));
      return w | number(1);
    }
    case Encoding::kVectorLeft:
      return word | static_cast<uint32_t>(8 * inst.bytes + ops[2].imm) << 16 | number(1) << 5 | number(0);
    case Encoding::kVectorRight:
      return word | static_cast<uint32_t>(16 * inst.bytes - ops[2].imm) << 16 | number(1) << 5 | number(0);
    case Encoding::kLane:
    case Encoding::kLaneZero:
    case Encoding::kLaneToGeneral: {
      const auto lane = info.encoding == Encoding::kLaneZero ? 0 : static_cast<uint32_t>(ops[2].imm);
      if (info.encoding == Encoding::kLaneToGeneral && inst.bytes == 8) word |= 0x40000000;
      return word | (lane * 2 + 1) * inst.bytes << 16 | number(1) << 5 | number(0);
    }
  }
  US_CHECK(false) << "an encoding that is none";
  return 0;
}

}  // namespace understudy::aarch64
