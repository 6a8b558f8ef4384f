// SPDX-License-Identifier: Apache-2.0
// clang's code with one wait taken out or made weaker by one, or one s_nop made shorter: either it is
// reported, or what the kernel computes does not change, although results in flight are kept away from their
// registers. So every report is needed, and nothing is missed on the path that was taken.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "emu/amd/decode/inst.h"
#include "fuzz/amd_programs/emulate.h"
#include "src/base/bits.h"
#include "src/base/file.h"
#include "src/base/status.h"

namespace understudy::programs {
namespace {

using emu::amd::Encoding;
using emu::amd::Inst;
using emu::amd::Isa;
using emu::amd::Opcode;

constexpr uint32_t kNop = 0xbf800000;  // s_nop 0 on every generation
constexpr uint64_t kIn = 0x7e0000000000, kOut = 0x7e0001000000;

struct Edit {
  uint64_t va;
  uint32_t word;  // instead of what is there
  bool hazard;    // an s_nop or s_waitcnt_depctr, else a wait
};

// Raises each field of s_waitcnt that is below its maximum by one.
uint32_t Weaker(Isa isa, uint32_t imm) {
  const auto raise = [&imm](int shift, int width) {
    const uint32_t mask = (1u << width) - 1, value = imm >> shift & mask;
    if (value < mask) imm += 1u << shift;
  };
  if (emu::amd::IsCdna(isa)) {
    const uint32_t vm = (imm & 15) | (imm >> 14 & 3) << 4;
    const uint32_t weaker = vm < 63 ? vm + 1 : vm;
    imm = (imm & ~0xc00fu) | (weaker & 15) | (weaker >> 4) << 14;
    raise(8, 4);
  } else {
    raise(4, 6);
    raise(10, 6);
  }
  return imm;
}

bool IsWait(Opcode op) {
  switch (op) {
    case Opcode::S_WAITCNT:
    case Opcode::S_WAIT_LOADCNT:
    case Opcode::S_WAIT_DSCNT:
    case Opcode::S_WAIT_KMCNT:
    case Opcode::S_WAIT_LOADCNT_DSCNT:
      return true;
    default:
      return false;
  }
}

std::vector<Edit> EditsOf(EmulatedObject& object, Isa isa, uint64_t begin, uint64_t end) {
  std::vector<Edit> edits;
  for (uint64_t va = begin; va + 4 <= end;) {
    uint8_t bytes[20];
    uint64_t n = std::min<uint64_t>(sizeof(bytes), end - va);
    if (!object.memory().Read(va, bytes, n)) break;
    const auto inst = emu::amd::Decode(isa, bytes, n);
    if (!inst.ok() || inst->op == Opcode::S_CODE_END) break;
    const uint32_t word = LoadLE<uint32_t>(bytes), imm = word & 0xffffu;
    if (IsWait(inst->op)) {
      edits.push_back({va, kNop, false});
      if (inst->op == Opcode::S_WAITCNT) {
        edits.push_back({va, (word & 0xffff0000u) | Weaker(isa, imm), false});
      } else if (inst->op != Opcode::S_WAIT_LOADCNT_DSCNT) {
        edits.push_back({va, word + 1, false});
      }
    } else if (inst->op == Opcode::S_WAITCNT_DEPCTR || inst->op == Opcode::S_WAIT_ALU) {
      edits.push_back({va, kNop, true});
    } else if (inst->op == Opcode::S_NOP && imm > 0) {
      edits.push_back({va, word - 1, true});
    }
    va += inst->size;
  }
  return edits;
}

class Deletion : public testing::TestWithParam<const char*> {};

TEST_P(Deletion, IsReportedOrHarmless) {
  const std::string target = GetParam();
  Isa isa;
  ASSERT_TRUE(emu::amd::IsaOfTarget(target.c_str(), &isa));
  int waits = 0, reported_waits = 0, hazards = 0, reported_hazards = 0;
  for (int level : {1, 3}) {
    const auto file =
        ReadFile("tests/emu/amd/check/kernels_" + target + "_O" + std::to_string(level) + ".hsaco");
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    auto object = EmulatedObject::Load({reinterpret_cast<const uint8_t*>(file->data()), file->size()});
    ASSERT_TRUE(object.ok()) << object.status().ToString();
    EmulatedObject& o = **object;
    o.checks.waits = o.checks.hazards = emu::amd::CheckMode::kWarn;
    uint64_t image = 0;
    for (const auto& region : o.memory().regions()) {
      if (region.label == "code object") image = region.begin;
    }
    ASSERT_NE(image, 0u);
    for (const amd::KernelSymbol& kernel : o.code().kernels()) {
      // The result, the status and the number of findings of a run.
      const auto run = [&](std::vector<uint32_t>* out, bool* ran) {
        std::vector<uint32_t> in(4096);
        out->assign(8192, 0);
        for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint32_t>(i * 2654435761u >> 7);
        US_CHECK_OK(o.memory().Map(kIn, in.size() * 4, reinterpret_cast<uint8_t*>(in.data()),
                                   emu::Perm::kReadWrite, "in"));
        US_CHECK_OK(o.memory().Map(kOut, out->size() * 4, reinterpret_cast<uint8_t*>(out->data()),
                                   emu::Perm::kReadWrite, "out"));
        std::vector<uint8_t> arguments(16);
        std::memcpy(arguments.data(), &kIn, 8);
        std::memcpy(arguments.data() + 8, &kOut, 8);
        LaunchGrid grid;
        grid.group[0] = 128;
        o.instruction_budget = 200000;
        *ran = o.Launch(kernel.name, grid, arguments).ok();
        US_CHECK_OK(o.memory().Unmap(kIn, in.size() * 4));
        US_CHECK_OK(o.memory().Unmap(kOut, out->size() * 4));
        const size_t findings = o.reports.size();
        o.reports.clear();
        return findings;
      };
      std::vector<uint32_t> want, got;
      bool ran = false;
      ASSERT_EQ(run(&want, &ran), 0u) << kernel.name;
      ASSERT_TRUE(ran) << kernel.name;
      uint64_t end = image + kernel.entry_address + 4096;
      for (const amd::KernelSymbol& other : o.code().kernels()) {
        const uint64_t at = image + other.entry_address;
        if (at > image + kernel.entry_address) end = std::min(end, at);
      }
      for (const Edit& edit : EditsOf(o, isa, image + kernel.entry_address, end)) {
        uint32_t old = 0;
        ASSERT_TRUE(o.memory().Read(edit.va, &old, 4));
        ASSERT_TRUE(o.memory().Write(edit.va, &edit.word, 4));
        const size_t findings = run(&got, &ran);
        ASSERT_TRUE(o.memory().Write(edit.va, &old, 4));
        ++(edit.hazard ? hazards : waits);
        if (findings > 0) {
          ++(edit.hazard ? reported_hazards : reported_waits);
          continue;
        }
        EXPECT_TRUE(ran && got == want)
            << target << " " << kernel.name << ": word " << std::hex << old << " at +0x" << edit.va - image
            << " became " << edit.word << ": the result changed without a report";
      }
    }
  }
  std::printf("%s: %d of %d weakened waits reported, %d of %d shortened hazards\n", target.c_str(),
              reported_waits, waits, reported_hazards, hazards);
  // What is not reported waits for stores, for values that this input's path does not use, or for less than
  // is outstanding anyway. The s_nops of CDNA are all needed; RDNA4's s_wait_alu serve other paths too.
  EXPECT_GT(reported_waits * 3, waits * 2);
  EXPECT_GE(reported_hazards * 3, hazards * (emu::amd::IsCdna(isa) ? 3 : 2));
}

INSTANTIATE_TEST_SUITE_P(Targets, Deletion,
                         testing::Values("gfx1100", "gfx1150", "gfx1200", "gfx90a", "gfx942", "gfx950"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace understudy::programs
