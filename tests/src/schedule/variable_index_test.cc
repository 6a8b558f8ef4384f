// SPDX-License-Identifier: Apache-2.0
// Indexing with tensors where sizes are variable: lists of indices of variable length, and variable axes
// beside the indexed one, give what constant sizes give, with one schedule and compile; an index along a
// variable axis is refused by name.
#include "src/tensor/embedding.h"
#include "src/tensor/gather.h"
#include "src/tensor/indexing.h"
#include "tests/src/schedule/variable_check.h"

namespace understudy {
namespace {

using ::testing::HasSubstr;

class VariableIndexTest : public VariableTest {
 protected:
  Tensor Indices(int64_t n, int64_t below, int seed) {
    std::vector<int32_t> v(n);
    for (int64_t i = 0; i < n; ++i) v[i] = static_cast<int32_t>((i * 13 + seed * 7) % below);
    return Tensor::FromData<int32_t>(v, {n}, d0);
  }
};

TEST_P(VariableIndexTest, ListsOfIndicesOfVariableLength) {
  const Tensor x = Numbers({9, 4}, 1), i = Indices(12, 9, 2), j = Indices(12, 4, 3);
  SameAsConstant("embedding", 1, 12, [&](const Size& n) { return Embedding(Narrow(i, 0, 0, n), x); });
  SameAsConstant("index_select", 1, 12, [&](const Size& n) { return IndexSelect(x, 0, Narrow(i, 0, 0, n)); });
  SameAsConstant("take", 1, 12, [&](const Size& n) { return Take(x.Reshape({36}), Narrow(i, 0, 0, n)); });
  SameAsConstant("one list", 1, 12, [&](const Size& n) { return IndexBy(x, {Narrow(i, 0, 0, n)}); });
  SameAsConstant("two lists", 1, 12,
                 [&](const Size& n) { return IndexBy(x, {Narrow(i, 0, 0, n), Narrow(j, 0, 0, n)}); });
  SameAsConstant("mean of rows", 1, 12,
                 [&](const Size& n) { return Embedding(Narrow(i, 0, 0, n), x).Mean({0}); });
}

TEST_P(VariableIndexTest, VariableAxesBesideTheIndexedOne) {
  const Tensor x = Numbers({5, 12}, 4), i = Indices(7, 5, 5);
  SameAsConstant("index_select", 1, 12, [&](const Size& n) { return IndexSelect(Narrow(x, 1, 0, n), 0, i); });
  SameAsConstant("one list", 1, 12, [&](const Size& n) { return IndexBy(Narrow(x, 1, 0, n), {i}); });
}

TEST_P(VariableIndexTest, GradientsAndSumsByIndex) {
  const Tensor x = Numbers({9, 4}, 6), i = Indices(12, 9, 7), g = Numbers({12, 4}, 8);
  SameAsConstant("gradient of an embedding", 1, 12, [&](const Size& n) {
    return Gradients((Embedding(Narrow(i, 0, 0, n), x) * Narrow(g, 0, 0, n)).Sum(), {x})[0];
  });
  SameAsConstant("index_add", 1, 12,
                 [&](const Size& n) { return IndexAdd(x, 0, Narrow(i, 0, 0, n), Narrow(g, 0, 0, n)); });
  SameAsConstant("accumulated", 1, 12,
                 [&](const Size& n) { return IndexPut(x, {Narrow(i, 0, 0, n)}, Narrow(g, 0, 0, n), true); });
}

TEST_P(VariableIndexTest, AlongAVariableAxis) {
  const Tensor x = Numbers({12, 4}, 1), i = Indices(7, 14, 2) - 1, s = Numbers({7, 4}, 3);
  const Tensor wide = i.Unsqueeze(1).Expand({7, 4});
  const auto part = [&](const Size& n) { return Narrow(x, 0, 0, n); };
  SameAsConstant("index_select", 1, 12, [&](const Size& n) { return IndexSelect(part(n), 0, i); });
  SameAsConstant("gather", 1, 12, [&](const Size& n) { return Gather(part(n), 0, wide); });
  SameAsConstant("take", 4, 12, [&](const Size& n) { return Take(part(n), Indices(5, 16, 4) - 8); });
  SameAsConstant("index_fill", 1, 12, [&](const Size& n) { return IndexFill(part(n), 0, i, 3); });
  SameAsConstant("scatter", 1, 12, [&](const Size& n) { return Scatter(part(n), 0, wide, s); });
  SameAsConstant("scatter_add", 1, 12, [&](const Size& n) { return ScatterAdd(part(n), 0, wide, s); });
  for (const ScatterMode m :
       {ScatterMode::kProd, ScatterMode::kMean, ScatterMode::kAmax, ScatterMode::kAmin}) {
    for (const bool self : {true, false}) {
      SameAsConstant("scatter_reduce", 1, 12,
                     [&](const Size& n) { return ScatterReduce(part(n), 0, wide, s, m, self); });
    }
  }
  SameAsConstant("variable sources", 1, 7,
                 [&](const Size& n) { return Scatter(x, 0, Narrow(wide, 0, 0, n), Narrow(s, 0, 0, n)); });
}

TEST_P(VariableIndexTest, ListsOfItemsAlongAVariableAxisAreRefused) {
  const Variable n("n", 1, 9);
  const Tensor x = Narrow(Numbers({9, 4}, 1), 0, 0, n.Bind(5)), i = Indices(3, 4, 2);
  for (const Tensor& t : {IndexBy(x, {i}), Embedding(i, x), Searchsorted(Narrow(i, 0, 0, n.Bind(3)), i)}) {
    ASSERT_FALSE(t.ok());
    EXPECT_THAT(std::string(t.status().message()), HasSubstr("size"));
  }
}

UNDERSTUDY_STORAGE_DEVICES(VariableIndexTest);

}  // namespace
}  // namespace understudy
