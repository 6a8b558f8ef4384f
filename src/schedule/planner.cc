// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/planner.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/schedule/index_expr.h"
#include "src/schedule/scatter.h"
#include "src/schedule/selection.h"
#include "src/schedule/sizes.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"
#include "src/uop/sizes.h"

namespace understudy {
namespace {

// Distinct places in one kernel past which an expression is stored rather than repeated.
constexpr size_t kMaxPlaces = 16;

// What a kernel that does nothing but read and write takes for an element, in simple operations: memory is
// that much slower than arithmetic.
constexpr double kLeastWork = 64;

double OpCost(const UOp& u) {
  switch (u.op()) {
    case Op::kExp2:
    case Op::kLog2:
    case Op::kSin:
    case Op::kCos:
      return 12;
    case Op::kSqrt:
    case Op::kFDiv:
    case Op::kIDiv:
    case Op::kIMod:
    case Op::kFloorDiv:
    case Op::kFloorMod:
      return 4;
    case Op::kCast:
    case Op::kBitcast:
      return 0;
    default:
      return IsAlu(u.op()) ? 1 : 0;
  }
}

bool IsWrapper(Op op) { return op == Op::kContiguous || op == Op::kCopy; }

ConstValue IdentityOf(Op op, DType t) {
  switch (op) {
    case Op::kMul:
      return t.IsFloat() ? ConstValue(1.0) : ConstValue(int64_t{1});
    default:
      return t.IsFloat() ? ConstValue(0.0) : ConstValue(int64_t{0});
  }
}

struct Sharing {
  // Nodes whose users do not all meet again in one elementwise expression, which would want the node at one
  // place.
  absl::flat_hash_set<const UOp*> apart;
  // Others with several uses, and the end of that expression: it computes them once, however often it takes
  // them.
  absl::flat_hash_map<const UOp*, const UOp*> within;
};
Sharing SharingOf(const std::vector<const UOp*>& order) {
  struct Uses {
    const UOp* meet = nullptr;  // where the uses seen so far lead
    bool apart = false;
    int count = 0;
  };
  absl::flat_hash_map<const UOp*, Uses> uses;
  Sharing out;
  for (size_t i = order.size(); i-- > 0;) {
    const UOp* u = order[i];
    const auto it = uses.find(u);
    const bool apart = it != uses.end() && it->second.apart;
    if (apart) out.apart.insert(u);
    if (!apart && it != uses.end() && it->second.count > 1 && IsAlu(it->second.meet->op()))
      out.within.emplace(u, it->second.meet);
    const UOp* leads = it == uses.end() || apart || it->second.meet == nullptr ? u : it->second.meet;
    for (const UOpRef& s : u->src()) {
      Uses& of = uses[s.get()];
      // Other than elementwise, a user wants other places: it stands for itself.
      const UOp* to = IsAlu(u->op()) ? leads : u;
      of.apart |= of.count > 0 && of.meet != to;
      of.meet = to;
      ++of.count;
    }
  }
  return out;
}

}  // namespace

Planner::Planner(std::vector<OutputStore> stores, absl::Span<const std::string> devices,
                 const ScheduleOptions& options)
    : stores_(std::move(stores)), devices_(devices.begin(), devices.end()), options_(options) {
  for (OutputStore& s : stores_) {
    // What only views or copies something needs a node of its own to be stored elsewhere first.
    if (s.via_temporary &&
        (IsView(s.value->op()) || s.value->op() == Op::kParam || s.value->op() == Op::kConst)) {
      s.value = uop::Contiguous(s.value);
    }
    roots_.push_back(s.value);
  }
}

void Planner::Reset() {
  nodes_.clear();
  number_.clear();
  units_.clear();
  temps_.clear();
  decisions_.clear();
  next_range_ = 0;
}

// What is known of a node from its sources alone.
void Planner::Analyse() {
  const std::vector<const UOp*> order = uop::Toposort(roots_);
  const Sharing shared = SharingOf(order);
  struct Costs {
    double cost = 0, work = 0, nested_work = 0;
  };
  absl::flat_hash_map<const UOp*, Costs> within;  // of what an expression takes several times
  for (const UOp* u : order) {
    number_[u] = static_cast<int>(nodes_.size());
    Node& n = nodes_.emplace_back();
    n.op = u;
    n.cost = n.work = OpCost(*u);
    n.constant = u->op() != Op::kParam && u->op() != Op::kIota;
    n.selection = u->op() == Op::kReduceAxis && IsSelection(*u);
    if (u->op() == Op::kReduceAxis && !n.selection) n.scatter = ScatterPlaces(*u);
    n.forced = forced_.count(u) != 0;
    if (const auto it = within.find(u); it != within.end()) {
      n.cost += it->second.cost;
      n.work += it->second.work;
      n.nested_work += it->second.nested_work;
    }
    for (const UOpRef& s : u->src()) {
      const Node& from = nodes_[number_[s.get()]];
      if (!shared.within.contains(s.get())) {
        n.cost += from.passed_cost;
        n.work += from.passed_work;
        n.nested_work += from.nested_work;
      }
      n.has_reduce |= from.passes_reduce;
      n.constant &= from.constant;
      if (n.device.empty()) n.device = from.device;
    }
    // What a view repeats is shared by neighbouring elements.
    if (u->op() == Op::kExpand && u->numel() > 0)
      n.cost /= std::min(options_.tile, static_cast<double>(u->numel() / u->src(0)->numel()));
    n.cost = std::min(n.cost, 1e6);
    if (u->op() == Op::kReduceAxis && !n.selection)
      n.work = n.nested_work = (2 + n.nested_work) * static_cast<double>(u->src(0)->numel()) /
                               std::max<double>(1, static_cast<double>(u->numel()) *
                                                       static_cast<double>(std::max<int64_t>(1, n.scatter)));
    n.work = std::min(n.work, 1e12);
    if (u->op() == Op::kParam) {
      n.device = devices_[u->arg_as<std::vector<int64_t>>()[0]];
    } else if (u->op() == Op::kCopy) {
      n.device = u->arg_as<std::string>();
    }
    // Past these a value is stored anyway, so nothing is recomputed through them.
    if (u->op() == Op::kReduceAxis && !n.selection) n.has_reduce = u->src(0)->numel() != 0, n.cost = 0;
    const bool below = n.has_reduce;
    const bool grows = u->op() == Op::kPad || (u->op() == Op::kSlice && !uop::IsSizing(*u)) ||
                       (u->op() == Op::kExpand && u->numel() > u->src(0)->numel());
    if (grows) n.has_reduce = false;
    if (IsWrapper(u->op()) || n.forced) n.has_reduce = false, n.cost = 0;
    if (n.constant) n.cost = 0;
    // What is wanted in several places and holds a reduction, or is expensive, will probably be stored: then
    // its users carry neither with them.
    const bool expensive = n.cost > options_.recompute_element &&
                           n.cost * static_cast<double>(u->numel()) > options_.recompute_total;
    const bool likely_stored = shared.apart.contains(u) && (n.has_reduce || (expensive && !IsView(u->op())));
    n.passed_cost = likely_stored ? 0 : n.cost;
    n.passes_reduce = n.has_reduce && !likely_stored;
    n.passed_work = n.work;
    if (likely_stored || (grows && below) || u->op() == Op::kParam) n.passed_work = 1, n.nested_work = 0;
    if (const auto it = shared.within.find(u); it != shared.within.end()) {
      Costs& end = within[it->second];
      end.cost += n.passed_cost;
      end.work += n.passed_work;
      end.nested_work += n.nested_work;
    }
  }
}

int Planner::NewTemporary(const Node& n) {
  temps_.push_back({n.op->dtype(), n.op->numel(), n.device});
  return static_cast<int>(devices_.size() + temps_.size()) - 1;
}

// The slot that holds all of the node's elements in order, or -1.
int Planner::BaseSlot(const UOpRef& node) const {
  const UOp* u = node.get();
  // A CONTIGUOUS that is not stored is a second name for its source.
  while (u->op() == Op::kReshape || (u->op() == Op::kContiguous && nodes_[number_.at(u)].stored < 0))
    u = u->src(0).get();
  if (u->op() == Op::kParam) return static_cast<int>(u->arg_as<std::vector<int64_t>>()[0]);
  return ReadSlot(nodes_[number_.at(u)].stored);
}

// Reading what this call writes to a parameter is told apart from reading what it held before.
int Planner::ReadSlot(int stored) const {
  return stored < 0 ? stored : NameOf(stored, static_cast<int>(devices_.size()));
}

int Planner::Ask(const UOpRef& node, Request request) {
  Node& n = nodes_[number_.at(node.get())];
  Key key{request.unit, {}, request.at.valid.get()};
  for (const UOpRef& i : request.at.index) key.index.push_back(i.get());
  const auto [it, fresh] = n.known.emplace(std::move(key), static_cast<int>(n.requests.size()));
  if (fresh) {
    n.requests.push_back(std::move(request));
  } else {
    Request& r = n.requests[it->second];
    r.evaluations = std::max(r.evaluations, request.evaluations);
    r.in_reduce |= request.in_reduce;
  }
  return it->second;
}

// A unit that writes the node to `slot`; its request is computed even when the node is stored elsewhere.
void Planner::StartUnit(Node& n, int slot, bool computes) {
  Unit unit;
  unit.root = UOpRef(n.op);
  unit.slot = slot;
  unit.device = n.device;
  unit.computes = computes;
  unit.work = n.work;
  unit.scatter = n.scatter > 0 && computes;
  Request r;
  r.unit = static_cast<int>(units_.size());
  r.evaluations = static_cast<double>(n.op->numel());
  r.in_reduce = false;
  for (size_t axis = 0; axis < n.op->shape().size(); ++axis) {
    const UOpRef range = AxisRange(*n.op, axis, next_range_, AxisKind::kGlobal);
    r.at.index.push_back(range == nullptr ? uop::IndexConst(0) : range);
    if (range == nullptr) continue;
    unit.ranges.push_back(range);
    ++next_range_;
  }
  unit.store_index = Flatten(r.at.index, n.op->shape());
  units_.push_back(std::move(unit));
  Ask(UOpRef(n.op), std::move(r));
}

FusionDecision Planner::Judge(const Node& n) const {
  const UOp& u = *n.op;
  FusionDecision d;
  d.value = UOpRef(&u);
  d.places = static_cast<int>(n.requests.size());
  const auto because = [&](FusionReason reason) {
    d.reason = reason;
    return d;
  };
  const double numel = static_cast<double>(u.numel());
  bool grown = n.requests.size() > 1, in_reduce = false, padded = false;
  double seen = 0;  // evaluations that a kernel's other work does not hide
  for (const Request& r : n.requests) {
    d.evaluations += r.evaluations;
    grown |= r.evaluations > numel;
    in_reduce |= r.in_reduce;
    padded |= r.at.valid != nullptr;
    // Neighbouring outputs of one kernel share what they have in common.
    const double shared =
        r.evaluations > numel ? std::max(numel, r.evaluations / options_.tile) : r.evaluations;
    const Unit& unit = units_[r.unit];
    const double outputs = std::max<double>(1, static_cast<double>(unit.root->numel()));
    if (n.cost * shared / outputs > options_.hidden * std::max(unit.work, kLeastWork)) seen += shared;
  }
  // Wanted once an element, inside of a reduction with outputs enough for parallel work: computed there,
  // nothing is done twice.
  if (n.requests.size() == 1 && !grown && !padded &&
      static_cast<double>(units_[n.requests[0].unit].root->numel()) >= options_.nest_outputs)
    in_reduce = false;
  d.again = n.cost * std::max(0.0, seen - numel);
  d.store = std::max(numel * options_.recompute_element, options_.recompute_total);

  if (forced_.count(&u)) return because(FusionReason::kBufferLimit);
  if (n.forced) return because(FusionReason::kWhole);
  if (u.op() == Op::kCopy) return because(FusionReason::kTransfer);
  if (n.requests.empty()) return because(FusionReason::kUnused);
  if (n.constant || u.op() == Op::kParam) return because(FusionReason::kConstant);
  if (IsView(u.op())) return because(FusionReason::kOnce);
  if (u.op() == Op::kContiguous) return because(FusionReason::kAsked);
  if (u.op() == Op::kReduceAxis && !n.selection) {
    if (u.src(0)->numel() == 0) return because(FusionReason::kConstant);
    if (n.scatter > 0) return because(FusionReason::kScatter);
    if (in_reduce) return because(FusionReason::kReduceInside);
    if (grown) return because(FusionReason::kReduceAgain);
    if (padded) return because(FusionReason::kReducePadded);
    return because(FusionReason::kOnce);
  }
  if (n.has_reduce && (grown || in_reduce)) return because(FusionReason::kHoldsReduce);
  if (n.requests.size() > kMaxPlaces && n.cost >= 2) return because(FusionReason::kPlaces);
  if (d.again > d.store) return because(FusionReason::kDear);
  if (n.requests.size() == 1 && d.evaluations <= numel) return because(FusionReason::kOnce);
  return because(d.again > 0 ? FusionReason::kCheap : FusionReason::kHidden);
}

// What names no buffer (positions and what follows from them) is computed where it is used; "" when that is
// on several devices, each of which then computes it.
std::string Planner::DeviceOfUsers(const Node& n) const {
  std::string device;
  for (const Request& r : n.requests) {
    const std::string& d = units_[r.unit].device;
    if (!device.empty() && d != device) return "";
    device = d;
  }
  return device;
}

absl::Status Planner::Decide() {
  size_t total_requests = 0;
  // Which store a node's own kernel writes to, and all that take its value.
  absl::flat_hash_map<const UOp*, const OutputStore*> direct;
  absl::flat_hash_map<const UOp*, std::vector<const OutputStore*>> stores_of;
  for (const OutputStore& s : stores_) {
    const Op op = s.value->op();
    stores_of[s.value.get()].push_back(&s);
    if (!s.via_temporary && !IsView(op) && op != Op::kParam && op != Op::kConst)
      direct.emplace(s.value.get(), &s);
  }
  for (size_t k = nodes_.size(); k-- > 0;) {
    Node& n = nodes_[k];
    const UOp& u = *n.op;
    if (u.numel() == 0) continue;
    std::vector<const OutputStore*> fills;
    if (const auto it = stores_of.find(&u); it != stores_of.end()) {
      for (const OutputStore* s : it->second) {
        if (!(direct.count(&u) && direct[&u] == s)) fills.push_back(s);
      }
    }
    const bool alias = u.op() == Op::kContiguous && !IsView(u.src(0)->op()) && u.src(0)->op() != Op::kParam;
    FusionDecision decision = Judge(n);
    if (direct.count(&u)) {
      decision.reason = FusionReason::kOutput;
      n.stored = direct[&u]->param;
      if (n.device.empty()) n.device = devices_[n.stored];
    } else if (alias && !n.requests.empty() &&
               !std::any_of(fills.begin(), fills.end(), [](auto* s) { return s->via_temporary; })) {
      // The source is stored in its own right: this wrapper is a second name for it.
      nodes_[number_[u.src(0).get()]].forced = true;
      decision.reason = FusionReason::kOnce;
    } else {
      bool via = false;
      for (const OutputStore* s : fills) via |= s->via_temporary;
      if (via && n.device.empty()) n.device = devices_[fills[0]->param];
      if (n.device.empty()) n.device = DeviceOfUsers(n);
      if (via) decision.reason = FusionReason::kAside;
      if (via || (!n.device.empty() && IsStored(decision.reason))) n.stored = NewTemporary(n);
      if (n.stored < 0 && IsStored(decision.reason)) decision.reason = FusionReason::kConstant;
    }
    if (!IsView(u.op()) && u.op() != Op::kParam && u.op() != Op::kConst && u.op() != Op::kIota &&
        u.op() != Op::kVar) {
      decision.item = n.stored < 0 ? -1 : static_cast<int>(units_.size() + fills.size());
      decisions_.push_back(std::move(decision));
    }
    for (const OutputStore* s : fills) {
      if (n.device.empty()) n.device = devices_[s->param];
      StartUnit(n, s->param, false);
    }
    if (n.stored >= 0) {
      const std::string& from = nodes_[number_[u.src(0).get()]].device;
      if (u.op() == Op::kCopy && !from.empty() && from != n.device) {
        // A transfer: the source must be whole.
        const UOp* base = u.src(0).get();
        while (base->op() == Op::kReshape) base = base->src(0).get();
        if (base->op() != Op::kParam) nodes_[number_[base]].forced = true;
        Unit unit;
        unit.root = UOpRef(&u);
        unit.slot = n.stored;
        unit.device = n.device;
        unit.is_copy = true;
        units_.push_back(std::move(unit));
        continue;
      }
      StartUnit(n, n.stored, true);
      Propagate(n, n.requests.size() - 1);
    } else {
      for (size_t r = 0; r < n.requests.size(); ++r) Propagate(n, r);
    }
    total_requests += n.requests.size();
    if (total_requests > 20'000'000)
      return absl::ResourceExhaustedError("schedule: more than 20 million places in the kernels of one call");
  }
  return absl::OkStatus();
}

// Passes a request on to the node's sources.
void Planner::Propagate(Node& n, size_t number) {
  const UOp& u = *n.op;
  const Request at =
      n.requests[number];  // by value: asking may grow other vectors, and this one is kept small
  std::vector<int> from;
  UOpRef own;
  std::vector<UOpRef> ranges;
  if (u.op() == Op::kParam || u.op() == Op::kConst || u.op() == Op::kIota || u.op() == Op::kVar) return;
  if (IsView(u.op())) {
    Request r{at.unit, SourcePlace(u, at.at, &own), at.evaluations, at.in_reduce, {}, nullptr, {}, nullptr};
    const bool never = (own != nullptr && own->IsConst(0)) || u.src(0)->numel() == 0;
    if (never)
      own = uop::BoolConst(false);
    else
      from.push_back(Ask(u.src(0), std::move(r)));
  } else if (u.op() == Op::kReduceAxis) {
    Request r{at.unit, at.at, at.evaluations, !n.selection || at.in_reduce, {}, nullptr, {}, nullptr};
    if (u.src(0)->numel() != 0) {
      for (const int64_t axis : u.arg_as<ReduceArg>().axes) {
        const UOpRef range = AxisRange(*u.src(0), static_cast<size_t>(axis), next_range_, AxisKind::kReduce);
        if (range == nullptr) continue;
        ++next_range_;
        ranges.push_back(range);
        r.at.index[axis] = range;
        if (!n.selection) r.evaluations *= static_cast<double>(u.src(0)->shape()[axis]);
      }
      if (ranges.empty()) r.in_reduce = at.in_reduce;
      if (n.scatter > 0) r.evaluations /= static_cast<double>(n.scatter);
      from.push_back(Ask(u.src(0), std::move(r)));
    }
  } else {
    for (const UOpRef& s : u.src()) {
      from.push_back(Ask(s, Request{at.unit, at.at, at.evaluations, at.in_reduce, {}, nullptr, {}, nullptr}));
    }
  }
  Request& r = n.requests[number];
  r.from = std::move(from);
  r.own = std::move(own);
  r.ranges = std::move(ranges);
}

UOpRef Planner::Expression(Node& n, Request& r) {
  const UOp& u = *n.op;
  const auto zero = [&] { return uop::Const(u.dtype(), IdentityOf(Op::kAdd, u.dtype())); };
  const auto source = [&](size_t i) -> const UOpRef& {
    return nodes_[number_[u.src(i).get()]].requests[r.from[i]].expr;
  };
  const auto load = [&](int slot) {
    return uop::Load(uop::IndexOf(uop::Param(u.dtype(), slot), Flatten(r.at.index, u.shape()), r.at.valid));
  };
  const bool own_kernel = n.stored >= 0 && units_[r.unit].slot == n.stored && units_[r.unit].root.get() == &u;
  if (n.stored >= 0 && !own_kernel) return load(ReadSlot(n.stored));
  if (u.op() == Op::kParam) return load(static_cast<int>(u.arg_as<std::vector<int64_t>>()[0]));
  if (u.op() == Op::kConst || u.op() == Op::kVar) return UOpRef(&u);
  if (u.op() == Op::kIota) return uop::Cast(r.at.index[0], u.dtype());
  if (u.op() == Op::kPad || u.op() == Op::kSlice) {
    if (r.from.empty()) return zero();
    const UOpRef& x = source(0);
    if (r.own == nullptr || x == zero()) return x;
    // A guarded load gives the zeros by itself.
    if (x->op() == Op::kLoad && x->src(0)->num_src() > 2) return x;
    if (u.dtype().IsBool() && x->IsConst(1)) return r.own;
    return uop::Where(r.own, x, zero());
  }
  if (IsView(u.op()) || IsWrapper(u.op())) return r.from.empty() ? zero() : source(0);
  if (u.op() == Op::kReduceAxis) {
    const Op op = u.arg_as<ReduceArg>().op;
    if (r.from.empty()) return uop::Const(u.dtype(), IdentityOf(op, u.dtype()));
    return r.ranges.empty() ? source(0) : SelectRanges(op, source(0), r.ranges);
  }
  if (u.op() == Op::kWhere && source(0)->IsConst()) return source(source(0)->IsConst(1) ? 1 : 2);
  std::vector<UOpRef> src;
  for (size_t i = 0; i < u.num_src(); ++i) src.push_back(source(i));
  return u.WithSrc(std::move(src));
}

void Planner::BuildExpressions() {
  for (Node& n : nodes_) {
    for (Request& r : n.requests) {
      r.expr = Expression(n, r);
      Unit& unit = units_[r.unit];
      if (unit.root.get() == n.op) unit.value = r.expr;  // nothing below a root asks for the root again
    }
  }
  for (Unit& unit : units_) {
    if (!unit.is_copy) continue;
    unit.source = BaseSlot(unit.root->src(0));
    US_CHECK(unit.source >= 0) << "a copy of what is not stored: " << OpName(unit.root->src(0)->op());
  }
}

namespace {
std::set<int> SlotsOf(const UOpRef& value) {
  std::set<int> slots;
  for (const UOpRef& p : uop::NodesOf(value, Op::kParam))
    slots.insert(static_cast<int>(p->arg_as<int64_t>()));
  return slots;
}
}  // namespace

int Planner::SplitCandidate(int unit, int slots) const {
  int best = -1;
  size_t best_slots = 1;
  const size_t most = static_cast<size_t>(std::min(options_.max_buffers - 1, slots - 1));
  for (size_t k = 0; k < nodes_.size(); ++k) {
    const Node& n = nodes_[k];
    if (!IsAlu(n.op->op()) || n.stored >= 0) continue;
    for (const Request& r : n.requests) {
      if (r.unit != unit || r.expr == nullptr) continue;
      const size_t count = SlotsOf(r.expr).size();
      if (count > best_slots && count <= most) best = static_cast<int>(k), best_slots = count;
    }
  }
  return best;
}

absl::Status Planner::Run() {
  for (;;) {
    Reset();
    Analyse();
    US_RETURN_IF_ERROR(Decide());
    BuildExpressions();
    bool again = false;
    for (size_t i = 0; i < units_.size(); ++i) {
      const Unit& unit = units_[i];
      if (unit.is_copy) continue;
      US_CHECK(unit.value != nullptr) << OpName(unit.root->op());
      const int slots = static_cast<int>(SlotsOf(unit.value).size()) + 1;
      if (slots <= options_.max_buffers) continue;
      const int k = SplitCandidate(static_cast<int>(i), slots);
      if (k < 0) {
        return absl::UnimplementedError(absl::StrCat("schedule: a kernel reads ", slots - 1,
                                                     " buffers and cannot be split, expected at most ",
                                                     options_.max_buffers - 1));
      }
      forced_.insert(nodes_[k].op);
      again = true;
    }
    if (!again) return absl::OkStatus();
  }
}

}  // namespace understudy
