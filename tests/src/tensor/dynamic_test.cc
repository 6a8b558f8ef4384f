// SPDX-License-Identifier: Apache-2.0
// Operations whose size depends on the data against PyTorch's results, on REF and CPU.
#include "src/tensor/dynamic.h"

#include <cmath>
#include <cstring>
#include <memory>

#include "gmock/gmock.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/engine.h"
#include "src/runtime/ref/ref_device.h"
#include "tests/src/tensor/vectors.h"

namespace understudy {
namespace {

using ::testing::HasSubstr;
using vectors::Array;
using vectors::Case;

class DynamicTest : public testing::TestWithParam<std::string> {
 protected:
  DynamicTest() {
    DeviceRegistry devices;
    devices.Register(std::make_shared<RefDevice>());
    devices.Register(std::make_shared<CpuDevice>());
    engine_ = std::make_unique<Engine>(std::move(devices));
  }
  ReadTensor Read() {
    return [this](Tensor& t) { return engine_->Bytes(t); };
  }
  Tensor Input(const Array& a) { return vectors::ToTensor(a.values, a.shape, a.dtype, GetParam()); }
  std::vector<double> Values(const Tensor& t) {
    Tensor wide = t.Cast(dtypes::kFloat64);
    const auto v = engine_->Data<double>(wide);
    EXPECT_TRUE(v.ok()) << v.status();
    return v.ok() ? *v : std::vector<double>();
  }
  void ExpectIs(const Tensor& got, const Array& want) {
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(got.shape(), want.shape);
    EXPECT_EQ(got.dtype().Name(), want.dtype.Name());
    const std::vector<double> values = Values(got);
    ASSERT_EQ(values.size(), want.values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(want.values[i]))
        EXPECT_TRUE(std::isnan(values[i])) << i;
      else
        EXPECT_EQ(values[i], want.values[i]) << i;
    }
  }

  std::unique_ptr<Engine> engine_;
};

TEST_P(DynamicTest, IsPyTorchs) {
  for (const Case& c : vectors::Load("tests/data/ops/dynamic.json")) {
    SCOPED_TRACE(c.name);
    std::vector<Tensor> in;
    for (const Array& a : c.inputs) in.push_back(Input(a));
    std::vector<Tensor> out;
    if (c.op == "nonzero") {
      out = {Nonzero(in[0], Read())};
    } else if (c.op == "masked_select") {
      out = {MaskedSelect(in[0], in[1], Read())};
    } else {
      const UniqueResult r = Unique(in[0], Read());
      out = {r.values, r.inverse, r.counts};
    }
    ASSERT_EQ(out.size(), c.outputs.size());
    for (size_t i = 0; i < out.size(); ++i) ExpectIs(out[i], c.outputs[i]);
  }
}

TEST_P(DynamicTest, SelectionHasAGradient) {
  const Tensor x = Tensor::FromData<double>({1, 2, 3, 4}, {4}, GetParam());
  const Tensor picked = MaskedSelect(x, x.Gt(1.5), Read());
  EXPECT_EQ(picked.shape(), Shape{3});
  EXPECT_EQ(Values(Gradients((picked * picked).Sum(), {x})[0]), (std::vector<double>{0, 4, 6, 8}));
}

TEST_P(DynamicTest, ErrorsOfTheReaderAndOfInputsArePassedOn) {
  const Tensor x = Tensor::FromData<float>({1, 0}, {2}, GetParam());
  const ReadTensor broken = [](Tensor&) { return absl::UnavailableError("no device"); };
  EXPECT_THAT(std::string(Nonzero(x, broken).status().message()), HasSubstr("no device"));
  EXPECT_THAT(std::string(Unique(x, broken).counts.status().message()), HasSubstr("no device"));
  const Tensor bad(absl::InvalidArgumentError("bad input"));
  EXPECT_THAT(std::string(Nonzero(bad, Read()).status().message()), HasSubstr("bad input"));
  EXPECT_THAT(std::string(MaskedSelect(x, bad, Read()).status().message()), HasSubstr("bad input"));
}

INSTANTIATE_TEST_SUITE_P(Devices, DynamicTest, testing::Values("REF", "CPU"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace understudy
