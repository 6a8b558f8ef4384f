// SPDX-License-Identifier: Apache-2.0
// wgmma: each warp multiplies its 16 rows of A by all of B, which lies in shared memory behind a descriptor.
// It does so when it executes the instruction: a program may touch neither registers nor shared memory before
// wgmma.wait_group says that the product is done, so nobody can tell the difference.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "emu/ptx/semantics/matrix_plan.h"

namespace understudy::emu::ptx {
namespace {

// A matrix in shared memory, as a 64-bit descriptor tells (PTX ISA 8.8, "Matrix descriptor format" of wgmma).
// Its elements lie in rows of 16 bytes; eight of them make a core matrix. Swizzled layouts hold 2, 4 or 8
// such rows side by side and exchange them by address bits 7 and up.
struct SharedMatrix {
  uint32_t start, leading, stride;  // bytes
  int swizzle_bits;                 // 0..3: bits 4.. of an address that are exchanged
  uint32_t base_offset;

  explicit SharedMatrix(uint64_t descriptor)
      : start(static_cast<uint32_t>(descriptor & 0x3fff) << 4),
        leading(static_cast<uint32_t>(descriptor >> 16 & 0x3fff) << 4),
        stride(static_cast<uint32_t>(descriptor >> 32 & 0x3fff) << 4),
        swizzle_bits((4 - static_cast<int>(descriptor >> 62)) & 3),
        base_offset(static_cast<uint32_t>(descriptor >> 49 & 7)) {}

  // The 16 bytes that hold element (major, 16-byte chunk along K) of a matrix whose K is contiguous.
  uint32_t ByK(int major, int chunk) const {
    const int wide = 1 << swizzle_bits;
    const uint32_t across = swizzle_bits == 0 ? chunk * leading : chunk * 16u;
    return Swizzled(start + major / 8 * stride + major % 8 * 16u * wide + across);
  }
  // The 16 bytes that hold (16-byte chunk along M or N, k) of a matrix whose M or N is contiguous.
  uint32_t ByMajor(int chunk, int k) const {
    const int wide = 1 << swizzle_bits;
    const uint32_t down = k % 8 * 16u * wide;
    if (swizzle_bits == 0) return Swizzled(start + chunk * stride + down + k / 8 * leading);
    return Swizzled(start + chunk % wide * 16u + chunk / wide * leading + down + k / 8 * stride);
  }
  uint32_t Swizzled(uint32_t address) const {
    const uint32_t phase = (address >> 7) - base_offset;
    return (address ^ (phase & ((1u << swizzle_bits) - 1)) << 4) & 0x3ffff;
  }
};

struct Reader {
  const uint8_t* shared;
  uint32_t bytes;
  uint32_t missed = ~0u;  // the first address out of range
  uint8_t nothing[16] = {};

  const uint8_t* At(uint32_t address) {
    if (address + 16 <= bytes) return shared + address;
    missed = std::min(missed, address);
    return nothing;
  }
};

// Elements of 16 bytes, `step` words apart.
void Unpack(const uint8_t* bytes, int bits, uint32_t* out, int step) {
  switch (bits) {
    case 32:
      for (int i = 0; i < 4; ++i) std::memcpy(out + i * step, bytes + 4 * i, 4);
      return;
    case 16:
      for (int i = 0; i < 8; ++i) {
        uint16_t v;
        std::memcpy(&v, bytes + 2 * i, 2);
        out[i * step] = v;
      }
      return;
    default:
      for (int i = 0; i < 16; ++i) out[i * step] = bytes[i];
  }
}

constexpr int kColumns = 64;  // of B at a time

// Columns [first, first + count) of B to out[row * count + col]; one-bit elements by words to out[col * words
// + w].
void ReadB(const SharedMatrix& b, const MatrixPlan& plan, int first, int count, Reader* reader,
           uint32_t* out) {
  const int bits = TypeBits(plan.b_type), per = 128 / bits;
  if (bits == 1) {
    const int words = plan.k / 32;
    for (int col = 0; col < count; ++col)
      for (int chunk = 0; chunk < plan.k / 128; ++chunk)
        std::memcpy(out + col * words + 4 * chunk, reader->At(b.ByK(first + col, chunk)), 16);
  } else if (plan.transpose_b) {
    for (int k = 0; k < plan.k; ++k)
      for (int col = 0; col < count; col += per)
        Unpack(reader->At(b.ByMajor((first + col) / per, k)), bits, out + k * count + col, 1);
  } else {
    for (int col = 0; col < count; ++col)
      for (int k = 0; k < plan.k; k += per)
        Unpack(reader->At(b.ByK(first + col, k / per)), bits, out + k * count + col, count);
  }
}

// Rows [first, first + 16) of A.
void ReadA(const SharedMatrix& a, const MatrixPlan& plan, int first, Reader* reader, uint32_t* out) {
  const int bits = TypeBits(plan.a_type), per = 128 / bits, stored = plan.stored();
  if (bits == 1) {
    const int words = stored / 32;
    for (int row = 0; row < 16; ++row)
      for (int chunk = 0; chunk < stored / 128; ++chunk)
        std::memcpy(out + row * words + 4 * chunk, reader->At(a.ByK(first + row, chunk)), 16);
  } else if (plan.transpose_a) {
    for (int k = 0; k < stored; ++k)
      for (int row = 0; row < 16; row += per)
        Unpack(reader->At(a.ByMajor((first + row) / per, k)), bits, out + row * stored + k, stored);
  } else {
    for (int row = 0; row < 16; ++row)
      for (int k = 0; k < stored; k += per)
        Unpack(reader->At(a.ByK(first + row, k / per)), bits, out + row * stored + k, 1);
  }
}

}  // namespace

ExecResult ExecuteWgmma(Warp& warp, const Inst& inst) {
  if (!AllLanes(warp, inst)) return ExecResult::kFault;
  const MatrixPlan& plan = *reinterpret_cast<const MatrixPlan*>(inst.aux[0]);
  const int lane = __builtin_ctz(warp.mask);
  Reader reader{warp.shared, warp.shared_bytes};
  alignas(64) uint32_t a[kMaxTensorA], b[kMaxTensorB], c[16 * 256];
  uint8_t select[kMaxTensorA];
  const uint32_t* rows[kMaxFragmentRegisters];
  if (plan.a_in_registers) {
    RowsOf(warp, inst.op(1), rows);
    if (plan.kind == MatrixKind::kBits)
      GatherBits(*plan.a, false, rows, a);
    else
      GatherFragment(*plan.a, rows, a);
  } else {
    ReadA(SharedMatrix(warp.Lane(inst.src(1), lane)), plan, static_cast<int>(warp.index & 3) * 16, &reader,
          a);
  }
  const SharedMatrix b_matrix(warp.Lane(inst.src(2), lane));
  if (plan.sparse) GatherSelection(plan, warp.U32(inst.src(3)), select);
  // A false scale-d drops the accumulator.
  const int scale_operand = plan.sparse ? 5 : 3;
  const bool keep = (warp.Lane(inst.src(scale_operand), lane) & 1) != 0;
  if (keep) {
    RowsOf(static_cast<const Warp&>(warp), inst.op(0), rows);
    GatherFragment(*plan.c, rows, c);
  } else {
    std::memset(c, 0, sizeof(uint32_t) * 16 * plan.n);
  }
  alignas(64) uint32_t part[16 * kColumns];
  for (int first = 0; first < plan.n; first += kColumns) {
    const int count = std::min(kColumns, plan.n - first);
    ReadB(b_matrix, plan, first, count, &reader, b);
    for (int row = 0; row < 16; ++row)
      std::memcpy(part + row * count, c + row * plan.n + first, sizeof(uint32_t) * count);
    MatrixOperands p;
    p.m = 16;
    p.n = count;
    p.k = plan.stored();
    p.b_rows = plan.k;
    p.a = a;
    p.b = b;
    p.select = plan.sparse ? select : nullptr;
    p.c = p.d = part;
    p.negate_a = plan.negate_a;
    p.negate_b = plan.negate_b;
    if (plan.kind == MatrixKind::kBits)
      MultiplyBits(plan.bits, 16, count, plan.k / 32, a, b, part, part);
    else if (plan.kind == MatrixKind::kInteger)
      MultiplyIntegers(plan.a_type, plan.b_type, plan.saturate, p);
    else
      MultiplyFloats(*plan.rule, plan.a_type, plan.b_type, plan.c_type, plan.d_type, p);
    for (int row = 0; row < 16; ++row)
      std::memcpy(c + row * plan.n + first, part + row * count, sizeof(uint32_t) * count);
  }
  if (reader.missed != ~0u) {
    char text[160];
    std::snprintf(text, sizeof(text), "%s reads 16 bytes of shared memory at 0x%x, the block has 0x%x",
                  inst.text != nullptr ? inst.text->Name().c_str() : "wgmma", reader.missed,
                  warp.shared_bytes);
    return warp.Fail(FaultKind::kSharedOutOfRange, lane, text);
  }
  uint32_t* out[kMaxFragmentRegisters];
  RowsOf(warp, inst.op(0), out);
  ScatterFragment(*plan.d, c, out);
  return ExecResult::kNext;
}

ExecResult ExecuteWgmmaSync(Warp& warp, const Inst& inst) {
  return AllLanes(warp, inst) ? ExecResult::kNext : ExecResult::kFault;
}

}  // namespace understudy::emu::ptx
