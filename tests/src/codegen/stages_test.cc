// SPDX-License-Identifier: Apache-2.0
// What single stages of lowering leave behind, and what they refuse.
#include "src/codegen/stages.h"

#include <gtest/gtest.h>

#include <map>

#include "src/codegen/codegen.h"
#include "src/codegen/decompose.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"
#include "src/uop/print.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {
namespace {

using namespace uop::expr;  // NOLINT
using uop::IndexOf;
using uop::Load;
using uop::Param;
using uop::Range;
using uop::Reduce;
using uop::Store;

constexpr DType kF32 = dtypes::kFloat32;

Target Gpu() {
  Target t;
  t.isa = "gpu";
  t.has_local = true;
  t.max_workgroup = 256;
  t.local_bytes = 4096;
  t.max_grid = {100, 10, 10};
  return t;
}
Target Host() {
  Target t;
  t.isa = "host";
  return t;
}
UOpRef At(int64_t param, const UOpRef& index) { return IndexOf(Param(kF32, param), index); }
UOpRef Copy(int64_t n) {
  const UOpRef i = Range(n, 0, AxisKind::kGlobal);
  return uop::Sink({Store(At(0, i), Load(At(1, i)), {i})}, "copy");
}
UOpRef Matmul(int64_t n) {
  const UOpRef i = Range(n, 0, AxisKind::kGlobal), j = Range(n, 1, AxisKind::kGlobal),
               k = Range(n, 2, AxisKind::kReduce);
  return uop::Sink({Store(At(0, i * n + j),
                          Reduce(Op::kAdd, Load(At(1, i * n + k)) * Load(At(2, k * n + j)), {k}), {i, j})},
                   "matmul");
}
LinearKernel Lower(const UOpRef& kernel, const Target& target, const std::string& choices) {
  const ChoiceList list = *ParseChoices(choices);
  auto linear = LowerKernel(kernel, target, &list);
  EXPECT_TRUE(linear.ok()) << linear.status();
  return linear.ok() ? *std::move(linear) : LinearKernel();
}
// How often the list holds `op` with a result (or stored value) of `lanes`.
int Count(const LinearKernel& k, Op op, int lanes = 1) {
  int n = 0;
  for (const UOpRef& u : k.ops)
    n += u->op() == op && (op == Op::kStore ? u->src(1)->dtype().lanes : u->dtype().lanes) == lanes;
  return n;
}

TEST(Choices, TextReadsBack) {
  const std::string text = "upcast(0,4) vectorize(1,8) unroll(0,2) local(2,16) group(1,32)";
  EXPECT_EQ(ChoicesText(*ParseChoices(text)), text);
  EXPECT_EQ(ParseChoices("upcast(0,4) twist(1,2)").status().message(),
            "choice 'twist(1,2)': expected upcast, vectorize, unroll, local, group, thread, swap, nolocals, "
            "pad, pad_reduce, tc, block, pack, stream or keep");
  EXPECT_EQ(ParseChoices("upcast(0)").status().message(), "choice 'upcast(0)': expected (axis,amount)");
}

TEST(Choices, RefusalsNameChoiceAndReason) {
  const UOpRef a = Range(8, 1, AxisKind::kReduce), b = Range(8, 2, AxisKind::kReduce),
               i = Range(6, 0, AxisKind::kGlobal);
  const UOpRef x = Load(At(1, (i * 8 + a) * 8 + b));
  const UOpRef kernel = uop::Sink({Store(At(0, i), Reduce(Op::kAdd, x, {a, b}), {i})}, "k");
  const UOpRef nested =
      uop::Sink({Store(At(0, i), Reduce(Op::kMax, Reduce(Op::kAdd, x, {b}), {a}), {i})}, "n");
  const auto refusal = [](const UOpRef& k, const Target& t, const std::string& choices) {
    const ChoiceList list = *ParseChoices(choices);
    return std::string(LowerKernel(k, t, &list).status().message());
  };
  EXPECT_EQ(refusal(kernel, Gpu(), "upcast(0,4)"),
            "kernel k: choice upcast(0,4): the amount must be at least 2 and divide 6");
  EXPECT_EQ(refusal(kernel, Gpu(), "upcast(1,2)"),
            "kernel k: choice upcast(1,2): the kernel has 1 output ranges");
  EXPECT_EQ(refusal(kernel, Gpu(), "upcast(0,6) upcast(0,2)"),
            "kernel k: choice upcast(0,2): the axis is used up");
  EXPECT_EQ(refusal(kernel, Gpu(), "vectorize(0,3)"),
            "kernel k: choice vectorize(0,3): the number of lanes must be a power of two");
  EXPECT_EQ(refusal(kernel, Gpu(), "unroll(0,2)"),
            "kernel k: choice unroll(0,2): a reduce range inside this one turns faster: the order of the sum "
            "would change");
  EXPECT_EQ(refusal(kernel, Host(), "local(0,2)"),
            "kernel k: choice local(0,2): the target has no workgroups");
  EXPECT_EQ(refusal(nested, Gpu(), "group(0,2)"),
            "kernel n: choice group(0,2): the reduction lies inside another one");
  EXPECT_EQ(refusal(kernel, Gpu(), "group(0,2) group(1,4)"),
            "kernel k: choice group(1,4): the kernel's other group has 2 work-items");
  Target small = Gpu();
  small.local_bytes = 16;
  EXPECT_EQ(refusal(kernel, small, "group(0,8)"),
            "kernel k: the grouped reductions need 32 bytes of local memory, the target has 16");
}

TEST(Choices, EveryListedChoiceAndTheHeuristicLower) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const RandomKernel k = MakeRandomKernel(seed * 31, {.transcendental = true});
    for (const Target& t : {Gpu(), Host()}) {
      const auto guess = LowerKernel(k.kernel, t, nullptr);
      EXPECT_TRUE(guess.ok()) << guess.status() << "\n" << uop::Print(k.kernel);
      const ChoiceList legal = ListChoices(k.kernel, t, {});
      for (size_t i = seed % 3; i < legal.size(); i += 5) {
        const ChoiceList one{legal[i]};
        const auto linear = LowerKernel(k.kernel, t, &one);
        EXPECT_TRUE(linear.ok()) << legal[i].Text() << ": " << linear.status() << "\n"
                                 << uop::Print(k.kernel);
      }
    }
  }
}

TEST(Stages, NeighboursCoalesce) {
  const LinearKernel plain = Lower(Copy(64), Gpu(), "upcast(0,4)");
  EXPECT_EQ(Count(plain, Op::kLoad, 4), 1);
  EXPECT_EQ(Count(plain, Op::kLoad, 1), 0);
  EXPECT_EQ(Count(plain, Op::kStore, 4), 1);
  // Eight floats are two vectors of sixteen bytes.
  EXPECT_EQ(Count(Lower(Copy(64), Gpu(), "upcast(0,8)"), Op::kLoad, 4), 2);
  // Three are a pair and one.
  const LinearKernel three = Lower(Copy(63), Gpu(), "upcast(0,3)");
  EXPECT_EQ(Count(three, Op::kLoad, 2), 1);
  EXPECT_EQ(Count(three, Op::kLoad, 1), 1);
  // Elements that are no neighbours stay alone.
  const UOpRef i = Range(64, 0, AxisKind::kGlobal);
  const UOpRef strided = uop::Sink({Store(At(0, i * 2), Load(At(1, i * 3)), {i})}, "strided");
  EXPECT_EQ(Count(Lower(strided, Gpu(), "upcast(0,4)"), Op::kLoad, 1), 4);
  EXPECT_EQ(Count(Lower(strided, Gpu(), "upcast(0,4)"), Op::kStore, 1), 4);
}

TEST(Stages, ReductionsOverOneRangeShareALoop) {
  const LinearKernel tile = Lower(Matmul(16), Host(), "upcast(0,2) upcast(1,2)");
  EXPECT_EQ(Count(tile, Op::kDefineReg), 4);
  int reduce_loops = 0;
  for (const UOpRef& u : tile.ops)
    reduce_loops += u->op() == Op::kRange && u->arg_as<RangeArg>().kind == AxisKind::kReduce;
  EXPECT_EQ(reduce_loops, 1);
  // One that uses the other's result cannot.
  const UOpRef i = Range(4, 0, AxisKind::kGlobal), r = Range(8, 1, AxisKind::kReduce);
  const UOpRef x = Load(At(1, i * 8 + r));
  const UOpRef nested =
      uop::Sink({Store(At(0, i), Reduce(Op::kAdd, x + Reduce(Op::kMax, x, {r}), {r}), {i})}, "nested");
  reduce_loops = 0;
  for (const UOpRef& u : Lower(nested, Host(), "").ops)
    reduce_loops += u->op() == Op::kRange && u->arg_as<RangeArg>().kind == AxisKind::kReduce;
  EXPECT_EQ(reduce_loops, 2);
}

TEST(Stages, GroupsMeetAtABarrier) {
  const LinearKernel k = Lower(Matmul(16), Gpu(), "group(0,8) local(1,4)");
  EXPECT_EQ(Count(k, Op::kBarrier, 1), 1);
  EXPECT_EQ(k.local_bytes, 8 * 4 * 4);
  EXPECT_EQ(k.local, (std::array<int64_t, 3>{8, 4, 1}));
  EXPECT_EQ(k.global, (std::array<int64_t, 3>{64, 1, 1}));  // 16 x 4: more than 10 in the second dimension
}

TEST(Stages, IndicesAreAsWideAsTheyMustBe) {
  const auto index_type = [](const UOpRef& kernel) {
    for (const UOpRef& u : Lower(kernel, Host(), "").ops) {
      if (u->op() == Op::kRange) return u->dtype();
    }
    return dtypes::kVoid;
  };
  EXPECT_EQ(index_type(Copy(1 << 20)), dtypes::kInt32);
  const UOpRef i = Range(1 << 20, 0, AxisKind::kGlobal);
  EXPECT_EQ(index_type(uop::Sink({Store(At(0, i), Load(At(1, i * 4096)), {i})}, "far")), dtypes::kInt64);
}

TEST(Stages, GridsMergeAndSplitWithinTheLimits) {
  const auto grid = [](std::vector<int64_t> extents) {
    std::vector<UOpRef> ranges;
    UOpRef index = uop::IndexConst(0);
    for (const int64_t n : extents) {
      ranges.push_back(Range(n, static_cast<int64_t>(ranges.size()), AxisKind::kGlobal));
      index = index * n + ranges.back();
    }
    const ChoiceList none;
    return LowerKernel(uop::Sink({Store(At(0, index), Load(At(1, index)), ranges)}, "grid"), Gpu(), &none);
  };
  EXPECT_EQ(grid({4, 5, 6})->global, (std::array<int64_t, 3>{6, 5, 4}));
  EXPECT_EQ(grid({2, 3, 4, 5})->global,
            (std::array<int64_t, 3>{60, 2, 1}));  // merged, then cut to 100 x 10 x 10
  EXPECT_EQ(grid({1000})->global, (std::array<int64_t, 3>{100, 10, 1}));
  EXPECT_EQ(grid({10007}).status().message(),
            "kernel grid: a grid dimension of 10007 is left over; the limits are 100, 10, 10");
}

// `understudy trace` shows graphs that read back.
TEST(Stages, EveryStagePrintsAndParsesBack) {
  std::vector<std::string> names;
  const ChoiceList choices = *ParseChoices("upcast(0,2) vectorize(1,4) unroll(0,2) local(0,2)");
  const auto linear =
      LowerKernel(Matmul(16), Gpu(), &choices, [&](const std::string& stage, const UOpRef& graph) {
        names.push_back(stage);
        const auto parsed = uop::Parse(uop::Print(graph));
        ASSERT_TRUE(parsed.ok()) << stage << ": " << parsed.status();
        EXPECT_EQ(*parsed, graph) << stage;
      });
  ASSERT_TRUE(linear.ok()) << linear.status();
  EXPECT_EQ(names, (std::vector<std::string>{"kernel", "choices", "expand", "simplify", "group", "reduce",
                                             "coalesce", "dimensions", "index", "decompose", "linearize"}));
}

TEST(Stages, MalformedKernelsAreRefused) {
  const UOpRef i = Range(4, 0, AxisKind::kGlobal), j = Range(5, 1, AxisKind::kGlobal);
  const auto refusal = [](const UOpRef& k) { return std::string(LowerKernel(k, Host()).status().message()); };
  EXPECT_EQ(
      refusal(uop::Sink({Store(At(0, i), Load(At(1, i)), {i}), Store(At(2, j), Load(At(1, j)), {j})}, "two")),
      "kernel two: STOREs of one kernel run over different ranges; expected the same for all");
  EXPECT_EQ(refusal(uop::Sink({}, "empty")),
            "kernel empty: kernel is a SINK of 0 sources, expected a SINK of STOREs");
  EXPECT_EQ(refusal(uop::Sink({Store(At(0, i), Load(At(1, i), 4), {i})}, "vector")),
            "kernel vector: LOAD of f32x4 in a kernel graph; expected scalars");
}

TEST(Decompositions, RowsAreNamedOnceAndExplained) {
  std::map<std::string, int> names;
  for (const Decomposition& d : Decompositions()) {
    EXPECT_EQ(names[d.name]++, 0) << d.name;
    EXPECT_GT(std::string(d.meaning).size(), 5u) << d.name;
  }
}

}  // namespace
}  // namespace understudy::test
