// SPDX-License-Identifier: Apache-2.0
#pragma once
// Results of searches on disk: an SQLite file that several processes use at once. A key is the whole text
// that a result depends on (kernel, target, costs, options, versions) and is compared whole: two kernels
// never share an entry by accident. Whoever reads an entry checks its choices against the kernel before use.
//
// A file that is no database, is damaged, or has another schema is moved aside (`name.bad-1`, ...) with a
// warning, and a new one takes its place. Thread safe.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct sqlite3;
struct sqlite3_stmt;

namespace understudy {

struct CachedSearch {
  std::string choices;  // ChoicesText
  double cost = 0;
  std::string meta;  // JSON for people: costs of none and heuristic, candidates tried
  bool operator==(const CachedSearch&) const = default;
};

// What UNDERSTUDY_CACHE says (a file; "off" or empty: none), else understudy/search.sqlite in XDG_CACHE_HOME
// or ~/.cache. Empty: no cache, as under Bazel's tests (TEST_TMPDIR is set) without UNDERSTUDY_CACHE.
std::string DefaultCachePath();

class SearchCache {
 public:
  using Warn = std::function<void(const std::string&)>;

  // Makes the folder and the file where there are none. `warn` (null: a line on standard error) hears of
  // files moved aside. FailedPrecondition when the place cannot be written.
  static absl::StatusOr<std::unique_ptr<SearchCache>> Open(const std::string& path, Warn warn = nullptr);
  ~SearchCache();
  SearchCache(const SearchCache&) = delete;
  SearchCache& operator=(const SearchCache&) = delete;

  absl::StatusOr<std::optional<CachedSearch>> Get(const std::string& key);
  // The latest wins.
  absl::Status Put(const std::string& key, const CachedSearch& value);
  absl::Status Forget(const std::string& key);
  absl::StatusOr<int64_t> Count();

  const std::string& path() const { return path_; }

 private:
  struct Statement;
  SearchCache(std::string path, Warn warn) : path_(std::move(path)), warn_(std::move(warn)) {}
  // Under the file's lock: opens, checks, moves aside what is wrong, makes what is missing.
  absl::Status OpenLocked();
  absl::Status Connect(std::string* wrong);
  absl::Status MoveAside(const std::string& why);
  absl::Status Prepare();
  void Close();
  // Runs `body`; when the database turns out damaged, repairs the file and runs it once more.
  template <class Body>
  absl::Status Guarded(Body body);
  absl::Status Error(int code, const std::string& what) const;

  const std::string path_;
  const Warn warn_;
  std::mutex mutex_;
  sqlite3* db_ = nullptr;
  sqlite3_stmt *get_ = nullptr, *put_ = nullptr, *forget_ = nullptr, *count_ = nullptr;
  bool suspect_ = false;  // a call saw damage since the file was opened
};

}  // namespace understudy
