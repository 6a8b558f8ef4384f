// SPDX-License-Identifier: Apache-2.0
// Every form of h200.jsonl inside a launched kernel, warp-wide ones included, compared with what an H200
// answered. Prints what differs, with the distance of floats in units of the last place.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/emu/ptx/ptx_runner.h"

namespace understudy::emu::ptx {
namespace {

constexpr int kFloor = 954;

// How far two floats of a type are from each other, counting numbers between them; -1: no floats.
int64_t Distance(const std::string& type, uint64_t a, uint64_t b) {
  const int bits = type == "f64" ? 64 : type == "f32" ? 32 : type == "f16" || type == "bf16" ? 16 : 0;
  if (bits == 0) return -1;
  const auto key = [&](uint64_t v) {
    const uint64_t sign = uint64_t{1} << (bits - 1);
    return (v & sign) != 0 ? -static_cast<int64_t>(v & (sign - 1)) : static_cast<int64_t>(v);
  };
  const int64_t d = key(a) - key(b);
  return d < 0 ? -d : d;
}

TEST(LaunchedFormsTest, AgreeWithTheHardware) {
  std::ifstream file("tests/data/conformance/ptx/h200.jsonl");
  ASSERT_TRUE(file);
  int passed = 0, total = 0, refused = 0;
  const auto values = [](const nlohmann::json& list) {
    std::vector<uint64_t> out;
    for (const auto& v : list) out.push_back(std::stoull(v.get<std::string>(), nullptr, 16));
    return out;
  };
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json form = nlohmann::json::parse(line);
    ++total;
    std::vector<std::vector<uint64_t>> inputs;
    for (const auto& in : form["in"]) inputs.push_back(values(in));
    const std::string op = form["op"];
    const auto out = RunForm(op, form["d"].get<std::string>()[0], form["s"], inputs);
    if (!out.ok()) {
      ++refused;
      std::printf("%s: %s\n", op.c_str(), out.status().ToString().substr(0, 200).c_str());
      continue;
    }
    const std::vector<uint64_t> expected = values(form["out"]);
    size_t wrong = 0;
    int64_t farthest = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      if ((*out)[i] == expected[i]) continue;
      ++wrong;
      farthest = std::max(farthest, Distance(form["dt"], (*out)[i], expected[i]));
    }
    if (wrong != 0) {
      std::printf("%s: %zu of %zu differ, by at most %lld ulp\n", op.c_str(), wrong, expected.size(),
                  static_cast<long long>(farthest));
    }
    passed += wrong == 0;
  }
  std::printf("%d of %d forms bit-equal, %d refused\n", passed, total, refused);
  EXPECT_EQ(total, 954);
  EXPECT_GE(passed, kFloor);
}

}  // namespace
}  // namespace understudy::emu::ptx
