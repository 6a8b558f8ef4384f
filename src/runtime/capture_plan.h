// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a captured function replays: memory by what it is for, launches as command graphs, results and
// tensors whose contents it reads and writes. Made once of a Trace. Only src/runtime's capture files include
// this.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/runtime/capture_trace.h"
#include "src/runtime/graph.h"
#include "src/schedule/sizes.h"

namespace understudy::capture_internal {

// An input as a call gave it.
struct BoundInput {
  Tensor tensor;
  UOpRef node;                     // its BUFFER; null for tensors without elements
  std::unique_ptr<Buffer> buffer;  // the range of it
  // A copy of the input stands for it (constants, views that are no range): it may not be assigned to.
  std::optional<Tensor> copy;
};

struct InputSpec {
  Shape shape;
  DType dtype;
  std::string device;
  int memory = -1;  // -1: no item names it
  bool written = false;
};

enum class MemoryKind : uint8_t {
  kInput,
  kKept,      // storage of tensors that were there before, constants, what the host uploads
  kInternal,  // a range of an arena
  kOutput,
};

struct Memory {
  MemoryKind kind = MemoryKind::kKept;
  int input = -1;
  bool written = false;
  std::unique_ptr<Buffer> buffer;                   // null for inputs
  std::vector<std::shared_ptr<StorageSlot>> slots;  // that must not have been overwritten; without handles
  bool named = false;                               // by a launch or copy
};

// A tensor that was there before and that the function reads or assigns to.
struct Handle {
  WeakTensor tensor;
  UOpRef seen;  // its value when last looked at
  int memory;
  StorageView view;
  size_t part = 0;  // of a tensor of several devices
};

// A tensor that was there before and whose value was part of the recorded graphs: it must not change.
struct Frozen {
  WeakTensor tensor;
  UOpRef value;
  std::vector<std::shared_ptr<StorageSlot>> slots;
};

struct ResultSpec {
  enum class Kind : uint8_t {
    kConstant,
    kInput,
    kInputView,
    kHandle,
    kHandleView,
    kKept,
    kOutput,
    kSame,
  };
  Kind kind = Kind::kConstant;
  int index = -1;                    // of the input, handle, memory or earlier result
  UOpRef value;                      // kConstant
  StorageView view;                  // the views and kOutput, kKept
  std::optional<WeakTensor> tensor;  // kHandle, and what kHandleView is a view of
  int base = -1;                     // kOutput: the result that it is a view of, by these steps
  std::vector<StorageView::Step> base_steps;
  DType storage_dtype;  // the BUFFER of kOutput
  int64_t storage_size = 0;
  std::string storage_device;
  std::string device;
  bool requires_grad = false;
};

// A value of several devices among inputs or results: its parts are inputs or results by themselves.
struct SpreadSpec {
  int first = 0;                     // of the parts, in order
  std::optional<MultiArg> arg;       // none: a value of one device, the only part
  std::vector<UOpRef> empty;         // sources of the MULTI without elements; null: the next part
  int input = -1;                    // a result that is that input itself
  std::optional<WeakTensor> tensor;  // or that captured tensor
  bool requires_grad = false;

  static SpreadSpec Of(const UOpRef& value, int first);
  bool SameSharding(const UOpRef& value) const;
  UOpRef Join(absl::Span<const Tensor> parts) const;
};

struct Upload {
  int memory;
  std::vector<uint8_t> bytes;  // constant, or made anew by the host
  int host = -1;
};

// Consecutive launches of one device, or one copy.
struct Step {
  std::shared_ptr<Device> device;
  std::unique_ptr<CommandGraph> graph;
  LaunchList* list = nullptr;  // `graph`, when launches are timed
  std::vector<int> places;     // the graph's, as places of the recording; a copy: {to, from}
  std::vector<Allocation> addresses;
  std::vector<std::string> kernels;
};

struct Recording {
  std::vector<InputSpec> inputs;  // parts
  std::vector<SpreadSpec> given_inputs, given_results;
  std::vector<Memory> memories;
  std::vector<TracedPlace> places;
  std::vector<TracedVariable> variables;
  std::vector<int64_t> values;
  std::vector<Handle> handles;
  std::vector<Frozen> frozen;
  std::vector<ResultSpec> results;
  std::vector<HostEvent> host;
  std::vector<Upload> uploads;
  std::vector<Step> steps;
  int64_t kernels = 0, copies = 0, graphs = 0;
  VariableValues given;  // as recorded

  std::string Text() const;
};

// What the function took and gave in the call that was traced.
struct TracedCall {
  std::string name;
  std::vector<BoundInput>* inputs;
  std::vector<Tensor>* stand_ins;       // by input
  std::vector<UOpRef> stand_in_values;  // before the call
  std::vector<Tensor>* results;
  // Stand-ins and results of several devices; their parts are among the others.
  std::vector<Tensor>*spread_stand_ins, *spread_results;
  std::vector<int> spread_firsts;     // by spread stand-in: the first of its parts
  std::vector<UOpRef> spread_values;  // by spread stand-in: before the call
  VariableValues given;
  bool timed = false;  // launches one by one, with times
};

// FailedPrecondition and Unimplemented explain what of the call cannot be replayed.
absl::StatusOr<std::unique_ptr<Recording>> MakeRecording(Trace& trace, const TracedCall& call);

}  // namespace understudy::capture_internal
