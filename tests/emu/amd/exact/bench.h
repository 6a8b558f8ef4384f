// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs single instructions, assembled by LLVM MC, on many edge and random inputs under partial EXEC, and
// compares every register that they may write with a formula given by the test. Used by the exact tests of
// vector and scalar instructions; it computes no result itself.
//
// Registers of an instruction under test: sources v[4:5], v[6:7], v[8:11], s[16:17], s[18:19], s[20:21];
// destinations v[12:15] and s[40:41], which hold drawn values before. VCC, EXEC, SCC and M0 are drawn too.

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "emu/amd/decode/rows.h"
#include "emu/amd/isa/opcode.h"

namespace understudy::emu::amd::exact {

// The scalar registers before and after.
struct Scalars {
  uint64_t a, b, c, d;  // s[16:17], s[18:19], s[20:21]; s[40:41]
  uint64_t vcc, exec;
  bool scc;
  uint32_t m0;
};

// The vector registers of one lane, before and after; `bit` is the lane's bit of a mask that is written.
struct Lane {
  uint32_t v[8];  // v4 to v11
  uint32_t d[4];  // v12 to v15
  bool vcc;
  bool bit;
  int number;
  Isa isa;

  uint64_t Wide(int i) const { return v[i] | uint64_t{v[i + 1]} << 32; }
  uint64_t WideD() const { return d[0] | uint64_t{d[1]} << 32; }
  void PutWide(uint64_t value) {
    d[0] = static_cast<uint32_t>(value);
    d[1] = static_cast<uint32_t>(value >> 32);
  }
  // A 16-bit result: CDNA's older instructions clear the other half, all others keep it.
  void PutHalf(uint32_t value, bool clears) { d[0] = (clears ? 0 : d[0] & 0xffff0000u) | (value & 0xffffu); }
};

// Which results are equal: the same bits, or two NaNs of a format.
enum class Same { kBits, kF16, kPkF16, kBf16, kF32, kPkF32, kF64 };

// Which masks the lanes' bits go to.
enum Masks : unsigned { kNoMask = 0, kToVcc = 1, kToS40 = 2, kToExec = 4 };

struct Case {
  std::string text;
  std::function<void(Lane&)> lane;                              // run for active lanes
  std::function<void(std::vector<Lane>&, uint64_t exec)> wave;  // instead, for all lanes at once
  std::function<void(Scalars&)> scalar;                         // run once
  unsigned masks = kNoMask;
  Same same = Same::kBits;
  int ulp = 0;              // how far a float result may be from the formula's, in units in the last place
  bool every_lane = false;  // whatever EXEC says
};

// A row of a table of tests: a mnemonic of the manuals and what one lane computes.
struct Op {
  const char* name;
  void (*lane)(Lane&);
  Same same = Same::kBits;
  const char* operands = nullptr;  // instead of those by the decoder's row
  int ulp = 0;
};

class Bench {
 public:
  Bench(Isa isa, int wave_size) : isa_(isa), wave_(wave_size) {}

  Isa isa() const { return isa_; }
  int wave_size() const { return wave_; }
  // MODE bits 7:0 (rounding and denormals) and 9:8 (DX10_CLAMP, IEEE).
  uint32_t mode = 0xf0;

  // The decoder's row of a mnemonic; nullptr when the generation has no such instruction.
  const decode::Row* Find(Encoding enc, const std::string& name) const;
  void Add(Case c) { cases_.push_back(std::move(c)); }
  // Adds an operation in every vector encoding that the generation has it in, with source modifiers where
  // the encoding has them. Returns the number of cases.
  int Add(const Op& op);

  // Runs all cases `rounds` times, each time with other inputs, and forgets them.
  void Run(int rounds = 24);

  std::string Vcc() const { return wave_ == 64 ? "vcc" : "vcc_lo"; }
  std::string S40() const { return wave_ == 64 ? "s[40:41]" : "s40"; }

 private:
  void RunSome(size_t begin, size_t end, int rounds);

  const Isa isa_;
  const int wave_;
  std::vector<Case> cases_;
};

// Values that find mistakes: edges of the integers and of all float formats, and random ones.
uint32_t DrawWord(std::mt19937_64& random);
uint64_t DrawLong(std::mt19937_64& random);

// The wave sizes of a generation.
inline std::vector<int> WaveSizes(Isa isa) {
  return IsCdna(isa) ? std::vector<int>{64} : std::vector<int>{32, 64};
}
std::string LowerCase(const char* mnemonic);

}  // namespace understudy::emu::amd::exact
