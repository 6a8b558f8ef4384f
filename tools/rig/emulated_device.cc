// SPDX-License-Identifier: Apache-2.0
#include "tools/rig/emulated_device.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "fuzz/amd_programs/emulate.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/codegen/codegen.h"
#include "src/render/c_text.h"
#include "src/render/render.h"
#include "tools/rig/clang_text.h"

namespace understudy {
namespace {

class EmulatedProgram : public Program {
 public:
  EmulatedProgram(CompiledKernel kernel, std::unique_ptr<programs::EmulatedObject> object)
      : kernel_(std::move(kernel)), object_(std::move(object)) {}
  const std::string& name() const override { return kernel_.name; }
  const std::string& text() const override { return kernel_.text; }
  absl::Span<const uint8_t> code() const override { return kernel_.code; }
  const CompiledKernel& kernel() const { return kernel_; }
  programs::EmulatedObject& object() { return *object_; }

 private:
  CompiledKernel kernel_;
  std::unique_ptr<programs::EmulatedObject> object_;
};

// HIP C++ text through clang's driver. The linker that it looks for lies beside it; a bundle would need
// clang-offload-bundler.
absl::StatusOr<CompiledKernel> CompileHip(const LinearKernel& linear, const std::string& isa) {
  US_ASSIGN_OR_RETURN(const RenderedText rendered, RenderC(linear, CDialect::kHip));
  std::vector<std::string> flags = {"-x",
                                    "hip",
                                    "--offload-device-only",
                                    "--no-gpu-bundle-output",
                                    absl::StrCat("--offload-arch=", isa),
                                    "-nogpulib",
                                    "-nogpuinc"};
  for (const auto& flag : absl::StrSplit(rendered.flags, ' ', absl::SkipEmpty())) flags.emplace_back(flag);
  US_ASSIGN_OR_RETURN(const std::string code, CompileWithClang(rendered.text, flags));
  CompiledKernel out;
  CopyInterface(rendered, &out);
  out.code.assign(code.begin(), code.end());
  out.text = rendered.text;
  return out;
}

}  // namespace

EmulatedDevice::EmulatedDevice(const std::string& isa, Compiler compiler) : name_(isa), compiler_(compiler) {
  absl::StatusOr<Target> target = AmdTarget(isa);
  if (compiler == Compiler::kHip) target = CTextTarget(CDialect::kHip);
  US_CHECK(target.ok()) << target.status().ToString();
  target_ = *std::move(target);
}

absl::StatusOr<std::unique_ptr<Program>> EmulatedDevice::Compile(const UOpRef& kernel,
                                                                 const ChoiceList* choices) {
  US_ASSIGN_OR_RETURN(const LinearKernel linear, LowerKernel(kernel, target_, choices));
  US_ASSIGN_OR_RETURN(CompiledKernel compiled,
                      compiler_ == Compiler::kHip ? CompileHip(linear, name_) : RenderLlvm(linear, target_));
  return Load(std::move(compiled));
}

absl::StatusOr<std::unique_ptr<Program>> EmulatedDevice::Load(CompiledKernel&& compiled) {
  US_ASSIGN_OR_RETURN(auto object, programs::EmulatedObject::Load(compiled.code));
  return std::make_unique<EmulatedProgram>(std::move(compiled), std::move(object));
}

absl::Status EmulatedDevice::Launch(Program& program, absl::Span<const Allocation> buffers,
                                    absl::Span<const int64_t> vars, LaunchInfo* info) {
  auto& p = dynamic_cast<EmulatedProgram&>(program);
  const CompiledKernel& k = p.kernel();
  std::vector<uint8_t> arguments;
  const auto add = [&](uint64_t value) {
    arguments.resize(arguments.size() + 8);
    StoreLE<uint64_t>(arguments.data() + arguments.size() - 8, value);
  };
  emu::AddressSpace& memory = p.object().memory();
  std::vector<Allocation> mapped;
  absl::Status status;
  for (const KernelParam& param : k.params) {
    const Allocation& a = buffers[param.position];
    status = memory.Map(a.address, a.bytes, reinterpret_cast<uint8_t*>(a.address),
                        param.written ? emu::Perm::kReadWrite : emu::Perm::kRead,
                        absl::StrCat("p", param.position));
    if (!status.ok()) break;
    mapped.push_back(a);
    add(a.address);
  }
  for (const int64_t v : vars) add(static_cast<uint64_t>(v));
  if (status.ok()) {
    programs::LaunchGrid grid;
    for (int d = 0; d < 3; ++d) {
      grid.groups[d] = static_cast<uint32_t>(k.global[d]);
      grid.group[d] = static_cast<uint32_t>(k.local[d]);
    }
    emu::amd::Dispatch::Stats stats;
    const auto start = std::chrono::steady_clock::now();
    status = p.object().Launch(k.name, grid, arguments, &stats);
    RecordLaunch(start, info);
    if (info != nullptr) {
      info->grid = k.global;
      info->block = k.local;
      info->instructions = stats.wave_instructions;
      info->memory_bytes = stats.memory.bytes;
      info->memory_lines = stats.memory.lines;
    }
  }
  for (const Allocation& a : mapped) US_CHECK_OK(memory.Unmap(a.address, a.bytes));
  return status;
}

}  // namespace understudy
