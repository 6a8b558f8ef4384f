// SPDX-License-Identifier: Apache-2.0
// Thousands of matrix products of random elements, all of them distinct or nearly so, give the bits that an
// H200 gave: every form of mma, mma.sp, wmma.mma and wgmma with every selector, shape of fragments,
// descriptor layout and modifier (tests/data/conformance/ptx/mma_seeded.jsonl). Inputs are made again from
// seeds, results are hashes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "emu/ptx/semantics/tensor_core.h"
#include "tests/emu/ptx/mma/matrix_machine.h"
#include "tests/emu/ptx/mma/seeded_inputs.h"

namespace understudy::emu::ptx {
namespace {

using nlohmann::json;
using Arg = MatrixMachine::Arg;

Type TypeOf(const json& name) {
  Type type = Type::kNone;
  FindType(name.get<std::string>(), &type);
  return type;
}
int RegisterBits(Type type) { return type == Type::kF64 ? 64 : 32; }

void Fill(MatrixMachine& machine, int arg, int regs, int lanes, const std::vector<uint64_t>& values) {
  for (int reg = 0; reg < regs; ++reg)
    for (int lane = 0; lane < lanes; ++lane) machine.Set(arg, reg, lane, values[reg * lanes + lane]);
}

std::vector<uint32_t> Results(const MatrixMachine& machine, int regs, int lanes, Type type) {
  std::vector<uint32_t> words;
  for (int reg = 0; reg < regs; ++reg)
    for (int lane = 0; lane < lanes; ++lane) {
      const uint64_t value = machine.Get(0, reg, lane);
      words.push_back(static_cast<uint32_t>(value));
      if (RegisterBits(type) == 64) words.push_back(static_cast<uint32_t>(value >> 32));
    }
  return words;
}

// A stored column of ones and rows of B that spell their number in octal digits.
void FillOneHot(MatrixMachine& machine, Type type, int ra, int rb, int column) {
  const auto encode = [type](uint32_t v) -> uint32_t {
    static constexpr uint8_t kE4m3[] = {0, 0x38, 0x40, 0x44, 0x48, 0x4A, 0x4C, 0x4E};
    if (type == Type::kE4m3) return kE4m3[v];
    if (type != Type::kTf32) return v;
    const float f = static_cast<float>(v);
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    return bits;
  };
  const int bits = TypeBits(type), per = 32 / bits;
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < ra; ++r) {
      uint32_t word = 0;
      for (int e = 0; e < per; ++e)
        if ((4 * (r >> 1) + lane % 4) * per + e == column) word |= encode(1) << (bits * e);
      machine.Set(1, r, lane, word);
    }
    for (int r = 0; r < rb; ++r) {
      uint32_t word = 0;
      for (int e = 0; e < per; ++e) {
        const uint32_t k = (4 * r + lane % 4) * per + e, n = lane / 4;
        word |= encode(n < 3 ? (k >> (3 * n)) & 7 : 0) << (bits * e);
      }
      machine.Set(2, r, lane, word);
    }
  }
}

std::vector<uint32_t> RunRegisters(const json& line, int index, std::string* message) {
  const Type d = TypeOf(line["types"][0]), a = TypeOf(line["types"][1]), b = TypeOf(line["types"][2]),
             c = TypeOf(line["types"][3]);
  const std::vector<int> regs = line["regs"];
  std::vector<Arg> args = {Arg::Vector(regs[3], RegisterBits(d)), Arg::Vector(regs[0], RegisterBits(a)),
                           Arg::Vector(regs[1], RegisterBits(b)), Arg::Vector(regs[2], RegisterBits(c))};
  if (line.contains("selector")) {
    args.push_back(Arg::Register());
    args.push_back(Arg::Constant(line["selector"]));
  }
  MatrixMachine machine(line["op"], args);
  const std::string cls_name = line["class"];
  const InputClass cls = InputClassOf(cls_name);
  const uint64_t seed = line["seed"];
  const int sample = line["first"].get<int>() + index;
  if (cls_name == "onehot") {
    FillOneHot(machine, a, regs[0], regs[1], sample);
  } else {
    Fill(machine, 1, regs[0], 32, SeededRegisters(a, regs[0], cls, seed, InputStream::kA, sample, 32));
    Fill(machine, 2, regs[1], 32, SeededRegisters(b, regs[1], cls, seed, InputStream::kB, sample, 32));
    Fill(machine, 3, regs[2], 32, SeededRegisters(c, regs[2], cls, seed, InputStream::kC, sample, 32));
  }
  if (line.contains("selector")) {
    const std::vector<uint32_t> metadata = SeededMetadata(a, seed, sample, 32);
    for (int lane = 0; lane < 32; ++lane) machine.Set(4, 0, lane, metadata[lane]);
  }
  *message = machine.Run();
  return Results(machine, regs[3], 32, d);
}

constexpr int kShared = 65536;

std::vector<uint32_t> RunWarpgroup(const json& line, int index, std::string* message) {
  const Type d = TypeOf(line["types"][0]), a = TypeOf(line["types"][1]), b = TypeOf(line["types"][2]);
  const int rd = line["regs"][3], sample = line["first"].get<int>() + index;
  const bool sparse = line.contains("selector"), a_regs = line["a_regs"];
  const int k = line["k"], ra = 16 * (sparse ? k / 2 : k) * TypeBits(a) / 1024;
  std::vector<Arg> args = {Arg::Vector(rd), a_regs ? Arg::Vector(ra) : Arg::Register(64), Arg::Register(64)};
  if (sparse) {
    args.push_back(Arg::Register());
    args.push_back(Arg::Constant(line["selector"]));
  }
  args.push_back(Arg::Predicate());
  const int scale = static_cast<int>(args.size()) - 1;
  if (d == Type::kF16 || d == Type::kF32) {
    args.push_back(Arg::Constant(line["imm"][0]));
    args.push_back(Arg::Constant(line["imm"][1]));
    if (TypeBits(a) == 16) {
      if (!a_regs) args.push_back(Arg::Constant(line["trans"][0]));
      args.push_back(Arg::Constant(line["trans"][1]));
    }
  }
  MatrixMachine machine(line["op"], args, 4);
  const InputClass cls = InputClassOf(line["class"]);
  const uint64_t seed = line["seed"];
  machine.shared().resize(kShared);
  const auto put = [&](int at, const std::vector<uint64_t>& words) {
    for (size_t i = 0; i < words.size(); ++i) {
      const uint32_t word = static_cast<uint32_t>(words[i]);
      std::memcpy(machine.shared().data() + at + 4 * i, &word, 4);
    }
  };
  constexpr int kRows = kShared / 2 / 128;
  put(0, SeededRegisters(a, kRows, cls, seed, InputStream::kShared, sample, 32));
  put(kShared / 2, SeededRegisters(b, kRows, cls, seed, InputStream::kB, sample, 32));
  const auto descriptor = [&](const json& fields, uint64_t at) {
    const uint64_t start = at / 16 + (fields.size() > 4 ? fields[4].get<uint64_t>() : 0);
    return start | fields[1].get<uint64_t>() << 16 | fields[2].get<uint64_t>() << 32 |
           fields[3].get<uint64_t>() << 49 | fields[0].get<uint64_t>() << 62;
  };
  for (int lane = 0; lane < 128; ++lane) {
    if (!a_regs) machine.Set(1, 0, lane, descriptor(line["desc_a"], 0));
    machine.Set(2, 0, lane, descriptor(line["desc_b"], kShared / 2));
    machine.Set(scale, 0, lane, line["scale_d"].get<int>());
  }
  if (a_regs) Fill(machine, 1, ra, 128, SeededRegisters(a, ra, cls, seed, InputStream::kA, sample, 128));
  Fill(machine, 0, rd, 128, SeededRegisters(d, rd, cls, seed, InputStream::kC, sample, 128));
  if (sparse) {
    const std::vector<uint32_t> metadata = SeededMetadata(a, seed, sample, 128);
    for (int lane = 0; lane < 128; ++lane) machine.Set(3, 0, lane, metadata[lane]);
  }
  *message = machine.Run();
  return Results(machine, rd, 128, d);
}

class MmaSeeded : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Kernels, MmaSeeded, testing::Range(0, NumTensorKernels()),
                         [](const auto& info) { return std::string(TensorKernelName(info.param)); });

TEST_P(MmaSeeded, EverySampleIsBitEqual) {
  UseTensorKernels(GetParam());
  const char* path = std::getenv("MMA_SEEDED");
  std::ifstream in(path != nullptr ? path : "tests/data/conformance/ptx/mma_seeded.jsonl");
  int samples = 0, lines = 0, equal = 0;
  for (std::string text; std::getline(in, text);) {
    const json line = json::parse(text);
    ++lines;
    int line_equal = 0;
    std::string message, detail;
    for (size_t i = 0; i < line["hash"].size(); ++i) {
      const std::vector<uint32_t> words = line.contains("a_regs")
                                              ? RunWarpgroup(line, static_cast<int>(i), &message)
                                              : RunRegisters(line, static_cast<int>(i), &message);
      ++samples;
      if (!message.empty()) break;
      char hash[20];
      std::snprintf(hash, sizeof(hash), "%016llx", static_cast<unsigned long long>(HashWords(words)));
      if (line["hash"][i] == hash) {
        ++line_equal;
      } else if (line.contains("d")) {
        const std::string want = line["d"][i];
        int differ = 0;
        for (size_t w = 0; w < words.size(); ++w) {
          const uint32_t wanted = static_cast<uint32_t>(std::stoul(want.substr(8 * w, 8), nullptr, 16));
          if (words[w] == wanted) continue;
          if (++differ <= 3) {
            char one[80];
            std::snprintf(one, sizeof(one), " [%zu] %08x, recorded %08x", w, words[w], wanted);
            detail += one;
          }
        }
        detail += " (" + std::to_string(differ) + " of " + std::to_string(words.size()) + " words)";
      }
    }
    equal += line_equal;
    EXPECT_EQ(line_equal, static_cast<int>(line["hash"].size()))
        << line["op"] << " " << line["class"] << " seed " << line["seed"] << " " << message << detail;
  }
  EXPECT_EQ(equal, samples);
  EXPECT_GT(lines, 1000);
  RecordProperty("samples", samples);
  std::printf("%d of %d samples of %d lines are bit-equal\n", equal, samples, lines);
}

}  // namespace
}  // namespace understudy::emu::ptx
