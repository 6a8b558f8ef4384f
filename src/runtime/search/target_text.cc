// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/search/target_text.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"

namespace understudy {
namespace {

using Json = nlohmann::json;

Json ToJson(const ScalarSet& set) {
  Json names = Json::array();
  for (int s = 0; s < kNumScalars; ++s) {
    const auto scalar = static_cast<Scalar>(s);
    if (set.Has(scalar)) names.push_back(DType(scalar).Name());
  }
  return names;
}

// One visitor for both directions, so that no field is in one of them only.
template <class V>
void Visit(Fragment& f, V& v) {
  v("elements", f.elements);
  v("groups", f.groups);
  v("chunk", f.chunk);
  v("lines", f.lines);
  v("neighbours", f.neighbours);
}
template <class V>
void Visit(TensorCore& c, V& v) {
  v("name", c.name);
  v("m", c.m);
  v("n", c.n);
  v("k", c.k);
  v("in", c.in);
  v("out", c.out);
  v("wave_size", c.wave_size);
  v("a", c.a);
  v("b", c.b);
  v("c", c.c);
  v("c_by_rows", c.c_by_rows);
}
template <class V>
void Visit(Target& t, V& v) {
  v("isa", t.isa);
  v("wave_size", t.wave_size);
  v("max_workgroup", t.max_workgroup);
  v("max_grid", t.max_grid);
  v("local_bytes", t.local_bytes);
  v("max_vector_bytes", t.max_vector_bytes);
  v("vector_bytes", t.vector_bytes);
  v("vector_registers", t.vector_registers);
  v("pack_bytes", t.pack_bytes);
  v("stream_bytes", t.stream_bytes);
  v("max_buffers", t.max_buffers);
  v("has_local", t.has_local);
  v("has_threads", t.has_threads);
  v("threads", t.threads);
  v("tensor_cores", t.tensor_cores);
  v("float_tensor_cores", t.float_tensor_cores);
  v("arithmetic", t.arithmetic);
  v("transcendental", t.transcendental);
  v("maximum", t.maximum);
  v("sqrt", t.sqrt);
  v("fma", t.fma);
}

struct Writer {
  Json json = Json::object();
  template <class T>
  void operator()(const char* name, T& value) {
    json[name] = Value(value);
  }
  template <class T>
  static Json Value(T& value) {
    if constexpr (std::is_same_v<T, ScalarSet>) {
      return ToJson(value);
    } else if constexpr (std::is_same_v<T, DType>) {
      return value.Name();
    } else if constexpr (std::is_same_v<T, std::vector<TensorCore>>) {
      Json list = Json::array();
      for (TensorCore& core : value) list.push_back(Value(core));
      return list;
    } else if constexpr (std::is_class_v<T> && requires(Writer& w) { Visit(value, w); }) {
      Writer inner;
      Visit(value, inner);
      return inner.json;
    } else {
      return Json(value);
    }
  }
};

struct Reader {
  const Json& json;
  absl::Status status;

  template <class T>
  void operator()(const char* name, T& value) {
    if (!status.ok()) return;
    const auto it = json.find(name);
    if (it == json.end()) {
      status = absl::InvalidArgumentError(absl::StrCat("target: no field ", name));
      return;
    }
    Value(name, *it, value);
  }
  template <class T>
  void Value(const char* name, const Json& from, T& value) {
    if constexpr (std::is_same_v<T, ScalarSet>) {
      value = {};
      for (const Json& text : from) {
        DType type;
        Value(name, text, type);
        value.Add(type.scalar);
      }
    } else if constexpr (std::is_same_v<T, DType>) {
      const auto type = ParseDType(from.get<std::string>());
      if (type.ok()) {
        value = *type;
      } else {
        status = type.status();
      }
    } else if constexpr (std::is_same_v<T, std::vector<TensorCore>>) {
      value.clear();
      for (const Json& core : from) Value(name, core, value.emplace_back());
    } else if constexpr (std::is_class_v<T> && requires(Reader& r) { Visit(value, r); }) {
      if (!from.is_object()) {
        status = absl::InvalidArgumentError(absl::StrCat("target: ", name, " is no object"));
        return;
      }
      Reader inner{from, absl::OkStatus()};
      Visit(value, inner);
      status.Update(inner.status);
    } else {
      from.get_to(value);
    }
  }
};

}  // namespace

std::string TargetText(const Target& target) {
  Target copy = target;
  return Writer::Value(copy).dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<Target> ParseTarget(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return absl::InvalidArgumentError("target: not a JSON object");
  Target target;
  Reader reader{json, absl::OkStatus()};
  // The library tells a value of the wrong type by an exception.
  try {
    Visit(target, reader);
  } catch (const Json::exception& e) {
    return absl::InvalidArgumentError(absl::StrCat("target: ", e.what()));
  }
  US_RETURN_IF_ERROR(reader.status);
  return target;
}

}  // namespace understudy
