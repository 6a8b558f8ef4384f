// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/search/search_cache.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"

namespace understudy {
namespace {

constexpr int kApplication = 0x55534331;  // "USC1" in the file's header (PRAGMA application_id)
constexpr int kSchema = 1;                // PRAGMA user_version
constexpr int kBusyMilliseconds = 20'000;

// `hash` finds the few rows of which `key` is compared.
constexpr char kCreate[] =
    "CREATE TABLE results (hash INTEGER NOT NULL, key TEXT NOT NULL, choices TEXT NOT NULL, cost REAL NOT "
    "NULL, "
    "meta TEXT NOT NULL);"
    "CREATE INDEX results_hash ON results (hash);";

int64_t HashOf(const std::string& key) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : key) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return static_cast<int64_t>(hash);
}

// Held while a file is opened, checked and perhaps replaced: one process does so at a time.
class FileLock {
 public:
  explicit FileLock(const std::string& path) : fd_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    while (fd_ >= 0 && flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FileLock() {
    if (fd_ >= 0) close(fd_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

bool IsDamage(int code) { return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB; }

// The first column of the first row.
int Query(sqlite3* db, const char* sql, std::string* text) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(db, sql, -1, &statement, nullptr);
  if (code == SQLITE_OK) {
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
      const auto* value = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
      *text = value == nullptr ? "" : value;
      code = SQLITE_OK;
    } else if (code == SQLITE_DONE) {
      text->clear();
      code = SQLITE_OK;
    }
  }
  const int done = sqlite3_finalize(statement);
  return code == SQLITE_OK ? done : code;
}

std::string TextColumn(sqlite3_stmt* statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return text == nullptr ? std::string()
                         : std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement, column)));
}

void BindText(sqlite3_stmt* statement, int at, const std::string& text) {
  sqlite3_bind_text64(statement, at, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

// Resets a statement when its use is over, so that it holds no lock.
class Use {
 public:
  explicit Use(sqlite3_stmt* statement) : statement_(statement) {}
  ~Use() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  sqlite3_stmt* statement_;
};

}  // namespace

std::string DefaultCachePath() {
  if (const char* own = std::getenv("UNDERSTUDY_CACHE"); own != nullptr) {
    return std::strcmp(own, "off") == 0 ? "" : own;
  }
  if (std::getenv("TEST_TMPDIR") != nullptr) return "";
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && xdg[0] == '/')
    return absl::StrCat(xdg, "/understudy/search.sqlite");
  const char* home = std::getenv("HOME");
  return home == nullptr || home[0] != '/' ? "" : absl::StrCat(home, "/.cache/understudy/search.sqlite");
}

absl::StatusOr<std::unique_ptr<SearchCache>> SearchCache::Open(const std::string& path, Warn warn) {
  if (warn == nullptr) warn = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); };
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error)
    return absl::FailedPreconditionError(
        absl::StrCat("search cache ", path, ": cannot make its folder: ", error.message()));
  std::unique_ptr<SearchCache> cache(new SearchCache(path, std::move(warn)));
  std::lock_guard lock(cache->mutex_);
  US_RETURN_IF_ERROR(cache->OpenLocked());
  return cache;
}

SearchCache::~SearchCache() { Close(); }

void SearchCache::Close() {
  for (sqlite3_stmt** s : {&get_, &put_, &forget_, &count_}) sqlite3_finalize(std::exchange(*s, nullptr));
  if (db_ != nullptr) sqlite3_close_v2(std::exchange(db_, nullptr));
}

absl::Status SearchCache::Error(int code, const std::string& what) const {
  const std::string text = absl::StrCat("search cache ", path_, ": ", what, ": ",
                                        db_ != nullptr ? sqlite3_errmsg(db_) : sqlite3_errstr(code));
  return (code & 0xff) == SQLITE_BUSY ? absl::UnavailableError(text) : absl::FailedPreconditionError(text);
}

// `wrong` says what is wrong with the file itself, where that is so.
absl::Status SearchCache::Connect(std::string* wrong) {
  wrong->clear();
  const int opened = sqlite3_open_v2(
      path_.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  if (opened != SQLITE_OK) return Error(opened, "opening it");
  sqlite3_extended_result_codes(db_, 1);
  sqlite3_busy_timeout(db_, kBusyMilliseconds);
  std::string application, schema, tables, check;
  const std::pair<const char*, std::string*> questions[] = {{"PRAGMA application_id", &application},
                                                            {"PRAGMA user_version", &schema},
                                                            {"SELECT count(*) FROM sqlite_master", &tables},
                                                            {"PRAGMA quick_check(1)", &check}};
  for (const auto& [sql, answer] : questions) {
    const int code = Query(db_, sql, answer);
    if (IsDamage(code)) *wrong = sqlite3_errmsg(db_);
    if (IsDamage(code)) return absl::OkStatus();
    if (code != SQLITE_OK) return Error(code, sql);
  }
  if (check != "ok") {
    *wrong = check;
  } else if (tables == "0" && application == "0" && schema == "0") {
    std::string mode;
    // Readers and a writer at once; where the file system cannot, SQLite keeps its other mode.
    Query(db_, "PRAGMA journal_mode=WAL", &mode);
    const std::string sql = absl::StrCat("BEGIN IMMEDIATE; ", kCreate, "PRAGMA application_id=", kApplication,
                                         "; PRAGMA user_version=", kSchema, "; COMMIT;");
    const int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return Error(code, "making its table");
  } else if (application != absl::StrCat(kApplication)) {
    *wrong = absl::StrCat("a database of another program (application id ", application, ")");
  } else if (schema != absl::StrCat(kSchema)) {
    *wrong = absl::StrCat("schema ", schema, ", expected ", kSchema);
  }
  // A cache: after a crash of the machine its last entries may be missing.
  sqlite3_exec(db_, "PRAGMA synchronous=NORMAL", nullptr, nullptr, nullptr);
  return absl::OkStatus();
}

absl::Status SearchCache::Prepare() {
  const std::pair<sqlite3_stmt**, const char*> statements[] = {
      {&get_,
       "SELECT choices, cost, meta FROM results WHERE hash = ?1 AND key = ?2 ORDER BY rowid DESC LIMIT 1"},
      {&put_, "INSERT INTO results (hash, key, choices, cost, meta) VALUES (?1, ?2, ?3, ?4, ?5)"},
      {&forget_, "DELETE FROM results WHERE hash = ?1 AND key = ?2"},
      {&count_, "SELECT count(*) FROM results"}};
  for (const auto& [statement, sql] : statements) {
    const int code = sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, nullptr);
    if (code != SQLITE_OK) return Error(code, sql);
  }
  return absl::OkStatus();
}

absl::Status SearchCache::MoveAside(const std::string& why) {
  Close();
  std::string to;
  for (int n = 1; to.empty() || access(to.c_str(), F_OK) == 0; ++n) to = absl::StrCat(path_, ".bad-", n);
  if (rename(path_.c_str(), to.c_str()) != 0)
    return absl::FailedPreconditionError(
        absl::StrCat("search cache ", path_, ": cannot move it to ", to, ": ", std::strerror(errno)));
  // Its journal belongs to it.
  for (const char* part : {"-wal", "-shm"}) {
    if (rename(absl::StrCat(path_, part).c_str(), absl::StrCat(to, part).c_str()) != 0 && errno != ENOENT) {
      return absl::FailedPreconditionError(
          absl::StrCat("search cache ", path_, part, ": cannot move it: ", std::strerror(errno)));
    }
  }
  warn_(absl::StrCat("search cache ", path_, ": ", why, "; moved to ", to, ", a new one is made"));
  return absl::OkStatus();
}

absl::Status SearchCache::OpenLocked() {
  const FileLock lock(absl::StrCat(path_, ".lock"));
  if (!lock.ok())
    return absl::FailedPreconditionError(
        absl::StrCat("search cache ", path_, ": cannot make its lock file: ", std::strerror(errno)));
  for (int attempt = 0;; ++attempt) {
    Close();
    std::string wrong;
    absl::Status status = Connect(&wrong);
    if (status.ok() && wrong.empty()) {
      // A table that is not ours passes no statement.
      status = Prepare();
      if (status.ok()) return status;
      wrong = std::string(status.message());
    }
    if (wrong.empty() || attempt > 0) {
      Close();
      return status.ok() ? absl::FailedPreconditionError(absl::StrCat("search cache ", path_, ": ", wrong))
                         : status;
    }
    US_RETURN_IF_ERROR(MoveAside(wrong));
  }
}

template <class Body>
absl::Status SearchCache::Guarded(Body body) {
  std::lock_guard lock(mutex_);
  for (int attempt = 0;; ++attempt) {
    if (db_ == nullptr) US_RETURN_IF_ERROR(OpenLocked());
    const int code = body();
    if (code == SQLITE_OK) return absl::OkStatus();
    if (!IsDamage(code) || attempt > 1) return Error(code, "using it");
    // Opening it anew checks it whole. Damage that the check does not see takes the file away all the same.
    const std::string why = sqlite3_errmsg(db_);
    if (std::exchange(suspect_, true)) {
      const FileLock file(absl::StrCat(path_, ".lock"));
      US_RETURN_IF_ERROR(MoveAside(why));
      suspect_ = false;
    }
    Close();
  }
}

absl::StatusOr<std::optional<CachedSearch>> SearchCache::Get(const std::string& key) {
  std::optional<CachedSearch> found;
  const absl::Status status = Guarded([&] {
    const Use use(get_);
    sqlite3_bind_int64(get_, 1, HashOf(key));
    BindText(get_, 2, key);
    const int code = sqlite3_step(get_);
    if (code == SQLITE_ROW)
      found = CachedSearch{TextColumn(get_, 0), sqlite3_column_double(get_, 1), TextColumn(get_, 2)};
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
  });
  if (!status.ok()) return status;
  return found;
}

absl::Status SearchCache::Put(const std::string& key, const CachedSearch& value) {
  return Guarded([&] {
    int code = sqlite3_exec(db_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return code;
    {
      const Use forget(forget_), put(put_);
      sqlite3_bind_int64(forget_, 1, HashOf(key));
      BindText(forget_, 2, key);
      code = sqlite3_step(forget_);
      if (code == SQLITE_DONE) {
        sqlite3_bind_int64(put_, 1, HashOf(key));
        BindText(put_, 2, key);
        BindText(put_, 3, value.choices);
        sqlite3_bind_double(put_, 4, value.cost);
        BindText(put_, 5, value.meta);
        code = sqlite3_step(put_);
      }
    }
    if (code == SQLITE_DONE) code = sqlite3_exec(db_, "COMMIT", nullptr, nullptr, nullptr);
    if (code != SQLITE_OK && sqlite3_get_autocommit(db_) == 0)
      sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
    return code;
  });
}

absl::Status SearchCache::Forget(const std::string& key) {
  return Guarded([&] {
    const Use use(forget_);
    sqlite3_bind_int64(forget_, 1, HashOf(key));
    BindText(forget_, 2, key);
    const int code = sqlite3_step(forget_);
    return code == SQLITE_DONE ? SQLITE_OK : code;
  });
}

absl::StatusOr<int64_t> SearchCache::Count() {
  int64_t count = 0;
  const absl::Status status = Guarded([&] {
    const Use use(count_);
    const int code = sqlite3_step(count_);
    if (code == SQLITE_ROW) count = sqlite3_column_int64(count_, 0);
    return code == SQLITE_ROW ? SQLITE_OK : code;
  });
  if (!status.ok()) return status;
  return count;
}

}  // namespace understudy
