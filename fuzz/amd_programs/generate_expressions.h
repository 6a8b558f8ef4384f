// SPDX-License-Identifier: Apache-2.0
#pragma once
// The expressions of random kernels: strings of C of exactly the type asked for, with what keeps them
// defined. The base of the generator of generate.cc, which keeps here what exists at the place that it
// writes; nobody else uses it.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "fuzz/amd_programs/program.h"
#include "fuzz/program_tree/random.h"

namespace understudy::programs {

enum Type { kU8, kS8, kU16, kS16, kU32, kS32, kU64, kS64, kU128, kS128, kF16, kF32, kF64 };
constexpr int kTypes = 13, kIntTypes = 10;
struct TypeInfo {
  const char* c;     // its name in C
  const char* tag;   // in names of variables
  const char* wide;  // the unsigned type in which its arithmetic is done: it does not promote to int
  int bits;
  bool is_signed;
};
constexpr TypeInfo kInfo[kTypes] = {
    {"uint8_t", "a", "uint32_t", 8, false},
    {"int8_t", "b", "uint32_t", 8, true},
    {"uint16_t", "c", "uint32_t", 16, false},
    {"int16_t", "d", "uint32_t", 16, true},
    {"uint32_t", "e", "uint32_t", 32, false},
    {"int32_t", "f", "uint32_t", 32, true},
    {"uint64_t", "g", "uint64_t", 64, false},
    {"int64_t", "h", "uint64_t", 64, true},
    {"uint128_t", "m", "uint128_t", 128, false},
    {"int128_t", "n", "uint128_t", 128, true},
    {"_Float16", "p", "", 16, true},
    {"float", "q", "", 32, true},
    {"double", "r", "", 64, true},
};
constexpr bool IsInt(Type t) { return t < kIntTypes; }

// Text from pieces. With braces, so that pieces that draw random numbers do so from left to right (the
// arguments of a function come in an order of the compiler's choice).
struct Cat : std::string {
  template <class... Args>
  explicit Cat(const Args&... args) : std::string(absl::StrCat(args...)) {}
};
struct Format : std::string {
  template <class... Args>
  explicit Format(const absl::FormatSpec<Args...>& format, const Args&... args)
      : std::string(absl::StrFormat(format, args...)) {}
};
struct Array {
  std::string name;
  Type type;
  int size;  // a power of two
};
struct Field {
  std::string name;
  Type type;
};
struct Helper {
  std::string name;
  Type result;
  std::vector<Type> parameters;
};

class Expressions {
 protected:
  explicit Expressions(uint64_t seed) : random_(seed) {}

  Type AnyType() {
    int total = 0;
    for (int w : weight_) total += w;
    int at = random_.Below(total);
    for (int t = 0; t < kTypes; ++t) {
      if ((at -= weight_[t]) < 0) return static_cast<Type>(t);
    }
    return kU32;
  }
  Type AnyInt() {
    for (int k = 0; k < 20; ++k) {
      if (const Type t = AnyType(); IsInt(t)) return t;
    }
    return kU32;
  }
  Type AnyReal() { return static_cast<Type>(kF16 + random_.Below(3)); }
  template <size_t n>
  const char* Any(const char* const (&list)[n]) {
    return list[random_.Below(static_cast<int>(n))];
  }
  std::string Fresh(const char* prefix) { return Cat{prefix, next_++}; }
  bool Active(Type t) const { return weight_[t] > 0; }
  // A variable to assign to, of a type that the kernel has.
  std::string Variable(Type t) { return Cat{kInfo[t].tag, random_.Below(variables_)}; }
  std::string Value(Type t) {
    if (Active(t)) return Variable(t);
    const Type from = AnyType();
    return Convert(from, t, Variable(from));
  }

  // ---- expressions: a string of exactly the type asked for ----
  std::string Constant(Type t) {
    const TypeInfo& info = kInfo[t];
    if (!IsInt(t)) {
      static constexpr const char* kReals[] = {"0.0",   "1.0",    "-1.0",  "0.5",    "2.0",
                                               "-3.25", "1.5",    "100.0", "0.0625", "65504.0",
                                               "3.0",   "-0.375", "7.0",   "1.0e-4"};
      return Cat{"(", info.c, ")", Any(kReals), t == kF64 ? "" : "f"};
    }
    uint64_t v = random_.Next();
    switch (random_.Below(5)) {
      case 0:
        v &= 15;
        break;
      case 1:
        v = uint64_t{1} << random_.Below(64);
        break;
      case 2:
        v = (uint64_t{1} << random_.Below(64)) - 1;
        break;
      case 3:
        v = random_.Chance(50) ? ~uint64_t{0} << random_.Below(64) : v & 255;
        break;
      default:
        break;
    }
    if (info.bits == 128 && random_.Chance(50)) {
      return Format{"(%s)((uint128_t)0x%xu << 64 | 0x%xu)", info.c, v, random_.Next()};
    }
    if (info.bits < 64) v &= (uint64_t{1} << info.bits) - 1;
    return Format{"(%s)0x%xu", info.c, v};
  }

  std::string Leaf(Type t) {
    const int choice = random_.Below(10);
    if (choice == 0) return Constant(t);
    if (choice == 1 && !arrays_.empty()) {
      const Array& a = arrays_[static_cast<size_t>(random_.Below(static_cast<int>(arrays_.size())))];
      const std::string element = Format{"%s[%s & %du]", a.name, Variable(kU32), a.size - 1};
      return a.type == t ? element : Convert(a.type, t, element);
    }
    if (choice == 2 && has_struct_) {
      const Field& f = fields_[static_cast<size_t>(random_.Below(static_cast<int>(fields_.size())))];
      const std::string member = Cat{random_.Chance(50) ? "s0." : "s1.", f.name};
      return f.type == t ? member : Convert(f.type, t, member);
    }
    if (choice == 3 && in_kernel_) {
      const std::string word = Format{"IN(%du)", random_.Below(64)};
      return t == kU32 ? word : t == kF32 ? Cat{"AsFloat(", word, ")"} : Convert(kU32, t, word);
    }
    return Value(t);
  }

  // A value of one type as another. Floats become integers through support.h's functions, in range only.
  std::string Convert(Type from, Type to, const std::string& value) {
    const TypeInfo& info = kInfo[to];
    if (IsInt(from) && !IsInt(to)) {
      // An integer past the range of the float is undefined in C.
      if (to == kF16 && from != kU8) return Cat{"(_Float16)(int16_t)", value};
      if (from == kU128) return Cat{"(", info.c, ")(", value, " >> 1)"};
    }
    if (IsInt(from) || !IsInt(to)) return Cat{"(", info.c, ")", value};
    const char* kind = info.bits <= 32  ? (info.is_signed ? "Int" : "Uint")
                       : info.is_signed ? "Long"
                                        : "Ulong";
    return from == kF64 ? Cat{"(", info.c, ")", kind, "OfDouble(", value, ")"}
                        : Cat{"(", info.c, ")", kind, "OfFloat((float)", value, ")"};
  }

  std::string Condition(int depth) {
    if (depth > 0 && random_.Chance(15)) {
      return Cat{"(", Condition(depth - 1), Any({" && ", " || "}), Condition(depth - 1), ")"};
    }
    const Type t = AnyType();
    return Cat{"(", Expression(t, depth), Any({" < ", " <= ", " > ", " >= ", " == ", " != "}),
               Expression(t, depth), ")"};
  }

  std::string Expression(Type t, int depth) { return IsInt(t) ? Integer(t, depth) : Real(t, depth); }

  std::string Integer(Type t, int depth) {
    if (depth <= 0) return Leaf(t);
    const TypeInfo& info = kInfo[t];
    const auto a = [&] { return Integer(t, depth - 1 - random_.Below(2)); };
    const auto amount = [&](int bits) {
      const Type n = random_.Chance(70) ? kU32 : AnyInt();
      return random_.Chance(30) ? Cat{random_.Below(bits), "u"}
                                : Cat{"((uint32_t)", Integer(n, depth - 2), " & ", bits - 1, "u)"};
    };
    const std::string c = info.c, w = info.wide;
    switch (random_.Below(24)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5:
        return Cat{"(", c, ")((", w,   ")", a(), Any({" + ", " - ", " * ", " & ", " | ", " ^ "}),
                   "(", w, ")",   a(), ")"};
      case 6:
        return Cat{"(", c, ")((", w, ")", a(), " << ", amount(info.bits), ")"};
      case 7:
      case 8:
        return Cat{"(", c, ")(", a(), " >> ", amount(info.bits), ")"};
      case 9: {
        // Wide divisions are loops of hundreds of instructions: rarely.
        if (info.bits == 128 && random_.Chance(70)) return Cat{"(", c, ")(", a(), " & ~", a(), ")"};
        const char* op = Any({" / ", " % "});
        if (!info.is_signed) return Cat{"(", c, ")(", a(), op, "(", c, ")(", a(), " | 1u))"};
        const std::string positive =
            Format{"(%s)((((%s)1 << %d) - 1u & (%s)%s) | 2u)", c, w, info.bits - 1, w, a()};
        return Cat{"(", c, ")(", a(), op, random_.Chance(50) ? Cat{"(", c, ")-", positive} : positive, ")"};
      }
      case 10:
      case 11: {
        const Type from = AnyType();
        return Convert(from, t, Expression(from, depth - 1));
      }
      case 12:
        return Cat{"(", Condition(depth - 1), " ? ", a(), " : ", a(), ")"};
      case 13:
        return Cat{"(", c, ")", Any({"~", "-"}), "(", w, ")", a()};
      case 14: {
        const std::string x = Value(t), y = Leaf(t);
        return Cat{"(", x, Any({" < ", " > "}), y, " ? ", x, " : ", y, ")"};
      }
      case 15: {  // bits of a word
        const bool wide = info.bits >= 64;
        const std::string x = Integer(wide ? kU64 : kU32, depth - 1);
        switch (random_.Below(4)) {
          case 0:
            return Format{"(%s)__builtin_popcount%s(%s)", c, wide ? "ll" : "", x};
          case 1:
            return Format{"(%s)__builtin_clz%s(%s | 1u)", c, wide ? "ll" : "", x};
          case 2:
            return Format{"(%s)__builtin_ctz%s(%s | 0x80000000u)", c, wide ? "ll" : "", x};
          default:
            return Format{"(%s)__builtin_parity%s(%s)", c, wide ? "ll" : "", x};
        }
      }
      case 16:  // no byte swap of 64 bits: clang 22 at -O0 gets it wrong (docs/limits.md)
        switch (random_.Below(4)) {
          case 0:
            return Cat{"(", c, ")__builtin_bswap32(", Integer(kU32, depth - 1), ")"};
          case 1:
            return Cat{"(", c, ")REVERSE_BITS32(", Integer(kU32, depth - 1), ")"};
          case 2:
            return Cat{"(", c, ")RotateLeft32(", Integer(kU32, depth - 1), ", ", Leaf(kU32), ")"};
          default:
            return Cat{"(", c, ")RotateLeft64(", Integer(kU64, depth - 1), ", ", Leaf(kU32), ")"};
        }
      case 17:  // high halves of products
        switch (random_.Below(3)) {
          case 0:
            return Cat{"(", c, ")((uint64_t)", Leaf(kU32), " * ", Integer(kU32, depth - 1), " >> 32)"};
          case 1:
            return Cat{"(",       c, ")((uint64_t)((int64_t)", Leaf(kS32), " * ", Integer(kS32, depth - 1),
                       ") >> 32)"};
          default:
            return Cat{"(", c, ")((uint128_t)", Leaf(kU64), " * ", Integer(kU64, depth - 1), " >> 64)"};
        }
      case 18: {  // bit fields
        const int width = 1 + random_.Below(std::min(info.bits, 31)),
                  at = random_.Below(info.bits - width + 1);
        if (info.bits == 128)
          return Format{"(%s)((%s)%s >> %d & 0x%xu)", c, w, a(), at, (uint64_t{1} << width) - 1};
        if (random_.Chance(50)) {
          return Format{"(%s)((%s)%s >> %d & 0x%xu)", c, w, a(), at, (uint64_t{1} << width) - 1};
        }
        const std::string mask = Format{"(%s)0x%xu", w, ((uint64_t{1} << width) - 1) << at};
        return Format{"(%s)(((%s)%s & ~%s) | ((%s)%s << %d & %s))", c, w, a(), mask, w, a(), at, mask};
      }
      case 19:
        return Cat{"(", c, ")", Condition(depth - 1)};
      case 20: {
        const Type real = AnyReal();
        const std::string v = Expression(real, depth - 1);
        return Cat{"(", c,  ")", real == kF16 ? "HalfBits(" : real == kF32 ? "FloatBits(" : "DoubleBits(",
                   v,   ")"};
      }
      case 21:
        if (!helpers_.empty()) return CallAny(t, depth);
        return a();
      default:
        return Cat{"(", c, ")((", w, ")", a(), Any({" + ", " - ", " ^ "}), "(", w, ")", Constant(t), ")"};
    }
  }

  std::string Real(Type t, int depth) {
    if (depth <= 0) return Leaf(t);
    const TypeInfo& info = kInfo[t];
    const char* suffix = t == kF64 ? "" : "f";
    const auto a = [&] { return Real(t, depth - 1 - random_.Below(2)); };
    switch (random_.Below(14)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4: {
        const int op = random_.Below(7);
        if (t == kF16) {
          static constexpr const char* kOps[] = {"HalfAdd", "HalfSub", "HalfMul", "HalfDiv"};
          return Cat{kOps[op & 3], "(", a(), ", ", a(), ")"};
        }
        return Cat{"(", a(), op < 2 ? " + " : op < 4 ? " - " : op < 6 ? " * " : " / ", a(), ")"};
      }
      case 5:
        if (t == kF16) return Cat{"(_Float16)__builtin_sqrtf((float)", a(), ")"};
        return Cat{"__builtin_sqrt", suffix, "(__builtin_fabs", suffix, "(", a(), "))"};
      case 6:
        if (t == kF16) return a();
        return Cat{"__builtin_", Any({"floor", "ceil", "trunc", "rint"}), suffix, "(", a(), ")"};
      case 7:
        if (t == kF16) return Cat{"(_Float16)-", a()};
        return Cat{"__builtin_fma", suffix, "(", a(), ", ", a(), ", ", a(), ")"};
      case 8: {
        // An integer past the range of the float is undefined in C.
        static constexpr Type kSmall[] = {kU8, kS8, kS16};
        if (t == kF16) return Cat{"(_Float16)", Integer(kSmall[random_.Below(3)], depth - 1)};
        const Type from = AnyInt();
        if (from == kU128) return Cat{"(", info.c, ")(", Integer(from, depth - 1), " >> 1)"};
        return Cat{"(", info.c, ")", Integer(from, depth - 1)};
      }
      case 9: {
        const Type from = AnyReal();
        // clang 22 at -O0 takes the wrong half of the sign of a copysign that becomes a half
        // (docs/limits.md): no expression of other floats is narrowed to one.
        if (t == kF16) return Cat{"(_Float16)", Leaf(from)};
        return Cat{"(", info.c, ")", Real(from, depth - 1)};
      }
      case 10:
        return Cat{"(", Condition(depth - 1), " ? ", a(), " : ", a(), ")"};
      case 11:
        if (t == kF16) return Cat{"AsHalf(", Integer(kU32, depth - 1), ")"};
        // Not of a value alone: clang 22 loses the sign extension of one that goes into an SDWA operand
        // (docs/limits.md).
        if (t == kF32) return Cat{"AsFloat(", Integer(kU32, depth - 1), " ^ 0x3f800000u)"};
        return Cat{"AsDouble(", Integer(kU64, depth - 1), ")"};
      case 12:
        if (t == kF16) return a();
        return Cat{"__builtin_ldexp", suffix, "(", a(), ", (int)(", Leaf(kU32), " & 63u) - 32)"};
      default:
        if (t == kF16) return Cat{"(_Float16)(", a(), ")"};
        return random_.Chance(50)
                   ? Cat{"__builtin_fabs", suffix, "(", a(), ")"}
                   : Cat{"__builtin_copysign", suffix, "(", a(), ", (", info.c, ")", Leaf(kS32), ")"};
    }
  }

  std::string CallAny(Type t, int depth) {
    const Helper& h = helpers_[static_cast<size_t>(random_.Below(static_cast<int>(helpers_.size())))];
    std::string text = Cat{h.name, "("};
    for (size_t k = 0; k < h.parameters.size(); ++k) {
      absl::StrAppend(&text, k == 0 ? "" : ", ", Expression(h.parameters[k], std::min(depth - 1, 1)));
    }
    return Convert(h.result, t, text + ")");
  }

  Random random_;
  Program program_;
  int weight_[kTypes];
  int variables_ = 2;  // of each type in the function being made
  int next_ = 0;
  bool in_kernel_ = false, has_struct_ = false;
  std::string struct_name_;
  std::vector<Field> fields_;
  std::vector<Array> arrays_;
  bool writes_arrays_ = true;  // assignments to elements may stand here
  std::vector<Helper> helpers_;
};

}  // namespace understudy::programs
