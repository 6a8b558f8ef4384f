// SPDX-License-Identifier: Apache-2.0
// Matrices between memory and fragments: ldmatrix, stmatrix, movmatrix, wmma.load, wmma.store. Each is done
// by all lanes of a warp together.
//
// Sources: PTX ISA 8.8, "ldmatrix", "stmatrix", "movmatrix", "wmma.load"; fragment_layout.h.
#include <cstdio>

#include "absl/strings/str_format.h"
#include "emu/ptx/check/access_log.h"
#include "emu/ptx/semantics/fragment_layout.h"
#include "emu/ptx/semantics/memory_find.h"

namespace understudy::emu::ptx {
namespace {

const BoundOperand& ElementOf(const BoundOperand& operand, int i) {
  return operand.kind == Operand::Kind::kVector ? operand.elements[i] : operand;
}
int CountOf(const BoundOperand& operand) {
  return operand.kind == Operand::Kind::kVector ? operand.num_elements : 1;
}
bool IsSink(const BoundOperand& operand) { return operand.kind == Operand::Kind::kSink || operand.row.sink; }

bool Converged(Warp& w, const Inst& inst) {
  const uint32_t live = w.lanes & ~w.exited;
  if (w.mask == live && w.lanes == ~0u && w.exited == 0) return true;
  w.Fail(FaultKind::kBarrier, w.mask != 0 ? __builtin_ctz(w.mask) : 0,
         absl::StrFormat("%s: executed by lanes 0x%08x of a warp; all 32 must execute it together",
                         InstName(inst), w.mask));
  return false;
}

// Host pointers of `count` rows of 16 bytes, row r's address in lane r.
bool ResolveRows(Warp& w, const Inst& inst, const BoundOperand& operand, int count, Access access,
                 uint8_t** rows) {
  for (int lane = 0; lane < count; ++lane) {
    rows[lane] = ResolveLane(w, inst, GetAddress(w, operand, lane), static_cast<MemSpace>(inst.aux[0] & 0xff),
                             16, 16, access, lane);
    if (rows[lane] == nullptr) return false;
  }
  return true;
}

// An 8x8 matrix of 16-bit elements in a register: element (row, col) is the half col % 2 of lane
// 4 * row + col / 2.
void ReadFragment(const Warp& w, Src row, uint16_t (&m)[8][8]) {
  const uint32_t* r = w.U32(row);
  for (int lane = 0; lane < kWarpSize; ++lane) {
    m[lane / 4][lane % 4 * 2] = static_cast<uint16_t>(r[lane]);
    m[lane / 4][lane % 4 * 2 + 1] = static_cast<uint16_t>(r[lane] >> 16);
  }
}
void WriteFragment(Warp& w, Src row, const uint16_t (&m)[8][8], bool transposed) {
  uint32_t* r = w.Dst32(row);
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const int i = lane / 4, j = lane % 4 * 2;
    r[lane] = transposed ? m[j][i] | uint32_t{m[j + 1][i]} << 16 : m[i][j] | uint32_t{m[i][j + 1]} << 16;
  }
}

template <bool kTransposed>
ExecResult LoadMatrix(Warp& w, const Inst& inst) {
  if (!Converged(w, inst)) return ExecResult::kFault;
  const int count = CountOf(inst.op(0));
  uint8_t* rows[kWarpSize];
  if (!ResolveRows(w, inst, inst.op(1), 8 * count, Access::kRead, rows)) return ExecResult::kFault;
  // All are read before any is written: a destination may hold the address.
  uint16_t m[4][8][8];
  for (int i = 0; i < count; ++i)
    for (int row = 0; row < 8; ++row) std::memcpy(m[i][row], rows[8 * i + row], 16);
  for (int i = 0; i < count; ++i) {
    const BoundOperand& to = ElementOf(inst.op(0), i);
    if (!IsSink(to)) WriteFragment(w, to.row, m[i], kTransposed);
  }
  return ExecResult::kNext;
}

template <bool kTransposed>
ExecResult StoreMatrix(Warp& w, const Inst& inst) {
  if (!Converged(w, inst)) return ExecResult::kFault;
  const int count = CountOf(inst.op(1));
  uint8_t* rows[kWarpSize];
  if (!ResolveRows(w, inst, inst.op(0), 8 * count, Access::kWrite, rows)) return ExecResult::kFault;
  for (int i = 0; i < count; ++i) {
    uint16_t m[8][8];
    ReadFragment(w, ElementOf(inst.op(1), i).row, m);
    for (int row = 0; row < 8; ++row) {
      if (kTransposed) {
        for (int col = 0; col < 8; ++col) StoreAs(rows[8 * i + row] + 2 * col, m[col][row]);
      } else {
        std::memcpy(rows[8 * i + row], m[row], 16);
      }
    }
  }
  return ExecResult::kNext;
}

ExecResult MoveMatrix(Warp& w, const Inst& inst) {
  if (!Converged(w, inst)) return ExecResult::kFault;
  uint16_t m[8][8];
  ReadFragment(w, inst.src(1), m);
  WriteFragment(w, inst.src(0), m, /*transposed=*/true);
  return ExecResult::kNext;
}

// --- matrices of bytes, one address a row: in memory as they are or as 16 packed elements of fewer bits that
// are widened to the low bits of a byte. aux[1]: bits, RowMatrix ---

RowMatrix RowMatrixOf(const Inst& inst) { return static_cast<RowMatrix>(inst.aux[1] >> 8); }

void LoadByteRow(const uint8_t* from, int bits, uint8_t (&row)[16]) {
  if (bits == 8) {
    std::memcpy(row, from, 16);
    return;
  }
  for (int i = 0; i < 16; ++i) {
    const int at = i * bits;
    const uint32_t two = from[at / 8] | uint32_t{from[at / 8 + 1]} << 8;
    row[i] = static_cast<uint8_t>(two >> at % 8 & ((1u << bits) - 1));
  }
}

ExecResult LoadBytes(Warp& w, const Inst& inst) {
  if (!Converged(w, inst)) return ExecResult::kFault;
  const int registers = CountOf(inst.op(0));
  uint8_t* rows[kWarpSize];
  if (!ResolveRows(w, inst, inst.op(1), 8 * registers, Access::kRead, rows)) return ExecResult::kFault;
  uint8_t m[kWarpSize][16];
  for (int row = 0; row < 8 * registers; ++row)
    LoadByteRow(rows[row], static_cast<int>(inst.aux[1] & 0xff), m[row]);
  for (int i = 0; i < registers; ++i) {
    const BoundOperand& to = ElementOf(inst.op(0), i);
    if (IsSink(to)) continue;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      uint32_t word = 0;
      for (int e = 0; e < 4; ++e) {
        const ElementPlace at = RowMatrixPlace(RowMatrixOf(inst), i, lane, e);
        word |= uint32_t{m[at.row][at.col]} << 8 * e;
      }
      w.Dst32(to.row)[lane] = word;
    }
  }
  return ExecResult::kNext;
}

ExecResult StoreBytes(Warp& w, const Inst& inst) {
  if (!Converged(w, inst)) return ExecResult::kFault;
  const int registers = CountOf(inst.op(1));
  uint8_t* rows[kWarpSize];
  if (!ResolveRows(w, inst, inst.op(0), 8 * registers, Access::kWrite, rows)) return ExecResult::kFault;
  for (int i = 0; i < registers; ++i) {
    const uint32_t* words = w.U32(ElementOf(inst.op(1), i).row);
    for (int lane = 0; lane < kWarpSize; ++lane)
      for (int e = 0; e < 4; ++e) {
        const ElementPlace at = RowMatrixPlace(RowMatrixOf(inst), i, lane, e);
        rows[at.row][at.col] = static_cast<uint8_t>(words[lane] >> 8 * e);
      }
  }
  return ExecResult::kNext;
}

// --- wmma.load and wmma.store: aux[0] space and order, aux[1] the layout ---

constexpr uint64_t kRowMajor = 1 << 8;

struct MatrixInMemory {
  uint8_t* base = nullptr;
  uint64_t stride = 0;  // elements between rows, or columns where these are contiguous
  bool row_major = false;
  int bits = 0;

  uint64_t BitAt(const ElementPlace& place) const {
    const uint64_t major = row_major ? place.row : place.col, minor = row_major ? place.col : place.row;
    return (major * stride + minor) * bits;
  }
};

bool ResolveMatrix(Warp& w, const Inst& inst, const BoundOperand& address, int stride_operand, Access access,
                   MatrixInMemory* out) {
  const auto& layout = *reinterpret_cast<const FragmentLayout*>(inst.aux[1]);
  out->row_major = (inst.aux[0] & kRowMajor) != 0;
  out->bits = layout.bits;
  const int major = out->row_major ? layout.rows : layout.cols;
  const int minor = out->row_major ? layout.cols : layout.rows;
  out->stride =
      inst.num_operands > stride_operand ? static_cast<uint32_t>(w.Lane(inst.src(stride_operand), 0)) : minor;
  const uint64_t first = GetAddress(w, address, 0);
  for (int lane = 1; lane < kWarpSize; ++lane) {
    if (GetAddress(w, address, lane) == first) continue;
    w.Fail(FaultKind::kMemory, lane,
           absl::StrFormat("%s: address 0x%x, but lane 0 has 0x%x: all lanes must have the same",
                           InstName(inst), GetAddress(w, address, lane), first));
    return false;
  }
  const uint64_t bytes = ((major - 1) * out->stride + minor) * layout.bits / 8;
  out->base = ResolveLane(w, inst, first, static_cast<MemSpace>(inst.aux[0] & 0xff), bytes,
                          layout.bits < 8 ? 4 : layout.bits / 8, access, 0);
  if (out->base != nullptr && w.log != nullptr) {
    // What lies between the rows is not touched.
    const AccessLog::Entry all = w.log->entries.back();
    w.log->entries.pop_back();
    for (int i = 0; i < major; ++i) {
      const uint64_t at = i * out->stride * layout.bits / 8;
      w.log->Add(all.space, access, 0, all.address + at, static_cast<uint32_t>(minor * layout.bits / 8),
                 out->base + at, all.cta);
    }
  }
  return out->base != nullptr;
}

uint64_t ReadBits(const uint8_t* base, uint64_t bit, int bits) {
  uint64_t value = 0;
  if (bits >= 8)
    std::memcpy(&value, base + bit / 8, bits / 8);
  else
    value = base[bit / 8] >> bit % 8 & ((1u << bits) - 1);
  return value;
}
void WriteBits(uint8_t* base, uint64_t bit, int bits, uint64_t value) {
  if (bits >= 8) {
    std::memcpy(base + bit / 8, &value, bits / 8);
  } else {
    const uint32_t mask = ((1u << bits) - 1) << bit % 8;
    base[bit / 8] = static_cast<uint8_t>((base[bit / 8] & ~mask) | (value << bit % 8 & mask));
  }
}

ExecResult LoadWmma(Warp& w, const Inst& inst) {
  if (!Converged(w, inst)) return ExecResult::kFault;
  const auto& layout = *reinterpret_cast<const FragmentLayout*>(inst.aux[1]);
  MatrixInMemory m;
  if (!ResolveMatrix(w, inst, inst.op(1), 2, Access::kRead, &m)) return ExecResult::kFault;
  for (int reg = 0; reg < layout.registers; ++reg) {
    const BoundOperand& to = ElementOf(inst.op(0), reg);
    if (IsSink(to)) continue;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      uint64_t value = 0;
      for (int e = 0; e < layout.elements; ++e)
        value |= ReadBits(m.base, m.BitAt(layout.At(reg, lane, e)), layout.bits) << e * layout.bits;
      w.SetLane(to.row, lane, value);
    }
  }
  return ExecResult::kNext;
}

ExecResult StoreWmma(Warp& w, const Inst& inst) {
  if (!Converged(w, inst)) return ExecResult::kFault;
  const auto& layout = *reinterpret_cast<const FragmentLayout*>(inst.aux[1]);
  MatrixInMemory m;
  if (!ResolveMatrix(w, inst, inst.op(0), 2, Access::kWrite, &m)) return ExecResult::kFault;
  for (int reg = 0; reg < layout.registers; ++reg)
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const uint64_t value = w.Lane(ElementOf(inst.op(1), reg).row, lane);
      for (int e = 0; e < layout.elements; ++e)
        WriteBits(m.base, m.BitAt(layout.At(reg, lane, e)), layout.bits, value >> e * layout.bits);
    }
  return ExecResult::kNext;
}

Exec FindWmmaMove(const Instruction& inst, const ExecContext& context) {
  const bool store = inst.Has("store");
  if (!store && !inst.Has("load")) return {};
  const size_t least = 2;
  if (inst.operands.size() < least) return Refused(inst, "needs registers and an address");
  int m = 0, n = 0, k = 0;
  for (const std::string& modifier : inst.modifiers)
    if (std::sscanf(modifier.c_str(), "m%dn%dk%d", &m, &n, &k) == 3) break;
  const Fragment which = store || inst.Has("c") ? Fragment::kC : inst.Has("a") ? Fragment::kA : Fragment::kB;
  const bool row_major = inst.Has("row");
  const FragmentLayout* layout = FindWmmaLayout(which, m, n, k, inst.type(), row_major);
  const Operand& registers = inst.operands[store ? 1 : 0];
  const int count =
      registers.kind == Operand::Kind::kVector ? static_cast<int>(registers.elements.size()) : 1;
  if (layout == nullptr) return Refused(inst, "no fragment of this shape and type");
  if (layout->registers != count)
    return Refused(inst, absl::StrFormat("%d registers, the fragment has %d", count, layout->registers));
  const uint64_t space = static_cast<uint64_t>(SpaceOfOperand(inst, inst.operands[store ? 0 : 1], context));
  return Exact(store ? StoreWmma : LoadWmma, space | (row_major ? kRowMajor : 0),
               reinterpret_cast<uint64_t>(layout));
}

}  // namespace

Exec FindMatrixMove(const Instruction& inst, const ExecContext& context) {
  switch (inst.op) {
    case Op::kWmma:
      return FindWmmaMove(inst, context);
    case Op::kMovmatrix:
      if (inst.operands.size() != 2) return Refused(inst, "needs two registers");
      return Exact(MoveMatrix);
    case Op::kLdmatrix:
    case Op::kStmatrix: {
      const bool store = inst.op == Op::kStmatrix;
      if (inst.operands.size() != 2) return Refused(inst, "needs registers and an address");
      const Operand& registers = inst.operands[store ? 1 : 0];
      const size_t count = registers.kind == Operand::Kind::kVector ? registers.elements.size() : 1;
      const bool large = inst.Has("m16n16");
      const size_t named = (inst.Has("x4") ? 4 : inst.Has("x2") ? 2 : 1) * (large ? 2 : 1);
      if (count != named) return Refused(inst, absl::StrFormat("%d registers, expected %d", count, named));
      // Without a space the address is generic, of shared memory.
      const uint64_t space =
          static_cast<uint64_t>(SpaceOfOperand(inst, inst.operands[store ? 0 : 1], context));
      const bool transposed = inst.Has("trans");
      const auto layout = [](RowMatrix matrix, uint64_t bits) {
        return bits | static_cast<uint64_t>(matrix) << 8;
      };
      if (inst.Has("m8n8")) {
        const uint64_t aux = layout(transposed ? RowMatrix::kM8n8Trans : RowMatrix::kM8n8, 16);
        if (store) return Exact(transposed ? StoreMatrix<true> : StoreMatrix<false>, space, aux);
        return Exact(transposed ? LoadMatrix<true> : LoadMatrix<false>, space, aux);
      }
      const uint64_t bits = inst.Has("b6x16_p32") ? 6 : inst.Has("b4x16_p64") ? 4 : 8;
      constexpr char kByTheManual[] = "moves of sm_100 and sm_120, by the manual; not compared with hardware";
      if (inst.Has("m8n16") && !store)
        return Approximate(Exact(LoadBytes, space, layout(RowMatrix::kM8n16, bits)), kByTheManual);
      if (large && !store && transposed && named <= 4)
        return Approximate(Exact(LoadBytes, space, layout(RowMatrix::kM16n16Trans, bits)), kByTheManual);
      if (inst.Has("m16n8") && store && transposed)
        return Approximate(Exact(StoreBytes, space, layout(RowMatrix::kM16n8Trans, bits)), kByTheManual);
      return Refused(inst, "no such shape");
    }
    default:
      return {};
  }
}

}  // namespace understudy::emu::ptx
