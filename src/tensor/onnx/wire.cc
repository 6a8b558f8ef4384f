// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/onnx/wire.h"

#include <bit>

namespace understudy::onnx {
namespace {

constexpr int kMaxDepth = 100;

// The varint at `at`, or false: it does not end in time.
bool ReadVarint(Bytes bytes, size_t* at, uint64_t* out) {
  uint64_t v = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (*at >= bytes.size()) return false;
    const uint8_t b = bytes[(*at)++];
    if (shift < 64) v |= uint64_t{b & 0x7fu} << shift;
    if ((b & 0x80) == 0) {
      *out = v;
      return true;
    }
  }
  return false;
}

template <class T>
absl::Status AppendVarints(const WireField& f, std::vector<T>* out) {
  if (f.kind == WireKind::kVarint) {
    out->push_back(static_cast<T>(f.value));
    return absl::OkStatus();
  }
  if (f.kind != WireKind::kBytes) return f.Error("is no list of integers");
  for (size_t at = 0; at < f.bytes.size();) {
    uint64_t v = 0;
    if (!ReadVarint(f.bytes, &at, &v)) return f.Error("a packed integer without an end");
    out->push_back(static_cast<T>(v));
  }
  return absl::OkStatus();
}

template <class T, class U>
absl::Status AppendFixed(const WireField& f, WireKind single, std::vector<T>* out) {
  if (f.kind == single) {
    out->push_back(std::bit_cast<T>(static_cast<U>(f.value)));
    return absl::OkStatus();
  }
  if (f.kind != WireKind::kBytes) return f.Error("is no list of floats");
  if (f.bytes.size() % sizeof(T) != 0) {
    return f.Error("a packed list of ", f.bytes.size(), " bytes, expected a multiple of ", sizeof(T));
  }
  const size_t first = out->size();
  out->resize(first + f.bytes.size() / sizeof(T));
  if (!f.bytes.empty()) std::memcpy(out->data() + first, f.bytes.data(), f.bytes.size());
  return absl::OkStatus();
}

}  // namespace

absl::Status WireField::Int(int64_t* out) const {
  if (kind != WireKind::kVarint) return Error("is no integer");
  *out = static_cast<int64_t>(value);
  return absl::OkStatus();
}
absl::Status WireField::Int(int32_t* out) const {
  if (kind != WireKind::kVarint) return Error("is no integer");
  *out = static_cast<int32_t>(value);
  return absl::OkStatus();
}
absl::Status WireField::Ints(std::vector<int64_t>* out) const { return AppendVarints(*this, out); }
absl::Status WireField::Ints(std::vector<int32_t>* out) const { return AppendVarints(*this, out); }
absl::Status WireField::Ints(std::vector<uint64_t>* out) const { return AppendVarints(*this, out); }
absl::Status WireField::Float(float* out) const {
  if (kind != WireKind::kFixed32) return Error("is no float");
  *out = std::bit_cast<float>(static_cast<uint32_t>(value));
  return absl::OkStatus();
}
absl::Status WireField::Floats(std::vector<float>* out) const {
  return AppendFixed<float, uint32_t>(*this, WireKind::kFixed32, out);
}
absl::Status WireField::Doubles(std::vector<double>* out) const {
  return AppendFixed<double, uint64_t>(*this, WireKind::kFixed64, out);
}
absl::Status WireField::Text(std::string* out) const {
  if (kind != WireKind::kBytes) return Error("is no text");
  out->assign(bytes.begin(), bytes.end());
  return absl::OkStatus();
}
absl::Status WireField::Texts(std::vector<std::string>* out) const {
  if (kind != WireKind::kBytes) return Error("is no text");
  out->emplace_back(bytes.begin(), bytes.end());
  return absl::OkStatus();
}
absl::Status WireField::Raw(Bytes* out) const {
  if (kind != WireKind::kBytes) return Error("holds no bytes");
  *out = bytes;
  return absl::OkStatus();
}

absl::Status WireReader::Varint(const char* what, uint64_t* out) {
  if (!ReadVarint(bytes_, &at_, out)) {
    return absl::InvalidArgumentError(
        absl::StrCat("onnx: offset ", offset_ + at_, ": ", message_, ": ", what, " without an end"));
  }
  return absl::OkStatus();
}

absl::Status WireReader::Next(WireField* field) {
  field->message = message_;
  field->offset = offset_ + at_;
  uint64_t tag = 0;
  US_RETURN_IF_ERROR(Varint("a tag", &tag));
  field->number = static_cast<uint32_t>(tag >> 3);
  if (tag >> 3 == 0 || tag >> 3 >= uint64_t{1} << 29) return field->Error("is no field number");
  size_t fixed = 0;
  switch (tag & 7) {
    case 0:
      field->kind = WireKind::kVarint;
      return Varint("an integer", &field->value);
    case 1:
      fixed = 8;
      break;
    case 5:
      fixed = 4;
      break;
    case 2: {
      field->kind = WireKind::kBytes;
      uint64_t n = 0;
      US_RETURN_IF_ERROR(Varint("a length", &n));
      if (n > bytes_.size() - at_) {
        return field->Error("has ", n, " bytes, but ", bytes_.size() - at_, " are left");
      }
      field->bytes = bytes_.subspan(at_, n);
      field->offset = offset_ + at_;
      at_ += n;
      return absl::OkStatus();
    }
    default:
      return field->Error("wire type ", tag & 7, ", expected 0, 1, 2 or 5");
  }
  if (bytes_.size() - at_ < fixed) return field->Error("ends in the middle of a number");
  field->kind = fixed == 8 ? WireKind::kFixed64 : WireKind::kFixed32;
  std::memcpy(&field->value, bytes_.data() + at_, fixed);  // the host is little-endian, as the format
  at_ += fixed;
  return absl::OkStatus();
}

absl::StatusOr<WireReader> WireReader::Inside(const WireField& field, const char* message) const {
  if (field.kind != WireKind::kBytes) return field.Error("is no ", message);
  if (depth_ >= kMaxDepth) return field.Error("messages nest deeper than ", kMaxDepth);
  return WireReader(field.bytes, field.offset, message, depth_ + 1);
}

}  // namespace understudy::onnx
