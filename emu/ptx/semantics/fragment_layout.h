// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the elements of matrix fragments lie in a warp's registers: for each register, lane and element of
// mma.sync, mma.sp, wmma and wgmma, the row and column of the matrix that it holds. Used by the matrix
// executors, by wmma.load/store and by tests. Pure data; it computes no products.
//
// Sources: PTX ISA 8.8, "Matrix fragments" of mma, mma.sp and wgmma. The manual leaves wmma's fragments open:
// those here are what an H200's wmma.load writes (tests/data/conformance/ptx/mma_more.jsonl).

#include <cstdint>
#include <vector>

#include "emu/ptx/isa/isa.h"

namespace understudy::emu::ptx {

enum class Fragment : uint8_t { kA, kB, kC };  // D lies as C does

struct ElementPlace {
  uint16_t row = 0, col = 0;
};

// A fragment of a warp. A is M x K (K/2 columns, those stored, where it is sparse), B is K x N, C is M x N.
struct FragmentLayout {
  int rows = 0, cols = 0;
  int registers = 0;  // of a lane; of 32 bits, f64: of 64
  int elements = 0;   // in a register, from its low bits up
  int bits = 0;       // of an element
  int distinct = 0;   // registers before copies begin: products read those only
  // [(reg * 32 + lane) * elements + element]. Every element of the matrix has at least one place; wmma's A
  // and B may hold copies.
  std::vector<ElementPlace> places;
  // The same as row * cols + col, and how many elements that follow one another in a register row also do so
  // there: always from a multiple of `run`.
  std::vector<uint16_t> index;
  int run = 1;

  const ElementPlace& At(int reg, int lane, int element) const {
    return places[(reg * 32 + lane) * elements + element];
  }
};

// mma.sync and mma.sp (`sparse`: A's stored half). `type` is the element's: kF16 .. kB1 for A and B; kF16,
// kF32, kF64 or kS32 for C. nullptr: no such fragment. A and B of m8n8k4.f16, whose registers depend on
// `row_major`, are four independent products: block b's A is rows 8b.. of 32, its B columns 8b.. of 32, its C
// rows 8b.. of 32.
const FragmentLayout* FindMmaLayout(Fragment which, int m, int n, int k, Type type, bool sparse = false,
                                    bool row_major = true);

// wmma.load, wmma.mma, wmma.store. `row_major` is the .row or .col of the operand (of no effect for C).
const FragmentLayout* FindWmmaLayout(Fragment which, int m, int n, int k, Type type, bool row_major);

// wgmma: one warp's 16 of the 64 rows. kA: A in registers, `k` its stored columns. kC: N columns of `type`.
const FragmentLayout* FindWgmmaLayout(Fragment which, int n, int k, Type type);

// Where the 2-bit index of a sparse A's stored element (row, col) lies: in the metadata register of `lane`.
// `type` is A's and `k` the instruction's. The index names the element's column: in its group of four for
// 16-bit and 8-bit elements (4 * (col / 2) + index), in 16-bit halves of its pair for tf32 (2 * col + index /
// 2) and as pairs of its group of eight for 4-bit ones (8 * (col / 4) + 2 * index + col % 2). Source: PTX
// ISA 8.8, "Sparse matrix storage"; recorded on an H200.
struct MetadataPlace {
  uint8_t lane = 0;
  uint8_t shift = 0;
};
MetadataPlace FindMetadataPlace(Type type, int k, int selector, int row, int col);
// The row of B that the stored element multiplies.
int SparseColumn(Type type, int col, int index);

// Matrices that ldmatrix and stmatrix move between registers and rows of 16 bytes, one address a row: 8 of 16
// bits or 16 of (at most) 8.
enum class RowMatrix : uint8_t { kM8n8, kM8n8Trans, kM8n16, kM16n16Trans, kM16n8Trans };
constexpr int RowMatrixElements(RowMatrix matrix) { return matrix <= RowMatrix::kM8n8Trans ? 2 : 4; }
// Where element `e`, from the low bits up, of a register lies: row counts the addresses of all matrices, col
// the elements of that row. Source: PTX ISA 8.8, "ldmatrix", "stmatrix" (figures of fragments).
ElementPlace RowMatrixPlace(RowMatrix matrix, int reg, int lane, int e);

}  // namespace understudy::emu::ptx
