// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state of one instruction selection and its steps: which forms each value of the list has, which blocks
// and scopes are open, where reductions keep their registers. Used by select*.cc, a concept each; everybody
// else calls Select.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/base/status.h"
#include "src/render/machine/select.h"
#include "src/symbolic/bounds.h"

namespace understudy::machine {

inline bool IsFloatReg(DType t) { return t.scalar == Scalar::kFloat32 || t.scalar == Scalar::kFloat64; }
inline int IntBits(DType t) { return t.BitWidth() == 64 ? 64 : 32; }
inline bool Knows(DType t) {
  return t.IsBool() || (t.IsInt() && t.scalar != Scalar::kIndex) || IsFloatReg(t) ||
         t.scalar == Scalar::kFloat16;
}
inline bool IsBitwise(Op op) { return op == Op::kAnd || op == Op::kOr || op == Op::kXor; }

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

  absl::StatusOr<Selection> Run();

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

  int NewBlock(int depth);
  // A block behind the current one, which falls into it.
  int StartBlock(int depth);

  absl::Status Refuse(const UOp& n) const;

  // --- values and their forms

  Value& V(const UOpRef& n);
  const UOp* Resolve(const UOp* n) const;
  Value& New(const UOp& n);
  void Record(const UOp& n, const Value& v);
  void DefineLanes(const UOp& n, std::vector<Reg> lanes);
  void DefineParts(const UOp& n, std::vector<Reg> parts, int part_bytes, int lane_bytes);

  Shape ShapeOf(DType t) const;

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
  void CloseScope();

  static uint64_t BitsOf(const UOp& constant);

  Reg Lane(const UOpRef& n, int i) { return Lane(V(n), i); }
  Reg Lane(Value& v, int i);
  // A constant as its type's canonical form.
  static int64_t IntOf(const Value& v);
  IntArg Int(const UOpRef& n, int i);
  // Where a lane comes from.
  static Value& Source(Value& v, int& i);

  // What decides a bool's lane.
  Condition Test(const UOpRef& n, int i);

  // The vector registers of a value that has the shape.
  std::vector<Reg> Parts(Value& v, const Shape& s, int lane_bytes);
  // Part `p` when it is a part of one other value.
  Reg WholePart(Value& v, int p, const Shape& s, int lane_bytes);
  Reg ConstantPart(Value& v, int p, const Shape& s, int lane_bytes);

  // The lane as a mask of a scalar float of `bytes`.
  Reg ScalarMask(const UOpRef& n, int i, int bytes);
  bool HasScalarMask(const UOpRef& n);

  // --- registers of reductions

  // A DEFINE_REG stays in registers when every access is to all of it.
  void FindArrays();
  void DefineArray(const UOp& n);

  // --- ops

  absl::Status Emit(const UOp& n);

  int Depth() const { return static_cast<int>(loops_.size()); }
  void PatchBranch(int block, int target);

  void OpenLoop(const UOp& n);

  absl::Status CloseLoops(const UOp& n);

  // --- memory

  Address AddressOf(const UOp& index);
  // The address, or where nothing is valid that of `bytes` zeros, or of memory that nobody reads.
  Address Guarded(const UOp& index, int bytes, bool store);

  absl::Status Load(const UOp& n);

  absl::Status Store(const UOp& n);

  // --- arithmetic on vectors

  // False when it is done lane by lane.
  bool VectorAlu(const UOp& n);
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
  bool MaskLogic(const UOp& n);

  // --- arithmetic on scalars

  Condition CompareOf(const UOp& n, int i);
  // Bools that are kept as what decides them, or as masks.
  bool ScalarBool(const UOp& n);

  // The low bits of `a` as a value of `to`.
  Reg IntCast(DType from, DType to, Reg a);
  Reg Canonical(DType t, Reg a) {
    return t.BitWidth() < 32 && !t.IsBool() ? e_.Extend(t.BitWidth(), t.IsSigned(), a, 32) : a;
  }

  absl::StatusOr<Reg> ScalarAlu(const UOp& n, int i);

  // a b + c of f32, rounded once: the product is exact in f64, the sum is rounded to odd there (Boldo and
  // Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
  Reg MulAccInDouble(Reg a, Reg b, Reg c);

  absl::StatusOr<Reg> Cast(const UOp& n, DType from, DType to, int i);

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

}  // namespace understudy::machine
