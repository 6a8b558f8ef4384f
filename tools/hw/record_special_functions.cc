// SPDX-License-Identifier: Apache-2.0
//
// Records what an NVIDIA GPU answers for PTX's approximate special functions. Everything runs through
// libcuda, loaded at run time; the kernels are PTX text made here, one module for each form. It never judges
// the answers.
//
//   g++ -O2 -std=c++20 record_special_functions.cc -o record -ldl -lpthread
//   ./record ptx forms.ptx          every form as one PTX file, for ptxas and cuobjdump --dump-sass
//   ./record sums FILE              checksums of each form over all 2^32 inputs, one for each block of 2^16
//   ./record map FORM START COUNT STRIDE FILE    raw answers (32-bit words; two a result for 64-bit forms)
//   ./record plan PLAN              many maps, one process: lines "FORM START COUNT STRIDE FILE"
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

// The few driver entry points in use; the types are those of the public driver API.
using Handle = void*;
using DevicePtr = unsigned long long;
int (*cuInit)(unsigned);
int (*cuDeviceGet)(int*, int);
int (*cuDevicePrimaryCtxRetain)(Handle*, int);
int (*cuCtxSetCurrent)(Handle);
int (*cuModuleLoadData)(Handle*, const void*);
int (*cuModuleUnload)(Handle);
int (*cuModuleGetFunction)(Handle*, Handle, const char*);
int (*cuMemAlloc)(DevicePtr*, std::size_t);
int (*cuMemcpyDtoH)(void*, DevicePtr, std::size_t);
int (*cuMemsetD8)(DevicePtr, unsigned char, std::size_t);
int (*cuLaunchKernel)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle,
                      void**, void**);
int (*cuCtxSynchronize)();

void Check(int code, const char* what) {
  if (code != 0) {
    std::fprintf(stderr, "%s failed: %d\n", what, code);
    std::exit(1);
  }
}

template <typename F>
void Load(void* library, F& function, const char* name) {
  function = reinterpret_cast<F>(dlsym(library, name));
  if (function == nullptr) {
    std::fprintf(stderr, "libcuda lacks %s\n", name);
    std::exit(1);
  }
}

void Open() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  Load(library, cuInit, "cuInit");
  Load(library, cuDeviceGet, "cuDeviceGet");
  Load(library, cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  Load(library, cuCtxSetCurrent, "cuCtxSetCurrent");
  Load(library, cuModuleLoadData, "cuModuleLoadData");
  Load(library, cuModuleUnload, "cuModuleUnload");
  Load(library, cuModuleGetFunction, "cuModuleGetFunction");
  Load(library, cuMemAlloc, "cuMemAlloc_v2");
  Load(library, cuMemcpyDtoH, "cuMemcpyDtoH_v2");
  Load(library, cuMemsetD8, "cuMemsetD8_v2");
  Load(library, cuLaunchKernel, "cuLaunchKernel");
  Load(library, cuCtxSynchronize, "cuCtxSynchronize");
  Check(cuInit(0), "cuInit");
  int device = 0;
  Check(cuDeviceGet(&device, 0), "cuDeviceGet");
  Handle context = nullptr;
  Check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  Check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

// Kind of the operands: r 32 bits, h 16 bits (two inputs a word are not mixed: the low half is the input), l
// 64 bits (the index is the high word, the low word is its mix), z 64 bits with the index as the low word and
// a high word of 0, p two 32-bit operands.
struct Form {
  const char* name;
  const char* op;
  char kind;
};

constexpr Form kForms[] = {
    {"rcp", "rcp.approx.f32", 'r'},
    {"rcp_ftz", "rcp.approx.ftz.f32", 'r'},
    {"rsqrt", "rsqrt.approx.f32", 'r'},
    {"rsqrt_ftz", "rsqrt.approx.ftz.f32", 'r'},
    {"sqrt", "sqrt.approx.f32", 'r'},
    {"sqrt_ftz", "sqrt.approx.ftz.f32", 'r'},
    {"sin", "sin.approx.f32", 'r'},
    {"sin_ftz", "sin.approx.ftz.f32", 'r'},
    {"cos", "cos.approx.f32", 'r'},
    {"cos_ftz", "cos.approx.ftz.f32", 'r'},
    {"lg2", "lg2.approx.f32", 'r'},
    {"lg2_ftz", "lg2.approx.ftz.f32", 'r'},
    {"ex2", "ex2.approx.f32", 'r'},
    {"ex2_ftz", "ex2.approx.ftz.f32", 'r'},
    {"tanh", "tanh.approx.f32", 'r'},
    {"ex2_f16x2", "ex2.approx.f16x2", 'r'},
    {"tanh_f16x2", "tanh.approx.f16x2", 'r'},
    {"ex2_bf16x2", "ex2.approx.ftz.bf16x2", 'r'},
    {"tanh_bf16x2", "tanh.approx.bf16x2", 'r'},
    {"rcp64_ftz", "rcp.approx.ftz.f64", 'l'},
    {"rsqrt64", "rsqrt.approx.f64", 'l'},
    {"rsqrt64_ftz", "rsqrt.approx.ftz.f64", 'l'},
    {"rsqrt64_low", "rsqrt.approx.f64", 'z'},
    {"div", "div.approx.f32", 'p'},
    {"div_ftz", "div.approx.ftz.f32", 'p'},
    {"div_full", "div.full.f32", 'p'},
    {"div_full_ftz", "div.full.ftz.f32", 'p'},
    {"ex2_f16", "ex2.approx.f16", 'h'},
    {"tanh_f16", "tanh.approx.f16", 'h'},
    {"ex2_bf16", "ex2.approx.ftz.bf16", 'h'},
    {"tanh_bf16", "tanh.approx.bf16", 'h'},
};

// x = mix(x): the 32-bit mixer that both checksums and generated operands use.
std::string Mix(const std::string& r) {
  std::string text;
  for (const char* step : {"shr.u32 %t, @, 15; xor.b32 @, @, %t; mul.lo.u32 @, @, 0x85EBCA77;",
                           "shr.u32 %t, @, 13; xor.b32 @, @, %t; mul.lo.u32 @, @, 0xC2B2AE3D;",
                           "shr.u32 %t, @, 16; xor.b32 @, @, %t;"}) {
    for (const char* c = step; *c != 0; ++c) {
      text += *c == '@' ? r : std::string(1, *c);
    }
    text += "\n";
  }
  return text;
}

// Computes %o0 (and %o1, the high word of 64-bit results) from the input %i.
std::string Body(const Form& form) {
  const std::string op = form.op;
  switch (form.kind) {
    case 'r':
      return op + " %o0, %i; mov.u32 %o1, 0;\n";
    case 'h':
      return "cvt.u16.u32 %h0, %i;\n" + op + " %h1, %h0;\n cvt.u32.u16 %o0, %h1; mov.u32 %o1, 0;\n";
    case 'l':
      return "mov.u32 %a, %i;\n" + Mix("%a") + "mov.b64 %l0, {%a, %i};\n" + op +
             " %l1, %l0;\n mov.b64 {%o0, %o1}, %l1;\n";
    case 'z':
      return "mov.u32 %a, 0; mov.b64 %l0, {%i, %a};\n" + op + " %l1, %l0;\n mov.b64 {%o0, %o1}, %l1;\n";
    default:
      return "add.u32 %a, %i, 0x9E3779B9;\n" + Mix("%a") +
             "xor.b32 %b, %a, 0x7F4A7C15; mul.lo.u32 %b, %b, 0x9E3779B1;\n" + Mix("%b") +
             "ld.param.u32 %t, [a_and]; and.b32 %a, %a, %t; ld.param.u32 %t, [a_or]; or.b32 %a, %a, %t;\n"
             "ld.param.u32 %t, [b_and]; and.b32 %b, %b, %t; ld.param.u32 %t, [b_or]; or.b32 %b, %b, %t;\n" +
             op + " %o0, %a, %b; mov.u32 %o1, 0;\n";
  }
}

constexpr const char* kHeader = ".version 8.4\n.target sm_90\n.address_size 64\n";
constexpr const char* kPairParams =
    ", .param .u32 a_and, .param .u32 a_or, .param .u32 b_and, .param .u32 b_or";
constexpr const char* kRegisters =
    "{\n.reg .b32 %i, %o0, %o1, %t, %a, %b, %n, %q, %v, %c;\n.reg .b16 %h0, %h1;\n.reg .b64 %l0, %l1, %p, "
    "%s, %w;\n.reg .pred %k;\n";

std::string Entries(const Form& form, const std::string& prefix) {
  const bool wide = form.kind == 'l' || form.kind == 'z';
  std::string text =
      ".visible .entry " + prefix + "map(.param .u64 out, .param .u32 start, .param .u32 stride" +
      kPairParams + ")\n" + kRegisters +
      "mov.u32 %n, %ctaid.x; mov.u32 %t, %ntid.x; mov.u32 %q, %tid.x; mad.lo.u32 %n, %n, %t, %q;\n"
      "ld.param.u32 %t, [stride]; ld.param.u32 %i, [start]; mad.lo.u32 %i, %n, %t, %i;\n" +
      Body(form) + "ld.param.u64 %p, [out];\n";
  if (wide) {
    text += "mul.wide.u32 %s, %n, 8; add.u64 %p, %p, %s; st.global.v2.u32 [%p], {%o0, %o1};\nret;\n}\n";
  } else {
    text += "mul.wide.u32 %s, %n, 4; add.u64 %p, %p, %s; st.global.u32 [%p], %o0;\nret;\n}\n";
  }
  // Each block of threads sums mix(input * K ^ output) of its 2^16 inputs; a 64-bit result adds its high
  // word's mix too.
  text += ".visible .entry " + prefix + "sum(.param .u64 out, .param .u32 start, .param .u32 stride" +
          std::string(kPairParams) + ")\n" + kRegisters +
          "mov.u32 %n, %ctaid.x; shl.b32 %i, %n, 16; mov.u32 %t, %tid.x; add.u32 %i, %i, %t; mov.u64 %w, 0; "
          "mov.u32 %c, 256;\n"
          "LOOP:\n" +
          Body(form) + "mul.lo.u32 %v, %i, 0x9E3779B1; xor.b32 %v, %v, %o0;\n" + Mix("%v") +
          "cvt.u64.u32 %s, %v; add.u64 %w, %w, %s;\n";
  if (wide) {
    text += "mul.lo.u32 %v, %i, 0x85EBCA6B; xor.b32 %v, %v, %o1;\n" + Mix("%v") +
            "cvt.u64.u32 %s, %v; add.u64 %w, %w, %s;\n";
  }
  text +=
      "add.u32 %i, %i, 256; sub.u32 %c, %c, 1; setp.ne.u32 %k, %c, 0; @%k bra LOOP;\n"
      "ld.param.u64 %p, [out]; mul.wide.u32 %s, %n, 8; add.u64 %p, %p, %s; red.global.add.u64 [%p], "
      "%w;\nret;\n}\n";
  return text;
}

const Form* FindForm(const std::string& name) {
  for (const Form& form : kForms) {
    if (name == form.name) {
      return &form;
    }
  }
  std::fprintf(stderr, "no form %s\n", name.c_str());
  std::exit(1);
}

// How the operands of a two-operand form are drawn: all bits random, then denominators in the ranges that are
// scaled, then both operands near each other's exponent, then denormal operands.
struct Pairs {
  std::uint32_t a_and, a_or, b_and, b_or;
};
constexpr Pairs kPairs[] = {{0xFFFFFFFF, 0, 0xFFFFFFFF, 0},
                            {0xFFFFFFFF, 0, 0x80FFFFFF, 0x7E000000},
                            {0xBFFFFFFF, 0x20000000, 0xBFFFFFFF, 0x20000000},
                            {0xFFFFFFFF, 0, 0x81FFFFFF, 0},
                            {0x81FFFFFF, 0, 0xFFFFFFFF, 0}};

struct Kernel {
  Handle module = nullptr, map = nullptr, sum = nullptr;
};

Kernel Compile(const Form& form) {
  const std::string text = kHeader + Entries(form, "");
  Kernel kernel;
  Check(cuModuleLoadData(&kernel.module, text.c_str()), form.name);
  Check(cuModuleGetFunction(&kernel.map, kernel.module, "map"), "map");
  Check(cuModuleGetFunction(&kernel.sum, kernel.module, "sum"), "sum");
  return kernel;
}

void Launch(Handle function, unsigned blocks, DevicePtr out, std::uint32_t start, std::uint32_t stride,
            Pairs pairs) {
  void* params[] = {&out, &start, &stride, &pairs.a_and, &pairs.a_or, &pairs.b_and, &pairs.b_or};
  Check(cuLaunchKernel(function, blocks, 1, 1, 256, 1, 1, 0, nullptr, params, nullptr), "cuLaunchKernel");
  Check(cuCtxSynchronize(), "cuCtxSynchronize");
}

void Sums(const std::string& path) {
  DevicePtr out = 0;
  constexpr std::size_t kBytes = 65536 * 8;
  Check(cuMemAlloc(&out, kBytes), "cuMemAlloc");
  std::vector<std::uint64_t> sums(65536);
  std::ofstream file(path, std::ios::binary);
  for (const Form& form : kForms) {
    if (form.kind == 'h') {
      continue;
    }
    Kernel kernel = Compile(form);
    for (std::size_t p = 0; p < (form.kind == 'p' ? std::size(kPairs) : 1); ++p) {
      Check(cuMemsetD8(out, 0, kBytes), "cuMemsetD8");
      Launch(kernel.sum, 65536, out, 0, 1, kPairs[p]);
      Check(cuMemcpyDtoH(sums.data(), out, kBytes), "cuMemcpyDtoH");
      char name[32] = {};
      std::snprintf(name, sizeof name, form.kind == 'p' ? "%s.%zu" : "%s", form.name, p);
      file.write(name, sizeof name);
      file.write(reinterpret_cast<const char*>(sums.data()), kBytes);
    }
    Check(cuModuleUnload(kernel.module), "cuModuleUnload");
  }
}

void Plan(std::istream& plan) {
  constexpr std::size_t kMost = std::size_t{1} << 24;  // Results of one launch.
  DevicePtr out = 0;
  Check(cuMemAlloc(&out, kMost * 8), "cuMemAlloc");
  std::vector<char> data(kMost * 8);
  std::string name, start, count, stride, path, last;
  Kernel kernel;
  while (plan >> name >> start >> count >> stride >> path) {
    const std::string base = name.substr(0, name.find('.'));
    const Form& form = *FindForm(base);
    const Pairs pairs = kPairs[name == base ? 0 : std::stoul(name.substr(base.size() + 1))];
    if (last != base) {
      if (kernel.module != nullptr) {
        Check(cuModuleUnload(kernel.module), "cuModuleUnload");
      }
      kernel = Compile(form);
      last = base;
    }
    const std::size_t width = form.kind == 'l' || form.kind == 'z' ? 8 : 4;
    std::ofstream file(path, std::ios::binary | std::ios::app);
    std::uint64_t left = std::stoull(count, nullptr, 0);
    auto at = static_cast<std::uint32_t>(std::stoull(start, nullptr, 0));
    const auto step = static_cast<std::uint32_t>(std::stoull(stride, nullptr, 0));
    while (left > 0) {
      const std::uint64_t now = std::min<std::uint64_t>(left, kMost);
      Launch(kernel.map, static_cast<unsigned>((now + 255) / 256), out, at, step, pairs);
      Check(cuMemcpyDtoH(data.data(), out, now * width), "cuMemcpyDtoH");
      file.write(data.data(), static_cast<std::streamsize>(now * width));
      at += static_cast<std::uint32_t>(now) * step;
      left -= now;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 2 ? argv[1] : "";
  if (mode == "ptx") {
    std::ofstream file(argv[2]);
    file << kHeader;
    for (const Form& form : kForms) {
      file << Entries(form, std::string(form.name) + "_");
    }
    return 0;
  }
  if (mode == "sums") {
    Open();
    Sums(argv[2]);
    return 0;
  }
  if (mode == "plan") {
    Open();
    std::ifstream plan(argv[2]);
    Plan(plan);
    return 0;
  }
  if (mode == "map" && argc == 7) {
    Open();
    std::stringstream plan;
    plan << argv[2] << " " << argv[3] << " " << argv[4] << " " << argv[5] << " " << argv[6];
    Plan(plan);
    return 0;
  }
  std::fprintf(stderr, "usage: record ptx FILE | sums FILE | plan FILE | map FORM START COUNT STRIDE FILE\n");
  return 2;
}
