// SPDX-License-Identifier: Apache-2.0
// The CUDA device over a driver library: memory, copies, errors by name, kernels against REF bit for bit,
// graphs, peers, and recovery from a kernel that faults.
#include "src/runtime/cuda/cuda_device.h"

#include <gtest/gtest.h>

#include <numeric>

#include "src/runtime/graph.h"
#include "src/uop/build.h"
#include "src/uop/print.h"
#include "tests/src/codegen/device_suite.h"
#include "tests/src/codegen/random_kernel.h"
#include "tests/src/runtime/cuda/open_cuda.h"

namespace understudy::test {
namespace {

using namespace uop::expr;  // NOLINT

class CudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto device = OpenCuda();
    if (UseHardware() && absl::IsNotFound(device.status())) GTEST_SKIP() << device.status();
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *device;
  }
  std::shared_ptr<CudaDevice> device_;
};

UOpRef PlusVariable() {
  const UOpRef n = uop::Var("n", 1, 16, dtypes::kInt32), i = uop::Range(16, 0, AxisKind::kGlobal);
  const UOpRef in = uop::Load(uop::IndexOf(uop::Param(dtypes::kInt32, 1), i));
  return uop::Sink({uop::Store(uop::IndexOf(uop::Param(dtypes::kInt32, 0), i), in + n, {i})}, "plus");
}

constexpr char kPoke[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry poke(.param .u64 p)\n{\n  .reg .b64 "
    "%rd<2>;\n"
    "  ld.param.u64 %rd1, [p];\n  st.global.u32 [%rd1+1073741824], 1;\n  ret;\n}\n";

TEST_F(CudaTest, CopiesStayInsideTheirRanges) {
  const Allocation a = *device_->Allocate(100), b = *device_->Allocate(50);
  std::vector<uint8_t> bytes(100), got(50);
  std::iota(bytes.begin(), bytes.end(), 0);
  ASSERT_TRUE(device_->CopyIn(a, bytes.data(), 100).ok());
  ASSERT_TRUE(device_->CopyWithin(b.Slice(7, 20), a.Slice(33, 20), 20).ok());
  ASSERT_TRUE(device_->CopyOut(got.data(), b.Slice(7, 20), 20).ok());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(got[i], 33 + i);
  EXPECT_EQ(device_->CopyIn(b, bytes.data(), 51).code(), absl::StatusCode::kOutOfRange);
  ASSERT_TRUE(device_->Free(a).ok());
  EXPECT_EQ(device_->Free(a).code(), absl::StatusCode::kInvalidArgument);
  const absl::Status none = device_->Allocate(size_t{1} << 50).status();
  EXPECT_EQ(none.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(std::string(none.message()).find("cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (out of memory)"),
            std::string::npos)
      << none;
  ASSERT_TRUE(device_->Free(b).ok());
}

TEST_F(CudaTest, TheTargetIsTheDevices) {
  EXPECT_EQ(device_->target().isa.substr(0, 3), "sm_");
  EXPECT_EQ(device_->target().wave_size, 32);
  EXPECT_FALSE(device_->description().empty());
  if (!UseHardware()) {
    EXPECT_EQ(device_->target().isa, "sm_90");
    EXPECT_EQ(device_->description(), "NVIDIA H200");
  }
  EXPECT_EQ(OpenCuda(1000).status().code(), absl::StatusCode::kNotFound);
  CudaOptions nowhere;
  nowhere.library = "no/such/libcuda.so.1";
  EXPECT_EQ(CudaDevice::Open(0, nowhere).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(CudaTest, TheDriversLogIsInTheError) {
  const auto program = device_->CompileText(
      "broken",
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry broken()\n{\n  frob.u32 1;\n}\n", 0,
      {1, 1, 1}, {1, 1, 1});
  ASSERT_FALSE(program.ok());
  EXPECT_NE(std::string(program.status().message()).find("CUDA_ERROR_INVALID_PTX"), std::string::npos)
      << program.status();
  EXPECT_NE(std::string(program.status().message()).find("frob"), std::string::npos) << program.status();
}

TEST_F(CudaTest, RandomKernelsEqualRef) {
  test::RandomKernelsEqualRef(*device_, {.count = 20, .groups = true});
}

TEST_F(CudaTest, VariablesRangesAndTimes) {
  const auto program = device_->Compile(PlusVariable(), nullptr);
  ASSERT_TRUE(program.ok()) << program.status();
  const auto all = device_->Allocate(4096);
  ASSERT_TRUE(all.ok()) << all.status();
  std::vector<int32_t> memory(1024);
  // Offsets that vector accesses allow, and others.
  for (const size_t from : {size_t{0}, size_t{4}, size_t{1024}}) {
    for (const size_t to : {size_t{2048}, size_t{2052}, size_t{3900}}) {
      std::iota(memory.begin(), memory.end(), 100);
      ASSERT_TRUE(device_->CopyIn(*all, memory.data(), 4096).ok());
      LaunchInfo info;
      const absl::Status ran =
          device_->Launch(**program, {all->Slice(to, 64), all->Slice(from, 64)}, {11}, &info);
      ASSERT_TRUE(ran.ok()) << ran;
      EXPECT_GT(info.device_ns, 0u);
      std::vector<int32_t> want = memory, got(1024);
      for (int j = 0; j < 16; ++j) want[to / 4 + j] = memory[from / 4 + j] + 11;
      ASSERT_TRUE(device_->CopyOut(got.data(), *all, 4096).ok());
      EXPECT_EQ(got, want) << from << " " << to;
    }
  }
  EXPECT_EQ(device_->Launch(**program, {*all, *all}, {17}, nullptr).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(device_->Launch(**program, {*all}, {1}, nullptr).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(device_->Free(*all).ok());
}

TEST_F(CudaTest, GraphsReplayWithOtherPlacesAndVariables) {
  auto program = device_->Compile(PlusVariable(), nullptr);
  ASSERT_TRUE(program.ok()) << program.status();
  const std::shared_ptr<Program> plus = *std::move(program);
  // b = a + n, then c = b + n.
  GraphPlan plan;
  plan.places = {{0, 0, 64}, {1, 0, 64}, {2, 0, 64}};
  plan.num_vars = 1;
  plan.launches = {{plus, {1, 0}, {true, false}, {0}}, {plus, {2, 1}, {true, false}, {0}}};
  const auto graph = device_->MakeGraph(plan);
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::vector<Allocation> at;
  for (int i = 0; i < 4; ++i) at.push_back(*device_->Allocate(64));
  std::vector<int32_t> in(16), out(16);
  std::iota(in.begin(), in.end(), 0);
  ASSERT_TRUE(device_->CopyIn(at[0], in.data(), 64).ok());
  for (const auto& [last, n] : {std::pair{2, 3}, {2, 5}, {3, 7}}) {
    const absl::Status ran = (*graph)->Replay({at[0], at[1], at[static_cast<size_t>(last)]}, {n});
    ASSERT_TRUE(ran.ok()) << ran;
    ASSERT_TRUE(device_->CopyOut(out.data(), at[static_cast<size_t>(last)], 64).ok());
    for (int i = 0; i < 16; ++i) ASSERT_EQ(out[i], i + 2 * n) << n;
  }
  EXPECT_EQ((*graph)->Replay({at[0], at[1], at[2].Slice(0, 32)}, {1}).code(), absl::StatusCode::kOutOfRange);
}

TEST_F(CudaTest, PeersSeeEachOthersMemory) {
  const auto other = OpenCuda(1, "CUDA:1");
  if (absl::IsNotFound(other.status())) GTEST_SKIP() << other.status();
  ASSERT_TRUE(other.ok()) << other.status();
  const Allocation there = *(*other)->Allocate(64), here = *device_->Allocate(64);
  std::vector<int32_t> in(16), out(16);
  std::iota(in.begin(), in.end(), 1);
  ASSERT_TRUE((*other)->CopyIn(there, in.data(), 64).ok());
  const auto mapped = device_->MapFrom(**other, there);
  ASSERT_TRUE(mapped.ok()) << mapped.status();
  ASSERT_TRUE(device_->CopyWithin(here, *mapped, 64).ok());
  ASSERT_TRUE(device_->CopyOut(out.data(), here, 64).ok());
  EXPECT_EQ(in, out);
  // Mapped again: access is there already.
  EXPECT_TRUE(device_->MapFrom(**other, there).ok());
}

// Last, since it may be the last that a process does with the card.
TEST_F(CudaTest, ANewContextRecoversFromAFault) {
  auto poke = device_->CompileText("poke", kPoke, 1, {1, 1, 1}, {1, 1, 1});
  ASSERT_TRUE(poke.ok()) << poke.status();
  auto plus = device_->Compile(PlusVariable(), nullptr);
  ASSERT_TRUE(plus.ok()) << plus.status();
  const Allocation lost = *device_->Allocate(64);
  device_->Launch(**poke, {lost}).IgnoreError();
  const absl::Status fault = device_->Synchronize();
  EXPECT_EQ(fault.code(), absl::StatusCode::kAborted) << fault;
  EXPECT_NE(std::string(fault.message()).find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << fault;
  EXPECT_EQ(device_->Allocate(4).status().code(), absl::StatusCode::kAborted);
  const absl::Status recovered = device_->Recover();
  // NVIDIA's own driver may keep the fault for the process, and then says so.
  if (UseHardware() && absl::IsAborted(recovered)) {
    EXPECT_NE(std::string(recovered.message()).find("start another"), std::string::npos) << recovered;
    return;
  }
  ASSERT_TRUE(recovered.ok()) << recovered;
  EXPECT_TRUE(device_->Free(lost).ok());
  // Programs load themselves into the new context.
  const Allocation a = *device_->Allocate(64), b = *device_->Allocate(64);
  std::vector<int32_t> in(16, 4), out(16);
  ASSERT_TRUE(device_->CopyIn(a, in.data(), 64).ok());
  const absl::Status ran = device_->Launch(**plus, {b, a}, {2}, nullptr);
  ASSERT_TRUE(ran.ok()) << ran;
  ASSERT_TRUE(device_->CopyOut(out.data(), b, 64).ok());
  EXPECT_EQ(out, std::vector<int32_t>(16, 6));
}

}  // namespace
}  // namespace understudy::test
