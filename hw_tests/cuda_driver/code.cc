// SPDX-License-Identifier: Apache-2.0
// Modules and the JIT's errors, functions' attributes, libraries, the linker, launches.
#include <cstdio>

#include "hw_tests/cuda_driver/kernels.h"
#include "hw_tests/cuda_driver/launch_attributes.h"
#include "hw_tests/cuda_driver/probe.h"

namespace understudy::probe {
namespace {

std::string N(const std::string& stem, long long n) { return stem + "." + std::to_string(n); }

std::string Ptx(const char* version, const char* target, const std::string& body) {
  return std::string(".version ") + version + "\n.target " + target + "\n.address_size 64\n" + body;
}
const char* const kEmptyEntry = ".visible .entry k() { ret; }\n";

// Loads with a log; says where the log's first error is, and whether there is one.
void LoadCase(const std::string& name, const std::string& ptx) {
  char error[4096] = "";
  CUmodule module = nullptr;
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {error, reinterpret_cast<void*>(sizeof error)};
  const CUresult r = cuModuleLoadDataEx(&module, ptx.c_str(), 2, options, values);
  const std::string log = error;
  std::string line = "no line";
  if (const size_t at = log.find(", line "); at != std::string::npos)
    line = "line " + std::to_string(std::atoi(log.c_str() + at + 7));
  Case(name, r)
      .Always()
      .V(log.empty()                   ? "no log"
         : log.rfind("ptxas ", 0) == 0 ? "ptxas log"
                                       : "log")
      .V(line);
  if (r == CUDA_SUCCESS) cuModuleUnload(module);
}

void Modules() {
  Start();
  CUmodule m = nullptr;
  CUfunction f = nullptr;
  CUdeviceptr p = 0;
  size_t bytes = 0;
  Case("load.null", cuModuleLoadData(&m, nullptr));
  Case("load.nullOut", cuModuleLoadData(nullptr, kKernels));
  LoadCase("good", Ptx("8.0", "sm_90", kEmptyEntry));
  LoadCase("empty", "");
  LoadCase("words", "this is no program");
  LoadCase("commentOnly", "// nothing\n");
  LoadCase("noTarget", std::string(".version 8.0\n.address_size 64\n") + kEmptyEntry);
  LoadCase("noVersion", std::string(".target sm_90\n.address_size 64\n") + kEmptyEntry);
  LoadCase("noFunctions", Ptx("8.0", "sm_90", ""));
  for (const char* version :
       {"1.0", "2.0", "3.2", "5.0", "6.0", "7.0", "7.7", "7.8", "8.8", "9.0", "9.1", "9.9", "12.0"})
    LoadCase(std::string("version.") + version, Ptx(version, "sm_90", kEmptyEntry));
  for (const char* target : {"sm_10",   "sm_20",  "sm_30",  "sm_52",   "sm_60",  "sm_70",  "sm_75",
                             "sm_80",   "sm_86",  "sm_89",  "sm_90",   "sm_90a", "sm_100", "sm_100a",
                             "sm_100f", "sm_103", "sm_120", "sm_121a", "sm_99",  "sm_200", "compute_90"})
    LoadCase(std::string("target.") + target, Ptx("8.8", target, kEmptyEntry));
  LoadCase("address32", ".version 8.0\n.target sm_90\n.address_size 32\n.visible .entry k() { ret; }\n");
  LoadCase("noAddressSize", ".version 8.0\n.target sm_90\n.visible .entry k() { ret; }\n");
  LoadCase("unknownInstruction",
           Ptx("8.0", "sm_90", ".visible .entry k() {\n  frobnicate.u32 %r1;\n  ret;\n}\n"));
  LoadCase("unknownRegister",
           Ptx("8.0", "sm_90", ".visible .entry k() {\n  .reg .b32 %r<2>;\n  mov.u32 %r9, 1;\n  ret;\n}\n"));
  LoadCase("typeMismatch",
           Ptx("8.0", "sm_90",
               ".visible .entry k() {\n  .reg .b64 %rd<2>;\n  add.u32 %rd1, %rd1, 1;\n  ret;\n}\n"));
  LoadCase("missingSemicolon",
           Ptx("8.0", "sm_90", ".visible .entry k() {\n  .reg .b32 %r<2>;\n  mov.u32 %r1, 1\n  ret;\n}\n"));
  LoadCase("unclosed", Ptx("8.0", "sm_90", ".visible .entry k() {\n  ret;\n"));
  LoadCase("undefinedLabel", Ptx("8.0", "sm_90", ".visible .entry k() {\n  bra nowhere;\n}\n"));
  LoadCase("duplicateLabel", Ptx("8.0", "sm_90", ".visible .entry k() {\nL:\nL:\n  ret;\n}\n"));
  LoadCase("duplicateEntry", Ptx("8.0", "sm_90", std::string(kEmptyEntry) + kEmptyEntry));
  LoadCase(
      "externFunction",
      Ptx("8.0", "sm_90", ".extern .func absent();\n.visible .entry k() {\n  call absent;\n  ret;\n}\n"));
  LoadCase("externFunctionUnused",
           Ptx("8.0", "sm_90", std::string(".extern .func absent();\n") + kEmptyEntry));
  LoadCase("externVariable",
           Ptx("8.0", "sm_90",
               ".extern .global .u32 absent;\n.visible .entry k() {\n  .reg .b32 %r<2>;\n  ld.global.u32 "
               "%r1, [absent];\n  st.global.u32 [absent], %r1;\n  ret;\n}\n"));
  LoadCase("sharedTooLarge", Ptx("8.0", "sm_90",
                                 ".visible .entry k() {\n  .shared .b8 s[49153];\n  .reg .b32 %r<2>;\n  "
                                 "mov.u32 %r1, 1;\n  st.shared.u32 [s], %r1;\n  ret;\n}\n"));
  LoadCase("newForOldTarget", Ptx("8.0", "sm_70",
                                  ".visible .entry k() {\n  .reg .b32 %r<4>;\n  redux.sync.add.s32 %r1, %r2, "
                                  "0xffffffff;\n  ret;\n}\n"));
  LoadCase("newForOldVersion", Ptx("6.0", "sm_90", kEmptyEntry));
  LoadCase("archSpecific",
           Ptx("8.0", "sm_90", ".visible .entry k() {\n  setmaxnreg.inc.sync.aligned.u32 64;\n  ret;\n}\n"));
  // Options.
  CUjit_option option[1];
  void* value[1];
  for (int o = -1; o <= 40; ++o) {
    // Those with pointers behind them need more than a number.
    if (o == 3 || o == 5 || (o >= 17 && o <= 19) || (o >= 25 && o <= 28)) continue;
    option[0] = o;
    value[0] = reinterpret_cast<void*>(o == 9 ? 90 : o == 7 ? 4 : o == 31 ? 1 : o == 0 ? 32 : 1);
    m = nullptr;
    const CUresult r = cuModuleLoadDataEx(&m, kKernels, 1, option, value);
    Case(N("option", o), r);
    if (r == CUDA_SUCCESS) cuModuleUnload(m);
  }
  Case("options.null", cuModuleLoadDataEx(&m, kKernels, 1, nullptr, nullptr));
  Case("options.none", cuModuleLoadDataEx(&m, kKernels, 0, nullptr, nullptr));
  Case("file.absent", cuModuleLoad(&m, "/no/such/file"));
  Case("file.null", cuModuleLoad(&m, nullptr));
  Case("file.directory", cuModuleLoad(&m, "/"));
  static const unsigned char elf[256] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
  Case("elf.garbage", cuModuleLoadData(&m, elf));
  static const unsigned char fat[64] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
  Case("fatbin.empty", cuModuleLoadData(&m, fat));
  Case("fatbin.empty.asFatbin", cuModuleLoadFatBinary(&m, fat));
  Case("fatbin.ptx", cuModuleLoadFatBinary(&m, kKernels));
  // Names.
  m = LoadKernels();
  Case("function", cuModuleGetFunction(&f, m, "empty"));
  Case("function.absent", cuModuleGetFunction(&f, m, "absent"));
  Case("function.variable", cuModuleGetFunction(&f, m, "counter"));
  Case("function.emptyName", cuModuleGetFunction(&f, m, ""));
  Case("function.null", cuModuleGetFunction(&f, m, nullptr));
  Case("function.nullOut", cuModuleGetFunction(nullptr, m, "empty"));
  Case("function.nullModule", cuModuleGetFunction(&f, nullptr, "empty"));
  Case("global", cuModuleGetGlobal_v2(&p, &bytes, m, "counter")).V(static_cast<long long>(bytes)).V(p != 0);
  Case("global.const", cuModuleGetGlobal_v2(&p, &bytes, m, "table"))
      .V(static_cast<long long>(bytes))
      .V(p != 0);
  Case("global.absent", cuModuleGetGlobal_v2(&p, &bytes, m, "absent"));
  Case("global.function", cuModuleGetGlobal_v2(&p, &bytes, m, "empty"));
  Case("global.null", cuModuleGetGlobal_v2(&p, &bytes, m, nullptr));
  Case("global.nullOut", cuModuleGetGlobal_v2(nullptr, &bytes, m, "counter"))
      .V(static_cast<long long>(bytes));
  Case("global.nullOuts", cuModuleGetGlobal_v2(nullptr, nullptr, m, "counter"));
  Case("global.nullModule", cuModuleGetGlobal_v2(&p, &bytes, nullptr, "counter"));
  unsigned count = 0;
  Case("count", cuModuleGetFunctionCount(&count, m)).V(count);
  Case("count.null", cuModuleGetFunctionCount(nullptr, m));
  CUfunction all[32] = {};
  Case("enumerate", cuModuleEnumerateFunctions(all, 32, m)).V(all[0] != nullptr);
  Case("enumerate.0", cuModuleEnumerateFunctions(all, 0, m));
  Case("enumerate.null", cuModuleEnumerateFunctions(nullptr, 1, m));
  Case("unload", cuModuleUnload(m));
  Case("unload.null", cuModuleUnload(nullptr));
}

void Functions() {
  Start();
  CUmodule m = LoadKernels();
  int n = 0;
  for (const char* name :
       {"empty", "write", "maxntid", "reqntid", "minnctapersm", "static_shared", "dynamic_shared",
        "uses_const", "uses_local", "cluster2", "cluster_explicit", "cluster_max"}) {
    const CUfunction f = Kernel(m, name);
    for (int a = 0; a <= 16; ++a) {
      if (a == CU_FUNC_ATTRIBUTE_NUM_REGS) continue;
      n = 0;
      Case(N(name, a), cuFuncGetAttribute(&n, a, f)).V(n);
    }
  }
  const CUfunction f = Kernel(m, "empty"), g = Kernel(m, "static_shared");
  Case("get.-1", cuFuncGetAttribute(&n, -1, f));
  Case("get.null", cuFuncGetAttribute(nullptr, 0, f));
  Case("get.nullFunction", cuFuncGetAttribute(&n, 0, nullptr));
  const auto set = [&](const char* kernel, int a, int value) {
    const CUfunction h = Kernel(m, kernel);
    const CUresult r = cuFuncSetAttribute(h, a, value);
    n = -99;
    cuFuncGetAttribute(&n, a, h);
    Case(std::string("set.") + kernel + "." + std::to_string(a) + "." + std::to_string(value), r)
        .Always()
        .V(n);
  };
  for (int a = 0; a <= 7; ++a) set("empty", a, 1);
  for (const int v : {-1, 0, 1, 49152, 49153, 65536, 232448, 232449}) set("empty", 8, v);
  for (const int v : {0, 9152, 192448, 192449}) set("static_shared", 8, v);
  for (const int v : {-2, -1, 0, 50, 100, 101}) set("empty", 9, v);
  for (const int v : {-1, 0, 1, 2}) set("empty", 10, v);
  set("empty", 10, 0);
  for (const int v : {-1, 0, 1, 2, 4}) set("empty", 11, v);
  for (const int v : {0, 1}) set("empty", 12, v);
  for (const int v : {0, 1}) set("empty", 13, v);
  for (const int v : {1, 2, 3}) set("cluster2", 11, v);
  for (const int v : {-1, 0, 1, 2}) set("empty", 14, v);
  for (const int v : {-1, 0, 1, 2, 3}) set("empty", 15, v);
  set("empty", 16, 0);
  Case("set.nullFunction", cuFuncSetAttribute(nullptr, 8, 0));
  for (int config = -1; config <= 4; ++config)
    Case(N("cacheConfig", config), cuFuncSetCacheConfig(f, config));
  for (int config = -1; config <= 3; ++config)
    Case(N("sharedConfig", config), cuFuncSetSharedMemConfig(f, config));
  CUmodule of = nullptr;
  Case("module", cuFuncGetModule(&of, f)).V(of == m);
  Case("module.null", cuFuncGetModule(nullptr, f));
  const char* name = nullptr;
  Case("name", cuFuncGetName(&name, g)).V(name == nullptr ? "null" : name);
  Case("name.null", cuFuncGetName(nullptr, g));
  Case("name.nullFunction", cuFuncGetName(&name, nullptr));
  size_t offset = 0, size = 0;
  const CUfunction h = Kernel(m, "params");
  for (size_t i = 0; i < 5; ++i)
    Case(N("param", static_cast<long long>(i)), cuFuncGetParamInfo(h, i, &offset, &size))
        .V(static_cast<long long>(offset))
        .V(static_cast<long long>(size));
  Case("param.nullSize", cuFuncGetParamInfo(h, 1, &offset, nullptr)).V(static_cast<long long>(offset));
  Case("param.nullOffset", cuFuncGetParamInfo(h, 1, nullptr, &size));
  Case("param.none", cuFuncGetParamInfo(f, 0, &offset, &size));
  CUfunctionLoadingState state = -1;
  Case("isLoaded.null", cuFuncIsLoaded(nullptr, f));
  Case("load", cuFuncLoad(f));
  Case("isLoaded", cuFuncIsLoaded(&state, f)).V(state);
  Case("load.null", cuFuncLoad(nullptr));
}

void Libraries() {
  Start();
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction f = nullptr;
  CUmodule m = nullptr;
  CUdeviceptr p = 0;
  size_t bytes = 0;
  unsigned count = 0;
  int n = 0;
  Case("load.null", cuLibraryLoadData(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0));
  Case("load.nullOut", cuLibraryLoadData(nullptr, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0));
  const std::string bad = Ptx("8.0", "sm_90", ".visible .entry k() { frobnicate; }");
  const CUresult r = cuLibraryLoadData(&library, bad.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  Case("load.badPtx", r);
  if (r == CUDA_SUCCESS) Case("load.badPtx.module", cuLibraryGetModule(&m, library));
  Case("load.words", cuLibraryLoadData(&library, "words", nullptr, nullptr, 0, nullptr, nullptr, 0));
  Case("load.file",
       cuLibraryLoadFromFile(&library, "/no/such/file", nullptr, nullptr, 0, nullptr, nullptr, 0));
  US_NEED(cuLibraryLoadData(&library, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0));
  Case("kernel", cuLibraryGetKernel(&kernel, library, "write"));
  CUkernel other = nullptr;
  Case("kernel.absent", cuLibraryGetKernel(&other, library, "absent"));
  Case("kernel.null", cuLibraryGetKernel(&other, library, nullptr));
  Case("kernel.nullOut", cuLibraryGetKernel(nullptr, library, "write"));
  Case("kernel.nullLibrary", cuLibraryGetKernel(&other, nullptr, "write"));
  Case("count", cuLibraryGetKernelCount(&count, library)).V(count);
  Case("count.null", cuLibraryGetKernelCount(nullptr, library));
  Case("module", cuLibraryGetModule(&m, library)).V(m != nullptr);
  Case("module.unload", cuModuleUnload(m));
  Case("global", cuLibraryGetGlobal(&p, &bytes, library, "counter")).V(static_cast<long long>(bytes));
  Case("global.absent", cuLibraryGetGlobal(&p, &bytes, library, "absent"));
  Case("global.null", cuLibraryGetGlobal(nullptr, nullptr, library, "counter"));
  Case("managed.notManaged", cuLibraryGetManaged(&p, &bytes, library, "counter"));
  Case("function", cuKernelGetFunction(&f, kernel));
  Case("function.null", cuKernelGetFunction(nullptr, kernel));
  Case("function.nullKernel", cuKernelGetFunction(&f, nullptr));
  CUlibrary of = nullptr;
  Case("library", cuKernelGetLibrary(&of, kernel)).V(of == library);
  const char* name = nullptr;
  Case("name", cuKernelGetName(&name, kernel)).V(name == nullptr ? "null" : name);
  for (const int a : {0, 1, 8, 9, 14, 16, -1}) {
    n = -9;
    Case(N("attribute", a), cuKernelGetAttribute(&n, a, kernel, 0)).V(n);
  }
  Case("attribute.device9", cuKernelGetAttribute(&n, 0, kernel, 9));
  Case("attribute.null", cuKernelGetAttribute(nullptr, 0, kernel, 0));
  Case("set", cuKernelSetAttribute(8, 100000, kernel, 0));
  Case("set.tooMuch", cuKernelSetAttribute(8, 300000, kernel, 0));
  Case("set.readOnly", cuKernelSetAttribute(0, 1, kernel, 0));
  Case("set.device9", cuKernelSetAttribute(8, 100, kernel, 9));
  Case("set.seen", cuFuncGetAttribute(&n, 8, f)).V(n);
  Case("cacheConfig", cuKernelSetCacheConfig(kernel, 1, 0));
  Case("cacheConfig.9", cuKernelSetCacheConfig(kernel, 9, 0));
  size_t offset = 0;
  Case("param", cuKernelGetParamInfo(kernel, 1, &offset, &bytes))
      .V(static_cast<long long>(offset))
      .V(static_cast<long long>(bytes));
  Case("param.2", cuKernelGetParamInfo(kernel, 2, &offset, &bytes));
  CUdeviceptr d = Device(64);
  uint32_t v = 5;
  void* arguments[] = {&d, &v};
  Case("launch", cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments,
                                nullptr));
  Case("sync", cuCtxSynchronize());
  Case("unload", cuLibraryUnload(library));
  Case("unload.null", cuLibraryUnload(nullptr));
  // The linker.
  CUlinkState link = nullptr;
  void* cubin = nullptr;
  Case("link.create.null", cuLinkCreate_v2(0, nullptr, nullptr, nullptr));
  Case("link.create", cuLinkCreate_v2(0, nullptr, nullptr, &link));
  Case("link.add.null", cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, nullptr, 10, "x", 0, nullptr, nullptr));
  Case("link.add.type9",
       cuLinkAddData_v2(link, 9, const_cast<char*>(kKernels), sizeof kKernels, "x", 0, nullptr, nullptr));
  Case("link.add.bad", cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, const_cast<char*>(bad.c_str()),
                                        bad.size() + 1, "x", 0, nullptr, nullptr));
  Case("link.addFile", cuLinkAddFile_v2(link, CU_JIT_INPUT_PTX, "/no/such/file", 0, nullptr, nullptr));
  Case("link.destroy", cuLinkDestroy(link));
  US_NEED(cuLinkCreate_v2(0, nullptr, nullptr, &link));
  Case("link.add", cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, const_cast<char*>(kKernels), sizeof kKernels, "x",
                                    0, nullptr, nullptr));
  Case("link.complete", cuLinkComplete(link, &cubin, &bytes)).V(cubin != nullptr).V(bytes > 0);
  CUmodule linked = nullptr;
  Case("link.load", cuModuleLoadData(&linked, cubin));
  Case("link.destroy.complete", cuLinkDestroy(link));
  Case("link.destroy.null", cuLinkDestroy(nullptr));
  US_NEED(cuLinkCreate_v2(0, nullptr, nullptr, &link));
  Case("link.complete.nothing", cuLinkComplete(link, &cubin, &bytes));
}

void Launches() {
  Start();
  CUmodule m = LoadKernels();
  const CUfunction f = Kernel(m, "empty"), w = Kernel(m, "write"), dynamic = Kernel(m, "dynamic_shared");
  const auto launch = [&](const std::string& name, CUfunction k, unsigned gx, unsigned gy, unsigned gz,
                          unsigned bx, unsigned by, unsigned bz, unsigned shared) {
    CUdeviceptr d = Device(256);
    uint32_t v = 1;
    void* arguments[] = {&d, &v};
    const CUresult r = cuLaunchKernel(k, gx, gy, gz, bx, by, bz, shared, nullptr, arguments, nullptr);
    Case(name, r);
    const CUresult s = cuCtxSynchronize();
    if (s != CUDA_SUCCESS) Case(name + ".sync", s);
    cuMemFree_v2(d);
  };
  launch("plain", f, 1, 1, 1, 1, 1, 1, 0);
  launch("null", nullptr, 1, 1, 1, 1, 1, 1, 0);
  launch("grid0.x", f, 0, 1, 1, 1, 1, 1, 0);
  launch("grid0.y", f, 1, 0, 1, 1, 1, 1, 0);
  launch("grid0.z", f, 1, 1, 0, 1, 1, 1, 0);
  launch("block0.x", f, 1, 1, 1, 0, 1, 1, 0);
  launch("block0.y", f, 1, 1, 1, 1, 0, 1, 0);
  launch("block0.z", f, 1, 1, 1, 1, 1, 0, 0);
  launch("all0", f, 0, 0, 0, 0, 0, 0, 0);
  launch("block1024", f, 1, 1, 1, 1024, 1, 1, 0);
  launch("block1025", f, 1, 1, 1, 1025, 1, 1, 0);
  launch("block33x32", f, 1, 1, 1, 33, 32, 1, 0);
  launch("block1x1024", f, 1, 1, 1, 1, 1024, 1, 0);
  launch("block.z64", f, 1, 1, 1, 1, 1, 64, 0);
  launch("block.z65", f, 1, 1, 1, 1, 1, 65, 0);
  launch("grid.x2^31", f, 1u << 31, 1, 1, 1, 1, 1, 0);
  launch("grid.y65535", f, 1, 65535, 1, 1, 1, 1, 0);
  launch("grid.y65536", f, 1, 65536, 1, 1, 1, 1, 0);
  launch("grid.z65536", f, 1, 1, 65536, 1, 1, 1, 0);
  launch("shared49152", dynamic, 1, 1, 1, 1, 1, 1, 49152);
  launch("shared49153", dynamic, 1, 1, 1, 1, 1, 1, 49153);
  launch("shared232448", dynamic, 1, 1, 1, 1, 1, 1, 232448);
  Case("shared.optIn", cuFuncSetAttribute(dynamic, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
  launch("shared.optIn.100000", dynamic, 1, 1, 1, 1, 1, 1, 100000);
  launch("shared.optIn.100001", dynamic, 1, 1, 1, 1, 1, 1, 100001);
  Case("shared.optInMost",
       cuFuncSetAttribute(dynamic, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
  launch("shared.optIn.232448", dynamic, 1, 1, 1, 1, 1, 1, 232448);
  launch("shared.most", dynamic, 1, 1, 1, 1, 1, 1, ~0u);
  launch("static.plus9152", Kernel(m, "static_shared"), 1, 1, 1, 1, 1, 1, 9152);
  launch("static.plus9153", Kernel(m, "static_shared"), 1, 1, 1, 1, 1, 1, 9153);
  launch("maxntid.128", Kernel(m, "maxntid"), 1, 1, 1, 128, 1, 1, 0);
  launch("maxntid.64x2", Kernel(m, "maxntid"), 1, 1, 1, 64, 2, 1, 0);
  launch("maxntid.129", Kernel(m, "maxntid"), 1, 1, 1, 129, 1, 1, 0);
  launch("reqntid.64x2", Kernel(m, "reqntid"), 1, 1, 1, 64, 2, 1, 0);
  launch("reqntid.128", Kernel(m, "reqntid"), 1, 1, 1, 128, 1, 1, 0);
  launch("reqntid.32", Kernel(m, "reqntid"), 1, 1, 1, 32, 1, 1, 0);
  launch("reqntid.1024", Kernel(m, "reqntid"), 1, 1, 1, 1024, 1, 1, 0);
  launch("cluster2.grid2", Kernel(m, "cluster2"), 2, 1, 1, 32, 1, 1, 0);
  launch("cluster2.grid3", Kernel(m, "cluster2"), 3, 1, 1, 32, 1, 1, 0);
  launch("explicit.without", Kernel(m, "cluster_explicit"), 2, 1, 1, 32, 1, 1, 0);
  launch("maxrank.without", Kernel(m, "cluster_max"), 2, 1, 1, 32, 1, 1, 0);
  // Arguments.
  CUdeviceptr d = Device(256);
  uint32_t v = 1;
  void* arguments[] = {&d, &v};
  struct {
    CUdeviceptr d;
    uint32_t v;
  } packed{d, 2};
  const auto arg = [&](const char* name, CUfunction k, void** params, void** extra) {
    Case(std::string("arguments.") + name, cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, nullptr, params, extra));
    const CUresult s = cuCtxSynchronize();
    if (s != CUDA_SUCCESS) Case(std::string("arguments.") + name + ".sync", s);
  };
  size_t size = 12, small = 8, large = 64;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  void* extra16[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, nullptr,
                     CU_LAUNCH_PARAM_END};
  size_t sixteen = 16;
  extra16[3] = &sixteen;
  void* extra_small[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &small,
                         CU_LAUNCH_PARAM_END};
  static char block[4096];
  std::memcpy(block, &packed, sizeof packed);
  void* extra_large[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, block, CU_LAUNCH_PARAM_BUFFER_SIZE, &large,
                         CU_LAUNCH_PARAM_END};
  void* no_size[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_END};
  void* unknown[] = {reinterpret_cast<void*>(7), &packed, CU_LAUNCH_PARAM_END};
  void* nothing[] = {CU_LAUNCH_PARAM_END};
  arg("params", w, arguments, nullptr);
  arg("none", w, nullptr, nullptr);
  arg("none.noneNeeded", f, nullptr, nullptr);
  arg("extra.12", w, nullptr, extra);
  arg("extra.16", w, nullptr, extra16);
  arg("extra.8", w, nullptr, extra_small);
  arg("extra.64", w, nullptr, extra_large);
  arg("both", w, arguments, extra);
  arg("extra.noSize", w, nullptr, no_size);
  arg("extra.unknown", w, nullptr, unknown);
  arg("extra.end", w, nullptr, nothing);
  arg("extra.end.noneNeeded", f, nullptr, nothing);
  arg("extra.noneNeeded", f, nullptr, extra);
  // Cooperative.
  int blocks = 0, sms = 0;
  cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 1024, 0);
  cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
  const auto most = static_cast<unsigned>(blocks * sms);
  const auto cooperative = [&](const std::string& name, CUfunction k, unsigned gx, unsigned bx,
                               unsigned shared) {
    Case("cooperative." + name, cuLaunchCooperativeKernel(k, gx, 1, 1, bx, 1, 1, shared, nullptr, nullptr));
    const CUresult s = cuCtxSynchronize();
    if (s != CUDA_SUCCESS) Case("cooperative." + name + ".sync", s);
  };
  cooperative("most", f, most, 1024, 0);
  cooperative("mostPlus1", f, most + 1, 1024, 0);
  cooperative("grid0", f, 0, 32, 0);
  cooperative("block1025", f, 1, 1025, 0);
  cooperative("null", nullptr, 1, 32, 0);
  cooperative("shared49153", f, 1, 32, 49153);
  // Extended launches.
  CUlaunchConfig c{};
  c.gridDimX = 32, c.gridDimY = c.gridDimZ = 1, c.blockDimX = 32, c.blockDimY = c.blockDimZ = 1;
  const auto ex = [&](const std::string& name, CUfunction k, Attributes a, unsigned grid = 32) {
    c.gridDimX = grid;
    c.attrs = a.list;
    c.numAttrs = a.count;
    Case("ex." + name, cuLaunchKernelEx(&c, k, nullptr, nullptr));
    const CUresult s = cuCtxSynchronize();
    if (s != CUDA_SUCCESS) Case("ex." + name + ".sync", s);
  };
  Case("ex.null", cuLaunchKernelEx(nullptr, f, nullptr, nullptr));
  ex("none", f, {});
  c.attrs = nullptr, c.numAttrs = 1;
  Case("ex.nullAttributes", cuLaunchKernelEx(&c, f, nullptr, nullptr));
  for (int id = -1; id <= 20; ++id) {
    // Those with events and nodes behind them need more than a number.
    if (id == 4 || id == 7 || id == 11 || id == 12 || id == 13) continue;
    Attributes a;
    a.Add(id).value.cooperative = id == 3 ? 1 : 0;
    ex(N("attribute", id), f, a);
  }
  const auto cluster = [&](const std::string& name, CUfunction k, unsigned x, unsigned y, unsigned z,
                           unsigned grid = 32) {
    Attributes a;
    a.Cluster(x, y, z);
    ex("cluster." + name, k, a, grid);
  };
  cluster("1", f, 1, 1, 1);
  cluster("2", f, 2, 1, 1);
  cluster("3.grid32", f, 3, 1, 1);
  cluster("3.grid33", f, 3, 1, 1, 33);
  cluster("8", f, 8, 1, 1);
  cluster("9.grid36", f, 9, 1, 1, 36);
  cluster("16", f, 16, 1, 1);
  cluster("2y", f, 1, 2, 1);
  cluster("0", f, 0, 0, 0);
  cluster("0y", f, 2, 0, 1);
  cluster("64", f, 64, 1, 1, 64);
  Case("cluster.nonPortable", cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  cluster("16.nonPortable", f, 16, 1, 1);
  cluster("17.nonPortable", f, 17, 1, 1, 34);
  cluster("32.nonPortable", f, 32, 1, 1);
  cluster("ofCluster2.2", Kernel(m, "cluster2"), 2, 1, 1);
  cluster("ofCluster2.4", Kernel(m, "cluster2"), 4, 1, 1);
  cluster("ofExplicit.4", Kernel(m, "cluster_explicit"), 4, 1, 1);
  cluster("ofMax.4", Kernel(m, "cluster_max"), 4, 1, 1);
  cluster("ofMax.8", Kernel(m, "cluster_max"), 8, 1, 1);
  {
    Attributes a;
    a.Cluster(2, 1, 1);
    a.Add(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).value.cooperative = 1;
    ex("clusterAndCooperative", f, a);
    Attributes b;
    b.Cluster(2, 1, 1);
    b.Cluster(4, 1, 1);
    ex("clusterTwice", f, b);
    Attributes p;
    p.Add(CU_LAUNCH_ATTRIBUTE_PRIORITY).value.priority = 99;
    ex("priority99", f, p);
    Attributes s;
    s.Add(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
        .value.programmaticStreamSerializationAllowed = 1;
    ex("programmatic", f, s);
    Attributes k;
    k.Add(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT).value.sharedMemCarveout = 101;
    ex("carveout101", f, k);
  }
  Case("host.null", cuLaunchHostFunc(nullptr, nullptr, nullptr));
  // Another context's function and stream.
  CUcontext b = nullptr;
  CUstream s = nullptr;
  US_NEED(cuStreamCreate(&s, 0));
  US_NEED(cuCtxCreate_v2(&b, 0, 0));
  Case("otherContext.function", cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  Case("otherContext.both", cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr));
  Case("otherContext.attribute", cuFuncGetAttribute(&blocks, 0, f)).V(blocks);
  Case("otherContext.streamSync", cuStreamSynchronize(s));
}

}  // namespace

const std::vector<NamedSection>& CodeSections() {
  static const auto* const all = new std::vector<NamedSection>{
      {"module", Modules}, {"function", Functions}, {"library", Libraries}, {"launch", Launches}};
  return *all;
}

}  // namespace understudy::probe
