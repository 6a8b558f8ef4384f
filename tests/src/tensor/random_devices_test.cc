// SPDX-License-Identifier: Apache-2.0
// The same seed gives the same bits on every device: each kind of draw on each device, byte for byte what REF
// gives (whose numbers random_test compares with the published vectors and the distributions).
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "src/tensor/random.h"
#include "tests/src/schedule/any_device.h"

namespace understudy {
namespace {

constexpr uint64_t kSeed = 0x9e3779b97f4a7c15;

// Numbers in (0, 1) whose sums round.
std::vector<float> Fractions(size_t n) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i)
    v[i] = static_cast<float>(0.03 + std::fmod(static_cast<double>(i) * 0.37, 0.9));
  return v;
}

struct Draw {
  std::string name;
  std::function<Tensor(Generator&, const std::string& device)> make;
};

std::vector<Draw> Draws() {
  std::vector<Draw> out;
  const auto add = [&](std::string name, std::function<Tensor(Generator&, const std::string&)> make) {
    out.push_back({std::move(name), std::move(make)});
  };
  for (const DType t : {dtypes::kFloat32, dtypes::kFloat64, dtypes::kFloat16, dtypes::kBFloat16}) {
    add("rand " + t.Name(), [t](Generator& g, const std::string& d) { return Rand({7, 43}, g, {t, d}); });
    add("randn " + t.Name(), [t](Generator& g, const std::string& d) { return Randn({7, 43}, g, {t, d}); });
  }
  for (const DType t : {dtypes::kFloat32, dtypes::kFloat64}) {
    add("uniform " + t.Name(), [t](Generator& g, const std::string& d) {
      return Tensor::Uniform({301}, g.seed(), -2.7, 5.1, {t, d});
    });
    add("normal " + t.Name(), [t](Generator& g, const std::string& d) {
      return Tensor::Normal({301}, g.seed(), 0.3, 1.7, {t, d});
    });
  }
  add("counters past 2^32", [](Generator& g, const std::string& d) {
    g.Take((uint64_t{1} << 32) - 5);
    return Rand({11}, g, {dtypes::kFloat32, d});
  });
  add("the second draw", [](Generator& g, const std::string& d) {
    g.Take(17);
    return Randn({65}, g, {dtypes::kFloat32, d});
  });
  add("randint",
      [](Generator& g, const std::string& d) { return Randint(-3, 7, {301}, g, {dtypes::kInt64, d}); });
  add("randint i8",
      [](Generator& g, const std::string& d) { return Randint(-128, 128, {301}, g, {dtypes::kInt8, d}); });
  add("randint past 2^32", [](Generator& g, const std::string& d) {
    return Randint(-(int64_t{3} << 40), int64_t{3} << 40, {65}, g, {dtypes::kInt64, d});
  });
  add("randint of all but one", [](Generator& g, const std::string& d) {
    return Randint(INT64_MIN, INT64_MAX, {65}, g, {dtypes::kInt64, d});
  });
  add("randperm", [](Generator& g, const std::string& d) { return Randperm(50, g, {dtypes::kInt64, d}); });
  add("bernoulli", [](Generator& g, const std::string& d) {
    return Bernoulli(Tensor::FromData<float>(Fractions(301), {301}, d), g);
  });
  add("dropout", [](Generator& g, const std::string& d) {
    return Dropout(Tensor::FromData<float>(Fractions(301), {301}, d), 0.3, true, g);
  });
  add("exponential",
      [](Generator& g, const std::string& d) { return Exponential({301}, g, 2.3, {dtypes::kFloat32, d}); });
  add("truncated normal", [](Generator& g, const std::string& d) {
    return TruncNormal({301}, g, 0.2, 1.3, -2, 3, {dtypes::kFloat32, d});
  });
  add("multinomial with replacement", [](Generator& g, const std::string& d) {
    return Multinomial(Tensor::FromData<float>(Fractions(60), {2, 30}, d), 40, true, g);
  });
  add("multinomial without replacement", [](Generator& g, const std::string& d) {
    return Multinomial(Tensor::FromData<float>(Fractions(40), {2, 20}, d), 7, false, g);
  });
  const Shape weights = {12, 5, 3};
  add("xavier uniform", [=](Generator& g, const std::string& d) {
    return XavierUniform(weights, g, 5.0 / 3, {dtypes::kFloat32, d});
  });
  add("xavier normal",
      [=](Generator& g, const std::string& d) { return XavierNormal(weights, g, 1, {dtypes::kFloat32, d}); });
  add("kaiming uniform", [=](Generator& g, const std::string& d) {
    return KaimingUniform(weights, g, {.a = std::sqrt(5.0), .mode = FanMode::kFanOut}, {dtypes::kFloat32, d});
  });
  add("kaiming normal f64", [=](Generator& g, const std::string& d) {
    return KaimingNormal(weights, g, {.nonlinearity = "relu"}, {dtypes::kFloat64, d});
  });
  return out;
}

class SameBits : public testing::TestWithParam<const char*> {};

TEST_P(SameBits, AsOnRef) {
  auto device = test::OpenAnyDevice(GetParam());
  if (absl::IsNotFound(device.status())) GTEST_SKIP() << device.status();
  ASSERT_TRUE(device.ok()) << device.status();
  auto ref = test::OpenAnyDevice("REF");
  ASSERT_TRUE(ref.ok()) << ref.status();
  for (const Draw& draw : Draws()) {
    Generator on_device(kSeed), on_ref(kSeed);
    Tensor t = draw.make(on_device, device->name), r = draw.make(on_ref, ref->name);
    ASSERT_TRUE(t.ok()) << draw.name << ": " << t.status();
    const auto got = device->engine->Bytes(t), want = ref->engine->Bytes(r);
    ASSERT_TRUE(want.ok()) << draw.name << ": " << want.status();
    ASSERT_TRUE(got.ok()) << draw.name << ": " << got.status();
    ASSERT_EQ(got->size(), want->size()) << draw.name;
    const size_t width = t.dtype().ScalarBytes();
    size_t differing = 0, first = 0;
    for (size_t i = got->size(); i-- > 0;) {
      if ((*got)[i] != (*want)[i]) ++differing, first = i / width;
    }
    EXPECT_EQ(differing, 0u) << draw.name << " on " << device->name
                             << ": bytes that differ, first in element " << first;
    EXPECT_EQ(on_device.counter(), on_ref.counter()) << draw.name;
  }
  EXPECT_TRUE(device->close().ok());
}

INSTANTIATE_TEST_SUITE_P(Devices, SameBits,
                         testing::Values("CPU", "X86", "A64", "C", "OPENCL", "AMD", "CUDA"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace understudy
