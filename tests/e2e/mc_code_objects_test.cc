// SPDX-License-Identifier: Apache-2.0
// Every code object that the tests and the demo build with clang: our decoder and LLVM MC see the same
// instructions. (Those that our own compiler makes are compared as the differential tests compile them.)
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "src/base/file.h"
#include "tests/e2e/mc_checked_device.h"

namespace understudy {
namespace {

std::vector<std::string> files;

TEST(CodeObjects, DecodeAsLlvmMcDecodesThem) {
  ASSERT_FALSE(files.empty());
  int64_t instructions = 0;
  for (const std::string& path : files) {
    const auto file = ReadFile(path);
    ASSERT_TRUE(file.ok()) << file.status();
    const int64_t before = instructions;
    for (const std::string& d : CompareCodeObjectWithMc(
             {reinterpret_cast<const uint8_t*>(file->data()), file->size()}, &instructions)) {
      ADD_FAILURE() << path << ": " << d;
    }
    EXPECT_GT(instructions, before) << path;
  }
  std::printf("%zu code objects, %lld instructions\n", files.size(), static_cast<long long>(instructions));
}

}  // namespace
}  // namespace understudy

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  understudy::files.assign(argv + 1, argv + argc);
  return RUN_ALL_TESTS();
}
