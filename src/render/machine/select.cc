// SPDX-License-Identifier: Apache-2.0
#include "src/render/machine/select.h"

#include <algorithm>
#include <deque>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/symbolic/bounds.h"

namespace understudy::machine {
namespace {

bool IsFloatReg(DType t) { return t.scalar == Scalar::kFloat32 || t.scalar == Scalar::kFloat64; }
int IntBits(DType t) { return t.BitWidth() == 64 ? 64 : 32; }
bool Knows(DType t) {
  return t.IsBool() || (t.IsInt() && t.scalar != Scalar::kIndex) || IsFloatReg(t) ||
         t.scalar == Scalar::kFloat16;
}
bool IsBitwise(Op op) { return op == Op::kAnd || op == Op::kOr || op == Op::kXor; }

// A value of the list. It has at least one of its forms; the others are made when they are asked for, in the
// outermost block where they can be.
struct Value {
  DType type;
  int scope = 0;                                     // loops and branches around the definition
  const UOp* constant = nullptr;                     // a CONST
  std::vector<Reg> lanes;                            // kNoReg: not yet
  std::vector<std::optional<Condition>> conditions;  // of a bool: what decides each lane
  std::vector<std::pair<Value*, int>> parts_of;      // lane i is lane .second of .first
  std::vector<Reg> parts;                            // vector registers; of a bool: masks
  int part_bytes = 0, lane_bytes = 0;
  int lanes_in_part() const { return part_bytes / lane_bytes; }
};

// How a vector lies in registers; no parts: lane by lane.
struct Shape {
  int parts = 0, bytes = 0, lanes = 0;
};

class Selector {
 public:
  Selector(const LinearKernel& kernel, Function& function, Emitter& emitter)
      : k_(kernel), f_(function), e_(emitter) {}

  absl::StatusOr<Selection> Run() {
    f_.name = k_.name;
    NewBlock(0);
    e_.set_block(0);
    e_.Begin();
    for (const KernelParam& p : k_.params) buffers_[p.position] = e_.Buffer(p.position);
    for (size_t i = 0; i < k_.vars.size(); ++i) vars_[k_.vars[i].name] = e_.Variable(static_cast<int64_t>(i));
    for (const UOpRef& n : k_.ops) {
      if (n->op() == Op::kSpecial) {
        workgroup_ = e_.Workgroup();
        break;
      }
    }
    scopes_.push_back({0, false, {}});
    StartBlock(0);
    FindArrays();
    for (op_ = 0; op_ < static_cast<int>(k_.ops.size()); ++op_) {
      US_RETURN_IF_ERROR(Emit(*k_.ops[op_]));
    }
    if (!loops_.empty()) return absl::InternalError("a loop is not closed");
    out_.blocks.back().end = op_;
    e_.Return();
    return std::move(out_);
  }

 private:
  struct Scope {
    int hoist = -1;        // the block before it, which runs whenever the scope does; -1: none
    bool skipped = false;  // perhaps neither runs
    std::vector<std::pair<Value*, int>> undo;  // forms made inside: lane number, or -1 for the parts
  };
  struct Loop {
    const UOp* range;
    Reg counter;
    int bits;
    IntArg end;
    int header;
    int guard = -1;  // the block whose last instruction jumps past the loop
  };
  // Registers that a DEFINE_REG became, or its place in the frame.
  struct Array {
    bool in_memory = false;
    int slot = -1;
    Value value;
  };
  struct Place {
    const UOp* index = nullptr;
    const UOp* buffer = nullptr;  // PARAM or DEFINE_REG
  };

  // --- blocks

  int NewBlock(int depth) {
    f_.blocks.emplace_back();
    f_.blocks.back().depth = depth;
    out_.blocks.emplace_back();
    out_.blocks.back().begin = out_.blocks.back().end = op_;
    return static_cast<int>(f_.blocks.size() - 1);
  }
  // A block behind the current one, which falls into it.
  int StartBlock(int depth) {
    out_.blocks[e_.block()].end = op_;
    const int b = NewBlock(depth);
    f_.blocks[b - 1].next.push_back(b);
    e_.set_block(b);
    return b;
  }

  absl::Status Refuse(const UOp& n) const {
    return absl::UnimplementedError(absl::StrCat(e_.name(), " code has no ", OpName(n.op()), " of ",
                                                 n.dtype().Name(), n.num_src() > 0 ? " from " : "",
                                                 n.num_src() > 0 ? n.src(0)->dtype().Name() : ""));
  }

  // --- values and their forms

  Value& V(const UOpRef& n) {
    const auto it = values_.find(Resolve(n.get()));
    US_CHECK(it != values_.end()) << OpName(n->op()) << " is used before it is computed";
    return it->second;
  }
  const UOp* Resolve(const UOp* n) const {
    while (n->op() == Op::kAfter) n = n->src(0).get();
    return n;
  }
  Value& New(const UOp& n) {
    Value& v = values_[&n];
    v = Value{};
    v.type = n.dtype().WithSpace(AddrSpace::kNone);
    v.scope = static_cast<int>(scopes_.size()) - 1;
    return v;
  }
  void Record(const UOp& n, const Value& v) {
    auto& values = out_.blocks[e_.block()].values;
    if (!v.parts.empty()) {
      for (size_t i = 0; i < v.parts.size(); ++i) {
        const int count = std::min<int>(v.lanes_in_part(), v.type.lanes);
        values.push_back({&n, static_cast<int>(i) * count, count, v.parts[i], v.lane_bytes});
      }
      return;
    }
    for (size_t i = 0; i < v.lanes.size(); ++i) {
      if (v.lanes[i] != kNoReg) values.push_back({&n, static_cast<int>(i), 1, v.lanes[i], 0});
    }
  }
  void DefineLanes(const UOp& n, std::vector<Reg> lanes) {
    Value& v = New(n);
    v.lanes = std::move(lanes);
    Record(n, v);
  }
  void DefineParts(const UOp& n, std::vector<Reg> parts, int part_bytes, int lane_bytes) {
    Value& v = New(n);
    v.parts = std::move(parts);
    v.part_bytes = part_bytes;
    v.lane_bytes = lane_bytes;
    Record(n, v);
  }

  Shape ShapeOf(DType t) const {
    if (t.lanes == 1 || !e_.HasVector(t.Element()) || t.SizeBytes() < 16) return {};
    Shape s;
    s.bytes = std::min(t.SizeBytes(), e_.vector_bytes());
    s.parts = t.SizeBytes() / s.bytes;
    s.lanes = s.bytes / t.ScalarBytes();
    return s;
  }

  // Makes another form of `v` in the outermost block where it can be: the one before the scope that is the
  // first inside the value's own.
  template <class Make>
  auto InScopeOf(Value& v, int form, Make make) {
    const int here = e_.block();
    if (v.scope + 1 < static_cast<int>(scopes_.size())) {
      Scope& inner = scopes_[v.scope + 1];
      if (inner.hoist >= 0) {
        e_.set_block(inner.hoist);
        if (inner.skipped) inner.undo.emplace_back(&v, form);
      } else {
        scopes_.back().undo.emplace_back(&v, form);
      }
    }
    auto result = make();
    e_.set_block(here);
    return result;
  }
  void CloseScope() {
    for (const auto& [v, form] : scopes_.back().undo) {
      if (form < 0) {
        v->parts.clear();
      } else if (form < static_cast<int>(v->lanes.size())) {
        v->lanes[form] = kNoReg;
      }
    }
    scopes_.pop_back();
  }

  static uint64_t BitsOf(const UOp& constant) {
    const DType t = constant.dtype().Element();
    return ToBits(t, constant.value());
  }

  Reg Lane(const UOpRef& n, int i) { return Lane(V(n), i); }
  Reg Lane(Value& v, int i) {
    if (v.constant != nullptr) {
      if (IsFloatReg(v.type)) return e_.Splat(v.type.ScalarBytes(), BitsOf(*v.constant), 16);
      return e_.IntConst(IntBits(v.type), IntOf(v));
    }
    if (v.lanes.empty()) v.lanes.assign(v.type.lanes, kNoReg);
    if (v.lanes[i] != kNoReg) return v.lanes[i];
    if (!v.parts_of.empty()) {
      // The same register, in the scope of the source.
      return Lane(*v.parts_of[i].first, v.parts_of[i].second);
    }
    const Reg r = InScopeOf(v, i, [&] {
      if (i < static_cast<int>(v.conditions.size()) && v.conditions[i]) return e_.Compare(*v.conditions[i]);
      US_CHECK(!v.parts.empty()) << "a value without a form";
      const int in_part = v.lanes_in_part();
      const Reg part = v.parts[i / in_part];
      if (v.type.IsBool()) {
        const int lane = v.type.lanes == 1 ? 0 : i % in_part;
        const Reg bits = e_.VectorExtract(v.lane_bytes, false, v.part_bytes, part, lane);
        return e_.IntBinary(Op::kAnd, false, 32, bits, IntArg::Const(1));
      }
      return e_.VectorExtract(v.lane_bytes, IsFloatReg(v.type), v.part_bytes, part, i % in_part);
    });
    v.lanes[i] = r;
    return r;
  }
  // A constant as its type's canonical form.
  static int64_t IntOf(const Value& v) {
    if (v.type.scalar == Scalar::kFloat16) return static_cast<int64_t>(BitsOf(*v.constant));
    return v.constant->const_int();
  }
  IntArg Int(const UOpRef& n, int i) {
    Value& v = Source(V(n), i);
    if (v.constant != nullptr) return IntArg::Const(IntOf(v));
    return IntArg::Of(Lane(v, i));
  }
  // Where a lane comes from.
  static Value& Source(Value& v, int& i) {
    Value* at = &v;
    while (!at->parts_of.empty()) {
      const auto [next, lane] = at->parts_of[i];
      at = next;
      i = lane;
    }
    return *at;
  }

  // What decides a bool's lane.
  Condition Test(const UOpRef& n, int i) {
    Value& v = Source(V(n), i);
    if (i < static_cast<int>(v.conditions.size()) && v.conditions[i]) return *v.conditions[i];
    return {Cond::kNe, 32, Lane(v, i), IntArg::Const(0)};
  }

  // The vector registers of a value that has the shape.
  std::vector<Reg> Parts(Value& v, const Shape& s, int lane_bytes) {
    if (!v.parts.empty() && v.lane_bytes == lane_bytes && v.part_bytes == s.bytes) return v.parts;
    if (v.constant != nullptr && v.constant->dtype().scalar != Scalar::kBool)
      return std::vector<Reg>(s.parts, e_.Splat(lane_bytes, BitsOf(*v.constant), s.bytes));
    if (v.constant != nullptr)
      return std::vector<Reg>(s.parts,
                              e_.Splat(lane_bytes, v.constant->const_int() ? ~uint64_t{0} : 0, s.bytes));
    const bool is_float = IsFloatReg(v.type);
    std::vector<Reg> parts = InScopeOf(v, -1, [&] {
      std::vector<Reg> made;
      for (int p = 0; p < s.parts; ++p) {
        Reg whole = WholePart(v, p, s, lane_bytes);
        if (whole == kNoReg) whole = ConstantPart(v, p, s, lane_bytes);
        if (whole != kNoReg) {
          made.push_back(whole);
          continue;
        }
        std::vector<Reg> lanes;
        for (int i = 0; i < s.lanes; ++i) {
          Reg r = Lane(v, p * s.lanes + i);
          // A mask's lane is all ones.
          if (v.type.IsBool()) {
            // Splats of one register stay recognisable.
            if (i > 0 && r == splat_source_) {
              r = lanes.back();
            } else {
              splat_source_ = r;
              r = e_.IntNeg(lane_bytes == 8 ? 64 : 32, r);
            }
          }
          lanes.push_back(r);
        }
        splat_source_ = kNoReg;
        made.push_back(e_.VectorBuild(lane_bytes, is_float, s.bytes, lanes));
      }
      return made;
    });
    // A mask of another width keeps its first form.
    if (v.parts.empty()) {
      v.parts = parts;
      v.part_bytes = s.bytes;
      v.lane_bytes = lane_bytes;
    }
    return parts;
  }
  // Part `p` when it is a part of one other value.
  Reg WholePart(Value& v, int p, const Shape& s, int lane_bytes) {
    Value* from = nullptr;
    int first = 0;
    for (int i = 0; i < s.lanes; ++i) {
      int lane = p * s.lanes + i;
      Value& source = Source(v, lane);
      if (i == 0) {
        from = &source;
        first = lane;
      }
      if (&source != from || lane != first + i) return kNoReg;
    }
    if (from == &v || from->parts.empty() || from->lane_bytes != lane_bytes || from->part_bytes != s.bytes ||
        first % s.lanes != 0)
      return kNoReg;
    return from->parts[first / s.lanes];
  }
  Reg ConstantPart(Value& v, int p, const Shape& s, int lane_bytes) {
    std::vector<uint8_t> bytes(s.bytes);
    for (int i = 0; i < s.lanes; ++i) {
      int lane = p * s.lanes + i;
      const Value& source = Source(v, lane);
      if (source.constant == nullptr || source.type.IsBool()) return kNoReg;
      const uint64_t bits = BitsOf(*source.constant);
      std::memcpy(&bytes[i * lane_bytes], &bits, lane_bytes);
    }
    return e_.Constant(bytes.data(), s.bytes);
  }

  // The lane as a mask of a scalar float of `bytes`.
  Reg ScalarMask(const UOpRef& n, int i, int bytes) {
    Value& v = Source(V(n), i);
    if (v.type.lanes == 1 && !v.parts.empty() && v.lane_bytes == bytes) return v.parts[0];
    const Reg ones = e_.IntNeg(bytes * 8, Lane(v, i));
    return e_.BitsToFloat(bytes, ones);
  }
  bool HasScalarMask(const UOpRef& n) {
    const Value& v = V(n);
    return v.type.lanes == 1 && v.type.IsBool() && !v.parts.empty();
  }

  // --- registers of reductions

  // A DEFINE_REG stays in registers when every access is to all of it.
  void FindArrays() {
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
  void DefineArray(const UOp& n) {
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
        v.lanes.push_back(IsFloatReg(t) ? f_.NewReg(RegClass::kVector, 16)
                                        : f_.NewReg(RegClass::kGeneral, 8));
      }
    }
    a.value = std::move(v);
  }

  // --- ops

  absl::Status Emit(const UOp& n) {
    switch (n.op()) {
      case Op::kSink:
      case Op::kAfter:
      case Op::kIndex:
      case Op::kParam:
        return absl::OkStatus();
      case Op::kConst: {
        if (!Knows(n.dtype())) return Refuse(n);
        New(n).constant = &n;
        return absl::OkStatus();
      }
      case Op::kVar: {
        const Reg v = vars_.at(n.arg_as<VarArg>().name);
        DefineLanes(n, {IntCast(dtypes::kInt64, n.dtype(), v)});
        return absl::OkStatus();
      }
      case Op::kSpecial:
        if (n.arg_as<std::string>() != "g0") return Refuse(n);
        DefineLanes(n, {IntCast(dtypes::kInt64, n.dtype(), workgroup_)});
        return absl::OkStatus();
      case Op::kDefineReg:
        DefineArray(n);
        return absl::OkStatus();
      case Op::kRange:
        OpenLoop(n);
        return absl::OkStatus();
      case Op::kEnd:
        return CloseLoops(n);
      case Op::kIf: {
        const Condition c = Test(n.src(0), 0);
        ifs_.push_back(e_.block());
        e_.BranchIf({Negate(c.cond), c.bits, c.a, c.b}, -1);
        StartBlock(Depth());
        scopes_.push_back({-1, true, {}});
        return absl::OkStatus();
      }
      case Op::kEndIf: {
        if (ifs_.empty()) return absl::InternalError("an ENDIF without an IF");
        CloseScope();
        const int after = StartBlock(Depth());
        PatchBranch(ifs_.back(), after);
        ifs_.pop_back();
        return absl::OkStatus();
      }
      case Op::kLoad:
        return Load(n);
      case Op::kStore:
        return Store(n);
      case Op::kVectorize: {
        Value& v = New(n);
        for (const UOpRef& s : n.src()) v.parts_of.emplace_back(&V(s), 0);
        return absl::OkStatus();
      }
      case Op::kGep: {
        Value& from = V(n.src(0));
        Value& v = New(n);
        v.parts_of.emplace_back(&from, static_cast<int>(n.arg_as<int64_t>()));
        return absl::OkStatus();
      }
      default:
        break;
    }
    if (!IsAlu(n.op()) || !Knows(n.dtype())) return Refuse(n);
    for (const UOpRef& s : n.src()) {
      if (!Knows(s->dtype())) return Refuse(n);
    }
    if (n.dtype().lanes > 1 && VectorAlu(n)) return absl::OkStatus();
    if (n.dtype().lanes == 1 && ScalarBool(n)) return absl::OkStatus();
    std::vector<Reg> lanes;
    for (int i = 0; i < n.dtype().lanes; ++i) {
      if (IsComparison(n.op()) && !n.src(0)->dtype().IsFloat()) {
        lanes.push_back(e_.Compare(CompareOf(n, i)));
        continue;
      }
      US_ASSIGN_OR_RETURN(const Reg r, ScalarAlu(n, i));
      lanes.push_back(r);
    }
    DefineLanes(n, std::move(lanes));
    return absl::OkStatus();
  }

  int Depth() const { return static_cast<int>(loops_.size()); }
  void PatchBranch(int block, int target) {
    Inst& jump = f_.blocks[block].insts.back();
    for (int i = 0; i < jump.count; ++i) {
      if (jump.ops[i].kind == Operand::Kind::kBlock) jump.ops[i].imm = target;
    }
    f_.blocks[block].next.push_back(target);
  }

  void OpenLoop(const UOp& n) {
    Loop loop;
    loop.range = &n;
    loop.bits = IntBits(n.dtype());
    loop.end = Int(n.src(0), 0);
    const bool runs = loop.end.IsConst() && loop.end.value > 0;
    if (loop.end.IsConst() && !runs) loop.end = IntArg::Of(e_.IntConst(loop.bits, loop.end.value));
    if (!runs) {
      loop.guard = e_.block();
      e_.BranchIf({Cond::kLe, loop.bits, loop.end.reg, IntArg::Const(0)}, -1);
      StartBlock(Depth());
    }
    loop.counter = e_.Copy(e_.IntConst(loop.bits, 0));
    const int before = e_.block();
    loops_.push_back(loop);
    loops_.back().header = StartBlock(Depth());
    out_.blocks.back().begin = op_ + 1;
    scopes_.push_back({before, !runs, {}});
    Value& v = New(n);
    v.lanes = {loop.counter};
    Record(n, v);
  }

  absl::Status CloseLoops(const UOp& n) {
    for (size_t i = n.num_src(); i-- > 1;) {
      if (loops_.empty() || loops_.back().range != n.src(i).get())
        return absl::InternalError("an END closes a loop that is not the innermost");
      const Loop loop = loops_.back();
      e_.CopyTo(loop.counter, e_.IntBinary(Op::kAdd, true, loop.bits, loop.counter, IntArg::Const(1)));
      e_.BranchIf({Cond::kLt, loop.bits, loop.counter, loop.end}, loop.header);
      f_.blocks[e_.block()].next.push_back(loop.header);
      loops_.pop_back();
      CloseScope();
      const int after = StartBlock(Depth());
      out_.blocks[after].begin = op_ + 1;
      if (loop.guard >= 0) PatchBranch(loop.guard, after);
    }
    return absl::OkStatus();
  }

  // --- memory

  Address AddressOf(const UOp& index) {
    Address a;
    const UOp* buffer = Resolve(index.src(0).get());
    const int size = index.dtype().ScalarBytes();
    a.base =
        buffer->op() == Op::kParam ? buffers_.at(buffer->arg_as<int64_t>()) : buffers_of_slots_.at(buffer);
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
  // The address, or where nothing is valid that of `bytes` zeros, or of memory that nobody reads.
  Address Guarded(const UOp& index, int bytes, bool store) {
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

  absl::Status Load(const UOp& n) {
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

  absl::Status Store(const UOp& n) {
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

  // --- arithmetic on vectors

  // False when it is done lane by lane.
  bool VectorAlu(const UOp& n) {
    const DType t = n.dtype(), in = n.src(0)->dtype();
    // Masks.
    if (IsComparison(n.op())) {
      const Shape s = ShapeOf(in);
      if (s.parts == 0) return false;
      return Each(n, s, in.ScalarBytes(), [&](int p) {
        return e_.VectorCompare(n.op(), in.Element(), s.bytes, Part(n.src(0), p, s, in.ScalarBytes()),
                                Part(n.src(1), p, s, in.ScalarBytes()));
      });
    }
    if (t.IsBool() && IsBitwise(n.op())) return MaskLogic(n);
    if (t.IsBool() && n.op() == Op::kCast) {
      const Shape s = ShapeOf(in);
      if (s.parts == 0 || in.IsBool()) return false;
      const Reg zero = e_.Splat(in.ScalarBytes(), 0, s.bytes);
      return Each(n, s, in.ScalarBytes(), [&](int p) {
        return e_.VectorCompare(Op::kCmpNe, in.Element(), s.bytes, Part(n.src(0), p, s, in.ScalarBytes()),
                                zero);
      });
    }
    const Shape s = ShapeOf(t);
    if (s.parts == 0) return false;
    const int bytes = t.ScalarBytes();
    const auto part = [&](int i, int p) { return Part(n.src(i), p, s, bytes); };
    switch (n.op()) {
      case Op::kWhere:
        return Each(n, s, bytes, [&](int p) {
          return e_.VectorChoose(s.bytes, bytes, part(0, p), part(1, p), part(2, p));
        });
      case Op::kBitcast:
        if (ShapeOf(in).parts == 0 || in.ScalarBytes() != bytes) return false;
        return Each(n, s, bytes, [&](int p) { return part(0, p); });
      case Op::kCast:
        if (in.IsBool()) {
          const Value& v = V(n.src(0));
          if (v.parts.empty() || v.lane_bytes != bytes) return false;
          const Reg one = e_.Splat(
              bytes, ToBits(t.Element(), t.IsFloat() ? ConstValue(1.0) : ConstValue(int64_t{1})), s.bytes);
          return Each(n, s, bytes, [&](int p) {
            return e_.VectorBinary(Op::kAnd, t.Element(), s.bytes, part(0, p), one);
          });
        }
        if (ShapeOf(in).parts == 0 || in.ScalarBytes() != bytes) return false;
        if (in.IsInt() && t.IsInt()) return Each(n, s, bytes, [&](int p) { return part(0, p); });
        return Each(n, s, bytes,
                    [&](int p) { return e_.VectorCast(in.Element(), t.Element(), s.bytes, part(0, p)); });
      case Op::kShl:
      case Op::kShr: {
        const Value& amount = V(n.src(1));
        if (amount.constant == nullptr) return false;
        return Each(n, s, bytes, [&](int p) {
          return e_.VectorShift(n.op(), t.Element(), s.bytes, part(0, p), amount.constant->const_int());
        });
      }
      case Op::kMulAcc:
        return Each(n, s, bytes, [&](int p) {
          return e_.VectorMulAcc(t.Element(), s.bytes, part(0, p), part(1, p), part(2, p));
        });
      default:
        break;
    }
    if (n.num_src() == 1)
      return Each(n, s, bytes,
                  [&](int p) { return e_.VectorUnary(n.op(), t.Element(), s.bytes, part(0, p)); });
    if (n.num_src() == 2)
      return Each(n, s, bytes, [&](int p) {
        return e_.VectorBinary(n.op(), t.Element(), s.bytes, part(0, p), part(1, p));
      });
    return false;
  }
  Reg Part(const UOpRef& n, int p, const Shape& s, int lane_bytes) { return Parts(V(n), s, lane_bytes)[p]; }
  template <class Fn>
  bool Each(const UOp& n, const Shape& s, int lane_bytes, Fn fn) {
    std::vector<Reg> parts;
    for (int p = 0; p < s.parts; ++p) {
      const Reg r = fn(p);
      if (r == kNoReg) {
        US_CHECK(p == 0) << "half an operation";
        return false;
      }
      parts.push_back(r);
    }
    DefineParts(n, std::move(parts), s.bytes, lane_bytes);
    return true;
  }
  // AND, OR and XOR of masks of one width; one may be a constant.
  bool MaskLogic(const UOp& n) {
    const Value *a = &V(n.src(0)), *b = &V(n.src(1));
    if (a->constant != nullptr) std::swap(a, b);
    if (a->parts.empty() || a->type.lanes == 1) return false;
    if (b->constant == nullptr && (b->parts.empty() || b->lane_bytes != a->lane_bytes)) return false;
    Shape s;
    s.bytes = a->part_bytes;
    s.parts = static_cast<int>(a->parts.size());
    s.lanes = a->lanes_in_part();
    const int lane_bytes = a->lane_bytes;
    return Each(n, s, lane_bytes, [&](int p) {
      return e_.VectorBinary(n.op(), dtypes::kUInt32, s.bytes, Part(n.src(0), p, s, lane_bytes),
                             Part(n.src(1), p, s, lane_bytes));
    });
  }

  // --- arithmetic on scalars

  Condition CompareOf(const UOp& n, int i) {
    const DType t = n.src(0)->dtype();
    const bool is_signed = t.IsSigned();
    Condition c;
    c.bits = IntBits(t);
    c.cond = n.op() == Op::kCmpEq   ? Cond::kEq
             : n.op() == Op::kCmpNe ? Cond::kNe
             : is_signed            ? Cond::kLt
                                    : Cond::kBelow;
    IntArg a = Int(n.src(0), i);
    c.b = Int(n.src(1), i);
    if (a.IsConst()) a = IntArg::Of(e_.IntConst(c.bits, a.value));
    c.a = a.reg;
    return c;
  }
  // Bools that are kept as what decides them, or as masks.
  bool ScalarBool(const UOp& n) {
    if (!n.dtype().IsBool()) return false;
    const DType in = n.src(0)->dtype();
    const bool to_bool = n.op() == Op::kCast && !in.IsBool();
    if ((IsComparison(n.op()) || to_bool) && IsFloatReg(in)) {
      const int bytes = in.ScalarBytes();
      const Reg b = to_bool ? e_.Splat(bytes, 0, 16) : Lane(n.src(1), 0);
      const Reg mask = e_.FloatCompare(to_bool ? Op::kCmpNe : n.op(), bytes, Lane(n.src(0), 0), b);
      DefineParts(n, {mask}, 16, bytes);
      return true;
    }
    if ((IsComparison(n.op()) || to_bool) && !in.IsFloat()) {
      const Condition c =
          to_bool ? Condition{Cond::kNe, IntBits(in), Lane(n.src(0), 0), IntArg::Const(0)} : CompareOf(n, 0);
      Value& v = New(n);
      v.conditions = {c};
      return true;
    }
    if (IsBitwise(n.op()) && HasScalarMask(n.src(0)) && HasScalarMask(n.src(1)) &&
        V(n.src(0)).lane_bytes == V(n.src(1)).lane_bytes) {
      const int bytes = V(n.src(0)).lane_bytes;
      const Reg r = e_.VectorBinary(n.op(), dtypes::kUInt32, 16, V(n.src(0)).parts[0], V(n.src(1)).parts[0]);
      DefineParts(n, {r}, 16, bytes);
      return true;
    }
    return false;
  }

  // The low bits of `a` as a value of `to`.
  Reg IntCast(DType from, DType to, Reg a) {
    const int bits = to.BitWidth();
    if (to.IsBool()) return a;
    const int had = from.IsBool() ? 1 : from.BitWidth();
    if (bits == 64) return from.IsSigned() && had < 64 ? e_.Extend(32, true, a, 64) : a;
    if (bits == 32) return had == 64 ? e_.Extend(32, false, a, 64) : a;
    // 8 or 16 bits: only what may differ from the canonical form is extended.
    if (had < bits && !(from.IsSigned() && !to.IsSigned())) return a;
    if (had == bits && from.IsSigned() == to.IsSigned()) return a;
    return e_.Extend(bits, to.IsSigned(), a, 32);
  }
  Reg Canonical(DType t, Reg a) {
    return t.BitWidth() < 32 && !t.IsBool() ? e_.Extend(t.BitWidth(), t.IsSigned(), a, 32) : a;
  }

  absl::StatusOr<Reg> ScalarAlu(const UOp& n, int i) {
    const DType t = n.dtype().Element(), in = n.src(0)->dtype().Element();
    const auto arg = [&](int s) { return Lane(n.src(s), i); };
    if (n.op() == Op::kCast) return Cast(n, in, t, i);
    if (n.op() == Op::kBitcast) {
      const Reg x = arg(0);
      if (IsFloatReg(in) && IsFloatReg(t)) return x;
      if (IsFloatReg(in)) return e_.FloatToBits(in.ScalarBytes(), x);
      if (IsFloatReg(t)) return e_.BitsToFloat(t.ScalarBytes(), x);
      const auto bits = [](DType d) { return d.IsFloat() ? dtypes::kUInt16 : d; };
      return IntCast(bits(in), bits(t), x);
    }
    if (n.op() == Op::kWhere) {
      if (!IsFloatReg(t)) {
        const Condition c = Test(n.src(0), i);
        const Reg then = arg(1), otherwise = arg(2);
        return e_.Choose(c, IntBits(t), then, otherwise);
      }
      const Reg mask = ScalarMask(n.src(0), i, t.ScalarBytes());
      const Reg then = arg(1), otherwise = arg(2);
      return e_.VectorChoose(16, t.ScalarBytes(), mask, then, otherwise);
    }
    if (IsFloatReg(in)) {
      Reg r = kNoReg;
      const int bytes = in.ScalarBytes();
      if (IsComparison(n.op())) {
        const Reg mask = e_.FloatCompare(n.op(), bytes, arg(0), arg(1));
        return e_.IntBinary(Op::kAnd, false, 32, e_.FloatToBits(bytes, mask), IntArg::Const(1));
      }
      if (n.op() == Op::kMulAcc) {
        r = e_.FloatMulAcc(bytes, arg(0), arg(1), arg(2));
        if (r == kNoReg && bytes == 4) r = MulAccInDouble(arg(0), arg(1), arg(2));
      } else if (n.num_src() == 1) {
        r = e_.FloatUnary(n.op(), bytes, arg(0));
      } else if (n.num_src() == 2) {
        r = e_.FloatBinary(n.op(), bytes, arg(0), arg(1));
      }
      if (r == kNoReg) return Refuse(n);
      return r;
    }
    if (in.IsFloat()) return Refuse(n);
    const int bits = IntBits(t);
    if (t.IsBool() && !IsBitwise(n.op()) && n.op() != Op::kNeg) return Refuse(n);
    if (n.num_src() == 1) {
      if (n.op() != Op::kNeg) return Refuse(n);
      if (t.IsBool()) return arg(0);
      return Canonical(t, e_.IntNeg(bits, arg(0)));
    }
    switch (n.op()) {
      case Op::kAdd:
      case Op::kSub:
      case Op::kMul:
      case Op::kIDiv:
      case Op::kIMod:
      case Op::kAnd:
      case Op::kOr:
      case Op::kXor:
      case Op::kShl:
      case Op::kShr:
      case Op::kMin:
      case Op::kMax: {
        IntArg a = Int(n.src(0), i), b = Int(n.src(1), i);
        if (a.IsConst() && !b.IsConst() && IsCommutative(n.op())) std::swap(a, b);
        if (a.IsConst()) a = IntArg::Of(e_.IntConst(bits, a.value));
        const Reg r = e_.IntBinary(n.op(), t.IsSigned(), bits, a.reg, b);
        // The others keep the canonical form.
        const bool grows = n.op() == Op::kAdd || n.op() == Op::kSub || n.op() == Op::kMul ||
                           n.op() == Op::kShl || n.op() == Op::kIDiv;
        return grows ? Canonical(t, r) : r;
      }
      default:
        return Refuse(n);
    }
  }

  // a b + c of f32, rounded once: the product is exact in f64, the sum is rounded to odd there (Boldo and
  // Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
  Reg MulAccInDouble(Reg a, Reg b, Reg c) {
    const auto op = [&](Op o, Reg x, Reg y) { return e_.FloatBinary(o, 8, x, y); };
    const Reg p = op(Op::kMul, e_.FloatCast(4, 8, a), e_.FloatCast(4, 8, b)), q = e_.FloatCast(4, 8, c);
    const Reg s = op(Op::kAdd, p, q), t = op(Op::kSub, s, p);
    const Reg error = op(Op::kAdd, op(Op::kSub, p, op(Op::kSub, s, t)), op(Op::kSub, q, t));
    const Reg zero = e_.Splat(8, 0, 16);
    const auto mask = [&](Op o, Reg x, Reg y) { return e_.VectorBinary(o, dtypes::kUInt32, 16, x, y); };
    const Reg below = e_.FloatCompare(Op::kCmpLt, 8, error, zero);
    // A NaN or infinite sum has a NaN error: it is kept.
    const Reg inexact = mask(Op::kOr, below, e_.FloatCompare(Op::kCmpLt, 8, zero, error));
    const Reg away = mask(Op::kXor, below, e_.FloatCompare(Op::kCmpLt, 8, s, zero));
    const Reg nearer =
        e_.IntBinary(Op::kAdd, true, 64, e_.FloatToBits(8, s), IntArg::Of(e_.FloatToBits(8, away)));
    const Reg odd = e_.BitsToFloat(8, e_.IntBinary(Op::kOr, true, 64, nearer, IntArg::Const(1)));
    return e_.FloatCast(8, 4, e_.VectorChoose(16, 8, inexact, odd, s));
  }

  absl::StatusOr<Reg> Cast(const UOp& n, DType from, DType to, int i) {
    const Reg x = Lane(n.src(0), i);
    if (from == to) return x;
    if (to.IsBool()) {
      if (IsFloatReg(from)) {
        const int bytes = from.ScalarBytes();
        const Reg mask = e_.FloatCompare(Op::kCmpNe, bytes, x, e_.Splat(bytes, 0, 16));
        return e_.IntBinary(Op::kAnd, false, 32, e_.FloatToBits(bytes, mask), IntArg::Const(1));
      }
      if (from.IsFloat()) return Refuse(n);
      return e_.Compare({Cond::kNe, IntBits(from), x, IntArg::Const(0)});
    }
    if (from.scalar == Scalar::kFloat16 || to.scalar == Scalar::kFloat16) {
      Reg r = kNoReg;
      if (to == dtypes::kFloat32) r = e_.HalfToFloat(x);
      if (from == dtypes::kFloat32) r = e_.FloatToHalf(x);
      if (r == kNoReg) return Refuse(n);
      return r;
    }
    if (IsFloatReg(from) && IsFloatReg(to)) return e_.FloatCast(from.ScalarBytes(), to.ScalarBytes(), x);
    if (IsFloatReg(from)) return e_.FloatToInt(from.ScalarBytes(), to, x);
    if (IsFloatReg(to)) return e_.IntToFloat(from, to.ScalarBytes(), x);
    return IntCast(from, to, x);
  }

  const LinearKernel& k_;
  Function& f_;
  Emitter& e_;
  Selection out_;
  int op_ = 0;
  absl::flat_hash_map<int64_t, Reg> buffers_;
  absl::flat_hash_map<const UOp*, Reg> buffers_of_slots_;
  absl::flat_hash_map<std::string, Reg> vars_;
  Reg workgroup_ = kNoReg, splat_source_ = kNoReg;
  std::map<const UOp*, Value> values_;  // references stay
  std::map<const UOp*, Array> arrays_;
  std::vector<Loop> loops_;
  std::vector<Scope> scopes_;
  std::vector<int> ifs_;
  int trash_ = -1;
  symbolic::BoundsCache bounds_;
};

}  // namespace

absl::StatusOr<Selection> Select(const LinearKernel& kernel, Function& function, Emitter& emitter) {
  absl::StatusOr<Selection> out = Selector(kernel, function, emitter).Run();
  if (out.ok()) return out;
  return absl::Status(out.status().code(),
                      absl::StrCat("kernel ", kernel.name, ": ", std::string(out.status().message())));
}

}  // namespace understudy::machine
