// SPDX-License-Identifier: Apache-2.0
#pragma once
// Little-endian numbers and strings out of untrusted bytes: each read says whether it fits, and never looks
// past the end. The readers of files of weights use it.

#include <cstdint>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "src/base/status.h"

namespace understudy::state {

class ByteReader {
 public:
  // `what` opens every error.
  ByteReader(absl::Span<const uint8_t> bytes, std::string what, size_t at = 0)
      : bytes_(bytes), what_(std::move(what)), at_(at) {}

  size_t at() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }
  bool AtEnd() const { return left() == 0; }

  template <class T>
  absl::StatusOr<T> Number() {
    US_ASSIGN_OR_RETURN(const auto span, Bytes(sizeof(T)));
    T v;
    std::memcpy(&v, span.data(), sizeof(T));
    return v;
  }
  absl::StatusOr<absl::Span<const uint8_t>> Bytes(uint64_t n) {
    if (n > left()) return Error("needs ", n, " bytes, but ", left(), " are left");
    const auto span = bytes_.subspan(at_, n);
    at_ += n;
    return span;
  }
  absl::StatusOr<std::string> Text(uint64_t n) {
    US_ASSIGN_OR_RETURN(const auto span, Bytes(n));
    return std::string(span.begin(), span.end());
  }
  // Up to a newline, which is consumed.
  absl::StatusOr<std::string> Line() {
    const void* end = left() == 0 ? nullptr : std::memchr(bytes_.data() + at_, '\n', left());
    if (end == nullptr) return Error("a line without an end");
    const auto n = static_cast<size_t>(static_cast<const uint8_t*>(end) - (bytes_.data() + at_));
    US_ASSIGN_OR_RETURN(std::string line, Text(n));
    ++at_;
    return line;
  }

  template <class... A>
  absl::Status Error(const A&... a) const {
    return absl::InvalidArgumentError(absl::StrCat(what_, ": offset ", at_, ": ", a...));
  }

 private:
  absl::Span<const uint8_t> bytes_;
  std::string what_;
  size_t at_;
};

}  // namespace understudy::state
