// SPDX-License-Identifier: Apache-2.0
#include "tests/src/tensor/onnx/node_cases.h"

#include <zstd.h>

#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/base/file.h"
#include "src/base/status.h"
#include "src/tensor/onnx/proto.h"

namespace understudy::node_cases {
namespace {

using onnx::Value;
using onnx::ValueRef;

uint32_t U32(const std::string& s, size_t& at) {
  US_CHECK(at + 4 <= s.size());
  uint32_t v = 0;
  std::memcpy(&v, s.data() + at, 4);
  at += 4;
  return v;
}
std::string Blob(const std::string& s, size_t& at) {
  const uint32_t n = U32(s, at);
  US_CHECK(at + n <= s.size());
  at += n;
  return s.substr(at - n, n);
}
// Moves past a value.
void SkipValue(const std::string& s, size_t& at) {
  const char tag = s.at(at++);
  if (tag == 0) Blob(s, at);
  if (tag == 1) {
    for (uint32_t n = U32(s, at); n > 0; --n) SkipValue(s, at);
  }
}

absl::StatusOr<ValueRef> Read(const std::string& s, size_t& at, const std::string& device) {
  const char tag = s.at(at++);
  if (tag == 0) {
    const std::string bytes = Blob(s, at);
    US_ASSIGN_OR_RETURN(const onnx::TensorProto t,
                        onnx::ParseTensor({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}));
    US_ASSIGN_OR_RETURN(std::vector<uint8_t> elements, onnx::Elements(t));
    return Value::Of(Tensor::FromBytes(std::move(elements), onnx::HeldIn(t.type()), t.dims, device),
                     t.type());
  }
  if (tag == 2) return Value::Absent();
  std::vector<ValueRef> items;
  for (uint32_t n = U32(s, at); n > 0; --n) {
    US_ASSIGN_OR_RETURN(ValueRef v, Read(s, at, device));
    items.push_back(std::move(v));
  }
  return Value::Sequence(std::move(items));
}

std::string ElementDifference(DType dtype, const std::vector<uint8_t>& got, const std::vector<uint8_t>& want,
                              double factor) {
  const auto width = static_cast<size_t>(dtype.SizeBytes());
  for (size_t i = 0; i * width < want.size(); ++i) {
    uint64_t g = 0, w = 0;
    std::memcpy(&g, got.data() + i * width, width);
    std::memcpy(&w, want.data() + i * width, width);
    if (g == w) continue;
    if (!dtype.IsFloat()) {
      return absl::StrCat("element ", i, ": got ", ConstText(dtype, FromBits(dtype, g)), ", want ",
                          ConstText(dtype, FromBits(dtype, w)));
    }
    const double a = std::get<double>(FromBits(dtype, g)), b = std::get<double>(FromBits(dtype, w));
    const double relative = dtype == dtypes::kBFloat16 ? 0x1p-6 : 1e-3;
    if ((std::isnan(a) && std::isnan(b)) || a == b ||
        std::abs(a - b) <= factor * (1e-7 + relative * std::abs(b)))
      continue;
    return absl::StrCat("element ", i, ": got ", a, ", want ", b);
  }
  return "";
}

}  // namespace

const std::vector<Case>& AllCases() {
  static const auto* const cases = [] {
    const auto file = ReadFile("tests/data/onnx/node_tests.zst");
    US_CHECK_OK(file);
    std::string data;
    ZSTD_DStream* stream = ZSTD_createDStream();
    std::string piece(1 << 20, '\0');
    ZSTD_inBuffer in{file->data(), file->size(), 0};
    for (size_t left = 1; left != 0;) {
      ZSTD_outBuffer out{piece.data(), piece.size(), 0};
      left = ZSTD_decompressStream(stream, &out, &in);
      US_CHECK(!ZSTD_isError(left)) << ZSTD_getErrorName(left);
      data.append(piece, 0, out.pos);
      US_CHECK(out.pos != 0 || in.pos != in.size || left == 0) << "the archive ends too early";
    }
    ZSTD_freeDStream(stream);
    auto* list = new std::vector<Case>();
    for (size_t at = 0; at < data.size();) {
      Case c;
      c.name = Blob(data, at);
      c.model = Blob(data, at);
      for (auto* values : {&c.inputs, &c.outputs}) {
        for (uint32_t n = U32(data, at); n > 0; --n) {
          const size_t first = at;
          SkipValue(data, at);
          values->push_back(data.substr(first, at - first));
        }
      }
      list->push_back(std::move(c));
    }
    return list;
  }();
  return *cases;
}

absl::StatusOr<ValueRef> ReadValue(const std::string& bytes, const std::string& device) {
  size_t at = 0;
  return Read(bytes, at, device);
}

std::string Difference(Engine& engine, const ValueRef& got, const ValueRef& want,
                       const Closeness& closeness) {
  if (got->kind != want->kind) return "another kind of value";
  if (want->kind == Value::Kind::kAbsent) return "";
  if (want->kind == Value::Kind::kSequence) {
    if (got->items.size() != want->items.size()) {
      return absl::StrCat(got->items.size(), " items, want ", want->items.size());
    }
    for (size_t i = 0; i < want->items.size(); ++i) {
      const std::string d = Difference(engine, got->items[i], want->items[i], closeness);
      if (!d.empty()) return absl::StrCat("item ", i, ": ", d);
    }
    return "";
  }
  if (got->type != want->type) {
    return "type " + onnx::ElemTypeName(got->type) + ", want " + onnx::ElemTypeName(want->type);
  }
  const auto text = [](const Shape& s) {
    std::string t;
    for (const int64_t d : s) absl::StrAppend(&t, d, ",");
    return t;
  };
  if (got->tensor.shape() != want->tensor.shape()) {
    return "shape " + text(got->tensor.shape()) + " want " + text(want->tensor.shape());
  }
  if (got->tensor.dtype() != want->tensor.dtype()) return "held in " + got->tensor.dtype().Name();
  if (closeness.shapes_only) return "";
  const auto a = engine.Bytes(got->tensor), b = engine.Bytes(want->tensor);
  if (!a.ok()) return a.status().ToString();
  if (!b.ok()) return b.status().ToString();
  return ElementDifference(want->tensor.dtype(), *a, *b, closeness.factor);
}

absl::StatusOr<std::string> RunCase(const Case& c, Engine& engine, const std::string& device,
                                    const Closeness& closeness) {
  OnnxOptions options;
  options.device = device;
  options.evaluator = [&](Tensor& t) { return engine.Bytes(t); };
  US_ASSIGN_OR_RETURN(const OnnxModel model,
                      OnnxModel::Parse(std::vector<uint8_t>(c.model.begin(), c.model.end()), options));
  std::map<std::string, ValueRef> inputs;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    US_ASSIGN_OR_RETURN(inputs[model.inputs().at(i).name], ReadValue(c.inputs[i], device));
  }
  US_ASSIGN_OR_RETURN(const auto outputs, model.RunValues(inputs));
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    US_ASSIGN_OR_RETURN(const ValueRef want, ReadValue(c.outputs[i], device));
    const std::string& name = model.outputs().at(i).name;
    const std::string d = Difference(engine, outputs.at(name), want, closeness);
    if (!d.empty()) return "output '" + name + "': " + d;
  }
  return "";
}

}  // namespace understudy::node_cases
