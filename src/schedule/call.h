// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stage "call": tensor values become a graph with declared storage. Every value that escapes gets a BUFFER,
// every BUFFER becomes a PARAM position, and what remains is a structure that two graphs of equal form share:
// the key of the schedule cache. The engine makes a call, runs its schedule with `buffers` bound, then
// commits it.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/schedule/sizes.h"
#include "src/uop/uop.h"

namespace understudy {

// Remembers which BUFFER holds the value of a node that has been computed, so that graphs built earlier over
// the same node read the buffer instead of computing it again. Holds no node and no storage alive.
class RealizedValues {
 public:
  // A BUFFER (1-D) that holds `value`'s elements in row-major order; null when unknown or gone.
  UOpRef Find(const UOpRef& value) const;
  void Remember(const UOpRef& value, const UOpRef& buffer);
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    uint64_t buffer_id;
    std::string device;
    int64_t size;
    std::weak_ptr<StorageSlot> slot;
  };
  absl::flat_hash_map<uint64_t, Entry> entries_;  // node id -> its buffer
  size_t sweep_at_ = 1024;
};

// What to realise: a tensor-level value, and the device that takes it when the value itself names none
// (constants).
struct OutputRequest {
  UOpRef value;
  std::string device;
};

struct Call {
  // SINK(STORE(PARAM p, value), ...) over PARAMs only; one STORE a distinct stored value.
  UOpRef sink;
  // Position -> BUFFER node. Those in `outputs` need storage before the run; all others must have it.
  std::vector<UOpRef> buffers;
  // Position -> device name; with `sink` the key of the schedule cache.
  std::vector<std::string> devices;
  // The values that the run's variables are bound to: `sink` names the variables only, so that one schedule
  // serves all values.
  VariableValues variables;
  // Positions written by the call.
  std::vector<int> outputs;
  // For each request, what its value is after the run: a view (RESHAPE ...) of a BUFFER, or the request's own
  // value when it needs no storage (a constant, or storage that it already has).
  std::vector<UOpRef> results;
  // In-place assignments: after the run, `from`'s storage moves to `to` (a new BUFFER identity for the new
  // contents), so that a graph that still names the old contents is refused and never reads the new ones
  // silently.
  struct Overwrite {
    UOpRef from, to;
  };
  std::vector<Overwrite> overwrites;
  // Buffers that a computed value's tensor shows after the run, once for each: equal values share one buffer,
  // and an assignment to one of several such tensors takes new storage.
  std::vector<UOpRef> shown;
  // Value nodes and the buffers that hold them after the run, for RealizedValues.
  std::vector<std::pair<UOpRef, UOpRef>> realized;
};

// Errors: a variable without a value (FailedPrecondition) or with two (InvalidArgument). InvalidArgument:
// operands on several devices without a COPY, a buffer that has no storage or was
// overwritten, two unordered assignments to one buffer (both are named).
//
// Functions' calls (AFTER of CALL) become part of the graph; a call one of whose results is asked for runs
// whole. A transfer (ASSIGN of COPY to a buffer of its own) is stored there whenever it is computed.
absl::StatusOr<Call> MakeCall(absl::Span<const OutputRequest> requests,
                              const RealizedValues* realized = nullptr);

// The precompiled CALLs below the values whose results are not known yet, each after those that its arguments
// need. MakeCall fuses a call that is left among the values; who runs it before runs one program.
std::vector<UOpRef> PendingCalls(absl::Span<const OutputRequest> requests, const RealizedValues* realized);

// The body of a CALL as something to run, with argument p in buffers[p], whole and in order. Equal bodies
// give the same sink. Results are known after CommitCall.
absl::StatusOr<Call> MakeBodyCall(const UOpRef& call, const std::vector<UOpRef>& buffers);

// After a successful run: moves overwritten storage and remembers the computed values.
void CommitCall(const Call& call, RealizedValues* realized);

// True when the slot's contents were overwritten by a later assignment (the mark CommitCall leaves behind).
bool IsOverwritten(const StorageSlot& slot);

}  // namespace understudy
