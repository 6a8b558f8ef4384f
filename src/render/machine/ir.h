// SPDX-License-Identifier: Apache-2.0
#pragma once
// Machine code before and after register allocation: blocks of one processor's instructions on virtual or
// real registers. Instruction selection makes it, the allocator rewrites it, the processors' encoders and
// printers read it. Knows no processor: an opcode is a number of the processor's own table.
//
// Registers are not in static single assignment: a register may be written several times, and an instruction
// that reads and writes one operand (x86's two-address forms) says so by the operand's role.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "src/base/status.h"

namespace understudy::machine {

enum class RegClass : uint8_t { kGeneral, kVector };

// Real registers: 0..31 general, 32..63 vector, by the processor's own numbers. From kFirstVirtual on
// virtual.
using Reg = uint32_t;
inline constexpr Reg kVectorBase = 32, kFirstVirtual = 64, kNoReg = ~Reg{0};
inline bool IsVirtual(Reg r) { return r >= kFirstVirtual && r != kNoReg; }
inline bool IsReal(Reg r) { return r < kFirstVirtual; }
inline RegClass ClassOfReal(Reg r) { return r < kVectorBase ? RegClass::kGeneral : RegClass::kVector; }

enum class Role : uint8_t { kUse, kDef, kUseDef };

struct Operand {
  enum class Kind : uint8_t {
    kNone,
    kReg,    // reg
    kImm,    // imm
    kMem,    // [reg + index * scale + imm]; reg and index are read
    kSlot,   // the frame's slot `slot`, at byte imm
    kPool,   // the constant at byte imm of the pool
    kBlock,  // the block imm
  };
  Kind kind = Kind::kNone;
  Role role = Role::kUse;  // of a kReg; of memory, whether it is written does not matter here
  uint8_t bytes = 0;       // of the register or the memory, as the text names them
  uint8_t scale = 1;
  Reg reg = kNoReg, index = kNoReg;
  int slot = -1;
  int64_t imm = 0;

  static Operand Use(Reg r, int bytes) { return Of(r, bytes, Role::kUse); }
  static Operand Def(Reg r, int bytes) { return Of(r, bytes, Role::kDef); }
  static Operand UseDef(Reg r, int bytes) { return Of(r, bytes, Role::kUseDef); }
  static Operand Imm(int64_t v) {
    Operand o;
    o.kind = Kind::kImm;
    o.imm = v;
    return o;
  }
  static Operand Mem(Reg base, Reg index, int scale, int64_t disp, int bytes) {
    Operand o;
    o.kind = Kind::kMem;
    o.reg = base;
    o.index = index;
    o.scale = static_cast<uint8_t>(scale);
    o.imm = disp;
    o.bytes = static_cast<uint8_t>(bytes);
    return o;
  }
  static Operand Slot(int slot, int bytes, int64_t offset = 0) {
    Operand o;
    o.kind = Kind::kSlot;
    o.slot = slot;
    o.imm = offset;
    o.bytes = static_cast<uint8_t>(bytes);
    return o;
  }
  static Operand Pool(int64_t offset, int bytes) {
    Operand o;
    o.kind = Kind::kPool;
    o.imm = offset;
    o.bytes = static_cast<uint8_t>(bytes);
    return o;
  }
  static Operand Block(int block) {
    Operand o;
    o.kind = Kind::kBlock;
    o.imm = block;
    return o;
  }
  bool IsReg() const { return kind == Kind::kReg; }
  bool IsMemory() const { return kind == Kind::kMem || kind == Kind::kSlot || kind == Kind::kPool; }
  friend bool operator==(const Operand&, const Operand&) = default;

 private:
  static Operand Of(Reg r, int bytes, Role role) {
    Operand o;
    o.kind = Kind::kReg;
    o.reg = r;
    o.bytes = static_cast<uint8_t>(bytes);
    o.role = role;
    return o;
  }
};

// How a general comparison or a branch decides.
enum class Cond : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kBelow, kBelowEq, kAbove, kAboveEq };
inline Cond Negate(Cond c) {
  constexpr Cond kNot[] = {Cond::kNe, Cond::kEq,      Cond::kGe,    Cond::kGt,      Cond::kLe,
                           Cond::kLt, Cond::kAboveEq, Cond::kAbove, Cond::kBelowEq, Cond::kBelow};
  return kNot[static_cast<int>(c)];
}

struct Inst {
  static constexpr int kMostOperands = 5;
  // What the allocator may know of an instruction.
  enum Flags : uint8_t {
    kMove = 1,     // ops[0] (a register, kDef) becomes ops[1], nothing else happens
    kRemake = 2,   // writes ops[0] from constants alone, and no flags: may be repeated instead of spilled
    kDeleted = 4,  // gone, kept only for the checker
    kVex = 8,      // x86: three operands and the encoding of AVX
  };
  uint16_t op = 0;
  uint8_t bytes = 0;  // of the operation: general registers 1 to 8, vectors 16 or 32
  uint8_t flags = 0;
  Cond cond = Cond::kEq;
  uint8_t count = 0;
  int origin = -1;  // the instruction before allocation; -1: the allocator's own
  std::array<Operand, kMostOperands> ops;

  void Add(const Operand& o) {
    US_CHECK(count < kMostOperands) << "too many operands";
    ops[count++] = o;
  }
};

// Calls fn(reg, role) for every register of the instruction; `reg` may be changed. An operand that is memory
// reads its registers.
template <class I, class Fn>
void ForEachReg(I& inst, Fn fn) {
  for (int i = 0; i < inst.count; ++i) {
    auto& o = inst.ops[i];
    if (o.kind == Operand::Kind::kReg) fn(o.reg, o.role);
    if (o.kind == Operand::Kind::kMem) {
      if (o.reg != kNoReg) fn(o.reg, Role::kUse);
      if (o.index != kNoReg) fn(o.index, Role::kUse);
    }
  }
}

// Runs from its first instruction to its last; what follows is one of `next`. A block that does not end in a
// jump falls into the one after it.
struct Block {
  std::vector<Inst> insts;
  std::vector<int> next;
  int depth = 0;  // loops around it
};

struct VirtualReg {
  RegClass reg_class = RegClass::kGeneral;
  uint8_t bytes = 8;  // that matter: 8 of a general register, 16 or 32 of a vector one
  bool keep = false;  // never spilled: lives for one instruction
};

struct FrameSlot {
  int bytes = 0, align = 8;
};

struct Function {
  std::string name;
  std::vector<Block> blocks;
  std::vector<VirtualReg> virtuals;  // of register kFirstVirtual + i
  std::vector<FrameSlot> slots;
  std::vector<uint8_t> pool;  // constants behind the code, aligned to 32

  Reg NewReg(RegClass c, int bytes) {
    virtuals.push_back({c, static_cast<uint8_t>(bytes), false});
    return kFirstVirtual + static_cast<Reg>(virtuals.size() - 1);
  }
  const VirtualReg& InfoOf(Reg r) const { return virtuals[r - kFirstVirtual]; }
  int NewSlot(int bytes, int align) {
    slots.push_back({bytes, align});
    return static_cast<int>(slots.size() - 1);
  }
};

// What the allocator asks a processor.
class Processor {
 public:
  virtual ~Processor() = default;
  // Registers that may be given out, the ones that cost nothing first.
  virtual const std::vector<Reg>& Allocatable(RegClass c) const = 0;
  virtual Inst Move(RegClass c, int bytes, Reg to, Reg from) const = 0;
  virtual Inst Reload(RegClass c, int bytes, Reg to, const Operand& from) const = 0;
  virtual Inst Spill(RegClass c, int bytes, const Operand& to, Reg from) const = 0;
  // Whether operand `i`, a register that is read, may be memory of the frame or the pool instead.
  virtual bool MayBeMemory(const Inst& inst, int i) const = 0;
  // One line without a line's end, as LLVM MC prints it; a block is ".L" and its number.
  virtual std::string Text(const Inst& inst) const = 0;
};

}  // namespace understudy::machine
