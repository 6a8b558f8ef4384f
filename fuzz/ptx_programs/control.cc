// SPDX-License-Identifier: Apache-2.0
// Branches, loops, branch tables, calls and exits. Where a place knows the mask of its lanes, blocks inside
// find theirs by votes, which all lanes of the place execute.
#include "absl/strings/str_format.h"
#include "fuzz/ptx_programs/generator.h"

namespace understudy::ptx_programs {

bool Generator::MaskInside(const Place& place) {
  return track_masks_ && !place.mask.empty() && random_.Chance(80);
}

// Behind a branch on a predicate that lives on, an assembler may take its value for known, in loops too: it
// is asked by way of a number.
std::string Generator::Condition(const std::string& p) {
  if (random_.Chance(50) || writes_function_) return Comparison(p);
  std::string text;
  const std::string t = Temp('r'), q = P();
  absl::StrAppend(&text, "selp.u32 ", t, ", 1, 0, ", q, ";\n");
  const std::string u = Opaque(32, t, text);
  return Cat{text, "setp.ne.u32 ", p, ", ", u, ", 0;\n"};
}

Node Generator::If(Place& place) {
  const std::string p = Temp('p');
  std::string text = Condition(p);
  Place inside = place;
  inside.level = Place::kLanes;
  ++inside.depth;
  Place other = inside;
  if (MaskInside(place)) {
    inside.mask = Temp('r'), other.mask = Temp('r');
    absl::StrAppend(&text, "vote.sync.ballot.b32 ", inside.mask, ", ", p, ", ", place.mask,
                    ";\nvote.sync.ballot.b32 ", other.mask, ", !", p, ", ", place.mask, ";\n");
  } else {
    inside.mask = other.mask = "";
  }
  const bool has_else = random_.Chance(60);
  const std::string otherwise = Label(), end = Label();
  Node node{Cat{text, "@!", p, " bra ", otherwise, ";\n"}, Cat{has_else ? end : otherwise, ":\n"}, {}, true};
  Node first{"", "", Block(inside, 1 + random_.Below(4)), false};
  node.children.push_back(std::move(first));
  if (has_else) {
    Node second{Cat{"bra", random_.Chance(30) ? ".uni " : " ", end, ";\n", otherwise, ":\n"}, "",
                Block(other, 1 + random_.Below(3)), false};
    // Lanes of one side jump together anyway.
    if (second.head.find(".uni") != std::string::npos) second.head.replace(second.head.find(".uni"), 4, "");
    node.children.push_back(std::move(second));
  }
  return node;
}

// All threads of the CTA go the same way.
Node Generator::IfUniform(Place& place) {
  const std::string p = Temp('p'), word = Temp('r'), end = Label();
  const int offset = 4 * random_.Below(static_cast<int>(kInWords));
  Node node{Cat{"ld.global.u32 ",
                word,
                ", [%in+",
                offset,
                "];\nshr.b32 ",
                word,
                ", ",
                word,
                ", %cta;\nand.b32 ",
                word,
                ", ",
                word,
                ", 1;\nsetp.eq.u32 ",
                p,
                ", ",
                word,
                ", 0;\n@",
                p,
                " bra",
                random_.Chance(50) ? ".uni " : " ",
                end,
                ";\n"},
            Cat{end, ":\n"},
            {},
            true};
  Place inside = place;
  ++inside.depth;
  node.children = Block(inside, 1 + random_.Below(4));
  return node;
}

// All lanes of a warp go the same way.
Node Generator::IfWarp(Place& place) {
  const std::string p = Temp('p'), bit = Temp('r'), end = Label();
  Node node{Cat{"shr.b32 ", bit, ", ", random_.Below(16), ", %warp;\nand.b32 ", bit, ", ", bit,
                ", 1;\nsetp.eq.u32 ", p, ", ", bit, ", 0;\n@", p, " bra ", end, ";\n"},
            Cat{end, ":\n"},
            {},
            true};
  Place inside = place;
  ++inside.depth;
  if (inside.level == Place::kCta) inside.level = Place::kWarp;
  node.children = Block(inside, 1 + random_.Below(4));
  return node;
}

Node Generator::Loop(Place& place) {
  const bool uniform = random_.Chance(40);
  const std::string count = Temp('r'), bound = Temp('r'), p = Temp('p');
  const std::string head = Label(), next = Label(), end = Label();
  const int most = place.loops == 0 ? 6 : 3;
  std::string text = Cat{"mov.u32 ", count, ", 0;\n"};
  if (uniform) {
    absl::StrAppend(&text, "mov.u32 ", bound, ", ", 1 + random_.Below(most), ";\n");
  } else {
    absl::StrAppend(&text, "rem.u32 ", bound, ", ", R(), ", ", most + 1, ";\n");
  }
  Place inside = place;
  ++inside.depth, ++inside.loops;
  inside.loop_end = inside.loop_next = "";
  // Lanes that leave early keep barriers out of the loop.
  const bool jumps = random_.Chance(50);
  if (!uniform || jumps) inside.level = Place::kLanes;
  std::string step;
  if (inside.level == Place::kLanes) {
    if (MaskInside(place)) {
      inside.mask = Temp('r');
      absl::StrAppend(&text, "mov.b32 ", inside.mask, ", ", place.mask, ";\n");
      step = Cat{"vote.sync.ballot.b32 ", inside.mask, ", !", p, ", ", inside.mask, ";\n"};
    } else {
      inside.mask = "";
    }
  }
  if (jumps) inside.loop_end = end, inside.loop_next = next, inside.loop_mask = inside.mask;
  absl::StrAppend(&text, head, ":\nsetp.ge.u32 ", p, ", ", count, ", ", bound, ";\n", step, "@", p, " bra ",
                  end, ";\nadd.u32 ", count, ", ", count, ", 1;\n");
  Node node{text, Cat{next, ":\nbra ", head, ";\n", end, ":\n"}, {}, true};
  node.children = Block(inside, 2 + random_.Below(4));
  return node;
}

Node Generator::Switch(Place& place) {
  const int cases = 2 + random_.Below(4);
  const std::string index = Temp('r'), targets = Label(), end = Label();
  std::string text = Cat{"rem.u32 ", index, ", ", R(), ", ", cases, ";\n"};
  Place inside = place;
  inside.level = Place::kLanes;
  ++inside.depth;
  inside.mask = "";
  if (MaskInside(place)) {
    inside.mask = Temp('r');
    absl::StrAppend(&text, "match.any.sync.b32 ", inside.mask, ", ", index, ", ", place.mask, ";\n");
  }
  std::vector<std::string> labels;
  std::string names;
  for (int k = 0; k < cases; ++k) {
    labels.push_back(k > 0 && random_.Chance(15) ? labels.back() : Label());
    absl::StrAppend(&names, k == 0 ? "" : ", ", labels.back());
  }
  absl::StrAppend(&text, targets, ": .branchtargets ", names, ";\nbrx.idx ", index, ", ", targets, ";\n");
  Node node{text, Cat{end, ":\n"}, {}, true};
  // Cases that share their label have lanes of several masks: no warp-wide operations there.
  for (int k = 0; k < cases; ++k) {
    if (k > 0 && labels[static_cast<size_t>(k)] == labels[static_cast<size_t>(k - 1)]) continue;
    Place in_case = inside;
    if (k + 1 < cases && labels[static_cast<size_t>(k)] == labels[static_cast<size_t>(k + 1)])
      in_case.mask = "";
    Node one{Cat{labels[static_cast<size_t>(k)], ":\n"}, Cat{"bra ", end, ";\n"}, {}, false};
    one.children = Block(in_case, 1 + random_.Below(3));
    node.children.push_back(std::move(one));
  }
  return node;
}

// Some lanes leave the loop, or begin its next round.
Node Generator::Jump(Place& place) {
  const std::string p = Temp('p');
  std::string text = Comparison(p);
  // Lanes that begin the next round wait there for all that stay, so with masks only the first kind of jump
  // is known to everybody.
  if (!place.loop_mask.empty()) {
    absl::StrAppend(&text, "vote.sync.ballot.b32 ", place.mask, ", !", p, ", ", place.mask, ";\n@", p,
                    " bra ", place.loop_end, ";\n");
    return {text, "", {}, true};
  }
  absl::StrAppend(&text, "@", p, " bra ", random_.Chance(50) ? place.loop_end : place.loop_next, ";\n");
  return {text, "", {}, true};
}

std::string Generator::CallText(const std::string& target, const std::string& prototype) {
  const std::string a = R(), b = L(), to = R();
  const std::string guard = random_.Chance(15) ? Cat{"@", P(), " "} : std::string();
  return Cat{"{\n.param .b32 pa;\n.param .b64 pb;\n.param .b32 pr;\nst.param.b32 [pa], ",
             a,
             ";\nst.param.b64 [pb], ",
             b,
             ";\n",
             guard.empty() ? "" : "st.param.b32 [pr], 7;\n",
             "call (pr), ",
             target,
             ", (pa, pb)",
             prototype.empty() ? "" : ", ",
             prototype,
             ";\nld.param.b32 ",
             to,
             ", [pr];\n}\n"};
}

Node Generator::Call(Place&) { return {CallText(Cat{"f", random_.Below(functions_)}, ""), "", {}, true}; }

// Lanes may call different functions.
Node Generator::IndirectCall(Place&) {
  const std::string first = Temp('l'), second = Temp('l'), prototype = Label(), p = Temp('p');
  std::string text = Condition(p);
  absl::StrAppend(&text, "mov.u64 ", first, ", f", random_.Below(functions_), ";\n");
  absl::StrAppend(&text, "mov.u64 ", second, ", f", random_.Below(functions_), ";\nselp.b64 ", first, ", ",
                  first, ", ", second, ", ", p, ";\n", prototype,
                  ": .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);\n");
  text += CallText(first, prototype);
  return {text, "", {}, true};
}

// Some threads end here, with a word that tells.
Node Generator::EarlyExit(Place& place) {
  has_exit_ = true;
  const std::string p = Temp('p');
  std::string text = Comparison(p);
  if (!place.mask.empty() && track_masks_) {
    const std::string rest = Temp('r');
    absl::StrAppend(&text, "vote.sync.ballot.b32 ", rest, ", !", p, ", ", place.mask, ";\n");
    place.mask = rest;
  } else {
    place.mask = "";
  }
  place.level = Place::kLanes;
  absl::StrAppend(&text, "@", p, " st.global.u32 [%own+64], ", R(), ";\n@", p, " ",
                  random_.Chance(50) ? "exit" : "ret", ";\n");
  return {text, "", {}, false};
}

}  // namespace understudy::ptx_programs
