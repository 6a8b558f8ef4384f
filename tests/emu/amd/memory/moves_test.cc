// SPDX-License-Identifier: Apache-2.0
// Transfers into LDS, transposing and block loads, scalar stores and atomics, AGPR data, exchanges between
// lanes: what only some generations have, each against its manual's text.

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "tests/emu/amd/memory/memory_machine.h"

namespace understudy::emu::amd {
namespace {

void FillRandom(std::vector<uint8_t>* bytes, uint32_t seed) {
  std::mt19937 random(seed);
  for (uint8_t& byte : *bytes) byte = static_cast<uint8_t>(random());
}

// LDS address = M0 + instruction offset + lane * 4, or * 16 for three and four dwords (CDNA4 ISA 9.1.9).
TEST(LdsTransfers, GlobalLoadsWriteLdsByLane) {
  struct Case {
    Opcode op;
    int bytes;
    bool is_signed;
    uint32_t lane_stride;
  };
  const Case kCases[] = {
      {Opcode::GLOBAL_LOAD_LDS_UBYTE, 1, false, 4},    {Opcode::GLOBAL_LOAD_LDS_SBYTE, 1, true, 4},
      {Opcode::GLOBAL_LOAD_LDS_USHORT, 2, false, 4},   {Opcode::GLOBAL_LOAD_LDS_SSHORT, 2, true, 4},
      {Opcode::GLOBAL_LOAD_LDS_DWORD, 4, false, 4},    {Opcode::GLOBAL_LOAD_LDS_DWORDX3, 12, false, 16},
      {Opcode::GLOBAL_LOAD_LDS_DWORDX4, 16, false, 16}};
  for (const Case& c : kCases) {
    MemoryMachine machine(Isa::kCdna4, 64, 4096, 4096);
    FillRandom(&machine.buffer, 3);
    machine.wave.sgpr[kM0] = 64;
    Inst load = machine.Make(Encoding::GLOBAL, c.op);
    load.offset = 32;
    load.src[0] = MemoryMachine::V(1);
    load.src[2] = MemoryMachine::S(2, 2);
    machine.Set64(2, MemoryMachine::kBufferVa);
    std::vector<uint8_t> want = machine.lds;
    machine.wave.set_exec(0xf0f0f0f0f0f0f0ffu);
    for (int lane = 0; lane < 64; ++lane) {
      const uint32_t from = static_cast<uint32_t>(63 - lane) * 20;
      machine.Vgpr(1, lane) = from;
      if ((machine.wave.exec() >> lane & 1) == 0) continue;
      uint8_t data[16] = {};
      std::memcpy(data, &machine.buffer[from + 32], static_cast<size_t>(c.bytes));
      if (c.is_signed && (data[c.bytes - 1] & 0x80) != 0)
        std::memset(data + c.bytes, 0xff, static_cast<size_t>(4 - c.bytes));
      std::memcpy(&want[64 + 32 + c.lane_stride * lane], data,
                  static_cast<size_t>(c.bytes < 4 ? 4 : c.bytes));
    }
    machine.Run(load);
    EXPECT_EQ(machine.lds, want) << OpcodeName(c.op);
  }
}

TEST(LdsTransfers, BufferLoadsWithTheLdsBitAndBack) {
  MemoryMachine machine(Isa::kCdna2, 64, 4096, 1024);
  FillRandom(&machine.buffer, 4);
  uint32_t* d = &machine.wave.sgpr[4];
  d[0] = static_cast<uint32_t>(MemoryMachine::kBufferVa);
  d[1] = static_cast<uint32_t>(MemoryMachine::kBufferVa >> 32);
  d[2] = 400;  // lanes whose dword starts at 400 or later read zero
  d[3] = 4u << 15 | 4u << 12;
  machine.wave.sgpr[kM0] = 128;
  Inst load = machine.Make(Encoding::MUBUF, Opcode::BUFFER_LOAD_DWORD);
  load.lds = load.offen = true;
  load.offset = 16;
  load.src[0] = MemoryMachine::V(1);
  load.src[1] = MemoryMachine::S(4, 4);
  load.src[2] = MemoryMachine::Int(0);
  for (int lane = 0; lane < 64; ++lane) machine.Vgpr(1, lane) = static_cast<uint32_t>(8 * lane);
  machine.Run(load);
  for (int lane = 0; lane < 64; ++lane) {
    const size_t from = static_cast<size_t>(16 + 8 * lane);
    EXPECT_EQ(Word(machine.lds, 128 + 16 + 4 * static_cast<size_t>(lane)),
              from + 4 <= 400 ? Word(machine.buffer, from) : 0);
  }
  // gfx90a stores from LDS too.
  d[2] = 4096;
  Inst store = machine.Make(Encoding::MUBUF, Opcode::BUFFER_STORE_LDS_DWORD);
  store.lds = true;
  store.src[1] = load.src[1];
  store.src[2] = MemoryMachine::Int(0);
  store.offset = 16;
  machine.Run(store);
  EXPECT_EQ(Word(machine.buffer, 16), Word(machine.lds, 128 + 16 + 4 * 63))
      << "all lanes name one dword: the last wins";
}

// gfx90a says it with a bit of a plain load.
TEST(LdsTransfers, Gfx90aLoadsWithTheLdsBit) {
  MemoryMachine machine(Isa::kCdna2, 64, 4096, 1024);
  FillRandom(&machine.buffer, 14);
  machine.wave.sgpr[kM0] = 32;
  machine.Set64(2, MemoryMachine::kBufferVa);
  Inst load = machine.Make(Encoding::GLOBAL, Opcode::GLOBAL_LOAD_SBYTE);
  load.lds = true;
  load.src[0] = MemoryMachine::V(1);
  load.src[2] = MemoryMachine::S(2, 2);
  for (int lane = 0; lane < 64; ++lane) machine.Vgpr(1, lane) = static_cast<uint32_t>(lane * 3);
  machine.Run(load);
  for (int lane = 0; lane < 64; ++lane) {
    const int32_t want = static_cast<int8_t>(machine.buffer[static_cast<size_t>(lane * 3)]);
    EXPECT_EQ(Word(machine.lds, static_cast<size_t>(32 + 4 * lane)), static_cast<uint32_t>(want));
  }
}

// Sixteen lanes read rows of sixteen elements, lane i receives column i.
TEST(TransposingLoads, LdsRowsBecomeColumns) {
  struct Case {
    Opcode op;
    int bits, words;
  };
  for (const Case& c : {Case{Opcode::DS_READ_B64_TR_B16, 16, 2}, Case{Opcode::DS_READ_B64_TR_B8, 8, 2},
                        Case{Opcode::DS_READ_B96_TR_B6, 6, 3}, Case{Opcode::DS_READ_B64_TR_B4, 4, 2}}) {
    MemoryMachine machine(Isa::kCdna4, 64, 0, 4096);
    FillRandom(&machine.lds, 5);
    const int elements = 32 * c.words / c.bits, lanes_per_row = 16 / elements;
    Inst read = machine.Make(Encoding::DS, c.op);
    read.offset = 48;
    read.src[0] = MemoryMachine::V(1);
    read.dst[0] = MemoryMachine::V(1, c.words);  // over the address
    std::vector<uint32_t> address(64);
    for (int lane = 0; lane < 64; ++lane)
      machine.Vgpr(1, lane) = address[lane] = static_cast<uint32_t>((lane * 37 % 64) * 32);
    machine.Run(read);
    const auto bit = [&](size_t byte, int at) {
      return machine.lds[byte + static_cast<size_t>(at / 8)] >> (at % 8) & 1;
    };
    for (int lane = 0; lane < 64; ++lane) {
      for (int row = 0; row < elements; ++row) {
        const int column = lane % 16;
        const int owner = lane / 16 * 16 + row * lanes_per_row + column / elements;
        for (int b = 0; b < c.bits; ++b) {
          const int to = row * c.bits + b;
          ASSERT_EQ(machine.Vgpr(1 + to / 32, lane) >> (to % 32) & 1,
                    static_cast<uint32_t>(bit(address[owner] + 48, column % elements * c.bits + b)))
              << OpcodeName(c.op) << " lane " << lane << " row " << row;
        }
      }
    }
    machine.wave.set_exec(1);
    EXPECT_EQ(machine.Try(read), ExecResult::kFault) << "EXEC must be all ones";
  }
}

// As measured on gfx1201: element j of lane L is element L % 8 of what lane L / 8 * 8 + j reads.
TEST(TransposingLoads, EightLanesExchangeOnRdna4) {
  MemoryMachine machine(Isa::kRdna4, 32, 4096);
  FillRandom(&machine.buffer, 6);
  Inst load = machine.Make(Encoding::VGLOBAL, Opcode::GLOBAL_LOAD_TR_B128);
  load.src[0] = MemoryMachine::V(1);
  load.src[2] = MemoryMachine::S(2, 2);
  load.dst[0] = MemoryMachine::V(10, 4);
  machine.Set64(2, MemoryMachine::kBufferVa);
  for (int lane = 0; lane < 32; ++lane) machine.Vgpr(1, lane) = static_cast<uint32_t>((31 - lane) * 48);
  machine.Run(load);
  for (int lane = 0; lane < 32; ++lane) {
    for (int j = 0; j < 8; ++j) {
      uint16_t want;
      std::memcpy(&want, &machine.buffer[machine.Vgpr(1, lane / 8 * 8 + j) + 2 * (lane % 8)], 2);
      EXPECT_EQ(machine.Vgpr(10 + j / 2, lane) >> (16 * (j % 2)) & 0xffff, want) << lane << " " << j;
    }
  }
  Inst narrow = machine.Make(Encoding::VGLOBAL, Opcode::GLOBAL_LOAD_TR_B64);
  narrow.dst[0] = MemoryMachine::V(10, 2);
  EXPECT_NE(machine.Refusal(narrow).find("not published"), std::string::npos);
}

// M0 chooses the dwords of a block: the holes are kept, in registers and in memory.
TEST(BlockTransfers, HolesAreSkipped) {
  MemoryMachine machine(Isa::kRdna4, 32, 8192, 0, 256);
  FillRandom(&machine.buffer, 8);
  machine.wave.sgpr[kM0] = 0x80000109;
  machine.Set64(2, MemoryMachine::kBufferVa);
  Inst load = machine.Make(Encoding::VGLOBAL, Opcode::GLOBAL_LOAD_BLOCK);
  load.offset = 8;
  load.src[0] = MemoryMachine::V(1);
  load.src[2] = MemoryMachine::S(2, 2);
  load.dst[0] = MemoryMachine::V(40, 32);
  Inst store = machine.Make(Encoding::VSCRATCH, Opcode::SCRATCH_STORE_BLOCK);
  store.src[1] = MemoryMachine::V(40, 32);
  for (int lane = 0; lane < 32; ++lane) {
    machine.Vgpr(1, lane) = static_cast<uint32_t>(lane * 140);
    for (int i = 0; i < 32; ++i) machine.Vgpr(40 + i, lane) = 0x55555555;
  }
  machine.Run(load);
  machine.Run(store);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 32; ++i) {
      const bool moved = (0x80000109u >> i & 1) != 0;
      const uint32_t want =
          moved ? Word(machine.buffer, static_cast<size_t>(8 + lane * 140 + 4 * i)) : 0x55555555;
      EXPECT_EQ(machine.Vgpr(40 + i, lane), want);
      // Private dword i of lane l lies at (i * 32 + l) * 4.
      EXPECT_EQ(Word(machine.scratch, static_cast<size_t>((i * 32 + lane) * 4)), moved ? want : 0);
    }
  }
}

TEST(ScalarMemory, CdnaStoresAndAtomics) {
  MemoryMachine machine(Isa::kCdna2, 64, 256);
  machine.Set64(2, MemoryMachine::kBufferVa);
  for (uint32_t i = 0; i < 4; ++i) machine.wave.sgpr[8 + i] = 0x1000 + i;
  Inst store = machine.Make(Encoding::SMEM, Opcode::S_STORE_DWORDX4);
  store.src[0] = MemoryMachine::S(2, 2);
  store.src[1] = MemoryMachine::S(20);
  store.src[2] = MemoryMachine::S(8, 4);
  store.offset = 16;
  machine.wave.sgpr[20] = 32;
  machine.Run(store);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(Word(machine.buffer, 48 + 4 * i), 0x1000 + i);

  machine.wave.set_exec(0);  // scalar memory does not look at EXEC
  Inst add = machine.Make(Encoding::SMEM, Opcode::S_ATOMIC_ADD_X2);
  add.src[0] = MemoryMachine::S(2, 2);
  add.src[2] = MemoryMachine::S(8, 2);
  add.offset = 48;
  add.glc = true;
  machine.Set64(8, 0xffffffff00000001);
  machine.Run(add);
  EXPECT_EQ(machine.wave.sgpr[8], 0x1000u);
  EXPECT_EQ(machine.wave.sgpr[9], 0x1001u);
  EXPECT_EQ(Word(machine.buffer, 48), 0x1001u);
  EXPECT_EQ(Word(machine.buffer, 52), 0x1000u);

  Inst swap = machine.Make(Encoding::SMEM, Opcode::S_BUFFER_ATOMIC_CMPSWAP);
  uint32_t* d = &machine.wave.sgpr[12];
  d[0] = static_cast<uint32_t>(MemoryMachine::kBufferVa),
  d[1] = static_cast<uint32_t>(MemoryMachine::kBufferVa >> 32), d[2] = 64;
  swap.src[0] = MemoryMachine::S(12, 4);
  swap.src[2] = MemoryMachine::S(8, 2);
  swap.offset = 60;
  machine.wave.sgpr[8] = 77;      // new
  machine.wave.sgpr[9] = 0x1003;  // expected
  machine.Run(swap);
  EXPECT_EQ(Word(machine.buffer, 60), 77u);
  swap.offset = 64;  // past the end
  machine.wave.sgpr[9] = 0;
  machine.Run(swap);
  EXPECT_EQ(Word(machine.buffer, 64), 0u);
}

TEST(ScalarMemory, Rdna4NarrowLoadsExtend) {
  MemoryMachine machine(Isa::kRdna4, 32, 64);
  FillRandom(&machine.buffer, 9);
  machine.buffer[5] = 0x80, machine.buffer[6] = 0x34, machine.buffer[7] = 0x92;
  machine.Set64(2, MemoryMachine::kBufferVa);
  struct Case {
    Opcode op;
    int offset;
    uint32_t want;
  };
  for (const Case& c : {Case{Opcode::S_LOAD_U8, 5, 0x80}, Case{Opcode::S_LOAD_I8, 5, 0xffffff80},
                        Case{Opcode::S_LOAD_U16, 6, 0x9234}, Case{Opcode::S_LOAD_I16, 6, 0xffff9234}}) {
    Inst load = machine.Make(Encoding::SMEM, c.op);
    load.src[0] = MemoryMachine::S(2, 2);
    load.offset = c.offset;
    load.dst[0] = MemoryMachine::S(9);
    machine.Run(load);
    EXPECT_EQ(machine.wave.sgpr[9], c.want) << OpcodeName(c.op);
  }
}

// The permutes reach 64 lanes on CDNA and RDNA4, 32 on RDNA3; only the FI form reads inactive lanes.
TEST(LaneExchange, PermutesReachWhatTheGenerationAllows) {
  for (const Isa isa : kAllIsas) {
    MemoryMachine machine(isa, 64, 0, 64);
    const uint64_t exec = 0x5a5a0ff0ffff00ffu;
    Inst pull = machine.Make(Encoding::DS, Opcode::DS_BPERMUTE_B32);
    pull.src[0] = MemoryMachine::V(1);
    pull.src[1] = MemoryMachine::V(2);
    pull.dst[0] = MemoryMachine::V(3);
    pull.offset = 8;
    for (const bool fetch_inactive : {false, true}) {
      if (fetch_inactive && isa != Isa::kRdna4) continue;
      if (fetch_inactive) pull.op = Opcode::DS_BPERMUTE_FI_B32;
      for (int lane = 0; lane < 64; ++lane) {
        machine.Vgpr(1, lane) = static_cast<uint32_t>(lane * 52 + 3);
        machine.Vgpr(2, lane) = static_cast<uint32_t>(1000 + lane);
        machine.Vgpr(3, lane) = 1;
      }
      machine.wave.set_exec(exec);
      machine.Run(pull);
      for (int lane = 0; lane < 64; ++lane) {
        if ((exec >> lane & 1) == 0) {
          EXPECT_EQ(machine.Vgpr(3, lane), 1u);
          continue;
        }
        const int named = (lane * 52 + 3 + 8) / 4;
        const bool halves = isa == Isa::kRdna3 || isa == Isa::kRdna35;
        const int source = halves ? (lane & 32) | named % 32 : named % 64;
        EXPECT_EQ(machine.Vgpr(3, lane), fetch_inactive || (exec >> source & 1) != 0 ? 1000u + source : 0u)
            << IsaName(isa) << " lane " << lane;
      }
    }
  }
}

// Data in the accumulation registers, and the gfx90a scratch base in FLAT_SCRATCH.
TEST(Cdna, AccumulationRegistersCarryData) {
  MemoryMachine machine(Isa::kCdna2, 64, 0, 1024, 64);
  Inst write = machine.Make(Encoding::DS, Opcode::DS_WRITE_B64);
  write.src[0] = MemoryMachine::V(1);
  write.src[1] = MemoryMachine::A(4, 2);
  Inst read = machine.Make(Encoding::DS, Opcode::DS_READ2_B32);
  read.src[0] = MemoryMachine::V(1);
  read.dst[0] = MemoryMachine::A(8, 2);
  read.offset1 = 1;
  Inst spill = machine.Make(Encoding::SCRATCH, Opcode::SCRATCH_STORE_DWORDX2);
  spill.src[1] = MemoryMachine::A(8, 2);
  spill.offset = 4;
  machine.Set64(102, MemoryMachine::kScratchVa);
  machine.wave.scratch_base = 0;
  for (int lane = 0; lane < 64; ++lane) {
    machine.Vgpr(1, lane) = static_cast<uint32_t>(8 * lane);
    machine.Agpr(4, lane) = static_cast<uint32_t>(lane + 1);
    machine.Agpr(5, lane) = static_cast<uint32_t>(lane + 100);
  }
  machine.Run(write);
  machine.Run(read);
  machine.Run(spill);
  for (int lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(machine.Agpr(8, lane), static_cast<uint32_t>(lane + 1));
    EXPECT_EQ(machine.Agpr(9, lane), static_cast<uint32_t>(lane + 100));
    EXPECT_EQ(Word(machine.scratch, static_cast<size_t>((1 * 64 + lane) * 4)),
              static_cast<uint32_t>(lane + 1));
    EXPECT_EQ(Word(machine.scratch, static_cast<size_t>((2 * 64 + lane) * 4)),
              static_cast<uint32_t>(lane + 100));
  }
}

// Four host threads, each a workgroup of its own, add to the same cells: none is lost.
TEST(Threads, GlobalAtomicsOfSeveralHostThreadsAreAtomic) {
  constexpr int kThreads = 4, kRounds = 2000;
  MemoryMachine shared(Isa::kRdna3, 32, 4096);
  std::vector<std::unique_ptr<MemoryMachine>> machines;
  for (int i = 0; i < kThreads; ++i) {
    machines.push_back(std::make_unique<MemoryMachine>(Isa::kRdna3, 32, 0));
  }
  std::vector<std::thread> threads;
  for (auto& own : machines) {
    threads.emplace_back([&shared, machine = own.get()] {
      Translator translator(&shared.space);
      machine->wave.mem = &translator;
      machine->Set64(2, MemoryMachine::kBufferVa);
      Inst add = machine->Make(Encoding::GLOBAL, Opcode::GLOBAL_ATOMIC_ADD_U32);
      add.src[0] = MemoryMachine::V(1);
      add.src[1] = MemoryMachine::V(2);
      add.src[2] = MemoryMachine::S(2, 2);
      Inst add_float = add;
      add_float.op = Opcode::GLOBAL_ATOMIC_ADD_F32;
      add_float.src[1] = MemoryMachine::V(3);
      add_float.offset = 2048;
      for (int lane = 0; lane < 32; ++lane) {
        machine->Vgpr(1, lane) = static_cast<uint32_t>(lane % 4 * 4);
        machine->Vgpr(2, lane) = 1;
        machine->Vgpr(3, lane) = 0x3f800000;
      }
      for (int round = 0; round < kRounds; ++round) {
        machine->Run(add);
        machine->Run(add_float);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t cell = 0; cell < 4; ++cell) {
    EXPECT_EQ(Word(shared.buffer, 4 * cell), uint32_t{kThreads * kRounds * 8});
    float sum;
    std::memcpy(&sum, &shared.buffer[2048 + 4 * cell], 4);
    EXPECT_EQ(sum, float{kThreads * kRounds * 8});
  }
}

// RDNA3 and gfx90a add to memory without denormals, whatever MODE says (RDNA3 ISA 13.2); later hardware keeps
// them.
TEST(Atomics, DenormalSumsInMemory) {
  for (const Isa isa : {Isa::kRdna3, Isa::kRdna4, Isa::kCdna2, Isa::kCdna3, Isa::kCdna4}) {
    MemoryMachine machine(isa, IsCdna(isa) ? 64 : 32, 64);
    machine.wave.mode = isa == Isa::kCdna2 || isa == Isa::kRdna3 ? 0xf0 : 0;
    machine.wave.set_exec(1);
    machine.Set64(2, MemoryMachine::kBufferVa);
    Inst add = machine.Make(isa == Isa::kRdna4 ? Encoding::VGLOBAL : Encoding::GLOBAL,
                            Opcode::GLOBAL_ATOMIC_ADD_F32);
    add.src[0] = MemoryMachine::V(1);
    add.src[1] = MemoryMachine::V(2);
    add.src[2] = MemoryMachine::S(2, 2);
    machine.Vgpr(1, 0) = 8;
    machine.Vgpr(2, 0) = 0x00400000;
    machine.Run(add);
    machine.Run(add);
    const bool flushes = isa == Isa::kRdna3 || isa == Isa::kCdna2;
    EXPECT_EQ(Word(machine.buffer, 8), flushes ? 0u : 0x00800000u) << IsaName(isa);
  }
}

// RDNA4's minimum and maximum of numbers, conditional subtraction and packed additions, against their
// manual's text.
TEST(Atomics, Rdna4OperationsOnLds) {
  const uint32_t kNan = 0x7f800001, kQuiet = 0x7fc00001, kMinusZero = 0x80000000;
  struct Case {
    Opcode op;
    uint32_t memory, data, want;
  };
  const Case kCases[] = {
      {Opcode::DS_MIN_NUM_RTN_F32, 0x40000000, 0x3f800000, 0x3f800000},
      {Opcode::DS_MIN_NUM_RTN_F32, kNan, 0x3f800000, 0x3f800000},
      {Opcode::DS_MIN_NUM_RTN_F32, 0x3f800000, kNan, 0x3f800000},
      {Opcode::DS_MIN_NUM_RTN_F32, kNan, kNan, kQuiet},
      {Opcode::DS_MIN_NUM_RTN_F32, 0, kMinusZero, kMinusZero},
      {Opcode::DS_MIN_NUM_RTN_F32, kMinusZero, 0, kMinusZero},
      {Opcode::DS_MAX_NUM_RTN_F32, kMinusZero, 0, 0},
      {Opcode::DS_MAX_NUM_RTN_F32, 0, kMinusZero, 0},
      {Opcode::DS_MAX_NUM_RTN_F32, 0xbf800000, 0xc0000000, 0xbf800000},
      {Opcode::DS_COND_SUB_RTN_U32, 5, 5, 0},
      {Opcode::DS_COND_SUB_RTN_U32, 5, 6, 5},
      {Opcode::DS_SUB_CLAMP_RTN_U32, 5, 6, 0},
      {Opcode::DS_SUB_CLAMP_RTN_U32, 9, 6, 3},
      {Opcode::DS_PK_ADD_RTN_F16, 0x3c004000, 0x3c003c00, 0x40004200},   // 1 + 1, 2 + 1
      {Opcode::DS_PK_ADD_RTN_BF16, 0x3f804000, 0x3f803f80, 0x40004040},  // 1 + 1, 2 + 1
  };
  for (const Case& c : kCases) {
    MemoryMachine machine(Isa::kRdna4, 32, 0, 64);
    std::memcpy(&machine.lds[8], &c.memory, 4);
    machine.wave.set_exec(1);
    machine.wave.mode = 0xf0;
    Inst op = machine.Make(Encoding::DS, c.op);
    op.src[0] = MemoryMachine::V(1);
    op.src[1] = MemoryMachine::V(2);
    op.dst[0] = MemoryMachine::V(3);
    op.offset = 8;
    machine.Vgpr(1, 0) = 0;
    machine.Vgpr(2, 0) = c.data;
    machine.Run(op);
    EXPECT_EQ(Word(machine.lds, 8), c.want) << OpcodeName(c.op) << " " << c.memory << " " << c.data;
    EXPECT_EQ(machine.Vgpr(3, 0), c.memory);
  }
}

}  // namespace
}  // namespace understudy::emu::amd
