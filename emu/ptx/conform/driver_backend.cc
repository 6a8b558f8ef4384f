// SPDX-License-Identifier: Apache-2.0
// A GPU through the CUDA driver API, of which only what one launch needs is looked up. Names, numbers and
// signatures are those of the public API of CUDA 12.

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "emu/ptx/conform/backend.h"
#include "src/base/status.h"

namespace understudy::emu::ptx::conform {
namespace {

using Address = unsigned long long;
using Handle = void*;

#define PTX_DRIVER_FUNCTIONS(F)                                               \
  F(cuInit, (unsigned))                                                       \
  F(cuDriverGetVersion, (int*))                                               \
  F(cuGetErrorName, (int, const char**))                                      \
  F(cuGetErrorString, (int, const char**))                                    \
  F(cuDeviceGet, (int*, int))                                                 \
  F(cuDeviceGetName, (char*, int, int))                                       \
  F(cuDevicePrimaryCtxRetain, (Handle*, int))                                 \
  F(cuDevicePrimaryCtxRelease_v2, (int))                                      \
  F(cuDevicePrimaryCtxReset_v2, (int))                                        \
  F(cuCtxSetCurrent, (Handle))                                                \
  F(cuCtxSynchronize, ())                                                     \
  F(cuMemAlloc_v2, (Address*, size_t))                                        \
  F(cuMemFree_v2, (Address))                                                  \
  F(cuMemcpyHtoD_v2, (Address, const void*, size_t))                          \
  F(cuMemcpyDtoH_v2, (void*, Address, size_t))                                \
  F(cuModuleLoadDataEx, (Handle*, const void*, unsigned, const int*, void**)) \
  F(cuModuleUnload, (Handle))                                                 \
  F(cuModuleGetFunction, (Handle*, Handle, const char*))                      \
  F(cuFuncSetAttribute, (Handle, int, int))                                   \
  F(cuLaunchKernel,                                                           \
    (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**, void**))

// What only tensor maps need, which a library older than CUDA 12 does not have.
#define PTX_DRIVER_MAP_FUNCTIONS(F)                                                                          \
  F(cuTensorMapEncodeTiled, (void*, int, unsigned, void*, const uint64_t*, const uint64_t*, const unsigned*, \
                             const unsigned*, int, int, int, int))                                           \
  F(cuTensorMapEncodeIm2col, (void*, int, unsigned, void*, const uint64_t*, const uint64_t*, const int*,     \
                              const int*, unsigned, unsigned, const unsigned*, int, int, int, int))

struct Api {
#define PTX_DRIVER_MEMBER(name, args) int(*name) args = nullptr;
  PTX_DRIVER_FUNCTIONS(PTX_DRIVER_MEMBER)
  PTX_DRIVER_MAP_FUNCTIONS(PTX_DRIVER_MEMBER)
#undef PTX_DRIVER_MEMBER
};

// Option numbers of cuModuleLoadDataEx, and the attribute for more than 48 KiB of dynamic shared memory.
constexpr int kErrorLog = 5, kErrorLogBytes = 6, kOptimisationLevel = 7, kMaxDynamicShared = 8;
// A kernel may declare scratch pointers behind the parameters that a caller knows.
constexpr size_t kExtraParams = 16;

class Driver : public Backend {
 public:
  static absl::StatusOr<std::unique_ptr<Backend>> Open(const std::string& library, int optimisation) {
    auto driver = std::unique_ptr<Driver>(new Driver);
    driver->optimisation_ = optimisation;
    void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return absl::NotFoundError(absl::StrCat("CUDA: ", dlerror()));
    Api& api = driver->api_;
#define PTX_DRIVER_FIND(name, args)                                      \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(handle, #name)); \
  if (api.name == nullptr) return absl::NotFoundError(absl::StrCat("CUDA: ", library, " has no " #name));
    PTX_DRIVER_FUNCTIONS(PTX_DRIVER_FIND)
#undef PTX_DRIVER_FIND
#define PTX_DRIVER_FIND(name, args) api.name = reinterpret_cast<decltype(api.name)>(dlsym(handle, #name));
    PTX_DRIVER_MAP_FUNCTIONS(PTX_DRIVER_FIND)
#undef PTX_DRIVER_FIND
    const auto found = [&](const char* function, int error) {
      return error == 0 ? absl::OkStatus()
                        : absl::NotFoundError(std::string(driver->Check(function, error).message()));
    };
    US_RETURN_IF_ERROR(found("cuInit", api.cuInit(0)));
    US_RETURN_IF_ERROR(found("cuDeviceGet", api.cuDeviceGet(&driver->device_, 0)));
    US_RETURN_IF_ERROR(driver->MakeContext());
    char name[128] = {};
    int version = 0;
    US_RETURN_IF_ERROR(driver->Check("cuDeviceGetName", api.cuDeviceGetName(name, 127, driver->device_)));
    US_RETURN_IF_ERROR(driver->Check("cuDriverGetVersion", api.cuDriverGetVersion(&version)));
    driver->name_ = absl::StrCat(name, ", driver API ", version / 1000, ".", version % 1000 / 10);
    return std::unique_ptr<Backend>(std::move(driver));
  }
  ~Driver() override {
    if (context_ != nullptr) api_.cuDevicePrimaryCtxRelease_v2(device_);
  }
  std::string name() const override { return name_; }
  bool is_hardware() const override { return true; }

  absl::Status Load(const std::string& ptx) override {
    if (context_ == nullptr) US_RETURN_IF_ERROR(MakeContext());
    Handle module = nullptr;
    US_RETURN_IF_ERROR(LoadModule(ptx, &module));
    return Check("cuModuleUnload", api_.cuModuleUnload(module));
  }

  absl::Status Run(Launch* launch) override {
    if (context_ == nullptr) US_RETURN_IF_ERROR(MakeContext());
    Handle module = nullptr;
    US_RETURN_IF_ERROR(LoadModule(launch->ptx, &module));
    std::vector<Address> values(launch->params.size() + kExtraParams);
    const absl::Status status = RunLoaded(module, launch, &values);
    if (absl::IsAborted(status)) {
      // The context is broken for good, and its memory and modules with it.
      api_.cuDevicePrimaryCtxReset_v2(device_);
      api_.cuDevicePrimaryCtxRelease_v2(device_);
      context_ = nullptr;
      return status;
    }
    for (size_t i = 0; i < launch->params.size(); ++i)
      if (launch->params[i].is_buffer && values[i] != 0) api_.cuMemFree_v2(values[i]);
    api_.cuModuleUnload(module);
    return status;
  }

 private:
  Driver() = default;

  absl::Status Check(const char* function, int error) const {
    if (error == 0) return absl::OkStatus();
    const char *name = nullptr, *text = nullptr;
    api_.cuGetErrorName(error, &name);
    api_.cuGetErrorString(error, &text);
    return absl::InternalError(absl::StrCat("CUDA: ", function, ": ",
                                            name == nullptr ? absl::StrCat("error ", error) : name, " (",
                                            text == nullptr ? "unknown" : text, ")"));
  }

  absl::Status MakeContext() {
    US_RETURN_IF_ERROR(Check("cuDevicePrimaryCtxRetain", api_.cuDevicePrimaryCtxRetain(&context_, device_)));
    return Check("cuCtxSetCurrent", api_.cuCtxSetCurrent(context_));
  }

  absl::Status LoadModule(const std::string& ptx, Handle* module) {
    std::vector<char> log(8192);
    const int options[] = {kErrorLog, kErrorLogBytes, kOptimisationLevel};
    void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1),
                      reinterpret_cast<void*>(static_cast<intptr_t>(optimisation_))};
    const int error =
        api_.cuModuleLoadDataEx(module, ptx.c_str(), optimisation_ < 0 ? 2 : 3, options, values);
    if (error == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(Check("cuModuleLoadDataEx", error).message()), ": ", log.data()));
  }

  absl::Status Encode(const TensorMap& map, Address buffer, void* out) const {
    if (api_.cuTensorMapEncodeTiled == nullptr || api_.cuTensorMapEncodeIm2col == nullptr)
      return absl::InternalError(
          "CUDA: the library has no cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col");
    auto* const address = reinterpret_cast<void*>(buffer + map.address);
    const auto number = [](auto value) { return static_cast<int>(value); };
    const auto rank = static_cast<unsigned>(map.rank);
    const int error =
        map.mode == TensorMode::kTiled
            ? api_.cuTensorMapEncodeTiled(out, number(map.type), rank, address, map.dim.data(),
                                          map.stride.data() + 1, map.box.data(), map.element_stride.data(),
                                          number(map.interleave), number(map.swizzle), map.l2_promotion,
                                          number(map.fill))
            : api_.cuTensorMapEncodeIm2col(
                  out, number(map.type), rank, address, map.dim.data(), map.stride.data() + 1,
                  map.lower.data(), map.upper.data(), map.channels, map.pixels, map.element_stride.data(),
                  number(map.interleave), number(map.swizzle), map.l2_promotion, number(map.fill));
    if (error == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(std::string(Check("cuTensorMapEncode", error).message()));
  }

  absl::Status RunLoaded(Handle module, Launch* launch, std::vector<Address>* values) {
    Handle function = nullptr;
    US_RETURN_IF_ERROR(
        Check("cuModuleGetFunction", api_.cuModuleGetFunction(&function, module, launch->entry.c_str())));
    if (launch->shared_bytes != 0)
      US_RETURN_IF_ERROR(Check(
          "cuFuncSetAttribute",
          api_.cuFuncSetAttribute(function, kMaxDynamicShared, static_cast<int>(launch->shared_bytes))));
    std::vector<void*> pointers;
    for (Address& value : *values) pointers.push_back(&value);
    struct alignas(64) Encoded {
      uint8_t bytes[kTensorMapBytes];
    };
    std::vector<Encoded> maps(launch->params.size());
    for (size_t i = 0; i < launch->params.size(); ++i) {
      const Param& param = launch->params[i];
      if (param.is_tensor_map) continue;  // of a buffer that may come later
      if (!param.is_buffer) {
        std::memcpy(&(*values)[i], param.bytes.data(), std::min<size_t>(param.bytes.size(), 8));
        continue;
      }
      US_RETURN_IF_ERROR(
          Check("cuMemAlloc", api_.cuMemAlloc_v2(&(*values)[i], std::max<size_t>(param.bytes.size(), 1))));
      if (!param.bytes.empty())
        US_RETURN_IF_ERROR(Check("cuMemcpyHtoD",
                                 api_.cuMemcpyHtoD_v2((*values)[i], param.bytes.data(), param.bytes.size())));
    }
    for (size_t i = 0; i < launch->params.size(); ++i) {
      const Param& param = launch->params[i];
      if (!param.is_tensor_map) continue;
      US_RETURN_IF_ERROR(Encode(param.map, (*values)[param.of], maps[i].bytes));
      pointers[i] = maps[i].bytes;
    }
    US_RETURN_IF_ERROR(Check("cuLaunchKernel",
                             api_.cuLaunchKernel(function, launch->grid.x, launch->grid.y, launch->grid.z,
                                                 launch->block.x, launch->block.y, launch->block.z,
                                                 launch->shared_bytes, nullptr, pointers.data(), nullptr)));
    if (const int error = api_.cuCtxSynchronize(); error != 0)
      return absl::AbortedError(std::string(Check("cuCtxSynchronize", error).message()));
    std::vector<std::vector<uint8_t>> after(launch->params.size());
    for (size_t i = 0; i < after.size(); ++i) {
      after[i] = launch->params[i].bytes;
      if (launch->params[i].is_buffer && !after[i].empty())
        US_RETURN_IF_ERROR(
            Check("cuMemcpyDtoH", api_.cuMemcpyDtoH_v2(after[i].data(), (*values)[i], after[i].size())));
    }
    for (size_t i = 0; i < after.size(); ++i) launch->params[i].bytes = std::move(after[i]);
    return absl::OkStatus();
  }

  Api api_;
  int device_ = 0, optimisation_ = -1;
  Handle context_ = nullptr;
  std::string name_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Backend>> OpenDriver(const std::string& library, int optimisation) {
  if (!library.empty()) return Driver::Open(library, optimisation);
  const char* const named = std::getenv("UNDERSTUDY_LIBCUDA");
  return Driver::Open(named != nullptr ? named : "libcuda.so.1", optimisation);
}

}  // namespace understudy::emu::ptx::conform
