// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/conform_ptx.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <variant>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "emu/ptx/conform/conform.h"
#include "emu/ptx/conform/record.h"
#include "emu/ptx/coverage/coverage.h"
#include "src/base/status.h"
#include "src/base/use_hardware.h"
#include "tools/cli/flags.h"
#include "tools/cli/table.h"

ABSL_FLAG(std::string, o, "", "with --record: the file to write");
ABSL_FLAG(int, samples, 64, "with --record: input tuples of a form that brings none");
ABSL_FLAG(bool, emulated, false,
          "with --record: from the emulator; the vectors are marked as no recorded truth");

namespace understudy::cli {
namespace {

namespace conform = emu::ptx::conform;
using conform::Outcome;
using conform::Vector;
using nlohmann::json;
using Verdict = Outcome::Verdict;

const char* KindName(const Vector& vector) {
  static constexpr const char* kNames[] = {
      "instruction", "matrix instruction", "seeded matrix instruction", "fragment", "kernel", "module"};
  static_assert(std::size(kNames) == std::variant_size_v<decltype(vector.what)>);
  return kNames[vector.what.index()];
}

std::string Hex(uint64_t value, int digits) { return absl::StrFormat("%0*x", digits, value); }

json OutcomeJson(const std::string& file, const Vector& v, const Outcome& o) {
  json row = {{"file", file},
              {"line", v.line},
              {"id", v.id},
              {"kind", KindName(v)},
              {"verdict", conform::VerdictName(o.verdict)}};
  if (!o.reason.empty()) row["reason"] = o.reason;
  if (o.different == 0) return row;
  row["values"] = o.values;
  row["different"] = o.different;
  row["farthest_ulp"] = o.farthest_ulp;
  for (const conform::Difference& d : o.first) {
    json one = {{"place", d.place}, {"expected", Hex(d.expected, d.digits)}, {"got", Hex(d.got, d.digits)}};
    for (const uint64_t input : d.inputs) one["inputs"].push_back(absl::StrFormat("%x", input));
    if (d.has_ulp) one["ulp"] = d.ulp;
    row["differences"].push_back(one);
  }
  return row;
}

void PrintOutcome(const std::string& file, const Vector& v, const Outcome& o) {
  std::printf("%s:%d: %s: %s", file.c_str(), v.line, conform::VerdictName(o.verdict), v.id.c_str());
  if (o.different != 0) {
    std::printf(": %s of %s differ", Thousands(o.different).c_str(), Thousands(o.values).c_str());
    if (o.farthest_ulp != 0) std::printf(", by at most %s ulp", Thousands(o.farthest_ulp).c_str());
  }
  std::printf("%s%s\n", o.reason.empty() ? "" : ": ", o.reason.c_str());
  for (const conform::Difference& d : o.first) std::printf("    %s\n", DifferenceText(d).c_str());
  if (o.different > o.first.size())
    std::printf("    and %s more\n", Thousands(o.different - o.first.size()).c_str());
}

}  // namespace

absl::StatusOr<bool> IsPtxFile(const std::string& path) {
  US_ASSIGN_OR_RETURN(const std::string text, conform::ReadVectorFile(path));
  return conform::LooksLikePtxVectors(text);
}

absl::StatusOr<int> RunPtx(const std::vector<std::string>& files, bool verbose) {
  const bool as_json = absl::GetFlag(FLAGS_json);
  US_ASSIGN_OR_RETURN(const std::unique_ptr<conform::Backend> backend, conform::ChosenBackend());
  struct Counts {
    uint64_t vectors = 0, by_verdict[conform::kVerdicts] = {};
  };
  std::map<std::string, Counts> counts;
  json rows = json::array();
  uint64_t failed = 0;
  for (const std::string& file : files) {
    US_ASSIGN_OR_RETURN(const std::vector<Vector> vectors, conform::LoadVectors(file));
    Progress progress("conform", static_cast<int>(vectors.size()));
    int done = 0;
    for (const Vector& v : vectors) {
      progress.Update(++done, v.id);
      const Outcome o = RunVector(v, *backend);
      Counts& c = counts[KindName(v)];
      ++c.vectors;
      ++c.by_verdict[static_cast<int>(o.verdict)];
      failed +=
          o.verdict == Verdict::kDifferent || o.verdict == Verdict::kFaulted || o.verdict == Verdict::kError;
      if (o.verdict == Verdict::kPass && !verbose) continue;
      if (as_json) {
        rows.push_back(OutcomeJson(file, v, o));
        continue;
      }
      progress.Finish();
      PrintOutcome(file, v, o);
    }
  }
  if (counts.empty()) return absl::NotFoundError("no vectors in the files given");
  // Table::Columns of the verdicts that occur, and of the usual ones.
  std::vector<Table::Column> columns = {{"PTX"}, {"vectors", true}};
  std::vector<int> shown;
  for (int verdict = 0; verdict < conform::kVerdicts; ++verdict) {
    const auto v = static_cast<Verdict>(verdict);
    bool occurs = v == Verdict::kPass || v == Verdict::kDifferent || v == Verdict::kRefused;
    for (const auto& [kind, c] : counts) occurs |= c.by_verdict[verdict] != 0;
    if (!occurs) continue;
    shown.push_back(verdict);
    columns.push_back({conform::VerdictName(v), true});
  }
  Table t(columns);
  json summary = json::object();
  for (const auto& [kind, c] : counts) {
    std::vector<std::string> cells = {kind, Thousands(c.vectors)};
    summary[kind]["vectors"] = c.vectors;
    for (const int verdict : shown) {
      cells.push_back(Thousands(c.by_verdict[verdict]));
      summary[kind][conform::VerdictName(static_cast<Verdict>(verdict))] = c.by_verdict[verdict];
    }
    t.AddRow(cells);
  }
  if (as_json)
    std::printf("%s\n",
                json{{"backend", backend->name()}, {"summary", summary}, {"vectors", rows}}.dump(2).c_str());
  else
    std::printf("%son: %s\n", t.Text().c_str(), backend->name().c_str());
  return failed == 0 ? 0 : 1;
}

absl::StatusOr<int> RecordPtx(const std::vector<std::string>& files) {
  const std::string out = absl::GetFlag(FLAGS_o);
  const int samples = absl::GetFlag(FLAGS_samples);
  const bool emulated = absl::GetFlag(FLAGS_emulated);
  if (files.size() != 1 || out.empty())
    return absl::InvalidArgumentError("--record takes one FILE, and -o OUT for the result");
  if (samples < 1 || samples > 1 << 20)
    return absl::InvalidArgumentError(absl::StrCat("--samples=", samples, ": expected 1 to 1048576"));
  if (emulated == UseHardware())
    return absl::InvalidArgumentError(emulated ? "--emulated and USE_HW=1 exclude each other"
                                               : "--record takes results from the card: set USE_HW=1, or "
                                                 "--emulated for vectors that are marked as "
                                                 "no recorded truth");
  std::unique_ptr<conform::Backend> backend = conform::MakeEmulator();
  if (!emulated) {
    US_ASSIGN_OR_RETURN(backend, conform::OpenDriver());
  }
  conform::RecordOptions options;
  options.samples = static_cast<size_t>(samples);
  US_ASSIGN_OR_RETURN(const conform::RecordCounts counts, RecordFile(files[0], out, *backend, options));
  if (absl::GetFlag(FLAGS_json))
    std::printf(
        "%s\n",
        json{{"backend", backend->name()}, {"recorded", counts.recorded}, {"not_recorded", counts.errors}}
            .dump(2)
            .c_str());
  else
    std::printf("%s recorded on %s, %s that it does not take (see \"error\")\n",
                Thousands(counts.recorded).c_str(), backend->name().c_str(),
                Thousands(counts.errors).c_str());
  return 0;
}

absl::StatusOr<int> ListPtx(bool verbose) {
  namespace coverage = emu::ptx::coverage;
  const std::vector<coverage::FormCoverage> rows = coverage::Coverage();
  if (absl::GetFlag(FLAGS_json)) {
    json forms = json::array();
    for (const coverage::FormCoverage& row : rows) {
      json one = {{"form", row.syntax},     {"op", row.op},
                  {"family", row.family},   {"instructions", row.total()},
                  {"exact", row.exact},     {"approximate", row.approximate},
                  {"refused", row.refused}, {"recorded", row.recorded}};
      if (!row.note.empty()) one["note"] = row.note;
      forms.push_back(one);
    }
    std::printf("%s\n", json{{"forms", forms}}.dump(2).c_str());
    return 0;
  }
  if (verbose)
    for (const coverage::FormCoverage& row : rows)
      std::printf("%s: %s%s%s\n", row.syntax.c_str(), row.StateName(), row.note.empty() ? "" : ": ",
                  row.note.c_str());
  Table t({{"PTX family"},
           {"forms", true},
           {"exact", true},
           {"approximate", true},
           {"in part", true},
           {"refused", true},
           {"recorded", true}});
  for (const coverage::FamilyTotals& f : coverage::Totals(rows))
    t.AddRow({f.name, Thousands(f.forms), Thousands(f.exact), Thousands(f.approximate), Thousands(f.partly),
              Thousands(f.refused), Thousands(f.recorded)});
  std::printf("%s", t.Text().c_str());
  return 0;
}

}  // namespace understudy::cli
