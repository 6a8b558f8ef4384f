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

}  // namespace
}  // namespace understudy::emu::ptx
