// SPDX-License-Identifier: Apache-2.0
// `understudy conform`: runs instruction vectors and says which agree. AMD's here, PTX's in conform_ptx.cc.

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "emu/amd/conform/conform.h"
#include "emu/amd/coverage/coverage.h"
#include "emu/ptx/coverage/coverage.h"
#include "src/base/status.h"
#include "tools/cli/command.h"
#include "tools/cli/conform_ptx.h"
#include "tools/cli/flags.h"
#include "tools/cli/table.h"

ABSL_FLAG(bool, verbose, false, "also list the vectors that pass");
ABSL_FLAG(bool, list, false, "list what is known of every opcode");
ABSL_FLAG(bool, markdown, false, "with --list: the page docs/fidelity.md");
ABSL_FLAG(bool, record, false, "fill PTX vectors with what the GPU gives");
ABSL_FLAG(std::string, check, "",
          "strict checks: waits, hazards, uninit, races or all, each with :warn or :fail");

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
  for (const auto& r : o.reports) row["checks"].push_back(r.message);
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
  for (const auto& r : o.reports) std::printf("    %s\n", r.message.c_str());
  if (o.verdict == Verdict::kPass) return;
  for (const std::string& line : o.disassembly) std::printf("        %s\n", line.c_str());
}

using emu::amd::coverage::OpcodeCoverage;
using emu::amd::coverage::Oracle;
using emu::amd::coverage::Totals;

const char* StateName(const OpcodeCoverage& row) {
  switch (row.state.state) {
    case emu::amd::SemanticState::kExact:
      return "exact";
    case emu::amd::SemanticState::kApproximate:
      return "approximate";
    case emu::amd::SemanticState::kRefused:
      return row.compute ? "refused" : "graphics";
  }
  return "?";
}

json OraclesJson(uint8_t bits) {
  json out = json::array();
  for (int i = 0; i < static_cast<int>(Oracle::kCount); ++i) {
    if ((bits >> i & 1) != 0) out.push_back(OracleName(static_cast<Oracle>(i)));
  }
  return out;
}

json TotalsJson(const Totals& t) {
  json out = {{"known", t.known},           {"compute", t.compute},
              {"exact", t.exact},           {"approximate", t.approximate},
              {"refused", t.refused},       {"graphics", t.graphics},
              {"decoded_as_mc", t.decoded}, {"value_oracle", t.value_oracle}};
  for (int i = 0; i < static_cast<int>(Oracle::kCount); ++i)
    out["oracles"][OracleName(static_cast<Oracle>(i))] = t.by_oracle[i];
  return out;
}

// `understudy conform --list`.
absl::StatusOr<int> List(const std::string& only) {
  if (absl::GetFlag(FLAGS_markdown)) {
    std::printf("%s%s", emu::amd::coverage::FidelityPage().c_str(),
                emu::ptx::coverage::FidelityPage().c_str());
    return 0;
  }
  if (only == "ptx") return ListPtx(absl::GetFlag(FLAGS_verbose));
  std::vector<emu::amd::Isa> isas(std::begin(emu::amd::kAllIsas), std::end(emu::amd::kAllIsas));
  if (!only.empty()) {
    emu::amd::Isa isa;
    if (!emu::amd::IsaOfTarget(only.c_str(), &isa))
      return absl::InvalidArgumentError(absl::StrCat("--gfx=", only, ": no table for this ISA"));
    isas = {isa};
  }
  const bool verbose = absl::GetFlag(FLAGS_verbose);
  json rows = json::array(), totals = json::object();
  Table t({{"ISA"},
           {"encoding"},
           {"opcodes", true},
           {"exact", true},
           {"approximate", true},
           {"refused", true},
           {"graphics", true},
           {"as MC", true},
           {"value oracle", true}});
  std::string details;
  for (const emu::amd::Isa isa : isas) {
    std::map<std::string, Totals> by_encoding;
    Totals all;
    for (const OpcodeCoverage& row : emu::amd::coverage::Coverage(isa)) {
      by_encoding[EncodingName(row.enc)].Add(row);
      all.Add(row);
      rows.push_back({{"gfx", IsaTarget(isa)},
                      {"encoding", EncodingName(row.enc)},
                      {"number", row.number},
                      {"opcode", OpcodeName(row.op)},
                      {"state", StateName(row)},
                      {"note", row.state.note},
                      {"oracles", OraclesJson(row.oracles)},
                      {"oracles_elsewhere", OraclesJson(row.oracles_elsewhere)}});
      if (verbose) {
        absl::StrAppend(&details, IsaTarget(isa), " ", EncodingName(row.enc), " ", row.number, " ",
                        OpcodeName(row.op), ": ", StateName(row),
                        row.state.note.empty() ? "" : absl::StrCat(" (", row.state.note, ")"), "\n");
      }
    }
    const auto add = [&](const std::string& name, const Totals& n) {
      t.AddRow({IsaTarget(isa), name, Thousands(n.known), Thousands(n.exact), Thousands(n.approximate),
                Thousands(n.refused), Thousands(n.graphics), Thousands(n.decoded),
                Thousands(n.value_oracle)});
    };
    for (const auto& [name, n] : by_encoding) {
      add(name, n);
      totals[IsaTarget(isa)]["encodings"][name] = TotalsJson(n);
    }
    add("all", all);
    totals[IsaTarget(isa)]["all"] = TotalsJson(all);
  }
  if (absl::GetFlag(FLAGS_json)) {
    std::printf("%s\n", json{{"totals", totals}, {"opcodes", rows}}.dump(2).c_str());
  } else {
    std::printf("%s%s", details.c_str(), t.Text().c_str());
  }
  return 0;
}

}  // namespace

absl::StatusOr<int> RunConform(const std::vector<std::string>& files) {
  if (absl::GetFlag(FLAGS_list)) {
    if (!files.empty()) return absl::InvalidArgumentError("--list takes no FILE");
    return List(absl::GetFlag(FLAGS_gfx));
  }
  if (files.empty()) return absl::InvalidArgumentError("no FILE given; see `understudy conform --help`");
  size_t ptx_files = 0;
  for (const std::string& file : files) {
    US_ASSIGN_OR_RETURN(const bool is_ptx, IsPtxFile(file));
    ptx_files += is_ptx;
  }
  if (ptx_files != 0 && ptx_files != files.size())
    return absl::InvalidArgumentError(
        "files of AMD and of PTX vectors together: run them one after the other");
  const bool is_ptx = ptx_files != 0;
  if (is_ptx && !absl::GetFlag(FLAGS_check).empty())
    return absl::InvalidArgumentError("--check is for AMD vectors; these are PTX");
  if (absl::GetFlag(FLAGS_record)) {
    if (!is_ptx) return absl::InvalidArgumentError("--record takes PTX vectors; these are AMD's");
    return RecordPtx(files);
  }
  if (is_ptx) return RunPtx(files, absl::GetFlag(FLAGS_verbose));
  emu::amd::CheckOptions checks;
  if (std::string error, text = absl::GetFlag(FLAGS_check); !text.empty() && !checks.Parse(text, &error)) {
    return absl::InvalidArgumentError(absl::StrCat("--check: ", error));
  }
  uint64_t found = 0;
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
      const Outcome o = emu::amd::conform::Run(v, checks);
      found += o.reports.size();
      const bool plain = o.verdict == Verdict::kPass && o.reports.empty();
      ++counts[v.gfx].by_verdict[static_cast<int>(o.verdict)];
      if (as_json) {
        if (verbose || !plain) rows.push_back(OutcomeJson(file, v, o));
      } else if (verbose || !plain) {
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
    std::printf("%s\n", json{{"summary", summary}, {"vectors", rows}, {"findings", found}}.dump(2).c_str());
  } else {
    std::printf("%s", t.Text().c_str());
    if (checks.any()) std::printf("strict checks: %s findings\n", Thousands(found).c_str());
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace understudy::cli
