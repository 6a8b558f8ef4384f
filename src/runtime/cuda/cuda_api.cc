// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/cuda/cuda_api.h"

#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"

namespace understudy::cuda {
namespace {

absl::StatusOr<const Api*> LoadOnce(const std::string& name) {
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return absl::NotFoundError(absl::StrCat("CUDA: ", dlerror()));
  auto* const api = new Api;
#define US_CUDA_FIND(name_, args)                                              \
  api->name_ = reinterpret_cast<decltype(api->name_)>(dlsym(library, #name_)); \
  if (api->name_ == nullptr) return absl::NotFoundError(absl::StrCat("CUDA: ", name, " has no " #name_));
  US_CUDA_FUNCTIONS(US_CUDA_FIND)
#undef US_CUDA_FIND
  const int error = api->cuInit(0);
  if (error == kNoDevice) return absl::NotFoundError("CUDA: no device");
  if (error != kSuccess)
    return absl::FailedPreconditionError(std::string(api->Check("cuInit", error).message()));
  return api;
}

}  // namespace

absl::StatusOr<const Api*> Api::Load(const std::string& library) {
  std::string name = library;
  if (name.empty()) {
    const char* const from_environment = std::getenv("UNDERSTUDY_LIBCUDA");
    name = from_environment != nullptr ? from_environment : "libcuda.so.1";
  }
  static std::mutex mutex;
  static auto* const loaded = new std::map<std::string, absl::StatusOr<const Api*>>;
  std::lock_guard lock(mutex);
  const auto it = loaded->find(name);
  if (it != loaded->end()) return it->second;
  return loaded->emplace(name, LoadOnce(name)).first->second;
}

absl::Status Api::Check(const char* function, int error) const {
  if (error == kSuccess) return absl::OkStatus();
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(error, &name);
  cuGetErrorString(error, &text);
  const std::string message = absl::StrCat(
      "CUDA: ", function, ": ", name == nullptr ? absl::StrCat("error ", error) : std::string(name), " (",
      text == nullptr ? "unknown" : text, ")");
  if (error == kOutOfMemory) return absl::ResourceExhaustedError(message);
  if (error == kNotSupported) return absl::UnimplementedError(message);
  if (error >= kFirstSticky && error <= kLastSticky && error != kPeerAlreadyEnabled)
    return absl::AbortedError(message);
  return absl::InternalError(message);
}

}  // namespace understudy::cuda
