// SPDX-License-Identifier: Apache-2.0
#pragma once
// Copies between the mock kernel and pointers that a client passed: a bad pointer gives false (the kernel's
// -EFAULT), not a crash. In this process's address space only.

#include <cstddef>
#include <cstdint>

namespace understudy::mockgpu::amd {

bool CopyFromUser(void* to, uint64_t user_from, size_t size);
bool CopyToUser(uint64_t user_to, const void* from, size_t size);
// Whether every page of the range is mapped, and writable where asked.
bool UserRangeMapped(uint64_t address, uint64_t size, bool writable);

}  // namespace understudy::mockgpu::amd
