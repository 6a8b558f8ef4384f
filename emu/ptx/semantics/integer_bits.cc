// SPDX-License-Identifier: Apache-2.0
// Bit fields, permutations, three-input logic, funnel shifts, integer conversions, extended precision, packed
// 16-bit and dot products, a lane at a time (PTX ISA, "Integer Arithmetic", "Extended-Precision", "Logic and
// Shift", "Data Movement and Conversion").
#include <algorithm>
#include <bit>

#include "emu/ptx/core/program.h"
#include "emu/ptx/semantics/integer.h"

namespace understudy::emu::ptx {
namespace {

int64_t Extend(uint64_t value, int bits) {
  if (bits == 0) return 0;
  return bits >= 64 ? static_cast<int64_t>(value) : static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
}
uint64_t Cut(uint64_t value, int bits) { return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1); }

int Bits(const Inst& inst) { return static_cast<int>(inst.aux[0] & 0xff); }
bool Signed(const Inst& inst) { return (inst.aux[0] >> 8 & 1) != 0; }
uint64_t Mode(const Inst& inst) { return inst.aux[1]; }

template <class Fn>
ExecResult Each(Warp& w, const Inst& inst, Fn&& fn) {
  for (uint32_t m = w.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    w.SetLane(inst.src(0), lane, fn(lane));
  }
  return ExecResult::kNext;
}
uint64_t Get(const Warp& w, const Inst& inst, int operand, int lane) {
  return w.Lane(inst.src(operand), lane);
}

// A position or length: the 32-bit forms read 8 bits of it, the 64-bit forms all (recorded on an H200).
int FieldNumber(uint64_t value, int bits) {
  return static_cast<int>(bits == 32 ? value & 0xff : std::min<uint64_t>(value & 0xffffffff, 255));
}

ExecResult Bfe(Warp& w, const Inst& inst) {
  const int bits = Bits(inst);
  return Each(w, inst, [&](int lane) -> uint64_t {
    const uint64_t a = Get(w, inst, 1, lane);
    const int at = FieldNumber(Get(w, inst, 2, lane), bits);
    const int length = FieldNumber(Get(w, inst, 3, lane), bits);
    const int sign_at = std::min(at + length - 1, bits - 1);
    const bool ones = Signed(inst) && length != 0 && (a >> sign_at & 1) != 0;
    const int have = std::max(std::min(length, bits - at), 0);
    const uint64_t field = have == 0 ? 0 : Cut(a >> at, have);
    return Cut(ones ? field | (have >= 64 ? 0 : ~uint64_t{0} << have) : field, bits);
  });
}

ExecResult Bfi(Warp& w, const Inst& inst) {
  const int bits = Bits(inst);
  return Each(w, inst, [&](int lane) -> uint64_t {
    const uint64_t a = Get(w, inst, 1, lane), b = Get(w, inst, 2, lane);
    const int at = FieldNumber(Get(w, inst, 3, lane), bits);
    const int length = std::min(FieldNumber(Get(w, inst, 4, lane), bits), bits - at);
    if (length <= 0) return b;
    const uint64_t field = Cut(~uint64_t{0}, length) << at;
    return Cut((b & ~field) | (a << at & field), bits);
  });
}

ExecResult Bfind(Warp& w, const Inst& inst) {
  const int bits = Bits(inst);
  return Each(w, inst, [&](int lane) -> uint64_t {
    uint64_t a = Cut(Get(w, inst, 1, lane), bits);
    if (Signed(inst) && Extend(a, bits) < 0) a = Cut(~a, bits);
    if (a == 0) return 0xffffffff;
    const int at = 63 - std::countl_zero(a);
    return static_cast<uint64_t>(Mode(inst) != 0 ? bits - 1 - at : at);
  });
}

ExecResult Brev(Warp& w, const Inst& inst) {
  const int bits = Bits(inst);
  return Each(w, inst, [&](int lane) -> uint64_t {
    const uint64_t a = Get(w, inst, 1, lane);
    uint64_t out = 0;
    for (int i = 0; i < bits; ++i) out |= (a >> i & 1) << (bits - 1 - i);
    return out;
  });
}

enum Permute : uint64_t { kByNibble, kF4e, kB4e, kRc8, kEcl, kEcr, kRc16 };

ExecResult Prmt(Warp& w, const Inst& inst) {
  return Each(w, inst, [&](int lane) -> uint64_t {
    const uint64_t bytes = Get(w, inst, 1, lane) | Get(w, inst, 2, lane) << 32;
    const uint32_t c = static_cast<uint32_t>(Get(w, inst, 3, lane));
    const int select = static_cast<int>(c & 3);
    uint64_t out = 0;
    for (int i = 0; i < 4; ++i) {
      int from = 0;
      bool sign = false;
      switch (Mode(inst)) {
        case kF4e:
          from = select + i;
          break;
        case kB4e:
          from = (select - i) & 7;
          break;
        case kRc8:
          from = select;
          break;
        case kEcl:
          from = std::max(i, select);
          break;
        case kEcr:
          from = std::min(i, select);
          break;
        case kRc16:
          from = (select & 1) * 2 + (i & 1);
          break;
        default:
          from = static_cast<int>(c >> 4 * i & 7);
          sign = (c >> 4 * i & 8) != 0;
      }
      uint64_t byte = bytes >> 8 * from & 0xff;
      if (sign) byte = (byte & 0x80) != 0 ? 0xff : 0;
      out |= byte << 8 * i;
    }
    return out;
  });
}

ExecResult Lop3(Warp& w, const Inst& inst) {
  return Each(w, inst, [&](int lane) -> uint64_t {
    const uint64_t a = Get(w, inst, 1, lane), b = Get(w, inst, 2, lane), c = Get(w, inst, 3, lane);
    const uint64_t table = Get(w, inst, 4, lane);
    uint64_t out = 0;
    for (int i = 0; i < 8; ++i)
      if ((table >> i & 1) != 0)
        out |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
    return Cut(out, 32);
  });
}

// Mode: bit 0 right, bit 1 clamp.
ExecResult Shf(Warp& w, const Inst& inst) {
  return Each(w, inst, [&](int lane) -> uint64_t {
    const uint64_t both = Get(w, inst, 1, lane) | Get(w, inst, 2, lane) << 32;
    const uint64_t c = Get(w, inst, 3, lane);
    const uint64_t n = (Mode(inst) & 2) != 0 ? std::min<uint64_t>(c, 32) : c & 31;
    if ((Mode(inst) & 1) != 0) return Cut(both >> n, 32);
    return both << n >> 32;
  });
}

// Mode: bits 0-7 source bits, 8 source signed, 9 saturate.
ExecResult ConvertInteger(Warp& w, const Inst& inst) {
  const int bits = Bits(inst), from = static_cast<int>(Mode(inst) & 0xff);
  const bool from_signed = (Mode(inst) & 0x100) != 0, saturate = (Mode(inst) & 0x200) != 0;
  return Each(w, inst, [&](int lane) -> uint64_t {
    const uint64_t raw = Cut(Get(w, inst, 1, lane), from);
    __int128 value = from_signed ? static_cast<__int128>(Extend(raw, from)) : static_cast<__int128>(raw);
    if (saturate) {
      const __int128 high = (static_cast<__int128>(1) << (Signed(inst) ? bits - 1 : bits)) - 1;
      const __int128 low = Signed(inst) ? -high - 1 : 0;
      value = std::min(std::max(value, low), high);
    }
    const uint64_t cut = Cut(static_cast<uint64_t>(value), bits);
    return Signed(inst) ? static_cast<uint64_t>(Extend(cut, bits)) : cut;
  });
}

// cvt.pack.sat: two saturated numbers below what is left of c.
ExecResult ConvertPack(Warp& w, const Inst& inst) {
  const int bits = Bits(inst);
  const int64_t high = (int64_t{1} << (Signed(inst) ? bits - 1 : bits)) - 1;
  const int64_t low = Signed(inst) ? -high - 1 : 0;
  return Each(w, inst, [&](int lane) -> uint64_t {
    const auto saturated = [&](int operand) {
      const int64_t value = Extend(Get(w, inst, operand, lane), 32);
      return Cut(static_cast<uint64_t>(std::min(std::max(value, low), high)), bits);
    };
    const uint64_t rest = inst.num_operands > 3 ? Get(w, inst, 3, lane) << 2 * bits : 0;
    return Cut(rest | saturated(1) << bits | saturated(2), 32);
  });
}

// Mode: comparison (0 eq, 1 ne, 2 lt, 3 le, 4 gt, 5 ge), from bit 8 the result, from bit 4 and, or, xor with
// c.
ExecResult Set(Warp& w, const Inst& inst) {
  const int bits = Bits(inst);
  const uint64_t yes = Mode(inst) >> 8, join = Mode(inst) >> 4 & 15;
  const uint32_t third = join != 0 ? w.Pred(inst.src(3)) : 0;
  return Each(w, inst, [&](int lane) -> uint64_t {
    const uint64_t a = Cut(Get(w, inst, 1, lane), bits), b = Cut(Get(w, inst, 2, lane), bits);
    const bool less = Signed(inst) ? Extend(a, bits) < Extend(b, bits) : a < b;
    const bool holds[] = {a == b, a != b, less, less || a == b, !less && a != b, !less};
    bool value = holds[Mode(inst) & 15];
    const bool c = (third >> lane & 1) != 0;
    value = join == 1 ? value && c : join == 2 ? value || c : join == 3 ? value != c : value;
    return value ? yes : 0;
  });
}

// mad24.hi.sat.s32.
ExecResult SaturatingMad24(Warp& w, const Inst& inst) {
  return Each(w, inst, [&](int lane) -> uint64_t {
    const int64_t product = Extend(Get(w, inst, 1, lane), 24) * Extend(Get(w, inst, 2, lane), 24);
    const int64_t sum =
        Extend(Cut(static_cast<uint64_t>(product >> 16), 32), 32) + Extend(Get(w, inst, 3, lane), 32);
    return Cut(static_cast<uint64_t>(std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX)), 32);
  });
}

// Mode: bit 0 .hi, bit 1 there is a third source.
ExecResult Multiply24(Warp& w, const Inst& inst) {
  return Each(w, inst, [&](int lane) -> uint64_t {
    const uint64_t a = Get(w, inst, 1, lane), b = Get(w, inst, 2, lane);
    const uint64_t product =
        Signed(inst) ? static_cast<uint64_t>(Extend(a, 24) * Extend(b, 24)) : Cut(a, 24) * Cut(b, 24);
    const uint64_t part = (Mode(inst) & 1) != 0 ? product >> 16 : product;
    return Cut(part + ((Mode(inst) & 2) != 0 ? Get(w, inst, 3, lane) : 0), 32);
  });
}

ExecResult Sad(Warp& w, const Inst& inst) {
  const int bits = Bits(inst);
  return Each(w, inst, [&](int lane) -> uint64_t {
    const uint64_t a = Cut(Get(w, inst, 1, lane), bits), b = Cut(Get(w, inst, 2, lane), bits);
    const bool less = Signed(inst) ? Extend(a, bits) < Extend(b, bits) : a < b;
    return Cut(Get(w, inst, 3, lane) + (less ? b - a : a - b), bits);
  });
}

ExecResult Cnot(Warp& w, const Inst& inst) {
  return Each(w, inst, [&](int lane) -> uint64_t { return Cut(Get(w, inst, 1, lane), Bits(inst)) == 0; });
}

// Mode: bit 0 b signed, bit 1 two products of 16 bits, bit 2 the high bytes of b.
ExecResult DotProduct(Warp& w, const Inst& inst) {
  const bool two = (Mode(inst) & 2) != 0, b_signed = (Mode(inst) & 1) != 0;
  return Each(w, inst, [&](int lane) -> uint64_t {
    const uint64_t a = Get(w, inst, 1, lane);
    const uint64_t b = Get(w, inst, 2, lane) >> ((Mode(inst) & 4) != 0 ? 16 : 0);
    uint64_t sum = Get(w, inst, 3, lane);
    const int width = two ? 16 : 8;
    for (int i = 0; i < (two ? 2 : 4); ++i) {
      const uint64_t x = Cut(a >> (width * i), width), y = b >> (8 * i) & 0xff;
      sum += (Signed(inst) ? static_cast<uint64_t>(Extend(x, width)) : x) *
             (b_signed ? static_cast<uint64_t>(Extend(y, 8)) : y);
    }
    return Cut(sum, 32);
  });
}

// Mode: bit 0 subtract, 1 carry in, 2 carry out, 3 product of a and b first, 4 its high half.
ExecResult Extended(Warp& w, const Inst& inst) {
  const int bits = Bits(inst);
  const uint64_t mode = Mode(inst);
  uint32_t carry = w.carry;
  for (uint32_t m = w.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    uint64_t a = Cut(Get(w, inst, 1, lane), bits), b = Cut(Get(w, inst, 2, lane), bits);
    if ((mode & 8) != 0) {
      const unsigned __int128 product =
          Signed(inst)
              ? static_cast<unsigned __int128>(static_cast<__int128>(Extend(a, bits)) * Extend(b, bits))
              : static_cast<unsigned __int128>(a) * b;
      a = Cut(static_cast<uint64_t>((mode & 16) != 0 ? product >> bits : product), bits);
      b = Cut(Get(w, inst, 3, lane), bits);
    }
    const unsigned in = (mode & 2) != 0 ? carry >> lane & 1 : 0;
    const unsigned __int128 wide = (mode & 1) != 0 ? static_cast<unsigned __int128>(a) - b - in
                                                   : static_cast<unsigned __int128>(a) + b + in;
    w.SetLane(inst.src(0), lane, Cut(static_cast<uint64_t>(wide), bits));
    if ((mode & 4) != 0)
      carry = (carry & ~(1u << lane)) | static_cast<uint32_t>(static_cast<uint64_t>(wide >> bits) & 1)
                                            << lane;
  }
  w.carry = carry;
  return ExecResult::kNext;
}

// add.sat, sub.sat and mad.hi.sat of s32. Mode: 0 add, 1 sub, 2 mad.hi.
ExecResult Saturating(Warp& w, const Inst& inst) {
  return Each(w, inst, [&](int lane) -> uint64_t {
    const int64_t a = Extend(Get(w, inst, 1, lane), 32), b = Extend(Get(w, inst, 2, lane), 32);
    const int64_t sum = Mode(inst) == 0   ? a + b
                        : Mode(inst) == 1 ? a - b
                                          : (a * b >> 32) + Extend(Get(w, inst, 3, lane), 32);
    return Cut(static_cast<uint64_t>(std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX)), 32);
  });
}

// Mode: bit 0 the third source is a float, bit 1 .ftz.
ExecResult Slct(Warp& w, const Inst& inst) {
  return Each(w, inst, [&](int lane) -> uint64_t {
    const uint32_t c = static_cast<uint32_t>(Get(w, inst, 3, lane));
    const bool nan = (c & 0x7fffffff) > 0x7f800000;
    const bool zero = (c & 0x7fffffff) == 0 || ((Mode(inst) & 2) != 0 && (c & 0x7fffffff) < 0x00800000);
    const bool first = Mode(inst) != 0 ? !nan && (c >> 31 == 0 || zero) : c >> 31 == 0;
    return Get(w, inst, first ? 1 : 2, lane);
  });
}

// Mode: bit 0 subtract, else 2 min, 3 max, 1 add by number in bits 0-3; bit 4 relu.
ExecResult Packed16(Warp& w, const Inst& inst) {
  return Each(w, inst, [&](int lane) -> uint64_t {
    const uint64_t a = Get(w, inst, 1, lane), b = Get(w, inst, 2, lane);
    uint64_t out = 0;
    for (int i = 0; i < 32; i += 16) {
      const uint64_t ua = a >> i & 0xffff, ub = b >> i & 0xffff;
      const int64_t x = Signed(inst) ? Extend(ua, 16) : static_cast<int64_t>(ua);
      const int64_t y = Signed(inst) ? Extend(ub, 16) : static_cast<int64_t>(ub);
      int64_t value = 0;
      switch (Mode(inst) & 15) {
        case 0:
          value = x + y;
          break;
        case 1:
          value = x - y;
          break;
        case 2:
          value = std::min(x, y);
          break;
        default:
          value = std::max(x, y);
      }
      if ((Mode(inst) & 16) != 0) value = std::max<int64_t>(value, 0);
      out |= (static_cast<uint64_t>(value) & 0xffff) << i;
    }
    return out;
  });
}

// min.relu and max.relu of s32. Mode: 1 max.
ExecResult MinMaxRelu(Warp& w, const Inst& inst) {
  return Each(w, inst, [&](int lane) -> uint64_t {
    const int64_t a = Extend(Get(w, inst, 1, lane), 32), b = Extend(Get(w, inst, 2, lane), 32);
    return Cut(static_cast<uint64_t>(std::max<int64_t>(Mode(inst) != 0 ? std::max(a, b) : std::min(a, b), 0)),
               32);
  });
}

// Mode: 1 wrap.
ExecResult Bmsk(Warp& w, const Inst& inst) {
  return Each(w, inst, [&](int lane) -> uint64_t {
    uint64_t at = Get(w, inst, 1, lane), length = Get(w, inst, 2, lane);
    at = Mode(inst) != 0 ? at & 31 : std::min<uint64_t>(at, 32);
    length = Mode(inst) != 0 ? length & 31 : std::min<uint64_t>(length, 32);
    return Cut(((uint64_t{1} << length) - 1) << at, 32);
  });
}

ExecResult Szext(Warp& w, const Inst& inst) {
  return Each(w, inst, [&](int lane) -> uint64_t {
    const uint64_t a = Get(w, inst, 1, lane), n = Get(w, inst, 2, lane);
    const int bits = static_cast<int>(Mode(inst) != 0 ? n & 31 : std::min<uint64_t>(n, 32));
    const uint64_t cut = Cut(a, bits);
    return Cut(Signed(inst) ? static_cast<uint64_t>(Extend(cut, bits)) : cut, 32);
  });
}

ExecResult Fns(Warp& w, const Inst& inst) {
  return Each(w, inst, [&](int lane) -> uint64_t {
    const uint32_t mask = static_cast<uint32_t>(Get(w, inst, 1, lane));
    const int64_t base = static_cast<int64_t>(Get(w, inst, 2, lane) & 0xffffffff);
    const int64_t offset = Extend(Get(w, inst, 3, lane), 32);
    if (base > 31) return 0xffffffff;
    if (offset == 0) return (mask >> base & 1) != 0 ? static_cast<uint64_t>(base) : 0xffffffff;
    int64_t count = (offset < 0 ? -offset : offset) - 1;
    for (int64_t at = base; at >= 0 && at < 32; at += offset > 0 ? 1 : -1)
      if ((mask >> at & 1) != 0 && count-- == 0) return static_cast<uint64_t>(at);
    return 0xffffffff;
  });
}

// vadd4 .. vmax4 and their two-element forms on whole operands. Mode: bits 0-2 add, sub, avrg, absdiff, min,
// max; bit 3 two elements, 4 a signed, 5 b signed, 6 .sat, 7 .add.
ExecResult PackedVideo(Warp& w, const Inst& inst) {
  const uint64_t mode = Mode(inst);
  const int width = (mode & 8) != 0 ? 16 : 8;
  const int64_t high = (int64_t{1} << (Signed(inst) ? width - 1 : width)) - 1;
  const int64_t low = Signed(inst) ? -high - 1 : 0;
  return Each(w, inst, [&](int lane) -> uint64_t {
    const uint64_t a = Get(w, inst, 1, lane), b = Get(w, inst, 2, lane);
    uint64_t out = 0, sum = Get(w, inst, 3, lane);
    for (int i = 0; i < 32; i += width) {
      const uint64_t ua = Cut(a >> i, width), ub = Cut(b >> i, width);
      const int64_t x = (mode & 16) != 0 ? Extend(ua, width) : static_cast<int64_t>(ua);
      const int64_t y = (mode & 32) != 0 ? Extend(ub, width) : static_cast<int64_t>(ub);
      const int64_t all[] = {
          x + y,          x - y,         (x + y + (x + y >= 0 ? 1 : 0)) >> 1, x > y ? x - y : y - x,
          std::min(x, y), std::max(x, y)};
      int64_t value = all[mode & 7];
      if ((mode & 64) != 0) value = std::min(std::max(value, low), high);
      sum += static_cast<uint64_t>(value);
      out |= Cut(static_cast<uint64_t>(value), width) << i;
    }
    return (mode & 128) != 0 ? Cut(sum, 32) : out;
  });
}

bool IsInteger(Type type) {
  return type != Type::kNone && type != Type::kPred && !IsFloat(type) && type != Type::kU16x2 &&
         type != Type::kS16x2 && TypeBits(type) >= 8 && TypeBits(type) <= 64;
}

}  // namespace

bool FindBitExec(const Instruction& inst, Exec* exec) {
  const Type type = inst.type(0);
  exec->aux[0] = static_cast<uint64_t>(TypeBits(type)) | (IsSigned(type) ? 1u << 8 : 0);
  const auto found = [&](ExecFn fn, uint64_t mode = 0) {
    exec->fn = fn;
    exec->aux[1] = mode;
    return true;
  };
  const bool carries = inst.Has("cc");
  switch (inst.op) {
    case Op::kBfe:
      return found(Bfe);
    case Op::kBfi:
      return found(Bfi);
    case Op::kBfind:
      return found(Bfind, inst.Has("shiftamt"));
    case Op::kBrev:
      return found(Brev);
    case Op::kPrmt:
      return found(Prmt, inst.Has("f4e")    ? kF4e
                         : inst.Has("b4e")  ? kB4e
                         : inst.Has("rc8")  ? kRc8
                         : inst.Has("ecl")  ? kEcl
                         : inst.Has("ecr")  ? kEcr
                         : inst.Has("rc16") ? kRc16
                                            : kByNibble);
    case Op::kLop3:
      return inst.operands.size() == 5 && found(Lop3);
    case Op::kShf:
      return found(Shf, (inst.Has("r") ? 1u : 0u) | (inst.Has("clamp") ? 2u : 0u));
    case Op::kCvt:
      if (inst.Has("pack")) return inst.Has("sat") && inst.type(1) == Type::kS32 && found(ConvertPack);
      return inst.types.size() == 2 && IsInteger(type) && IsInteger(inst.type(1)) &&
             found(ConvertInteger, static_cast<uint64_t>(TypeBits(inst.type(1))) |
                                       (IsSigned(inst.type(1)) ? 0x100u : 0u) |
                                       (inst.Has("sat") ? 0x200u : 0u));
    case Op::kMul24:
    case Op::kMad24:
      if (inst.Has("sat")) return inst.op == Op::kMad24 && inst.Has("hi") && found(SaturatingMad24);
      return found(Multiply24, (inst.Has("hi") ? 1u : 0u) | (inst.op == Op::kMad24 ? 2u : 0u));
    case Op::kSet: {
      if (inst.types.size() != 2 || !IsInteger(inst.type(1))) return false;
      exec->aux[0] = static_cast<uint64_t>(TypeBits(inst.type(1))) | (IsSigned(inst.type(1)) ? 1u << 8 : 0);
      constexpr const char* kCompare[][2] = {{"eq", "eq"}, {"ne", "ne"}, {"lt", "lo"},
                                             {"le", "ls"}, {"gt", "hi"}, {"ge", "hs"}};
      uint64_t compare = 0;
      while (compare < 6 && !inst.Has(kCompare[compare][0]) && !inst.Has(kCompare[compare][1])) ++compare;
      const uint64_t join = inst.Has("and") ? 1 : inst.Has("or") ? 2 : inst.Has("xor") ? 3 : 0;
      const uint64_t yes = type == Type::kF32 ? 0x3f800000 : 0xffffffff;
      return compare < 6 && found(Set, compare | join << 4 | yes << 8);
    }
    case Op::kSad:
      return found(Sad);
    case Op::kCnot:
      return found(Cnot);
    case Op::kDp4a:
    case Op::kDp2a:
      return found(DotProduct, (IsSigned(inst.type(1)) ? 1u : 0u) | (inst.op == Op::kDp2a ? 2u : 0u) |
                                   (inst.Has("hi") ? 4u : 0u));
    case Op::kAdd:
    case Op::kSub:
      if (carries) return found(Extended, (inst.op == Op::kSub ? 1u : 0u) | 4u);
      if (inst.Has("sat") && type == Type::kS32) return found(Saturating, inst.op == Op::kSub);
      if (type == Type::kU16x2 || type == Type::kS16x2) return found(Packed16, inst.op == Op::kSub);
      return false;
    case Op::kAddc:
    case Op::kSubc:
      return found(Extended, (inst.op == Op::kSubc ? 1u : 0u) | 2u | (carries ? 4u : 0u));
    case Op::kMad:
      if (carries) return found(Extended, 4u | 8u | (inst.Has("hi") ? 16u : 0u));
      return inst.Has("sat") && type == Type::kS32 && found(Saturating, 2);
    case Op::kMadc:
      return found(Extended, 2u | (carries ? 4u : 0u) | 8u | (inst.Has("hi") ? 16u : 0u));
    case Op::kSlct:
      return found(Slct, inst.type(1) == Type::kF32 ? (inst.Has("ftz") ? 3u : 1u) : 0u);
    case Op::kMin:
    case Op::kMax:
      if (type == Type::kU16x2 || type == Type::kS16x2)
        return found(Packed16, (inst.op == Op::kMin ? 2u : 3u) | (inst.Has("relu") ? 16u : 0u));
      return inst.Has("relu") && type == Type::kS32 && found(MinMaxRelu, inst.op == Op::kMax);
    case Op::kVadd4:
    case Op::kVadd2:
    case Op::kVsub4:
    case Op::kVsub2:
    case Op::kVavrg4:
    case Op::kVavrg2:
    case Op::kVabsdiff4:
    case Op::kVabsdiff2:
    case Op::kVmin4:
    case Op::kVmin2:
    case Op::kVmax4:
    case Op::kVmax2: {
      for (const Operand& operand : inst.operands)
        if (!operand.selector.empty()) {
          exec->note = inst.Name() + " with element selectors or a mask";
          return true;
        }
      const std::string name = OpName(inst.op);
      const std::string what = name.substr(1, name.size() - 2);
      constexpr const char* kWhat[] = {"add", "sub", "avrg", "absdiff", "min", "max"};
      uint64_t mode = 0;
      while (what != kWhat[mode]) ++mode;
      if (name.back() == '2') mode |= 8;
      if (IsSigned(inst.type(1))) mode |= 16;
      if (IsSigned(inst.type(2))) mode |= 32;
      return found(PackedVideo, mode | (inst.Has("sat") ? 64u : 0u) | (inst.Has("add") ? 128u : 0u));
    }
    case Op::kBmsk:
      return found(Bmsk, inst.Has("wrap"));
    case Op::kSzext:
      return found(Szext, inst.Has("wrap"));
    case Op::kFns:
      return found(Fns);
    default:
      return false;
  }
}

}  // namespace understudy::emu::ptx
