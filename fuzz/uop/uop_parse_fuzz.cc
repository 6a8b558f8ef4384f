// SPDX-License-Identifier: Apache-2.0
// Any text: the parser refuses it with a line and a column, or gives a node whose text parses back to the
// node itself, whose bounds can be asked and whose spec can be checked. Nothing aborts, nothing leaks.
#include <cstddef>
#include <cstdint>
#include <string>

#include "src/base/status.h"
#include "src/symbolic/bounds.h"
#include "src/uop/print.h"
#include "src/uop/spec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace understudy;  // NOLINT
  const int64_t before = LiveUOps();
  {
    const absl::StatusOr<UOpRef> node = uop::Parse(std::string(reinterpret_cast<const char*>(data), size));
    if (!node.ok()) {
      US_CHECK(std::string(node.status().message()).rfind("line ", 0) == 0) << node.status().ToString();
    } else {
      const absl::StatusOr<UOpRef> back = uop::Parse(uop::Print(*node));
      US_CHECK(back.ok()) << back.status().ToString();
      US_CHECK(*back == *node) << uop::Print(*node) << "became\n" << uop::Print(*back);
      symbolic::Bounds(*node);
      for (int stage = 0; stage <= static_cast<int>(uop::Stage::kLinear); ++stage) {
        (void)uop::CheckSpecAlways(*node, static_cast<uop::Stage>(stage)).ok();
      }
      (void)uop::Infix(*node);
    }
  }
  US_CHECK(LiveUOps() == before) << LiveUOps() - before << " nodes leaked";
  return 0;
}
