// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loaded code: modules with their variables in device memory, functions with their attributes, libraries that
// load into any context, and the options and logs of the JIT. Used by the entry points of modules, libraries,
// links and launches.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emu/ptx/core/program.h"
#include "emu/ptx/parse/module.h"
#include "mockgpu/nv/cuda/driver.h"

namespace understudy::mockgpu::nv {

struct Global {
  uint64_t va = 0, bytes = 0;
  bool managed = false;
};

// What cuModuleLoadDataEx and cuLinkCreate are given, and where the answers go.
class JitOptions {
 public:
  JitOptions() = default;
  // INVALID_VALUE for an option that does not exist.
  CUresult Read(unsigned count, const CUjit_option* options, void** values);
  // Fills the caller's log buffers and times. Call once, at the end.
  void Write(const std::string& info, const std::string& error) const;
  std::map<int, void*> values;

 private:
  void** out_ = nullptr;
  std::map<int, unsigned> place_;
};

// The PTX of an image for the device. `log` receives what a person should read on failure.
CUresult PtxOfImage(const void* image, const Device& device, std::string* ptx, std::string* log);
// The same of a buffer whose size is known.
CUresult PtxOfBytes(const void* image, size_t bytes, const Device& device, std::string* ptx,
                    std::string* log);
// Checks the text for the device, without loading it.
CUresult ParsePtx(const std::string& ptx, const std::string& name, const Device& device,
                  std::shared_ptr<const emu::ptx::Module>* out, std::string* log);
CUresult LoadModule(Driver& driver, Context* context, const std::string& ptx, Module** out, std::string* log);
void DestroyModule(Module* module);
// The function of a launch: a CUfunction, or a CUkernel for the current context. INVALID_HANDLE.
CUresult FindFunction(Driver& driver, CUfunction handle, Function** out);
CUresult KernelFunction(Driver& driver, Kernel* kernel, Context* context, Function** out);
CUresult LibraryModule(Driver& driver, Library* library, Context* context, Module** out);
CUresult FunctionAttribute(const Function& f, const Device& device, CUfunction_attribute attribute, int* out);
CUresult SetFunctionAttribute(Function* f, const Device& device, CUfunction_attribute attribute, int value);
CUresult ParamInfo(const Function& f, size_t index, size_t* offset, size_t* size);

}  // namespace understudy::mockgpu::nv

struct CUmod_st {
  CUctx_st* context = nullptr;
  std::shared_ptr<const understudy::emu::ptx::Module> text;
  std::shared_ptr<const understudy::emu::ptx::Program> program;
  std::map<std::string, understudy::mockgpu::nv::Global> globals;
  std::map<std::string, CUfunc_st*> functions;  // entries
  CUlib_st* library = nullptr;
  bool uses_heap = false;  // calls the device's malloc or free
};

struct CUfunc_st {
  CUmod_st* module = nullptr;
  std::string name;
  const understudy::emu::ptx::BoundFunction* bound = nullptr;
  int registers = 0;
  int max_dynamic_shared = 0;
  int carveout = -1;
  bool non_portable_cluster = false, cluster_must_be_set = false;
  int cluster[3] = {0, 0, 0};
  int cluster_policy = 0;
  int cache_config = 0;

  const understudy::emu::ptx::Function& text() const { return *bound->text; }
  uint32_t static_shared() const { return module->program->static_shared_bytes(*bound); }
  int max_threads(const understudy::mockgpu::nv::Device& device) const;
};

struct CUlib_st {
  CUresult error = CUDA_SUCCESS;  // of its image
  std::string ptx, name;
  int sm = 0;  // of the device that it was read for first
  std::shared_ptr<const understudy::emu::ptx::Module> text;
  std::map<CUctx_st*, CUmod_st*> modules;
  std::map<std::string, CUkern_st*> kernels;
};

struct CUkern_st {
  CUlib_st* library = nullptr;
  std::string name;
  std::map<int, std::map<int, int>> attributes;  // device -> attribute -> value, for functions yet to be made
};

struct CUlinkState_st {
  understudy::mockgpu::nv::JitOptions options;
  understudy::mockgpu::nv::Device* device = nullptr;
  std::vector<std::pair<std::string, std::string>> inputs;  // name, PTX
  std::string result, info, error;
};
