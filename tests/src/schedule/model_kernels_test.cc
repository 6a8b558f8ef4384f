// SPDX-License-Identifier: Apache-2.0
// How many kernels networks of real size take: no more than docs/speed.md says, which are no more than
// tinygrad 0.14.0 launches for the same networks (tools/bench/peer_tinygrad_models.py on its device NULL).
#include <iostream>
#include <set>

#include "gtest/gtest.h"
#include "src/render/c_text.h"
#include "src/runtime/null/null_device.h"
#include "src/schedule/call.h"
#include "src/schedule/schedule.h"
#include "tools/bench/models.h"

namespace understudy {
namespace {

struct Network {
  const char* name;
  int64_t kernels, distinct;  // here
  int64_t tinygrad;           // launches
};
void PrintTo(const Network& n, std::ostream* out) { *out << n.name; }

class ModelKernels : public testing::TestWithParam<Network> {};

TEST_P(ModelKernels, AreNoMoreThanStated) {
  const Network& network = GetParam();
  const auto model = bench::MakeModel(network.name, std::make_shared<NullDevice>(CTextTarget(CDialect::kC)));
  ASSERT_TRUE(model.ok()) << model.status();
  const auto outputs = (*model)->Step();
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  std::vector<OutputRequest> requests;
  for (const Tensor& t : *outputs) requests.push_back({t.uop(), t.device()});
  const auto call = MakeCall(requests);
  ASSERT_TRUE(call.ok()) << call.status();
  const auto schedule = MakeSchedule(*call);
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  int64_t kernels = 0;
  std::set<const UOp*> distinct;
  for (const ScheduleItem& item : schedule->items) {
    if (item.kind != ScheduleItem::Kind::kKernel) continue;
    ++kernels;
    distinct.insert(item.kernel.get());
  }
  std::cout << network.name << ": " << kernels << " kernels, " << distinct.size() << " distinct\n";
  EXPECT_LE(kernels, network.kernels);
  EXPECT_LE(static_cast<int64_t>(distinct.size()), network.distinct);
  EXPECT_LE(network.kernels, network.tinygrad);
  // A graph that lost its training step or its layers would have few.
  EXPECT_GE(kernels, network.kernels / 2);
}

INSTANTIATE_TEST_SUITE_P(Networks, ModelKernels,
                         testing::Values(Network{"resnet50", 51, 27, 51},
                                         Network{"resnet50_training", 454, 173, 1400},
                                         Network{"gpt2_training", 412, 45, 1108},
                                         Network{"bert_large", 242, 11, 388},
                                         Network{"llama3_8b", 358, 19, 387}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ModelNames, AreTheFive) { EXPECT_EQ(bench::ModelNames().size(), 5u); }

}  // namespace
}  // namespace understudy
