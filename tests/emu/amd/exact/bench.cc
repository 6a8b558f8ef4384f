// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/exact/bench.h"

#include <gtest/gtest.h>

#include <cctype>

#include "tests/emu/amd/core/dialect.h"
#include "tests/emu/amd/core/kernel_runner.h"
#include "tests/emu/amd/exact/host_float.h"

namespace understudy::emu::amd::exact {
namespace {

using decode::OperandKind;
using decode::Row;
using decode::Slot;

constexpr int kVectorWords = 12, kScalarWords = 16;  // read by a case
constexpr size_t kCasesOfProgram = 40;

uint32_t Low(uint64_t v) { return static_cast<uint32_t>(v); }
uint32_t High(uint64_t v) { return static_cast<uint32_t>(v >> 32); }

std::string Register(int reg, const Slot& slot, bool halves) {
  if (slot.dwords > 1) return "v[" + std::to_string(reg) + ":" + std::to_string(reg + slot.dwords - 1) + "]";
  return "v" + std::to_string(reg) + (halves && slot.half ? ".l" : "");
}

enum class Format { kNone, kF16, kF32, kF64, kPacked };
Format FormatOf(const Slot& slot) {
  switch (slot.type) {
    case DataType::F16:
    case DataType::BF16:
      return Format::kF16;
    case DataType::F32:
      return Format::kF32;
    case DataType::F64:
      return Format::kF64;
    case DataType::PK2_F16:
    case DataType::PK2_I16:
    case DataType::PK2_U16:
    case DataType::PK2_B16:
    case DataType::PK2_BF16:
      return Format::kPacked;
    default:
      return Format::kNone;
  }
}

// -|x| of the source in words[0] and on.
void NegateMagnitude(Format format, uint32_t* words) {
  if (format == Format::kF16) words[0] |= 0x8000;
  if (format == Format::kF32) words[0] |= 0x80000000;
  if (format == Format::kF64) words[1] |= 0x80000000;
}
void SwapHalves(uint32_t* word) { *word = *word >> 16 | *word << 16; }

bool SameWord(Same same, uint32_t want, uint32_t got) {
  if (want == got) return true;
  const bool low = (want & 0xffff) == (got & 0xffff), high = want >> 16 == got >> 16;
  switch (same) {
    case Same::kF16:
      return high && IsNan16(want) && IsNan16(got);
    case Same::kPkF16:
      return (low || (IsNan16(want) && IsNan16(got))) &&
             (high || (IsNan16(want >> 16) && IsNan16(got >> 16)));
    case Same::kBf16:
      return high && IsNanBf16(want) && IsNanBf16(got);
    case Same::kF32:
    case Same::kPkF32:
      return IsNan32(want) && IsNan32(got);
    default:
      return false;
  }
}
bool SameResult(Same same, const uint32_t* want, const uint32_t* got) {
  if (same == Same::kF64) {
    const uint64_t w = want[0] | uint64_t{want[1]} << 32, g = got[0] | uint64_t{got[1]} << 32;
    return (w == g || (IsNan64(w) && IsNan64(g))) && want[2] == got[2] && want[3] == got[3];
  }
  for (int i = 0; i < 4; ++i) {
    const bool float_word = i == 0 || (i == 1 && same == Same::kPkF32);
    if (!SameWord(float_word ? same : Same::kBits, want[i], got[i])) return false;
  }
  return true;
}

uint64_t Ordered(uint64_t bits, int width) {
  const uint64_t sign = uint64_t{1} << (width - 1);
  return (bits & sign) != 0 ? sign - (bits & ~sign) : sign + bits;
}
// Replaces the formula's float by the emulator's where that is near enough.
void Near(Same same, int ulp, uint32_t* want, const uint32_t* got) {
  if (same == Same::kF64) {
    const uint64_t w = want[0] | uint64_t{want[1]} << 32, g = got[0] | uint64_t{got[1]} << 32;
    if (IsNan64(w) || IsNan64(g)) return;
    const int64_t distance = static_cast<int64_t>(Ordered(w, 64) - Ordered(g, 64));
    if (distance >= -ulp && distance <= ulp) want[0] = got[0], want[1] = got[1];
  } else if (same == Same::kF16) {
    const uint32_t w = want[0] & 0xffff, g = got[0] & 0xffff;
    if (IsNan16(w) || IsNan16(g)) return;
    const int64_t distance = static_cast<int64_t>(Ordered(w, 16)) - static_cast<int64_t>(Ordered(g, 16));
    if (distance >= -ulp && distance <= ulp) want[0] = (want[0] & 0xffff0000) | g;
  } else if (same == Same::kF32) {
    if (IsNan32(want[0]) || IsNan32(got[0])) return;
    const int64_t distance =
        static_cast<int64_t>(Ordered(want[0], 32)) - static_cast<int64_t>(Ordered(got[0], 32));
    if (distance >= -ulp && distance <= ulp) want[0] = got[0];
  }
}

}  // namespace

uint32_t DrawWord(std::mt19937_64& random) {
  static constexpr uint32_t kEdges[] = {
      0,          1,          2,          31,         32,         0xff,       0x7fff,     0x8000,
      0xffff,     0x10000,    0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0x7fff8000,
      0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc00001, 0x00800000,
      0x007fffff, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000,
      0x4b000000, 0x4f000000, 0xcf000000, 0x4effffff, 0x33000000, 0x477fe000, 0x477ff000, 0x33800000,
      0x7c007c00, 0xfc003c00, 0x7e017c01, 0x7c01fe00, 0x04000001, 0x03ff83ff, 0x7bff7bff, 0xfbff0001,
      0x3c003800, 0xbc00bc00, 0x00010001, 0x80000000, 0x00008000, 0x3c003c00};
  const uint64_t r = random();
  switch (r & 7) {
    case 0:
    case 1:
      return kEdges[(r >> 8) % std::size(kEdges)];
    case 2:
    case 3: {  // a float of moderate size, so that sums and products do something
      const uint32_t exponent = 107 + static_cast<uint32_t>(r >> 8) % 40;
      return (Low(r >> 32) & 0x807fffffu) | exponent << 23;
    }
    case 4:
    case 5: {  // two f16 of moderate size
      const auto half = [](uint64_t bits) { return (bits & 0x83ff) | (10 + bits / 0x400 % 11) << 10; };
      return Low(half(r >> 16 & 0x8fff)) | Low(half(r >> 32 & 0x8fff)) << 16;
    }
    default:
      return Low(r >> 16);
  }
}

uint64_t DrawLong(std::mt19937_64& random) {
  static constexpr uint64_t kEdges[] = {0,
                                        1,
                                        0x8000000000000000u,
                                        0x8000000000000001u,
                                        0x7fffffffffffffffu,
                                        ~uint64_t{0},
                                        0xffffffff,
                                        0x100000000,
                                        0x80000000,
                                        0x3ff0000000000000u,
                                        0xbff0000000000000u,
                                        0x7ff0000000000000u,
                                        0xfff0000000000000u,
                                        0x7ff8000000000000u,
                                        0x7ff0000000000001u,
                                        0xfff0000000000001u,
                                        0x0010000000000000u,
                                        0x000fffffffffffffu,
                                        0x7fefffffffffffffu,
                                        0xffefffffffffffffu};
  const uint64_t r = random();
  switch (r & 3) {
    case 0:
      return kEdges[(r >> 8) % std::size(kEdges)];
    case 1: {
      const uint64_t exponent = 1000 + (r >> 8) % 46;
      return (random() & 0x800fffffffffffffu) | exponent << 52;
    }
    default:
      return random();
  }
}

std::string LowerCase(const char* mnemonic) {
  std::string text;
  for (; *mnemonic != '\0'; ++mnemonic) text += static_cast<char>(std::tolower(*mnemonic));
  return text;
}

const Row* Bench::Find(Encoding enc, const std::string& name) const {
  for (const Row& row : decode::TableOf(isa_).rows()) {
    if (row.enc != enc || name != OpcodeName(row.op)) continue;
    if (row.rdna35 && isa_ == Isa::kRdna3) continue;
    return &row;
  }
  return nullptr;
}

int Bench::Add(const Op& op) {
  int added = 0;
  for (const Encoding enc : {Encoding::VOP1, Encoding::VOP2, Encoding::VOP3, Encoding::VOP3P}) {
    const Row* row = Find(enc, op.name);
    if (row == nullptr) continue;
    std::string text = LowerCase(op.name);
    if (row->e32_suffix) text += "_e32";
    if (row->e64_suffix) text += "_e64";
    const std::string mnemonic = text + " ";
    Case c;
    c.same = op.same;
    const int ulp = op.ulp;
    c.lane = op.lane;
    if (ulp != 0) c.ulp = ulp;
    if (op.operands != nullptr) {
      c.text = mnemonic + op.operands;
      Add(std::move(c));
      ++added;
      continue;
    }
    std::string destination;
    if (row->dst[0].present()) destination = Register(12, row->dst[0], IsRdna(isa_));
    static constexpr int kFirst[] = {4, 6, 8};
    const int sources = std::min<int>(row->n_src, 3);
    const auto operands = [&](const char* before, const char* after) {
      std::string list = destination;
      for (int i = 0; i < sources; ++i) {
        const Slot& slot = row->src[i];
        if (!slot.present()) continue;
        if (!list.empty()) list += ", ";
        const std::string reg = Register(kFirst[i], slot, IsRdna(isa_));
        list +=
            (row->float_mods >> i & 1) != 0 && FormatOf(slot) != Format::kNone ? before + reg + after : reg;
      }
      return list;
    };
    c.text = mnemonic + operands("", "");
    Add(c);
    ++added;
    if (enc == Encoding::VOP3 && row->float_mods != 0) {
      c.text = mnemonic + operands("-|", "|");
      c.lane = [row, op, sources](Lane& lane) {
        for (int i = 0; i < sources; ++i) {
          if (row->float_mods >> i & 1) NegateMagnitude(FormatOf(row->src[i]), &lane.v[kFirst[i] - 4]);
        }
        op.lane(lane);
      };
      Add(c);
      ++added;
    }
    if (enc == Encoding::VOP3P && FormatOf(row->src[0]) == Format::kPacked) {
      // Source 0 with its halves exchanged.
      std::string low = "1", high = "0";
      for (int i = 1; i < sources; ++i) low += ",0", high += ",1";
      c.text = mnemonic + operands("", "") + " op_sel:[" + low + "] op_sel_hi:[" + high + "]";
      c.lane = [op](Lane& lane) {
        SwapHalves(&lane.v[0]);
        op.lane(lane);
      };
      Add(c);
      ++added;
    }
  }
  return added;
}

void Bench::Run(int rounds) {
  for (size_t begin = 0; begin < cases_.size(); begin += kCasesOfProgram) {
    RunSome(begin, std::min(cases_.size(), begin + kCasesOfProgram), rounds);
    if (::testing::Test::HasFatalFailure()) break;
  }
  cases_.clear();
}

void Bench::RunSome(size_t begin, size_t end, int rounds) {
  const size_t lanes = static_cast<size_t>(wave_), stride = 16 * lanes + 48;
  KernelRunner runner(wave_, isa_);
  if (IsRdna(isa_)) runner.features = ",+real-true16";  // 16-bit operands name their half
  runner.regs.rsrc1 = (runner.regs.rsrc1 & ~(0xffu << 12)) | (mode & 0xff) << 12 | (mode >> 8 & 1) << 21 |
                      (mode >> 9 & 1) << 23;
  const int in = runner.AddBuffer(kVectorWords * lanes + kScalarWords, Perm::kRead);
  const int out = runner.AddBuffer((end - begin) * stride / 4);
  const std::string all = wave_ == 64 ? "s_mov_b64 exec, -1\n" : "s_mov_b32 exec_lo, -1\n";
  std::string text =
      "v_lshlrev_b32 v1, 2, v0\nv_lshlrev_b32 v2, 4, v0\nv_mov_b32 v3, " + std::to_string(16 * lanes) + "\n";
  for (int i = 0; i < kVectorWords; ++i) {
    text += "global_load_b32 v" + std::to_string(i < 8 ? 4 + i : 12 + i) +
            ", v1, s[0:1] offset:" + std::to_string(4 * lanes * static_cast<size_t>(i)) + "\n";
  }
  text += "s_load_b512 s[16:31], s[0:1], " + std::to_string(4 * lanes * kVectorWords) +
          "\ns_waitcnt vmcnt(0)\ns_waitcnt lgkmcnt(0)\n";
  for (size_t i = begin; i < end; ++i) {
    text += all;
    for (int j = 0; j < 4; ++j) {
      text += "v_mov_b32 v" + std::to_string(12 + j) + ", v" + std::to_string(20 + j) + "\n";
    }
    text += "s_mov_b64 s[40:41], s[22:23]\ns_mov_b64 vcc, s[24:25]\ns_mov_b32 m0, s29\ns_cmp_lg_u32 s28, 0\n";
    text += wave_ == 64 ? "s_mov_b64 exec, s[26:27]\n" : "s_mov_b32 exec_lo, s26\n";
    text += cases_[i].text + "\ns_cselect_b32 s44, 1, 0\ns_mov_b64 s[46:47], exec\n" + all;
    static const char* const kSaved[] = {"s40", "s41", "vcc_lo", "vcc_hi", "s46", "s47", "s44", "m0"};
    for (int j = 0; j < 8; ++j) text += "v_mov_b32 v" + std::to_string(24 + j) + ", " + kSaved[j] + "\n";
    text += "global_store_b128 v2, v[12:15], s[2:3]\n";
    text += wave_ == 64 ? "s_mov_b64 exec, 1\n" : "s_mov_b32 exec_lo, 1\n";
    text +=
        "global_store_b128 v3, v[24:27], s[2:3]\nglobal_store_b128 v3, v[28:31], s[2:3] offset:16\n" + all;
    text += "v_add_nc_u32 v2, " + std::to_string(stride) + ", v2\nv_add_nc_u32 v3, " +
            std::to_string(stride) + ", v3\n";
  }
  // Sources are left alone.
  runner.Program(Respell(isa_, wave_, 4, text + "s_endpgm\n"));
  if (::testing::Test::HasFatalFailure()) return;

  std::vector<bool> wrong(end - begin);  // reported once
  std::mt19937_64 random(1);
  const uint64_t lane_mask = wave_ == 64 ? ~uint64_t{0} : 0xffffffffu;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Lane> lanes_in(lanes);
    for (size_t n = 0; n < lanes; ++n) {
      Lane& lane = lanes_in[n];
      lane = {};
      lane.number = static_cast<int>(n);
      lane.isa = isa_;
      const bool wide = (random() & 1) != 0;
      for (int i = 0; i < 8; i += 2) {
        const uint64_t w = wide ? DrawLong(random) : DrawWord(random) | uint64_t{DrawWord(random)} << 32;
        lane.v[i] = Low(w), lane.v[i + 1] = High(w);
      }
      switch (random() % 8) {  // sources that are alike
        case 0:
          lane.v[2] = lane.v[0], lane.v[3] = lane.v[1];
          break;
        case 1:
          lane.v[2] = lane.v[0] ^ (wide ? 0 : 0x80008000), lane.v[3] = lane.v[1] ^ (wide ? 0x80000000 : 0);
          break;
        case 2:
          lane.v[2] = lane.v[0] + 1, lane.v[3] = lane.v[1];
          break;
        case 3:
          lane.v[4] = lane.v[2], lane.v[5] = lane.v[3];
          break;
        default:
          break;
      }
      for (uint32_t& d : lane.d) d = DrawWord(random);
      uint32_t* words = runner.Buffer(in).data() + n;
      for (size_t i = 0; i < 8; ++i) words[i * lanes] = lane.v[i];
      for (size_t i = 0; i < 4; ++i) words[(8 + i) * lanes] = lane.d[i];
    }
    Scalars s;
    s.a = DrawLong(random), s.b = DrawLong(random), s.c = DrawLong(random), s.d = DrawLong(random);
    if (random() % 4 == 0) s.b = s.a;
    if (random() % 4 == 0) s.b = (s.b & ~uint64_t{0xffffffff}) | Low(s.a);
    s.vcc = random();
    s.exec = (round == 0       ? ~uint64_t{0}
              : round == 1     ? 0
              : round % 4 == 2 ? random() & random()
                               : random()) &
             lane_mask;
    s.scc = (random() & 1) != 0;
    s.m0 = DrawWord(random);
    for (size_t n = 0; n < lanes; ++n) lanes_in[n].vcc = (s.vcc >> n & 1) != 0;
    uint32_t* words = runner.Buffer(in).data() + kVectorWords * lanes;
    const uint64_t pairs[] = {s.a, s.b, s.c, s.d, s.vcc, s.exec};
    for (int i = 0; i < 6; ++i) words[2 * i] = Low(pairs[i]), words[2 * i + 1] = High(pairs[i]);
    words[12] = s.scc, words[13] = s.m0;
    runner.Run();
    if (::testing::Test::HasFatalFailure()) {
      ADD_FAILURE() << "in a program with " << cases_[begin].text << " to " << cases_[end - 1].text;
      return;
    }
    for (size_t i = begin; i < end; ++i) {
      const Case& c = cases_[i];
      const uint32_t* got = runner.Buffer(out).data() + (i - begin) * stride / 4;
      Scalars want = s;
      uint64_t mask = 0;
      std::vector<Lane> after = lanes_in;
      if (c.wave) c.wave(after, s.exec);
      for (size_t n = 0; n < lanes; ++n) {
        Lane& lane = after[n];
        const bool active = c.every_lane || (s.exec >> n & 1) != 0;
        if (active && c.lane) c.lane(lane);
        if (active && c.ulp != 0) Near(c.same, c.ulp, lane.d, got + 4 * n);
        if (active && lane.bit) mask |= uint64_t{1} << n;
        const uint32_t* d = got + 4 * n;
        if (wrong[i - begin] || SameResult(c.same, lane.d, d)) continue;
        wrong[i - begin] = true;
        ADD_FAILURE() << IsaTarget(isa_) << " wave" << wave_ << ": " << c.text << "\n lane " << n
                      << " active " << active << std::hex << "\n src " << lanes_in[n].Wide(0) << " "
                      << lanes_in[n].Wide(2) << " " << lanes_in[n].Wide(4) << " " << lanes_in[n].Wide(6)
                      << "\n was " << lanes_in[n].d[0] << " " << lanes_in[n].d[1] << " " << lanes_in[n].d[2]
                      << " " << lanes_in[n].d[3] << "\n want " << lane.d[0] << " " << lane.d[1] << " "
                      << lane.d[2] << " " << lane.d[3] << "\n got  " << d[0] << " " << d[1] << " " << d[2]
                      << " " << d[3];
      }
      if (c.masks & kToVcc) want.vcc = wave_ == 64 ? mask : (want.vcc & ~lane_mask) | mask;
      if (c.masks & kToS40) want.d = wave_ == 64 ? mask : (want.d & ~lane_mask) | mask;
      if (c.masks & kToExec) want.exec = mask;
      if (c.scalar) c.scalar(want);
      const uint32_t* r = got + 4 * lanes;
      const uint64_t d = r[0] | uint64_t{r[1]} << 32, vcc = r[2] | uint64_t{r[3]} << 32,
                     exec = (r[4] | uint64_t{r[5]} << 32) & lane_mask;
      if (wrong[i - begin] ||
          (d == want.d && vcc == want.vcc && exec == want.exec && (r[6] != 0) == want.scc && r[7] == want.m0))
        continue;
      wrong[i - begin] = true;
      ADD_FAILURE() << IsaTarget(isa_) << " wave" << wave_ << ": " << c.text << std::hex << "\n a " << s.a
                    << " b " << s.b << " c " << s.c << "\n was  d " << s.d << " vcc " << s.vcc << " exec "
                    << s.exec << " scc " << s.scc << " m0 " << s.m0 << "\n want d " << want.d << " vcc "
                    << want.vcc << " exec " << want.exec << " scc " << want.scc << " m0 " << want.m0
                    << "\n got  d " << d << " vcc " << vcc << " exec " << exec << " scc " << r[6] << " m0 "
                    << r[7];
    }
  }
}

}  // namespace understudy::emu::amd::exact
