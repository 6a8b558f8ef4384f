// SPDX-License-Identifier: Apache-2.0
// docs/limits.md says the truth about what the mock machine refuses: every refused packet and ioctl of the
// tables is listed there, and no served one is.
#include <gtest/gtest.h>
#include <linux/kfd_ioctl.h>

#include <cerrno>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "src/base/file.h"

namespace understudy::mockgpu {
namespace {

// The part of the page that begins with this heading.
std::string Section(const std::string& heading) {
  auto page = ReadFile("docs/limits.md");
  if (!page.ok()) {
    ADD_FAILURE() << page.status();
    return "";
  }
  const std::string text(page->begin(), page->end());
  const size_t begin = text.find(heading);
  if (begin == std::string::npos) {
    ADD_FAILURE() << "no heading " << heading;
    return "";
  }
  const size_t end = text.find("\n#", begin);
  return text.substr(begin, end == std::string::npos ? end : end - begin);
}

std::set<std::string> Words(const std::string& text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : text + " ") {
    if (std::isupper(static_cast<unsigned char>(c)) || std::isdigit(static_cast<unsigned char>(c)) ||
        c == '_') {
      word += c;
    } else {
      words.insert(word);
      word.clear();
    }
  }
  return words;
}

TEST(Limits, PacketsOfThePageAreTheRefusedOnesOfTheTables) {
  const std::set<std::string> words = Words(Section("### Mock machine: packets refused by name"));
  const std::vector<std::string> refused = {
#define PM4_PACKET(name, opcode, low, high)
#define PM4_REFUSED(name, opcode, generations) #name,
#include "mockgpu/amd/cp/pm4_packets.inc"
#define SDMA_PACKET(name, opcode, dwords, generations)
#define SDMA_REFUSED(name, opcode, generations) #name,
#include "mockgpu/amd/sdma/sdma_packets.inc"
  };
  for (const std::string& name : refused)
    EXPECT_EQ(words.count(name), 1u) << name << " is not in docs/limits.md";
  const std::vector<std::string> served = {
#define PM4_PACKET(name, opcode, low, high) #name,
#define PM4_REFUSED(name, opcode, generations)
#include "mockgpu/amd/cp/pm4_packets.inc"
#define SDMA_PACKET(name, opcode, dwords, generations) #name,
#define SDMA_REFUSED(name, opcode, generations)
#include "mockgpu/amd/sdma/sdma_packets.inc"
  };
  for (const std::string& name : served)
    EXPECT_EQ(words.count(name), 0u) << name << " works, but docs/limits.md refuses it";
}

TEST(Limits, IoctlsOfThePageAreTheRefusedOnesOfTheTable) {
  const std::string section = Section("### Mock machine: `/dev/kfd` ioctls refused");
  std::string rows;
#define KFD_IOCTL(name, number, bytes, in, out, handler)      \
  EXPECT_EQ(section.find("| " #name " |"), std::string::npos) \
      << #name " works, but docs/limits.md refuses it";
#define KFD_REFUSED(name, number, error, why) rows += "| " #name " | " #error " | " why " |\n";
#include "mockgpu/amd/kfd/ioctls.inc"
  EXPECT_NE(section.find(rows), std::string::npos) << "docs/limits.md should have\n" << rows;
}

}  // namespace
}  // namespace understudy::mockgpu
