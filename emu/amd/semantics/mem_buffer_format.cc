// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/mem_buffer_format.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_format.h"
#include "emu/amd/semantics/mem_access.h"
#include "emu/amd/semantics/mem_buffer_rsrc.h"
#include "emu/amd/semantics/mem_forms.h"
#include "emu/amd/semantics/mem_moves.h"

namespace understudy::emu::amd {
namespace {

// How components lie in registers: one a register, two a register, or one in the upper half.
enum class DataForm { kWhole, kD16, kD16Hi };

// The descriptor, with the instruction's format and the components in their order for typed instructions.
ExecResult ReadFormatted(const Inst& inst, WaveState& wave, bool typed, BufferDescriptor* buffer) {
  const ExecResult result = ReadBufferDescriptor(inst, wave, buffer);
  if (result != ExecResult::kNext) return result;
  if (typed) {
    buffer->format =
        IsCdna(wave.isa) ? Gfx9BufferFormat(inst.format & 15u, inst.format >> 4) : BufferFormat(inst.format);
    buffer->bound = true;
    for (uint8_t i = 0; i < 4; ++i) buffer->select[i] = static_cast<uint8_t>(4 + i);
    if (buffer->format == nullptr) {
      return RaiseFault(wave, FaultKind::kUnsupported, -1,
                        absl::StrFormat("typed buffer format %d is not assigned", inst.format));
    }
  } else if (buffer->format == nullptr && buffer->bound) {
    return RaiseFault(wave, FaultKind::kUnsupported, -1, "the descriptor's data format is not assigned");
  }
  return ExecResult::kNext;
}

uint32_t Selected(const BufferDescriptor& buffer, int component, const uint32_t value[4]) {
  const uint8_t select = buffer.select[component];
  if (select >= 4) return value[select - 4];
  return select == 1 && buffer.format != nullptr ? TexelOne(*buffer.format) : 0;
}

template <int kComponents, DataForm kForm, bool kTyped>
ExecResult Load(const Inst& inst, WaveState& wave) {
  BufferDescriptor buffer;
  ExecResult result = ReadFormatted(inst, wave, kTyped, &buffer);
  if (result != ExecResult::kNext) return result;
  const uint32_t bytes = buffer.format == nullptr ? 1 : static_cast<uint32_t>(buffer.format->bytes());
  BufferLanes lanes;
  result = lanes.Find(inst, wave, buffer, bytes, /*by_dword=*/false);
  if (result != ExecResult::kNext) return result;
  const bool to_lds = inst.lds || inst.op == Opcode::BUFFER_LOAD_LDS_FORMAT_X;
  uint32_t* out = to_lds ? nullptr : Row(wave, inst.dst[0]);
  const int stride = wave.wave_size;
  for (uint64_t mask = wave.exec(); mask != 0; mask &= mask - 1) {
    const int lane = __builtin_ctzll(mask);
    uint32_t value[4] = {};
    if ((lanes.whole >> lane & 1) != 0) {
      uint8_t element[16];
      LogGlobalAccess(wave, Access::kRead, lane, lanes.address[lane], bytes);
      if (!wave.mem->Read(lanes.address[lane], element, bytes)) {
        return RaiseMemoryFault(wave, lanes.address[lane], bytes, Access::kRead, lane);
      }
      DecodeTexel(*buffer.format, element, value);
    }
    if (to_lds) {
      const uint32_t word = Selected(buffer, 0, value);
      AccessLds<4, Access::kWrite>(wave, lane, LdsTransferBase(inst, wave) + 4 * static_cast<uint32_t>(lane),
                                   [&](int, uint8_t* to) { std::memcpy(to, &word, 4); });
      continue;
    }
    for (int i = 0; i < kComponents; ++i) {
      const uint32_t word = Selected(buffer, i, value);
      if (kForm == DataForm::kWhole) {
        out[i * stride + lane] = word;
        continue;
      }
      uint32_t& reg = out[i / 2 * stride + lane];
      const uint32_t half = buffer.format == nullptr ? 0 : TexelToHalf(*buffer.format, word);
      const bool high = kForm == DataForm::kD16Hi || i % 2 == 1;
      reg = high ? (reg & 0xffffu) | half << 16 : (reg & 0xffff0000u) | half;
    }
  }
  return ExecResult::kNext;
}

// Components that the instruction does not supply keep their bytes in memory; where they share bytes with
// those that it supplies (10 and 11 bits), they become zero.
template <int kComponents, DataForm kForm, bool kTyped>
ExecResult Store(const Inst& inst, WaveState& wave) {
  BufferDescriptor buffer;
  ExecResult result = ReadFormatted(inst, wave, kTyped, &buffer);
  if (result != ExecResult::kNext || buffer.format == nullptr) return result;
  const TexelFormat& format = *buffer.format;
  const uint32_t bytes = static_cast<uint32_t>(format.bytes());
  BufferLanes lanes;
  result = lanes.Find(inst, wave, buffer, bytes, /*by_dword=*/false);
  if (result != ExecResult::kNext) return result;
  const uint32_t* data = Row(wave, inst.src[3]);
  const int stride = wave.wave_size;
  const bool whole_bytes = format.bits[0] % 8 == 0 && format.bits[1] % 8 == 0;
  const uint32_t written =
      whole_bytes ? bytes / format.components * std::min<uint32_t>(kComponents, format.components) : bytes;
  for (uint64_t mask = lanes.whole; mask != 0; mask &= mask - 1) {
    const int lane = __builtin_ctzll(mask);
    uint32_t value[4] = {};
    for (int i = 0; i < kComponents; ++i) {
      if (kForm == DataForm::kWhole) {
        value[i] = data[i * stride + lane];
        continue;
      }
      const uint32_t reg = data[i / 2 * stride + lane];
      const bool high = kForm == DataForm::kD16Hi || i % 2 == 1;
      value[i] = TexelFromHalf(format, static_cast<uint16_t>(high ? reg >> 16 : reg));
    }
    uint8_t element[16] = {};
    EncodeTexel(format, value, element);
    LogGlobalAccess(wave, Access::kWrite, lane, lanes.address[lane], written);
    if (!wave.mem->Write(lanes.address[lane], element, written)) {
      return RaiseMemoryFault(wave, lanes.address[lane], written, Access::kWrite, lane);
    }
  }
  return ExecResult::kNext;
}

}  // namespace

ExecFn FindBufferFormatExec(const Inst& inst) {
  switch (inst.op) {
#define FORMAT_OPS(name, components)                    \
  case Opcode::BUFFER_LOAD_FORMAT_##name:               \
    return &Load<components, DataForm::kWhole, false>;  \
  case Opcode::BUFFER_STORE_FORMAT_##name:              \
    return &Store<components, DataForm::kWhole, false>; \
  case Opcode::BUFFER_LOAD_D16_FORMAT_##name:           \
  case Opcode::BUFFER_LOAD_FORMAT_D16_##name:           \
    return &Load<components, DataForm::kD16, false>;    \
  case Opcode::BUFFER_STORE_D16_FORMAT_##name:          \
  case Opcode::BUFFER_STORE_FORMAT_D16_##name:          \
    return &Store<components, DataForm::kD16, false>;   \
  case Opcode::TBUFFER_LOAD_FORMAT_##name:              \
    return &Load<components, DataForm::kWhole, true>;   \
  case Opcode::TBUFFER_STORE_FORMAT_##name:             \
    return &Store<components, DataForm::kWhole, true>;  \
  case Opcode::TBUFFER_LOAD_D16_FORMAT_##name:          \
  case Opcode::TBUFFER_LOAD_FORMAT_D16_##name:          \
    return &Load<components, DataForm::kD16, true>;     \
  case Opcode::TBUFFER_STORE_D16_FORMAT_##name:         \
  case Opcode::TBUFFER_STORE_FORMAT_D16_##name:         \
    return &Store<components, DataForm::kD16, true>;
    FORMAT_OPS(X, 1)
    FORMAT_OPS(XY, 2)
    FORMAT_OPS(XYZ, 3)
    FORMAT_OPS(XYZW, 4)
#undef FORMAT_OPS
    case Opcode::BUFFER_LOAD_D16_HI_FORMAT_X:
    case Opcode::BUFFER_LOAD_FORMAT_D16_HI_X:
      return &Load<1, DataForm::kD16Hi, false>;
    case Opcode::BUFFER_STORE_D16_HI_FORMAT_X:
    case Opcode::BUFFER_STORE_FORMAT_D16_HI_X:
      return &Store<1, DataForm::kD16Hi, false>;
    case Opcode::BUFFER_LOAD_LDS_FORMAT_X:
      return &Load<1, DataForm::kWhole, false>;
    default:
      return nullptr;
  }
}

}  // namespace understudy::emu::amd
