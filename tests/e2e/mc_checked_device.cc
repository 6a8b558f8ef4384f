// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/mc_checked_device.h"

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/runtime/amd/code_object.h"
#include "tests/emu/amd/decode/mc_oracle.h"

namespace understudy {

std::vector<std::string> CompareCodeObjectWithMc(absl::Span<const uint8_t> file, int64_t* instructions) {
  const auto object = amd::CodeObject::Parse(file);
  if (!object.ok()) return {std::string(object.status().message())};
  std::vector<std::string> out;
  const std::vector<uint8_t> image = object->Image(0);
  for (const amd::KernelSymbol& kernel : object->kernels()) {
    const auto symbol = object->symbols().find(kernel.name);
    if (symbol == object->symbols().end() || symbol->second.size == 0 ||
        kernel.entry_address + symbol->second.size > image.size()) {
      out.push_back(absl::StrCat(kernel.name, ": no code"));
      continue;
    }
    const uint8_t* code = image.data() + kernel.entry_address;
    emu::amd::CompareOptions options;
    options.wave_size = kernel.descriptor.wave32() ? 32 : 64;
    options.text = false;
    for (const auto& d : emu::amd::CompareWithMc(code, symbol->second.size, options)) {
      out.push_back(absl::StrCat(kernel.name, "+", d.offset, ": ", d.what));
    }
    for (size_t at = 0; at < symbol->second.size;) {
      const auto inst = emu::amd::Decode(emu::amd::Isa::kRdna3, code + at, symbol->second.size - at);
      *instructions += inst.ok();
      at += inst.ok() ? inst->size : 4;  // words that both refuse are no difference
    }
  }
  return out;
}

absl::StatusOr<std::unique_ptr<Program>> McCheckedDevice::Compile(const UOpRef& kernel,
                                                                  const ChoiceList* choices) {
  US_ASSIGN_OR_RETURN(std::unique_ptr<Program> program, device_->Compile(kernel, choices));
  ++code_objects_;
  for (std::string& d : CompareCodeObjectWithMc(program->code(), &instructions_))
    differences_.push_back(std::move(d));
  return program;
}

}  // namespace understudy
