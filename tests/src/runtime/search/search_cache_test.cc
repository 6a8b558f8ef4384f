// SPDX-License-Identifier: Apache-2.0
// The file of results: what goes in comes out, several processes write at once, and a file that is damaged or
// another's is moved aside whole. SQLite itself, opened here without the class, is what makes the bad files.

#include "src/runtime/search/search_cache.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"

namespace understudy {
namespace {

class SearchCacheTest : public testing::Test {
 protected:
  SearchCacheTest() {
    std::string name = (std::filesystem::temp_directory_path() / "search-cache-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    path_ = folder_ + "/deep/er/search.sqlite";
  }
  ~SearchCacheTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<SearchCache> Open() {
    auto cache = SearchCache::Open(path_, [this](const std::string& text) { warnings_.push_back(text); });
    EXPECT_TRUE(cache.ok()) << cache.status().ToString();
    return cache.ok() ? *std::move(cache) : nullptr;
  }
  static std::string Read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
  }
  void Write(const std::string& bytes) {
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  void Sql(const std::string& sql) {
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }
  // After a bad file: it works, and the bad one lies beside it as it was.
  void ExpectReplaced(const std::string& bad, const char* why) {
    const auto cache = Open();
    ASSERT_NE(cache, nullptr);
    ASSERT_EQ(warnings_.size(), 1u);
    EXPECT_NE(warnings_[0].find(why), std::string::npos) << warnings_[0];
    EXPECT_NE(warnings_[0].find(path_ + ".bad-1"), std::string::npos) << warnings_[0];
    EXPECT_EQ(Read(path_ + ".bad-1"), bad);
    EXPECT_FALSE(cache->Get("a")->has_value());
    EXPECT_TRUE(cache->Put("a", {"upcast(0,4)", 1, ""}).ok());
    EXPECT_EQ((*cache->Get("a"))->choices, "upcast(0,4)");
  }

  std::string folder_, path_;
  std::vector<std::string> warnings_;
};

TEST_F(SearchCacheTest, KeepsWhatItIsGiven) {
  const CachedSearch first{"upcast(0,4) local(1,8)", 12.5, R"({"none": 100})"};
  std::string odd = "a key with 'quotes', a \n line";
  odd.push_back('\0');
  odd += "and a zero byte";
  {
    const auto cache = Open();
    EXPECT_FALSE(cache->Get("a")->has_value());
    ASSERT_TRUE(cache->Put("a", first).ok());
    ASSERT_TRUE(cache->Put(odd, {"", 0, ""}).ok());
    EXPECT_EQ(**cache->Get("a"), first);
    ASSERT_TRUE(cache->Put("a", {"", 3, ""}).ok());
    EXPECT_EQ((*cache->Get("a"))->cost, 3);
    EXPECT_EQ(*cache->Count(), 2);
  }
  const auto again = Open();
  EXPECT_EQ((*again->Get("a"))->cost, 3);
  EXPECT_TRUE((*again->Get(odd)).has_value());
  EXPECT_FALSE(again->Get("a key with 'quotes', a \n line")->has_value());
  ASSERT_TRUE(again->Forget("a").ok());
  EXPECT_FALSE(again->Get("a")->has_value());
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(SearchCacheTest, ProcessesShareIt) {
  constexpr int kProcesses = 3, kEntries = 60;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto cache = SearchCache::Open(path_);
      bool ok = cache.ok();
      for (int i = 0; i < kEntries && ok; ++i) {
        ok = (*cache)->Put(absl::StrCat("own ", p, " ", i), {"", 1.0 * i, ""}).ok() &&
             (*cache)->Put("shared", {absl::StrCat("from ", p), 1.0 * p, ""}).ok() &&
             (*cache)->Get("shared").ok();
      }
      _exit(ok ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  const auto cache = Open();
  EXPECT_EQ(*cache->Count(), kProcesses * kEntries + 1);
  const CachedSearch shared = **cache->Get("shared");
  EXPECT_EQ(shared.choices, absl::StrCat("from ", shared.cost));
  for (int p = 0; p < kProcesses; ++p) {
    for (int i = 0; i < kEntries; ++i) EXPECT_EQ((*cache->Get(absl::StrCat("own ", p, " ", i)))->cost, i);
  }
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(SearchCacheTest, RubbishIsMovedAside) {
  const std::string bad(5000, 'x');
  Write(bad);
  ExpectReplaced(bad, "not a database");
}

TEST_F(SearchCacheTest, AnOldSchemaIsMovedAside) {
  Sql("PRAGMA application_id=1431520049; PRAGMA user_version=0; CREATE TABLE results (key TEXT, choices "
      "TEXT);"
      "INSERT INTO results VALUES ('a', 'wrong(0,0)');");
  ExpectReplaced(Read(path_), "schema 0, expected 1");
}

TEST_F(SearchCacheTest, AnotherProgramsDatabaseIsMovedAside) {
  Sql("CREATE TABLE recipes (name TEXT); INSERT INTO recipes VALUES ('soup');");
  ExpectReplaced(Read(path_), "another program");
}

TEST_F(SearchCacheTest, ATableThatIsNotOursIsMovedAside) {
  Sql("PRAGMA application_id=1431520049; PRAGMA user_version=1; CREATE TABLE results (key TEXT);");
  ExpectReplaced(Read(path_), "no such column");
}

// Pages are overwritten while the file is closed, and cut off.
TEST_F(SearchCacheTest, DamageIsMovedAside) {
  {
    const auto cache = Open();
    for (int i = 0; i < 300; ++i)
      ASSERT_TRUE(
          cache->Put(absl::StrCat("key ", i, std::string(100, 'k')), {"upcast(0,2)", 1.0 * i, ""}).ok());
  }
  const std::string whole = Read(path_);
  ASSERT_GT(whole.size(), 20000u);
  std::string bad = whole;
  for (size_t i = 4096; i < bad.size(); ++i) bad[i] = static_cast<char>(i * 7);
  Write(bad);
  ExpectReplaced(bad, "");
  std::filesystem::remove_all(std::filesystem::path(path_).parent_path());
  warnings_.clear();
  Write(whole.substr(0, whole.size() / 2));
  ExpectReplaced(whole.substr(0, whole.size() / 2), "");
}

// Damaged while it is open: the next use notices, and gives nothing wrong.
TEST_F(SearchCacheTest, DamageWhileOpenIsNoticed) {
  const auto cache = Open();
  for (int i = 0; i < 200; ++i)
    ASSERT_TRUE(
        cache->Put(absl::StrCat("key ", i, std::string(200, 'k')), {"upcast(0,2)", 1.0 * i, ""}).ok());
  Sql("PRAGMA wal_checkpoint(TRUNCATE)");
  std::string bad = Read(path_);
  for (size_t i = 0; i < bad.size(); ++i) bad[i] = static_cast<char>(i * 7);
  {
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    file.write(bad.data(), static_cast<std::streamsize>(bad.size()));
  }
  // What SQLite still has in memory may be answered; what is answered is right.
  int missing = 0;
  for (int i = 0; i < 200; ++i) {
    const auto got = cache->Get(absl::StrCat("key ", i, std::string(200, 'k')));
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    missing += !got->has_value();
    if (got->has_value()) {
      EXPECT_EQ((*got)->cost, i);
    }
  }
  ASSERT_TRUE(cache->Put("new", {"", 7, ""}).ok());
  EXPECT_EQ((*cache->Get("new"))->cost, 7);
  EXPECT_EQ(warnings_.empty(), missing == 0);
}

TEST_F(SearchCacheTest, APlaceThatCannotBeWrittenIsRefused) {
  const auto cache = SearchCache::Open("/proc/understudy/search.sqlite");
  EXPECT_EQ(cache.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(std::string(cache.status().message()).find("/proc/understudy/search.sqlite"), std::string::npos);
}

TEST_F(SearchCacheTest, WhereItLies) {
  const char* tmp = std::getenv("TEST_TMPDIR");
  const std::string kept = tmp == nullptr ? "" : tmp;
  unsetenv("UNDERSTUDY_CACHE");
  setenv("TEST_TMPDIR", "/tmp", 1);
  EXPECT_EQ(DefaultCachePath(), "");  // tests have none
  setenv("UNDERSTUDY_CACHE", "/somewhere/file", 1);
  EXPECT_EQ(DefaultCachePath(), "/somewhere/file");
  setenv("UNDERSTUDY_CACHE", "off", 1);
  EXPECT_EQ(DefaultCachePath(), "");
  unsetenv("UNDERSTUDY_CACHE");
  unsetenv("TEST_TMPDIR");
  setenv("XDG_CACHE_HOME", "/xdg", 1);
  EXPECT_EQ(DefaultCachePath(), "/xdg/understudy/search.sqlite");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(DefaultCachePath(), "/home/someone/.cache/understudy/search.sqlite");
  if (tmp != nullptr) setenv("TEST_TMPDIR", kept.c_str(), 1);
}

}  // namespace
}  // namespace understudy
