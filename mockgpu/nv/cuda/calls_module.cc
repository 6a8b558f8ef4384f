// SPDX-License-Identifier: Apache-2.0
// Modules, libraries, kernels and the linker.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "mockgpu/nv/cuda/module.h"

namespace understudy::mockgpu::nv::calls {
namespace {

Driver& D() { return Driver::Get(); }

CUresult ReadFile(const char* name, std::string* out) {
  US_CUDA_REQUIRE(name != nullptr, CUDA_ERROR_INVALID_VALUE);
  std::ifstream in(name, std::ios::binary);
  US_CUDA_REQUIRE(in.good(), CUDA_ERROR_FILE_NOT_FOUND);
  std::ostringstream text;
  text << in.rdbuf();
  *out = text.str();
  return CUDA_SUCCESS;
}

CUresult Load(CUmodule* out, const void* image, const std::string* bytes, const JitOptions& options) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  US_CUDA_REQUIRE(out != nullptr && (image != nullptr || bytes != nullptr), CUDA_ERROR_INVALID_VALUE);
  std::string ptx, log;
  CUresult result = bytes != nullptr ? PtxOfBytes(bytes->data(), bytes->size(), *context->device, &ptx, &log)
                                     : PtxOfImage(image, *context->device, &ptx, &log);
  if (result == CUDA_SUCCESS) result = LoadModule(D(), context, ptx, out, &log);
  if (result != CUDA_SUCCESS) D().Log(log);
  options.Write("", result == CUDA_SUCCESS ? "" : log);
  return result;
}

CUresult Name(const char** out, const std::string& name) {
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  *out = name.c_str();
  return CUDA_SUCCESS;
}

CUresult FindModule(CUmodule module) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(D().modules.Has(module), CUDA_ERROR_INVALID_HANDLE);
  return module->context->error;
}

CUresult GetGlobal(const Module& module, const char* name, CUdeviceptr* address, size_t* bytes) {
  US_CUDA_REQUIRE(name != nullptr && (address != nullptr || bytes != nullptr), CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(module.functions.count(name) == 0, CUDA_ERROR_INVALID_VALUE);
  const auto it = module.globals.find(name);
  US_CUDA_REQUIRE(it != module.globals.end(), CUDA_ERROR_NOT_FOUND);
  if (address != nullptr) *address = it->second.va;
  if (bytes != nullptr) *bytes = it->second.bytes;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuModuleLoadDataEx(CUmodule* out, const void* image, unsigned int count, CUjit_option* options,
                            void** values) {
  JitOptions jit;
  US_CUDA_TRY(jit.Read(count, options, values));
  return Load(out, image, nullptr, jit);
}
CUresult cuModuleLoadData(CUmodule* out, const void* image) { return Load(out, image, nullptr, {}); }
CUresult cuModuleLoadFatBinary(CUmodule* out, const void* image) { return Load(out, image, nullptr, {}); }
CUresult cuModuleLoad(CUmodule* out, const char* name) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  std::string bytes;
  US_CUDA_TRY(ReadFile(name, &bytes));
  return Load(out, nullptr, &bytes, {});
}

CUresult cuModuleUnload(CUmodule module) {
  US_CUDA_TRY(FindModule(module));
  US_CUDA_REQUIRE(module->library == nullptr, CUDA_ERROR_NOT_PERMITTED);
  if (!D().Idle(*module->context)) US_CUDA_TRY(D().Wait(module->context, nullptr));
  if (D().modules.Has(module)) DestroyModule(module);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(mode != nullptr, CUDA_ERROR_INVALID_VALUE);
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* out, CUmodule module, const char* name) {
  US_CUDA_TRY(FindModule(module));
  US_CUDA_REQUIRE(out != nullptr && name != nullptr && *name != 0, CUDA_ERROR_INVALID_VALUE);
  const auto it = module->functions.find(name);
  US_CUDA_REQUIRE(it != module->functions.end(), CUDA_ERROR_NOT_FOUND);
  *out = it->second;
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunctionCount(unsigned int* count, CUmodule module) {
  US_CUDA_TRY(FindModule(module));
  US_CUDA_REQUIRE(count != nullptr, CUDA_ERROR_INVALID_VALUE);
  *count = static_cast<unsigned>(module->functions.size());
  return CUDA_SUCCESS;
}
CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned int count, CUmodule module) {
  US_CUDA_TRY(FindModule(module));
  US_CUDA_REQUIRE(functions != nullptr || count == 0, CUDA_ERROR_INVALID_VALUE);
  unsigned i = 0;
  for (const auto& [name, function] : module->functions)
    if (i < count) functions[i++] = function;
  return CUDA_SUCCESS;
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule module, const char* name) {
  US_CUDA_TRY(FindModule(module));
  return GetGlobal(*module, name, address, bytes);
}

// --- functions ---

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
  Function* f = nullptr;
  US_CUDA_TRY(FindFunction(D(), handle, &f));
  US_CUDA_REQUIRE(value != nullptr, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(f->module->context->error);
  return FunctionAttribute(*f, *f->module->context->device, attribute, value);
}
CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  Function* f = nullptr;
  US_CUDA_TRY(FindFunction(D(), handle, &f));
  US_CUDA_TRY(f->module->context->error);
  return SetFunctionAttribute(f, *f->module->context->device, attribute, value);
}
CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config) {
  Function* f = nullptr;
  US_CUDA_TRY(FindFunction(D(), handle, &f));
  US_CUDA_REQUIRE(config >= 0 && config <= 3, CUDA_ERROR_INVALID_VALUE);
  f->cache_config = config;
  return CUDA_SUCCESS;
}
CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config) {
  Function* f = nullptr;
  US_CUDA_TRY(FindFunction(D(), handle, &f));
  US_CUDA_REQUIRE(config >= 0 && config <= 2, CUDA_ERROR_INVALID_VALUE);
  return CUDA_SUCCESS;
}
CUresult cuFuncGetModule(CUmodule* out, CUfunction handle) {
  Function* f = nullptr;
  US_CUDA_TRY(FindFunction(D(), handle, &f));
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  *out = f->module;
  return CUDA_SUCCESS;
}
CUresult cuFuncGetName(const char** name, CUfunction handle) {
  Function* f = nullptr;
  US_CUDA_REQUIRE(handle != nullptr, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(FindFunction(D(), handle, &f));
  return Name(name, f->name);
}
CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t* offset, size_t* size) {
  Function* f = nullptr;
  US_CUDA_TRY(FindFunction(D(), handle, &f));
  return ParamInfo(*f, index, offset, size);
}
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction handle) {
  Function* f = nullptr;
  US_CUDA_TRY(FindFunction(D(), handle, &f));
  US_CUDA_REQUIRE(state != nullptr, CUDA_ERROR_INVALID_VALUE);
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return CUDA_SUCCESS;
}
CUresult cuFuncLoad(CUfunction handle) {
  Function* f = nullptr;
  return FindFunction(D(), handle, &f);
}

// --- libraries ---

namespace {

CUresult LoadLibrary(CUlibrary* out, const void* image, const std::string* bytes, CUjit_option* options,
                     void** values, unsigned count) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(out != nullptr && (image != nullptr || bytes != nullptr), CUDA_ERROR_INVALID_VALUE);
  JitOptions jit;
  US_CUDA_TRY(jit.Read(count, options, values));
  // A library is of no context: it is read for the current device, or for the first.
  Context* context = nullptr;
  const Device* device = D().Current(&context) == CUDA_SUCCESS ? context->device : D().devices.front().get();
  std::string ptx, log;
  std::shared_ptr<const emu::ptx::Module> text;
  CUresult result = bytes != nullptr ? PtxOfBytes(bytes->data(), bytes->size(), *device, &ptx, &log)
                                     : PtxOfImage(image, *device, &ptx, &log);
  if (result == CUDA_SUCCESS) result = ParsePtx(ptx, "ptx", *device, &text, &log);
  if (result != CUDA_SUCCESS) D().Log(log);
  jit.Write("", result == CUDA_SUCCESS ? "" : log);
  Library* const library = D().libraries.Make();
  *out = library;
  // Code is looked at when it is first wanted: what is wrong with it shows then.
  library->error = result;
  if (result != CUDA_SUCCESS) return CUDA_SUCCESS;
  library->ptx = std::move(ptx);
  library->text = text;
  for (const emu::ptx::Function& f : text->functions) {
    if (!f.is_entry || f.is_declaration) continue;
    Kernel* const kernel = D().kernels.Make();
    kernel->library = library;
    kernel->name = f.name;
    library->kernels[f.name] = kernel;
  }
  return CUDA_SUCCESS;
}

CUresult FindLibrary(CUlibrary library) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  return D().libraries.Has(library) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult FindKernel(CUkernel kernel) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  return D().kernels.Has(kernel) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace

CUresult cuLibraryLoadData(CUlibrary* out, const void* code, CUjit_option* options, void** values,
                           unsigned int count, CUlibraryOption*, void**, unsigned int) {
  US_CUDA_REQUIRE(code != nullptr, CUDA_ERROR_INVALID_VALUE);
  return LoadLibrary(out, code, nullptr, options, values, count);
}
CUresult cuLibraryLoadFromFile(CUlibrary* out, const char* name, CUjit_option* options, void** values,
                               unsigned int count, CUlibraryOption*, void**, unsigned int) {
  std::string bytes;
  US_CUDA_TRY(ReadFile(name, &bytes));
  return LoadLibrary(out, nullptr, &bytes, options, values, count);
}
CUresult cuLibraryUnload(CUlibrary library) {
  US_CUDA_TRY(FindLibrary(library));
  const std::map<Context*, Module*> modules = library->modules;
  for (const auto& [context, module] : modules)
    if (context->error == CUDA_SUCCESS && !D().Idle(*context)) D().Wait(context, nullptr);
  for (const auto& [context, module] : modules)
    if (D().modules.Has(module)) DestroyModule(module);
  for (const auto& [name, kernel] : library->kernels) D().kernels.Destroy(kernel);
  D().libraries.Destroy(library);
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetKernel(CUkernel* out, CUlibrary library, const char* name) {
  US_CUDA_TRY(FindLibrary(library));
  US_CUDA_REQUIRE(out != nullptr && name != nullptr, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(library->error);
  const auto it = library->kernels.find(name);
  US_CUDA_REQUIRE(it != library->kernels.end(), CUDA_ERROR_NOT_FOUND);
  *out = it->second;
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary library) {
  US_CUDA_TRY(FindLibrary(library));
  US_CUDA_REQUIRE(count != nullptr, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(library->error);
  *count = static_cast<unsigned>(library->kernels.size());
  return CUDA_SUCCESS;
}
CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int count, CUlibrary library) {
  US_CUDA_TRY(FindLibrary(library));
  US_CUDA_REQUIRE(kernels != nullptr || count == 0, CUDA_ERROR_INVALID_VALUE);
  unsigned i = 0;
  for (const auto& [name, kernel] : library->kernels)
    if (i < count) kernels[i++] = kernel;
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetModule(CUmodule* out, CUlibrary library) {
  US_CUDA_TRY(FindLibrary(library));
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(library->error);
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  return LibraryModule(D(), library, context, out);
}
CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary library, const char* name) {
  Module* module = nullptr;
  US_CUDA_TRY(cuLibraryGetModule(&module, library));
  return GetGlobal(*module, name, address, bytes);
}
CUresult cuLibraryGetManaged(CUdeviceptr* address, size_t* bytes, CUlibrary library, const char* name) {
  Module* module = nullptr;
  US_CUDA_TRY(cuLibraryGetModule(&module, library));
  US_CUDA_REQUIRE(name != nullptr, CUDA_ERROR_INVALID_VALUE);
  const auto it = module->globals.find(name);
  US_CUDA_REQUIRE(it != module->globals.end() && it->second.managed, CUDA_ERROR_NOT_FOUND);
  return GetGlobal(*module, name, address, bytes);
}

CUresult cuKernelGetFunction(CUfunction* out, CUkernel kernel) {
  US_CUDA_TRY(FindKernel(kernel));
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  return FindFunction(D(), reinterpret_cast<CUfunction>(kernel), out);
}
CUresult cuKernelGetLibrary(CUlibrary* out, CUkernel kernel) {
  US_CUDA_TRY(FindKernel(kernel));
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  *out = kernel->library;
  return CUDA_SUCCESS;
}
CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  US_CUDA_TRY(FindKernel(kernel));
  return Name(name, kernel->name);
}

namespace {

// The kernel's function on a device: in the current context if that is of the device, else in its primary
// one.
CUresult OnDevice(CUkernel kernel, CUdevice ordinal, Function** out) {
  US_CUDA_TRY(FindKernel(kernel));
  Device* device = nullptr;
  US_CUDA_TRY(D().FindDevice(ordinal, &device));
  Context* context = nullptr;
  if (D().Current(&context) != CUDA_SUCCESS || context->device != device) context = device->primary;
  US_CUDA_REQUIRE(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  return KernelFunction(D(), kernel, context, out);
}

}  // namespace

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  US_CUDA_REQUIRE(value != nullptr, CUDA_ERROR_INVALID_VALUE);
  Function* f = nullptr;
  US_CUDA_TRY(OnDevice(kernel, device, &f));
  return FunctionAttribute(*f, *f->module->context->device, attribute, value);
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  US_CUDA_TRY(FindKernel(kernel));
  Device* found = nullptr;
  US_CUDA_TRY(D().FindDevice(device, &found));
  for (const auto& [context, module] : kernel->library->modules) {
    const auto f = module->functions.find(kernel->name);
    if (context->device == found && f != module->functions.end())
      US_CUDA_TRY(SetFunctionAttribute(f->second, *found, attribute, value));
  }
  kernel->attributes[device][attribute] = value;
  return CUDA_SUCCESS;
}
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
  US_CUDA_TRY(FindKernel(kernel));
  Device* found = nullptr;
  US_CUDA_TRY(D().FindDevice(device, &found));
  US_CUDA_REQUIRE(config >= 0 && config <= 3, CUDA_ERROR_INVALID_VALUE);
  return CUDA_SUCCESS;
}
CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* size) {
  US_CUDA_TRY(FindKernel(kernel));
  Function* f = nullptr;
  US_CUDA_TRY(FindFunction(D(), reinterpret_cast<CUfunction>(kernel), &f));
  return ParamInfo(*f, index, offset, size);
}

// --- the linker: one PTX text goes through it ---

CUresult cuLinkCreate_v2(unsigned int count, CUjit_option* options, void** values, CUlinkState* out) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  JitOptions jit;
  US_CUDA_TRY(jit.Read(count, options, values));
  *out = D().links.Make();
  (*out)->options = jit;
  (*out)->device = context->device;
  return CUDA_SUCCESS;
}

namespace {

CUresult AddInput(CUlinkState state, CUjitInputType type, const void* data, size_t bytes,
                  const std::string& name) {
  US_CUDA_REQUIRE(D().links.Has(state), CUDA_ERROR_INVALID_HANDLE);
  US_CUDA_REQUIRE(type >= 0 && type < 6 && data != nullptr && bytes != 0, CUDA_ERROR_INVALID_VALUE);
  CUresult result = CUDA_SUCCESS;
  if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY) {
    state->error += absl::StrCat("the linker takes PTX, '", name, "' is machine code\n");
    result = CUDA_ERROR_NO_BINARY_FOR_GPU;
  } else {
    std::string ptx;
    std::shared_ptr<const emu::ptx::Module> text;
    result = PtxOfBytes(data, bytes, *state->device, &ptx, &state->error);
    if (result == CUDA_SUCCESS) result = ParsePtx(ptx, name, *state->device, &text, &state->error);
    if (result == CUDA_SUCCESS) state->inputs.push_back({name, std::move(ptx)});
  }
  if (result != CUDA_SUCCESS) {
    D().Log(state->error);
    state->options.Write(state->info, state->error);
  }
  return result;
}

}  // namespace

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t bytes, const char* name,
                          unsigned int, CUjit_option*, void**) {
  return AddInput(state, type, data, bytes, name == nullptr ? "input" : name);
}
CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned int,
                          CUjit_option*, void**) {
  std::string bytes;
  US_CUDA_TRY(ReadFile(path, &bytes));
  return AddInput(state, type, bytes.data(), bytes.size(), path);
}
CUresult cuLinkComplete(CUlinkState state, void** image, size_t* bytes) {
  US_CUDA_REQUIRE(D().links.Has(state), CUDA_ERROR_INVALID_HANDLE);
  US_CUDA_REQUIRE(image != nullptr, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(!state->inputs.empty(), CUDA_ERROR_INVALID_VALUE);
  if (state->inputs.size() > 1) {
    state->error += "linking of several PTX texts is not supported\n";
    state->options.Write(state->info, state->error);
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  state->result = state->inputs.front().second;
  *image = state->result.data();
  if (bytes != nullptr) *bytes = state->result.size() + 1;
  state->options.Write(state->info, state->error);
  return CUDA_SUCCESS;
}
CUresult cuLinkDestroy(CUlinkState state) {
  US_CUDA_REQUIRE(D().links.Has(state), CUDA_ERROR_INVALID_HANDLE);
  D().links.Destroy(state);
  return CUDA_SUCCESS;
}

}  // namespace understudy::mockgpu::nv::calls
