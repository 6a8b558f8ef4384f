// SPDX-License-Identifier: Apache-2.0
// gfx950's transposing LDS reads (CDNA4 ISA 11.4). Sixteen lanes read rows of sixteen elements, and each lane
// receives a column: the form in which published kernels use them. The ISA manual gives no formula.

#include <cstring>

#include "absl/strings/str_format.h"
#include "emu/amd/semantics/mem_access.h"
#include "emu/amd/semantics/mem_moves.h"

namespace understudy::emu::amd {
namespace {

uint32_t Element(const uint32_t* words, int index, int bits) {
  const int at = index * bits;
  uint64_t pair = words[at / 32];
  if (at % 32 + bits > 32) pair |= uint64_t{words[at / 32 + 1]} << 32;
  return static_cast<uint32_t>(pair >> (at % 32)) & ((1u << bits) - 1);
}

template <int kBits, int kWords>
ExecResult ReadTransposed(const Inst& inst, WaveState& wave) {
  constexpr int kGroup = 16, kElements = 32 * kWords / kBits;
  if (wave.exec() != wave.lane_mask) {
    return RaiseFault(
        wave, FaultKind::kUnsupported, -1,
        absl::StrFormat("a transposing read with EXEC = 0x%x, expected all lanes", wave.exec()));
  }
  const uint32_t* address = Row(wave, inst.src[0]);
  uint32_t loaded[kMaxLanes][kWords];
  AccessLdsLanes<4 * kWords, Access::kRead>(
      wave, wave.exec(), address, static_cast<uint32_t>(inst.offset),
      [&](int lane, const uint8_t* bytes) { std::memcpy(loaded[lane], bytes, 4 * kWords); });
  uint32_t* out = Row(wave, inst.dst[0]);
  for (int lane = 0; lane < wave.wave_size; ++lane) {
    uint64_t packed[2] = {};
    for (int i = 0; i < kElements; ++i) {
      const TransposeSource from = TransposedFrom(lane, i, kGroup, kElements);
      const uint64_t value = Element(loaded[from.lane], from.element, kBits);
      const int at = i * kBits;
      packed[at / 64] |= value << (at % 64);
      if (at % 64 + kBits > 64) packed[1] |= value >> (64 - at % 64);
    }
    for (int word = 0; word < kWords; ++word) {
      out[word * wave.wave_size + lane] = static_cast<uint32_t>(packed[word / 2] >> (32 * (word % 2)));
    }
  }
  return ExecResult::kNext;
}

}  // namespace

ExecFn FindDsTransposeExec(const Inst& inst) {
  switch (inst.op) {
    case Opcode::DS_READ_B64_TR_B16:
      return &ReadTransposed<16, 2>;
    case Opcode::DS_READ_B64_TR_B8:
      return &ReadTransposed<8, 2>;
    case Opcode::DS_READ_B96_TR_B6:
      return &ReadTransposed<6, 3>;
    case Opcode::DS_READ_B64_TR_B4:
      return &ReadTransposed<4, 2>;
    default:
      return nullptr;
  }
}

}  // namespace understudy::emu::amd
