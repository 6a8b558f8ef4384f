// SPDX-License-Identifier: Apache-2.0
// Any text: refused with the file, the line and the reason, or vectors whose kernels can be written and whose
// inputs can be drawn, within the sizes that the reader allows.
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "emu/ptx/conform/conform.h"
#include "src/base/status.h"

namespace {

using namespace understudy;            // NOLINT
using namespace understudy::emu::ptx;  // NOLINT

// Takes every launch and leaves its buffers as they are.
class Nothing : public conform::Backend {
 public:
  std::string name() const override { return "nothing"; }
  bool is_hardware() const override { return true; }
  absl::Status Run(conform::Launch*) override { return absl::OkStatus(); }
  absl::Status Load(const std::string&) override { return absl::OkStatus(); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)conform::LooksLikePtxVectors(text);
  const auto vectors = conform::ParseVectors(text, "f");
  if (!vectors.ok()) {
    US_CHECK(vectors.status().message().substr(0, 2) == "f:");
    return 0;
  }
  Nothing nothing;
  size_t left = 4;  // large inputs are slow to draw
  for (const conform::Vector& vector : *vectors) {
    US_CHECK(vector.line > 0);
    if (left-- == 0) break;
    (void)conform::RunVector(vector, nothing);
  }
  return 0;
}
