// SPDX-License-Identifier: Apache-2.0
#pragma once
// A program that asks a CUDA driver library what it answers: each case is one call, and prints one line
// `section.case: RESULT [values]`. The same program asks the mock library and the one of a machine with a
// card, so that the answers can be compared line by line. It links nothing of the project but the API's
// header, and never prints what differs from run to run (addresses, free memory, times).

#include <setjmp.h>
#include <signal.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#define US_CUDA_TYPES_ONLY
#include "mockgpu/nv/cuda/cuda_api.h"

// Every entry point as a pointer of its own name; null when the library does not export it.
#define CUDA_CALL(symbol, base, since, parameters, ...) extern CUresult(*symbol) parameters;
#define CUDA_ALIAS(symbol, base, since, target, parameters, ...) extern CUresult(*symbol) parameters;
#define CUDA_PER_THREAD(symbol, base, since, target, parameters, ...) extern CUresult(*symbol) parameters;
#define CUDA_REFUSED(...)
#include "mockgpu/nv/cuda/entry_points.inc"
#undef CUDA_CALL
#undef CUDA_ALIAS
#undef CUDA_PER_THREAD
#undef CUDA_REFUSED

namespace understudy::probe {

// One line of output. Values are printed for successful calls only, or always after Always().
class Line {
 public:
  Line(const std::string& name, CUresult result);
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  Line& Always() {
    always_ = true;
    return *this;
  }
  Line& V(long long value);
  Line& V(const std::string& text);

 private:
  std::string name_, values_;
  CUresult result_;
  bool always_ = false;
};

// What a call that crashed counts as.
inline constexpr CUresult kCrashed = static_cast<CUresult>(-11);
// The jump out of a call that crashes; Guarded arms it.
extern sigjmp_buf g_jump;
extern volatile sig_atomic_t g_armed;
// Not inlined: the caller's variables must not live in registers that the jump restores.
template <class F>
[[gnu::noinline]] CUresult Guarded(const F& call) {
  if (sigsetjmp(g_jump, 1) != 0) {
    g_armed = 0;
    return kCrashed;
  }
  g_armed = 1;
  const CUresult result = call();
  g_armed = 0;
  return result;
}

// "name: RESULT": the result's number and name, or "crash" when the library dies of the call.
#define Case(name, ...) \
  ::understudy::probe::Line(name, ::understudy::probe::Guarded([&]() -> CUresult { return __VA_ARGS__; }))
// A line that is no call's result.
void Fact(const std::string& name, const std::string& value);
// A result as text, "1 CUDA_ERROR_INVALID_VALUE".
std::string ResultText(CUresult result);

// cuInit and a context of device 0; ends the section when that fails.
CUcontext Start();
// What the section cannot go on without.
void Need(CUresult result, const char* what);
#define US_NEED(call) ::understudy::probe::Need(call, #call)

CUmodule LoadKernels();  // kernels.h, in the current context
CUfunction Kernel(CUmodule module, const char* name);
CUdeviceptr Device(size_t bytes);  // cuMemAlloc
void* Library();                   // dlopen's handle

using Section = void (*)();
struct NamedSection {
  const char* name;
  Section run;
};
// Each runs in a process of its own: a call that ends the process ends one section.
const std::vector<NamedSection>& BasicSections();
const std::vector<NamedSection>& MemorySections();
const std::vector<NamedSection>& PoolSections();
const std::vector<NamedSection>& CodeSections();
const std::vector<NamedSection>& OccupancySections();
const std::vector<NamedSection>& TensorCopySections();
const std::vector<NamedSection>& OrderSections();
const std::vector<NamedSection>& GraphSections();
const std::vector<NamedSection>& FaultSections();
const std::vector<NamedSection>& StaleSections();

}  // namespace understudy::probe
