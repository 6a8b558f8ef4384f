// SPDX-License-Identifier: Apache-2.0
#include "fuzz/amd_programs/generate.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "fuzz/amd_programs/generate_expressions.h"

namespace understudy::programs {
namespace {

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

class Generator : private Expressions {
 public:
  explicit Generator(uint64_t seed) : Expressions(seed) {
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
  // ---- statements ----
  Node Statement(std::string text) { return {std::move(text), "", {}, true}; }
  std::string Assignment() {
    const Type t = AnyType();
    const int choice = random_.Below(12);
    if (choice == 0 && writes_arrays_ && !arrays_.empty()) {
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
        // No sum of unsigned 64 bits: clang 22 takes a carry within a product for the sum's (docs/limits.md).
        const char* op = t == kU64 ? Any({"sub", "mul"}) : Any({"add", "sub", "mul"});
        return Statement(Cat{"if (__builtin_", op, "_overflow(", Expression(t, 2), ", ", Expression(t, 2),
                             ", &", Variable(t), ")) ", Variable(flag), " ^= 1;"});
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
        // Ways that meet lose an array that one of them wrote (docs/limits.md).
        const bool wrote_arrays = std::exchange(writes_arrays_, false);
        std::vector<Node> arms;
        for (int k = 0; k < cases; ++k) {
          const bool falls = random_.Chance(25);
          arms.push_back({Format{"case %d: {", k == cases - 1 && random_.Chance(20) ? 100 : k},
                          falls ? "}  // falls through" : "break; }", Statements(inner, 2), true});
        }
        if (random_.Chance(60)) arms.push_back({"default: {", "}", Statements(inner, 2), true});
        writes_arrays_ = wrote_arrays;
        return Block{Cat{"switch ((uint32_t)", Expression(t, 1), " & ", cases < 4 ? 3 : 7, "u) {"},
                     std::move(arms)};
      }
      case 22: {  // a way out of the middle of a block
        const std::string label = Fresh("out");
        inner.may_break = false;
        const bool wrote_arrays = std::exchange(writes_arrays_, false);
        Node node = Block{"{", Statements(inner, 2), Cat{"} ", label, ":;"}};
        node.children.insert(node.children.begin(),
                             Statement(Cat{"if ", Condition(2), " goto ", label, ";"}));
        if (random_.Chance(50))
          node.children.push_back(Statement(Cat{"if ", Condition(1), " goto ", label, ";"}));
        for (Node& s : Statements(inner, 2)) node.children.push_back(std::move(s));
        writes_arrays_ = wrote_arrays;
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
    if (writes_arrays_ && !arrays_.empty() && random_.Chance(60)) {
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
    if (ints.size() < 2 || !writes_arrays_) return false;
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
      // None of 128 bits: as vectors in registers they lose what one way through a switch assigned
      // (docs/limits.md).
      const Type drawn = AnyType();
      const bool wide = drawn == kU128 || drawn == kS128;
      const Array a{Cat{"t", k}, wide ? kU32 : drawn, 4 << random_.Below(3)};
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
};

}  // namespace

Program Generate(uint64_t seed) { return Generator(seed).Run(); }

}  // namespace understudy::programs
