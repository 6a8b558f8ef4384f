// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/multi.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/schedule/normalise.h"
#include "src/schedule/pieces.h"
#include "src/schedule/reshard.h"
#include "src/schedule/scattered.h"
#include "src/uop/build.h"
#include "src/uop/inline.h"

namespace understudy {
namespace {

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
    scattered_.emplace(analysis_.get(), requests);
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
    if (const std::optional<ScatteredValues::CutCopy> cut = scattered_->CutCopyOf(u)) {
      if (const Sharding* wanted = scattered_->Wanted(cut->of)) {
        const Sharding& to = *wanted;
        if (to.axis == cut->axis && to.parts[cut->device] == cut->part) {
          US_ASSIGN_OR_RETURN(const Parts parts, As(UOpRef(cut->of), to));
          return uop::Copy(parts[cut->device], to.devices[cut->device]);
        }
      }
    }
    if (u.op() == Op::kCopy && Of(u.src(0)) != nullptr && !Of(u.src(0))->replicated() && u.numel() > 0) {
      const Sharding& from = *Of(u.src(0));
      const absl::flat_hash_set<std::string>& to = scattered_->CopiedTo(u.src(0).get());
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
    if (scattered_->Wanted(u.get()) == want) return Scattered(u, *want);
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
        for (size_t i = 0; i < source.size(); ++i)
          out.push_back(MovePart(*u, source[i], *c.source, *want, i));
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

  // A part, on each device, of what is wanted in parts.
  absl::StatusOr<Parts> Scattered(const UOpRef& u, const Sharding& to) {
    const Sharding* want = analysis_->Intern(to);
    if (const auto it = converted_.find({u.get(), want}); it != converted_.end()) return it->second;
    Parts out;
    if (scattered_->Crosses(*u)) {
      out = ReduceScatter(u->arg_as<ReduceArg>().op, partials_.at(u.get()), to, options_.all_reduce);
      for (size_t i = 0; i < out.size(); ++i) {
        if (out[i] == nullptr) out[i] = ZeroValue(u->dtype(), to.PartShape(u->shape(), i));
      }
    } else if (IsMovement(u->op())) {
      const Sharding back = *BackwardMovement(*u, to);
      US_ASSIGN_OR_RETURN(const Parts source, As(UOpRef(u->src(0)), back));
      for (size_t i = 0; i < source.size(); ++i) out.push_back(MovePart(*u, source[i], back, to, i));
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

  absl::StatusOr<Parts> Spread(const UOp& u, const Sharding& s) {
    if (u.numel() == 0) return Parts(s.devices.size(), ZeroValue(u.dtype(), u.shape()));
    if (IsAlu(u.op())) return Elementwise(u, 0, u.num_src(), s);
    if (IsMovement(u.op())) {
      const Sharding* from = Of(u.src(0));
      if (ForwardMovement(u, *from)) {
        Parts out;
        const Parts& source = parts_.at(u.src(0).get());
        for (size_t i = 0; i < source.size(); ++i) out.push_back(MovePart(u, source[i], *from, s, i));
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
    if (scattered_->Wanted(&u) != nullptr) partials_.emplace(&u, out);
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
  std::optional<ScatteredValues> scattered_;      // before the first node is lowered
  absl::flat_hash_map<const UOp*, Parts> parts_;  // one when not spread
  absl::flat_hash_map<std::pair<const UOp*, const Sharding*>, Parts> converted_;
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

absl::StatusOr<SplitRequests> Split(absl::Span<const OutputRequest> requests, const RealizedValues* realized,
                                    const RealizedShards* shards, const MultiOptions& options) {
  for (const OutputRequest& r : requests) {
    if (r.value == nullptr) return absl::InvalidArgumentError("call: a request without a value");
  }
  return IsSpread(requests) ? Spreader(realized, shards, options).Run(requests) : SplitRequests(requests);
}

}  // namespace understudy
