// SPDX-License-Identifier: Apache-2.0
#include "fuzz/mockgpu/packets/fuzz_host.h"
#include "mockgpu/amd/cp/pm4_queue.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace understudy::mockgpu::amd;
  for (const Gc gc : {Gc::kGc9, Gc::kGc11, Gc::kGc12}) FuzzHost(gc).Run<Pm4Queue>(data, size, 4);
  return 0;
}
