// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/scatter.h"

#include <algorithm>

#include "src/schedule/index_expr.h"
#include "src/schedule/pins.h"
#include "src/schedule/planner.h"
#include "src/schedule/sizes.h"
#include "src/uop/build.h"
#include "src/uop/eval.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

// Below these, comparing every place with every source is one small kernel.
constexpr int64_t kFewPairs = 1 << 16, kFewPlaces = 16, kFewSources = 8;

// Whether WHERE(hit, x, otherwise) reduces to what a fill with `otherwise` combines to with the x that are
// hit: it is the identity, or no x is beyond it.
bool MayFill(Op op, const UOpRef& x, const UOpRef& otherwise) {
  if (otherwise->op() != Op::kConst) return false;
  const DType t = otherwise->dtype();
  if (otherwise == uop::Const(t, uop::IdentityOf(op, t))) return true;
  if (t.IsBool() && (op == Op::kAdd || op == Op::kMax)) return otherwise->IsConst(0);
  const UOpRef position = op == Op::kMax || op == Op::kMin ? pins::Position(x) : nullptr;
  if (position == nullptr) return false;
  const index::Interval bounds = index::BoundsOf(position);
  return op == Op::kMax ? bounds.lo >= otherwise->const_int() : bounds.hi <= otherwise->const_int();
}

// What a REDUCE combines, as a choice: WHERE, or a condition by itself. Null when it is none.
UOpRef ChoiceOf(Op op, const UOpRef& source) {
  UOpRef x = source;
  std::vector<DType> types;  // conversions around the choice, outermost first
  for (; x->op() == Op::kCast; x = UOpRef(x->src(0))) types.push_back(x->dtype());
  if (x->op() == Op::kWhere) {
    if (types.empty()) return x;
    // Zero is zero in every type.
    if (op != Op::kAdd || !x->src(2)->IsConst() || !(x->src(2) == uop::ConstLike(x->src(2), 0)))
      return nullptr;
    UOpRef v = x->src(1);
    for (size_t i = types.size(); i-- > 0;) v = uop::Cast(v, types[i]);
    return uop::Where(x->src(0), v, uop::Const(source->dtype(), 0));
  }
  if (!x->dtype().IsBool()) return nullptr;
  // Counts, and whether any holds.
  if (op == Op::kAdd && !types.empty())
    return uop::Where(x, uop::Const(source->dtype(), 1), uop::Const(source->dtype(), 0));
  if (op == Op::kMax && types.empty()) return uop::Where(x, uop::BoolConst(true), uop::BoolConst(false));
  return nullptr;
}

// Whether what `place` reads lies further apart along `range` than along all the others.
bool VariesSlower(const UOpRef& place, const UOpRef& range, const std::vector<UOpRef>& others) {
  for (const UOpRef& i : uop::NodesOf(place, Op::kIndex)) {
    int64_t mine = 0, most = 0;
    for (const auto& t : index::Decompose(i->src(1)).terms) {
      if (t.atom == range) mine = std::abs(t.factor);
      if (std::find(others.begin(), others.end(), t.atom) != others.end())
        most = std::max(most, std::abs(t.factor));
    }
    if (mine > most && most > 0) return true;
  }
  return false;
}

}  // namespace

int64_t ScatterPlaces(const UOp& reduce) {
  const auto& arg = reduce.arg_as<ReduceArg>();
  const UOp* source = reduce.src(0).get();
  if (source->numel() < kFewPairs || source->numel() / std::max<int64_t>(1, reduce.numel()) < kFewSources)
    return 0;
  Place at;
  int64_t id = 0;
  for (size_t axis = 0; axis < source->shape().size(); ++axis) {
    const UOpRef range = AxisRange(*source, axis, id++, AxisKind::kLoop);
    if (range != nullptr && !range->src(0)->IsConst()) return 0;
    at.index.push_back(range == nullptr ? uop::IndexConst(0) : range);
  }
  pins::Seen w = pins::ThroughViews(source, at, false);
  while (!w.padded && w.node->op() == Op::kCast) w = pins::ThroughViews(w.node->src(0).get(), w.at, false);
  if (w.padded) return 0;
  const UOp* condition = w.node;
  if (w.node->op() == Op::kWhere) {
    if (pins::ThroughViews(w.node->src(2).get(), w.at, false).node->op() != Op::kConst) return 0;
    condition = w.node->src(0).get();
  } else if (!w.node->dtype().IsBool()) {
    return 0;
  }
  const auto reduced = [&](size_t axis) {
    return std::find(arg.axes.begin(), arg.axes.end(), static_cast<int64_t>(axis)) != arg.axes.end();
  };
  int64_t places = 1;
  std::vector<Place> senders;
  for (size_t axis = 0; axis < at.index.size(); ++axis) {
    const UOpRef& range = at.index[axis];
    if (reduced(axis) || range->op() != Op::kRange) continue;
    const auto sender = pins::PinnedTo(condition, w.at, range);
    if (!sender) continue;
    const bool varies = std::any_of(arg.axes.begin(), arg.axes.end(),
                                    [&](int64_t r) { return pins::Mentions(*sender, at.index[r]); });
    if (!varies) continue;
    places *= source->shape()[axis];
    senders.push_back(*sender);
  }
  if (places < kFewPlaces) return 0;
  for (const int64_t r : arg.axes) {
    const UOpRef& range = at.index[r];
    if (range->op() == Op::kRange && std::none_of(senders.begin(), senders.end(),
                                                  [&](const Place& s) { return pins::Mentions(s, range); }))
      return 0;
  }
  return places;
}

std::optional<ScatterStore> FindScatter(const UOpRef& value, const UOpRef& index,
                                        const std::vector<UOpRef>& ranges, int slot) {
  if (value->op() != Op::kReduce) return std::nullopt;
  const Op op = value->arg_as<Op>();
  const std::vector<UOpRef> sources(value->src().begin() + 1, value->src().end());
  const auto constant = [](const UOpRef& r) { return r->src(0)->IsConst(); };
  if (!std::all_of(sources.begin(), sources.end(), constant) ||
      !std::all_of(ranges.begin(), ranges.end(), constant))
    return std::nullopt;
  for (const UOpRef& i : uop::NodesOf(value, Op::kIndex)) {
    const int64_t from = i->src(0)->arg_as<int64_t>();
    if (from == slot || from == slot + kNewContents) return std::nullopt;
  }
  const UOpRef choice = ChoiceOf(op, value->src(0));
  if (choice == nullptr || !MayFill(op, choice->src(1), choice->src(2))) return std::nullopt;

  std::vector<UOpRef> clauses = pins::Clauses(choice->src(0)), left = ranges;
  UOpRef sent = choice->src(1), place = index, valid;
  bool pinned = false;
  for (bool again = true; again;) {
    again = false;
    for (size_t c = 0; c < clauses.size() && !again; ++c) {
      for (size_t r = 0; r < left.size() && !again; ++r) {
        const UOpRef at = pins::ValueOf(clauses[c], left[r]);
        if (at == nullptr || std::none_of(sources.begin(), sources.end(),
                                          [&](const UOpRef& s) { return pins::Mentions(at, s); }))
          continue;
        const UOpRef inside = index::Both(index::AtLeast(at, 0), index::LessThan(at, left[r]->src(0)));
        clauses.erase(clauses.begin() + static_cast<int64_t>(c));
        for (UOpRef& rest : clauses) rest = pins::Replace(rest, left[r], at, inside);
        sent = pins::Replace(sent, left[r], at, inside);
        place = pins::Replace(place, left[r], at, inside);
        if (valid != nullptr) valid = pins::Replace(valid, left[r], at, inside);
        valid = index::Both(valid, inside);
        left.erase(left.begin() + static_cast<int64_t>(r));
        pinned = again = true;
      }
    }
  }
  // Of sources that go to one place whatever they are, a loop would keep the first.
  if (!pinned ||
      !std::all_of(sources.begin(), sources.end(), [&](const UOpRef& s) { return pins::Mentions(place, s); }))
    return std::nullopt;
  for (const UOpRef& c : clauses) valid = index::Both(valid, c);
  if (valid != nullptr && valid->IsConst(1)) valid = nullptr;
  if (valid != nullptr && valid->IsConst(0)) return std::nullopt;

  ScatterStore out;
  out.fill = choice->src(2);
  out.index = place;
  out.valid = valid;
  const UOpRef old = uop::Load(uop::IndexOf(uop::Param(value->dtype(), slot), place, valid));
  out.value = uop::Binary(op, old, sent);
  // Ranges that the indices vary slower with than with the sources lie around these: memory is read in order.
  const auto around = std::stable_partition(left.begin(), left.end(),
                                            [&](const UOpRef& r) { return VariesSlower(place, r, sources); });
  out.ranges.assign(left.begin(), around);
  out.ranges.insert(out.ranges.end(), sources.begin(), sources.end());
  out.ranges.insert(out.ranges.end(), around, left.end());
  return out;
}

}  // namespace understudy
