// SPDX-License-Identifier: Apache-2.0
#pragma once
// Protocol Buffers' wire format (protobuf.dev/programming-guides/encoding), read from untrusted bytes: fields
// one after the other, each checked against the end, nothing copied but what is asked for. The ONNX reader
// uses it. It reads no schema: a caller says by number and kind what it expects and skips the rest. A reader
// of its own, because libprotobuf would be generated and linked into every build, copies weights instead of
// pointing into the mapped file, and refuses messages beyond 2 GB.

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "src/base/status.h"

namespace understudy::onnx {

using Bytes = absl::Span<const uint8_t>;

enum class WireKind : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// A field of the message `message`. The functions check the kind and store the value, or append it to a list
// (both the packed and the single form).
struct WireField {
  const char* message;
  size_t offset;  // in the file
  uint32_t number;
  WireKind kind;
  uint64_t value = 0;  // of numbers
  Bytes bytes;         // of kBytes

  absl::Status Int(int64_t* out) const;
  absl::Status Int(int32_t* out) const;
  absl::Status Ints(std::vector<int64_t>* out) const;
  absl::Status Ints(std::vector<int32_t>* out) const;
  absl::Status Ints(std::vector<uint64_t>* out) const;
  absl::Status Float(float* out) const;
  absl::Status Floats(std::vector<float>* out) const;
  absl::Status Doubles(std::vector<double>* out) const;
  absl::Status Text(std::string* out) const;
  absl::Status Texts(std::vector<std::string>* out) const;
  absl::Status Raw(Bytes* out) const;

  template <class... A>
  absl::Status Error(const A&... a) const {
    return absl::InvalidArgumentError(
        absl::StrCat("onnx: offset ", offset, ": ", message, " field ", number, ": ", a...));
  }
};

// The fields of one message.
class WireReader {
 public:
  // `offset`: where the bytes start in the file.
  WireReader(Bytes bytes, size_t offset, const char* message, int depth = 0)
      : bytes_(bytes), offset_(offset), message_(message), depth_(depth) {}

  // Calls `f` (WireField -> Status) for every field, in order.
  template <class F>
  absl::Status Each(const F& f) {
    while (at_ < bytes_.size()) {
      WireField field;
      US_RETURN_IF_ERROR(Next(&field));
      US_RETURN_IF_ERROR(f(field));
    }
    return absl::OkStatus();
  }
  // The message inside a field; messages nest 100 deep at most (protobuf's own limit).
  absl::StatusOr<WireReader> Inside(const WireField& field, const char* message) const;

 private:
  absl::Status Next(WireField* field);
  absl::Status Varint(const char* what, uint64_t* out);

  Bytes bytes_;
  size_t offset_;
  const char* message_;
  int depth_;
  size_t at_ = 0;
};

}  // namespace understudy::onnx
