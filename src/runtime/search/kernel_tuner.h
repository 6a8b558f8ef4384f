// SPDX-License-Identifier: Apache-2.0
#pragma once
// The search for one device's kernels, whole: candidates compiled in contained processes, costed on the
// device (or estimated), the result kept on disk. What EngineOptions::search takes and `understudy tune`
// runs. Not thread safe.
//
//   KernelTunerOptions options;
//   options.cache_path = DefaultCachePath();
//   options.pool = CompilePoolOptions{.worker = {"/usr/bin/understudy", "compile-worker"}};
//   US_ASSIGN_OR_RETURN(engine_options.search, KernelTuner::Create(options));

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "src/codegen/search.h"
#include "src/codegen/work.h"
#include "src/runtime/kernel_search.h"
#include "src/runtime/search/compile_pool.h"
#include "src/runtime/search/device_cost.h"
#include "src/runtime/search/search_cache.h"

namespace understudy {

struct KernelTunerOptions {
  enum class Cost {
    kMeasured,
    kCounted,
    kStatic,  // nothing is compiled or run: EstimateWork on the lowered candidate
  };
  Cost cost = Cost::kMeasured;
  DeviceCostOptions device;  // but for its kind
  SearchOptions search;      // `pruner` is set from `prune`
  bool prune = true;         // of a step's candidates, only the search.keep best by StaticCost are run
  // For one kernel, after which the best so far counts; 0: no bound. A bounded search that ended early
  // depends on the machine's speed, and is not cached.
  double seconds = 0;
  std::string cache_path;  // "": no cache
  std::optional<CompilePoolOptions>
      pool;                // none: candidates compile in this process, a crash there is a crash here
  SearchCache::Warn warn;  // of the cache's troubles; null: standard error
};

struct TuneReport {
  SearchResult result;  // of a cache hit: choices and cost only
  bool from_cache = false;
  std::string meta;  // of a cache hit, what was written with it
};

class KernelTuner : public KernelSearch {
 public:
  // NotFound when the worker is missing; FailedPrecondition when the cache cannot be written.
  static absl::StatusOr<std::unique_ptr<KernelTuner>> Create(KernelTunerOptions options);

  absl::StatusOr<std::optional<ChoiceList>> Find(const UOpRef& kernel, Device& device,
                                                 absl::Span<const size_t> buffer_bytes) override;
  const KernelSearchStats& stats() const override { return stats_; }

  // The same with all that was tried. Errors: those of the search (no candidate has a cost).
  absl::StatusOr<TuneReport> Tune(const UOpRef& kernel, Device& device,
                                  absl::Span<const size_t> buffer_bytes);

  // Everything that decides a result, as text.
  std::string KeyOf(const UOpRef& kernel, Device& device, absl::Span<const size_t> buffer_bytes) const;

  CompilePool* pool() { return pool_.get(); }
  SearchCache* cache() { return cache_.get(); }
  // Errors of candidates of the last search, each once: kernel, choices, what became of the compiler.
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  explicit KernelTuner(KernelTunerOptions options);
  std::string CostName(Device& device) const;
  // A cached entry as choices of this kernel; nullopt when there is none, or none that is legal.
  std::optional<TuneReport> FromCache(const std::string& key, const UOpRef& kernel, Device& device);
  void ToCache(const std::string& key, const SearchResult& result);
  void Warn(const std::string& text) const;

  KernelTunerOptions options_;
  StaticCost static_cost_;
  std::unique_ptr<CompilePool> pool_;
  std::unique_ptr<SearchCache> cache_;
  KernelSearchStats stats_;
  std::vector<std::string> failures_;
};

}  // namespace understudy
