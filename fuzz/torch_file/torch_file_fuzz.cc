// SPDX-License-Identifier: Apache-2.0
// Any bytes: refused with a reason, or a file whose every element can be read (or is refused for its size).
#include <cstddef>
#include <cstdint>

#include "src/base/status.h"
#include "src/tensor/state/torch_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace understudy;  // NOLINT
  const auto file = ParseTorchFile({data, size});
  if (!file.ok()) return 0;
  for (const TorchEntry& e : file->entries) {
    const auto bytes = TorchElements(e, 1 << 20);
    US_CHECK(bytes.ok() || bytes.status().code() == absl::StatusCode::kResourceExhausted) << e.name;
  }
  return 0;
}
