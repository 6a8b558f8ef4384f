// SPDX-License-Identifier: Apache-2.0
// Writes docs/ops.md, or says what is wrong in it: ops_page [--markdown] [--devices=LETTERS] [FAMILY ...]
// It is long with the devices that start a compiler or an emulator for each kernel (M, T, O); without them
// (--devices=RCXAN) it is a look at a change.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tests/e2e/ops/all_devices.h"
#include "tests/e2e/ops/card_record.h"

int main(int argc, char** argv) {
  using namespace understudy;  // NOLINT
  bool markdown = false;
  std::string letters;
  for (const auto& [kind, letter] : SupportDevices::kAll) letters += letter;
  std::vector<std::string> families;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--markdown") == 0) {
      markdown = true;
    } else if (std::strncmp(argv[i], "--devices=", 10) == 0) {
      letters = argv[i] + 10;
    } else if (argv[i][0] == '-') {
      std::fprintf(stderr, "usage: ops_page [--markdown] [--devices=LETTERS] [FAMILY ...]\n");
      return 2;
    } else {
      families.push_back(argv[i]);
    }
  }
  const auto devices = SupportDevices::Open(letters);
  if (!devices.ok()) {
    std::fprintf(stderr, "%s\n", std::string(devices.status().message()).c_str());
    return 1;
  }
  if (!devices->absent().empty()) {
    std::fprintf(stderr, "not installed: what %s needs\n", devices->absent().c_str());
    if (markdown) return 1;
  }
  const auto card = CardRecord::Load("tests/data/ops/h200.txt");
  if (!card.ok()) {
    std::fprintf(stderr, "%s\n", std::string(card.status().message()).c_str());
    return 1;
  }
  SupportProbe probe(devices->table());
  std::vector<SupportRow> rows;
  size_t problems = 0;
  const std::vector<OperationCases> all = AllOperations();
  for (const OperationCases& o : all) {
    if (!families.empty() && std::find(families.begin(), families.end(), o.family) == families.end())
      continue;
    if (isatty(STDERR_FILENO))
      std::fprintf(stderr, "\r\033[K%zu of %zu: %s", rows.size(), all.size(), o.op.c_str());
    rows.push_back(probe.Measure(o));
    for (const std::string& p : rows.back().problems) std::fprintf(stderr, "%s\n", p.c_str());
    problems += rows.back().problems.size();
    card->AddTo(rows.back());
    if (!markdown) std::fputs(SupportLine(rows.back()).c_str(), stdout);
  }
  if (markdown) std::fputs(SupportPage(rows).c_str(), stdout);
  return problems == 0 ? 0 : 1;
}
