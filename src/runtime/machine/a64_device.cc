// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/machine/a64_device.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/base/file.h"
#include "src/base/status.h"
#include "src/codegen/codegen.h"
#include "src/render/aarch64/aarch64.h"
#include "src/runtime/clang/guest_run.h"
#include "src/runtime/machine/arguments.h"
#include "src/uop/spec.h"

namespace understudy {
namespace {

constexpr uint32_t kStart[] = {
#include "src/runtime/machine/a64_start.inc"
};
static_assert(sizeof kStart == 256, "the start calls the kernel at byte 256");

// A static program: one segment that is read and executed (System V ABI, ELF-64; e_machine 183 is AArch64).
std::string Elf(const std::vector<uint8_t>& code) {
  constexpr uint64_t kAddress = 0x400000, kHeaders = 128;  // 64 and 56 bytes, then room
  std::string file(kHeaders + sizeof kStart, '\0');
  auto* p = reinterpret_cast<uint8_t*>(file.data());
  file.replace(0, 7,
               "\x7f"
               "ELF\x02\x01\x01",
               7);
  StoreLE<uint16_t>(p + 16, 2);  // an executable file
  StoreLE<uint16_t>(p + 18, 183);
  StoreLE<uint32_t>(p + 20, 1);
  StoreLE<uint64_t>(p + 24, kAddress + kHeaders);  // entry
  StoreLE<uint64_t>(p + 32, 64);                   // program headers
  StoreLE<uint16_t>(p + 52, 64);
  StoreLE<uint16_t>(p + 54, 56);
  StoreLE<uint16_t>(p + 56, 1);
  StoreLE<uint16_t>(p + 58, 64);
  uint8_t* h = p + 64;
  const uint64_t bytes = file.size() + code.size();
  StoreLE<uint32_t>(h, 1);      // PT_LOAD
  StoreLE<uint32_t>(h + 4, 5);  // read, execute
  StoreLE<uint64_t>(h + 16, kAddress);
  StoreLE<uint64_t>(h + 24, kAddress);
  StoreLE<uint64_t>(h + 32, bytes);
  StoreLE<uint64_t>(h + 40, bytes);
  StoreLE<uint64_t>(h + 48, 4096);
  std::memcpy(p + kHeaders, kStart, sizeof kStart);
  file.append(code.begin(), code.end());
  return file;
}

class A64Program : public Program {
 public:
  A64Program(machine::MachineKernel kernel, std::string file)
      : kernel_(std::move(kernel)), file_(std::move(file)) {}
  ~A64Program() override { unlink(file_.c_str()); }
  const std::string& name() const override { return kernel_.name; }
  const std::string& text() const override { return kernel_.text; }
  absl::Span<const uint8_t> code() const override { return kernel_.code; }
  const machine::MachineKernel& kernel() const { return kernel_; }
  const std::string& file() const { return file_; }

 private:
  const machine::MachineKernel kernel_;
  const std::string file_;
};

}  // namespace

A64Device::A64Device(TemporaryFolder folder, std::string emulator, double run_seconds)
    : target_(A64Target()),
      folder_(std::move(folder)),
      emulator_(std::move(emulator)),
      run_seconds_(run_seconds) {
  options_.check = uop::SpecEnabled();
}

absl::StatusOr<std::shared_ptr<A64Device>> A64Device::Open(double run_seconds) {
  US_ASSIGN_OR_RETURN(std::string emulator, FindProgram("qemu-aarch64"));
  US_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::Create());
  return std::shared_ptr<A64Device>(new A64Device(std::move(folder), std::move(emulator), run_seconds));
}

absl::StatusOr<std::unique_ptr<Program>> A64Device::Compile(const UOpRef& kernel, const ChoiceList* choices) {
  static std::atomic<int64_t> next{0};
  const ChoiceList chosen = choices == nullptr ? MachineChoices(kernel, target_) : *choices;
  US_ASSIGN_OR_RETURN(const LinearKernel linear, LowerKernel(kernel, target_, &chosen));
  US_ASSIGN_OR_RETURN(machine::MachineKernel code, RenderA64(linear, options_));
  const std::string path = absl::StrCat(folder_.path(), "/", next++, ".elf");
  US_RETURN_IF_ERROR(WriteFile(path, Elf(code.code)));
  if (chmod(path.c_str(), 0700) != 0)
    return absl::InternalError(absl::StrCat("A64: cannot make ", path, " executable"));
  return std::unique_ptr<Program>(std::make_unique<A64Program>(std::move(code), path));
}

absl::Status A64Device::Launch(Program& program, absl::Span<const Allocation> buffers,
                               absl::Span<const int64_t> vars, LaunchInfo* info) {
  auto* p = dynamic_cast<A64Program*>(&program);
  if (p == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("A64: program ", program.name(), " is another device's"));
  const machine::MachineKernel& k = p->kernel();
  US_RETURN_IF_ERROR(CheckArguments(k, buffers.size(), vars));
  for (const Allocation& a : buffers) US_RETURN_IF_ERROR(CheckRange(a, a.bytes));
  const auto start = std::chrono::steady_clock::now();
  const absl::Status ran = clang_guest::RunGuest(
      {k.name, k.params, k.global[0], p->file(), emulator_, "aarch64", uint64_t{1} << 40, run_seconds_},
      buffers, vars);
  if (!ran.ok())
    return absl::Status(ran.code(), absl::StrCat("A64: running ", k.name, ": ", std::string(ran.message())));
  RecordLaunch(start, info);
  if (info != nullptr) info->grid = k.global;
  return absl::OkStatus();
}

}  // namespace understudy
