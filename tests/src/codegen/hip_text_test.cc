// SPDX-License-Identifier: Apache-2.0
// HIP C++ text, compiled by clang without ROCm, run on the instruction emulator: bit for bit as REF on random
// kernels with random choices, and with variables and barriers.
#include <gtest/gtest.h>

#include "src/runtime/process/process.h"
#include "tests/src/codegen/device_suite.h"
#include "tests/src/codegen/emulated_device.h"

namespace understudy::test {
namespace {

class HipText : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto clang = FindProgram("clang-22");
    if (!clang.ok()) GTEST_SKIP() << clang.status();
  }
  EmulatedDevice device_{GetParam(), EmulatedDevice::Compiler::kHip};
};

TEST_P(HipText, RandomKernelsEqualRef) {
  test::RandomKernelsEqualRef(device_, {.count = 15, .groups = true});
}
TEST_P(HipText, GroupsAndVariables) { test::GroupsAndVariables(device_, "shared"); }

INSTANTIATE_TEST_SUITE_P(Processors, HipText, ::testing::Values("gfx1100", "gfx1200"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace understudy::test
