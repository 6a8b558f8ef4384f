// SPDX-License-Identifier: Apache-2.0
// Any bytes: refused with a reason, or a file whose every element can be read.
#include <cstddef>
#include <cstdint>

#include "src/base/status.h"
#include "src/tensor/state/gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace understudy;  // NOLINT
  const auto file = ParseGguf({data, size});
  if (!file.ok()) return 0;
  for (const GgufEntry& e : file->entries) US_CHECK(GgufElements(e).ok()) << e.name;
  return 0;
}
