// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/opencl/opencl_api.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"

namespace understudy::opencl {
namespace {

absl::StatusOr<const Api*> LoadOnce() {
  void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return absl::NotFoundError(absl::StrCat("OpenCL: ", dlerror()));
  auto* const api = new Api;
#define US_OPENCL_FIND(result, name, args)                                  \
  api->name = reinterpret_cast<decltype(api->name)>(dlsym(library, #name)); \
  if (api->name == nullptr) return absl::NotFoundError("OpenCL: libOpenCL.so.1 has no " #name);
  US_OPENCL_FUNCTIONS(US_OPENCL_FIND)
#undef US_OPENCL_FIND
  return api;
}

}  // namespace

absl::StatusOr<const Api*> Api::Load() {
  static const auto* const api = new absl::StatusOr<const Api*>(LoadOnce());
  return *api;
}

std::string ErrorText(const char* function, int32_t error) {
  return absl::StrCat("OpenCL: ", function, ": error ", error);
}

}  // namespace understudy::opencl
