// SPDX-License-Identifier: Apache-2.0
// Sequences of /dev/kfd ioctls with arguments from the input. Whatever a process says, each call returns 0 or
// a negative errno, nothing outside the process's own arena is written, and a clean process can still be
// served.
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "mockgpu/amd/mock_kernel.h"
#include "src/base/status.h"

namespace {

using namespace understudy::mockgpu;

constexpr size_t kArena = 16384;

// Values that make calls reach deep: ids, handles and addresses of what exists.
struct Known {
  std::vector<uint64_t> words;
  uint64_t Pick(uint8_t selector) const { return words[selector % words.size()]; }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  MockKernel::Options options;
  options.log_events = false;
  options.hang_after_ms = 1;
  options.instruction_budget = 10000;
  auto created = MockKernel::Create(options);
  US_CHECK_OK(created);
  MockKernel& kernel = **created;
  const int kfd = kernel.Open("/dev/kfd", O_RDWR), drm = kernel.Open("/dev/dri/renderD128", O_RDWR);
  US_CHECK(kfd >= 0 && drm >= 0);
  auto id = understudy::os::ReadTextFile(kernel, "/sys/devices/virtual/kfd/kfd/topology/nodes/1/gpu_id");
  US_CHECK_OK(id);
  const uint64_t gpu_id = std::stoul(*id);
  alignas(4096) static uint8_t arena[kArena];
  std::memset(arena, 0, sizeof arena);
  const uint64_t at = reinterpret_cast<uint64_t>(arena);
  std::memcpy(arena, &gpu_id, 4);

  Known known{{0, 1, gpu_id, at, at + 4096, 4096, 8192, uint64_t{1} << 40, (uint64_t{1} << 40) + 4096, 100,
               0x1000, ~uint64_t{0}, gpu_id << 32 | 1, gpu_id << 32 | 2, static_cast<uint64_t>(drm),
               0xe0000001, 0xc4000002, 0x80000004}};
  size_t i = 0;
  for (int calls = 0; calls < 64 && i + 2 <= size; ++calls) {
    const uint8_t number = data[i++];
    const uint8_t shape = data[i++];
    const uint8_t fields = shape & 15;
    // An argument block of up to 16 words, each a known value or a few raw bytes. Pointers are thereby the
    // arena's, or point where nothing is mapped.
    uint64_t args[32] = {};
    for (uint8_t f = 0; f < fields && i < size; ++f) {
      const uint8_t selector = data[i++];
      if (selector < 0x80) {
        args[f] = known.Pick(selector);
      } else if (selector < 0xc0 && i < size) {
        // Two 32-bit fields.
        const uint64_t high = known.Pick(data[i++]);
        args[f] = (known.Pick(selector) & 0xffffffff) | high << 32;
        if (args[f] >= 0x10000000000 && args[f] < (uint64_t{1} << 47)) args[f] &= 0xffffffff;
      } else {
        args[f] = selector - 0xc0;
      }
    }
    static constexpr size_t kSizes[] = {8, 16, 24, 32, 40, 88, 96, 200};
    const size_t bytes = kSizes[shape >> 5];
    const unsigned long request = _IOC(_IOC_READ | _IOC_WRITE, 'K', number % 0x28u, bytes);
    const int result = kernel.Ioctl(kfd, request, args);
    US_CHECK(result <= 0 && result > -4096) << "ioctl " << number % 0x28 << " returned " << result;
    // What the kernel answered may be used by later calls.
    for (uint8_t f = 0; f < 4; ++f) {
      if (args[f] != 0 && (args[f] >> 32 == gpu_id || args[f] < 4096)) known.words.push_back(args[f]);
    }
    kernel.Pause();
  }
  return 0;
}
