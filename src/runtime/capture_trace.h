// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one call of a function did: the launches and copies that its engine ran with the memory that they
// name, the tensors that it read and assigned to, and the work of the host that belongs to it. A captured
// function (capture.h) makes a recording of it. Only src/runtime's capture files include this.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "src/runtime/engine.h"
#include "src/runtime/recorder.h"
#include "src/schedule/sizes.h"
#include "src/tensor/watch.h"

namespace understudy::capture_internal {

// A value that storage holds: the BUFFER, and the movement ops from it to the value.
struct StorageView {
  struct Step {
    Op op;
    Arg arg;
    std::vector<UOpRef> more;  // sources after the first: where a SLICE begins and how long it is
    UOpRef Over(const UOpRef& x) const;
  };
  UOpRef node;
  std::vector<Step> steps;

  // Nothing when the value has to be computed, or is a constant.
  static std::optional<StorageView> Of(const UOpRef& value);
  // The same view of other storage.
  UOpRef Over(const UOpRef& other) const;
  // With other values of variables, where `values` has them.
  StorageView Bound(const VariableValues& values) const;
  bool SameSteps(const StorageView& o) const;
  // The first element when the value is a range of the storage in its order.
  std::optional<int64_t> Offset() const;
  // The memory that hangs there; null when there is none (yet).
  Buffer* buffer() const;
  const StorageSlot& slot() const { return *node->arg_as<BufferArg>().slot; }
};

// A value of one device is one part; that of a MULTI are those of its sources that have elements.
std::vector<UOpRef> PartsOf(const UOpRef& value);
// The value with other parts.
UOpRef WithParts(const UOpRef& value, const std::vector<UOpRef>& parts);
// Of every part; nothing when one of them has to be computed or is a constant.
std::optional<std::vector<StorageView>> StoredParts(const UOpRef& value);

// One memory that launches and copies name.
struct TracedMemory {
  std::unique_ptr<Buffer> all;  // of an input: the range that it is
  int input = -1;               // whose stand-in this is
  bool created = false;         // by the call
  bool written = false, written_first = false;
  int first = -1, last = -1;                        // items
  std::optional<std::vector<uint8_t>> upload;       // the host's bytes that it began with
  int host = -1;                                    // or the host event that makes them
  std::vector<std::shared_ptr<StorageSlot>> slots;  // of BUFFERs that are read, where the call made none
};

struct TracedPlace {
  int memory = 0;
  size_t offset = 0, bytes = 0;
};

struct TracedVariable {
  std::string name;
  int64_t value = 0, min = 0, max = 0;
};

struct TracedItem {
  bool copy = false;  // places {to, from}
  std::shared_ptr<Program> program;
  std::shared_ptr<Device> device;
  std::vector<int> places;
  std::vector<bool> writes;
  std::vector<int> vars;
};

// Host work in the order in which the call did it.
struct HostEvent {
  TensorWatch::HostWork work;
  TensorWatch::HostContents contents;  // or this
};

// A tensor that was asked for its value or assigned to; it may be gone.
struct SeenTensor {
  WeakTensor tensor;
  // Where its value was when it was first asked for: every part in storage from before the call; or still to
  // be computed.
  std::optional<std::vector<StorageView>> first;
  bool pending = false;
};

class Trace : public EngineRecorder, public TensorWatch {
 public:
  // A trace that does not record only sees tensors and refuses reads by the host.
  explicit Trace(bool record);
  // `stand_in` is what the call knows as that input.
  void AddInput(int input, const Buffer& stand_in);

  // Installs the trace in an engine and on this thread for the scope's life.
  class Scope {
   public:
    Scope(Trace& trace, EngineRecorder*& engine_recorder);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    EngineRecorder*& engine_recorder_;
    TensorWatch::Scope watch_;
  };

  std::vector<TracedMemory> memories;
  std::vector<TracedPlace> places;
  std::vector<TracedItem> items;
  std::vector<TracedVariable> variables;
  std::vector<HostEvent> host;
  std::vector<SeenTensor> seen;
  std::vector<WeakTensor> assigned;

  // The memory of that buffer, -1 when no item names it.
  int Find(const Buffer& buffer) const;
  // The memory that items know by that slot, -1 when none does.
  int FindSlot(const StorageSlot& slot) const;
  // Whether the BUFFER came into being during the call.
  bool IsNew(const UOp& node) const { return node.arg_as<BufferArg>().id >= first_id_; }

  void OnKernel(const std::shared_ptr<Program>& program, const std::shared_ptr<Device>& device,
                const ScheduleItem& item, absl::Span<const Slot> slots,
                const VariableValues& variables) override;
  void OnCopy(const Slot& to, const Slot& from) override;
  void OnStorage(const UOp& node, const Buffer& buffer, const HostData* data) override;
  absl::Status OnHostRead() override;
  void OnRead(const Tensor& t, const UOpRef& value) override;
  void OnAssigned(const Tensor& t) override;
  void OnHostWork(HostWork again) override { host.push_back({std::move(again), nullptr}); }
  void OnHostContents(const UOpRef& node, HostContents again) override;

 private:
  int MemoryOf(const Buffer& buffer);
  int PlaceOf(const Slot& slot, bool write);

  const bool record_;
  uint64_t first_id_;
  absl::flat_hash_map<const Buffer*, int> stand_ins_;
  absl::flat_hash_map<const void*, int> by_id_;
  std::map<std::tuple<int, size_t, size_t>, int> place_numbers_;
  std::map<std::pair<std::string, int64_t>, int> variable_numbers_;
  absl::flat_hash_map<uint64_t, int> host_of_;  // BUFFER -> host event
  absl::flat_hash_set<const void*> seen_ids_, assigned_ids_;
};

// Whether a variable takes part.
bool HasVariables(const UOpRef& value);
// Whether the value is spread over several devices.
bool IsSpread(const UOpRef& value);

// The PARAM positions that a kernel stores to.
std::vector<bool> WrittenPositions(const UOpRef& kernel, size_t count);

}  // namespace understudy::capture_internal
