// SPDX-License-Identifier: Apache-2.0
// Offload bundles are read entry by entry, also inside of a library; malformed ones are refused with the
// number that is wrong. (//tests/emu/amd/decode:library_kernels_test reads those of Debian's ROCm libraries.)
#include "src/runtime/amd/offload_bundle.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "src/base/file.h"
#include "src/runtime/amd/code_object.h"

namespace understudy::amd {
namespace {

using Bytes = absl::Span<const uint8_t>;

Bytes AsBytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

void Append64(std::string* out, uint64_t value) { out->append(reinterpret_cast<const char*>(&value), 8); }

std::string OneEntry(uint64_t offset, uint64_t size, const std::string& id, uint64_t count = 1) {
  std::string out = "__CLANG_OFFLOAD_BUNDLE__";
  Append64(&out, count), Append64(&out, offset), Append64(&out, size), Append64(&out, id.size());
  return out + id;
}

std::string Refusal(const std::string& bytes) {
  auto entries = ReadOffloadBundle(AsBytes(bytes));
  EXPECT_FALSE(entries.ok());
  return entries.ok() ? "" : std::string(entries.status().ToString());
}

TEST(OffloadBundle, EntriesHoldTheCodeObject) {
  auto file = ReadFile("fuzz/offload_bundle/corpus/table.bundle");
  ASSERT_TRUE(file.ok()) << file.status();
  size_t size = 0;
  auto entries = ReadOffloadBundle(AsBytes(*file), &size);
  ASSERT_TRUE(entries.ok()) << entries.status();
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[0].id, "host-x86_64-unknown-linux");
  EXPECT_EQ((*entries)[0].content.size(), 0u);
  EXPECT_EQ((*entries)[0].processor(), "");
  EXPECT_EQ((*entries)[1].processor(), "gfx1100");
  EXPECT_LE(size, file->size());
  auto object = CodeObject::Parse((*entries)[1].content);
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_EQ(object->isa(), "gfx1100");
}

TEST(OffloadBundle, LibrarySectionHoldsTheBundle) {
  auto file = ReadFile("fuzz/offload_bundle/corpus/library.so");
  ASSERT_TRUE(file.ok()) << file.status();
  auto entries = OffloadEntriesOfLibrary(AsBytes(*file));
  ASSERT_TRUE(entries.ok()) << entries.status();
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_TRUE(CodeObject::Parse((*entries)[1].content).ok());
  EXPECT_EQ(FindElfSection(AsBytes(*file), ".no_such").status().ToString(), "NOT_FOUND: no section .no_such");
}

TEST(OffloadBundle, ProcessorLosesItsFeatures) {
  OffloadEntry entry{"hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", {}};
  EXPECT_EQ(entry.processor(), "gfx90a");
}

TEST(OffloadBundle, BadNumbersAreRefusedByName) {
  EXPECT_EQ(Refusal("CCOB...."),
            "UNIMPLEMENTED: a compressed offload bundle (CCOB); bundles are read uncompressed");
  EXPECT_EQ(Refusal("nothing"), "INVALID_ARGUMENT: an offload bundle begins with __CLANG_OFFLOAD_BUNDLE__");
  EXPECT_EQ(Refusal("__CLANG_OFFLOAD_BUNDLE__"),
            "INVALID_ARGUMENT: the number of bundle entries at offset 24 leaves the file of 24 bytes");
  EXPECT_EQ(Refusal(OneEntry(0, 0, "a", 5000)), "INVALID_ARGUMENT: a bundle of 5000 entries; 4096 are read");
  EXPECT_EQ(Refusal(OneEntry(0, 58, "a")),
            "INVALID_ARGUMENT: an entry's content of 58 bytes at offset 0 leaves the file of 57 bytes");
  EXPECT_EQ(Refusal(OneEntry(~0ull, 2, "a")),
            "INVALID_ARGUMENT: an entry's content of 2 bytes at offset "
            "18446744073709551615 leaves the file of 57 bytes");
  EXPECT_TRUE(ReadOffloadBundle(AsBytes(OneEntry(0, 57, "a"))).ok());
}

TEST(OffloadBundle, EveryCutOfALibraryIsReadOrRefused) {
  auto file = ReadFile("fuzz/offload_bundle/corpus/library.so");
  ASSERT_TRUE(file.ok()) << file.status();
  int refused = 0;
  for (size_t n = 0; n < file->size(); n += 37) {
    std::vector<uint8_t> cut(file->begin(), file->begin() + n);  // exactly n bytes, for the sanitizers
    refused += !OffloadEntriesOfLibrary(cut).ok();
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace understudy::amd
