// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/state/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "src/base/file.h"
#include "src/base/mapped_file.h"
#include "src/base/status.h"

namespace understudy {
namespace {

using nlohmann::json;

constexpr uint64_t kMaxHeader = 100'000'000;

// The format's names, in the order by which its library writes tensors: the last first.
struct Name {
  const char* text;
  Scalar scalar;
};
constexpr Name kNames[] = {
    {"BOOL", Scalar::kBool},
    {"U8", Scalar::kUInt8},
    {"I8", Scalar::kInt8},
    {"F8_E5M2", Scalar::kFloat8E5M2},
    {"F8_E4M3", Scalar::kFloat8E4M3},
    {"F8_E5M2FNUZ", Scalar::kFloat8E5M2Fnuz},
    {"F8_E4M3FNUZ", Scalar::kFloat8E4M3Fnuz},
    {"I16", Scalar::kInt16},
    {"U16", Scalar::kUInt16},
    {"F16", Scalar::kFloat16},
    {"BF16", Scalar::kBFloat16},
    {"I32", Scalar::kInt32},
    {"U32", Scalar::kUInt32},
    {"F32", Scalar::kFloat32},
    {"F64", Scalar::kFloat64},
    {"I64", Scalar::kInt64},
    {"U64", Scalar::kUInt64},
};

template <class... A>
absl::Status Bad(const A&... a) {
  return absl::InvalidArgumentError(absl::StrCat("safetensors: ", a...));
}

int Rank(DType t) {
  for (int i = 0; i < static_cast<int>(std::size(kNames)); ++i) {
    if (kNames[i].scalar == t.scalar) return i;
  }
  return -1;
}

// The header's JSON. The form is at most four deep: names, an entry, its lists, their numbers.
absl::StatusOr<json> ParseHeader(const char* begin, const char* end) {
  std::set<std::string> names;
  std::string fault;
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    if (!fault.empty()) return false;
    if (depth > 4) fault = "nested too deep";
    if (event == json::parse_event_t::key && depth == 1 && !names.insert(value.get<std::string>()).second)
      fault = absl::StrCat("the name ", value.get<std::string>(), " twice");
    return fault.empty();
  };
  json header = json::parse(begin, end, watch, /*allow_exceptions=*/false);
  if (!fault.empty()) return Bad("header: ", fault);
  if (header.is_discarded() || !header.is_object()) return Bad("the header is not a JSON object");
  return header;
}

absl::StatusOr<uint64_t> Unsigned(const std::string& name, const char* what, const json& v) {
  if (!v.is_number_unsigned())
    return Bad(name, ": ", what, " holds something other than an unsigned integer");
  return v.get<uint64_t>();
}

struct Range {
  SafetensorsEntry entry;
  uint64_t begin, end;
};

absl::StatusOr<Range> ParseEntry(const std::string& name, const json& v) {
  if (!v.is_object()) return Bad(name, ": not an object");
  for (const char* field : {"dtype", "shape", "data_offsets"}) {
    if (!v.contains(field)) return Bad(name, ": no ", field);
  }
  if (v.size() != 3) return Bad(name, ": ", v.size(), " fields, expected dtype, shape and data_offsets");
  if (!v["dtype"].is_string()) return Bad(name, ": dtype is not a string");
  const std::string type = v["dtype"].get<std::string>();
  const auto* known =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const Name& n) { return type == n.text; });
  if (known == std::end(kNames)) {
    return absl::UnimplementedError(
        absl::StrCat("safetensors: ", name, ": dtype ", type, " is not known here"));
  }
  Range r;
  r.entry.name = name;
  r.entry.dtype = known->scalar;
  if (!v["shape"].is_array()) return Bad(name, ": shape is not a list");
  for (const json& d : v["shape"]) {
    US_ASSIGN_OR_RETURN(const uint64_t size, Unsigned(name, "shape", d));
    if (size > INT64_MAX) return Bad(name, ": size ", size, " in shape");
    r.entry.shape.push_back(static_cast<int64_t>(size));
  }
  const json& offsets = v["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2) return Bad(name, ": data_offsets is not a pair");
  US_ASSIGN_OR_RETURN(r.begin, Unsigned(name, "data_offsets", offsets[0]));
  US_ASSIGN_OR_RETURN(r.end, Unsigned(name, "data_offsets", offsets[1]));
  US_ASSIGN_OR_RETURN(const uint64_t want, state::CheckedBytes("safetensors: " + name, r.entry.shape,
                                                               r.entry.dtype.ScalarBytes()));
  if (r.end < r.begin || r.end - r.begin != want) {
    return Bad(name, ": data_offsets [", r.begin, ",", r.end, "], expected ", want,
               " bytes for its dtype and shape");
  }
  return r;
}

}  // namespace

absl::StatusOr<SafetensorsFile> ParseSafetensors(absl::Span<const uint8_t> file) {
  uint64_t length = 0;
  if (file.size() < sizeof(length)) return Bad("a file of ", file.size(), " bytes, expected at least 8");
  std::memcpy(&length, file.data(), sizeof(length));
  if (length > kMaxHeader) return Bad("a header of ", length, " bytes, expected at most ", kMaxHeader);
  if (length > file.size() - sizeof(length)) {
    return Bad("a header of ", length, " bytes in a file of ", file.size());
  }
  const char* text = reinterpret_cast<const char*>(file.data()) + sizeof(length);
  if (length == 0 || *text != '{') return Bad("the header does not begin with {");
  US_ASSIGN_OR_RETURN(const json header, ParseHeader(text, text + length));
  const absl::Span<const uint8_t> data = file.subspan(sizeof(length) + length);

  SafetensorsFile out;
  std::vector<Range> ranges;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") {
      if (!value.is_object()) return Bad("__metadata__ is not an object");
      for (const auto& [key, text_value] : value.items()) {
        if (!text_value.is_string()) return Bad("__metadata__: ", key, " is not a string");
        out.metadata[key] = text_value.get<std::string>();
      }
      continue;
    }
    US_ASSIGN_OR_RETURN(Range r, ParseEntry(name, value));
    ranges.push_back(std::move(r));
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
    return std::tie(a.begin, a.end, a.entry.name) < std::tie(b.begin, b.end, b.entry.name);
  });
  uint64_t at = 0;
  for (Range& r : ranges) {
    if (r.begin != at) {
      return Bad(r.entry.name, ": elements begin at ", r.begin, ", expected ", at,
                 ", where those before end (no overlap, no gap)");
    }
    at = r.end;
    if (at > data.size()) return Bad(r.entry.name, ": elements end at ", at, " of ", data.size(), " bytes");
    r.entry.bytes = data.subspan(r.begin, r.end - r.begin);
    if (r.entry.dtype.IsBool()) {
      for (const uint8_t b : r.entry.bytes) {
        if (b > 1) return Bad(r.entry.name, ": a BOOL of value ", static_cast<int>(b), ", expected 0 or 1");
      }
    }
    out.entries.push_back(std::move(r.entry));
  }
  if (at != data.size()) return Bad(data.size() - at, " bytes after the last tensor");
  return out;
}

absl::StatusOr<StateDict> LoadSafetensors(const std::string& path, const std::string& device) {
  US_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  const auto parsed = ParseSafetensors(file.bytes());
  if (!parsed.ok()) {
    return absl::Status(parsed.status().code(),
                        absl::StrCat(path, ": ", std::string(parsed.status().message())));
  }
  StateDict out;
  for (const SafetensorsEntry& e : parsed->entries)
    out.push_back({e.name, state::FromSpan(e.bytes, e.dtype, e.shape, device)});
  return out;
}

absl::StatusOr<std::string> SerializeSafetensors(const std::vector<StoredTensor>& tensors,
                                                 const std::map<std::string, std::string>& metadata) {
  std::vector<const StoredTensor*> order;
  std::set<std::string> names;
  for (const StoredTensor& t : tensors) {
    if (t.name == "__metadata__" || !names.insert(t.name).second)
      return Bad("the name ", t.name, " twice, or reserved");
    if (Rank(t.dtype) < 0) return Bad(t.name, ": dtype ", t.dtype.Name(), " has no name in this format");
    US_ASSIGN_OR_RETURN(const uint64_t want,
                        state::CheckedBytes("safetensors: " + t.name, t.shape, t.dtype.ScalarBytes()));
    if (want != t.bytes.size()) return Bad(t.name, ": ", t.bytes.size(), " bytes, expected ", want);
    order.push_back(&t);
  }
  // The widest types first, so that all are aligned; then by name.
  std::sort(order.begin(), order.end(), [](const StoredTensor* a, const StoredTensor* b) {
    const int ra = Rank(a->dtype), rb = Rank(b->dtype);
    return ra != rb ? ra > rb : a->name < b->name;
  });
  const auto quote = [](const std::string& s) -> absl::StatusOr<std::string> {
    const std::string text = json(s).dump(-1, ' ', false, json::error_handler_t::ignore);
    // What is no UTF-8 is left out by dump, and so does not come back.
    const json back = json::parse(text, nullptr, false);
    if (!back.is_string() || back.get<std::string>() != s)
      return Bad("a name or a metadata text that is no UTF-8");
    return text;
  };
  std::string header = "{";
  if (!metadata.empty()) {
    header += "\"__metadata__\":{";
    for (const auto& [key, value] : metadata) {
      US_ASSIGN_OR_RETURN(const std::string k, quote(key));
      US_ASSIGN_OR_RETURN(const std::string v, quote(value));
      absl::StrAppend(&header, header.back() == '{' ? "" : ",", k, ":", v);
    }
    header += "}";
  }
  uint64_t at = 0;
  for (const StoredTensor* t : order) {
    US_ASSIGN_OR_RETURN(const std::string name, quote(t->name));
    absl::StrAppend(&header, header.size() == 1 ? "" : ",", name, ":{\"dtype\":\"",
                    kNames[Rank(t->dtype)].text, "\",\"shape\":[");
    for (size_t i = 0; i < t->shape.size(); ++i) absl::StrAppend(&header, i == 0 ? "" : ",", t->shape[i]);
    absl::StrAppend(&header, "],\"data_offsets\":[", at, ",", at + t->bytes.size(), "]}");
    at += t->bytes.size();
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');
  if (header.size() > kMaxHeader) return Bad("a header of ", header.size(), " bytes");
  const uint64_t length = header.size();
  std::string out(reinterpret_cast<const char*>(&length), sizeof(length));
  out += header;
  for (const StoredTensor* t : order) out.append(t->bytes.begin(), t->bytes.end());
  return out;
}

absl::Status SaveSafetensors(const std::string& path, const std::vector<StoredTensor>& tensors,
                             const std::map<std::string, std::string>& metadata) {
  US_ASSIGN_OR_RETURN(const std::string bytes, SerializeSafetensors(tensors, metadata));
  return WriteFile(path, bytes);
}

}  // namespace understudy
