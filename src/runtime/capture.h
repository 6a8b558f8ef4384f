// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions whose work is recorded once and then replayed: no graph is built, nothing is scheduled, launches
// are command graphs that each device encoded once. For training steps and inference that run many times on
// tensors of the same shapes. A replay computes what the function computes when it runs.
//
//   CapturedFunction step(engine, [&](absl::Span<const Tensor> in) -> absl::StatusOr<std::vector<Tensor>> {
//     Tensor loss = model.Forward(in[0]).CrossEntropy(in[1]);
//     US_RETURN_IF_ERROR(optimizer->Step(Gradients(loss, optimizer->params())));
//     return std::vector<Tensor>{loss};
//   });
//   for (...) { US_ASSIGN_OR_RETURN(std::vector<Tensor> loss, step({x, y})); }

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/runtime/engine.h"
#include "src/schedule/sizes.h"
#include "src/tensor/tensor.h"
#include "src/tensor/watch.h"

namespace understudy {

namespace capture_internal {
struct BoundInput;
struct Recording;
struct ResultSpec;
struct SpreadSpec;
class Trace;
}  // namespace capture_internal

// The first call runs the function, the second runs it and records, all later ones replay.
//
// Inputs may be any tensors of the recorded shapes, dtypes and devices. They are realised first; constants,
// and views that are no range of their storage, are copied first. They may share storage with each other and
// with what the function captured, unless it assigns there.
//
// Results have storage of their own, as those of any other run: what somebody still holds is never
// overwritten by a later call, memory that nobody holds is used again. A result that is an input or a
// captured tensor is that tensor.
//
// What the function assigns to (inputs, parameters, state of optimisers) every replay assigns to, and all of
// it is realised when a call returns. Captured tensors are looked at when a replay begins, so that it sees
// what was assigned to them in between. Generators, optimisers, and work given to HostWorkNow and HostTensor
// (src/tensor/watch.h) go on at every replay. All other C++ of the function runs in the first two calls only:
// its branches and numbers stay as they were, and variables that it sets are not set again.
//
// Refused (FailedPrecondition, and InvalidArgument for inputs), with what to do instead: reading a tensor's
// data inside, inputs that differ from the recorded ones, tensors that the function leaves behind without
// returning or assigning them, storage that is written under two names, captured tensors that are gone or
// were replaced. The recording is dropped when the function fails while it is recorded: the next call
// records again. An error of a replay keeps the recording; targets of assignments may be partly written.
class CapturedFunction {
 public:
  using Inputs = absl::Span<const Tensor>;
  using Body = std::function<absl::StatusOr<std::vector<Tensor>>(Inputs)>;
  // `variables`: values of symbolic sizes and positions. The function binds (BIND) those of its variables
  // that are to change from call to call to what it is given here.
  using VariableBody = std::function<absl::StatusOr<std::vector<Tensor>>(Inputs, const VariableValues&)>;

  // The engine must outlive the function. Not thread safe, as the engine.
  CapturedFunction(Engine& engine, Body body, std::string name = "f");
  CapturedFunction(Engine& engine, VariableBody body, std::string name = "f");
  ~CapturedFunction();
  CapturedFunction(const CapturedFunction&) = delete;
  CapturedFunction& operator=(const CapturedFunction&) = delete;

  // Inside of another captured function of the same engine the body simply runs, as a part of that one.
  absl::StatusOr<std::vector<Tensor>> operator()(Inputs inputs, const VariableValues& variables = {});
  absl::StatusOr<std::vector<Tensor>> operator()(std::initializer_list<Tensor> inputs,
                                                 const VariableValues& variables = {}) {
    return (*this)(absl::MakeConstSpan(inputs.begin(), inputs.size()), variables);
  }

  // Forgets the recording: the next call runs the function, the one after it records.
  void Reset();
  bool captured() const { return recording_ != nullptr; }
  // For people: what a replay does. "" before there is a recording.
  std::string Text() const;

 private:
  using Results = std::vector<Tensor>;
  absl::Status Named(const absl::Status& status) const;
  absl::StatusOr<Results> Eager(Inputs inputs, const VariableValues& variables);
  absl::StatusOr<Results> Capture(Inputs inputs, const VariableValues& variables);
  absl::StatusOr<Results> Replay(Inputs inputs, const VariableValues& variables);
  // The body under a trace, and everything realised that it returns or assigns to.
  absl::StatusOr<Results> RunBody(capture_internal::Trace& trace, Inputs inputs,
                                  const VariableValues& variables);

  void Know(const capture_internal::Trace& trace);
  // Tensors of several devices as the parts that they are.
  absl::StatusOr<std::vector<Tensor>> Flatten(Inputs inputs,
                                              std::vector<capture_internal::SpreadSpec>* specs);
  absl::Status CheckSpread(Inputs inputs) const;
  static void JoinInputs(Inputs inputs, absl::Span<const capture_internal::SpreadSpec> specs,
                         absl::Span<const Tensor> flat);
  absl::StatusOr<Results> JoinResults(Inputs inputs, absl::Span<const Tensor> flat);
  absl::StatusOr<capture_internal::BoundInput> Bind(const Tensor& input);
  // Storage that several tensors show is copied before one of them is assigned to.
  absl::Status Unshare(capture_internal::BoundInput& input);
  absl::Status Renew(capture_internal::BoundInput& input);
  absl::Status CheckInputs(Inputs inputs) const;
  absl::Status CheckSharing(absl::Span<const capture_internal::BoundInput> inputs) const;
  absl::Status SetVariables(const VariableValues& variables);
  absl::Status LookAtHandles();
  absl::Status RenewHandles();
  absl::Status FindAddresses(absl::Span<const capture_internal::BoundInput> inputs);
  absl::Status RunUploads();
  absl::Status RunSteps(absl::Span<const capture_internal::BoundInput> inputs);
  absl::StatusOr<Results> MakeResults(Inputs inputs, const VariableValues& variables);
  static Tensor ViewOfInput(const capture_internal::ResultSpec& spec, const Tensor& input);

  Engine& engine_;
  const VariableBody body_;
  const std::string name_;
  int calls_ = 0;                      // that ran the body, since Reset
  int retries_ = 0;                    // recordings that the next call has to make again
  std::vector<WeakTensor> known_;      // captured tensors that the last such call read
  std::vector<Allocation> addresses_;  // by place
  std::unique_ptr<capture_internal::Recording> recording_;
};

}  // namespace understudy
