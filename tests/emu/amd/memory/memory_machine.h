// SPDX-License-Identifier: Apache-2.0
#pragma once
// One wave with memory, LDS and private memory, on which a test executes single memory instructions that it
// builds by hand: the executors without a decoder, for every generation.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"
#include "emu/amd/semantics/find_exec.h"
#include "emu/memory/address_space.h"
#include "src/base/status.h"
#include "tests/emu/amd/evidence/evidence.h"

namespace understudy::emu::amd {

class MemoryMachine {
 public:
  static constexpr uint64_t kBufferVa = 0x7f0000100000, kScratchVa = 0x7f0000800000;

  MemoryMachine(Isa isa, int wave_size, size_t buffer_bytes, size_t lds_bytes = 0, uint32_t scratch_bytes = 0)
      : buffer(buffer_bytes),
        lds(lds_bytes + 16),
        scratch(size_t{scratch_bytes} * wave_size),
        registers_(512 * 64) {
    if (buffer_bytes != 0) {
      US_CHECK_OK(space.Map(kBufferVa, buffer_bytes, buffer.data(), Perm::kReadWrite, "buffer"));
    }
    if (scratch_bytes != 0) {
      US_CHECK_OK(space.Map(kScratchVa, scratch.size(), scratch.data(), Perm::kReadWrite, "scratch"));
    }
    translator_ = Translator(&space);
    wave.isa = isa;
    wave.wave_size = wave_size;
    wave.lane_mask = wave_size == 64 ? ~uint64_t{0} : 0xffffffffu;
    wave.num_vgprs = 256;
    wave.num_agprs = IsCdna(isa) ? 256 : 0;
    wave.vgpr = registers_.data();
    wave.lds = lds.data();
    wave.lds_bytes = static_cast<uint32_t>(lds_bytes);
    wave.mem = &translator_;
    wave.scratch_base = kScratchVa;
    wave.scratch_bytes_per_lane = scratch_bytes;
    wave.shared_aperture = uint64_t{1} << 48;
    wave.private_aperture = uint64_t{2} << 48;
    wave.fault = &fault;
    wave.set_exec(wave.lane_mask);
  }

  // An instruction of this generation; operands are added by the helpers below.
  Inst Make(Encoding enc, Opcode op) const {
    Inst inst;
    inst.enc = enc;
    inst.op = op;
    inst.isa = wave.isa;
    return inst;
  }
  static Operand V(int reg, int dwords = 1) { return Register(Operand::Kind::kVgpr, reg, dwords); }
  static Operand A(int reg, int dwords = 1) { return Register(Operand::Kind::kAgpr, reg, dwords); }
  static Operand S(int reg, int dwords = 1) { return Register(Operand::Kind::kSgpr, reg, dwords); }
  static Operand Int(int64_t value) {
    Operand operand;
    operand.kind = Operand::Kind::kInlineInt;
    operand.imm = static_cast<uint64_t>(value);
    return operand;
  }

  ExecResult Try(const Inst& inst) {
    std::string refusal;
    const ExecFn fn = FindExec(inst, &refusal);
    if (fn == nullptr) {
      ADD_FAILURE() << refusal;
      return ExecResult::kFault;
    }
    RecordExecuted(inst.isa, inst.op);
    return fn(inst, wave);
  }
  void Run(const Inst& inst) {
    if (Try(inst) == ExecResult::kFault) ADD_FAILURE() << OpcodeName(inst.op) << ": " << fault.message;
  }
  std::string Refusal(const Inst& inst) {
    std::string refusal;
    return FindExec(inst, &refusal) == nullptr ? refusal : "";
  }

  uint32_t& Vgpr(int reg, int lane) { return wave.Vgpr(reg)[lane]; }
  uint32_t& Agpr(int reg, int lane) { return wave.Agpr(reg)[lane]; }
  void Set64(int sgpr, uint64_t value) {
    wave.sgpr[sgpr] = static_cast<uint32_t>(value);
    wave.sgpr[sgpr + 1] = static_cast<uint32_t>(value >> 32);
  }

  AddressSpace space;
  WaveState wave = {};
  PendingFault fault;
  std::vector<uint8_t> buffer, lds, scratch;

 private:
  static Operand Register(Operand::Kind kind, int reg, int dwords) {
    Operand operand;
    operand.kind = kind;
    operand.reg = static_cast<uint16_t>(reg);
    operand.dwords = static_cast<uint8_t>(dwords);
    operand.bits = static_cast<uint16_t>(32 * dwords);
    return operand;
  }

  Translator translator_;
  std::vector<uint32_t> registers_;
};

inline uint32_t Word(const std::vector<uint8_t>& bytes, size_t at) {
  uint32_t word;
  std::memcpy(&word, &bytes[at], 4);
  return word;
}

}  // namespace understudy::emu::amd
