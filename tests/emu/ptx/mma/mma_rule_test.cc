// SPDX-License-Identifier: Apache-2.0
// The rules of tensor cores are those of the recordings and no others near them: each parameter, changed by
// one, is seen. Properties of the sum that no single sample shows.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "emu/ptx/semantics/fragment_layout.h"
#include "emu/ptx/semantics/tensor_core.h"

namespace understudy::emu::ptx {
namespace {

using nlohmann::json;

struct Product {
  int m, n, k;
  Type a_type, b_type, c_type, d_type;
  std::vector<uint32_t> a, b, c, d;
};

std::vector<uint32_t> Unpack(const FragmentLayout& layout, const json& registers) {
  std::vector<uint32_t> out(layout.rows * layout.cols);
  const uint32_t mask = layout.bits == 32 ? ~0u : (1u << layout.bits) - 1;
  for (int reg = 0; reg < layout.registers; ++reg)
    for (int lane = 0; lane < 32; ++lane)
      for (int e = 0; e < layout.elements; ++e) {
        const uint32_t word =
            static_cast<uint32_t>(std::stoul(registers[reg][lane].get<std::string>(), nullptr, 16));
        const ElementPlace& place = layout.At(reg, lane, e);
        out[place.row * layout.cols + place.col] = word >> (e * layout.bits) & mask;
      }
  return out;
}

// Dense float products of mma.jsonl with these elements.
std::vector<Product> Recorded(const std::string& form, Type a, Type b, Type acc, int k) {
  std::vector<Product> products;
  std::ifstream in("tests/data/conformance/ptx/mma.jsonl");
  for (std::string line; std::getline(in, line);) {
    const json sample = json::parse(line);
    if (sample["op"] != form) continue;
    Product p{16, 8, k, a, b, acc, acc, {}, {}, {}, {}};
    p.a = Unpack(*FindMmaLayout(Fragment::kA, 16, 8, k, a), sample["a"]);
    p.b = Unpack(*FindMmaLayout(Fragment::kB, 16, 8, k, b), sample["b"]);
    p.c = Unpack(*FindMmaLayout(Fragment::kC, 16, 8, k, acc), sample["c"]);
    p.d = Unpack(*FindMmaLayout(Fragment::kC, 16, 8, k, acc), sample["d"]);
    products.push_back(p);
  }
  return products;
}

std::vector<uint32_t> Multiply(const FloatRule& rule, const Product& p) {
  std::vector<uint32_t> d(p.c.size());
  MatrixOperands operands;
  operands.m = p.m;
  operands.n = p.n;
  operands.k = operands.b_rows = p.k;
  operands.a = p.a.data();
  operands.b = p.b.data();
  operands.c = p.c.data();
  operands.d = d.data();
  MultiplyFloats(rule, p.a_type, p.b_type, p.c_type, p.d_type, operands);
  return d;
}

int Differences(const FloatRule& rule, const std::vector<Product>& products) {
  int count = 0;
  for (const Product& p : products) {
    const std::vector<uint32_t> d = Multiply(rule, p);
    for (size_t i = 0; i < d.size(); ++i) count += d[i] != p.d[i];
  }
  return count;
}

TEST(MmaRule, NeighbouringRulesAreNotTheHardwares) {
  struct Form {
    const char* op;
    Type a, acc;
    int k;
  };
  const Form forms[] = {
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", Type::kF16, Type::kF32, 16},
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", Type::kBf16, Type::kF32, 16},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", Type::kTf32, Type::kF32, 8},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", Type::kE4m3, Type::kF32, 32},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32", Type::kE5m2, Type::kF32, 32},
  };
  for (const Form& form : forms) {
    const std::vector<Product> products = Recorded(form.op, form.a, form.a, form.acc, form.k);
    ASSERT_EQ(products.size(), 8u) << form.op;
    const FloatRule* rule = FindFloatRule(TensorUnit::kMma, form.a, form.a);
    ASSERT_NE(rule, nullptr);
    EXPECT_EQ(Differences(*rule, products), 0) << form.op;
    FloatRule changed = *rule;
    changed.fraction_bits = 24;
    EXPECT_GT(Differences(changed, products), 0) << form.op << ": one bit less";
    changed = *rule;
    changed.result_bits = 22;
    EXPECT_GT(Differences(changed, products), 0) << form.op << ": a shorter result";
    changed = *rule;
    if (form.a == Type::kE4m3 || form.a == Type::kE5m2) {
      changed.through_half = false;
    } else {
      changed.step = static_cast<uint8_t>(form.k / 2);
    }
    EXPECT_GT(Differences(changed, products), 0) << form.op << ": other steps";
  }
}

uint32_t Bits(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, 4);
  return bits;
}

Product Ones(Type a, int k) {
  return {16,
          8,
          k,
          a,
          a,
          Type::kF32,
          Type::kF32,
          std::vector<uint32_t>(16 * k),
          std::vector<uint32_t>(k * 8),
          std::vector<uint32_t>(16 * 8),
          {}};
}

TEST(MmaRule, BitsBelowTheWindowAreCutTowardZero) {
  // The window of a sum whose largest term is 1 ends at 2^-25, an f32 result of 1 or more at 2^-23.
  const FloatRule& rule = *FindFloatRule(TensorUnit::kMma, Type::kBf16, Type::kBf16);
  Product p = Ones(Type::kBf16, 16);
  const auto bf16 = [](float v) { return Bits(v) >> 16; };
  for (int col = 0; col < 8; ++col) p.b[0 * 8 + col] = p.b[1 * 8 + col] = p.b[2 * 8 + col] = bf16(1);
  p.a[0] = bf16(1);
  p.a[1] = bf16(-0x1p-24f);  // row 0: 1 - 2^-24 is exact in the window and needs 24 bits of a result below 1
  p.a[16] = bf16(1);
  p.a[16 + 1] = bf16(-0x1p-26f);  // row 1: cut to nothing, so the result stays 1
  p.a[32] = bf16(-1);
  p.a[32 + 1] = bf16(0x1p-26f);  // row 2: the same below zero
  p.a[48] = bf16(1);
  p.a[48 + 1] = bf16(0x1p-24f);  // row 3: 1 + 2^-24 is cut, not rounded to even
  p.a[48 + 2] = bf16(0x1p-24f);  // with another it is 1 + 2^-23
  const std::vector<uint32_t> d = Multiply(rule, p);
  EXPECT_EQ(d[0 * 8], Bits(1 - 0x1p-24f));
  EXPECT_EQ(d[1 * 8], Bits(1));
  EXPECT_EQ(d[2 * 8], Bits(-1));
  EXPECT_EQ(d[3 * 8], Bits(1 + 0x1p-23f));
}

TEST(MmaRule, TermsAtTheEndsOfTheRange) {
  // Sums of terms near f32's least and greatest: exact ones stay exact, below 2^-149 all is cut, above it is
  // infinite.
  const FloatRule& rule = *FindFloatRule(TensorUnit::kMma, Type::kBf16, Type::kBf16);
  const auto bf16 = [](float v) { return Bits(v) >> 16; };
  struct Case {
    float a, b, c, d;
  };
  const Case cases[] = {
      {0, 0, 0x1.8p-120f, 0x1.8p-120f},        // an accumulator below every scale of a fast path
      {0x1p-60f, 0x1p-60f, 0, 0x1p-120f},      // a product there
      {0x1p-60f, 0x1p-60f, -0x1p-120f, 0},     // and their difference
      {0x1p-70f, 0x1.8p-76f, 0, 0x1.8p-146f},  // a denormal result
      {0x1p-70f, 0x1.cp-78f, 0, 0x1.8p-148f},  // whose last bit is cut
      {-0x1p-70f, 0x1p-80f, 0, 0},             // to a zero, which is positive
      {0x1p-126f, 0x1p127f, 1, 3},             // factors at both ends
      {0x1p100f, 0x1p100f, 1, 0x1p127f * 2},   // infinite
      {0x1p64f, 0x1p63f, 0x1.fffffep126f, 0x1.fffffep127f},
      {0x1p64f, 0x1p63f, 0x1p127f, 0x1p127f * 2},
  };
  for (const Case& test : cases) {
    Product p = Ones(Type::kBf16, 16);
    for (int col = 0; col < 8; ++col) {
      p.b[3 * 8 + col] = bf16(test.b);
      p.c[7 * 8 + col] = Bits(test.c);
    }
    p.a[7 * 16 + 3] = bf16(test.a);
    for (int kernels = 0; kernels < NumTensorKernels(); ++kernels) {
      UseTensorKernels(kernels);
      const std::vector<uint32_t> d = Multiply(rule, p);
      for (int col = 0; col < 8; ++col)
        EXPECT_EQ(d[7 * 8 + col], Bits(test.d))
            << TensorKernelName(kernels) << " " << test.a << " * " << test.b << " + " << test.c;
      EXPECT_EQ(d[0], 0u);
    }
  }
}

TEST(MmaRule, AnInfinityLeavesOtherOutputsAlone) {
  // Outputs beside special ones are computed by plain integers, those of other tiles by vectors: the same
  // bits.
  for (const char* op : {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
                         "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"}) {
    const bool half = std::string(op).find("f16.f16.f16.f16") != std::string::npos;
    const FloatRule& rule = *FindFloatRule(TensorUnit::kMma, Type::kF16, Type::kF16);
    for (Product p : Recorded(op, Type::kF16, Type::kF16, half ? Type::kF16 : Type::kF32, 16)) {
      const std::vector<uint32_t> before = Multiply(rule, p);
      p.a[5 * 16 + 3] = 0x7c00;
      for (int col = 0; col < 8; ++col) p.b[3 * 8 + col] &= 0xbfff;  // finite
      Product q = p;
      q.a[5 * 16 + 3] = 0;
      const std::vector<uint32_t> with = Multiply(rule, p), without = Multiply(rule, q);
      for (int row = 0; row < 16; ++row)
        for (int col = 0; col < 8; ++col) {
          if (row != 5) {
            EXPECT_EQ(with[row * 8 + col], without[row * 8 + col]);
            continue;
          }
          const uint32_t top = half ? 0x7c00 : 0x7f800000;
          EXPECT_EQ(with[row * 8 + col] & top, top) << "infinite or NaN";
        }
    }
  }
}

TEST(MmaRule, DoublesAreAChainInOrder) {
  // (1 + 2^-53) + 2^-53: rounded twice to 1, not once to 1 + 2^-52.
  const auto bits = [](double v) {
    uint64_t b;
    std::memcpy(&b, &v, 8);
    return b;
  };
  const uint64_t a[2] = {bits(0x1p-53), bits(0x1p-53)}, c[1] = {bits(1)};
  const uint64_t b[2] = {bits(1), bits(1)};
  uint64_t d = 0;
  MultiplyDoubles(Rounding::kNearestEven, 1, 1, 2, a, b, c, &d);
  EXPECT_EQ(d, bits(1));
  MultiplyDoubles(Rounding::kUp, 1, 1, 2, a, b, c, &d);
  EXPECT_EQ(d, bits(1 + 0x1p-51));
}

TEST(MmaRule, SaturationLooksAtTheWholeSum) {
  // C is near the limit and products cancel it: no intermediate result saturates.
  std::vector<uint32_t> a(16 * 16, 0), b(16 * 8, 127), c(16 * 8, 0x7ffffff0), d(16 * 8);
  a[0] = 127;
  a[1] = 0x81;  // -127
  a[16] = 127;
  MatrixOperands p;
  p.m = 16;
  p.n = 8;
  p.k = p.b_rows = 16;
  p.a = a.data();
  p.b = b.data();
  p.c = c.data();
  p.d = d.data();
  MultiplyIntegers(Type::kS8, Type::kS8, true, p);
  EXPECT_EQ(d[0], 0x7ffffff0u);
  EXPECT_EQ(d[8], 0x7fffffffu);
  MultiplyIntegers(Type::kS8, Type::kS8, false, p);
  EXPECT_EQ(d[8], 0x7ffffff0u + 127 * 127) << "wraps";
}

}  // namespace
}  // namespace understudy::emu::ptx
