// SPDX-License-Identifier: Apache-2.0
// The parameter kind "tensormap" of whole kernels: what cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col is
// given, in its numbers. Whether these may be encoded says the backend.
#include "absl/strings/str_cat.h"
#include "emu/ptx/conform/vector_fields.h"
#include "emu/ptx/conform/vectors.h"
#include "src/base/status.h"

namespace understudy::emu::ptx::conform {
namespace {

using Json = nlohmann::ordered_json;

// A list of `count` numbers.
template <class T>
absl::Status GetList(const Json& line, const char* field, size_t count, int64_t low, int64_t high, T* out) {
  const auto it = line.find(field);
  if (it == line.end() || !it->is_array() || it->size() != count)
    return Wrong(field, absl::StrCat(count, " numbers"));
  for (size_t i = 0; i < count; ++i) {
    int64_t value;
    US_RETURN_IF_ERROR(GetInt((*it)[i], field, low, high, &value));
    out[i] = static_cast<T>(value);
  }
  return absl::OkStatus();
}

template <class T>
absl::Status GetOptional(const Json& line, const char* field, int64_t high, T* out) {
  if (!line.contains(field)) return absl::OkStatus();
  int value;
  US_RETURN_IF_ERROR(GetField(line, field, 0, high, &value));
  *out = static_cast<T>(value);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Param> ParseTensorMap(const Json& line) {
  constexpr int64_t kMost = int64_t{1} << 48, kMostOf32 = 0xffffffff;
  Param param;
  param.is_tensor_map = true;
  TensorMap& map = param.map;
  std::string mode;
  US_RETURN_IF_ERROR(GetString(line, "mode", &mode));
  if (mode != "tiled" && mode != "im2col") return Wrong("mode", "tiled or im2col");
  US_RETURN_IF_ERROR(GetOptional(line, "of", 1000, &param.of));
  US_RETURN_IF_ERROR(GetOptional(line, "type", 255, &map.type));
  US_RETURN_IF_ERROR(GetOptional(line, "interleave", 255, &map.interleave));
  US_RETURN_IF_ERROR(GetOptional(line, "swizzle", 255, &map.swizzle));
  US_RETURN_IF_ERROR(GetOptional(line, "fill", 255, &map.fill));
  US_RETURN_IF_ERROR(GetOptional(line, "promotion", 255, &map.l2_promotion));
  US_RETURN_IF_ERROR(GetOptional(line, "offset", 1 << 30, &map.address));
  const auto dims = line.find("dims");
  if (dims == line.end() || !dims->is_array() || dims->empty() || dims->size() > kMaxTensorRank)
    return Wrong("dims", "1 to 5 numbers");
  const size_t rank = dims->size();
  map.rank = static_cast<int>(rank);
  map.stride[0] = static_cast<uint64_t>(TensorElementBytes(map.type));
  US_RETURN_IF_ERROR(GetList(line, "dims", rank, 0, kMost, map.dim.data()));
  US_RETURN_IF_ERROR(GetList(line, "strides", rank - 1, 0, kMost, map.stride.data() + 1));
  if (line.contains("steps"))
    US_RETURN_IF_ERROR(GetList(line, "steps", rank, 0, kMostOf32, map.element_stride.data()));
  if (mode == "tiled") {
    US_RETURN_IF_ERROR(GetList(line, "box", rank, 0, kMostOf32, map.box.data()));
    return param;
  }
  map.mode = TensorMode::kIm2col;
  if (rank < 3) return Wrong("dims", "3 to 5 numbers");
  US_RETURN_IF_ERROR(GetList(line, "lower", rank - 2, INT32_MIN, INT32_MAX, map.lower.data()));
  US_RETURN_IF_ERROR(GetList(line, "upper", rank - 2, INT32_MIN, INT32_MAX, map.upper.data()));
  int channels, pixels;
  US_RETURN_IF_ERROR(GetField(line, "channels", 0, 1 << 30, &channels));
  US_RETURN_IF_ERROR(GetField(line, "pixels", 0, 1 << 30, &pixels));
  map.channels = static_cast<uint32_t>(channels);
  map.pixels = static_cast<uint32_t>(pixels);
  return param;
}

}  // namespace understudy::emu::ptx::conform
