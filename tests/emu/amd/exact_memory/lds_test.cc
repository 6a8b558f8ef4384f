// SPDX-License-Identifier: Apache-2.0
// LDS instructions that are neither a load, a store nor an atomic of one address: exchanges of two values,
// the conditional exchange, addresses made from lane numbers, and no operation.

#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "tests/emu/amd/exact_memory/exact_machine.h"

namespace understudy::emu::amd {
namespace {

constexpr int kAddress = 4, kData = 20, kData2 = 24, kOut = 30;

class Lds : public testing::TestWithParam<Generation> {
 protected:
  bool Has(Opcode op) const {
    for (const decode::Row* row : MemoryRows(GetParam().isa)) {
      if (row->op == op) return true;
    }
    return false;
  }
};

// Both old values are read before either new one is written; offsets count values, or 64 of them.
TEST_P(Lds, ExchangesOfTwoValues) {
  ExactMachine machine(GetParam().isa, GetParam().lanes);
  int checked = 0;
  for (const decode::Row* row : MemoryRows(GetParam().isa)) {
    const std::string name = OpcodeName(row->op);
    const bool far = Contains(name, "WRXCHG2ST64") || Contains(name, "STOREXCHG_2ADDR_STRIDE64");
    if (!far && !StartsWith(name, "DS_WRXCHG2_") && !StartsWith(name, "DS_STOREXCHG_2ADDR_")) continue;
    const int bytes = Contains(name, "B64") ? 8 : 4, words = bytes / 4;
    const size_t unit = static_cast<size_t>(bytes) * (far ? 64 : 1);
    for (uint32_t round = 0; round < 4; ++round) {
      machine.Randomize(round);
      const uint32_t offset0 = far ? 5 : 130, offset1 = far ? 3 : 1;
      for (int lane = 0; lane < GetParam().lanes; ++lane)
        machine.Vgpr(kAddress, lane) = static_cast<uint32_t>((lane * 29 + 5) % 64 * 8);
      WaveImage want = machine.Save();
      // Lanes take effect in their order; some of them meet in the same places.
      for (int lane = 0; lane < GetParam().lanes; ++lane) {
        if (!machine.Active(lane)) continue;
        const size_t first = machine.Vgpr(kAddress, lane) + offset0 * unit;
        const size_t second = machine.Vgpr(kAddress, lane) + offset1 * unit;
        const uint64_t old0 = Get(want.lds, first, bytes), old1 = Get(want.lds, second, bytes);
        const auto value = [&](int reg) {
          return machine.Vgpr(reg, lane) | uint64_t{machine.Vgpr(reg + 1, lane)} << 32;
        };
        Put(&want.lds, first, bytes, value(kData));
        Put(&want.lds, second, bytes, value(kData2));
        want.PutV(kOut, lane, bytes, old0);
        want.PutV(kOut + words, lane, bytes, old1);
      }
      machine.Expect(row->op,
                     absl::StrFormat("%s %s, v%d, %s, %s offset0:%d offset1:%d", LowerName(row->op),
                                     Registers('v', kOut, 2 * words), kAddress, Registers('v', kData, words),
                                     Registers('v', kData2, words), offset0, offset1),
                     want);
      if (HasFailure()) return;
    }
    ++checked;
  }
  EXPECT_EQ(checked, 4);
}

// Of two dwords those are replaced whose data has bit 31; the bit itself is not stored. The address is made
// a multiple of eight.
TEST_P(Lds, ConditionalExchange) {
  ExactMachine machine(GetParam().isa, GetParam().lanes);
  for (uint32_t round = 0; round < 4; ++round) {
    machine.Randomize(round);
    for (int lane = 0; lane < GetParam().lanes; ++lane)
      machine.Vgpr(kAddress, lane) = static_cast<uint32_t>((lane * 29 + 5) % 64 * 8 + lane % 8);
    WaveImage want = machine.Save();
    for (int lane = 0; lane < GetParam().lanes; ++lane) {
      if (!machine.Active(lane)) continue;
      const size_t at = (machine.Vgpr(kAddress, lane) + 16) / 8 * 8;
      for (int i = 0; i < 2; ++i) {
        const size_t word = at + static_cast<size_t>(4 * i);
        const uint32_t data = machine.Vgpr(kData + i, lane);
        want.V(kOut + i, lane) = static_cast<uint32_t>(Get(want.lds, word, 4));
        if (data >= 0x80000000u) Put(&want.lds, word, 4, data - 0x80000000u);
      }
    }
    machine.Expect(Opcode::DS_CONDXCHG32_RTN_B64,
                   absl::StrFormat("ds_condxchg32_rtn_b64 v[%d:%d], v%d, v[%d:%d] offset:16", kOut, kOut + 1,
                                   kAddress, kData, kData + 1),
                   want);
    if (HasFailure()) return;
  }
}

// M0's low half, the offset and four bytes a lane.
TEST_P(Lds, AddressesFromLaneNumbers) {
  const bool cdna = IsCdna(GetParam().isa);
  ExactMachine machine(GetParam().isa, GetParam().lanes);
  for (uint32_t round = 0; round < 4; ++round) {
    for (const bool load : {true, false}) {
      machine.Randomize(round);
      machine.wave.sgpr[kM0] = 0x12340000 + 64 * round;
      WaveImage want = machine.Save();
      for (int lane = 0; lane < GetParam().lanes; ++lane) {
        if (!machine.Active(lane)) continue;
        const size_t at = 64 * round + 1024 + 4 * static_cast<size_t>(lane);
        if (load) {
          want.V(kOut, lane) = static_cast<uint32_t>(Get(machine.lds, at, 4));
        } else {
          Put(&want.lds, at, 4, machine.Vgpr(kData, lane));
        }
      }
      const Opcode op = load ? (cdna ? Opcode::DS_READ_ADDTID_B32 : Opcode::DS_LOAD_ADDTID_B32)
                             : (cdna ? Opcode::DS_WRITE_ADDTID_B32 : Opcode::DS_STORE_ADDTID_B32);
      machine.Expect(op, absl::StrFormat("%s v%d offset:1024", LowerName(op), load ? kOut : kData), want);
      if (HasFailure()) return;
    }
  }
}

TEST_P(Lds, NoOperation) {
  ExactMachine machine(GetParam().isa, GetParam().lanes);
  machine.Randomize(1);
  machine.Expect(Opcode::DS_NOP, "ds_nop", machine.Save());
}

// One value of LDS for all lanes, as M0 says: its address and in bits 18:16 its type (RDNA3 ISA, "LDS direct
// and parameter loads").
TEST_P(Lds, DirectLoads) {
  if (GetParam().isa != Isa::kRdna3 && GetParam().isa != Isa::kRdna35) GTEST_SKIP() << "another encoding";
  struct Type {
    uint32_t code;
    int bytes;
    bool is_signed;
  };
  ExactMachine machine(GetParam().isa, GetParam().lanes);
  for (const Type& type :
       {Type{0, 1, false}, Type{1, 2, false}, Type{2, 4, false}, Type{4, 1, true}, Type{5, 2, true}}) {
    for (uint32_t at = 64; at < 128; at += 4) {
      machine.Randomize(0);
      machine.wave.sgpr[kM0] = type.code << 16 | at;
      uint64_t value = Get(machine.lds, at, type.bytes);
      if (type.is_signed && (value >> (8 * type.bytes - 1)) != 0) value |= ~uint64_t{0} << (8 * type.bytes);
      WaveImage want = machine.Save();
      for (int lane = 0; lane < GetParam().lanes; ++lane) want.V(kOut, lane) = static_cast<uint32_t>(value);
      machine.Expect(Opcode::LDS_DIRECT_LOAD, absl::StrFormat("lds_direct_load v%d wait_vdst:15", kOut),
                     want);
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Lds, testing::ValuesIn(AllGenerations()), GenerationName);

}  // namespace
}  // namespace understudy::emu::amd
