// SPDX-License-Identifier: Apache-2.0
// cuda_driver_probe [--jobs N] [--library NAME] [section prefix...]: prints the answers of every section, in
// order.
#include "hw_tests/cuda_driver/probe.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "hw_tests/cuda_driver/kernels.h"

#define CUDA_CALL(symbol, base, since, parameters, ...) CUresult(*symbol) parameters = nullptr;
#define CUDA_ALIAS(symbol, base, since, target, parameters, ...) CUresult(*symbol) parameters = nullptr;
#define CUDA_PER_THREAD(symbol, base, since, target, parameters, ...) CUresult(*symbol) parameters = nullptr;
#define CUDA_REFUSED(...)
#include "mockgpu/nv/cuda/entry_points.inc"
#undef CUDA_CALL
#undef CUDA_ALIAS
#undef CUDA_PER_THREAD
#undef CUDA_REFUSED

namespace understudy::probe {

sigjmp_buf g_jump;
volatile sig_atomic_t g_armed = 0;

namespace {

extern "C" void OnCrash(int signal_number) {
  if (g_armed) siglongjmp(g_jump, 1);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

std::string g_section;
void* g_library = nullptr;

void Print(const std::string& line) {
  std::printf("%s.%s\n", g_section.c_str(), line.c_str());
  std::fflush(stdout);
}

bool LoadLibrary(const std::string& name) {
  g_library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (g_library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return false;
  }
#define CUDA_FIND(symbol, ...) symbol = reinterpret_cast<decltype(symbol)>(dlsym(g_library, #symbol));
#define CUDA_CALL CUDA_FIND
#define CUDA_ALIAS CUDA_FIND
#define CUDA_PER_THREAD CUDA_FIND
#define CUDA_REFUSED(...)
#include "mockgpu/nv/cuda/entry_points.inc"
#undef CUDA_CALL
#undef CUDA_ALIAS
#undef CUDA_PER_THREAD
#undef CUDA_REFUSED
#undef CUDA_FIND
  return true;
}

struct Child {
  const NamedSection* section = nullptr;
  FILE* output = nullptr;
  pid_t pid = -1;
};

Child Begin(const NamedSection& section, const std::string& library) {
  Child child;
  child.section = &section;
  child.output = std::tmpfile();
  std::fflush(stdout);
  child.pid = fork();
  if (child.pid != 0) return child;
  dup2(fileno(child.output), STDOUT_FILENO);
  g_section = section.name;
  alarm(40);
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) signal(number, OnCrash);
  if (!LoadLibrary(library)) _exit(3);
  section.run();
  std::fflush(stdout);
  // Without the library's own destructors: they are not what is asked about.
  _exit(0);
}

void End(const Child& child) {
  int status = 0;
  waitpid(child.pid, &status, 0);
  std::rewind(child.output);
  char buffer[4096];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, child.output))
    std::fwrite(buffer, 1, n, stdout);
  if (WIFSIGNALED(status)) std::printf("%s.ended: signal %d\n", child.section->name, WTERMSIG(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
    std::printf("%s.ended: status %d\n", child.section->name, WEXITSTATUS(status));
  std::fflush(stdout);
  std::fclose(child.output);
}

}  // namespace

std::string ResultText(CUresult result) {
  if (result == kCrashed) return "crash";
  switch (result) {
#define CUDA_RESULT(name, value, text) \
  case name:                           \
    return #value " " #name;
#include "mockgpu/nv/cuda/results.inc"
#undef CUDA_RESULT
  }
  return std::to_string(static_cast<int>(result));
}

Line::Line(const std::string& name, CUresult result) : name_(name), result_(result) {}
Line& Line::V(long long value) { return V(std::to_string(value)); }
Line& Line::V(const std::string& text) {
  values_ += values_.empty() ? text : ", " + text;
  return *this;
}
Line::~Line() {
  std::string line = name_ + ": " + ResultText(result_);
  if (!values_.empty() && (always_ || result_ == CUDA_SUCCESS)) line += " [" + values_ + "]";
  Print(line);
}

void Fact(const std::string& name, const std::string& value) { Print(name + ": " + value); }

void Need(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  Print(std::string("needs ") + what + ": " + ResultText(result));
  _exit(2);
}

CUcontext Start() {
  CUcontext context = nullptr;
  US_NEED(cuInit(0));
  US_NEED(cuCtxCreate_v2(&context, 0, 0));
  return context;
}

CUmodule LoadKernels() {
  CUmodule module = nullptr;
  US_NEED(cuModuleLoadData(&module, kKernels));
  return module;
}

CUfunction Kernel(CUmodule module, const char* name) {
  CUfunction function = nullptr;
  Need(cuModuleGetFunction(&function, module, name), name);
  return function;
}

CUdeviceptr Device(size_t bytes) {
  CUdeviceptr out = 0;
  US_NEED(cuMemAlloc_v2(&out, bytes));
  return out;
}

void* Library() { return g_library; }

int Main(int argc, char** argv) {
  size_t jobs = 1;
  const char* const from_environment = std::getenv("UNDERSTUDY_LIBCUDA");
  std::string library = from_environment != nullptr ? from_environment : "libcuda.so.1";
  std::vector<std::string> prefixes;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--jobs" && i + 1 < argc)
      jobs = static_cast<size_t>(std::max(1, std::atoi(argv[++i])));
    else if (word == "--library" && i + 1 < argc)
      library = argv[++i];
    else
      prefixes.push_back(word);
  }
  std::vector<const NamedSection*> sections;
  for (const auto* list :
       {&BasicSections(), &MemorySections(), &PoolSections(), &CodeSections(), &OccupancySections(),
        &TensorCopySections(), &OrderSections(), &GraphSections(), &FaultSections(), &StaleSections()})
    for (const NamedSection& s : *list) {
      bool wanted = prefixes.empty();
      for (const std::string& p : prefixes) wanted |= std::string(s.name).rfind(p, 0) == 0;
      if (wanted) sections.push_back(&s);
    }
  std::vector<Child> running;
  size_t next = 0, ended = 0;
  while (ended < sections.size()) {
    while (next < sections.size() && next - ended < jobs)
      running.push_back(Begin(*sections[next++], library));
    End(running[ended++]);
  }
  return 0;
}

}  // namespace understudy::probe

int main(int argc, char** argv) { return understudy::probe::Main(argc, argv); }
