// SPDX-License-Identifier: Apache-2.0
#pragma once
// The inside of a compile worker: a process of its own that takes jobs from a CompilePool over a socket and
// compiles them, so that a compile which crashes, hangs or eats all memory takes only this process with it.
// `understudy compile-worker` and //src/runtime/search:compile_worker are nothing but this.

#include <functional>

#include "absl/status/statusor.h"
#include "src/render/render.h"
#include "src/runtime/search/compile_protocol.h"

namespace understudy {

// The descriptor that a pool gives its workers.
inline constexpr int kCompileWorkerSocket = 3;
// How a worker ends when an allocation fails.
inline constexpr int kCompileWorkerOutOfMemory = 86;

using CompileFunction = std::function<absl::StatusOr<CompiledKernel>(const CompileJob&)>;

// LowerKernel and RenderLlvm.
absl::StatusOr<CompiledKernel> CompileJobByLlvm(const CompileJob& job);

// Answers jobs until the pool closes the socket; the process's exit code. Tests give a `compile` that does
// what compilers should not.
int RunCompileWorker(int socket = kCompileWorkerSocket, const CompileFunction& compile = CompileJobByLlvm);

}  // namespace understudy
