// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/nv/cuda/fatbin.h"

#include <zstd.h>

#include <cctype>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "mockgpu/nv/cuda/lz4.h"
#include "src/base/status.h"

namespace understudy::mockgpu::nv {
namespace {

// Offsets in an entry's header, which says its own length (at least this).
constexpr size_t kEntryHeaderBytes = 64;
constexpr size_t kKind = 0, kHeaderSize = 4, kPayloadSize = 8, kCompressedSize = 16, kMinor = 24, kMajor = 26,
                 kArch = 28, kFlags = 40, kPlainSize = 56;
constexpr uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000;
constexpr uint64_t kMaxText = uint64_t{256} << 20;

template <class T>
T Get(absl::Span<const uint8_t> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

absl::StatusOr<std::string> Decompress(absl::Span<const uint8_t> in, uint64_t size, uint64_t flags) {
  if (size > kMaxText)
    return absl::InvalidArgumentError(absl::StrCat("PTX of ", size, " bytes, at most ", kMaxText));
  std::string out;
  if (flags & kFlagZstd) {
    // The frame says its size too: a wrong header does not make us allocate.
    const unsigned long long content = ZSTD_getFrameContentSize(in.data(), in.size());
    if (content == ZSTD_CONTENTSIZE_ERROR) return absl::InvalidArgumentError("zstd: the payload is no frame");
    if (content != ZSTD_CONTENTSIZE_UNKNOWN && content != size)
      return absl::InvalidArgumentError(
          absl::StrCat("zstd: a frame of ", content, " bytes, the entry says ", size));
    out.resize(size);
    const size_t n = ZSTD_decompress(out.data(), out.size(), in.data(), in.size());
    if (ZSTD_isError(n)) return absl::InvalidArgumentError(absl::StrCat("zstd: ", ZSTD_getErrorName(n)));
    if (n != size) return absl::InvalidArgumentError(absl::StrCat("zstd: ", n, " bytes, expected ", size));
    return out;
  }
  US_ASSIGN_OR_RETURN(const std::vector<uint8_t> plain, DecodeLz4Block(in, size));
  out.assign(plain.begin(), plain.end());
  return out;
}

// ".target sm_90a": the suffix.
char TargetSuffix(const std::string& text, int* sm) {
  const size_t at = text.find(".target");
  if (at == std::string::npos) return 0;
  const size_t name = text.find("sm_", at);
  if (name == std::string::npos) return 0;
  size_t i = name + 3;
  int number = 0;
  while (i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) && number < 10000)
    number = number * 10 + (text[i++] - '0');
  *sm = number;
  return i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) ? text[i] : 0;
}

}  // namespace

uint64_t FatbinBytes(const uint8_t* header) {
  const absl::Span<const uint8_t> bytes(header, kFatbinHeaderBytes);
  if (Get<uint32_t>(bytes, 0) != kFatbinMagic) return 0;
  const uint64_t size = Get<uint64_t>(bytes, 8);
  return size > (uint64_t{1} << 40) ? 0 : size + Get<uint16_t>(bytes, 6);
}

absl::StatusOr<std::vector<FatbinEntry>> ReadFatbin(absl::Span<const uint8_t> bytes) {
  if (bytes.size() < kFatbinHeaderBytes || Get<uint32_t>(bytes, 0) != kFatbinMagic)
    return absl::InvalidArgumentError("fatbinary: no header");
  const size_t header = Get<uint16_t>(bytes, 6);
  const uint64_t size = Get<uint64_t>(bytes, 8);
  if (header < kFatbinHeaderBytes || header > bytes.size() || size > bytes.size() - header)
    return absl::InvalidArgumentError(absl::StrCat("fatbinary: a header of ", header, " and contents of ",
                                                   size, " bytes in ", bytes.size()));
  std::vector<FatbinEntry> out;
  size_t at = header;
  const size_t end = header + size;
  while (end - at >= kEntryHeaderBytes) {
    const absl::Span<const uint8_t> entry = bytes.subspan(at, end - at);
    const auto wrong = [&](const std::string& what) {
      return absl::InvalidArgumentError(
          absl::StrCat("fatbinary: entry ", out.size(), " at byte ", at, ": ", what));
    };
    const uint32_t entry_header = Get<uint32_t>(entry, kHeaderSize);
    const uint64_t payload = Get<uint64_t>(entry, kPayloadSize);
    if (entry_header < kEntryHeaderBytes || entry_header > entry.size() ||
        payload > entry.size() - entry_header)
      return wrong(absl::StrCat("a header of ", entry_header, " and a payload of ", payload, " bytes in ",
                                entry.size()));
    const uint64_t flags = Get<uint64_t>(entry, kFlags);
    FatbinEntry e;
    e.kind = static_cast<FatbinKind>(Get<uint16_t>(entry, kKind));
    e.sm = static_cast<int>(Get<uint32_t>(entry, kArch) & 0xffff);
    e.major = Get<uint16_t>(entry, kMajor);
    e.minor = Get<uint16_t>(entry, kMinor);
    e.compressed = (flags & (kFlagLz4 | kFlagZstd)) != 0;
    const absl::Span<const uint8_t> data = entry.subspan(entry_header, payload);
    if (e.kind == FatbinKind::kPtx) {
      if (e.compressed) {
        const uint32_t compressed = Get<uint32_t>(entry, kCompressedSize);
        if (compressed > data.size())
          return wrong(absl::StrCat(compressed, " compressed bytes in a payload of ", payload));
        auto text = Decompress(data.subspan(0, compressed), Get<uint64_t>(entry, kPlainSize), flags);
        if (!text.ok()) return wrong(std::string(text.status().message()));
        e.text = *std::move(text);
      } else {
        e.text.assign(data.begin(), data.end());
      }
      e.text.resize(std::strlen(e.text.c_str()));
    }
    out.push_back(std::move(e));
    at += entry_header + payload;
  }
  return out;
}

const FatbinEntry* ChoosePtx(const std::vector<FatbinEntry>& entries, int sm, bool accelerated) {
  const FatbinEntry* best = nullptr;
  int best_rank = -1;
  for (const FatbinEntry& e : entries) {
    if (e.kind != FatbinKind::kPtx) continue;
    int target = e.sm;
    const char suffix = TargetSuffix(e.text, &target);
    if (target > sm) continue;
    // 'a' runs on its own architecture only, 'f' on those of one family.
    if (suffix == 'a' && (target != sm || !accelerated)) continue;
    if (suffix == 'f' && target / 10 != sm / 10) continue;
    const int rank = target * 2 + (suffix != 0);
    if (rank > best_rank) best = &e, best_rank = rank;
  }
  return best;
}

std::string ListEntries(const std::vector<FatbinEntry>& entries) {
  std::string out;
  for (const FatbinEntry& e : entries) {
    absl::StrAppend(&out, out.empty() ? "" : ", ",
                    e.kind == FatbinKind::kPtx   ? "PTX"
                    : e.kind == FatbinKind::kElf ? "machine code"
                                                 : absl::StrCat("kind ", static_cast<int>(e.kind)),
                    " sm_", e.sm);
  }
  return out.empty() ? "nothing" : out;
}

}  // namespace understudy::mockgpu::nv
