// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decides which values of a call are stored and builds the expression of every kernel. One walk from the
// outputs to the inputs meets each node after all its users: by then it is known where, how often and at
// which indices the value is wanted, and it is either stored (a kernel of its own) or computed in place at
// each of those. One walk back builds the expressions. MakeSchedule is its only user.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "src/schedule/fusion_report.h"
#include "src/schedule/schedule.h"
#include "src/schedule/views.h"
#include "src/uop/uop.h"

namespace understudy {

// Added to a parameter's slot where an expression reads what the call itself writes there.
inline constexpr int kNewContents = 1 << 24;
// The slot that an expression names.
inline int StorageOf(int name) { return name >= kNewContents ? name - kNewContents : name; }
// How expressions name what the call stores in a slot.
inline int NameOf(int slot, int num_params) { return slot < num_params ? slot + kNewContents : slot; }
// The slot that an INDEX of an expression names.
inline int SlotOf(const UOp& index) { return static_cast<int>(index.src(0)->arg_as<int64_t>()); }

// A STORE of the call.
struct OutputStore {
  int param = 0;
  UOpRef value;
  bool via_temporary = false;  // the value is computed elsewhere first, then copied here
};

// A unit of work: a kernel that computes `root` (or copies it), or a transfer.
struct Unit {
  UOpRef root;
  int slot = 0;  // written
  std::string device;
  bool is_copy = false;  // transfer between devices: slot <- source
  int source = -1;       // as expressions name it: may carry kNewContents
  std::vector<UOpRef> ranges;
  UOpRef value;  // filled by BuildExpressions
  UOpRef store_index;
  bool scatter = false;  // perhaps two kernels: scatter.h
  bool computes =
      true;         // false: fills an output from a value that is stored elsewhere (no other unit reads it)
  double work = 0;  // simple operations an element, about
};

class Planner {
 public:
  Planner(std::vector<OutputStore> stores, absl::Span<const std::string> devices,
          const ScheduleOptions& options);

  // Fills units(); temporaries get slots from devices.size() on.
  absl::Status Run();

  const std::vector<Unit>& units() const { return units_; }
  struct Temp {
    DType dtype;
    int64_t size;
    std::string device;
  };
  const std::vector<Temp>& temporaries() const { return temps_; }
  // One a value that is computed, users before sources; `item` is the number of the unit.
  std::vector<FusionDecision> TakeDecisions() { return std::move(decisions_); }

 private:
  // One place at which a unit wants a node's value.
  struct Request {
    int unit;
    Place at;
    double evaluations;  // how often the unit computes it
    bool in_reduce;
    std::vector<int> from;       // request number at each source
    UOpRef own;                  // PAD: the condition it adds
    std::vector<UOpRef> ranges;  // REDUCE_AXIS: the new ranges
    UOpRef expr;
  };
  struct Key {
    int unit;
    std::vector<const UOp*> index;
    const UOp* valid;
    bool operator==(const Key&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const Key& k) {
      return H::combine(std::move(h), k.unit, k.index, k.valid);
    }
  };
  struct Node {
    const UOp* op = nullptr;
    std::string device;
    double cost = 0;         // of computing one element from stored values, in simple operations
    double passed_cost = 0;  // what its users pay for it: nothing when it will probably be stored
    double work = 0;         // the same with the steps of reductions, to judge a kernel by
    double passed_work = 0;
    double nested_work = 0;   // the part of passed_work that is reductions
    bool has_reduce = false;  // a reduction would be recomputed with it
    bool passes_reduce = false;
    bool forced = false;     // must be stored
    bool constant = false;   // the same everywhere: neither buffers nor positions
    bool selection = false;  // a reduction with one term (selection.h)
    int64_t scatter = 0;     // the places of a scatter (scatter.h)
    int stored = -1;         // slot
    std::vector<Request> requests;
    absl::flat_hash_map<Key, int> known;
  };

  void Reset();
  void Analyse();
  absl::Status Decide();
  // Whether the node is stored, and what each way costs.
  FusionDecision Judge(const Node& n) const;
  int NewTemporary(const Node& n);
  std::string DeviceOfUsers(const Node& n) const;
  void StartUnit(Node& n, int slot, bool computes);
  int Ask(const UOpRef& node, Request request);
  void Propagate(Node& n, size_t request);
  void BuildExpressions();
  UOpRef Expression(Node& n, Request& r);
  int BaseSlot(const UOpRef& node) const;
  int ReadSlot(int stored) const;
  // A unit over its buffer limit: picks a node to store, or -1.
  int SplitCandidate(int unit, int slots) const;

  std::vector<OutputStore> stores_;
  std::vector<std::string> devices_;
  ScheduleOptions options_;
  std::vector<UOpRef> roots_;
  std::vector<Node> nodes_;  // sources before users
  absl::flat_hash_map<const UOp*, int> number_;
  absl::flat_hash_set<const UOp*> forced_;
  std::vector<Unit> units_;
  std::vector<Temp> temps_;
  std::vector<FusionDecision> decisions_;
  int64_t next_range_ = 0;
};

}  // namespace understudy
