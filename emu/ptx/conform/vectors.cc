// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/conform/vectors.h"

#include <zstd.h>

#include <cstring>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "emu/ptx/conform/kernel_text.h"
#include "emu/ptx/conform/vector_fields.h"
#include "src/base/file.h"
#include "src/base/status.h"

namespace understudy::emu::ptx::conform {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMaxFileBytes = uint64_t{1} << 30;
const char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

uint64_t Cut(uint64_t value, char kind) {
  if (kind == 'p') return value & 1;
  return RegisterBits(kind) == 64 ? value : value & ((uint64_t{1} << RegisterBits(kind)) - 1);
}

absl::Status Generate(const Json& line, Form* form) {
  int64_t count;
  const auto count_field = line.find("count"), start = line.find("start");
  if (count_field == line.end()) return Wrong("count", "an integer beside \"step\"");
  US_RETURN_IF_ERROR(GetInt(*count_field, "count", 1, kMaxTuples, &count));
  std::vector<uint64_t> steps, starts(form->s.size());
  US_RETURN_IF_ERROR(GetHexList(line["step"], "step", &steps));
  if (start != line.end()) US_RETURN_IF_ERROR(GetHexList(*start, "start", &starts));
  if (steps.size() != form->s.size() || starts.size() != form->s.size())
    return Wrong("step", "a value an operand");
  form->in.assign(steps.size(), std::vector<uint64_t>(static_cast<size_t>(count)));
  for (size_t k = 0; k < steps.size(); ++k)
    for (size_t i = 0; i < form->in[k].size(); ++i)
      form->in[k][i] = Cut(i * steps[k] + starts[k], form->s[k]);
  return absl::OkStatus();
}

absl::StatusOr<Form> ParseForm(const Json& line) {
  Form form;
  std::string d;
  US_RETURN_IF_ERROR(GetString(line, "op", &form.op));
  US_RETURN_IF_ERROR(GetString(line, "d", &d));
  US_RETURN_IF_ERROR(GetString(line, "s", &form.s));
  if (d.size() != 1 || std::strchr("hrlp", d[0]) == nullptr) return Wrong("d", "one of h, r, l, p");
  form.d = d[0];
  if (form.s.size() > 4 || form.s.find_first_not_of("hrlp") != std::string::npos)
    return Wrong("s", "at most four of h, r, l, p");
  if (line.contains("dt")) US_RETURN_IF_ERROR(GetString(line, "dt", &form.dt));
  if (const auto st = line.find("st"); st != line.end()) {
    if (!st->is_array() || st->size() != form.s.size()) return Wrong("st", "a type an operand");
    for (const Json& type : *st) {
      if (!type.is_string()) return Wrong("st", "a type an operand");
      form.st.push_back(type.get<std::string>());
    }
  }
  if (line.contains("step")) {
    US_RETURN_IF_ERROR(Generate(line, &form));
  } else if (const auto in = line.find("in"); in != line.end()) {
    if (!in->is_array() || in->size() != form.s.size()) return Wrong("in", "a list an operand");
    for (const Json& list : *in) {
      form.in.emplace_back();
      US_RETURN_IF_ERROR(GetHexList(list, "in", &form.in.back()));
      if (form.in.back().empty() || form.in.back().size() != form.in[0].size())
        return Wrong("in", "lists of one length");
    }
  }
  if (line.contains("out")) {
    US_RETURN_IF_ERROR(GetHexList(line["out"], "out", &form.out));
    if (form.s.empty() ? form.out.size() > kMaxTuples : form.in.empty() || form.out.size() != form.count())
      return Wrong("out", "a value a tuple");
  }
  if (line.contains("digest")) {
    US_RETURN_IF_ERROR(GetHexList(line["digest"], "digest", &form.digests));
    if (form.digests.size() != (form.count() + kDigestBlock - 1) / kDigestBlock)
      return Wrong("digest", absl::StrCat("a value every ", kDigestBlock, " tuples"));
  }
  return form;
}

absl::StatusOr<Fragment> ParseFragment(const Json& line) {
  Fragment fragment;
  US_RETURN_IF_ERROR(GetString(line, "op", &fragment.op));
  if (line.contains("class")) US_RETURN_IF_ERROR(GetString(line, "class", &fragment.input_class));
  const auto registers = [&](const char* field, Fragment::Registers* out) -> absl::Status {
    const auto it = line.find(field);
    if (it == line.end() || !it->is_array() || it->size() > 64) return Wrong(field, "at most 64 registers");
    for (const Json& list : *it) {
      out->emplace_back();
      US_RETURN_IF_ERROR(GetHexList(list, field, &out->back()));
      if (out->back().size() != 32 && !(out == &fragment.d && out->back().empty()))
        return Wrong(field, "32 lanes a register");
    }
    return absl::OkStatus();
  };
  US_RETURN_IF_ERROR(registers("a", &fragment.a));
  US_RETURN_IF_ERROR(registers("b", &fragment.b));
  US_RETURN_IF_ERROR(registers("c", &fragment.c));
  US_RETURN_IF_ERROR(registers("d", &fragment.d));
  if (const auto e = line.find("e"); e != line.end()) {
    fragment.sparse = true;
    US_RETURN_IF_ERROR(GetHexList(*e, "e", &fragment.e));
    if (fragment.e.size() != 32) return Wrong("e", "32 lanes");
  }
  if (line.contains("selector")) US_RETURN_IF_ERROR(GetField(line, "selector", 0, 3, &fragment.selector));
  return fragment;
}

absl::Status GetDim(const Json& line, const char* field, Dim3* out) {
  const auto it = line.find(field);
  if (it == line.end() || !it->is_array() || it->size() != 3) return Wrong(field, "three numbers");
  int64_t values[3];
  for (size_t i = 0; i < 3; ++i) US_RETURN_IF_ERROR(GetInt((*it)[i], field, 1, 1 << 20, &values[i]));
  *out = {static_cast<uint32_t>(values[0]), static_cast<uint32_t>(values[1]),
          static_cast<uint32_t>(values[2])};
  return absl::OkStatus();
}

absl::StatusOr<WholeKernel> ParseKernel(const Json& line) {
  WholeKernel kernel;
  US_RETURN_IF_ERROR(GetString(line, "ptx", &kernel.launch.ptx));
  US_RETURN_IF_ERROR(GetString(line, "entry", &kernel.launch.entry));
  US_RETURN_IF_ERROR(GetDim(line, "grid", &kernel.launch.grid));
  US_RETURN_IF_ERROR(GetDim(line, "block", &kernel.launch.block));
  if (const auto shared = line.find("shared"); shared != line.end()) {
    int64_t bytes;
    US_RETURN_IF_ERROR(GetInt(*shared, "shared", 0, 1 << 20, &bytes));
    kernel.launch.shared_bytes = static_cast<uint32_t>(bytes);
  }
  const auto params = line.find("params");
  if (params == line.end() || !params->is_array()) return Wrong("params", "a list");
  for (const Json& param : *params) {
    std::string kind;
    if (!param.is_object()) return Wrong("params", "objects");
    US_RETURN_IF_ERROR(GetString(param, "kind", &kind));
    kernel.after.emplace_back();
    if (kind == "buffer") {
      std::string before;
      US_RETURN_IF_ERROR(GetString(param, "before", &before));
      kernel.launch.params.push_back(Param::Buffer(DecodeBase64(before)));
      const auto after = param.find("after");
      kernel.after.back() = after != param.end() && after->is_string()
                                ? DecodeBase64(after->get<std::string>())
                                : kernel.launch.params.back().bytes;
      if (kernel.after.back().size() != kernel.launch.params.back().bytes.size())
        return Wrong("after", "as many bytes as \"before\"");
    } else if (kind == "tensormap") {
      US_ASSIGN_OR_RETURN(Param map, ParseTensorMap(param));
      kernel.launch.params.push_back(std::move(map));
    } else if (const auto value = param.find("value"); value == param.end() || !value->is_number()) {
      return Wrong("value", "a number");
    } else if (kind == "f32") {
      const float number = value->get<float>();
      uint32_t bits;
      std::memcpy(&bits, &number, 4);
      kernel.launch.params.push_back(Param::Scalar(bits));
    } else if (kind == "i32" || kind == "i64") {
      kernel.launch.params.push_back(Param::Scalar(static_cast<uint64_t>(value->get<int64_t>())));
    } else {
      return Wrong("kind", "buffer, tensormap, i32, i64 or f32, not " + kind);
    }
  }
  for (const Param& param : kernel.launch.params)
    if (param.is_tensor_map && (param.of >= params->size() || !kernel.launch.params[param.of].is_buffer))
      return Wrong("of", "the number of a buffer among the parameters");
  return kernel;
}

}  // namespace

std::vector<uint64_t> Digests(const std::vector<uint64_t>& results) {
  std::vector<uint64_t> digests;
  for (size_t i = 0; i < results.size(); ++i) {
    if (i % kDigestBlock == 0) digests.push_back(0xCBF29CE484222325);
    digests.back() = (digests.back() ^ results[i]) * 0x100000001B3;
  }
  return digests;
}

std::vector<uint8_t> DecodeBase64(const std::string& text) {
  std::vector<uint8_t> out;
  uint32_t word = 0;
  int bits = 0;
  for (const char c : text) {
    const char* const at = c == '=' || c == 0 ? nullptr : std::strchr(kAlphabet, c);
    if (at == nullptr) continue;
    word = word << 6 | static_cast<uint32_t>(at - kAlphabet);
    bits += 6;
    if (bits >= 8) out.push_back(static_cast<uint8_t>(word >> (bits -= 8)));
  }
  return out;
}

std::string EncodeBase64(const std::vector<uint8_t>& bytes) {
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    for (size_t j = 0; j < 3; ++j) word = word << 8 | (i + j < bytes.size() ? bytes[i + j] : 0u);
    for (size_t j = 0; j < 4; ++j) out += j > bytes.size() - i ? '=' : kAlphabet[word >> (18 - 6 * j) & 63];
  }
  return out;
}

absl::StatusOr<std::string> ReadVectorFile(const std::string& path) {
  US_ASSIGN_OR_RETURN(std::string data, ReadFile(path));
  if (data.compare(0, 4, "\x28\xb5\x2f\xfd") != 0) return data;
  ZSTD_DStream* const stream = ZSTD_createDStream();
  std::string out, chunk(1 << 20, '\0');
  ZSTD_inBuffer input{data.data(), data.size(), 0};
  size_t left = 1;
  while (input.pos < input.size && !ZSTD_isError(left) && out.size() < kMaxFileBytes) {
    ZSTD_outBuffer output{chunk.data(), chunk.size(), 0};
    left = ZSTD_decompressStream(stream, &output, &input);
    out.append(chunk.data(), output.pos);
  }
  // What the stream still holds back.
  while (!ZSTD_isError(left) && left != 0 && out.size() < kMaxFileBytes) {
    ZSTD_outBuffer output{chunk.data(), chunk.size(), 0};
    left = ZSTD_decompressStream(stream, &output, &input);
    out.append(chunk.data(), output.pos);
    if (output.pos == 0) break;
  }
  ZSTD_freeDStream(stream);
  if (left != 0) return absl::InvalidArgumentError(absl::StrCat(path, ": zstd: the data are cut or damaged"));
  return out;
}

bool LooksLikePtxVectors(const std::string& text) {
  const Json line = Json::parse(text.substr(0, text.find('\n')), nullptr, false);
  return line.is_object() && !line.contains("gfx") && (line.contains("op") || line.contains("ptx"));
}

absl::StatusOr<Vector> ParseVector(const Json& line) {
  if (!line.is_object()) return absl::InvalidArgumentError("expected an object");
  Vector vector;
  if (line.contains("ptx")) {
    if (line.contains("entry") || line.contains("params")) {
      US_ASSIGN_OR_RETURN(vector.what, ParseKernel(line));
    } else {
      ModuleText module;
      US_RETURN_IF_ERROR(GetString(line, "ptx", &module.ptx));
      vector.what = std::move(module);
    }
    if (line.contains("name")) US_RETURN_IF_ERROR(GetString(line, "name", &vector.id));
  } else {
    US_RETURN_IF_ERROR(GetString(line, "op", &vector.id));
    if (line.contains("s")) {
      US_ASSIGN_OR_RETURN(vector.what, ParseForm(line));
    } else if (line.contains("a")) {
      US_ASSIGN_OR_RETURN(vector.what, ParseFragment(line));
    } else if (line.contains("seed")) {
      US_ASSIGN_OR_RETURN(vector.what, ParseSeeded(line));
    } else if (line.contains("elements")) {
      US_ASSIGN_OR_RETURN(vector.what, ParseFragmentPlaces(line));
    } else {
      return absl::InvalidArgumentError(
          "neither an instruction form (\"s\"), nor matrix fragments (\"a\"), a matrix instruction of seeded "
          "inputs (\"seed\") or the places of a fragment (\"elements\"), nor a kernel or a module (\"ptx\")");
    }
  }
  if (const auto source = line.find("source"); source != line.end())
    vector.emulated = source->is_string() && source->get<std::string>() == "emulator";
  if (line.contains("error")) US_RETURN_IF_ERROR(GetString(line, "error", &vector.not_accepted));
  return vector;
}

absl::StatusOr<std::vector<Vector>> ParseVectors(const std::string& text, const std::string& path) {
  std::vector<Vector> vectors;
  std::istringstream in(text);
  int number = 0;
  for (std::string row; std::getline(in, row);) {
    ++number;
    if (row.empty()) continue;
    const Json line = Json::parse(row, nullptr, false);
    absl::StatusOr<Vector> vector =
        line.is_discarded() ? absl::InvalidArgumentError("not JSON") : ParseVector(line);
    if (!vector.ok())
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", number, ": ", std::string(vector.status().message())));
    vector->line = number;
    vectors.push_back(*std::move(vector));
  }
  return vectors;
}

absl::StatusOr<std::vector<Vector>> LoadVectors(const std::string& path) {
  US_ASSIGN_OR_RETURN(const std::string text, ReadVectorFile(path));
  return ParseVectors(text, path);
}

}  // namespace understudy::emu::ptx::conform
