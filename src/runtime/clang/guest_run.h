// SPDX-License-Identifier: Apache-2.0
#pragma once
// One launch of a kernel that is a whole program of another processor, under QEMU's user mode: its buffers
// travel in an unnamed shared file (guest.h). Used by the devices "C:..." and "A64".

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "src/codegen/codegen.h"
#include "src/runtime/device.h"

namespace understudy::clang_guest {

struct GuestJob {
  std::string name;                        // of the kernel
  const std::vector<KernelParam>& params;  // by position
  int64_t workgroups = 1;
  std::string file, emulator, processor;
  uint64_t most_bytes = 0;  // of the shared file
  double seconds = 60;
};

// Aborted names the guest's signal, DeadlineExceeded its time; the buffers keep their contents then.
absl::Status RunGuest(const GuestJob& job, absl::Span<const Allocation> buffers,
                      absl::Span<const int64_t> vars);

}  // namespace understudy::clang_guest
