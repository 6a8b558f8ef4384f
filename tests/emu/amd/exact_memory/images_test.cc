// SPDX-License-Identifier: Apache-2.0
// Image loads, stores and atomics without a sampler on linear 2D images, of every generation that has them:
// texels, registers and everything else against the formats' definitions and the atomics' formulas.

#include <gtest/gtest.h>

#include <bit>

#include "absl/strings/str_format.h"
#include "tests/emu/amd/exact_memory/atomic_formulas.h"
#include "tests/emu/amd/exact_memory/exact_machine.h"
#include "tests/emu/amd/exact_memory/texel_formats.h"

namespace understudy::emu::amd {
namespace {

constexpr int kX = 4, kY = 5, kLevel = 6, kData = 20, kHeight = 5;

class Images : public testing::TestWithParam<Generation> {
 protected:
  Isa isa() const { return GetParam().isa; }

  // Rows of 256 bytes, which no generation pads.
  void Describe(ExactMachine& machine, const ExactFormat& format) const {
    const uint32_t width = 256 / static_cast<uint32_t>(format.bytes());
    uint32_t* w = &machine.wave.sgpr[8];
    std::fill(w, w + 8, 0);
    w[0] = static_cast<uint32_t>(MemoryMachine::kBufferVa >> 8);
    w[1] = static_cast<uint32_t>(MemoryMachine::kBufferVa >> 40);
    w[2] = (kHeight - 1) << 14;
    w[3] = 0xfac | 9u << 28;
    if (isa() == Isa::kCdna2) {
      w[1] |= format.data << 20 | format.kind_number << 26;
      w[2] |= width - 1;
      w[4] = (width - 1) << 13;
    } else {
      w[1] |= format.number << (isa() == Isa::kRdna4 ? 17 : 20) | ((width - 1) & 3) << 30;
      w[2] |= (width - 1) >> 2;
    }
  }
  // A texel a lane, all different.
  static uint32_t TexelX(int lane) { return static_cast<uint32_t>((lane * 37 + 11) % 16); }
  static uint32_t TexelY(int lane) { return static_cast<uint32_t>((lane * 37 + 11) % 64 / 16 + 1); }
  static size_t Texel(const ExactFormat& format, int lane) {
    return TexelY(lane) * 256 + TexelX(lane) * static_cast<uint32_t>(format.bytes());
  }
  void Prepare(ExactMachine& machine, uint32_t seed, const ExactFormat& format) const {
    machine.Randomize(seed);
    Describe(machine, format);
    for (int lane = 0; lane < GetParam().lanes; ++lane) {
      machine.Vgpr(kX, lane) = TexelX(lane);
      machine.Vgpr(kY, lane) = TexelY(lane);
      machine.Vgpr(kLevel, lane) = 0;
    }
  }
  std::string Text(Opcode op, int registers, uint32_t dmask, bool mip, bool returns, bool d16) const {
    const bool gfx9 = isa() == Isa::kCdna2, rdna4 = isa() == Isa::kRdna4;
    std::string text = LowerName(op) + " " + Registers('v', kData, registers) + ", ";
    if (rdna4) {
      text += mip ? "[v4, v5, v6]" : "[v4, v5]";
    } else {
      text += mip ? "v[4:6]" : "v[4:5]";
    }
    text += absl::StrFormat(", s[8:15] dmask:0x%x", dmask);
    if (!gfx9) text += " dim:SQ_RSRC_IMG_2D";
    if (!rdna4) text += " unorm";
    if (returns) text += ReturnFlag(isa());
    return d16 ? text + " d16" : text;
  }
  static const ExactFormat& FormatOf(const std::string& name) {
    for (const ExactFormat& format : kExactFormats) {
      if (name == format.name) return format;
    }
    ADD_FAILURE() << name;
    return kExactFormats[0];
  }
};

TEST_P(Images, LoadsAndStoresConvert) {
  ExactMachine machine(isa(), GetParam().lanes);
  int checked = 0;
  for (const decode::Row* row : MemoryRows(isa())) {
    const std::string name = OpcodeName(row->op);
    const bool load = StartsWith(name, "IMAGE_LOAD"), store = StartsWith(name, "IMAGE_STORE");
    if ((!load && !store) || Contains(name, "_PCK")) continue;
    const bool mip = Contains(name, "_MIP");
    for (const ExactFormat& format : kExactFormats) {
      if (format.components == 3) continue;  // images of three 32-bit components are not linear in 256 bytes
      for (const bool half : {false, true}) {
        for (uint32_t round = 0; round < 2; ++round) {
          Prepare(machine, round, format);
          std::vector<std::vector<uint32_t>> raw(static_cast<size_t>(GetParam().lanes));
          const auto put_texel = [&](std::vector<uint8_t>* memory, int lane) {
            uint64_t words[2] = {};
            for (int i = 0, at = 0; i < format.components; at += format.bits[i++])
              words[at / 64] |= uint64_t{raw[static_cast<size_t>(lane)][static_cast<size_t>(i)]} << (at % 64);
            for (int i = 0; i < format.bytes(); ++i)
              Put(memory, Texel(format, lane) + static_cast<size_t>(i), 1, words[i / 8] >> (8 * (i % 8)));
          };
          for (int lane = 0; lane < GetParam().lanes; ++lane) {
            for (int i = 0; i < format.components; ++i)
              raw[static_cast<size_t>(lane)].push_back(ExactComponent(format, i, half, machine.Random()));
            if (load) put_texel(&machine.buffer, lane);
          }
          // DMASK chooses components of a load, which lie in consecutive registers (or halves of them).
          uint32_t dmask = (1u << format.components) - 1;
          if (load && format.components == 4 && round == 1) dmask = 0xa;
          const auto each = [&](int lane, const std::function<uint32_t&(int reg)>& at) {
            int n = 0;
            for (int i = 0; i < format.components; ++i) {
              if ((dmask >> i & 1) == 0) continue;
              const uint32_t value =
                  ComponentRegister(format, i, half, raw[static_cast<size_t>(lane)][static_cast<size_t>(i)]);
              uint32_t& reg = at(kData + (half ? n / 2 : n));
              reg = !half ? value : n % 2 == 1 ? (reg & 0xffffu) | value << 16 : (reg & 0xffff0000u) | value;
              ++n;
            }
          };
          if (store) {
            for (int lane = 0; lane < GetParam().lanes; ++lane)
              each(lane, [&](int reg) -> uint32_t& { return machine.Vgpr(reg, lane); });
          }
          WaveImage want = machine.Save();
          for (int lane = 0; lane < GetParam().lanes; ++lane) {
            if (!machine.Active(lane)) continue;
            if (store) {
              put_texel(&want.buffer, lane);
            } else {
              each(lane, [&](int reg) -> uint32_t& { return want.V(reg, lane); });
            }
          }
          const int n = std::popcount(dmask);
          machine.Expect(row->op, Text(row->op, half ? (n + 1) / 2 : n, dmask, mip, false, half), want);
          if (HasFailure()) {
            ADD_FAILURE() << format.name;
            return;
          }
        }
      }
    }
    ++checked;
  }
  EXPECT_EQ(checked, 4);
}

// Without conversion: a texel's bytes, those of 8 and 16 bits extended with zeros or with their sign.
TEST_P(Images, PackedLoadsAndStoresMoveBytes) {
  ExactMachine machine(isa(), GetParam().lanes);
  int checked = 0;
  for (const decode::Row* row : MemoryRows(isa())) {
    const std::string name = OpcodeName(row->op);
    if (!StartsWith(name, "IMAGE_") || !Contains(name, "_PCK")) continue;
    const bool load = Contains(name, "_LOAD"), mip = Contains(name, "_MIP"),
               is_signed = Contains(name, "_SGN");
    for (const ExactFormat& format : kExactFormats) {
      if (format.components == 3 || (format.components > 1 && format.bytes() < 4)) continue;
      const int bytes = format.bytes(), words = (bytes + 3) / 4;
      for (uint32_t round = 0; round < 2; ++round) {
        Prepare(machine, round, format);
        WaveImage want = machine.Save();
        for (int lane = 0; lane < GetParam().lanes; ++lane) {
          if (!machine.Active(lane)) continue;
          const size_t at = Texel(format, lane);
          for (int i = 0; i < words; ++i) {
            const int part = std::min(4, bytes);
            const size_t word = at + static_cast<size_t>(4 * i);
            if (load) {
              uint64_t value = Get(machine.buffer, word, part);
              if (is_signed && (value >> (8 * part - 1)) != 0) value |= ~uint64_t{0} << (8 * part);
              want.V(kData + i, lane) = static_cast<uint32_t>(value);
            } else {
              Put(&want.buffer, word, part, machine.Vgpr(kData + i, lane));
            }
          }
        }
        machine.Expect(row->op, Text(row->op, words, (1u << words) - 1, mip, false, false), want);
        if (HasFailure()) {
          ADD_FAILURE() << format.name;
          return;
        }
      }
    }
    ++checked;
  }
  EXPECT_EQ(checked, 6);
}

TEST_P(Images, AtomicsFollowTheFormula) {
  ExactMachine machine(isa(), GetParam().lanes);
  int checked = 0;
  for (const decode::Row* row : MemoryRows(isa())) {
    const std::string name = OpcodeName(row->op);
    if (!StartsWith(name, "IMAGE_ATOMIC_")) continue;
    const AtomicFormula* formula = FindAtomicFormula(name.substr(13));
    ASSERT_NE(formula, nullptr) << name;
    for (const int bytes : {4, 8}) {
      if (formula->bytes != 0 && formula->bytes != bytes) continue;
      const ExactFormat& format = FormatOf(bytes == 8                                         ? "32_32_SINT"
                                           : formula->values == 'i'                           ? "32_UINT"
                                           : formula->values == 'h' || formula->values == 'b' ? "16_16_FLOAT"
                                                                                              : "32_FLOAT");
      const int words = bytes / 4, registers = words * formula->operands, bits = 8 * bytes;
      for (uint32_t round = 0; round < 4; ++round) {
        const bool returns = round < 2;
        Prepare(machine, round, format);
        for (int lane = 0; lane < GetParam().lanes; ++lane) {
          const uint32_t k = static_cast<uint32_t>(lane) * 7 + round * 31;
          const uint64_t old = AtomicValue(*formula, bits, k);
          Put(&machine.buffer, Texel(format, lane), bytes, old);
          uint64_t data = AtomicValue(*formula, bits, k / 5 + static_cast<uint32_t>(lane));
          if (!IsDefined(*formula, bits, false, old, data, 0)) data = AtomicValue(*formula, bits, 4);
          machine.SetV(kData, lane, bytes, data);
          if (formula->operands == 2)
            machine.SetV(kData + words, lane, bytes,
                         lane % 3 == 0 ? old : AtomicValue(*formula, bits, k / 3));
        }
        WaveImage want = machine.Save();
        for (int lane = 0; lane < GetParam().lanes; ++lane) {
          if (!machine.Active(lane)) continue;
          const uint64_t old = Get(machine.buffer, Texel(format, lane), bytes);
          const auto value = [&](int reg) {
            return machine.Vgpr(reg, lane) | (bytes == 8 ? uint64_t{machine.Vgpr(reg + 1, lane)} << 32 : 0);
          };
          Put(&want.buffer, Texel(format, lane), bytes,
              formula->result(old, value(kData), value(kData + words), bits, false));
          if (returns) want.PutV(kData, lane, bytes, old);
        }
        machine.Expect(row->op, Text(row->op, registers, (1u << registers) - 1, false, returns, false), want);
        if (HasFailure()) return;
      }
    }
    ++checked;
  }
  EXPECT_GE(checked, isa() == Isa::kRdna4 ? 18 : 13);
}

std::vector<Generation> GenerationsWithImages() {
  std::vector<Generation> all;
  for (const Generation& g : AllGenerations()) {
    if (g.isa < Isa::kCdna3) all.push_back(g);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Every, Images, testing::ValuesIn(GenerationsWithImages()), GenerationName);

}  // namespace
}  // namespace understudy::emu::amd
