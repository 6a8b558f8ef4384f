// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/clang/clang_device.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/bits.h"
#include "src/base/file.h"
#include "src/base/status.h"
#include "src/codegen/codegen.h"
#include "src/render/c_text.h"
#include "src/runtime/clang/guest.h"

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

// Memory that this process and a guest share: an unnamed file.
class SharedFile {
 public:
  explicit SharedFile(size_t bytes) : bytes_(bytes) {
    fd_ = memfd_create("understudy-launch", MFD_CLOEXEC);
    if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(bytes)) != 0) return;
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (p != MAP_FAILED) data_ = static_cast<uint8_t*>(p);
  }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  ~SharedFile() {
    if (data_ != nullptr) munmap(data_, bytes_);
    if (fd_ >= 0) close(fd_);
  }
  uint8_t* data() const { return data_; }
  int fd() const { return fd_; }

 private:
  const size_t bytes_;
  int fd_ = -1;
  uint8_t* data_ = nullptr;
};

// Where a launch's buffers lie in the shared file: ranges that overlap stay together.
struct Interval {
  uint64_t begin = 0, end = 0, offset = 0;
  bool written = false;
};
std::vector<Interval> Intervals(const RenderedText& k, absl::Span<const Allocation> buffers) {
  std::vector<Interval> all, merged;
  for (const KernelParam& p : k.params) {
    const Allocation& a = buffers[p.position];
    all.push_back({a.address, a.address + a.bytes, 0, p.written});
  }
  std::sort(all.begin(), all.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  for (const Interval& i : all) {
    if (merged.empty() || i.begin >= merged.back().end) {
      merged.push_back(i);
      continue;
    }
    merged.back().end = std::max(merged.back().end, i.end);
    merged.back().written |= i.written;
  }
  return merged;
}

absl::Status RunGuest(const Processor& processor, const std::string& emulator, double seconds,
                      const ClangProgram& program, absl::Span<const Allocation> buffers,
                      absl::Span<const int64_t> vars) {
  const RenderedText& k = program.rendered();
  const size_t count = k.params.empty() ? 0 : static_cast<size_t>(k.params.back().position) + 1;
  if (count > clang_guest::kMostBuffers)
    return absl::UnimplementedError(
        absl::StrCat("kernel ", k.name, ": ", count, " buffers, a guest takes ", clang_guest::kMostBuffers));
  std::vector<Interval> intervals = Intervals(k, buffers);
  constexpr uint64_t kAlign = 64;
  uint64_t bytes = AlignUp((clang_guest::kHeaderWords + vars.size() + count) * 8, kAlign);
  for (Interval& i : intervals) {
    i.offset = bytes + i.begin % kAlign;
    bytes = AlignUp(i.offset + (i.end - i.begin), kAlign);
  }
  bytes = std::max<uint64_t>(AlignUp(bytes, 4096), 4096);
  if (bytes > processor.most_bytes)
    return absl::ResourceExhaustedError(absl::StrCat("kernel ", k.name, ": ", bytes, " bytes of buffers, ",
                                                     processor.name, " takes ", processor.most_bytes));
  const SharedFile file(bytes);
  if (file.data() == nullptr)
    return absl::ResourceExhaustedError(absl::StrCat("no shared memory of ", bytes, " bytes"));
  const auto word = [&](size_t i, uint64_t value) { StoreLE<uint64_t>(file.data() + 8 * i, value); };
  word(clang_guest::kMagicWord, clang_guest::kMagic);
  word(clang_guest::kBytes, bytes);
  word(clang_guest::kBuffers, count);
  word(clang_guest::kVars, vars.size());
  word(clang_guest::kWorkgroups, static_cast<uint64_t>(k.global[0]));
  for (size_t i = 0; i < vars.size(); ++i)
    word(clang_guest::kHeaderWords + i, static_cast<uint64_t>(vars[i]));
  for (const KernelParam& p : k.params) {
    const uint64_t at = buffers[p.position].address;
    const auto i = std::find_if(intervals.begin(), intervals.end(), [&](const Interval& interval) {
      return interval.begin <= at && at < std::max(interval.end, interval.begin + 1);
    });
    US_CHECK(i != intervals.end()) << "a buffer without a place";
    word(clang_guest::kHeaderWords + vars.size() + p.position, i->offset + (at - i->begin));
  }
  for (const Interval& i : intervals)
    std::memcpy(file.data() + i.offset, reinterpret_cast<const void*>(i.begin), i.end - i.begin);

  US_RETURN_IF_ERROR(
      RunCommand({.argv = {emulator, program.file()}, .seconds = seconds, .pass_fd = file.fd()}));
  if (LoadLE<uint64_t>(file.data() + 8 * clang_guest::kDone) != 1)
    return absl::AbortedError(absl::StrCat("kernel ", k.name, " ended before it was done"));
  for (const Interval& i : intervals) {
    if (i.written) std::memcpy(reinterpret_cast<void*>(i.begin), file.data() + i.offset, i.end - i.begin);
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
    const absl::Status ran = RunGuest(*guest, emulator_, options_.run_seconds, *p, buffers, vars);
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
