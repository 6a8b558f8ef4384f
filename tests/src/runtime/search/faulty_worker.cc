// SPDX-License-Identifier: Apache-2.0
// A compile worker whose compiler does what the candidate's unrolling of axis 0 says, so that tests see what
// becomes of it: everything else compiles as it should.

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "src/runtime/search/compile_worker.h"

namespace understudy {
namespace {

absl::StatusOr<CompiledKernel> Compile(const CompileJob& job) {
  for (const Choice& c : job.choices) {
    if (c.kind != ChoiceKind::kUnroll) continue;
    switch (c.amount) {
      case 2:
        std::fprintf(stderr, "about to fall\n");
        raise(SIGSEGV);
        break;
      case 4:
        std::fprintf(stderr, "around and around\n");
        for (;;) pause();
      case 8:
        std::fprintf(stderr, "LLVM ERROR: Cannot select: t5\n");
        std::abort();
      case 16: {
        std::vector<char*> all;
        for (;;) {
          all.push_back(new char[64 << 20]);
          all.back()[0] = 1;
        }
      }
      case 32:
        if (write(kCompileWorkerSocket, "\xff\xff\xff\xff\xff\xff\xff\xff", 8) != 8) std::abort();
        break;
      case 64:
        _exit(3);
      default:
        break;
    }
  }
  return CompileJobByLlvm(job);
}

}  // namespace
}  // namespace understudy

int main() { return understudy::RunCompileWorker(understudy::kCompileWorkerSocket, understudy::Compile); }
