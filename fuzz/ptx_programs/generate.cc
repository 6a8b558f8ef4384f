// SPDX-License-Identifier: Apache-2.0
#include "fuzz/ptx_programs/generate.h"

#include <iterator>

#include "absl/strings/str_format.h"
#include "fuzz/ptx_programs/generator.h"

namespace understudy::ptx_programs {

Generator::Generator(uint64_t seed) : random_(seed) {
  program_.seed = seed;
  program_.kind = static_cast<ProgramClass>(seed % kProgramClasses);
}

void Generator::Weigh() {
  const auto set = [&](int weight, std::initializer_list<Statement> statements) {
    for (const Statement s : statements) weight_[s] = weight;
  };
  set(8, {kForms});
  set(3, {kFloatForms, kConvertForm});
  set(1, {kCarry, kMove, kTwoPredicates, kLoadInput});
  const std::initializer_list<Statement> branches = {kIf, kLoop, kSwitch, kJump},
                                         calls = {kCall, kIndirectCall},
                                         atomics = {kGlobalAtomic, kOwnAtomic},
                                         warp = {kShuffle, kVote, kMatch, kRedux, kWarpMisc},
                                         memory = {kScratch, kLocalArray, kTable},
                                         shared = {kExchange, kSharedAtomics, kSubsetBarrier, kProducer};
  switch (program_.kind) {
    case ProgramClass::kStraight:
      set(2, {kCarry, kMove, kTwoPredicates});
      set(1, memory);
      break;
    case ProgramClass::kFloats:
      set(3, {kForms});
      set(9, {kFloatForms});
      set(5, {kConvertForm});
      break;
    case ProgramClass::kDivergent:
      set(4, branches);
      set(1, memory);
      set(1, {kEarlyExit, kIfUniform, kIfWarp});
      break;
    case ProgramClass::kCalls:
      set(3, calls);
      set(1, branches);
      set(1, memory);
      break;
    case ProgramClass::kShared:
      set(4, shared);
      set(1, {kIf, kLoop, kIfUniform, kIfWarp, kLocalArray});
      break;
    case ProgramClass::kAtomics:
      set(4, atomics);
      set(3, {kSharedAtomics, kScratch});
      set(1, {kIf, kLoop, kIfUniform, kJump, kExchange, kEarlyExit});
      break;
    case ProgramClass::kWarp:
      set(4, warp);
      set(2, branches);
      set(1, {kIfUniform, kIfWarp, kEarlyExit, kExchange});
      break;
    case ProgramClass::kMatrix:
      set(6, {kMma});
      set(1, {kLoop, kIfUniform, kIfWarp, kExchange, kIf, kShuffle, kConvertForm});
      break;
    case ProgramClass::kMixed:
      set(1, branches), set(1, calls), set(1, atomics), set(1, warp), set(1, memory), set(1, shared);
      set(1, {kMma, kIfUniform, kIfWarp, kEarlyExit});
      break;
  }
}

bool Generator::Allowed(Statement s, const Place& place) const {
  const bool several_warps = whole_warps_ && program_.threads() >= 64;
  switch (s) {
    case kIf:
    case kSwitch:
    case kIfUniform:
    case kIfWarp:
      return place.depth < 4 && statements_left_ > 0 &&
             !(place.in_function && (s == kIfUniform || s == kIfWarp));
    case kLoop:
      return place.depth < 4 && place.loops < 3 && statements_left_ > 0;
    case kJump:
      // With masks a lane may only leave from where the mask is the loop's.
      return !place.loop_end.empty() && (place.loop_mask.empty() || place.mask == place.loop_mask);
    case kCall:
    case kIndirectCall:
      return functions_ > 0 && place.loops < 2;
    case kEarlyExit:
      return place.depth == 0 && !place.in_function && !has_exit_ && statements_left_ < 6;
    case kExchange:
    case kSharedAtomics:
      return place.level == Place::kCta && !place.in_function;
    case kSubsetBarrier:
    case kProducer:
      return place.level == Place::kCta && several_warps && !place.in_function;
    case kGlobalAtomic:
      return groups_ < static_cast<int>(kMemWords) / 16 && !place.in_function;
    case kOwnAtomic:
    case kScratch:
    case kLoadInput:
      return !place.in_function;
    case kShuffle:
    case kVote:
    case kMatch:
    case kRedux:
    case kWarpMisc:
      return !place.mask.empty() && !place.in_function;
    case kMma:
      return place.level != Place::kLanes && whole_warps_ && !place.in_function;
    default:
      return true;
  }
}

Node Generator::Write(Statement s, Place& place) {
  switch (s) {
    case kForms: {
      static constexpr FormGroup kGroups[] = {FormGroup::kInteger, FormGroup::kInteger, FormGroup::kInteger,
                                              FormGroup::kBits,    FormGroup::kBits,    FormGroup::kCompare,
                                              FormGroup::kSelect};
      return FormStatement(kGroups[random_.Below(7)]);
    }
    case kFloatForms: {
      static constexpr FormGroup kGroups[] = {FormGroup::kFloat, FormGroup::kFloat, FormGroup::kDouble,
                                              FormGroup::kHalf,  FormGroup::kHalf,  FormGroup::kApproximate};
      return FormStatement(kGroups[random_.Below(6)]);
    }
    case kConvertForm:
      return FormStatement(FormGroup::kConvert);
    case kCarry:
      return Carry();
    case kMove:
      return Move();
    case kTwoPredicates:
      return TwoPredicates();
    case kLoadInput:
      return LoadInput();
    case kScratch:
      return Scratch();
    case kLocalArray:
      return LocalArray();
    case kTable:
      return Table();
    case kIf:
      return If(place);
    case kIfUniform:
      return IfUniform(place);
    case kIfWarp:
      return IfWarp(place);
    case kLoop:
      return Loop(place);
    case kSwitch:
      return Switch(place);
    case kJump:
      return Jump(place);
    case kCall:
      return Call(place);
    case kIndirectCall:
      return IndirectCall(place);
    case kEarlyExit:
      return EarlyExit(place);
    case kExchange:
      return Exchange(place);
    case kSharedAtomics:
      return SharedAtomics();
    case kSubsetBarrier:
      return SubsetBarrier();
    case kProducer:
      return Producer();
    case kGlobalAtomic:
      return GlobalAtomic();
    case kOwnAtomic:
      return OwnAtomic();
    case kShuffle:
      return Shuffle(place);
    case kVote:
      return Vote(place);
    case kMatch:
      return Match(place);
    case kRedux:
      return Redux(place);
    case kWarpMisc:
      return WarpMisc(place);
    default:
      return Mma();
  }
}

std::vector<Node> Generator::Block(Place& place, int count) {
  std::vector<Node> nodes;
  for (int k = 0; k < count; ++k) {
    if (place.depth == 0) statements_left_ = count - k;
    int total = 0;
    for (int s = 0; s < kStatements; ++s)
      if (Allowed(static_cast<Statement>(s), place)) total += weight_[s];
    int at = random_.Below(total);
    for (int s = 0; s < kStatements; ++s) {
      if (!Allowed(static_cast<Statement>(s), place) || (at -= weight_[s]) >= 0) continue;
      nodes.push_back(Write(static_cast<Statement>(s), place));
      if (Node& node = nodes.back(); pins_ && node.children.empty() && !place.in_function)
        node.head += Pins(node.head);
      break;
    }
  }
  return nodes;
}

std::string Generator::Declarations() const {
  return absl::StrFormat(
      ".reg .b32 %%r<8>;\n.reg .b64 %%l<4>;\n.reg .b16 %%h<4>;\n.reg .f32 %%f<4>;\n.reg .f64 %%d<2>;\n.reg "
      ".pred %%p<4>;\n"
      ".reg .b32 %%zero;\n.reg .b16 %%none;\n.reg .b64 %%nothing;\n.reg .b32 %%t<%d>;\n.reg .b64 "
      "%%a<%d>;\n.reg .b16 "
      "%%s<%d>;\n.reg .pred %%q<%d>;\n",
      temps_[0] + 1, temps_[1] + 1, temps_[2] + 1, temps_[3] + 1);
}

// What a function's registers hold at first is made of its arguments.
Node Generator::Function(int index) {
  std::fill(std::begin(temps_), std::end(temps_), 0);
  std::string text =
      "ld.param.b32 %r0, [a];\nld.param.b64 %l0, [b];\nmov.u32 %zero, %ctaid.y;\ncvt.u16.u32 %none, "
      "%zero;\ncvt.u64.u32 %nothing, %zero;\n";
  for (int k = 1; k < 8; ++k)
    absl::StrAppend(&text, "mad.lo.u32 %r", k, ", %r0, ", 2 * random_.Below(1 << 20) + 1, ", ",
                    random_.Below(1 << 20), ";\n");
  for (int k = 1; k < 4; ++k)
    absl::StrAppend(&text, "mad.lo.u64 %l", k, ", %l0, ", 2 * random_.Below(1 << 30) + 1, ", ",
                    random_.Below(1 << 30), ";\n");
  for (int k = 0; k < 4; ++k)
    absl::StrAppend(&text, "cvt.u16.u64 %h", k, ", %l", k, ";\nmov.b32 %f", k, ", %r", k + 2, ";\n");
  for (int k = 0; k < 4; ++k) absl::StrAppend(&text, "setp.lt.s32 %p", k, ", %r", k, ", %r", k + 1, ";\n");
  absl::StrAppend(&text, "cvt.rn.f64.s32 %d0, %r6;\ncvt.rn.f64.s64 %d1, %l2;\n");
  const bool has_local = weight_[kLocalArray] > 0;
  if (has_local)
    text +=
        "mov.u64 %local, memory;\nst.local.v2.b64 [%local], {%l0, %l1};\nst.local.v2.b64 [%local+16], {%l2, "
        "%l3};\n"
        "st.local.v4.b32 [%local+32], {%r0, %r1, %r2, %r3};\nst.local.v4.b32 [%local+48], {%r4, %r5, %r6, "
        "%r7};\n";
  Place place;
  place.level = Place::kLanes;
  place.in_function = true;
  place.depth = 1;
  statements_left_ = 1;
  writes_function_ = true;
  std::vector<Node> body = Block(place, 2 + random_.Below(8));
  writes_function_ = false;
  const std::string result = Cat{"xor.b32 %r0, ",
                                 R(),
                                 ", ",
                                 R(),
                                 ";\ncvt.u32.u64 %r1, ",
                                 L(),
                                 ";\nadd.u32 %r0, %r0, %r1;\nst.param.b32 [r], %r0;\nret;\n"};
  Node node{Cat{".func (.param .b32 r) f", index, "(.param .b32 a, .param .b64 b)\n{\n", Declarations(),
                has_local ? ".reg .b64 %local;\n.local .align 16 .b8 memory[64];\n" : "", text},
            result + "}\n", std::move(body), false};
  return node;
}

// Addresses, the thread's place, and values for all registers.
std::vector<Node> Generator::Prologue() {
  const uint32_t* block = program_.block;
  std::string text =
      "ld.param.u64 %in, [in];\nld.param.u64 %own, [out];\nld.param.u64 %mem, [mem];\nmov.u32 %cta, "
      "%ctaid.x;\nmov.u32 %thread, %tid.x;\nmov.u32 %zero, %ctaid.y;\ncvt.u16.u32 %none, %zero;\ncvt.u64.u32 "
      "%nothing, %zero;\n";
  if (block[1] > 1 || block[2] > 1)
    absl::StrAppend(&text, "mov.u32 %t0, %tid.y;\nmov.u32 %t1, %tid.z;\nmad.lo.u32 %t0, %t1, ", block[1],
                    ", %t0;\nmad.lo.u32 %thread, %t0, ", block[0], ", %thread;\n");
  const uint32_t threads = program_.threads();
  absl::StrAppend(&text,
                  "setp.ne.u32 %never, %zero, 0;\nmov.u32 %lane, %laneid;\nshr.b32 %warp, %thread, "
                  "5;\nmad.lo.u32 %t2, %cta, ",
                  threads, ", %thread;\nmul.wide.u32 %a0, %t2, ", kOutWords * 4,
                  ";\nadd.u64 %own, %own, %a0;\n");
  if (threads % 32 == 0) {
    text += "mov.b32 %full, -1;\n";
  } else {
    // The last warp lacks lanes.
    absl::StrAppend(&text, "setp.lt.u32 %q0, %warp, ", threads / 32, ";\nselp.b32 %full, -1, ",
                    (1u << threads % 32) - 1, ", %q0;\n");
  }
  // Each register of each thread has a word of its own choice.
  for (int k = 0; k < 8; ++k)
    absl::StrAppend(
        &text, "mad.lo.u32 %t4, %t2, ", 1 + random_.Below(97), ", ", random_.Below(1024),
        ";\nand.b32 %t4, %t4, 1023;\nmul.wide.u32 %a1, %t4, 4;\nadd.u64 %a1, %a1, %in;\nld.global.u32 %r", k,
        ", [%a1];\n");
  for (int k = 0; k < 4; ++k)
    absl::StrAppend(
        &text, "mad.lo.u32 %t4, %t2, ", 1 + random_.Below(97), ", ", random_.Below(512),
        ";\nand.b32 %t4, %t4, 511;\nmul.wide.u32 %a1, %t4, 8;\nadd.u64 %a1, %a1, %in;\nld.global.u64 %l", k,
        ", [%a1];\nld.global.f32 %f", k, ", [%a1+4];\nld.global.u16 %h", k, ", [%a1+2];\n");
  for (int k = 0; k < 2; ++k)
    absl::StrAppend(&text, "mov.b64 %d", k, ", %l", k + 1, ";\n", Settle(Cat{"%d", k}));
  for (int k = 0; k < 4; ++k)
    absl::StrAppend(&text, "setp.lt.s32 %p", k, ", %r", 2 * k, ", %r", 2 * k + 1, ";\n");
  if (weight_[kLocalArray] > 0)
    text +=
        "mov.u64 %local, memory;\nst.local.v2.b64 [%local], {%l0, %l1};\nst.local.v2.b64 [%local+16], {%l2, "
        "%l3};\n"
        "st.local.v4.b32 [%local+32], {%r0, %r1, %r2, %r3};\nst.local.v4.b32 [%local+48], {%r4, %r5, %r6, "
        "%r7};\n";
  if (weight_[kExchange] > 0 || weight_[kSharedAtomics] > 0)
    text +=
        "mov.u32 %shared, room;\nmad.lo.u32 %slot, %thread, 32, %shared;\nst.shared.v4.b32 [%slot], {%r0, "
        "%r1, %r2, %r3};\n"
        "st.shared.v2.b64 [%slot+16], {%l0, %l1};\n";
  return {{text, "", {}, false}};
}

// All registers into `out`.
std::string Generator::Epilogue() {
  std::string text =
      "st.global.v4.b32 [%own+64], {%r0, %r1, %r2, %r3};\nst.global.v4.b32 [%own+80], {%r4, %r5, %r6, %r7};\n"
      "st.global.v2.b64 [%own+96], {%l0, %l1};\nst.global.v2.b64 [%own+112], {%l2, %l3};\n"
      "st.global.v4.f32 [%own+128], {%f0, %f1, %f2, %f3};\nst.global.v2.f64 [%own+144], {%d0, %d1};\n"
      "st.global.v4.b16 [%own+160], {%h0, %h1, %h2, %h3};\n";
  for (int k = 0; k < 4; ++k) absl::StrAppend(&text, "selp.u32 %t", k, ", 1, 0, %p", k, ";\n");
  text += "st.global.v4.u8 [%own+168], {%t0, %t1, %t2, %t3};\nret;\n";
  return text;
}

Program Generator::Make() {
  Weigh();
  static constexpr uint32_t kBlocks[][3] = {{32, 1, 1}, {64, 1, 1}, {96, 1, 1}, {128, 1, 1},
                                            {32, 2, 1}, {8, 8, 1},  {4, 4, 4},  {48, 1, 1},
                                            {70, 1, 1}, {9, 5, 1},  {16, 3, 2}, {17, 1, 1}};
  const bool whole = program_.kind == ProgramClass::kMatrix || random_.Chance(75);
  const uint32_t* block = kBlocks[whole ? random_.Below(7) : 7 + random_.Below(5)];
  std::copy(block, block + 3, program_.block);
  program_.grid = 1 + static_cast<uint32_t>(random_.Below(3));
  whole_warps_ = program_.threads() % 32 == 0;
  pins_ = weight_[kShuffle] > 0 || weight_[kMma] > 0;
  track_masks_ = weight_[kShuffle] > 0 && random_.Chance(program_.kind == ProgramClass::kWarp ? 90 : 50);
  dynamic_shared_ = random_.Chance(50);

  std::vector<Node> module;
  const auto numbers = [&](const char* space, const char* name) {
    std::string list;
    for (int k = 0; k < 64; ++k)
      absl::StrAppend(&list, k == 0 ? "" : ", ", static_cast<uint32_t>(random_.Next()));
    return Node{Cat{space, " .align 16 .u32 ", name, "[64] = {", list, "};\n"}, "", {}, true};
  };
  if (weight_[kTable] > 0) {
    module.push_back(numbers(".const", "constants"));
    module.push_back(numbers(".global", "numbers"));
  }
  const bool shared = weight_[kExchange] > 0 || weight_[kSharedAtomics] > 0;
  const uint32_t shared_bytes = program_.threads() * 32 + 256 + 16;
  if (shared && dynamic_shared_) {
    module.push_back({".extern .shared .align 16 .b8 room[];\n", "", {}, false});
    program_.dynamic_shared = shared_bytes;
  }
  if (weight_[kCall] > 0) {
    const int count = 2 + random_.Below(3);
    for (int k = 0; k < count; ++k) {
      module.push_back(Function(k));
      functions_ = k + 1;
    }
  }
  std::fill(std::begin(temps_), std::end(temps_), 0);
  temps_[0] = 5, temps_[1] = 2, temps_[3] = 1;
  std::vector<Node> body = Prologue();
  Place place;
  place.mask = FullMask();
  for (Node& node : Block(place, 10 + random_.Below(25))) body.push_back(std::move(node));
  const std::string epilogue = Epilogue();
  module.push_back(
      {Cat{".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 mem)\n{\n", Declarations(),
           ".reg .b64 %in, %own, %mem, %local;\n.reg .b32 %cta, %thread, %lane, %warp, %full, %shared, "
           "%slot;\n.reg .pred %never;\n",
           weight_[kLocalArray] > 0 ? ".local .align 16 .b8 memory[64];\n" : "",
           shared && !dynamic_shared_ ? absl::StrFormat(".shared .align 16 .b8 room[%d];\n", shared_bytes)
                                      : ""},
       epilogue + "}\n", std::move(body), false});
  program_.nodes = std::move(module);
  return std::move(program_);
}

Program Generate(uint64_t seed) { return Generator(seed).Make(); }

}  // namespace understudy::ptx_programs
