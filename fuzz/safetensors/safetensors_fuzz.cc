// SPDX-License-Identifier: Apache-2.0
// Any bytes: refused with a reason, or a file that is written and read again.
#include <cstddef>
#include <cstdint>

#include "src/base/status.h"
#include "src/tensor/state/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace understudy;  // NOLINT
  const auto file = ParseSafetensors({data, size});
  if (!file.ok()) return 0;
  std::vector<StoredTensor> tensors;
  for (const SafetensorsEntry& e : file->entries)
    tensors.push_back({e.name, e.dtype, e.shape, {e.bytes.begin(), e.bytes.end()}});
  const auto again = SerializeSafetensors(tensors, file->metadata);
  US_CHECK_OK(again);
  const absl::Span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(again->data()), again->size());
  US_CHECK_OK(ParseSafetensors(bytes));
  return 0;
}
