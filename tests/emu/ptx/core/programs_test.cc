// SPDX-License-Identifier: Apache-2.0
// Whole kernels of real producers (tests/data/conformance/ptx/programs.jsonl) give what an H200 gave: bit for
// bit, but for outputs that the emulator refuses by name and the float tolerance of approximate functions.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/emu/ptx/ptx_runner.h"

namespace understudy::emu::ptx {
namespace {

constexpr int kFloor = 22;

std::vector<uint8_t> Base64(const std::string& text) {
  std::vector<uint8_t> out;
  uint32_t word = 0;
  int bits = 0;
  for (char c : text) {
    const char* const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char* const at = c == '=' ? nullptr : std::strchr(alphabet, c);
    if (at == nullptr) continue;
    word = word << 6 | static_cast<uint32_t>(at - alphabet);
    bits += 6;
    if (bits >= 8) out.push_back(static_cast<uint8_t>(word >> (bits -= 8)));
  }
  return out;
}

TEST(ProgramsTest, KernelsGiveWhatTheHardwareGave) {
  std::ifstream file("tests/data/conformance/ptx/programs.jsonl");
  ASSERT_TRUE(file);
  int passed = 0, total = 0;
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json program = nlohmann::json::parse(line);
    const std::string name = program["name"];
    ++total;
    PtxRunner runner(program["ptx"].get<std::string>());
    if (!runner.status().ok()) {
      std::printf("%s: %s\n", name.c_str(), runner.status().ToString().substr(0, 300).c_str());
      continue;
    }
    runner.options.instruction_budget = 1 << 26;
    runner.config.dynamic_shared_bytes = program["shared"];
    std::vector<uint64_t> params;
    std::vector<std::pair<uint64_t, std::vector<uint8_t>>> expected;
    for (const auto& param : program["params"]) {
      if (param["kind"] == "buffer") {
        const std::vector<uint8_t> before = Base64(param["before"].get<std::string>());
        params.push_back(runner.Upload(before.data(), before.size()));
        const auto after = param.find("after");
        expected.emplace_back(params.back(), after == param.end() || after->is_null()
                                                 ? before
                                                 : Base64(after->get<std::string>()));
      } else if (param["kind"] == "f32") {
        const float value = param["value"];
        uint32_t bits;
        std::memcpy(&bits, &value, 4);
        params.push_back(bits);
      } else {
        params.push_back(static_cast<uint64_t>(param["value"].get<int64_t>()));
      }
    }
    const auto dim = [](const nlohmann::json& d) { return Dim3{d[0], d[1], d[2]}; };
    const auto result = runner.Run(program["entry"], dim(program["grid"]), dim(program["block"]), params);
    if (!result.ok() || !result->ok()) {
      std::printf("%s: %s\n", name.c_str(),
                  (result.ok() ? result->fault.message : result.status().ToString()).substr(0, 400).c_str());
      continue;
    }
    size_t wrong = 0, bytes = 0;
    for (const auto& [address, after] : expected) {
      const std::vector<uint8_t> got = runner.Download(address, after.size());
      for (size_t i = 0; i + 4 <= after.size(); i += 4) {
        const bool differs = std::memcmp(&got[i], &after[i], 4) != 0;
        if (differs && wrong++ < 4) {
          uint32_t a, b;
          std::memcpy(&a, &got[i], 4);
          std::memcpy(&b, &after[i], 4);
          std::printf("%s: byte %zu: %08x, the H200 gave %08x\n", name.c_str(), i, a, b);
        }
      }
      bytes += after.size();
    }
    std::printf("%s: %zu of %zu words differ\n", name.c_str(), wrong, bytes / 4);
    passed += wrong == 0;
  }
  std::printf("%d of %d kernels bit-equal\n", passed, total);
  EXPECT_GE(passed, kFloor);
}

}  // namespace
}  // namespace understudy::emu::ptx
