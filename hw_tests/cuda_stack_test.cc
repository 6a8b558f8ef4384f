// SPDX-License-Identifier: Apache-2.0
// One source, two targets: our CUDA device over the mock library, or with USE_HW=1 over the machine's own and
// its card. Links no LLVM, so that the binary can be carried. Each test prints the target and the oracle.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/base/ulp.h"
#include "src/runtime/capture.h"
#include "src/runtime/engine.h"
#include "src/runtime/ref/ref_device.h"
#include "src/tensor/nn/layers.h"
#include "src/tensor/optim/optimizer.h"
#include "src/tensor/tensor.h"
#include "tests/src/runtime/cuda/open_cuda.h"

namespace understudy {
namespace {

class CudaStack : public ::testing::Test {
 protected:
  void SetUp() override {
    auto cuda = test::OpenCuda();
    ASSERT_TRUE(cuda.ok()) << cuda.status();
    cuda_ = *cuda;
    DeviceRegistry devices;
    devices.Register(std::make_shared<RefDevice>());
    devices.Register(cuda_);
    engine_ = std::make_unique<Engine>(std::move(devices));
  }

  void Oracle(const char* oracle) const {
    std::printf("target: %s %s; oracle: %s\n", UseHardware() ? "hardware" : "mock",
                cuda_->description().c_str(), oracle);
  }

  std::vector<float> Get(Tensor t) {
    auto data = engine_->Data<float>(t);
    EXPECT_TRUE(data.ok()) << data.status();
    return data.ok() ? *data : std::vector<float>();
  }

  // 12 steps of a small network: losses, then parameters.
  std::vector<std::vector<float>> Train(const std::string& device, bool captured, bool adam) {
    std::vector<std::vector<float>> out;
    Generator generator(7);
    const TensorOptions on{dtypes::kFloat32, device};
    nn::Linear first(6, 10, generator, true, on), second(10, 3, generator, true, on);
    std::vector<Tensor> params = nn::Parameters(first);
    for (const Tensor& p : nn::Parameters(second)) params.push_back(p);
    for (Tensor& p : params) p.set_requires_grad();
    auto optimizer = adam ? optim::Adam(params, {}) : optim::Sgd(params, {});
    US_CHECK_OK(optimizer);
    const auto body = [&](absl::Span<const Tensor> in) -> absl::StatusOr<std::vector<Tensor>> {
      const Tensor loss = second.Forward(first.Forward(in[0]).Relu()).CrossEntropy(in[1]);
      US_RETURN_IF_ERROR((*optimizer)->Step(Gradients(loss, (*optimizer)->params())));
      return std::vector<Tensor>{loss};
    };
    CapturedFunction step(*engine_, body, "step");
    for (int i = 0; i < 12; ++i) {
      std::vector<float> x(4 * 6);
      std::vector<int32_t> labels(4);
      for (int k = 0; k < 24; ++k)
        x[static_cast<size_t>(k)] = static_cast<float>((i * 24 + k) * 37 % 64 - 32) / 16;
      for (int k = 0; k < 4; ++k) labels[static_cast<size_t>(k)] = (i * 5 + k * 2) % 3;
      const Tensor batch = Tensor::FromData(x, {4, 6}, device),
                   target = Tensor::FromData(labels, {4}, device);
      auto y = captured ? step({batch, target}) : body(std::vector<Tensor>{batch, target});
      EXPECT_TRUE(y.ok()) << y.status();
      if (!y.ok()) return out;
      Tensor loss = (*y)[0];
      if (!captured) {
        EXPECT_TRUE(engine_->Realize((*optimizer)->Pending({&loss})).ok());
      }
      out.push_back(Get(loss));
    }
    for (const Tensor& p : (*optimizer)->params()) out.push_back(Get(p));
    return out;
  }

  std::shared_ptr<CudaDevice> cuda_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(CudaStack, CopiesOfAwkwardSizesComeBack) {
  Oracle("the bytes that were sent");
  for (const size_t size : {size_t{1}, size_t{3}, size_t{4095}, size_t{4097}, (size_t{9} << 20) + 5}) {
    std::vector<uint8_t> sent(size), received(size);
    for (size_t i = 0; i < size; ++i) sent[i] = static_cast<uint8_t>(i * 131 + (i >> 8));
    const auto memory = cuda_->Allocate(size);
    ASSERT_TRUE(memory.ok()) << memory.status();
    ASSERT_TRUE(cuda_->CopyIn(*memory, sent.data(), size).ok());
    ASSERT_TRUE(cuda_->CopyOut(received.data(), *memory, size).ok());
    EXPECT_TRUE(sent == received) << size << " bytes";
    EXPECT_TRUE(cuda_->Free(*memory).ok());
  }
}

TEST_F(CudaStack, IntegerArithmeticIsExact) {
  Oracle("arithmetic of this test on the host");
  std::vector<int32_t> a(1000), b(1000);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<int32_t>(i * 2654435761u);
    b[i] = static_cast<int32_t>(i % 17) - 8;
  }
  Tensor x = Tensor::FromData(a, {1000}, "CUDA"), y = Tensor::FromData(b, {1000}, "CUDA");
  Tensor z = x * y + x.TruncDiv(y);
  const auto got = engine_->Data<int32_t>(z);
  ASSERT_TRUE(got.ok()) << got.status();
  for (size_t i = 0; i < a.size(); ++i) {
    if (b[i] == 0) continue;  // the target's own
    const int64_t quotient = int64_t{a[i]} / b[i];
    const auto want = static_cast<int32_t>(static_cast<uint32_t>(a[i]) * static_cast<uint32_t>(b[i]) +
                                           static_cast<uint32_t>(quotient));
    ASSERT_EQ((*got)[i], want) << a[i] << " and " << b[i];
  }
}

TEST_F(CudaStack, ProductsEqualTheReferenceBitForBit) {
  Oracle("REF (direct evaluation of the kernel graph)");
  struct Shape {
    int64_t m, k, n;
  };
  for (const Shape& s : {Shape{33, 47, 29}, Shape{64, 64, 64}, Shape{128, 32, 16}})
    for (const DType type : {dtypes::kFloat32, dtypes::kFloat16, dtypes::kFloat64}) {
      std::vector<std::vector<float>> results;
      for (const char* device : {"REF", "CUDA"}) {
        const TensorOptions on{dtypes::kFloat32, device};
        // Small integers: every order of the sum gives the same value.
        const Tensor a = (Tensor::Normal({s.m, s.k}, 1, 0, 3, on)).Trunc().Cast(type);
        const Tensor b = (Tensor::Normal({s.k, s.n}, 2, 0, 3, on)).Trunc().Cast(type);
        results.push_back(Get(a.Matmul(b).Cast(dtypes::kFloat32)));
      }
      ASSERT_EQ(results[0].size(), results[1].size());
      for (size_t i = 0; i < results[0].size(); ++i)
        ASSERT_EQ(UlpDistance(results[0][i], results[1][i]), 0u) << type.Name() << " " << i;
    }
}

TEST_F(CudaStack, ReductionsSortsAndGathersEqualTheReference) {
  Oracle("REF (direct evaluation of the kernel graph)");
  std::vector<std::vector<float>> results[2];
  int which = 0;
  for (const char* device : {"REF", "CUDA"}) {
    const TensorOptions on{dtypes::kFloat32, device};
    const Tensor x = Tensor::Normal({65, 130}, 3, 0, 1, on);
    auto& out = results[which++];
    out.push_back(Get(x.Max({1})));
    out.push_back(Get(x.Trunc().Sum({0})));
    out.push_back(Get(x.Permute({1, 0}).Contiguous() * Tensor::FromData(std::vector<float>{2}, {1}, device)));
    out.push_back(Get((x.Relu() + x * x).Max({0, 1})));
  }
  for (size_t i = 0; i < results[0].size(); ++i) EXPECT_EQ(results[0][i], results[1][i]) << "result " << i;
}

TEST_F(CudaStack, CapturedTrainingEqualsEagerTraining) {
  Oracle("the same steps, not captured, bit for bit; REF within 1e-4");
  for (const bool adam : {false, true}) {
    const auto eager = Train("CUDA", false, adam), captured = Train("CUDA", true, adam),
               reference = Train("REF", false, adam);
    ASSERT_EQ(eager.size(), captured.size());
    ASSERT_EQ(eager.size(), reference.size());
    for (size_t i = 0; i < eager.size(); ++i) {
      EXPECT_EQ(eager[i], captured[i]) << (adam ? "Adam " : "SGD ") << i;
      ASSERT_EQ(eager[i].size(), reference[i].size());
      for (size_t k = 0; k < eager[i].size(); ++k)
        EXPECT_NEAR(eager[i][k], reference[i][k], 1e-4f * std::max(1.0f, std::fabs(reference[i][k])))
            << (adam ? "Adam " : "SGD ") << i << " " << k;
    }
  }
}

TEST_F(CudaStack, StorageIsUsedAgainAndFreed) {
  Oracle("sums that are known");
  for (int round = 0; round < 20; ++round) {
    Tensor x = Tensor::FromData(std::vector<float>(4096, static_cast<float>(round)), {4096}, "CUDA");
    for (int i = 0; i < 8; ++i) x = (x + x).Contiguous();
    const std::vector<float> sum = Get(x.Sum({0}));
    ASSERT_EQ(sum.size(), 1u);
    ASSERT_EQ(sum[0], 4096.0f * 256.0f * static_cast<float>(round)) << round;
  }
}

}  // namespace
}  // namespace understudy
