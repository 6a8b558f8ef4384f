// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stage "multi": requests for values that are spread over several devices become requests for their parts,
// each a graph of one device whose sources come from others through explicit COPYs. It runs ahead of the
// stage "call", which knows nothing of it; the engine asks for the split, realises the parts and joins the
// results. Graphs without MULTI pass unchanged.
//
// Elementwise ops, movement ops away from the sharded axis and reductions of other axes are applied part by
// part. A reduction of the sharded axis is local, then an all-reduce, or a reduce-scatter where every use
// takes the same part of it on each device. Flips, cuts and paddings of the sharded axis stay where the
// elements are (parts become uneven). What remains (a RESHAPE that breaks the axis up, an EXPAND of it, a
// slice with a variable start) brings its source to every device first. Sources that are sharded in different
// ways meet in the sharding that moves the fewest bytes.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/schedule/all_reduce.h"
#include "src/schedule/call.h"
#include "src/uop/sharding.h"
#include "src/uop/uop.h"

namespace understudy {

struct MultiOptions {
  AllReduceOptions all_reduce;
  // False: what would bring a whole value to every device is refused, naming the op and the sharding.
  bool allow_gather = true;
};

// What RealizedValues is for values of one device: which MULTI of BUFFERs holds a spread value that has been
// computed. Holds no storage alive.
class RealizedShards {
 public:
  // Null when unknown or gone.
  UOpRef Find(const UOp& value) const;
  // `parts[i]` is a 1-D BUFFER, or null for an empty part.
  void Remember(const UOpRef& value, const Sharding& sharding, const std::vector<UOpRef>& parts);
  size_t size() const { return entries_.size(); }

 private:
  struct Part {
    uint64_t buffer_id = 0;
    std::string device;
    int64_t size = 0;
    std::weak_ptr<StorageSlot> slot;
  };
  struct Entry {
    Sharding sharding;
    std::vector<Part> parts;
  };
  absl::flat_hash_map<uint64_t, Entry> entries_;  // node id -> its buffers
  size_t sweep_at_ = 1024;
};

// Requests split by device.
class SplitRequests {
 public:
  SplitRequests() = default;
  // Of values that are each on one device.
  explicit SplitRequests(absl::Span<const OutputRequest> requests);

  // For MakeCall.
  const std::vector<OutputRequest>& requests() const { return requests_; }
  // From the results of those to the results of what was split.
  std::vector<UOpRef> Join(const std::vector<UOpRef>& results) const;
  // After CommitCall: what was computed is known to graphs that name the spread values.
  void Commit(RealizedValues* realized, RealizedShards* shards) const;

 private:
  friend class Spreader;
  struct Whole {
    const Sharding* sharding = nullptr;  // null: of one device
    size_t first = 0;                    // number of its first request
  };
  struct Lowered {
    UOpRef value;
    const Sharding* sharding = nullptr;
    std::vector<UOpRef> parts;  // one when not spread
  };
  std::vector<OutputRequest> requests_;
  std::vector<Whole> wholes_;
  std::vector<Lowered> lowered_;
  std::shared_ptr<ShardingAnalysis> analysis_;  // owns the shardings
};

// Errors: InvalidArgument where devices or groups of devices meet without a COPY, or where !allow_gather
// forbids; Unimplemented for a CALL with spread arguments.
absl::StatusOr<SplitRequests> Split(absl::Span<const OutputRequest> requests, const RealizedValues* realized,
                                    const RealizedShards* shards, const MultiOptions& options = {});

}  // namespace understudy
