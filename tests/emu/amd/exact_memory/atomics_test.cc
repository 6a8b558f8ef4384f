// SPDX-License-Identifier: Apache-2.0
// Every atomic of flat, global, buffer and LDS memory, of every generation and wave size: memory, returned
// values and everything else against the manuals' formulas, with and without return, lanes on and off.

#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "tests/emu/amd/exact_memory/atomic_formulas.h"
#include "tests/emu/amd/exact_memory/exact_machine.h"

namespace understudy::emu::amd {
namespace {

constexpr int kAddress = 2, kOffset = 4, kData = 20, kData2 = 24, kOut = 30;
constexpr uint32_t kRounds = 8;

class Atomics : public testing::TestWithParam<Generation> {
 protected:
  struct Run {
    Opcode op;
    const AtomicFormula* formula;
    int bytes;
    std::string text;
    int out = -1;         // the register that receives the old value
    int second = kData2;  // the register of the second value
    uint32_t displaced;   // what the text adds to the addresses
    bool lds = false;
  };

  // Lanes have a cell of 16 bytes each, in another order than their numbers'.
  static size_t Cell(int lane, int bytes) {
    return 1024 + static_cast<size_t>((lane * 37 + 11) % 64) * 16 +
           static_cast<size_t>(bytes == 4 ? lane % 4 * 4 : lane % 2 * 8);
  }

  // Whether denormal operands count as zeros. LDS follows MODE but for the sum of f64. Memory: RDNA3
  // ISA 13.2, RDNA4 ISA 13.2, CDNA4 ISA 9.2.2; gfx942 and gfx950 keep those of f32 sums by LLVM's
  // memory-atomic-fadd-f32-denormal-support.
  bool Flushes(const Run& run, bool by_mode) const {
    const Isa isa = GetParam().isa;
    const bool rdna3 = isa == Isa::kRdna3 || isa == Isa::kRdna35, sum = run.formula->values == 'a';
    if (run.lds) return by_mode && !(sum && run.bytes == 8);
    if (sum) return run.bytes == 4 && (rdna3 || isa == Isa::kCdna2);
    return rdna3 && by_mode;
  }

  void Check(ExactMachine& machine, const Run& run) {
    const int lanes = machine.wave.wave_size, bits = 8 * run.bytes;
    for (uint32_t round = 0; round < kRounds; ++round) {
      machine.Randomize(round);
      machine.wave.mode = round % 4 < 2 ? 0xf0 : 0;
      const bool flush = Flushes(run, machine.wave.mode == 0);
      std::vector<uint8_t>& memory = run.lds ? machine.lds : machine.buffer;
      for (int lane = 0; lane < lanes; ++lane) {
        const uint32_t k = static_cast<uint32_t>(lane) * 7 + round * 31;
        const size_t cell = Cell(lane, run.bytes), at = cell - run.displaced;
        const uint64_t old = AtomicValue(*run.formula, bits, k);
        uint64_t data = AtomicValue(*run.formula, bits, k / 5 + static_cast<uint32_t>(lane));
        // Comparisons that succeed, too.
        uint64_t other = AtomicValue(*run.formula, bits, k / 3 + 2);
        const bool equal = run.formula->operands == 2 && lane % 3 == 0;
        if (!IsDefined(*run.formula, bits, flush, old, data, other))
          data = other = AtomicValue(*run.formula, bits, 4);
        Put(&memory, cell, run.bytes, old);
        const bool compare_first = Contains(LowerName(run.op), "cmpst_");
        machine.SetV(kData, lane, run.bytes, equal && compare_first ? old : data);
        if (run.formula->operands == 2)
          machine.SetV(run.second, lane, run.bytes, equal && !compare_first ? old : other);
        machine.SetV(kAddress, lane, 8, MemoryMachine::kBufferVa + at);
        machine.Vgpr(kOffset, lane) = static_cast<uint32_t>(at);
      }
      WaveImage want = machine.Save();
      std::vector<uint8_t>& after = run.lds ? want.lds : want.buffer;
      for (int lane = 0; lane < lanes; ++lane) {
        if (!machine.Active(lane)) continue;
        const size_t cell = Cell(lane, run.bytes);
        const uint64_t old = Get(after, cell, run.bytes);
        const auto value = [&](int reg) {
          return machine.Vgpr(reg, lane) |
                 (run.bytes == 8 ? uint64_t{machine.Vgpr(reg + 1, lane)} << 32 : uint64_t{0});
        };
        Put(&after, cell, run.bytes, run.formula->result(old, value(kData), value(run.second), bits, flush));
        if (run.out >= 0) want.PutV(run.out, lane, run.bytes, old);
      }
      machine.Expect(run.op, run.text, want);
      if (HasFailure()) return;
    }
  }
};

int Width(const AtomicFormula& formula, const std::string& name) {
  if (formula.bytes != 0) return formula.bytes;
  return Contains(name, "64") || Contains(name, "_X2") ? 8 : 4;
}

TEST_P(Atomics, MemoryAndOldValuesFollowTheFormula) {
  const Isa isa = GetParam().isa;
  ExactMachine machine(isa, GetParam().lanes);
  int checked = 0;
  for (const decode::Row* row : MemoryRows(isa)) {
    const std::string name = OpcodeName(row->op), lower = LowerName(row->op);
    const size_t prefix = name.find("_ATOMIC_");
    if (prefix == std::string::npos || StartsWith(name, "IMAGE") || StartsWith(name, "S_")) continue;
    const std::string operation = name.substr(prefix + 8);
    const AtomicFormula* formula = FindAtomicFormula(operation);
    ASSERT_NE(formula, nullptr) << name << " has no formula here";
    Run run = {};
    run.op = row->op;
    run.formula = formula;
    run.bytes = Width(*formula, operation);
    const int words = run.bytes / 4;
    run.second = kData + words;
    const std::string data = Registers('v', kData, words * formula->operands),
                      out = Registers('v', kOut, words);
    for (const bool returns : {true, false}) {
      // The clamped subtraction of RDNA3 exists with its return alone.
      if (!returns && operation == "CSUB_U32") continue;
      const std::string flag = returns ? ReturnFlag(isa) : "", to = returns ? out + ", " : "";
      if (StartsWith(name, "BUFFER")) {
        run.displaced = 40;
        run.out = returns ? kData : -1;
        run.text = absl::StrFormat("%s %s, v%d, s[8:11], %s offen offset:40%s", lower, data, kOffset,
                                   NoOffset(isa), flag);
        Check(machine, run);
      } else {
        run.out = returns ? kOut : -1;
        run.displaced = 24;
        run.text = absl::StrFormat("%s %sv[%d:%d], %s%s offset:24%s", lower, to, kAddress, kAddress + 1, data,
                                   StartsWith(name, "GLOBAL") ? ", off" : "", flag);
        Check(machine, run);
        if (StartsWith(name, "GLOBAL")) {
          run.displaced = 64;
          run.text = absl::StrFormat("%s %sv%d, %s, s[4:5] offset:64%s", lower, to, kOffset, data, flag);
          Check(machine, run);
        }
      }
      if (HasFailure()) return;
    }
    ++checked;
  }
  EXPECT_GT(checked, IsRdna(isa) ? 80 : 70);
}

TEST_P(Atomics, LdsAndOldValuesFollowTheFormula) {
  const Isa isa = GetParam().isa;
  ExactMachine machine(isa, GetParam().lanes);
  int checked = 0;
  for (const decode::Row* row : MemoryRows(isa)) {
    const std::string name = OpcodeName(row->op);
    if (!StartsWith(name, "DS_")) continue;
    std::string operation = name.substr(3);
    const size_t rtn = operation.find("RTN_");
    const bool returns = rtn != std::string::npos;
    if (returns) operation.erase(rtn, 4);
    const AtomicFormula* formula = FindAtomicFormula(operation);
    if (formula == nullptr) continue;  // loads, stores, exchanges between lanes
    Run run = {};
    run.op = row->op;
    run.formula = formula;
    run.bytes = Width(*formula, operation);
    run.lds = true;
    run.displaced = 200;
    run.out = returns ? kOut : -1;
    const int words = run.bytes / 4;
    run.text = absl::StrFormat("%s %sv%d, %s%s offset:200", LowerName(row->op),
                               returns ? Registers('v', kOut, words) + ", " : "", kOffset,
                               Registers('v', kData, words),
                               formula->operands == 2 ? ", " + Registers('v', kData2, words) : "");
    Check(machine, run);
    if (HasFailure()) return;
    ++checked;
  }
  EXPECT_GT(checked, 60);
}

INSTANTIATE_TEST_SUITE_P(Every, Atomics, testing::ValuesIn(AllGenerations()), GenerationName);

}  // namespace
}  // namespace understudy::emu::amd
