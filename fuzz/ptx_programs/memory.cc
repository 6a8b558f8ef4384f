// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomics.
#include "absl/strings/str_format.h"
#include "fuzz/ptx_programs/generator.h"

namespace understudy::ptx_programs {

std::string Generator::Offset(int bytes, int size, std::string& before) {
  const std::string t = Temp('r');
  absl::StrAppend(&before, "and.b32 ", t, ", ", R(), ", ", bytes - size, ";\n");
  return t;
}

Generator::Access Generator::AnyAccess(bool store, int most_bytes) {
  struct Row {
    const char* type;
    const char* kinds;
    int bytes;
  };
  static constexpr Row kRows[] = {
      {"b32", "r", 4},        {"u32", "r", 4},      {"s32", "r", 4},       {"f32", "f", 4},
      {"u8", "r", 1},         {"s8", "r", 1},       {"u16", "r", 2},       {"s16", "r", 2},
      {"b8", "r", 1},         {"u8", "h", 1},       {"s8", "h", 1},        {"u16", "h", 2},
      {"s16", "h", 2},        {"b16", "h", 2},      {"u64", "l", 8},       {"s64", "l", 8},
      {"b64", "l", 8},        {"u32", "l", 4},      {"s32", "l", 4},       {"s8", "l", 1},
      {"u16", "l", 2},        {"v2.b32", "rr", 8},  {"v2.u32", "rr", 8},   {"v4.b32", "rrrr", 16},
      {"v2.b64", "ll", 16},   {"v2.u64", "ll", 16}, {"v4.u16", "hhhh", 8}, {"v2.b16", "hh", 4},
      {"v2.u8", "rr", 2},     {"v4.u8", "rrrr", 4}, {"v4.s8", "hhhh", 4},  {"v2.f32", "ff", 8},
      {"v4.f32", "ffff", 16}, {"v2.s16", "rr", 4},  {"f64", "d", 8}};
  for (;;) {
    const Row& row = kRows[random_.Below(static_cast<int>(std::size(kRows)))];
    if (row.bytes > most_bytes || (store && std::string(row.type).find('s') != std::string::npos)) continue;
    return {row.type, row.kinds, row.bytes};
  }
}

// The registers of an access, all different where they are written. Stores (which have a `before`) of parts
// of registers take them from where nothing is known of them: of a float's bits an assembler may store the
// float's integer.
std::string Generator::Registers(const Access& access, std::string& settle, std::string* before) {
  const int count = static_cast<int>(access.reg_kind.size());
  const char kind = access.reg_kind[0];
  const int total = kind == 'r'   ? 8
                    : kind == 'd' ? 2
                                  : 4,
            bits = kind == 'h'                  ? 16
                   : kind == 'r' || kind == 'f' ? 32
                                                : 64;
  const bool part = before != nullptr && access.bytes / count * 8 < bits;
  int first = random_.Below(total);
  std::string list;
  for (int k = 0; k < count; ++k) {
    std::string reg = Cat{"%", std::string(1, kind), first};
    if (part) reg = Opaque(bits, reg, *before);
    absl::StrAppend(&list, k == 0 ? "" : ", ", reg);
    if (kind == 'd' && before == nullptr) settle += Settle(reg);
    if (before == nullptr && access.bytes / count * 8 < bits) settle += Hide(reg);
    first = (first + 1) % total;
  }
  return count > 1 ? Cat{"{", list, "}"} : list;
}

std::string Generator::AnyLoad(const std::string& space, const std::string& base, bool wide, int bytes) {
  std::string text, settle;
  const Access access = AnyAccess(false, std::min(bytes, 16));
  const std::string offset = Offset(bytes, access.bytes, text);
  const std::string registers = Registers(access, settle, nullptr);
  std::string address = Temp(wide ? 'l' : 'r');
  if (wide) {
    const std::string extended = Temp('l');
    absl::StrAppend(&text, "cvt.u64.u32 ", extended, ", ", offset, ";\nadd.u64 ", address, ", ", base, ", ",
                    extended, ";\n");
  } else {
    absl::StrAppend(&text, "add.u32 ", address, ", ", base, ", ", offset, ";\n");
  }
  absl::StrAppend(&text, "ld", space, ".", access.type, " ", registers, ", [", address, "];\n", settle);
  return text;
}

std::string Generator::AnyStore(const std::string& space, const std::string& base, bool wide, int bytes) {
  std::string text, none;
  const Access access = AnyAccess(true, std::min(bytes, 16));
  const std::string offset = Offset(bytes, access.bytes, text);
  const std::string registers = Registers(access, none, &text);
  std::string address = Temp(wide ? 'l' : 'r');
  if (wide) {
    const std::string extended = Temp('l');
    absl::StrAppend(&text, "cvt.u64.u32 ", extended, ", ", offset, ";\nadd.u64 ", address, ", ", base, ", ",
                    extended, ";\n");
  } else {
    absl::StrAppend(&text, "add.u32 ", address, ", ", base, ", ", offset, ";\n");
  }
  absl::StrAppend(&text, random_.Chance(10) ? Cat{"@", P(), " "} : std::string(), "st", space, ".",
                  access.type, " [", address, "], ", registers, ";\n");
  return text;
}

Node Generator::LoadInput() {
  static constexpr const char* kSpaces[] = {
      "",           ".global",          ".global.nc",          ".global.ca", ".global.cg",
      ".global.cs", ".volatile.global", ".relaxed.gpu.global", ".global.lu", ".weak.global"};
  return {AnyLoad(kSpaces[random_.Below(10)], "%in", true, 4096), "", {}, true};
}

// This thread's words of `out`.
Node Generator::Scratch() {
  static constexpr const char* kSpaces[] = {"", ".global", ".volatile.global", ".relaxed.gpu.global",
                                            ".relaxed.cta.global"};
  const char* const space = kSpaces[random_.Below(5)];
  return {random_.Chance(50) ? AnyLoad(space, "%own", true, 64) : AnyStore(space, "%own", true, 64),
          "",
          {},
          true};
}

Node Generator::LocalArray() {
  const bool generic = random_.Chance(30);
  std::string text, base = "%local";
  if (generic) {
    base = Temp('l');
    text = Cat{"cvta.local.u64 ", base, ", %local;\n"};
  }
  text += random_.Chance(50) ? AnyLoad(generic ? "" : ".local", base, true, 64)
                             : AnyStore(generic ? "" : ".local", base, true, 64);
  return {text, "", {}, true};
}

// The module's constants, in their two spaces.
Node Generator::Table() {
  const bool constant = random_.Chance(50);
  const std::string base = Temp('l');
  return {Cat{"mov.u64 ", base, ", ", constant ? "constants" : "numbers", ";\n",
              AnyLoad(constant ? ".const" : ".global", base, true, 256)},
          "",
          {},
          true};
}

Generator::Commutative Generator::AnyCommutative() {
  struct Row {
    const char* name;
    int bytes;
  };
  static constexpr Row kRows[] = {{"add.u32", 4}, {"add.s32", 4}, {"add.u64", 8}, {"min.u32", 4},
                                  {"max.u32", 4}, {"min.s32", 4}, {"max.s32", 4}, {"min.u64", 8},
                                  {"max.u64", 8}, {"min.s64", 8}, {"max.s64", 8}, {"and.b32", 4},
                                  {"or.b32", 4},  {"xor.b32", 4}, {"and.b64", 8}, {"or.b64", 8},
                                  {"xor.b64", 8}, {"inc.u32", 4}, {"dec.u32", 4}};
  const Row& row = kRows[random_.Below(static_cast<int>(std::size(kRows)))];
  const std::string name = row.name;
  const bool counts = name == "inc.u32" || name == "dec.u32";
  // The same bound for all: then only how many there were counts.
  return {name, counts ? std::string(Cat{1 + random_.Below(1000)}) : row.bytes == 8 ? L() : R(), row.bytes};
}

std::string Generator::Reduction(const std::string& space, const Commutative& op,
                                 const std::string& address) {
  static constexpr const char* kOrders[] = {"", ".relaxed", ".release", ".acquire", ".acq_rel"};
  static constexpr const char* kScopes[] = {".gpu", ".sys"};
  const bool red = random_.Chance(50);
  const std::string order = kOrders[random_.Below(red ? 3 : 5)];
  const std::string scope = !order.empty() || random_.Chance(50) ? kScopes[random_.Below(2)] : "";
  const std::string guard = random_.Chance(20) ? Cat{"@", P(), " "} : std::string();
  if (red)
    return Cat{guard, "red", order, scope, space, ".", op.name, " [", address, "], ", op.source, ";\n"};
  return Cat{guard, "atom",  order, scope,     space, ".", op.name, " ", Temp(op.bytes == 8 ? 'l' : 'r'),
             ", [", address, "], ", op.source, ";\n"};
}

// All threads on eight places that belong to this statement.
Node Generator::GlobalAtomic() {
  const Commutative op = AnyCommutative();
  std::string text;
  const std::string offset = Offset(64, op.bytes, text), extended = Temp('l'), address = Temp('l');
  absl::StrAppend(&text, "cvt.u64.u32 ", extended, ", ", offset, ";\nadd.u64 ", address, ", %mem, ", extended,
                  ";\n");
  absl::StrAppend(&text,
                  Reduction(random_.Chance(70) ? ".global" : "", op, Cat{address, "+", 64 * groups_++}));
  return {text, "", {}, true};
}

// Memory that no other thread knows: what is read back counts too.
std::string Generator::AtomicOnOwn(const std::string& space, const std::string& address) {
  static constexpr const char* kScopes[] = {
      "", ".cta", ".gpu", ".sys", ".relaxed.cta", ".acquire.gpu", ".acq_rel.sys"};
  const std::string head = Cat{random_.Chance(15) ? Cat{"@", P(), " "} : std::string(), "atom",
                               kScopes[random_.Below(7)], space, "."};
  switch (random_.Below(9)) {
    case 0: {
      const std::string to = L();
      return Cat{head, "cas.b64 ", to, ", [", address, "], ", L(), ", ", L(), ";\n"};
    }
    case 1:
      return Cat{head, "cas.b32 ", R(), ", [", address, "], ", R(), ", ", R(), ";\n"};
    case 2:
      return Cat{head, random_.Chance(50) ? "exch.b32 " : "inc.u32 ", R(), ", [", address, "], ", R(), ";\n"};
    case 3:
      return Cat{head, random_.Chance(50) ? "exch.b64 " : "add.u64 ", L(), ", [", address, "], ", L(), ";\n"};
    case 4:
      return Cat{head, "add.f32 ", F(), ", [", address, "], ", F(), ";\n"};
    case 5: {
      const std::string name = random_.Chance(50) ? "add.noftz.f16x2 " : "add.noftz.bf16x2 ", to = R();
      std::string before;
      const std::string from = Opaque(32, R(), before);
      return Cat{before, head, name, to, ", [", address, "], ", from, ";\n"};
    }
    case 6:
      return Cat{
          head, random_.Chance(50) ? "add.noftz.f16 " : "add.noftz.bf16 ", H(), ", [", address, "], ", H(),
          ";\n"};
    case 7:
      return Cat{head, "cas.b16 ", H(), ", [", address, "], ", H(), ", ", H(), ";\n"};
    default: {
      const Commutative op = AnyCommutative();
      return Cat{head, op.name, " ", op.bytes == 8 ? L() : R(), ", [", address, "], ", op.source, ";\n"};
    }
  }
}

Node Generator::OwnAtomic() {
  std::string text;
  const std::string offset = Offset(64, 8, text), extended = Temp('l'), address = Temp('l');
  absl::StrAppend(&text, "cvt.u64.u32 ", extended, ", ", offset, ";\nadd.u64 ", address, ", %own, ", extended,
                  ";\n");
  text += AtomicOnOwn(random_.Chance(70) ? ".global" : "", address);
  return {text, "", {}, true};
}

}  // namespace understudy::ptx_programs
