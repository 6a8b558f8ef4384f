// SPDX-License-Identifier: Apache-2.0
// Conversions and questions about addresses: cvta, isspacep, mapa, getctarank.
#include "absl/strings/str_format.h"
#include "emu/ptx/core/cta.h"
#include "emu/ptx/core/launch_state.h"
#include "emu/ptx/semantics/memory_find.h"

namespace understudy::emu::ptx {
namespace {

// Generic address of offset 0 of a space; global and const addresses are generic as they are.
uint64_t WindowOf(MemSpace space) {
  switch (space) {
    case MemSpace::kShared:
    case MemSpace::kSharedCluster:
      return kSharedWindow;
    case MemSpace::kLocal:
      return kLocalWindow;
    case MemSpace::kEntryParam:
    case MemSpace::kFrameParam:
      return kParamWindow;
    default:
      return 0;
  }
}

void SetAddress(Warp& w, Src to, int lane, uint64_t address) { w.SetLane(to, lane, address); }

// Constant variables lie among global memory: their addresses are generic as they are. A number below the
// size of constant memory counts from where that begins.
ExecResult ConstToGeneric(Warp& w, const Inst& inst) {
  constexpr uint64_t kConstantBytes = 1 << 16;
  const uint64_t base = w.launch != nullptr ? w.launch->program->constant_base() : 0;
  ForLanes(w.mask, [&](int lane) {
    const uint64_t address = GetAddress(w, inst.op(1), lane);
    SetAddress(w, inst.src(0), lane, address < kConstantBytes ? base + address : address);
  });
  return ExecResult::kNext;
}

// aux[0]: the window.
ExecResult ToGeneric(Warp& w, const Inst& inst) {
  ForLanes(w.mask, [&](int lane) {
    uint64_t address = GetAddress(w, inst.op(1), lane);
    if (inst.aux[0] != 0) address = inst.aux[0] + static_cast<uint32_t>(address);
    SetAddress(w, inst.src(0), lane, address);
  });
  return ExecResult::kNext;
}
ExecResult FromGeneric(Warp& w, const Inst& inst) {
  ForLanes(w.mask, [&](int lane) {
    const uint64_t address = GetAddress(w, inst.op(1), lane);
    SetAddress(w, inst.src(0), lane,
               inst.aux[0] != 0 ? static_cast<uint32_t>(address - inst.aux[0]) : address);
  });
  return ExecResult::kNext;
}

// aux[0]: the space; aux[1]: .const. Kernel parameters are global as well, constant variables are not, as on
// an H200.
ExecResult IsSpace(Warp& w, const Inst& inst) {
  const MemSpace space = static_cast<MemSpace>(inst.aux[0]);
  uint32_t result = 0;
  ForLanes(w.mask, [&](int lane) {
    uint64_t address = GetAddress(w, inst.op(1), lane);
    const MemSpace real = SpaceOfGeneric(address);
    bool is = real == space || (space == MemSpace::kGlobal && real == MemSpace::kEntryParam);
    if (space == MemSpace::kGlobal && real == MemSpace::kGlobal) {
      const bool constant = w.launch != nullptr && w.launch->program->IsConstant(address);
      is = constant == (inst.aux[1] != 0);
    }
    if (inst.aux[1] != 0 && real != MemSpace::kGlobal) is = false;
    if (real == MemSpace::kSharedCluster) {
      address &= kSharedWindowSize - 1;
      is = space == MemSpace::kSharedCluster ||
           (space == MemSpace::kShared && CtaOfSharedAddress(w, &address) == w.cta);
    }
    result |= uint32_t{is} << lane;
  });
  w.SetPred(inst.src(0), result);
  return ExecResult::kNext;
}

// aux[0]: whether addresses are generic.
ExecResult MapA(Warp& w, const Inst& inst) {
  const bool generic = inst.aux[0] != 0;
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const uint64_t address = GetAddress(w, inst.op(1), lane);
    const uint32_t rank = static_cast<uint32_t>(w.Lane(inst.src(2), lane));
    if (generic && SpaceOfGeneric(address) != MemSpace::kSharedCluster)
      return w.Fail(
          FaultKind::kAddressSpace, lane,
          absl::StrFormat("%s: 0x%x is not a generic address of shared memory", InstName(inst), address));
    const uint32_t ctas = w.cta != nullptr && w.cta->cluster != nullptr ? w.cta->cluster->num_ctas : 1;
    if (rank >= ctas)
      return w.Fail(FaultKind::kSharedOutOfRange, lane,
                    absl::StrFormat("%s: CTA rank %d of a cluster of %d", InstName(inst), rank, ctas));
    const uint32_t offset = static_cast<uint32_t>(address) & ((1u << kClusterRankShift) - 1);
    SetAddress(w, inst.src(0), lane, (generic ? kSharedWindow : 0) + SharedClusterAddress(rank, offset));
  }
  return ExecResult::kNext;
}

ExecResult GetCtaRank(Warp& w, const Inst& inst) {
  const bool generic = inst.aux[0] != 0;
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    uint64_t address = GetAddress(w, inst.op(1), lane);
    if (generic && SpaceOfGeneric(address) != MemSpace::kSharedCluster)
      return w.Fail(
          FaultKind::kAddressSpace, lane,
          absl::StrFormat("%s: 0x%x is not a generic address of shared memory", InstName(inst), address));
    address &= kSharedWindowSize - 1;
    const Cta* cta = CtaOfSharedAddress(w, &address);
    if (cta == nullptr)
      return w.Fail(FaultKind::kSharedOutOfRange, lane,
                    absl::StrFormat("%s: the address names no CTA of the cluster", InstName(inst)));
    w.SetLane(inst.src(0), lane, cta->rank);
  }
  return ExecResult::kNext;
}

}  // namespace

Exec FindAddress(const Instruction& inst, const ExecContext& context) {
  switch (inst.op) {
    case Op::kCvta: {
      if (inst.operands.size() != 2) return Refused(inst, "needs a register and an address");
      const uint64_t window = WindowOf(SpaceOfOperand(inst, inst.operands[1], context));
      if (inst.space() == Space::kConst && !inst.Has("to")) return Exact(ConstToGeneric);
      return Exact(inst.Has("to") ? FromGeneric : ToGeneric, window);
    }
    case Op::kIsspacep: {
      if (inst.operands.size() != 2) return Refused(inst, "needs a predicate and an address");
      if (inst.space() == Space::kConst) return Exact(IsSpace, static_cast<uint64_t>(MemSpace::kGlobal), 1);
      const MemSpace space = inst.space() == Space::kParam ? MemSpace::kEntryParam
                                                           : SpaceOfOperand(inst, inst.operands[1], context);
      return Exact(IsSpace, static_cast<uint64_t>(space));
    }
    case Op::kIstypep:
      return Refused(inst, "texture, sampler and surface references are not emulated");
    case Op::kMapa:
      if (inst.operands.size() != 3) return Refused(inst, "needs a register, an address and a rank");
      return Exact(MapA, inst.spaces.empty());
    case Op::kGetctarank:
      if (inst.operands.size() != 2) return Refused(inst, "needs a register and an address");
      return Exact(GetCtaRank, inst.spaces.empty());
    default:
      return {};
  }
}

}  // namespace understudy::emu::ptx
