// SPDX-License-Identifier: Apache-2.0
// Every load and store of flat, global, private and buffer memory that moves bytes as they are, of every
// generation; transfers into LDS, block transfers, addresses made from lane numbers, and cache operations,
// which must leave everything as it was.

#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "tests/emu/amd/exact_memory/exact_machine.h"

namespace understudy::emu::amd {
namespace {

constexpr int kAddress = 2, kOffset = 4, kData = 20, kOut = 30;
constexpr uint32_t kRounds = 2;

struct Form {
  const char* names;  // after LOAD_ or STORE_, each between spaces
  int bytes;
  bool is_signed;
  int half;  // -1: whole registers
};
constexpr Form kLoads[] = {
    {" U8 UBYTE ", 1, false, -1},
    {" I8 SBYTE ", 1, true, -1},
    {" U16 USHORT ", 2, false, -1},
    {" I16 SSHORT ", 2, true, -1},
    {" B32 DWORD ", 4, false, -1},
    {" B64 DWORDX2 ", 8, false, -1},
    {" B96 DWORDX3 ", 12, false, -1},
    {" B128 DWORDX4 ", 16, false, -1},
    {" D16_U8 UBYTE_D16 ", 1, false, 0},
    {" D16_I8 SBYTE_D16 ", 1, true, 0},
    {" D16_B16 SHORT_D16 ", 2, false, 0},
    {" D16_HI_U8 UBYTE_D16_HI ", 1, false, 1},
    {" D16_HI_I8 SBYTE_D16_HI ", 1, true, 1},
    {" D16_HI_B16 SHORT_D16_HI ", 2, false, 1},
};
constexpr Form kStores[] = {
    {" B8 BYTE ", 1, false, -1},
    {" B16 SHORT ", 2, false, -1},
    {" B32 DWORD ", 4, false, -1},
    {" B64 DWORDX2 ", 8, false, -1},
    {" B96 DWORDX3 ", 12, false, -1},
    {" B128 DWORDX4 ", 16, false, -1},
    {" D16_HI_B8 BYTE_D16_HI ", 1, false, 1},
    {" D16_HI_B16 SHORT_D16_HI ", 2, false, 1},
};
template <size_t n>
const Form* FindForm(const Form (&forms)[n], const std::string& suffix) {
  for (const Form& form : forms) {
    if (Contains(form.names, " " + suffix + " ")) return &form;
  }
  return nullptr;
}

enum class Place { kMemory, kPrivate };

class Moves : public testing::TestWithParam<Generation> {
 protected:
  Isa isa() const { return GetParam().isa; }
  int lanes() const { return GetParam().lanes; }

  // One way to address memory: the operands' text around the data, and where lanes' bytes are.
  struct Way {
    std::string before, after;  // "v4, " and ", s[4:5] offset:24", say
    Place place;
    uint32_t displaced;  // what the text adds to the lanes' own offsets
    bool store_data_first;
  };
  std::vector<Way> Ways(const std::string& name) const {
    if (StartsWith(name, "FLAT_")) return {{"v[2:3]", " offset:24", Place::kMemory, 24, false}};
    if (StartsWith(name, "GLOBAL_"))
      return {{"v[2:3]", ", off offset:16", Place::kMemory, 16, false},
              {"v4", ", s[4:5] offset:32", Place::kMemory, 32, false}};
    if (StartsWith(name, "BUFFER_"))
      return {{"v4", absl::StrFormat(", s[8:11], %s offen offset:40", NoOffset(isa())), Place::kMemory, 40,
               true}};
    std::vector<Way> ways = {{"v4", ", off offset:8", Place::kPrivate, 8, false}};
    if (isa() != Isa::kCdna2) ways.push_back({"v4", ", s6 offset:4", Place::kPrivate, 28, false});
    return ways;
  }
  // Addresses of the lanes: in memory far apart and in another order; in private memory anywhere, for each
  // has its own.
  static uint32_t Own(Place place, int lane) {
    return place == Place::kPrivate ? static_cast<uint32_t>(lane * 13 % 97 * 4)
                                    : 2048u + static_cast<uint32_t>((lane * 37 + 11) % 64 * 20);
  }
  void Prepare(ExactMachine& machine, uint32_t seed, const Way& way, int misaligned) {
    machine.Randomize(seed);
    machine.wave.sgpr[6] = 24;
    for (int lane = 0; lane < lanes(); ++lane) {
      const uint32_t own = Own(way.place, lane) + static_cast<uint32_t>(misaligned);
      machine.Vgpr(kOffset, lane) = own;
      machine.SetV(kAddress, lane, 8, MemoryMachine::kBufferVa + own);
    }
  }
  size_t ByteOf(const ExactMachine& machine, const Way& way, int lane, uint32_t i, int misaligned) const {
    const uint32_t at = Own(way.place, lane) + static_cast<uint32_t>(misaligned) + way.displaced + i;
    return way.place == Place::kPrivate ? machine.PrivateByte(lane, at) : at;
  }
};

TEST_P(Moves, LoadsAndStores) {
  ExactMachine machine(isa(), lanes());
  int checked = 0;
  for (const decode::Row* row : MemoryRows(isa())) {
    const std::string name = OpcodeName(row->op);
    const size_t load_at = name.find("_LOAD_"), store_at = name.find("_STORE_");
    const bool load = load_at != std::string::npos;
    if (row->enc == Encoding::SMEM || row->enc == Encoding::DS || (!load && store_at == std::string::npos))
      continue;
    const Form* form =
        load ? FindForm(kLoads, name.substr(load_at + 6)) : FindForm(kStores, name.substr(store_at + 7));
    if (form == nullptr) continue;  // formatted, blocks, to LDS
    const int words = (form->bytes + 3) / 4;
    for (const Way& way : Ways(name)) {
      for (uint32_t round = 0; round < kRounds; ++round) {
        const int misaligned = form->bytes == 1 ? 3 : round == 1 && !load ? 0 : form->bytes == 2 ? 2 : 0;
        Prepare(machine, round, way, misaligned);
        WaveImage want = machine.Save();
        for (int lane = 0; lane < lanes(); ++lane) {
          if (!machine.Active(lane)) continue;
          uint8_t bytes[16] = {};
          const std::vector<uint8_t>& from = way.place == Place::kPrivate ? machine.scratch : machine.buffer;
          std::vector<uint8_t>& to = way.place == Place::kPrivate ? want.scratch : want.buffer;
          for (int i = 0; i < form->bytes; ++i) {
            const size_t at = ByteOf(machine, way, lane, static_cast<uint32_t>(i), misaligned);
            if (load) {
              bytes[i] = from[at];
            } else {
              const int first = form->half == 1 ? 16 : 0;
              to[at] = static_cast<uint8_t>(machine.Vgpr(kData + i / 4, lane) >> (first + 8 * (i % 4)));
            }
          }
          if (!load) continue;
          if (form->is_signed && (bytes[form->bytes - 1] & 0x80) != 0)
            std::fill(bytes + form->bytes, bytes + 4, uint8_t{0xff});
          for (int i = 0; i < words; ++i) {
            uint32_t word;
            std::memcpy(&word, bytes + 4 * i, 4);
            uint32_t& reg = want.V(kOut + i, lane);
            reg = form->half < 0    ? word
                  : form->half == 0 ? (reg & 0xffff0000u) | (word & 0xffffu)
                                    : (reg & 0xffffu) | word << 16;
          }
        }
        const std::string data = Registers('v', load ? kOut : kData, words);
        const bool data_first = load || way.store_data_first;
        machine.Expect(row->op,
                       LowerName(row->op) + " " +
                           (data_first ? data + ", " + way.before : way.before + ", " + data) + way.after,
                       want);
        if (HasFailure()) return;
      }
    }
    ++checked;
  }
  EXPECT_EQ(checked, 4 * 22);
}

// What lane l loads is written to LDS at M0 + the instruction's offset + 4 * l, narrow values as dwords; of
// three and four dwords at 16 * l (CDNA3 and CDNA4 ISA, "Memory buffer load to LDS"). gfx90a says so with a
// bit of its plain loads, the others with opcodes.
TEST_P(Moves, TransfersIntoLds) {
  ExactMachine machine(isa(), lanes());
  int checked = 0;
  for (const decode::Row* row : MemoryRows(isa())) {
    const std::string name = OpcodeName(row->op);
    const bool named = Contains(name, "_LOAD_LDS_");
    const bool by_bit =
        !named && (isa() == Isa::kCdna2 ? row->enc == Encoding::GLOBAL || row->enc == Encoding::SCRATCH ||
                                              row->enc == Encoding::MUBUF
                                        : IsCdna(isa()) && row->enc == Encoding::MUBUF);
    const size_t load_at = name.find(named ? "_LOAD_LDS_" : "_LOAD_");
    if ((!named && !by_bit) || load_at == std::string::npos) continue;
    const bool by_lane = Contains(name, "_ADDTID_");
    const Form* form =
        by_lane ? FindForm(kLoads, "B32") : FindForm(kLoads, name.substr(load_at + (named ? 10 : 6)));
    if (form == nullptr || form->half >= 0) continue;
    // What the lds bit applies to: narrow values and dwords; three and four of them on gfx950.
    if (by_bit && form->bytes > 4 && (isa() != Isa::kCdna4 || form->bytes == 8)) continue;
    const uint32_t stride = form->bytes > 8 ? 16 : 4;
    const std::vector<Way> ways =
        by_lane ? std::vector<Way>{{"s[4:5]", " offset:32", Place::kMemory, 32, false}} : Ways(name);
    for (const Way& way : ways) {
      for (uint32_t round = 0; round < kRounds; ++round) {
        Prepare(machine, round, way, 0);
        machine.wave.sgpr[kM0] = 256 + 64 * round;
        WaveImage want = machine.Save();
        // The offset that is added to LDS is the instruction's own.
        const uint32_t instruction = Contains(way.after, "s6") ? 4 : way.displaced;
        for (int lane = 0; lane < lanes(); ++lane) {
          if (!machine.Active(lane)) continue;
          uint8_t bytes[16] = {};
          for (int i = 0; i < form->bytes; ++i) {
            const size_t at = by_lane ? size_t{32} + 4 * static_cast<size_t>(lane) + static_cast<size_t>(i)
                                      : ByteOf(machine, way, lane, static_cast<uint32_t>(i), 0);
            bytes[i] = (way.place == Place::kPrivate ? machine.scratch : machine.buffer)[at];
          }
          if (form->is_signed && (bytes[form->bytes - 1] & 0x80) != 0)
            std::fill(bytes + form->bytes, bytes + 4, uint8_t{0xff});
          const size_t to = machine.wave.sgpr[kM0] + instruction + stride * static_cast<uint32_t>(lane);
          std::copy(bytes, bytes + std::max(4, form->bytes), want.lds.begin() + static_cast<ptrdiff_t>(to));
        }
        machine.Expect(row->op, LowerName(row->op) + " " + way.before + way.after + (named ? "" : " lds"),
                       want);
        if (HasFailure()) return;
      }
    }
    ++checked;
  }
  EXPECT_EQ(checked, isa() == Isa::kRdna4   ? 0
                     : isa() == Isa::kCdna2 ? 15
                     : IsRdna(isa())        ? 16
                     : isa() == Isa::kCdna4 ? 19
                                            : 15);
}

// Address + 4 * lane.
TEST_P(Moves, GlobalAddressesFromLaneNumbers) {
  if (IsCdna(isa())) GTEST_SKIP() << "RDNA's";
  ExactMachine machine(isa(), lanes());
  for (const bool load : {true, false}) {
    for (uint32_t round = 0; round < kRounds; ++round) {
      machine.Randomize(round);
      WaveImage want = machine.Save();
      for (int lane = 0; lane < lanes(); ++lane) {
        if (!machine.Active(lane)) continue;
        const size_t at = 48 + 4 * static_cast<size_t>(lane);
        if (load) {
          want.V(kOut, lane) = static_cast<uint32_t>(Get(machine.buffer, at, 4));
        } else {
          Put(&want.buffer, at, 4, machine.Vgpr(kData, lane));
        }
      }
      machine.Expect(load ? Opcode::GLOBAL_LOAD_ADDTID_B32 : Opcode::GLOBAL_STORE_ADDTID_B32,
                     load ? "global_load_addtid_b32 v30, s[4:5] offset:48"
                          : "global_store_addtid_b32 v20, s[4:5] offset:48",
                     want);
      if (HasFailure()) return;
    }
  }
}

// Register i of 32 and dword i, where M0 has bit i.
TEST_P(Moves, Blocks) {
  if (isa() != Isa::kRdna4) GTEST_SKIP() << "RDNA4's";
  struct Block {
    Opcode op;
    const char* text;
    bool load;
    Way way;
  };
  const Block kBlocks[] = {
      {Opcode::GLOBAL_LOAD_BLOCK,
       "global_load_block v[32:63], v4, s[4:5] offset:16",
       true,
       {"", "", Place::kMemory, 16, false}},
      {Opcode::GLOBAL_STORE_BLOCK,
       "global_store_block v[2:3], v[32:63], off offset:24",
       false,
       {"", "", Place::kMemory, 24, false}},
      {Opcode::SCRATCH_LOAD_BLOCK,
       "scratch_load_block v[32:63], v4, off offset:8",
       true,
       {"", "", Place::kPrivate, 8, false}},
      {Opcode::SCRATCH_STORE_BLOCK,
       "scratch_store_block v4, v[32:63], s6 offset:4",
       false,
       {"", "", Place::kPrivate, 28, false}},
  };
  ExactMachine machine(isa(), lanes());
  for (const Block& block : kBlocks) {
    for (const uint32_t m0 : {0xffffffffu, 0x80000001u, 0x00f5a0c3u, 0u}) {
      for (uint32_t round = 0; round < kRounds; ++round) {
        Prepare(machine, round, block.way, 0);
        // Blocks of different lanes do not overlap.
        const bool own = block.way.place == Place::kPrivate;
        for (int lane = 0; lane < lanes(); ++lane) {
          const uint32_t at = own ? static_cast<uint32_t>(lane * 13 % 89 * 4)
                                  : 128u * static_cast<uint32_t>((lane * 37 + 11) % 64);
          machine.Vgpr(kOffset, lane) = at;
          machine.SetV(kAddress, lane, 8, MemoryMachine::kBufferVa + at);
        }
        machine.wave.sgpr[kM0] = m0;
        WaveImage want = machine.Save();
        for (int lane = 0; lane < lanes(); ++lane) {
          if (!machine.Active(lane)) continue;
          for (uint32_t i = 0; i < 32; ++i) {
            if ((m0 >> i & 1) == 0) continue;
            const uint32_t byte = machine.Vgpr(kOffset, lane) + block.way.displaced + 4 * i;
            const size_t at = own ? machine.PrivateByte(lane, byte) : byte;
            std::vector<uint8_t>& to = own ? want.scratch : want.buffer;
            const int reg = 32 + static_cast<int>(i);
            if (block.load) {
              want.V(reg, lane) = static_cast<uint32_t>(Get(own ? machine.scratch : machine.buffer, at, 4));
            } else {
              Put(&to, at, 4, machine.Vgpr(reg, lane));
            }
          }
        }
        machine.Expect(block.op, block.text, want);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(Moves, CacheOperationsChangeNothing) {
  ExactMachine machine(isa(), lanes());
  int checked = 0;
  for (const decode::Row* row : MemoryRows(isa())) {
    const std::string name = OpcodeName(row->op);
    if (row->enc == Encoding::SMEM) continue;
    const bool cache = Contains(name, "_INV") || Contains(name, "_WB");
    if (!cache) continue;
    machine.Randomize(static_cast<uint32_t>(checked));
    machine.Expect(row->op, LowerName(row->op), machine.Save());
    if (HasFailure()) return;
    ++checked;
  }
  EXPECT_GE(checked, 2);
}

INSTANTIATE_TEST_SUITE_P(Every, Moves, testing::ValuesIn(AllGenerations()), GenerationName);

}  // namespace
}  // namespace understudy::emu::amd
