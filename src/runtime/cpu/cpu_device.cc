// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/cpu/cpu_device.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "src/base/status.h"
#include "src/codegen/codegen.h"
#include "src/render/render.h"

namespace understudy {
namespace {

using KernelFunction = void (*)(void* const* buffers, const int64_t* vars, int64_t workgroup);

absl::Status FromLlvm(llvm::Error error, const std::string& what) {
  return absl::InternalError(absl::StrCat("CPU: ", what, ": ", llvm::toString(std::move(error))));
}

// The code lives as long as the program.
class CpuProgram : public Program {
 public:
  static absl::StatusOr<std::unique_ptr<Program>> Create(CompiledKernel kernel) {
    auto program = std::make_unique<CpuProgram>();
    auto jit = llvm::orc::LLJITBuilder().create();
    if (!jit) return FromLlvm(jit.takeError(), "creating the JIT");
    program->jit_ = std::move(*jit);
    const llvm::StringRef bytes(reinterpret_cast<const char*>(kernel.code.data()), kernel.code.size());
    if (llvm::Error e =
            program->jit_->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(bytes, kernel.name)))
      return FromLlvm(std::move(e), "loading " + kernel.name);
    auto symbol = program->jit_->lookup(kernel.name);
    if (!symbol) return FromLlvm(symbol.takeError(), "linking " + kernel.name);
    program->function_ = symbol->toPtr<KernelFunction>();
    program->kernel_ = std::move(kernel);
    program->kernel_.code.clear();
    return std::unique_ptr<Program>(std::move(program));
  }

  const std::string& name() const override { return kernel_.name; }
  const std::string& text() const override { return kernel_.text; }
  const CompiledKernel& kernel() const { return kernel_; }
  KernelFunction function() const { return function_; }

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  KernelFunction function_ = nullptr;
  CompiledKernel kernel_;
};

}  // namespace

// Freed memory that is kept: a large allocation costs the host a page fault a page.
constexpr size_t kCacheLimit = size_t{256} << 20;

CpuDevice::CpuDevice(std::string name) : name_(std::move(name)), target_(HostTarget()) {
  set_cache_limit(kCacheLimit);
}

absl::StatusOr<std::unique_ptr<Program>> CpuDevice::Compile(const UOpRef& kernel, const ChoiceList* choices) {
  US_ASSIGN_OR_RETURN(const LinearKernel linear, LowerKernel(kernel, target_, choices));
  US_ASSIGN_OR_RETURN(CompiledKernel compiled, RenderLlvm(linear, target_));
  return CpuProgram::Create(std::move(compiled));
}

absl::Status CpuDevice::Launch(Program& program, absl::Span<const Allocation> buffers,
                               absl::Span<const int64_t> vars, LaunchInfo* info) {
  auto* cpu = dynamic_cast<CpuProgram*>(&program);
  if (cpu == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("CPU: program ", program.name(), " is another device's"));
  const CompiledKernel& k = cpu->kernel();
  const size_t needed = k.params.empty() ? 0 : static_cast<size_t>(k.params.back().position) + 1;
  if (buffers.size() < needed)
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", k.name, ": ", buffers.size(), " buffers, expected ", needed));
  if (vars.size() != k.vars.size())
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", k.name, ": ", vars.size(), " variables, expected ", k.vars.size()));
  for (size_t i = 0; i < vars.size(); ++i) {
    const VarArg& v = k.vars[i];
    if (vars[i] < v.min || vars[i] > v.max) {
      return absl::OutOfRangeError(absl::StrCat("kernel ", k.name, ": variable ", v.name, " = ", vars[i],
                                                ", expected [", v.min, ", ", v.max, "]"));
    }
  }
  std::vector<void*> pointers;
  for (const Allocation& a : buffers) {
    US_RETURN_IF_ERROR(CheckRange(a, a.bytes));
    pointers.push_back(reinterpret_cast<void*>(a.address));
  }
  const auto start = std::chrono::steady_clock::now();
  if (k.global[0] == 1) {
    cpu->function()(pointers.data(), vars.data(), 0);
  } else {
    std::call_once(make_pool_, [&] { pool_ = std::make_unique<WorkerPool>(target_.threads); });
    pool_->For(k.global[0],
               [&](int64_t workgroup) { cpu->function()(pointers.data(), vars.data(), workgroup); });
  }
  RecordLaunch(start, info);
  if (info != nullptr) info->grid = k.global;
  return absl::OkStatus();
}

}  // namespace understudy
