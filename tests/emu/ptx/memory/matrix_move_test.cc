// SPDX-License-Identifier: Apache-2.0
// Matrix moves with all elements distinct, against the fragments that the PTX manual draws: lane l holds row
// l / 4, columns 2 * (l % 4) and the next, of an 8x8 matrix.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/emu/ptx/memory/memory_machine.h"

namespace understudy::emu::ptx {
namespace {

constexpr uint64_t kBuffer = 0x7f0000000000;

uint32_t Element(int matrix, int row, int col) { return 0x100 * (matrix + 1) + 8 * row + col; }
uint32_t Fragment(int matrix, int lane, bool trans) {
  const int i = lane / 4, j = lane % 4 * 2;
  return trans ? Element(matrix, j, i) | Element(matrix, j + 1, i) << 16
               : Element(matrix, i, j) | Element(matrix, i, j + 1) << 16;
}
// Row r of matrix i lies at a place of its own.
uint32_t RowAddress(int row) { return 16 * (row * 5 % 32); }

TEST(MatrixMove, LdmatrixAndStmatrixOfAllShapes) {
  for (int count : {1, 2, 4})
    for (bool trans : {false, true}) {
      MemoryMachine m;
      for (int row = 0; row < 8 * count; ++row) {
        m.Set("%r9", row, RowAddress(row));
        for (int col = 0; col < 8; ++col) {
          const uint16_t e = static_cast<uint16_t>(Element(row / 8, row % 8, col));
          std::memcpy(m.shared() + RowAddress(row) + 2 * col, &e, 2);
        }
      }
      const std::string regs = count == 1 ? "{%r0}" : count == 2 ? "{%r0,%r1}" : "{%r0,%r1,%r2,%r3}";
      const std::string form =
          ".sync.aligned.m8n8.x" + std::to_string(count) + (trans ? ".trans" : "") + ".shared.b16 ";
      ASSERT_EQ(m.Run("ldmatrix" + form + regs + ", [%r9];"), ExecResult::kNext) << m.fault().message;
      for (int i = 0; i < count; ++i)
        for (int lane = 0; lane < 32; ++lane)
          ASSERT_EQ(m.Get("%r" + std::to_string(i), lane), Fragment(i, lane, trans)) << form << i;
      const std::vector<uint8_t> before(m.shared(), m.shared() + 512);
      std::memset(m.shared(), 0, 512);
      ASSERT_EQ(m.Run("stmatrix" + form + "[%r9], " + regs + ";"), ExecResult::kNext) << m.fault().message;
      EXPECT_EQ(std::memcmp(m.shared(), before.data(), 512), 0) << form;
    }
}

TEST(MatrixMove, MovmatrixTransposes) {
  MemoryMachine m;
  for (int lane = 0; lane < 32; ++lane) m.Set("%r1", lane, Fragment(0, lane, false));
  ASSERT_EQ(m.Run("movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;"), ExecResult::kNext);
  for (int lane = 0; lane < 32; ++lane) EXPECT_EQ(m.Get("%r0", lane), Fragment(0, lane, true));
}

TEST(MatrixMove, LanesThatAreMissingAreAFault) {
  MemoryMachine m;
  ASSERT_EQ(m.Run("movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;", 0xffff), ExecResult::kFault);
  EXPECT_EQ(m.fault().kind, FaultKind::kBarrier);
  m.SetAll("%r9", 8);
  ASSERT_EQ(m.Run("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r9];"), ExecResult::kFault);
  EXPECT_EQ(m.fault().kind, FaultKind::kMisaligned);
}

TEST(MatrixMove, WmmaStoreOfAnotherOrderTransposes) {
  MemoryMachine m;
  uint8_t* buffer = m.Map(kBuffer, 4096, "m");
  for (int i = 0; i < 256; ++i) {
    const uint32_t value = 1000 + i;
    std::memcpy(buffer + 4 * (i / 16 * 20 + i % 16), &value, 4);
  }
  m.SetAll("%d9", kBuffer);
  m.SetAll("%d8", kBuffer + 2048);
  const std::string regs = "{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}";
  ASSERT_EQ(m.Run("wmma.load.c.sync.aligned.row.m16n16k16.global.s32 " + regs +
                  ", [%d9], 20;"
                  "wmma.store.d.sync.aligned.col.m16n16k16.global.s32 [%d8], " +
                  regs + ";"),
            ExecResult::kNext)
      << m.fault().message;
  for (int row = 0; row < 16; ++row)
    for (int col = 0; col < 16; ++col) {
      uint32_t got;
      std::memcpy(&got, buffer + 2048 + 4 * (col * 16 + row), 4);
      ASSERT_EQ(got, 1000u + row * 16 + col);
    }
}

// Rows of 16 bytes, or of 16 elements of 6 or 4 bits and padding, all distinct as far as their bits allow.
struct ByteRows {
  int bits = 8;
  uint8_t Element(int row, int col) const {
    return static_cast<uint8_t>((row * 37 + col * 11 + row / 8) & ((1 << bits) - 1));
  }
  void Write(MemoryMachine& m, int rows) const {
    std::memset(m.shared(), 0xff, 512);
    for (int row = 0; row < rows; ++row) {
      m.Set("%r9", row, RowAddress(row));
      uint8_t* to = m.shared() + RowAddress(row);
      for (int at = 0; at < 16 * bits; ++at) {
        const int bit = Element(row, at / bits) >> at % bits & 1;
        to[at / 8] = static_cast<uint8_t>((to[at / 8] & ~(1 << at % 8)) | bit << at % 8);
      }
    }
  }
};
MemoryMachine Blackwell() {
  MemoryMachine::Shape shape;
  shape.target = "sm_100a";
  return MemoryMachine(shape);
}
std::string Registers(int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i == 0 ? "%r" : ",%r") + std::to_string(i);
  return text + "}";
}

// PTX ISA 8.8, "ldmatrix": four consecutive threads load a row of an 8x16 matrix, four consecutive columns
// each.
TEST(MatrixMove, LdmatrixOfPackedRows) {
  for (const int bits : {4, 6})
    for (const int count : {1, 2, 4}) {
      MemoryMachine m = Blackwell();
      const ByteRows rows{bits};
      rows.Write(m, 8 * count);
      ASSERT_EQ(m.Run("ldmatrix.sync.aligned.m8n16.x" + std::to_string(count) + ".shared.b8x16" +
                      (bits == 4 ? ".b4x16_p64 " : ".b6x16_p32 ") + Registers(count) + ", [%r9];"),
                ExecResult::kNext)
          << m.fault().message;
      for (int reg = 0; reg < count; ++reg)
        for (int lane = 0; lane < 32; ++lane)
          for (int e = 0; e < 4; ++e)
            ASSERT_EQ(m.Get("%r" + std::to_string(reg), lane) >> 8 * e & 0xff,
                      rows.Element(8 * reg + lane / 4, 4 * (lane % 4) + e))
                << bits << " bits, register " << reg << " lane " << lane;
    }
}

// The same for 16x16, transposed: thread t of the first four of a row's threads holds columns 4t.. of that
// row and of the one eight below, which in memory are four rows of one column.
TEST(MatrixMove, LdmatrixOfTransposedBytes) {
  for (const int bits : {4, 6, 8})
    for (const int count : {1, 2}) {
      MemoryMachine m = Blackwell();
      const ByteRows rows{bits};
      rows.Write(m, 16 * count);
      ASSERT_EQ(m.Run("ldmatrix.sync.aligned.m16n16.x" + std::to_string(count) + ".trans.shared" +
                      (bits == 8   ? ".b8 "
                       : bits == 4 ? ".b8x16.b4x16_p64 "
                                   : ".b8x16.b6x16_p32 ") +
                      Registers(2 * count) + ", [%r9];"),
                ExecResult::kNext)
          << m.fault().message;
      for (int matrix = 0; matrix < count; ++matrix)
        for (int i = 0; i < 16; ++i)
          for (int j = 0; j < 16; ++j) {
            // Element (i, j) of the transposed matrix.
            const int lane = i % 8 * 4 + j / 4, reg = 2 * matrix + i / 8;
            ASSERT_EQ(m.Get("%r" + std::to_string(reg), lane) >> j % 4 * 8 & 0xff,
                      rows.Element(16 * matrix + j, i))
                << bits << " bits, matrix " << matrix << " (" << i << ", " << j << ")";
          }
    }
}

// PTX ISA 8.8, "stmatrix": a 16x8 matrix lies in registers as mma's accumulator of that shape (c0 and c1 in
// row lane / 4, c2 and c3 eight below) and is stored by columns.
TEST(MatrixMove, StmatrixOfTransposedBytes) {
  for (const int count : {1, 2, 4}) {
    MemoryMachine m = Blackwell();
    const auto element = [](int matrix, int i, int j) {
      return static_cast<uint8_t>(matrix * 64 + 8 * i + j * 3);
    };
    for (int row = 0; row < 8 * count; ++row) m.Set("%r9", row, RowAddress(row));
    for (int matrix = 0; matrix < count; ++matrix)
      for (int lane = 0; lane < 32; ++lane) {
        const int i = lane / 4, j = lane % 4 * 2;
        m.Set("%r" + std::to_string(matrix), lane,
              element(matrix, i, j) | element(matrix, i, j + 1) << 8 | element(matrix, i + 8, j) << 16 |
                  uint32_t{element(matrix, i + 8, j + 1)} << 24);
      }
    ASSERT_EQ(m.Run("stmatrix.sync.aligned.m16n8.x" + std::to_string(count) + ".trans.shared.b8 [%r9], " +
                    Registers(count) + ";"),
              ExecResult::kNext)
        << m.fault().message;
    for (int matrix = 0; matrix < count; ++matrix)
      for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 8; ++j)
          ASSERT_EQ(m.shared()[RowAddress(8 * matrix + j) + i], element(matrix, i, j))
              << "matrix " << matrix << " (" << i << ", " << j << ")";
  }
}

}  // namespace
}  // namespace understudy::emu::ptx
