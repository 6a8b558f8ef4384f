// SPDX-License-Identifier: Apache-2.0
// The edges of storage: no elements, no dimensions, no storage at all, more elements than 32 bits count, and
// arrays of a kernel's own.
#include "src/codegen/codegen.h"
#include "src/render/render.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"
#include "tests/src/schedule/storage_devices.h"

namespace understudy {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class StorageLimits : public StorageTest {};
UNDERSTUDY_STORAGE_DEVICES(StorageLimits);

TEST_P(StorageLimits, EmptyTensorsNeedNeitherKernelsNorStorage) {
  Tensor x = F32({}, {0, 3});
  Tensor y = (x + 1).To(d1), z = x.Clone();
  z.Assign(x * 2);
  z.Index({Slice{}, Slice{1, 2}}).Assign(Full({0, 1}, 5));
  ASSERT_TRUE(Realize({y, z}).ok());
  EXPECT_EQ(engine->stats().kernels_launched, 0);
  EXPECT_TRUE(Get(z).empty());
  EXPECT_THAT(Get(x.Sum({0})), ElementsAre(0, 0, 0));
}

TEST_P(StorageLimits, ScalarsAreWrittenInPlace) {
  Tensor s = F32({3}, {});
  ASSERT_TRUE(Realize({s + 1}).ok());
  const uint64_t at = Address(s);
  for (int i = 0; i < 3; ++i) {
    s.Assign(s * 2);
    ASSERT_TRUE(Realize({s}).ok());
  }
  EXPECT_THAT(Get(s), ElementsAre(24));
  EXPECT_EQ(Address(s), at);
  EXPECT_EQ(s.shape(), Shape{});
}

TEST_P(StorageLimits, PositionsPast32Bits) {
  // Four of 2^33 positions; nothing of that size is ever stored.
  const int64_t n = int64_t{1} << 33;
  Tensor far =
      Tensor::Arange(0, n, 1, {dtypes::kInt64, d0}).Reshape({2, n / 2}).Shrink({{1, 2}, {n / 2 - 4, n / 2}});
  const auto got = engine->Data<int64_t>(far);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(*got, ElementsAre(n - 4, n - 3, n - 2, n - 1));
}

TEST(StorageKernels, IndicesAreWideWhereThereAreMoreThan31BitsOfElements) {
  const auto index_type = [](int64_t rows) {
    const Tensor x = Tensor::FromData<float>(std::vector<float>(1 << 10), {1 << 10});
    const Tensor y = x.Expand({rows, 1 << 10}) + 1;
    const auto call = MakeCall({{y.uop(), "CPU"}});
    const auto schedule = MakeSchedule(*call);
    const auto kernel = LowerKernel(schedule->items.back().kernel, HostTarget());
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    std::vector<DType> types;
    for (const UOpRef& n : kernel->ops) {
      if (n->op() == Op::kIndex) types.push_back(n->src(1)->dtype());
    }
    return types;
  };
  // However many accesses the kernel has.
  EXPECT_THAT(index_type(1 << 20), AllOf(SizeIs(Ge(2)), Each(dtypes::kInt32)));
  EXPECT_THAT(index_type(1 << 22), AllOf(SizeIs(Ge(2)), Each(dtypes::kInt64)));
}

TEST(StorageKernels, ArraysOfAKernelHaveTheElementsType) {
  for (const DType t : {dtypes::kFloat32, dtypes::kFloat64, dtypes::kInt64}) {
    const UOpRef reg = uop::DefineReg(t, 0, 4), at = uop::IndexOf(reg, uop::IndexConst(1));
    EXPECT_EQ(at->dtype(), t.WithSpace(AddrSpace::kReg));
    EXPECT_EQ(uop::Load(at)->dtype(), t);
    EXPECT_FALSE(
        UOp::MakeChecked(Op::kIndex, dtypes::kInt8.WithSpace(AddrSpace::kReg), {reg, uop::IndexConst(1)})
            .ok());
    // A sum keeps its result so far in one.
    const UOpRef i = uop::Range(64, 0, AxisKind::kReduce);
    const UOpRef sum = uop::Reduce(Op::kAdd, uop::Load(uop::IndexOf(uop::Param(t, 1), i)), {i});
    const UOpRef sink =
        uop::Sink({uop::Store(uop::IndexOf(uop::Param(t, 0), uop::IndexConst(0)), sum)}, "sum");
    const ChoiceList none;
    const auto linear = LowerKernel(sink, HostTarget(), &none);
    ASSERT_TRUE(linear.ok()) << linear.status();
    const auto compiled = RenderLlvm(*linear, HostTarget());
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    EXPECT_THAT(compiled->text, HasSubstr(t == dtypes::kFloat32   ? "alloca float"
                                          : t == dtypes::kFloat64 ? "alloca double"
                                                                  : "alloca i64"));
  }
}

TEST(StorageKernels, StoresOfMoreLanesOrAnotherTypeThanThePlaceAreRefused) {
  const UOpRef reg = uop::DefineReg(dtypes::kFloat32, 0, 4);
  const auto store = [&](int64_t at, DType t) {
    std::vector<UOpRef> lanes(t.lanes, uop::Const(t.Element(), 1));
    const UOpRef value = t.lanes == 1 ? lanes[0] : uop::Vectorize(lanes);
    return UOp::MakeChecked(Op::kStore, dtypes::kVoid, {uop::IndexOf(reg, uop::IndexConst(at)), value})
        .status();
  };
  EXPECT_TRUE(store(0, dtypes::kFloat32.WithLanes(4)).ok());
  EXPECT_TRUE(store(3, dtypes::kFloat32).ok());
  EXPECT_EQ(store(1, dtypes::kFloat32.WithLanes(4)).message(),
            "STORE: value of dtype f32x4 at element 1 of DEFINE_REG f32*reg with 4 elements");
  EXPECT_FALSE(store(0, dtypes::kFloat32.WithLanes(8)).ok());
  EXPECT_FALSE(store(0, dtypes::kInt32).ok());
  const UOpRef place = uop::TensorParam(dtypes::kFloat32, 0, {4});
  EXPECT_FALSE(
      UOp::MakeChecked(Op::kStore, dtypes::kVoid, {place, uop::TensorParam(dtypes::kFloat32, 1, {5})}).ok());
  EXPECT_FALSE(
      UOp::MakeChecked(Op::kStore, dtypes::kVoid, {place, uop::TensorParam(dtypes::kInt32, 1, {4})}).ok());
}

}  // namespace
}  // namespace understudy
