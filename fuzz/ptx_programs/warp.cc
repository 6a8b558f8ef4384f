// SPDX-License-Identifier: Apache-2.0
// Warp-wide statements: the lanes of the place's mask execute them together.
#include "absl/strings/str_format.h"
#include "fuzz/ptx_programs/generator.h"

namespace understudy::ptx_programs {

Node Generator::Shuffle(const Place& place) {
  static constexpr const char* kModes[] = {"up", "down", "bfly", "idx"};
  const int mode = random_.Below(4);
  const std::string& mask = place.mask;
  const std::string to = R(), from = R();
  if (place.level != Place::kLanes && whole_warps_) {
    const std::string amount = random_.Chance(50) ? Cat{random_.Below(32)} : R();
    const std::string clamp = random_.Chance(50)
                                  ? (mode == 0 ? "0" : "31")
                                  : absl::StrFormat("0x%x", random_.Below(32) << 8 | random_.Below(32));
    return {
        Cat{"shfl.sync.", kModes[mode], ".b32 ", to, random_.Chance(50) ? Cat{"|", P()} : std::string(), ", ",
            from, ", ", amount, ", ", clamp, ", ", random_.Chance(50) ? std::string("-1") : mask, ";\n"},
        "",
        {},
        true};
  }
  // Lanes may be missing: what a lane gets from one of them is not used.
  std::string text;
  if (mode == 3) {
    const std::string lane = Temp('r'), bit = Temp('r'), lowest = Temp('r'), there = Temp('p');
    text = Cat{"and.b32 ",
               lane,
               ", ",
               R(),
               ", 31;\nshr.b32 ",
               bit,
               ", ",
               mask,
               ", ",
               lane,
               ";\nand.b32 ",
               bit,
               ", ",
               bit,
               ", 1;\nsetp.ne.u32 ",
               there,
               ", ",
               bit,
               ", 0;\nneg.s32 ",
               lowest,
               ", ",
               mask,
               ";\nand.b32 ",
               lowest,
               ", ",
               lowest,
               ", ",
               mask,
               ";\nbfind.u32 ",
               lowest,
               ", ",
               lowest,
               ";\nselp.b32 ",
               lane,
               ", ",
               lane,
               ", ",
               lowest,
               ", ",
               there,
               ";\nshfl.sync.idx.b32 ",
               to,
               ", ",
               from,
               ", ",
               lane,
               ", 31, ",
               mask,
               ";\n"};
    return {text, "", {}, true};
  }
  const int amount = 1 + random_.Below(31);
  const std::string got = Temp('r'), in_range = Temp('p'), lane = Temp('r'), bit = Temp('r'),
                    there = Temp('p');
  text = Cat{"shfl.sync.", kModes[mode],
             ".b32 ",      got,
             "|",          in_range,
             ", ",         from,
             ", ",         amount,
             ", ",         mode == 0 ? 0 : 31,
             ", ",         mask,
             ";\n",        mode == 0 ? "sub.u32 " : mode == 1 ? "add.u32 " : "xor.b32 ",
             lane,         ", %lane, ",
             amount,       ";\nand.b32 ",
             lane,         ", ",
             lane,         ", 31;\nshr.b32 ",
             bit,          ", ",
             mask,         ", ",
             lane,         ";\nand.b32 ",
             bit,          ", ",
             bit,          ", 1;\nsetp.ne.u32 ",
             there,        ", ",
             bit,          ", 0;\nnot.pred ",
             in_range,     ", ",
             in_range,     ";\nor.pred ",
             there,        ", ",
             there,        ", ",
             in_range,     ";\nselp.b32 ",
             to,           ", ",
             got,          ", ",
             to,           ", ",
             there,        ";\n"};
  return {text, "", {}, true};
}

Node Generator::Vote(const Place& place) {
  static constexpr const char* kModes[] = {"all", "any", "uni"};
  const std::string source = Cat{random_.Chance(30) ? "!" : "", P()};
  if (random_.Chance(50))
    return {Cat{"vote.sync.ballot.b32 ", R(), ", ", source, ", ", place.mask, ";\n"}, "", {}, true};
  return {Cat{"vote.sync.", kModes[random_.Below(3)], ".pred ", P(), ", ", source, ", ", place.mask, ";\n"},
          "",
          {},
          true};
}

Node Generator::Match(const Place& place) {
  switch (random_.Below(4)) {
    case 0: {
      const std::string t = Temp('r');
      return {
          Cat{"and.b32 ", t, ", ", R(), ", 3;\nmatch.any.sync.b32 ", R(), ", ", t, ", ", place.mask, ";\n"},
          "",
          {},
          true};
    }
    case 1:
      return {Cat{"match.any.sync.b64 ", R(), ", ", L(), ", ", place.mask, ";\n"}, "", {}, true};
    case 2:
      return {Cat{"match.all.sync.b32 ", R(), "|", P(), ", ", R(), ", ", place.mask, ";\n"}, "", {}, true};
    default: {
      const std::string t = Temp('r');
      return {Cat{"and.b32 ", t, ", ", R(), ", 0;\nmatch.all.sync.b32 ", R(), "|", P(), ", ", t, ", ",
                  place.mask, ";\n"},
              "",
              {},
              true};
    }
  }
}

Node Generator::Redux(const Place& place) {
  static constexpr const char* kOps[] = {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32",
                                         "max.s32", "and.b32", "or.b32",  "xor.b32"};
  return {
      Cat{"redux.sync.", kOps[random_.Below(9)], " ", R(), ", ", R(), ", ", place.mask, ";\n"}, "", {}, true};
}

Node Generator::WarpMisc(const Place& place) {
  if (random_.Chance(50)) return {Cat{"bar.warp.sync ", place.mask, ";\n"}, "", {}, true};
  const std::string leader = Temp('r'), q = Temp('p'), to = R();
  return {Cat{"elect.sync ", leader, "|", q, ", ", place.mask, ";\n@", q, " add.u32 ", to, ", ", to, ", ",
              leader, ";\n"},
          "",
          {},
          true};
}

Node Generator::Mma() {
  struct Row {
    const char* name;
    int a, b, c;
    char kind;  // of registers: r, or d for doubles
    bool sparse;
  };
  static constexpr Row kRows[] = {
#define MMA(name, a, b, c, kind, sparse) {name, a, b, c, kind, sparse},
#include "fuzz/ptx_programs/mma_forms.inc"
#undef MMA
  };
  const Row& row = kRows[random_.Below(static_cast<int>(std::size(kRows)))];
  std::string text, before;
  std::vector<std::string> results;
  const std::string name = row.name;
  const bool eighths = name.find("e4m3") != std::string::npos || name.find("e5m2") != std::string::npos;
  const auto list = [&](int count, bool result) {
    std::string out = "{";
    for (int k = 0; k < count; ++k) {
      std::string reg;
      if (result) {
        reg = Temp(row.kind == 'd' ? 'l' : 'r');
        results.push_back(reg);
      } else if (row.kind == 'd') {
        reg = L();
      } else {
        reg = eighths ? Opaque(32, R(), before) : R();
      }
      absl::StrAppend(&out, k == 0 ? "" : ", ", reg);
    }
    return out + "}";
  };
  absl::StrAppend(&text, row.name, " ", list(row.c, true));
  absl::StrAppend(&text, ", ", list(row.a, false));
  absl::StrAppend(&text, ", ", list(row.b, false));
  absl::StrAppend(&text, ", ", list(row.c, false));
  if (row.sparse) {
    // Ordered pairs of indices.
    static constexpr char kPairs[] = "489cde";
    std::string word = "0x";
    for (int k = 0; k < 8; ++k) word += kPairs[random_.Below(6)];
    const std::string e = Temp('r');
    text = Cat{"mov.b32 ", e, ", ", word, ";\n", text, ", ", e, ", 0x0"};
  }
  text = before + text + ";\n";
  for (const std::string& result : results) {
    if (row.kind == 'd') text += Settle(result);
    const std::string to = row.kind == 'd' ? L() : R();
    absl::StrAppend(&text, "xor.b", row.kind == 'd' ? 64 : 32, " ", to, ", ", to, ", ", result, ";\n");
  }
  return {text, "", {}, true};
}

}  // namespace understudy::ptx_programs
