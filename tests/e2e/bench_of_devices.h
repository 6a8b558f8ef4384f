// SPDX-License-Identifier: Apache-2.0
#pragma once
// A rig for tests that run the same tensors on REF, CPU and AMD: every code object that its AMD device
// compiles is read by LLVM MC too.

#include <memory>
#include <utility>

#include "src/base/status.h"
#include "tests/e2e/mc_checked_device.h"
#include "tools/rig/rig.h"

namespace understudy {

class BenchOfDevices {
 public:
  BenchOfDevices() {
    auto rig = Rig::Create({}, [this](std::shared_ptr<AmdDevice> amd) {
      return mc_checked_ = std::make_shared<McCheckedDevice>(std::move(amd));
    });
    US_CHECK_OK(rig);
    rig_ = *std::move(rig);
  }
  Engine& engine() { return rig_->engine(); }
  // Code objects of the AMD device that LLVM MC has read, and where it disagreed with our decoder.
  const McCheckedDevice& mc_checked() const { return *mc_checked_; }

 private:
  std::unique_ptr<Rig> rig_;  // holds the machine, which outlives the device
  std::shared_ptr<McCheckedDevice> mc_checked_;
};

}  // namespace understudy
