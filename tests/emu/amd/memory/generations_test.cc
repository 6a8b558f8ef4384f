// SPDX-License-Identifier: Apache-2.0
// Memory instructions as each generation's assembler writes them, run from their bytes: every load and store
// form in every memory, and atomics with and without return, against a model on the host.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "src/base/bits.h"
#include "src/base/float_format.h"
#include "tests/emu/amd/core/kernel_runner.h"

namespace understudy::emu::amd {
namespace {

constexpr uint32_t kLds4K = 8u << 15;

struct Generation {
  Isa isa;
  int lanes;
};

uint8_t PatternByte(size_t i) { return static_cast<uint8_t>(i * 37 + 129 + (i >> 8) * 11); }

struct Form {
  const char* rdna;  // suffixes of the mnemonics
  const char* cdna;
  const char* ds;
  const char* registers;
  int bytes;
  bool is_signed;
  int half;  // -1: whole registers
};
const Form kForms[] = {
    {"u8", "ubyte", "u8", "v2", 1, false, -1},
    {"i8", "sbyte", "i8", "v2", 1, true, -1},
    {"u16", "ushort", "u16", "v2", 2, false, -1},
    {"i16", "sshort", "i16", "v2", 2, true, -1},
    {"b32", "dword", "b32", "v2", 4, false, -1},
    {"b64", "dwordx2", "b64", "v[2:3]", 8, false, -1},
    {"b96", "dwordx3", "b96", "v[2:4]", 12, false, -1},
    {"b128", "dwordx4", "b128", "v[2:5]", 16, false, -1},
    {"d16_u8", "ubyte_d16", "u8_d16", "v2", 1, false, 0},
    {"d16_i8", "sbyte_d16", "i8_d16", "v2", 1, true, 0},
    {"d16_b16", "short_d16", "u16_d16", "v2", 2, false, 0},
    {"d16_hi_u8", "ubyte_d16_hi", "u8_d16_hi", "v2", 1, false, 1},
    {"d16_hi_i8", "sbyte_d16_hi", "i8_d16_hi", "v2", 1, true, 1},
    {"d16_hi_b16", "short_d16_hi", "u16_d16_hi", "v2", 2, false, 1},
};
struct StoreForm {
  const char* rdna;
  const char* cdna;
  const char* ds;
  const char* registers;
  int bytes, first;
};
const StoreForm kStores[] = {
    {"b8", "byte", "b8", "v2", 1, 0},
    {"b16", "short", "b16", "v2", 2, 0},
    {"b32", "dword", "b32", "v2", 4, 0},
    {"b64", "dwordx2", "b64", "v[2:3]", 8, 0},
    {"b96", "dwordx3", "b96", "v[2:4]", 12, 0},
    {"b128", "dwordx4", "b128", "v[2:5]", 16, 0},
    {"d16_hi_b8", "byte_d16_hi", "b8_d16_hi", "v2", 1, 2},
    {"d16_hi_b16", "short_d16_hi", "b16_d16_hi", "v2", 2, 2},
};

class Generations : public testing::TestWithParam<Generation> {
 protected:
  Isa isa() const { return GetParam().isa; }
  int lanes() const { return GetParam().lanes; }
  bool cdna() const { return IsCdna(isa()); }

  // ADD, WAIT, LOAD4, STORE4 and the like in this generation's words.
  std::string Words(const std::string& text) const {
    return absl::StrReplaceAll(
        text, {{"ADD", cdna() ? "v_add_u32" : "v_add_nc_u32"},
               {"WAIT", isa() == Isa::kRdna4 ? "s_wait_loadcnt 0x0\ns_wait_storecnt 0x0\ns_wait_dscnt 0x0"
                        : cdna()             ? "s_waitcnt vmcnt(0) lgkmcnt(0)"
                                             : "s_waitcnt vmcnt(0) lgkmcnt(0)\ns_waitcnt_vscnt null, 0x0"},
               {"LOAD1", cdna() ? "global_load_dword" : "global_load_b32"},
               {"LOAD2", cdna() ? "global_load_dwordx2" : "global_load_b64"},
               {"STORE2", cdna() ? "global_store_dwordx2" : "global_store_b64"},
               {"STORE4", cdna() ? "global_store_dwordx4" : "global_store_b128"},
               {"DSW1", cdna() ? "ds_write_b32" : "ds_store_b32"},
               {"DSW2", cdna() ? "ds_write_b64" : "ds_store_b64"},
               {"DSR2", cdna() ? "ds_read_b64" : "ds_load_b64"},
               {"PRIVATE1", cdna() ? "scratch_store_dword" : "scratch_store_b32"}});
  }
  // Where gfx90a finds its private memory.
  std::string ScratchSetup() const {
    if (isa() != Isa::kCdna2) return "";
    return absl::StrFormat("s_mov_b32 flat_scratch_lo, 0x%x\ns_mov_b32 flat_scratch_hi, 0\n",
                           KernelRunner::kScratchVa);
  }
  std::string BufferSetup(uint32_t records) const {
    return absl::StrFormat("s_mov_b32 s12, s0\ns_mov_b32 s13, s1\ns_mov_b32 s14, %d\ns_mov_b32 s15, 0x%x\n",
                           records, cdna() ? 0x27000 : 0x30014000);
  }

  // v0 = lane, v1 = lane * 20 + 1, v2-v5 = 0xd0d0d0d0, v[10:11] = buffer + v1; returns v2-v5 after `body`.
  std::vector<uint32_t> RunLoad(const std::string& body) {
    KernelRunner runner(lanes(), isa());
    const int in = runner.AddBuffer(512), out = runner.AddBuffer(4 * lanes());
    for (size_t i = 0; i < 2048; ++i)
      reinterpret_cast<uint8_t*>(runner.Buffer(in).data())[i] = PatternByte(i);
    runner.ReserveScratch(2048, 1);
    runner.regs.rsrc2 |= kLds4K;
    runner.Program(Words(R"(
      v_mul_u32_u24 v1, 20, v0
      ADD v1, 1, v1
      v_mov_b32 v2, 0xd0d0d0d0
      v_mov_b32 v3, v2
      v_mov_b32 v4, v2
      v_mov_b32 v5, v2
      ADD v10, s0, v1
      v_mov_b32 v11, s1
      v_mov_b32 v12, 0
    )" + ScratchSetup() + body +
                         R"(
      WAIT
      v_lshlrev_b32 v20, 4, v0
      STORE4 v20, v[2:5], s[2:3]
      s_endpgm)"));
    if (!testing::Test::HasFatalFailure()) runner.Run();
    return runner.Buffer(out);
  }
  std::vector<uint32_t> Expect(const Form& form, int base) const {
    std::vector<uint32_t> want(static_cast<size_t>(4 * lanes()), 0xd0d0d0d0);
    for (int lane = 0; lane < lanes(); ++lane) {
      uint32_t* v = &want[4 * static_cast<size_t>(lane)];
      const size_t at = static_cast<size_t>(lane * 20 + 1 + base);
      uint8_t bytes[16] = {};
      for (int i = 0; i < form.bytes; ++i) bytes[i] = PatternByte(at + static_cast<size_t>(i));
      if (form.is_signed && (bytes[form.bytes - 1] & 0x80) != 0) {
        for (int i = form.bytes; i < 4; ++i) bytes[i] = 0xff;
      }
      uint32_t words[4];
      std::memcpy(words, bytes, 16);
      if (form.half < 0) {
        for (int i = 0; i < (form.bytes + 3) / 4; ++i) v[i] = words[i];
      } else {
        v[0] = form.half == 0 ? 0xd0d00000 | (words[0] & 0xffff) : 0xd0d0 | words[0] << 16;
      }
    }
    return want;
  }
};

TEST_P(Generations, LoadsOfEveryFormAndMemory) {
  std::string lds_fill = "v_lshlrev_b32 v13, 2, v0\n", private_fill;
  for (int at = 0; at < 2048; at += 4 * lanes()) {
    lds_fill += absl::StrFormat("LOAD1 v14, v13, s[0:1] offset:%d\nWAIT\nDSW1 v13, v14 offset:%d\n", at, at);
  }
  for (int at = 0; at < 20 * lanes() + 64; at += 4) {
    private_fill +=
        absl::StrFormat("LOAD1 v14, v12, s[0:1] offset:%d\nWAIT\nPRIVATE1 v12, v14, off offset:%d\n", at, at);
  }
  for (const Form& form : kForms) {
    const std::string f = cdna() ? form.cdna : form.rdna, r = form.registers;
    EXPECT_EQ(RunLoad("global_load_" + f + " " + r + ", v1, s[0:1] offset:24"), Expect(form, 24))
        << f << " saddr";
    EXPECT_EQ(RunLoad("global_load_" + f + " " + r + ", v[10:11], off offset:-1"), Expect(form, -1))
        << f << " vaddr";
    EXPECT_EQ(RunLoad("flat_load_" + f + " " + r + ", v[10:11] offset:9"), Expect(form, 9)) << f << " flat";
    EXPECT_EQ(RunLoad(BufferSetup(2048) + "s_movk_i32 s8, 16\nbuffer_load_" + f + " " + r +
                      ", v1, s[12:15], s8 offen offset:8"),
              Expect(form, 24))
        << f << " buffer";
    const std::string ds = std::string(cdna() ? "ds_read_" : "ds_load_") + form.ds;
    EXPECT_EQ(RunLoad(lds_fill + "WAIT\n" + ds + " " + r + ", v1 offset:31"), Expect(form, 31)) << ds;
    EXPECT_EQ(
        RunLoad(
            lds_fill +
            "WAIT\ns_mov_b64 s[16:17], src_shared_base\nv_mov_b32 v10, v1\nv_mov_b32 v11, s17\nflat_load_" +
            f + " " + r + ", v[10:11] offset:31"),
        Expect(form, 31))
        << f << " flat LDS";
    EXPECT_EQ(RunLoad(private_fill + "WAIT\nscratch_load_" + f + " " + r + ", v1, off offset:7"),
              Expect(form, 7))
        << f << " SV";
    if (isa() != Isa::kCdna2) {
      EXPECT_EQ(RunLoad(private_fill + "WAIT\ns_movk_i32 s11, 3\nscratch_load_" + f + " " + r +
                        ", v1, s11 offset:4"),
                Expect(form, 7))
          << f << " SVS";
    }
    EXPECT_EQ(
        RunLoad(
            private_fill +
            "WAIT\ns_mov_b64 s[16:17], src_private_base\nv_mov_b32 v10, v1\nv_mov_b32 v11, s17\nflat_load_" +
            f + " " + r + ", v[10:11] offset:7"),
        Expect(form, 7))
        << f << " flat private";
    if (HasFailure()) return;
  }
}

TEST_P(Generations, StoresWriteExactlyTheirBytes) {
  for (const StoreForm& form : kStores) {
    for (const std::string kind : {"global", "flat", "buffer", "ds"}) {
      KernelRunner runner(lanes(), isa());
      const int out = runner.AddBuffer(static_cast<size_t>(lanes() * 5 + 1));
      runner.regs.rsrc2 |= kLds4K;
      const std::string f = cdna() ? form.cdna : form.rdna;
      std::string store = kind + "_store_" + f + " ";
      if (kind == "global") store += absl::StrFormat("v1, %s, s[0:1]", form.registers);
      if (kind == "flat") store += absl::StrFormat("v[10:11], %s", form.registers);
      if (kind == "buffer") store += absl::StrFormat("%s, v1, s[12:15], 0 offen", form.registers);
      if (kind == "buffer" && isa() == Isa::kRdna4)
        store = absl::StrReplaceAll(store, {{", 0 offen", ", null offen"}});
      if (kind == "ds")
        store = absl::StrFormat("%s%s v1, %s", cdna() ? "ds_write_" : "ds_store_", form.ds, form.registers);
      std::string copy;
      if (kind == "ds") {
        // LDS to the buffer, a dword a lane at a time; its contents start as zero.
        copy = std::string(lanes() == 64 ? "s_mov_b64 exec, -1\n" : "s_mov_b32 exec_lo, -1\n") +
               "v_lshlrev_b32 v13, 2, v0\n";
        for (int k = 0; k < 5; ++k) {
          copy += absl::StrFormat("%s v14, v13 offset:%d\nWAIT\n%s v13, v14, s[0:1] offset:%d\n",
                                  cdna() ? "ds_read_b32" : "ds_load_b32", k * 4 * lanes(),
                                  cdna() ? "global_store_dword" : "global_store_b32", k * 4 * lanes());
        }
      }
      runner.Program(Words(R"(
        v_mul_u32_u24 v1, 20, v0
        ADD v1, 3, v1
        ADD v10, s0, v1
        v_mov_b32 v11, s1
        v_mov_b32 v2, 0x04030201
        v_mov_b32 v3, 0x08070605
        v_mov_b32 v4, 0x0c0b0a09
        v_mov_b32 v5, 0x100f0e0d
        s_mov_b32 exec_lo, 0x7fffffff
      )" + BufferSetup(0xffffffff) +
                           store + "\nWAIT\n" + copy + "\ns_endpgm"));
      runner.Run();
      const uint8_t* bytes = reinterpret_cast<const uint8_t*>(runner.Buffer(out).data());
      for (int i = 0; i < lanes() * 20; ++i) {
        const int lane = (i - 3) / 20, within = i - 3 - lane * 20;
        const bool written = i >= 3 && lane != 31 && within < form.bytes;
        ASSERT_EQ(bytes[i], written ? form.first + within + 1 : 0) << store << " byte " << i;
      }
    }
  }
}

// Scalar loads with every kind of offset, and buffers that end before the load does.
TEST_P(Generations, ScalarLoads) {
  struct Load {
    const char* rdna;
    const char* cdna;
    int words;
  };
  for (const Load& load : {Load{"b32", "dword", 1}, Load{"b64", "dwordx2", 2}, Load{"b128", "dwordx4", 4},
                           Load{"b256", "dwordx8", 8}, Load{"b512", "dwordx16", 16}}) {
    KernelRunner runner(lanes(), isa());
    const int in = runner.AddBuffer(64), out = runner.AddBuffer(64);
    for (uint32_t i = 0; i < 64; ++i) runner.Buffer(in)[i] = 0x1000 + i;
    const std::string name = cdna() ? load.cdna : load.rdna;
    const std::string to = load.words == 1 ? "s32" : absl::StrFormat("s[32:%d]", 31 + load.words);
    std::string text = BufferSetup(4 * 20);
    std::vector<std::string> loads = {
        "s_load_" + name + " " + to + ", s[0:1], 0x8",
        "s_load_" + name + " " + to + ", s[0:1], s20 offset:0x4",
        "s_buffer_load_" + name + " " + to + ", s[12:15], 0x24",
    };
    const uint32_t first[] = {2, 4, 9};  // the register holds 12: 12 + 4 is word 4
    for (size_t k = 0; k < loads.size(); ++k) {
      std::string body = text + "s_mov_b32 s20, 12\nv_mov_b32 v1, 0\n";
      for (int i = 0; i < 16; ++i) body += absl::StrFormat("s_movk_i32 s%d, 0x55\n", 32 + i);
      body += loads[k] + (isa() == Isa::kRdna4 ? "\ns_wait_kmcnt 0x0\n" : "\ns_waitcnt lgkmcnt(0)\n");
      for (int i = 0; i < 16; i += 4) {
        for (int w = 0; w < 4; ++w) body += absl::StrFormat("v_mov_b32 v%d, s%d\n", 2 + w, 32 + i + w);
        body += absl::StrFormat("STORE4 v1, v[2:5], s[2:3] offset:%d\nWAIT\n", 4 * i);
      }
      runner.Program(Words(body + "s_endpgm"));
      if (HasFailure()) FAIL() << loads[k];
      runner.Run();
      for (uint32_t i = 0; i < 16; ++i) {
        const uint32_t word = first[k] + i;
        const uint32_t loaded = k == 2 && word >= 20 ? 0 : 0x1000 + word;
        ASSERT_EQ(runner.Buffer(out)[i], i < static_cast<uint32_t>(load.words) ? loaded : 0x55)
            << loads[k] << " word " << i;
      }
    }
  }
}

// Instructions that only some generations have, or that each encodes in its own way, from their bytes: v2-v5
// afterwards.
TEST_P(Generations, SpecialFormsFromTheirBytes) {
  const auto pattern = [](size_t at) {
    uint32_t word = 0;
    for (size_t i = 0; i < 4; ++i) word |= uint32_t{PatternByte(at + i)} << (8 * i);
    return word;
  };
  const auto expect = [&](const std::string& body, int registers,
                          const std::function<uint32_t(int lane, int i)>& want) {
    const std::vector<uint32_t> got = RunLoad(body);
    if (HasFailure()) return;
    for (int lane = 0; lane < lanes(); ++lane) {
      for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(got[static_cast<size_t>(4 * lane + i)], i < registers ? want(lane, i) : 0xd0d0d0d0)
            << body << " lane " << lane << " register " << i;
      }
    }
  };
  // Bytes as fractions of 255, through the instruction's format; v1 made even first: typed elements are
  // aligned.
  const char* const format =
      cdna() ? "format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_UNORM]" : "format:[BUF_FMT_8_8_8_8_UNORM]";
  expect(BufferSetup(2048) + "v_lshlrev_b32 v1, 2, v0\ntbuffer_load_format_xyzw v[2:5], v1, s[12:15], " +
             (isa() == Isa::kRdna4 ? "null " : "0 ") + format + " offen offset:8",
         4, [&](int lane, int i) {
           return std::bit_cast<uint32_t>(
               static_cast<float>(PatternByte(static_cast<size_t>(8 + 4 * lane + i)) / 255.0));
         });
  // Transfers into LDS: 64 dwords by lane, read back by each lane's number.
  const std::string lds_read = "\nWAIT\nv_lshlrev_b32 v13, 2, v0\nds_read_b32 v2, v13 offset:256";
  const std::string m0 = "s_movk_i32 m0, 0xf0\n";
  const auto by_lane = [&](int lane, int) { return pattern(static_cast<size_t>(20 * lane + 1 + 16)); };
  if (isa() == Isa::kCdna2) {
    expect(m0 + "global_load_dword v1, s[0:1] offset:16 lds" + lds_read, 1, by_lane);
    expect(
        "v_mov_b32 v14, 0x77\nv_mov_b32 v13, 0\ns_store_dword s2, s[0:1], 0x40\ns_waitcnt "
        "lgkmcnt(0)\ns_dcache_wb\n"
        "global_load_dword v2, v13, s[0:1] offset:64",
        1, [&](int, int) { return 0x01100000u; });
  }
  if (isa() >= Isa::kCdna3) expect(m0 + "global_load_lds_dword v1, s[0:1] offset:16" + lds_read, 1, by_lane);
  if (cdna()) {
    expect(m0 + BufferSetup(2048) + "buffer_load_dword v1, s[12:15], 0 offen offset:16 lds" + lds_read, 1,
           by_lane);
    expect(
        "v_lshlrev_b32 v13, 2, v0\nv_accvgpr_write_b32 a4, v13\nds_write_b32 v13, a4 "
        "offset:64\nWAIT\nds_read_b32 a6, v13 offset:64\n"
        "WAIT\nv_accvgpr_read_b32 v2, a6",
        1, [](int lane, int) { return static_cast<uint32_t>(4 * lane); });
  }
  if (isa() == Isa::kCdna4) {
    expect(
        "s_mov_b32 m0, 0\nv_lshlrev_b32 v13, 4, v0\nglobal_load_lds_dwordx4 v13, s[0:1]\nWAIT\nds_read_b128 "
        "v[2:5], v13",
        4, [&](int lane, int i) { return pattern(static_cast<size_t>(16 * lane + 4 * i)); });
    // Rows of sixteen halves: four lanes a row, lane i receives column i.
    expect(
        "s_mov_b32 m0, 0\nv_lshlrev_b32 v13, 2, v0\nglobal_load_lds_dword v13, s[0:1]\nglobal_load_lds_dword "
        "v13, s[0:1] offset:256\n"
        "WAIT\nv_lshlrev_b32 v13, 3, v0\nds_read_b64_tr_b16 v[2:3], v13",
        2, [&](int lane, int i) {
          const auto half = [&](int row) {
            return pattern(static_cast<size_t>(lane / 16 * 128 + row * 32 + lane % 16 * 2)) & 0xffff;
          };
          return half(2 * i) | half(2 * i + 1) << 16;
        });
  }
  if (isa() == Isa::kRdna4) {
    expect(BufferSetup(2048) +
               "s_buffer_load_i16 s20, s[12:15], 0x6\ns_load_u8 s21, s[0:1], 0x9\ns_wait_kmcnt "
               "0x0\nv_mov_b32 v2, s20\nv_mov_b32 v3, s21",
           2, [&](int, int i) {
             return i == 0 ? static_cast<uint32_t>(int32_t{static_cast<int16_t>(pattern(6))})
                           : uint32_t{PatternByte(9)};
           });
    if (lanes() == 32) {
      expect("v_lshlrev_b32 v13, 4, v0\nglobal_load_tr_b128 v[2:5], v13, s[0:1]", 4, [&](int lane, int i) {
        const auto half = [&](int j) {
          return pattern(static_cast<size_t>((lane / 8 * 8 + j) * 16 + lane % 8 * 2)) & 0xffff;
        };
        return half(2 * i) | half(2 * i + 1) << 16;
      });
    }
    expect(
        "s_mov_b32 m0, 5\nv_mov_b32 v32, 1\nv_mov_b32 v33, 2\nglobal_load_block v[32:63], v12, s[0:1]\nWAIT\n"
        "v_mov_b32 v2, v32\nv_mov_b32 v3, v33\nv_mov_b32 v4, v34\nglobal_wb scope:SCOPE_SYS\nglobal_inv "
        "scope:SCOPE_SYS",
        3, [&](int, int i) { return i == 1 ? 2u : pattern(static_cast<size_t>(4 * i)); });
  }
  // A 2D image of 8-bit integers, 64 texels a row: x = lane, y = 1.
  if (IsRdna(isa()) || isa() == Isa::kCdna2) {
    const uint32_t width = 63, height = 3;
    uint32_t w[4] = {KernelRunner::kBufferVa >> 8, 0, 0, 0xfacu | 9u << 28};
    if (isa() == Isa::kCdna2) {
      w[1] = 10u << 20 | 4u << 26, w[2] = width | height << 14;
    } else if (isa() == Isa::kRdna4) {
      w[1] = 46u << 17 | (width & 3) << 30, w[2] = width >> 2 | height << 14;
    } else {
      w[1] = 46u << 20 | (width & 3) << 30, w[2] = width >> 2 | height << 14;
    }
    std::string text = "v_mov_b32 v6, v0\nv_mov_b32 v7, 1\nv_mov_b32 v8, 1\n";
    for (int i = 0; i < 4; ++i) text += absl::StrFormat("s_mov_b32 s%d, 0x%x\n", 16 + i, w[i]);
    text += absl::StrFormat("s_mov_b32 s20, 0x%x\ns_mov_b32 s21, 0\ns_mov_b32 s22, 0\ns_mov_b32 s23, 0\n",
                            isa() == Isa::kCdna2 ? 63u << 13 : 0u);
    const auto texel = [&](int lane, int i) {
      return uint32_t{PatternByte(static_cast<size_t>(256 + 4 * lane + i))};
    };
    if (isa() == Isa::kCdna2) {
      expect(text + "image_load v[2:5], v[6:7], s[16:23] dmask:0xf unorm", 4, texel);
    } else {
      const std::string unorm = isa() == Isa::kRdna4 ? "" : " unorm";
      expect(text + "image_load v[2:5], [v6, v8], s[16:23] dmask:0xf dim:SQ_RSRC_IMG_2D" + unorm, 4, texel);
      expect(text + "image_get_resinfo v[2:5], v12, s[16:23] dmask:0xf dim:SQ_RSRC_IMG_2D" + unorm, 4,
             [&](int, int i) { return i == 0   ? width + 1
                                      : i == 1 ? height + 1
                                               : 1u; });
    }
  }
}

struct AtomicCase {
  const char* rdna3;
  const char* rdna4;
  const char* cdna;
  const char* ds3;  // returning forms; nullptr: not there
  const char* ds4;
  const char* dsc;
  int bytes, data_values;
  char values;  // 'i' any pattern, 'f' floats, 'h' halves, 'b' bf16
  std::function<uint64_t(uint64_t old, uint64_t data, uint64_t data2)> oracle;
  bool cdna3_only = false;  // not on gfx90a
  bool no_flat_on_cdna2 = false;
};

float F(uint64_t v) { return std::bit_cast<float>(static_cast<uint32_t>(v)); }
uint64_t FBits(float v) { return std::bit_cast<uint32_t>(v); }
double D(uint64_t v) { return std::bit_cast<double>(v); }
uint64_t DBits(double v) { return std::bit_cast<uint64_t>(v); }
int32_t I(uint64_t v) { return static_cast<int32_t>(v); }
int64_t L(uint64_t v) { return static_cast<int64_t>(v); }
uint64_t PackedSum(const FloatFormat& format, uint64_t a, uint64_t b) {
  uint64_t r = 0;
  for (int i = 0; i < 32; i += 16) {
    r |= EncodeFloat(format, DecodeFloat(format, a >> i & 0xffff) + DecodeFloat(format, b >> i & 0xffff))
         << i;
  }
  return r;
}
using U = uint64_t;

const AtomicCase kAtomics[] = {
    {"swap_b32", "swap_b32", "swap", "storexchg_rtn_b32", "storexchg_rtn_b32", "wrxchg_rtn_b32", 4, 1, 'i',
     [](U, U d, U) { return d; }},
    {"add_u32", "add_u32", "add", "add_rtn_u32", "add_rtn_u32", "add_rtn_u32", 4, 1, 'i',
     [](U o, U d, U) { return o + d; }},
    {"sub_u32", "sub_u32", "sub", "sub_rtn_u32", "sub_rtn_u32", "sub_rtn_u32", 4, 1, 'i',
     [](U o, U d, U) { return o - d; }},
    {"min_i32", "min_i32", "smin", "min_rtn_i32", "min_rtn_i32", "min_rtn_i32", 4, 1, 'i',
     [](U o, U d, U) { return U(std::min(I(o), I(d))); }},
    {"max_u32", "max_u32", "umax", "max_rtn_u32", "max_rtn_u32", "max_rtn_u32", 4, 1, 'i',
     [](U o, U d, U) { return std::max(o, d); }},
    {"and_b32", "and_b32", "and", "and_rtn_b32", "and_rtn_b32", "and_rtn_b32", 4, 1, 'i',
     [](U o, U d, U) { return o & d; }},
    {"inc_u32", "inc_u32", "inc", "inc_rtn_u32", "inc_rtn_u32", "inc_rtn_u32", 4, 1, 'i',
     [](U o, U d, U) { return o >= d ? 0 : o + 1; }},
    {"dec_u32", "dec_u32", "dec", "dec_rtn_u32", "dec_rtn_u32", "dec_rtn_u32", 4, 1, 'i',
     [](U o, U d, U) { return o == 0 || o > d ? d : o - 1; }},
    {nullptr, "cond_sub_u32", nullptr, nullptr, "cond_sub_rtn_u32", nullptr, 4, 1, 'i',
     [](U o, U d, U) { return o >= d ? o - d : o; }},
    {nullptr, "sub_clamp_u32", nullptr, nullptr, "sub_clamp_rtn_u32", nullptr, 4, 1, 'i',
     [](U o, U d, U) { return o < d ? 0 : o - d; }},
    {"cmpswap_b32", "cmpswap_b32", "cmpswap", "cmpstore_rtn_b32", "cmpstore_rtn_b32", nullptr, 4, 2, 'i',
     [](U o, U d, U c) { return o == c ? d : o; }},
    {nullptr, nullptr, nullptr, nullptr, nullptr, "cmpst_rtn_b32", 4, 2, 'i',
     [](U o, U c, U d) { return o == c ? d : o; }},
    {nullptr, nullptr, nullptr, nullptr, nullptr, "cmpst_rtn_b64", 8, 2, 'i',
     [](U o, U c, U d) { return o == c ? d : o; }},
    {nullptr, nullptr, nullptr, nullptr, nullptr, "cmpst_rtn_f32", 4, 2, 'f',
     [](U o, U c, U d) { return F(o) == F(c) ? d : o; }},
    {nullptr, nullptr, nullptr, "mskor_rtn_b32", "mskor_rtn_b32", "mskor_rtn_b32", 4, 2, 'i',
     [](U o, U d, U e) { return (o & ~d) | e; }},
    {"add_f32", "add_f32", "add_f32", "add_rtn_f32", "add_rtn_f32", "add_rtn_f32", 4, 1, 'f',
     [](U o, U d, U) { return FBits(F(o) + F(d)); }, false, true},
    {"min_f32", nullptr, nullptr, "min_rtn_f32", nullptr, "min_rtn_f32", 4, 1, 'f',
     [](U o, U d, U) { return F(d) < F(o) ? d : o; }},
    {nullptr, "max_num_f32", nullptr, nullptr, "max_num_rtn_f32", nullptr, 4, 1, 'f',
     [](U o, U d, U) { return F(d) > F(o) ? d : o; }},
    {nullptr, "pk_add_f16", "pk_add_f16", nullptr, "pk_add_rtn_f16", nullptr, 4, 1, 'h',
     [](U o, U d, U) { return PackedSum(formats::kF16, o, d); }, false, true},
    {nullptr, "pk_add_bf16", "pk_add_bf16", nullptr, "pk_add_rtn_bf16", "pk_add_rtn_bf16", 4, 1, 'b',
     [](U o, U d, U) { return PackedSum(formats::kBf16, o, d); }, true},
    {"swap_b64", "swap_b64", "swap_x2", "storexchg_rtn_b64", "storexchg_rtn_b64", "wrxchg_rtn_b64", 8, 1, 'i',
     [](U, U d, U) { return d; }},
    {"add_u64", "add_u64", "add_x2", "add_rtn_u64", "add_rtn_u64", "add_rtn_u64", 8, 1, 'i',
     [](U o, U d, U) { return o + d; }},
    {"max_i64", "max_i64", "smax_x2", "max_rtn_i64", "max_rtn_i64", "max_rtn_i64", 8, 1, 'i',
     [](U o, U d, U) { return U(std::max(L(o), L(d))); }},
    {"xor_b64", "xor_b64", "xor_x2", "xor_rtn_b64", "xor_rtn_b64", "xor_rtn_b64", 8, 1, 'i',
     [](U o, U d, U) { return o ^ d; }},
    {"cmpswap_b64", "cmpswap_b64", "cmpswap_x2", "cmpstore_rtn_b64", "cmpstore_rtn_b64", nullptr, 8, 2, 'i',
     [](U o, U d, U c) { return o == c ? d : o; }},
    {nullptr, nullptr, "add_f64", nullptr, nullptr, "add_rtn_f64", 8, 1, 'f',
     [](U o, U d, U) { return DBits(D(o) + D(d)); }},
    {nullptr, nullptr, "min_f64", nullptr, nullptr, "min_rtn_f64", 8, 1, 'f',
     [](U o, U d, U) { return D(d) < D(o) ? d : o; }},
};

uint64_t ValueOf(const AtomicCase& c, int i) {
  static const uint64_t kIntegers[] = {0,          1,          2,          5,          0x7fffffff, 0x80000000,
                                       0xffffffff, 0x3f800000, 0xc0490fdb, 0x12345678, 3,          7,
                                       100,        0xfffffffe, 0x80000001, 64};
  const int k = i % 16;
  const double real = (k - 7) * 0.375;
  switch (c.values) {
    case 'f':
      return c.bytes == 4 ? FBits(static_cast<float>(real)) : DBits(real);
    case 'h':
      return EncodeFloat(formats::kF16, real) | EncodeFloat(formats::kF16, real * 3 + 1) << 16;
    case 'b':
      return EncodeFloat(formats::kBf16, real) | EncodeFloat(formats::kBf16, real * 3 + 1) << 16;
    default:
      return c.bytes == 4 ? kIntegers[k] : kIntegers[k] * 0x100000001;
  }
}

TEST_P(Generations, Atomics) {
  for (const AtomicCase& c : kAtomics) {
    if (c.cdna3_only && isa() == Isa::kCdna2) continue;
    for (const std::string kind : {"global", "flat", "buffer", "ds"}) {
      const bool ds = kind == "ds", rdna4 = isa() == Isa::kRdna4;
      const char* suffix = ds ? (cdna()  ? c.dsc
                                 : rdna4 ? c.ds4
                                         : c.ds3)
                              : (cdna()  ? c.cdna
                                 : rdna4 ? c.rdna4
                                         : c.rdna3);
      if (suffix == nullptr || (kind == "flat" && c.no_flat_on_cdna2 && isa() == Isa::kCdna2)) continue;
      // gfx942 has this one for flat and global memory and LDS alone.
      if (c.values == 'b' && kind == "buffer" && isa() == Isa::kCdna3) continue;
      for (const bool returns : {true, false}) {
        std::string name = suffix;
        if (ds && !returns) {
          if (name.find("xchg") != std::string::npos) continue;
          name.replace(name.find("rtn_"), 4, "");
        }
        const uint64_t mask = c.bytes == 4 ? 0xffffffff : ~uint64_t{0};
        KernelRunner runner(lanes(), isa());
        const int cells = runner.AddBuffer(32), out = runner.AddBuffer(static_cast<size_t>(2 * lanes())),
                  data = runner.AddBuffer(static_cast<size_t>(4 * lanes()));
        std::vector<uint64_t> want_cells(16), want_out(static_cast<size_t>(lanes()), 0xabababababababab);
        for (int i = 0; i < 16; ++i) {
          want_cells[i] = ValueOf(c, i) & mask;
          StoreLE<uint64_t>(&runner.Buffer(cells)[2 * i], want_cells[i]);
        }
        for (int lane = 0; lane < lanes(); ++lane) {
          const uint64_t d = ValueOf(c, lane * 7 + 3) & mask;
          const uint64_t d2 = (lane % 3 == 0 ? want_cells[lane % 16] : ValueOf(c, lane % 5)) & mask;
          StoreLE<uint64_t>(&runner.Buffer(data)[4 * lane], d);
          StoreLE<uint64_t>(&runner.Buffer(data)[4 * lane + 2], d2);
          uint64_t& cell = want_cells[lane % 16];
          if (returns) want_out[lane] = cell;
          cell = c.oracle(cell, d, d2) & mask;
        }
        const bool wide = c.bytes == 8;
        const std::string destination = wide ? "v[6:7]" : "v6", first = wide ? "v[2:3]" : "v2",
                          second = wide ? "v[4:5]" : "v3";
        const std::string both = c.data_values == 1 ? first : wide ? "v[2:5]" : "v[2:3]";
        const std::string flag = !returns               ? ""
                                 : rdna4                ? " th:TH_ATOMIC_RETURN"
                                 : isa() >= Isa::kCdna3 ? " sc0"
                                                        : " glc";
        std::string operation;
        if (ds) {
          operation = "ds_" + name + " " + (returns ? destination + ", " : "") + "v1, " + first +
                      (c.data_values == 2 ? ", " + second : "");
        } else if (kind == "buffer") {
          operation = "buffer_atomic_" + name + " " + both + ", v1, s[12:15], " + (rdna4 ? "null" : "0") +
                      " offen" + flag;
          if (returns)
            operation += "\nWAIT\nv_mov_b32 v6, v2" + std::string(wide ? "\nv_mov_b32 v7, v3" : "");
        } else {
          operation = kind + "_atomic_" + name + " " + (returns ? destination + ", " : "") +
                      (kind == "flat" ? "v[10:11], " + both : "v1, " + both + ", s[0:1]") + flag;
        }
        runner.regs.rsrc2 |= kLds4K;
        runner.Program(
            Words(absl::StrFormat(R"(
          v_and_b32 v1, 15, v0
          v_lshlrev_b32 v1, 3, v1
          v_lshlrev_b32 v8, 4, v0
          LOAD2 v[2:3], v8, s[4:5]
          LOAD2 v[14:15], v8, s[4:5] offset:8
          LOAD2 v[12:13], v1, s[0:1]
          v_mov_b32 v6, 0xabababab
          v_mov_b32 v7, v6
          ADD v10, s0, v1
          v_mov_b32 v11, s1
          WAIT
          v_mov_b32 v%d, v14
          v_mov_b32 v%d, v15
          DSW2 v1, v[12:13]
          WAIT
          %s
          %s
          WAIT
          v_lshlrev_b32 v8, 3, v0
          STORE2 v8, v[6:7], s[2:3]
          %s
          s_endpgm)",
                                  wide ? 4 : 3, wide ? 5 : 4, BufferSetup(0xffffffff), operation,
                                  ds ? "DSR2 v[12:13], v1\nWAIT\nSTORE2 v1, v[12:13], s[0:1]" : "")));
        if (HasFailure()) FAIL() << operation;
        runner.Run();
        if (HasFailure()) FAIL() << operation;
        for (int i = 0; i < 16; ++i) {
          ASSERT_EQ(LoadLE<uint64_t>(&runner.Buffer(cells)[2 * i]) & mask, want_cells[i])
              << operation << " cell " << i;
        }
        for (int lane = 0; lane < lanes(); ++lane) {
          ASSERT_EQ(LoadLE<uint64_t>(&runner.Buffer(out)[2 * lane]) & mask, want_out[lane] & mask)
              << operation << " lane " << lane;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Generations,
                         testing::Values(Generation{Isa::kRdna3, 64}, Generation{Isa::kRdna35, 32},
                                         Generation{Isa::kRdna4, 32}, Generation{Isa::kRdna4, 64},
                                         Generation{Isa::kCdna2, 64}, Generation{Isa::kCdna3, 64},
                                         Generation{Isa::kCdna4, 64}),
                         [](const testing::TestParamInfo<Generation>& info) {
                           return absl::StrFormat("%s_wave%d", IsaTarget(info.param.isa), info.param.lanes);
                         });

}  // namespace
}  // namespace understudy::emu::amd
