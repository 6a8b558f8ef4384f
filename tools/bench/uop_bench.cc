// SPDX-License-Identifier: Apache-2.0
// Node creation, look-up, release, rewriting and simplification. Items are nodes or expressions.
#include <benchmark/benchmark.h>

#include "src/base/status.h"
#include "src/symbolic/simplify.h"
#include "src/uop/build.h"
#include "src/uop/eval.h"
#include "src/uop/graph.h"
#include "src/uop/print.h"
#include "src/uop/rewrite.h"

namespace understudy {
namespace {

using namespace uop::expr;  // NOLINT

constexpr int64_t kMillion = 1000000;

// A chain of a million distinct nodes: made, and freed again outside the timing.
void BM_MakeMillionNodes(benchmark::State& state) {
  for (auto _ : state) {
    UOpRef x = uop::Var("n", 0, 10);
    const UOpRef one = uop::IndexConst(1);
    for (int64_t i = 0; i < kMillion; ++i) x = uop::Add(x, one);
    state.PauseTiming();
    x = nullptr;
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kMillion);
}
BENCHMARK(BM_MakeMillionNodes)->Unit(benchmark::kMillisecond)->Iterations(3);

void BM_FreeMillionNodes(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    UOpRef x = uop::Var("n", 0, 10);
    const UOpRef one = uop::IndexConst(1);
    for (int64_t i = 0; i < kMillion; ++i) x = uop::Add(x, one);
    state.ResumeTiming();
    x = nullptr;
  }
  state.SetItemsProcessed(state.iterations() * kMillion);
}
BENCHMARK(BM_FreeMillionNodes)->Unit(benchmark::kMillisecond)->Iterations(3);

void BM_FindExistingNode(benchmark::State& state) {
  const UOpRef a = uop::Var("a", 0, 10), b = uop::Var("b", 0, 10), keep = uop::Add(a, b);
  for (auto _ : state) benchmark::DoNotOptimize(uop::Add(a, b));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_FindExistingNode);

void BM_ToposortMillionNodes(benchmark::State& state) {
  UOpRef x = uop::Var("n", 0, 10);
  for (int64_t i = 0; i < kMillion; ++i) x = uop::Neg(x);
  for (auto _ : state) benchmark::DoNotOptimize(uop::Toposort(x));
  state.SetItemsProcessed(state.iterations() * kMillion);
}
BENCHMARK(BM_ToposortMillionNodes)->Unit(benchmark::kMillisecond)->Iterations(3);

void BM_RewriteWithoutAMatch(benchmark::State& state) {
  UOpRef x = uop::Var("n", 0, 10);
  for (int i = 0; i < 10000; ++i) x = uop::Max(x, uop::Var("v" + std::to_string(i % 100), 0, 10) / 3);
  const uop::Pattern p = uop::Wild("x");
  const uop::RuleSet rules(
      "bench", {uop::R("add-zero", p + 0, p, uop::kInts), uop::R("max-self", uop::Max(p, p), p, uop::kInts)});
  for (auto _ : state) benchmark::DoNotOptimize(uop::Rewrite(x, rules));
  state.SetItemsProcessed(state.iterations() * uop::CountNodes(x));
}
BENCHMARK(BM_RewriteWithoutAMatch)->Unit(benchmark::kMillisecond);

// The index of a convolution's input after a reshape and a permutation, as a scheduler would write it down.
UOpRef ConvIndex(int k) {
  const UOpRef n = uop::Range(8 + k, 0), oc = uop::Range(16, 1), y = uop::Range(30, 2), x = uop::Range(30, 3);
  const UOpRef ic = uop::Range(4, 4), ky = uop::Range(3, 5), kx = uop::Range(3, 6);
  const UOpRef flat = ((((n * 16 + oc) * 30 + y) * 30 + x) * 4 + ic) * 9 + ky * 3 + kx;
  const UOpRef c = flat / 9 % 4, yy = flat / (9 * 4 * 30) % 30 + flat / 3 % 3,
               xx = flat / (9 * 4) % 30 + flat % 3;
  return ((flat / (9 * 4 * 30 * 30 * 16) * 4 + c) * 32 + yy) * 32 + xx;
}

void BM_SimplifyConvIndex(benchmark::State& state) {
  int k = 0;
  for (auto _ : state) benchmark::DoNotOptimize(symbolic::Simplify(ConvIndex(k++ % 64)));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_SimplifyConvIndex)->Unit(benchmark::kMicrosecond);

void BM_SimplifySmall(benchmark::State& state) {
  int k = 0;
  const UOpRef r0 = uop::Range(4, 0), r1 = uop::Range(8, 1);
  for (auto _ : state) benchmark::DoNotOptimize(symbolic::Simplify((r1 * 4 + r0) / (1 + k++ % 16) % 3 + 2));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_SimplifySmall)->Unit(benchmark::kMicrosecond);

void BM_EvalAluFloat32Add(benchmark::State& state) {
  ConstValue args[] = {1.5, 2.25};
  for (auto _ : state) {
    args[0] = uop::EvalAlu(Op::kAdd, dtypes::kFloat32, args);
    benchmark::DoNotOptimize(args);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_EvalAluFloat32Add);

void BM_PrintParse(benchmark::State& state) {
  const UOpRef e = ConvIndex(0);
  for (auto _ : state) benchmark::DoNotOptimize(uop::Parse(uop::Print(e)));
  state.SetItemsProcessed(state.iterations() * uop::CountNodes(e));
}
BENCHMARK(BM_PrintParse)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace understudy
