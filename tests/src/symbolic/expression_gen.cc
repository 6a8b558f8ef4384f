// SPDX-License-Identifier: Apache-2.0
#include "tests/src/symbolic/expression_gen.h"

#include <algorithm>
#include <limits>

#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy::symbolic {
namespace {

using namespace uop;  // NOLINT

constexpr DType kIntTypes[] = {dtypes::kIndex,  dtypes::kInt32, dtypes::kUInt8,
                               dtypes::kInt8,   dtypes::kInt64, dtypes::kUInt32,
                               dtypes::kUInt64, dtypes::kInt16, dtypes::kUInt16};
constexpr DType kFloatTypes[] = {dtypes::kFloat32,  dtypes::kFloat64,    dtypes::kFloat16,
                                 dtypes::kBFloat16, dtypes::kFloat8E4M3, dtypes::kFloat8E5M2};
constexpr double kDoubles[] = {0.0,
                               -0.0,
                               1.0,
                               -1.0,
                               0.5,
                               2.0,
                               3.0,
                               -0.3333333,
                               1e-3,
                               65504.0,
                               1e38,
                               5e-324,
                               1e-40,
                               std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()};

int64_t EdgeInt(Choices& c, DType t) {
  const WideInterval limits = TypeLimits(t);
  switch (c.Pick(8)) {
    case 0:
    case 1:
    case 2:
      return static_cast<int64_t>(c.Pick(9));
    case 3:
      return -static_cast<int64_t>(c.Pick(9));
    case 4:
      return static_cast<int64_t>(c.Pick(64));
    case 5:
      return static_cast<int64_t>(limits.lo) + c.Pick(3);
    case 6:
      return static_cast<int64_t>(limits.hi) - c.Pick(3);
    default: {
      const uint64_t shift = c.Pick(t.BitWidth());
      return static_cast<int64_t>((uint64_t{1} << shift) + c.Pick(3) - 1);
    }
  }
}

}  // namespace

std::vector<uint16_t> RandomChoices(std::mt19937_64& rng, size_t n) {
  std::vector<uint16_t> out(n);
  for (uint16_t& v : out) v = static_cast<uint16_t>(rng());
  return out;
}

DType AnyIntType(Choices& c) { return kIntTypes[c.Pick(std::size(kIntTypes))]; }

UOpRef AnyConst(Choices& c, DType type) {
  if (type.IsBool()) return BoolConst(c.Pick(2) != 0);
  if (type.IsFloat()) return Const(type, kDoubles[c.Pick(std::size(kDoubles))]);
  return Const(type, EdgeInt(c, type));
}

UOpRef AnyLeaf(Choices& c, DType type) {
  if (type.IsFloat()) {
    if (c.Pick(3) == 0) return AnyConst(c, type);
    // Floats come from small integers divided, so that leaves can be enumerated.
    const UOpRef i = Var("f" + std::to_string(c.Pick(2)), -3, 4);
    return FDiv(Cast(i, type), Const(type, c.Pick(2) ? 4.0 : 3.0));
  }
  if (type.IsBool()) {
    return c.Pick(3) == 0 ? AnyConst(c, type)
                          : Cast(Var("b" + std::to_string(c.Pick(3)), 0, 1), dtypes::kBool);
  }
  const uint32_t kind = c.Pick(5);
  if (kind == 0) return AnyConst(c, type);
  if (type == dtypes::kIndex && kind <= 2) {
    const uint32_t id = c.Pick(3);
    constexpr int64_t kEnds[] = {4, 3, 8, 1, 2, 5, 16};
    return Range(kEnds[c.Pick(std::size(kEnds))], id);
  }
  const std::string name = std::string(1, "xyz"[c.Pick(3)]);
  const WideInterval limits = TypeLimits(type);
  int64_t lo = type.IsSigned() ? -static_cast<int64_t>(c.Pick(6)) : 0, hi = 1 + c.Pick(7);
  std::string suffix;
  if (kind == 4) {
    // The whole type, or its upper or lower end: wrap-around lives there.
    switch (c.Pick(3)) {
      case 0:
        lo = static_cast<int64_t>(limits.lo), hi = static_cast<int64_t>(limits.hi);
        break;
      case 1:
        hi = static_cast<int64_t>(limits.hi), lo = static_cast<int64_t>(limits.hi - c.Pick(5));
        break;
      default:
        lo = static_cast<int64_t>(limits.lo), hi = static_cast<int64_t>(limits.lo + c.Pick(5));
        break;
    }
    // A u64 VAR's limits are bit patterns in int64: only what does not cross the sign can be written.
    if (lo > hi) lo = 0, hi = INT64_MAX;
  }
  suffix = std::to_string(lo) + "_" + std::to_string(hi);
  return Var(name + suffix, lo, hi, type);
}

UOpRef AnyExpression(Choices& c, DType type, int depth, bool floats) {
  if (depth <= 0 || c.Empty()) return AnyLeaf(c, type);
  const auto sub = [&](DType t) { return AnyExpression(c, t, depth - 1, floats); };
  if (type.IsBool()) {
    switch (c.Pick(8)) {
      case 0:
        return AnyLeaf(c, type);
      case 1:
        return And(sub(type), sub(type));
      case 2:
        return Or(sub(type), sub(type));
      case 3:
        return Not(sub(type));
      case 4: {
        constexpr Op kOps[] = {Op::kXor, Op::kCmpEq, Op::kCmpNe, Op::kCmpLt, Op::kMax, Op::kMin};
        return Alu(kOps[c.Pick(std::size(kOps))], {sub(type), sub(type)});
      }
      case 5:
        return Where(sub(type), sub(type), sub(type));
      default: {
        const DType t =
            floats && c.Pick(3) == 0 ? kFloatTypes[c.Pick(std::size(kFloatTypes))] : AnyIntType(c);
        constexpr Op kOps[] = {Op::kCmpLt, Op::kCmpLt, Op::kCmpEq, Op::kCmpNe};
        const Op op = kOps[c.Pick(std::size(kOps))];
        const UOpRef a = sub(t);
        return Alu(op, {a, c.Pick(2) ? AnyConst(c, t) : sub(t)});
      }
    }
  }
  if (type.IsFloat()) {
    switch (c.Pick(7)) {
      case 0:
        return AnyLeaf(c, type);
      case 1:
        return Neg(sub(type));
      case 2:
        return Trunc(sub(type));
      case 3:
        return Where(sub(dtypes::kBool), sub(type), sub(type));
      case 4:
        return MulAcc(sub(type), sub(type), sub(type));
      case 5: {
        const uint32_t k = c.Pick(3);
        return Cast(sub(k == 0   ? kFloatTypes[c.Pick(std::size(kFloatTypes))]
                        : k == 1 ? AnyIntType(c)
                                 : dtypes::kBool),
                    type);
      }
      default: {
        constexpr Op kOps[] = {Op::kAdd, Op::kMul, Op::kFDiv, Op::kMax, Op::kMin};
        const Op op = kOps[c.Pick(std::size(kOps))];
        const UOpRef a = sub(type);
        return Alu(op, {a, c.Pick(2) ? AnyConst(c, type) : sub(type)});
      }
    }
  }
  switch (c.Pick(10)) {
    case 0:
      return AnyLeaf(c, type);
    case 1:
      return Neg(sub(type));
    case 2: {
      const uint32_t k = c.Pick(floats ? 3 : 2);
      return Cast(sub(k == 0   ? AnyIntType(c)
                      : k == 1 ? dtypes::kBool
                               : kFloatTypes[c.Pick(std::size(kFloatTypes))]),
                  type);
    }
    case 3:
      return Where(sub(dtypes::kBool), sub(type), sub(type));
    case 4: {
      constexpr Op kOps[] = {Op::kShl, Op::kShr, Op::kAnd, Op::kOr, Op::kXor};
      const Op op = kOps[c.Pick(std::size(kOps))];
      const UOpRef a = sub(type);
      return Alu(op, {a, c.Pick(2) ? AnyConst(c, type) : sub(type)});
    }
    case 5: {
      constexpr Op kOps[] = {Op::kMax, Op::kMin};
      const Op op = kOps[c.Pick(2)];
      const UOpRef a = sub(type);
      return Alu(op, {a, c.Pick(2) ? AnyConst(c, type) : sub(type)});
    }
    case 6:
    case 7: {
      constexpr Op kOps[] = {Op::kFloorDiv, Op::kFloorMod, Op::kIDiv, Op::kIMod};
      const Op op = kOps[c.Pick(std::size(kOps))];
      const UOpRef a = sub(type);
      return Alu(op, {a, c.Pick(4) ? AnyConst(c, type) : sub(type)});
    }
    default: {
      constexpr Op kOps[] = {Op::kAdd, Op::kMul, Op::kAdd};
      const Op op = kOps[c.Pick(std::size(kOps))];
      const UOpRef a = sub(type);
      return Alu(op, {a, c.Pick(2) ? AnyConst(c, type) : sub(type)});
    }
  }
}

UOpRef AnyIndexExpression(Choices& c, int depth) {
  if (depth <= 0 || c.Empty()) {
    constexpr int64_t kEnds[] = {4, 3, 8, 2, 6};
    return c.Pick(8) == 7 ? Var("v", -2, 5) : Range(kEnds[c.Pick(std::size(kEnds))], c.Pick(3));
  }
  const auto sub = [&] { return AnyIndexExpression(c, depth - 1); };
  const auto constant = [&] { return IndexConst(1 + c.Pick(12)); };
  switch (c.Pick(9)) {
    case 0:
    case 1:
      return Add(sub(), sub());
    case 2:
      return Add(sub(), IndexConst(static_cast<int64_t>(c.Pick(12)) - 4));
    case 3:
    case 4:
      return Mul(sub(), constant());
    case 5:
      return FloorDiv(sub(), constant());
    case 6:
      return FloorMod(sub(), constant());
    case 7:
      return Alu(c.Pick(2) ? Op::kIDiv : Op::kIMod, {sub(), constant()});
    default:
      return Mul(sub(), IndexConst(-1 - static_cast<int64_t>(c.Pick(4))));
  }
}

std::vector<UOpRef> LeavesOf(const std::vector<UOpRef>& roots) {
  std::vector<UOpRef> out;
  for (const UOp* n : Toposort(roots)) {
    if (n->op() == Op::kVar || n->op() == Op::kRange) out.push_back(UOpRef(n));
  }
  return out;
}

std::vector<Bindings> Points(const std::vector<UOpRef>& leaves, size_t most, uint64_t seed) {
  struct Span {
    int64_t lo;
    uint64_t count;  // 0: 2^64
  };
  std::vector<Span> spans;
  double total = 1;
  for (const UOpRef& l : leaves) {
    int64_t lo = 0, hi = 0;
    if (l->op() == Op::kVar) {
      lo = l->arg_as<VarArg>().min, hi = l->arg_as<VarArg>().max;
    } else {
      hi = std::max<int64_t>(l->src(0)->const_int() - 1, 0);
    }
    const uint64_t count = static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo) + 1;
    spans.push_back({lo, count});
    total *= count == 0 ? 1.9e19 : static_cast<double>(count);
  }
  std::vector<Bindings> out;
  const auto add = [&](auto pick) {
    Bindings b;
    for (size_t i = 0; i < leaves.size(); ++i) {
      b.emplace(leaves[i], Canonical(leaves[i]->dtype(),
                                     static_cast<int64_t>(static_cast<uint64_t>(spans[i].lo) + pick(i))));
    }
    out.push_back(std::move(b));
  };
  if (total <= static_cast<double>(most)) {
    for (uint64_t k = 0; k < static_cast<uint64_t>(total); ++k) {
      uint64_t rest = k;
      add([&](size_t i) {
        const uint64_t v = rest % spans[i].count;
        rest /= spans[i].count;
        return v;
      });
    }
    return out;
  }
  std::mt19937_64 rng(seed);
  for (size_t k = 0; k < most; ++k) {
    add([&](size_t i) -> uint64_t {
      const uint64_t n = spans[i].count;
      const uint64_t r = rng();
      switch (r % 5) {
        case 0:
          return 0;
        case 1:
          return n - 1;
        case 2: {  // near zero
          const uint64_t zero = 0 - static_cast<uint64_t>(spans[i].lo);
          const uint64_t v = zero + rng() % 9 - 4;
          return n == 0 || v < n ? v : 0;
        }
        case 3:
          return n == 0 ? rng() : std::min<uint64_t>(n - 1, rng() % 9);
        default:
          return n == 0 ? rng() : rng() % n;
      }
    });
  }
  return out;
}

}  // namespace understudy::symbolic
