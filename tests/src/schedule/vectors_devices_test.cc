// SPDX-License-Identifier: Apache-2.0
// PyTorch's vectors of all operations on the devices that render code of their own, a share of them each: the
// machine code for x86-64 and AArch64, C and OpenCL C text, PTX and the code of each AMD GPU on emulated
// ones. (The vector tests themselves take REF and the CPU, the table of docs/ops.md the emulated AMD GPU.)
#include <iostream>

#include "gtest/gtest.h"
#include "tests/src/schedule/any_device.h"
#include "tests/src/tensor/calls/calls.h"

namespace understudy {
namespace {

struct Kind {
  const char* name;
  size_t every;  // n-th vector
};
void PrintTo(const Kind& k, std::ostream* out) { *out << k.name; }

class Vectors : public testing::TestWithParam<Kind> {};

TEST_P(Vectors, HoldOnTheDevice) {
  auto device = test::OpenAnyDevice(GetParam().name);
  if (absl::IsNotFound(device.status())) GTEST_SKIP() << device.status();
  ASSERT_TRUE(device.ok()) << device.status();
  size_t number = 0;
  int held = 0, refused = 0;
  for (const vectors::Family& f : vectors::Families()) {
    for (const vectors::Case& c : vectors::Load(f.file)) {
      if (!c.cpu || number++ % GetParam().every != 0) continue;
      SCOPED_TRACE(f.file + ": " + c.name);
      const absl::Status s = vectors::CheckOnDevice(c, *f.calls, *device->engine, device->name);
      if (HasFailure()) return;
      // What the processor lacks is refused by name.
      ASSERT_TRUE(s.ok() || absl::IsUnimplemented(s)) << s;
      s.ok() ? ++held : ++refused;
    }
  }
  std::cout << held << " vectors hold, " << refused << " refused\n";
  EXPECT_GT(held, 9 * refused);
  EXPECT_TRUE(device->close().ok());
}

INSTANTIATE_TEST_SUITE_P(Devices, Vectors,
                         testing::Values(Kind{"X86", 4}, Kind{"A64", 120}, Kind{"C", 400},
                                         Kind{"OPENCL", 400}, Kind{"CUDA", 15}, Kind{"gfx1150", 120},
                                         Kind{"gfx1201", 120}, Kind{"gfx90a", 120}, Kind{"gfx942", 120},
                                         Kind{"gfx950", 120}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace understudy
