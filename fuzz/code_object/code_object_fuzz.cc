// SPDX-License-Identifier: Apache-2.0
// Property: any bytes are read as a code object or refused; nothing crashes, and what is read can be loaded.
#include <cstdint>
#include <cstdlib>

#include "src/runtime/amd/code_object.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using understudy::amd::CodeObject;
  const auto object = CodeObject::Parse({data, size});
  if (!object.ok()) {
    if (object.status().message().empty()) std::abort();
    return 0;
  }
  for (const auto& kernel : object->kernels()) {
    if (kernel.entry_address + 4 > object->image_size()) std::abort();
    for (const auto& arg : kernel.args) {
      if (arg.offset + arg.size > kernel.descriptor.kernarg_size) std::abort();
    }
  }
  // Large images are legal and slow: one in a small bound shows that relocation stays inside.
  if (object->image_size() <= (uint64_t{1} << 20) &&
      object->Image(uint64_t{1} << 40).size() != object->image_size())
    std::abort();
  return 0;
}
