// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/search/compile_worker.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <new>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/codegen/codegen.h"

namespace understudy {
namespace {

bool WriteAll(int fd, const std::string& data) {
  for (size_t at = 0; at < data.size();) {
    const ssize_t n = write(fd, data.data() + at, data.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += static_cast<size_t>(n);
  }
  return true;
}

// Printf and friends may allocate.
[[noreturn]] void OutOfMemory() {
  constexpr char kWords[] = "out of memory\n";
  if (write(2, kWords, sizeof(kWords) - 1) < 0) _exit(kCompileWorkerOutOfMemory);
  _exit(kCompileWorkerOutOfMemory);
}

}  // namespace

absl::StatusOr<CompiledKernel> CompileJobByLlvm(const CompileJob& job) {
  US_ASSIGN_OR_RETURN(const LinearKernel linear, LowerKernel(job.kernel, job.target, &job.choices));
  return RenderLlvm(linear, job.target);
}

int RunCompileWorker(int socket, const CompileFunction& compile) {
  std::set_new_handler(OutOfMemory);
  std::string buffer, chunk(1 << 16, '\0');
  for (;;) {
    const auto frame = TakeFrame(&buffer);
    if (!frame.ok()) return 1;
    if (!frame->has_value()) {
      const ssize_t n = read(socket, chunk.data(), chunk.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return n < 0;
      buffer.append(chunk, 0, static_cast<size_t>(n));
      continue;
    }
    absl::StatusOr<CompiledKernel> answer = absl::UnknownError("");
    const absl::StatusOr<CompileJob> job = DecodeJob(**frame);
    if (job.ok()) {
      if (job->seconds > 0 && job->seconds < 1e6) alarm(static_cast<unsigned>(2 * job->seconds) + 5);
      answer = compile(*job);
      alarm(0);
    } else {
      answer = job.status();
    }
    if (!WriteAll(socket, EncodeFrame(EncodeAnswer(answer)))) return 1;
  }
}

}  // namespace understudy
