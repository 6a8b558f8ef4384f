// SPDX-License-Identifier: Apache-2.0
// Image loads, stores, atomics and queries without a sampler (RDNA4 ISA, chapter 10).

#include <algorithm>
#include <bit>
#include <cstring>

#include "emu/amd/semantics/find_exec.h"
#include "emu/amd/semantics/image_rsrc.h"
#include "emu/amd/semantics/mem_access.h"
#include "emu/amd/semantics/mem_atomic_apply.h"
#include "emu/amd/semantics/mem_forms.h"

namespace understudy::emu::amd {
namespace {

ExecResult ReadImage(const Inst& inst, WaveState& wave, ImageDescriptor* image) {
  if (inst.src[1].reg == kNull)
    return RaiseFault(wave, FaultKind::kIllegalInstruction, -1, "an image descriptor in NULL");
  const std::string refusal = image->Read(inst, wave);
  return refusal.empty() ? ExecResult::kNext : RaiseFault(wave, FaultKind::kUnsupported, -1, refusal);
}

uint32_t Selected(const ImageDescriptor& image, int component, const uint32_t value[4]) {
  const uint8_t select = image.select[component];
  if (select >= 4) return value[select - 4];
  return select == 1 && image.format != nullptr ? TexelOne(*image.format) : 0;
}

// Element `i` of the data registers: whole registers or halves.
void PutElement(uint32_t* out, int stride, int lane, int i, bool half, uint32_t value) {
  if (!half) {
    out[i * stride + lane] = value;
    return;
  }
  uint32_t& reg = out[i / 2 * stride + lane];
  reg = i % 2 == 1 ? (reg & 0xffffu) | value << 16 : (reg & 0xffff0000u) | (value & 0xffffu);
}

enum class Packing { kConverted, kRaw, kRawSigned };

template <Packing kPacking, bool kMip>
ExecResult Load(const Inst& inst, WaveState& wave) {
  ImageDescriptor image;
  ExecResult result = ReadImage(inst, wave, &image);
  if (result != ExecResult::kNext) return result;
  const ImageAddress address(inst, wave, image.type, kMip);
  uint32_t* out = Row(wave, inst.dst[0]);
  const int stride = wave.wave_size;
  // The destination may hold the coordinates.
  TexelPosition position[kMaxLanes];
  ForEachLane(wave.exec(), [&](int lane) { position[lane] = address.Position(lane); });
  for (uint64_t mask = wave.exec(); mask != 0; mask &= mask - 1) {
    const int lane = __builtin_ctzll(mask);
    uint32_t value[4] = {}, raw[4] = {};
    uint64_t at;
    if (TexelAddress(image, position[lane], &at)) {
      const uint64_t bytes = static_cast<uint64_t>(image.format->bytes());
      uint8_t element[16] = {};
      LogGlobalAccess(wave, Access::kRead, lane, at, bytes);
      if (!wave.mem->Read(at, element, bytes)) return RaiseMemoryFault(wave, at, bytes, Access::kRead, lane);
      if (kPacking == Packing::kConverted) {
        DecodeTexel(*image.format, element, value);
      } else {
        std::memcpy(raw, element, bytes);
        if (kPacking == Packing::kRawSigned && bytes < 4) {
          const int shift = static_cast<int>(32 - 8 * bytes);
          raw[0] = static_cast<uint32_t>(static_cast<int32_t>(raw[0] << shift) >> shift);
        }
      }
    }
    if (inst.dmask == 0) {
      out[lane] = 0;
      continue;
    }
    int n = 0;
    for (int c = 0; c < 4; ++c) {
      if ((inst.dmask >> c & 1) == 0) continue;
      if (kPacking != Packing::kConverted) {
        PutElement(out, stride, lane, n, false, raw[n]);
      } else {
        const uint32_t word = Selected(image, c, value);
        PutElement(out, stride, lane, n, inst.d16,
                   inst.d16 && image.format != nullptr ? TexelToHalf(*image.format, word) : word);
      }
      ++n;
    }
  }
  return ExecResult::kNext;
}

// All components are written: those that DMASK leaves out repeat the first one supplied.
template <Packing kPacking, bool kMip>
ExecResult Store(const Inst& inst, WaveState& wave) {
  ImageDescriptor image;
  ExecResult result = ReadImage(inst, wave, &image);
  if (result != ExecResult::kNext || !image.bound) return result;
  const ImageAddress address(inst, wave, image.type, kMip);
  const uint32_t* data = Row(wave, inst.src[3]);
  const int stride = wave.wave_size;
  const uint64_t bytes = static_cast<uint64_t>(image.format->bytes());
  for (uint64_t mask = wave.exec(); mask != 0; mask &= mask - 1) {
    const int lane = __builtin_ctzll(mask);
    uint64_t at;
    if (!TexelAddress(image, address.Position(lane), &at)) continue;
    uint8_t element[16] = {};
    if (kPacking != Packing::kConverted) {
      uint32_t words[4] = {};
      for (int i = 0; i < 4 && i < std::popcount(inst.dmask); ++i) words[i] = data[i * stride + lane];
      std::memcpy(element, words, sizeof(words));
    } else {
      const auto supplied = [&](int i) {
        if (!inst.d16) return data[i * stride + lane];
        return TexelFromHalf(*image.format,
                             static_cast<uint16_t>(data[i / 2 * stride + lane] >> (16 * (i % 2))));
      };
      uint32_t value[4];
      int n = 0;
      for (int c = 0; c < 4; ++c) value[c] = (inst.dmask >> c & 1) != 0 ? supplied(n++) : supplied(0);
      EncodeTexel(*image.format, value, element);
    }
    LogGlobalAccess(wave, Access::kWrite, lane, at, bytes);
    if (!wave.mem->Write(at, element, bytes)) return RaiseMemoryFault(wave, at, bytes, Access::kWrite, lane);
  }
  return ExecResult::kNext;
}

template <class Op, class T>
ExecResult AtomicOf(const Inst& inst, WaveState& wave) {
  ImageDescriptor image;
  ExecResult result = ReadImage(inst, wave, &image);
  if (result != ExecResult::kNext) return result;
  if (image.bound && image.format->bytes() != sizeof(T)) {
    return RaiseFault(wave, FaultKind::kIllegalInstruction, -1,
                      "an image atomic whose DMASK does not fit the format");
  }
  const ImageAddress address(inst, wave, image.type, /*mip=*/false);
  constexpr int kWords = sizeof(T) / 4;
  const int stride = wave.wave_size;
  uint32_t* data = Row(wave, inst.src[3]);
  AtomicMath math = MemoryAtomicMath<Op>(wave);
  for (uint64_t mask = wave.exec(); mask != 0; mask &= mask - 1) {
    const int lane = __builtin_ctzll(mask);
    uint64_t at;
    T old = 0;
    if (TexelAddress(image, address.Position(lane), &at)) {
      LogGlobalAccess(wave, Access::kAtomic, lane, at, sizeof(T));
      uint8_t* host = wave.mem->Translate(at, sizeof(T), Access::kAtomic);
      if (host == nullptr) return RaiseMemoryFault(wave, at, sizeof(T), Access::kAtomic, lane);
      const uint32_t* second = Op::kDataWords == 2 ? data + kWords * stride : data;
      old = ApplyAtomicShared<Op, T>(math, host, GetValue<T>(data + lane, stride),
                                     GetValue<T>(second + lane, stride));
    }
    if (InLanes(inst.dst[0])) PutValue<T>(data + lane, stride, old);
  }
  return ExecResult::kNext;
}

// DMASK counts the registers of the data: twice as many for 64 bits, and for a compare.
template <class Op, bool kWide>
ExecFn FindAtomic(const Inst& inst) {
  const int registers = std::popcount(inst.dmask);
  if (registers == Op::kDataWords) return &AtomicOf<Op, uint32_t>;
  if constexpr (kWide) {
    if (registers == 2 * Op::kDataWords) return &AtomicOf<Op, uint64_t>;
  }
  return nullptr;
}

// Width, height, depth or layers, and the number of levels, of the level asked for.
ExecResult GetInfo(const Inst& inst, WaveState& wave) {
  ImageDescriptor image;
  ExecResult result = ReadImage(inst, wave, &image);
  if (result != ExecResult::kNext) return result;
  const ImageAddress address(inst, wave, image.type, /*mip=*/false);
  uint32_t* out = Row(wave, inst.dst[0]);
  const int stride = wave.wave_size;
  uint32_t level[kMaxLanes];
  ForEachLane(wave.exec(), [&](int lane) { level[lane] = address.Component(0, lane); });
  ForEachLane(wave.exec(), [&](int lane) {
    uint32_t info[4] = {};
    if (image.bound) {
      info[3] = image.last_level - image.base_level + 1;
      if (level[lane] < info[3]) info[0] = image.width, info[1] = image.height, info[2] = image.layers;
    }
    for (int c = 0, n = 0; c < 4; ++c) {
      if ((inst.dmask >> c & 1) != 0) out[n++ * stride + lane] = info[c];
    }
  });
  return ExecResult::kNext;
}

}  // namespace

ExecFn FindImageExec(const Inst& inst) {
  switch (inst.op) {
    case Opcode::IMAGE_LOAD:
      return &Load<Packing::kConverted, false>;
    case Opcode::IMAGE_LOAD_MIP:
      return &Load<Packing::kConverted, true>;
    case Opcode::IMAGE_LOAD_PCK:
      return &Load<Packing::kRaw, false>;
    case Opcode::IMAGE_LOAD_PCK_SGN:
      return &Load<Packing::kRawSigned, false>;
    case Opcode::IMAGE_LOAD_MIP_PCK:
      return &Load<Packing::kRaw, true>;
    case Opcode::IMAGE_LOAD_MIP_PCK_SGN:
      return &Load<Packing::kRawSigned, true>;
    case Opcode::IMAGE_STORE:
      return &Store<Packing::kConverted, false>;
    case Opcode::IMAGE_STORE_MIP:
      return &Store<Packing::kConverted, true>;
    case Opcode::IMAGE_STORE_PCK:
      return &Store<Packing::kRaw, false>;
    case Opcode::IMAGE_STORE_MIP_PCK:
      return &Store<Packing::kRaw, true>;
    case Opcode::IMAGE_GET_RESINFO:
      return &GetInfo;
#define IMAGE_ATOMIC(suffix, operation) \
  case Opcode::IMAGE_ATOMIC_##suffix:   \
    return FindAtomic<atomic::operation, true>(inst);
      IMAGE_ATOMIC(SWAP, Swap)
      IMAGE_ATOMIC(CMPSWAP, CompareSwap)
      IMAGE_ATOMIC(AND, And)
      IMAGE_ATOMIC(OR, Or)
      IMAGE_ATOMIC(XOR, Xor)
      IMAGE_ATOMIC(ADD, Add)
      IMAGE_ATOMIC(SUB, Sub)
      IMAGE_ATOMIC(SMIN, SMin)
      IMAGE_ATOMIC(UMIN, UMin)
      IMAGE_ATOMIC(SMAX, SMax)
      IMAGE_ATOMIC(UMAX, UMax)
      IMAGE_ATOMIC(INC, Inc)
      IMAGE_ATOMIC(DEC, Dec)
      IMAGE_ATOMIC(ADD_UINT, Add)
      IMAGE_ATOMIC(SUB_UINT, Sub)
      IMAGE_ATOMIC(MIN_INT, SMin)
      IMAGE_ATOMIC(MIN_UINT, UMin)
      IMAGE_ATOMIC(MAX_INT, SMax)
      IMAGE_ATOMIC(MAX_UINT, UMax)
      IMAGE_ATOMIC(INC_UINT, Inc)
      IMAGE_ATOMIC(DEC_UINT, Dec)
#undef IMAGE_ATOMIC
#define IMAGE_ATOMIC(suffix, operation) \
  case Opcode::IMAGE_ATOMIC_##suffix:   \
    return FindAtomic<atomic::operation, false>(inst);
      IMAGE_ATOMIC(ADD_FLT, FAdd)
      IMAGE_ATOMIC(MIN_FLT, FMinNum)
      IMAGE_ATOMIC(MAX_FLT, FMaxNum)
      IMAGE_ATOMIC(PK_ADD_F16, PkAddF16)
      IMAGE_ATOMIC(PK_ADD_BF16, PkAddBF16)
#undef IMAGE_ATOMIC
    default:
      return nullptr;
  }
}

}  // namespace understudy::emu::amd
