// SPDX-License-Identifier: Apache-2.0
#include "tools/demo/host_grid.h"

#include <ucontext.h>

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"

namespace understudy::demo {
namespace {

constexpr size_t kStackBytes = 64 << 10;

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  std::array<uint32_t, 3> local_id;
  bool done = false;
};

// The grid that is running on this thread: built-in functions of a kernel take no context argument.
struct Grid {
  ucontext_t scheduler;
  std::array<uint32_t, 3> group_id, local_size;
  const std::function<void()>* work_item;
  Fiber* current = nullptr;
};
thread_local Grid* grid = nullptr;

void FiberMain() {
  (*grid->work_item)();
  grid->current->done = true;
  swapcontext(&grid->current->context, &grid->scheduler);
}

absl::Status RunGroup(Grid& g, std::vector<Fiber>& fibers) {
  for (Fiber& f : fibers) {
    f.done = false;
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.get();
    f.context.uc_stack.ss_size = kStackBytes;
    f.context.uc_link = nullptr;
    makecontext(&f.context, FiberMain, 0);
  }
  for (;;) {
    size_t done = 0, waiting = 0;
    for (Fiber& f : fibers) {
      if (f.done) {
        ++done;
        continue;
      }
      g.current = &f;
      swapcontext(&g.scheduler, &f.context);
      f.done ? ++done : ++waiting;
    }
    if (done == fibers.size()) return absl::OkStatus();
    if (done != 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("group (", g.group_id[0], ",", g.group_id[1], ",", g.group_id[2], "): ", waiting,
                       " work items wait at a barrier that ", done, " never reach"));
    }
  }
}

}  // namespace

absl::Status RunOnHost(std::array<uint32_t, 3> groups, std::array<uint32_t, 3> local,
                       const std::function<void()>& work_item) {
  Grid g;
  g.local_size = local;
  g.work_item = &work_item;
  std::vector<Fiber> fibers(size_t{local[0]} * local[1] * local[2]);
  for (size_t i = 0; i < fibers.size(); ++i) {
    fibers[i].stack = std::make_unique<char[]>(kStackBytes);
    fibers[i].local_id = {static_cast<uint32_t>(i % local[0]), static_cast<uint32_t>(i / local[0] % local[1]),
                          static_cast<uint32_t>(i / local[0] / local[1])};
  }
  grid = &g;
  absl::Status status;
  for (uint32_t z = 0; z < groups[2] && status.ok(); ++z) {
    for (uint32_t y = 0; y < groups[1] && status.ok(); ++y) {
      for (uint32_t x = 0; x < groups[0] && status.ok(); ++x) {
        g.group_id = {x, y, z};
        status = RunGroup(g, fibers);
      }
    }
  }
  grid = nullptr;
  return status;
}

}  // namespace understudy::demo

// The functions that kernels/prelude.h calls on the host.
extern "C" {
uint32_t host_local_id(uint32_t d) { return understudy::demo::grid->current->local_id[d]; }
uint32_t host_group_id(uint32_t d) { return understudy::demo::grid->group_id[d]; }
uint32_t host_local_size(uint32_t d) { return understudy::demo::grid->local_size[d]; }
void host_barrier() {
  understudy::demo::Fiber* self = understudy::demo::grid->current;
  swapcontext(&self->context, &understudy::demo::grid->scheduler);
}
}
