// SPDX-License-Identifier: Apache-2.0
#include "fuzz/amd_programs/generate.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "fuzz/amd_programs/random.h"

namespace understudy::programs {
namespace {

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
// A block that may be dropped; braces, for the same reason.
struct Block {
  Block(std::string head, std::vector<Node> children, std::string tail = "}")
      : node{std::move(head), std::move(tail), std::move(children), true} {}
  operator Node() && { return std::move(node); }
  Node node;
};

// What a statement may do where it stands.
struct Place {
  int depth = 0;           // blocks that may still nest
  int loops = 0;           // loops around it
  bool may_break = false;  // it stands in a loop, and in no switch within that loop
  bool in_kernel = false;  // mem, lds and l are there
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

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {
    program_.seed = seed;
    program_.name = Cat{"Random", seed};
  }

  Program Run() {
    // A kernel is of few types: more of its operations then meet one another, and it compiles sooner.
    for (int t = 0; t < kTypes; ++t) {
      const bool wide = t == kU128 || t == kS128;
      weight_[t] = random_.Chance(wide ? 85 : 50) ? 0 : random_.Chance(wide ? 0 : 30) ? 3 : 1;
    }
    weight_[kU32] = std::max(weight_[kU32], 1);
    if (random_.Chance(40)) MakeStruct();
    const int helpers = random_.Chance(50) ? 0 : 1 + random_.Below(2);
    for (int k = 0; k < helpers; ++k) MakeHelper(k);
    if (random_.Chance(8)) MakeRecursion();
    if (random_.Chance(8)) MakeTable();
    MakeKernel();
    return std::move(program_);
  }

 private:
  // ---- choosing ----
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
        if (t == kF32) return Cat{"AsFloat(", Integer(kU32, depth - 1), ")"};
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

  // ---- statements ----
  Node Statement(std::string text) { return {std::move(text), "", {}, true}; }
  std::string Assignment() {
    const Type t = AnyType();
    const int choice = random_.Below(12);
    if (choice == 0 && !arrays_.empty()) {
      const Array& a = arrays_[static_cast<size_t>(random_.Below(static_cast<int>(arrays_.size())))];
      return Format{"%s[%s & %du] = %s;", a.name, Leaf(kU32), a.size - 1, Expression(a.type, 2)};
    }
    if (choice == 1 && has_struct_) {
      const Field& f = fields_[static_cast<size_t>(random_.Below(static_cast<int>(fields_.size())))];
      return Cat{random_.Chance(50) ? "s0." : "s1.", f.name, " = ", Expression(f.type, 2), ";"};
    }
    if (choice == 2 && IsInt(t)) {
      const std::string v = Variable(t);
      return Cat{v,
                 " = (",
                 kInfo[t].c,
                 ")((",
                 kInfo[t].wide,
                 ")",
                 v,
                 Any({" + ", " ^ ", " * ", " - "}),
                 "(",
                 kInfo[t].wide,
                 ")",
                 Expression(t, 2),
                 ");"};
    }
    return Cat{Variable(t), " = ", Expression(t, 2 + random_.Below(2)), ";"};
  }

  Node AnyStatement(const Place& place) {
    Place inner = place;
    --inner.depth;
    const int choice = random_.Below(place.depth > 0 ? 24 : 14);
    switch (choice) {
      case 0:
        if (place.may_break) return Statement(Cat{"if ", Condition(2), Any({" break;", " continue;"})});
        break;
      case 1: {  // a pointer to one of two
        const Type t = AnyType();
        const std::string p = Fresh("pointer");
        return Statement(Cat{"{ ", kInfo[t].c, "* ", p, " = ", Condition(1), " ? &", Variable(t), " : &",
                             Variable(t), "; *", p, " = ", Expression(t, 2), "; ", Variable(t), " = *", p,
                             "; }"});
      }
      case 2: {  // overflow into a variable
        const Type drawn = static_cast<Type>(kU32 + random_.Below(4)), t = Active(drawn) ? drawn : kU32,
                   flag = AnyInt();
        return Statement(Cat{"if (__builtin_", Any({"add", "sub", "mul"}), "_overflow(", Expression(t, 2),
                             ", ", Expression(t, 2), ", &", Variable(t), ")) ", Variable(flag), " ^= 1;"});
      }
      case 3:
        if (has_struct_) return Statement(random_.Chance(50) ? "s0 = s1;" : "s1 = s0;");
        break;
      case 4:
        if (Node copy; Copy(copy)) return copy;
        break;
      case 5:
        if (place.in_kernel) return Statement(MemoryAtomic());
        break;
      case 6: {  // a value that optimisers must not see through
        const Type t = AnyType();
        const std::string v = Fresh("v");
        return Statement(Cat{"{ volatile ", kInfo[t].c, " ", v, " = ", Expression(t, 2), "; ", Variable(t),
                             " = ", v, "; }"});
      }
      case 14:
      case 15:
        return Block{Cat{"if ", Condition(2), " {"}, Statements(inner, 3)};
      case 16: {
        // One node of two halves, so that they go together.
        Node node = Block{Cat{"if ", Condition(2), " {"}, Statements(inner, 2)};
        Node other{"} else {", "", Statements(inner, 2), false};
        node.children.push_back(std::move(other));
        return node;
      }
      case 17:
      case 18:
        if (place.loops < 2) {
          const std::string k = Fresh("k");
          inner.loops = place.loops + 1, inner.may_break = true;
          const std::string count =
              random_.Chance(50) ? Cat{1 + random_.Below(6), "u"} : Cat{"(", Leaf(kU32), " & 7u)"};
          // A step of its own kind; the count is read again at every turn.
          return Block{Format{"for (uint32_t %s = 0; %s < %s; ++%s) {", k, k, count, k},
                       WithIndex(k, Statements(inner, 3))};
        }
        break;
      case 19:
        if (place.loops < 2) {
          const std::string k = Fresh("k");
          inner.loops = place.loops + 1, inner.may_break = true;
          Node loop = Block{Cat{"do {"}, Statements(inner, 3),
                            Cat{"} while (++", k, " < 6u && ", Condition(1), ");"}};
          return Block{Cat{"{ uint32_t ", k, " = 0;"}, {std::move(loop)}};
        }
        break;
      case 20:
      case 21: {
        const int cases = 2 + random_.Below(6);
        const Type t = AnyInt();
        inner.may_break = false;
        std::vector<Node> arms;
        for (int k = 0; k < cases; ++k) {
          const bool falls = random_.Chance(25);
          arms.push_back({Format{"case %d: {", k == cases - 1 && random_.Chance(20) ? 100 : k},
                          falls ? "}  // falls through" : "break; }", Statements(inner, 2), true});
        }
        if (random_.Chance(60)) arms.push_back({"default: {", "}", Statements(inner, 2), true});
        return Block{Cat{"switch ((uint32_t)", Expression(t, 1), " & ", cases < 4 ? 3 : 7, "u) {"},
                     std::move(arms)};
      }
      case 22: {  // a way out of the middle of a block
        const std::string label = Fresh("out");
        inner.may_break = false;
        Node node = Block{"{", Statements(inner, 2), Cat{"} ", label, ":;"}};
        node.children.insert(node.children.begin(),
                             Statement(Cat{"if ", Condition(2), " goto ", label, ";"}));
        if (random_.Chance(50))
          node.children.push_back(Statement(Cat{"if ", Condition(1), " goto ", label, ";"}));
        for (Node& s : Statements(inner, 2)) node.children.push_back(std::move(s));
        return node;
      }
      default:
        break;
    }
    return Statement(Assignment());
  }

  std::vector<Node> WithIndex(const std::string& k, std::vector<Node> body) {
    const Type t = AnyInt();
    if (random_.Chance(60)) {
      body.push_back(Statement(Cat{Variable(t), " ^= (", kInfo[t].c, ")(", k, " * 3u);"}));
    }
    if (!arrays_.empty() && random_.Chance(60)) {
      const Array& a = arrays_[static_cast<size_t>(random_.Below(static_cast<int>(arrays_.size())))];
      body.push_back(Statement(Format{"%s[%s & %du] = %s;", a.name, k, a.size - 1, Expression(a.type, 2)}));
    }
    return body;
  }

  std::vector<Node> Statements(const Place& place, int most) {
    std::vector<Node> list;
    const int count = 1 + random_.Below(most);
    for (int k = 0; k < count; ++k) list.push_back(AnyStatement(place));
    return list;
  }

  // Bytes from one integer array to another, at any alignment.
  bool Copy(Node& node) {
    std::vector<const Array*> ints;
    for (const Array& a : arrays_) {
      if (IsInt(a.type)) ints.push_back(&a);
    }
    if (ints.size() < 2) return false;
    const Array &to = *ints[0], &from = *ints[1];
    const int to_bytes = to.size * kInfo[to.type].bits / 8,
              from_bytes = from.size * kInfo[from.type].bits / 8;
    const int most = std::min(to_bytes, from_bytes);
    const int n = 1 + random_.Below(most / 2);
    const auto offset = [&](int bytes) {
      return random_.Chance(50) ? Cat{random_.Below(bytes - n + 1), "u"}
                                : Cat{Leaf(kU32), " % ", bytes - n + 1, "u"};
    };
    node = Statement(Format{"__builtin_memcpy((uint8_t*)%s + %s, (uint8_t*)%s + %s, %d);", to.name,
                            offset(to_bytes), from.name, offset(from_bytes), n});
    return true;
  }

  // mem in areas of 32 words, each with one operation; nothing reads them before the end.
  std::string MemoryAtomic() {
    static constexpr const char* kOps[] = {"ADD", "SUB", "AND", "OR", "XOR", "MIN", "MAX"};
    static constexpr const char* kOrders[] = {"__ATOMIC_RELAXED", "__ATOMIC_RELAXED", "__ATOMIC_ACQUIRE",
                                              "__ATOMIC_RELEASE", "__ATOMIC_ACQ_REL", "__ATOMIC_SEQ_CST"};
    const int area = random_.Below(28);
    if (area >= 26) {  // sums of floats that stay exact
      const bool wide = area == 27;
      return Format{"ATOMIC_ADD_FLOAT((GLOBAL %s*)(mem + %d) + (%s & %du), (%s)(int8_t)%s);",
                    wide ? "double" : "float",
                    wide ? 256 : 288,
                    Leaf(kU32),
                    wide ? 15 : 31,
                    wide ? "double" : "float",
                    Leaf(kU32)};
    }
    const int op = area % 7, variant = area / 7;  // u32, s32, u64, s64
    const Type t = static_cast<Type>(kU32 + std::min(variant, 3));
    // Addition and subtraction commute with one another, signed and unsigned are the same; min and max do
    // not.
    const int word = variant < 2 ? 512 + op * 32 + (op >= 5 && variant == 1 ? 64 : 0)
                                 : 800 + op * 16 + (op >= 5 && variant == 3 ? 32 : 0);
    return Format{"ATOMIC_%s((GLOBAL %s*)(mem + %d) + (%s & %du), %s, %s);",
                  kOps[op],
                  kInfo[t].c,
                  word,
                  Leaf(kU32),
                  variant < 2 ? 31 : 7,
                  Expression(t, 2),
                  Any(kOrders)};
  }

  // ---- workgroup phases: uniform control flow only ----
  Node Phase() {
    const auto step = [](std::string text) { return Node{std::move(text), "", {}, false}; };
    switch (random_.Below(7)) {
      case 0:
      case 1: {  // each writes its own, all read others'
        const Type t = AnyType();
        const int offset = 1 + random_.Below(127);
        const std::string place = Cat{"((LDS ", kInfo[t].c, "*)lds)"};
        const std::string from = random_.Chance(50)   ? std::string(Format{"(l ^ %du) & 127u", offset})
                                 : random_.Chance(50) ? std::string(Format{"(l + %du) & 127u", offset})
                                                      : std::string(Cat{Leaf(kU32), " & 127u"});
        Node node = Block{"{", {}};
        node.children.push_back(step(Cat{place, "[l] = ", Expression(t, 2), ";"}));
        node.children.push_back(step("BARRIER();"));
        node.children.push_back(step(Cat{Variable(t), " = ", place, "[", from, "];"}));
        if (random_.Chance(40)) {
          node.children.push_back(Statement(
              Cat{"if ", Condition(1), " ", Variable(t), " = ", place, "[", Leaf(kU32), " & 127u];"}));
        }
        node.children.push_back(step("BARRIER();"));
        return node;
      }
      case 2:
      case 3: {  // atomics on LDS, one operation a phase
        static constexpr const char* kOps[] = {"ADD", "AND", "OR", "XOR", "MIN", "MAX"};
        const char* op = Any(kOps);
        const Type drawn = static_cast<Type>(kU32 + random_.Below(4)), t = Active(drawn) ? drawn : kU32;
        const std::string place = Cat{"((LDS ", kInfo[t].c, "*)lds)"};
        Node node = Block{"{", {}};
        node.children.push_back(step(Cat{place, "[l] = ", Constant(t), ";"}));
        node.children.push_back(step("BARRIER();"));
        const int count = 1 + random_.Below(3);
        for (int k = 0; k < count; ++k) {
          const std::string atomic = Format{"ATOMIC_%s(%s + (%s & %du), %s, __ATOMIC_RELAXED);",
                                            op,
                                            place,
                                            Leaf(kU32),
                                            (1 << random_.Below(8)) - 1,
                                            Expression(t, 2)};
          node.children.push_back(
              Statement(random_.Chance(50) ? atomic : Cat{"if ", Condition(2), " ", atomic}));
        }
        node.children.push_back(step("BARRIER();"));
        node.children.push_back(step(Cat{Variable(t), " = ", place, "[", Leaf(kU32), " & 127u];"}));
        node.children.push_back(step("BARRIER();"));
        return node;
      }
      case 4:
        return Statement(Cat{Active(kU64) ? "g0 ^= BALLOT(" : "e0 ^= (uint32_t)(BALLOT(", Condition(2),
                             Active(kU64) ? ");" : ") >> 7);"});
      case 5:
        return Statement(
            random_.Chance(50)
                ? std::string(Cat{"e0 = SHUFFLE(", Expression(kU32, 2), ", ", Leaf(kU32), ");"})
                : std::string(Format{"e1 += READ_LANE(%s, %du);", Expression(kU32, 2), random_.Below(32)}));
      default: {  // a uniform loop around a phase
        const std::string k = Fresh("k");
        Node node =
            Block{Format{"for (uint32_t %s = 0; %s < %du; ++%s) {", k, k, 2 + random_.Below(3), k}, {}};
        Place place{1, 1, false, true};
        node.children.push_back(AnyStatement(place));
        node.children.push_back(step(Cat{"lds[l] = ", Expression(kU32, 2), " + ", k, ";"}));
        node.children.push_back(step("BARRIER();"));
        node.children.push_back(
            step(Format{"e%d ^= lds[(l + %s * 5u) & 127u];", random_.Below(variables_), k}));
        node.children.push_back(step("BARRIER();"));
        return node;
      }
    }
  }

  // ---- declarations ----
  void MakeStruct() {
    has_struct_ = true;
    struct_name_ = Cat{"struct ", program_.name, "S"};
    Node node{Cat{struct_name_, " {"}, random_.Chance(30) ? "} __attribute__((packed));" : "};", {}, false};
    const int count = 2 + random_.Below(6);
    for (int k = 0; k < count; ++k) {
      const Type t = AnyType();
      fields_.push_back({Cat{"x", k}, t});
      node.children.push_back({Cat{kInfo[t].c, " x", k, ";"}, "", {}, false});
    }
    program_.nodes.push_back(std::move(node));
  }

  // A variable's first value: of the parameters in a helper, of the input in a kernel.
  std::string Start(Type t, int index) {
    if (in_kernel_) {
      const int at = static_cast<int>(t) * 3 + index * 17;
      switch (t) {
        case kU128:
        case kS128:
          return Format{"(%s)((uint128_t)IN64(%d) << 64 | IN64(%d))", kInfo[t].c, at, at + 2};
        case kU64:
        case kS64:
          return Format{"(%s)IN64(%d)", kInfo[t].c, at};
        case kF16:
          return Format{index == 0 ? "AsHalf((IN(%d) & 0x87ffu) | 0x3800u)" : "AsHalf(IN(%d))", at};
        case kF32:
          return Format{index == 0 ? "AsFloat((IN(%d) & 0x83ffffffu) | 0x3c000000u)" : "AsFloat(IN(%d))", at};
        case kF64:
          return Format{index == 0 ? "AsDouble((IN64(%d) & 0x803fffffffffffffu) | 0x3fc0000000000000u)"
                                   : "AsDouble(IN64(%d))",
                        at};
        default:
          return Format{"(%s)IN(%d)", kInfo[t].c, at};
      }
    }
    return Constant(t);
  }

  std::vector<Node> Declarations() {
    std::vector<Node> list;
    const auto fixed = [&list](std::string text) { list.push_back({std::move(text), "", {}, false}); };
    for (int t = 0; t < kTypes; ++t) {
      if (!Active(static_cast<Type>(t))) continue;
      std::string text = kInfo[t].c;
      for (int k = 0; k < variables_; ++k) {
        absl::StrAppend(&text, k == 0 ? " " : ", ", kInfo[t].tag, k, " = ", Start(static_cast<Type>(t), k));
      }
      fixed(text + ";");
    }
    return list;
  }
  // What reads variables comes after all are declared.
  void DeclareAggregates(std::vector<Node>& list) {
    const auto fixed = [&list](std::string text) { list.push_back({std::move(text), "", {}, false}); };
    const int count = random_.Below(4);
    std::vector<Array> arrays;
    for (int k = 0; k < count; ++k) {
      const Array a{Cat{"t", k}, AnyType(), 4 << random_.Below(3)};
      fixed(Format{"%s %s[%d];", kInfo[a.type].c, a.name, a.size});
      fixed(Format{"for (uint32_t k = 0; k < %du; ++k) %s[k] = (%s)(%s);", a.size, a.name, kInfo[a.type].c,
                   in_kernel_ && IsInt(a.type) ? "IN(k + 20u)"
                   : in_kernel_                ? "(int16_t)IN(k + 5u)"
                                               : "k * 77u"});
      arrays.push_back(a);
    }
    if (has_struct_) {
      fixed(Cat{struct_name_, " s0, s1;"});
      // Packed structs have holes nowhere, others may: members alone are ever read.
      for (const Field& f : fields_) {
        fixed(Cat{"s0.", f.name, " = ", Variable(f.type), ", s1.", f.name, " = ", Variable(f.type), ";"});
      }
    }
    arrays_ = std::move(arrays);
  }

  void MakeHelper(int index) {
    Helper h{Cat{program_.name, "F", index}, AnyType(), {}};
    const int count = 1 + random_.Below(index == 2 ? 9 : 4);
    std::string head =
        Cat{"static ", random_.Chance(70) ? "NOINLINE " : "", kInfo[h.result].c, " ", h.name, "("};
    for (int k = 0; k < count; ++k) {
      h.parameters.push_back(AnyType());
      absl::StrAppend(&head, k == 0 ? "" : ", ", kInfo[h.parameters.back()].c, " z", k);
    }
    variables_ = 1, in_kernel_ = false;
    arrays_.clear();
    const bool had_struct = has_struct_;
    has_struct_ = had_struct && random_.Chance(40);
    Node node{head + ") {", "}", Declarations(), false};
    for (int k = 0; k < count; ++k) {
      const Type t = h.parameters[static_cast<size_t>(k)];
      node.children.push_back({Cat{kInfo[t].tag, "0 = z", k, ";"}, "", {}, false});
    }
    const std::vector<Helper> callable = std::exchange(helpers_, {});
    DeclareAggregates(node.children);
    if (random_.Chance(50)) helpers_ = callable;
    for (Node& s : Statements({1, 0, false, false}, 3)) node.children.push_back(std::move(s));
    node.children.push_back({Cat{"return ", Expression(h.result, 2), ";"}, "", {}, false});
    helpers_ = callable;
    helpers_.push_back(h);
    has_struct_ = had_struct;
    program_.nodes.push_back(std::move(node));
  }

  void MakeRecursion() {
    const std::string name = program_.name + "R";
    const Type t = AnyInt();
    const std::string c = kInfo[t].c;
    variables_ = 0;
    program_.nodes.push_back(
        {Format{"static NOINLINE %s %sStep(uint32_t n, %s z, uint32_t* p) {", c, name, c},
         "}",
         {{Format{"if (n == 0) return (%s)(z ^ *p);", c}, "", {}, false},
          {"uint32_t local[3] = {*p, n, (uint32_t)z};", "", {}, false},
          {"*p += n * 3u;", "", {}, true},
          {Format{"if (z & 1) z = (%s)((%s)z * 3u + (%s)%sStep(n - 1u, (%s)(z >> 1), local + n %% 3u));", c,
                  kInfo[t].wide, kInfo[t].wide, name, c},
           "",
           {},
           true},
          {Format{"return (%s)((%s)%sStep(n - 1u, (%s)(z ^ n), p) + local[1]);", c, kInfo[t].wide, name, c},
           "",
           {},
           false}},
         false});
    program_.nodes.push_back({Format{"static %s %s(uint32_t n, %s z) {", c, name, c},
                              "}",
                              {{"uint32_t count = n;", "", {}, false},
                               {Format{"return %sStep(n & 3u, z, &count);", name}, "", {}, false}},
                              false});
    helpers_.push_back({name, t, {kU32, t}});
  }

  void MakeTable() {  // functions of one signature behind pointers
    const std::string name = program_.name + "T";
    const Type result = AnyType(), parameter = AnyType();
    std::string table;
    for (int k = 0; k < 2; ++k) {
      variables_ = 1, in_kernel_ = false;
      arrays_.clear();
      const bool had_struct = std::exchange(has_struct_, false);
      Node node{Format{"static NOINLINE %s %s%d(%s z) {", kInfo[result].c, name, k, kInfo[parameter].c}, "}",
                Declarations(), false};
      node.children.push_back({Cat{kInfo[parameter].tag, "0 = z;"}, "", {}, false});
      for (Node& s : Statements({1, 0, false, false}, 2)) node.children.push_back(std::move(s));
      node.children.push_back({Cat{"return ", Expression(result, 2), ";"}, "", {}, false});
      program_.nodes.push_back(std::move(node));
      absl::StrAppend(&table, k == 0 ? "" : ", ", name, k);
      has_struct_ = had_struct;
    }
    program_.nodes.push_back(
        {Format{"static %s (*const %sList[2])(%s) = {%s};", kInfo[result].c, name, kInfo[parameter].c, table},
         "",
         {},
         false});
    program_.nodes.push_back(
        {Format{"static %s %s(uint32_t n, %s z) {", kInfo[result].c, name, kInfo[parameter].c},
         "}",
         {{Format{"return %sList[n & 1u](z);", name}, "", {}, false}},
         false});
    helpers_.push_back({name, result, {kU32, parameter}});
  }

  std::string Bits(Type t, const std::string& v) {
    switch (t) {
      case kF16:
        return Cat{"HalfBits(", v, ")"};
      case kF32:
        return Cat{"FloatBits(", v, ")"};
      case kF64:
        return Cat{"(uint32_t)(DoubleBits(", v, ") ^ DoubleBits(", v, ") >> 32)"};
      case kU64:
      case kS64:
        return Cat{"(uint32_t)(", v, " ^ ", v, " >> 32)"};
      case kU128:
      case kS128:
        return Cat{"(uint32_t)(", v, " ^ ", v, " >> 32 ^ ", v, " >> 64 ^ ", v, " >> 96)"};
      default:
        return Cat{"(uint32_t)", v};
    }
  }

  void MakeKernel() {
    variables_ = 2, in_kernel_ = true;
    arrays_.clear();
    Node node{Cat{"KERNEL(", program_.name, ") {"}, "}", Declarations(), false};
    DeclareAggregates(node.children);
    const int count = 2 + random_.Below(6);
    const int phases = random_.Chance(60) ? 15 + random_.Below(20) : 0;
    for (int k = 0; k < count; ++k)
      node.children.push_back(random_.Chance(phases) ? Phase() : AnyStatement(Place{2, 0, false, true}));
    // Each word of the output tells of some types; every variable counts.
    const auto fixed = [&node](std::string text) {
      node.children.push_back({std::move(text), "", {}, false});
    };
    fixed("uint32_t word[8] = {0, 0, 0, 0, 0, 0, 0, 0};");
    const auto mix = [&](int k, const std::string& v) {
      fixed(Format{"word[%d] = word[%d] * 31u + %s;", k, k, v});
    };
    static constexpr int kWordOf[kTypes] = {0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6};
    for (int t = 0; t < kTypes; ++t) {
      for (int k = 0; k < variables_ && Active(static_cast<Type>(t)); ++k)
        mix(kWordOf[t], Bits(static_cast<Type>(t), Cat{kInfo[t].tag, k}));
    }
    for (const Array& a : arrays_) {
      fixed(Format{"for (uint32_t k = 0; k < %du; ++k) word[7] = word[7] * 31u + %s;", a.size,
                   Bits(a.type, a.name + "[k]")});
    }
    if (has_struct_) {
      for (const Field& f : fields_)
        mix(7, Bits(f.type, "s0." + f.name)), mix(7, Bits(f.type, "s1." + f.name));
    }
    fixed("for (uint32_t k = 0; k < 8; ++k) out[k] = word[k];");
    program_.nodes.push_back(std::move(node));
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
  std::vector<Helper> helpers_;
};

}  // namespace

Program Generate(uint64_t seed) { return Generator(seed).Run(); }

}  // namespace understudy::programs
