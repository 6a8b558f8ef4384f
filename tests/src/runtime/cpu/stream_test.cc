// SPDX-License-Identifier: Apache-2.0
// Stores past the caches: where the heuristic asks for them, what of it reaches the machine, and that the
// bytes are REF's wherever the buffers lie.
#include <gtest/gtest.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/codegen/choices.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/ref/ref_device.h"
#include "src/uop/build.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {
namespace {

using namespace uop::expr;  // NOLINT
using uop::IndexOf;
using uop::Load;
using uop::Param;
using uop::Range;

// A host to which every output is large.
Target Streaming() {
  Target t = CpuDevice().target();
  t.stream_bytes = 1;
  t.vector_bytes = 64;
  return t;
}

std::vector<uint8_t> Counted(int64_t n) {
  std::vector<uint8_t> bytes(n * 4);
  for (int64_t i = 0; i < n; ++i) {
    const float v = static_cast<float>(i * 7919 % 4001) / 3;
    std::memcpy(&bytes[i * 4], &v, 4);
  }
  return bytes;
}
RandomKernel With(UOpRef kernel, int64_t out, int64_t in) {
  return {std::move(kernel),
          {dtypes::kFloat32, dtypes::kFloat32},
          {std::vector<uint8_t>(out * 4, 0xa5), Counted(in)}};
}
// out[i, j] = in[i, j] * 2 + 1, or in[j, i] * 2 + 1.
RandomKernel Elementwise(int64_t rows, int64_t columns, bool transposed) {
  const UOpRef i = Range(rows, 0, AxisKind::kGlobal), j = Range(columns, 1, AxisKind::kGlobal);
  const UOpRef x = Load(IndexOf(Param(dtypes::kFloat32, 1), transposed ? j * rows + i : i * columns + j));
  return With(
      uop::Sink({uop::Store(IndexOf(Param(dtypes::kFloat32, 0), i * columns + j), x * 2.0 + 1.0, {i, j})},
                "k"),
      rows * columns, rows * columns);
}
size_t Occurrences(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Stream, LargeOutputsAreStoredInWholeVectorsPastTheCaches) {
  CpuDevice cpu(Streaming());
  EXPECT_EQ(ChoicesText(HeuristicChoices(Elementwise(5, 64, false).kernel, cpu.target())),
            "vectorize(1,16) upcast(1,4) stream(0,0)");
  EXPECT_EQ(ChoicesText(HeuristicChoices(Elementwise(32, 64, true).kernel, cpu.target())),
            "upcast(1,16) upcast(0,8) swap(0,1) stream(0,0)");
  const auto program = cpu.Compile(Elementwise(5, 64, false).kernel, nullptr);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(Occurrences((*program)->text(), "align 64, !nontemporal"), 4u) << (*program)->text();
  Target plain = cpu.target();
  plain.stream_bytes = 5 * 64 * 4 + 1;
  EXPECT_EQ(ChoicesText(HeuristicChoices(Elementwise(5, 64, false).kernel, plain)), "");
}

TEST(Stream, StoresOfUnknownAlignmentStayAsTheyAre) {
  CpuDevice cpu(Streaming());
  const ChoiceList choices = *ParseChoices("vectorize(1,16) stream(0,0)");
  for (const int64_t columns : {40, 33}) {
    const RandomKernel k = Elementwise(4, columns, false);
    const auto program = cpu.Compile(k.kernel, &choices);
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_EQ(Occurrences((*program)->text(), "!nontemporal"), 0u) << columns;
  }
}

TEST(Stream, BuffersOffTheLineGetTheSameValues) {
  CpuDevice cpu(Streaming());
  RefDevice ref;
  for (const bool transposed : {false, true}) {
    const RandomKernel k = Elementwise(32, 64, transposed);
    const size_t bytes = k.bytes[0].size();
    const auto program = cpu.Compile(k.kernel, nullptr);
    ASSERT_TRUE(program.ok()) << program.status();
    const std::vector<uint8_t> expected = *RunKernel(ref, k, nullptr);
    const Allocation out = *cpu.Allocate(bytes + 64), in = *cpu.Allocate(bytes + 64);
    for (const size_t out_at : {0, 4, 32, 60}) {
      for (const size_t in_at : {0, 8}) {
        ASSERT_TRUE(cpu.CopyIn(in.Slice(in_at, bytes), k.bytes[1].data(), bytes).ok());
        ASSERT_TRUE(cpu.Launch(**program, {out.Slice(out_at, bytes), in.Slice(in_at, bytes)}).ok());
        std::vector<uint8_t> got(bytes);
        ASSERT_TRUE(cpu.CopyOut(got.data(), out.Slice(out_at, bytes), bytes).ok());
        EXPECT_EQ(Difference(dtypes::kFloat32, expected, got), "") << out_at << " " << in_at;
      }
    }
    ASSERT_TRUE(cpu.Free(out).ok() && cpu.Free(in).ok());
  }
}

TEST(Stream, RandomKernelsGiveRefsBits) {
  CpuDevice cpu(Streaming());
  RefDevice ref;
  int streamed = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const RandomKernel k = MakeRandomKernel(seed * 17, {.transcendental = true, .reduce = seed % 2 == 0});
    if (OrderMatters(k.kernel)) continue;
    const auto expected = RunKernel(ref, k, nullptr), got = RunKernel(cpu, k, nullptr);
    ASSERT_TRUE(expected.ok()) << expected.status();
    ASSERT_TRUE(got.ok()) << got.status();
    const std::string choices = ChoicesText(HeuristicChoices(k.kernel, cpu.target()));
    streamed += choices.find("stream") != std::string::npos;
    EXPECT_EQ(Difference(k.dtypes[0], *expected, *got), "") << "seed " << seed * 17 << ": " << choices;
  }
  EXPECT_GT(streamed, 20);
}

TEST(Stream, RefusalsSayWhy) {
  Target t = Streaming();
  const UOpRef kernel = Elementwise(4, 16, false).kernel;
  const UOpRef i = Range(16, 0, AxisKind::kGlobal);
  const UOpRef place = IndexOf(Param(dtypes::kFloat32, 0), i);
  const UOpRef in_place = uop::Sink({uop::Store(place, Load(place) + 1.0, {i})}, "k");
  const auto refusal = [&](const UOpRef& k, const std::string& text) {
    ChoiceList list = *ParseChoices(text);
    const Choice last = list.back();
    list.pop_back();
    return std::string(CheckChoice(k, t, list, last).message());
  };
  EXPECT_EQ(refusal(kernel, "stream(0,0)"), "");
  EXPECT_EQ(refusal(kernel, "stream(0,1)"), "choice stream(0,1): the kernel does not store to it");
  EXPECT_EQ(refusal(kernel, "stream(1,0)"), "choice stream(1,0): it takes (0, a PARAM)");
  EXPECT_EQ(refusal(kernel, "stream(0,0) stream(0,0)"), "choice stream(0,0): given twice");
  EXPECT_EQ(refusal(in_place, "stream(0,0)"), "choice stream(0,0): the kernel reads it");
  t.stream_bytes = 0;
  EXPECT_EQ(refusal(kernel, "stream(0,0)"), "choice stream(0,0): the target has no stores past its caches");
}

}  // namespace
}  // namespace understudy::test
