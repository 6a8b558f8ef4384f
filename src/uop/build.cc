// SPDX-License-Identifier: Apache-2.0
#include "src/uop/build.h"

#include <atomic>

#include "src/base/status.h"

namespace understudy::uop {
namespace {

UOpRef Keep(Op op, const UOpRef& x, Arg arg = {}) { return UOp::Make(op, x->dtype(), {x}, std::move(arg)); }

std::vector<UOpRef> Prepend(const UOpRef& x, std::vector<UOpRef> rest) {
  rest.insert(rest.begin(), x);
  return rest;
}

}  // namespace

UOpRef Const(DType dtype, ConstValue v) {
  v = Canonical(dtype.Element(), v);
  if (const int64_t* i = std::get_if<int64_t>(&v)) return UOp::Make(Op::kConst, dtype, {}, *i);
  return UOp::Make(Op::kConst, dtype, {}, std::get<double>(v));
}

UOpRef Alu(Op op, std::vector<UOpRef> src) {
  US_CHECK(IsAlu(op) && op != Op::kCast && op != Op::kBitcast && !src.empty()) << OpName(op);
  DType dtype = op == Op::kWhere && src.size() == 3 ? src[1]->dtype() : src[0]->dtype();
  if (IsComparison(op)) dtype = dtypes::kBool.WithLanes(dtype.lanes);
  return UOp::Make(op, dtype, std::move(src));
}

UOpRef Not(const UOpRef& a) { return Xor(a, Const(a->dtype(), ConstValue(int64_t{1}))); }
UOpRef Cast(const UOpRef& a, DType dtype) {
  return a->dtype() == dtype ? a : UOp::Make(Op::kCast, dtype, {a});
}
UOpRef Bitcast(const UOpRef& a, DType dtype) {
  return a->dtype() == dtype ? a : UOp::Make(Op::kBitcast, dtype, {a});
}

UOpRef Buffer(DType dtype, BufferArg arg) { return UOp::Make(Op::kBuffer, dtype, {}, std::move(arg)); }
UOpRef NewBuffer(DType dtype, int64_t size, const std::string& device) {
  static std::atomic<uint64_t> next{1};
  const auto slot = std::make_shared<StorageSlot>();
  while (true) {
    // A parsed graph may hold any id: one whose node exists already is not fresh.
    UOpRef node = Buffer(dtype, BufferArg{next.fetch_add(1), device, size, slot});
    if (node->arg_as<BufferArg>().slot == slot) return node;
  }
}
UOpRef Param(DType elem, int64_t position, AddrSpace space) {
  return UOp::Make(Op::kParam, elem.WithSpace(space), {}, position);
}
UOpRef TensorParam(DType elem, int64_t position, const Shape& shape) {
  std::vector<int64_t> arg{position};
  arg.insert(arg.end(), shape.begin(), shape.end());
  return UOp::Make(Op::kParam, elem, {}, std::move(arg));
}
UOpRef DefineLocal(DType elem, int64_t id, int64_t size) {
  return UOp::Make(Op::kDefineLocal, elem.WithSpace(AddrSpace::kLocal), {}, std::vector<int64_t>{id, size});
}
UOpRef DefineReg(DType elem, int64_t id, int64_t size) {
  return UOp::Make(Op::kDefineReg, elem.WithSpace(AddrSpace::kReg), {}, std::vector<int64_t>{id, size});
}
UOpRef Var(const std::string& name, int64_t min, int64_t max, DType dtype) {
  return UOp::Make(Op::kVar, dtype, {}, VarArg{name, min, max});
}
UOpRef Range(int64_t end, int64_t id, AxisKind kind) { return Range(IndexConst(end), id, kind); }
UOpRef Range(const UOpRef& end, int64_t id, AxisKind kind) {
  return UOp::Make(Op::kRange, end->dtype(), {end}, RangeArg{id, kind});
}
UOpRef Special(int64_t end, const std::string& name) { return Special(IndexConst(end), name); }
UOpRef Special(const UOpRef& end, const std::string& name) {
  return UOp::Make(Op::kSpecial, end->dtype(), {end}, name);
}

UOpRef Iota(DType dtype, int64_t n) { return UOp::Make(Op::kIota, dtype, {}, n); }
UOpRef Reshape(const UOpRef& x, Shape shape) {
  return x->shape() == shape ? x : Keep(Op::kReshape, x, std::move(shape));
}
UOpRef Expand(const UOpRef& x, Shape shape) {
  return x->shape() == shape ? x : Keep(Op::kExpand, x, std::move(shape));
}
UOpRef Permute(const UOpRef& x, std::vector<int64_t> permutation) {
  return Keep(Op::kPermute, x, std::move(permutation));
}
UOpRef Pad(const UOpRef& x, std::vector<int64_t> lo_hi) { return Keep(Op::kPad, x, std::move(lo_hi)); }
UOpRef Shrink(const UOpRef& x, std::vector<int64_t> begin_end) {
  return Keep(Op::kShrink, x, std::move(begin_end));
}
UOpRef Flip(const UOpRef& x, std::vector<int64_t> axes) { return Keep(Op::kFlip, x, std::move(axes)); }
UOpRef ReduceAxis(const UOpRef& x, Op op, std::vector<int64_t> axes) {
  return Keep(Op::kReduceAxis, x, ReduceArg{op, std::move(axes)});
}
UOpRef Contiguous(const UOpRef& x) { return Keep(Op::kContiguous, x); }
UOpRef ContiguousBackward(const UOpRef& x) { return Keep(Op::kContiguousBackward, x); }
UOpRef Detach(const UOpRef& x) { return Keep(Op::kDetach, x); }
UOpRef WithGradient(const std::string& rule, const UOpRef& value, std::vector<UOpRef> inputs) {
  inputs.insert(inputs.begin(), value);
  return UOp::Make(Op::kWithGradient, value->dtype(), std::move(inputs), rule);
}
UOpRef Copy(const UOpRef& x, const std::string& device) { return Keep(Op::kCopy, x, device); }
UOpRef Multi(std::vector<UOpRef> parts, MultiArg arg) {
  US_CHECK(!parts.empty());
  const DType dtype = parts[0]->dtype();
  return UOp::Make(Op::kMulti, dtype, std::move(parts), std::move(arg));
}
UOpRef Assign(const UOpRef& target, const UOpRef& value) {
  return UOp::Make(Op::kAssign, target->dtype(), {target, value});
}
UOpRef Call(const UOpRef& body, std::vector<UOpRef> args, CallArg arg) {
  return UOp::Make(Op::kCall, dtypes::kVoid, Prepend(body, std::move(args)), std::move(arg));
}
UOpRef Slice(const UOpRef& x, int64_t axis, const UOpRef& start, const UOpRef& size, int64_t most) {
  return UOp::Make(Op::kSlice, x->dtype(), {x, start, size}, std::vector<int64_t>{axis, most});
}
UOpRef Bind(const UOpRef& var, int64_t value) {
  return UOp::Make(Op::kBind, var->dtype(), {var, ConstLike(var, value)});
}

UOpRef IndexOf(const UOpRef& buf, const UOpRef& idx, const UOpRef& valid) {
  std::vector<UOpRef> src{buf, idx};
  if (valid) src.push_back(valid);
  return UOp::Make(Op::kIndex, buf->dtype(), std::move(src));
}
UOpRef Load(const UOpRef& index, uint16_t lanes, std::vector<UOpRef> deps) {
  return UOp::Make(Op::kLoad, DType(index->dtype().scalar, lanes), Prepend(index, std::move(deps)));
}
UOpRef Store(const UOpRef& place, const UOpRef& value, std::vector<UOpRef> ranges) {
  return UOp::Make(Op::kStore, dtypes::kVoid, Prepend(place, Prepend(value, std::move(ranges))));
}
UOpRef Reduce(Op op, const UOpRef& value, std::vector<UOpRef> ranges) {
  return UOp::Make(Op::kReduce, value->dtype(), Prepend(value, std::move(ranges)), op);
}
UOpRef After(const UOpRef& x, std::vector<UOpRef> deps) {
  return UOp::Make(Op::kAfter, x->dtype(), Prepend(x, std::move(deps)));
}
UOpRef Barrier(std::vector<UOpRef> deps) { return UOp::Make(Op::kBarrier, dtypes::kVoid, std::move(deps)); }
UOpRef If(const UOpRef& condition, std::vector<UOpRef> deps) {
  return UOp::Make(Op::kIf, dtypes::kVoid, Prepend(condition, std::move(deps)));
}
UOpRef EndIf(const UOpRef& if_node, std::vector<UOpRef> deps) {
  return UOp::Make(Op::kEndIf, dtypes::kVoid, Prepend(if_node, std::move(deps)));
}
UOpRef End(const UOpRef& body, std::vector<UOpRef> ranges) {
  return UOp::Make(Op::kEnd, dtypes::kVoid, Prepend(body, std::move(ranges)));
}
UOpRef Vectorize(std::vector<UOpRef> lanes) {
  US_CHECK(!lanes.empty());
  const DType dtype = lanes[0]->dtype().WithLanes(static_cast<uint16_t>(lanes.size()));
  return UOp::Make(Op::kVectorize, dtype, std::move(lanes));
}
UOpRef Gep(const UOpRef& x, int64_t lane) { return UOp::Make(Op::kGep, x->dtype().Element(), {x}, lane); }
UOpRef Wmma(const UOpRef& a, const UOpRef& b, const UOpRef& c, const std::string& core) {
  return UOp::Make(Op::kWmma, c->dtype(), {a, b, c}, core);
}
UOpRef Sink(std::vector<UOpRef> src) { return UOp::Make(Op::kSink, dtypes::kVoid, std::move(src)); }
UOpRef Sink(std::vector<UOpRef> src, const std::string& kernel_name) {
  return UOp::Make(Op::kSink, dtypes::kVoid, std::move(src), KernelArg{kernel_name});
}

}  // namespace understudy::uop
