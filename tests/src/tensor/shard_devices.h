// SPDX-License-Identifier: Apache-2.0
#pragma once
// Several devices of one kind and an engine over them, for tests of spread tensors: what a computation gives
// on them is compared with what it gives on the first alone.

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/engine.h"
#include "src/runtime/ref/ref_device.h"
#include "src/tensor/shard.h"

namespace understudy {

class ShardDevices {
 public:
  explicit ShardDevices(const std::string& kind = "REF", int count = 4, EngineOptions options = {}) {
    DeviceRegistry devices;
    for (int i = 0; i < count; ++i) {
      const std::string name = absl::StrCat(kind, ":", i);
      if (kind == "CPU")
        devices.Register(std::make_shared<CpuDevice>(name));
      else
        devices.Register(std::make_shared<RefDevice>(name));
      names.push_back(name);
    }
    engine = std::make_unique<Engine>(devices, std::move(options));
  }

  ShardDevices(DeviceRegistry devices, std::vector<std::string> device_names)
      : names(std::move(device_names)), engine(std::make_unique<Engine>(std::move(devices))) {}

  std::vector<std::string> First(size_t n) const {
    return {names.begin(), names.begin() + static_cast<int>(n)};
  }

  // Small whole numbers: sums and products of them are exact in f32 whatever the order.
  Tensor Whole(const Shape& shape, int seed = 1, DType dtype = dtypes::kFloat32) const {
    int64_t n = 1;
    for (const int64_t d : shape) n *= d;
    std::vector<int32_t> v;
    uint32_t state = 12345u + static_cast<uint32_t>(seed) * 7919u;
    for (int64_t i = 0; i < n; ++i) {
      state = state * 1664525u + 1013904223u;
      v.push_back(static_cast<int32_t>((state >> 16) % 9) - 4);
    }
    Tensor t = Tensor::FromData(v, shape, names[0]);
    return dtype == dtypes::kInt32 ? t : t.Cast(dtype).Clone();
  }

  std::vector<uint8_t> Bytes(Tensor t) {
    auto bytes = engine->Bytes(t);
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    return bytes.ok() ? *std::move(bytes) : std::vector<uint8_t>();
  }
  std::vector<double> Values(const Tensor& t) {
    EXPECT_TRUE(t.ok()) << t.status();
    if (!t.ok()) return {};
    Tensor wide = t.Cast(dtypes::kFloat64);
    auto v = engine->Data<double>(wide);
    EXPECT_TRUE(v.ok()) << v.status();
    return v.ok() ? *std::move(v) : std::vector<double>();
  }
  absl::Status Realize(std::vector<Tensor> tensors) {
    std::vector<Tensor*> list;
    for (Tensor& t : tensors) list.push_back(&t);
    return engine->Realize(list);
  }

  std::vector<std::string> names;
  std::unique_ptr<Engine> engine;
};

// Bit for bit when `tolerance` is 0, else relative to the larger of 1 and the value.
inline void ExpectSame(ShardDevices& d, const Tensor& got, const Tensor& want, double tolerance = 0) {
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_TRUE(want.ok()) << want.status();
  ASSERT_EQ(got.shape(), want.shape());
  ASSERT_EQ(got.dtype(), want.dtype());
  if (tolerance == 0) {
    ASSERT_EQ(d.Bytes(got), d.Bytes(want)) << "values " << testing::PrintToString(d.Values(got))
                                           << "\nexpected " << testing::PrintToString(d.Values(want));
    return;
  }
  const std::vector<double> a = d.Values(got), b = d.Values(want);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i]) && std::isnan(a[i])) continue;
    ASSERT_LE(std::abs(a[i] - b[i]), tolerance * std::max(1.0, std::abs(b[i])))
        << "element " << i << ": " << a[i] << ", expected " << b[i];
  }
}

}  // namespace understudy
