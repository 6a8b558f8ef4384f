// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "src/runtime/cpu/cpu_device.h"
#include "tests/src/tensor/vectors.h"

namespace understudy::vectors {

void CheckOnCpu(const Case& c, const Calls& calls) {
  if (!c.cpu) GTEST_SKIP() << "on REF only";
  static Engine* const engine = [] {
    DeviceRegistry devices;
    devices.Register(std::make_shared<CpuDevice>());
    return new Engine(devices);
  }();
  const absl::Status status = CheckOnDevice(c, calls, *engine, "CPU");
  ASSERT_TRUE(status.ok()) << status;
}

}  // namespace understudy::vectors
