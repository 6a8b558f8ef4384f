// SPDX-License-Identifier: Apache-2.0
// Archives that numpy.savez wrote (tests/data/state/make_npz.py): names, types, shapes and elements; what is
// refused; and bytes that are damaged anywhere never give elements from elsewhere.
#include "src/tensor/state/npz.h"

#include "gmock/gmock.h"
#include "src/base/file.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/engine.h"

namespace understudy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Read(const std::string& name) { return *ReadFile("tests/data/state/" + name); }
absl::StatusOr<StateDict> Parse(const std::string& bytes) {
  return ParseNpz({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

class NpzTest : public ::testing::Test {
 protected:
  NpzTest() {
    DeviceRegistry devices;
    devices.Register(std::make_shared<CpuDevice>());
    engine_ = std::make_unique<Engine>(devices);
  }
  std::vector<double> Values(const Tensor& t) {
    Tensor wide = t.Cast(dtypes::kFloat64);
    const auto v = engine_->Data<double>(wide);
    EXPECT_TRUE(v.ok()) << v.status();
    return v.ok() ? *v : std::vector<double>();
  }
  std::unique_ptr<Engine> engine_;
};

TEST_F(NpzTest, HoldsWhatNumpySaved) {
  const auto file = Parse(Read("arrays.npz"));
  ASSERT_TRUE(file.ok()) << file.status();
  std::map<std::string, Tensor> by_name;
  for (const NamedTensor& e : *file) by_name[e.name] = e.tensor;
  EXPECT_EQ(by_name.size(), 17u);
  const std::map<std::string, DType> types = {
      {"i1", dtypes::kInt8},    {"u1", dtypes::kUInt8},   {"i2", dtypes::kInt16},  {"u2", dtypes::kUInt16},
      {"i4", dtypes::kInt32},   {"u4", dtypes::kUInt32},  {"i8", dtypes::kInt64},  {"u8", dtypes::kUInt64},
      {"f2", dtypes::kFloat16}, {"f4", dtypes::kFloat32}, {"f8", dtypes::kFloat64}};
  for (const auto& [name, type] : types) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(by_name.count(name));
    EXPECT_EQ(by_name[name].dtype(), type);
    EXPECT_EQ(by_name[name].shape(), Shape{3});
    EXPECT_THAT(Values(by_name[name]), ElementsAre(0, 1, 100));
  }
  EXPECT_EQ(by_name["flags"].dtype(), dtypes::kBool);
  EXPECT_THAT(Values(by_name["flags"]), ElementsAre(1, 0, 1));
  EXPECT_EQ(by_name["scalar"].shape(), Shape{});
  EXPECT_THAT(Values(by_name["scalar"]), ElementsAre(2.25));
  EXPECT_EQ(by_name["empty"].shape(), (Shape{0, 4}));
  EXPECT_EQ(by_name["matrix"].shape(), (Shape{2, 3}));
  EXPECT_THAT(Values(by_name["matrix"]), ElementsAre(0, 0.25, 0.5, 0.75, 1, 1.25));
  EXPECT_EQ(by_name["cube"].shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(Values(by_name["cube"])[23], 11);
  // A matrix of one column is saved in C order.
  EXPECT_THAT(Values(by_name["column"]), ElementsAre(1.5, -2.5));
}

TEST_F(NpzTest, RefusesByName) {
  const auto error = [](const std::string& name) {
    return std::string(Parse(Read(name)).status().message());
  };
  EXPECT_THAT(error("fortran.npz"), HasSubstr("npz: 'x': Fortran order"));
  EXPECT_THAT(error("big_endian.npz"), HasSubstr("npz: 'x': elements of '>f4'"));
  EXPECT_THAT(error("text.npz"), HasSubstr("npz: 'x': elements of '<U2'"));
  EXPECT_FALSE(Parse(Read("compressed.npz")).ok());
  EXPECT_FALSE(Parse("").ok());
  EXPECT_FALSE(Parse("PK\x03\x04").ok());
  EXPECT_FALSE(LoadNpz("tests/data/state/no such file.npz").ok());
  EXPECT_TRUE(LoadNpz("tests/data/state/arrays.npz").ok());
}

TEST_F(NpzTest, DamageIsRefusedOrSeenInTheElements) {
  const std::string good = Read("arrays.npz");
  for (size_t n = 0; n < good.size(); n += 7) EXPECT_FALSE(Parse(good.substr(0, n)).ok()) << n << " bytes";
  int refused = 0;
  for (size_t at = 0; at < good.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
      const auto file = Parse(bad);
      refused += !file.ok();
      if (!file.ok()) continue;
      // Whatever a changed header says, the elements lie within the file.
      int64_t bytes = 0;
      for (const NamedTensor& e : *file) bytes += e.tensor.numel() * e.tensor.dtype().ScalarBytes();
      ASSERT_LE(bytes, static_cast<int64_t>(good.size()) * 17);
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace understudy
