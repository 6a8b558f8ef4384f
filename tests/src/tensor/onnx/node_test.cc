// SPDX-License-Identifier: Apache-2.0
// The ONNX backend's node tests: every case gives the suite's outputs on REF, or is in refused.txt with the
// reason and is refused by name.
#include <sstream>

#include "gtest/gtest.h"
#include "src/base/file.h"
#include "src/base/status.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/ref/ref_device.h"
#include "tests/src/tensor/onnx/node_cases.h"

namespace understudy {
namespace {

using node_cases::Case;

struct Exception {
  enum class Kind { kRefused, kShapes, kRounding } kind;
  std::string reason;  // a part of the refusal's text
};

// Lines of refused.txt: "refused NAME part of the refusal", "shapes NAME reason" (random values: types and
// shapes are the suite's), "rounding NAME reason" (the suite's own rounding errors pass its tolerance: ten
// times it).
const std::map<std::string, Exception>& Exceptions() {
  static const auto* const exceptions = [] {
    auto* map = new std::map<std::string, Exception>();
    const auto file = ReadFile("tests/data/onnx/refused.txt");
    US_CHECK_OK(file);
    std::istringstream lines(*file);
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line[0] == '#') continue;
      std::istringstream words(line);
      std::string kind, name, reason;
      words >> kind >> name >> std::ws;
      std::getline(words, reason);
      using Kind = Exception::Kind;
      US_CHECK((kind == "refused" || kind == "shapes" || kind == "rounding") && !reason.empty()) << line;
      (*map)[name] = {kind == "refused"  ? Kind::kRefused
                      : kind == "shapes" ? Kind::kShapes
                                         : Kind::kRounding,
                      reason};
    }
    return map;
  }();
  return *exceptions;
}

class NodeTest : public testing::TestWithParam<size_t> {
 protected:
  static Engine& engine() {
    static auto* const engine = [] {
      DeviceRegistry devices;
      devices.Register(std::make_shared<RefDevice>());
      devices.Register(std::make_shared<CpuDevice>());
      return new Engine(std::move(devices));
    }();
    return *engine;
  }
};

// The device of this program: each is built twice.
#ifdef UNDERSTUDY_ONNX_ON_CPU
constexpr const char* kDevice = "CPU";
#else
constexpr const char* kDevice = "REF";
#endif

TEST_P(NodeTest, GivesTheSuitesOutputs) {
  const Case& c = node_cases::AllCases()[GetParam()];
  const auto exception = Exceptions().find(c.name);
  const bool is_listed = exception != Exceptions().end();
  node_cases::Closeness closeness;
  if (is_listed && exception->second.kind == Exception::Kind::kShapes) closeness.shapes_only = true;
  if (is_listed && exception->second.kind == Exception::Kind::kRounding) closeness.factor = 10;
  const auto difference = node_cases::RunCase(c, engine(), kDevice, closeness);
  if (is_listed && exception->second.kind == Exception::Kind::kRefused) {
    ASSERT_FALSE(difference.ok()) << c.name << " is listed as refused";
    EXPECT_NE(difference.status().ToString().find(exception->second.reason), std::string::npos)
        << c.name << ": " << difference.status();
    return;
  }
  ASSERT_TRUE(difference.ok()) << "CASE " << c.name << ": " << difference.status();
  EXPECT_EQ(*difference, "") << "CASE " << c.name;
}

// The cases that run here: on CPU not those whose operator is written out as others, which have their own.
std::vector<size_t> Chosen() {
  std::vector<size_t> chosen;
  for (size_t i = 0; i < node_cases::AllCases().size(); ++i) {
    const bool expanded = node_cases::AllCases()[i].name.find("_expanded") != std::string::npos;
    if (std::string(kDevice) == "REF" || !expanded) chosen.push_back(i);
  }
  return chosen;
}
INSTANTIATE_TEST_SUITE_P(Onnx, NodeTest, testing::ValuesIn(Chosen()),
                         [](const auto& info) { return node_cases::AllCases()[info.param].name; });

TEST(NodeTests, ExceptionsAreCases) {
  for (const auto& [name, exception] : Exceptions()) {
    bool found = false;
    for (const Case& c : node_cases::AllCases()) found |= c.name == name;
    EXPECT_TRUE(found) << name;
  }
}

}  // namespace
}  // namespace understudy
