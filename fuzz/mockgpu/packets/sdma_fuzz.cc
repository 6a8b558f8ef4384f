// SPDX-License-Identifier: Apache-2.0
#include "fuzz/mockgpu/packets/fuzz_host.h"
#include "mockgpu/amd/sdma/sdma_queue.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace understudy::mockgpu::amd;
  for (const Sdma sdma : {Sdma::kSdma4, Sdma::kSdma6, Sdma::kSdma7}) {
    FuzzHost(Gc::kGc11, sdma).Run<SdmaQueue>(data, size, 1);
  }
  return 0;
}
