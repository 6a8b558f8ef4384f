// SPDX-License-Identifier: Apache-2.0
// Loads, stores and the registers of reductions.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/render/machine/selector.h"

namespace understudy::machine {

void Selector::FindArrays() {
  for (const UOpRef& n : k_.ops) {
    if (n->op() == Op::kDefineReg) arrays_[n.get()];
  }
  for (const UOpRef& n : k_.ops) {
    if (n->op() != Op::kLoad && n->op() != Op::kStore) continue;
    const UOp* index = n->src(0).get();
    const auto it = arrays_.find(Resolve(index->src(0).get()));
    if (it == arrays_.end()) continue;
    const int lanes = n->op() == Op::kLoad ? n->dtype().lanes : n->src(1)->dtype().lanes;
    const int64_t size = it->first->arg_as<std::vector<int64_t>>()[1];
    if (!index->src(1)->IsConst(0) || lanes != size || index->num_src() > 2) it->second.in_memory = true;
  }
}

void Selector::DefineArray(const UOp& n) {
  Array& a = arrays_[&n];
  const int64_t size = n.arg_as<std::vector<int64_t>>()[1];
  const DType t = n.dtype().Element().WithLanes(static_cast<int>(size));
  if (a.in_memory) {
    a.slot = f_.NewSlot(t.SizeBytes(), 16);
    buffers_of_slots_[&n] = e_.SlotAddress(a.slot);
    return;
  }
  Value v;
  v.type = t;
  if (const Shape s = ShapeOf(t); s.parts > 0) {
    for (int i = 0; i < s.parts; ++i) v.parts.push_back(f_.NewReg(RegClass::kVector, s.bytes));
    v.part_bytes = s.bytes;
    v.lane_bytes = t.ScalarBytes();
  } else {
    for (int i = 0; i < t.lanes; ++i) {
      v.lanes.push_back(IsFloatReg(t) ? f_.NewReg(RegClass::kVector, 16) : f_.NewReg(RegClass::kGeneral, 8));
    }
  }
  a.value = std::move(v);
}

Address Selector::AddressOf(const UOp& index) {
  Address a;
  const UOp* buffer = Resolve(index.src(0).get());
  const int size = index.dtype().ScalarBytes();
  a.base = buffer->op() == Op::kParam ? buffers_.at(buffer->arg_as<int64_t>()) : buffers_of_slots_.at(buffer);
  const UOpRef& at = index.src(1);
  int64_t constant = 0;
  UOpRef variable = at;
  if (at->IsConst()) {
    constant = at->const_int();
    variable = nullptr;
  } else if (at->op() == Op::kAdd && at->src(1)->IsConst()) {
    // A 32-bit index extends with zeros: what is left must not be negative.
    const auto bounds = bounds_.BoundsOf(at->src(0));
    if (bounds.lo && *bounds.lo >= 0) {
      constant = at->src(1)->const_int();
      variable = at->src(0);
    }
  }
  if (variable != nullptr) {
    a.index = Lane(variable, 0);
    a.scale = size;
  }
  const int64_t disp = constant * size;
  if (disp < -(int64_t{1} << 30) || disp > (int64_t{1} << 30)) {
    a.base = e_.IntBinary(Op::kAdd, true, 64, a.base, IntArg::Const(disp));
  } else {
    a.disp = disp;
  }
  return a;
}

Address Selector::Guarded(const UOp& index, int bytes, bool store) {
  const Address a = AddressOf(index);
  if (index.num_src() < 3) return a;
  Reg other;
  if (store) {
    if (trash_ < 0) trash_ = f_.NewSlot(bytes, 16);
    f_.slots[trash_].bytes = std::max(f_.slots[trash_].bytes, bytes);
    other = e_.SlotAddress(trash_);
  } else {
    const std::vector<uint8_t> zeros(std::max(bytes, 32));
    other = e_.PoolAddress(e_.PoolConstant(zeros.data(), zeros.size()));
  }
  const Reg here = e_.AddressOf(a);
  return {e_.Choose(Test(index.src(2), 0), 64, here, other), kNoReg, 1, 0};
}

absl::Status Selector::Load(const UOp& n) {
  const UOp& index = *n.src(0);
  const DType t = n.dtype();
  if (!Knows(t)) return Refuse(n);
  if (const auto it = arrays_.find(Resolve(index.src(0).get()));
      it != arrays_.end() && !it->second.in_memory) {
    const Value& from = it->second.value;
    std::vector<Reg> copies;
    for (const Reg r : from.parts.empty() ? from.lanes : from.parts) copies.push_back(e_.Copy(r));
    if (from.parts.empty()) {
      DefineLanes(n, std::move(copies));
    } else {
      DefineParts(n, std::move(copies), from.part_bytes, from.lane_bytes);
    }
    return absl::OkStatus();
  }
  const Address a = Guarded(index, t.SizeBytes(), false);
  const Shape s = ShapeOf(t);
  std::vector<Reg> regs;
  for (int i = 0; i < (s.parts > 0 ? s.parts : t.lanes); ++i) {
    Address at = a;
    at.disp += i * (s.parts > 0 ? s.bytes : t.ScalarBytes());
    regs.push_back(s.parts > 0 ? e_.LoadVector(s.bytes, at) : e_.Load(t.Element(), at));
  }
  if (s.parts > 0) {
    DefineParts(n, std::move(regs), s.bytes, t.ScalarBytes());
    return absl::OkStatus();
  }
  // Any byte but 0 is true.
  if (t.IsBool()) {
    for (Reg& r : regs) r = e_.Compare({Cond::kNe, 32, r, IntArg::Const(0)});
  }
  DefineLanes(n, std::move(regs));
  return absl::OkStatus();
}

absl::Status Selector::Store(const UOp& n) {
  const UOp& index = *n.src(0);
  const DType t = n.src(1)->dtype();
  if (!Knows(t)) return Refuse(n);
  if (const auto it = arrays_.find(Resolve(index.src(0).get()));
      it != arrays_.end() && !it->second.in_memory) {
    const Value& to = it->second.value;
    if (to.parts.empty()) {
      std::vector<Reg> from;
      for (int i = 0; i < t.lanes; ++i) from.push_back(Lane(n.src(1), i));
      for (int i = 0; i < t.lanes; ++i) e_.CopyTo(to.lanes[i], from[i]);
      return absl::OkStatus();
    }
    const std::vector<Reg> from = Parts(V(n.src(1)), ShapeOf(t), t.ScalarBytes());
    for (size_t i = 0; i < from.size(); ++i) e_.CopyTo(to.parts[i], from[i]);
    return absl::OkStatus();
  }
  const Shape s = ShapeOf(t);
  std::vector<Reg> regs;
  if (s.parts > 0) {
    regs = Parts(V(n.src(1)), s, t.ScalarBytes());
  } else {
    for (int i = 0; i < t.lanes; ++i) regs.push_back(Lane(n.src(1), i));
  }
  const Address a = Guarded(index, t.SizeBytes(), true);
  for (size_t i = 0; i < regs.size(); ++i) {
    Address at = a;
    at.disp += static_cast<int64_t>(i) * (s.parts > 0 ? s.bytes : t.ScalarBytes());
    if (s.parts > 0) {
      e_.StoreVector(s.bytes, at, regs[i]);
    } else {
      e_.Store(t.Element(), at, regs[i]);
    }
  }
  return absl::OkStatus();
}

}  // namespace understudy::machine
