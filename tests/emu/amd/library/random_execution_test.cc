// SPDX-License-Identifier: Apache-2.0
// Other people's machine code, executed: the gfx90a kernels of Debian's librocrand1 that generate uniform
// numbers give, bit for bit, the sequences of the published generators: Philox4x32-10 (Salmon et al.,
// "Parallel Random Numbers: As Easy as 1, 2, 3"), XORWOW (Marsaglia, "Xorshift RNGs"), MRG32k3a (L'Ecuyer,
// "Good Parameters and Implementations for Combined Multiple Recursive Random Number Generators") and Sobol'
// sequences in Gray code order (Antonov and Saleev) with made-up direction numbers. Normal numbers agree with
// Box and Muller's formula. How words become floating-point numbers is rocRAND's choice, not the papers', and
// is as its published sources have it. Skipped where the package is not installed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/mapped_file.h"
#include "src/runtime/amd/code_object.h"
#include "src/runtime/amd/offload_bundle.h"
#include "tests/emu/amd/library/kernel_runner.h"

namespace understudy::emu::amd {
namespace {

using Raw = std::vector<uint8_t>;
using Words = std::vector<uint32_t>;
constexpr uint32_t kGroups = 2, kGroupSize = 256, kThreads = kGroups * kGroupSize;

template <class T>
Raw BytesOf(const std::vector<T>& values) {
  Raw out(values.size() * sizeof(T));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

Words RandomWords(size_t n) {
  std::mt19937 random(99);
  Words out(n);
  for (uint32_t& word : out) word = static_cast<uint32_t>(random());
  return out;
}

std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> c, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xd2511f53} * c[0], b = uint64_t{0xcd9e8d57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ key0, static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ key1, static_cast<uint32_t>(a)};
    key0 += 0x9e3779b9;
    key1 += 0xbb67ae85;
  }
  return c;
}

// 24 bytes: the counter d and five words.
uint32_t Xorwow(uint32_t* state) {
  uint32_t* x = state + 1;
  const uint32_t t = x[0] ^ x[0] >> 2;
  for (int i = 0; i < 4; ++i) x[i] = x[i + 1];
  x[4] = x[4] ^ x[4] << 4 ^ t ^ t << 1;
  state[0] += 362437;
  return state[0] + x[4];
}

constexpr int64_t kM1 = 4294967087, kM2 = 4294944443;

// From 1 to m1, as rocRAND's documentation has it: its zero is m1.
uint32_t Mrg(uint32_t* state) {
  int64_t p1 = (1403580 * int64_t{state[1]} - 810728 * int64_t{state[0]}) % kM1;
  int64_t p2 = (527612 * int64_t{state[5]} - 1370589 * int64_t{state[3]}) % kM2;
  if (p1 < 0) p1 += kM1;
  if (p2 < 0) p2 += kM2;
  state[0] = state[1], state[1] = state[2], state[2] = static_cast<uint32_t>(p1);
  state[3] = state[4], state[4] = state[5], state[5] = static_cast<uint32_t>(p2);
  return static_cast<uint32_t>(p1 <= p2 ? p1 - p2 + kM1 : p1 - p2);
}

template <class T>
T Sobol(const std::vector<T>& directions, uint64_t n) {
  T out = 0;
  for (size_t bit = 0; bit < directions.size(); ++bit) {
    if (((n ^ n >> 1) >> bit & 1) != 0) out ^= directions[bit];
  }
  return out;
}

// Uniform numbers above 0 up to 1: (v + 1) / 2^32 in float, (v + 1) / 2^53 of 53 bits in double.
Raw Floats(const Words& words) {
  std::vector<float> out;
  for (uint32_t word : words) out.push_back(static_cast<float>(word) * 0x1p-32f + 0x1p-32f);
  return BytesOf(out);
}
Raw Doubles(const Words& words) {
  std::vector<double> out;
  for (size_t i = 0; i + 1 < words.size(); i += 2) {
    const uint64_t v = uint64_t{words[i + 1] >> 11} << 32 | words[i];
    out.push_back(static_cast<double>(v) * 0x1p-53 + 0x1p-53);
  }
  return BytesOf(out);
}

class RandomKernels : public testing::Test {
 protected:
  void SetUp() override {
    file_ = MappedFile::Open("/usr/lib/x86_64-linux-gnu/librocrand.so.1");
    if (!file_.ok()) GTEST_SKIP() << "librocrand1 is not installed";
    auto entries = understudy::amd::OffloadEntriesOfLibrary(file_->bytes());
    ASSERT_TRUE(entries.ok()) << entries.status().message();
    for (const auto& entry : *entries) {
      if (entry.processor() != "gfx90a" || entry.id.find("xnack-") == std::string::npos) continue;
      auto object = understudy::amd::CodeObject::Parse(entry.content);
      ASSERT_TRUE(object.ok()) << object.status().message();
      object_ = std::make_unique<understudy::amd::CodeObject>(*std::move(object));
      runner_ = std::make_unique<KernelRunner>(*object_);
    }
    ASSERT_NE(object_, nullptr);
  }

  // Runs the kernel; `out` must then hold `expected`.
  void Check(const std::string& mangled, const std::vector<KernelArg>& args, const Raw* out,
             const Raw& expected, size_t element) {
    SCOPED_TRACE(mangled);
    auto kernel = object_->FindKernel("_ZN12rocrand_host6detailL" + mangled);
    ASSERT_TRUE(kernel.ok());
    absl::Status status = runner_->Run(**kernel, args, kGroups, kGroupSize);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(out->size(), expected.size());
    size_t wrong = 0;
    while (wrong < out->size() && (*out)[wrong] == expected[wrong]) ++wrong;
    EXPECT_EQ(wrong, out->size()) << "element " << wrong / element << " of " << out->size() / element;
    ++executed_;
  }

  absl::StatusOr<MappedFile> file_;
  std::unique_ptr<understudy::amd::CodeObject> object_;
  std::unique_ptr<KernelRunner> runner_;
  int executed_ = 0;
};

// What a kernel writes for each type, from the words of its generator in the order of their use.
struct Form {
  const char* type;  // mangled
  size_t bytes;
  int inputs;  // words of a generator that one step consumes
  std::function<Raw(const Words&)> convert;
};
const Form kForms[] = {{"j", 4, 1, BytesOf<uint32_t>},
                       {"h", 1, 1, BytesOf<uint32_t>},
                       {"t", 2, 1, BytesOf<uint32_t>},
                       {"f", 4, 1, Floats},
                       {"d", 8, 2, Doubles}};

TEST_F(RandomKernels, Philox) {
  constexpr size_t kWords = 5000;
  const uint32_t key0 = 0x12345678, key1 = 0x9abcdef0;
  Words words;
  // The counter carries through two words.
  const auto counter = [](uint32_t i) {
    const uint64_t low = 0xfffffffffffffff0 + i;
    return std::array<uint32_t, 4>{static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
                                   i >= 16 ? 8u : 7u, 9};
  };
  for (uint32_t i = 0; i < kWords / 4; ++i) {
    for (uint32_t word : Philox(counter(i), key0, key1)) words.push_back(word);
  }
  // Counter, the numbers of the counter, key, how many of them are used.
  Words engine;
  for (uint32_t word : counter(0)) engine.push_back(word);
  engine.insert(engine.end(), words.begin(), words.begin() + 4);
  engine.insert(engine.end(), {key0, key1, 0, 0});
  for (const Form& form : kForms) {
    const Raw expected = form.convert(words);
    Raw out(expected.size());
    Check(absl::StrCat("15generate_kernelI", form.type, "20uniform_distributionI", form.type,
                       "EEEvNS0_27philox4x32_10_device_engineEPT_mT0_"),
          {KernelArg::Bytes(BytesOf(engine)), KernelArg::Output(&out),
           KernelArg::Integer(static_cast<int64_t>(out.size() / form.bytes)), KernelArg::Integer(0)},
          &out, expected, form.bytes);
  }
  EXPECT_EQ(executed_, 5);
}

TEST_F(RandomKernels, Xorwow) {
  constexpr uint32_t kSteps = 1300, kFirstEngine = 37;
  const Words before = RandomWords(kThreads * 6);
  for (const Form& form : kForms) {
    Words states = before, words;
    for (uint32_t step = 0; step < kSteps; ++step) {
      uint32_t* state = &states[(kFirstEngine + step % kThreads) % kThreads * 6];
      for (int i = 0; i < form.inputs; ++i) words.push_back(Xorwow(state));
    }
    const Raw expected = form.convert(words);
    Raw out(expected.size()), engines = BytesOf(before);
    Check(absl::StrCat("15generate_kernelI", form.type, "20uniform_distributionI", form.type,
                       "EEEvPN14rocrand_device13xorwow_engineEjPT_mT0_"),
          {KernelArg::Output(&engines), KernelArg::Integer(kFirstEngine), KernelArg::Output(&out),
           KernelArg::Integer(static_cast<int64_t>(out.size() / form.bytes)), KernelArg::Integer(0)},
          &out, expected, form.bytes);
    EXPECT_EQ(engines, BytesOf(states)) << form.type;
  }
  EXPECT_EQ(executed_, 5);
}

TEST_F(RandomKernels, Mrg32k3a) {
  constexpr uint32_t kSteps = 1300, kFirstEngine = 37;
  Words before = RandomWords(kThreads * 6);
  for (uint32_t& word : before) word %= static_cast<uint32_t>(kM2);
  Words states = before;
  std::vector<uint32_t> integers;
  std::vector<float> floats;
  std::vector<double> doubles;
  for (uint32_t step = 0; step < kSteps; ++step) {
    const uint32_t v = Mrg(&states[(kFirstEngine + step % kThreads) % kThreads * 6]);
    integers.push_back(static_cast<uint32_t>((v - 1) * 1.000000048661606966));  // 2^32 / m1
    floats.push_back(static_cast<float>(v * 2.3283065498378288e-10));
    doubles.push_back(v * 2.3283065498378288e-10);  // 1 / (m1 - 1)
  }
  const auto check = [&](const std::string& type, const Raw& expected, size_t bytes) {
    Raw out(expected.size()), engines = BytesOf(before);
    Check(absl::StrCat("15generate_kernelI", type, "24mrg_uniform_distributionI", type,
                       "EEEvPN14rocrand_device15mrg32k3a_engineEjPT_mT0_"),
          {KernelArg::Output(&engines), KernelArg::Integer(kFirstEngine), KernelArg::Output(&out),
           KernelArg::Integer(kSteps), KernelArg::Integer(0)},
          &out, expected, bytes);
    EXPECT_EQ(engines, BytesOf(states)) << type;
  };
  check("j", BytesOf(integers), 4);
  check("f", BytesOf(floats), 4);
  check("d", BytesOf(doubles), 8);
  EXPECT_EQ(executed_, 3);
}

TEST_F(RandomKernels, Sobol) {
  constexpr uint32_t kSteps = 1300, kFirst = 12345;
  Words directions = RandomWords(32);
  std::vector<uint64_t> directions64;
  for (uint32_t word : directions) {
    directions64.push_back(uint64_t{word} << 32 | (word * 2654435761u));
    directions64.push_back(uint64_t{word * 40503u} << 32 | word);
  }
  std::vector<uint32_t> integers, integers64;
  std::vector<uint16_t> shorts;
  std::vector<uint8_t> bytes;
  std::vector<double> doubles, doubles64;
  Words low64;
  for (uint32_t i = 0; i < kSteps; ++i) {
    const uint32_t v = Sobol(directions, kFirst + i);
    integers.push_back(v);
    shorts.push_back(static_cast<uint16_t>(v >> 16));
    bytes.push_back(static_cast<uint8_t>(v >> 24));
    doubles.push_back(v * 0x1p-32 + 0x1p-32);
    const uint64_t v64 = Sobol(directions64, kFirst + i);
    integers64.push_back(static_cast<uint32_t>(v64 >> 32));
    // The function that makes a float takes 32 bits: of a 64-bit sequence, the low word.
    low64.push_back(static_cast<uint32_t>(v64));
    doubles64.push_back(static_cast<double>(v64 >> 11) * 0x1p-53 + 0x1p-53);
  }
  Raw table = BytesOf(directions), table64 = BytesOf(directions64);
  const auto check = [&](const std::string& types, bool wide, const Raw& expected, size_t element) {
    Raw out(expected.size());
    Check(absl::StrCat(wide ? "18generate_kernel_64ILj" : "15generate_kernelILj", types.substr(0, 1), "E",
                       types.substr(1), "26sobol_uniform_distributionI", types.substr(1), "EEEvPT0_mPK",
                       wide ? "y" : "j", "jT1_"),
          {KernelArg::Output(&out), KernelArg::Integer(kSteps), KernelArg::Input(wide ? &table64 : &table),
           KernelArg::Integer(kFirst), KernelArg::Integer(0)},
          &out, expected, element);
  };
  check("1j", false, BytesOf(integers), 4);
  check("2t", false, BytesOf(shorts), 2);
  check("4h", false, BytesOf(bytes), 1);
  check("1f", false, Floats(integers), 4);
  check("1d", false, BytesOf(doubles), 8);
  check("1j", true, BytesOf(integers64), 4);
  check("1f", true, Floats(low64), 4);
  check("1d", true, BytesOf(doubles64), 8);
  EXPECT_EQ(executed_, 8);
}

// Box and Muller: pairs of normal numbers from pairs of uniform ones, the sine first. What a kernel computes
// with approximate functions is compared within a bound.
std::vector<double> Normals(const Words& words, bool wide, double mean, double deviation) {
  std::vector<double> out;
  const auto unit = [&](size_t i) {  // the uniform number before 1 is added to its integer
    return wide ? static_cast<double>(uint64_t{words[i + 1]} << 21 ^ words[i]) * 0x1p-53
                : static_cast<double>(words[i]) * 0x1p-32;
  };
  for (size_t i = 0; i + (wide ? 4 : 2) <= words.size(); i += wide ? 4 : 2) {
    const double least = wide ? 0x1p-53 : 0x1p-32;
    double u = unit(i) + least;
    if (!wide) u = static_cast<float>(words[i]) * 0x1p-32f + 0x1p-32f;
    const double angle = 2 * 3.14159265358979323846 * (unit(i + (wide ? 2 : 1)) + least);
    const double radius = std::sqrt(-2 * std::log(u));
    out.push_back(mean + deviation * radius * std::sin(angle));
    out.push_back(mean + deviation * radius * std::cos(angle));
  }
  return out;
}

TEST_F(RandomKernels, NormalAndLogNormal) {
  constexpr uint32_t kWords = 5200;
  const double mean = 0.25, deviation = 1.5;
  Words philox, engine{1, 2, 3, 4};
  for (uint32_t i = 0; i < kWords / 4; ++i) {
    for (uint32_t word : Philox({1 + i, 2, 3, 4}, 5, 6)) philox.push_back(word);
  }
  engine.insert(engine.end(), philox.begin(), philox.begin() + 4);
  engine.insert(engine.end(), {5, 6, 0, 0});
  const Words before = RandomWords(kThreads * 6);
  double worst[2] = {0, 0};
  for (const bool wide : {false, true}) {
    Words states = before, xorwow;
    const uint32_t inputs = wide ? 4 : 2;
    for (uint32_t step = 0; step < kWords / inputs; ++step) {
      for (uint32_t i = 0; i < inputs; ++i) xorwow.push_back(Xorwow(&states[step % kThreads * 6]));
    }
    const Raw parameters =
        wide ? BytesOf(std::vector<double>{mean, deviation}) : BytesOf(std::vector<float>{0.25f, 1.5f});
    const std::string type = wide ? "d" : "f";
    for (const bool logarithmic : {false, true}) {
      for (const bool is_philox : {false, true}) {
        std::vector<double> expected = Normals(is_philox ? philox : xorwow, wide, mean, deviation);
        if (logarithmic) {
          for (double& value : expected) value = std::exp(value);
        }
        Raw out(expected.size() * (wide ? 8 : 4)), engines = BytesOf(before);
        const auto count = KernelArg::Integer(static_cast<int64_t>(expected.size()));
        std::vector<KernelArg> args;
        if (is_philox) {
          args = {KernelArg::Bytes(BytesOf(engine)), KernelArg::Output(&out), count};
        } else {
          args = {KernelArg::Output(&engines), KernelArg::Integer(0), KernelArg::Output(&out), count};
        }
        args.push_back(KernelArg::Bytes(parameters));
        const std::string name =
            absl::StrCat("15generate_kernelI", type,
                         logarithmic ? "23log_normal_distributionI" : "19normal_distributionI", type,
                         is_philox ? "EEEvNS0_27philox4x32_10_device_engineEPT_mT0_"
                                   : "EEEvPN14rocrand_device13xorwow_engineEjPT_mT0_");
        SCOPED_TRACE(name);
        auto kernel = object_->FindKernel("_ZN12rocrand_host6detailL" + name);
        ASSERT_TRUE(kernel.ok());
        absl::Status status = runner_->Run(**kernel, args, kGroups, kGroupSize);
        ASSERT_TRUE(status.ok()) << status.message();
        const Numbers got = Decode(wide ? ElementType::kF64 : ElementType::kF32, out);
        ASSERT_EQ(got.size(), expected.size());
        for (size_t i = 0; i < got.size(); ++i) {
          const double error = std::abs(got[i].real() - expected[i]) / std::max(1.0, std::abs(expected[i]));
          worst[wide] = std::max(worst[wide], error);
          ASSERT_LT(error, wide ? 1e-13 : 1e-5) << i << ": " << got[i].real() << " for " << expected[i];
        }
        ++executed_;
      }
    }
  }
  std::printf("worst errors %g (float) %g (double)\n", worst[0], worst[1]);
  EXPECT_EQ(executed_, 8);
}

}  // namespace
}  // namespace understudy::emu::amd
