// SPDX-License-Identifier: Apache-2.0
// mma.sync and mma.sp give the bits that an H200 gave (tests/data/conformance/ptx/mma.jsonl), in all their
// forms and on every instruction set of the host that the kernels are built for.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "emu/ptx/semantics/fragment_layout.h"
#include "emu/ptx/semantics/tensor_core.h"
#include "tests/emu/ptx/mma/matrix_machine.h"

namespace understudy::emu::ptx {
namespace {

using nlohmann::json;
using Arg = MatrixMachine::Arg;

std::vector<json> Samples(const char* file) {
  std::vector<json> samples;
  std::ifstream in(std::string("tests/data/conformance/ptx/") + file);
  for (std::string line; std::getline(in, line);) samples.push_back(json::parse(line));
  return samples;
}

uint64_t Hex(const json& value) { return std::stoull(value.get<std::string>(), nullptr, 16); }

// Registers that differ from the recorded ones; -1: refused.
int Differences(const json& sample, std::string* message) {
  const std::string op = sample["op"];
  const int bits = op.find("f64") != std::string::npos ? 64 : 32;
  const int selector = sample.value("selector", 0);
  std::vector<Arg> args;
  for (const char* name : {"d", "a", "b", "c"})
    args.push_back(Arg::Vector(static_cast<int>(sample[name].size()), bits));
  if (sample.contains("e")) {
    args.push_back(Arg::Register());
    args.push_back(Arg::Constant(selector));
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

// Every sample of a file, on every kernel; how many forms there are.
size_t ExpectEqual(const std::vector<json>& samples) {
  std::set<std::string> forms;
  for (int kernels = 0; kernels < NumTensorKernels(); ++kernels) {
    UseTensorKernels(kernels);
    for (const json& sample : samples) {
      std::string message;
      EXPECT_EQ(Differences(sample, &message), 0)
          << TensorKernelName(kernels) << " " << sample["op"] << " " << sample["class"] << " " << message;
      forms.insert(sample["op"]);
    }
  }
  return forms.size();
}

TEST(MmaRecorded, EverySampleIsBitEqual) {
  const std::vector<json> samples = Samples("mma.jsonl");
  ASSERT_EQ(samples.size(), 448u);
  EXPECT_EQ(ExpectEqual(samples), 56u);
}

TEST(MmaRecorded, MoreFormsAreBitEqual) {
  const std::vector<json> samples = Samples("mma_more.jsonl");
  ASSERT_GT(samples.size(), 80u);
  EXPECT_EQ(ExpectEqual(samples), samples.size()) << "one sample a form";
}

TEST(MmaRecorded, WmmaFragmentsLieAsRecorded) {
  const std::vector<json> loads = Samples("wmma_fragments.jsonl");
  EXPECT_EQ(loads.size(), 84u);
  for (const json& load : loads) {
    // wmma.load.a.sync.aligned.row.m16n16k16.f16
    std::istringstream parts(load["op"].get<std::string>());
    std::vector<std::string> part;
    for (std::string p; std::getline(parts, p, '.');) part.push_back(p);
    ASSERT_EQ(part.size(), 8u);
    int m, n, k;
    ASSERT_EQ(std::sscanf(part[6].c_str(), "m%dn%dk%d", &m, &n, &k), 3);
    Type type;
    ASSERT_TRUE(FindType(part[7], &type));
    const Fragment which = static_cast<Fragment>(part[2][0] - 'a');
    const FragmentLayout* layout = FindWmmaLayout(which, m, n, k, type, part[5] == "row");
    ASSERT_NE(layout, nullptr) << load["op"];
    const json& elements = load["elements"];
    ASSERT_EQ(layout->registers, static_cast<int>(elements.size())) << load["op"];
    EXPECT_EQ(layout->rows, load["rows"]);
    EXPECT_EQ(layout->cols, load["cols"]);
    for (int reg = 0; reg < layout->registers; ++reg)
      for (int lane = 0; lane < 32; ++lane)
        for (size_t e = 0; e < elements[reg][lane].size(); ++e) {
          const ElementPlace& place = layout->At(reg, lane, static_cast<int>(e));
          ASSERT_EQ(place.row * layout->cols + place.col, elements[reg][lane][e])
              << load["op"] << " register " << reg << " lane " << lane << " element " << e;
        }
  }
}

}  // namespace
}  // namespace understudy::emu::ptx
