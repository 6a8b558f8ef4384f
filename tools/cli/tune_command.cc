// SPDX-License-Identifier: Apache-2.0
// `understudy tune`: searches the choices of kernels and shows what they gain; and `understudy
// compile-worker`, the process in which its candidates are compiled.

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/base/file.h"
#include "src/base/status.h"
#include "src/dtype/const_value.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/search/compile_worker.h"
#include "src/runtime/search/kernel_tuner.h"
#include "src/uop/graph.h"
#include "src/uop/print.h"
#include "tools/cli/command.h"
#include "tools/cli/flags.h"
#include "tools/cli/table.h"
#include "tools/rig/emulated_device.h"
#include "tools/rig/example_kernels.h"

ABSL_DECLARE_FLAG(std::string, target);
ABSL_DECLARE_FLAG(uint64_t, seed);
ABSL_DECLARE_FLAG(int, jobs);
ABSL_DECLARE_FLAG(double, time);
ABSL_DECLARE_FLAG(bool, verbose);
ABSL_FLAG(std::string, cost, "",
          "tune: measured, counted or static; empty: counted on an emulated GPU, else measured");
ABSL_FLAG(int, beam, 4, "tune: candidates that each step extends");
ABSL_FLAG(int, keep_best, 16, "tune: candidates of a step that are run; 0: all");
ABSL_FLAG(int64_t, candidates, 200, "tune: candidates of a kernel");
ABSL_FLAG(int, depth, 10, "tune: choices of a candidate");
ABSL_FLAG(std::string, cache, "default", "tune: the file of results; 'default' or 'off'");
ABSL_FLAG(double, compile_seconds, 30, "tune: the time of one compile");
ABSL_FLAG(int64_t, compile_megabytes, 4096, "tune: the memory of one compile");

namespace understudy::cli {
namespace {

using nlohmann::json;

struct Tuned {
  std::string name;
  UOpRef kernel;
  TuneReport report;
  // One a row of the table: none, heuristic, searched.
  struct Row {
    std::string how;
    ChoiceList choices;
    absl::StatusOr<double> cost = absl::UnknownError("");
    LaunchInfo info;
    double waves = 0;
  };
  std::vector<Row> rows;
  std::string values;  // how the searched kernel's results compare with those without choices
  std::vector<std::string> failures;
};

absl::StatusOr<std::vector<std::pair<std::string, UOpRef>>> KernelsOf(const std::vector<std::string>& words) {
  std::vector<std::pair<std::string, UOpRef>> kernels;
  for (const std::string& word : words) {
    if (word.find('/') == std::string::npos && word.find('.') == std::string::npos) {
      US_ASSIGN_OR_RETURN(UOpRef kernel, MakeExampleKernel(word));
      kernels.emplace_back(word, std::move(kernel));
      continue;
    }
    US_ASSIGN_OR_RETURN(const std::string text, ReadFile(word));
    absl::StatusOr<UOpRef> parsed = uop::Parse(text);
    if (!parsed.ok())
      return absl::Status(parsed.status().code(),
                          absl::StrCat(word, ": ", std::string(parsed.status().message())));
    kernels.emplace_back(word, *std::move(parsed));
  }
  if (kernels.empty()) kernels.emplace_back("matmul", *MakeExampleKernel("matmul"));
  return kernels;
}

// Runs the kernel on fresh buffers; the contents of those that it writes.
absl::StatusOr<std::vector<std::pair<DType, std::vector<uint8_t>>>> Results(Device& device,
                                                                            const UOpRef& kernel,
                                                                            const ChoiceList& choices,
                                                                            LaunchInfo* info) {
  US_ASSIGN_OR_RETURN(const std::vector<size_t> bytes, BufferBytesOf(kernel));
  US_ASSIGN_OR_RETURN(const auto buffers, KernelBuffers::Create(device, kernel, bytes));
  US_ASSIGN_OR_RETURN(const auto program, device.Compile(kernel, &choices));
  US_RETURN_IF_ERROR(device.Launch(*program, buffers->buffers(), buffers->vars(), info));
  US_RETURN_IF_ERROR(device.Synchronize());
  std::vector<std::pair<DType, std::vector<uint8_t>>> results;
  for (const UOpRef& store : kernel->src()) {
    if (store->op() != Op::kStore) continue;
    const UOpRef& param = store->src(0)->src(0);
    const Allocation& a = buffers->buffers()[static_cast<size_t>(param->arg_as<int64_t>())];
    std::vector<uint8_t> data(a.bytes);
    US_RETURN_IF_ERROR(device.CopyOut(data.data(), a, data.size()));
    results.emplace_back(param->dtype().Element(), std::move(data));
  }
  return results;
}

// "bit for bit", or how far apart relative to the largest value.
std::string Compare(const std::vector<std::pair<DType, std::vector<uint8_t>>>& want,
                    const std::vector<std::pair<DType, std::vector<uint8_t>>>& got) {
  if (want == got) return "bit for bit";
  double largest = 0, apart = 0;
  for (size_t b = 0; b < want.size(); ++b) {
    const auto& [type, bytes] = want[b];
    if (!type.IsFloat()) return "DIFFERENT";
    const size_t width = static_cast<size_t>(type.ScalarBytes());
    for (size_t at = 0; at + width <= bytes.size(); at += width) {
      uint64_t x = 0, y = 0;
      std::memcpy(&x, &bytes[at], width);
      std::memcpy(&y, &got[b].second[at], width);
      const double u = std::get<double>(FromBits(type, x)), v = std::get<double>(FromBits(type, y));
      if (std::isnan(u) && std::isnan(v)) continue;
      largest = std::max(largest, std::fabs(u));
      apart = std::max(apart, u == v ? 0 : std::isfinite(u - v) ? std::fabs(u - v) : HUGE_VAL);
    }
  }
  return apart == 0 ? "equal"
                    : absl::StrCat("within ", Short(apart / std::max(largest, 1e-300)), " of the largest");
}

std::string CostText(const absl::StatusOr<double>& cost) { return cost.ok() ? Short(*cost) : "-"; }
std::string Times(const absl::StatusOr<double>& from, double to) {
  return from.ok() && to > 0 ? absl::StrCat(Short(*from / to), "x") : "-";
}

json RowJson(const Tuned::Row& row, bool counts) {
  json j = {{"how", row.how}, {"choices", ChoicesText(row.choices)}};
  j["cost"] = row.cost.ok() ? json(*row.cost) : json(nullptr);
  if (!row.cost.ok()) j["error"] = std::string(row.cost.status().message());
  if (counts) {
    j["instructions"] = row.info.instructions;
    j["memory_bytes"] = row.info.memory_bytes;
    j["memory_lines"] = row.info.memory_lines;
    j["waves"] = row.waves;
  }
  return j;
}

}  // namespace

absl::StatusOr<int> RunCompileWorkerCommand(const std::vector<std::string>&) { return RunCompileWorker(); }

absl::StatusOr<int> RunTune(const std::vector<std::string>& arguments) {
  US_ASSIGN_OR_RETURN(const auto kernels, KernelsOf(arguments));
  const std::string target = absl::GetFlag(FLAGS_target);
  std::shared_ptr<Device> device;
  const bool emulated = target != "host";
  if (!emulated) {
    device = std::make_shared<CpuDevice>();
  } else {
    US_RETURN_IF_ERROR(AmdTarget(target).status());
    device = std::make_shared<EmulatedDevice>(target);
  }

  KernelTunerOptions options;
  const std::string cost = absl::GetFlag(FLAGS_cost);
  if (cost == "static") {
    options.cost = KernelTunerOptions::Cost::kStatic;
  } else if (cost == "counted" || (cost.empty() && emulated)) {
    options.cost = KernelTunerOptions::Cost::kCounted;
  } else if (cost == "measured" || cost.empty()) {
    options.cost = KernelTunerOptions::Cost::kMeasured;
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("--cost=", cost, ": expected measured, counted or static"));
  }
  options.search.width = absl::GetFlag(FLAGS_beam);
  options.search.max_candidates = absl::GetFlag(FLAGS_candidates);
  options.search.max_choices = absl::GetFlag(FLAGS_depth);
  options.search.seed = absl::GetFlag(FLAGS_seed) - 1;
  options.prune = absl::GetFlag(FLAGS_keep_best) > 0;
  options.search.keep = std::max(1, absl::GetFlag(FLAGS_keep_best));
  options.seconds = absl::GetFlag(FLAGS_time);
  if (options.search.width < 1 || options.search.width > 1000 || options.search.max_candidates < 1 ||
      options.search.max_choices < 1)
    return absl::InvalidArgumentError("--beam (at most 1000), --candidates and --depth are at least 1");
  const std::string cache = absl::GetFlag(FLAGS_cache);
  options.cache_path = cache == "default" ? DefaultCachePath() : cache == "off" ? "" : cache;
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof(self));
  if (length <= 0 || length == sizeof(self)) return absl::InternalError("/proc/self/exe is not readable");
  options.pool =
      CompilePoolOptions{.worker = {std::string(self, static_cast<size_t>(length)), "compile-worker"},
                         .workers = absl::GetFlag(FLAGS_jobs),
                         .seconds = absl::GetFlag(FLAGS_compile_seconds),
                         .memory_bytes = static_cast<uint64_t>(absl::GetFlag(FLAGS_compile_megabytes)) << 20};
  Progress progress("candidates", static_cast<int>(options.search.max_candidates));
  options.search.progress = [&](int64_t n, double best) {
    progress.Update(static_cast<int>(n), absl::StrCat("best ", Short(best)));
  };
  auto made = KernelTuner::Create(options);
  if (!made.ok() && cache == "default" && !options.cache_path.empty()) {
    // Without a place of its own the search still works.
    std::fprintf(stderr, "understudy tune: no cache: %s\n", std::string(made.status().message()).c_str());
    options.cache_path.clear();
    made = KernelTuner::Create(options);
  }
  US_RETURN_IF_ERROR(made.status());
  KernelTuner& tuner = **made;

  std::vector<Tuned> all;
  const bool runs = options.cost != KernelTunerOptions::Cost::kStatic;
  for (const auto& [name, kernel] : kernels) {
    Tuned t;
    t.name = name;
    t.kernel = kernel;
    US_ASSIGN_OR_RETURN(const std::vector<size_t> bytes, BufferBytesOf(kernel));
    auto report = tuner.Tune(kernel, *device, bytes);
    progress.Finish();
    US_RETURN_IF_ERROR(report.status());
    t.report = *std::move(report);
    t.failures = tuner.failures();
    const SearchResult& r = t.report.result;
    const ChoiceList heuristic = HeuristicChoices(kernel, device->target());
    const auto row = [&t](const char* how, const ChoiceList& choices, const absl::StatusOr<double>& cost) {
      Tuned::Row& r = t.rows.emplace_back();
      r.how = how;
      r.choices = choices;
      r.cost = cost;
    };
    row("none", {}, r.none_cost);
    row("heuristic", heuristic, r.heuristic_cost);
    row("searched", r.choices, r.cost);
    if (t.report.from_cache) {
      const json meta = json::parse(t.report.meta, nullptr, false);
      for (size_t i = 0; i < 2; ++i) {
        const auto it = meta.is_object() ? meta.find(t.rows[i].how) : meta.end();
        if (meta.is_object() && it != meta.end() && it->is_number()) t.rows[i].cost = it->get<double>();
      }
    }
    std::vector<std::pair<DType, std::vector<uint8_t>>> plain;
    for (Tuned::Row& row : t.rows) {
      if (!runs || !row.cost.ok()) continue;
      US_ASSIGN_OR_RETURN(auto results, Results(*device, kernel, row.choices, &row.info));
      double waves = 1;
      for (const int64_t d : row.info.grid) waves *= static_cast<double>(d);
      double items = 1;
      for (const int64_t d : row.info.block) items *= static_cast<double>(d);
      row.waves = waves * std::ceil(items / std::max(1, device->target().wave_size));
      if (row.how == "none") plain = std::move(results);
      if (row.how == "searched" && !plain.empty()) t.values = Compare(plain, results);
    }
    all.push_back(std::move(t));
  }

  const bool counts = options.cost == KernelTunerOptions::Cost::kCounted;
  int wrong = 0;
  for (const Tuned& t : all) wrong += t.values == "DIFFERENT";
  if (absl::GetFlag(FLAGS_json)) {
    json list = json::array();
    for (const Tuned& t : all) {
      json j = {{"kernel", t.name},
                {"choices", ChoicesText(t.report.result.choices)},
                {"cost", t.report.result.cost},
                {"from_cache", t.report.from_cache},
                {"candidates", t.report.result.tried.size()},
                {"failed", t.report.result.failed},
                {"failures", t.failures},
                {"complete", t.report.result.complete},
                {"values", t.values}};
      for (const Tuned::Row& row : t.rows) j["rows"].push_back(RowJson(row, counts));
      if (absl::GetFlag(FLAGS_verbose)) {
        for (const TriedChoices& c : t.report.result.tried) {
          j["tried"].push_back({{"choices", ChoicesText(c.choices)},
                                {"cost", c.cost.ok() ? json(*c.cost) : json(nullptr)},
                                {"error", c.cost.ok() ? "" : std::string(c.cost.status().message())}});
        }
      }
      list.push_back(std::move(j));
    }
    const CompilePoolStats& p = tuner.pool()->stats();
    std::printf("%s\n", json{{"target", target},
                             {"kernels", list},
                             {"compiles",
                              {{"done", p.compiled},
                               {"refused", p.refused},
                               {"crashed", p.crashed},
                               {"timed_out", p.timed_out},
                               {"out_of_memory", p.out_of_memory}}}}
                            .dump(2, ' ', false, json::error_handler_t::replace)
                            .c_str());
    return wrong == 0 ? 0 : 1;
  }
  std::vector<Table::Column> columns = {{"kernel"}, {"choices"}, {"cost", true}, {"faster", true}};
  if (counts) columns.insert(columns.end(), {{"instructions", true}, {"lines", true}, {"waves", true}});
  columns.push_back({"list"});
  Table table(columns);
  for (const Tuned& t : all) {
    for (const Tuned::Row& row : t.rows) {
      std::vector<std::string> cells = {row.how == "none" ? t.name : "", row.how, CostText(row.cost),
                                        row.cost.ok() ? Times(t.rows[0].cost, *row.cost) : "-"};
      if (counts) {
        cells.push_back(Thousands(row.info.instructions));
        cells.push_back(Thousands(row.info.memory_lines));
        cells.push_back(Thousands(static_cast<uint64_t>(row.waves)));
      }
      cells.push_back(ChoicesText(row.choices));
      table.AddRow(std::move(cells));
    }
  }
  std::fputs(table.Text().c_str(), stdout);
  for (const Tuned& t : all) {
    const SearchResult& r = t.report.result;
    std::printf("%s: %s; %s of the heuristic's cost%s\n", t.name.c_str(),
                t.report.from_cache
                    ? "from the cache"
                    : absl::StrCat(r.tried.size(), " candidates in ", r.steps, " steps (", r.listed,
                                   " choices, ", r.duplicates, " duplicates, ", r.pruned, " pruned, ",
                                   r.failed, " failed", r.complete ? "" : ", limit reached", ")")
                          .c_str(),
                t.rows[1].cost.ok() && *t.rows[1].cost > 0
                    ? absl::StrCat(Short(100 * r.cost / *t.rows[1].cost), " %").c_str()
                    : "-",
                t.values.empty() ? "" : absl::StrCat("; values ", t.values).c_str());
    if (absl::GetFlag(FLAGS_verbose)) {
      for (const TriedChoices& c : r.tried)
        std::printf("  %12s  %s\n", CostText(c.cost).c_str(), ChoicesText(c.choices).c_str());
    }
    for (const std::string& failure : t.failures) std::printf("  failed: %s\n", failure.c_str());
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace understudy::cli
