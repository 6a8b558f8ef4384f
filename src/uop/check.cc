// SPDX-License-Identifier: Apache-2.0
#include "src/uop/check.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/status.h"
#include "src/uop/sizes.h"

namespace understudy {
namespace {

std::string Text(absl::Span<const int64_t> v) { return absl::StrCat("{", absl::StrJoin(v, ","), "}"); }

template <class... A>
absl::Status Bad(Op op, const A&... a) {
  return absl::InvalidArgumentError(absl::StrCat(OpName(op), ": ", a...));
}

// Product of non-negative dimensions; -1 when it leaves int64.
int64_t Numel(const Shape& shape) {
  int64_t n = 1;
  for (const int64_t d : shape) {
    if (__builtin_mul_overflow(n, d, &n)) return -1;
  }
  return n;
}

absl::Status CheckShape(Op op, const Shape& shape) {
  for (const int64_t d : shape) {
    if (d < 0) return Bad(op, "negative dimension in shape ", Text(shape));
  }
  if (Numel(shape) < 0) return Bad(op, "shape ", Text(shape), " has more than 2^63-1 elements");
  return absl::OkStatus();
}

template <class T>
absl::StatusOr<const T*> ArgOf(Op op, const Arg& arg, const char* expected) {
  const T* v = std::get_if<T>(&arg);
  if (v == nullptr) return Bad(op, "the argument must be ", expected);
  return v;
}

using Ints = std::vector<int64_t>;
using Src = absl::Span<const UOpRef>;

absl::Status NoArg(Op op, const Arg& arg) {
  if (!std::holds_alternative<std::monostate>(arg)) return Bad(op, "takes no argument");
  return absl::OkStatus();
}

absl::Status SameDType(Op op, DType expected, DType got, const char* what) {
  if (expected != got) return Bad(op, what, " has dtype ", got.Name(), ", expected ", expected.Name());
  return absl::OkStatus();
}

absl::Status CheckAxes(Op op, const Ints& axes, size_t rank) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= static_cast<int64_t>(rank))
      return Bad(op, "axis ", axes[i], " outside rank ", rank);
    if (i > 0 && axes[i] <= axes[i - 1]) return Bad(op, "axes ", Text(axes), " must increase");
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> CheckAlu(Op op, DType dtype, Src src, const Arg& arg) {
  US_RETURN_IF_ERROR(NoArg(op, arg));
  for (const UOpRef& s : src) {
    if (s->shape() != src[0]->shape()) {
      return Bad(op, "sources have shapes ", Text(src[0]->shape()), " and ", Text(s->shape()),
                 "; there is no implicit broadcast");
    }
    if (s->dtype().IsPointer() || s->dtype().scalar == Scalar::kVoid)
      return Bad(op, "source has dtype ", s->dtype().Name());
  }
  if (dtype.IsPointer() || dtype.scalar == Scalar::kVoid)
    return Bad(op, "dtype ", dtype.Name(), " is no value");
  const DType in = src[0]->dtype();
  switch (op) {
    case Op::kCast:
      if (in.lanes != dtype.lanes)
        return Bad(op, "from ", in.Name(), " to ", dtype.Name(), " changes the number of lanes");
      return src[0]->shape();
    case Op::kBitcast:
      if (in.BitWidth() * in.lanes != dtype.BitWidth() * dtype.lanes) {
        return Bad(op, "from ", in.Name(), " to ", dtype.Name(), " changes the number of bits");
      }
      if (in.IsBool() || dtype.IsBool() || in.scalar == Scalar::kIndex || dtype.scalar == Scalar::kIndex) {
        if (in != dtype)
          return Bad(op, "from ", in.Name(), " to ", dtype.Name(), ": bool and index have no bit pattern");
      }
      return src[0]->shape();
    case Op::kWhere:
      if (in != dtypes::kBool.WithLanes(dtype.lanes)) return Bad(op, "condition has dtype ", in.Name());
      US_RETURN_IF_ERROR(SameDType(op, dtype, src[1]->dtype(), "source 1"));
      US_RETURN_IF_ERROR(SameDType(op, dtype, src[2]->dtype(), "source 2"));
      return src[0]->shape();
    default:
      break;
  }
  for (const UOpRef& s : src) US_RETURN_IF_ERROR(SameDType(op, in, s->dtype(), "source"));
  if (IsComparison(op)) {
    US_RETURN_IF_ERROR(SameDType(op, dtypes::kBool.WithLanes(in.lanes), dtype, "the result"));
    return src[0]->shape();
  }
  US_RETURN_IF_ERROR(SameDType(op, in, dtype, "the result"));
  bool ok = true;
  switch (op) {
    case Op::kSqrt:
    case Op::kExp2:
    case Op::kLog2:
    case Op::kSin:
    case Op::kCos:
    case Op::kTrunc:
    case Op::kRecip:
    case Op::kFDiv:
      ok = in.IsFloat();
      break;
    case Op::kNeg:
    case Op::kSub:
    case Op::kAdd:
    case Op::kMul:
    case Op::kMulAcc:
      ok = in.IsFloat() || in.IsInt();
      break;
    case Op::kIDiv:
    case Op::kIMod:
    case Op::kFloorDiv:
    case Op::kFloorMod:
    case Op::kShl:
    case Op::kShr:
      ok = in.IsInt();
      break;
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
      ok = in.IsInt() || in.IsBool();
      break;
    default:
      break;  // MAX, MIN: any
  }
  if (!ok) return Bad(op, "not defined on ", in.Name());
  return src[0]->shape();
}

absl::StatusOr<Shape> CheckMovement(Op op, DType dtype, Src src, const Arg& arg) {
  const UOpRef& x = src[0];
  US_RETURN_IF_ERROR(SameDType(op, x->dtype(), dtype, "the result"));
  if (dtype.IsPointer() || dtype.scalar == Scalar::kVoid)
    return Bad(op, "dtype ", dtype.Name(), " is no tensor");
  US_ASSIGN_OR_RETURN(const Ints* a, ArgOf<Ints>(op, arg, "a list of integers"));
  const Shape& in = x->shape();
  Shape out;
  switch (op) {
    case Op::kReshape:
      US_RETURN_IF_ERROR(CheckShape(op, *a));
      if (Numel(*a) != Numel(in))
        return Bad(op, "from ", Text(in), " to ", Text(*a), " changes the number of elements");
      return *a;
    case Op::kExpand:
      US_RETURN_IF_ERROR(CheckShape(op, *a));
      if (a->size() != in.size()) return Bad(op, "from ", Text(in), " to ", Text(*a), " changes the rank");
      for (size_t i = 0; i < in.size(); ++i) {
        if (in[i] != (*a)[i] && in[i] != 1)
          return Bad(op, "from ", Text(in), " to ", Text(*a), ": dimension ", i, " is not 1");
      }
      return *a;
    case Op::kPermute: {
      Ints sorted = *a;
      std::sort(sorted.begin(), sorted.end());
      for (size_t i = 0; i < sorted.size(); ++i) {
        if (sorted[i] != static_cast<int64_t>(i)) return Bad(op, Text(*a), " is no permutation");
      }
      if (a->size() != in.size()) return Bad(op, Text(*a), " does not fit rank ", in.size());
      for (const int64_t i : *a) out.push_back(in[i]);
      return out;
    }
    case Op::kPad:
      if (a->size() != 2 * in.size())
        return Bad(op, Text(*a), " needs two entries for each of ", in.size(), " dimensions");
      for (size_t i = 0; i < in.size(); ++i) {
        const int64_t lo = (*a)[2 * i], hi = (*a)[2 * i + 1];
        int64_t d;
        if (lo < 0 || hi < 0) return Bad(op, "negative padding in ", Text(*a));
        if (__builtin_add_overflow(in[i], lo, &d) || __builtin_add_overflow(d, hi, &d))
          return Bad(op, "padding ", Text(*a), " is too large");
        out.push_back(d);
      }
      US_RETURN_IF_ERROR(CheckShape(op, out));
      return out;
    case Op::kShrink:
      if (a->size() != 2 * in.size())
        return Bad(op, Text(*a), " needs two entries for each of ", in.size(), " dimensions");
      for (size_t i = 0; i < in.size(); ++i) {
        const int64_t begin = (*a)[2 * i], end = (*a)[2 * i + 1];
        if (begin < 0 || end < begin || end > in[i])
          return Bad(op, "[", begin, ",", end, ") is not inside dimension ", i, " of ", Text(in));
        out.push_back(end - begin);
      }
      return out;
    case Op::kFlip:
      US_RETURN_IF_ERROR(CheckAxes(op, *a, in.size()));
      return in;
    default:
      US_CHECK(false) << OpName(op);
      return Shape{};
  }
}

absl::Status CheckInt(Op op, DType dtype, const char* what) {
  if (!dtype.IsInt() || dtype.IsPointer())
    return Bad(op, what, " has dtype ", dtype.Name(), ", expected an integer or index");
  return absl::OkStatus();
}

// The parts of a MULTI: equal but for the axis, of which they are disjoint ranges without gaps.
absl::StatusOr<Shape> CheckMulti(DType dtype, Src src, const Arg& arg) {
  constexpr Op op = Op::kMulti;
  US_ASSIGN_OR_RETURN(const MultiArg* m, ArgOf<MultiArg>(op, arg, "a MultiArg"));
  if (src.empty() || m->devices.size() != src.size())
    return Bad(op, src.size(), " sources for ", m->devices.size(), " devices, expected one each");
  for (size_t i = 0; i < src.size(); ++i) {
    if (std::count(m->devices.begin(), m->devices.end(), m->devices[i]) != 1)
      return Bad(op, "device ", m->devices[i], " appears twice");
    if (m->devices[i].empty() || m->devices[i].find(',') != std::string::npos)
      return Bad(op, "device '", m->devices[i], "', expected a name without commas");
    US_RETURN_IF_ERROR(SameDType(op, dtype, src[i]->dtype(), "a source"));
  }
  if (dtype.IsPointer() || dtype.IsVoid()) return Bad(op, "dtype ", dtype.Name(), " is no tensor");
  Shape shape = src[0]->shape();
  const auto rank = static_cast<int64_t>(shape.size());
  if (m->axis < -1 || m->axis >= rank) return Bad(op, "axis ", m->axis, " outside rank ", rank);
  if (m->begin.size() != (m->axis < 0 ? 0 : src.size()))
    return Bad(op, m->begin.size(), " begins for ", src.size(), " sources along axis ", m->axis);
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (size_t i = 0; i < src.size(); ++i) {
    Shape s = src[i]->shape();
    if (s.size() == shape.size() && m->axis >= 0) {
      if (s[m->axis] > 0) ranges.emplace_back(m->begin[i], s[m->axis]);
      s[m->axis] = shape[m->axis];
    }
    if (s != shape)
      return Bad(op, "sources have shapes ", Text(shape), " and ", Text(src[i]->shape()), ", axis ", m->axis);
  }
  if (m->axis < 0) return shape;
  std::sort(ranges.begin(), ranges.end());
  int64_t at = 0;
  for (const auto& [begin, size] : ranges) {
    if (begin != at) return Bad(op, "a source begins at ", begin, ", expected ", at);
    if (__builtin_add_overflow(at, size, &at)) return Bad(op, "the axis has more than 2^63-1 elements");
  }
  shape[m->axis] = at;
  US_RETURN_IF_ERROR(CheckShape(op, shape));
  return shape;
}

absl::Status CheckConst(DType dtype, const Arg& arg) {
  if (dtype.IsPointer() || dtype.scalar == Scalar::kVoid)
    return Bad(Op::kConst, "dtype ", dtype.Name(), " has no values");
  if (dtype.IsFloat()) {
    US_ASSIGN_OR_RETURN(const double* v, ArgOf<double>(Op::kConst, arg, "a double for a float dtype"));
    if (!ArgEquals(Arg(std::get<double>(Canonical(dtype.Element(), *v))), arg)) {
      return Bad(Op::kConst, *v, " is not a value of ", dtype.Name());
    }
    return absl::OkStatus();
  }
  US_ASSIGN_OR_RETURN(const int64_t* v,
                      ArgOf<int64_t>(Op::kConst, arg, "an int64 for an integer or bool dtype"));
  if (std::get<int64_t>(Canonical(dtype.Element(), *v)) != *v)
    return Bad(Op::kConst, *v, " is not a value of ", dtype.Name());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Shape> CheckNode(Op op, DType dtype, absl::Span<const UOpRef> src, const Arg& arg) {
  if (static_cast<int>(op) >= kNumOps)
    return absl::InvalidArgumentError(absl::StrCat("unknown op ", static_cast<int>(op)));
  if (dtype.lanes == 0) return Bad(op, "dtype has no lanes");
  const int arity = OpArity(op);
  if (arity >= 0 && src.size() != static_cast<size_t>(arity)) {
    return Bad(op, "has ", src.size(), " sources, expected ", arity);
  }
  const auto at_least = [&](size_t n) {
    return src.size() >= n ? absl::OkStatus()
                           : absl::Status(Bad(op, "has ", src.size(), " sources, expected at least ", n));
  };
  if (IsAlu(op)) return CheckAlu(op, dtype, src, arg);
  if (IsMovement(op)) return CheckMovement(op, dtype, src, arg);
  const bool is_void = dtype == dtypes::kVoid;
  switch (op) {
    case Op::kConst:
      US_RETURN_IF_ERROR(CheckConst(dtype, arg));
      return Shape{};
    case Op::kBuffer: {
      US_ASSIGN_OR_RETURN(const BufferArg* b, ArgOf<BufferArg>(op, arg, "a BufferArg"));
      if (b->size < 0) return Bad(op, "negative size ", b->size);
      if (dtype.IsPointer() || is_void) return Bad(op, "dtype ", dtype.Name(), " is no element type");
      return Shape{b->size};
    }
    case Op::kParam: {
      if (is_void) return Bad(op, "dtype void");
      if (const Ints* v = std::get_if<Ints>(&arg)) {
        if (v->empty() || (*v)[0] < 0)
          return Bad(op, "argument ", Text(*v), " must be {position >= 0, dims...}");
        if (dtype.IsPointer()) return Bad(op, "a pointer has no shape");
        Shape shape(v->begin() + 1, v->end());
        US_RETURN_IF_ERROR(CheckShape(op, shape));
        return shape;
      }
      US_ASSIGN_OR_RETURN(const int64_t* position,
                          ArgOf<int64_t>(op, arg, "a position, or {position, dims...}"));
      if (*position < 0) return Bad(op, "negative position ", *position);
      if (!dtype.IsPointer())
        return Bad(op, "dtype ", dtype.Name(), ", expected a pointer (or a shape in the argument)");
      return Shape{};
    }
    case Op::kDefineLocal:
    case Op::kDefineReg: {
      US_ASSIGN_OR_RETURN(const Ints* v, ArgOf<Ints>(op, arg, "{id, size}"));
      if (v->size() != 2 || (*v)[1] < 0) return Bad(op, "argument ", Text(*v), " must be {id, size >= 0}");
      const AddrSpace space = op == Op::kDefineLocal ? AddrSpace::kLocal : AddrSpace::kReg;
      if (dtype.space != space || dtype.scalar == Scalar::kVoid) {
        return Bad(op, "dtype ", dtype.Name(), ", expected elem*", op == Op::kDefineLocal ? "local" : "reg");
      }
      return Shape{};
    }
    case Op::kVar: {
      US_ASSIGN_OR_RETURN(const VarArg* v, ArgOf<VarArg>(op, arg, "a VarArg"));
      if (v->name.empty()) return Bad(op, "empty name");
      if (v->min > v->max) return Bad(op, v->name, " has empty range [", v->min, ",", v->max, "]");
      US_RETURN_IF_ERROR(CheckInt(op, dtype, "the result"));
      if (dtype.lanes != 1) return Bad(op, "has lanes");
      for (const int64_t limit : {v->min, v->max}) {
        if (Canonical(dtype, limit) != ConstValue(limit))
          return Bad(op, v->name, ": limit ", limit, " is no ", dtype.Name());
      }
      return Shape{};
    }
    case Op::kRange:
      US_RETURN_IF_ERROR(ArgOf<RangeArg>(op, arg, "a RangeArg").status());
      US_RETURN_IF_ERROR(CheckInt(op, dtype, "the result"));
      US_RETURN_IF_ERROR(SameDType(op, dtype, src[0]->dtype(), "the end"));
      return Shape{};
    case Op::kSpecial: {
      US_ASSIGN_OR_RETURN(const std::string* s, ArgOf<std::string>(op, arg, "a name"));
      if (s->size() != 2 || ((*s)[0] != 'g' && (*s)[0] != 'l') || (*s)[1] < '0' || (*s)[1] > '2') {
        return Bad(op, "name '", *s, "', expected g0..g2 or l0..l2");
      }
      US_RETURN_IF_ERROR(CheckInt(op, dtype, "the result"));
      US_RETURN_IF_ERROR(SameDType(op, dtype, src[0]->dtype(), "the end"));
      return Shape{};
    }
    case Op::kIota: {
      US_ASSIGN_OR_RETURN(const int64_t* n, ArgOf<int64_t>(op, arg, "a number of elements"));
      US_RETURN_IF_ERROR(CheckInt(op, dtype, "the result"));
      if (dtype.scalar == Scalar::kIndex || dtype.lanes != 1)
        return Bad(op, "dtype ", dtype.Name(), " is no tensor");
      if (*n < 0) return Bad(op, "negative size ", *n);
      if (*n > 0 && Canonical(dtype, *n - 1) != ConstValue(*n - 1))
        return Bad(op, *n - 1, " is not a value of ", dtype.Name());
      return Shape{*n};
    }
    case Op::kReduceAxis: {
      US_ASSIGN_OR_RETURN(const ReduceArg* r, ArgOf<ReduceArg>(op, arg, "a ReduceArg"));
      if (r->op != Op::kAdd && r->op != Op::kMul && r->op != Op::kMax && r->op != Op::kMin) {
        return Bad(op, "reduces with ", OpName(r->op), ", expected ADD MUL MAX MIN");
      }
      US_RETURN_IF_ERROR(SameDType(op, src[0]->dtype(), dtype, "the result"));
      if (dtype.IsPointer() || is_void) return Bad(op, "dtype ", dtype.Name(), " is no value");
      if (dtype.IsBool() && (r->op == Op::kAdd || r->op == Op::kMul))
        return Bad(op, OpName(r->op), " is not defined on bool");
      Shape shape = src[0]->shape();
      US_RETURN_IF_ERROR(CheckAxes(op, r->axes, shape.size()));
      for (const int64_t axis : r->axes) shape[axis] = 1;
      return shape;
    }
    case Op::kWithGradient: {
      US_ASSIGN_OR_RETURN(const std::string* rule, ArgOf<std::string>(op, arg, "the name of a rule"));
      if (rule->empty()) return Bad(op, "the rule has no name");
      US_RETURN_IF_ERROR(at_least(2));
      US_RETURN_IF_ERROR(SameDType(op, src[0]->dtype(), dtype, "the result"));
      return src[0]->shape();
    }
    case Op::kContiguous:
    case Op::kContiguousBackward:
    case Op::kDetach:
      US_RETURN_IF_ERROR(NoArg(op, arg));
      US_RETURN_IF_ERROR(SameDType(op, src[0]->dtype(), dtype, "the result"));
      return src[0]->shape();
    case Op::kCopy:
      US_RETURN_IF_ERROR(ArgOf<std::string>(op, arg, "a device name").status());
      US_RETURN_IF_ERROR(SameDType(op, src[0]->dtype(), dtype, "the result"));
      return src[0]->shape();
    case Op::kMulti:
      return CheckMulti(dtype, src, arg);
    case Op::kAssign:
      US_RETURN_IF_ERROR(NoArg(op, arg));
      US_RETURN_IF_ERROR(SameDType(op, src[0]->dtype(), dtype, "the result"));
      US_RETURN_IF_ERROR(SameDType(op, src[0]->dtype(), src[1]->dtype(), "the value"));
      if (src[0]->shape() != src[1]->shape()) {
        return Bad(op, "value of shape ", Text(src[1]->shape()), " into ", Text(src[0]->shape()));
      }
      return src[0]->shape();
    case Op::kCall: {
      US_RETURN_IF_ERROR(at_least(1));
      US_ASSIGN_OR_RETURN(const CallArg* call, ArgOf<CallArg>(op, arg, "a CallArg"));
      if (!is_void) return Bad(op, "dtype ", dtype.Name(), ", expected void");
      if (src[0]->op() != Op::kSink) return Bad(op, "body is ", OpName(src[0]->op()), ", expected SINK");
      const auto args = static_cast<int64_t>(src.size()) - 1;
      for (size_t i = 1; i < src.size(); ++i) {
        const DType t = src[i]->dtype();
        if (t.IsPointer() || t.IsVoid()) return Bad(op, "argument ", i - 1, " has dtype ", t.Name());
      }
      for (const int64_t p : call->outputs) {
        if (p < 0 || p >= args) return Bad(op, "output position ", p, " of ", args, " arguments");
      }
      for (const UOpRef& store : src[0]->src()) {
        if (store->op() != Op::kStore || store->src(0)->op() != Op::kParam ||
            !std::holds_alternative<Ints>(store->src(0)->arg())) {
          return Bad(op, "body of ", OpName(store->op()), ", expected STORE(PARAM with a shape, value)");
        }
        const int64_t p = store->src(0)->arg_as<Ints>()[0];
        if (p >= args) return Bad(op, "the body stores to position ", p, " of ", args, " arguments");
        const UOpRef& to = src[static_cast<size_t>(p) + 1];
        US_RETURN_IF_ERROR(SameDType(op, store->src(0)->dtype(), to->dtype(), "a stored argument"));
        if (store->src(0)->shape() != to->shape()) {
          return Bad(op, "argument ", p, " of shape ", Text(to->shape()), " is stored as ",
                     Text(store->src(0)->shape()));
        }
      }
      return Shape{};
    }
    case Op::kSlice: {
      US_ASSIGN_OR_RETURN(const Ints* v, ArgOf<Ints>(op, arg, "{axis, most}"));
      Shape shape = src[0]->shape();
      if (v->size() != 2 || (*v)[0] < 0 || (*v)[0] >= static_cast<int64_t>(shape.size())) {
        return Bad(op, "argument ", Text(*v), " must be {axis, most} for rank ", shape.size());
      }
      US_RETURN_IF_ERROR(SameDType(op, src[0]->dtype(), dtype, "the result"));
      if (dtype.IsPointer() || is_void) return Bad(op, "dtype ", dtype.Name(), " is no tensor");
      for (int i : {1, 2}) {
        US_RETURN_IF_ERROR(SameDType(op, dtypes::kIndex, src[i]->dtype(), i == 1 ? "the start" : "the size"));
        if (!src[i]->shape().empty()) return Bad(op, i == 1 ? "the start" : "the size", " is no scalar");
      }
      if ((*v)[1] < 0) return Bad(op, "at most ", (*v)[1], " elements");
      if (src[2]->IsConst() && src[2]->const_int() != (*v)[1])
        return Bad(op, "a size of ", src[2]->const_int(), ", expected that of the room, ", (*v)[1]);
      for (int i : {1, 2}) {
        if (!uop::IsSizeExpr(*src[i]))
          return Bad(op, i == 1 ? "the start" : "the size", " is a ", OpName(src[i]->op()),
                     ", expected arithmetic of VARs and CONSTs");
      }
      shape[(*v)[0]] = (*v)[1];
      US_RETURN_IF_ERROR(CheckShape(op, shape));
      return shape;
    }
    case Op::kBind: {
      US_RETURN_IF_ERROR(NoArg(op, arg));
      if (src[0]->op() != Op::kVar || !src[1]->IsConst())
        return Bad(op, OpName(src[0]->op()), " to ", OpName(src[1]->op()), ", expected VAR to CONST");
      US_RETURN_IF_ERROR(SameDType(op, dtype, src[0]->dtype(), "the variable"));
      US_RETURN_IF_ERROR(SameDType(op, dtype, src[1]->dtype(), "the value"));
      const auto& var = src[0]->arg_as<VarArg>();
      const int64_t value = src[1]->const_int();
      if (value < var.min || value > var.max)
        return Bad(op, var.name, " to ", value, ", expected [", var.min, ",", var.max, "]");
      return Shape{};
    }
    case Op::kIndex: {
      US_RETURN_IF_ERROR(NoArg(op, arg));
      US_RETURN_IF_ERROR(at_least(2));
      if (src.size() > 3) return Bad(op, "has ", src.size(), " sources, expected 2 or 3");
      const DType buf = src[0]->dtype();
      if (!buf.IsPointer()) return Bad(op, "buffer has dtype ", buf.Name(), ", expected a pointer");
      if (buf.scalar != dtype.scalar || buf.space != dtype.space) {
        return Bad(op, "the result has dtype ", dtype.Name(), ", expected that of the buffer, ", buf.Name());
      }
      US_RETURN_IF_ERROR(CheckInt(op, src[1]->dtype(), "the index"));
      if (src.size() == 3 && !src[2]->dtype().IsBool())
        return Bad(op, "validity has dtype ", src[2]->dtype().Name());
      return Shape{};
    }
    case Op::kLoad:
      US_RETURN_IF_ERROR(NoArg(op, arg));
      US_RETURN_IF_ERROR(at_least(1));
      if (!src[0]->dtype().IsPointer())
        return Bad(op, "from dtype ", src[0]->dtype().Name(), ", expected a pointer");
      if (dtype.IsPointer() || dtype.scalar != src[0]->dtype().scalar) {
        return Bad(op, "gives ", dtype.Name(), " from ", src[0]->dtype().Name());
      }
      return Shape{};
    case Op::kStore: {
      US_RETURN_IF_ERROR(NoArg(op, arg));
      US_RETURN_IF_ERROR(at_least(2));
      if (!is_void) return Bad(op, "dtype ", dtype.Name(), ", expected void");
      const DType to = src[0]->dtype(), value = src[1]->dtype();
      if (value.IsPointer() || value.scalar != to.scalar)
        return Bad(op, "value of dtype ", value.Name(), " into ", to.Name());
      // An array says how many elements it has.
      if (src[0]->op() == Op::kIndex) {
        const UOp* array = src[0]->src(0).get();
        while (array->op() == Op::kAfter) array = array->src(0).get();
        if (array->op() == Op::kDefineReg || array->op() == Op::kDefineLocal) {
          const int64_t size = array->arg_as<Ints>()[1];
          const int64_t at = src[0]->src(1)->IsConst() ? src[0]->src(1)->const_int() : 0;
          if (at < 0 || at > size - value.lanes) {
            return Bad(op, "value of dtype ", value.Name(), " at element ", at, " of ", OpName(array->op()),
                       " ", array->dtype().Name(), " with ", size, " elements");
          }
        }
      }
      if (!to.IsPointer() && Numel(src[0]->shape()) != Numel(src[1]->shape())) {
        return Bad(op, "value of shape ", Text(src[1]->shape()), " into ", Text(src[0]->shape()));
      }
      return Shape{};
    }
    case Op::kReduce: {
      US_RETURN_IF_ERROR(at_least(1));
      US_ASSIGN_OR_RETURN(const Op* r, ArgOf<Op>(op, arg, "an op"));
      if (*r != Op::kAdd && *r != Op::kMul && *r != Op::kMax && *r != Op::kMin) {
        return Bad(op, "reduces with ", OpName(*r), ", expected ADD MUL MAX MIN");
      }
      if (src[0]->dtype().scalar != dtype.scalar || dtype.IsPointer() || is_void) {
        return Bad(op, "value of dtype ", src[0]->dtype().Name(), " gives ", dtype.Name());
      }
      if (dtype.IsBool() && (*r == Op::kAdd || *r == Op::kMul))
        return Bad(op, OpName(*r), " is not defined on bool");
      return src[0]->shape();
    }
    case Op::kAfter:
      US_RETURN_IF_ERROR(NoArg(op, arg));
      US_RETURN_IF_ERROR(at_least(1));
      US_RETURN_IF_ERROR(SameDType(op, src[0]->dtype(), dtype, "the result"));
      return src[0]->shape();
    case Op::kIf:
      US_RETURN_IF_ERROR(at_least(1));
      if (!src[0]->dtype().IsBool()) return Bad(op, "condition has dtype ", src[0]->dtype().Name());
      [[fallthrough]];
    case Op::kBarrier:
    case Op::kEnd:
      US_RETURN_IF_ERROR(NoArg(op, arg));
      if (!is_void) return Bad(op, "dtype ", dtype.Name(), ", expected void");
      return Shape{};
    case Op::kEndIf:
      US_RETURN_IF_ERROR(NoArg(op, arg));
      US_RETURN_IF_ERROR(at_least(1));
      if (!is_void) return Bad(op, "dtype ", dtype.Name(), ", expected void");
      if (src[0]->op() != Op::kIf) return Bad(op, "closes ", OpName(src[0]->op()), ", expected IF");
      return Shape{};
    case Op::kVectorize:
      US_RETURN_IF_ERROR(NoArg(op, arg));
      if (dtype.lanes != src.size() || dtype.IsPointer())
        return Bad(op, src.size(), " sources give ", dtype.Name());
      for (const UOpRef& s : src) US_RETURN_IF_ERROR(SameDType(op, dtype.Element(), s->dtype(), "source"));
      return Shape{};
    case Op::kGep: {
      US_ASSIGN_OR_RETURN(const int64_t* lane, ArgOf<int64_t>(op, arg, "a lane"));
      if (*lane < 0 || *lane >= src[0]->dtype().lanes)
        return Bad(op, "lane ", *lane, " of ", src[0]->dtype().Name());
      US_RETURN_IF_ERROR(SameDType(op, src[0]->dtype().Element(), dtype, "the result"));
      return Shape{};
    }
    case Op::kWmma:
      US_RETURN_IF_ERROR(ArgOf<std::string>(op, arg, "the name of a tensor core").status());
      US_RETURN_IF_ERROR(SameDType(op, dtype, src[2]->dtype(), "the accumulator"));
      for (const UOpRef& s : src) {
        if (s->dtype().IsPointer() || s->dtype().IsVoid())
          return Bad(op, "source has dtype ", s->dtype().Name(), ", expected a fragment");
      }
      return Shape{};
    case Op::kSink:
      if (!std::holds_alternative<std::monostate>(arg) && !std::holds_alternative<KernelArg>(arg)) {
        return Bad(op, "the argument must be a KernelArg or none");
      }
      if (!is_void) return Bad(op, "dtype ", dtype.Name(), ", expected void");
      return Shape{};
    default:
      US_CHECK(false) << "no check for " << OpName(op);
      return Shape{};
  }
}

}  // namespace understudy
