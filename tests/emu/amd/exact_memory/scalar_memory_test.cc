// SPDX-License-Identifier: Apache-2.0
// Every scalar memory instruction of every generation, from its text: loads, stores and atomics with the
// address forms that the encoding has, and those without an effect, which must leave everything as it was.

#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_format.h"
#include "src/base/bits.h"
#include "tests/emu/amd/core/kernel_runner.h"
#include "tests/emu/amd/exact_memory/atomic_formulas.h"
#include "tests/emu/amd/exact_memory/exact_machine.h"

namespace understudy::emu::amd {
namespace {

constexpr int kData = 20;

// What a mnemonic moves.
struct Move {
  const char* suffix;
  int bytes;
  bool is_signed;
};
constexpr Move kMoves[] = {
    {"DWORD", 4, false},     {"DWORDX2", 8, false}, {"DWORDX4", 16, false}, {"DWORDX8", 32, false},
    {"DWORDX16", 64, false}, {"B32", 4, false},     {"B64", 8, false},      {"B96", 12, false},
    {"B128", 16, false},     {"B256", 32, false},   {"B512", 64, false},    {"U8", 1, false},
    {"I8", 1, true},         {"U16", 2, false},     {"I16", 2, true},
};
const Move* FindMove(const std::string& suffix) {
  for (const Move& move : kMoves) {
    if (suffix == move.suffix) return &move;
  }
  return nullptr;
}

struct Address {
  std::string text;
  uint32_t offset;  // bytes from the base
};

class ScalarMemory : public testing::TestWithParam<Generation> {
 protected:
  Isa isa() const { return GetParam().isa; }

  // Immediate, register, and both; the register is s6. `scale`: what private memory multiplies it by.
  std::vector<Address> Addresses(uint32_t scale) const {
    std::vector<Address> all = {{"0x40", 0x40}, {"s6 offset:0x10", 0x30 * scale + 0x10}};
    if (IsCdna(isa())) all.push_back({"s6", 0x30 * scale});
    return all;
  }
  void Prepare(ExactMachine& machine, uint32_t seed) {
    machine.Randomize(seed);
    machine.wave.sgpr[6] = 0x30;
    machine.wave.scc = seed % 2 == 1;
  }
};

TEST_P(ScalarMemory, LoadsAndStoresMoveTheirWords) {
  ExactMachine machine(isa(), GetParam().lanes);
  int checked = 0;
  for (const decode::Row* row : MemoryRows(isa())) {
    const std::string name = OpcodeName(row->op);
    if (row->enc != Encoding::SMEM) continue;
    const bool load = Contains(name, "_LOAD_"), store = Contains(name, "_STORE_");
    if (!load && !store) continue;
    const Move* move = FindMove(name.substr(name.find(load ? "_LOAD_" : "_STORE_") + (load ? 6 : 7)));
    ASSERT_NE(move, nullptr) << name;
    const bool buffer = Contains(name, "_BUFFER_"), scratch = Contains(name, "_SCRATCH_");
    const int words = (move->bytes + 3) / 4;
    // Private memory: base + offset + register * 64 (CDNA4 ISA 8.2.1.1).
    for (const Address& address : Addresses(scratch ? 64 : 1)) {
      for (const bool beyond : {false, true}) {
        if (beyond && !buffer) continue;
        Prepare(machine, static_cast<uint32_t>(checked));
        if (beyond) machine.wave.sgpr[10] = address.offset;  // the first byte is the first out of range
        WaveImage want = machine.Save();
        if (load) {
          if (move->bytes >= 4) {
            for (int i = 0; i < words; ++i)
              want.sgpr[static_cast<size_t>(kData + i)] =
                  beyond ? 0
                         : static_cast<uint32_t>(
                               Get(machine.buffer, address.offset + 4 * static_cast<size_t>(i), 4));
          } else {
            uint64_t value = beyond ? 0 : Get(machine.buffer, address.offset, move->bytes);
            if (move->is_signed && (value >> (8 * move->bytes - 1)) != 0)
              value |= ~uint64_t{0} << (8 * move->bytes);
            want.sgpr[kData] = static_cast<uint32_t>(value);
          }
        } else if (!beyond) {
          for (int i = 0; i < words; ++i)
            Put(&want.buffer, address.offset + 4 * static_cast<size_t>(i), 4, machine.wave.sgpr[kData + i]);
        }
        machine.Expect(row->op,
                       absl::StrFormat("%s %s, %s, %s", LowerName(row->op), Registers('s', kData, words),
                                       buffer ? "s[8:11]" : "s[4:5]", address.text),
                       want);
        if (HasFailure()) return;
      }
    }
    ++checked;
  }
  EXPECT_EQ(checked, isa() == Isa::kRdna4 ? 20 : IsRdna(isa()) ? 10 : 22);
}

// Of base, offset and register the bits below the value's size (dwords': two) are ignored, each by itself.
TEST_P(ScalarMemory, LowBitsOfEveryComponentAreIgnored) {
  ExactMachine machine(isa(), GetParam().lanes);
  for (const decode::Row* row : MemoryRows(isa())) {
    const std::string name = OpcodeName(row->op);
    if (!StartsWith(name, "S_LOAD_")) continue;
    const Move* move = FindMove(name.substr(7));
    ASSERT_NE(move, nullptr) << name;
    const uint32_t ignored = static_cast<uint32_t>(std::min(4, move->bytes)) - 1;
    Prepare(machine, row->number);
    machine.Set64(4, MemoryMachine::kBufferVa + 0x103);
    machine.wave.sgpr[6] = 0x33;
    WaveImage want = machine.Save();
    const size_t at = (0x103 & ~ignored) + (0x33 & ~ignored) + (0x42 & ~ignored);
    uint64_t value = Get(machine.buffer, at, std::min(4, move->bytes));
    if (move->is_signed && (value >> (8 * move->bytes - 1)) != 0) value |= ~uint64_t{0} << (8 * move->bytes);
    want.sgpr[kData] = static_cast<uint32_t>(value);
    const int words = (move->bytes + 3) / 4;
    for (int i = 1; i < words; ++i)
      want.sgpr[static_cast<size_t>(kData + i)] =
          static_cast<uint32_t>(Get(machine.buffer, at + 4 * static_cast<size_t>(i), 4));
    machine.Expect(
        row->op,
        absl::StrFormat("%s %s, s[4:5], s6 offset:0x42", LowerName(row->op), Registers('s', kData, words)),
        want);
    if (HasFailure()) return;
  }
}

TEST_P(ScalarMemory, AtomicsFollowTheFormula) {
  ExactMachine machine(isa(), GetParam().lanes);
  int checked = 0;
  for (const decode::Row* row : MemoryRows(isa())) {
    const std::string name = OpcodeName(row->op);
    if (row->enc != Encoding::SMEM || !Contains(name, "_ATOMIC_")) continue;
    const bool buffer = Contains(name, "_BUFFER_"), wide = Contains(name, "_X2");
    const AtomicFormula* formula = FindAtomicFormula(name.substr(name.find("_ATOMIC_") + 8));
    ASSERT_NE(formula, nullptr) << name;
    const int bytes = wide ? 8 : 4, bits = 8 * bytes, words = bytes / 4;
    for (const Address& address : Addresses(1)) {
      for (uint32_t k = 0; k < 24; ++k) {
        const bool returns = k % 2 == 0;
        Prepare(machine, k);
        if (k % 5 == 4) machine.wave.set_exec(0);  // lanes are nothing to a scalar instruction
        const uint64_t old = AtomicValue(*formula, bits, k * 7);
        const uint64_t data = AtomicValue(*formula, bits, k / 3 + 1);
        const uint64_t other = k % 3 == 0 ? old : AtomicValue(*formula, bits, k);
        Put(&machine.buffer, address.offset, bytes, old);
        const auto set = [&](int reg, uint64_t value) {
          machine.wave.sgpr[reg] = static_cast<uint32_t>(value);
          if (wide) machine.wave.sgpr[reg + 1] = static_cast<uint32_t>(value >> 32);
        };
        set(kData, data);
        if (formula->operands == 2) set(kData + words, other);
        WaveImage want = machine.Save();
        Put(&want.buffer, address.offset, bytes, formula->result(old, data, other, bits, false));
        if (returns) {
          want.sgpr[kData] = static_cast<uint32_t>(old);
          if (wide) want.sgpr[kData + 1] = static_cast<uint32_t>(old >> 32);
        }
        machine.Expect(row->op,
                       absl::StrFormat("%s %s, %s, %s%s", LowerName(row->op),
                                       Registers('s', kData, words * formula->operands),
                                       buffer ? "s[8:11]" : "s[4:5]", address.text, returns ? " glc" : ""),
                       want);
        if (HasFailure()) return;
      }
    }
    ++checked;
  }
  EXPECT_EQ(checked, IsCdna(isa()) ? 52 : 0);
}

// Caches, translations and prefetches are no part of the state.
TEST_P(ScalarMemory, InstructionsWithoutAnEffectChangeNothing) {
  ExactMachine machine(isa(), GetParam().lanes);
  for (const decode::Row* row : MemoryRows(isa())) {
    const std::string name = OpcodeName(row->op), lower = LowerName(row->op);
    if (row->enc != Encoding::SMEM) continue;
    std::string text = lower;
    if (Contains(name, "_LOAD_") || Contains(name, "_STORE_") || Contains(name, "_ATOMIC_") ||
        Contains(name, "TIME")) {
      continue;
    } else if (Contains(name, "DISCARD")) {
      text += " s[4:5], 0x40";
    } else if (name == "S_ATC_PROBE") {
      text += " 3, s[4:5], 0x40";
    } else if (name == "S_ATC_PROBE_BUFFER") {
      text += " 3, s[8:11], 0x40";
    } else if (name == "S_BUFFER_PREFETCH_DATA") {
      text += " s[8:11], 0x40, s6, 3";
    } else if (Contains(name, "_PC_REL")) {
      text += " 0x40, s6, 3";
    } else if (Contains(name, "_PREFETCH_")) {
      text += " s[4:5], 0x40, s6, 3";
    }
    Prepare(machine, static_cast<uint32_t>(row->number));
    machine.Expect(row->op, text, machine.Save());
    if (HasFailure()) return;
    // Where nothing is mapped they do not fault either.
    if (Contains(name, "PREFETCH") || Contains(name, "PROBE")) {
      machine.Set64(4, 0x1000);
      machine.Set64(8, 0x1000);
      machine.Expect(row->op, text, machine.Save());
      if (HasFailure()) return;
    }
  }
}

// The clocks of CDNA: what they count is not stated, but a later reading is not smaller, and they write their
// two registers alone.
TEST_P(ScalarMemory, ClocksDoNotRunBackwards) {
  if (!IsCdna(isa())) GTEST_SKIP() << "this generation reads its clock with s_sendmsg_rtn";
  for (const std::string name : {"s_memtime", "s_memrealtime"}) {
    ExactMachine machine(isa(), 64);
    Prepare(machine, 1);
    machine.wave.clock = 0x123456789;
    WaveImage before = machine.Save();
    Inst inst;
    ASSERT_TRUE(machine.Assembled(name == "s_memtime" ? Opcode::S_MEMTIME : Opcode::S_MEMREALTIME,
                                  name + " s[20:21]", &inst));
    machine.Run(inst);
    WaveImage after = machine.Save();
    before.sgpr[20] = after.sgpr[20], before.sgpr[21] = after.sgpr[21];
    EXPECT_EQ(before.Difference(after), "") << name;

    KernelRunner runner(64, isa());
    const int out = runner.AddBuffer(4);
    runner.Program(name + " s[20:21]\ns_waitcnt lgkmcnt(0)\ns_nop 7\ns_sleep 1\n" + name + R"( s[22:23]
      s_waitcnt lgkmcnt(0)
      v_mov_b32 v0, 0
      v_mov_b32 v2, s20
      v_mov_b32 v3, s21
      v_mov_b32 v4, s22
      v_mov_b32 v5, s23
      global_store_dwordx4 v0, v[2:5], s[0:1]
      s_endpgm)");
    runner.Run();
    EXPECT_LT(LoadLE<uint64_t>(&runner.Buffer(out)[0]), LoadLE<uint64_t>(&runner.Buffer(out)[2])) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, ScalarMemory, testing::ValuesIn(AllGenerations()), GenerationName);

}  // namespace
}  // namespace understudy::emu::amd
