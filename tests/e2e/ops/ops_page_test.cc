// SPDX-License-Identifier: Apache-2.0
// docs/ops.md says what the operations do now: it lists every operation that has vectors, no cell shows a
// wrong value, and every eighth row, measured again, is the row of the page.
#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "src/base/status.h"
#include "tests/e2e/ops/support.h"

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

TEST(OpsPage, RowsAreWhatIsMeasured) {
  const std::string page = Page();
  const auto probe = SupportProbe::Create();
  ASSERT_TRUE(probe.ok()) << probe.status();
  const std::vector<OperationCases> all = AllOperations();
  for (size_t i = OPS_PART; i < all.size(); i += 16) {
    const SupportRow row = (*probe)->Measure(all[i]);
    EXPECT_THAT(row.problems, IsEmpty());
    EXPECT_TRUE(Has(page, SupportLine(row))) << "the page has another row than " << SupportLine(row);
  }
}

}  // namespace
}  // namespace understudy
