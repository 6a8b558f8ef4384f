// SPDX-License-Identifier: Apache-2.0
#include "fuzz/amd_programs/host_run.h"

#include <ucontext.h>

#include <iterator>
#include <memory>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace understudy::programs {
namespace {

constexpr size_t kStackBytes = 128 << 10;
constexpr uint32_t kOutFill = 0xcdcdcdcd;

struct Fiber {
  HostItem item;  // first: a HostItem* is its Fiber*
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  bool done = false;
};

// The run of this thread: makecontext passes no pointer.
struct Run {
  HostKernelFn kernel = nullptr;
  ProgramData* data = nullptr;
  uint32_t group = 0;
  std::vector<uint32_t> lds;
  ucontext_t scheduler;
  Fiber* current = nullptr;
};
thread_local Run* run = nullptr;

void Barrier(HostItem* item) { swapcontext(&reinterpret_cast<Fiber*>(item)->context, &run->scheduler); }

void FiberMain() {
  Fiber* self = run->current;
  const uint32_t local = self->item.local, i = run->group * kProgramGroup + local;
  run->kernel(i, local, run->data->in.data(), run->data->out.data() + size_t{i} * kProgramOutWords,
              run->data->mem.data(), run->lds.data(), &self->item);
  self->done = true;
  swapcontext(&self->context, &run->scheduler);
}

absl::Status RunGroup(std::vector<Fiber>& fibers) {
  for (Fiber& f : fibers) {
    f.done = false;
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.get();
    f.context.uc_stack.ss_size = kStackBytes;
    f.context.uc_link = nullptr;
    makecontext(&f.context, FiberMain, 0);
  }
  for (;;) {
    size_t done = 0;
    for (Fiber& f : fibers) {
      run->current = &f;
      swapcontext(&run->scheduler, &f.context);
      done += f.done ? 1 : 0;
    }
    if (done == fibers.size()) return absl::OkStatus();
    if (done != 0) {
      return absl::FailedPreconditionError(absl::StrCat("workgroup ", run->group, ": ", done, " of ",
                                                        fibers.size(),
                                                        " items ended at a barrier that the others wait at"));
    }
  }
}

}  // namespace

ProgramData MakeProgramData(uint32_t seed) {
  constexpr uint32_t kSpecial[] = {0,          0x80000000, 1,          0x80000001, 0x3f800000, 0xbf800000,
                                   0x7f800000, 0xff800000, 0x7fc00000, 0x00800000, 0x007fffff, 0x7f7fffff,
                                   0xffffffff, 0x7fffffff, 0x4b800001, 0x3f000000, 0x00010000, 0x7ff00000,
                                   0xfff00000, 0x00100000, 0x00007fff, 0x7c00fc00, 0x03ff0400, 0x80007bff,
                                   0x0000ffff, 0x00000100};
  ProgramData data;
  std::mt19937 random(seed);
  const auto fill = [&random, &kSpecial](std::vector<uint32_t>& words, size_t count) {
    while (words.size() < count) {
      words.push_back(random() % 4 == 0 ? kSpecial[random() % std::size(kSpecial)]
                                        : static_cast<uint32_t>(random()));
    }
  };
  fill(data.in, kProgramInWords);
  // Atomics start from zero in one half, from anything in the other.
  data.mem.assign(kProgramMemWords / 2, 0);
  fill(data.mem, kProgramMemWords);
  data.out.assign(size_t{kProgramItems} * kProgramOutWords, kOutFill);
  return data;
}

absl::Status RunOnHost(HostKernelFn kernel, int wave_size, ProgramData* data) {
  static thread_local std::vector<Fiber> fibers;
  std::vector<uint64_t> exchange(kProgramGroup);
  if (fibers.empty()) {
    fibers.resize(kProgramGroup);
    for (Fiber& f : fibers) f.stack = std::make_unique<char[]>(kStackBytes);
  }
  for (size_t l = 0; l < fibers.size(); ++l) {
    fibers[l].item = {static_cast<uint32_t>(l), static_cast<uint32_t>(wave_size), exchange.data(), Barrier};
  }
  Run here;
  here.kernel = kernel, here.data = data;
  here.lds.assign(kProgramLdsWords, 0);
  run = &here;
  absl::Status status;
  for (here.group = 0; here.group < kProgramItems / kProgramGroup && status.ok(); ++here.group)
    status = RunGroup(fibers);
  run = nullptr;
  return status;
}

std::string FirstDifference(const ProgramData& got, const ProgramData& want) {
  for (size_t k = 0; k < want.out.size(); ++k) {
    if (got.out[k] != want.out[k]) {
      return absl::StrFormat("out: item %d, word %d: 0x%08x instead of 0x%08x", k / kProgramOutWords,
                             k % kProgramOutWords, got.out[k], want.out[k]);
    }
  }
  for (size_t k = 0; k < want.mem.size(); ++k) {
    if (got.mem[k] != want.mem[k]) {
      return absl::StrFormat("mem: word %d: 0x%08x instead of 0x%08x", k, got.mem[k], want.mem[k]);
    }
  }
  return "";
}

}  // namespace understudy::programs
