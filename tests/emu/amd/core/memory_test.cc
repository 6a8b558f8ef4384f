// SPDX-License-Identifier: Apache-2.0
// Vector memory: forms of loads and stores, address modes, atomics, private memory, flat apertures and
// buffers, each against a model on the host.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "absl/strings/str_format.h"
#include "src/base/bits.h"
#include "tests/emu/amd/core/kernel_runner.h"

namespace understudy::emu::amd {
namespace {

constexpr int kLanes = 32;
constexpr uint32_t kLds4K = 8u << 15;

uint8_t PatternByte(size_t i) { return static_cast<uint8_t>(i * 37 + 129); }

// Runs `body` with v0 = lane, v1 = lane * 20 + 1 (unaligned byte offsets), v2-v5 = 0xd0d0d0d0, buffer 0 = a
// byte pattern of 2 KiB in s[0:1], and returns v2-v5 of every lane.
std::vector<uint32_t> RunLoad(const std::string& body,
                              const std::function<void(KernelRunner&)>& prepare = {}) {
  KernelRunner runner;
  const int in = runner.AddBuffer(512), out = runner.AddBuffer(4 * kLanes);
  for (size_t i = 0; i < 2048; ++i) reinterpret_cast<uint8_t*>(runner.Buffer(in).data())[i] = PatternByte(i);
  runner.ReserveScratch(2048, 1);
  runner.regs.rsrc2 |= kLds4K;
  if (prepare) prepare(runner);
  runner.Program(R"(
    v_mul_u32_u24 v1, 20, v0
    v_add_nc_u32 v1, 1, v1
    v_mov_b32 v2, 0xd0d0d0d0
    v_mov_b32 v3, v2
    v_mov_b32 v4, v2
    v_mov_b32 v5, v2
    v_mov_b32 v10, s0
    v_mov_b32 v11, s1
    v_add_co_u32 v10, vcc_lo, v10, v1
    v_add_co_ci_u32 v11, vcc_lo, 0, v11, vcc_lo
  )" + body + R"(
    s_waitcnt vmcnt(0) lgkmcnt(0)
    v_lshlrev_b32 v20, 4, v0
    global_store_b128 v20, v[2:5], s[2:3]
    s_endpgm)");
  runner.Run();
  return runner.Buffer(out);
}

struct Form {
  const char* suffix;  // of the mnemonic
  const char* ds_suffix;
  const char* registers;
  int bytes;
  bool is_signed;
  int half;  // -1: whole registers, 0 or 1: that half of v2
};
const Form kForms[] = {
    {"u8", "u8", "v2", 1, false, -1},
    {"i8", "i8", "v2", 1, true, -1},
    {"u16", "u16", "v2", 2, false, -1},
    {"i16", "i16", "v2", 2, true, -1},
    {"b32", "b32", "v2", 4, false, -1},
    {"b64", "b64", "v[2:3]", 8, false, -1},
    {"b96", "b96", "v[2:4]", 12, false, -1},
    {"b128", "b128", "v[2:5]", 16, false, -1},
    {"d16_u8", "u8_d16", "v2", 1, false, 0},
    {"d16_i8", "i8_d16", "v2", 1, true, 0},
    {"d16_b16", "u16_d16", "v2", 2, false, 0},
    {"d16_hi_u8", "u8_d16_hi", "v2", 1, false, 1},
    {"d16_hi_i8", "i8_d16_hi", "v2", 1, true, 1},
    {"d16_hi_b16", "u16_d16_hi", "v2", 2, false, 1},
};

std::vector<uint32_t> ExpectLoad(const Form& form, const std::function<size_t(int)>& offset) {
  std::vector<uint32_t> want(4 * kLanes, 0xd0d0d0d0);
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t* v = &want[4 * lane];
    uint64_t value = 0;
    const size_t at = offset(lane);
    for (int i = 0; i < std::min(form.bytes, 4); ++i) value |= uint64_t{PatternByte(at + i)} << (8 * i);
    if (form.is_signed && (value >> (8 * form.bytes - 1) & 1) != 0) value |= ~uint64_t{0} << (8 * form.bytes);
    if (form.half < 0) {
      v[0] = static_cast<uint32_t>(value);
      for (int i = 4; i < form.bytes; i += 4) {
        v[i / 4] = 0;
        for (int b = 0; b < 4; ++b) v[i / 4] |= uint32_t{PatternByte(at + i + b)} << (8 * b);
      }
    } else {
      v[0] = form.half == 0 ? (0xd0d00000 | (value & 0xffff))
                            : (0xd0d0 | static_cast<uint32_t>(value & 0xffff) << 16);
    }
  }
  return want;
}

TEST(VectorMemory, LoadsOfEveryFormAndAddressMode) {
  for (const Form& form : kForms) {
    const std::string f = form.suffix, r = form.registers;
    const auto at = [](int base) {
      return [base](int lane) { return static_cast<size_t>(lane * 20 + 1 + base); };
    };
    EXPECT_EQ(RunLoad("global_load_" + f + " " + r + ", v1, s[0:1] offset:24"), ExpectLoad(form, at(24)))
        << f << " saddr";
    EXPECT_EQ(RunLoad("global_load_" + f + " " + r + ", v[10:11], off offset:-1"), ExpectLoad(form, at(-1)))
        << f << " vaddr";
    EXPECT_EQ(RunLoad("flat_load_" + f + " " + r + ", v[10:11] offset:9"), ExpectLoad(form, at(9)))
        << f << " flat";
    EXPECT_EQ(RunLoad("s_mov_b32 s4, s0\ns_mov_b32 s5, s1\ns_mov_b32 s6, 2048\ns_mov_b32 s7, "
                      "0x30014000\ns_movk_i32 s8, 16\n"
                      "buffer_load_" +
                      f + " " + r + ", v1, s[4:7], s8 offen offset:8"),
              ExpectLoad(form, at(24)))
        << f << " buffer";
  }
}

// Fills LDS or private memory with the pattern, byte by byte, then loads every form from it.
TEST(VectorMemory, LoadsFromLds) {
  const std::string fill = R"(
    v_mov_b32 v12, 0
    v_lshlrev_b32 v13, 2, v0
    s_movk_i32 s10, 16
  fill:
    global_load_b32 v14, v13, s[0:1]
    s_waitcnt vmcnt(0)
    ds_store_b32 v13, v14
    v_add_nc_u32 v13, 0x80, v13
    s_sub_u32 s10, s10, 1
    s_cmp_lg_u32 s10, 0
    s_cbranch_scc1 fill
  )";
  for (const Form& form : kForms) {
    const auto want = ExpectLoad(form, [](int lane) { return static_cast<size_t>(lane * 20 + 1 + 31); });
    EXPECT_EQ(RunLoad(fill + "ds_load_" + form.ds_suffix + " " + form.registers + ", v1 offset:31"), want)
        << form.ds_suffix;
    EXPECT_EQ(
        RunLoad(fill +
                "s_mov_b64 s[12:13], src_shared_base\nv_mov_b32 v10, v1\nv_mov_b32 v11, s13\nflat_load_" +
                form.suffix + " " + form.registers + ", v[10:11] offset:31"),
        want)
        << "flat " << form.suffix;
  }
}

TEST(VectorMemory, LoadsFromPrivateMemory) {
  // Lane l's private byte i is PatternByte(i); 40 + lane differ in offset.
  const std::string fill = R"(
    s_movk_i32 s10, 0
    v_mov_b32 v12, 0
  fill:
    v_mov_b32 v13, s10
    global_load_u8 v14, v13, s[0:1]
    s_waitcnt vmcnt(0)
    scratch_store_b8 v13, v14, off
    s_add_u32 s10, s10, 1
    s_cmp_lg_u32 s10, 0x2d0
    s_cbranch_scc1 fill
  )";
  for (const Form& form : kForms) {
    const std::string f = form.suffix, r = form.registers;
    const auto lane_offset =
        ExpectLoad(form, [](int lane) { return static_cast<size_t>(lane * 20 + 1 + 7); });
    const auto uniform = ExpectLoad(form, [](int) { return size_t{52}; });
    EXPECT_EQ(RunLoad(fill + "scratch_load_" + f + " " + r + ", v1, off offset:7"), lane_offset)
        << f << " SV";
    EXPECT_EQ(RunLoad(fill + "s_movk_i32 s11, 3\nscratch_load_" + f + " " + r + ", v1, s11 offset:4"),
              lane_offset)
        << f << " SVS";
    EXPECT_EQ(RunLoad(fill + "s_movk_i32 s11, 48\nscratch_load_" + f + " " + r + ", off, s11 offset:4"),
              uniform)
        << f << " SS";
    EXPECT_EQ(RunLoad(fill + "scratch_load_" + f + " " + r + ", off, off offset:52"), uniform) << f << " ST";
    EXPECT_EQ(
        RunLoad(fill +
                "s_mov_b64 s[12:13], src_private_base\nv_mov_b32 v10, v1\nv_mov_b32 v11, s13\nflat_load_" +
                f + " " + r + ", v[10:11] offset:7"),
        lane_offset)
        << f << " flat";
  }
}

// Every store form writes exactly its bytes.
TEST(VectorMemory, StoresWriteExactlyTheirBytes) {
  struct StoreForm {
    const char* suffix;
    const char* registers;
    int bytes;
    int first;  // byte of v2
  };
  const StoreForm kStores[] = {{"b8", "v2", 1, 0},        {"b16", "v2", 2, 0},
                               {"b32", "v2", 4, 0},       {"b64", "v[2:3]", 8, 0},
                               {"b96", "v[2:4]", 12, 0},  {"b128", "v[2:5]", 16, 0},
                               {"d16_hi_b8", "v2", 1, 2}, {"d16_hi_b16", "v2", 2, 2}};
  for (const StoreForm& form : kStores) {
    for (const std::string kind : {"global", "flat", "buffer"}) {
      KernelRunner runner;
      const int out = runner.AddBuffer(kLanes * 5 + 1);
      std::string store = kind + "_store_" + form.suffix + " ";
      if (kind == "global") store += absl::StrFormat("v1, %s, s[0:1]", form.registers);
      if (kind == "flat") store += absl::StrFormat("v[10:11], %s", form.registers);
      if (kind == "buffer") store += absl::StrFormat("%s, v1, s[4:7], 0 offen", form.registers);
      runner.Program(R"(
        v_mul_u32_u24 v1, 20, v0
        v_add_nc_u32 v1, 3, v1
        v_mov_b32 v10, s0
        v_mov_b32 v11, s1
        v_add_co_u32 v10, vcc_lo, v10, v1
        v_add_co_ci_u32 v11, vcc_lo, 0, v11, vcc_lo
        s_mov_b32 s4, s0
        s_mov_b32 s5, s1
        s_mov_b32 s6, -1
        s_mov_b32 s7, 0x30014000
        v_mov_b32 v2, 0x04030201
        v_mov_b32 v3, 0x08070605
        v_mov_b32 v4, 0x0c0b0a09
        v_mov_b32 v5, 0x100f0e0d
        s_mov_b32 exec_lo, 0x7fffffff
      )" + store + "\ns_endpgm");
      runner.Run();
      const uint8_t* bytes = reinterpret_cast<const uint8_t*>(runner.Buffer(out).data());
      for (int i = 0; i < kLanes * 20 + 4; ++i) {
        const int lane = (i - 3) / 20, within = i - 3 - lane * 20;
        const bool written = i >= 3 && lane < 31 && within < form.bytes;
        ASSERT_EQ(bytes[i], written ? form.first + within + 1 : 0) << store << " byte " << i;
      }
    }
  }
}

// Cases.md: an LDS of N bytes, a b32 store at N-2: the two bytes in range are written; loads give zero
// beyond.
TEST(VectorMemory, LdsIsBoundedPerByte) {
  KernelRunner runner;
  const int out = runner.AddBuffer(4);
  runner.regs.num_thread[0] = 1;
  runner.regs.rsrc2 |= 1u << 15;
  runner.options.exact_lds_bytes = 102;
  runner.Program(R"(
    v_mov_b32 v0, 0
    v_mov_b32 v1, 100
    v_mov_b32 v2, 0x44332211
    v_mov_b32 v6, -2
    ds_store_b32 v1, v2
    ds_store_b32 v6, v2
    ds_load_b64 v[2:3], v1
    ds_load_u16 v4, v1
    ds_add_rtn_u32 v5, v1, v2
    global_store_b128 v0, v[2:5], s[0:1]
    s_endpgm)");
  runner.Run();
  EXPECT_EQ(runner.Buffer(out), (std::vector<uint32_t>{0x2211, 0, 0x2211, 0}));
}

struct AtomicCase {
  const char* memory;  // suffix of global_atomic_, or nullptr
  const char* ds;      // suffix of ds_..._rtn_, or nullptr
  int bytes;
  int data_values;
  std::function<uint64_t(uint64_t old, uint64_t data, uint64_t data2)> oracle;
};

float F(uint64_t v) { return std::bit_cast<float>(static_cast<uint32_t>(v)); }
uint64_t FBits(float v) { return std::bit_cast<uint32_t>(v); }
// RDNA3 ISA 13.2: sums in memory count denormals as zeros of their sign.
float WithoutDenormals(uint64_t v) { return F((v & 0x7f800000) == 0 ? v & 0x80000000 : v); }
// RDNA3 ISA 13.3, for quiet NaNs: they lose, and -0 is below +0.
uint64_t Selected(uint64_t old, uint64_t data, bool maximum) {
  if (std::isnan(F(data))) return old;
  if (std::isnan(F(old))) return data;
  const bool below = F(data) != F(old) ? F(data) < F(old) : std::signbit(F(data)) && !std::signbit(F(old));
  const bool above = F(data) != F(old) ? F(data) > F(old) : !std::signbit(F(data)) && std::signbit(F(old));
  return (maximum ? above : below) ? data : old;
}
int32_t I(uint64_t v) { return static_cast<int32_t>(v); }
int64_t L(uint64_t v) { return static_cast<int64_t>(v); }

const AtomicCase kAtomics[] = {
    {"swap_b32", "storexchg_rtn_b32", 4, 1, [](uint64_t, uint64_t d, uint64_t) { return d; }},
    {"add_u32", "add_rtn_u32", 4, 1, [](uint64_t o, uint64_t d, uint64_t) { return o + d; }},
    {"sub_u32", "sub_rtn_u32", 4, 1, [](uint64_t o, uint64_t d, uint64_t) { return o - d; }},
    {nullptr, "rsub_rtn_u32", 4, 1, [](uint64_t o, uint64_t d, uint64_t) { return d - o; }},
    {"csub_u32", nullptr, 4, 1, [](uint64_t o, uint64_t d, uint64_t) { return o < d ? 0 : o - d; }},
    {"min_i32", "min_rtn_i32", 4, 1,
     [](uint64_t o, uint64_t d, uint64_t) { return uint64_t(std::min(I(o), I(d))); }},
    {"max_i32", "max_rtn_i32", 4, 1,
     [](uint64_t o, uint64_t d, uint64_t) { return uint64_t(std::max(I(o), I(d))); }},
    {"min_u32", "min_rtn_u32", 4, 1, [](uint64_t o, uint64_t d, uint64_t) { return std::min(o, d); }},
    {"max_u32", "max_rtn_u32", 4, 1, [](uint64_t o, uint64_t d, uint64_t) { return std::max(o, d); }},
    {"and_b32", "and_rtn_b32", 4, 1, [](uint64_t o, uint64_t d, uint64_t) { return o & d; }},
    {"or_b32", "or_rtn_b32", 4, 1, [](uint64_t o, uint64_t d, uint64_t) { return o | d; }},
    {"xor_b32", "xor_rtn_b32", 4, 1, [](uint64_t o, uint64_t d, uint64_t) { return o ^ d; }},
    {"inc_u32", "inc_rtn_u32", 4, 1, [](uint64_t o, uint64_t d, uint64_t) { return o >= d ? 0 : o + 1; }},
    {"dec_u32", "dec_rtn_u32", 4, 1,
     [](uint64_t o, uint64_t d, uint64_t) { return o == 0 || o > d ? d : o - 1; }},
    {"cmpswap_b32", "cmpstore_rtn_b32", 4, 2,
     [](uint64_t o, uint64_t d, uint64_t c) { return o == c ? d : o; }},
    {nullptr, "mskor_rtn_b32", 4, 2, [](uint64_t o, uint64_t d, uint64_t e) { return (o & ~d) | e; }},
    {nullptr, "wrap_rtn_b32", 4, 2,
     [](uint64_t o, uint64_t d, uint64_t e) { return o >= d ? o - d : o + e; }},
    {"add_f32", nullptr, 4, 1,
     [](uint64_t o, uint64_t d, uint64_t) { return FBits(WithoutDenormals(o) + WithoutDenormals(d)); }},
    {nullptr, "add_rtn_f32", 4, 1, [](uint64_t o, uint64_t d, uint64_t) { return FBits(F(o) + F(d)); }},
    {"min_f32", "min_rtn_f32", 4, 1, [](uint64_t o, uint64_t d, uint64_t) { return Selected(o, d, false); }},
    {"max_f32", "max_rtn_f32", 4, 1, [](uint64_t o, uint64_t d, uint64_t) { return Selected(o, d, true); }},
    {"swap_b64", "storexchg_rtn_b64", 8, 1, [](uint64_t, uint64_t d, uint64_t) { return d; }},
    {"add_u64", "add_rtn_u64", 8, 1, [](uint64_t o, uint64_t d, uint64_t) { return o + d; }},
    {"sub_u64", "sub_rtn_u64", 8, 1, [](uint64_t o, uint64_t d, uint64_t) { return o - d; }},
    {"min_i64", "min_rtn_i64", 8, 1,
     [](uint64_t o, uint64_t d, uint64_t) { return uint64_t(std::min(L(o), L(d))); }},
    {"max_u64", "max_rtn_u64", 8, 1, [](uint64_t o, uint64_t d, uint64_t) { return std::max(o, d); }},
    {"and_b64", "and_rtn_b64", 8, 1, [](uint64_t o, uint64_t d, uint64_t) { return o & d; }},
    {"or_b64", "or_rtn_b64", 8, 1, [](uint64_t o, uint64_t d, uint64_t) { return o | d; }},
    {"xor_b64", "xor_rtn_b64", 8, 1, [](uint64_t o, uint64_t d, uint64_t) { return o ^ d; }},
    {"inc_u64", "inc_rtn_u64", 8, 1, [](uint64_t o, uint64_t d, uint64_t) { return o >= d ? 0 : o + 1; }},
    {"dec_u64", "dec_rtn_u64", 8, 1,
     [](uint64_t o, uint64_t d, uint64_t) { return o == 0 || o > d ? d : o - 1; }},
    {"cmpswap_b64", "cmpstore_rtn_b64", 8, 2,
     [](uint64_t o, uint64_t d, uint64_t c) { return o == c ? d : o; }},
    {nullptr, "mskor_rtn_b64", 8, 2, [](uint64_t o, uint64_t d, uint64_t e) { return (o & ~d) | e; }},
};

// Sixteen cells, two lanes a cell: the lower lane's operation comes first, and each gets the value it found.
// With and without return; in memory (global, flat, buffer) and in LDS.
TEST(VectorMemory, Atomics) {
  const uint64_t kValues[] = {0,          1,          2,          5,          0x7fffffff, 0x80000000,
                              0xffffffff, 0x3f800000, 0xc0490fdb, 0x7fc00001, 0x00000003, 0x3fc00000,
                              0x40490fdb, 0xff800000, 0x80000001, 0x40000000};
  for (const AtomicCase& c : kAtomics) {
    for (const std::string kind : {"global", "flat", "buffer", "ds"}) {
      const char* suffix = kind == "ds" ? c.ds : c.memory;
      if (suffix == nullptr || (kind == "flat" && std::string(suffix) == "csub_u32")) continue;
      for (const bool returns : {true, false}) {
        std::string name = suffix;
        if (kind == "ds" && !returns) {
          if (name.rfind("storexchg", 0) == 0 || name.rfind("wrap", 0) == 0) continue;
          name.replace(name.find("rtn_"), 4, "");
        }
        if (name == "csub_u32" && !returns) continue;  // needs glc
        KernelRunner runner;
        const int cells = runner.AddBuffer(32), out = runner.AddBuffer(2 * kLanes),
                  data = runner.AddBuffer(4 * kLanes);
        std::vector<uint64_t> want_cells(16), want_out(kLanes, 0xabababababababab);
        const uint64_t mask = c.bytes == 4 ? 0xffffffff : ~uint64_t{0};
        for (int i = 0; i < 16; ++i) {
          want_cells[i] = (kValues[i] * (c.bytes == 8 ? 0x100000001 : 1)) & mask;
          StoreLE<uint64_t>(&runner.Buffer(cells)[2 * i], want_cells[i]);
        }
        for (int lane = 0; lane < kLanes; ++lane) {
          const uint64_t d = (kValues[(lane * 7 + 3) % 16] * (c.bytes == 8 ? 0x100000001 : 1)) & mask;
          const uint64_t d2 = lane % 3 == 0 ? want_cells[lane % 16] : kValues[lane % 5] & mask;
          StoreLE<uint64_t>(&runner.Buffer(data)[4 * lane], d);
          StoreLE<uint64_t>(&runner.Buffer(data)[4 * lane + 2], d2);
          uint64_t& cell = want_cells[lane % 16];
          if (returns) want_out[lane] = cell;
          cell = c.oracle(cell, d, d2) & mask;
        }
        // v[2:3] data, v[4:5] data2 for 64 bits; v2, v3 for 32 bits.
        std::string operation;
        const std::string destination = c.bytes == 4 ? "v6" : "v[6:7]";
        const std::string first = c.bytes == 4 ? "v2" : "v[2:3]", second = c.bytes == 4 ? "v3" : "v[4:5]";
        const std::string both = c.data_values == 1 ? first : c.bytes == 4 ? "v[2:3]" : "v[2:5]";
        if (kind == "ds") {
          operation = "ds_" + name + " " + (returns ? destination + ", " : "") + "v1, " + first +
                      (c.data_values == 2 ? ", " + second : "");
        } else if (kind == "buffer") {
          operation =
              "buffer_atomic_" + name + " " + both + ", v1, s[8:11], 0 offen" + (returns ? " glc" : "");
          if (returns)
            operation += c.bytes == 4 ? "\nv_mov_b32 v6, v2" : "\nv_mov_b32 v6, v2\nv_mov_b32 v7, v3";
        } else {
          operation = kind + "_atomic_" + name + " " + (returns ? destination + ", " : "") +
                      (kind == "flat" ? "v[10:11], " + both : "v1, " + both + ", s[0:1]") +
                      (returns ? " glc" : "");
        }
        runner.regs.rsrc2 |= kLds4K;
        runner.Program(absl::StrFormat(
            R"(
          v_and_b32 v1, 15, v0
          v_lshlrev_b32 v1, 3, v1
          v_lshlrev_b32 v8, 4, v0
          global_load_b64 v[2:3], v8, s[4:5]
          global_load_b64 v[%d:%d], v8, s[4:5] offset:8
          global_load_b64 v[12:13], v1, s[0:1]
          v_mov_b32 v6, 0xabababab
          v_mov_b32 v7, v6
          s_mov_b32 s8, s0
          s_mov_b32 s9, s1
          s_mov_b32 s10, -1
          s_mov_b32 s11, 0x30014000
          v_mov_b32 v10, s0
          v_mov_b32 v11, s1
          v_add_co_u32 v10, vcc_lo, v10, v1
          v_add_co_ci_u32 v11, vcc_lo, 0, v11, vcc_lo
          ds_store_b64 v1, v[12:13]
          s_waitcnt vmcnt(0) lgkmcnt(0)
          %s
          s_waitcnt vmcnt(0) lgkmcnt(0)
          v_lshlrev_b32 v8, 3, v0
          global_store_b64 v8, v[6:7], s[2:3]
          %s
          s_endpgm)",
            c.bytes == 4 ? 3 : 4, c.bytes == 4 ? 4 : 5, operation,
            kind == "ds" ? "ds_load_b64 v[12:13], v1\nglobal_store_b64 v1, v[12:13], s[0:1]" : ""));
        runner.Run();
        if (HasFailure()) FAIL() << operation;
        for (int i = 0; i < 16; ++i) {
          ASSERT_EQ(LoadLE<uint64_t>(&runner.Buffer(cells)[2 * i]) & mask, want_cells[i])
              << operation << " cell " << i;
        }
        for (int lane = 0; lane < kLanes; ++lane) {
          ASSERT_EQ(LoadLE<uint64_t>(&runner.Buffer(out)[2 * lane]) & mask, want_out[lane] & mask)
              << operation << " lane " << lane;
        }
      }
    }
  }
}

// One flat instruction whose lanes go to memory, to LDS and to private memory.
TEST(VectorMemory, FlatLanesMayGoToDifferentMemories) {
  KernelRunner runner;
  const int data = runner.AddBuffer(kLanes), out = runner.AddBuffer(2 * kLanes);
  runner.ReserveScratch(64, 1);
  runner.regs.rsrc2 |= kLds4K;
  // Lane l: 0 mod 3 memory, 1 mod 3 LDS word l, 2 mod 3 private word 3. Store 100 + l, add l, load it back.
  runner.Program(R"(
    v_lshlrev_b32 v1, 2, v0
    v_mul_hi_u32 v2, 0x55555556, v0
    v_mul_u32_u24 v2, 3, v2
    v_sub_nc_u32 v2, v0, v2              ; lane mod 3
    v_add_co_u32 v10, vcc_lo, s0, v1
    v_add_co_ci_u32 v11, vcc_lo, s1, 0, vcc_lo
    s_mov_b64 s[8:9], src_shared_base
    s_mov_b64 s[10:11], src_private_base
    v_cmp_eq_u32 vcc_lo, 1, v2
    v_cndmask_b32 v10, v10, v1, vcc_lo
    v_mov_b32 v4, s9
    v_cndmask_b32 v11, v11, v4, vcc_lo
    v_cmp_eq_u32 vcc_lo, 2, v2
    v_mov_b32 v5, 12
    v_cndmask_b32 v10, v10, v5, vcc_lo
    v_mov_b32 v4, s11
    v_cndmask_b32 v11, v11, v4, vcc_lo
    v_add_nc_u32 v6, 0x64, v0
    flat_store_b32 v[10:11], v6
    flat_atomic_add_u32 v7, v[10:11], v0 glc
    flat_load_b32 v8, v[10:11]
    s_waitcnt vmcnt(0) lgkmcnt(0)
    v_lshlrev_b32 v1, 3, v0
    global_store_b64 v1, v[7:8], s[2:3]
    s_endpgm)");
  runner.Run();
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(runner.Buffer(out)[2 * lane], 100 + lane);
    EXPECT_EQ(runner.Buffer(out)[2 * lane + 1], 100 + 2 * lane);
    EXPECT_EQ(runner.Buffer(data)[lane], lane % 3 == 0 ? 100 + 2 * lane : 0)
        << "memory is touched by its own lanes only";
  }
}

// Bounds of a buffer descriptor, by OOB_SELECT.
TEST(VectorMemory, BufferRangeChecks) {
  struct Case {
    const char* name;
    uint32_t stride, records, select;
    std::function<bool(uint32_t index, uint32_t offset)> in_range;
  };
  const Case kCases[] = {
      {"structured", 16, 5, 0, [](uint32_t index, uint32_t offset) { return index < 5 && offset + 4 <= 16; }},
      {"index", 16, 5, 1, [](uint32_t index, uint32_t) { return index < 5; }},
      {"none", 16, 5, 2, [](uint32_t, uint32_t) { return true; }},
      {"empty", 16, 0, 2, [](uint32_t, uint32_t) { return false; }},
      {"raw", 0, 50, 3, [](uint32_t, uint32_t offset) { return offset + 4 <= 50; }},
  };
  for (const Case& c : kCases) {
    KernelRunner runner;
    const int in = runner.AddBuffer(256, Perm::kRead), out = runner.AddBuffer(kLanes);
    for (uint32_t i = 0; i < 256; ++i) runner.Buffer(in)[i] = 0x100 + i;
    runner.Program(absl::StrFormat(R"(
      v_lshrrev_b32 v1, 2, v0          ; index
      v_and_b32 v2, 3, v0
      v_mul_u32_u24 v2, 6, v2          ; offset, lanes apart by 6
      s_mov_b32 s4, s0
      s_or_b32 s5, s1, %d
      s_movk_i32 s6, %d
      s_mov_b32 s7, 0x%x
      buffer_load_b32 v3, v[1:2], s[4:7], 0 idxen offen
      v_lshlrev_b32 v0, 2, v0
      global_store_b32 v0, v3, s[2:3]
      s_endpgm)",
                                   c.stride << 16, c.records, c.select << 28 | 20 << 12));
    runner.Run();
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const uint32_t index = lane / 4, offset = lane % 4 * 6;
      uint32_t value;
      std::memcpy(&value,
                  reinterpret_cast<const uint8_t*>(runner.Buffer(in).data()) + index * c.stride + offset, 4);
      EXPECT_EQ(runner.Buffer(out)[lane], c.in_range(index, offset) ? value : 0)
          << c.name << " lane " << lane;
    }
  }
}

}  // namespace
}  // namespace understudy::emu::amd
