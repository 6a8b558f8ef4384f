// SPDX-License-Identifier: Apache-2.0
// Thousands of matrix products of random elements, all of them distinct or nearly so, give the bits that an
// H200 gave: every form of mma, mma.sp, wmma.mma and wgmma with every selector, shape of fragments,
// descriptor layout and modifier (tests/data/conformance/ptx/mma_seeded.jsonl). Inputs are made again from
// seeds, results are hashes.
#include <gtest/gtest.h>

#include <cstring>

#include "emu/ptx/conform/seeded_inputs.h"
#include "emu/ptx/semantics/tensor_core.h"
#include "tests/emu/ptx/mma/matrix_machine.h"

namespace understudy::emu::ptx {
namespace {

using Arg = MatrixMachine::Arg;
using conform::Seeded;
using conform::SeededInputs;

int RegisterBits(Type type) { return type == Type::kF64 ? 64 : 32; }

void Fill(MatrixMachine& machine, int arg, int lanes, const std::vector<uint64_t>& values) {
  for (size_t i = 0; i < values.size(); ++i)
    machine.Set(arg, static_cast<int>(i) / lanes, static_cast<int>(i) % lanes, values[i]);
}

std::vector<uint64_t> Results(const MatrixMachine& machine, int regs, int lanes) {
  std::vector<uint64_t> values;
  for (int reg = 0; reg < regs; ++reg)
    for (int lane = 0; lane < lanes; ++lane) values.push_back(machine.Get(0, reg, lane));
  return values;
}

std::vector<uint64_t> RunRegisters(const Seeded& seeded, int index, std::string* message) {
  std::vector<Arg> args;
  for (int i = 0; i < 4; ++i) args.push_back(Arg::Vector(seeded.registers[i], RegisterBits(seeded.types[i])));
  if (seeded.sparse) {
    args.push_back(Arg::Register());
    args.push_back(Arg::Constant(seeded.selector));
  }
  MatrixMachine machine(seeded.op, args);
  const SeededInputs inputs = InputsOf(seeded, index);
  Fill(machine, 1, 32, inputs.a);
  Fill(machine, 2, 32, inputs.b);
  Fill(machine, 3, 32, inputs.c);
  if (seeded.sparse) Fill(machine, 4, 32, inputs.metadata);
  *message = machine.Run();
  return Results(machine, seeded.registers[0], 32);
}

std::vector<uint64_t> RunWarpgroup(const Seeded& seeded, int index, std::string* message) {
  const Type d = seeded.types[0], a = seeded.types[1];
  const int rd = seeded.registers[0], ra = seeded.registers[1];
  std::vector<Arg> args = {Arg::Vector(rd), ra != 0 ? Arg::Vector(ra) : Arg::Register(64), Arg::Register(64)};
  if (seeded.sparse) {
    args.push_back(Arg::Register());
    args.push_back(Arg::Constant(seeded.selector));
  }
  args.push_back(Arg::Predicate());
  const int scale = static_cast<int>(args.size()) - 1;
  if (d == Type::kF16 || d == Type::kF32) {
    args.push_back(Arg::Constant(seeded.scale_a));
    args.push_back(Arg::Constant(seeded.scale_b));
    if (TypeBits(a) == 16) {
      if (ra == 0) args.push_back(Arg::Constant(seeded.transpose_a));
      args.push_back(Arg::Constant(seeded.transpose_b));
    }
  }
  MatrixMachine machine(seeded.op, args, 4);
  const SeededInputs inputs = InputsOf(seeded, index);
  machine.shared().resize(inputs.shared.size() * 4);
  for (size_t i = 0; i < inputs.shared.size(); ++i)
    std::memcpy(&machine.shared()[4 * i], &inputs.shared[i], 4);
  const auto descriptor = [](uint64_t fields, size_t at, int start) {
    return fields | (at / 16 + static_cast<uint64_t>(start));
  };
  for (int lane = 0; lane < 128; ++lane) {
    if (ra == 0) machine.Set(1, 0, lane, descriptor(seeded.descriptor_a, 0, seeded.start_a));
    machine.Set(2, 0, lane, descriptor(seeded.descriptor_b, conform::kOperandBytes, seeded.start_b));
    machine.Set(scale, 0, lane, seeded.accumulate);
  }
  if (ra != 0) Fill(machine, 1, 128, inputs.a);
  Fill(machine, 0, 128, inputs.c);
  if (seeded.sparse) Fill(machine, 3, 128, inputs.metadata);
  *message = machine.Run();
  return Results(machine, rd, 128);
}

class MmaSeeded : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Kernels, MmaSeeded, testing::Range(0, NumTensorKernels()),
                         [](const auto& info) { return std::string(TensorKernelName(info.param)); });

TEST_P(MmaSeeded, EverySampleIsBitEqual) {
  UseTensorKernels(GetParam());
  const auto vectors = conform::LoadVectors("tests/data/conformance/ptx/mma_seeded.jsonl");
  ASSERT_TRUE(vectors.ok()) << vectors.status();
  int samples = 0, equal = 0;
  for (const conform::Vector& vector : *vectors) {
    const Seeded& seeded = std::get<Seeded>(vector.what);
    int line_equal = 0;
    std::string message;
    for (int i = 0; i < seeded.samples && message.empty(); ++i) {
      const std::vector<uint64_t> got =
          seeded.warpgroup ? RunWarpgroup(seeded, i, &message) : RunRegisters(seeded, i, &message);
      const uint64_t hash =
          conform::HashRegisters(got.data(), got.size(), RegisterBits(seeded.types[0]) == 64);
      line_equal += message.empty() && hash == seeded.hashes[static_cast<size_t>(i)];
    }
    samples += seeded.samples;
    equal += line_equal;
    EXPECT_EQ(line_equal, seeded.samples) << "line " << vector.line << ": " << seeded.op << " "
                                          << seeded.input_class << " seed " << seeded.seed << " " << message;
  }
  EXPECT_EQ(equal, samples);
  EXPECT_EQ(vectors->size(), 2026u);
  RecordProperty("samples", samples);
  std::printf("%d of %d samples of %zu lines are bit-equal\n", equal, samples, vectors->size());
}

}  // namespace
}  // namespace understudy::emu::ptx
