// SPDX-License-Identifier: Apache-2.0
#pragma once
// A wave with registers for tests of vector semantics, operands by name, and values that find mistakes. It
// runs one instruction at a time through FindVectorExec, as the program cache does.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "emu/amd/semantics/vector_exec.h"
#include "emu/amd/semantics/vector_table.h"
#include "tests/emu/amd/evidence/evidence.h"

namespace understudy::emu::amd::testing {

inline Operand V(int reg, int dwords = 1) {
  Operand o;
  o.kind = Operand::Kind::kVgpr;
  o.reg = static_cast<uint16_t>(reg);
  o.dwords = static_cast<uint8_t>(dwords);
  return o;
}
inline Operand S(int reg, int dwords = 1) {
  Operand o = V(reg, dwords);
  o.kind = Operand::Kind::kSgpr;
  return o;
}
inline Operand A(int reg, int dwords = 1) {
  Operand o = V(reg, dwords);
  o.kind = Operand::Kind::kAgpr;
  return o;
}
inline Operand Literal(uint64_t bits) {
  Operand o;
  o.kind = Operand::Kind::kLiteral;
  o.imm = bits;
  return o;
}
inline Operand InlineInt(int64_t value) {
  Operand o = Literal(static_cast<uint64_t>(value));
  o.kind = Operand::Kind::kInlineInt;
  return o;
}

class Machine {
 public:
  explicit Machine(int wave_size = 32, Isa isa = Isa::kRdna3) : storage_(512 * 64 + 16) {
    wave = WaveState();
    wave.isa = isa;
    wave.wave_size = wave_size;
    wave.lane_mask = wave_size == 64 ? ~uint64_t{0} : 0xffffffffu;
    wave.num_vgprs = 256;
    wave.num_agprs = IsCdna(isa) ? 256 : 0;
    const uintptr_t raw = reinterpret_cast<uintptr_t>(storage_.data());
    wave.vgpr = reinterpret_cast<uint32_t*>((raw + 63) & ~uintptr_t{63});
    wave.mode = 0xf0;  // nearest even, denormals kept
    wave.fault = &fault;
    wave.set_exec(wave.lane_mask);
  }

  WaveState wave;
  PendingFault fault;

  uint32_t& Reg(int reg, int lane) { return wave.Vgpr(reg)[lane]; }
  void Broadcast(int reg, uint32_t value) {
    for (int lane = 0; lane < wave.wave_size; ++lane) Reg(reg, lane) = value;
  }
  void Broadcast64(int reg, uint64_t value) {
    Broadcast(reg, static_cast<uint32_t>(value));
    Broadcast(reg + 1, static_cast<uint32_t>(value >> 32));
  }
  uint64_t Reg64(int reg, int lane) { return Reg(reg, lane) | uint64_t{Reg(reg + 1, lane)} << 32; }

  // Decodes and executes machine code of the wave's generation; empty on success.
  std::string Run(std::vector<uint8_t> bytes) {
    const absl::StatusOr<Inst> inst = Decode(wave.isa, bytes.data(), bytes.size());
    if (!inst.ok()) return inst.status().ToString();
    return Execute(*inst);
  }

  // Empty on success, else the refusal.
  std::string Execute(const Inst& inst) {
    const ExecFn fn = FindVectorExec(inst);
    if (fn == nullptr) return VectorRefusal(inst);
    RecordExecuted(inst.isa, inst.op);
    if (inst.op_y != Opcode::kCount) RecordExecuted(inst.isa, inst.op_y);
    return fn(inst, wave) == ExecResult::kNext ? "" : "did not continue";
  }

 private:
  std::vector<uint32_t> storage_;
};

inline Inst Make(Opcode op, Encoding enc, std::initializer_list<Operand> dst,
                 std::initializer_list<Operand> src) {
  Inst inst;
  inst.op = op;
  inst.enc = enc;
  for (const Operand& o : dst) inst.dst[inst.n_dst++ & 1] = o;
  for (const Operand& o : src) inst.src[inst.n_src++ % 6] = o;
  inst.op_sel_hi = enc == Encoding::VOP3P ? 7 : 0;
  return inst;
}

// A small generator whose draws favour the edges of integers and of every float format.
class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}

  uint64_t Bits() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545f4914f6cdd1du;
  }
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>((Bits() >> 32) % n); }
  uint32_t Word() {
    static constexpr uint32_t kEdges[] = {
        0,          1,          2,          31,         32,         0xff,       0xffff,     0x10000,
        0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0x7fff8000, 0x3f800000, 0xbf800000,
        0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc00001, 0x00800000, 0x007fffff, 0x00000001,
        0x80000001, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0x4b000000, 0x4f000000, 0xcf000000, 0x33000000,
        0x7c007c00, 0xfc003c00, 0x7e017c01, 0x04000001, 0x03ff83ff, 0x7bff7bff, 0x3c003800, 0x00010001};
    switch (Below(4)) {
      case 0:
        return kEdges[Below(sizeof(kEdges) / sizeof(kEdges[0]))];
      case 1: {
        // A float of moderate size, so that sums and products do something.
        const uint32_t exponent = 107 + Below(40);
        return (static_cast<uint32_t>(Bits()) & 0x807fffffu) | exponent << 23;
      }
      default:
        return static_cast<uint32_t>(Bits() >> 16);
    }
  }
  uint64_t Long() {
    static constexpr uint64_t kEdges[] = {0,
                                          1,
                                          0x8000000000000000u,
                                          0x7fffffffffffffffu,
                                          ~uint64_t{0},
                                          0x3ff0000000000000u,
                                          0x7ff0000000000000u,
                                          0xfff0000000000000u,
                                          0x7ff8000000000000u,
                                          0x7ff0000000000001u,
                                          0x0010000000000000u,
                                          0x000fffffffffffffu,
                                          0x7fefffffffffffffu,
                                          0x41e0000000000000u,
                                          0xc1e0000000200000u,
                                          0x3fe0000000000000u};
    switch (Below(4)) {
      case 0:
        return kEdges[Below(sizeof(kEdges) / sizeof(kEdges[0]))];
      case 1:
        return (Bits() & 0x800fffffffffffffu) | uint64_t{1023 - 30 + Below(60)} << 52;
      case 2:
        return uint64_t{Word()} << 32 | Word();
      default:
        return Bits();
    }
  }

 private:
  uint64_t state_;
};

}  // namespace understudy::emu::amd::testing
