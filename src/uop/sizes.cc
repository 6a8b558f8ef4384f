// SPDX-License-Identifier: Apache-2.0
#include "src/uop/sizes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/status.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy::uop {
namespace {

using Ints = std::vector<int64_t>;
using Src = absl::Span<const UOpRef>;
using Info = std::shared_ptr<const SizeInfo>;

// Sums and products of limits stay inside these.
constexpr int64_t kFar = int64_t{1} << 61;
int64_t Clamp(__int128 v) { return static_cast<int64_t>(std::clamp<__int128>(v, -kFar, kFar)); }

std::string Text(const Shape& v) { return absl::StrCat("{", absl::StrJoin(v, ","), "}"); }

Info Error(absl::Status status) { return std::make_shared<const SizeInfo>(SizeInfo{std::move(status), {}}); }
template <class... A>
Info Cannot(Op op, const A&... what) {
  return Error(absl::UnimplementedError(absl::StrCat(OpName(op), ": ", what...)));
}

Info Of(std::vector<UOpRef> sizes) {
  if (std::all_of(sizes.begin(), sizes.end(), [](const UOpRef& s) { return s == nullptr; })) return nullptr;
  return std::make_shared<const SizeInfo>(SizeInfo{absl::OkStatus(), std::move(sizes)});
}

// What an axis of which there are at most `most` elements is called in messages.
std::string AxisText(size_t axis, const UOpRef& size, int64_t most) {
  return absl::StrCat("axis ", axis, " of variable size ", SizeText(size), " (at most ", most, ")");
}

struct Term {
  UOpRef atom;
  int64_t factor;
};
struct LinearSize {
  std::vector<Term> terms;
  int64_t constant = 0;
};

void Accumulate(LinearSize& l, const UOpRef& a, int64_t factor) {
  if (a->op() == Op::kConst) {
    l.constant += a->const_int() * factor;
  } else if (a->op() == Op::kAdd) {
    Accumulate(l, a->src(0), factor);
    Accumulate(l, a->src(1), factor);
  } else if (a->op() == Op::kMul && a->src(1)->IsConst()) {
    Accumulate(l, a->src(0), factor * a->src(1)->const_int());
  } else {
    const auto it = std::find_if(l.terms.begin(), l.terms.end(), [&](const Term& t) { return t.atom == a; });
    if (it == l.terms.end())
      l.terms.push_back({a, factor});
    else
      it->factor += factor;
  }
}

const std::string& NameOf(const UOp& atom) {
  static const std::string kNone;
  if (atom.op() == Op::kBind) return NameOf(*atom.src(0));
  return atom.op() == Op::kVar ? atom.arg_as<VarArg>().name : kNone;
}

UOpRef Compose(LinearSize l) {
  std::erase_if(l.terms, [](const Term& t) { return t.factor == 0; });
  // By name: a variable and its binding stand at the same place.
  std::sort(l.terms.begin(), l.terms.end(), [](const Term& a, const Term& b) {
    const std::string &x = NameOf(*a.atom), &y = NameOf(*b.atom);
    return x != y ? x < y : a.atom != b.atom && StructuralLess(a.atom, b.atom);
  });
  UOpRef out;
  for (const Term& t : l.terms) {
    const UOpRef term = t.factor == 1 ? t.atom : Mul(t.atom, IndexConst(t.factor));
    out = out == nullptr ? term : Add(out, term);
  }
  if (out == nullptr) return IndexConst(l.constant);
  return l.constant == 0 ? out : Add(out, IndexConst(l.constant));
}

// size * inner / outer where that is exact for all values; else null.
UOpRef Rescaled(const UOpRef& size, int64_t inner, int64_t outer) {
  LinearSize l;
  Accumulate(l, size, inner);
  for (Term& t : l.terms) {
    if (t.factor % outer != 0) return nullptr;
    t.factor /= outer;
  }
  if (l.constant % outer != 0) return nullptr;
  l.constant /= outer;
  return Compose(std::move(l));
}

// Axes are matched in the smallest groups of equal size; the groups of `out` come back by `visit(i0, i, o0,
// o)`.
template <class Visit>
void ForGroups(const Shape& in, const Shape& out, Visit visit) {
  size_t i = 0, o = 0;
  while (i < in.size() || o < out.size()) {
    const size_t i0 = i, o0 = o;
    int64_t ni = i < in.size() ? in[i++] : 1, no = o < out.size() ? out[o++] : 1;
    while (ni != no && (ni < no ? i < in.size() : o < out.size())) {
      if (ni < no)
        ni *= in[i++];
      else
        no *= out[o++];
    }
    if (ni != no) return;  // no elements: any match is one
    visit(i0, i, o0, o);
  }
}

// A variable axis may be merged with the axes after it, whose elements follow each other, and split where its
// length divides for all values.
Info Reshaped(const UOp& x, const Shape& out) {
  const Shape& in = x.shape();
  const std::vector<UOpRef>& from = x.sizes();
  std::vector<UOpRef> to(out.size());
  Info error;
  ForGroups(in, out, [&](size_t i0, size_t i, size_t o0, size_t o) {
    size_t at = i;
    for (size_t k = i0; k < i; ++k) {
      if (from[k] == nullptr || error != nullptr) continue;
      if (at != i) {
        error = Cannot(Op::kReshape, "from ", Text(in), " to ", Text(out), " merges ",
                       AxisText(k, from[k], in[k]), " with another variable axis");
      }
      at = k;
    }
    if (at == i || error != nullptr) return;
    int64_t before = 1, inner = 1, outer = 1;
    for (size_t k = i0; k < at; ++k) before *= in[k];
    for (size_t k = at + 1; k < i; ++k) inner *= in[k];
    size_t first = o0;
    while (first < o && out[first] == 1) ++first;
    if (first == o) first = o0;
    const UOpRef size = from[at];
    if (first == o) {
      error =
          Cannot(Op::kReshape, "from ", Text(in), " to ", Text(out), " drops ", AxisText(at, size, in[at]));
      return;
    }
    for (size_t k = first + 1; k < o; ++k) outer *= out[k];
    if (before != 1) {
      error =
          Cannot(Op::kReshape, "from ", Text(in), " to ", Text(out), " merges ", AxisText(at, size, in[at]),
                 " into axes before it, between whose elements there is unused room");
      return;
    }
    to[first] = Rescaled(size, inner, outer);
    if (to[first] == nullptr) {
      error = Cannot(Op::kReshape, "from ", Text(in), " to ", Text(out), ": ", SizeText(size), " * ", inner,
                     " does not divide by ", outer, " for all values");
    }
  });
  return error != nullptr ? error : Of(std::move(to));
}

uint32_t ReshapedBroadcast(const UOp& x, const Shape& out) {
  const uint32_t mask = x.broadcast_axes();
  if (mask == 0) return 0;
  uint32_t to = 0;
  ForGroups(x.shape(), out, [&](size_t i0, size_t i, size_t o0, size_t o) {
    bool all = true;
    for (size_t k = i0; k < i; ++k) all &= x.shape()[k] == 1 || (k < 32 && (mask >> k & 1) != 0);
    for (size_t k = o0; all && k < o; ++k) {
      if (out[k] != 1 && k < 32) to |= 1u << k;
    }
  });
  return to;
}

bool IsBroadcast(const UOp& x, size_t axis) {
  if (axis < 32 && (x.broadcast_axes() >> axis & 1) != 0) return true;
  return x.shape()[axis] == 1 && (x.sizes().empty() || x.sizes()[axis] == nullptr);
}

// Operands of one shape agree about the length of every axis.
Info Elementwise(Op op, Src src, const Shape& shape) {
  const UOp* first = nullptr;
  for (const UOpRef& s : src) {
    if (!s->sizes().empty()) {
      first = s.get();
      break;
    }
  }
  std::vector<UOpRef> out(shape.size());
  bool shared = true;  // the first one's sizes are the result's
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const UOpRef* size = nullptr;
    for (const UOpRef& s : src) {
      if (!s->sizes().empty() && s->sizes()[axis] != nullptr) {
        size = &s->sizes()[axis];
        break;
      }
    }
    if (size == nullptr) continue;
    for (const UOpRef& s : src) {
      const UOpRef other = s->sizes().empty() ? UOpRef() : s->sizes()[axis];
      if (other == *size || (other == nullptr && IsBroadcast(*s, axis))) continue;
      return Error(absl::InvalidArgumentError(
          absl::StrCat(OpName(op), ": ", AxisText(axis, *size, shape[axis]), " meets one of size ",
                       other != nullptr ? SizeText(other) : absl::StrCat(shape[axis]),
                       ", expected equal sizes (or one that was expanded from 1)")));
    }
    shared &= first->sizes()[axis] == *size;
    out[axis] = *size;
  }
  return shared ? first->size_info() : Of(std::move(out));
}

Info SizesOf(Op op, Src src, const Arg& arg, const Shape& shape) {
  for (const UOpRef& s : src) {
    if (s->size_info() != nullptr && !s->size_info()->error.ok()) return s->size_info();
  }
  const UOp& x = *src[0];
  const bool symbolic = x.size_info() != nullptr;
  switch (op) {
    case Op::kSlice: {
      const int64_t axis = std::get<Ints>(arg)[0];
      std::vector<UOpRef> out = symbolic ? x.sizes() : std::vector<UOpRef>(shape.size());
      out[axis] = src[2]->IsConst() ? UOpRef() : src[2];
      return Of(std::move(out));
    }
    case Op::kAssign:
      // A place without a length of its own has room for any.
      if (symbolic || src[1]->size_info() == nullptr) {
        if (symbolic) return Elementwise(op, src, shape);
        return nullptr;
      }
      return src[1]->size_info();
    default:
      break;
  }
  if (IsAlu(op)) {
    const bool any = std::any_of(src.begin(), src.end(), [](const UOpRef& s) { return !s->sizes().empty(); });
    return any ? Elementwise(op, src, shape) : nullptr;
  }
  if (!symbolic) return nullptr;
  std::vector<UOpRef> out(shape.size());
  switch (op) {
    case Op::kReshape:
      return Reshaped(x, shape);
    case Op::kExpand:
      for (size_t i = 0; i < shape.size(); ++i) {
        if (x.sizes()[i] != nullptr && shape[i] != x.shape()[i])
          return Cannot(op, "of ", AxisText(i, x.sizes()[i], x.shape()[i]), " to ", shape[i]);
      }
      return x.size_info();
    case Op::kPermute: {
      const auto& perm = std::get<Ints>(arg);
      for (size_t i = 0; i < perm.size(); ++i) out[i] = x.sizes()[perm[i]];
      return Of(std::move(out));
    }
    case Op::kPad:
    case Op::kShrink: {
      const auto& a = std::get<Ints>(arg);
      for (size_t i = 0; i < shape.size(); ++i) {
        const bool whole = op == Op::kPad ? a[2 * i] == 0 && a[2 * i + 1] == 0
                                          : a[2 * i] == 0 && a[2 * i + 1] == x.shape()[i];
        if (!whole && x.sizes()[i] != nullptr) {
          return Cannot(op, "{", a[2 * i], ",", a[2 * i + 1], "} of ",
                        AxisText(i, x.sizes()[i], x.shape()[i]), ", expected a fixed size (Narrow cuts one)");
        }
      }
      return x.size_info();
    }
    case Op::kFlip:
      for (const int64_t a : std::get<Ints>(arg)) {
        if (x.sizes()[a] != nullptr)
          return Cannot(op, "of ", AxisText(static_cast<size_t>(a), x.sizes()[a], x.shape()[a]));
      }
      return x.size_info();
    case Op::kReduceAxis:
      out = x.sizes();
      for (const int64_t a : std::get<ReduceArg>(arg).axes) out[a] = nullptr;
      return Of(std::move(out));
    case Op::kContiguous:
    case Op::kContiguousBackward:
    case Op::kDetach:
    case Op::kWithGradient:
    case Op::kCopy:
    case Op::kAfter:
      return x.size_info();
    default:
      return nullptr;
  }
}

uint32_t BroadcastOf(Op op, Src src, const Arg& arg, const Shape& shape) {
  if (IsAlu(op)) {
    uint32_t mask = ~0u;
    for (const UOpRef& s : src) mask &= s->broadcast_axes();
    return mask;
  }
  const UOp& x = *src[0];
  uint32_t mask = x.broadcast_axes();
  const size_t rank = std::min<size_t>(shape.size(), 32);
  switch (op) {
    case Op::kExpand:
      for (size_t i = 0; i < rank; ++i) {
        if (shape[i] != x.shape()[i]) mask |= 1u << i;
      }
      return mask;
    case Op::kReshape:
      return ReshapedBroadcast(x, shape);
    case Op::kPermute: {
      const auto& perm = std::get<Ints>(arg);
      uint32_t out = 0;
      for (size_t i = 0; i < rank && mask != 0; ++i) {
        if (perm[i] < 32 && (mask >> perm[i] & 1) != 0) out |= 1u << i;
      }
      return out;
    }
    case Op::kPad: {
      const auto& a = std::get<Ints>(arg);
      for (size_t i = 0; i < rank; ++i) {
        if (a[2 * i] != 0 || a[2 * i + 1] != 0) mask &= ~(1u << i);
      }
      return mask;
    }
    case Op::kReduceAxis:
      for (const int64_t a : std::get<ReduceArg>(arg).axes) {
        if (a < 32) mask &= ~(1u << a);
      }
      return mask;
    case Op::kSlice: {
      const int64_t axis = std::get<Ints>(arg)[0];
      return axis < 32 ? mask & ~(1u << axis) : mask;
    }
    case Op::kShrink:
    case Op::kFlip:
    case Op::kContiguous:
    case Op::kContiguousBackward:
    case Op::kDetach:
    case Op::kWithGradient:
    case Op::kCopy:
      return mask;
    default:
      return 0;
  }
}

}  // namespace

SizeFacts FactsOfSizes(Op op, Src src, const Arg& arg, const Shape& shape) {
  if (src.empty() || shape.empty()) {
    // A reduction to a scalar has no axes, but may be made from what cannot be.
    for (const UOpRef& s : src) {
      if (s->size_info() != nullptr && !s->size_info()->error.ok()) return {s->size_info(), 0};
    }
    if (op == Op::kReshape && src[0]->size_info() != nullptr) return {SizesOf(op, src, arg, shape), 0};
    return {};
  }
  SizeFacts facts;
  bool any = op == Op::kSlice;
  for (const UOpRef& s : src) any |= s->size_info() != nullptr;
  if (any) facts.info = SizesOf(op, src, arg, shape);
  bool broadcast = op == Op::kExpand;
  for (const UOpRef& s : src) broadcast |= s->broadcast_axes() != 0;
  if (broadcast) facts.broadcast = BroadcastOf(op, src, arg, shape);
  return facts;
}

UOpRef SizeSum(const UOpRef& a, const UOpRef& b) {
  LinearSize l;
  Accumulate(l, a, 1);
  Accumulate(l, b, 1);
  return Compose(std::move(l));
}

UOpRef SizeScale(const UOpRef& a, int64_t factor) {
  LinearSize l;
  Accumulate(l, a, factor);
  return Compose(std::move(l));
}

bool IsSizeExpr(const UOp& n) {
  if (n.op() == Op::kConst || n.op() == Op::kVar || n.op() == Op::kBind)
    return n.dtype().IsInt() && n.dtype().lanes == 1;
  if (!IsAlu(n.op()) || !(n.dtype().IsInt() || n.dtype().IsBool()) || n.dtype().lanes != 1) return false;
  return std::all_of(n.src().begin(), n.src().end(), [](const UOpRef& s) { return IsSizeExpr(*s); });
}

SizeLimits LimitsOf(const UOpRef& size) {
  switch (size->op()) {
    case Op::kConst:
      return {size->const_int(), size->const_int()};
    case Op::kBind:
      return LimitsOf(size->src(0));
    case Op::kVar:
      return {size->arg_as<VarArg>().min, size->arg_as<VarArg>().max};
    case Op::kMin: {
      const SizeLimits a = LimitsOf(size->src(0)), b = LimitsOf(size->src(1));
      return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    }
    case Op::kMax: {
      const SizeLimits a = LimitsOf(size->src(0)), b = LimitsOf(size->src(1));
      return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    }
    case Op::kFloorDiv:
      if (size->src(1)->IsConst() && size->src(1)->const_int() > 0) {
        const SizeLimits a = LimitsOf(size->src(0));
        const int64_t c = size->src(1)->const_int();
        const auto floor = [c](int64_t v) { return v / c - (v % c != 0 && v < 0); };
        return {floor(a.lo), floor(a.hi)};
      }
      return {-kFar, kFar};
    case Op::kAdd:
    case Op::kMul: {
      LinearSize l;
      Accumulate(l, size, 1);
      if (l.terms.size() == 1 && l.terms[0].atom == size) return {-kFar, kFar};
      __int128 lo = l.constant, hi = l.constant;
      for (const Term& t : l.terms) {
        const SizeLimits s = LimitsOf(t.atom);
        lo += static_cast<__int128>(t.factor >= 0 ? s.lo : s.hi) * t.factor;
        hi += static_cast<__int128>(t.factor >= 0 ? s.hi : s.lo) * t.factor;
      }
      return {Clamp(lo), Clamp(hi)};
    }
    default:
      return {-kFar, kFar};
  }
}

absl::StatusOr<int64_t> SizeValue(const UOpRef& size) {
  switch (size->op()) {
    case Op::kConst:
      return size->const_int();
    case Op::kBind:
      return size->src(1)->const_int();
    case Op::kVar:
      return absl::FailedPreconditionError(
          absl::StrCat("variable ", size->arg_as<VarArg>().name, " has no value, expected one by Bind"));
    case Op::kAdd:
    case Op::kMul:
    case Op::kMin:
    case Op::kMax: {
      US_ASSIGN_OR_RETURN(const int64_t a, SizeValue(size->src(0)));
      US_ASSIGN_OR_RETURN(const int64_t b, SizeValue(size->src(1)));
      int64_t out = 0;
      bool overflow = false;
      if (size->op() == Op::kAdd) overflow = __builtin_add_overflow(a, b, &out);
      if (size->op() == Op::kMul) overflow = __builtin_mul_overflow(a, b, &out);
      if (size->op() == Op::kMin) out = std::min(a, b);
      if (size->op() == Op::kMax) out = std::max(a, b);
      if (overflow) return absl::OutOfRangeError(absl::StrCat("size ", SizeText(size), " leaves 64 bits"));
      return out;
    }
    default:
      return absl::InternalError(absl::StrCat("a size that is a ", OpName(size->op())));
  }
}

std::string SizeText(const UOpRef& size) {
  switch (size->op()) {
    case Op::kConst:
      return absl::StrCat(size->const_int());
    case Op::kBind:
    case Op::kVar:
      return NameOf(*size);
    case Op::kAdd: {
      const std::string b = SizeText(size->src(1));
      return absl::StrCat(SizeText(size->src(0)), b[0] == '-' ? "" : "+", b);
    }
    case Op::kMul:
      return absl::StrCat(SizeText(size->src(0)), "*", SizeText(size->src(1)));
    default: {
      std::vector<std::string> parts;
      for (const UOpRef& s : size->src()) parts.push_back(SizeText(s));
      return absl::StrCat(OpName(size->op()), "(", absl::StrJoin(parts, ","), ")");
    }
  }
}

UOpRef LengthOf(const UOpRef& x, size_t axis) {
  if (!x->sizes().empty() && x->sizes()[axis] != nullptr) return x->sizes()[axis];
  return IndexConst(x->shape()[axis]);
}

UOpRef Sized(const UOpRef& x, const std::vector<UOpRef>& sizes) {
  UOpRef out = x;
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    if (sizes[axis] == nullptr || (!out->sizes().empty() && out->sizes()[axis] == sizes[axis])) continue;
    out = Slice(out, static_cast<int64_t>(axis), IndexConst(0), sizes[axis], out->shape()[axis]);
  }
  return out;
}

bool IsSizing(const UOp& n) {
  if (n.op() != Op::kSlice || !n.src(1)->IsConst(0) || n.src(2)->IsConst()) return false;
  const UOp& x = *n.src(0);
  if (n.shape() != x.shape() || n.size_info() == nullptr) return false;
  // Of an axis that is variable itself, elements past its size would be zeros.
  const auto axis = static_cast<size_t>(n.arg_as<Ints>()[0]);
  return x.sizes().empty() || x.sizes()[axis] == nullptr || x.sizes()[axis] == n.src(2);
}

absl::StatusOr<Shape> TrueShape(const UOp& node) {
  if (node.size_info() != nullptr) US_RETURN_IF_ERROR(node.size_info()->error);
  Shape shape = node.shape();
  for (size_t i = 0; i < node.sizes().size(); ++i) {
    if (node.sizes()[i] == nullptr) continue;
    US_ASSIGN_OR_RETURN(shape[i], SizeValue(node.sizes()[i]));
  }
  return shape;
}

}  // namespace understudy::uop
