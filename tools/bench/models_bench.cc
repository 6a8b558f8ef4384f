// SPDX-License-Identifier: Apache-2.0
// From nothing to every kernel's text, for networks of real size: graph building, scheduling, lowering (each
// distinct kernel to its linear list) and rendering, as C for a device without workgroups. Times are CPU
// time. Beside peer_tinygrad_models.py, which does the same with tinygrad on its device NULL.
//
// SHOW_SCHEDULE=1 prints the fusion report and the schedule.
//
// Counters: kernels launched and distinct kernels, ops of the distinct kernels' lists, nodes of the graph;
// nodes that the rewrite engine visited, and how many rules it tried and fired at one (uop_bench has its
// nodes a second).
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>

#include "absl/container/flat_hash_set.h"
#include "src/base/status.h"
#include "src/codegen/codegen.h"
#include "src/render/c_text.h"
#include "src/runtime/null/null_device.h"
#include "src/schedule/call.h"
#include "src/schedule/fusion_report.h"
#include "src/schedule/schedule.h"
#include "src/uop/graph.h"
#include "src/uop/rewrite.h"
#include "tools/bench/models.h"

namespace understudy::bench {
namespace {

enum class Phase { kGraph, kSchedule, kLower, kRender, kAll };
const char* const kPhaseNames[] = {"graph", "schedule", "lower", "render", "all"};

// Aborts with the message: a benchmark has nobody to tell.
template <class T>
T Must(absl::StatusOr<T> v) {
  US_CHECK(v.ok()) << v.status().ToString();
  return *std::move(v);
}

// Models are made once: a large optimiser's first state takes seconds to fill.
Model& Cached(const std::string& name) {
  static auto* models = new std::map<std::string, std::unique_ptr<Model>>;
  std::unique_ptr<Model>& model = (*models)[name];
  if (model == nullptr) {
    models->clear();
    std::unique_ptr<Model> fresh =
        Must(MakeModel(name, std::make_shared<NullDevice>(CTextTarget(CDialect::kC))));
    return *((*models)[name] = std::move(fresh));
  }
  return *model;
}

// Of this process: other programs on the machine do not count.
double CpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

struct Counts {
  int64_t graph_nodes = 0, items = 0, kernels = 0, distinct = 0, ops = 0, text_bytes = 0;
};

// One pass; the seconds of each phase are added to `seconds`.
Counts Pass(Model& model, double (&seconds)[5], const ScheduleOptions& options) {
  const Target target = CTextTarget(CDialect::kC);
  const bool show = std::getenv("SHOW_SCHEDULE") != nullptr;
  Counts counts;
  double start = CpuSeconds();
  const auto lap = [&](Phase phase) {
    const double now = CpuSeconds();
    seconds[static_cast<int>(phase)] += now - start;
    seconds[static_cast<int>(Phase::kAll)] += now - start;
    start = now;
  };
  const std::vector<Tensor> outputs = Must(model.Step());
  lap(Phase::kGraph);

  std::vector<OutputRequest> requests;
  for (const Tensor& t : outputs) requests.push_back({t.uop(), t.device()});
  const Call call = Must(MakeCall(requests));
  FusionReport report;
  const Schedule schedule = Must(MakeSchedule(call, options, show ? &report : nullptr));
  lap(Phase::kSchedule);

  absl::flat_hash_set<UOpRef> distinct;
  std::vector<UOpRef> kernels;
  for (const ScheduleItem& item : schedule.items) {
    ++counts.items;
    if (item.kind != ScheduleItem::Kind::kKernel) continue;
    ++counts.kernels;
    if (distinct.insert(item.kernel).second) kernels.push_back(item.kernel);
  }
  counts.distinct = static_cast<int64_t>(kernels.size());
  counts.graph_nodes = uop::CountNodes(call.sink);
  start = CpuSeconds();

  std::vector<LinearKernel> linear;
  for (const UOpRef& k : kernels) linear.push_back(Must(LowerKernel(k, target)));
  lap(Phase::kLower);
  for (const LinearKernel& k : linear) {
    counts.ops += static_cast<int64_t>(k.ops.size());
    counts.text_bytes += static_cast<int64_t>(Must(RenderC(k, CDialect::kC)).text.size());
  }
  lap(Phase::kRender);
  if (show) std::fputs((FusionText(report) + ScheduleText(schedule)).c_str(), stderr);
  return counts;
}

void BM_Model(benchmark::State& state, const std::string& name) {
  Model& model = Cached(name);
  double seconds[5] = {};
  Counts counts;
  const uop::RewriteTotals before = uop::TotalRewrites();
  for (auto _ : state) {
    double pass[5] = {};
    counts = Pass(model, pass, {});
    model.Reset();
    for (int i = 0; i < 5; ++i) seconds[i] += pass[i];
    state.SetIterationTime(pass[static_cast<int>(Phase::kAll)]);
  }
  const auto n = static_cast<double>(state.iterations());
  for (int i = 0; i < 4; ++i) state.counters[std::string(kPhaseNames[i]) + "_ms"] = seconds[i] / n * 1e3;
  state.counters["kernels"] = static_cast<double>(counts.kernels);
  state.counters["copies"] = static_cast<double>(counts.items - counts.kernels);
  state.counters["distinct"] = static_cast<double>(counts.distinct);
  state.counters["uops"] = static_cast<double>(counts.ops);
  const uop::RewriteTotals& after = uop::TotalRewrites();
  const auto visited = static_cast<double>(after.nodes - before.nodes);
  state.counters["rewritten"] = visited / n;
  state.counters["tried_per_node"] =
      visited > 0 ? static_cast<double>(after.tried - before.tried) / visited : 0;
  state.counters["fired_per_node"] =
      visited > 0 ? static_cast<double>(after.fired - before.fired) / visited : 0;
  state.counters["graph_nodes"] = static_cast<double>(counts.graph_nodes);
}

}  // namespace
}  // namespace understudy::bench

int main(int argc, char** argv) {
  for (const std::string& name : understudy::bench::ModelNames()) {
    benchmark::RegisterBenchmark(name.c_str(), understudy::bench::BM_Model, name)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(3);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
