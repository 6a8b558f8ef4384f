// SPDX-License-Identifier: Apache-2.0
// The C names that the library exports: each takes the driver's lock, runs the call, and logs it. Made from
// the table alone, as is the search by name and version of cuGetProcAddress.
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "mockgpu/nv/cuda/driver.h"
#include "mockgpu/nv/cuda/entry_points.h"

extern "C" {
#define CUDA_CALL(symbol, base, since, parameters, ...) CUresult symbol parameters;
#define CUDA_ALIAS(symbol, base, since, target, parameters, ...) CUresult symbol parameters;
#define CUDA_PER_THREAD(symbol, base, since, target, parameters, ...) CUresult symbol parameters;
#define CUDA_REFUSED(symbol, base, since, per_thread) CUresult symbol(void);
#include "mockgpu/nv/cuda/entry_points.inc"
#undef CUDA_CALL
#undef CUDA_ALIAS
#undef CUDA_PER_THREAD
#undef CUDA_REFUSED
}

namespace understudy::mockgpu::nv {
namespace {

std::string Show(const char* text) { return text == nullptr ? "null" : absl::StrCat("\"", text, "\""); }
template <class T>
std::string Show(const T& value) {
  if constexpr (std::is_pointer_v<T>) {
    if constexpr (std::is_function_v<std::remove_pointer_t<T>>)
      return absl::StrCat("0x", absl::Hex(reinterpret_cast<uintptr_t>(value)));
    else
      return value == nullptr ? "null" : absl::StrCat("0x", absl::Hex(reinterpret_cast<uintptr_t>(value)));
  } else if constexpr (std::is_enum_v<T>) {
    return absl::StrCat(static_cast<int>(value));
  } else if constexpr (std::is_same_v<T, unsigned char>) {
    return absl::StrCat(static_cast<int>(value));
  } else if constexpr (std::is_same_v<T, CUdeviceptr>) {
    return absl::StrCat("0x", absl::Hex(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return absl::StrCat(value);
  } else {
    return "{...}";
  }
}

template <class... A>
CUresult Enter(const char* name, bool per_thread, CUresult (*call)(A...), A... a) {
  if (Driver::InCallback()) return CUDA_ERROR_NOT_PERMITTED;
  Driver& driver = Driver::Get();
  std::lock_guard lock(driver.mutex);
  const bool before = Driver::PerThreadDefault();
  Driver::PerThreadDefault() = per_thread;
  const CUresult result = call(a...);
  Driver::PerThreadDefault() = before;
  if (driver.logging) {
    std::string text;
    ((absl::StrAppend(&text, text.empty() ? "" : ", ", Show(a))), ...);
    driver.Log(absl::StrCat(name, "(", text, ") = ", ResultName(result)));
  }
  return result;
}

CUresult Refuse(const char* name) {
  Driver& driver = Driver::Get();
  std::lock_guard lock(driver.mutex);
  driver.Log(absl::StrCat(name, " is not supported"));
  return driver.initialized ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_NOT_INITIALIZED;
}

}  // namespace

const char* ResultName(CUresult result) {
  switch (result) {
#define CUDA_RESULT(name, value, text) \
  case name:                           \
    return #name;
#include "mockgpu/nv/cuda/results.inc"
#undef CUDA_RESULT
  }
  return nullptr;
}

const char* ResultText(CUresult result) {
  switch (result) {
#define CUDA_RESULT(name, value, text) \
  case name:                           \
    return text;
#include "mockgpu/nv/cuda/results.inc"
#undef CUDA_RESULT
  }
  return nullptr;
}

const std::vector<EntryPoint>& EntryPoints() {
  static const auto* const all = new std::vector<EntryPoint>{
#define CUDA_CALL(symbol, base, since, ...) \
  {#symbol, #base, since, false, false, reinterpret_cast<void*>(&::symbol)},
#define CUDA_ALIAS(symbol, base, since, ...) \
  {#symbol, #base, since, false, false, reinterpret_cast<void*>(&::symbol)},
#define CUDA_PER_THREAD(symbol, base, since, ...) \
  {#symbol, #base, since, true, false, reinterpret_cast<void*>(&::symbol)},
#define CUDA_REFUSED(symbol, base, since, per_thread) \
  {#symbol, #base, since, per_thread, true, reinterpret_cast<void*>(&::symbol)},
#include "mockgpu/nv/cuda/entry_points.inc"
#undef CUDA_CALL
#undef CUDA_ALIAS
#undef CUDA_PER_THREAD
#undef CUDA_REFUSED
  };
  return *all;
}

}  // namespace understudy::mockgpu::nv

namespace nv = understudy::mockgpu::nv;

extern "C" {
#define US_CUDA_EXPAND(...) __VA_OPT__(, ) __VA_ARGS__
#define CUDA_CALL(symbol, base, since, parameters, arguments)                      \
  CUresult symbol parameters {                                                     \
    return nv::Enter(#symbol, false, &nv::calls::symbol US_CUDA_EXPAND arguments); \
  }
#define CUDA_ALIAS(symbol, base, since, target, parameters, arguments)             \
  CUresult symbol parameters {                                                     \
    return nv::Enter(#symbol, false, &nv::calls::target US_CUDA_EXPAND arguments); \
  }
#define CUDA_PER_THREAD(symbol, base, since, target, parameters, arguments) \
  CUresult symbol parameters { return nv::Enter(#symbol, true, &nv::calls::target US_CUDA_EXPAND arguments); }
#define CUDA_REFUSED(symbol, base, since, per_thread) \
  CUresult symbol(void) { return nv::Refuse(#symbol); }
#include "mockgpu/nv/cuda/entry_points.inc"
}
