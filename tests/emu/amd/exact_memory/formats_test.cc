// SPDX-License-Identifier: Apache-2.0
// Every formatted buffer load and store of every generation: components of formats of all kinds against their
// definitions, in whole registers and in halves, by the descriptor's format and by the instruction's.

#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "tests/emu/amd/exact_memory/exact_machine.h"
#include "tests/emu/amd/exact_memory/texel_formats.h"

namespace understudy::emu::amd {
namespace {

constexpr int kOffset = 4, kData = 20;

enum class Data { kWhole, kHalves, kHighHalf };

class Formats : public testing::TestWithParam<Generation> {
 protected:
  Isa isa() const { return GetParam().isa; }

  void Check(ExactMachine& machine, Opcode op, int components, Data data, bool load, bool to_lds,
             const ExactFormat& format) {
    const bool typed = StartsWith(OpcodeName(op), "TBUFFER"), half = data != Data::kWhole;
    const int lanes = GetParam().lanes;
    for (uint32_t round = 0; round < 2; ++round) {
      machine.Randomize(round);
      // Typed instructions read no format from the descriptor: it says 32_UINT.
      const ExactFormat& described = typed ? kExactFormats[3] : format;
      machine.wave.sgpr[11] = 0xfac | (IsCdna(isa()) ? described.data << 15 | described.kind_number << 12
                                                     : described.number << 12 | 3u << 28);
      machine.wave.sgpr[kM0] = 512;
      std::vector<std::vector<uint32_t>> raw(static_cast<size_t>(lanes));
      const auto place = [](int lane) { return 2048 + static_cast<size_t>((lane * 37 + 11) % 64) * 16; };
      const auto put_element = [&](std::vector<uint8_t>* memory, int lane) {
        uint64_t words[2] = {};
        for (int i = 0, at = 0; i < format.components; at += format.bits[i++])
          words[at / 64] |= uint64_t{raw[static_cast<size_t>(lane)][static_cast<size_t>(i)]} << (at % 64);
        for (int i = 0; i < format.bytes(); ++i)
          Put(memory, place(lane) + static_cast<size_t>(i), 1, words[i / 8] >> (8 * (i % 8)));
      };
      for (int lane = 0; lane < lanes; ++lane) {
        machine.Vgpr(kOffset, lane) = static_cast<uint32_t>(place(lane) - 32);
        for (int i = 0; i < format.components; ++i)
          raw[static_cast<size_t>(lane)].push_back(ExactComponent(format, i, half, machine.Random()));
        if (load) put_element(&machine.buffer, lane);
      }
      const auto set_register = [&](uint32_t* reg, int i, uint32_t value) {
        const bool high = data == Data::kHighHalf || (data == Data::kHalves && i % 2 == 1);
        *reg = data == Data::kWhole ? value
               : high               ? (*reg & 0xffffu) | value << 16
                                    : (*reg & 0xffff0000u) | value;
      };
      const auto of = [&](int i) { return kData + (data == Data::kHalves ? i / 2 : i); };
      if (!load) {
        for (int lane = 0; lane < lanes; ++lane) {
          for (int i = 0; i < std::min(components, format.components); ++i)
            set_register(
                &machine.Vgpr(of(i), lane), i,
                ComponentRegister(format, i, half, raw[static_cast<size_t>(lane)][static_cast<size_t>(i)]));
        }
      }
      WaveImage want = machine.Save();
      for (int lane = 0; lane < lanes; ++lane) {
        if (!machine.Active(lane)) continue;
        const auto value = [&](int i) {
          return ComponentRegister(format, i, half, raw[static_cast<size_t>(lane)][static_cast<size_t>(i)]);
        };
        if (to_lds) {
          Put(&want.lds, 512 + 32 + 4 * static_cast<size_t>(lane), 4, value(0));
        } else if (load) {
          for (int i = 0; i < components; ++i) set_register(&want.V(of(i), lane), i, value(i));
        } else {
          put_element(&want.buffer, lane);
        }
      }
      const int registers = data == Data::kHalves ? (components + 1) / 2 : components;
      const bool named_lds = Contains(OpcodeName(op), "LOAD_LDS_");
      std::string text = LowerName(op) + " ";
      if (!to_lds) text += Registers('v', kData, registers) + ", ";
      text += absl::StrFormat("v%d, s[8:11], %s", kOffset, NoOffset(isa()));
      if (typed)
        text += absl::StrFormat(" format:%d",
                                IsCdna(isa()) ? format.data | format.kind_number << 4 : format.number);
      text += " offen offset:32";
      if (to_lds && !named_lds) text += " lds";
      machine.Expect(op, text, want);
      if (HasFailure()) {
        ADD_FAILURE() << format.name;
        return;
      }
    }
  }
};

TEST_P(Formats, ComponentsAreConverted) {
  ExactMachine machine(isa(), GetParam().lanes);
  int checked = 0;
  for (const decode::Row* row : MemoryRows(isa())) {
    const std::string name = OpcodeName(row->op);
    if (!Contains(name, "BUFFER_") || !Contains(name, "FORMAT_")) continue;
    const int components = static_cast<int>(name.size() - name.rfind('_') - 1);
    ASSERT_LE(components, 4) << name;
    const Data data = Contains(name, "D16_HI") ? Data::kHighHalf
                      : Contains(name, "D16")  ? Data::kHalves
                                               : Data::kWhole;
    const bool load = Contains(name, "_LOAD_"), to_lds = Contains(name, "_LDS_");
    int formats = 0;
    for (const ExactFormat& format : kExactFormats) {
      // Which components a store leaves in memory when it supplies fewer than the format has is not stated;
      // what a load puts in place of missing ones is checked elsewhere.
      if (load ? format.components < components : format.components > components) continue;
      Check(machine, row->op, components, data, load, to_lds, format);
      if (HasFailure()) return;
      // GFX9 has no opcode of its own for formatted transfers to LDS.
      if (IsCdna(isa()) && name == "BUFFER_LOAD_FORMAT_X") {
        Check(machine, row->op, components, data, load, true, format);
        if (HasFailure()) return;
      }
      ++formats;
    }
    EXPECT_GE(formats, 3) << name;
    ++checked;
  }
  // X to XYZW, loaded and stored, whole and as halves, typed and untyped; the two high halves; RDNA3's one to
  // LDS.
  EXPECT_EQ(checked, isa() == Isa::kRdna3 || isa() == Isa::kRdna35 ? 35 : 34);
}

INSTANTIATE_TEST_SUITE_P(Every, Formats, testing::ValuesIn(AllGenerations()), GenerationName);

}  // namespace
}  // namespace understudy::emu::amd
