// SPDX-License-Identifier: Apache-2.0
// docs/ops.md says what the operations do now: it lists every operation that has vectors, no cell shows a
// wrong value, and every twelfth row, measured again, is the row of the page (of the devices that are slow to
// start, every two hundredth).
#include <algorithm>
#include <fstream>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "src/base/status.h"
#include "tests/e2e/ops/all_devices.h"
#include "tests/e2e/ops/card_record.h"

namespace understudy {
namespace {

using ::testing::IsEmpty;

std::string Page() {
  std::ifstream file("docs/ops.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// A failed HasSubstr would print the whole page.
bool Has(const std::string& page, const std::string& part) { return page.find(part) != std::string::npos; }

TEST(OpsPage, ListsEveryOperation) {
  const std::string page = Page();
  for (const OperationCases& o : AllOperations()) {
    const std::string start = "| `" + o.op + "` | " + std::to_string(o.cases.size()) + " ";
    EXPECT_TRUE(Has(page, start)) << o.family << ": no row starts with " << start;
  }
  EXPECT_FALSE(Has(page, "!"));
}

// The page's row of the operation, "" where there is none.
std::string RowOf(const std::string& page, const SupportRow& row) {
  const std::string line = SupportLine(row), start = line.substr(0, line.find('|', line.find('|', 1) + 1));
  // Names repeat in families of their own: the section says which.
  const size_t section = page.find("\n## " + row.family + "\n");
  const size_t at = section == std::string::npos ? section : page.find("\n" + start, section);
  return at == std::string::npos ? "" : page.substr(at + 1, page.find('\n', at + 1) - at);
}

// The cells without the letters of other devices.
std::string Restricted(const std::string& line, const std::string& letters) {
  std::string out;
  size_t bars = 0;
  for (const char c : line) {
    bars += c == '|';
    if (bars < 3 || !std::isalpha(static_cast<unsigned char>(c)) ||
        letters.find(static_cast<char>(std::toupper(c))) != std::string::npos) {
      out += c;
    }
  }
  return out;
}

// Every `step`-th operation from `first` on, on the devices of these letters.
void ExpectRows(const std::string& letters, size_t first, size_t step) {
  const std::string page = Page();
  const auto devices = SupportDevices::Open(letters);
  ASSERT_TRUE(devices.ok()) << devices.status();
  SupportProbe probe(devices->table());
  const std::vector<OperationCases> all = AllOperations();
  for (size_t i = first; i < all.size(); i += step) {
    const SupportRow row = probe.Measure(all[i]);
    EXPECT_THAT(row.problems, IsEmpty());
    EXPECT_EQ(Restricted(SupportLine(row), probe.letters()), Restricted(RowOf(page, row), probe.letters()));
  }
}

TEST(OpsPage, RowsAreWhatIsMeasured) { ExpectRows("RCXAN", OPS_PART, 24); }

// The card's letter stands where its recording has it, in every row.
TEST(OpsPage, TheCardsCellsAreTheRecordedOnes) {
  const std::string page = Page();
  const auto card = CardRecord::Load("tests/data/ops/h200.txt");
  ASSERT_TRUE(card.ok()) << card.status();
  const std::vector<OperationCases> all = AllOperations();
  EXPECT_EQ(card->rows(), all.size());
  for (const OperationCases& o : all) {
    SupportRow row{o.family, o.op, o.cases.size(), false, {}, {}};
    for (const vectors::Case& c : o.cases) row.gradient |= c.has_grads;
    const std::string line = RowOf(page, row);
    // The row's cells without the card's letter are what AddTo starts from.
    std::vector<absl::string_view> fields = absl::StrSplit(line, '|');
    ASSERT_EQ(fields.size(), SupportTypes().size() + 4) << o.op;
    for (size_t i = 0; i < SupportTypes().size(); ++i) {
      std::string cell(absl::StripAsciiWhitespace(fields[i + 3]));
      cell.erase(std::remove_if(cell.begin(), cell.end(), [](char c) { return c == 'H' || c == 'h'; }),
                 cell.end());
      if (!cell.empty()) row.cells[SupportTypes()[i].Name()] = cell;
    }
    card->AddTo(row);
    EXPECT_EQ(SupportLine(row), line);
  }
}

TEST(OpsPage, ARecordThatIsNoTableIsRefused) {
  EXPECT_THAT(CardRecord::Parse("## Elementwise\n| `abs` | 3 | RH |\n").status().message(),
              testing::HasSubstr("line 2: expected a row of 15 cells"));
}

// A compiler or an emulator is started for each kernel.
TEST(OpsPage, RowsOfSlowDevicesAreWhatIsMeasured) { ExpectRows("RMTO", 5 * OPS_PART, 400); }

}  // namespace
}  // namespace understudy
