// SPDX-License-Identifier: Apache-2.0
// Every instruction form against LLVM MC, both ways: MC prints our bytes as we print them, and our text,
// assembled by MC, gives our bytes (or, where an instruction has several encodings, others that MC prints
// alike and that are no shorter than a byte less). Operands are drawn at random; each opcode of both tables
// occurs.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "src/render/aarch64/aarch64.h"
#include "src/render/aarch64/ops.h"
#include "src/render/x86_64/ops.h"
#include "src/render/x86_64/x86_64.h"
#include "tests/src/codegen/random_kernel.h"
#include "tests/src/render/machine/mc.h"

namespace understudy::test {
namespace {

using machine::Cond;
using machine::Inst;
using machine::kNoReg;
using machine::kVectorBase;
using machine::Operand;
using machine::Reg;

class Draw {
 public:
  int operator()(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random_); }
  template <class T>
  T Of(std::initializer_list<T> all) {
    return *(all.begin() + (*this)(0, static_cast<int>(all.size()) - 1));
  }

 private:
  std::mt19937_64 random_{17};
};

struct Tally {
  int forms = 0, same_bytes = 0;
  std::vector<std::string> wrong;
  void Fail(const std::string& s) {
    if (wrong.size() < 30) wrong.push_back(s);
  }
};

// With the last two operands changed about: MC does so to commuting instructions of AVX where it saves a
// byte.
std::string Swapped(const std::string& text) {
  const size_t last = text.rfind(", "),
               before = last == std::string::npos ? last : text.rfind(", ", last - 1);
  if (text[0] != 'v' || before == std::string::npos) return text;
  return text.substr(0, before) + text.substr(last) + text.substr(before, last - before);
}

void Compare(const Mc& mc, const std::string& text, const std::vector<uint8_t>& bytes, bool both_ways,
             Tally* tally) {
  ++tally->forms;
  size_t length = 0;
  const std::string theirs = mc.Disassemble(bytes.data(), bytes.size(), &length);
  if (theirs != text || length != bytes.size())
    return tally->Fail("ours `" + text + "`, MC's `" + theirs + "` (" + std::to_string(length) + " of " +
                       std::to_string(bytes.size()) + " bytes)");
  if (!both_ways) return;
  std::string error;
  const std::vector<uint8_t> assembled = mc.Assemble(text, &error);
  if (assembled == bytes) {
    ++tally->same_bytes;
    return;
  }
  const std::string again =
      assembled.empty() ? "" : mc.Disassemble(assembled.data(), assembled.size(), &length);
  if ((again != text && again != Swapped(text)) || assembled.size() + 1 < bytes.size())
    tally->Fail("`" + text + "` assembles to " + std::to_string(assembled.size()) + " bytes, `" + again +
                "` " + error);
}

void Report(const Tally& t) {
  std::printf("%d forms, %d of them to the byte\n", t.forms, t.same_bytes);
  for (const std::string& s : t.wrong) ADD_FAILURE() << s;
}

// --- x86-64

Inst DrawX86(uint16_t op, bool vex, Draw& draw) {
  using namespace x86_64;  // NOLINT
  const OpInfo& info = InfoOf(op);
  Inst i;
  i.op = op;
  i.cond = static_cast<Cond>(draw(0, 9));
  const auto general = [&](int bytes) {
    Reg r;
    do r = static_cast<Reg>(draw(0, 15));
    while (r == kRsp);
    return Operand::Use(r, bytes);
  };
  const auto vector = [&](int bytes) {
    return Operand::Use(kVectorBase + static_cast<Reg>(draw(0, 15)), bytes);
  };
  const auto memory = [&](int bytes) {
    Reg index = draw(0, 1) ? kNoReg : static_cast<Reg>(draw(0, 15));
    if (index == kRsp) index = kNoReg;
    return Operand::Mem(static_cast<Reg>(draw(0, 15)), index, index == kNoReg ? 1 : draw.Of({1, 2, 4, 8}),
                        draw.Of<int64_t>({0, 8, -8, 127, 128, -128, -129, 100000}), bytes);
  };
  const int size = draw.Of({4, 8});
  i.bytes = static_cast<uint8_t>(size);
  if (vex) i.flags = Inst::kVex;
  const bool scalar = info.prefix == 0xf3 || info.prefix == 0xf2;
  const int wide = vex && !scalar && op != kMovd && op != kMovq && draw(0, 1) ? 32 : 16;
  // What a memory operand of the vector instruction is.
  int lane = info.prefix == 0xf3 ? 4 : info.prefix == 0xf2 ? 8 : wide;
  if (op == kCvttps2dq) lane = wide;
  if (op == kRoundss) lane = 4;
  if (op == kRoundsd) lane = 8;
  if (op == kVfmadd231ss) lane = 4;
  if (op == kVfmadd231sd) lane = 8;
  const bool one_size = scalar || op == kRoundss || op == kRoundsd || op == kVfmadd231ss ||
                        op == kVfmadd231sd || op == kMovlhps || op == kPextrd || op == kPextrq;
  const int v = (op != kCvttps2dq && one_size) ? 16 : wide;
  const auto rm = [&] { return draw(0, 2) == 0 && op != kMovlhps ? memory(lane) : vector(v); };
  switch (info.form) {
    case Form::kMR:
      if (op == kMov && draw(0, 1)) {
        const int bytes = draw.Of({1, 2, 4, 8});
        i.bytes = static_cast<uint8_t>(bytes);
        i.Add(memory(bytes));
        i.Add(general(bytes));
        return i;
      }
      i.Add(general(size));
      i.Add(op != kTest && draw(0, 1) ? memory(size) : general(size));
      return i;
    case Form::kRM: {
      const int from = op == kMovzx8 || op == kMovsx8     ? 1
                       : op == kMovzx16 || op == kMovsx16 ? 2
                       : op == kMovsxd                    ? 4
                                                          : size;
      const int to = op == kMovsxd ? 8 : op == kMovzx8 || op == kMovzx16 ? 4 : size;
      i.bytes = static_cast<uint8_t>(to);
      i.Add(general(to));
      i.Add(op == kLea || draw(0, 1) ? memory(op == kLea ? 8 : from) : general(from));
      return i;
    }
    case Form::kRMI:
      i.Add(general(size));
      i.Add(general(size));
      i.Add(Operand::Imm(draw.Of<int64_t>({1, -1, 127, 128, -129, 100000})));
      return i;
    case Form::kM:
    case Form::kDivide:
      i.Add(general(size));
      return i;
    case Form::kMI:
      i.Add(general(size));
      i.Add(Operand::Imm(draw.Of<int64_t>({0, 1, -1, 127, 128, -128, -129, 100000, -100000})));
      return i;
    case Form::kMovImm:
      i.Add(general(size));
      i.Add(Operand::Imm(size == 4
                             ? draw.Of<int64_t>({0, 1, 77, -1, INT32_MIN, INT32_MAX})
                             : draw.Of<int64_t>({0, -1, INT32_MIN, INT64_MIN, INT64_MAX, int64_t{1} << 40})));
      return i;
    case Form::kShiftImm:
      i.Add(general(size));
      i.Add(Operand::Imm(draw(1, 31)));
      return i;
    case Form::kShiftCl:
      i.Add(general(size));
      i.Add(Operand::Use(kRcx, 1));
      return i;
    case Form::kHidden:
      if (op == kVzeroupper) i.flags = Inst::kVex;
      return i;
    case Form::kSet:
      i.Add(general(1));
      return i;
    case Form::kCmov:
      i.Add(general(size));
      i.Add(draw(0, 1) ? memory(size) : general(size));
      return i;
    case Form::kPushPop:
      i.Add(general(8));
      return i;
    case Form::kZero:
      i.bytes = 16;
      i.Add(vector(16));
      return i;
    case Form::kV2:
    case Form::kV2Imm:
      i.bytes = static_cast<uint8_t>(wide);
      if (op == kMovss || op == kMovsd) {
        i.Add(vector(16));
        i.Add(memory(lane));
      } else if (op == kMovd || op == kMovq) {
        i.bytes = 16;
        i.Add(vector(16));
        i.Add(general(op == kMovd ? 4 : 8));
      } else if (op == kCvttss2si || op == kCvttsd2si) {
        i.bytes = 16;
        i.Add(general(size));
        i.Add(vector(16));
      } else if (op == kVbroadcastss || op == kVbroadcastsd) {
        i.bytes = op == kVbroadcastsd ? 32 : static_cast<uint8_t>(wide);
        i.Add(vector(i.bytes));
        i.Add(vector(16));
      } else if (op == kVcvtph2ps) {
        i.bytes = 16;
        i.Add(vector(16));
        i.Add(vector(16));
      } else {
        i.Add(vector(wide));
        i.Add(rm());
      }
      if (info.form == Form::kV2Imm) i.Add(Operand::Imm(draw(0, 3)));
      return i;
    case Form::kV2Store:
    case Form::kV2StoreImm:
      i.bytes = 16;
      if (op == kMovdToGeneral || op == kMovqToGeneral || op == kPextrd || op == kPextrq) {
        i.Add(general(op == kMovdToGeneral || op == kPextrd ? 4 : 8));
        i.Add(vector(16));
      } else if (op == kVextractf128) {
        i.bytes = 32;
        i.Add(vector(16));
        i.Add(vector(32));
      } else if (op == kVcvtps2ph) {
        i.Add(vector(16));
        i.Add(vector(16));
      } else {
        i.bytes = static_cast<uint8_t>(wide);
        i.Add(memory(lane));
        i.Add(vector(scalar ? 16 : wide));
      }
      if (info.form == Form::kV2StoreImm) i.Add(Operand::Imm(draw(0, 1)));
      return i;
    case Form::kV3:
    case Form::kV3Imm:
    case Form::kV3One:
    case Form::kV3OneImm:
    case Form::kCompare:
      i.bytes = static_cast<uint8_t>(v);
      i.Add(vector(v));
      if (vex) i.Add(vector(v));
      if (op == kCvtsi2ss || op == kCvtsi2sd) {
        i.Add(general(size));
      } else if (op == kVinsertf128) {
        i.bytes = 32;
        i.ops[0].bytes = i.ops[1].bytes = 32;
        i.Add(vector(16));
      } else {
        i.Add(op == kCvtss2sd ? (draw(0, 1) ? memory(4) : vector(16)) : rm());
      }
      if (info.form == Form::kCompare) i.Add(Operand::Imm(draw(0, 7)));
      if (info.form == Form::kV3Imm || info.form == Form::kV3OneImm) i.Add(Operand::Imm(draw(0, 1)));
      return i;
    case Form::kVShift:
      i.bytes = static_cast<uint8_t>(wide);
      i.Add(vector(wide));
      if (vex) i.Add(vector(wide));
      i.Add(Operand::Imm(draw(0, 31)));
      return i;
    case Form::kV4:
      i.bytes = static_cast<uint8_t>(wide);
      for (int k = 0; k < 4; ++k) i.Add(vector(wide));
      return i;
    case Form::kJump:
      break;
  }
  return i;
}

TEST(Encoding, EveryX86FormIsMcs) {
  using namespace x86_64;  // NOLINT
  const Mc mc(true);
  Draw draw;
  Tally tally;
  const Layout layout;
  for (uint16_t op = 0; op < x86_64::kNumOps; ++op) {
    const Form form = InfoOf(op).form;
    if (form == Form::kJump) continue;  // by CodeOfKernelsIsMcs
    const bool vector = form >= Form::kZero;
    const bool only_vex = op >= kVbroadcastss || op == kVcvtph2ps || op == kVcvtps2ph;
    for (const bool vex : {false, true}) {
      if (vex ? !vector : only_vex && op != kVzeroupper) continue;
      for (int k = 0; k < 24; ++k) {
        const Inst i = DrawX86(op, vex, draw);
        std::vector<uint8_t> bytes;
        Encode(i, layout, -1, &bytes);
        Compare(mc, x86_64::Text(i), bytes, k < 8, &tally);
      }
    }
  }
  Report(tally);
}

// --- AArch64

Inst DrawA64(uint16_t op, Draw& draw) {
  using namespace aarch64;  // NOLINT
  const OpInfo& info = InfoOf(op);
  Inst i;
  i.op = op;
  i.cond = static_cast<Cond>(draw(0, 9));
  const auto general = [&](int bytes) { return Operand::Use(static_cast<Reg>(draw(0, 28)), bytes); };
  const auto vector = [&](int bytes) {
    return Operand::Use(kVectorBase + static_cast<Reg>(draw(0, 31)), bytes);
  };
  const int size = draw.Of({4, 8});
  i.bytes = static_cast<uint8_t>(size);
  const std::string text = info.text;
  // One operand by how the text shows it.
  const auto add = [&](int n) {
    const bool is_vector = text.find("$v" + std::to_string(n)) != std::string::npos;
    const bool fp = op >= kFaddOp && op <= kFcmgtOp;
    i.Add(is_vector || fp ? vector(size) : general(size));
  };
  switch (info.encoding) {
    case Encoding::kRegs:
      if (op == kRetOp) return i;
      if (op == kUxtbOp || op == kUxthOp) {
        i.Add(general(4));
        i.Add(general(4));
        return i;
      }
      if (op == kFMovToGeneralOp || op == kFMovFromGeneralOp) {
        i.Add(op == kFMovToGeneralOp ? general(size) : vector(size));
        i.Add(op == kFMovToGeneralOp ? vector(size) : general(size));
        return i;
      }
      if (op == kScvtfOp || op == kUcvtfOp || op == kFcvtzsOp || op == kFcvtzuOp) {
        const Operand g = general(draw.Of({4, 8}));
        const bool from = op == kScvtfOp || op == kUcvtfOp;
        i.Add(from ? vector(size) : g);
        i.Add(from ? g : vector(size));
        return i;
      }
      if (op >= kFcvtSToDOp && op <= kFcvtSToHOp) {
        i.Add(vector(op == kFcvtSToDOp ? 8 : op == kFcvtSToHOp ? 2 : 4));
        i.Add(vector(op == kFcvtDToSOp ? 8 : op == kFcvtHToSOp ? 2 : 4));
        return i;
      }
      if (op == kVMulOp || (op >= kVSmaxOp && op <= kVUminOp)) i.bytes = 4;
      for (int n = 0; n < 4 && (text.find("$" + std::to_string(n)) != std::string::npos ||
                                text.find("$v" + std::to_string(n)) != std::string::npos);
           ++n)
        add(n);
      return i;
    case Encoding::kRm:
    case Encoding::kBoth:
    case Encoding::kCompare:
      add(0);
      add(1);
      return i;
    case Encoding::kShifted:
      for (int n = 0; n < 3; ++n) add(n);
      i.Add(Operand::Imm(draw(1, 3)));
      return i;
    case Encoding::kImm12:
      add(0);
      add(1);
      i.Add(Operand::Imm(draw(1, 4095)));
      return i;
    case Encoding::kMask:
      add(0);
      add(1);
      i.Add(Operand::Imm((int64_t{1} << draw(1, size == 8 ? 62 : 31)) - 1));
      return i;
    case Encoding::kMovImm:
      add(0);
      i.Add(Operand::Imm(
          size == 8 ? draw.Of<int64_t>({0, 1, 65535, 65536, -1, -65536, int64_t{5} << 32, int64_t{7} << 48})
                    : draw.Of<int64_t>({0, 1, 65535, 65536, -1, -2, -65537})));
      return i;
    case Encoding::kShiftLeft:
    case Encoding::kShiftRight:
      add(0);
      add(1);
      i.Add(Operand::Imm(draw(1, 8 * size - 1)));
      return i;
    case Encoding::kExtend:
      i.Add(general(op == kSxtwOp ? 8 : size));
      i.Add(general(4));
      return i;
    case Encoding::kCompareImm:
      add(0);
      i.Add(Operand::Imm(draw(0, 4095)));
      return i;
    case Encoding::kSelect:
      for (int n = 0; n < 3; ++n) add(n);
      return i;
    case Encoding::kSet:
      add(0);
      return i;
    case Encoding::kAdr:
    case Encoding::kLiteral:
      i.Add(op == kLiteralQOp ? vector(16) : general(8));
      i.Add(Operand::Pool(16 * draw(0, 1000), 8));
      return i;
    case Encoding::kMemory:
    case Encoding::kStore: {
      const bool quad = (info.word & 0x04800000) == 0x04800000, fp = info.word & 0x04000000;
      const int bytes = quad ? 16 : 1 << (info.word >> 30);
      const Operand value = fp ? vector(bytes) : general(bytes == 8 ? 8 : 4);
      const int how = draw(0, 3);
      const Reg base = static_cast<Reg>(draw(0, 31)), index = static_cast<Reg>(draw(0, 28));
      const Operand memory = how == 0   ? Operand::Mem(base, index, draw.Of({1, bytes}), 0, bytes)
                             : how == 1 ? Operand::Mem(base, kNoReg, 1, bytes * draw(0, 4095), bytes)
                             : how == 2 ? Operand::Mem(base, kNoReg, 1, -draw(1, 256), bytes)
                                        : Operand::Mem(base, kNoReg, 1, 0, bytes);
      if (info.encoding == Encoding::kMemory) i.Add(value);
      i.Add(memory);
      if (info.encoding == Encoding::kStore) i.Add(value);
      return i;
    }
    case Encoding::kVectorLeft:
      add(0);
      add(1);
      i.Add(Operand::Imm(draw(0, 31)));
      return i;
    case Encoding::kVectorRight:
      add(0);
      add(1);
      i.Add(Operand::Imm(draw(1, 31)));
      return i;
    case Encoding::kLane:
    case Encoding::kLaneToGeneral:
    case Encoding::kLaneZero:
      i.Add(op == kUmovOp ? general(size) : vector(op == kDupScalarOp ? size : 16));
      i.Add(op == kDupGeneralOp || op == kInsGeneralOp ? general(size) : vector(16));
      if (op != kDupGeneralOp) i.Add(Operand::Imm(draw(0, 16 / size - 1)));
      return i;
    case Encoding::kBranch:
    case Encoding::kBranchIf:
      break;
  }
  return i;
}

TEST(Encoding, EveryA64FormIsMcs) {
  using namespace aarch64;  // NOLINT
  const Mc mc(false);
  Draw draw;
  Tally tally;
  Layout layout;
  layout.pool_offset = 4096;
  for (uint16_t op = 0; op < aarch64::kNumOps; ++op) {
    if (op == kBOp || op == kBCondOp) continue;  // by CodeOfKernelsIsMcs
    for (int k = 0; k < 24; ++k) {
      const Inst i = DrawA64(op, draw);
      const auto word = Encode(i, layout, 0, 0);
      ASSERT_TRUE(word.ok()) << word.status();
      std::vector<uint8_t> bytes(4);
      for (int b = 0; b < 4; ++b) bytes[b] = static_cast<uint8_t>(*word >> (8 * b));
      Compare(mc, aarch64::Text(i, &layout, 0), bytes, k < 8, &tally);
    }
  }
  Report(tally);
}

// Whole kernels: MC walks the code instruction by instruction, and finds the text that we state; jumps go to
// the start of the block that they name.
TEST(Encoding, CodeOfKernelsIsMcs) {
  const Mc x86(true), a64(false);
  Tally tally;
  int jumps = 0;
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    const RandomKernel k = MakeRandomKernel(seed * 3571, {.transcendental = true});
    for (const Target& target : {X86Target(false), X86Target(true), A64Target()}) {
      const ChoiceList choices = RandomChoices(k.kernel, target, seed, 3, false);
      const auto linear = LowerKernel(k.kernel, target, &choices);
      ASSERT_TRUE(linear.ok()) << linear.status();
      machine::MachineDetails details;
      machine::MachineOptions options;
      options.details = &details;
      const bool is_x86 = target.isa != "aarch64";
      const auto code = is_x86 ? RenderX86(*linear, target, options) : RenderA64(*linear, options);
      if (absl::IsUnimplemented(code.status())) continue;
      ASSERT_TRUE(code.ok()) << code.status();
      int64_t at = 0;
      for (const auto& line : details.lines) {
        ASSERT_EQ(line.offset, at) << line.text;
        at += line.bytes;
        const std::vector<uint8_t> bytes(code->code.begin() + line.offset, code->code.begin() + at);
        const size_t label = line.text.find(".L");
        if (label == std::string::npos) {
          Compare(is_x86 ? x86 : a64, line.text, bytes, false, &tally);
          continue;
        }
        const auto block = static_cast<size_t>(std::stoi(line.text.substr(label + 2)));
        const int64_t distance = details.block_offsets[block] - (is_x86 ? at : line.offset);
        Compare(is_x86 ? x86 : a64,
                line.text.substr(0, label) + (is_x86 ? "" : "#") + std::to_string(distance), bytes, false,
                &tally);
        ++jumps;
      }
      ASSERT_EQ(at, details.block_offsets.back());
    }
  }
  EXPECT_GT(jumps, 50);
  Report(tally);
}

}  // namespace
}  // namespace understudy::test
