// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "src/base/bits.h"
#include "src/base/file.h"
#include "src/base/hex.h"

namespace understudy {
namespace {

std::string TempPath(const char* name) { return std::string(std::getenv("TEST_TMPDIR")) + "/" + name; }

TEST(Hex, RoundTripAndErrors) {
  const auto bytes = HexToBytes("00ff1Ab0");
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(BytesToHex(*bytes), "00ff1ab0");
  EXPECT_EQ(HexToBytes("0").status().message(), "hex text has 1 digits, expected an even number");
  EXPECT_EQ(HexToBytes("0g").status().message(),
            "hex text has character code 103 at offset 1, expected 0-9 a-f");
}

TEST(JsonLines, NamesFileAndLineOfABadRow) {
  const std::string path = TempPath("rows.jsonl");
  ASSERT_TRUE(WriteFile(path, "{\"a\":1}\n\n{\"a\":}\n").ok());
  int sum = 0;
  const absl::Status s = ForEachJsonLine(path, [&](int, const nlohmann::json& j) {
    sum += j["a"].get<int>();
    return absl::OkStatus();
  });
  EXPECT_EQ(sum, 1);
  EXPECT_EQ(std::string(s.message()), path + ":3: not valid JSON");
  EXPECT_TRUE(absl::IsNotFound(ReadFile(TempPath("absent")).status()));
}

TEST(Bits, FieldsAndSignExtension) {
  EXPECT_EQ(Bits(0xABCD, 15, 12), 0xAu);
  EXPECT_EQ(Bits(~uint64_t{0}, 63, 0), ~uint64_t{0});
  EXPECT_EQ(SignExtend(0x80, 8), -128);
  EXPECT_EQ(SignExtend(0x17F, 8), 127);
  EXPECT_EQ(AlignUp(13, 8), 16u);
  EXPECT_EQ(AlignDown(13, 8), 8u);
}

}  // namespace
}  // namespace understudy
