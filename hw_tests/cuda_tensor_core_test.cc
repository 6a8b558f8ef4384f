// SPDX-License-Identifier: Apache-2.0
// Products on tensor cores by kernels of our own (PTX of src/render), each class of core that the target
// lists: on the CUDA device, which is the mock library or with USE_HW=1 the machine's card, and on the PTX
// emulator. Whole numbers are exact; of elements that are all distinct, with sums that the core rounds in its
// own way, the bits of both are the same. Links no LLVM.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "src/dtype/const_value.h"
#include "src/runtime/ref/ref_device.h"
#include "tests/src/codegen/product_kernel.h"
#include "tests/src/runtime/cuda/open_cuda.h"
#include "tools/rig/ptx_device.h"

namespace understudy::test {
namespace {

UOpRef Same(const UOpRef& x) { return x; }

double Number(DType type, uint64_t bits) {
  const ConstValue value = FromBits(type, bits);
  const double* const number = std::get_if<double>(&value);
  return number != nullptr ? *number : static_cast<double>(std::get<int64_t>(value));
}

// Distinct finite values: every one of an 8-bit type, of the others those near one, in an order that jumps
// about.
std::vector<uint64_t> Values(DType type) {
  const int bits = type.ScalarBytes() * 8;
  std::vector<uint64_t> values;
  for (uint64_t i = 0; i < (bits == 8 ? 256 : 65536); ++i) {
    uint64_t pattern = bits == 8 ? i : i * 40503 & 0xffff;
    if (bits == 64) pattern = (i & 1) << 63 | (1017 + i / 2 % 12) << 52 | i * 0x9E3779B97F4A7C15 >> 12;
    const double value = std::fabs(Number(type, pattern));
    if (bits == 8 ? std::isfinite(value) : value >= 1.0 / 64 && value < 64) values.push_back(pattern);
  }
  return values;
}

// The product with distinct elements: all of them where the type has as many values, else those of each line.
RandomKernel DistinctProduct(const ProductSize& size, const TensorCore& core, bool* all) {
  RandomKernel k = MakeProduct(size, core.in, core.out, false, Same, Same);
  const std::vector<uint64_t> values = Values(core.in);
  const auto bytes = static_cast<size_t>(core.in.ScalarBytes());
  const auto total = static_cast<size_t>(size.m * size.k + size.k * size.n);
  *all = total <= values.size();
  size_t next = 0;
  for (size_t matrix = 1; matrix <= 2; ++matrix)
    for (size_t i = 0; i < k.bytes[matrix].size() / bytes; ++i) {
      const auto width = static_cast<size_t>(matrix == 1 ? size.k : size.n);
      const size_t which = *all ? next++ : (i / width * 41 + i % width * 7 + matrix * 3) % values.size();
      std::memcpy(&k.bytes[matrix][i * bytes], &values[which], bytes);
    }
  return k;
}

double Element(const RandomKernel& k, size_t buffer, DType type, int64_t i) {
  uint64_t bits = 0;
  const auto bytes = static_cast<size_t>(type.ScalarBytes());
  std::memcpy(&bits, &k.bytes[buffer][static_cast<size_t>(i) * bytes], bytes);
  return Number(type, bits);
}

// Each result lies as near the sum as the core's own precision allows.
void ExpectNearTheSum(const ProductSize& s, const TensorCore& core, const RandomKernel& k,
                      const std::vector<uint8_t>& got) {
  const double precision = core.in.ScalarBytes() == 1     ? 0x1p-12
                           : core.out == dtypes::kFloat64 ? 0x1p-50
                                                          : 0x1p-21;
  RandomKernel result = k;
  result.bytes[0] = got;
  for (int64_t m = 0; m < s.m; ++m)
    for (int64_t n = 0; n < s.n; ++n) {
      double sum = 0, size = 0;
      for (int64_t i = 0; i < s.k; ++i) {
        const double product = Element(k, 1, core.in, m * s.k + i) * Element(k, 2, core.in, i * s.n + n);
        sum += product;
        size += std::fabs(product);
      }
      ASSERT_NEAR(Element(result, 0, core.out, m * s.n + n), sum, size * precision) << m << ", " << n;
    }
}

TEST(CudaTensorCores, EveryClassGivesTheSameBitsOnDeviceAndEmulator) {
  const auto opened = OpenCuda();
  ASSERT_TRUE(opened.ok()) << opened.status();
  CudaDevice& cuda = **opened;
  PtxDevice emulator(cuda.target().isa);
  RefDevice ref;
  const std::vector<TensorCore>& cores = cuda.target().tensor_cores;
  std::printf("target: %s %s; oracles: REF for whole numbers, the PTX emulator for distinct elements\n",
              UseHardware() ? "hardware" : "mock", cuda.description().c_str());
  if (!UseHardware()) {
    ASSERT_EQ(cores.size(), 7u) << "the mock's first card is an H200";
  }
  ASSERT_EQ(emulator.target().tensor_cores.size(), cores.size());
  const ChoiceList none;
  int kernels = 0;
  for (size_t i = 0; i < cores.size(); ++i) {
    const TensorCore& core = cores[i];
    std::vector<ProductCase> cases = ProductCases(core, i);
    cases.push_back({{4 * core.m, 4 * core.n, 8 * core.k},
                     "tc(0," + std::to_string(i) + ") local(0,2) local(1,2) unroll(0,4)"});
    bool distinct = false;
    for (const auto& [size, text] : cases) {
      SCOPED_TRACE(core.name + " " + text);
      const auto choices = ParseChoices(text);
      ASSERT_TRUE(choices.ok()) << choices.status();
      const RandomKernel whole = MakeProduct(size, core.in, core.out, core.in.IsUnsigned(), Same, Same);
      const auto exact = RunKernel(ref, whole, &none);
      ASSERT_TRUE(exact.ok()) << exact.status();
      const auto on_device = RunKernel(cuda, whole, &*choices);
      ASSERT_TRUE(on_device.ok()) << on_device.status();
      EXPECT_EQ(Difference(core.out, *exact, *on_device), "");

      bool all = false;
      const RandomKernel product = DistinctProduct(size, core, &all);
      distinct |= all;
      const auto device = RunKernel(cuda, product, &*choices),
                 emulated = RunKernel(emulator, product, &*choices);
      ASSERT_TRUE(device.ok()) << device.status();
      ASSERT_TRUE(emulated.ok()) << emulated.status();
      // Not a NaN among them: equal bytes.
      EXPECT_TRUE(*device == *emulated) << Difference(core.out, *emulated, *device);
      if (core.out.IsFloat()) {
        ExpectNearTheSum(size, core, product, *device);
      } else {
        const auto sums = RunKernel(ref, product, &none);
        ASSERT_TRUE(sums.ok()) << sums.status();
        EXPECT_TRUE(*device == *sums) << Difference(core.out, *sums, *device);
      }
      kernels += 2;
    }
    EXPECT_TRUE(distinct || core.in.ScalarBytes() == 1) << core.name;
  }
  std::printf("%d kernels of %zu classes of tensor cores\n", kernels, cores.size());
}

}  // namespace
}  // namespace understudy::test
