// SPDX-License-Identifier: Apache-2.0
#include "fuzz/mockgpu/packets/fuzz_host.h"
#include "mockgpu/amd/sdma/sdma_queue.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  understudy::mockgpu::amd::FuzzHost().Run<understudy::mockgpu::amd::SdmaQueue>(data, size, 1);
  return 0;
}
