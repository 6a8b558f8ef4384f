// SPDX-License-Identifier: Apache-2.0
#include "tests/src/tensor/vectors.h"

#include <zstd.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/runtime/engine.h"
#include "src/uop/graph.h"
#include "tests/src/schedule/mini_engine.h"

namespace understudy::vectors {
namespace {

using nlohmann::json;

double ToDouble(const json& v) {
  if (!v.is_string()) return v.get<double>();
  const std::string s = v.get<std::string>();
  US_CHECK(s == "nan" || s == "inf" || s == "-inf") << s;
  return s == "nan" ? NAN : s == "inf" ? INFINITY : -INFINITY;
}

std::vector<double> Doubles(const json& v) {
  std::vector<double> out;
  for (const json& x : v) out.push_back(ToDouble(x));
  return out;
}

Array ToArray(const json& v) {
  const auto t = ParseDType(v.at("t").get<std::string>());
  US_CHECK(t.ok());
  return {*t, v.at("s").get<Shape>(), Doubles(v.at("v"))};
}

// The file's contents, decompressed where it is zstd's.
std::string Text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  US_CHECK(file.good()) << path;
  std::stringstream bytes;
  bytes << file.rdbuf();
  const std::string data = bytes.str();
  if (!absl::EndsWith(path, ".zst")) return data;
  std::string out;
  ZSTD_DStream* const stream = ZSTD_createDStream();
  std::string piece(1 << 18, '\0');
  ZSTD_inBuffer in{data.data(), data.size(), 0};
  for (size_t left = 1; left != 0;) {
    ZSTD_outBuffer to{piece.data(), piece.size(), 0};
    left = ZSTD_decompressStream(stream, &to, &in);
    US_CHECK(!ZSTD_isError(left)) << path << ": " << ZSTD_getErrorName(left);
    US_CHECK(left == 0 || to.pos != 0 || in.pos != in.size) << path << " ends too early";
    out.append(piece, 0, to.pos);
  }
  ZSTD_freeDStream(stream);
  return out;
}

// As vectors.py writes them.
Tensor Weights(const Tensor& like, const std::string& device) {
  std::vector<double> w(like.numel());
  for (size_t k = 0; k < w.size(); ++k) w[k] = 0.5 + static_cast<double>((k * 7 + 3) % 11) / 8;
  return ToTensor(w, like.shape(), like.dtype(), device);
}

void ExpectNear(const std::vector<double>& got, const std::vector<double>& want, double tolerance,
                const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    const double g = got[i], w = want[i];
    const bool same = std::isnan(w)   ? std::isnan(g)
                      : std::isinf(w) ? g == w
                                      : std::abs(g - w) <= tolerance * std::max(1.0, std::abs(w));
    ASSERT_TRUE(same) << what << ", element " << i << ": " << g << ", PyTorch has " << w;
  }
}

std::vector<Tensor> Run(const Case& c, const Calls& calls, const std::vector<Tensor>& in,
                        const std::string& device = "CPU") {
  const auto call = calls.find(c.op);
  if (call == calls.end()) {
    ADD_FAILURE() << "the test does not know the operation " << c.op;
    return {};
  }
  const std::vector<Tensor> out = call->second(in, ArgsOn(c, device));
  EXPECT_EQ(out.size(), c.outputs.size());
  return out;
}

std::vector<Tensor> GradientsOf(const Case& c, const std::vector<Tensor>& out, const std::vector<Tensor>& in,
                                const std::string& device = "CPU") {
  Tensor loss;
  for (const Tensor& y : out) {
    if (!y.dtype().IsFloat()) continue;
    const Tensor part = (y * Weights(y, device)).Sum();
    loss = loss.ok() ? loss + part : part;
  }
  std::vector<Tensor> wanted;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!c.grads[i].empty()) wanted.push_back(in[i]);
  }
  return Gradients(loss, wanted);
}

// Some direction: numbers of both signs, different for each input.
Tensor Direction(const Tensor& like, size_t which) {
  std::vector<double> v(like.numel());
  for (size_t k = 0; k < v.size(); ++k) v[k] = static_cast<double>((k * 5 + which * 3 + 1) % 7) / 4 - 0.7;
  return ToTensor(v, like.shape(), like.dtype());
}

// The gradients of a case at its inputs, moved by `step` along Direction, times another direction; the inputs
// that have gradients go to `wanted`.
Tensor GradientAlong(const Case& c, const Calls& calls, double step, std::vector<Tensor>* wanted) {
  std::vector<Tensor> in;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const Array& a = c.inputs[i];
    in.push_back(ToTensor(a.values, a.shape, a.dtype == dtypes::kFloat32 ? dtypes::kFloat64 : a.dtype));
    if (c.grads[i].empty()) continue;
    if (step != 0) in[i] = in[i] + Direction(in[i], i) * step;
    wanted->push_back(in[i]);
  }
  const std::vector<Tensor> out = Run(c, calls, in);
  if (testing::Test::HasFailure()) return Tensor();
  const std::vector<Tensor> gradients = GradientsOf(c, out, in);
  Tensor along;
  for (size_t i = 0; i < gradients.size(); ++i) {
    const Tensor part = (gradients[i] * Direction(gradients[i], i + 11)).Sum();
    along = i == 0 ? part : along + part;
  }
  return along;
}

}  // namespace

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<Case> Load(const std::string& path) {
  std::vector<Case> cases;
  for (const json& v : json::parse(Text(path))) {
    Case c;
    c.name = v.at("name");
    c.op = v.at("op");
    c.args = v.at("args");
    for (const json& x : v.at("in")) c.inputs.push_back(ToArray(x));
    for (const json& x : v.at("out")) c.outputs.push_back(ToArray(x));
    c.cpu = v.value("cpu", true);
    c.own_types = v.value("own_types", false);
    c.tolerance = v.value("tol", c.tolerance);
    c.has_grads = v.contains("grad");
    if (c.has_grads) {
      for (const json& x : v.at("grad")) c.grads.push_back(x.is_null() ? std::vector<double>() : Doubles(x));
      US_CHECK(c.grads.size() == c.inputs.size()) << c.name;
    }
    cases.push_back(std::move(c));
  }
  US_CHECK(!cases.empty()) << path;
  return cases;
}

json ArgsOn(const Case& c, const std::string& device) {
  json args = c.args;
  if (c.inputs.empty()) args["device"] = device;
  return args;
}

Tensor ToTensor(const std::vector<double>& values, const Shape& shape, DType t, const std::string& device) {
  std::vector<uint8_t> bytes(values.size() * t.ScalarBytes());
  for (size_t i = 0; i < values.size(); ++i) {
    const ConstValue v = t.IsFloat() ? ConstValue(values[i]) : ConstValue(static_cast<int64_t>(values[i]));
    const uint64_t bits = ToBits(t, Canonical(t, v));
    std::memcpy(&bytes[i * t.ScalarBytes()], &bits, t.ScalarBytes());
  }
  return Tensor::FromBytes(std::move(bytes), t, shape, device);
}

std::string TestName(const Case& c, size_t index) {
  std::string name = std::to_string(index) + "_";
  for (const char ch : c.name) name += std::isalnum(static_cast<unsigned char>(ch)) ? ch : '_';
  return name;
}

std::vector<double> Values(const Tensor& t) {
  MiniEngine engine;
  const auto v = engine.Values(t);
  EXPECT_TRUE(v.ok()) << v.status();
  return v.ok() ? *v : std::vector<double>();
}

int DivisionsIn(const Tensor& t) {
  MiniEngine engine;
  const absl::Status realized = engine.Realize({t});
  EXPECT_TRUE(realized.ok()) << realized;
  int n = 0;
  for (const ScheduleItem& item : engine.last_schedule.items) {
    if (item.kernel == nullptr) continue;
    for (const UOp* u : uop::Toposort(item.kernel)) {
      n += u->op() == Op::kFloorDiv || u->op() == Op::kFloorMod || u->op() == Op::kIDiv ||
           u->op() == Op::kIMod;
    }
  }
  return n;
}

void CheckOnRef(const Case& c, const Calls& calls) {
  std::vector<Tensor> in;
  for (const Array& a : c.inputs) in.push_back(ToTensor(a.values, a.shape, a.dtype));
  const std::vector<Tensor> out = Run(c, calls, in);
  if (testing::Test::HasFailure()) return;
  MiniEngine engine;
  for (size_t i = 0; i < out.size(); ++i) {
    ASSERT_TRUE(out[i].ok()) << out[i].status();
    ASSERT_EQ(out[i].shape(), c.outputs[i].shape) << "result " << i;
    ASSERT_EQ(out[i].dtype().Name(), c.outputs[i].dtype.Name()) << "result " << i;
  }
  // Gradients before the results are realised, so that they come from the whole graph.
  std::vector<Tensor> grads;
  if (c.has_grads) grads = GradientsOf(c, out, in);
  for (size_t i = 0; i < out.size(); ++i) {
    const auto got = engine.Values(out[i]);
    ASSERT_TRUE(got.ok()) << got.status();
    ExpectNear(*got, c.outputs[i].values, c.tolerance, "result " + std::to_string(i));
  }
  size_t next = 0;
  for (size_t i = 0; i < c.grads.size(); ++i) {
    if (c.grads[i].empty()) continue;
    const Tensor& g = grads[next++];
    ASSERT_TRUE(g.ok()) << "gradient of input " << i << ": " << g.status();
    const auto got = engine.Values(g);
    ASSERT_TRUE(got.ok()) << got.status();
    ExpectNear(*got, c.grads[i], c.tolerance, "gradient of input " + std::to_string(i));
  }
}

void CheckSecondDerivative(const Case& c, const Calls& calls) {
  bool some = false;
  for (size_t i = 0; i < c.grads.size(); ++i) {
    if (c.grads[i].empty()) continue;
    some = true;
    if (c.inputs[i].dtype.BitWidth() < 32) GTEST_SKIP() << "differences of narrow floats say nothing";
  }
  if (!some) GTEST_SKIP() << "no gradients";
  MiniEngine engine;
  std::vector<Tensor> wanted, unused;
  const Tensor along = GradientAlong(c, calls, 0, &wanted);
  if (testing::Test::HasFailure()) return;
  ASSERT_TRUE(along.ok()) << along.status();
  double slope = 0;
  const std::vector<Tensor> second = Gradients(along, wanted);
  size_t next = 0;
  for (size_t i = 0; i < c.grads.size(); ++i) {
    if (c.grads[i].empty()) continue;
    const Tensor& h = second[next++];
    // Linear operations: the gradient does not depend on the input.
    if (!h.ok() && absl::StrContains(std::string(h.status().message()), "no part")) continue;
    ASSERT_TRUE(h.ok()) << "input " << i << ": " << h.status();
    const auto value = engine.Values((h * Direction(wanted[next - 1], i)).Sum());
    ASSERT_TRUE(value.ok()) << value.status();
    slope += (*value)[0];
  }
  constexpr double kStep = 1e-5;
  double at[5];
  for (int i = 0; i < 5; ++i) {
    const auto value = engine.Values(GradientAlong(c, calls, (i - 2) * kStep / 2, &unused));
    ASSERT_TRUE(value.ok()) << value.status();
    at[i] = (*value)[0];
  }
  const double behind = (at[2] - at[0]) / kStep, before = (at[4] - at[2]) / kStep;
  const double difference = (at[4] - at[0]) / (2 * kStep), nearer = (at[3] - at[1]) / kStep;
  const double size = std::max({1.0, std::abs(difference), std::abs(at[2])});
  if (std::isnan(difference)) GTEST_SKIP() << "the gradient is no number";
  // Where the gradient has a corner the sides differ; where it jumps, a shorter step sees a steeper slope.
  if (std::abs(behind - before) > 1e-2 * size || std::abs(nearer - difference) > 1e-2 * size)
    GTEST_SKIP() << "the gradient has a corner here";
  EXPECT_NEAR(slope, difference, 2e-6 * size);
}

absl::Status CheckOnDevice(const Case& c, const Calls& calls, Engine& engine, const std::string& device,
                           bool gradients) {
  std::vector<Tensor> in;
  bool narrowed = false;
  for (const Array& a : c.inputs) {
    const bool as_f32 = a.dtype == dtypes::kFloat64 && !c.own_types;
    narrowed |= as_f32;
    in.push_back(ToTensor(a.values, a.shape, as_f32 ? dtypes::kFloat32 : a.dtype, device));
  }
  const std::vector<Tensor> out = Run(c, calls, in, device);
  if (testing::Test::HasFailure()) return absl::OkStatus();
  // Everything in one call: gradients come from the whole graph.
  std::vector<Tensor> wide;
  for (size_t i = 0; i < out.size(); ++i) {
    if (!out[i].ok()) return out[i].status();
    const DType t = out[i].dtype(), expected = c.outputs[i].dtype;
    EXPECT_TRUE(t == expected || (narrowed && expected == dtypes::kFloat64 && t == dtypes::kFloat32))
        << "result " << i << " is " << t.Name() << ", PyTorch has " << expected.Name();
    EXPECT_EQ(out[i].shape(), c.outputs[i].shape) << "result " << i;
    wide.push_back(out[i].Cast(dtypes::kFloat64));
    // Constants are made nowhere.
    if (c.inputs.empty() && wide.back().device() != device) wide.back() = wide.back().To(device);
  }
  std::vector<size_t> input_of;
  if (gradients && c.has_grads) {
    for (size_t i = 0; i < in.size(); ++i) {
      if (!c.grads[i].empty()) input_of.push_back(i);
    }
    const std::vector<Tensor> grads = GradientsOf(c, out, in, device);
    for (size_t k = 0; k < grads.size(); ++k) {
      if (!grads[k].ok()) return grads[k].status();
      EXPECT_EQ(grads[k].dtype().Name(), in[input_of[k]].dtype().Name())
          << "gradient of input " << input_of[k];
      wide.push_back(grads[k].Cast(dtypes::kFloat64));
    }
  }
  std::vector<Tensor*> all;
  for (Tensor& t : wide) all.push_back(&t);
  if (const absl::Status s = engine.Realize(all); !s.ok()) return s;
  const double tolerance = c.own_types ? c.tolerance : std::max(2e-5, c.tolerance);
  for (size_t i = 0; i < wide.size(); ++i) {
    const auto got = engine.Data<double>(wide[i]);
    if (!got.ok()) return got.status();
    const bool is_result = i < out.size();
    const std::string what =
        is_result ? absl::StrCat("result ", i) : absl::StrCat("gradient of input ", input_of[i - out.size()]);
    // In f32 a gradient sums more roundings than its result.
    ExpectNear(*got, is_result ? c.outputs[i].values : c.grads[input_of[i - out.size()]],
               is_result || c.own_types ? tolerance : 5 * tolerance,
               absl::StrCat(c.name, " on ", device, ": ", what));
  }
  return absl::OkStatus();
}

}  // namespace understudy::vectors
