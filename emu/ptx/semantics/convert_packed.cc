// SPDX-License-Identifier: Apache-2.0
// Executors of the conversions that pack: fp8, fp6, fp4 pairs and quadruples, ue8m0, tf32, stochastic
// rounding.
#include "emu/ptx/semantics/convert_packed.h"

#include "emu/ptx/core/program.h"
#include "emu/ptx/semantics/convert_narrow.h"

namespace understudy::emu::ptx {
namespace {

template <class Lane>
ExecResult ForLanes(Warp& w, const Inst& inst, Lane lane) {
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    w.SetLane(inst.src(0), i, lane(i));
  }
  return ExecResult::kNext;
}

template <class F>
constexpr int kFieldBits = F::kExp + F::kMan + 1 <= 4 ? 4 : 8;

bool Has(const Inst& inst, PackedFlags flag) { return (inst.aux[0] & flag) != 0; }

float Relu(float v, bool relu) { return relu && v <= 0.0f ? 0.0f : v; }

template <class F>
uint32_t Narrow(float v, const Inst& inst) {
  return NarrowBits<F>(static_cast<double>(Relu(v, Has(inst, kPackedRelu))), Round::kNearestEven, true,
                       false);
}

template <class F>
ExecResult PackSingles(Warp& w, const Inst& inst) {
  return ForLanes(w, inst, [&](int i) {
    return Narrow<F>(FloatOf(w.U32(inst.src(1))[i]), inst) << kFieldBits<F> |
           Narrow<F>(FloatOf(w.U32(inst.src(2))[i]), inst);
  });
}
template <class F, class E>
ExecResult PackHalves(Warp& w, const Inst& inst) {
  return ForLanes(w, inst, [&](int i) {
    const uint32_t a = w.U32(inst.src(1))[i];
    return Narrow<F>(E::Decode(a >> 16), inst) << kFieldBits<F> | Narrow<F>(E::Decode(a & 0xffffu), inst);
  });
}

template <class F, class E>
ExecResult Unpack(Warp& w, const Inst& inst) {
  return ForLanes(w, inst, [&](int i) {
    const auto a = static_cast<uint32_t>(w.Lane(inst.src(1), i));
    const auto half = [&](uint32_t code) {
      return E::template Encode<false>(Relu(DecodeNarrow<F>(code), Has(inst, kPackedRelu)));
    };
    return half(a >> kFieldBits<F>) << 16 | half(a);
  });
}

uint32_t Reversed16(uint32_t v) {
  uint32_t r = 0;
  for (int i = 0; i < 16; ++i) r |= (v >> i & 1) << (15 - i);
  return r;
}

// Each pair shares 16 bits of rbits: its first value reads them reversed. For 4-bit results the bits of a
// pair come from one byte of each half (measured on a B200 by others; the manual shows which bytes).
template <class F>
ExecResult PackFourStochastic(Warp& w, const Inst& inst) {
  const BoundOperand& four = inst.op(1);
  return ForLanes(w, inst, [&](int i) {
    const uint32_t rbits = w.U32(inst.src(2))[i];
    uint32_t high = rbits >> 16, low = rbits & 0xffffu;
    if (kFieldBits<F> == 4) {
      high = (rbits >> 8 & 0xffu) | (rbits >> 24) << 8;
      low = (rbits & 0xffu) | (rbits >> 16 & 0xffu) << 8;
    }
    const uint32_t random[] = {Reversed16(high), high, Reversed16(low), low};
    uint32_t packed = 0;
    for (int k = 0; k < 4; ++k) {
      const float v = Relu(FloatOf(w.U32(four.elements[k].row)[i]), Has(inst, kPackedRelu));
      packed = packed << kFieldBits<F> | NarrowStochastic<F>(v, random[k], 16, true);
    }
    return packed;
  });
}

template <class F, int kRandomBits>
ExecResult PackTwoStochastic(Warp& w, const Inst& inst) {
  return ForLanes(w, inst, [&](int i) {
    const uint32_t rbits = w.U32(inst.src(3))[i];
    const auto half = [&](Src s, uint32_t random) {
      const float v = Relu(FloatOf(w.U32(s)[i]), Has(inst, kPackedRelu));
      return NarrowStochastic<F>(v, random & ((1u << kRandomBits) - 1), kRandomBits,
                                 Has(inst, kPackedFinite));
    };
    return half(inst.src(1), rbits >> 16) << 16 | half(inst.src(2), rbits & 0xffffu);
  });
}

ExecResult Tf32(Warp& w, const Inst& inst) {
  return ForLanes(w, inst, [&](int i) {
    return Tf32FromSingle(w.U32(inst.src(1))[i], static_cast<Round>(inst.aux[1]), Has(inst, kPackedRelu),
                          Has(inst, kPackedFinite));
  });
}

ExecResult ScalesFromSingles(Warp& w, const Inst& inst) {
  return ForLanes(w, inst, [&](int i) {
    const bool up = Has(inst, kPackedUp), finite = Has(inst, kPackedFinite);
    return ScaleFromSingle(w.U32(inst.src(1))[i], up, finite) << 8 |
           ScaleFromSingle(w.U32(inst.src(2))[i], up, finite);
  });
}
ExecResult ScalesFromBrains(Warp& w, const Inst& inst) {
  return ForLanes(w, inst, [&](int i) {
    const bool up = Has(inst, kPackedUp), finite = Has(inst, kPackedFinite);
    const uint32_t a = w.U32(inst.src(1))[i];
    return ScaleFromSingle(a & 0xffff0000u, up, finite) << 8 | ScaleFromSingle(a << 16, up, finite);
  });
}
ExecResult BrainsFromScales(Warp& w, const Inst& inst) {
  return ForLanes(w, inst, [&](int i) {
    const uint32_t a = w.U32(inst.src(1))[i];
    return BrainFromScale(a >> 8 & 0xffu) << 16 | BrainFromScale(a & 0xffu);
  });
}

template <class F>
ExecFn Pack(Type from) {
  return from == Type::kF32      ? &PackSingles<F>
         : from == Type::kF16x2  ? &PackHalves<F, Half>
         : from == Type::kBf16x2 ? &PackHalves<F, Brain>
                                 : nullptr;
}

template <class F>
ExecFn UnpackTo(Type to) {
  return to == Type::kF16x2 ? &Unpack<F, Half> : to == Type::kBf16x2 ? &Unpack<F, Brain> : nullptr;
}

}  // namespace

ExecFn FindPackedConvert(Type to, Type from) {
  switch (to) {
    case Type::kE4m3x2:
      return Pack<E4m3>(from);
    case Type::kE5m2x2:
      return Pack<E5m2>(from);
    case Type::kE2m3x2:
      return Pack<E2m3>(from);
    case Type::kE3m2x2:
      return Pack<E3m2>(from);
    case Type::kE2m1x2:
      return Pack<E2m1>(from);
    case Type::kTf32:
      return from == Type::kF32 ? &Tf32 : nullptr;
    case Type::kUe8m0x2:
      return from == Type::kF32 ? &ScalesFromSingles : from == Type::kBf16x2 ? &ScalesFromBrains : nullptr;
    default:
      break;
  }
  switch (from) {
    case Type::kE4m3x2:
      return UnpackTo<E4m3>(to);
    case Type::kE5m2x2:
      return UnpackTo<E5m2>(to);
    case Type::kE2m3x2:
      return UnpackTo<E2m3>(to);
    case Type::kE3m2x2:
      return UnpackTo<E3m2>(to);
    case Type::kE2m1x2:
      return UnpackTo<E2m1>(to);
    case Type::kUe8m0x2:
      return to == Type::kBf16x2 ? &BrainsFromScales : nullptr;
    default:
      return nullptr;
  }
}

ExecFn FindStochasticConvert(Type to) {
  switch (to) {
    case Type::kF16x2:
      return &PackTwoStochastic<Binary16, 13>;
    case Type::kBf16x2:
      return &PackTwoStochastic<BFloat16, 16>;
    case Type::kE4m3x4:
      return &PackFourStochastic<E4m3>;
    case Type::kE5m2x4:
      return &PackFourStochastic<E5m2>;
    case Type::kE2m3x4:
      return &PackFourStochastic<E2m3>;
    case Type::kE3m2x4:
      return &PackFourStochastic<E3m2>;
    case Type::kE2m1x4:
      return &PackFourStochastic<E2m1>;
    default:
      return nullptr;
  }
}

}  // namespace understudy::emu::ptx
