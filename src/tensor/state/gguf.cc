// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/state/gguf.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "absl/strings/str_cat.h"
#include "src/base/mapped_file.h"
#include "src/base/status.h"
#include "src/tensor/state/byte_reader.h"
#include "src/tensor/state/gguf_blocks.h"

namespace understudy {
namespace {

using state::ByteReader;

constexpr int kMaxListDepth = 4;

// The format's types of metadata.
enum ValueType : uint32_t { kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kString, kList, kU64, kI64, kF64 };

absl::StatusOr<std::string> ReadString(ByteReader& in) {
  US_ASSIGN_OR_RETURN(const uint64_t n, in.Number<uint64_t>());
  return in.Text(n);
}

template <class Stored, class Wide>
absl::StatusOr<GgufValue> ReadNumber(ByteReader& in) {
  US_ASSIGN_OR_RETURN(const Stored v, in.Number<Stored>());
  return GgufValue{static_cast<Wide>(v)};
}

// The fewest bytes that an element can take: a list cannot have more elements than fit.
uint64_t LeastBytes(uint32_t type) {
  switch (type) {
    case kU16:
    case kI16:
      return 2;
    case kU32:
    case kI32:
    case kF32:
      return 4;
    case kU64:
    case kI64:
    case kF64:
    case kString:
      return 8;
    case kList:
      return 12;
    default:
      return 1;
  }
}

absl::StatusOr<GgufValue> ReadValue(ByteReader& in, uint32_t type, int depth) {
  switch (type) {
    case kU8:
      return ReadNumber<uint8_t, uint64_t>(in);
    case kI8:
      return ReadNumber<int8_t, int64_t>(in);
    case kU16:
      return ReadNumber<uint16_t, uint64_t>(in);
    case kI16:
      return ReadNumber<int16_t, int64_t>(in);
    case kU32:
      return ReadNumber<uint32_t, uint64_t>(in);
    case kI32:
      return ReadNumber<int32_t, int64_t>(in);
    case kF32:
      return ReadNumber<float, double>(in);
    case kU64:
      return ReadNumber<uint64_t, uint64_t>(in);
    case kI64:
      return ReadNumber<int64_t, int64_t>(in);
    case kF64:
      return ReadNumber<double, double>(in);
    case kBool: {
      US_ASSIGN_OR_RETURN(const uint8_t v, in.Number<uint8_t>());
      if (v > 1) return in.Error("a bool of value ", static_cast<int>(v));
      return GgufValue{v == 1};
    }
    case kString: {
      US_ASSIGN_OR_RETURN(std::string v, ReadString(in));
      return GgufValue{std::move(v)};
    }
    case kList: {
      if (depth == kMaxListDepth) return in.Error("lists nested more than ", kMaxListDepth, " deep");
      US_ASSIGN_OR_RETURN(const uint32_t of, in.Number<uint32_t>());
      US_ASSIGN_OR_RETURN(const uint64_t n, in.Number<uint64_t>());
      if (n > in.left() / LeastBytes(of))
        return in.Error("a list of ", n, " values in ", in.left(), " bytes");
      GgufList list;
      for (uint64_t i = 0; i < n; ++i) {
        US_ASSIGN_OR_RETURN(GgufValue v, ReadValue(in, of, depth + 1));
        list.push_back(std::move(v));
      }
      return GgufValue{std::move(list)};
    }
    default:
      return in.Error("metadata of type ", type, ", expected 0 to 12");
  }
}

struct Header {
  GgufEntry entry;
  uint64_t offset = 0;
};

absl::StatusOr<Header> ReadHeader(ByteReader& in) {
  Header h;
  US_ASSIGN_OR_RETURN(h.entry.name, ReadString(in));
  US_ASSIGN_OR_RETURN(const uint32_t axes, in.Number<uint32_t>());
  if (axes > 8) return in.Error(h.entry.name, " has ", axes, " axes, expected at most 8");
  for (uint32_t i = 0; i < axes; ++i) {
    US_ASSIGN_OR_RETURN(const uint64_t size, in.Number<uint64_t>());
    if (size > INT64_MAX) return in.Error(h.entry.name, ": size ", size);
    h.entry.shape.insert(h.entry.shape.begin(), static_cast<int64_t>(size));
  }
  US_ASSIGN_OR_RETURN(h.entry.type_number, in.Number<uint32_t>());
  US_ASSIGN_OR_RETURN(h.offset, in.Number<uint64_t>());
  const state::GgufType* type = state::FindGgufType(h.entry.type_number);
  if (type == nullptr) {
    return absl::UnimplementedError(absl::StrCat("gguf: offset ", in.at(), ": ", h.entry.name, " is of type ",
                                                 h.entry.type_number, ", which has no formula here"));
  }
  h.entry.type = type->name;
  h.entry.dtype = type->dtype;
  return h;
}

}  // namespace

const GgufValue* GgufFile::Find(const std::string& key) const {
  for (const auto& [name, value] : metadata) {
    if (name == key) return &value;
  }
  return nullptr;
}

absl::StatusOr<GgufFile> ParseGguf(absl::Span<const uint8_t> file) {
  ByteReader in(file, "gguf");
  US_ASSIGN_OR_RETURN(const std::string magic, in.Text(4));
  if (magic != "GGUF") return absl::InvalidArgumentError("gguf: the file does not begin with GGUF");
  GgufFile out;
  US_ASSIGN_OR_RETURN(out.version, in.Number<uint32_t>());
  if (out.version != 2 && out.version != 3) {
    return absl::UnimplementedError(
        absl::StrCat("gguf: version ", out.version, ", expected 2 or 3 (little-endian)"));
  }
  US_ASSIGN_OR_RETURN(const uint64_t tensors, in.Number<uint64_t>());
  US_ASSIGN_OR_RETURN(const uint64_t values, in.Number<uint64_t>());
  std::set<std::string> seen;
  for (uint64_t i = 0; i < values; ++i) {
    US_ASSIGN_OR_RETURN(std::string key, ReadString(in));
    if (!seen.insert(key).second) return in.Error("the key ", key, " twice");
    US_ASSIGN_OR_RETURN(const uint32_t type, in.Number<uint32_t>());
    US_ASSIGN_OR_RETURN(GgufValue value, ReadValue(in, type, 0));
    out.metadata.emplace_back(std::move(key), std::move(value));
  }
  uint64_t alignment = 32;
  if (const GgufValue* v = out.Find("general.alignment"); v != nullptr) {
    const auto* n = std::get_if<uint64_t>(&v->value);
    if (n == nullptr || *n == 0 || (*n & (*n - 1)) != 0 || *n > (1u << 30))
      return in.Error("general.alignment, expected a power of two up to 2^30");
    alignment = *n;
  }
  std::vector<Header> headers;
  seen.clear();
  for (uint64_t i = 0; i < tensors; ++i) {
    US_ASSIGN_OR_RETURN(Header h, ReadHeader(in));
    if (!seen.insert(h.entry.name).second) return in.Error("the tensor ", h.entry.name, " twice");
    headers.push_back(std::move(h));
  }
  const uint64_t start = (in.at() + alignment - 1) / alignment * alignment;
  for (Header& h : headers) {
    GgufEntry& e = h.entry;
    const state::GgufType& type = *state::FindGgufType(e.type_number);
    const auto elements = state::CheckedElements("gguf: " + e.name, e.shape);
    if (!elements.ok()) return elements.status();
    // Blocks lie along the last axis.
    const int64_t row = e.shape.empty() ? 1 : e.shape.back();
    if (row % type.elements != 0) {
      return in.Error(e.name, ": rows of ", row, " elements of ", e.type, ", expected a multiple of ",
                      type.elements);
    }
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(static_cast<uint64_t>(*elements / type.elements),
                               static_cast<uint64_t>(type.bytes), &bytes))
      return in.Error(e.name, ": more than 2^64 - 1 bytes");
    if (h.offset % alignment != 0)
      return in.Error(e.name, ": offset ", h.offset, " of its elements, expected a multiple of ", alignment);
    if (bytes == 0) {
      out.entries.push_back(std::move(e));
      continue;
    }
    if (start > file.size() || h.offset > file.size() - start || bytes > file.size() - start - h.offset) {
      return in.Error(e.name, ": ", bytes, " bytes of elements at ", h.offset, " after ", start,
                      " in a file of ", file.size());
    }
    e.bytes = file.subspan(start + h.offset, bytes);
    out.entries.push_back(std::move(e));
  }
  return out;
}

absl::StatusOr<std::vector<uint8_t>> GgufElements(const GgufEntry& entry) {
  const state::GgufType* type = state::FindGgufType(entry.type_number);
  if (type == nullptr)
    return absl::UnimplementedError(absl::StrCat("gguf: ", entry.name, ": type ", entry.type_number));
  if (type->widen == nullptr) return std::vector<uint8_t>(entry.bytes.begin(), entry.bytes.end());
  const size_t blocks = entry.bytes.size() / type->bytes;
  std::vector<uint8_t> out(blocks * type->elements * sizeof(float));
  std::vector<float> block(type->elements);
  for (size_t i = 0; i < blocks; ++i) {
    type->widen(entry.bytes.data() + i * type->bytes, block.data());
    std::memcpy(&out[i * block.size() * sizeof(float)], block.data(), block.size() * sizeof(float));
  }
  return out;
}

absl::StatusOr<StateDict> LoadGguf(const std::string& path, const std::string& device) {
  US_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  const auto parsed = ParseGguf(file.bytes());
  if (!parsed.ok())
    return absl::Status(parsed.status().code(),
                        absl::StrCat(path, ": ", std::string(parsed.status().message())));
  StateDict out;
  for (const GgufEntry& e : parsed->entries) {
    US_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, GgufElements(e));
    out.push_back({e.name, Tensor::FromBytes(std::move(bytes), e.dtype, e.shape, device)});
  }
  return out;
}

}  // namespace understudy
