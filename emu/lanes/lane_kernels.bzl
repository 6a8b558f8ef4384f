# SPDX-License-Identifier: Apache-2.0
"""Lane loops compiled once for each host instruction set."""

load("@rules_cc//cc:defs.bzl", "cc_library")

# Values are the same with and without these: semantics read no errno, unmask no floating-point exceptions, and their
# loops are written to vectorise. GCC 12's forward propagation turns 16-bit halves into loads that it then cannot
# vectorise; Clang, which builds the fuzzers, does not know that pass. Contraction is off: every host computes the same bits.
LANE_COPTS = ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"] + select({
    "//fuzz:fuzzing": [],
    "//conditions:default": ["-fno-tree-forwprop"],
})

_ARCH_COPTS = {
    "baseline": [],
    "avx2": ["-mavx2", "-mfma"],
    "avx512": [
        "-mavx2",
        "-mfma",
        "-mavx512f",
        "-mavx512bw",
        "-mavx512dq",
        "-mavx512vl",
        "-mprefer-vector-width=512",
    ],
}

def lane_kernels(name, srcs, hdrs = [], deps = [], copts = LANE_COPTS, baseline_copts = []):
    """Makes <name>_baseline, _avx2 and _avx512 of the same sources, with US_SEMANTICS_ARCH set to each, and <name> of all.

    `baseline_copts` are for the first alone. What needs more than the baseline runs only where the host has it.
    """
    for arch, arch_copts in _ARCH_COPTS.items():
        cc_library(
            name = name + "_" + arch,
            srcs = srcs,
            hdrs = hdrs,
            copts = copts + arch_copts + (baseline_copts if arch == "baseline" else []) + ["-DUS_SEMANTICS_ARCH=" + arch],
            visibility = ["//visibility:private"],
            deps = deps,
        )
    cc_library(
        name = name,
        visibility = ["//visibility:private"],
        deps = [":" + name + "_" + arch for arch in _ARCH_COPTS],
    )
