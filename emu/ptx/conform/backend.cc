// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/conform/backend.h"

#include "src/base/use_hardware.h"

namespace understudy::emu::ptx::conform {

absl::StatusOr<std::unique_ptr<Backend>> ChosenBackend() {
  if (UseHardware()) return OpenDriver();
  return MakeEmulator();
}

}  // namespace understudy::emu::ptx::conform
