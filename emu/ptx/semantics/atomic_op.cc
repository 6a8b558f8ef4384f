// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/semantics/atomic_op.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

#include "src/base/float_format.h"

namespace understudy::emu::ptx {
namespace {

uint32_t FlushF32(uint32_t bits) { return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits; }

uint32_t AddF32(uint32_t a, uint32_t b, bool flush) {
  if (flush) a = FlushF32(a), b = FlushF32(b);
  const float sum = std::bit_cast<float>(a) + std::bit_cast<float>(b);
  if (std::isnan(sum)) return 0x7fffffff;
  const uint32_t bits = std::bit_cast<uint32_t>(sum);
  return flush ? FlushF32(bits) : bits;
}

// Global memory gives a NaN operand as it is, the added one before the old one; the loop of compare-and-swap
// on shared memory gives what add.f64 makes of them: quiet, the old one before the added one.
uint64_t AddF64(uint64_t a, uint64_t b, bool global) {
  const double x = std::bit_cast<double>(a), y = std::bit_cast<double>(b);
  if (std::isnan(x) || std::isnan(y)) {
    if (global) return std::isnan(y) ? b : a;
    return (std::isnan(x) ? a : b) | uint64_t{1} << 51;
  }
  const double sum = x + y;
  return std::isnan(sum) ? uint64_t{0xfff8} << 48 : std::bit_cast<uint64_t>(sum);
}

// Additions, minima and maxima of the 16-bit formats. A double holds every sum of two f16 exactly, and of two
// bf16 to more than twice their precision, so that rounding once more does no harm.
uint16_t Half(AtomicOp op, const FloatFormat& format, uint16_t a, uint16_t b) {
  constexpr uint16_t kNan = 0x7fff;
  const double x = DecodeFloat(format, a), y = DecodeFloat(format, b);
  if (op == AtomicOp::kAdd) {
    const double sum = x + y;
    return std::isnan(sum) ? kNan : static_cast<uint16_t>(EncodeFloat(format, sum));
  }
  if (std::isnan(x)) return std::isnan(y) ? kNan : b;
  if (std::isnan(y)) return a;
  const bool first_less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
  return (op == AtomicOp::kMin) == first_less ? a : b;
}

uint32_t TwoHalves(AtomicOp op, const FloatFormat& format, uint32_t a, uint32_t b) {
  return Half(op, format, static_cast<uint16_t>(a), static_cast<uint16_t>(b)) |
         uint32_t{Half(op, format, static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16))} << 16;
}

template <class U>
U ApplyInteger(AtomicOp op, bool is_signed, U old, U operand, U swap) {
  using S = std::make_signed_t<U>;
  switch (op) {
    case AtomicOp::kAnd:
      return old & operand;
    case AtomicOp::kOr:
      return old | operand;
    case AtomicOp::kXor:
      return old ^ operand;
    case AtomicOp::kCas:
      return old == operand ? swap : old;
    case AtomicOp::kExch:
      return operand;
    case AtomicOp::kAdd:
      return old + operand;
    case AtomicOp::kInc:
      return old >= operand ? 0 : old + 1;
    case AtomicOp::kDec:
      return old == 0 || old > operand ? operand : old - 1;
    case AtomicOp::kMin:
      return is_signed ? static_cast<U>(std::min(static_cast<S>(old), static_cast<S>(operand)))
                       : std::min(old, operand);
    case AtomicOp::kMax:
      return is_signed ? static_cast<U>(std::max(static_cast<S>(old), static_cast<S>(operand)))
                       : std::max(old, operand);
    case AtomicOp::kNone:
      break;
  }
  return old;
}

template <class U>
U Update(AtomicOp op, Type type, uint8_t* at, U operand, U swap, bool global) {
  std::atomic_ref<U> cell(*reinterpret_cast<U*>(at));
  if (!IsFloat(type)) {
    switch (op) {
      case AtomicOp::kAdd:
        return cell.fetch_add(operand);
      case AtomicOp::kAnd:
        return cell.fetch_and(operand);
      case AtomicOp::kOr:
        return cell.fetch_or(operand);
      case AtomicOp::kXor:
        return cell.fetch_xor(operand);
      case AtomicOp::kExch:
        return cell.exchange(operand);
      default:
        break;
    }
  }
  U old = cell.load(std::memory_order_relaxed);
  while (
      !cell.compare_exchange_weak(old, static_cast<U>(ApplyAtomic(op, type, old, operand, swap, global)))) {
  }
  return old;
}

}  // namespace

AtomicOp FindAtomicOp(const Instruction& inst) {
  struct Row {
    const char* name;
    AtomicOp op;
  };
  constexpr Row kRows[] = {{"and", AtomicOp::kAnd}, {"or", AtomicOp::kOr},     {"xor", AtomicOp::kXor},
                           {"cas", AtomicOp::kCas}, {"exch", AtomicOp::kExch}, {"add", AtomicOp::kAdd},
                           {"inc", AtomicOp::kInc}, {"dec", AtomicOp::kDec},   {"min", AtomicOp::kMin},
                           {"max", AtomicOp::kMax}};
  for (const Row& row : kRows)
    if (inst.Has(row.name)) return row.op;
  return AtomicOp::kNone;
}

bool IsAtomicCombination(AtomicOp op, Type type) {
  const bool add_min_max = op == AtomicOp::kAdd || op == AtomicOp::kMin || op == AtomicOp::kMax;
  switch (type) {
    case Type::kB16:
      return op == AtomicOp::kCas;
    case Type::kB32:
    case Type::kB64:
    case Type::kU32:
    case Type::kS32:
    case Type::kU64:
    case Type::kS64:
      return op != AtomicOp::kNone;
    case Type::kF16:
    case Type::kF16x2:
    case Type::kBf16:
    case Type::kBf16x2:
      return add_min_max;
    case Type::kF32:
    case Type::kF64:
      return op == AtomicOp::kAdd;
    default:
      return false;
  }
}

uint64_t ApplyAtomic(AtomicOp op, Type type, uint64_t old, uint64_t operand, uint64_t swap, bool global) {
  switch (type) {
    case Type::kF16:
      return Half(op, formats::kF16, static_cast<uint16_t>(old), static_cast<uint16_t>(operand));
    case Type::kBf16:
      return Half(op, formats::kBf16, static_cast<uint16_t>(old), static_cast<uint16_t>(operand));
    case Type::kF16x2:
      return TwoHalves(op, formats::kF16, static_cast<uint32_t>(old), static_cast<uint32_t>(operand));
    case Type::kBf16x2:
      return TwoHalves(op, formats::kBf16, static_cast<uint32_t>(old), static_cast<uint32_t>(operand));
    case Type::kF32:
      return AddF32(static_cast<uint32_t>(old), static_cast<uint32_t>(operand), global);
    case Type::kF64:
      return AddF64(old, operand, global);
    default:
      break;
  }
  switch (TypeBytes(type)) {
    case 2:
      return ApplyInteger<uint16_t>(op, false, static_cast<uint16_t>(old), static_cast<uint16_t>(operand),
                                    static_cast<uint16_t>(swap));
    case 4:
      return ApplyInteger<uint32_t>(op, IsSigned(type), static_cast<uint32_t>(old),
                                    static_cast<uint32_t>(operand), static_cast<uint32_t>(swap));
    default:
      return ApplyInteger<uint64_t>(op, IsSigned(type), old, operand, swap);
  }
}

uint64_t AtomicUpdate(AtomicOp op, Type type, uint8_t* at, uint64_t operand, uint64_t swap, bool global) {
  switch (TypeBytes(type)) {
    case 2:
      return Update<uint16_t>(op, type, at, static_cast<uint16_t>(operand), static_cast<uint16_t>(swap),
                              global);
    case 4:
      return Update<uint32_t>(op, type, at, static_cast<uint32_t>(operand), static_cast<uint32_t>(swap),
                              global);
    default:
      return Update<uint64_t>(op, type, at, operand, swap, global);
  }
}

#if defined(__x86_64__)
// One instruction of the host, so that 128-bit updates are atomic against narrower ones too; written out
// because compilers call a library for it, each another one. Answers what the cell held.
static Bits128 CompareAndSwap128(uint8_t* cell, Bits128 expected, Bits128 desired) {
  asm volatile("lock cmpxchg16b %0"
               : "+m"(*reinterpret_cast<unsigned __int128*>(cell)), "+a"(expected.low), "+d"(expected.high)
               : "b"(desired.low), "c"(desired.high)
               : "cc", "memory");
  return expected;
}

static Bits128 Swap128(AtomicOp op, uint8_t* at, Bits128 operand, Bits128 swap) {
  if (op == AtomicOp::kCas) return CompareAndSwap128(at, operand, swap);
  Bits128 old{};
  for (;;) {
    const Bits128 seen = CompareAndSwap128(at, old, operand);
    if (seen.low == old.low && seen.high == old.high) return old;
    old = seen;
  }
}
#else
static Bits128 Swap128(AtomicOp op, uint8_t* at, Bits128 operand, Bits128 swap) {
  // A lock by address: atomic against other 128-bit updates.
  static std::array<std::atomic_flag, 64> locks{};
  std::atomic_flag& lock = locks[(reinterpret_cast<uintptr_t>(at) >> 4) % locks.size()];
  while (lock.test_and_set(std::memory_order_acquire)) {
  }
  Bits128 old;
  std::memcpy(&old, at, 16);
  if (op != AtomicOp::kCas)
    std::memcpy(at, &operand, 16);
  else if (old.low == operand.low && old.high == operand.high)
    std::memcpy(at, &swap, 16);
  lock.clear(std::memory_order_release);
  return old;
}
#endif

Bits128 AtomicUpdate128(AtomicOp op, uint8_t* at, Bits128 operand, Bits128 swap) {
  return Swap128(op, at, operand, swap);
}

}  // namespace understudy::emu::ptx
