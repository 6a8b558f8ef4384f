// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/clang/clang_device.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/file.h"
#include "src/base/status.h"
#include "src/codegen/codegen.h"
#include "src/render/c_text.h"
#include "src/runtime/clang/guest.h"
#include "src/runtime/clang/guest_run.h"

namespace understudy {
namespace {

using clang_guest::Processor;
using KernelFunction = void (*)(void* const* buffers, const long long* vars, long long workgroup);

// A shared object in this process, or an executable file for an emulator.
class ClangProgram : public Program {
 public:
  ClangProgram(RenderedText rendered, std::string file)
      : rendered_(std::move(rendered)), file_(std::move(file)) {}
  ~ClangProgram() override {
    if (handle_ != nullptr) dlclose(handle_);
    unlink(file_.c_str());
  }
  absl::Status Load() {
    handle_ = dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr)
      return absl::InternalError(absl::StrCat("C: cannot load ", name(), ": ", dlerror()));
    function_ = reinterpret_cast<KernelFunction>(dlsym(handle_, name().c_str()));
    if (function_ == nullptr)
      return absl::InternalError(absl::StrCat("C: ", name(), " is not in its object"));
    return absl::OkStatus();
  }
  const std::string& name() const override { return rendered_.name; }
  const std::string& text() const override { return rendered_.text; }
  const RenderedText& rendered() const { return rendered_; }
  const std::string& file() const { return file_; }
  KernelFunction function() const { return function_; }

 private:
  RenderedText rendered_;
  std::string file_;
  void* handle_ = nullptr;
  KernelFunction function_ = nullptr;
};

absl::Status CheckArguments(const RenderedText& k, size_t buffers, absl::Span<const int64_t> vars) {
  const size_t needed = k.params.empty() ? 0 : static_cast<size_t>(k.params.back().position) + 1;
  if (buffers < needed)
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", k.name, ": ", buffers, " buffers, expected ", needed));
  if (vars.size() != k.vars.size())
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", k.name, ": ", vars.size(), " variables, expected ", k.vars.size()));
  for (size_t i = 0; i < vars.size(); ++i) {
    const VarArg& v = k.vars[i];
    if (vars[i] < v.min || vars[i] > v.max)
      return absl::OutOfRangeError(absl::StrCat("kernel ", k.name, ": variable ", v.name, " = ", vars[i],
                                                ", expected [", v.min, ", ", v.max, "]"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<ClangDevice>> ClangDevice::Open(const std::string& processor) {
  return Open(Options{.processor = processor});
}

absl::StatusOr<std::shared_ptr<ClangDevice>> ClangDevice::Open(Options options) {
  const Processor* const guest = clang_guest::FindProcessor(options.processor);
  if (guest == nullptr && !options.processor.empty())
    return absl::InvalidArgumentError(
        absl::StrCat("C: no processor ", options.processor, ", expected aarch64, riscv64 or hexagon"));
  US_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::Create());
  std::shared_ptr<ClangDevice> device(new ClangDevice(options, std::move(folder)));
  device->name_ = guest == nullptr ? "C" : absl::StrCat("C:", guest->name);
  device->target_ = CTextTarget(CDialect::kC);
  US_ASSIGN_OR_RETURN(device->clang_, FindProgram("clang-22"));
  US_RETURN_IF_ERROR(FindProgram("ld.lld").status());
  if (guest != nullptr) {
    US_ASSIGN_OR_RETURN(device->emulator_, FindProgram(guest->emulator));
  }
  return device;
}

absl::StatusOr<std::unique_ptr<Program>> ClangDevice::Compile(const UOpRef& kernel,
                                                              const ChoiceList* choices) {
  US_ASSIGN_OR_RETURN(const LinearKernel linear, LowerKernel(kernel, target_, choices));
  if (const Processor* guest = clang_guest::FindProcessor(options_.processor); guest != nullptr)
    US_RETURN_IF_ERROR(clang_guest::CheckKernel(*guest, linear));
  US_ASSIGN_OR_RETURN(RenderedText rendered, RenderC(linear, CDialect::kC));
  return Build(std::move(rendered));
}

absl::StatusOr<std::unique_ptr<Program>> ClangDevice::CompileText(const std::string& name,
                                                                  const std::string& text) {
  RenderedText rendered;
  rendered.name = name;
  rendered.text = text;
  rendered.flags = "-O1";
  rendered.params.push_back({0, dtypes::kUInt8, true, true});
  return Build(std::move(rendered));
}

absl::StatusOr<std::unique_ptr<Program>> ClangDevice::Build(RenderedText rendered) {
  static std::atomic<int64_t> next{0};
  const std::string stem = absl::StrCat(folder_.path(), "/", next++), source = stem + ".c";
  const Processor* const guest = clang_guest::FindProcessor(options_.processor);
  auto program =
      std::make_unique<ClangProgram>(std::move(rendered), stem + (guest == nullptr ? ".so" : ".elf"));
  const RenderedText& k = program->rendered();
  std::string text = k.text;
  if (guest != nullptr) text += clang_guest::RuntimeText(*guest, k.name);
  US_RETURN_IF_ERROR(WriteFile(source, text));
  Command command{.argv = {clang_, "-x", "c", "-w", "-fuse-ld=lld", "-nostdlib"},
                  .seconds = options_.compile_seconds};
  std::vector<std::string>& argv = command.argv;
  if (guest == nullptr) {
    argv.insert(argv.end(), {"-march=native", "-fPIC", "-shared"});
  } else {
    argv.insert(argv.end(), guest->flags.begin(), guest->flags.end());
    argv.insert(argv.end(), {"-ffreestanding", "-static"});
  }
  for (const auto& flag : absl::StrSplit(k.flags, ' ', absl::SkipEmpty())) argv.emplace_back(flag);
  argv.insert(argv.end(), {"-o", program->file(), source});
  if (guest == nullptr) argv.insert(argv.end(), {"-x", "none", "-lm"});
  const absl::Status built = RunCommand(command);
  unlink(source.c_str());
  if (!built.ok())
    return absl::InternalError(
        absl::StrCat(name_, ": compiling ", k.name, ": ", std::string(built.message())));
  if (guest == nullptr) US_RETURN_IF_ERROR(program->Load());
  return program;
}

absl::Status ClangDevice::Launch(Program& program, absl::Span<const Allocation> buffers,
                                 absl::Span<const int64_t> vars, LaunchInfo* info) {
  auto* p = dynamic_cast<ClangProgram*>(&program);
  if (p == nullptr)
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ": program ", program.name(), " is another device's"));
  const RenderedText& k = p->rendered();
  US_RETURN_IF_ERROR(CheckArguments(k, buffers.size(), vars));
  for (const Allocation& a : buffers) US_RETURN_IF_ERROR(CheckRange(a, a.bytes));
  const auto start = std::chrono::steady_clock::now();
  const Processor* const guest = clang_guest::FindProcessor(options_.processor);
  if (guest != nullptr) {
    const absl::Status ran = clang_guest::RunGuest({k.name, k.params, k.global[0], p->file(), emulator_,
                                                    guest->name, guest->most_bytes, options_.run_seconds},
                                                   buffers, vars);
    if (!ran.ok())
      return absl::Status(ran.code(),
                          absl::StrCat(name_, ": running ", k.name, ": ", std::string(ran.message())));
  } else {
    if (p->function() == nullptr)
      return absl::InvalidArgumentError(absl::StrCat(name_, ": program ", k.name, " is another device's"));
    std::vector<void*> pointers;
    for (const Allocation& a : buffers) pointers.push_back(reinterpret_cast<void*>(a.address));
    const std::vector<long long> values(vars.begin(), vars.end());
    for (int64_t g = 0; g < k.global[0]; ++g) p->function()(pointers.data(), values.data(), g);
  }
  RecordLaunch(start, info);
  if (info != nullptr) info->grid = k.global;
  return absl::OkStatus();
}

}  // namespace understudy
