// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/profile.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace understudy {
namespace {

LaunchRecord Record(const std::string& kernel, const std::string& device, uint64_t begin, uint64_t ns) {
  return {kernel, device, {ns, begin, {4, 1, 1}, {32, 2, 1}}};
}

const std::vector<LaunchRecord> kRecords = {Record("a", "AMD", 100, 10), Record("b", "AMD", 200, 500),
                                            Record("a", "AMD", 900, 30), Record("a", "CPU", 1500, 40)};

TEST(Profile, SumsByKernelAndDeviceLongestFirst) {
  const auto list = SummarizeLaunches(kRecords);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].kernel, "b");
  EXPECT_EQ(list[1].kernel + list[1].device, "aAMD");  // 40 ns each: by name
  EXPECT_EQ(list[2].kernel + list[2].device, "aCPU");
  EXPECT_EQ(list[1].launches, 2);
  EXPECT_EQ(list[1].total_ns, 40u);
  EXPECT_EQ(list[1].min_ns, 10u);
  EXPECT_EQ(list[1].max_ns, 30u);
}

TEST(Profile, TextHasALineAKernel) {
  EXPECT_EQ(ProfileText({kRecords.data(), 2}),
            "    total us  share  launches      mean us  device   kernel\n"
            "         0.5  98.0%         1         0.50  AMD      b\n"
            "         0.0   2.0%         1         0.01  AMD      a\n");
  EXPECT_EQ(ProfileText({}).find('\n'), ProfileText({}).size() - 1) << "no records: a heading alone";
}

TEST(Profile, TraceIsJsonWithATrackADevice) {
  const auto trace = nlohmann::json::parse(ChromeTrace(kRecords));
  ASSERT_EQ(trace["traceEvents"].size(), 6u);
  std::map<int, std::string> tracks;
  int launches = 0;
  for (const auto& e : trace["traceEvents"]) {
    if (e["ph"] == "M") {
      tracks[e["tid"]] = e["args"]["name"];
      continue;
    }
    const LaunchRecord& r = kRecords[launches++];
    EXPECT_EQ(tracks.at(e["tid"]), r.device);
    EXPECT_EQ(e["name"], r.kernel);
    EXPECT_DOUBLE_EQ(e["ts"], r.info.begin_ns / 1e3);
    EXPECT_DOUBLE_EQ(e["dur"], r.info.device_ns / 1e3);
    EXPECT_EQ(e["args"]["block"], (std::vector<int>{32, 2, 1}));
  }
  EXPECT_EQ(launches, 4);
  EXPECT_TRUE(nlohmann::json::accept(ChromeTrace({{Record("\xff\"\n", "AMD", 0, 1)}})));
}

}  // namespace
}  // namespace understudy
