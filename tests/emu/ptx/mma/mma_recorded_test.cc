// SPDX-License-Identifier: Apache-2.0
// mma.sync and mma.sp give the bits that an H200 gave (tests/data/conformance/ptx/mma.jsonl), in all their
// forms and on every instruction set of the host that the kernels are built for.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "emu/ptx/semantics/tensor_core.h"
#include "tests/emu/ptx/mma/matrix_machine.h"

namespace understudy::emu::ptx {
namespace {

using nlohmann::json;
using Arg = MatrixMachine::Arg;

std::vector<json> Samples() {
  std::vector<json> samples;
  std::ifstream in("tests/data/conformance/ptx/mma.jsonl");
  for (std::string line; std::getline(in, line);) samples.push_back(json::parse(line));
  return samples;
}

uint64_t Hex(const json& value) { return std::stoull(value.get<std::string>(), nullptr, 16); }

// Registers that differ from the recorded ones; -1: refused.
int Differences(const json& sample, std::string* message) {
  const std::string op = sample["op"];
  const int bits = op.find("f64") != std::string::npos ? 64 : 32;
  std::vector<Arg> args;
  for (const char* name : {"d", "a", "b", "c"})
    args.push_back(Arg::Vector(static_cast<int>(sample[name].size()), bits));
  if (sample.contains("e")) {
    args.push_back(Arg::Register());
    args.push_back(Arg::Constant(0));
  }
  MatrixMachine machine(op, args);
  const char* names[] = {"d", "a", "b", "c"};
  for (int arg = 1; arg < 4; ++arg)
    for (size_t reg = 0; reg < sample[names[arg]].size(); ++reg)
      for (int lane = 0; lane < 32; ++lane)
        machine.Set(arg, static_cast<int>(reg), lane, Hex(sample[names[arg]][reg][lane]));
  if (sample.contains("e"))
    for (int lane = 0; lane < 32; ++lane) machine.Set(4, 0, lane, Hex(sample["e"][lane]));
  *message = machine.Run();
  if (!message->empty()) return -1;
  int differences = 0;
  for (size_t reg = 0; reg < sample["d"].size(); ++reg)
    for (int lane = 0; lane < 32; ++lane)
      differences += machine.Get(0, static_cast<int>(reg), lane) != Hex(sample["d"][reg][lane]);
  return differences;
}

TEST(MmaRecorded, EverySampleIsBitEqual) {
  const std::vector<json> samples = Samples();
  ASSERT_EQ(samples.size(), 448u);
  for (int kernels = 0; kernels < NumTensorKernels(); ++kernels) {
    UseTensorKernels(kernels);
    std::map<std::string, int> equal;
    for (const json& sample : samples) {
      std::string message;
      const int differences = Differences(sample, &message);
      EXPECT_EQ(differences, 0) << TensorKernelName(kernels) << " " << sample["op"] << " " << sample["class"]
                                << " " << message;
      equal[sample["op"]] += differences == 0;
    }
    EXPECT_EQ(equal.size(), 56u);
    for (const auto& [op, count] : equal) EXPECT_EQ(count, 8) << op;
  }
}

}  // namespace
}  // namespace understudy::emu::ptx
