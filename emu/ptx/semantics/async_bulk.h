// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the plain and the tensor forms of bulk copies share: the mode as bits of Inst::aux, and the places in
// shared memory (of several CTAs with .multicast) where a copy and its transaction go. Internal to
// emu/ptx/semantics.

#include <vector>

#include "emu/ptx/semantics/async_state.h"
#include "emu/ptx/semantics/memory_find.h"
#include "emu/ptx/semantics/tensor_map.h"

namespace understudy::emu::ptx {

struct BulkMode {
  MemSpace to = MemSpace::kShared, from = MemSpace::kGlobal;
  AtomicOp op = AtomicOp::kNone;
  Type type = Type::kNone;
  bool completes_barrier = false, multicast = false, cache_hint = false, byte_mask = false;
  bool cta_pair = false;  // .cta_group::2: the mbarrier may be in the other CTA of the pair
  // Of tensors.
  uint8_t rank = 0;
  TensorMode mode = TensorMode::kTiled;
  bool four_rows = false;

  uint64_t Pack() const;
  static BulkMode Unpack(uint64_t aux);
};
BulkMode FindBulkMode(const Instruction& inst);

struct BulkTarget {
  uint8_t* to = nullptr;
  uint32_t address = 0;  // offset in shared memory, which swizzles go by
  uint64_t* barrier = nullptr;
};
using BulkTargets = std::vector<BulkTarget>;

// One target, or with .multicast one for each CTA in `ctas`. False after Warp::Fail().
bool ResolveTargets(Warp& w, const Inst& inst, const BulkMode& mode, uint64_t to, uint64_t bytes,
                    uint32_t alignment, const BoundOperand* barrier, uint32_t ctas, int lane,
                    BulkTargets* out);
// A copy without its moves.
PendingBulk NewBulk(const Warp& w, int lane, const BulkMode& mode, const BulkTarget& target, uint64_t bytes);

Exec FindAsyncTensor(const Instruction& inst, const ExecContext& context);
Exec FindTensorMap(const Instruction& inst, const ExecContext& context);

}  // namespace understudy::emu::ptx
