// SPDX-License-Identifier: Apache-2.0
#pragma once
// The property of tensors of variable size, for tests: a computation gives what it gives with constant sizes,
// element for element, and is scheduled and compiled once for all values.

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "src/tensor/variable.h"
#include "tests/src/schedule/storage_devices.h"

namespace understudy {

class VariableTest : public StorageTest {
 protected:
  // Small distinct numbers, exact in sums and products.
  Tensor Numbers(const Shape& shape, int seed) {
    int64_t n = 1;
    for (const int64_t d : shape) n *= d;
    std::vector<float> v(n);
    for (int64_t i = 0; i < n; ++i) v[i] = static_cast<float>((i * 7 + seed * 5) % 11 - 5) / 2;
    return F32(v, shape);
  }

  // `f` of a size gives the same as with that number, for all values of a variable, and is compiled once.
  void SameAsConstant(const std::string& what, int64_t min, int64_t max,
                      const std::function<Tensor(const Size&)>& f) {
    const Variable n("n", min, max);
    bool first = true;
    // Constant sizes cost a compilation each.
    const int64_t step = d0 == "REF:0" ? 1 : std::max<int64_t>(1, (max - min) / 2);
    for (int64_t v = min; v <= max; v += step) {
      Tensor want = f(Size(v)).Cast(dtypes::kFloat32);
      const auto expected = engine->Data<float>(want);
      ASSERT_TRUE(expected.ok()) << what << ": " << expected.status();
      Tensor got = f(n.Bind(v)).Cast(dtypes::kFloat32);
      const EngineStats before = engine->stats();
      const auto data = engine->Data<float>(got);
      ASSERT_TRUE(data.ok()) << what << " at " << v << ": " << data.status();
      ASSERT_EQ(data->size(), expected->size()) << what << " at " << v;
      for (size_t i = 0; i < data->size(); ++i) {
        EXPECT_TRUE((*data)[i] == (*expected)[i] || (std::isnan((*data)[i]) && std::isnan((*expected)[i])))
            << what << " at " << v << ", element " << i << ": " << (*data)[i] << ", expected "
            << (*expected)[i];
      }
      const auto shape = TrueShape(got);
      ASSERT_TRUE(shape.ok()) << shape.status();
      EXPECT_EQ(*shape, want.shape()) << what;
      if (!first) {
        EXPECT_EQ(engine->stats().kernels_compiled, before.kernels_compiled) << what << " at " << v;
        EXPECT_EQ(engine->stats().schedules_made, before.schedules_made) << what << " at " << v;
      }
      first = false;
    }
  }
};

}  // namespace understudy
