// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/search/compile_protocol.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/runtime/search/target_text.h"
#include "src/uop/print.h"

namespace understudy {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostBytes = size_t{256} << 20;
constexpr size_t kHeader = 8;

std::string Text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Runs `read`, in which the library tells wrong types by exceptions.
template <class Read>
auto Checked(const char* what, Read read) -> decltype(read()) {
  try {
    return read();
  } catch (const Json::exception& e) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", e.what()));
  }
}

}  // namespace

std::string EncodeFrame(const Frame& frame) {
  std::string out(kHeader, '\0');
  auto* at = reinterpret_cast<uint8_t*>(out.data());
  StoreLE<uint32_t>(at, static_cast<uint32_t>(frame.json.size()));
  StoreLE<uint32_t>(at + 4, static_cast<uint32_t>(frame.bytes.size()));
  return absl::StrCat(out, frame.json, frame.bytes);
}

absl::StatusOr<std::optional<Frame>> TakeFrame(std::string* buffer) {
  if (buffer->size() < kHeader) return std::nullopt;
  const auto* at = reinterpret_cast<const uint8_t*>(buffer->data());
  const size_t json = LoadLE<uint32_t>(at), bytes = LoadLE<uint32_t>(at + 4);
  if (json + bytes > kMostBytes)
    return absl::InvalidArgumentError(
        absl::StrCat("a frame of ", json, " and ", bytes, " bytes, at most ", kMostBytes));
  if (buffer->size() < kHeader + json + bytes) return std::nullopt;
  Frame frame{buffer->substr(kHeader, json), buffer->substr(kHeader + json, bytes)};
  buffer->erase(0, kHeader + json + bytes);
  return frame;
}

Frame EncodeJob(const std::string& kernel, const std::string& target, const ChoiceList& choices,
                double seconds) {
  return {
      Text(Json{
          {"kernel", kernel}, {"target", target}, {"choices", ChoicesText(choices)}, {"seconds", seconds}}),
      ""};
}

absl::StatusOr<CompileJob> DecodeJob(const Frame& frame) {
  const Json json = Json::parse(frame.json, nullptr, false);
  return Checked("compile job", [&]() -> absl::StatusOr<CompileJob> {
    CompileJob job;
    US_ASSIGN_OR_RETURN(job.kernel, uop::Parse(json.at("kernel").get<std::string>()));
    US_ASSIGN_OR_RETURN(job.target, ParseTarget(json.at("target").get<std::string>()));
    US_ASSIGN_OR_RETURN(job.choices, ParseChoices(json.at("choices").get<std::string>()));
    job.seconds = json.at("seconds").get<double>();
    return job;
  });
}

Frame EncodeAnswer(const absl::StatusOr<CompiledKernel>& answer) {
  if (!answer.ok()) {
    return {Text(Json{{"error", static_cast<int>(answer.status().code())},
                      {"message", std::string(answer.status().message())}}),
            ""};
  }
  const CompiledKernel& k = *answer;
  Json params = Json::array(), vars = Json::array();
  for (const KernelParam& p : k.params)
    params.push_back(Json::array({p.position, p.dtype.Name(), p.read, p.written}));
  for (const VarArg& v : k.vars) vars.push_back(Json::array({v.name, v.min, v.max}));
  return {Text(Json{{"name", k.name},
                    {"text", k.text},
                    {"global", k.global},
                    {"local", k.local},
                    {"local_bytes", k.local_bytes},
                    {"params", params},
                    {"vars", vars}}),
          std::string(k.code.begin(), k.code.end())};
}

absl::StatusOr<CompiledKernel> DecodeAnswer(const Frame& frame) {
  const Json json = Json::parse(frame.json, nullptr, false);
  return Checked("compile worker's answer", [&]() -> absl::StatusOr<CompiledKernel> {
    if (!json.is_object()) return absl::InvalidArgumentError("compile worker's answer: not a JSON object");
    if (json.contains("error")) {
      const int code = json.at("error").get<int>();
      if (code < 1 || code > 16)
        return absl::InvalidArgumentError(absl::StrCat("compile worker's answer: status code ", code));
      return absl::Status(static_cast<absl::StatusCode>(code), json.at("message").get<std::string>());
    }
    CompiledKernel k;
    k.name = json.at("name").get<std::string>();
    k.text = json.at("text").get<std::string>();
    k.code.assign(frame.bytes.begin(), frame.bytes.end());
    json.at("global").get_to(k.global);
    json.at("local").get_to(k.local);
    json.at("local_bytes").get_to(k.local_bytes);
    for (const Json& p : json.at("params")) {
      US_ASSIGN_OR_RETURN(const DType type, ParseDType(p.at(1).get<std::string>()));
      k.params.push_back({p.at(0).get<int64_t>(), type, p.at(2).get<bool>(), p.at(3).get<bool>()});
    }
    for (const Json& v : json.at("vars"))
      k.vars.push_back({v.at(0).get<std::string>(), v.at(1).get<int64_t>(), v.at(2).get<int64_t>()});
    return k;
  });
}

}  // namespace understudy
