// SPDX-License-Identifier: Apache-2.0
// Property: any bytes are read as an offload bundle or as a host library, or refused with a reason; every
// entry lies inside of them.
#include <cstdint>
#include <cstdlib>

#include "src/runtime/amd/offload_bundle.h"

namespace {

using Entries = absl::StatusOr<std::vector<understudy::amd::OffloadEntry>>;

void Check(const Entries& entries, const uint8_t* data, size_t size) {
  if (!entries.ok()) {
    if (entries.status().message().empty()) std::abort();
    return;
  }
  for (const auto& entry : *entries) {
    if (entry.processor().size() > entry.id.size()) std::abort();
    if (entry.content.empty()) continue;
    if (entry.content.data() < data || entry.content.data() + entry.content.size() > data + size)
      std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  size_t end = 0;
  const Entries bundle = understudy::amd::ReadOffloadBundle({data, size}, &end);
  if (bundle.ok() && end > size) std::abort();
  Check(bundle, data, size);
  Check(understudy::amd::OffloadEntriesOfLibrary({data, size}), data, size);
  return 0;
}
