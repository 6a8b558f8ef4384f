// SPDX-License-Identifier: Apache-2.0
#pragma once
// Processes that compile candidates side by side, each within a time and a size. A compile that crashes,
// hangs or runs out of memory is that candidate's error, with what became of the process and the end of what
// it printed; a new process takes its place and the others go on. Used by searches. Thread safe: one batch at
// a time.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/codegen/choices.h"
#include "src/render/render.h"
#include "src/schedule/target.h"
#include "src/uop/uop.h"

namespace understudy {

struct CompilePoolOptions {
  std::vector<std::string> worker;            // the program and its arguments: see compile_worker.h
  int workers = 0;                            // 0: one a core
  double seconds = 30;                        // for one compile
  uint64_t memory_bytes = uint64_t{4} << 30;  // address space of a worker (not under AddressSanitizer)
};

struct CompilePoolStats {
  int64_t started = 0;                // processes
  int64_t compiled = 0, refused = 0;  // answers: code; the compiler's own error
  int64_t crashed = 0, timed_out = 0, out_of_memory = 0;
};

class CompilePool {
 public:
  // NotFound when there is no such program. Processes start with the first batch.
  static absl::StatusOr<std::unique_ptr<CompilePool>> Create(CompilePoolOptions options);
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  // One answer a list of choices, in their order, whichever worker gave it. Aborted: the process was ended by
  // a signal or left by itself; DeadlineExceeded: its time was over; ResourceExhausted: its memory. All name
  // the kernel and the choices.
  std::vector<absl::StatusOr<CompiledKernel>> Compile(const UOpRef& kernel, const Target& target,
                                                      absl::Span<const ChoiceList> candidates);
  const CompilePoolStats& stats() const { return stats_; }

 private:
  struct Worker;
  struct Batch;
  explicit CompilePool(CompilePoolOptions options);

  absl::Status Start(Worker& worker);
  // Ends the process, if there is one; its wait status.
  int End(Worker& worker, bool kill);
  void Give(Worker& worker, Batch& batch, size_t job);
  // What the socket allows; false when the worker is gone.
  bool Write(Worker& worker);
  bool Read(Worker& worker);
  void Finish(Worker& worker, Batch& batch, absl::StatusOr<CompiledKernel> answer);
  void Died(Worker& worker, Batch& batch, bool late);

  const CompilePoolOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> workers_;
  CompilePoolStats stats_;
};

}  // namespace understudy
