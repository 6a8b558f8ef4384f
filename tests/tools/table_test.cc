// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/table.h"

#include <gtest/gtest.h>

#include "src/base/file.h"
#include "tools/demo/digits.h"

namespace understudy {
namespace {

TEST(Table, AlignsByDisplayWidth) {
  cli::Table t({{"name"}, {"count", true}});
  t.AddRow({"é", "1,234"});
  t.AddRow({"long name", "7"});
  EXPECT_EQ(t.Text(), "name       count\n---------  -----\né          1,234\nlong name      7\n");
}

TEST(Table, NumbersForPeople) {
  EXPECT_EQ(cli::Thousands(0), "0");
  EXPECT_EQ(cli::Thousands(999), "999");
  EXPECT_EQ(cli::Thousands(1234567), "1,234,567");
  EXPECT_EQ(cli::Short(0.01234), "0.0123");
  EXPECT_EQ(cli::Short(12.34), "12.3");
  EXPECT_EQ(cli::Short(1234.5), "1234");
}

TEST(Digits, TheDataSetIsWhole) {
  const auto digits = demo::LoadDigits();
  ASSERT_TRUE(digits.ok()) << digits.status();
  EXPECT_EQ(digits->count, 1797);
  std::vector<int> per_class(10);
  for (int label : digits->labels) ++per_class[static_cast<size_t>(label)];
  // The class counts that the data set's own description gives.
  EXPECT_EQ(per_class, (std::vector<int>{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}));
}

TEST(Digits, ABadRowIsNamed) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/digits.csv";
  ASSERT_TRUE(WriteFile(path, "1,2,x\n").ok());  // zlib reads plain text too
  EXPECT_EQ(demo::LoadDigits(path).status().message(), path + ":1: column 3 is not a number of 0 to 16");
  EXPECT_TRUE(absl::IsNotFound(demo::LoadDigits(path + ".absent").status()));
}

}  // namespace
}  // namespace understudy
