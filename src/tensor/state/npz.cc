// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/state/npz.h"

#include <cstring>
#include <map>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "src/base/mapped_file.h"
#include "src/base/status.h"
#include "src/tensor/state/byte_reader.h"
#include "src/tensor/state/zip.h"

namespace understudy {
namespace {

using Bytes = absl::Span<const uint8_t>;

// What stands behind 'key': in the header's dict, up to `end`.
absl::StatusOr<std::string> Field(const std::string& what, const std::string& header, const std::string& key,
                                  const std::string& begin, const std::string& end) {
  const size_t at = header.find("'" + key + "': " + begin);
  if (at == std::string::npos)
    return absl::InvalidArgumentError(absl::StrCat(what, ": the header has no ", key));
  const size_t from = at + key.size() + 4 + begin.size(), to = header.find(end, from);
  if (to == std::string::npos)
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", key, " without an end"));
  return header.substr(from, to - from);
}

absl::StatusOr<DType> TypeOf(const std::string& what, const std::string& descr) {
  static const auto* const types = new std::map<std::string, DType>{
      {"|b1", dtypes::kBool},    {"|i1", dtypes::kInt8},    {"|u1", dtypes::kUInt8},
      {"<i2", dtypes::kInt16},   {"<u2", dtypes::kUInt16},  {"<i4", dtypes::kInt32},
      {"<u4", dtypes::kUInt32},  {"<i8", dtypes::kInt64},   {"<u8", dtypes::kUInt64},
      {"<f2", dtypes::kFloat16}, {"<f4", dtypes::kFloat32}, {"<f8", dtypes::kFloat64}};
  const auto it = types->find(descr);
  if (it != types->end()) return it->second;
  return absl::UnimplementedError(absl::StrCat(what, ": elements of '", descr, "'"));
}

absl::StatusOr<Tensor> ReadNpy(const std::string& name, Bytes bytes, const std::string& device) {
  const std::string what = "npz: '" + name + "'";
  state::ByteReader in(bytes, what);
  US_ASSIGN_OR_RETURN(const std::string magic, in.Text(6));
  if (magic != "\x93NUMPY") return in.Error("is no .npy");
  US_ASSIGN_OR_RETURN(const uint8_t major, in.Number<uint8_t>());
  US_RETURN_IF_ERROR(in.Number<uint8_t>().status());
  if (major < 1 || major > 3) return in.Error("version ", static_cast<int>(major), ", expected 1 to 3");
  uint32_t length = 0;
  if (major == 1) {
    US_ASSIGN_OR_RETURN(length, in.Number<uint16_t>());
  } else {
    US_ASSIGN_OR_RETURN(length, in.Number<uint32_t>());
  }
  US_ASSIGN_OR_RETURN(const std::string header, in.Text(length));
  US_ASSIGN_OR_RETURN(const std::string descr, Field(what, header, "descr", "'", "'"));
  US_ASSIGN_OR_RETURN(const std::string fortran, Field(what, header, "fortran_order", "", ","));
  US_ASSIGN_OR_RETURN(const std::string dims, Field(what, header, "shape", "(", ")"));
  US_ASSIGN_OR_RETURN(const DType dtype, TypeOf(what, descr));
  Shape shape;
  for (const auto& part : absl::StrSplit(dims, ',', absl::SkipWhitespace())) {
    int64_t d = 0;
    if (!absl::SimpleAtoi(part, &d)) return in.Error("the shape (", dims, ")");
    shape.push_back(d);
  }
  if (fortran != "False" && shape.size() > 1) return absl::UnimplementedError(what + ": Fortran order");
  US_ASSIGN_OR_RETURN(const uint64_t size, state::CheckedBytes(what, shape, dtype.SizeBytes()));
  US_ASSIGN_OR_RETURN(const Bytes elements, in.Bytes(size));
  return state::FromSpan(elements, dtype, shape, device);
}

}  // namespace

absl::StatusOr<StateDict> ParseNpz(Bytes file, const std::string& device) {
  US_ASSIGN_OR_RETURN(const auto archive, state::ReadZip(file));
  StateDict out;
  for (const auto& [name, bytes] : archive) {
    if (!absl::EndsWith(name, ".npy"))
      return absl::InvalidArgumentError("npz: entry '" + name + "' is no .npy");
    const std::string array = name.substr(0, name.size() - 4);
    US_ASSIGN_OR_RETURN(Tensor t, ReadNpy(array, bytes, device));
    US_RETURN_IF_ERROR(t.status());
    out.push_back({array, std::move(t)});
  }
  return out;
}

absl::StatusOr<StateDict> LoadNpz(const std::string& path, const std::string& device) {
  US_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  return ParseNpz(file.bytes(), device);
}

}  // namespace understudy
