// SPDX-License-Identifier: Apache-2.0
#pragma once
// Launches that a device runs again and again with other addresses and variables: what a capture hands to
// Device::MakeGraph. A plan says which places launches name and which of them overlap; a command graph is
// what the device made of it. Knows no tensors and allocates no device memory for the places.

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "src/runtime/device.h"

namespace understudy {

// A range that launches name; where it lies is said at every replay. Places overlap when they are of one
// memory and their ranges do; whoever replays keeps places of different memories apart, unless nobody writes
// to them.
struct GraphPlace {
  int memory = 0;
  size_t offset = 0, bytes = 0;
};

struct GraphLaunch {
  std::shared_ptr<Program> program;
  std::vector<int> places;   // by PARAM position
  std::vector<bool> writes;  // the same: whether the launch writes there
  std::vector<int> vars;     // which variables, in the order of the program's names
};

struct GraphPlan {
  std::vector<GraphPlace> places;
  int num_vars = 0;
  std::vector<GraphLaunch> launches;

  // Whether launch i must wait for those before it: true where it reads what one of them since the last wait
  // writes, or writes what one of them touches.
  std::vector<bool> Waits() const;
  // InvalidArgument names the launch that refers to a place or variable that does not exist.
  absl::Status Check() const;
};

// Belongs to its device, which must outlive it.
class CommandGraph {
 public:
  virtual ~CommandGraph() = default;
  // All launches in order, with an allocation a place (of the plan's size) and a value a variable. Errors of
  // the kernels themselves may be reported by a later call, as those of Device::Launch.
  virtual absl::Status Replay(absl::Span<const Allocation> places, absl::Span<const int64_t> vars) = 0;
};

// One launch after the other through Device::Launch: what devices without a graph of their own use.
class LaunchList : public CommandGraph {
 public:
  LaunchList(Device& device, GraphPlan plan) : device_(device), plan_(std::move(plan)) {}
  absl::Status Replay(absl::Span<const Allocation> places, absl::Span<const int64_t> vars) override;
  // The launches of a replay, for who asked for times: synchronous then.
  void RecordTimes(bool on) { record_ = on; }
  const std::vector<LaunchInfo>& times() const { return times_; }
  const GraphPlan& plan() const { return plan_; }

 private:
  Device& device_;
  const GraphPlan plan_;
  std::vector<Allocation> buffers_;
  std::vector<int64_t> values_;
  bool record_ = false;
  std::vector<LaunchInfo> times_;
};

}  // namespace understudy
