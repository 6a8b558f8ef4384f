// SPDX-License-Identifier: Apache-2.0
// Kernels whose ranges end at variables: random kernels with every range made variable give, compiled once
// with random choices, what REF gives for the same kernel with constant ends, for several values of each
// variable (0 and the most among them).
#include <cstdlib>
#include <functional>
#include <map>
#include <random>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "src/base/status.h"
#include "src/codegen/codegen.h"
#include "src/render/render.h"
#include "src/runtime/clang/clang_device.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/machine/x86_device.h"
#include "src/runtime/opencl/opencl_device.h"
#include "src/runtime/ref/ref_device.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"
#include "src/uop/print.h"
#include "src/uop/sizes.h"
#include "tests/src/codegen/emulated_device.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {
namespace {

// The kernel with each range's end replaced.
UOpRef WithEnds(const UOpRef& kernel, const std::function<UOpRef(const UOp& range)>& end) {
  uop::SubstitutionMap map;
  for (const UOpRef& r : uop::NodesOf(kernel, Op::kRange))
    map[r] = uop::Range(end(*r), r->arg_as<RangeArg>().id, r->arg_as<RangeArg>().kind);
  return uop::Substitute(kernel, map);
}

std::string NameOf(const UOp& range) { return "n" + std::to_string(range.arg_as<RangeArg>().id); }

// By name, as launches take them.
std::map<std::string, int64_t> Draw(const UOpRef& kernel, int round, std::mt19937_64& random) {
  std::map<std::string, int64_t> values;
  for (const UOpRef& r : uop::NodesOf(kernel, Op::kRange)) {
    const int64_t most = r->src(0)->const_int();
    values[NameOf(*r)] =
        round == 0 ? most : std::min<int64_t>(most, static_cast<int64_t>(random() % (most + 1)));
  }
  return values;
}

absl::StatusOr<std::vector<uint8_t>> Launch(Device& device, Program& program, const RandomKernel& k,
                                            const std::vector<int64_t>& vars) {
  std::vector<Allocation> buffers;
  for (const auto& bytes : k.bytes) {
    US_ASSIGN_OR_RETURN(const Allocation a, device.Allocate(bytes.size()));
    US_RETURN_IF_ERROR(device.CopyIn(a, bytes.data(), bytes.size()));
    buffers.push_back(a);
  }
  US_RETURN_IF_ERROR(device.Launch(program, buffers, vars, nullptr));
  std::vector<uint8_t> out(k.bytes[0].size());
  US_RETURN_IF_ERROR(device.CopyOut(out.data(), buffers[0], out.size()));
  for (const Allocation& a : buffers) US_RETURN_IF_ERROR(device.Free(a));
  return out;
}

void EqualsRef(Device& device, uint64_t count, int rounds, int* padded) {
  RefDevice ref;
  const auto [first, end] = RandomSeeds(count);
  for (uint64_t seed = first; seed < end; ++seed) {
    const RandomKernel k = MakeRandomKernel(seed * 104729);
    const UOpRef variable =
        WithEnds(k.kernel, [](const UOp& r) { return uop::Var(NameOf(r), 0, r.src(0)->const_int()); });
    const ChoiceList choices = RandomChoices(variable, device.target(), seed, 4, !OrderMatters(k.kernel));
    for (const Choice& c : choices)
      *padded += c.kind == ChoiceKind::kPadOutput || c.kind == ChoiceKind::kPadReduce;
    const std::string what =
        absl::StrCat("seed ", seed, " choices ", ChoicesText(choices), "\n", uop::Print(variable));
    const auto program = device.Compile(variable, &choices);
    if (absl::IsUnimplemented(program.status()) && what.find("vectorize(") != std::string::npos) continue;
    ASSERT_TRUE(program.ok()) << program.status() << "\n" << what;
    std::mt19937_64 random(seed);
    for (int round = 0; round < rounds; ++round) {
      const auto values = Draw(k.kernel, round, random);
      std::vector<int64_t> vars;
      std::string text;
      for (const auto& [name, value] : values) {
        vars.push_back(value);
        absl::StrAppend(&text, name, "=", value, " ");
      }
      RandomKernel fixed = k;
      fixed.kernel = WithEnds(k.kernel, [&](const UOp& r) { return uop::IndexConst(values.at(NameOf(r))); });
      const auto expected = RunKernel(ref, fixed, nullptr);
      ASSERT_TRUE(expected.ok()) << expected.status() << "\n" << what;
      const auto got = Launch(device, **program, k, vars);
      ASSERT_TRUE(got.ok()) << got.status() << "\n" << text << what;
      ASSERT_EQ(Difference(k.dtypes[0], *expected, *got), "") << text << what;
    }
  }
}

TEST(VariableRanges, OnRef) {
  RefDevice device;
  int padded = 0;
  EqualsRef(device, 100, 4, &padded);
}

TEST(VariableRanges, OnTheCpuByLlvm) {
  CpuDevice device;
  int padded = 0;
  EqualsRef(device, 25, 4, &padded);
  EXPECT_GT(padded, 5);
}

TEST(VariableRanges, OnTheCpuByMachineCode) {
  const auto device = X86Device::Open();
  if (!device.ok()) GTEST_SKIP() << device.status();
  int padded = 0;
  EqualsRef(**device, 40, 4, &padded);
  EXPECT_GT(padded, 5);
}

TEST(VariableRanges, OnEmulatedGpus) {
  for (const char* isa : {"gfx1100", "gfx942"}) {
    EmulatedDevice device(isa);
    int padded = 0;
    EqualsRef(device, 12, 3, &padded);
    EXPECT_GT(padded, 2);
  }
}

TEST(VariableRanges, AsCText) {
  const auto device = ClangDevice::Open();
  if (!device.ok()) GTEST_SKIP() << device.status();
  int padded = 0;
  EqualsRef(**device, 8, 3, &padded);
}

TEST(VariableRanges, AsOpenClText) {
  if (const char* folder = std::getenv("TEST_TMPDIR")) setenv("POCL_CACHE_DIR", folder, 0);
  const auto device = OpenClDevice::Open();
  if (absl::IsNotFound(device.status())) GTEST_SKIP() << device.status();
  ASSERT_TRUE(device.ok()) << device.status();
  int padded = 0;
  EqualsRef(**device, 12, 3, &padded);
}

TEST(VariableRanges, LoopsEndAtTheVariableAndGridsHaveRoomForTheMost) {
  const UOpRef rows = uop::Var("rows", 0, 100), n = uop::Var("n", 0, 1000);
  const UOpRef i = uop::Range(rows, 0, AxisKind::kGlobal), r = uop::Range(n, 1, AxisKind::kReduce);
  using namespace uop::expr;  // NOLINT
  const UOpRef sum =
      uop::Reduce(Op::kAdd, uop::Load(uop::IndexOf(uop::Param(dtypes::kFloat32, 1), i * 1000 + r)), {r});
  const UOpRef kernel =
      uop::Sink({uop::Store(uop::IndexOf(uop::Param(dtypes::kFloat32, 0), i), sum, {i})}, "sums");
  const ChoiceList none;
  const auto loops = LowerKernel(kernel, HostTarget(), &none);
  ASSERT_TRUE(loops.ok()) << loops.status();
  int variable = 0;
  for (const UOpRef& op : loops->ops) variable += op->op() == Op::kRange && !op->src(0)->IsConst();
  EXPECT_EQ(variable, 2);
  const auto grid = LowerKernel(kernel, Gfx1100Target(), &none);
  ASSERT_TRUE(grid.ok()) << grid.status();
  EXPECT_EQ(grid->global[0], 100);
  EXPECT_EQ(grid->ops.back()->op(), Op::kEndIf);
  EXPECT_EQ(grid->vars.size(), 2u);
  const auto refused = CheckChoice(kernel, HostTarget(), {}, {ChoiceKind::kUpcast, 0, 4});
  EXPECT_NE(refused.message().find("must be at least 2 and divide rows"), std::string::npos) << refused;
  EXPECT_TRUE(
      CheckChoice(kernel, HostTarget(), {{ChoiceKind::kPadOutput, 0, 4}}, {ChoiceKind::kUpcast, 0, 4}).ok());
}

}  // namespace
}  // namespace understudy::test
