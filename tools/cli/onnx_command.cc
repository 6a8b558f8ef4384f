// SPDX-License-Identifier: Apache-2.0
// `understudy onnx`: what an ONNX model takes, gives and consists of, and a run of it on any device of the
// rig.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/mapped_file.h"
#include "src/base/status.h"
#include "src/tensor/onnx/onnx_model.h"
#include "src/tensor/random.h"
#include "src/tensor/state/npz.h"
#include "tools/cli/command.h"
#include "tools/cli/flags.h"
#include "tools/cli/table.h"
#include "tools/rig/rig.h"

ABSL_FLAG(std::string, inputs, "random", "onnx: 'random', 'zeros', or a file of numpy.savez");
ABSL_FLAG(std::string, device, "CPU", "onnx: REF, CPU, AMD (the mock machine) or NULL (counts only)");
ABSL_FLAG(std::string, sizes, "", "onnx: sizes of named dimensions, as in 'batch=2,length=16' (default: 1)");

namespace understudy::cli {
namespace {

using nlohmann::json;

absl::StatusOr<std::map<std::string, int64_t>> ParseSizes(const std::string& text) {
  std::map<std::string, int64_t> out;
  for (const auto& part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::vector<std::string> pair = absl::StrSplit(part, absl::MaxSplits('=', 1));
    int64_t n = 0;
    if (pair.size() != 2 || !absl::SimpleAtoi(pair[1], &n) || n < 0) {
      return absl::InvalidArgumentError(absl::StrCat("--sizes: '", part, "', expected NAME=NUMBER"));
    }
    out[pair[0]] = n;
  }
  return out;
}

absl::StatusOr<Tensor> MakeInput(const OnnxValueInfo& v, const std::map<std::string, int64_t>& sizes,
                                 bool random, Generator& generator, const std::string& device) {
  if (v.dtype.IsVoid()) {
    return absl::UnimplementedError(
        absl::StrCat("input '", v.name, "' is ", v.type, ": only tensors can be made up"));
  }
  if (v.any_rank)
    return absl::UnimplementedError("input '" + v.name + "' has no declared shape: give it with --inputs");
  Shape shape;
  for (const OnnxDim& d : v.dims) {
    const auto it = sizes.find(d.name);
    shape.push_back(d.size ? *d.size : it == sizes.end() ? 1 : it->second);
  }
  if (!random) return Tensor::Zeros(shape, {v.dtype, device}).Contiguous();
  if (v.dtype.IsFloat()) return Randn(shape, generator, {v.dtype, device}).Contiguous();
  return Randint(0, 2, shape, generator, {dtypes::kInt64, device}).Cast(v.dtype).Contiguous();
}

std::string ShapeText(const Shape& shape) {
  std::string s = "[";
  for (size_t i = 0; i < shape.size(); ++i) absl::StrAppend(&s, i == 0 ? "" : ",", shape[i]);
  return s + "]";
}

// The elements as numbers, of any type.
std::vector<double> Numbers(DType dtype, const std::vector<uint8_t>& bytes) {
  const auto width = static_cast<size_t>(dtype.SizeBytes());
  std::vector<double> out(bytes.size() / width);
  for (size_t i = 0; i < out.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * width, width);
    const ConstValue v = FromBits(dtype, bits);
    const auto* d = std::get_if<double>(&v);
    out[i] = d != nullptr ? *d : static_cast<double>(std::get<int64_t>(v));
  }
  return out;
}

json InfoJson(const std::vector<OnnxValueInfo>& values) {
  json list = json::array();
  for (const OnnxValueInfo& v : values)
    list.push_back({{"name", v.name}, {"type", v.type}, {"optional", v.optional}});
  return list;
}

}  // namespace

absl::StatusOr<int> RunOnnx(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1)
    return absl::InvalidArgumentError("expected one model; see `understudy onnx --help`");
  const std::string device = absl::GetFlag(FLAGS_device), given = absl::GetFlag(FLAGS_inputs);
  US_ASSIGN_OR_RETURN(const auto sizes, ParseSizes(absl::GetFlag(FLAGS_sizes)));
  US_ASSIGN_OR_RETURN(const auto rig, Rig::Create());
  Engine& engine = rig->engine();
  US_RETURN_IF_ERROR(engine.devices().Find(device).status());
  OnnxOptions options;
  options.device = device;
  options.evaluator = [&engine](Tensor& t) { return engine.Bytes(t); };
  US_ASSIGN_OR_RETURN(const OnnxModel model, OnnxModel::Load(arguments[0], options));

  std::map<std::string, Tensor> inputs;
  if (given == "random" || given == "zeros") {
    Generator generator(1);
    for (const OnnxValueInfo& v : model.inputs()) {
      if (v.optional) continue;
      US_ASSIGN_OR_RETURN(inputs[v.name], MakeInput(v, sizes, given == "random", generator, device));
    }
  } else {
    US_ASSIGN_OR_RETURN(const StateDict file, LoadNpz(given, device));
    for (const NamedTensor& t : file) inputs[t.name] = t.tensor;
  }
  const auto start = std::chrono::steady_clock::now();
  US_ASSIGN_OR_RETURN(auto outputs, model.Run(inputs));
  std::vector<std::pair<std::string, std::vector<double>>> values;
  for (const OnnxValueInfo& v : model.outputs()) {
    Tensor& t = outputs.at(v.name);
    if (device == "NULL") {
      US_RETURN_IF_ERROR(engine.Realize(t));
      values.emplace_back(v.name, std::vector<double>());
      continue;
    }
    US_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, engine.Bytes(t));
    values.emplace_back(v.name, Numbers(t.dtype(), bytes));
  }
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();

  const std::map<std::string, int64_t> operators = model.Operators();
  if (absl::GetFlag(FLAGS_json)) {
    json out = {{"inputs", InfoJson(model.inputs())},
                {"outputs", InfoJson(model.outputs())},
                {"operators", operators},
                {"opsets", model.opsets()},
                {"device", device},
                {"milliseconds", ms},
                {"kernels", engine.stats().kernels_launched}};
    for (const auto& [name, v] : values) {
      out["values"][name] = {{"shape", outputs.at(name).shape()}, {"elements", v}};
    }
    std::printf("%s\n", out.dump().c_str());
    return 0;
  }
  Table table({{"", false}, {"name", false}, {"type", false}, {"here", false}});
  for (const OnnxValueInfo& v : model.inputs()) {
    const auto it = inputs.find(v.name);
    table.AddRow({"input", v.name, v.type, it == inputs.end() ? "(default)" : ShapeText(it->second.shape())});
  }
  for (const OnnxValueInfo& v : model.outputs()) {
    table.AddRow({"output", v.name, v.type, ShapeText(outputs.at(v.name).shape())});
  }
  std::printf("%s\noperators:", table.Text().c_str());
  for (const auto& [name, count] : operators)
    std::printf(" %s x%lld", name.c_str(), static_cast<long long>(count));
  std::printf("\n%s: %lld kernels, %s ms with compiling\n", device.c_str(),
              static_cast<long long>(engine.stats().kernels_launched), Short(ms).c_str());
  for (const auto& [name, v] : values) {
    if (v.empty()) continue;
    std::printf("%s:", name.c_str());
    for (size_t i = 0; i < v.size() && i < 8; ++i) std::printf(" %.6g", v[i]);
    std::printf("%s\n", v.size() > 8 ? " ..." : "");
  }
  return 0;
}

}  // namespace understudy::cli
