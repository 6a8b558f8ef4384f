// SPDX-License-Identifier: Apache-2.0
#pragma once
// One wave whose whole state (registers, memory, LDS, private memory) a test fills, predicts and compares
// around a single instruction that comes from assembly text. LLVM MC assembles; what it does not know on a
// target is assembled by our own assembler. Never decides what an instruction does: that is each test's
// formula.

#include <cstdint>
#include <string>
#include <vector>

#include "emu/amd/decode/rows.h"
#include "tests/emu/amd/memory/memory_machine.h"

namespace understudy::emu::amd {

// What an instruction can change. A test writes its prediction into a copy.
struct WaveImage {
  std::vector<uint32_t> sgpr, vgpr;
  std::vector<uint8_t> buffer, lds, scratch;
  bool scc = false;
  uint32_t mode = 0;
  int lanes = 0;

  uint32_t& V(int reg, int lane) { return vgpr[static_cast<size_t>(reg * lanes + lane)]; }
  // `bytes` (4 or 8) as a value in consecutive registers.
  void PutV(int reg, int lane, int bytes, uint64_t value) {
    V(reg, lane) = static_cast<uint32_t>(value);
    if (bytes == 8) V(reg + 1, lane) = static_cast<uint32_t>(value >> 32);
  }
  // "" where the two agree, else the first difference.
  std::string Difference(const WaveImage& got) const;
};

// Little-endian values of 1 to 8 bytes.
uint64_t Get(const std::vector<uint8_t>& bytes, size_t at, int size);
void Put(std::vector<uint8_t>* bytes, size_t at, int size, uint64_t value);

class ExactMachine : public MemoryMachine {
 public:
  static constexpr size_t kBufferBytes = 16384, kLdsBytes = 32768;
  static constexpr uint32_t kScratchBytes = 512;
  static constexpr int kComparedVgprs = 80;

  ExactMachine(Isa isa, int wave_size);

  // Everything to pseudo-random contents; EXEC to a mask with lanes on and off (round 0: all on). s[4:5] is
  // the buffer's address and s[8:11] its raw descriptor of kBufferBytes.
  void Randomize(uint32_t seed);
  uint32_t Random();
  void SetV(int reg, int lane, int bytes, uint64_t value);
  bool Active(int lane) const { return (wave.exec() >> lane & 1) != 0; }

  WaveImage Save() const;
  // The instruction of the text, which must be `op`; fails the test where nothing assembles it.
  bool Assembled(Opcode op, const std::string& text, Inst* inst);
  // Runs it and compares the whole state with `want`.
  void Expect(Opcode op, const std::string& text, const WaveImage& want);

  // Byte `at` of a lane's private memory in `scratch`: dwords are interleaved by lane.
  size_t PrivateByte(int lane, uint32_t at) const {
    return (size_t{at / 4} * static_cast<size_t>(wave.wave_size) + static_cast<size_t>(lane)) * 4 + at % 4;
  }

 private:
  uint64_t state_ = 1;
};

// "v5", "v[6:7]".
std::string Registers(char file, int first, int count);
// "global_atomic_add_u32".
std::string LowerName(Opcode op);
bool StartsWith(const std::string& text, const std::string& prefix);
bool Contains(const std::string& text, const std::string& part);

// Executable rows of the generation's memory encodings, without opcodes listed in an encoding that reserves
// them.
std::vector<const decode::Row*> MemoryRows(Isa isa);

// The generation's word for "return the old value", with a space before it.
const char* ReturnFlag(Isa isa);
// A zero scalar offset in a buffer instruction's text.
const char* NoOffset(Isa isa);

// Generations with the wave sizes they have.
struct Generation {
  Isa isa;
  int lanes;
};
std::vector<Generation> AllGenerations();
std::string GenerationName(const testing::TestParamInfo<Generation>& info);

}  // namespace understudy::emu::amd
