// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/multi.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/schedule/normalise.h"
#include "src/schedule/pieces.h"
#include "src/uop/build.h"
#include "src/uop/inline.h"

namespace understudy {
namespace {

using Ints = std::vector<int64_t>;
using Parts = std::vector<UOpRef>;

}  // namespace

// Lowers nodes in order, each from what its sources became.
class Spreader {
 public:
  Spreader(const RealizedValues* realized, const RealizedShards* shards, const MultiOptions& options)
      : options_(options),
        analysis_(std::make_shared<ShardingAnalysis>([realized, shards](const UOp& u) -> UOpRef {
          if (realized != nullptr && !u.dtype().IsVoid()) {
            if (UOpRef k = realized->Find(UOpRef(&u))) return k;
          }
          return shards == nullptr ? nullptr : shards->Find(u);
        })) {}

  absl::StatusOr<SplitRequests> Run(absl::Span<const OutputRequest> requests) {
    for (const OutputRequest& r : requests) US_RETURN_IF_ERROR(analysis_->Look(r.value));
    FindScattered(requests);
    SplitRequests out;
    for (const UOpRef& u : analysis_->nodes()) US_RETURN_IF_ERROR(One(u));
    for (const OutputRequest& r : requests) AddRequest(r, out);
    for (auto& [node, parts] : parts_) {
      if (node->num_src() == 0) continue;
      const Sharding* s = analysis_->Of(node).sharding;
      if (s == nullptr && parts[0].get() == node) continue;
      out.lowered_.push_back({UOpRef(node), s, std::move(parts)});
    }
    AddCallResults(out);
    out.analysis_ = std::move(analysis_);
    return out;
  }

 private:
  const Sharding* Of(const UOpRef& u) const { return analysis_->Of(u).sharding; }

  // Results of reductions across the sharded axis that only parts are wanted of, and what only views or
  // computes from those: every use takes the same part on each device. They are scattered, not spread.
  void FindScattered(absl::Span<const OutputRequest> requests) {
    absl::flat_hash_map<const UOp*, const Sharding*> wanted;  // null: all of it, or parts that differ
    const auto want = [&](const UOpRef& u, const Sharding* s) {
      const auto [it, fresh] = wanted.emplace(u.get(), s);
      if (!fresh && it->second != s) it->second = nullptr;
    };
    for (const OutputRequest& r : requests) want(r.value, nullptr);
    // Cuts of a value that every device would have, one for each of them (a replicated tensor that Shard
    // cuts).
    absl::flat_hash_set<const UOp*> cuts;
    std::vector<std::pair<const UOp*, Sharding>> cut_to;
    for (const UOpRef& u : analysis_->nodes()) {
      // Below what is known nothing was looked at.
      if (analysis_->Of(u).known != nullptr) continue;
      if (u->op() == Op::kCopy && Of(u->src(0)) != nullptr)
        copied_to_[u->src(0).get()].insert(u->arg_as<std::string>());
      std::optional<CutCopy> c = CutCopyOf(*u);
      if (!c) continue;
      auto at = std::find_if(cut_to.begin(), cut_to.end(), [&](const auto& e) { return e.first == c->of; });
      if (at == cut_to.end()) {
        cut_to.push_back({c->of, Sharding{Of(UOpRef(c->of))->devices, c->axis, {}}});
        at = cut_to.end() - 1;
        at->second.parts.resize(at->second.devices.size());
      }
      if (at->second.axis != c->axis || at->second.parts[c->device].size() != 0) continue;
      at->second.parts[c->device] = c->part;
      cuts.insert(u->src(0).get());
    }
    for (auto& [of, sharding] : cut_to) {
      std::vector<Sharding::Part> sorted = sharding.parts;
      std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
      int64_t covered = 0;
      for (const Sharding::Part& p : sorted) {
        if (p.size() > 0 && p.begin == covered) covered = p.end;
      }
      const bool all = covered == of->shape()[static_cast<size_t>(sharding.axis)];
      want(UOpRef(of), all ? analysis_->Intern(std::move(sharding)) : nullptr);
    }
    for (size_t k = analysis_->nodes().size(); k-- > 0;) {
      const UOpRef& u = analysis_->nodes()[k];
      const ShardingAnalysis::Place& place = analysis_->Of(u);
      if (cuts.contains(u.get())) continue;
      if (place.known != nullptr) {
        want(place.known, nullptr);
        continue;
      }
      const auto mine = wanted.find(u.get());
      const Sharding* passed = mine == wanted.end() ? nullptr : mine->second;
      const bool elementwise = IsAlu(u->op()) || u->op() == Op::kDetach ||
                               u->op() == Op::kContiguousBackward || u->op() == Op::kContiguous ||
                               u->op() == Op::kWithGradient;
      const bool whole = place.spread() && place.sharding->replicated() && u->numel() > 0;
      const bool follows = whole && passed != nullptr && (elementwise || IsMovement(u->op()) || Crosses(*u));
      if (follows) scattered_.emplace(u.get(), passed);
      const auto [begin, end] = ShardingAnalysis::ValueSources(*u);
      for (size_t i = begin; i < end; ++i) {
        const UOpRef& source = u->src(i);
        const Sharding* s = nullptr;
        if (elementwise && place.spread() && !place.sharding->replicated()) {
          s = place.sharding;
        } else if (follows && elementwise) {
          s = passed;
        } else if (follows && IsMovement(u->op())) {
          const std::optional<Sharding> back = BackwardMovement(*u, *passed);
          if (back && !back->replicated()) s = analysis_->Intern(*back);
        } else if (u->op() == Op::kAssign && i == 1 && place.spread() && !place.sharding->replicated()) {
          s = place.sharding;
        }
        want(source, s);
      }
    }
    // A chain that a view cuts off from parts is computed whole.
    for (const UOpRef& u : analysis_->nodes()) {
      if (!scattered_.contains(u.get()) || Crosses(*u)) continue;
      const auto [begin, end] = ShardingAnalysis::ValueSources(*u);
      bool below = false;
      for (size_t i = begin; i < end; ++i) below |= scattered_.contains(u->src(i).get());
      if (!below) scattered_.erase(u.get());
    }
  }

  // A COPY to a device of the part that a SHRINK along one axis cuts out of what all devices have.
  struct CutCopy {
    const UOp* of;
    size_t device;
    int64_t axis;
    Sharding::Part part;
  };
  std::optional<CutCopy> CutCopyOf(const UOp& u) const {
    if (u.op() != Op::kCopy || u.src(0)->op() != Op::kShrink || analysis_->Of(&u).known != nullptr)
      return std::nullopt;
    const UOp& cut = *u.src(0);
    if (analysis_->Of(&cut).known != nullptr) return std::nullopt;
    const Sharding* s = Of(UOpRef(cut.src(0)));
    if (s == nullptr || !s->replicated()) return std::nullopt;
    const auto at = std::find(s->devices.begin(), s->devices.end(), u.arg_as<std::string>());
    if (at == s->devices.end()) return std::nullopt;
    CutCopy out{cut.src(0).get(), static_cast<size_t>(at - s->devices.begin()), -1, {}};
    const auto& bounds = cut.arg_as<Ints>();
    for (size_t i = 0; i < cut.shape().size(); ++i) {
      if (cut.shape()[i] == out.of->shape()[i]) continue;
      if (out.axis >= 0) return std::nullopt;
      out.axis = static_cast<int64_t>(i);
      out.part = {bounds[2 * i], bounds[2 * i + 1]};
    }
    if (out.axis < 0 || out.part.size() == 0) return std::nullopt;
    return out;
  }

  // A reduction over the axis along which its source is sharded.
  bool Crosses(const UOp& u) const {
    if (u.op() != Op::kReduceAxis) return false;
    const Sharding* from = Of(UOpRef(u.src(0)));
    const auto& axes = u.arg_as<ReduceArg>().axes;
    return from != nullptr && !from->replicated() && std::count(axes.begin(), axes.end(), from->axis) != 0;
  }

  // The value of one device that a node became.
  const UOpRef& Single(const UOpRef& u) const { return parts_.at(u.get())[0]; }

  void AddRequest(const OutputRequest& r, SplitRequests& out) {
    const Sharding* s = Of(r.value);
    const size_t first = out.requests_.size();
    if (s == nullptr) {
      // What no storage places may be asked for on several devices.
      const bool spread = analysis_->Of(r.value).device.empty() && IsGroupName(r.device) &&
                          !IsVirtualConstant(r.value.get()) && r.value->numel() > 0;
      if (spread) {
        s = analysis_->Intern(Replicated(GroupDevices(r.device)));
        for (const std::string& d : s->devices) out.requests_.push_back({uop::Copy(Single(r.value), d), d});
      } else {
        out.requests_.push_back({Single(r.value), r.device});
      }
    } else {
      const Parts& parts = parts_.at(r.value.get());
      for (size_t i = 0; i < parts.size(); ++i) {
        // A value that several devices compute alike needs storage on each.
        const bool shared = std::count(parts.begin(), parts.end(), parts[i]) > 1 &&
                            !IsVirtualConstant(parts[i].get()) && parts[i]->numel() > 0;
        out.requests_.push_back({shared ? uop::Copy(parts[i], s->devices[i]) : parts[i], s->devices[i]});
      }
    }
    out.wholes_.push_back({s, first});
  }

  // A call whose arguments were rewritten: its other results are found under their own names later.
  void AddCallResults(SplitRequests& out) const {
    const size_t count = out.lowered_.size();
    for (size_t i = 0; i < count; ++i) {
      const UOpRef call = out.lowered_[i].value, now = out.lowered_[i].parts[0];
      if (call->op() != Op::kCall || now == call) continue;
      for (size_t p = 1; p < call->num_src(); ++p) {
        out.lowered_.push_back(
            {uop::After(UOpRef(call->src(p)), {call}), nullptr, {uop::After(UOpRef(now->src(p)), {now})}});
      }
    }
  }

  absl::Status One(const UOpRef& u) {
    const ShardingAnalysis::Place& place = analysis_->Of(u);
    Parts parts;
    if (place.known != nullptr) {
      parts = place.spread() ? parts_.at(place.known.get()) : Parts{u};
    } else if (!place.spread()) {
      US_ASSIGN_OR_RETURN(UOpRef value, OneDevice(*u));
      parts = {std::move(value)};
    } else {
      US_ASSIGN_OR_RETURN(parts, Spread(*u, *place.sharding));
    }
    parts_.emplace(u.get(), std::move(parts));
    return absl::OkStatus();
  }

  // A node whose value is on one device or on any.
  absl::StatusOr<UOpRef> OneDevice(const UOp& u) {
    if (const std::optional<CutCopy> cut = CutCopyOf(u)) {
      if (const auto it = scattered_.find(cut->of); it != scattered_.end()) {
        const Sharding& to = *it->second;
        if (to.axis == cut->axis && to.parts[cut->device] == cut->part) {
          US_ASSIGN_OR_RETURN(const Parts parts, As(UOpRef(cut->of), to));
          return uop::Copy(parts[cut->device], to.devices[cut->device]);
        }
      }
    }
    if (u.op() == Op::kCopy && Of(u.src(0)) != nullptr && !Of(u.src(0))->replicated() && u.numel() > 0) {
      const Sharding& from = *Of(u.src(0));
      const absl::flat_hash_set<std::string>& to = copied_to_.at(u.src(0).get());
      const auto at = std::find(from.devices.begin(), from.devices.end(), u.arg_as<std::string>());
      const bool everywhere = std::all_of(from.devices.begin(), from.devices.end(),
                                          [&](const std::string& d) { return to.contains(d); });
      if (everywhere && at != from.devices.end()) {
        const auto [all, fresh] = gathered_.try_emplace(u.src(0).get());
        if (fresh) all->second = AllGather(parts_.at(u.src(0).get()), from, u.shape(), options_.all_reduce);
        return all->second[static_cast<size_t>(at - from.devices.begin())];
      }
    }
    if (u.op() == Op::kCopy && Of(u.src(0)) != nullptr)
      return Gathered(parts_.at(u.src(0).get()), *Of(u.src(0)), u.arg_as<std::string>(), u.src(0)->shape());
    const auto [begin, end] = ShardingAnalysis::ValueSources(u);
    std::vector<UOpRef> src(u.src().begin(), u.src().end());
    bool changed = false;
    for (size_t i = begin; i < end; ++i) {
      if (const Sharding* s = Of(u.src(i))) {
        return absl::UnimplementedError(absl::StrCat(
            u.op() == Op::kCall ? "call " + u.arg_as<CallArg>().name : std::string(OpName(u.op())),
            ": source ", i, " is spread (", s->Text(),
            "), expected values of one device: gather it first (To)"));
      }
      src[i] = Single(u.src(i));
      changed |= src[i] != u.src(i);
    }
    if (!changed) return UOpRef(&u);
    if (u.op() == Op::kWithGradient) return src[0];
    // Storage of its own that is filled from elsewhere stays a transfer.
    if (u.op() == Op::kAssign && u.src(1)->op() == Op::kCopy && src[1]->op() != Op::kCopy)
      src[1] = uop::Copy(src[1], u.src(1)->arg_as<std::string>());
    return u.WithSrc(std::move(src));
  }

  absl::Status CheckGather(const UOp& u, const Sharding& from) const {
    if (options_.allow_gather || from.replicated()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("multi: ", OpName(u.op()), " needs all of a value sharded along ", from.Text(),
                     ", expected it to be gathered (To) or sharded along another axis (Shard) before"));
  }

  // All of a spread value on one device.
  static UOpRef Gathered(const Parts& parts, const Sharding& s, const std::string& device,
                         const Shape& shape) {
    if (s.replicated()) {
      const auto at = std::find(s.devices.begin(), s.devices.end(), device);
      if (at != s.devices.end()) return parts[at - s.devices.begin()];
      return MoveTo(parts[0], s.devices[0], device);
    }
    std::vector<Piece> pieces;
    for (size_t j = 0; j < parts.size(); ++j) {
      if (parts[j]->numel() > 0) pieces.push_back({s.parts[j].begin, MoveTo(parts[j], s.devices[j], device)});
    }
    if (pieces.empty()) return ZeroValue(parts[0]->dtype(), shape);
    return ::understudy::Join(pieces, s.axis, shape);
  }

  // The parts of a value that is sharded as `from`, sharded as `to`.
  static Parts Reshard(const Parts& parts, const Sharding& from, const Sharding& to, const Shape& shape) {
    Parts out;
    for (size_t i = 0; i < to.devices.size(); ++i) {
      if (to.replicated()) {
        out.push_back(Gathered(parts, from, to.devices[i], shape));
        continue;
      }
      const Sharding::Part want = to.parts[i];
      const Shape local = to.PartShape(shape, i);
      if (want.size() == 0) {
        out.push_back(ZeroValue(parts[0]->dtype(), local));
        continue;
      }
      if (from.replicated()) {
        out.push_back(Cut(parts[i], to.axis, want.begin, want.end));
        continue;
      }
      std::vector<Piece> pieces;
      for (size_t j = 0; j < parts.size(); ++j) {
        const Sharding::Part has = from.parts[j];
        if (has.size() == 0) continue;
        Piece piece;
        if (from.axis == to.axis) {
          const int64_t begin = std::max(has.begin, want.begin), end = std::min(has.end, want.end);
          if (begin >= end) continue;
          piece = {begin - want.begin, Cut(parts[j], to.axis, begin - has.begin, end - has.begin)};
        } else {
          piece = {has.begin, Cut(parts[j], to.axis, want.begin, want.end)};
        }
        piece.value = MoveTo(piece.value, from.devices[j], to.devices[i]);
        pieces.push_back(std::move(piece));
      }
      out.push_back(::understudy::Join(pieces, from.axis, local));
    }
    return out;
  }

  // The parts of a node's value in a sharding.
  absl::StatusOr<Parts> As(const UOpRef& u, const Sharding& to) {
    const Sharding* want = analysis_->Intern(to);
    const Sharding* has = Of(u);
    if (has == nullptr) {
      const UOpRef& x = Single(u);
      Parts out;
      for (size_t i = 0; i < to.devices.size(); ++i) {
        out.push_back(to.replicated() ? x : Cut(x, to.axis, to.parts[i].begin, to.parts[i].end));
      }
      return out;
    }
    if (has == want) return parts_.at(u.get());
    if (const auto it = scattered_.find(u.get()); it != scattered_.end() && it->second == want)
      return Scattered(u, *want);
    if (const auto it = converted_.find({u.get(), want}); it != converted_.end()) return it->second;
    const ShardingAnalysis::Conversion c = analysis_->Convert(u.get(), want);
    Parts out;
    if (!c.below) {
      if (want->replicated()) US_RETURN_IF_ERROR(CheckGather(*u, *has));
      if (want->replicated() && !has->replicated() && u->numel() > 0)
        out = AllGather(parts_.at(u.get()), *has, u->shape(), options_.all_reduce);
      else
        out = Reshard(parts_.at(u.get()), *has, *want, u->shape());
    } else if (IsMovement(u->op())) {
      US_ASSIGN_OR_RETURN(const Parts source, As(UOpRef(u->src(0)), *c.source));
      const std::optional<Sharding> back = BackwardMovement(*u, *want);
      if (back && *back == *c.source) {
        for (size_t i = 0; i < source.size(); ++i) out.push_back(Move(*u, source[i], *c.source, *want, i));
      } else {
        // Every device has all of the source.
        for (const UOpRef& s : source) out.push_back(u->WithSrc({s}));
        out = Reshard(out, *c.source, *want, u->shape());
      }
    } else {
      const auto [begin, end] = ShardingAnalysis::ValueSources(*u);
      US_ASSIGN_OR_RETURN(out, Elementwise(*u, begin, end, *want));
    }
    return converted_[{u.get(), want}] = out;
  }

  // A part of what FindScattered found on each device.
  absl::StatusOr<Parts> Scattered(const UOpRef& u, const Sharding& to) {
    const Sharding* want = analysis_->Intern(to);
    if (const auto it = converted_.find({u.get(), want}); it != converted_.end()) return it->second;
    Parts out;
    if (Crosses(*u)) {
      out = ReduceScatter(u->arg_as<ReduceArg>().op, partials_.at(u.get()), to, options_.all_reduce);
      for (size_t i = 0; i < out.size(); ++i) {
        if (out[i] == nullptr) out[i] = ZeroValue(u->dtype(), to.PartShape(u->shape(), i));
      }
    } else if (IsMovement(u->op())) {
      const Sharding back = *BackwardMovement(*u, to);
      US_ASSIGN_OR_RETURN(const Parts source, As(UOpRef(u->src(0)), back));
      for (size_t i = 0; i < source.size(); ++i) out.push_back(Move(*u, source[i], back, to, i));
    } else {
      const auto [begin, end] = ShardingAnalysis::ValueSources(*u);
      US_ASSIGN_OR_RETURN(out, Elementwise(*u, begin, end, to));
    }
    return converted_[{u.get(), want}] = out;
  }

  // An op that is applied to each device's part of its sources.
  absl::StatusOr<Parts> Elementwise(const UOp& u, size_t begin, size_t end, const Sharding& s) {
    std::vector<Parts> sources;
    for (size_t k = begin; k < end; ++k) {
      US_ASSIGN_OR_RETURN(Parts p, As(UOpRef(u.src(k)), s));
      sources.push_back(std::move(p));
    }
    if (u.op() == Op::kWithGradient) return sources[0];
    Parts out;
    for (size_t i = 0; i < s.devices.size(); ++i) {
      const Shape local = s.PartShape(u.shape(), i);
      std::vector<UOpRef> src;
      for (const Parts& p : sources) src.push_back(p[i]);
      UOpRef v = u.WithSrc(std::move(src));
      out.push_back(v->numel() == 0 ? ZeroValue(u.dtype(), local) : std::move(v));
    }
    return out;
  }

  // A movement op on one device's part.
  static UOpRef Move(const UOp& u, const UOpRef& x, const Sharding& from, const Sharding& to, size_t i) {
    const Shape local = to.PartShape(u.shape(), i);
    if (std::count(local.begin(), local.end(), 0) != 0 || u.numel() == 0) return ZeroValue(u.dtype(), local);
    switch (u.op()) {
      case Op::kReshape:
        return uop::Reshape(x, local);
      case Op::kExpand:
        return uop::Expand(x, local);
      case Op::kShrink:
      case Op::kPad: {
        if (to.replicated()) return u.WithSrc({x});
        Ints bounds = u.arg_as<Ints>();
        int64_t &lo = bounds[2 * to.axis], &hi = bounds[2 * to.axis + 1];
        const Sharding::Part has = from.parts[i], want = to.parts[i];
        if (u.op() == Op::kShrink) {
          // Cut [lo, hi) of the whole axis is what the part holds from lo on.
          const int64_t begin = want.begin + lo - has.begin;
          lo = begin, hi = begin + want.size();
          return uop::Shrink(x, bounds);
        }
        if (has.size() == 0) return ZeroValue(u.dtype(), local);  // padding only
        const int64_t before = has.begin + lo - want.begin;
        lo = before, hi = want.size() - before - has.size();
        return uop::Pad(x, bounds);
      }
      default:  // PERMUTE, FLIP: the same for every part
        return u.WithSrc({x});
    }
  }

  absl::StatusOr<Parts> Spread(const UOp& u, const Sharding& s) {
    if (u.numel() == 0) return Parts(s.devices.size(), ZeroValue(u.dtype(), u.shape()));
    if (IsAlu(u.op())) return Elementwise(u, 0, u.num_src(), s);
    if (IsMovement(u.op())) {
      const Sharding* from = Of(u.src(0));
      if (ForwardMovement(u, *from)) {
        Parts out;
        const Parts& source = parts_.at(u.src(0).get());
        for (size_t i = 0; i < source.size(); ++i) out.push_back(Move(u, source[i], *from, s, i));
        return out;
      }
      US_RETURN_IF_ERROR(CheckGather(u, *from));
      US_ASSIGN_OR_RETURN(Parts out, As(UOpRef(u.src(0)), s));
      for (UOpRef& p : out) p = u.WithSrc({p});
      return out;
    }
    switch (u.op()) {
      case Op::kMulti: {
        Parts out;
        for (const UOpRef& part : u.src()) out.push_back(Single(part));
        return out;
      }
      case Op::kCopy:
        return Copied(u, s);
      case Op::kReduceAxis:
        return Reduced(u);
      case Op::kAssign:
        return Assigned(u, s);
      case Op::kContiguous:
      case Op::kContiguousBackward:
      case Op::kDetach:
        return Elementwise(u, 0, 1, s);
      case Op::kWithGradient:
        return Elementwise(u, 0, 1, s);
      case Op::kSlice: {
        const Sharding* from = Of(u.src(0));
        if (from != nullptr && *from != s) US_RETURN_IF_ERROR(CheckGather(u, *from));
        US_ASSIGN_OR_RETURN(Parts out, As(UOpRef(u.src(0)), s));
        for (UOpRef& p : out) p = u.WithSrc({p, Single(u.src(1)), Single(u.src(2))});
        return out;
      }
      default:
        return absl::UnimplementedError(absl::StrCat("multi: ", OpName(u.op()), " of a value spread over ",
                                                     GroupName(s.devices),
                                                     ", expected it to be gathered (To) before"));
    }
  }

  absl::StatusOr<Parts> Copied(const UOp& u, const Sharding& s) {
    const UOpRef x(u.src(0));
    const Sharding* from = Of(x);
    Parts out;
    if (from != nullptr && from->devices == s.devices) {
      out = parts_.at(x.get());
      for (size_t i = 0; i < out.size(); ++i) {
        if (out[i]->numel() > 0) out[i] = uop::Copy(out[i], s.devices[i]);
      }
      return out;
    }
    for (const std::string& d : s.devices) {
      UOpRef v = from == nullptr ? Single(x) : Gathered(parts_.at(x.get()), *from, d, x->shape());
      out.push_back(v->op() == Op::kCopy && v->arg_as<std::string>() == d ? v : uop::Copy(v, d));
    }
    return out;
  }

  absl::StatusOr<Parts> Reduced(const UOp& u) {
    const UOpRef x(u.src(0));
    const Sharding& from = *Of(x);
    const auto& arg = u.arg_as<ReduceArg>();
    const Parts& source = parts_.at(x.get());
    const bool across = std::count(arg.axes.begin(), arg.axes.end(), from.axis) != 0;
    Parts out;
    for (size_t i = 0; i < source.size(); ++i) {
      if (source[i]->numel() > 0 || x->numel() == 0) {
        out.push_back(u.WithSrc({source[i]}));
      } else {
        out.push_back(across ? nullptr : ZeroValue(u.dtype(), from.PartShape(u.shape(), i)));
      }
    }
    if (!across) return out;
    if (scattered_.contains(&u)) partials_.emplace(&u, out);
    return AllReduce(arg.op, out, from.devices, options_.all_reduce);
  }

  absl::StatusOr<Parts> Assigned(const UOp& u, const Sharding& s) {
    const UOpRef base(analysis_->StorageBelow(u.src(0).get()));
    const Sharding& at = *Of(base);
    const std::optional<Sharding> seen = ReshapeSharding(base->shape(), u.shape(), at);
    US_ASSIGN_OR_RETURN(Parts value, As(UOpRef(u.src(1)), s));
    if (!seen) {
      for (UOpRef& v : value) v = uop::Reshape(v, base->shape());
      value = Reshard(value, s, at, base->shape());
    }
    const Parts& storage = parts_.at(base.get());
    Parts out;
    for (size_t i = 0; i < storage.size(); ++i) {
      const Shape local = at.PartShape(base->shape(), i);
      if (storage[i]->numel() == 0) {
        out.push_back(ZeroValue(u.dtype(), local));
        continue;
      }
      UOpRef v = uop::Reshape(value[i], local);
      // Storage of its own that is filled from elsewhere stays a transfer.
      if (u.src(1)->op() == Op::kCopy && v->op() != Op::kCopy) v = uop::Copy(v, at.devices[i]);
      out.push_back(uop::Assign(storage[i], v));
    }
    if (seen) {
      for (size_t i = 0; i < out.size(); ++i) out[i] = uop::Reshape(out[i], s.PartShape(u.shape(), i));
      return out;
    }
    out = Reshard(out, at, s, base->shape());
    for (UOpRef& v : out) v = uop::Reshape(v, u.shape());
    return out;
  }

  const MultiOptions options_;
  std::shared_ptr<ShardingAnalysis> analysis_;
  absl::flat_hash_map<const UOp*, Parts> parts_;  // one when not spread
  absl::flat_hash_map<std::pair<const UOp*, const Sharding*>, Parts> converted_;
  absl::flat_hash_map<const UOp*, const Sharding*> scattered_;  // what is wanted of it
  absl::flat_hash_map<const UOp*, absl::flat_hash_set<std::string>> copied_to_;
  absl::flat_hash_map<const UOp*, Parts> gathered_;  // of what is copied to all of its devices
  absl::flat_hash_map<const UOp*, Parts> partials_;  // of scattered reductions
};

namespace {

// Whether several devices hold anything that the requests name.
bool IsSpread(absl::Span<const OutputRequest> requests) {
  std::vector<const UOp*> stack;
  absl::flat_hash_set<const UOp*> seen;
  for (const OutputRequest& r : requests) {
    if (IsGroupName(r.device)) return true;
    if (seen.insert(r.value.get()).second) stack.push_back(r.value.get());
  }
  while (!stack.empty()) {
    const UOp* u = stack.back();
    stack.pop_back();
    if (u->op() == Op::kMulti) return true;
    for (const UOpRef& s : u->src()) {
      if (seen.insert(s.get()).second) stack.push_back(s.get());
    }
  }
  return false;
}

}  // namespace

SplitRequests::SplitRequests(absl::Span<const OutputRequest> requests)
    : requests_(requests.begin(), requests.end()) {
  for (size_t i = 0; i < requests.size(); ++i) wholes_.push_back({nullptr, i});
}

UOpRef RealizedShards::Find(const UOp& value) const {
  const auto it = entries_.find(value.id());
  if (it == entries_.end()) return nullptr;
  const Entry& e = it->second;
  std::vector<UOpRef> parts;
  for (size_t i = 0; i < e.parts.size(); ++i) {
    const Part& p = e.parts[i];
    const Shape shape = e.sharding.PartShape(value.shape(), i);
    if (p.size == 0) {
      parts.push_back(ZeroValue(value.dtype(), shape));
      continue;
    }
    std::shared_ptr<StorageSlot> slot = p.slot.lock();
    if (slot == nullptr || slot->impl == nullptr || IsOverwritten(*slot)) return nullptr;
    parts.push_back(uop::Reshape(
        uop::Buffer(value.dtype(), BufferArg{p.buffer_id, p.device, p.size, std::move(slot)}), shape));
  }
  return uop::Multi(std::move(parts), MultiArgOf(e.sharding));
}

void RealizedShards::Remember(const UOpRef& value, const Sharding& sharding,
                              const std::vector<UOpRef>& parts) {
  if (entries_.size() >= sweep_at_) {
    absl::erase_if(entries_, [](const auto& e) {
      return std::any_of(e.second.parts.begin(), e.second.parts.end(),
                         [](const Part& p) { return p.size > 0 && p.slot.expired(); });
    });
    sweep_at_ = std::max<size_t>(1024, 2 * entries_.size());
  }
  Entry e{sharding, {}};
  for (const UOpRef& p : parts) {
    if (p == nullptr) {
      e.parts.emplace_back();
      continue;
    }
    const auto& b = p->arg_as<BufferArg>();
    e.parts.push_back({b.id, b.device, b.size, b.slot});
  }
  entries_[value->id()] = std::move(e);
}

std::vector<UOpRef> SplitRequests::Join(const std::vector<UOpRef>& results) const {
  std::vector<UOpRef> out;
  for (const Whole& w : wholes_) {
    if (w.sharding == nullptr) {
      out.push_back(results[w.first]);
      continue;
    }
    const auto begin = results.begin() + static_cast<std::ptrdiff_t>(w.first);
    const Parts parts(begin, begin + static_cast<std::ptrdiff_t>(w.sharding->devices.size()));
    out.push_back(uop::Multi(parts, MultiArgOf(*w.sharding)));
  }
  return out;
}

void SplitRequests::Commit(RealizedValues* realized, RealizedShards* shards) const {
  for (const Lowered& l : lowered_) {
    Parts buffers;
    bool all = true;
    for (const UOpRef& p : l.parts) {
      if (p->numel() == 0 && l.sharding != nullptr) {
        buffers.push_back(nullptr);
        continue;
      }
      UOpRef b = p->num_src() == 0 || p->dtype().IsVoid() ? nullptr : realized->Find(p);
      if (b == nullptr) {
        all = false;
        break;
      }
      buffers.push_back(std::move(b));
    }
    if (!all || std::all_of(buffers.begin(), buffers.end(), [](const UOpRef& b) { return b == nullptr; }))
      continue;
    if (l.sharding != nullptr)
      shards->Remember(l.value, *l.sharding, buffers);
    else
      realized->Remember(l.value, buffers[0]);
  }
}

absl::StatusOr<SplitRequests> Split(absl::Span<const OutputRequest> requests, const RealizedValues* realized,
                                    const RealizedShards* shards, const MultiOptions& options) {
  for (const OutputRequest& r : requests) {
    if (r.value == nullptr) return absl::InvalidArgumentError("call: a request without a value");
  }
  return IsSpread(requests) ? Spreader(realized, shards, options).Run(requests) : SplitRequests(requests);
}

}  // namespace understudy
