// SPDX-License-Identifier: Apache-2.0
// Files that torch.save wrote (tests/data/state/make_torch.py): the elements, shapes and scalars that
// torch.load gives, and refusals that say what and where.
#include "src/tensor/state/torch_file.h"

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "src/base/file.h"
#include "src/dtype/const_value.h"

namespace understudy {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string Read(const std::string& name) { return *ReadFile("tests/data/state/" + name); }
absl::Span<const uint8_t> Span(const std::string& s) {
  return {reinterpret_cast<const uint8_t*>(s.data()), s.size()};
}

DType TypeOf(const std::string& torch) {
  static const auto* const types = new std::map<std::string, DType>{{"float32", dtypes::kFloat32},
                                                                    {"float64", dtypes::kFloat64},
                                                                    {"float16", dtypes::kFloat16},
                                                                    {"uint8", dtypes::kUInt8},
                                                                    {"bfloat16", dtypes::kBFloat16},
                                                                    {"int8", dtypes::kInt8},
                                                                    {"int16", dtypes::kInt16},
                                                                    {"int32", dtypes::kInt32},
                                                                    {"int64", dtypes::kInt64},
                                                                    {"bool", dtypes::kBool},
                                                                    {"uint16", dtypes::kUInt16},
                                                                    {"uint32", dtypes::kUInt32},
                                                                    {"float8_e4m3fn", dtypes::kFloat8E4M3},
                                                                    {"float8_e5m2", dtypes::kFloat8E5M2}};
  return types->at(torch);
}

void ExpectScalar(const TorchScalar& got, const json& want, const std::string& name) {
  if (want.is_null())
    EXPECT_TRUE(std::holds_alternative<std::monostate>(got)) << name;
  else if (want.is_boolean())
    EXPECT_EQ(std::get<bool>(got), want.get<bool>()) << name;
  else if (want.is_number_integer())
    EXPECT_EQ(std::get<int64_t>(got), want.get<int64_t>()) << name;
  else if (want.is_number())
    EXPECT_EQ(std::get<double>(got), want.get<double>()) << name;
  else
    EXPECT_EQ(std::get<std::string>(got), want.get<std::string>()) << name;
}

TEST(TorchFile, HasWhatTorchLoadGives) {
  const json all = json::parse(Read("torch.json"));
  for (const auto& [name, want] : all.items()) {
    const std::string file = Read(name);
    const auto parsed = ParseTorchFile(Span(file));
    ASSERT_TRUE(parsed.ok()) << name << ": " << parsed.status();
    ASSERT_EQ(parsed->entries.size(), want["tensors"].size()) << name;
    for (size_t i = 0; i < parsed->entries.size(); ++i) {
      const TorchEntry& e = parsed->entries[i];
      const json& w = want["tensors"][i];
      EXPECT_EQ(e.name, w["name"]);
      EXPECT_EQ(e.shape, w["shape"].get<Shape>()) << e.name;
      EXPECT_EQ(e.dtype, TypeOf(w["dtype"])) << e.name;
      const auto bytes = TorchElements(e);
      ASSERT_TRUE(bytes.ok()) << bytes.status();
      const auto values = w["values"].get<std::vector<double>>();
      const size_t width = e.dtype.SizeBytes();
      ASSERT_EQ(bytes->size(), values.size() * width) << e.name;
      for (size_t k = 0; k < values.size(); ++k) {
        uint64_t bits = 0;
        __builtin_memcpy(&bits, bytes->data() + k * width, width);
        const ConstValue v = FromBits(e.dtype, bits);
        const auto* d = std::get_if<double>(&v);
        EXPECT_EQ(d != nullptr ? *d : static_cast<double>(std::get<int64_t>(v)), values[k])
            << e.name << " " << k;
      }
    }
    EXPECT_EQ(parsed->scalars.size(), want["scalars"].size()) << name;
    for (const auto& [key, value] : want["scalars"].items()) {
      ASSERT_TRUE(parsed->scalars.contains(key)) << key;
      ExpectScalar(parsed->scalars.at(key), value, key);
    }
  }
}

TEST(TorchFile, LoadsTensorsByName) {
  const auto state = LoadTorchFile("tests/data/state/module.pt");
  ASSERT_TRUE(state.ok()) << state.status();
  const Tensor* weight = FindTensor(*state, "conv.weight");
  ASSERT_NE(weight, nullptr);
  EXPECT_EQ(weight->shape(), (Shape{2, 1, 3, 3}));
}

TEST(TorchFile, ViewsShareTheirStorage) {
  const std::string file = Read("types.pt");
  const auto parsed = ParseTorchFile(Span(file));
  ASSERT_TRUE(parsed.ok());
  const auto find = [&](const std::string& name) {
    for (const TorchEntry& e : parsed->entries) {
      if (e.name == name) return e;
    }
    return TorchEntry();
  };
  EXPECT_EQ(find("whole").storage.data(), find("transposed").storage.data());
  EXPECT_EQ(find("transposed").strides, (std::vector<int64_t>{1, 6}));
  EXPECT_EQ(find("part").offset, 8);
  EXPECT_EQ(TorchElements(find("expanded"), 16).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(TorchFile, RefusalsNameWhatTheyRefuse) {
  const auto refusal = [](const std::string& name) {
    const std::string file = Read(name);
    return ParseTorchFile(Span(file)).status().ToString();
  };
  EXPECT_THAT(refusal("complex.pt"), HasSubstr("'z' has elements of torch.ComplexFloatStorage"));
  EXPECT_THAT(refusal("sparse.pt"), HasSubstr("the global torch._utils._rebuild_sparse_tensor"));
  EXPECT_THAT(refusal("object.pt"), HasSubstr("the global posixpath.join is not among"));
  EXPECT_THAT(refusal("old.pt"), HasSubstr("before 1.6"));
  EXPECT_THAT(refusal("script.pt"), HasSubstr("compressed"));
}

TEST(TorchFile, EveryShorterFileIsRefused) {
  const std::string file = Read("single.pt");
  for (size_t n = 0; n < file.size(); ++n) EXPECT_FALSE(ParseTorchFile(Span(file).first(n)).ok()) << n;
}

// One changed byte anywhere: refused, or a file whose every element can be read.
TEST(TorchFile, ChangedBytesAreReadWithinBounds) {
  const std::string file = Read("types.pt");
  int read = 0;
  for (size_t i = 0; i < file.size(); i += 3) {
    std::string changed = file;
    changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
    const auto parsed = ParseTorchFile(Span(changed));
    if (!parsed.ok()) continue;
    ++read;
    for (const TorchEntry& e : parsed->entries) (void)TorchElements(e, 1 << 20);
  }
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace understudy
