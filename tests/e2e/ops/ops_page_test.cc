// SPDX-License-Identifier: Apache-2.0
// docs/ops.md says what the operations do now: it lists every operation that has vectors, no cell shows a
// wrong value, and every twelfth row, measured again, is the row of the page (of the devices that are slow to
// start, every two hundredth).
#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "src/base/status.h"
#include "tests/e2e/ops/all_devices.h"

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

// A compiler or an emulator is started for each kernel.
TEST(OpsPage, RowsOfSlowDevicesAreWhatIsMeasured) { ExpectRows("RMTO", 5 * OPS_PART, 400); }

}  // namespace
}  // namespace understudy
