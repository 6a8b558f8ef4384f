// SPDX-License-Identifier: Apache-2.0
// Where a buffer instruction's lanes read, and which are out of range: against the manuals' formulas, written
// again here for each generation, over random descriptors and offsets.

#include <gtest/gtest.h>

#include <random>

#include "tests/emu/amd/memory/memory_machine.h"

namespace understudy::emu::amd {
namespace {

struct Fields {
  uint32_t stride, scale, records, swizzle, index_stride, oob;
  bool add_tid, idxen, offen;
  uint32_t instruction_offset, scalar_offset;
};

struct Expected {
  bool in_range;
  uint64_t byte;  // from the base
};

// RDNA4 ISA 9.4 (Table 56, 9.4.1.1-9.4.2); RDNA3's differs in adding the scalar offset after swizzling.
Expected RdnaFormula(const Fields& f, bool rdna4, uint32_t lane, uint32_t vindex, uint32_t voffset,
                     uint32_t payload) {
  const uint32_t scales[] = {1, 4, 8, 32};
  const uint64_t stride = uint64_t{f.stride} * (rdna4 ? scales[f.scale] : 1);
  const uint64_t index = uint64_t{f.idxen ? vindex : 0} + (f.add_tid ? lane : 0);
  const uint64_t offset = uint64_t{f.instruction_offset} + (f.offen ? voffset : 0);
  Expected e;
  if (f.swizzle == 0) {
    e.byte = f.scalar_offset + offset + stride * index;
  } else {
    const uint64_t element = f.swizzle == 1 ? 4 : 16, contiguous = 8u << f.index_stride;
    const uint64_t total = rdna4 ? (offset + f.scalar_offset) & 0xffffffffu : offset;
    e.byte = (index / contiguous * stride + total / element * element) * contiguous +
             index % contiguous * element + total % element + (rdna4 ? 0 : f.scalar_offset);
  }
  switch (f.oob) {
    case 0:
      e.in_range = !(index >= f.records || offset + payload > stride);
      break;
    case 1:
      e.in_range = !(index >= f.records);
      break;
    case 2:
      e.in_range = f.records != 0;
      break;
    default:
      if (f.swizzle != 0 && stride != 0) {
        e.in_range = !(index >= f.records || offset + payload > stride);
      } else {
        e.in_range =
            f.records >= f.scalar_offset && offset + stride * index + payload <= f.records - f.scalar_offset;
      }
  }
  return e;
}

// GFX9: elements of four bytes; the number of records counts strides where the instruction has an index, else
// bytes.
Expected Gfx9Formula(const Fields& f, uint32_t lane, uint32_t vindex, uint32_t voffset, uint32_t payload) {
  const uint64_t index = uint64_t{f.idxen ? vindex : 0} + (f.add_tid ? lane : 0);
  const uint64_t offset = uint64_t{f.instruction_offset} + (f.offen ? voffset : 0);
  Expected e;
  if (f.swizzle == 0) {
    e.byte = f.scalar_offset + offset + uint64_t{f.stride} * index;
  } else {
    const uint64_t contiguous = 8u << f.index_stride;
    e.byte = (index / contiguous * f.stride + offset / 4 * 4) * contiguous + index % contiguous * 4 +
             offset % 4 + f.scalar_offset;
  }
  if (f.stride != 0 && f.idxen) {
    e.in_range = index < f.records;
  } else {
    e.in_range =
        f.records >= f.scalar_offset && offset + f.stride * index + payload <= f.records - f.scalar_offset;
  }
  return e;
}

void WriteDescriptor(const Fields& f, Isa isa, uint64_t base, uint32_t* words) {
  words[0] = static_cast<uint32_t>(base);
  words[1] = static_cast<uint32_t>(base >> 32) | f.stride << 16;
  words[2] = f.records;
  words[3] = f.index_stride << 21 | uint32_t{f.add_tid} << 23;
  if (IsCdna(isa)) {
    words[1] |= f.swizzle != 0 ? 0x80000000u : 0;
    // With lane numbers in the index the data format's bits are the stride's high ones.
    words[3] |= f.add_tid ? 0 : 4u << 15 | 4u << 12;
  } else {
    words[1] |= f.swizzle << 30;
    words[3] |= 20u << 12 | f.oob << 28 | (isa == Isa::kRdna4 ? f.scale << 18 : 0);
  }
}

class BufferAddress : public testing::TestWithParam<Isa> {};

TEST_P(BufferAddress, DwordLoadsFollowTheFormula) {
  const Isa isa = GetParam();
  const bool rdna4 = isa == Isa::kRdna4;
  const int lanes = IsCdna(isa) ? 64 : 32;
  constexpr size_t kBytes = 1 << 20;
  MemoryMachine machine(isa, lanes, kBytes);
  for (size_t i = 0; i < kBytes; ++i) machine.buffer[i] = static_cast<uint8_t>(i * 167 + (i >> 8) * 59);
  std::mt19937 random(7);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  int in_range = 0, out_of_range = 0;
  for (int round = 0; round < 4000; ++round) {
    Fields f = {};
    f.stride = below(4) == 0 ? 0 : 16 * (1 + below(4));
    f.scale = below(3) == 0 ? below(4) : 0;
    f.swizzle = below(2) == 0 ? 0 : below(2) == 0 ? 1 : 3;
    f.index_stride = below(4);
    f.oob = below(4);
    f.add_tid = below(4) == 0;
    f.idxen = below(2) == 0;
    f.offen = below(2) == 0;
    f.records = below(2) == 0 ? below(40) : below(3000);
    f.instruction_offset = 4 * below(8);
    f.scalar_offset = 4 * below(20);
    // Out of range nothing may be touched; OOB_SELECT 2 checks nothing, and stays inside the buffer by
    // construction.
    WriteDescriptor(f, isa, MemoryMachine::kBufferVa, &machine.wave.sgpr[4]);
    machine.wave.sgpr[8] = f.scalar_offset;
    Inst load = machine.Make(rdna4 ? Encoding::VBUFFER : Encoding::MUBUF,
                             IsCdna(isa) ? Opcode::BUFFER_LOAD_DWORD : Opcode::BUFFER_LOAD_B32);
    load.idxen = f.idxen;
    load.offen = f.offen;
    load.offset = static_cast<int32_t>(f.instruction_offset);
    if (f.idxen || f.offen) load.src[0] = MemoryMachine::V(1, f.idxen && f.offen ? 2 : 1);
    load.src[1] = MemoryMachine::S(4, 4);
    load.src[2] = MemoryMachine::S(8);
    load.dst[0] = MemoryMachine::V(10);
    std::vector<uint32_t> index(lanes), offset(lanes);
    for (int lane = 0; lane < lanes; ++lane) {
      index[lane] = below(60);
      offset[lane] = f.swizzle == 0 ? below(200) : 4 * below(16);
      machine.Vgpr(10, lane) = 0xdddddddd;
      if (f.idxen && f.offen) {
        machine.Vgpr(1, lane) = index[lane];
        machine.Vgpr(2, lane) = offset[lane];
      } else {
        machine.Vgpr(1, lane) = f.idxen ? index[lane] : offset[lane];
      }
    }
    const uint64_t exec = uint64_t{random()} << 32 | random();
    machine.wave.set_exec(exec);
    machine.Run(load);
    if (testing::Test::HasFailure()) return;
    for (int lane = 0; lane < lanes; ++lane) {
      const Expected e = IsCdna(isa) ? Gfx9Formula(f, lane, index[lane], offset[lane], 4)
                                     : RdnaFormula(f, rdna4, lane, index[lane], offset[lane], 4);
      const bool active = (exec >> lane & 1) != 0;
      uint32_t want = active ? 0 : 0xdddddddd;
      if (active && e.in_range) want = Word(machine.buffer, e.byte);
      ASSERT_EQ(machine.Vgpr(10, lane), want)
          << IsaName(isa) << " lane " << lane << " stride " << f.stride << " records " << f.records
          << " swizzle " << f.swizzle << " oob " << f.oob << " tid " << f.add_tid << " idxen " << f.idxen
          << " offen " << f.offen;
      ++(e.in_range ? in_range : out_of_range);
    }
  }
  EXPECT_GT(in_range, 10000);
  EXPECT_GT(out_of_range, 10000);
}

// Four dwords across the end: each dword is in range or not.
TEST_P(BufferAddress, DwordsAreCheckedOneByOne) {
  const Isa isa = GetParam();
  const int lanes = IsCdna(isa) ? 64 : 32;
  MemoryMachine machine(isa, lanes, 4096);
  for (size_t i = 0; i < 4096; ++i) machine.buffer[i] = static_cast<uint8_t>(i * 13 + 1);
  Fields f = {};
  f.records = 100;
  f.oob = 3;
  f.offen = true;
  WriteDescriptor(f, isa, MemoryMachine::kBufferVa, &machine.wave.sgpr[4]);
  const Encoding enc = isa == Isa::kRdna4 ? Encoding::VBUFFER : Encoding::MUBUF;
  Inst load = machine.Make(enc, IsCdna(isa) ? Opcode::BUFFER_LOAD_DWORDX4 : Opcode::BUFFER_LOAD_B128);
  load.offen = true;
  load.src[0] = MemoryMachine::V(1);
  load.src[1] = MemoryMachine::S(4, 4);
  load.src[2] = MemoryMachine::Int(0);
  load.dst[0] = MemoryMachine::V(10, 4);
  Inst store = machine.Make(enc, IsCdna(isa) ? Opcode::BUFFER_STORE_DWORDX4 : Opcode::BUFFER_STORE_B128);
  store.offen = true;
  store.src[0] = MemoryMachine::V(1);
  store.src[1] = MemoryMachine::S(4, 4);
  store.src[2] = MemoryMachine::Int(0);
  store.src[3] = MemoryMachine::V(20, 4);
  for (int lane = 0; lane < lanes; ++lane) {
    machine.Vgpr(1, lane) = static_cast<uint32_t>(76 + lane);
    for (int i = 0; i < 4; ++i) machine.Vgpr(20 + i, lane) = 0xffffffff;
  }
  machine.Run(load);
  for (int lane = 0; lane < lanes; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const size_t at = static_cast<size_t>(76 + lane + 4 * i);
      EXPECT_EQ(machine.Vgpr(10 + i, lane), at + 4 <= 100 ? Word(machine.buffer, at) : 0) << lane << " " << i;
    }
  }
  const std::vector<uint8_t> before = machine.buffer;
  machine.Run(store);
  for (size_t i = 0; i < 4096; ++i) {
    EXPECT_EQ(machine.buffer[i], i >= 76 && i < 100 ? 0xff : before[i]) << i;
  }
}

// A descriptor without a data format reads zero and writes nothing, wherever it points.
TEST_P(BufferAddress, UnboundDescriptorTouchesNoMemory) {
  const Isa isa = GetParam();
  MemoryMachine machine(isa, IsCdna(isa) ? 64 : 32, 64);
  const Encoding enc = isa == Isa::kRdna4 ? Encoding::VBUFFER : Encoding::MUBUF;
  Inst load = machine.Make(enc, IsCdna(isa) ? Opcode::BUFFER_LOAD_DWORD : Opcode::BUFFER_LOAD_B32);
  load.src[1] = MemoryMachine::S(4, 4);
  load.src[2] = MemoryMachine::Int(0);
  load.dst[0] = MemoryMachine::V(1);
  for (int lane = 0; lane < machine.wave.wave_size; ++lane) machine.Vgpr(1, lane) = 7;
  machine.Run(load);
  for (int lane = 0; lane < machine.wave.wave_size; ++lane) EXPECT_EQ(machine.Vgpr(1, lane), 0u);
  Inst store = machine.Make(enc, IsCdna(isa) ? Opcode::BUFFER_STORE_DWORD : Opcode::BUFFER_STORE_B32);
  store.src[1] = load.src[1];
  store.src[2] = load.src[2];
  store.src[3] = MemoryMachine::V(2);
  machine.Run(store);
}

INSTANTIATE_TEST_SUITE_P(AllGenerations, BufferAddress, testing::ValuesIn(kAllIsas),
                         [](const testing::TestParamInfo<Isa>& info) { return IsaTarget(info.param); });

}  // namespace
}  // namespace understudy::emu::amd
