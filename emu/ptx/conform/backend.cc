// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/conform/backend.h"

#include <cstdlib>
#include <cstring>

namespace understudy::emu::ptx::conform {

bool UseHardware() {
  const char* const value = std::getenv("USE_HW");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

absl::StatusOr<std::unique_ptr<Backend>> ChosenBackend() {
  if (UseHardware()) return OpenDriver();
  return MakeEmulator();
}

}  // namespace understudy::emu::ptx::conform
