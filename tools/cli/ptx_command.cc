// SPDX-License-Identifier: Apache-2.0
// `understudy ptx`: a kernel of a PTX file on the emulator, with buffers made up here, and the emulator's
// checks.

#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "emu/ptx/check/global_memory.h"
#include "emu/ptx/conform/ptx_runner.h"
#include "src/base/mapped_file.h"
#include "src/base/status.h"
#include "tools/cli/command.h"
#include "tools/cli/flags.h"

ABSL_DECLARE_FLAG(std::string, check);
ABSL_FLAG(std::string, entry, "", "ptx: the kernel; empty: the only one of the file");
ABSL_FLAG(std::string, grid, "1", "ptx: blocks, as X, XxY or XxYxZ");
ABSL_FLAG(std::string, block, "32", "ptx: threads of a block, as X, XxY or XxYxZ");
ABSL_FLAG(std::string, cluster, "1", "ptx: blocks of a cluster, as X, XxY or XxYxZ");
ABSL_FLAG(std::string, args, "", "ptx: the kernel's parameters in order: numbers, and TYPE[N] for buffers");
ABSL_FLAG(uint32_t, shared, 0, "ptx: bytes of dynamic shared memory");
ABSL_FLAG(uint64_t, schedule, 0, "ptx: not 0: who runs is drawn from this seed");
ABSL_FLAG(uint64_t, budget, uint64_t{1} << 32,
          "ptx: warp instructions after which the launch counts as hung");

namespace understudy::cli {
namespace {

using emu::ptx::CheckReport;
using emu::ptx::CheckSeverity;
using emu::ptx::Dim3;
using nlohmann::ordered_json;

// Elements of each buffer that are printed.
constexpr size_t kShown = 16;

struct Element {
  const char* name;
  int bytes;
  char kind;  // u, s or f
};
constexpr Element kElements[] = {{"u8", 1, 'u'},  {"s8", 1, 's'},  {"u16", 2, 'u'}, {"s16", 2, 's'},
                                 {"u32", 4, 'u'}, {"s32", 4, 's'}, {"f32", 4, 'f'}, {"u64", 8, 'u'},
                                 {"s64", 8, 's'}, {"f64", 8, 'f'}};

struct Buffer {
  std::string text;
  const Element* element = nullptr;
  uint64_t address = 0;
  size_t count = 0;
};

absl::StatusOr<Dim3> ParseDim(const char* flag, const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, 'x');
  uint32_t sizes[3] = {1, 1, 1};
  for (size_t i = 0; i < parts.size(); ++i)
    if (i > 2 || !absl::SimpleAtoi(parts[i], &sizes[i]) || sizes[i] == 0)
      return absl::InvalidArgumentError(absl::StrCat("--", flag, ": '", text, "', expected X, XxY or XxYxZ"));
  return Dim3{sizes[0], sizes[1], sizes[2]};
}

template <class T>
void Put(std::vector<uint8_t>* bytes, size_t index, T value) {
  std::memcpy(bytes->data() + index * sizeof(T), &value, sizeof(T));
}

void Iota(const Element& element, size_t count, std::vector<uint8_t>* bytes) {
  for (size_t i = 0; i < count; ++i) {
    if (element.kind == 'f' && element.bytes == 4) Put(bytes, i, static_cast<float>(i));
    if (element.kind == 'f' && element.bytes == 8) Put(bytes, i, static_cast<double>(i));
    if (element.kind != 'f')
      std::memcpy(bytes->data() + i * static_cast<size_t>(element.bytes), &i,
                  static_cast<size_t>(element.bytes));
  }
}

std::string Value(const Element& element, const uint8_t* at) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<size_t>(element.bytes));
  if (element.kind == 'f') {
    float narrow = 0;
    double wide = 0;
    std::memcpy(&narrow, at, 4);
    if (element.bytes == 8) std::memcpy(&wide, at, 8);
    return absl::StrCat(element.bytes == 4 ? static_cast<double>(narrow) : wide);
  }
  if (element.kind == 'u') return absl::StrCat(bits);
  const int shift = 64 - 8 * element.bytes;
  return absl::StrCat(static_cast<int64_t>(bits << shift) >> shift);
}

// "u32[64]", "f32[8]=iota", "u32[64]=fresh", "12", "0x10", "-1", "1.5" (an f32).
absl::Status AddArgument(const std::string& text, emu::ptx::PtxRunner& runner, emu::ptx::GlobalMemory& global,
                         std::vector<uint64_t>* params, std::vector<Buffer>* buffers) {
  const absl::Status wrong = absl::InvalidArgumentError(
      absl::StrCat("--args: '", text,
                   "', expected a number, TYPE[N], TYPE[N]=iota or TYPE[N]=fresh, where TYPE is "
                   "u8 to u64, s8 to s64, f32 or f64"));
  const size_t open = text.find('[');
  if (open == std::string::npos) {
    int64_t number = 0;
    uint64_t hex = 0;
    float real = 0;
    if (absl::SimpleAtoi(text, &number)) {
      params->push_back(static_cast<uint64_t>(number));
    } else if (text.rfind("0x", 0) == 0 && absl::SimpleHexAtoi(text, &hex)) {
      params->push_back(hex);
    } else if (absl::SimpleAtof(text, &real)) {
      uint32_t bits = 0;
      std::memcpy(&bits, &real, 4);
      params->push_back(bits);
    } else {
      return wrong;
    }
    return absl::OkStatus();
  }
  Buffer buffer;
  buffer.text = text;
  for (const Element& element : kElements)
    if (text.substr(0, open) == element.name) buffer.element = &element;
  const size_t close = text.find(']', open);
  if (buffer.element == nullptr || close == std::string::npos ||
      !absl::SimpleAtoi(text.substr(open + 1, close - open - 1), &buffer.count) || buffer.count == 0 ||
      buffer.count > size_t{1} << 28)
    return wrong;
  const std::string fill = text.substr(close + 1);
  std::vector<uint8_t> bytes(buffer.count * static_cast<size_t>(buffer.element->bytes));
  if (fill == "=iota")
    Iota(*buffer.element, buffer.count, &bytes);
  else if (!fill.empty() && fill != "=fresh")
    return wrong;
  buffer.address = runner.Upload(bytes.data(), bytes.size(), absl::StrCat("argument ", params->size()));
  if (fill == "=fresh") global.Track(buffer.address, bytes.size());
  params->push_back(buffer.address);
  buffers->push_back(buffer);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int> RunPtx(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) return absl::InvalidArgumentError("expected one PTX file");
  US_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(arguments[0]));
  emu::ptx::PtxRunner runner(std::string(file.bytes().begin(), file.bytes().end()));
  if (!runner.status().ok()) return runner.status();
  std::string entry = absl::GetFlag(FLAGS_entry);
  if (entry.empty()) {
    for (const emu::ptx::BoundFunction& function : runner.program().functions()) {
      if (!function.text->is_entry) continue;
      if (!entry.empty())
        return absl::InvalidArgumentError("the file has several kernels: name one with --entry");
      entry = function.text->name;
    }
  }
  std::string error;
  if (!runner.options.checks.Parse(absl::GetFlag(FLAGS_check), &error))
    return absl::InvalidArgumentError("--check: " + error);
  US_ASSIGN_OR_RETURN(const Dim3 grid, ParseDim("grid", absl::GetFlag(FLAGS_grid)));
  US_ASSIGN_OR_RETURN(const Dim3 block, ParseDim("block", absl::GetFlag(FLAGS_block)));
  US_ASSIGN_OR_RETURN(runner.config.cluster, ParseDim("cluster", absl::GetFlag(FLAGS_cluster)));
  runner.config.dynamic_shared_bytes = absl::GetFlag(FLAGS_shared);
  runner.options.seed = absl::GetFlag(FLAGS_schedule);
  runner.options.instruction_budget = absl::GetFlag(FLAGS_budget);
  emu::ptx::GlobalMemory global;
  runner.options.global_memory = &global;
  std::vector<uint64_t> params;
  std::vector<Buffer> buffers;
  const std::vector<std::string> texts = absl::StrSplit(absl::GetFlag(FLAGS_args), ',', absl::SkipEmpty());
  for (const std::string& text : texts)
    US_RETURN_IF_ERROR(AddArgument(text, runner, global, &params, &buffers));
  US_ASSIGN_OR_RETURN(const emu::ptx::LaunchResult result, runner.Run(entry, grid, block, params));
  ordered_json out;
  out["kernel"] = entry;
  out["warp_instructions"] = result.stats.warp_instructions;
  out["findings"] = ordered_json::array();
  const bool as_json = absl::GetFlag(FLAGS_json);
  if (!as_json) std::fputs(runner.printed.c_str(), stdout);
  for (const CheckReport& report : result.reports) {
    const char* severity = report.severity == CheckSeverity::kWarning ? "warning" : "error";
    out["findings"].push_back({{"check", report.check},
                               {"severity", severity},
                               {"message", report.message},
                               {"line", report.where.location.line},
                               {"other_line", report.other.location.line},
                               {"count", report.count}});
    if (!as_json)
      std::printf("%s: %s (%llu times)\n", severity, report.message.c_str(),
                  static_cast<unsigned long long>(report.count));
  }
  out["fault"] = result.ok() ? ordered_json() : ordered_json(result.fault.message);
  if (!as_json && !result.ok()) std::printf("fault: %s\n", result.fault.message.c_str());
  for (const Buffer& buffer : buffers) {
    const size_t width = static_cast<size_t>(buffer.element->bytes), shown = as_json ? buffer.count : kShown;
    const std::vector<uint8_t> bytes = runner.Download(buffer.address, buffer.count * width);
    std::string text;
    ordered_json values = ordered_json::array();
    for (size_t i = 0; i < buffer.count && i < shown; ++i) {
      const std::string value = Value(*buffer.element, bytes.data() + i * width);
      absl::StrAppend(&text, " ", value);
      values.push_back(value);
    }
    out["buffers"].push_back({{"argument", buffer.text}, {"values", values}});
    if (!as_json)
      std::printf("%s:%s%s\n", buffer.text.c_str(), text.c_str(), buffer.count > shown ? " ..." : "");
  }
  if (as_json) {
    out["printed"] = runner.printed;
    std::printf("%s\n", out.dump().c_str());
  }
  return result.ok() ? 0 : 1;
}

}  // namespace understudy::cli
