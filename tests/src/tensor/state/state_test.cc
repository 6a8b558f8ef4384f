// SPDX-License-Identifier: Apache-2.0
// Files that the safetensors and gguf packages wrote (tests/data/state/make_state.py): read to the same
// elements, written to the same bytes, and refused at every length shorter than the whole.
#include <zlib.h>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/base/file.h"
#include "src/base/half.h"
#include "src/tensor/state/gguf.h"
#include "src/tensor/state/safetensors.h"

namespace understudy {
namespace {

std::string Read(const std::string& name) { return *ReadFile("tests/data/state/" + name); }
absl::Span<const uint8_t> Span(const std::string& s) {
  return {reinterpret_cast<const uint8_t*>(s.data()), s.size()};
}

TEST(Safetensors, WritesThePackagesBytesFromWhatItRead) {
  const std::string file = Read("small.safetensors");
  const auto parsed = ParseSafetensors(Span(file));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ASSERT_EQ(parsed->entries.size(), 9u);
  std::vector<StoredTensor> tensors;
  for (const SafetensorsEntry& e : parsed->entries)
    tensors.insert(tensors.begin(), {e.name, e.dtype, e.shape, {e.bytes.begin(), e.bytes.end()}});
  const auto again = SerializeSafetensors(tensors, parsed->metadata);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, file);
  for (size_t n = 0; n < file.size(); ++n) EXPECT_FALSE(ParseSafetensors(Span(file).first(n)).ok()) << n;
}

TEST(Safetensors, RefusesOverlapsAndDuplicates) {
  const auto make = [](const std::string& header, size_t data) {
    const uint64_t n = header.size();
    return std::string(reinterpret_cast<const char*>(&n), 8) + header + std::string(data, '\0');
  };
  const std::string a = R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})";
  const std::string overlap = make("{" + a + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", 3);
  EXPECT_FALSE(ParseSafetensors(Span(overlap)).ok());
  const std::string twice = make("{" + a + "," + a + "}", 2);
  EXPECT_EQ(ParseSafetensors(Span(twice)).status().message(), "safetensors: header: the name a twice");
}

TEST(Gguf, ElementsAreThePackages) {
  const std::string file = Read("small.gguf");
  const auto parsed = ParseGguf(Span(file));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(std::get<uint64_t>(parsed->Find("test.count")->value), 7u);
  EXPECT_EQ(std::get<GgufList>(parsed->Find("test.list")->value).size(), 3u);
  const auto want = nlohmann::json::parse(Read("gguf.json"));
  ASSERT_EQ(parsed->entries.size(), want.size());
  for (const GgufEntry& e : parsed->entries) {
    const auto bytes = GgufElements(e);
    ASSERT_TRUE(bytes.ok());
    const auto values = want.at(e.name).get<std::vector<float>>();
    const size_t width = e.dtype.ScalarBytes();
    ASSERT_EQ(bytes->size(), values.size() * width) << e.name;
    for (size_t i = 0; i < values.size(); ++i) {
      float got = 0;
      if (width == 2)
        got = HalfToFloat(static_cast<uint16_t>((*bytes)[2 * i] | (*bytes)[2 * i + 1] << 8));
      else
        __builtin_memcpy(&got, bytes->data() + 4 * i, 4);
      ASSERT_EQ(got, values[i]) << e.name << " " << i;
    }
  }
  // The file ends with padding that nothing needs.
  for (size_t n = 0; n + 64 < file.size(); ++n) EXPECT_FALSE(ParseGguf(Span(file).first(n)).ok()) << n;
}

// Hundreds of blocks of each type, so that every point of a lattice and every scale occurs: the sum of their
// elements' bytes is the package's.
TEST(Gguf, ManyBlocksOfEveryType) {
  const auto want = nlohmann::json::parse(Read("gguf_many.json"));
  const std::string file = Read("small.gguf");
  const auto parsed = ParseGguf(Span(file));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  size_t compared = 0;
  for (const GgufEntry& sample : parsed->entries) {
    if (!want.at("types").contains(sample.type)) continue;
    const auto& type = want.at("types").at(sample.type);
    const size_t size = sample.bytes.size() / 2;  // the file has two blocks of each
    std::vector<uint8_t> blocks(size * want.at("blocks").get<size_t>());
    uint64_t state = sample.type_number;
    for (uint8_t& b : blocks) {
      state = state * 6364136223846793005 + 1442695040888963407;
      b = static_cast<uint8_t>(state >> 56);
    }
    for (const size_t at : type.at("upper").get<std::vector<size_t>>()) {
      for (size_t i = at; i < blocks.size(); i += size) blocks[i] &= 0xBF;
    }
    GgufEntry entry = sample;
    entry.bytes = blocks;
    const auto bytes = GgufElements(entry);
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(crc32(0, bytes->data(), static_cast<uInt>(bytes->size())), type.at("crc").get<uint32_t>())
        << sample.type;
    ++compared;
  }
  EXPECT_EQ(compared, want.at("types").size());
}

TEST(Gguf, TypesWithoutAFormulaAreRefusedByNumber) {
  std::string file = Read("small.gguf");
  // The type of the first tensor follows its name, its number of axes and its sizes.
  const size_t at = file.find("Q4_0") + 4 + 4 + 2 * 8;
  ASSERT_EQ(file[at], 2);
  for (const char number : {4, 9, 31, 41, 99}) {
    file[at] = number;
    const absl::Status s = ParseGguf(Span(file)).status();
    EXPECT_TRUE(absl::IsUnimplemented(s)) << s;
    EXPECT_NE(std::string(s.message()).find("is of type " + std::to_string(number)), std::string::npos) << s;
  }
}

}  // namespace
}  // namespace understudy
