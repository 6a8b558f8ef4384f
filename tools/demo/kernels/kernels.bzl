# SPDX-License-Identifier: Apache-2.0
"""opencl_kernel: one OpenCL C source compiled by clang for the AMD GPUs of the mock machine (embedded in a library) and for the host."""

load("@rules_cc//cc:defs.bzl", "cc_library")

_FLAGS = "-x cl -cl-std=CL2.0 -cl-no-stdinc -O2 -ffp-contract=off -w -I."

_GPUS = ["gfx1100", "gfx1150", "gfx1201", "gfx90a", "gfx942", "gfx950"]

_TABLE = """// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstring>
extern "C" {
%s
// The code object for a GPU, or nullptr.
const unsigned char* %s_co(const char* gpu, size_t* size) {
%s  return nullptr;
}
}
"""

def opencl_kernel(name, src):
    """Makes `name`.co (gfx1100 code object) and a library `name` with `name_co(gpu, &size)` and the host function `name`."""
    for gpu in _GPUS:
        code = name + ("" if gpu == "gfx1100" else "_" + gpu)
        native.genrule(
            name = code + "_device",
            srcs = [src, "prelude.h"],
            outs = [code + ".co"],
            cmd = "clang-22 %s --target=amdgcn-amd-amdhsa -mcpu=%s -nogpulib -o $@ $(location %s)" % (_FLAGS, gpu, src),
        )
        native.genrule(
            name = name + "_" + gpu + "_embed",
            srcs = [code + ".co"],
            outs = [name + "_" + gpu + "_co.cc"],
            cmd = "python3 $(location //tools:embed.py) %s_%s_co $(location %s.co) $@" % (name, gpu, code),
            tools = ["//tools:embed.py"],
        )
    native.genrule(
        name = name + "_host",
        srcs = [src, "prelude.h"],
        outs = [name + "_host.o"],
        cmd = "clang-22 %s --target=x86_64-pc-linux-gnu -fPIC -c -o $@ $(location %s)" % (_FLAGS, src),
    )
    declared = "".join(["extern const unsigned char %s_%s_co[];\nextern const size_t %s_%s_co_size;\n" % (name, g, name, g) for g in _GPUS])
    chosen = "".join(['  if (std::strcmp(gpu, "%s") == 0) { *size = %s_%s_co_size; return %s_%s_co; }\n' % (g, name, g, name, g) for g in _GPUS])
    native.genrule(
        name = name + "_table",
        outs = [name + "_table.cc"],
        cmd = "cat > $@ <<'END'\n" + _TABLE % (declared, name, chosen) + "END\n",
    )
    cc_library(
        name = name,
        srcs = [name + "_" + gpu + "_co.cc" for gpu in _GPUS] + [name + "_table.cc", name + "_host.o"],
        visibility = ["//tools:__subpackages__", "//tests:__subpackages__"],
    )
