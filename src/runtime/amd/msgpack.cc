// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/amd/msgpack.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/status.h"

namespace understudy::amd {
namespace {

constexpr int kMaxDepth = 32;

class Reader {
 public:
  explicit Reader(absl::Span<const uint8_t> bytes) : bytes_(bytes) {}
  size_t at() const { return at_; }

  absl::StatusOr<MsgValue> Value(int depth) {
    if (depth > kMaxDepth) return Error(absl::StrCat("deeper than ", kMaxDepth, " levels"));
    US_ASSIGN_OR_RETURN(const uint64_t tag, Big(1));
    // Single-byte forms first, then the families 0xc0..0xdf.
    if (tag <= 0x7f) return MsgValue{static_cast<int64_t>(tag)};
    if (tag <= 0x8f) return Map(tag & 0x0f, depth);
    if (tag <= 0x9f) return Array(tag & 0x0f, depth);
    if (tag <= 0xbf) return Bytes(tag & 0x1f);
    if (tag >= 0xe0) return MsgValue{static_cast<int64_t>(static_cast<int8_t>(tag))};
    switch (tag) {
      case 0xc0:
        return MsgValue{};
      case 0xc2:
        return MsgValue{false};
      case 0xc3:
        return MsgValue{true};
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return SizedBytes(1 << (tag - 0xc4), 0);
      case 0xc7:
      case 0xc8:
      case 0xc9:
        return SizedBytes(1 << (tag - 0xc7), 1);
      case 0xca: {
        US_ASSIGN_OR_RETURN(const uint64_t bits, Big(4));
        return MsgValue{static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)))};
      }
      case 0xcb: {
        US_ASSIGN_OR_RETURN(const uint64_t bits, Big(8));
        return MsgValue{std::bit_cast<double>(bits)};
      }
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf: {
        US_ASSIGN_OR_RETURN(const uint64_t u, Big(1 << (tag - 0xcc)));
        if (u > INT64_MAX) return MsgValue{u};
        return MsgValue{static_cast<int64_t>(u)};
      }
      case 0xd0:
      case 0xd1:
      case 0xd2:
      case 0xd3: {
        const int n = 1 << (tag - 0xd0);
        US_ASSIGN_OR_RETURN(const uint64_t u, Big(n));
        const int shift = 64 - 8 * n;
        return MsgValue{static_cast<int64_t>(u << shift) >> shift};
      }
      case 0xd4:
      case 0xd5:
      case 0xd6:
      case 0xd7:
      case 0xd8:
        return Bytes((uint64_t{1} << (tag - 0xd4)) + 1);
      case 0xd9:
      case 0xda:
      case 0xdb:
        return SizedBytes(1 << (tag - 0xd9), 0);
      case 0xdc:
      case 0xdd: {
        US_ASSIGN_OR_RETURN(const uint64_t n, Big(tag == 0xdc ? 2 : 4));
        return Array(n, depth);
      }
      case 0xde:
      case 0xdf: {
        US_ASSIGN_OR_RETURN(const uint64_t n, Big(tag == 0xde ? 2 : 4));
        return Map(n, depth);
      }
      default:
        --at_;
        return Error(absl::StrFormat("type byte 0x%02x is reserved", tag));
    }
  }

 private:
  absl::Status Error(const std::string& what) const {
    return absl::InvalidArgumentError(absl::StrCat("MessagePack offset ", at_, ": ", what));
  }

  absl::StatusOr<uint64_t> Big(int n) {
    if (bytes_.size() - at_ < static_cast<size_t>(n)) {
      return Error(absl::StrCat("truncated, ", n, " bytes wanted, ", bytes_.size() - at_, " left"));
    }
    uint64_t v = 0;
    for (int i = 0; i < n; ++i) v = v << 8 | bytes_[at_++];
    return v;
  }

  absl::StatusOr<MsgValue> Bytes(uint64_t n) {
    if (n > bytes_.size() - at_) {
      return Error(absl::StrCat("truncated, ", n, " bytes wanted, ", bytes_.size() - at_, " left"));
    }
    std::string s(reinterpret_cast<const char*>(bytes_.data() + at_), n);
    at_ += n;
    return MsgValue{std::move(s)};
  }

  absl::StatusOr<MsgValue> SizedBytes(int size_bytes, uint64_t extra) {
    US_ASSIGN_OR_RETURN(const uint64_t n, Big(size_bytes));
    return Bytes(n + extra);
  }

  // Every element takes a byte at least, so a count above what is left is refused before anything is
  // reserved.
  absl::Status CheckCount(uint64_t n, uint64_t bytes_each) const {
    if (n * bytes_each > bytes_.size() - at_) {
      return Error(absl::StrCat(n, " elements announced, ", bytes_.size() - at_, " bytes left"));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<MsgValue> Array(uint64_t n, int depth) {
    US_RETURN_IF_ERROR(CheckCount(n, 1));
    MsgValue::Array out;
    for (uint64_t i = 0; i < n; ++i) {
      US_ASSIGN_OR_RETURN(MsgValue v, Value(depth + 1));
      out.push_back(std::move(v));
    }
    return MsgValue{std::move(out)};
  }

  absl::StatusOr<MsgValue> Map(uint64_t n, int depth) {
    US_RETURN_IF_ERROR(CheckCount(n, 2));
    MsgValue::Map out;
    for (uint64_t i = 0; i < n; ++i) {
      const size_t key_at = at_;
      US_ASSIGN_OR_RETURN(MsgValue key, Value(depth + 1));
      if (key.string() == nullptr) {
        at_ = key_at;
        return Error(absl::StrCat("a map key is ", key.TypeName(), ", expected a string"));
      }
      US_ASSIGN_OR_RETURN(MsgValue v, Value(depth + 1));
      if (!out.emplace(*key.string(), std::move(v)).second) {
        at_ = key_at;
        return Error(absl::StrCat("map key '", *key.string(), "' appears twice"));
      }
    }
    return MsgValue{std::move(out)};
  }

  absl::Span<const uint8_t> bytes_;
  size_t at_ = 0;
};

}  // namespace

const char* MsgValue::TypeName() const {
  constexpr const char* kNames[] = {"nil",     "a boolean", "an integer", "an integer",
                                    "a float", "a string",  "an array",   "a map"};
  return kNames[v.index()];
}

absl::StatusOr<MsgValue> ParseMsgPack(absl::Span<const uint8_t> bytes) {
  Reader reader(bytes);
  US_ASSIGN_OR_RETURN(MsgValue value, reader.Value(0));
  if (reader.at() != bytes.size()) {
    return absl::InvalidArgumentError(absl::StrCat("MessagePack offset ", reader.at(), ": ",
                                                   bytes.size() - reader.at(), " bytes follow the value"));
  }
  return value;
}

}  // namespace understudy::amd
