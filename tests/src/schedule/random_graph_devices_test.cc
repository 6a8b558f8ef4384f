// SPDX-License-Identifier: Apache-2.0
// The random programs of random_graph_test on every device that compiles kernels: scheduled, lowered,
// rendered and run there, every output equals the same program on plain arrays.
#include <iostream>

#include "gtest/gtest.h"
#include "tests/src/schedule/any_device.h"
#include "tests/src/schedule/random_program.h"

namespace understudy {
namespace {

struct Kind {
  const char* name;
  uint64_t programs;
};
void PrintTo(const Kind& k, std::ostream* out) { *out << k.name; }

class RandomGraphs : public testing::TestWithParam<Kind> {};

TEST_P(RandomGraphs, EqualPlainArrays) {
  auto device = test::OpenAnyDevice(GetParam().name);
  if (absl::IsNotFound(device.status())) GTEST_SKIP() << device.status();
  ASSERT_TRUE(device.ok()) << device.status();
  int computed = 0, refused = 0;
  for (uint64_t seed = 1; seed <= GetParam().programs; ++seed) {
    random_program::Program p(seed * 7919, device->name);
    for (int round = 0; round < 3; ++round) {
      for (int64_t i = p.Int(3, 12); i > 0; --i) p.Step();
      std::vector<Tensor> outputs;
      std::vector<nd::Array> expected;
      for (int64_t i = p.Int(1, 4); i > 0; --i) {
        const random_program::Value& v = p.Any();
        outputs.push_back(v.t);
        expected.push_back(v.a);
      }
      std::vector<Tensor*> all;
      for (Tensor& t : outputs) all.push_back(&t);
      const absl::Status s = device->engine->Realize(all);
      if (!s.ok()) {
        // Contents that an earlier round overwrote.
        ASSERT_TRUE(absl::IsFailedPrecondition(s)) << s << "\nseed " << seed << "\n" << p.log.str();
        ++refused;
        continue;
      }
      for (size_t i = 0; i < outputs.size(); ++i) {
        const auto got = device->engine->Data<int32_t>(outputs[i]);
        if (absl::IsFailedPrecondition(got.status())) continue;  // a view that this round overwrote
        ASSERT_TRUE(got.ok()) << got.status();
        ASSERT_EQ(std::vector<double>(got->begin(), got->end()), expected[i].v)
            << "seed " << seed << " round " << round << " output " << i << "\n"
            << p.log.str();
        ++computed;
      }
    }
  }
  std::cout << computed << " outputs compared, " << refused << " rounds refused\n";
  EXPECT_GT(computed, static_cast<int>(GetParam().programs) * 4);
  EXPECT_TRUE(device->close().ok());
}

INSTANTIATE_TEST_SUITE_P(Devices, RandomGraphs,
                         testing::Values(Kind{"CPU", 12}, Kind{"X86", 150}, Kind{"A64", 10}, Kind{"C", 2},
                                         Kind{"OPENCL", 2}, Kind{"AMD", 6}, Kind{"CUDA", 30},
                                         Kind{"gfx1150", 3}, Kind{"gfx1201", 3}, Kind{"gfx90a", 3},
                                         Kind{"gfx942", 3}, Kind{"gfx950", 3}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace understudy
