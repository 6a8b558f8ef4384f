// SPDX-License-Identifier: Apache-2.0
// LDS loads, stores and atomics (RDNA3 ISA, "LDS & GDS instructions"). Exchanges between lanes are in
// ds_lanes.cc.

#include <algorithm>

#include "emu/amd/semantics/ds_lanes.h"
#include "emu/amd/semantics/find_exec.h"
#include "emu/amd/semantics/mem_access.h"
#include "emu/amd/semantics/mem_atomic_apply.h"
#include "emu/amd/semantics/mem_forms.h"
#include "src/base/bits.h"

namespace understudy::emu::amd {
namespace {

template <LoadForm kForm>
ExecResult Load(const Inst& inst, WaveState& wave) {
  const uint32_t* address = Row(wave, inst.src[0]);
  uint32_t* out = Row(wave, inst.dst[0]);
  const int stride = wave.wave_size;
  uint32_t copy[kMaxLanes];  // the destination may hold the addresses
  std::copy(address, address + stride, copy);
  AccessLdsLanes<FormBytes(kForm), Access::kRead>(
      wave, wave.exec(), copy, static_cast<uint32_t>(inst.offset),
      [=](int lane, const uint8_t* bytes) { PutLane<kForm>(out + lane, stride, bytes); });
  return ExecResult::kNext;
}

template <StoreForm kForm>
ExecResult Store(const Inst& inst, WaveState& wave) {
  const uint32_t* data = Row(wave, inst.src[1]);
  const int stride = wave.wave_size;
  AccessLdsLanes<FormBytes(kForm), Access::kWrite>(
      wave, wave.exec(), Row(wave, inst.src[0]), static_cast<uint32_t>(inst.offset),
      [=](int lane, uint8_t* bytes) { GetLane<kForm>(data + lane, stride, bytes); });
  return ExecResult::kNext;
}

// Two values a lane, at offset0 and offset1 in units of the stride.
template <class T, int kStride>
struct Pair {
  static uint32_t Offset(uint8_t field) { return field * static_cast<uint32_t>(sizeof(T)) * kStride; }

  static T Read(WaveState& wave, int lane, uint32_t at) {
    T value = 0;
    AccessLds<sizeof(T), Access::kRead>(wave, lane, at,
                                        [&](int, const uint8_t* bytes) { value = LoadAs<T>(bytes); });
    return value;
  }
  static void Write(WaveState& wave, int lane, uint32_t at, T value) {
    AccessLds<sizeof(T), Access::kWrite>(wave, lane, at,
                                         [&](int, uint8_t* bytes) { std::memcpy(bytes, &value, sizeof(T)); });
  }
};

template <class T, int kStride>
ExecResult Load2(const Inst& inst, WaveState& wave) {
  using P = Pair<T, kStride>;
  constexpr int kWords = sizeof(T) / 4;
  const int stride = wave.wave_size;
  const uint32_t* address = Row(wave, inst.src[0]);
  uint32_t* out = Row(wave, inst.dst[0]);
  ForEachLane(wave.exec(), [&](int lane) {
    const uint32_t at = address[lane];
    const T first = P::Read(wave, lane, at + P::Offset(inst.offset0));
    const T second = P::Read(wave, lane, at + P::Offset(inst.offset1));
    PutValue<T>(out + lane, stride, first);
    PutValue<T>(out + kWords * stride + lane, stride, second);
  });
  return ExecResult::kNext;
}

template <class T, int kStride>
ExecResult Store2(const Inst& inst, WaveState& wave) {
  using P = Pair<T, kStride>;
  const int stride = wave.wave_size;
  const uint32_t* address = Row(wave, inst.src[0]);
  const uint32_t* data0 = Row(wave, inst.src[1]);
  const uint32_t* data1 = Row(wave, inst.src[2]);
  ForEachLane(wave.exec(), [&](int lane) {
    P::Write(wave, lane, address[lane] + P::Offset(inst.offset0), GetValue<T>(data0 + lane, stride));
    P::Write(wave, lane, address[lane] + P::Offset(inst.offset1), GetValue<T>(data1 + lane, stride));
  });
  return ExecResult::kNext;
}

template <class T, int kStride>
ExecResult Exchange2(const Inst& inst, WaveState& wave) {
  using P = Pair<T, kStride>;
  constexpr int kWords = sizeof(T) / 4;
  const int stride = wave.wave_size;
  const uint32_t* address = Row(wave, inst.src[0]);
  const uint32_t* data0 = Row(wave, inst.src[1]);
  const uint32_t* data1 = Row(wave, inst.src[2]);
  uint32_t* out = Row(wave, inst.dst[0]);
  ForEachLane(wave.exec(), [&](int lane) {
    const uint32_t at0 = address[lane] + P::Offset(inst.offset0),
                   at1 = address[lane] + P::Offset(inst.offset1);
    const T new0 = GetValue<T>(data0 + lane, stride), new1 = GetValue<T>(data1 + lane, stride);
    const T old0 = P::Read(wave, lane, at0), old1 = P::Read(wave, lane, at1);
    P::Write(wave, lane, at0, new0);
    P::Write(wave, lane, at1, new1);
    PutValue<T>(out + lane, stride, old0);
    PutValue<T>(out + kWords * stride + lane, stride, old1);
  });
  return ExecResult::kNext;
}

template <class Op, class T>
ExecResult Atomic(const Inst& inst, WaveState& wave) {
  const int stride = wave.wave_size;
  const uint32_t* address = Row(wave, inst.src[0]);
  const uint32_t* data = Row(wave, inst.src[1]);
  const uint32_t* data2 = Op::kDataWords == 2 ? Row(wave, inst.src[2]) : data;
  uint32_t* out = InLanes(inst.dst[0]) ? Row(wave, inst.dst[0]) : nullptr;
  AtomicMath math = LdsAtomicMath<Op, T>(wave);
  for (uint64_t mask = wave.exec(); mask != 0; mask &= mask - 1) {
    const int lane = __builtin_ctzll(mask);
    const uint32_t at = address[lane] + static_cast<uint32_t>(inst.offset);
    if (at % sizeof(T) != 0) return RaiseMisalignedLds(wave, at, sizeof(T), lane);
    AccessLds<sizeof(T), Access::kAtomic>(wave, lane, at, [&](int l, uint8_t* bytes) {
      const T old =
          ApplyAtomic<Op, T>(math, bytes, GetValue<T>(data + l, stride), GetValue<T>(data2 + l, stride));
      if (out != nullptr) PutValue<T>(out + l, stride, old);
    });
  }
  return ExecResult::kNext;
}

// Each dword is replaced by the low 31 bits of its data where the data's bit 31 is set.
ExecResult CondExchange(const Inst& inst, WaveState& wave) {
  using P = Pair<uint32_t, 1>;
  const int stride = wave.wave_size;
  const uint32_t* address = Row(wave, inst.src[0]);
  const uint32_t* data = Row(wave, inst.src[1]);
  uint32_t* out = Row(wave, inst.dst[0]);
  ForEachLane(wave.exec(), [&](int lane) {
    const uint32_t at = (address[lane] + static_cast<uint32_t>(inst.offset)) & 0xfff8u;
    const uint32_t words[2] = {data[lane], data[stride + lane]};
    for (uint32_t i = 0; i < 2; ++i) {
      out[i * stride + lane] = P::Read(wave, lane, at + 4 * i);
      if ((words[i] >> 31) != 0) P::Write(wave, lane, at + 4 * i, words[i] & 0x7fffffffu);
    }
  });
  return ExecResult::kNext;
}

ExecResult Nothing(const Inst&, WaveState&) { return ExecResult::kNext; }

}  // namespace

ExecFn FindDsExec(const Inst& inst) {
  if (inst.gds) return nullptr;
  switch (inst.op) {
#define DS_LOAD(mnemonic, form) \
  case Opcode::mnemonic:        \
    return &Load<LoadForm::form>;
#define DS_STORE(mnemonic, form) \
  case Opcode::mnemonic:         \
    return &Store<StoreForm::form>;
#define DS_PAIR(mnemonic, kind, type, stride) \
  case Opcode::mnemonic:                      \
    return &kind<type, stride>;
#define DS_ATOMIC(mnemonic, operation, type) \
  case Opcode::mnemonic:                     \
    return &Atomic<atomic::operation, type>;
#include "emu/amd/semantics/ds_ops.inc"
    case Opcode::DS_CONDXCHG32_RTN_B64:
      return &CondExchange;
    case Opcode::DS_NOP:
      return &Nothing;
    default:
      return FindDsLaneExec(inst);
  }
}

}  // namespace understudy::emu::amd
