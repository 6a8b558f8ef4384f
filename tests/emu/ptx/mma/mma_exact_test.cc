// SPDX-License-Identifier: Apache-2.0
// Every shape of mma and mma.sp multiplies the matrices that the manual says its registers hold: elements
// differ as far as their type allows, results are exact rational products computed here, places are the
// manual's formulas written again. A wrong row, column, half or lane changes the result.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "src/base/float_format.h"
#include "tests/emu/ptx/mma/matrix_machine.h"

namespace understudy::emu::ptx {
namespace {

using Arg = MatrixMachine::Arg;

struct Shape {
  const char* op;
  int m, k;
  const char *ab, *c;  // types of A and B, and of C and D
};

int BitsOf(const std::string& type) {
  Type t;
  return FindType(type, &t) ? TypeBits(t) : 0;
}
// Element of a register: value v, a small integer.
uint64_t Encode(const std::string& type, int v) {
  static const std::map<std::string, const FloatFormat*> kFormats = {
      {"f16", &formats::kF16}, {"bf16", &formats::kBf16},    {"f32", &formats::kF32},
      {"f64", &formats::kF64}, {"e4m3", &formats::kFp8E4M3}, {"e5m2", &formats::kFp8E5M2}};
  if (type == "tf32") return EncodeFloat(formats::kF32, v);
  const auto found = kFormats.find(type);
  if (found != kFormats.end()) return EncodeFloat(*found->second, v);
  return static_cast<uint64_t>(v) & (BitsOf(type) == 32 ? 0xffffffff : (1u << BitsOf(type)) - 1);
}

// A value for element number i: all different where the type has enough integers, else as many as it has.
int Value(const std::string& type, int i, int salt) {
  const int range = type == "f16" || type == "tf32" || type == "f64" ? 1024
                    : type == "bf16"                                 ? 256
                    : type == "s8"                                   ? 256
                    : type == "u8"                                   ? 256
                    : type == "e4m3"                                 ? 32
                    : type == "e5m2"                                 ? 8
                    : type == "b1"                                   ? 2
                                                                     : 16;
  const int mixed = (i * 7 + salt) % 1021 % range;
  if (type == "u8" || type == "u4" || type == "b1") return mixed;
  return mixed - range / 2;
}

// The manual's layouts: register, lane and position in it of element (row, col).
struct Slot {
  int reg, lane, element;
};
Slot SlotOfA(int m, int per, int row, int col) {
  const int step = col / (4 * per), in = col % (4 * per);
  return {m == 8 ? step : 2 * step + row / 8, row % 8 * 4 + in / per, in % per};
}
Slot SlotOfB(int per, int row, int col) {
  return {row / (4 * per), col * 4 + row % (4 * per) / per, row % per};
}
Slot SlotOfC(bool packed, int row, int col) {
  if (packed) return {row / 8, row % 8 * 4 + col / 2, col % 2};
  return {2 * (row / 8) + col % 2, row % 8 * 4 + col / 2, 0};
}

void Or(MatrixMachine& machine, int arg, const Slot& slot, int bits, uint64_t value) {
  machine.Set(arg, slot.reg, slot.lane,
              machine.Get(arg, slot.reg, slot.lane) | value << (bits * slot.element));
}

double Decode(const std::string& type, uint64_t bits) {
  if (type == "s32") return static_cast<int32_t>(bits);
  return DecodeFloat(type == "f16" ? formats::kF16 : type == "f32" ? formats::kF32 : formats::kF64, bits);
}

void CheckShape(const Shape& s, bool sparse, int selector) {
  const std::string ab = s.ab, c_type = s.c;
  const int bits = BitsOf(ab), width = bits == 64 ? 64 : 32, per = width / bits,
            stored = sparse ? s.k / 2 : s.k;
  const int c_bits = BitsOf(c_type);
  const bool packed = c_type == "f16", is_xor = std::string(s.op).find("xor") != std::string::npos;
  const int ra = s.m * stored / 32 / per, rb = 8 * s.k / 32 / per,
            rc = s.m * 8 / 32 / ((c_bits == 64 ? 64 : 32) / c_bits);
  std::vector<Arg> args = {Arg::Vector(rc, c_bits == 64 ? 64 : 32), Arg::Vector(ra, width),
                           Arg::Vector(rb, width), Arg::Vector(rc, c_bits == 64 ? 64 : 32)};
  if (sparse) {
    args.push_back(Arg::Register());
    args.push_back(Arg::Constant(selector));
  }
  // Few-valued types are told apart by several passes of other values.
  const int passes = bits <= 8 ? 6 : 2;
  for (int pass = 0; pass < passes; ++pass) {
    MatrixMachine machine(s.op, args);
    ASSERT_NE(machine.exec().fn, nullptr) << s.op << " " << machine.exec().note;
    const auto a = [&](int row, int col) { return Value(ab, row * stored + col, 17 + 131 * pass); };
    const auto b = [&](int row, int col) { return Value(ab, row * 8 + col, 501 + 57 * pass); };
    const auto c = [&](int row, int col) {
      return packed ? row * 8 + col - 60 : 1000 * row + 37 * col - 5000;
    };
    for (int row = 0; row < s.m; ++row)
      for (int col = 0; col < stored; ++col)
        Or(machine, 1, SlotOfA(s.m, per, row, col), bits, Encode(ab, a(row, col)));
    for (int row = 0; row < s.k; ++row)
      for (int col = 0; col < 8; ++col) Or(machine, 2, SlotOfB(per, row, col), bits, Encode(ab, b(row, col)));
    for (int row = 0; row < s.m; ++row)
      for (int col = 0; col < 8; ++col)
        Or(machine, 3, SlotOfC(packed, row, col), 16, Encode(c_type, c(row, col)));
    // Sparse: group g of row r keeps the pair number (r + g) % 6, or for tf32 element (r + g) % 2.
    const auto column = [&](int row, int col) {
      if (!sparse) return col;
      static constexpr int kPairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
      if (bits == 32) return 2 * col + (row + col + pass) % 2;
      if (bits == 4) return col / 4 * 8 + 2 * kPairs[(row + col / 4 + pass) % 6][col / 2 % 2] + col % 2;
      return col / 2 * 4 + kPairs[(row + col / 2 + pass) % 6][col % 2];
    };
    if (sparse)
      for (int row = 0; row < 16; ++row)
        for (int col = 0; col < stored; ++col) {
          // PTX ISA, figures of sparse mma's metadata, as bits of a row in its lanes.
          const int field = bits == 32 ? 4 : 2, at = bits == 4 ? col / 2 * 2 : col * field;
          const int index = bits == 32  ? (column(row, col) % 2 == 0 ? 0x4 : 0xE)
                            : bits == 4 ? column(row, col) % 8 / 2
                                        : column(row, col) % 4;
          const int row_bits = bits == 4 ? stored : stored * field;
          int lane = row % 8 * 4, shift;
          if (bits >= 16) {
            lane += (row_bits == 16 ? selector : 2 * selector) + at / 16;
            shift = row / 8 * 16 + at % 16;
          } else {
            lane += 2 * selector + row / 8 + at / 32 * 2;
            shift = at % 32;
          }
          machine.Set(4, 0, lane, machine.Get(4, 0, lane) | static_cast<uint64_t>(index) << shift);
        }
    ASSERT_EQ(machine.Run(), "") << s.op;
    for (int row = 0; row < s.m; ++row)
      for (int col = 0; col < 8; ++col) {
        int64_t want = c(row, col);
        for (int k = 0; k < stored; ++k) {
          const int x = a(row, k), y = b(column(row, k), col);
          want += bits == 1 ? (is_xor ? x ^ y : x & y) : int64_t{x} * y;
        }
        const Slot slot = SlotOfC(packed, row, col);
        const uint64_t word = machine.Get(0, slot.reg, slot.lane);
        const double got = Decode(c_type, packed ? word >> (16 * slot.element) & 0xffff : word);
        // f16 results are the exact sum, rounded once.
        const double expected =
            packed ? DecodeFloat(formats::kF16, EncodeFloat(formats::kF16, static_cast<double>(want)))
                   : static_cast<double>(want);
        ASSERT_EQ(got, expected) << s.op << " row " << row << " column " << col << " pass " << pass;
      }
  }
}

TEST(MmaExact, DenseShapes) {
  const Shape shapes[] = {
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 16, 8, "f16", "f32"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 16, "f16", "f32"},
      {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 16, 8, "f16", "f16"},
      {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 16, 16, "f16", "f16"},
      {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, "bf16", "f32"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, 16, "bf16", "f32"},
      {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 16, 4, "tf32", "f32"},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, "tf32", "f32"},
      {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 8, 4, "f64", "f64"},
      {"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", 16, 4, "f64", "f64"},
      {"mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", 16, 8, "f64", "f64"},
      {"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", 16, 16, "f64", "f64"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32", 16, 16, "e4m3", "f32"},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 16, 32, "e4m3", "f32"},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32", 16, 32, "e5m2", "f32"},
      {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", 8, 16, "s8", "s32"},
      {"mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32", 16, 16, "u8", "s32"},
      {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 16, 32, "s8", "s32"},
      {"mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32", 8, 32, "s4", "s32"},
      {"mma.sync.aligned.m16n8k32.row.col.s32.u4.u4.s32", 16, 32, "u4", "s32"},
      {"mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", 16, 64, "s4", "s32"},
      {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 8, 128, "b1", "s32"},
      {"mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc", 16, 128, "b1", "s32"},
      {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", 16, 256, "b1", "s32"},
  };
  for (const Shape& shape : shapes) CheckShape(shape, false, 0);
}

TEST(MmaExact, SparseShapesWithEverySelector) {
  struct Sparse {
    Shape shape;
    int selectors;
  };
  const Sparse shapes[] = {
      {{"mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 16, "f16", "f32"}, 4},
      {{"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 16, 32, "f16", "f32"}, 2},
      {{"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32", 16, 32, "bf16", "f32"},
       2},
      {{"mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, "tf32", "f32"}, 4},
      {{"mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", 16, 16, "tf32", "f32"},
       2},
      {{"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 16, 32, "s8", "s32"}, 2},
      {{"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.u8.u8.s32", 16, 64, "u8", "s32"}, 1},
      {{"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", 16, 64, "s4", "s32"}, 2},
      {{"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.u4.u4.s32", 16, 128, "u4", "s32"}, 1},
      {{"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32", 16, 64, "e4m3", "f32"},
       1},
  };
  for (const Sparse& sparse : shapes)
    for (int selector = 0; selector < sparse.selectors; ++selector) CheckShape(sparse.shape, true, selector);
}

}  // namespace
}  // namespace understudy::emu::ptx
