// SPDX-License-Identifier: Apache-2.0
#include "fuzz/amd_programs/compile.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/file.h"
#include "src/base/status.h"

extern "C" {
extern const unsigned char amd_programs_support[], amd_programs_host_item[];
extern const size_t amd_programs_support_size, amd_programs_host_item_size;
}
extern char** environ;

namespace understudy::programs {
namespace {

absl::StatusOr<std::string> FindClang() {
  if (const char* given = std::getenv("UNDERSTUDY_CLANG"); given != nullptr && *given != 0)
    return std::string(given);
  if (const char* path = std::getenv("PATH"); path != nullptr) {
    for (const auto& folder : absl::StrSplit(path, ':')) {
      const std::string file = absl::StrCat(folder, "/clang-22");
      if (access(file.c_str(), X_OK) == 0) return file;
    }
  }
  return absl::NotFoundError("no clang-22 in PATH; install it, or name it in UNDERSTUDY_CLANG");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Compiler>> Compiler::Create() {
  std::unique_ptr<Compiler> compiler(new Compiler);
  US_ASSIGN_OR_RETURN(compiler->clang_, FindClang());
  std::string folder = (std::filesystem::temp_directory_path() / "understudy-programs-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    return absl::InternalError(absl::StrCat("cannot make the folder ", folder, ": ", std::strerror(errno)));
  }
  compiler->folder_ = folder;
  std::error_code error;
  std::filesystem::create_directories(folder + "/fuzz/amd_programs", error);
  const auto write = [&](const char* name, const unsigned char* bytes, size_t size) {
    return WriteFile(absl::StrCat(folder, "/fuzz/amd_programs/", name),
                     std::string(reinterpret_cast<const char*>(bytes), size));
  };
  US_RETURN_IF_ERROR(write("support.h", amd_programs_support, amd_programs_support_size));
  US_RETURN_IF_ERROR(write("host_item.h", amd_programs_host_item, amd_programs_host_item_size));
  return compiler;
}

Compiler::~Compiler() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

std::string Compiler::Source(const std::string& text) {
  return absl::StrCat("#include \"fuzz/amd_programs/support.h\"\n", text);
}

absl::Status Compiler::Run(const std::vector<std::string>& arguments, double seconds) {
  const std::string log = folder_ + "/log";
  std::vector<char*> argv;
  argv.push_back(const_cast<char*>(clang_.c_str()));
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 2, 1);
  // A group of its own: the driver has children too.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t child = 0;
  const int error = posix_spawn(&child, clang_.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    return absl::NotFoundError(absl::StrCat("cannot start ", clang_, ": ", std::strerror(error)));
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      return absl::DeadlineExceededError(absl::StrCat(clang_, " took more than ", seconds, " s"));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  const absl::StatusOr<std::string> said = ReadFile(log);
  std::string words = said.ok() ? *said : "";
  if (words.size() > 2000) words = words.substr(0, 2000);
  return absl::AbortedError(absl::StrCat(clang_, WIFEXITED(status) ? " exits with " : " is ended by signal ",
                                         WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), ":\n",
                                         words));
}

absl::StatusOr<std::string> Compiler::ForDevice(const std::string& text, int kernels,
                                                const CompileTarget& target) {
  const std::string source = folder_ + "/device.c", object = folder_ + "/device.hsaco";
  US_RETURN_IF_ERROR(WriteFile(source, Source(text)));
  std::vector<std::string> arguments = {"-x",
                                        "c",
                                        "-std=c17",
                                        "-target",
                                        "amdgcn-amd-amdhsa",
                                        absl::StrCat("-mcpu=", target.target),
                                        "-nogpulib",
                                        "-ffreestanding",
                                        "-ffp-contract=off",
                                        "-w",
                                        absl::StrCat("-I", folder_),
                                        absl::StrCat("-DWAVE_SIZE=", target.wave_size),
                                        absl::StrCat("-O", target.level),
                                        "-o",
                                        object,
                                        source};
  if (target.wave_size == 64 && target.target.rfind("gfx1", 0) == 0) arguments.push_back("-mwavefrontsize64");
  US_RETURN_IF_ERROR(Run(arguments, seconds_per_kernel * kernels));
  return ReadFile(object);
}

absl::StatusOr<std::unique_ptr<Compiler::HostObject>> Compiler::ForHost(const std::string& text,
                                                                        int kernels) {
  // A name for each: dlopen takes a file of a known name for the one that it has loaded.
  const std::string source = folder_ + "/host.c",
                    object = absl::StrCat(folder_, "/host", ++host_objects_, ".so");
  std::string all = Source(text);
  // The kernels are static functions: each gets a name that dlsym finds.
  for (size_t at = text.find("\nKERNEL("); at != std::string::npos; at = text.find("\nKERNEL(", at + 1)) {
    const size_t begin = at + 8, end = text.find(')', begin);
    const std::string name = text.substr(begin, end - begin);
    absl::StrAppend(&all, "const HostKernelFn Host", name, " = ", name, ";\n");
  }
  US_RETURN_IF_ERROR(WriteFile(source, all));
  US_RETURN_IF_ERROR(
      Run({"-x", "c", "-std=gnu17", "-O1", "-w", "-fPIC", "-shared", "-ffp-contract=off",
           "-fno-strict-aliasing", "-fwrapv", absl::StrCat("-I", folder_), "-o", object, source, "-lm"},
          seconds_per_kernel * kernels));
  std::unique_ptr<HostObject> host(new HostObject);
  host->handle_ = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  unlink(object.c_str());
  if (host->handle_ == nullptr)
    return absl::InternalError(absl::StrCat("cannot load the host's kernels: ", dlerror()));
  return host;
}

Compiler::HostObject::~HostObject() {
  if (handle_ != nullptr) dlclose(handle_);
}

HostKernelFn Compiler::HostObject::Find(const std::string& name) const {
  const void* symbol = dlsym(handle_, absl::StrCat("Host", name).c_str());
  return symbol == nullptr ? nullptr : *static_cast<const HostKernelFn*>(symbol);
}

}  // namespace understudy::programs
