// SPDX-License-Identifier: Apache-2.0
// Property: any bytes are read as a fatbinary or refused with a reason; nothing crashes, and what is chosen
// is one of the entries that a device runs.
#include <cstdint>
#include <cstdlib>

#include "mockgpu/nv/cuda/fatbin.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace understudy::mockgpu::nv;  // NOLINT
  const auto entries = ReadFatbin({data, size});
  if (!entries.ok()) {
    if (entries.status().message().empty()) std::abort();
    return 0;
  }
  for (const int sm : {75, 90, 100}) {
    const FatbinEntry* best = ChoosePtx(*entries, sm, sm == 90);
    if (best != nullptr && best->kind != FatbinKind::kPtx) std::abort();
  }
  if (ListEntries(*entries).empty()) std::abort();
  return 0;
}
