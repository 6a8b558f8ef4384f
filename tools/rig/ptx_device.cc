// SPDX-License-Identifier: Apache-2.0
#include "tools/rig/ptx_device.h"

#include "absl/strings/str_cat.h"
#include "emu/ptx/core/launch.h"
#include "emu/ptx/parse/parse.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/codegen/codegen.h"
#include "src/render/ptx.h"
#include "tools/rig/clang_text.h"

namespace understudy {
namespace {

// CUDA C++ text through clang's driver.
absl::StatusOr<PtxKernel> CompileCuda(const LinearKernel& linear, const std::string& isa) {
  US_ASSIGN_OR_RETURN(const RenderedText rendered, RenderC(linear, CDialect::kCuda));
  PtxKernel out;
  CopyInterface(rendered, &out);
  // nvcc's -fmad=false is clang's -ffp-contract=off. Without a CUDA toolkit clang writes PTX 4.2, which has
  // no sm_90: the version is named, and no toolkit looked for, so that all machines compile the same.
  US_ASSIGN_OR_RETURN(
      out.text, CompileWithClang(rendered.text,
                                 {"-x", "cuda", "--cuda-device-only", absl::StrCat("--cuda-gpu-arch=", isa),
                                  "--cuda-path=/nonexistent", "--cuda-feature=+ptx88", "-nocudainc",
                                  "-nocudalib", "-S", "-O2", "-ffp-contract=off"}));
  return out;
}

class PtxProgram : public Program {
 public:
  PtxProgram(PtxKernel kernel, std::shared_ptr<const emu::ptx::Program> program)
      : kernel_(std::move(kernel)), program_(std::move(program)) {}
  const std::string& name() const override { return kernel_.name; }
  const std::string& text() const override { return kernel_.text; }
  const PtxKernel& kernel() const { return kernel_; }
  const emu::ptx::Program& program() const { return *program_; }

 private:
  PtxKernel kernel_;
  std::shared_ptr<const emu::ptx::Program> program_;
};

}  // namespace

PtxDevice::PtxDevice(const std::string& isa, Compiler compiler) : name_(isa), compiler_(compiler) {
  absl::StatusOr<Target> target = NvidiaTarget(isa);
  US_CHECK(target.ok()) << target.status().ToString();
  target_ = compiler == Compiler::kCuda ? CTextTarget(CDialect::kCuda) : *std::move(target);
}

absl::StatusOr<std::unique_ptr<Program>> PtxDevice::Compile(const UOpRef& kernel, const ChoiceList* choices) {
  US_ASSIGN_OR_RETURN(const LinearKernel linear, LowerKernel(kernel, target_, choices));
  PtxKernel compiled;
  if (compiler_ == Compiler::kCuda) {
    US_ASSIGN_OR_RETURN(compiled, CompileCuda(linear, name_));
  } else {
    US_ASSIGN_OR_RETURN(compiled, RenderPtx(linear, target_));
  }
  US_ASSIGN_OR_RETURN(const auto module, emu::ptx::ParseModule(compiled.text, {.name = compiled.name}));
  US_ASSIGN_OR_RETURN(auto program, emu::ptx::Program::Build(module, {}));
  return std::make_unique<PtxProgram>(std::move(compiled), std::move(program));
}

absl::Status PtxDevice::Launch(Program& program, absl::Span<const Allocation> buffers,
                               absl::Span<const int64_t> vars, LaunchInfo* info) {
  auto& p = dynamic_cast<PtxProgram&>(program);
  const PtxKernel& k = p.kernel();
  emu::ptx::LaunchConfig config;
  const auto dim = [](const std::array<int64_t, 3>& v) {
    return emu::ptx::Dim3{static_cast<uint32_t>(v[0]), static_cast<uint32_t>(v[1]),
                          static_cast<uint32_t>(v[2])};
  };
  config.grid = dim(k.global);
  config.block = dim(k.local);
  const auto add = [&](uint64_t value) {
    config.params.resize(config.params.size() + 8);
    StoreLE<uint64_t>(config.params.data() + config.params.size() - 8, value);
  };
  emu::AddressSpace memory;
  for (const KernelParam& param : k.params) {
    const Allocation& a = buffers[param.position];
    if (a.address % k.alignment != 0)
      return absl::FailedPreconditionError(
          absl::StrCat("buffer ", param.position, " is not aligned to ", k.alignment, " bytes"));
    US_RETURN_IF_ERROR(memory.Map(a.address, a.bytes, reinterpret_cast<uint8_t*>(a.address),
                                  param.written ? emu::Perm::kReadWrite : emu::Perm::kRead,
                                  absl::StrCat("p", param.position)));
    add(a.address);
  }
  for (const int64_t v : vars) add(static_cast<uint64_t>(v));
  const emu::ptx::BoundFunction* entry = p.program().FindEntry(k.name);
  if (entry == nullptr) return absl::InternalError(absl::StrCat("the PTX has no entry ", k.name));
  const auto start = std::chrono::steady_clock::now();
  US_ASSIGN_OR_RETURN(const emu::ptx::LaunchResult result,
                      emu::ptx::RunLaunch(p.program(), *entry, config, &memory));
  RecordLaunch(start, info);
  if (info != nullptr) {
    info->grid = k.global;
    info->block = k.local;
    info->instructions = result.stats.warp_instructions;
  }
  if (!result.ok()) return absl::AbortedError(result.fault.message);
  return absl::OkStatus();
}

}  // namespace understudy
