// SPDX-License-Identifier: Apache-2.0
// Padding a range changes nothing: the extra steps of a reduction contribute its identity whatever its body
// is, and those of an output range store nothing. On REF without choices against CPU and emulated GPUs with
// them, bit for bit.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/ref/ref_device.h"
#include "src/uop/build.h"
#include "src/uop/print.h"
#include "tests/src/codegen/emulated_device.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {
namespace {

using namespace uop::expr;  // NOLINT

UOpRef Out(int64_t end, int64_t id) { return uop::Range(end, id, AxisKind::kGlobal); }
UOpRef Red(int64_t end, int64_t id) { return uop::Range(end, id, AxisKind::kReduce); }
UOpRef At(DType t, int64_t param, const UOpRef& index) {
  return uop::Load(uop::IndexOf(uop::Param(t, param), index));
}
constexpr DType kF = dtypes::kFloat32;

// STORE to PARAM 0 at a row-major index over `outputs`.
RandomKernel Kernel(const UOpRef& value, const std::vector<UOpRef>& outputs) {
  RandomKernel k;
  UOpRef index = uop::IndexConst(0);
  int64_t size = 1;
  for (const UOpRef& r : outputs) {
    index = index * r->src(0)->const_int() + r;
    size *= r->src(0)->const_int();
  }
  k.kernel =
      uop::Sink({uop::Store(uop::IndexOf(uop::Param(value->dtype(), 0), index), value, outputs)}, "padded");
  k.dtypes = {value->dtype()};
  k.bytes = {std::vector<uint8_t>(size * value->dtype().ScalarBytes(), 0xee)};
  return k;
}
// Small whole numbers, so that sums and products are exact in any order.
void AddFloats(RandomKernel* k, size_t count) {
  std::vector<uint8_t> bytes(4 * count);
  for (size_t i = 0; i < count; ++i) {
    const float v = static_cast<float>(static_cast<int>(i * 37 % 23) - 9);
    std::memcpy(&bytes[4 * i], &v, 4);
  }
  k->dtypes.push_back(kF);
  k->bytes.push_back(std::move(bytes));
}
void AddBools(RandomKernel* k, size_t count) {
  std::vector<uint8_t> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = i * 7 % 3 == 0;
  k->dtypes.push_back(dtypes::kBool);
  k->bytes.push_back(std::move(bytes));
}

class Padding : public ::testing::Test {
 protected:
  // Every text of choices that the target takes; at least `least` of the three devices must take it.
  void Check(const RandomKernel& k, std::initializer_list<const char*> texts, int least = 3) {
    const ChoiceList none;
    const auto expected = RunKernel(ref_, k, &none);
    ASSERT_TRUE(expected.ok()) << expected.status();
    for (const char* text : texts) {
      SCOPED_TRACE(text);
      const ChoiceList choices = *ParseChoices(text);
      int took = 0;
      for (Device* device : std::initializer_list<Device*>{&cpu_, &rdna_, &cdna_}) {
        const auto got = RunKernel(*device, k, &choices);
        if (!got.ok()) {
          EXPECT_NE(got.status().message().find("target"), std::string::npos)
              << device->name() << got.status();
          continue;
        }
        ++took;
        EXPECT_EQ(Difference(k.dtypes[0], *expected, *got), "") << device->name() << "\n"
                                                                << uop::Print(k.kernel);
      }
      EXPECT_GE(took, least);
    }
  }

  RefDevice ref_;
  CpuDevice cpu_;
  EmulatedDevice rdna_{"gfx1100"}, cdna_{"gfx942"};
};

TEST_F(Padding, AReducedRangeThatNoIndexUses) {
  // 3 x 16 repeated 5 times along the reduced axis: the repetition indexes nothing.
  const UOpRef o = Out(3, 0), again = Red(5, 1), c = Red(16, 2);
  RandomKernel k = Kernel(uop::Reduce(Op::kAdd, At(kF, 1, o * 16 + c), {again, c}), {o});
  AddFloats(&k, 48);
  Check(k, {"pad_reduce(0,32)", "pad_reduce(0,4)", "pad_reduce(0,3) unroll(1,4)",
            "pad_reduce(0,3) unroll(1,16) unroll(0,3)", "pad(0,4) pad_reduce(0,2) upcast(0,4)"});
  Check(k, {"pad_reduce(0,8) group(0,8)"}, 2);
}

TEST_F(Padding, AConcatenation) {
  // a with itself: two reads, each valid on a part.
  const UOpRef r = Red(14, 1);
  const auto part = [](const UOpRef& index, const UOpRef& valid) {
    return uop::Load(uop::IndexOf(uop::Param(kF, 1), index, valid));
  };
  const UOpRef value = part(r, r < 7) + part(r - 7, 6 < r);
  RandomKernel k = Kernel(uop::Reduce(Op::kAdd, value, {r}), {Out(1, 0)});
  AddFloats(&k, 7);
  Check(k, {"pad_reduce(0,4)", "pad_reduce(0,4) unroll(0,4)", "pad_reduce(0,32)"});
  Check(k, {"pad_reduce(0,8) group(0,8)"}, 2);
}

TEST_F(Padding, ProductsTakeNoExtraFactors) {
  const UOpRef o = Out(1, 0), a = Red(4, 1), b = Red(5, 2);
  RandomKernel k = Kernel(uop::Reduce(Op::kMul, uop::Const(kF, 2.0), {a, b}), {o});
  AddFloats(&k, 1);
  Check(k, {"pad_reduce(0,3)", "pad_reduce(1,3)", "pad_reduce(0,3) pad_reduce(1,4) unroll(1,4)"});
  const ChoiceList none;
  float product;
  std::memcpy(&product, RunKernel(ref_, k, &none)->data(), 4);
  EXPECT_EQ(product, 1048576.0f);
}

TEST_F(Padding, MasksWhoseFalseArmIsAValue) {
  const UOpRef o = Out(3, 0), c = Red(17, 1);
  const UOpRef mask = At(dtypes::kBool, 2, o * 17 + c);
  RandomKernel sum =
      Kernel(uop::Reduce(Op::kAdd, uop::Where(mask, At(kF, 1, o * 17 + c), uop::Const(kF, 1.0)), {c}), {o});
  AddFloats(&sum, 51);
  AddBools(&sum, 51);
  Check(sum, {"pad_reduce(0,8)", "pad_reduce(0,32)", "pad_reduce(0,8) unroll(0,8)",
              "pad(0,2) pad_reduce(0,8) upcast(0,2)"});
  Check(sum, {"pad_reduce(0,8) group(0,8)"}, 2);

  const UOpRef c2 = Red(11, 1);
  const UOpRef row = At(dtypes::kBool, 1, o);
  RandomKernel product =
      Kernel(uop::Reduce(Op::kMul, uop::Where(row, uop::Const(kF, 1.0), uop::Const(kF, 2.0)), {c2}), {o});
  AddBools(&product, 3);
  Check(product, {"pad_reduce(0,8)", "pad_reduce(0,4) unroll(0,4)"});
}

TEST_F(Padding, MaximaAndSumsTogether) {
  // The sum over rows of the largest negative number in each: a 0 from outside would win.
  const UOpRef o = Out(2, 0), row = Red(7, 1), c = Red(5, 2);
  const UOpRef negative = At(kF, 1, row * 5 + c) - 20.0;
  RandomKernel k = Kernel(uop::Reduce(Op::kAdd, uop::Reduce(Op::kMax, negative, {c}), {row}), {o});
  AddFloats(&k, 35);
  Check(k, {"pad_reduce(0,4)", "pad_reduce(1,4)", "pad_reduce(0,8) pad_reduce(1,8)",
            "pad_reduce(0,8) pad_reduce(1,8) unroll(1,8)", "pad_reduce(0,4) pad_reduce(1,3) unroll(1,3)"});
  RandomKernel least = Kernel(uop::Reduce(Op::kMin, At(kF, 1, c) + 20.0, {c}), {o});
  AddFloats(&least, 5);
  Check(least, {"pad_reduce(0,4)", "pad_reduce(0,8) unroll(0,8)"});
}

TEST_F(Padding, OutputsStoreOnlyWhatTheyHave) {
  const UOpRef i = Out(7, 0), j = Out(5, 1);
  RandomKernel k = Kernel(At(kF, 1, j * 7 + i) * 2.0, {i, j});
  AddFloats(&k, 35);
  Check(k, {"pad(0,4)", "pad(1,8)", "pad(0,8) pad(1,4) upcast(0,4) vectorize(1,4)", "pad(1,2) swap(0,1)"});
  Check(k, {"pad(0,8) pad(1,8) local(0,8) local(1,4)"}, 2);
}

TEST_F(Padding, AnIndexReadFromMemoryIsNotFollowedOutside) {
  // A gather: the outer read must not use an index that was not read.
  const UOpRef i = Out(5, 0);
  const UOpRef index = uop::Cast(At(dtypes::kInt32, 2, i), dtypes::kIndex);
  RandomKernel k = Kernel(At(kF, 1, index), {i});
  AddFloats(&k, 3);
  std::vector<uint8_t> bytes(20);
  for (int n = 0; n < 5; ++n) bytes[4 * n] = static_cast<uint8_t>(n % 3);
  k.dtypes.push_back(dtypes::kInt32);
  k.bytes.push_back(bytes);
  Check(k, {"pad(0,32)", "pad(0,4) upcast(0,4)"});
}

TEST_F(Padding, WrongRequestsAreRefused) {
  const UOpRef o = Out(8, 0), c = Red(17, 1);
  RandomKernel k = Kernel(uop::Reduce(Op::kAdd, At(kF, 1, o * 17 + c), {c}), {o});
  AddFloats(&k, 8 * 17);
  const auto message = [&](const char* text) {
    return std::string(
        RunKernel(rdna_, k, &*std::make_unique<ChoiceList>(*ParseChoices(text))).status().message());
  };
  EXPECT_NE(message("pad(0,4)").find("pad(0,4): the amount must be at least 2 and not divide 8"),
            std::string::npos);
  EXPECT_NE(message("pad_reduce(1,4)").find("the kernel has 1 reduce ranges"), std::string::npos);
  EXPECT_NE(message("upcast(0,2) pad_reduce(0,4)").find("padding comes before ranges are split"),
            std::string::npos);
  EXPECT_NE(message("nolocals(0,1) local(0,8)").find("rules work-items out"), std::string::npos);
  EXPECT_NE(message("thread(0,2)").find("the target has no threads"), std::string::npos);
  EXPECT_NE(message("swap(0,1)").find("the other range must be"), std::string::npos);
  EXPECT_NE(message("tc(0,0)").find("the kernel has 0 uses for wmma.f32.16x16x16.f16"), std::string::npos);
}

// The parts that host threads compute.
TEST_F(Padding, ThreadsComputeTheirParts) {
  const UOpRef i = Out(12, 0), j = Out(6, 1), c = Red(9, 2);
  RandomKernel k = Kernel(uop::Reduce(Op::kAdd, At(kF, 1, i * 9 + c) * At(kF, 2, c * 6 + j), {c}), {i, j});
  AddFloats(&k, 12 * 9);
  AddFloats(&k, 9 * 6);
  Check(k, {"thread(0,3)", "thread(1,6)", "thread(0,12)", "thread(0,2) vectorize(1,2) upcast(0,3)"}, 1);
}

}  // namespace
}  // namespace understudy::test
