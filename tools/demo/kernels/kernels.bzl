# SPDX-License-Identifier: Apache-2.0
"""opencl_kernel: one OpenCL C source compiled by clang for gfx1100 (embedded in a library) and for the host."""

load("@rules_cc//cc:defs.bzl", "cc_library")

_FLAGS = "-x cl -cl-std=CL2.0 -cl-no-stdinc -O2 -ffp-contract=off -w -I."

def opencl_kernel(name, src):
    """Makes `name`.co (gfx1100 code object) and a library `name` with `name_co[]`, `name_co_size` and the host function `name`."""
    native.genrule(
        name = name + "_device",
        srcs = [src, "prelude.h"],
        outs = [name + ".co"],
        cmd = "clang-22 %s --target=amdgcn-amd-amdhsa -mcpu=gfx1100 -nogpulib -o $@ $(location %s)" % (_FLAGS, src),
    )
    native.genrule(
        name = name + "_host",
        srcs = [src, "prelude.h"],
        outs = [name + "_host.o"],
        cmd = "clang-22 %s --target=x86_64-pc-linux-gnu -fPIC -c -o $@ $(location %s)" % (_FLAGS, src),
    )
    native.genrule(
        name = name + "_embed",
        srcs = [name + ".co"],
        outs = [name + "_co.cc"],
        cmd = "python3 $(location //tools:embed.py) %s_co $(location %s.co) $@" % (name, name),
        tools = ["//tools:embed.py"],
    )
    cc_library(
        name = name,
        srcs = [name + "_co.cc", name + "_host.o"],
        visibility = ["//tools:__subpackages__", "//tests:__subpackages__"],
    )
