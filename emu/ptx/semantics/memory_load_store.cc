// SPDX-License-Identifier: Apache-2.0
// ld, ldu and st in every space, type and vector width. Cache operators, eviction priorities, prefetch sizes
// and cache policies change no result; the orders (.acquire, .release, .sc) are fences of the host, since
// other CTAs may run on other host threads.
#include <atomic>
#include <type_traits>

#include "emu/ptx/semantics/memory_find.h"

namespace understudy::emu::ptx {
namespace {

constexpr uint64_t kSpaceMask = 0xff;
constexpr uint64_t kFence = 1 << 8;    // acquire, release
constexpr uint64_t kFenceSc = 1 << 9;  // sc, volatile and mmio keep the order of the program

MemSpace SpaceOf(const Inst& inst) { return static_cast<MemSpace>(inst.aux[0] & kSpaceMask); }

// Element of 16 bytes: two 64-bit rows.
void LoadWide(Warp& w, Src row, const LanePointers& p, uint32_t at) {
  uint64_t* low = w.Dst64(row);
  ForLanes(w.mask, [&](int lane) {
    low[lane] = LoadAs<uint64_t>(p.at[lane] + at);
    low[kWarpSize + lane] = LoadAs<uint64_t>(p.at[lane] + at + 8);
  });
}

// Element: the type in memory, whose signedness says how it fills the register.
template <class Element, class Row>
void LoadRow(Warp& w, Row* row, const LanePointers& p, uint32_t at, uint32_t stride, Row keep) {
  const auto value = [&](const uint8_t* from) { return static_cast<Row>(LoadAs<Element>(from)) & keep; };
  if (p.pattern == AccessPattern::kContiguous) {
    const uint8_t* from = p.at[0] + at;
    if (sizeof(Element) == sizeof(Row) && stride == sizeof(Element)) {
      std::memcpy(row, from, kWarpSize * sizeof(Row));
      return;
    }
    for (int lane = 0; lane < kWarpSize; ++lane) row[lane] = value(from + lane * stride);
  } else if (p.pattern == AccessPattern::kUniform) {
    const Row all = value(p.at[__builtin_ctz(w.mask)] + at);
    for (int lane = 0; lane < kWarpSize; ++lane) row[lane] = (w.mask >> lane & 1) != 0 ? all : row[lane];
  } else if (w.mask == ~0u) {
    for (int lane = 0; lane < kWarpSize; ++lane) row[lane] = value(p.at[lane] + at);
  } else {
    ForLanes(w.mask, [&](int lane) { row[lane] = value(p.at[lane] + at); });
  }
}

template <class Element>
void LoadElement(Warp& w, Src row, const LanePointers& p, uint32_t at, uint32_t stride) {
  if (row.bytes == 8)
    LoadRow<Element>(w, w.Dst64(row), p, at, stride, ~uint64_t{0});
  else
    LoadRow<Element>(w, w.Dst32(row), p, at, stride, row.bytes == 4 ? ~0u : (1u << 8 * row.bytes) - 1);
}

template <class Element, class Row>
void StoreRow(const Warp& w, const Row* row, const LanePointers& p, uint32_t at, uint32_t stride) {
  if (p.pattern == AccessPattern::kContiguous) {
    uint8_t* to = p.at[0] + at;
    if (sizeof(Element) == sizeof(Row) && stride == sizeof(Element)) {
      std::memcpy(to, row, kWarpSize * sizeof(Row));
      return;
    }
    for (int lane = 0; lane < kWarpSize; ++lane) StoreAs(to + lane * stride, static_cast<Element>(row[lane]));
  } else {
    // Lanes in order: of several that store to one address the highest stays, as on the hardware.
    ForLanes(w.mask, [&](int lane) { StoreAs(p.at[lane] + at, static_cast<Element>(row[lane])); });
  }
}

template <int kBytes>
void StoreElement(const Warp& w, Src row, const LanePointers& p, uint32_t at, uint32_t stride) {
  using Element = UintOf<kBytes>;
  if (row.bytes == 8)
    StoreRow<Element>(w, w.U64(row), p, at, stride);
  else
    StoreRow<Element>(w, w.U32(row), p, at, stride);
}

const BoundOperand& ElementOf(const BoundOperand& operand, int i) {
  return operand.kind == Operand::Kind::kVector ? operand.elements[i] : operand;
}
int CountOf(const BoundOperand& operand) {
  return operand.kind == Operand::Kind::kVector ? operand.num_elements : 1;
}
bool IsSink(const BoundOperand& operand) { return operand.kind == Operand::Kind::kSink || operand.row.sink; }

template <int kBytes, bool kIsSigned>
ExecResult Load(Warp& w, const Inst& inst) {
  const BoundOperand& to = inst.op(0);
  const int count = CountOf(to);
  const uint32_t stride = kBytes * count;
  LanePointers p;
  if (inst.aux[0] & kFenceSc) std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!ResolveOperand(w, inst, inst.op(1), SpaceOf(inst), stride, Access::kRead, &p))
    return ExecResult::kFault;
  for (int i = 0; i < count; ++i) {
    const BoundOperand& element = ElementOf(to, i);
    if (IsSink(element)) continue;
    if constexpr (kBytes == 16) {
      LoadWide(w, element.row, p, i * kBytes);
    } else if constexpr (kIsSigned) {
      LoadElement<std::make_signed_t<UintOf<kBytes>>>(w, element.row, p, i * kBytes, stride);
    } else {
      LoadElement<UintOf<kBytes>>(w, element.row, p, i * kBytes, stride);
    }
  }
  if (inst.aux[0] & (kFence | kFenceSc)) std::atomic_thread_fence(std::memory_order_acquire);
  return ExecResult::kNext;
}

template <int kBytes>
ExecResult Store(Warp& w, const Inst& inst) {
  const BoundOperand& from = inst.op(1);
  const int count = CountOf(from);
  const uint32_t stride = kBytes * count;
  LanePointers p;
  if (!ResolveOperand(w, inst, inst.op(0), SpaceOf(inst), stride, Access::kWrite, &p))
    return ExecResult::kFault;
  if (inst.aux[0] & (kFence | kFenceSc)) std::atomic_thread_fence(std::memory_order_release);
  if (count == 1 || p.pattern == AccessPattern::kContiguous) {
    for (int i = 0; i < count; ++i) {
      const Src row = ElementOf(from, i).row;
      if constexpr (kBytes == 16) {
        const uint64_t* low = w.U64(row);
        ForLanes(w.mask, [&](int lane) {
          StoreAs(p.at[lane] + i * kBytes, low[lane]);
          StoreAs(p.at[lane] + i * kBytes + 8, low[kWarpSize + lane]);
        });
      } else {
        StoreElement<kBytes>(w, row, p, i * kBytes, stride);
      }
    }
  } else {
    // A lane's whole vector before the next lane's: lanes may overlap.
    ForLanes(w.mask, [&](int lane) {
      for (int i = 0; i < count; ++i) {
        const Src row = ElementOf(from, i).row;
        uint8_t* to = p.at[lane] + i * kBytes;
        if constexpr (kBytes == 16) {
          StoreAs(to, w.U64(row)[lane]);
          StoreAs(to + 8, w.U64(row)[kWarpSize + lane]);
        } else {
          StoreAs(to, static_cast<UintOf<kBytes>>(w.Lane(row, lane)));
        }
      }
    });
  }
  if (inst.aux[0] & kFenceSc) std::atomic_thread_fence(std::memory_order_seq_cst);
  return ExecResult::kNext;
}

template <bool kIsSigned>
ExecFn LoadOfBytes(int bytes) {
  switch (bytes) {
    case 1:
      return Load<1, kIsSigned>;
    case 2:
      return Load<2, kIsSigned>;
    case 4:
      return Load<4, kIsSigned>;
    case 8:
      return Load<8, kIsSigned>;
    case 16:
      return Load<16, false>;
    default:
      return nullptr;
  }
}
ExecFn StoreOfBytes(int bytes) {
  switch (bytes) {
    case 1:
      return Store<1>;
    case 2:
      return Store<2>;
    case 4:
      return Store<4>;
    case 8:
      return Store<8>;
    case 16:
      return Store<16>;
    default:
      return nullptr;
  }
}

uint64_t FlagsOf(const Instruction& inst) {
  uint64_t flags = 0;
  if (inst.Has("acquire") || inst.Has("release")) flags |= kFence;
  if (inst.Has("sc") || inst.Has("volatile") || inst.Has("mmio")) flags |= kFenceSc;
  return flags;
}

}  // namespace

Exec FindLoadStore(const Instruction& inst, const ExecContext& context) {
  const bool store = inst.op == Op::kSt;
  if (inst.op != Op::kLd && inst.op != Op::kLdu && !store) return {};
  if (inst.Has("async") || inst.Has("bulk")) return {};
  if (inst.operands.size() < 2) return Refused(inst, "needs a register and an address");
  const Operand& address = inst.operands[store ? 0 : 1];
  const uint64_t space = static_cast<uint64_t>(SpaceOfOperand(inst, address, context));
  const int bytes = TypeBytes(inst.type());
  ExecFn fn = store                   ? StoreOfBytes(bytes)
              : IsSigned(inst.type()) ? LoadOfBytes<true>(bytes)
                                      : LoadOfBytes<false>(bytes);
  if (fn == nullptr) return Refused(inst, "no access of type ." + std::string(TypeName(inst.type())));
  return Exact(fn, space | FlagsOf(inst));
}

}  // namespace understudy::emu::ptx
