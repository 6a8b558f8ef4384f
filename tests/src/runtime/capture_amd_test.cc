// SPDX-License-Identifier: Apache-2.0
// What a replay costs on the GPU's queue, and kernels that fault inside of one.
#include <numeric>

#include "absl/strings/str_cat.h"
#include "mockgpu/amd/mock_kernel.h"
#include "src/base/status.h"
#include "src/runtime/amd/amd_device.h"
#include "src/runtime/capture.h"
#include "tests/src/schedule/storage_devices.h"

namespace understudy {
namespace {

using ::testing::HasSubstr;
using In = absl::Span<const Tensor>;
using Out = std::vector<Tensor>;
using OutOr = absl::StatusOr<Out>;

class CaptureAmd : public testing::Test {
 protected:
  void SetUp() override {
    mockgpu::MockKernel::Options options;
    options.log_events = false;
    auto machine = mockgpu::MockKernel::Create(std::move(options));
    ASSERT_TRUE(machine.ok()) << machine.status();
    machine_ = *std::move(machine);
    auto amd = AmdDevice::Open(*machine_);
    ASSERT_TRUE(amd.ok()) << amd.status();
    amd_ = *std::move(amd);
    DeviceRegistry devices;
    devices.Register(amd_);
    name_ = amd_->name();
    engine_ = std::make_unique<Engine>(devices);
  }
  void TearDown() override {
    engine_.reset();
    if (amd_ == nullptr) return;
    EXPECT_TRUE(amd_->gpu().Close().ok());
  }
  Tensor F32(std::vector<float> data) {
    const Shape shape{static_cast<int64_t>(data.size())};
    return Tensor::FromData<float>(data, shape, name_);
  }
  std::vector<float> Get(Tensor t) {
    auto data = engine_->Data<float>(t);
    EXPECT_TRUE(data.ok()) << data.status();
    return data.ok() ? *std::move(data) : std::vector<float>();
  }
  // n kernels one after the other.
  CapturedFunction::Body Chain(int n) {
    return [this, n](In in) -> OutOr {
      Tensor x = in[0];
      for (int i = 0; i < n; ++i) {
        x = (x * 0.5 + 1).Flip({0}).Contiguous();
        US_RETURN_IF_ERROR(engine_->Realize(x));
      }
      return Out{x};
    };
  }

  std::unique_ptr<mockgpu::MockKernel> machine_;
  std::shared_ptr<AmdDevice> amd_;
  std::string name_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(CaptureAmd, AReplayIsOneSubmissionWhateverItLaunches) {
  int64_t words[2] = {};
  for (const int n : {2, 40}) {
    CapturedFunction f(*engine_, Chain(n));
    const Tensor x = F32({1, 2, 3, 4});
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(f({x}).ok());
    EXPECT_THAT(f.Text(), HasSubstr(absl::StrCat(n, " kernels in 1 graphs, 0 copies")));
    ASSERT_TRUE(engine_->Synchronize().ok());
    const amd::GpuStats before = amd_->gpu().stats();
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(f({x}).ok());
    ASSERT_TRUE(engine_->Synchronize().ok());
    const amd::GpuStats after = amd_->gpu().stats();
    EXPECT_EQ(after.submissions - before.submissions, 4);
    EXPECT_EQ(after.launches - before.launches, 4 * n);
    EXPECT_EQ(after.graphs, before.graphs) << "encoded once";
    EXPECT_EQ(after.graph_patches, before.graph_patches) << "nothing changed from replay to replay";
    words[n == 40] = after.compute_words - before.compute_words;
    auto patches = [&, seen = after.graph_patches]() mutable {
      EXPECT_TRUE(engine_->Synchronize().ok());
      const int64_t now = amd_->gpu().stats().graph_patches;
      return now - std::exchange(seen, now);
    };
    const Tensor y = F32({5, 6, 7, 8});
    const auto held = f({y});
    EXPECT_EQ(patches(), 1) << "the input's address";
    const auto next = f({y});
    EXPECT_EQ(patches(), 1) << "the result's: the one before is held";
    ASSERT_TRUE(held.ok() && next.ok());
    EXPECT_EQ(Get((*held)[0]), Get((*next)[0]));
  }
  EXPECT_EQ(words[0], words[1]);
}

TEST_F(CaptureAmd, AFaultNamesItsKernelAndTheCaptureGoesOnAfterRecover) {
  std::vector<float> data(64);
  std::iota(data.begin(), data.end(), 0.0f);
  Tensor state = F32(data);
  CapturedFunction f(*engine_, [&](In in) -> OutOr {
    Tensor twice = in[0] * 2;
    US_RETURN_IF_ERROR(engine_->Realize(twice));
    state.Assign(state + twice);
    return Out{(state * in[1].Sum()).Contiguous()};
  });
  const Tensor x = F32(std::vector<float>(64, 1.0f)), one = F32({1, 0, 0, 0});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(f({x, one}).ok());
  // The second input's memory goes behind everybody's back.
  Tensor bad = F32({1, 1, 1, 1});
  ASSERT_TRUE(engine_->Data<float>(bad).ok());
  Tensor keep = bad + 1;
  ASSERT_TRUE(engine_->Realize(keep).ok());
  const UOp* node = bad.uop().get();
  while (node->op() != Op::kBuffer) node = node->src(0).get();
  auto* buffer = dynamic_cast<Buffer*>(node->arg_as<BufferArg>().slot->impl.get());
  ASSERT_NE(buffer, nullptr);
  const auto range = buffer->Get();
  ASSERT_TRUE(range.ok() && engine_->Synchronize().ok());
  ASSERT_TRUE(amd_->Free(*range).ok() && amd_->gpu().TrimCache().ok());
  const auto y = f({x, bad});
  const absl::Status fault = y.ok() ? engine_->Synchronize() : y.status();
  ASSERT_EQ(fault.code(), absl::StatusCode::kAborted) << fault;
  EXPECT_THAT(std::string(fault.message()), HasSubstr("of a graph: memory fault at"));
  EXPECT_THAT(std::string(fault.message()), HasSubstr("page not present"));
  // The kernel is one that reads the second input: the first of the graph has ended.
  EXPECT_THAT(std::string(fault.message()), testing::Not(HasSubstr("(1 of")));
  EXPECT_THAT(std::string(f({x, one}).status().message()), HasSubstr("captured function f"));
  ASSERT_TRUE(amd_->Recover().ok());
  const std::vector<float> before = Get(state);
  const auto again = f({x, one});
  ASSERT_TRUE(again.ok()) << again.status();
  std::vector<float> want = before;
  for (float& v : want) v += 2;
  EXPECT_EQ(Get(state), want);
  EXPECT_EQ(Get((*again)[0]), want);
  EXPECT_TRUE(f.captured());
}

}  // namespace
}  // namespace understudy
