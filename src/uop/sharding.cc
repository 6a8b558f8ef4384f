// SPDX-License-Identifier: Apache-2.0
#include "src/uop/sharding.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "src/base/status.h"

namespace understudy {
namespace {

using Ints = std::vector<int64_t>;
using Part = Sharding::Part;

// How far Convert looks down a chain.
constexpr int kMaxChain = 64;

// Empty parts are all {0, 0}, so that equal shardings compare equal.
Sharding Normal(Sharding s) {
  for (Part& p : s.parts) {
    if (p.end <= p.begin) p = {0, 0};
  }
  return s;
}

Sharding Moved(const Sharding& s, int64_t axis) {
  Sharding out = s;
  out.axis = axis;
  return out;
}

}  // namespace

std::string GroupName(absl::Span<const std::string> devices) { return absl::StrJoin(devices, ","); }
bool IsGroupName(const std::string& device) { return device.find(',') != std::string::npos; }
std::vector<std::string> GroupDevices(const std::string& name) { return absl::StrSplit(name, ','); }

Shape Sharding::PartShape(Shape whole, size_t device) const {
  if (!replicated()) whole[axis] = parts[device].size();
  return whole;
}

int64_t Sharding::Largest() const {
  int64_t n = 0;
  for (const Part& p : parts) n = std::max(n, p.size());
  return n;
}

std::string Sharding::Text() const {
  if (replicated()) return absl::StrCat("replicated over ", absl::StrJoin(devices, " "));
  std::string out = absl::StrCat("axis ", axis, " over");
  for (size_t i = 0; i < devices.size(); ++i)
    absl::StrAppend(&out, " ", devices[i], " [", parts[i].begin, ",", parts[i].end, ")");
  return out;
}

Sharding EvenSharding(std::vector<std::string> devices, int64_t axis, int64_t size) {
  Sharding s{std::move(devices), axis, {}};
  const auto n = static_cast<int64_t>(s.devices.size());
  int64_t at = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t next = at + size / n + (i < size % n ? 1 : 0);
    s.parts.push_back({at, next});
    at = next;
  }
  return Normal(std::move(s));
}

Sharding Replicated(std::vector<std::string> devices) { return {std::move(devices), -1, {}}; }

Sharding ShardingOfMulti(const UOp& multi) {
  const auto& arg = multi.arg_as<MultiArg>();
  Sharding s{arg.devices, arg.axis, {}};
  for (size_t i = 0; i < arg.begin.size(); ++i)
    s.parts.push_back({arg.begin[i], arg.begin[i] + multi.src(i)->shape()[arg.axis]});
  return Normal(std::move(s));
}

MultiArg MultiArgOf(const Sharding& s) {
  MultiArg arg{s.devices, s.axis, {}};
  for (const Part& p : s.parts) arg.begin.push_back(p.begin);
  return arg;
}

std::optional<Sharding> ReshapeSharding(const Shape& from, const Shape& to, const Sharding& s) {
  if (s.replicated()) return s;
  const auto axis = static_cast<size_t>(s.axis);
  int64_t before = 1, after = 1;
  for (size_t i = 0; i < axis; ++i) before *= from[i];
  for (size_t i = axis + 1; i < from.size(); ++i) after *= from[i];
  int64_t ahead = 1, behind = 1;
  for (const int64_t d : to) behind *= d;
  if (behind == 0) return std::nullopt;
  // The axis of `to` that begins where this one does and whose steps the parts' ends are multiples of.
  for (size_t k = 0; k < to.size() && ahead <= before; ++k) {
    behind /= to[k];
    if (ahead == before) {
      Sharding out{s.devices, static_cast<int64_t>(k), {}};
      bool fits = true;
      for (const Part& p : s.parts) {
        int64_t b, e;
        fits &= !__builtin_mul_overflow(p.begin, after, &b) && !__builtin_mul_overflow(p.end, after, &e) &&
                b % behind == 0 && e % behind == 0;
        if (fits) out.parts.push_back({b / behind, e / behind});
      }
      if (fits) return Normal(std::move(out));
    }
    ahead *= to[k];
  }
  return std::nullopt;
}

std::optional<Sharding> ForwardMovement(const UOp& node, const Sharding& s) {
  if (s.replicated()) return s;
  const Shape& in = node.src(0)->shape();
  const int64_t a = s.axis;
  switch (node.op()) {
    case Op::kReshape:
      return ReshapeSharding(in, node.shape(), s);
    case Op::kPermute: {
      const auto& perm = node.arg_as<Ints>();
      return Moved(s, std::find(perm.begin(), perm.end(), a) - perm.begin());
    }
    case Op::kExpand:
      if (node.shape()[a] != in[a]) return std::nullopt;
      return s;
    case Op::kFlip: {
      const auto& axes = node.arg_as<Ints>();
      if (!std::count(axes.begin(), axes.end(), a)) return s;
      Sharding out = s;
      for (Part& p : out.parts) {
        if (p.size() > 0) p = {in[a] - p.end, in[a] - p.begin};
      }
      return Normal(std::move(out));
    }
    case Op::kShrink: {
      const auto& bounds = node.arg_as<Ints>();
      const int64_t lo = bounds[2 * a], hi = bounds[2 * a + 1];
      Sharding out = s;
      for (Part& p : out.parts) p = {std::max(p.begin, lo) - lo, std::min(p.end, hi) - lo};
      return Normal(std::move(out));
    }
    case Op::kPad: {
      // The outermost parts take the padding.
      const auto& pad = node.arg_as<Ints>();
      Sharding out = s;
      for (Part& p : out.parts) {
        if (p.size() == 0) continue;
        const bool first = p.begin == 0, last = p.end == in[a];
        p = {first ? 0 : p.begin + pad[2 * a], p.end + pad[2 * a] + (last ? pad[2 * a + 1] : 0)};
      }
      return Normal(std::move(out));
    }
    default:
      return std::nullopt;
  }
}

std::optional<Sharding> BackwardMovement(const UOp& node, const Sharding& s) {
  if (s.replicated()) return s;
  const Shape& in = node.src(0)->shape();
  const int64_t a = s.axis;
  switch (node.op()) {
    case Op::kReshape:
      return ReshapeSharding(node.shape(), in, s);
    case Op::kPermute:
      return Moved(s, node.arg_as<Ints>()[a]);
    case Op::kExpand:
      return in[a] == node.shape()[a] ? s : Replicated(s.devices);
    case Op::kFlip:
      return ForwardMovement(node, s);  // a flip undoes itself
    case Op::kShrink: {
      const auto& bounds = node.arg_as<Ints>();
      if (bounds[2 * a] != 0 || bounds[2 * a + 1] != in[a]) return std::nullopt;
      return s;
    }
    case Op::kPad: {
      const int64_t lo = node.arg_as<Ints>()[2 * a];
      Sharding out = s;
      for (Part& p : out.parts) p = {std::max<int64_t>(p.begin - lo, 0), std::min(p.end - lo, in[a])};
      return Normal(std::move(out));
    }
    default:
      return std::nullopt;
  }
}

double BytesMoved(const UOp& value, const Sharding& from, const Sharding& to) {
  if (from.replicated()) return 0;
  const Shape& shape = value.shape();
  const double bytes = static_cast<double>(value.numel()) * value.dtype().ScalarBytes();
  if (bytes == 0) return 0;
  double kept = 0, wanted = 0;  // shares of the whole
  for (size_t i = 0; i < from.parts.size(); ++i) {
    const auto whole = static_cast<double>(shape[from.axis]);
    const double has = static_cast<double>(from.parts[i].size()) / whole;
    if (to.replicated()) {
      wanted += 1, kept += has;
      continue;
    }
    const double wants = static_cast<double>(to.parts[i].size()) / static_cast<double>(shape[to.axis]);
    wanted += wants;
    if (from.axis != to.axis) {
      kept += has * wants;
    } else {
      const int64_t both =
          std::min(from.parts[i].end, to.parts[i].end) - std::max(from.parts[i].begin, to.parts[i].begin);
      kept += static_cast<double>(std::max<int64_t>(both, 0)) / whole;
    }
  }
  return bytes * (wanted - kept);
}

const Sharding* ShardingAnalysis::Intern(Sharding s) {
  for (const Sharding& known : shardings_) {
    if (known == s) return &known;
  }
  shardings_.push_back(std::move(s));
  return &shardings_.back();
}

std::pair<size_t, size_t> ShardingAnalysis::ValueSources(const UOp& node) {
  switch (node.op()) {
    case Op::kWithGradient:
      return {0, 1};
    case Op::kCall:
      return {1, node.num_src()};  // the body is no part of the graph
    default:
      return {0, node.num_src()};
  }
}

absl::Status ShardingAnalysis::Look(const UOpRef& root) {
  struct Frame {
    const UOp* node;
    size_t next, end;
  };
  std::vector<Frame> stack;
  absl::flat_hash_map<const UOp*, UOpRef> aliases;
  const auto push = [&](const UOp* u) {
    if (places_.contains(u)) return;
    auto [begin, end] = ValueSources(*u);
    if (known_ != nullptr && u->num_src() > 0) {
      UOpRef k = known_(*u);
      if (k != nullptr && k.get() != u) {
        aliases[u] = k;
        end = begin;
      }
    }
    stack.push_back({u, begin, end});
  };
  push(root.get());
  while (!stack.empty()) {
    Frame& f = stack.back();
    if (places_.contains(f.node)) {
      stack.pop_back();
      continue;
    }
    const auto alias = aliases.find(f.node);
    if (alias != aliases.end() && !places_.contains(alias->second.get())) {
      push(alias->second.get());
      continue;
    }
    if (f.next < f.end) {
      push(f.node->src(f.next++).get());
      continue;
    }
    const UOp* u = f.node;
    stack.pop_back();
    Place place;
    if (alias != aliases.end()) {
      place = Of(alias->second);
      place.known = alias->second;
    } else {
      US_RETURN_IF_ERROR(One(u, place));
    }
    order_.push_back(UOpRef(u));
    places_.emplace(u, std::move(place));
  }
  return absl::OkStatus();
}

absl::Status ShardingAnalysis::One(const UOp* u, Place& place) {
  const auto spread = [&](Sharding s) {
    place.sharding = Intern(std::move(s));
    return absl::OkStatus();
  };
  switch (u->op()) {
    case Op::kBuffer:
      place.device = u->arg_as<BufferArg>().device;
      return absl::OkStatus();
    case Op::kCopy: {
      const auto& to = u->arg_as<std::string>();
      if (!IsGroupName(to)) {
        place.device = to;
        return absl::OkStatus();
      }
      const Place& from = Of(u->src(0));
      std::vector<std::string> devices = GroupDevices(to);
      if (from.spread() && from.sharding->devices == devices) {
        place.sharding = from.sharding;
        return absl::OkStatus();
      }
      return spread(Replicated(std::move(devices)));
    }
    case Op::kMulti:
      for (size_t i = 0; i < u->num_src(); ++i) {
        const Place& part = Of(u->src(i));
        const std::string& device = u->arg_as<MultiArg>().devices[i];
        if (part.spread() || (!part.device.empty() && part.device != device)) {
          return absl::InvalidArgumentError(absl::StrCat(
              "MULTI: source ", i, " is on ", part.spread() ? GroupName(part.sharding->devices) : part.device,
              ", expected ", device));
        }
      }
      return spread(ShardingOfMulti(*u));
    case Op::kCall:
      return absl::OkStatus();  // no value
    case Op::kAfter:
      place.sharding = Of(u->src(0)).sharding;
      place.device = Of(u->src(0)).device;
      return absl::OkStatus();
    default:
      break;
  }
  // All sources together.
  const auto [begin, end] = ValueSources(*u);
  std::string where;
  const Sharding* first = nullptr;
  for (size_t i = begin; i < end; ++i) {
    const Place& s = Of(u->src(i));
    const std::string device = s.spread() ? GroupName(s.sharding->devices) : s.device;
    if (device.empty()) continue;
    if (!where.empty() && where != device) {
      return absl::InvalidArgumentError(absl::StrCat(OpName(u->op()), " of values on devices ", where,
                                                     " and ", device,
                                                     ", expected one device or one group of devices "
                                                     "(COPY moves, MULTI spreads)"));
    }
    where = device;
    if (first == nullptr) first = s.sharding;
  }
  if (first == nullptr) {
    place.device = std::move(where);
    return absl::OkStatus();
  }
  if (u->numel() == 0) return spread(Replicated(first->devices));
  if (IsAlu(u->op())) return Elementwise(*u, place);
  const Place& source = Of(u->src(0));
  // A value that all devices may compute, beside sources that are spread.
  const Sharding s = source.spread() ? *source.sharding : Replicated(first->devices);
  if (IsMovement(u->op())) {
    std::optional<Sharding> out = ForwardMovement(*u, s);
    return spread(out ? *std::move(out) : Replicated(s.devices));
  }
  switch (u->op()) {
    case Op::kReduceAxis: {
      const auto& axes = u->arg_as<ReduceArg>().axes;
      const bool across = std::count(axes.begin(), axes.end(), s.axis) != 0;
      return spread(across ? Replicated(s.devices) : s);
    }
    case Op::kContiguous:
    case Op::kContiguousBackward:
    case Op::kDetach:
    case Op::kWithGradient:
      return spread(s);
    case Op::kSlice:
      return spread(u->arg_as<Ints>()[0] == s.axis ? Replicated(s.devices) : s);
    case Op::kAssign: {
      // That of the storage below views which keep the order.
      const UOp* base = StorageBelow(u->src(0).get());
      const Place& storage = Of(base);
      if (!storage.spread()) {
        return absl::InvalidArgumentError(
            absl::StrCat("ASSIGN of a value spread over ", GroupName(s.devices), " to storage on ",
                         storage.device.empty() ? "no device" : storage.device));
      }
      std::optional<Sharding> out = ReshapeSharding(base->shape(), u->shape(), *storage.sharding);
      return spread(out ? *std::move(out) : Replicated(s.devices));
    }
    default:
      return spread(Replicated(s.devices));
  }
}

absl::Status ShardingAnalysis::Elementwise(const UOp& u, Place& place) {
  // The sharding of one of the sources: that which costs the fewest moved bytes, then the most even one.
  std::vector<const Sharding*> candidates;
  const Sharding* any = nullptr;
  for (const UOpRef& s : u.src()) {
    const Sharding* sharding = Of(s).sharding;
    if (sharding == nullptr) continue;
    any = sharding;
    if (!sharding->replicated() && !std::count(candidates.begin(), candidates.end(), sharding))
      candidates.push_back(sharding);
  }
  if (candidates.empty()) {
    place.sharding = any;
    return absl::OkStatus();
  }
  double best = 0;
  for (const Sharding* c : candidates) {
    double bytes = 0;
    if (candidates.size() > 1) {
      for (const UOpRef& s : u.src()) bytes += Convert(s.get(), c).bytes;
    }
    if (place.sharding == nullptr || bytes < best ||
        (bytes == best && c->axis == place.sharding->axis && c->Largest() < place.sharding->Largest())) {
      place.sharding = c;
      best = bytes;
    }
  }
  return absl::OkStatus();
}

const UOp* ShardingAnalysis::StorageBelow(const UOp* u) const {
  while ((u->op() == Op::kReshape || u->op() == Op::kDetach || u->op() == Op::kContiguousBackward) &&
         Of(u).known == nullptr)
    u = u->src(0).get();
  return u;
}

int ShardingAnalysis::ChainSource(const UOp& node) const {
  if (Of(&node).known != nullptr) return -1;
  if (IsMovement(node.op()) || node.op() == Op::kDetach || node.op() == Op::kContiguousBackward ||
      node.op() == Op::kWithGradient)
    return 0;
  if (!IsAlu(node.op())) return -1;
  int chain = -1;
  for (size_t i = 0; i < node.num_src(); ++i) {
    const Sharding* s = Of(node.src(i)).sharding;
    if (s == nullptr || s->replicated()) continue;
    if (chain >= 0) return -1;
    chain = static_cast<int>(i);
  }
  return chain;
}

ShardingAnalysis::Conversion ShardingAnalysis::Convert(const UOp* node, const Sharding* to) {
  const auto free = [&](const UOp* u, const Sharding* s) {
    const Sharding* from = Of(u).sharding;
    return from == nullptr || from == s || from->replicated();
  };
  if (free(node, to)) return {};
  Conversion best{BytesMoved(*node, *Of(node).sharding, *to), false, nullptr};
  const Sharding* first = nullptr;  // what the first step asks of its source
  const UOp* u = node;
  for (int i = 0; i < kMaxChain && best.bytes > 0; ++i) {
    const int source = ChainSource(*u);
    if (source < 0) break;
    if (IsMovement(u->op())) {
      std::optional<Sharding> s = BackwardMovement(*u, *to);
      to = Intern(s ? *std::move(s) : Replicated(to->devices));
    }
    if (first == nullptr) first = to;
    u = u->src(static_cast<size_t>(source)).get();
    const double bytes = free(u, to) ? 0 : BytesMoved(*u, *Of(u).sharding, *to);
    if (bytes < best.bytes) best = {bytes, true, first};
  }
  return best;
}

std::optional<Sharding> ShardingOf(const UOpRef& value) {
  ShardingAnalysis analysis;
  if (!analysis.Look(value).ok()) return std::nullopt;
  const Sharding* s = analysis.Of(value).sharding;
  return s == nullptr ? std::nullopt : std::optional<Sharding>(*s);
}

}  // namespace understudy
