// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/amd/amd_device.h"

#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/codegen/codegen.h"
#include "src/render/render.h"

namespace understudy {
namespace {

class AmdProgram : public Program {
 public:
  AmdProgram(amd::AmdGpu& gpu, const amd::LoadedCode* code, amd::LoadedKernel kernel, CompiledKernel compiled)
      : gpu_(gpu), code_(code), kernel_(kernel), compiled_(std::move(compiled)) {}
  ~AmdProgram() override { gpu_.Unload(code_).IgnoreError(); }

  const std::string& name() const override { return compiled_.name; }
  const std::string& text() const override { return compiled_.text; }
  absl::Span<const uint8_t> code() const override { return compiled_.code; }
  const CompiledKernel& compiled() const { return compiled_; }
  const amd::LoadedKernel& kernel() const { return kernel_; }

 private:
  amd::AmdGpu& gpu_;
  const amd::LoadedCode* code_;
  amd::LoadedKernel kernel_;
  CompiledKernel compiled_;
};

absl::Status CheckBytes(const Allocation& a, size_t bytes) {
  if (bytes <= a.bytes) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat("copy of ", bytes, " bytes in a range of ", a.bytes));
}

}  // namespace

absl::StatusOr<std::shared_ptr<AmdDevice>> AmdDevice::Open(os::Syscalls& sys, int index,
                                                           const amd::GpuOptions& options, std::string name) {
  US_ASSIGN_OR_RETURN(auto gpu, amd::AmdGpu::Open(sys, index, options));
  Target target = Gfx1100Target();
  if (gpu->isa() != target.isa) {
    return absl::UnimplementedError(
        absl::StrCat("the compiler has no target for ", gpu->isa(), ", only ", target.isa));
  }
  return std::shared_ptr<AmdDevice>(new AmdDevice(std::move(gpu), std::move(target), std::move(name)));
}

absl::StatusOr<Allocation> AmdDevice::Allocate(size_t bytes) {
  US_ASSIGN_OR_RETURN(const amd::GpuBuffer buffer,
                      gpu_->Allocate(bytes, amd::MemoryKind::kVram, {true, false, "buffer"}));
  std::lock_guard lock(mutex_);
  buffers_[buffer.va] = buffer;
  return Allocation{buffer.va, bytes, buffer.va};
}

absl::Status AmdDevice::Free(const Allocation& allocation) {
  amd::GpuBuffer buffer;
  {
    std::lock_guard lock(mutex_);
    const auto it = buffers_.find(allocation.base);
    if (it == buffers_.end())
      return absl::InvalidArgumentError(
          absl::StrCat("freeing ", allocation.base, " on ", name_, ": not allocated"));
    buffer = it->second;
    buffers_.erase(it);
  }
  return gpu_->Free(buffer);
}

absl::Status AmdDevice::CopyIn(const Allocation& dst, const void* src, size_t bytes) {
  US_RETURN_IF_ERROR(CheckBytes(dst, bytes));
  return gpu_->CopyIn(dst.address, src, bytes);
}

absl::Status AmdDevice::CopyOut(void* dst, const Allocation& src, size_t bytes) {
  US_RETURN_IF_ERROR(CheckBytes(src, bytes));
  return gpu_->CopyOut(dst, src.address, bytes);
}

absl::Status AmdDevice::CopyWithin(const Allocation& dst, const Allocation& src, size_t bytes) {
  US_RETURN_IF_ERROR(CheckBytes(dst, bytes));
  US_RETURN_IF_ERROR(CheckBytes(src, bytes));
  return gpu_->CopyWithin(dst.address, src.address, bytes);
}

absl::StatusOr<std::unique_ptr<Program>> AmdDevice::Compile(const UOpRef& kernel, const ChoiceList* choices) {
  US_ASSIGN_OR_RETURN(const LinearKernel linear, LowerKernel(kernel, target_, choices));
  US_ASSIGN_OR_RETURN(CompiledKernel compiled, RenderLlvm(linear, target_));
  US_ASSIGN_OR_RETURN(const amd::LoadedCode* code, gpu_->Load(compiled.code));
  auto loaded = code->Kernel(compiled.name);
  if (!loaded.ok()) {
    gpu_->Unload(code).IgnoreError();
    return loaded.status();
  }
  return std::make_unique<AmdProgram>(*gpu_, code, *loaded, std::move(compiled));
}

absl::Status AmdDevice::Launch(Program& program, absl::Span<const Allocation> buffers,
                               absl::Span<const int64_t> vars, LaunchInfo* info) {
  auto* p = dynamic_cast<AmdProgram*>(&program);
  if (p == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("program ", program.name(), " is not of device ", name_));
  const CompiledKernel& c = p->compiled();
  if (vars.size() != c.vars.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", c.name, " has ", c.vars.size(), " variables, ", vars.size(), " were given"));
  }
  // The renderer's ABI: addresses by position, then variables by name.
  std::vector<uint8_t> kernarg((c.params.size() + vars.size()) * 8);
  uint8_t* at = kernarg.data();
  for (const KernelParam& param : c.params) {
    if (param.position < 0 || static_cast<size_t>(param.position) >= buffers.size()) {
      return absl::InvalidArgumentError(absl::StrCat("kernel ", c.name, " reads buffer ", param.position,
                                                     ", ", buffers.size(), " were given"));
    }
    StoreLE<uint64_t>(at, buffers[param.position].address);
    at += 8;
  }
  for (size_t i = 0; i < vars.size(); ++i, at += 8) {
    if (vars[i] < c.vars[i].min || vars[i] > c.vars[i].max) {
      return absl::InvalidArgumentError(absl::StrCat("kernel ", c.name, ": variable ", c.vars[i].name, " is ",
                                                     vars[i], ", expected ", c.vars[i].min, " to ",
                                                     c.vars[i].max));
    }
    StoreLE<int64_t>(at, vars[i]);
  }
  amd::LaunchShape shape;
  for (int i = 0; i < 3; ++i) {
    if (c.global[i] < 1 || c.global[i] > UINT32_MAX || c.local[i] < 1 || c.local[i] > UINT32_MAX) {
      return absl::InvalidArgumentError(
          absl::StrCat("kernel ", c.name, ": grid ", c.global[i], " x ", c.local[i], " in dimension ", i));
    }
    shape.grid[i] = static_cast<uint32_t>(c.global[i]);
    shape.block[i] = static_cast<uint32_t>(c.local[i]);
  }
  amd::LaunchTimes times;
  US_RETURN_IF_ERROR(gpu_->LaunchRaw(p->kernel(), shape, kernarg, info == nullptr ? nullptr : &times));
  if (info != nullptr) *info = {times.device_ns, times.begin_ns, c.global, c.local};
  return absl::OkStatus();
}

}  // namespace understudy
