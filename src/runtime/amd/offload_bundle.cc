// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/amd/offload_bundle.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"

namespace understudy::amd {
namespace {

using Bytes = absl::Span<const uint8_t>;

constexpr char kMagic[] = "__CLANG_OFFLOAD_BUNDLE__";
constexpr size_t kMagicSize = sizeof(kMagic) - 1;
constexpr char kCompressedMagic[] = "CCOB";
constexpr size_t kBundleAlignment = 4096;
// Limits on what a well formed file may claim: the format has none.
constexpr uint64_t kMaxEntries = 4096, kMaxIdSize = 4096;

bool StartsWith(Bytes bytes, const char* text, size_t n) {
  return bytes.size() >= n && std::memcmp(bytes.data(), text, n) == 0;
}

// A little-endian integer at `at`, which must lie inside.
template <class T>
absl::Status Read(Bytes bytes, size_t at, const char* what, T* out) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " at offset ", at, " leaves the file of ", bytes.size(), " bytes"));
  }
  std::memcpy(out, bytes.data() + at, sizeof(T));
  return absl::OkStatus();
}

absl::StatusOr<Bytes> Sub(Bytes bytes, uint64_t offset, uint64_t size, const char* what) {
  if (offset > bytes.size() || size > bytes.size() - offset) {
    return absl::InvalidArgumentError(absl::StrCat(what, " of ", size, " bytes at offset ", offset,
                                                   " leaves the file of ", bytes.size(), " bytes"));
  }
  return bytes.subspan(offset, size);
}

}  // namespace

std::string OffloadEntry::processor() const {
  // The target follows the four parts of the triple: kind-arch-vendor-os-environment-processor.
  size_t at = id.find("--");
  if (at == std::string::npos) return "";
  std::string target = id.substr(at + 2);
  return target.substr(0, target.find(':'));
}

absl::StatusOr<std::vector<OffloadEntry>> ReadOffloadBundle(Bytes bytes, size_t* size) {
  if (StartsWith(bytes, kCompressedMagic, sizeof(kCompressedMagic) - 1)) {
    return absl::UnimplementedError("a compressed offload bundle (CCOB); bundles are read uncompressed");
  }
  if (!StartsWith(bytes, kMagic, kMagicSize)) {
    return absl::InvalidArgumentError(absl::StrCat("an offload bundle begins with ", kMagic));
  }
  uint64_t count;
  US_RETURN_IF_ERROR(Read(bytes, kMagicSize, "the number of bundle entries", &count));
  if (count > kMaxEntries) {
    return absl::InvalidArgumentError(
        absl::StrCat("a bundle of ", count, " entries; ", kMaxEntries, " are read"));
  }
  std::vector<OffloadEntry> entries;
  size_t at = kMagicSize + 8, end = at;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t offset, content_size, id_size;
    US_RETURN_IF_ERROR(Read(bytes, at, "an entry's offset", &offset));
    US_RETURN_IF_ERROR(Read(bytes, at + 8, "an entry's size", &content_size));
    US_RETURN_IF_ERROR(Read(bytes, at + 16, "the size of an entry's id", &id_size));
    if (id_size > kMaxIdSize) {
      return absl::InvalidArgumentError(
          absl::StrCat("an entry's id of ", id_size, " bytes; ", kMaxIdSize, " are read"));
    }
    auto id = Sub(bytes, at + 24, id_size, "an entry's id");
    if (!id.ok()) return id.status();
    auto content = Sub(bytes, offset, content_size, "an entry's content");
    if (!content.ok()) return content.status();
    entries.push_back({std::string(id->begin(), id->end()), *content});
    at += 24 + id_size;
    end = std::max({end, at, static_cast<size_t>(offset + content_size)});
  }
  if (size != nullptr) *size = end;
  return entries;
}

absl::StatusOr<Bytes> FindElfSection(Bytes file, const std::string& name) {
  constexpr uint8_t kElf64LittleEndian[] = {0x7f, 'E', 'L', 'F', 2, 1};
  constexpr uint64_t kHeaderSize = 64;
  if (file.size() < kHeaderSize ||
      std::memcmp(file.data(), kElf64LittleEndian, sizeof(kElf64LittleEndian)) != 0) {
    return absl::InvalidArgumentError("not a little-endian ELF64 file");
  }
  uint64_t headers;
  uint16_t header_size, count, names_index;
  US_RETURN_IF_ERROR(Read(file, 0x28, "e_shoff", &headers));
  US_RETURN_IF_ERROR(Read(file, 0x3a, "e_shentsize", &header_size));
  US_RETURN_IF_ERROR(Read(file, 0x3c, "e_shnum", &count));
  US_RETURN_IF_ERROR(Read(file, 0x3e, "e_shstrndx", &names_index));
  if (count == 0) return absl::NotFoundError(absl::StrCat("no section ", name, ": the file has no sections"));
  if (header_size != kHeaderSize) {
    return absl::InvalidArgumentError(
        absl::StrCat("section headers of ", header_size, " bytes, not ", kHeaderSize));
  }
  auto table = Sub(file, headers, uint64_t{count} * kHeaderSize, "the table of section headers");
  if (!table.ok()) return table.status();
  struct Section {
    uint32_t name;
    uint64_t offset, size;
  };
  auto section = [&](int i) {
    const uint8_t* header = table->data() + i * kHeaderSize;
    Section s;
    std::memcpy(&s.name, header, 4);
    std::memcpy(&s.offset, header + 0x18, 8);
    std::memcpy(&s.size, header + 0x20, 8);
    return s;
  };
  if (names_index >= count) {
    return absl::InvalidArgumentError(absl::StrCat("e_shstrndx = ", names_index, " of ", count, " sections"));
  }
  auto names = Sub(file, section(names_index).offset, section(names_index).size, "the section names");
  if (!names.ok()) return names.status();
  for (int i = 0; i < count; ++i) {
    Section s = section(i);
    // The name ends with a zero inside the table.
    if (s.name >= names->size() || names->size() - s.name <= name.size()) continue;
    if (std::memcmp(names->data() + s.name, name.c_str(), name.size() + 1) != 0) continue;
    return Sub(file, s.offset, s.size, "a section");
  }
  return absl::NotFoundError(absl::StrCat("no section ", name));
}

absl::StatusOr<std::vector<OffloadEntry>> OffloadEntriesOfLibrary(Bytes file) {
  auto section = FindElfSection(file, ".hip_fatbin");
  if (!section.ok()) return section.status();
  std::vector<OffloadEntry> all;
  for (size_t at = 0; at < section->size();) {
    Bytes rest = section->subspan(at);
    if (!StartsWith(rest, kMagic, kMagicSize) &&
        !StartsWith(rest, kCompressedMagic, sizeof(kCompressedMagic) - 1)) {
      at += kBundleAlignment;  // padding, or the rest of a bundle
      continue;
    }
    size_t size = 0;
    auto entries = ReadOffloadBundle(rest, &size);
    if (!entries.ok()) return entries.status();
    all.insert(all.end(), entries->begin(), entries->end());
    at += std::max<size_t>(1, (size + kBundleAlignment - 1) / kBundleAlignment) * kBundleAlignment;
  }
  return all;
}

}  // namespace understudy::amd
