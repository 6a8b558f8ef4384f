// SPDX-License-Identifier: Apache-2.0
// Shapes, types and error texts of the Tensor API; nothing is computed here.
#include "src/tensor/tensor.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/tensor/random.h"

namespace understudy {
namespace {

using ::testing::HasSubstr;

std::string Error(const Tensor& t) {
  EXPECT_FALSE(t.ok());
  return std::string(t.status().message());
}

Tensor Of(Shape s, DType t = dtypes::kFloat32) { return Tensor::Ones(std::move(s), {t}); }

TEST(Types, NumbersTakeTheTensorsType) {
  EXPECT_EQ((Of({2}, dtypes::kFloat16) + 1.5).dtype(), dtypes::kFloat16);
  EXPECT_EQ((Of({2}, dtypes::kInt8) + 1).dtype(), dtypes::kInt8);
  EXPECT_EQ((Of({2}, dtypes::kInt8) + 1.5).dtype(), dtypes::kFloat32);
  EXPECT_EQ((Of({2}, dtypes::kBool) + 1).dtype(), dtypes::kInt64);
  EXPECT_EQ((Of({2}, dtypes::kBool) + true).dtype(), dtypes::kBool);
  EXPECT_EQ((2.0 / Of({2}, dtypes::kInt32)).dtype(), dtypes::kFloat32);
}

TEST(Types, TensorsPromote) {
  EXPECT_EQ((Of({2}, dtypes::kInt32) + Of({2}, dtypes::kFloat16)).dtype(), dtypes::kFloat16);
  EXPECT_EQ((Of({2}, dtypes::kUInt8) + Of({2}, dtypes::kInt8)).dtype(), dtypes::kInt16);
  EXPECT_EQ((Of({2}, dtypes::kInt32) / Of({2}, dtypes::kInt32)).dtype(), dtypes::kFloat32);
  EXPECT_EQ(Of({2}, dtypes::kInt32).Exp().dtype(), dtypes::kFloat32);
  EXPECT_EQ(Of({2}, dtypes::kBFloat16).Softmax().dtype(), dtypes::kBFloat16);
  EXPECT_EQ(Of({2}).Lt(Of({2})).dtype(), dtypes::kBool);
}

TEST(Errors, NameOperationValuesAndExpectation) {
  EXPECT_EQ(Error(Of({2, 3}) + Of({4})),
            "Add: shapes [2,3] and [4] do not broadcast: sizes 3 and 4 at axis -1, expected equal or 1");
  EXPECT_EQ(Error(Of({2, 3}).Matmul(Of({2, 3}))),
            "Matmul: shapes [2,3] and [2,3]: inner sizes 3 and 2, expected equal");
  EXPECT_EQ(Error(Of({2, 3}).Reshape({4})), "Reshape: from [2,3] (6 elements) to [4] (4 elements)");
  EXPECT_THAT(Error(Of({2, 3}).Reshape({4, -1})), HasSubstr("no size for -1 gives 6 elements"));
  EXPECT_EQ(Error(Of({2}).Sum({1})), "Sum: axis 1 is outside a tensor of rank 1");
  EXPECT_EQ(Error(Of({2, 2}).Sum({0, -2})), "Sum: axis -2 appears twice in [0,-2]");
  EXPECT_EQ(Error(Of({2, 0}).Max({1})), "Max: axis 1 of shape [2,0] has no elements, expected at least one");
  EXPECT_EQ(Error(Of({2, 3}).Permute({0})), "Permute: axes [0] for rank 2, expected each axis once");
  EXPECT_THAT(Error(Of({2, 3}).Permute({0, 0})), HasSubstr("axis 0 appears twice"));
  EXPECT_THAT(Error(Of({2, 3}).Expand({4, 3})), HasSubstr("axis 0 has size 2, expected 1 or 4"));
  EXPECT_EQ(Error(Of({2}).Index({5})), "Index: 5 is outside axis 0 of size 2");
  EXPECT_THAT(Error(Of({2}).Index({Slice{0, 1, 0}})), HasSubstr("slice step 0"));
  EXPECT_THAT(Error(Of({2}).Index({0, 0})), HasSubstr("2 indices for a tensor of rank 1"));
  EXPECT_THAT(Error(Of({2}).Index({Ellipsis{}, Ellipsis{}})), HasSubstr("2 ellipses"));
  EXPECT_EQ(Error(Of({2}).Shrink({{1, 3}})), "Shrink: [1,3) is not inside axis 0 of [2]");
  EXPECT_THAT(Error(Of({2}).Pad({{-1, -2}})), HasSubstr("cuts more than the 2 elements of axis 0"));
  EXPECT_EQ(Error(Of({2}).BitAnd(Of({2}))), "BitAnd: dtype f32, expected integers");
  EXPECT_EQ(Error(Of({2}, dtypes::kBool).Neg()), "Neg: dtype bool, expected a number (LogicalNot inverts)");
  EXPECT_EQ(Error(Of({2}, dtypes::kInt32).Mean()), "Mean: dtype i32, expected floats (Cast first)");
  EXPECT_EQ(Error(Of({2}, dtypes::kInt8) + 1000), "Add: number 1000 does not fit i8");
  EXPECT_THAT(Error(Of({2}).Bitcast(dtypes::kInt8)),
              HasSubstr("from f32 to i8, expected types of equal width"));
  EXPECT_EQ(Error(Where(Of({2}), 1, 2)), "Where: condition of dtype f32, expected bool");
  EXPECT_EQ(Error(Cat({})), "Cat: no tensors, expected at least one");
  EXPECT_EQ(Error(Cat({Of({2, 3}), Of({2, 2})})),
            "Cat: tensor 1 has shape [2,2], expected [2,3] but for axis 0");
  EXPECT_THAT(Error(Stack({Of({2}), Of({3})})), HasSubstr("shapes [2] and [3], expected equal shapes"));
  EXPECT_THAT(Error(Of({1, 3, 4, 4}).Conv2d(Of({2, 2, 3, 3}))),
              HasSubstr("3 input channels, weight [2,2,3,3] and 1 groups"));
  EXPECT_THAT(Error(Of({1, 2, 2, 2}).Conv2d(Of({2, 2, 3, 3}))),
              HasSubstr("smaller than the kernel's reach [3,3]"));
  EXPECT_THAT(Error(Of({2, 3}).CrossEntropy(Of({2}))), HasSubstr("target of dtype f32, expected integers"));
  EXPECT_THAT(Error(Tensor::FromData<float>({1, 2, 3}, {2})),
              HasSubstr("3 elements of f32 for shape [2], expected 2"));
  EXPECT_THAT(Error(Tensor::Full({-1}, 0)), HasSubstr("shape [-1] has a negative size"));
  EXPECT_THAT(Error(Tensor::Full({1ll << 40, 1ll << 40}, 0)), HasSubstr("more than 2^63 elements"));
  EXPECT_THAT(Error(Of({2}, dtypes::kInt32).Pow(-1)), HasSubstr("negative power"));
  EXPECT_THAT(Error(Of({2}, dtypes::kBool).Pow(Of({2}, dtypes::kBool))), HasSubstr("dtype bool"));
  EXPECT_THAT(Error(Of({2}).Lerp(Of({3}), 0.5)), HasSubstr("do not broadcast"));
  EXPECT_EQ(Error(Tensor()), "tensor without a value");
}

TEST(Errors, TheFirstOneIsPassedOn) {
  const Tensor bad = Of({2}) + Of({3});
  EXPECT_EQ(((bad * 2).Exp().Sum() / 3 + Of({2})).status(), bad.status());
  EXPECT_EQ(Cat({Of({2}), bad}).status(), bad.status());
  EXPECT_EQ(bad.shape(), Shape{});
  EXPECT_EQ(Gradients(bad, {Of({2})})[0].status(), bad.status());
}

TEST(Errors, AssignmentNeedsEqualTypeAndShape) {
  const Tensor x = Tensor::FromData<float>({1, 2, 3, 4}, {4});
  Tensor a = x.Reshape({4}).Detach();
  a.Assign(Tensor::Zeros({2}));
  EXPECT_THAT(Error(a), HasSubstr("value of f32[2] into f32[4], expected equal dtype and shape"));
  Tensor c = x.Detach();
  c.AssignIndex({Slice{0, 2}}, Tensor::Zeros({2}, {dtypes::kInt32}));
  EXPECT_THAT(Error(c), HasSubstr("value of dtype i32 into f32"));
  Tensor d = x.Detach();
  d.AssignIndex({Slice{0, 2}}, Tensor::Zeros({3}));
  EXPECT_THAT(Error(d), HasSubstr("does not broadcast to the part's shape [2]"));
}

TEST(Errors, WritesThroughExpandedOrForeignViewsAreRefused) {
  const Tensor x = Tensor::FromData<float>({1, 2, 3}, {3, 1});
  Tensor a = x.Clone();
  a.AssignView(a.Expand({3, 2}), Tensor::Zeros({3, 2}));
  EXPECT_THAT(Error(a), HasSubstr("EXPAND between the tensor and the place to write"));
  Tensor b = x.Clone();
  b.AssignView(Tensor::FromData<float>({1}, {1}), Tensor::Zeros({1}));
  EXPECT_THAT(Error(b), HasSubstr("expected views of this tensor"));
}

TEST(Handles, CopiesAreTheSameTensor) {
  Tensor x = Tensor::FromData<float>({1}, {1});
  const Tensor y = x;
  x.set_requires_grad();
  EXPECT_TRUE(y.requires_grad());
  EXPECT_TRUE((y + 1).requires_grad());
  EXPECT_FALSE(y.Detach().requires_grad());
  x.Assign(Tensor::Zeros({1}));
  EXPECT_EQ(y.uop(), x.uop());
}

TEST(Constants, AreKnownWithoutComputing) {
  EXPECT_EQ(std::get<double>(*Tensor::Full({2, 3}, 1.5).Permute({1, 0}).ConstantValue()), 1.5);
  EXPECT_FALSE(Tensor::Full({2}, 1).Pad({{1, 0}}).ConstantValue().has_value());
  EXPECT_FALSE(Tensor::FromData<float>({1}, {1}).ConstantValue().has_value());
}

// Test vectors of the Random123 distribution (kat_vectors, threefry2x32 with 20 rounds).
TEST(Random, ThreefryKnownAnswers) {
  using A = std::array<uint32_t, 2>;
  EXPECT_EQ(Threefry2x32({0, 0}, {0, 0}), (A{0x6b200159, 0x99ba4efe}));
  EXPECT_EQ(Threefry2x32({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}), (A{0x1cb996fc, 0xbb002be7}));
  EXPECT_EQ(Threefry2x32({0x13198a2e, 0x03707344}, {0x243f6a88, 0x85a308d3}), (A{0xc4923a9c, 0x483df7a0}));
}

}  // namespace
}  // namespace understudy
