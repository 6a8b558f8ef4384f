// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/search/kernel_tuner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/status.h"
#include "src/codegen/stages.h"
#include "src/render/version.h"
#include "src/runtime/search/target_text.h"
#include "src/uop/print.h"

namespace understudy {

KernelTuner::KernelTuner(KernelTunerOptions options)
    : options_(std::move(options)), static_cost_(options_.device.weights) {
  options_.device.kind = options_.cost == KernelTunerOptions::Cost::kCounted
                             ? DeviceCostOptions::Kind::kCounted
                             : DeviceCostOptions::Kind::kMeasured;
  const bool prunes = options_.prune && options_.cost != KernelTunerOptions::Cost::kStatic;
  options_.search.pruner = prunes ? &static_cost_ : nullptr;
}

absl::StatusOr<std::unique_ptr<KernelTuner>> KernelTuner::Create(KernelTunerOptions options) {
  std::unique_ptr<KernelTuner> tuner(new KernelTuner(std::move(options)));
  const KernelTunerOptions& o = tuner->options_;
  if (o.pool.has_value()) {
    US_ASSIGN_OR_RETURN(tuner->pool_, CompilePool::Create(*o.pool));
  }
  if (!o.cache_path.empty()) {
    US_ASSIGN_OR_RETURN(tuner->cache_, SearchCache::Open(o.cache_path, o.warn));
  }
  return tuner;
}

void KernelTuner::Warn(const std::string& text) const {
  if (options_.warn != nullptr) {
    options_.warn(text);
  } else {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
}

std::string KernelTuner::CostName(Device& device) const {
  if (options_.cost == KernelTunerOptions::Cost::kStatic) return static_cost_.name();
  return absl::StrCat(options_.device.Text(), " on ", device.name());
}

std::string KernelTuner::KeyOf(const UOpRef& kernel, Device& device,
                               absl::Span<const size_t> buffer_bytes) const {
  // Without its name: kernels of one structure share a result.
  const UOpRef nameless = kernel->op() == Op::kSink && std::holds_alternative<KernelArg>(kernel->arg())
                              ? UOp::Make(kernel->op(), kernel->dtype(),
                                          {kernel->src().begin(), kernel->src().end()}, KernelArg{""})
                              : kernel;
  return absl::StrCat("choices ", ChoiceSetVersion(), "\ncompiler ", CompilerVersion(), "\ntarget ",
                      TargetText(device.target()), "\ncost ", CostName(device), "\nsearch ",
                      options_.search.Text(), "\nbuffers ", absl::StrJoin(buffer_bytes, " "), "\n",
                      uop::Print(nameless));
}

std::optional<TuneReport> KernelTuner::FromCache(const std::string& key, const UOpRef& kernel,
                                                 Device& device) {
  const auto entry = cache_->Get(key);
  if (!entry.ok()) Warn(std::string(entry.status().message()));
  if (!entry.ok() || !entry->has_value()) return std::nullopt;
  const CachedSearch& found = **entry;
  // What a file says is asked like what a person types.
  absl::Status legal;
  const absl::StatusOr<ChoiceList> choices = ParseChoices(found.choices);
  if (!choices.ok()) {
    legal = choices.status();
  } else {
    legal = ApplyChoices(kernel, device.target(), *choices).status();
  }
  if (legal.ok() && !(std::isfinite(found.cost) && found.cost >= 0))
    legal = absl::InvalidArgumentError(absl::StrCat("a cost of ", found.cost));
  if (!legal.ok()) {
    Warn(absl::StrCat("search cache ", cache_->path(),
                      ": an entry is dropped: ", std::string(legal.message())));
    cache_->Forget(key).IgnoreError();
    return std::nullopt;
  }
  TuneReport report;
  report.from_cache = true;
  report.meta = found.meta;
  report.result.choices = *choices;
  report.result.cost = found.cost;
  return report;
}

void KernelTuner::ToCache(const std::string& key, const SearchResult& result) {
  nlohmann::json meta = {{"candidates", result.tried.size()}, {"failed", result.failed}};
  if (result.none_cost.ok()) meta["none"] = *result.none_cost;
  if (result.heuristic_cost.ok()) meta["heuristic"] = *result.heuristic_cost;
  const absl::Status put =
      cache_->Put(key, {ChoicesText(result.choices), result.cost,
                        meta.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)});
  if (!put.ok()) Warn(std::string(put.message()));
}

absl::StatusOr<TuneReport> KernelTuner::Tune(const UOpRef& kernel, Device& device,
                                             absl::Span<const size_t> buffer_bytes) {
  ++stats_.searches;
  failures_.clear();
  std::string key;
  if (cache_ != nullptr) {
    key = KeyOf(kernel, device, buffer_bytes);
    if (std::optional<TuneReport> found = FromCache(key, kernel, device)) {
      ++stats_.cache_hits;
      return *std::move(found);
    }
  }
  SearchOptions search = options_.search;
  if (options_.seconds > 0) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options_.seconds);
    search.stop = [end, also = search.stop] {
      return std::chrono::steady_clock::now() >= end || (also && also());
    };
  }
  absl::StatusOr<SearchResult> result = absl::UnknownError("");
  if (options_.cost == KernelTunerOptions::Cost::kStatic) {
    result = SearchChoices(kernel, device.target(), static_cost_, search);
  } else {
    US_ASSIGN_OR_RETURN(const auto buffers, KernelBuffers::Create(device, kernel, buffer_bytes));
    DeviceCost cost(device, *buffers, pool_.get(), options_.device);
    result = SearchChoices(kernel, device.target(), cost, search);
  }
  US_RETURN_IF_ERROR(result.status());
  stats_.candidates += static_cast<int64_t>(result->tried.size());
  stats_.failed += result->failed;
  for (const TriedChoices& t : result->tried) {
    if (!t.cost.ok()) failures_.emplace_back(t.cost.status().message());
  }
  std::sort(failures_.begin(), failures_.end());
  failures_.erase(std::unique(failures_.begin(), failures_.end()), failures_.end());
  // What a clock or a key cut short is not what the options would find.
  const bool cut =
      !result->complete && static_cast<int64_t>(result->tried.size()) < options_.search.max_candidates;
  if (cache_ != nullptr && !cut) ToCache(key, *result);
  TuneReport report;
  report.result = *std::move(result);
  return report;
}

absl::StatusOr<std::optional<ChoiceList>> KernelTuner::Find(const UOpRef& kernel, Device& device,
                                                            absl::Span<const size_t> buffer_bytes) {
  // A device that evaluates kernel graphs has nothing to choose.
  if (device.target().isa.empty()) return std::nullopt;
  absl::StatusOr<TuneReport> report = Tune(kernel, device, buffer_bytes);
  if (!report.ok()) {
    // Whether the kernel compiles at all is for the compiler to say.
    failures_.emplace_back(report.status().message());
    return std::nullopt;
  }
  return std::move(report->result.choices);
}

}  // namespace understudy
