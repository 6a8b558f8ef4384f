// SPDX-License-Identifier: Apache-2.0
// Blocks, scopes, and the forms of values: lanes, parts of vectors, conditions.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/render/machine/selector.h"

namespace understudy::machine {

int Selector::NewBlock(int depth) {
  f_.blocks.emplace_back();
  f_.blocks.back().depth = depth;
  out_.blocks.emplace_back();
  out_.blocks.back().begin = out_.blocks.back().end = op_;
  return static_cast<int>(f_.blocks.size() - 1);
}

int Selector::StartBlock(int depth) {
  out_.blocks[e_.block()].end = op_;
  const int b = NewBlock(depth);
  f_.blocks[b - 1].next.push_back(b);
  e_.set_block(b);
  return b;
}

absl::Status Selector::Refuse(const UOp& n) const {
  return absl::UnimplementedError(absl::StrCat(e_.name(), " code has no ", OpName(n.op()), " of ",
                                               n.dtype().Name(), n.num_src() > 0 ? " from " : "",
                                               n.num_src() > 0 ? n.src(0)->dtype().Name() : ""));
}

Value& Selector::V(const UOpRef& n) {
  const auto it = values_.find(Resolve(n.get()));
  US_CHECK(it != values_.end()) << OpName(n->op()) << " is used before it is computed";
  return it->second;
}

const UOp* Selector::Resolve(const UOp* n) const {
  while (n->op() == Op::kAfter) n = n->src(0).get();
  return n;
}

Value& Selector::New(const UOp& n) {
  Value& v = values_[&n];
  v = Value{};
  v.type = n.dtype().WithSpace(AddrSpace::kNone);
  v.scope = static_cast<int>(scopes_.size()) - 1;
  return v;
}

void Selector::Record(const UOp& n, const Value& v) {
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

void Selector::DefineLanes(const UOp& n, std::vector<Reg> lanes) {
  Value& v = New(n);
  v.lanes = std::move(lanes);
  Record(n, v);
}

void Selector::DefineParts(const UOp& n, std::vector<Reg> parts, int part_bytes, int lane_bytes) {
  Value& v = New(n);
  v.parts = std::move(parts);
  v.part_bytes = part_bytes;
  v.lane_bytes = lane_bytes;
  Record(n, v);
}

Shape Selector::ShapeOf(DType t) const {
  if (t.lanes == 1 || !e_.HasVector(t.Element()) || t.SizeBytes() < 16) return {};
  Shape s;
  s.bytes = std::min(t.SizeBytes(), e_.vector_bytes());
  s.parts = t.SizeBytes() / s.bytes;
  s.lanes = s.bytes / t.ScalarBytes();
  return s;
}

void Selector::CloseScope() {
  for (const auto& [v, form] : scopes_.back().undo) {
    if (form < 0) {
      v->parts.clear();
    } else if (form < static_cast<int>(v->lanes.size())) {
      v->lanes[form] = kNoReg;
    }
  }
  scopes_.pop_back();
}

uint64_t Selector::BitsOf(const UOp& constant) {
  const DType t = constant.dtype().Element();
  return ToBits(t, constant.value());
}

Reg Selector::Lane(Value& v, int i) {
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

int64_t Selector::IntOf(const Value& v) {
  if (v.type.scalar == Scalar::kFloat16) return static_cast<int64_t>(BitsOf(*v.constant));
  return v.constant->const_int();
}

IntArg Selector::Int(const UOpRef& n, int i) {
  Value& v = Source(V(n), i);
  if (v.constant != nullptr) return IntArg::Const(IntOf(v));
  return IntArg::Of(Lane(v, i));
}

Value& Selector::Source(Value& v, int& i) {
  Value* at = &v;
  while (!at->parts_of.empty()) {
    const auto [next, lane] = at->parts_of[i];
    at = next;
    i = lane;
  }
  return *at;
}

Condition Selector::Test(const UOpRef& n, int i) {
  Value& v = Source(V(n), i);
  if (i < static_cast<int>(v.conditions.size()) && v.conditions[i]) return *v.conditions[i];
  return {Cond::kNe, 32, Lane(v, i), IntArg::Const(0)};
}

std::vector<Reg> Selector::Parts(Value& v, const Shape& s, int lane_bytes) {
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

Reg Selector::WholePart(Value& v, int p, const Shape& s, int lane_bytes) {
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

Reg Selector::ConstantPart(Value& v, int p, const Shape& s, int lane_bytes) {
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

Reg Selector::ScalarMask(const UOpRef& n, int i, int bytes) {
  Value& v = Source(V(n), i);
  if (v.type.lanes == 1 && !v.parts.empty() && v.lane_bytes == bytes) return v.parts[0];
  const Reg ones = e_.IntNeg(bytes * 8, Lane(v, i));
  return e_.BitsToFloat(bytes, ones);
}

bool Selector::HasScalarMask(const UOpRef& n) {
  const Value& v = V(n);
  return v.type.lanes == 1 && v.type.IsBool() && !v.parts.empty();
}

}  // namespace understudy::machine
