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

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string Page() {
  std::ifstream file("docs/ops.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(OpsPage, ListsEveryOperation) {
  const std::string page = Page();
  for (const OperationCases& o : AllOperations()) {
    EXPECT_THAT(page, HasSubstr("| `" + o.op + "` | " + std::to_string(o.cases.size()))) << o.family;
  }
  EXPECT_THAT(page, Not(HasSubstr("!")));
}

TEST(OpsPage, RowsAreWhatIsMeasured) {
  const std::string page = Page();
  const auto probe = SupportProbe::Create();
  ASSERT_TRUE(probe.ok()) << probe.status();
  const std::vector<OperationCases> all = AllOperations();
  for (size_t i = OPS_PART; i < all.size(); i += 16) {
    const SupportRow row = (*probe)->Measure(all[i]);
    EXPECT_THAT(row.problems, IsEmpty());
    EXPECT_THAT(page, HasSubstr(SupportLine(row)));
  }
}

}  // namespace
}  // namespace understudy
