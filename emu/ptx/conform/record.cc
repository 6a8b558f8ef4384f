// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/conform/record.h"

#include <cstdio>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "emu/ptx/conform/conform.h"
#include "emu/ptx/conform/inputs.h"
#include "emu/ptx/conform/vectors.h"
#include "src/base/status.h"

namespace understudy::emu::ptx::conform {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxError = 400;

Json HexList(const std::vector<uint64_t>& values) {
  Json list = Json::array();
  for (const uint64_t value : values) list.push_back(absl::StrFormat("%x", value));
  return list;
}

absl::Status DrawForm(Json* line, const RecordOptions& options) {
  Json lists = Json::array();
  size_t samples = options.samples;
  if (const auto own = line->find("samples"); own != line->end()) {
    if (!own->is_number_unsigned() || own->get<uint64_t>() > (1 << 20))
      return absl::InvalidArgumentError("\"samples\": expected a number up to 1048576");
    samples = own->get<size_t>();
  }
  const auto types = line->find("st");
  if (types == line->end() || !types->is_array())
    return absl::InvalidArgumentError("\"st\": expected a type an operand to draw inputs for");
  int operand = 0;
  for (const Json& type : *types) {
    if (!type.is_string()) return absl::InvalidArgumentError("\"st\": expected a type an operand");
    US_ASSIGN_OR_RETURN(const std::vector<uint64_t> values,
                        DrawInputs(type.get<std::string>(), operand++, samples, options.seed));
    lists.push_back(HexList(values));
  }
  (*line)["in"] = std::move(lists);
  return absl::OkStatus();
}

void Fill(const Form&, const std::vector<uint64_t>& got, Json* line) {
  if (line->contains("step"))
    (*line)["digest"] = HexList(Digests(got));
  else
    (*line)["out"] = HexList(got);
}

void Fill(const Fragment& fragment, const std::vector<uint64_t>& got, Json* line) {
  Json registers = Json::array();
  const int digits = fragment.op.find("f64") != std::string::npos ? 16 : 8;
  for (size_t i = 0; i < got.size(); i += 32) {
    registers.push_back(Json::array());
    for (size_t lane = 0; lane < 32; ++lane)
      registers.back().push_back(absl::StrFormat("%0*x", digits, got[i + lane]));
  }
  (*line)["d"] = std::move(registers);
}

void Fill(const Seeded& seeded, const std::vector<uint64_t>& got, Json* line) {
  Json list = Json::array();
  for (const uint64_t hash : Hashes(seeded, got)) list.push_back(absl::StrFormat("%016x", hash));
  (*line)["hash"] = std::move(list);
}

void Fill(const FragmentPlaces& places, const std::vector<uint64_t>& got, Json* line) {
  const auto per = static_cast<size_t>(places.per_register());
  Json registers = Json::array();
  for (size_t i = 0; i < got.size(); i += per) {
    if (i % (32 * per) == 0) registers.push_back(Json::array());
    registers.back().push_back(std::vector<uint64_t>(got.begin() + static_cast<ptrdiff_t>(i),
                                                     got.begin() + static_cast<ptrdiff_t>(i + per)));
  }
  (*line)["elements"] = std::move(registers);
}

void Fill(const ModuleText&, const std::vector<uint64_t>&, Json*) {}  // it loads, or has "error"

void Fill(const WholeKernel& kernel, const std::vector<uint64_t>& got, Json* line) {
  size_t word = 0;
  for (size_t p = 0; p < kernel.launch.params.size(); ++p) {
    if (!kernel.launch.params[p].is_buffer) continue;
    std::vector<uint8_t> bytes(kernel.launch.params[p].bytes.size());
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<uint8_t>(got[word + i / 4] >> (i % 4 * 8));
    word += (bytes.size() + 3) / 4;
    if (bytes != kernel.launch.params[p].bytes) {
      (*line)["params"][p]["out"] = true;
      (*line)["params"][p]["after"] = EncodeBase64(bytes);
    }
  }
}

}  // namespace

absl::StatusOr<Json> RecordLine(Json line, Backend& backend, const RecordOptions& options) {
  if (!line.is_object()) return absl::InvalidArgumentError("expected an object");
  for (const char* field : {"out", "digest", "error", "source"}) line.erase(field);
  const bool draws = line.contains("s") && !line.contains("in") && !line.contains("step");
  if (draws) US_RETURN_IF_ERROR(DrawForm(&line, options));
  US_ASSIGN_OR_RETURN(const Vector vector, ParseVector(line));
  line.erase("samples");
  const absl::StatusOr<std::vector<uint64_t>> got = Evaluate(vector, backend);
  if (!got.ok()) {
    // A failure that is not the vector's ends the recording.
    const Outcome outcome = OutcomeOf(got.status());
    if (outcome.verdict == Outcome::Verdict::kError) return got.status();
    if (draws) line.erase("in");
    line["error"] = absl::StrCat(VerdictName(outcome.verdict), ": ", outcome.reason.substr(0, kMaxError));
  } else {
    std::visit([&](const auto& what) { Fill(what, *got, &line); }, vector.what);
  }
  if (!backend.is_hardware()) line["source"] = "emulator";
  return line;
}

absl::StatusOr<RecordCounts> RecordFile(const std::string& in_path, const std::string& out_path,
                                        Backend& backend, const RecordOptions& options) {
  US_ASSIGN_OR_RETURN(const std::string text, ReadVectorFile(in_path));
  std::FILE* const out = std::fopen(out_path.c_str(), "wb");
  if (out == nullptr) return absl::NotFoundError(absl::StrCat(out_path, ": cannot be written"));
  RecordCounts counts;
  std::istringstream in(text);
  int number = 0;
  absl::Status status;
  for (std::string row; status.ok() && std::getline(in, row);) {
    ++number;
    if (row.empty()) continue;
    const Json line = Json::parse(row, nullptr, false);
    const absl::StatusOr<Json> recorded =
        line.is_discarded() ? absl::InvalidArgumentError("not JSON") : RecordLine(line, backend, options);
    if (!recorded.ok()) {
      status = absl::Status(recorded.status().code(), absl::StrCat(in_path, ":", number, ": ",
                                                                   std::string(recorded.status().message())));
      break;
    }
    ++(recorded->contains("error") ? counts.errors : counts.recorded);
    const std::string bytes = recorded->dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (std::fwrite(bytes.data(), 1, bytes.size(), out) != bytes.size())
      status = absl::InternalError(absl::StrCat(out_path, ": cannot be written"));
  }
  if (std::fclose(out) != 0 && status.ok())
    status = absl::InternalError(absl::StrCat(out_path, ": cannot be written"));
  if (!status.ok()) return status;
  return counts;
}

}  // namespace understudy::emu::ptx::conform
