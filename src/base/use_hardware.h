// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one switch between emulation and real devices. Read by tests and tools, never by a library's work.

#include <cstdlib>
#include <cstring>

namespace understudy {

// Whether the environment has USE_HW=1.
inline bool UseHardware() {
  const char* const value = std::getenv("USE_HW");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

}  // namespace understudy
