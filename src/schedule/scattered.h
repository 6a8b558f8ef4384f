// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reductions across the sharded axis that only parts are wanted of, and what only views or computes from
// those: every use takes the same part on each device. They are scattered, not spread. Stage "multi"
// (multi.h) asks before it lowers the first node; nothing here builds graphs.

#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "src/schedule/call.h"
#include "src/uop/sharding.h"
#include "src/uop/uop.h"

namespace understudy {

class ScatteredValues {
 public:
  // Of the graph that the analysis has looked at.
  ScatteredValues(ShardingAnalysis* analysis, absl::Span<const OutputRequest> requests);

  // How the value is wanted; null: all of it, or in parts that differ.
  const Sharding* Wanted(const UOp* u) const {
    const auto it = scattered_.find(u);
    return it == scattered_.end() ? nullptr : it->second;
  }

  // A COPY to a device of the part that a SHRINK along one axis cuts out of what all devices have.
  struct CutCopy {
    const UOp* of;
    size_t device;
    int64_t axis;
    Sharding::Part part;
  };
  std::optional<CutCopy> CutCopyOf(const UOp& u) const;
  // A reduction over the axis along which its source is sharded.
  bool Crosses(const UOp& u) const;
  // The devices to which the graph copies a spread value.
  const absl::flat_hash_set<std::string>& CopiedTo(const UOp* u) const { return copied_to_.at(u); }

 private:
  const Sharding* ShardingOf(const UOpRef& u) const { return analysis_->Of(u).sharding; }

  ShardingAnalysis* analysis_;  // not owned
  absl::flat_hash_map<const UOp*, const Sharding*> scattered_;
  absl::flat_hash_map<const UOp*, absl::flat_hash_set<std::string>> copied_to_;
};

}  // namespace understudy
