// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/onnx/onnx_model.h"

#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/base/mapped_file.h"
#include "src/tensor/internal.h"
#include "src/tensor/onnx/node.h"
#include "src/tensor/onnx/runner.h"

namespace understudy {

using onnx::ValueRef;

struct OnnxModel::Impl {
  OnnxOptions options;
  std::optional<MappedFile> file;
  std::vector<uint8_t> owned;
  std::string folder;
  bool has_folder = false;
  onnx::ModelProto model;
  std::vector<OnnxValueInfo> inputs, outputs;
  onnx::Scope initial;  // initialisers by name
};

namespace {

OnnxValueInfo InfoOf(const onnx::ValueInfoProto& v) {
  OnnxValueInfo info;
  info.name = v.name;
  info.type = onnx::TypeText(v.type);
  if (v.type.kind != onnx::TypeProto::Kind::kTensor) return info;
  info.dtype = onnx::HeldIn(static_cast<onnx::ElemType>(v.type.elem_type));
  info.any_rank = !v.type.dims.has_value();
  if (v.type.dims) {
    for (const onnx::Dimension& d : *v.type.dims) info.dims.push_back({d.value, d.param});
  }
  return info;
}

// The part of the file beside the model that a tensor names.
absl::StatusOr<onnx::Bytes> ExternalBytes(const onnx::TensorProto& t, const std::string& folder,
                                          std::map<std::string, MappedFile>& files) {
  const auto bad = [&](const auto&... a) {
    return absl::InvalidArgumentError(absl::StrCat("onnx: tensor '", t.name, "': ", a...));
  };
  const auto field = [&](const char* key) {
    const auto it = t.external_data.find(key);
    return it == t.external_data.end() ? std::string() : it->second;
  };
  const std::string location = field("location");
  // Nothing outside the model's folder is opened.
  if (location.empty() || location[0] == '/' || location.find('\\') != std::string::npos ||
      ("/" + location + "/").find("/../") != std::string::npos) {
    return bad("external data in '", location, "', expected a path below the model's folder");
  }
  auto it = files.find(location);
  if (it == files.end()) {
    US_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(folder + "/" + location));
    it = files.emplace(location, std::move(file)).first;
  }
  uint64_t offset = 0, length = 0;
  if (!field("offset").empty() && !absl::SimpleAtoi(field("offset"), &offset)) {
    return bad("offset '", field("offset"), "' is no number");
  }
  const uint64_t size = it->second.bytes().size();
  if (offset > size) return bad("offset ", offset, " in a file of ", size, " bytes");
  length = size - offset;
  if (!field("length").empty() && !absl::SimpleAtoi(field("length"), &length)) {
    return bad("length '", field("length"), "' is no number");
  }
  if (length > size - offset) return bad("bytes ", offset, " to ", offset + length, " of a file of ", size);
  return it->second.bytes().subspan(offset, length);
}

void CountOperators(const std::vector<onnx::NodeProto>& nodes, std::map<std::string, int64_t>& out) {
  for (const onnx::NodeProto& n : nodes) {
    ++out[n.domain.empty() ? n.op_type : n.domain + "." + n.op_type];
    for (const onnx::AttributeProto& a : n.attributes) {
      if (a.g) CountOperators(a.g->nodes, out);
    }
  }
}

// Checks a tensor against what the graph declares; `named` are the sizes that names stand for.
absl::Status CheckInput(const OnnxValueInfo& info, const Tensor& t, std::map<std::string, int64_t>& named) {
  US_RETURN_IF_ERROR(t.status());
  const auto bad = [&](const auto&... a) {
    return absl::InvalidArgumentError(absl::StrCat("onnx: input '", info.name, "': ", a...));
  };
  if (info.dtype.IsVoid()) return bad("is declared as ", info.type, ", given a tensor");
  if (t.dtype() != info.dtype) return bad("elements of ", t.dtype().Name(), ", expected ", info.dtype.Name());
  if (info.any_rank) return absl::OkStatus();
  const std::string shape = tensor_internal::Text(t.shape());
  if (t.shape().size() != info.dims.size()) return bad("shape ", shape, ", expected ", info.type);
  for (size_t i = 0; i < info.dims.size(); ++i) {
    const OnnxDim& d = info.dims[i];
    if (d.size && *d.size != t.shape()[i]) return bad("shape ", shape, ", expected ", info.type);
    if (d.size || d.name.empty()) continue;
    const auto [it, is_new] = named.emplace(d.name, t.shape()[i]);
    if (!is_new && it->second != t.shape()[i]) {
      return bad("shape ", shape, " with ", d.name, " = ", t.shape()[i], ", elsewhere it is ", it->second);
    }
  }
  return absl::OkStatus();
}

}  // namespace

OnnxModel::OnnxModel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
OnnxModel::OnnxModel(OnnxModel&&) noexcept = default;
OnnxModel& OnnxModel::operator=(OnnxModel&&) noexcept = default;
OnnxModel::~OnnxModel() = default;

absl::StatusOr<OnnxModel> OnnxModel::Make(std::unique_ptr<Impl> impl) {
  onnx::ModelProto& model = impl->model;
  US_ASSIGN_OR_RETURN(model, onnx::ParseModel(impl->file ? impl->file->bytes() : onnx::Bytes(impl->owned)));
  if (!model.graph) return absl::InvalidArgumentError("onnx: the file has no graph");
  if (model.opsets.empty()) model.opsets[""] = 1;  // files of IR version 1 and 2
  const onnx::GraphProto& graph = *model.graph;
  std::map<std::string, MappedFile> external;
  for (const onnx::TensorProto& t : graph.initializers) {
    std::optional<onnx::Bytes> bytes;
    if (t.external) {
      if (!impl->has_folder) {
        return absl::InvalidArgumentError("onnx: tensor '" + t.name +
                                          "' has external data, but the model has no folder");
      }
      US_ASSIGN_OR_RETURN(bytes, ExternalBytes(t, impl->folder, external));
    }
    US_ASSIGN_OR_RETURN(std::vector<uint8_t> elements, onnx::Elements(t, bytes));
    Tensor tensor =
        Tensor::FromBytes(std::move(elements), onnx::HeldIn(t.type()), t.dims, impl->options.device);
    US_RETURN_IF_ERROR(tensor.status());
    impl->initial.values[t.name] = onnx::Value::Of(std::move(tensor), t.type());
  }
  for (const onnx::ValueInfoProto& v : graph.inputs) {
    impl->inputs.push_back(InfoOf(v));
    impl->inputs.back().optional = impl->initial.values.contains(v.name);
  }
  for (const onnx::ValueInfoProto& v : graph.outputs) impl->outputs.push_back(InfoOf(v));
  return OnnxModel(std::move(impl));
}

absl::StatusOr<OnnxModel> OnnxModel::Load(const std::string& path, OnnxOptions options) {
  auto impl = std::make_unique<Impl>();
  impl->options = std::move(options);
  US_ASSIGN_OR_RETURN(impl->file, MappedFile::Open(path));
  const size_t slash = path.rfind('/');
  impl->folder = slash == std::string::npos ? "." : path.substr(0, slash);
  impl->has_folder = true;
  return Make(std::move(impl));
}

absl::StatusOr<OnnxModel> OnnxModel::Parse(std::vector<uint8_t> bytes, OnnxOptions options) {
  auto impl = std::make_unique<Impl>();
  impl->options = std::move(options);
  impl->owned = std::move(bytes);
  return Make(std::move(impl));
}

const std::vector<OnnxValueInfo>& OnnxModel::inputs() const { return impl_->inputs; }
const std::vector<OnnxValueInfo>& OnnxModel::outputs() const { return impl_->outputs; }
std::map<std::string, int64_t> OnnxModel::opsets() const { return impl_->model.opsets; }

std::map<std::string, int64_t> OnnxModel::Operators() const {
  std::map<std::string, int64_t> out;
  CountOperators(impl_->model.graph->nodes, out);
  for (const onnx::FunctionProto& f : impl_->model.functions) CountOperators(f.nodes, out);
  return out;
}

absl::StatusOr<std::map<std::string, ValueRef>> OnnxModel::RunValues(
    const std::map<std::string, ValueRef>& inputs) const {
  std::map<std::string, int64_t> named;
  std::vector<ValueRef> values;
  std::set<std::string> used;
  for (const OnnxValueInfo& info : impl_->inputs) {
    const auto it = inputs.find(info.name);
    if (it == inputs.end() || it->second == nullptr) {
      if (!info.optional)
        return absl::InvalidArgumentError("onnx: input '" + info.name + "' (" + info.type + ") is missing");
      values.push_back(impl_->initial.values.at(info.name));
      continue;
    }
    used.insert(info.name);
    if (it->second->kind == onnx::Value::Kind::kTensor && info.type.rfind("optional", 0) != 0) {
      US_RETURN_IF_ERROR(CheckInput(info, it->second->tensor, named));
    }
    values.push_back(it->second);
  }
  for (const auto& [name, value] : inputs) {
    if (!used.contains(name))
      return absl::InvalidArgumentError("onnx: the graph has no input '" + name + "'");
  }
  onnx::Runner runner(impl_->model, impl_->options.device, impl_->options.evaluator, impl_->options.seed);
  onnx::Frame frame;
  frame.opsets = &impl_->model.opsets;
  US_ASSIGN_OR_RETURN(const auto out, runner.RunGraph(*impl_->model.graph, frame, &impl_->initial, values));
  std::map<std::string, ValueRef> result;
  for (size_t i = 0; i < out.size(); ++i) result[impl_->outputs[i].name] = out[i];
  return result;
}

absl::StatusOr<std::map<std::string, Tensor>> OnnxModel::Run(
    const std::map<std::string, Tensor>& inputs) const {
  std::map<std::string, ValueRef> values;
  for (const auto& [name, tensor] : inputs) {
    onnx::ElemType type = onnx::ElemTypeOf(tensor.dtype());
    for (const onnx::ValueInfoProto& v : impl_->model.graph->inputs) {
      if (v.name == name && v.type.kind == onnx::TypeProto::Kind::kTensor) {
        type = static_cast<onnx::ElemType>(v.type.elem_type);
      }
    }
    values[name] = onnx::Value::Of(tensor, type);
  }
  US_ASSIGN_OR_RETURN(const auto out, RunValues(values));
  std::map<std::string, Tensor> result;
  for (const auto& [name, value] : out) {
    if (value->kind != onnx::Value::Kind::kTensor) {
      return absl::UnimplementedError("onnx: output '" + name + "' is no tensor: use RunValues");
    }
    result[name] = value->tensor;
  }
  return result;
}

std::vector<OnnxOperator> OnnxOperators() {
  std::vector<OnnxOperator> out;
  for (const onnx::OpRow& row : onnx::OpTable()) out.push_back({row.domain, row.name, row.since, row.until});
  return out;
}

}  // namespace understudy
