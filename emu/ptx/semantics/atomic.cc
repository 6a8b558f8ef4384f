// SPDX-License-Identifier: Apache-2.0
// atom and red: every operation, type, vector and space. Lanes follow each other in lane order. Orders are
// those of the host's sequentially consistent atomics, which are at least as strong as any .sem and .scope.
#include "emu/ptx/semantics/atomic_op.h"
#include "emu/ptx/semantics/memory_find.h"

namespace understudy::emu::ptx {
namespace {

// aux[0]: operation, type, space, kReturns.
constexpr uint64_t kReturns = 1 << 24;

struct Mode {
  AtomicOp op;
  Type type;
  MemSpace space;
  bool returns;
};
Mode ModeOf(const Inst& inst) {
  const uint64_t aux = inst.aux[0];
  return {static_cast<AtomicOp>(aux & 0xff), static_cast<Type>(aux >> 8 & 0xff),
          static_cast<MemSpace>(aux >> 16 & 0xff), (aux & kReturns) != 0};
}

bool IsSink(const BoundOperand& operand) { return operand.kind == Operand::Kind::kSink || operand.row.sink; }

bool IsGlobal(MemSpace space, uint64_t address) {
  if (space == MemSpace::kGeneric) space = SpaceOfGeneric(address);
  return space == MemSpace::kGlobal;
}

ExecResult Atomic(Warp& w, const Inst& inst) {
  const Mode mode = ModeOf(inst);
  const int at = mode.returns ? 1 : 0;
  const BoundOperand& value = inst.op(at + 1);
  const bool vector = value.kind == Operand::Kind::kVector;
  const int count = vector ? value.num_elements : 1;
  const int bytes = TypeBytes(mode.type);
  LaneAddresses addresses;
  GetAddresses(w, inst.op(at), &addresses);
  LanePointers p;
  if (!ResolveLanes(w, inst, addresses, mode.space, bytes * count, bytes * count, Access::kAtomic, &p))
    return ExecResult::kFault;
  ForLanes(w.mask, [&](int lane) {
    const bool global = IsGlobal(mode.space, addresses.at[lane]);
    for (int i = 0; i < count; ++i) {
      const uint64_t operand = w.Lane(vector ? value.elements[i].row : value.row, lane);
      const uint64_t swap = mode.op == AtomicOp::kCas ? w.Lane(inst.src(at + 2), lane) : 0;
      const uint64_t old = AtomicUpdate(mode.op, mode.type, p.at[lane] + i * bytes, operand, swap, global);
      if (!mode.returns) continue;
      const BoundOperand& to = vector ? inst.op(0).elements[i] : inst.op(0);
      if (!IsSink(to)) w.SetLane(to.row, lane, old);
    }
  });
  return ExecResult::kNext;
}

ExecResult Atomic128(Warp& w, const Inst& inst) {
  const Mode mode = ModeOf(inst);
  LanePointers p;
  if (!ResolveOperand(w, inst, inst.op(1), mode.space, 16, Access::kAtomic, &p)) return ExecResult::kFault;
  const auto get = [&](int operand, int lane) {
    const uint64_t* row = w.U64(inst.src(operand));
    return Bits128{row[lane], row[kWarpSize + lane]};
  };
  ForLanes(w.mask, [&](int lane) {
    const Bits128 old = AtomicUpdate128(mode.op, p.at[lane], get(2, lane),
                                        mode.op == AtomicOp::kCas ? get(3, lane) : Bits128{});
    if (IsSink(inst.op(0))) return;
    uint64_t* row = w.Dst64(inst.src(0));
    row[lane] = old.low;
    row[kWarpSize + lane] = old.high;
  });
  return ExecResult::kNext;
}

}  // namespace

Exec FindAtomic(const Instruction& inst, const ExecContext& context) {
  if (inst.op == Op::kMultimem)
    return Refused(inst,
                   "multimem addresses are of multicast objects over several GPUs, which the emulator "
                   "does not have");
  if ((inst.op != Op::kAtom && inst.op != Op::kRed) || inst.Has("async")) return {};
  const bool returns = inst.op == Op::kAtom;
  const AtomicOp op = FindAtomicOp(inst);
  const size_t least = (returns ? 3 : 2) + (op == AtomicOp::kCas ? 1 : 0);
  if (op == AtomicOp::kNone || inst.operands.size() < least) return Refused(inst, "no such atomic operation");
  const MemSpace space = SpaceOfOperand(inst, inst.operands[returns ? 1 : 0], context);
  if (space == MemSpace::kLocal || space == MemSpace::kEntryParam || space == MemSpace::kFrameParam)
    return Refused(inst, "atomics are in global and shared memory only");
  const uint64_t aux = static_cast<uint64_t>(op) | uint64_t(inst.type()) << 8 | uint64_t(space) << 16 |
                       (returns ? kReturns : 0);
  if (inst.type() == Type::kB128) {
    if (!returns || (op != AtomicOp::kCas && op != AtomicOp::kExch))
      return Refused(inst, ".b128 has .exch and .cas only");
    return Exact(Atomic128, aux);
  }
  if (!IsAtomicCombination(op, inst.type()))
    return Refused(inst, "the operation has no type ." + std::string(TypeName(inst.type())));
  return Exact(Atomic, aux);
}

}  // namespace understudy::emu::ptx
