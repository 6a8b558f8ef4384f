// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/state/zip.h"

#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "src/base/status.h"

namespace understudy::state {
namespace {

using Bytes = absl::Span<const uint8_t>;

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                   kLocator64 = 0x07064b50;

template <class... A>
absl::Status Bad(uint64_t offset, const A&... a) {
  return absl::InvalidArgumentError(absl::StrCat("zip: offset ", offset, ": ", a...));
}

// The fixed part of a record, little-endian; the caller has checked its size.
template <class T>
T At(Bytes b, size_t at) {
  T v;
  std::memcpy(&v, b.data() + at, sizeof(T));
  return v;
}

absl::StatusOr<Bytes> Record(Bytes file, uint64_t offset, uint64_t size, uint32_t signature,
                             const char* what) {
  if (offset > file.size() || size > file.size() - offset) return Bad(offset, what, " beyond the end");
  const Bytes r = file.subspan(offset, size);
  if (At<uint32_t>(r, 0) != signature) return Bad(offset, "is no ", what);
  return r;
}

struct Directory {
  uint64_t entries, offset;
};

absl::StatusOr<Directory> FindDirectory(Bytes file) {
  constexpr size_t kSize = 22, kMostComment = 65535;
  if (file.size() < kSize) return Bad(0, "a file of ", file.size(), " bytes is no zip archive");
  size_t at = file.size() - kSize;
  const size_t least = at > kMostComment ? at - kMostComment : 0;
  while (At<uint32_t>(file, at) != kEnd || At<uint16_t>(file, at + 20) != file.size() - at - kSize) {
    if (at == least) return Bad(0, "no end of central directory: this is no zip archive");
    --at;
  }
  const Bytes end = file.subspan(at, kSize);
  if (At<uint16_t>(end, 4) != 0 && At<uint16_t>(end, 4) != 0xffff) {
    return absl::UnimplementedError("zip: an archive in several files");
  }
  const Directory d = {At<uint16_t>(end, 10), At<uint32_t>(end, 16)};
  if (d.entries != 0xffff && d.offset != 0xffffffff && At<uint32_t>(end, 12) != 0xffffffff) return d;
  if (at < 20) return Bad(at, "no zip64 locator");
  US_ASSIGN_OR_RETURN(const Bytes locator, Record(file, at - 20, 20, kLocator64, "zip64 locator"));
  US_ASSIGN_OR_RETURN(const Bytes end64,
                      Record(file, At<uint64_t>(locator, 8), 56, kEnd64, "zip64 end of directory"));
  return Directory{At<uint64_t>(end64, 32), At<uint64_t>(end64, 48)};
}

}  // namespace

absl::StatusOr<std::map<std::string, Bytes>> ReadZip(Bytes file) {
  US_ASSIGN_OR_RETURN(const Directory d, FindDirectory(file));
  std::map<std::string, Bytes> out;
  uint64_t at = d.offset;
  for (uint64_t i = 0; i < d.entries; ++i) {
    US_ASSIGN_OR_RETURN(const Bytes entry, Record(file, at, 46, kCentral, "central directory entry"));
    const uint64_t name_size = At<uint16_t>(entry, 28), extra_size = At<uint16_t>(entry, 30),
                   comment_size = At<uint16_t>(entry, 32);
    if (name_size + extra_size + comment_size > file.size() - at - 46)
      return Bad(at, "an entry beyond the end");
    const Bytes name_bytes = file.subspan(at + 46, name_size),
                extra = file.subspan(at + 46 + name_size, extra_size);
    const std::string name(name_bytes.begin(), name_bytes.end());
    uint64_t packed = At<uint32_t>(entry, 20), size = At<uint32_t>(entry, 24),
             local = At<uint32_t>(entry, 42);
    // Extra field 1 holds, in this order, those of the three that are 0xffffffff here.
    for (size_t e = 0; e + 4 <= extra.size();) {
      const size_t n = At<uint16_t>(extra, e + 2);
      if (n > extra.size() - e - 4) break;
      if (At<uint16_t>(extra, e) == 1) {
        size_t p = e + 4;
        for (uint64_t* v : {&size, &packed, &local}) {
          if (*v != 0xffffffff) continue;
          if (p + 8 > e + 4 + n) return Bad(at, "entry '", name, "': its zip64 field is too short");
          *v = At<uint64_t>(extra, p);
          p += 8;
        }
      }
      e += 4 + n;
    }
    if (At<uint16_t>(entry, 8) & 1) return absl::UnimplementedError("zip: entry '" + name + "' is encrypted");
    if (const int method = At<uint16_t>(entry, 10); method != 0) {
      return absl::UnimplementedError(
          absl::StrCat("zip: entry '", name, "' is compressed (method ", method, "), expected stored"));
    }
    if (packed != size)
      return Bad(at, "entry '", name, "' is stored, but of ", packed, " and ", size, " bytes");
    US_ASSIGN_OR_RETURN(const Bytes header, Record(file, local, 30, kLocal, "local header"));
    const uint64_t data = local + 30 + At<uint16_t>(header, 26) + At<uint16_t>(header, 28);
    if (data > file.size() || size > file.size() - data) {
      return Bad(local, "entry '", name, "' of ", size, " bytes goes beyond the end");
    }
    if (!out.emplace(name, file.subspan(data, size)).second) return Bad(at, "the name '", name, "' twice");
    at += 46 + name_size + extra_size + comment_size;
  }
  return out;
}

}  // namespace understudy::state
