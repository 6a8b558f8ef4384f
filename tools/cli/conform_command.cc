// SPDX-License-Identifier: Apache-2.0
// `understudy conform`: runs instruction vectors and says which agree.

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "emu/amd/conform/conform.h"
#include "src/base/status.h"
#include "tools/cli/command.h"
#include "tools/cli/flags.h"
#include "tools/cli/table.h"

ABSL_FLAG(bool, verbose, false, "also list the vectors that pass");

namespace understudy::cli {
namespace {

using emu::amd::conform::Outcome;
using nlohmann::json;
using Verdict = Outcome::Verdict;

struct Counts {
  uint64_t by_verdict[6] = {};
  uint64_t total() const {
    uint64_t n = 0;
    for (uint64_t v : by_verdict) n += v;
    return n;
  }
  uint64_t of(Verdict v) const { return by_verdict[static_cast<int>(v)]; }
  uint64_t failed() const { return of(Verdict::kDifferent) + of(Verdict::kFaulted); }
};

std::string HexWord(uint32_t v) {
  char text[12];
  std::snprintf(text, sizeof text, "%08X", v);
  return text;
}

json OutcomeJson(const std::string& file, const emu::amd::conform::Vector& v, const Outcome& o) {
  json row = {
      {"file", file}, {"line", v.line}, {"id", v.id}, {"gfx", v.gfx}, {"verdict", VerdictName(o.verdict)}};
  if (!o.reason.empty()) row["reason"] = o.reason;
  for (const auto& d : o.differences) {
    row["differences"].push_back(
        {{"place", d.place}, {"expected", HexWord(d.expected)}, {"got", HexWord(d.got)}});
  }
  if (!o.disassembly.empty()) row["disassembly"] = o.disassembly;
  return row;
}

void PrintOutcome(const std::string& file, const emu::amd::conform::Vector& v, const Outcome& o) {
  std::printf("%s:%d: %s: %s (%s)%s%s\n", file.c_str(), v.line, VerdictName(o.verdict), v.id.c_str(),
              v.gfx.c_str(), o.reason.empty() ? "" : ": ", o.reason.c_str());
  constexpr size_t kShown = 8;
  for (size_t i = 0; i < o.differences.size() && i < kShown; ++i) {
    const auto& d = o.differences[i];
    std::printf("    %s: expected %s, got %s\n", d.place.c_str(), HexWord(d.expected).c_str(),
                HexWord(d.got).c_str());
  }
  if (o.differences.size() > kShown) std::printf("    and %zu more\n", o.differences.size() - kShown);
  if (o.verdict == Verdict::kPass) return;
  for (const std::string& line : o.disassembly) std::printf("        %s\n", line.c_str());
}

}  // namespace

absl::StatusOr<int> RunConform(const std::vector<std::string>& files) {
  if (files.empty()) return absl::InvalidArgumentError("no FILE given; see `understudy conform --help`");
  const std::string only = absl::GetFlag(FLAGS_gfx);
  const bool as_json = absl::GetFlag(FLAGS_json), verbose = absl::GetFlag(FLAGS_verbose);
  std::map<std::string, Counts> counts;  // by gfx
  json rows = json::array();
  for (const std::string& file : files) {
    US_ASSIGN_OR_RETURN(const auto vectors, emu::amd::conform::LoadVectors(file));
    Progress progress("conform", static_cast<int>(vectors.size()));
    int done = 0;
    for (const auto& v : vectors) {
      progress.Update(++done, v.id);
      if (!only.empty() && v.gfx != only) continue;
      const Outcome o = emu::amd::conform::Run(v);
      ++counts[v.gfx].by_verdict[static_cast<int>(o.verdict)];
      if (as_json) {
        if (verbose || o.verdict != Verdict::kPass) rows.push_back(OutcomeJson(file, v, o));
      } else if (verbose || o.verdict != Verdict::kPass) {
        progress.Finish();
        PrintOutcome(file, v, o);
      }
    }
  }
  if (counts.empty())
    return absl::NotFoundError(
        absl::StrCat("no vectors", only.empty() ? "" : " of " + only, " in the files given"));
  uint64_t failed = 0;
  json summary = json::object();
  Table t({{"ISA"},
           {"vectors", true},
           {"pass", true},
           {"within 1 ulp", true},
           {"exception", true},
           {"different", true},
           {"faulted", true},
           {"refused", true}});
  for (const auto& [gfx, c] : counts) {
    failed += c.failed();
    t.AddRow({gfx, Thousands(c.total()), Thousands(c.of(Verdict::kPass)),
              Thousands(c.of(Verdict::kWithinBound)), Thousands(c.of(Verdict::kException)),
              Thousands(c.of(Verdict::kDifferent)), Thousands(c.of(Verdict::kFaulted)),
              Thousands(c.of(Verdict::kRefused))});
    summary[gfx] = {{"vectors", c.total()},
                    {"pass", c.of(Verdict::kPass)},
                    {"within_bound", c.of(Verdict::kWithinBound)},
                    {"exception", c.of(Verdict::kException)},
                    {"different", c.of(Verdict::kDifferent)},
                    {"faulted", c.of(Verdict::kFaulted)},
                    {"refused", c.of(Verdict::kRefused)}};
  }
  if (as_json) {
    std::printf("%s\n", json{{"summary", summary}, {"vectors", rows}}.dump(2).c_str());
  } else {
    std::printf("%s", t.Text().c_str());
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace understudy::cli
