// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/isa/wait_class.h"

#include <cstring>

namespace understudy::emu::amd {
namespace {

bool Named(const Inst& inst, const char* part) { return std::strstr(OpcodeName(inst.op), part) != nullptr; }

bool HasLaneResult(const Inst& inst) {
  return inst.dst[0].kind == Operand::Kind::kVgpr || inst.dst[0].kind == Operand::Kind::kAgpr;
}

WaitClass One(WaitCounter counter, ReturnStream stream) {
  WaitClass result;
  result.count = 1;
  result.events[0] = {counter, stream, 1};
  return result;
}

void Add(WaitClass* wait, WaitCounter counter, ReturnStream stream) {
  wait->events[wait->count++] = {counter, stream, 1};
}

WaitCounter LdsCounter(Isa isa) { return isa == Isa::kRdna4 ? WaitCounter::kDs : WaitCounter::kLgkm; }
WaitCounter ScalarCounter(Isa isa) { return isa == Isa::kRdna4 ? WaitCounter::kKm : WaitCounter::kLgkm; }

// Loads, and atomics that return: they write registers (or LDS). Everything else with an address is a store.
WaitClass VectorMemory(const Inst& inst, bool flat) {
  const bool to_lds = inst.lds || Named(inst, "_LOAD_LDS_");
  const bool store = !HasLaneResult(inst) && !to_lds;
  const ReturnStream load_stream = flat ? ReturnStream::kFlat : ReturnStream::kVectorMemory;
  WaitClass result;
  if (IsCdna(inst.isa)) {
    // One counter for loads and stores; both return in order.
    result = One(WaitCounter::kVm, load_stream);
  } else {
    const bool rdna4 = inst.isa == Isa::kRdna4;
    result = store ? One(rdna4 ? WaitCounter::kStore : WaitCounter::kVs,
                         flat ? ReturnStream::kFlat : ReturnStream::kStore)
                   : One(rdna4 ? WaitCounter::kLoad : WaitCounter::kVm, load_stream);
  }
  if (flat) Add(&result, LdsCounter(inst.isa), ReturnStream::kFlat);
  return result;
}

WaitClass Image(const Inst& inst) {
  const bool rdna4 = inst.isa == Isa::kRdna4;
  if (Named(inst, "_BVH")) {
    return One(rdna4 ? WaitCounter::kBvh : WaitCounter::kVm, ReturnStream::kRayTracing);
  }
  // IMAGE_MSAA_LOAD and IMAGE_GET_LOD go through the sampler too.
  if (inst.enc == Encoding::VSAMPLE || Named(inst, "_SAMPLE") || Named(inst, "_GATHER4") ||
      Named(inst, "_MSAA_LOAD") || Named(inst, "_GET_LOD")) {
    return One(rdna4 ? WaitCounter::kSample : WaitCounter::kVm, ReturnStream::kSample);
  }
  return VectorMemory(inst, /*flat=*/false);
}

// Writing back counts; invalidating does not (a load that follows it waits for it by itself), but for
// RDNA4's.
bool IsCacheOperation(const Inst& inst, WaitClass* wait) {
  const bool cdna = IsCdna(inst.isa);
  if (Named(inst, "GLOBAL_WB") || Named(inst, "BUFFER_WBL2")) {
    *wait = One(cdna ? WaitCounter::kVm : WaitCounter::kStore,
                cdna ? ReturnStream::kVectorMemory : ReturnStream::kStore);
    return true;
  }
  if (Named(inst, "GLOBAL_INV")) {
    *wait = One(WaitCounter::kLoad, ReturnStream::kVectorMemory);
    return true;
  }
  return Named(inst, "BUFFER_GL0_INV") || Named(inst, "BUFFER_GL1_INV") || Named(inst, "BUFFER_INV") ||
         Named(inst, "BUFFER_WBINV");
}

}  // namespace

const char* WaitCounterName(WaitCounter counter) {
  constexpr const char* kNames[kNumWaitCounters] = {"vmcnt",    "vscnt", "lgkmcnt", "expcnt",    "loadcnt",
                                                    "storecnt", "dscnt", "kmcnt",   "samplecnt", "bvhcnt"};
  return kNames[static_cast<int>(counter)];
}

WaitClass WaitClassOf(const Inst& inst) {
  WaitClass result;
  switch (inst.enc) {
    case Encoding::SMEM:
      // Prefetches return nothing and are not counted.
      if (Named(inst, "_PREFETCH_")) return result;
      return One(ScalarCounter(inst.isa), ReturnStream::kScalarMemory);
    case Encoding::DS:
      if (inst.op == Opcode::DS_NOP) return result;
      if (inst.gds) {
        result = One(LdsCounter(inst.isa), ReturnStream::kGds);
        Add(&result, WaitCounter::kExp, ReturnStream::kGds);
        return result;
      }
      return One(LdsCounter(inst.isa), ReturnStream::kLds);
    case Encoding::LDSDIR:
    case Encoding::VDSDIR:
      return One(WaitCounter::kExp, ReturnStream::kLdsDirect);
    case Encoding::EXP:
    case Encoding::VEXPORT:
      return One(WaitCounter::kExp, ReturnStream::kExport);
    case Encoding::FLAT:
    case Encoding::VFLAT:
      return VectorMemory(inst, /*flat=*/true);
    case Encoding::GLOBAL:
    case Encoding::SCRATCH:
    case Encoding::VGLOBAL:
    case Encoding::VSCRATCH:
    case Encoding::MUBUF:
    case Encoding::MTBUF:
    case Encoding::VBUFFER:
      if (IsCacheOperation(inst, &result)) return result;
      return VectorMemory(inst, /*flat=*/false);
    case Encoding::MIMG:
    case Encoding::VIMAGE:
    case Encoding::VSAMPLE:
      return Image(inst);
    case Encoding::SOP1:
    case Encoding::SOPP:
      if (Named(inst, "S_SENDMSG") || Named(inst, "S_GET_BARRIER_STATE")) {
        return One(ScalarCounter(inst.isa), ReturnStream::kMessage);
      }
      return result;
    default:
      return result;
  }
}

}  // namespace understudy::emu::amd
