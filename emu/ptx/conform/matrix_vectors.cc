// SPDX-License-Identifier: Apache-2.0
// The readers of mma_seeded.jsonl and wmma_fragments.jsonl.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "emu/ptx/conform/vector_fields.h"
#include "emu/ptx/conform/vectors.h"
#include "src/base/status.h"

namespace understudy::emu::ptx::conform {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxSamples = 4096;
constexpr int kMaxRegisters = 128;  // of wgmma's m64n256 in f32
constexpr int kMaxElements = 2048;  // whose numbers have 11 bits

bool MatrixType(const std::string& name, Type* type) {
  static constexpr Type kTypes[] = {Type::kF16, Type::kBf16, Type::kTf32, Type::kF32, Type::kF64,
                                    Type::kS32, Type::kS8,   Type::kU8,   Type::kS4,  Type::kU4,
                                    Type::kB1,  Type::kE4m3, Type::kE5m2};
  return FindType(name, type) && std::find(std::begin(kTypes), std::end(kTypes), *type) != std::end(kTypes);
}

// [swizzle, leading, stride, base offset], and where the address starts.
absl::Status GetDescriptor(const Json& line, const char* field, uint64_t* descriptor, int* start) {
  std::vector<int> fields;
  US_RETURN_IF_ERROR(GetInts(line, field, 4, 5, 0, 0x3fff, &fields));
  if (fields[0] > 3 || fields[3] > 7 || (fields.size() > 4 && fields[4] > 1024))
    return Wrong(field, "a swizzle up to 3, a base offset up to 7, a start up to 1024");
  *descriptor = static_cast<uint64_t>(fields[1]) << 16 | static_cast<uint64_t>(fields[2]) << 32 |
                static_cast<uint64_t>(fields[3]) << 49 | static_cast<uint64_t>(fields[0]) << 62;
  *start = fields.size() > 4 ? fields[4] : 0;
  return absl::OkStatus();
}

absl::Status GetWarpgroup(const Json& line, Seeded* seeded) {
  seeded->warpgroup = true;
  const auto a_regs = line.find("a_regs");
  if (!a_regs->is_boolean()) return Wrong("a_regs", "true or false");
  int k, accumulate;
  US_RETURN_IF_ERROR(GetField(line, "k", 8, 1024, &k));
  const int stored = seeded->sparse ? k / 2 : k;
  seeded->registers[1] = a_regs->get<bool>() ? 16 * stored * TypeBits(seeded->types[1]) / 1024 : 0;
  seeded->registers[2] = 0;
  if (seeded->registers[1] > kMaxRegisters) return Wrong("k", "a of at most 128 registers");
  if (!a_regs->get<bool>())
    US_RETURN_IF_ERROR(GetDescriptor(line, "desc_a", &seeded->descriptor_a, &seeded->start_a));
  US_RETURN_IF_ERROR(GetDescriptor(line, "desc_b", &seeded->descriptor_b, &seeded->start_b));
  US_RETURN_IF_ERROR(GetField(line, "scale_d", 0, 1, &accumulate));
  seeded->accumulate = accumulate != 0;
  std::vector<int> scales, transposes;
  US_RETURN_IF_ERROR(GetInts(line, "imm", 2, 2, -1, 1, &scales));
  US_RETURN_IF_ERROR(GetInts(line, "trans", 2, 2, 0, 1, &transposes));
  if (scales[0] == 0 || scales[1] == 0) return Wrong("imm", "1 or -1");
  seeded->scale_a = scales[0];
  seeded->scale_b = scales[1];
  seeded->transpose_a = transposes[0] != 0;
  seeded->transpose_b = transposes[1] != 0;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Seeded> ParseSeeded(const Json& line) {
  Seeded seeded;
  US_RETURN_IF_ERROR(GetString(line, "op", &seeded.op));
  US_RETURN_IF_ERROR(GetString(line, "class", &seeded.input_class));
  static constexpr const char* kClasses[] = {"bits", "narrow", "wide", "edge", "onehot"};
  if (std::find(std::begin(kClasses), std::end(kClasses), seeded.input_class) == std::end(kClasses))
    return Wrong("class", "bits, narrow, wide, edge or onehot");
  const auto types = line.find("types");
  if (types == line.end() || !types->is_array() || types->size() != 4)
    return Wrong("types", "four types: d, a, b, c");
  for (size_t i = 0; i < 4; ++i)
    if (!(*types)[i].is_string() || !MatrixType((*types)[i].get<std::string>(), &seeded.types[i]))
      return Wrong("types", "types of a matrix instruction");
  std::vector<int> registers;
  US_RETURN_IF_ERROR(GetInts(line, "regs", 4, 4, 0, kMaxRegisters, &registers));
  const int order[4] = {3, 0, 1, 2};  // listed as a, b, c, d
  for (int i = 0; i < 4; ++i) seeded.registers[i] = registers[static_cast<size_t>(order[i])];
  int64_t seed;
  US_RETURN_IF_ERROR(GetInt(line["seed"], "seed", 0, INT64_MAX, &seed));
  seeded.seed = static_cast<uint64_t>(seed);
  US_RETURN_IF_ERROR(GetField(line, "first", 0, 1 << 20, &seeded.first));
  if (line.contains("selector")) {
    seeded.sparse = true;
    US_RETURN_IF_ERROR(GetField(line, "selector", 0, 3, &seeded.selector));
  }
  if (const auto hash = line.find("hash"); hash != line.end()) {
    US_RETURN_IF_ERROR(GetHexList(*hash, "hash", &seeded.hashes));
    if (seeded.hashes.empty() || seeded.hashes.size() > kMaxSamples)
      return Wrong("hash", absl::StrCat("1 to ", kMaxSamples, " hex values"));
    seeded.samples = static_cast<int>(seeded.hashes.size());
  } else {
    US_RETURN_IF_ERROR(GetField(line, "samples", 1, kMaxSamples, &seeded.samples));
  }
  if (line.contains("a_regs")) US_RETURN_IF_ERROR(GetWarpgroup(line, &seeded));
  if (seeded.input_class == "onehot") {
    const Type a = seeded.types[1];
    const bool digits = a == Type::kS8 || a == Type::kU8 || a == Type::kS4 || a == Type::kU4 ||
                        a == Type::kTf32 || a == Type::kE4m3;
    if (!digits || a != seeded.types[2] || seeded.warpgroup)
      return Wrong("class", "onehot with s8, u8, s4, u4, tf32 or e4m3 in registers alone");
  }
  return seeded;
}

uint64_t HashRegisters(const uint64_t* values, size_t count, bool is_64) {
  uint64_t h = 0xCBF29CE484222325;
  for (size_t i = 0; i < count; ++i) {
    h = (h ^ (values[i] & 0xffffffff)) * 0x100000001B3;
    if (is_64) h = (h ^ values[i] >> 32) * 0x100000001B3;
  }
  return h;
}

int FragmentPlaces::per_register() const {
  const int bits = TypeBits(type);
  return bits == 1 ? 1 : bits == 64 ? 1 : 32 / bits;
}

absl::StatusOr<FragmentPlaces> ParseFragmentPlaces(const Json& line) {
  FragmentPlaces places;
  US_RETURN_IF_ERROR(GetString(line, "op", &places.op));
  std::istringstream text(places.op);
  std::vector<std::string> part;
  for (std::string one; std::getline(text, one, '.');) part.push_back(one);
  if (part.size() != 8 || part[0] != "wmma" || part[1] != "load" || !MatrixType(part[7], &places.type))
    return Wrong("op", "wmma.load with a layout, a shape and a type");
  if (part[5] != "row" && part[5] != "col") return Wrong("op", "a layout, row or col, before the shape");
  places.by_rows = part[5] == "row";
  US_RETURN_IF_ERROR(GetField(line, "rows", 1, kMaxElements, &places.rows));
  US_RETURN_IF_ERROR(GetField(line, "cols", 1, kMaxElements, &places.cols));
  if (places.rows * places.cols > kMaxElements || places.rows * places.cols % 8 != 0)
    return Wrong("rows", absl::StrCat("at most ", kMaxElements, " elements, a multiple of 8"));
  const Json& elements = line["elements"];
  if (!elements.is_array() || elements.empty() || elements.size() > kMaxRegisters)
    return Wrong("elements", absl::StrCat("1 to ", kMaxRegisters, " registers"));
  places.registers = static_cast<int>(elements.size());
  const auto per = static_cast<size_t>(places.per_register());
  const bool recorded = !elements[0].empty();
  for (const Json& lanes : elements) {
    if (!lanes.is_array() || lanes.size() != (recorded ? 32 : 0))
      return Wrong("elements", "32 lanes a register, or none in all");
    for (const Json& lane : lanes) {
      if (!lane.is_array() || lane.size() != per)
        return Wrong("elements", absl::StrCat(per, " numbers a lane and register"));
      for (const Json& one : lane) {
        int64_t number;
        US_RETURN_IF_ERROR(GetInt(one, "elements", 0, places.rows * places.cols - 1, &number));
        places.elements.push_back(static_cast<uint64_t>(number));
      }
    }
  }
  return places;
}

}  // namespace understudy::emu::ptx::conform
