// SPDX-License-Identifier: Apache-2.0
// Every matrix instruction of every generation and wave size, against exact sums of integers, in the places
// that AMD's documents name. No format has as many values as a matrix has elements, so an element is known by
// its value in several rounds: the digits of its number. All integers are small enough that every documented
// order of summation is exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "emu/amd/semantics/matrix_table.h"
#include "tests/emu/amd/matrix/matrix_machine.h"

namespace understudy::emu::amd {
namespace {

using testing::A;
using testing::MatrixMachine;
using testing::MatrixName;
using testing::Place;
using testing::V;

// Bits of a small integer in a format, from its definition.
uint64_t Encode(const std::string& type, Isa isa, int format, int value) {
  const auto pack = [&](int fraction_bits, int bias, int sign_bit) -> uint64_t {
    if (value == 0) return 0;
    const uint64_t sign = value < 0 ? uint64_t{1} << sign_bit : 0;
    int exponent;
    const double significand = std::frexp(std::fabs(value), &exponent) * 2 - 1;  // 1.f
    const double scaled = std::ldexp(significand, fraction_bits);
    EXPECT_EQ(scaled, std::floor(scaled)) << value << " is not a value of " << type;
    return sign | static_cast<uint64_t>(exponent - 1 + bias) << fraction_bits | static_cast<uint64_t>(scaled);
  };
  if (type == "F64") return pack(52, 1023, 63);
  if (type == "F32" || type == "XF32") return pack(23, 127, 31);
  if (type == "F16") return pack(10, 15, 15);
  if (type == "BF16") return pack(7, 127, 15);
  const bool fnuz = isa == Isa::kCdna3;
  if (type == "FP8" || (type == "F8F6F4" && format == 0)) return pack(3, fnuz ? 8 : 7, 7);
  if (type == "BF8" || (type == "F8F6F4" && format == 1)) return pack(2, fnuz ? 16 : 15, 7);
  if (type == "F8F6F4" && format == 2) return pack(3, 1, 5);
  if (type == "F8F6F4" && format == 3) return pack(2, 3, 5);
  if (type == "F8F6F4") return pack(1, 1, 3);
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

struct Case {
  const MatrixOp* op;
  int wave_size;
  int a_format = 0, b_format = 0;
  int set = 0;  // of indices
};

std::string Describe(const Case& c) {
  return std::string(IsaName(c.op->isa)) + " " + OpcodeName(c.op->op) + " wave" +
         std::to_string(c.wave_size) + " formats " + std::to_string(c.a_format) + " " +
         std::to_string(c.b_format) + " set " + std::to_string(c.set);
}

// The value of element `number` in `round`.
int Digit(int number, int round, int base) {
  for (int i = 0; i < round; ++i) number /= base;
  return number % base;
}

void CheckCase(const Case& c) {
  const Isa isa = c.op->isa;
  const MatrixName name = testing::ParseMatrixName(c.op->op, isa);
  const int a_bits = testing::BitsOfType(name.a, c.a_format),
            b_bits = testing::BitsOfType(name.b, c.b_format);
  const bool half = name.d == "F16" || name.d == "BF16", cdna = IsCdna(isa);
  const int d_bits = name.d == "F64" ? 64 : half ? 16 : 32;
  const int base = name.d == "BF16" ? 2 : 4;
  const int stored_k = name.sparse ? name.k / 2 : name.k;
  // The accumulation half of the file takes turns with the other, where there is one.
  const Operand a = cdna ? A(8) : V(8), b = V(48), old = cdna ? A(64) : V(64), d = name.sparse ? old : V(112),
                index = V(160);
  for (int round = 0, span = 1; span < 4 * std::max({name.m * stored_k, name.k * name.n});
       ++round, span *= base) {
    MatrixMachine m(isa, c.wave_size);
    for (int lane = 0; lane < c.wave_size; ++lane) {
      for (int reg = 0; reg < 512; ++reg) m.wave.Vgpr(reg)[lane] = 0x5eed0000u + static_cast<uint32_t>(reg);
    }
    const auto value_a = [&](int i, int k, int block) {
      return Digit((block * name.m + i) * stored_k + k + 3, round, base);
    };
    const auto value_b = [&](int k, int j, int block) {
      return Digit((block * name.n + j) * name.k + k + 1, round, base);
    };
    const auto value_c = [&](int i, int j, int block) {
      const int number = (block * name.m + i) * name.n + j;
      return name.d == "BF16" ? number % 128 : name.d == "F16" ? number : number + 5;
    };
    const auto pair_index = [&](int i, int pair) {
      static constexpr int kPairs[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};
      return kPairs[(i * 7 + pair * 5 + round) % 6];
    };
    const int copies = cdna || isa == Isa::kRdna4 ? 1 : c.wave_size / 16;
    for (int copy = 0; copy < copies; ++copy) {
      for (int block = 0; block < name.blocks; ++block) {
        for (int i = 0; i < name.m; ++i) {
          for (int k = 0; k < stored_k; ++k) {
            Place p = testing::PlaceOfInput(name, isa, c.wave_size, 'a', a_bits, i,
                                            name.sparse ? k / 2 * 4 : k, k % 2, block);
            p.lane += 16 * copy;
            Put(&m, a, p, a_bits, Encode(name.a, isa, c.a_format, value_a(i, k, block)));
          }
        }
        for (int j = 0; j < name.n; ++j) {
          for (int k = 0; k < name.k; ++k) {
            Place p = testing::PlaceOfInput(name, isa, c.wave_size, 'b', b_bits, j, k, 0, block);
            p.lane += 16 * copy;
            Put(&m, b, p, b_bits, Encode(name.b, isa, c.b_format, value_b(k, j, block)));
          }
        }
      }
    }
    for (int block = 0; block < name.blocks; ++block) {
      for (int i = 0; i < name.m; ++i) {
        for (int j = 0; j < name.n; ++j) {
          const std::string type = name.d == "I32" ? "I32" : name.d;
          Put(&m, old, testing::PlaceOfOutput(name, isa, c.wave_size, i, j, block), d_bits,
              Encode(type, isa, 0, value_c(i, j, block)));
        }
      }
    }
    if (name.sparse) {
      for (int i = 0; i < name.m; ++i) {
        for (int pair = 0; pair < stored_k / 2; ++pair) {
          Put(&m, index, testing::PlaceOfIndex(name, isa, c.wave_size, a_bits, i, 4 * pair, c.set), 4,
              static_cast<uint64_t>(pair_index(i, pair)));
        }
      }
    }
    Inst inst;
    inst.op = c.op->op;
    inst.isa = isa;
    inst.enc = Encoding::VOP3P;
    inst.src[0] = a;
    inst.src[1] = b;
    inst.src[2] = name.sparse ? index : old;
    inst.src[3] = old;
    inst.dst[0] = d;
    if (c.op->form == MatrixForm::kScaled) {
      inst.src[3] = testing::Constant(127);
      inst.src[4] = testing::Constant(127);
    }
    if (name.a == "F8F6F4") {
      inst.cbsz = static_cast<uint8_t>(c.a_format);
      inst.blgp = static_cast<uint8_t>(c.b_format);
    } else if (cdna && name.sparse) {
      inst.abid = static_cast<uint8_t>(c.set);
    } else {
      inst.index_key = static_cast<uint8_t>(c.set);
    }
    const std::vector<uint32_t> before = m.Snapshot();
    ASSERT_EQ(m.Execute(inst), "") << Describe(c);

    std::vector<bool> written(before.size());
    for (int block = 0; block < name.blocks; ++block) {
      for (int i = 0; i < name.m; ++i) {
        for (int j = 0; j < name.n; ++j) {
          int64_t sum = value_c(i, j, block);
          for (int k = 0; k < stored_k; ++k) {
            int row = k;
            if (name.sparse) row = k / 2 * 4 + ((pair_index(i, k / 2) >> (2 * (k % 2))) & 3);
            sum += int64_t{value_a(i, k, block)} * value_b(row, j, block);
          }
          const Place p = testing::PlaceOfOutput(name, isa, c.wave_size, i, j, block);
          ASSERT_EQ(Get(&m, d, p, d_bits), Encode(name.d, isa, 0, static_cast<int>(sum)))
              << Describe(c) << " round " << round << ": D[" << i << "][" << j << "] of block " << block
              << " is " << sum;
          for (int reg = 0; reg < (d_bits == 64 ? 2 : 1); ++reg) {
            written[static_cast<size_t>(&m.At(d, p.reg + reg, p.lane) - m.wave.vgpr)] = true;
          }
        }
      }
    }
    const std::vector<uint32_t> after = m.Snapshot();
    for (size_t i = 0; i < after.size(); ++i) {
      ASSERT_TRUE(written[i] || after[i] == before[i])
          << Describe(c) << " changed register " << i / static_cast<size_t>(c.wave_size);
    }
  }
}

class EveryInstruction : public ::testing::TestWithParam<Isa> {};

TEST_P(EveryInstruction, MultipliesElementsWhereAmdPutsThem) {
  int cases = 0;
  for (const MatrixOp& op : AllMatrixOps()) {
    if (op.isa != GetParam()) continue;
    for (int wave_size : {32, 64}) {
      if (wave_size == 32 && IsCdna(op.isa)) continue;
      const MatrixName name = testing::ParseMatrixName(op.op, op.isa);
      const bool mixed = name.a == "F8F6F4";
      for (int formats = 0; formats < (mixed ? 25 : 1); ++formats) {
        const int sets =
            name.sparse ? testing::IndexSets(name, op.isa, wave_size, testing::BitsOfType(name.a)) : 1;
        for (int set = 0; set < sets; ++set) {
          CheckCase({&op, wave_size, formats / 5, formats % 5, set});
          if (::testing::Test::HasFatalFailure()) return;
          ++cases;
        }
      }
    }
  }
  EXPECT_GT(cases, 11);
}

INSTANTIATE_TEST_SUITE_P(Generations, EveryInstruction, ::testing::ValuesIn(kAllIsas),
                         [](const auto& info) { return std::string(IsaTarget(info.param)); });

// The opcode tables and matrix_ops.inc name the same instructions.
TEST(MatrixTable, HasEveryMatrixOpcodeOfEveryGeneration) {
  struct Row {
    Isa isa;
    Opcode op;
  };
  std::vector<Row> rows;
  Isa isa = Isa::kRdna3;
#define AMD_INSN(encoding, number, opcode, ...) rows.push_back({isa, Opcode::opcode});
#include "emu/amd/isa/rdna3.inc"
  isa = Isa::kRdna4;
#include "emu/amd/isa/rdna4.inc"
  isa = Isa::kCdna2;
#include "emu/amd/isa/cdna2.inc"
  isa = Isa::kCdna3;
#include "emu/amd/isa/cdna3.inc"
  isa = Isa::kCdna4;
#include "emu/amd/isa/cdna4.inc"
#undef AMD_INSN
  std::map<std::pair<int, int>, bool> listed;
  for (const Row& row : rows) {
    const std::string name = OpcodeName(row.op);
    if (name.find("MFMA") == std::string::npos && name.find("WMMA") == std::string::npos) continue;
    listed[{static_cast<int>(row.isa), static_cast<int>(row.op)}] = true;
    EXPECT_TRUE(IsMatrixOpcode(row.op)) << name;
    const bool whole = row.op != Opcode::V_MFMA_LD_SCALE_B32;
    // CDNA4's list keeps the names of gfx942's XF32, which it does not have.
    const bool has = MatrixState(row.isa, row.op).state != SemanticState::kRefused;
    const bool xf32 = row.isa == Isa::kCdna4 && name.find("XF32") != std::string::npos;
    EXPECT_EQ(has, whole && !xf32) << IsaName(row.isa) << " " << name;
  }
  for (const MatrixOp& op : AllMatrixOps()) {
    const Isa of = op.isa == Isa::kRdna35 ? Isa::kRdna3 : op.isa;
    EXPECT_TRUE((listed[{static_cast<int>(of), static_cast<int>(op.op)}]))
        << IsaName(of) << " " << OpcodeName(op.op);
  }
}

}  // namespace
}  // namespace understudy::emu::amd
