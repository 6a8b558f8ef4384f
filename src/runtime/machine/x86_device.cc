// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/machine/x86_device.h"

#include <sys/mman.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/codegen/codegen.h"
#include "src/render/x86_64/x86_64.h"
#include "src/runtime/machine/arguments.h"
#include "src/uop/spec.h"

namespace understudy {
namespace {

using KernelFunction = void (*)(void* const* buffers, const int64_t* vars, int64_t workgroup);

// The code lives as long as the program.
class X86Program : public Program {
 public:
  static absl::StatusOr<std::unique_ptr<Program>> Create(machine::MachineKernel kernel) {
    auto program = std::make_unique<X86Program>();
    const size_t bytes = AlignUp(kernel.code.size(), 4096);
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
      return absl::ResourceExhaustedError(absl::StrCat("X86: no memory for ", bytes, " bytes of code"));
    program->pages_ = p;
    program->bytes_ = bytes;
    std::memcpy(p, kernel.code.data(), kernel.code.size());
    if (mprotect(p, bytes, PROT_READ | PROT_EXEC) != 0)
      return absl::InternalError(
          absl::StrCat("X86: the system refuses executable memory: ", std::strerror(errno)));
    program->kernel_ = std::move(kernel);
    return std::unique_ptr<Program>(std::move(program));
  }
  ~X86Program() override {
    if (pages_ != nullptr) munmap(pages_, bytes_);
  }
  const std::string& name() const override { return kernel_.name; }
  const std::string& text() const override { return kernel_.text; }
  absl::Span<const uint8_t> code() const override { return kernel_.code; }
  const machine::MachineKernel& kernel() const { return kernel_; }
  KernelFunction function() const { return reinterpret_cast<KernelFunction>(pages_); }

 private:
  void* pages_ = nullptr;
  size_t bytes_ = 0;
  machine::MachineKernel kernel_;
};

}  // namespace

X86Device::X86Device(bool avx2) : target_(X86Target(avx2)) {
  set_cache_limit(size_t{256} << 20);
  options_.check = uop::SpecEnabled();
}

absl::StatusOr<std::shared_ptr<X86Device>> X86Device::Open(Level level) {
#if defined(__x86_64__)
  const bool v3 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  if (!__builtin_cpu_supports("sse4.1")) return absl::UnimplementedError("X86: this processor has no SSE4.1");
  if (level == Level::kV3 && !v3)
    return absl::UnimplementedError("X86: this processor lacks AVX2, FMA or F16C, expected for x86-64-v3");
  return std::shared_ptr<X86Device>(new X86Device(level == Level::kV3 || (level == Level::kBest && v3)));
#else
  return absl::UnimplementedError("X86: this is no x86-64 processor");
#endif
}

absl::StatusOr<std::unique_ptr<Program>> X86Device::Compile(const UOpRef& kernel, const ChoiceList* choices) {
  const ChoiceList chosen = choices == nullptr ? MachineChoices(kernel, target_) : *choices;
  US_ASSIGN_OR_RETURN(const LinearKernel linear, LowerKernel(kernel, target_, &chosen));
  US_ASSIGN_OR_RETURN(machine::MachineKernel code, RenderX86(linear, target_, options_));
  return X86Program::Create(std::move(code));
}

absl::Status X86Device::Launch(Program& program, absl::Span<const Allocation> buffers,
                               absl::Span<const int64_t> vars, LaunchInfo* info) {
  auto* p = dynamic_cast<X86Program*>(&program);
  if (p == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("X86: program ", program.name(), " is another device's"));
  const machine::MachineKernel& k = p->kernel();
  US_RETURN_IF_ERROR(CheckArguments(k, buffers.size(), vars));
  std::vector<void*> pointers;
  for (const Allocation& a : buffers) {
    US_RETURN_IF_ERROR(CheckRange(a, a.bytes));
    pointers.push_back(reinterpret_cast<void*>(a.address));
  }
  const auto start = std::chrono::steady_clock::now();
  for (int64_t g = 0; g < k.global[0]; ++g) p->function()(pointers.data(), vars.data(), g);
  RecordLaunch(start, info);
  if (info != nullptr) info->grid = k.global;
  return absl::OkStatus();
}

}  // namespace understudy
