// SPDX-License-Identifier: Apache-2.0
// The search by itself: an exhaustive walk is the beam's oracle, a model that fails or forgets nothing stands
// in for devices. Costs are the static estimate's, or made up.

#include "src/codegen/search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "src/codegen/stages.h"
#include "src/codegen/work.h"
#include "src/uop/build.h"

namespace understudy {
namespace {

using namespace uop::expr;  // NOLINT

Target Host() {
  Target t;
  t.isa = "host";
  t.has_threads = true;
  t.threads = 4;
  t.max_vector_bytes = 32;
  return t;
}
Target Gpu() {
  Target t;
  t.isa = "gfx1100";
  t.wave_size = 32;
  t.max_workgroup = 256;
  t.local_bytes = 65536;
  t.has_local = true;
  t.tensor_cores = AmdTensorCores("gfx1100");
  return t;
}

UOpRef At(int64_t param, const UOpRef& index, DType type = dtypes::kFloat32) {
  return uop::IndexOf(uop::Param(type, param), index);
}
UOpRef Matmul(int64_t m, int64_t n, int64_t k, DType in = dtypes::kFloat32) {
  const UOpRef i = uop::Range(m, 0, AxisKind::kGlobal), j = uop::Range(n, 1, AxisKind::kGlobal),
               l = uop::Range(k, 2, AxisKind::kReduce);
  const UOpRef product = uop::Cast(uop::Load(At(1, i * k + l, in)), dtypes::kFloat32) *
                         uop::Cast(uop::Load(At(2, l * n + j, in)), dtypes::kFloat32);
  return uop::Sink({uop::Store(At(0, i * n + j), uop::Reduce(Op::kAdd, product, {l}), {i, j})}, "matmul");
}
UOpRef Add(int64_t m, int64_t n) {
  const UOpRef i = uop::Range(m, 0, AxisKind::kGlobal), j = uop::Range(n, 1, AxisKind::kGlobal);
  return uop::Sink({uop::Store(At(0, i * n + j), uop::Load(At(1, i * n + j)) + uop::Load(At(2, j)), {i, j})},
                   "add");
}
UOpRef RowSum(int64_t m, int64_t k) {
  const UOpRef i = uop::Range(m, 0, AxisKind::kGlobal), l = uop::Range(k, 1, AxisKind::kReduce);
  return uop::Sink({uop::Store(At(0, i), uop::Reduce(Op::kAdd, uop::Load(At(1, i * k + l)), {l}), {i})},
                   "sum");
}

// Squares of a row's elements beside the sum of all.
UOpRef RowOfSquares(int64_t m, int64_t k) {
  const UOpRef i = uop::Range(m, 0, AxisKind::kGlobal), j = uop::Range(k, 1, AxisKind::kGlobal),
               l = uop::Range(k, 2, AxisKind::kReduce);
  const auto square = [&](const UOpRef& step) {
    const UOpRef x = uop::Load(At(1, i * k + step));
    return x * x;
  };
  const UOpRef sum = uop::Reduce(Op::kAdd, square(l), {l});
  return uop::Sink({uop::Store(At(0, i * k + j), square(j) + sum, {i, j})}, "squares");
}

// Costs drawn from the structure: without a shape that a search could follow.
class HashedCost : public CostModel {
 public:
  std::string name() const override { return "hashed"; }
  std::vector<absl::StatusOr<double>> Costs(const UOpRef& kernel, const Target& target,
                                            absl::Span<const ChoiceList> candidates, double) override {
    std::vector<absl::StatusOr<double>> costs;
    for (const ChoiceList& c : candidates) {
      ++calls;
      if (fails && fails(c)) {
        costs.emplace_back(absl::AbortedError("the compiler was ended by signal 11"));
      } else {
        costs.emplace_back(static_cast<double>((*StructureOf(kernel, target, c))->hash() % 1000));
      }
    }
    return costs;
  }
  int calls = 0;
  std::function<bool(const ChoiceList&)> fails;
};

std::vector<std::string> Tried(const SearchResult& r) {
  std::vector<std::string> text;
  for (const TriedChoices& t : r.tried)
    text.push_back(ChoicesText(t.choices) + " = " + (t.cost.ok() ? std::to_string(*t.cost) : "error"));
  return text;
}

TEST(Search, EveryKindOfTheTableIsListed) {
  std::set<ChoiceKind> kinds;
  const auto look = [&](const UOpRef& kernel, const Target& target) {
    for (const Choice& c : ListChoices(kernel, target, {})) {
      kinds.insert(c.kind);
      EXPECT_TRUE(CheckChoice(kernel, target, {}, c).ok()) << c.Text();
    }
  };
  look(Matmul(32, 32, 32, dtypes::kFloat16), Gpu());
  look(Matmul(31, 30, 29), Gpu());
  look(Matmul(8, 8, 8), Host());
  Target packs = Host();
  packs.vector_bytes = 32;
  packs.vector_registers = 16;
  packs.pack_bytes = 1 << 18;
  packs.stream_bytes = 1;
  look(Matmul(64, 64, 64), packs);
  look(RowOfSquares(4, 32), packs);
#define CHOICE(name, text) EXPECT_TRUE(kinds.contains(ChoiceKind::k##name)) << text;
#include "src/codegen/choices.inc"
}

TEST(Search, OrderOfChoicesMakesNoOtherStructure) {
  const UOpRef kernel = Matmul(8, 8, 8);
  const auto structure = [&](const char* text) { return *StructureOf(kernel, Gpu(), *ParseChoices(text)); };
  EXPECT_EQ(structure("local(0,4) upcast(1,2) unroll(0,4)"), structure("unroll(0,4) upcast(1,2) local(0,4)"));
  EXPECT_NE(structure("local(0,4)"), structure("local(1,4)"));
  EXPECT_NE(structure("local(0,4)"), structure("upcast(0,4)"));
}

// The estimate has a shape: a narrow beam finds the least of all that two or three choices reach.
TEST(Search, BeamFindsWhatTheExhaustiveWalkFinds) {
  const struct {
    const char* name;
    UOpRef kernel;
    Target target;
  } kCases[] = {{"add on a GPU", Add(4, 8), Gpu()},          {"add on the host", Add(4, 4), Host()},
                {"matmul on a GPU", Matmul(2, 4, 4), Gpu()}, {"matmul on the host", Matmul(2, 4, 4), Host()},
                {"sum on a GPU", RowSum(4, 8), Gpu()},       {"sum on the host", RowSum(6, 8), Host()}};
  for (const auto& c : kCases) {
    StaticCost cost(CostWeights{4, 8});
    const int depth = c.kernel->arg_as<KernelArg>().name == "matmul" ? 2 : 3;
    const auto all = SearchExhaustively(c.kernel, c.target, cost, depth);
    ASSERT_TRUE(all.ok()) << c.name << ": " << all.status().ToString();
    SearchOptions options;
    options.width = 8;
    options.max_choices = depth;
    options.patience = 3;
    options.max_candidates = 100000;
    const auto beam = SearchChoices(c.kernel, c.target, cost, options);
    ASSERT_TRUE(beam.ok()) << c.name << ": " << beam.status().ToString();
    EXPECT_LT(beam->tried.size(), all->tried.size()) << c.name;
    // The heuristic's list may be longer than three.
    EXPECT_LE(beam->cost, all->cost) << c.name << ": " << ChoicesText(beam->choices) << " against "
                                     << ChoicesText(all->choices);
    EXPECT_LT(all->cost, *all->none_cost) << c.name;
    std::printf("%s: %zu candidates, the beam %zu\n", c.name, all->tried.size(), beam->tried.size());
  }
}

// A beam as wide as the space is the exhaustive walk, whatever the costs.
TEST(Search, AWideBeamIsExhaustive) {
  for (const Target& target : {Host(), Gpu()}) {
    HashedCost cost;
    const UOpRef kernel = Add(4, 4);
    const auto all = SearchExhaustively(kernel, target, cost, 3);
    SearchOptions options;
    options.width = 100000;
    options.max_choices = 3;
    options.patience = 4;
    options.max_candidates = 100000;
    const auto beam = SearchChoices(kernel, target, cost, options);
    ASSERT_TRUE(all.ok() && beam.ok());
    EXPECT_TRUE(beam->complete);
    EXPECT_LE(beam->cost, all->cost);
    std::set<std::string> walked, beamed;
    for (const auto& t : all->tried) walked.insert(ChoicesText(t.choices));
    for (const auto& t : beam->tried) beamed.insert(ChoicesText(t.choices));
    EXPECT_GE(beamed.size(), walked.size());
  }
}

TEST(Search, IsNeverWorseThanNoneAndTheHeuristic) {
  for (const Target& target : {Host(), Gpu()}) {
    for (const UOpRef& kernel : {Matmul(16, 24, 8), RowSum(8, 256), Add(12, 20)}) {
      StaticCost estimate;
      HashedCost hashed;
      for (CostModel* cost : {static_cast<CostModel*>(&estimate), static_cast<CostModel*>(&hashed)}) {
        SearchOptions options;
        options.max_candidates = 60;
        const auto r = SearchChoices(kernel, target, *cost, options);
        ASSERT_TRUE(r.ok()) << r.status().ToString();
        EXPECT_EQ(r->heuristic, HeuristicChoices(kernel, target));
        EXPECT_LE(r->cost, *r->none_cost);
        EXPECT_LE(r->cost, *r->heuristic_cost);
        EXPECT_TRUE(StructureOf(kernel, target, r->choices).ok());
      }
    }
  }
}

TEST(Search, TheSameSeedGivesTheSameSearch) {
  const UOpRef kernel = Matmul(16, 16, 16);
  std::set<std::vector<std::string>> orders;
  for (const uint64_t seed : {0, 1, 2}) {
    SearchOptions options;
    options.seed = seed;
    options.max_candidates = 50;
    HashedCost cost;
    const auto first = SearchChoices(kernel, Gpu(), cost, options),
               again = SearchChoices(kernel, Gpu(), cost, options);
    ASSERT_TRUE(first.ok() && again.ok());
    EXPECT_EQ(Tried(*first), Tried(*again));
    EXPECT_EQ(first->choices, again->choices);
    EXPECT_FALSE(first->complete);
    EXPECT_EQ(first->tried.size(), 50u);
    orders.insert(Tried(*first));
  }
  EXPECT_EQ(orders.size(), 3u);
  // Where no limit cuts, the order makes no difference.
  std::set<std::string> found;
  for (const uint64_t seed : {0, 1, 2}) {
    SearchOptions options;
    options.seed = seed;
    options.max_candidates = 100000;
    options.max_choices = 3;
    HashedCost cost;
    const auto r = SearchChoices(Add(8, 8), Gpu(), cost, options);
    ASSERT_TRUE(r.ok());
    EXPECT_TRUE(r->complete);
    const auto structure = *StructureOf(Add(8, 8), Gpu(), r->choices);
    found.insert(std::to_string(structure->hash()));
  }
  EXPECT_EQ(found.size(), 1u);
}

TEST(Search, GoesOnWithoutCandidatesThatFail) {
  const UOpRef kernel = Matmul(8, 8, 8);
  HashedCost cost;
  cost.fails = [](const ChoiceList& c) { return !c.empty() && c.back().kind == ChoiceKind::kUpcast; };
  SearchOptions options;
  options.max_candidates = 100;
  const auto r = SearchChoices(kernel, Host(), cost, options);
  ASSERT_TRUE(r.ok()) << r.status().ToString();
  EXPECT_GT(r->failed, 0);
  EXPECT_TRUE(r->choices.empty() || r->choices.back().kind != ChoiceKind::kUpcast);
  int failed = 0;
  for (const auto& t : r->tried) failed += !t.cost.ok();
  EXPECT_EQ(failed, r->failed);
  // None of all: the first error, with the kernel's name.
  cost.fails = [](const ChoiceList&) { return true; };
  const auto none = SearchChoices(kernel, Host(), cost, options);
  EXPECT_EQ(none.status().code(), absl::StatusCode::kAborted);
  EXPECT_NE(std::string(none.status().message()).find("no choices of kernel matmul have a cost"),
            std::string::npos)
      << none.status().ToString();
}

TEST(Search, EndsWhenTold) {
  HashedCost cost;
  SearchOptions options;
  options.stop = [&] { return cost.calls > 10; };
  const auto r = SearchChoices(Matmul(16, 16, 16), Gpu(), cost, options);
  ASSERT_TRUE(r.ok());
  EXPECT_FALSE(r->complete);
  EXPECT_LT(cost.calls, 100);
}

TEST(Search, ThePrunerSavesCosts) {
  StaticCost pruner;
  HashedCost cost;
  SearchOptions options;
  options.pruner = &pruner;
  options.keep = 5;
  options.max_choices = 3;
  const auto r = SearchChoices(Matmul(16, 16, 16), Gpu(), cost, options);
  ASSERT_TRUE(r.ok());
  EXPECT_GT(r->pruned, 0);
  EXPECT_LE(r->tried.size(), 5u * 3 + r->heuristic.size() + 1);
}

TEST(Search, TooLargeASpaceIsRefused) {
  HashedCost cost;
  const auto r = SearchExhaustively(Matmul(32, 32, 32), Gpu(), cost, 4, 500);
  EXPECT_EQ(r.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(SearchChoices(uop::IndexConst(1), Gpu(), cost).ok());
}

// What the estimate counts, against counting by hand.
TEST(Work, CountsInstructionsBytesAndLines) {
  // 64 work-items in two waves: each loads two floats and stores one; neighbours lie side by side.
  const UOpRef kernel = Add(1, 64);
  const ChoiceList choices = *ParseChoices("local(1,64)");
  const auto linear = LowerKernel(kernel, Gpu(), &choices);
  ASSERT_TRUE(linear.ok()) << linear.status().ToString();
  const KernelWork work = EstimateWork(*linear, Gpu());
  EXPECT_EQ(work.waves, 2);
  EXPECT_EQ(work.bytes, 3 * 64 * 4);
  EXPECT_EQ(work.lines, 2 * 3);  // 32 floats are a line
  // A column each: every lane in a line of its own.
  const UOpRef i = uop::Range(32, 0, AxisKind::kGlobal);
  const UOpRef column = uop::Sink({uop::Store(At(0, i), uop::Load(At(1, i * 256)), {i})}, "column");
  const ChoiceList local = *ParseChoices("local(0,32)");
  EXPECT_EQ(EstimateWork(*LowerKernel(column, Gpu(), &local), Gpu()).lines, 32 + 1);
  // A loop counts its trips.
  const ChoiceList none;
  EXPECT_EQ(EstimateWork(*LowerKernel(RowSum(1, 100), Gpu(), &none), Gpu()).bytes, 101 * 4);
  EXPECT_DOUBLE_EQ(CostOfWork({1000, 50, 0, 10}, {4, 100}), 120);
  EXPECT_DOUBLE_EQ(CostOfWork({1000, 50, 0, 1000}, {4, 100}), 12);
}

}  // namespace
}  // namespace understudy
