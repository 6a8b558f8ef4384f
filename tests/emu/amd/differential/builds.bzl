# SPDX-License-Identifier: Apache-2.0
"""What the kernels of this folder are compiled for, and how."""

# Target, optimisation level, wave size: every target at -O0, -O1 and -O3, the rest where it is cheap.
BUILDS = [
    ("gfx1100", level, wave)
    for level in [0, 1, 2, 3]
    for wave in [32, 64]
] + [
    (target, level, 32)
    for target in ["gfx1150", "gfx1200", "gfx1201"]
    for level in [0, 1, 3]
] + [
    ("gfx1200", level, 64)
    for level in [0, 3]
] + [
    (target, level, 64)
    for target in ["gfx90a", "gfx942", "gfx950"]
    for level in [0, 1, 3]
]

# Of compiler_fault_kernels.inc: target, wave size; the level that is wrong, and one that is right.
FAULT_BUILDS = [
    (target, wave)
    for target in ["gfx1100", "gfx1150", "gfx1200", "gfx1201"]
    for wave in [32, 64]
] + [(target, 64) for target in ["gfx90a", "gfx942", "gfx950"]]

FAULT_KINDS = {"plain": 3, "avoided": 0}

def fault_name(kind, build):
    return "fault_%s_%s_w%d" % ((kind,) + build)

# The same 128 work-items a workgroup, in one dimension or in three.
def group_of(level):
    return "16,4,2" if level == 1 else "128,1,1"

def build_name(build):
    return "kernels_%s_O%d_w%d" % build

def compile_kernels(name, source, srcs, build):
    """A code object of `source` (which includes `srcs`) for a build."""
    target, level, wave = build
    x, y, z = group_of(level).split(",")
    rdna = target.startswith("gfx1")
    native.genrule(
        name = name,
        srcs = [source] + srcs,
        outs = [name + ".hsaco"],
        cmd = " ".join([
            "clang-22 -x c -std=c17 -target amdgcn-amd-amdhsa -mcpu=%s -nogpulib -ffreestanding" % target,
            "-ffp-contract=off -Wno-everything -I. -I$(GENDIR) -DWAVE_SIZE=%d" % wave,
            "-DGROUP_X=%su -DGROUP_Y=%su -DGROUP_Z=%su" % (x, y, z),
            "-mwavefrontsize64" if rdna and wave == 64 else "",
            "-O%d -o $@ $(location %s)" % (level, source),
        ]),
    )
