// SPDX-License-Identifier: Apache-2.0
// Code objects for gfx1100: they build for every type and every kind of choice, are what the loader expects,
// and need no symbol from outside. LLVM's own object reader and disassembler are the judges.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "src/codegen/codegen.h"
#include "src/render/render.h"
#include "src/uop/build.h"
#include "src/uop/print.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {
namespace {

using namespace uop::expr;  // NOLINT
using uop::IndexOf;
using uop::Load;
using uop::Param;
using uop::Range;

// Kernel code object with all that a loader needs.
void CheckCodeObject(const CompiledKernel& k) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(k.code.data()), k.code.size());
  auto object = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, k.name));
  ASSERT_TRUE(static_cast<bool>(object)) << llvm::toString(object.takeError());
  const auto* elf = llvm::cast<llvm::object::ELF64LEObjectFile>(object->get());
  const auto& header = elf->getELFFile().getHeader();
  EXPECT_EQ(header.e_machine, llvm::ELF::EM_AMDGPU);
  EXPECT_EQ(header.e_ident[llvm::ELF::EI_ABIVERSION], llvm::ELF::ELFABIVERSION_AMDGPU_HSA_V5);
  EXPECT_EQ(header.e_flags & llvm::ELF::EF_AMDGPU_MACH, llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1100);
  bool code = false, descriptor = false;
  for (const llvm::object::ELFSymbolRef symbol : elf->getDynamicSymbolIterators()) {
    const std::string name = llvm::cantFail(symbol.getName()).str();
    code |= name == k.name;
    descriptor |= name == k.name + ".kd";
    EXPECT_FALSE(llvm::cantFail(symbol.getFlags()) & llvm::object::SymbolRef::SF_Undefined) << name;
  }
  EXPECT_TRUE(code) << k.name;
  EXPECT_TRUE(descriptor) << k.name;
}

absl::StatusOr<CompiledKernel> Compile(const UOpRef& kernel, const ChoiceList* choices) {
  const Target target = Gfx1100Target();
  auto linear = LowerKernel(kernel, target, choices);
  if (!linear.ok()) return linear.status();
  auto compiled = RenderLlvm(*linear, target);
  if (compiled.ok()) {
    if (const char* folder = std::getenv("DUMP_CODE_OBJECTS")) {
      std::ofstream(std::string(folder) + "/" + compiled->name + ".co", std::ios::binary)
          .write(reinterpret_cast<const char*>(compiled->code.data()),
                 static_cast<std::streamsize>(compiled->code.size()));
      std::ofstream(std::string(folder) + "/" + compiled->name + ".ll") << compiled->text;
    }
  }
  return compiled;
}

UOpRef Matmul(int n) {
  const UOpRef i = Range(n, 0, AxisKind::kGlobal), j = Range(n, 1, AxisKind::kGlobal),
               k = Range(n, 2, AxisKind::kReduce);
  const UOpRef product = Load(IndexOf(Param(dtypes::kFloat32, 1), i * n + k)) *
                         Load(IndexOf(Param(dtypes::kFloat32, 2), k * n + j));
  return uop::Sink({uop::Store(IndexOf(Param(dtypes::kFloat32, 0), i * n + j),
                               uop::Reduce(Op::kAdd, product, {k}), {i, j})},
                   "matmul");
}

TEST(Amdgcn, MatmulWithLocalsUpcastsAndGroups) {
  for (const char* text : {"", "upcast(0,4) vectorize(1,4) unroll(0,4) local(0,8) local(1,8)",
                           "group(0,16) local(1,8)", "group(0,16) vectorize(1,4) unroll(0,8)"}) {
    const ChoiceList choices = *ParseChoices(text);
    const auto k = Compile(Matmul(128), &choices);
    ASSERT_TRUE(k.ok()) << text << ": " << k.status().ToString();
    CheckCodeObject(*k);
  }
  const auto k = Compile(Matmul(128), nullptr);
  ASSERT_TRUE(k.ok()) << k.status().ToString();
  CheckCodeObject(*k);
}

// Every type through load, arithmetic and store; every cast between any two types.
TEST(Amdgcn, EveryTypeAndCast) {
  for (int s = static_cast<int>(Scalar::kBool); s < static_cast<int>(Scalar::kIndex); ++s) {
    const DType t{static_cast<Scalar>(s)};
    const UOpRef i = Range(64, 0, AxisKind::kGlobal);
    const UOpRef x = Load(IndexOf(Param(t, 1), i));
    UOpRef sum = x;
    for (int u = static_cast<int>(Scalar::kBool); u < static_cast<int>(Scalar::kIndex); ++u) {
      sum = uop::Max(sum, uop::Cast(uop::Cast(x, DType(static_cast<Scalar>(u))), t));
    }
    if (t.IsFloat()) sum = uop::Sin(uop::Exp2(uop::Log2(sum))) / uop::Sqrt(x);
    if (t.IsInt()) sum = uop::FloorDiv(sum, x) + uop::IMod(x, sum);
    const auto k =
        Compile(uop::Sink({uop::Store(IndexOf(Param(t, 0), i), sum, {i})}, "every_" + t.Name()), nullptr);
    ASSERT_TRUE(k.ok()) << t.Name() << ": " << k.status().ToString();
    CheckCodeObject(*k);
  }
}

TEST(Amdgcn, RandomKernelsWithRandomChoices) {
  const Target target = Gfx1100Target();
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const RandomKernel k = MakeRandomKernel(seed, {.transcendental = seed % 4 == 0});
    const ChoiceList choices = RandomChoices(k.kernel, target, seed, static_cast<int>(seed % 4), true);
    const auto compiled = Compile(k.kernel, &choices);
    ASSERT_TRUE(compiled.ok()) << "seed " << seed << ", " << ChoicesText(choices) << ": "
                               << compiled.status().ToString() << "\n"
                               << uop::Print(k.kernel);
    CheckCodeObject(*compiled);
  }
}

TEST(Amdgcn, NamesWhatItRefuses) {
  const ChoiceList odd = *ParseChoices("local(0,3)");
  EXPECT_EQ(Compile(Matmul(128), &odd).status().message(),
            "kernel matmul: choice local(0,3): the amount must be at least 2 and divide 128");
  const ChoiceList large = *ParseChoices("local(0,64) local(1,32)");
  EXPECT_EQ(Compile(Matmul(128), &large).status().message(),
            "kernel matmul: choice local(1,32): more than 1024 work-items a workgroup");
  LinearKernel linear;
  linear.name = "x";
  Target target;
  target.isa = "sm_90";
  EXPECT_EQ(RenderLlvm(linear, target).status().message(),
            "the LLVM renderer has no target 'sm_90'; expected host or gfx...");
  target.isa = "gfx9999";
  EXPECT_EQ(RenderLlvm(linear, target).status().message(), "LLVM does not know the processor 'gfx9999'");
}

}  // namespace
}  // namespace understudy::test
