// SPDX-License-Identifier: Apache-2.0
// Generated wave programs with branches and loops, whose meaning depends neither on the wave size nor on the
// generation (no minima of NaNs), give the same memory in waves of 32 and of 64 lanes, on RDNA3 and RDNA4:
// each work-item computes from its own id and inputs, under divergent conditions.

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "tests/emu/amd/core/dialect.h"
#include "tests/emu/amd/core/kernel_runner.h"

namespace understudy::emu::amd {
namespace {

constexpr uint32_t kItems = 192, kGroups = 2, kWords = 4;

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  // A kernel that mixes v2-v9, per lane, and stores v2-v5.
  std::string Kernel() {
    std::string text = R"(
      s_mul_i32 s8, $wgx, 192
      v_add_nc_u32 v1, s8, v0
      v_lshlrev_b32 v10, 4, v1
      global_load_b128 v[2:5], v10, s[0:1]
      s_waitcnt vmcnt(0)
      v_mov_b32 v6, v1
      v_not_b32 v7, v1
      v_mul_lo_u32 v8, v1, v1
      v_mov_b32 v9, 0x9e3779b9
)";
    text += Block(3);
    return text + "global_store_b128 v10, v[2:5], s[2:3]\ns_endpgm";
  }

 private:
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  std::string Reg() { return "v" + std::to_string(2 + Below(8)); }
  std::string Source() {
    switch (Below(5)) {
      case 0:
        return std::to_string(Below(65));
      case 1:
        return "0x" + Hex(static_cast<uint32_t>(random_()));
      default:
        return Reg();
    }
  }
  static std::string Hex(uint32_t v) {
    char text[16];
    std::snprintf(text, sizeof(text), "%x", v);
    return text;
  }

  std::string Straight() {
    static const char* kTwo[] = {"v_add_nc_u32",  "v_sub_nc_u32",  "v_xor_b32", "v_and_b32",
                                 "v_or_b32",      "v_min_u32",     "v_max_i32", "v_lshlrev_b32",
                                 "v_lshrrev_b32", "v_ashrrev_i32", "v_add_f32", "v_mul_f32",
                                 "v_mul_u32_u24"};
    static const char* kThree[] = {"v_mad_u32_u24", "v_bfe_u32",     "v_bfi_b32",  "v_alignbit_b32",
                                   "v_add3_u32",    "v_lshl_or_b32", "v_perm_b32", "v_xad_u32",
                                   "v_fma_f32",     "v_med3_i32"};
    std::string text;
    for (uint32_t n = 1 + Below(6); n > 0; --n) {
      if (Below(2) == 0) {
        text += std::string(kTwo[Below(13)]) + " " + Reg() + ", " + Source() + ", " + Reg() + "\n";
      } else {
        text +=
            std::string(kThree[Below(10)]) + " " + Reg() + ", " + Reg() + ", " + Reg() + ", " + Reg() + "\n";
      }
    }
    return text;
  }

  std::string Condition(const std::string& mask) {
    static const char* kCompare[] = {"v_cmp_lt_u32", "v_cmp_gt_i32", "v_cmp_ne_u32", "v_cmp_lt_f32"};
    return std::string(kCompare[Below(4)]) + " " + mask + ", " + Reg() + ", " + Reg() + "\n";
  }

  std::string Block(int depth) {
    std::string text;
    for (uint32_t n = 1 + Below(3); n > 0; --n) {
      text += Straight();
      if (depth == 0) continue;
      const std::string label = std::to_string(labels_++);
      const std::string save = "$s" + std::to_string(depth);
      if (Below(2) == 0) {
        text += Condition("$vcc") + "$saveexec " + save + ", $vcc\ns_cbranch_execz else" + label + "\n" +
                Block(depth - 1) + "else" + label + ":\n$andn2 $exec, " + save +
                ", $exec\ns_cbranch_execz end" + label + "\n" + Block(depth - 1) + "end" + label +
                ":\n$mov $exec, " + save + "\n";
      } else {
        // Each lane leaves the loop when its own counter runs out, at most eight times round.
        const std::string counter = "v" + std::to_string(20 + depth);
        text += "v_and_b32 " + counter + ", 7, " + Reg() + "\n$mov " + save + ", $exec\nloop" + label +
                ":\n" + Straight() + "v_sub_nc_u32 " + counter + ", " + counter +
                ", 1\nv_cmp_lt_i32 $vcc, 0, " + counter + "\n$and $exec, $exec, $vcc\ns_cbranch_execnz loop" +
                label + "\n$mov $exec, " + save + "\n";
      }
    }
    return text;
  }

  std::mt19937_64 random_;
  int labels_ = 0;
};

void Replace(std::string* text, const std::string& from, const std::string& to) {
  for (size_t at = text->find(from); at != std::string::npos; at = text->find(from, at + to.size())) {
    text->replace(at, from.size(), to);
  }
}

std::vector<uint32_t> RunAs(Isa isa, int wave_size, std::string text, uint64_t seed) {
  const bool wide = wave_size == 64;
  Replace(&text, "$saveexec", wide ? "s_and_saveexec_b64" : "s_and_saveexec_b32");
  Replace(&text, "$andn2", wide ? "s_and_not1_b64" : "s_and_not1_b32");
  Replace(&text, "$and ", wide ? "s_and_b64 " : "s_and_b32 ");
  Replace(&text, "$mov", wide ? "s_mov_b64" : "s_mov_b32");
  for (int depth = 0; depth < 4; ++depth) {
    const std::string low = std::to_string(20 + 2 * depth), high = std::to_string(21 + 2 * depth);
    Replace(&text, "$s" + std::to_string(depth), wide ? "s[" + low + ":" + high + "]" : "s" + low);
  }
  KernelRunner runner(wave_size, isa);
  const int in = runner.AddBuffer(kItems * kGroups * kWords, Perm::kRead),
            out = runner.AddBuffer(kItems * kGroups * kWords);
  std::mt19937 random(static_cast<uint32_t>(seed));
  for (uint32_t& word : runner.Buffer(in)) word = random() % 3 == 0 ? random() % 100 : random();
  runner.regs.num_thread[0] = kItems;
  runner.regs.dim[0] = kGroups;
  runner.regs.rsrc2 |= 7u << 7;
  runner.Program(Respell(isa, wave_size, 4, text));
  runner.Run();
  return runner.Buffer(out);
}

TEST(WaveSizes, GeneratedProgramsAgree) {
  std::vector<uint32_t> last;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    const std::string text = Generator(seed).Kernel();
    const std::vector<uint32_t> rdna3 = RunAs(Isa::kRdna3, 32, text, seed);
    if (HasFailure()) FAIL() << text;
    ASSERT_TRUE(rdna3 == RunAs(Isa::kRdna3, 64, text, seed)) << "seed " << seed << ", wave64\n" << text;
    ASSERT_TRUE(rdna3 == RunAs(Isa::kRdna4, 32, text, seed)) << "seed " << seed << ", RDNA4\n" << text;
    ASSERT_TRUE(rdna3 == RunAs(Isa::kRdna4, 64, text, seed)) << "seed " << seed << ", RDNA4 wave64\n" << text;
    EXPECT_FALSE(rdna3 == last) << "the program computes something of its own";
    last = rdna3;
  }
}

}  // namespace
}  // namespace understudy::emu::amd
