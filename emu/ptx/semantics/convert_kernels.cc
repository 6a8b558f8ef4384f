// SPDX-License-Identifier: Apache-2.0
// Conversions between integers, f16, bf16, f32 and f64 for one host instruction set (US_SEMANTICS_ARCH). The
// common ones have a loop each; all others go in three steps over an array of doubles, which hold every
// source but 64-bit integers exactly. Rules of NaN and saturation: PTX ISA, "cvt", and recordings of an H200.
#include <cmath>

#include "emu/ptx/semantics/convert_bits.h"
#include "emu/ptx/semantics/float_kernels.h"
#include "emu/ptx/semantics/float_lanes.h"

namespace understudy::emu::ptx::US_FLOAT_KERNELS {
namespace {

// Sources may lie in wider registers: the low bits count.
void LoadBits(const Warp& w, Src s, int bits, uint64_t* x) {
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const Row64 row(w, s);
  for (int lane = 0; lane < kWarpSize; ++lane) x[lane] = row.row[lane] & mask;
}

void LoadNumbers(const Warp& w, Src s, Number from, bool flush, double* x) {
  alignas(64) uint64_t bits[kWarpSize];
  LoadBits(w, s, NumberBits(from), bits);
  switch (from) {
    case Number::kF16:
      for (int i = 0; i < kWarpSize; ++i)
        x[i] = static_cast<double>(FloatFromHalf(static_cast<uint32_t>(bits[i])));
      return;
    case Number::kBf16:
      for (int i = 0; i < kWarpSize; ++i)
        x[i] = static_cast<double>(FloatOf(static_cast<uint32_t>(bits[i]) << 16));
      return;
    case Number::kF32:
      for (int i = 0; i < kWarpSize; ++i) {
        const auto b = static_cast<uint32_t>(bits[i]);
        // .ftz also makes NaNs canonical.
        const uint32_t flushed = IsNan<Single>(b) ? Single::kNan : Flush<Single>(b);
        x[i] = static_cast<double>(FloatOf(flush ? flushed : b));
      }
      return;
    case Number::kF64:
      for (int i = 0; i < kWarpSize; ++i) x[i] = DoubleOf(bits[i]);
      return;
    case Number::kS8:
    case Number::kS16:
    case Number::kS32: {
      const int unused = 32 - NumberBits(from);
      for (int i = 0; i < kWarpSize; ++i) {
        const auto b = static_cast<uint32_t>(bits[i]) << unused;
        x[i] = static_cast<double>(static_cast<int32_t>(b) >> unused);
      }
      return;
    }
    default:
      for (int i = 0; i < kWarpSize; ++i)
        x[i] = static_cast<double>(static_cast<int64_t>(bits[i] & 0xffffffffu));
      return;
  }
}

void MakeIntegral(Round round, double* x) {
  switch (round) {
    case Round::kToZero:
      for (int i = 0; i < kWarpSize; ++i) x[i] = __builtin_trunc(x[i]);
      return;
    case Round::kDown:
      for (int i = 0; i < kWarpSize; ++i) x[i] = __builtin_floor(x[i]);
      return;
    case Round::kUp:
      for (int i = 0; i < kWarpSize; ++i) x[i] = __builtin_ceil(x[i]);
      return;
    default:
      for (int i = 0; i < kWarpSize; ++i) x[i] = __builtin_rint(x[i]);
      return;
  }
}

// Saturating; NaN gives 0, or the top bit where source or result has 64 bits.
void ToIntegers(const double* x, const ConvertPlan& plan, uint64_t* out) {
  const int bits = NumberBits(plan.to);
  const bool is_signed = IsSignedInteger(plan.to);
  const bool wide = bits == 64;
  const uint64_t top = uint64_t{1} << (bits - 1);
  const uint64_t nan =
      plan.from == Number::kF64 || wide ? (is_signed ? uint64_t{0} - top : top) : uint64_t{0};
  if (!wide) {
    const double least = is_signed ? -static_cast<double>(static_cast<int64_t>(top)) : 0.0;
    const double most = static_cast<double>(static_cast<int64_t>(is_signed ? top - 1 : 2 * top - 1));
    for (int i = 0; i < kWarpSize; ++i) {
      const double low = x[i] > least ? x[i] : least;  // NaN: least
      const double v = low < most ? low : most;
      const auto value = static_cast<uint64_t>(static_cast<int64_t>(v));
      out[i] = x[i] != x[i] ? nan : value;
    }
    return;
  }
  for (int i = 0; i < kWarpSize; ++i) {
    const double v = x[i];
    uint64_t value;
    if (v != v)
      value = nan;
    else if (is_signed)
      value = v >= 0x1p63 ? top - 1 : v < -0x1p63 ? top : static_cast<uint64_t>(static_cast<int64_t>(v));
    else
      value = v >= 0x1p64   ? ~uint64_t{0}
              : v >= 0x1p63 ? static_cast<uint64_t>(static_cast<int64_t>(v - 0x1p63)) | top
              : v > 0       ? static_cast<uint64_t>(static_cast<int64_t>(v))
                            : 0;
    out[i] = value;
  }
}

// f32 results of f64 with .ftz: tiny means below the least normal after rounding to 24 bits without a limit
// to the exponent.
uint32_t FlushedSingle(double v, uint32_t r, Round round) {
  const uint32_t magnitude = r & 0x7fffffffu;
  if (magnitude < Single::kMinNormal) return r & Single::kSign;
  if (magnitude == Single::kMinNormal) {
    const uint32_t doubled = NarrowBits<Binary32>(v * 2.0, round, false, false);
    if ((doubled & 0x7fffffffu) < 2 * Single::kMinNormal) return r & Single::kSign;
  }
  return r;
}

template <class F>
void ToNarrow(const double* x, Round round, bool finite, bool payload, uint64_t* out) {
  if (round == Round::kNearestEven) {
    for (int i = 0; i < kWarpSize; ++i) out[i] = NarrowBits<F>(x[i], Round::kNearestEven, finite, payload);
  } else {
    for (int i = 0; i < kWarpSize; ++i) out[i] = NarrowBits<F>(x[i], round, finite, payload);
  }
}

void ToFloats(double* x, const ConvertPlan& plan, uint64_t* out) {
  if (plan.saturate) {
    for (int i = 0; i < kWarpSize; ++i) {
      const double positive = x[i] > 0.0 ? x[i] : 0.0;  // NaN: 0
      x[i] = positive < 1.0 ? positive : 1.0;
    }
  }
  if (plan.relu) {
    for (int i = 0; i < kWarpSize; ++i) x[i] = x[i] <= 0.0 ? 0.0 : x[i];
  }
  const bool payload = plan.from == Number::kF64;
  switch (plan.to) {
    case Number::kF64:
      // A signalling NaN comes back quiet.
      for (int i = 0; i < kWarpSize; ++i)
        out[i] = BitsOf(x[i]) | (x[i] != x[i] ? Double::kQuiet : uint64_t{0});
      return;
    case Number::kF32:
      ToNarrow<Binary32>(x, plan.round, plan.finite, payload, out);
      if (plan.flush) {
        for (int i = 0; i < kWarpSize; ++i)
          out[i] = FlushedSingle(x[i], static_cast<uint32_t>(out[i]), plan.round);
      }
      return;
    case Number::kF16:
      ToNarrow<Binary16>(x, plan.round, plan.finite, payload, out);
      return;
    default:
      ToNarrow<BFloat16>(x, plan.round, plan.finite, payload, out);
      return;
  }
}

void FromWideIntegers(const uint64_t* bits, const ConvertPlan& plan, uint64_t* out) {
  for (int i = 0; i < kWarpSize; ++i) {
    const bool negative = plan.from == Number::kS64 && bits[i] >> 63 != 0;
    const uint64_t magnitude = negative ? uint64_t{0} - bits[i] : bits[i];
    // .sat: every integer above 0 is 1 or more.
    if (plan.saturate) {
      const bool one = !negative && magnitude != 0;
      out[i] = !one                      ? 0
               : plan.to == Number::kF64 ? Double::kOne
               : plan.to == Number::kF32 ? Single::kOne
               : plan.to == Number::kF16 ? Half::kOne
                                         : Brain::kOne;
      continue;
    }
    out[i] = plan.to == Number::kF64   ? WideInteger(negative, magnitude, plan.round)
             : plan.to == Number::kF32 ? NarrowInteger<Binary32>(negative, magnitude, plan.round)
             : plan.to == Number::kF16 ? NarrowInteger<Binary16>(negative, magnitude, plan.round)
                                       : NarrowInteger<BFloat16>(negative, magnitude, plan.round);
  }
}

ExecResult Convert(Warp& w, const Inst& inst) {
  const ConvertPlan plan = ConvertPlan::Unpack(inst.aux[0]);
  alignas(64) uint64_t out[kWarpSize];
  if (plan.pass || NumberBits(plan.from) == 64) LoadBits(w, inst.src(1), NumberBits(plan.from), out);
  if (plan.pass) {
    for (int i = 0; i < kWarpSize; ++i) out[i] <<= plan.pass_shift;
  } else if (plan.from == Number::kU64 || plan.from == Number::kS64) {
    FromWideIntegers(out, plan, out);
  } else {
    alignas(64) double x[kWarpSize];
    LoadNumbers(w, inst.src(1), plan.from, plan.flush, x);
    if (plan.integral) MakeIntegral(plan.round, x);
    if (IsInteger(plan.to))
      ToIntegers(x, plan, out);
    else
      ToFloats(x, plan, out);
  }
  StoreRow(w, inst.src(0), out);  // signed integers come extended by their sign
  return ExecResult::kNext;
}

// d = { convert(a), convert(b) }, a in the upper half.
ExecResult ConvertPacked(Warp& w, const Inst& inst) {
  const ConvertPlan plan = ConvertPlan::Unpack(inst.aux[0]);
  alignas(64) uint64_t high[kWarpSize], low[kWarpSize];
  alignas(64) double x[kWarpSize];
  LoadNumbers(w, inst.src(1), Number::kF32, plan.flush, x);
  ToFloats(x, plan, high);
  LoadNumbers(w, inst.src(2), Number::kF32, plan.flush, x);
  ToFloats(x, plan, low);
  for (int i = 0; i < kWarpSize; ++i) low[i] |= high[i] << 16;
  StoreRow(w, inst.src(0), low);
  return ExecResult::kNext;
}

// --- loops of their own ---

template <class Lane>
US_LANE ExecResult RunUnary(Warp& w, const Inst& inst, Lane lane) {
  const Row32 row(w, inst.src(1));
  const uint32_t* a = row.row;
  alignas(64) uint32_t out[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) out[i] = lane(a[i]);
  StoreRow(w, inst.src(0), out);
  return ExecResult::kNext;
}
template <class E, bool kRelu>
US_LANE uint32_t EncodeSingle(uint32_t bits) {
  const float v = FloatOf(bits);
  return E::template Encode<false>(kRelu ? (v <= 0.0f ? 0.0f : v) : v);
}
ExecResult SingleFromHalf(Warp& w, const Inst& inst) {
  return RunUnary(w, inst, [](uint32_t v) { return Single::Encode<false>(FloatFromHalf(v)); });
}
ExecResult SingleFromBrain(Warp& w, const Inst& inst) {
  return RunUnary(w, inst, [](uint32_t v) { return v << 16; });
}
template <class E, bool kRelu>
ExecResult FromSingle(Warp& w, const Inst& inst) {
  return RunUnary(w, inst, [](uint32_t v) { return EncodeSingle<E, kRelu>(v); });
}
template <class E, bool kRelu>
ExecResult PairFromSingles(Warp& w, const Inst& inst) {
  const Row32 row_a(w, inst.src(1)), row_b(w, inst.src(2));
  const uint32_t *a = row_a.row, *b = row_b.row;
  alignas(64) uint32_t out[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i)
    out[i] = EncodeSingle<E, kRelu>(a[i]) << 16 | EncodeSingle<E, kRelu>(b[i]);
  StoreRow(w, inst.src(0), out);
  return ExecResult::kNext;
}
ExecResult SingleFromS32(Warp& w, const Inst& inst) {
  return RunUnary(w, inst, [](uint32_t v) { return BitsOf(static_cast<float>(static_cast<int32_t>(v))); });
}
ExecResult SingleFromU32(Warp& w, const Inst& inst) {
  return RunUnary(w, inst, [](uint32_t v) { return BitsOf(static_cast<float>(v)); });
}
ExecResult S32FromSingleTruncated(Warp& w, const Inst& inst) {
  return RunUnary(w, inst, [](uint32_t v) {
    const float f = FloatOf(v);
    const bool inside = (f >= -0x1p31f) & (f < 0x1p31f);
    const auto value = static_cast<uint32_t>(static_cast<int32_t>(inside ? f : 0.0f));
    const uint32_t limit = (v & 0x80000000u) != 0 ? 0x80000000u : 0x7fffffffu;
    return inside ? value : f != f ? 0u : limit;
  });
}

}  // namespace

void RegisterConvert(FloatKernels* set) {
  set->convert = &Convert;
  set->convert_packed = &ConvertPacked;
  const auto fast = [&](FastConvert which) -> ExecFn& { return set->fast_convert[static_cast<int>(which)]; };
  fast(FastConvert::kF32FromF16) = &SingleFromHalf;
  fast(FastConvert::kF32FromBf16) = &SingleFromBrain;
  fast(FastConvert::kF16FromF32) = &FromSingle<Half, false>;
  fast(FastConvert::kF16FromF32Relu) = &FromSingle<Half, true>;
  fast(FastConvert::kBf16FromF32) = &FromSingle<Brain, false>;
  fast(FastConvert::kBf16FromF32Relu) = &FromSingle<Brain, true>;
  fast(FastConvert::kF16x2FromF32) = &PairFromSingles<Half, false>;
  fast(FastConvert::kF16x2FromF32Relu) = &PairFromSingles<Half, true>;
  fast(FastConvert::kBf16x2FromF32) = &PairFromSingles<Brain, false>;
  fast(FastConvert::kBf16x2FromF32Relu) = &PairFromSingles<Brain, true>;
  fast(FastConvert::kF32FromS32) = &SingleFromS32;
  fast(FastConvert::kF32FromU32) = &SingleFromU32;
  fast(FastConvert::kS32FromF32Truncated) = &S32FromSingleTruncated;
}

}  // namespace understudy::emu::ptx::US_FLOAT_KERNELS
