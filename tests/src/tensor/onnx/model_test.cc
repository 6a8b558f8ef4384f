// SPDX-License-Identifier: Apache-2.0
// What a model has around its nodes (tests/data/onnx/make_models.py): functions, external data, loops that
// end by their data, named dimensions, defaults of inputs; and what refusals say.
#include "gmock/gmock.h"
#include "src/base/status.h"
#include "src/runtime/engine.h"
#include "src/runtime/ref/ref_device.h"
#include "src/tensor/onnx/onnx_model.h"
#include "src/tensor/variable.h"

namespace understudy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Engine& TheEngine() {
  static auto* const engine = [] {
    DeviceRegistry devices;
    devices.Register(std::make_shared<RefDevice>());
    return new Engine(std::move(devices));
  }();
  return *engine;
}

absl::StatusOr<OnnxModel> Load(const std::string& name, bool evaluator = false) {
  OnnxOptions options;
  options.device = "REF";
  if (evaluator) options.evaluator = [](Tensor& t) { return TheEngine().Bytes(t); };
  return OnnxModel::Load("tests/data/onnx/models/" + name + ".onnx", options);
}
Tensor In(const std::vector<float>& v, const Shape& shape) { return Tensor::FromData(v, shape, "REF"); }
std::vector<float> Get(const absl::StatusOr<std::map<std::string, Tensor>>& out, const std::string& name) {
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {};
  }
  Tensor t = out->at(name);
  const auto data = TheEngine().Data<float>(t);
  EXPECT_TRUE(data.ok()) << data.status();
  return data.ok() ? *data : std::vector<float>();
}

TEST(OnnxModel, FunctionsTakeAttributesOfTheCallOrTheirDefaults) {
  const auto model = Load("function");
  ASSERT_TRUE(model.ok()) << model.status();
  // t = 2 x + x, y = 3 t + x.
  EXPECT_THAT(Get(model->Run({{"x", In({1, -2}, {2})}}), "y"), ElementsAre(10, -20));
  EXPECT_EQ(model->Operators().at("local.ScaleAdd"), 2);
}

TEST(OnnxModel, ExternalDataComesFromTheModelsFolder) {
  const auto model = Load("external");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(Get(model->Run({{"x", In({1, 1}, {1, 2})}}), "y"), ElementsAre(4, 6));
  EXPECT_THAT(Load("external_outside").status().ToString(),
              HasSubstr("expected a path below the model's folder"));
  EXPECT_THAT(Load("external_short").status().ToString(),
              HasSubstr("tensor 'w': bytes 16 to 32 of a file of 24"));
}

TEST(OnnxModel, LoopsEndByTheirDataWhenAnEvaluatorIsGiven) {
  const auto model = Load("loop", true);
  ASSERT_TRUE(model.ok()) << model.status();
  Tensor x = In({3, 4}, {2});
  US_CHECK_OK(TheEngine().Realize(x));  // its values are the device's now
  const auto out = model->Run({{"x", x}});
  EXPECT_THAT(Get(out, "y"), ElementsAre(48, 64));
  EXPECT_THAT(Get(out, "all"), ElementsAre(6, 8, 12, 16, 24, 32, 48, 64));
  const auto without = Load("loop");
  ASSERT_TRUE(without.ok());
  EXPECT_THAT(without->Run({{"x", x}}).status().ToString(), HasSubstr("no evaluator was given"));
  // Values that are still on the host need none.
  EXPECT_THAT(Get(without->Run({{"x", In({3, 4}, {2})}}), "y"), ElementsAre(48, 64));
}

TEST(OnnxModel, NamedDimensionsAreEqualWhereTheyStand) {
  const auto model = Load("names");
  ASSERT_TRUE(model.ok()) << model.status();
  const Tensor three = In({1, 2, 3}, {1, 3}), six = In({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_THAT(Get(model->Run({{"a", six}, {"b", six}}), "y"), ElementsAre(2, 4, 6, 8, 10, 12));
  EXPECT_THAT(model->Run({{"a", six}, {"b", three}}).status().ToString(),
              HasSubstr("input 'b': shape [1,3] with n = 1, elsewhere it is 2"));
  EXPECT_THAT(model->Run({{"a", six}}).status().ToString(), HasSubstr("input 'b' (FLOAT[n,3]) is missing"));
  EXPECT_THAT(model->Run({{"a", six}, {"b", six}, {"c", six}}).status().ToString(),
              HasSubstr("no input 'c'"));
  EXPECT_THAT(model->Run({{"a", six}, {"b", six.Cast(dtypes::kInt32)}}).status().ToString(),
              HasSubstr("input 'b': elements of i32, expected f32"));
}

// One graph for all numbers of rows: what a fixed number gives, and nothing made anew.
TEST(OnnxModel, RowsMayBeAVariableNumber) {
  const auto model = Load("rows");
  ASSERT_TRUE(model.ok()) << model.status();
  std::vector<float> numbers(5 * 4);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * 7 % 11) / 4 - 1;
  const Tensor x = In(numbers, {5, 4}), at = Tensor::FromData<int64_t>({4, 0, 5, 2, 2}, {5}, "REF");
  const Variable n("n", 1, 5);
  for (int64_t v = 1; v <= 5; ++v) {
    SCOPED_TRACE(v);
    const auto fixed = model->Run({{"x", x.Shrink({{0, v}, {0, 4}})}, {"i", at.Shrink({{0, v}})}});
    std::vector<float> want[3];
    for (int k = 0; k < 3; ++k) want[k] = Get(fixed, std::vector<std::string>{"y", "m", "most"}[k]);
    const auto out = model->Run({{"x", Narrow(x, 0, 0, n.Bind(v))}, {"i", Narrow(at, 0, 0, n.Bind(v))}});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_EQ(*TrueShape(out->at("y")), (Shape{v, 6}));
    const int64_t compiled = TheEngine().stats().kernels_compiled, made = TheEngine().stats().schedules_made;
    EXPECT_EQ(Get(out, "y"), want[0]);
    EXPECT_EQ(Get(out, "m"), want[1]);
    EXPECT_EQ(Get(out, "most"), want[2]);
    if (v == 1) continue;
    EXPECT_EQ(TheEngine().stats().kernels_compiled, compiled);
    EXPECT_EQ(TheEngine().stats().schedules_made, made);
  }
  // A graph that is built by their number cannot be one for all.
  const auto count = Load("count");
  ASSERT_TRUE(count.ok()) << count.status();
  EXPECT_THAT(count->Run({{"x", Narrow(x, 0, 0, n.Bind(3))}}).status().ToString(),
              HasSubstr("the size of axis 0 is n, a variable; expected a number"));
}

TEST(OnnxModel, InitialisersBelowEightBitsAreUnpacked) {
  const auto model = Load("narrow");
  ASSERT_TRUE(model.ok()) << model.status();
  const auto out = model->Run({{"x", In({0.5}, {})}});
  EXPECT_THAT(Get(out, "y"), ElementsAre(-7.5, -0.5, 0.5, 3.5, 7.5));
  EXPECT_THAT(Get(out, "z"), ElementsAre(0, 1, 2, 3, 1));
}

TEST(OnnxModel, InitialisersAreDefaultsOfInputs) {
  const auto model = Load("default");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_TRUE(model->inputs()[1].optional);
  EXPECT_THAT(Get(model->Run({{"a", In({1}, {1})}}), "y"), ElementsAre(6));
  EXPECT_THAT(Get(model->Run({{"a", In({1}, {1})}, {"w", In({2}, {1})}}), "y"), ElementsAre(3));
}

TEST(OnnxModel, RefusalsNameOperatorAndVersion) {
  const auto old = Load("old_opset");
  ASSERT_TRUE(old.ok());
  EXPECT_EQ(old->Run({{"a", In({1}, {1})}}).status().message(),
            "onnx: Add 'sum' (y): version 6 of the operator set, expected one of 7..28");
  const auto unknown = Load("unknown");
  ASSERT_TRUE(unknown.ok());
  EXPECT_EQ(unknown->Run({{"a", In({1}, {1})}}).status().message(),
            "onnx: Frobnicate 'f' (y): no such operator");
}

TEST(OnnxModel, BytesThatAreNoModelAreRefused) {
  EXPECT_THAT(OnnxModel::Parse({}).status().ToString(), HasSubstr("the file has no graph"));
  EXPECT_THAT(OnnxModel::Parse({0x3a, 0x7f, 0}).status().ToString(),
              HasSubstr("ModelProto field 7: has 127 bytes, but 1 are left"));
}

// A message inside a message inside ...: no recursion without an end.
TEST(OnnxModel, NestedMessagesHaveALimit) {
  const auto wrap = [](uint8_t tag, const std::vector<uint8_t>& inner) {
    std::vector<uint8_t> out = {tag, static_cast<uint8_t>((inner.size() & 0x7f) | 0x80),
                                static_cast<uint8_t>(inner.size() >> 7)};
    out.insert(out.end(), inner.begin(), inner.end());
    return out;
  };
  // graph.node, node.attribute, attribute.g ...
  std::vector<uint8_t> graph;
  for (int i = 0; i < 60; ++i) graph = wrap(0x0a, wrap(0x2a, wrap(0x32, graph)));
  EXPECT_THAT(OnnxModel::Parse(wrap(0x3a, graph)).status().ToString(), HasSubstr("nest deeper than 100"));
}

}  // namespace
}  // namespace understudy
