// SPDX-License-Identifier: Apache-2.0
// What the stage "multi" remembers of spread values once they are computed, and the way back from the results
// of parts to those of wholes.
#include <algorithm>
#include <utility>

#include "src/schedule/multi.h"
#include "src/schedule/pieces.h"
#include "src/uop/build.h"

namespace understudy {
namespace {

using Parts = std::vector<UOpRef>;

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

}  // namespace understudy
