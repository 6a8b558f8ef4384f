#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles compiled_kernel.inc for gfx1100 and keeps the instructions: run from the repository root after changing it.
set -e
for wave in 32 64; do
  out=tests/data/kernels/compiled_kernel_wave$wave.s
  printf '#include "tests/emu/amd/semantics/compiled_kernel.inc"\n%s\n' \
    '#define G __attribute__((address_space(1)))
__attribute__((amdgpu_kernel)) void test(const G u32* in, G u32* out) {
  const int t = __builtin_amdgcn_workitem_id_x(); COMPILED_KERNEL_BODY }' |
    clang-22 -x c - --target=amdgcn-amd-amdhsa -mcpu=gfx1100 "$([ $wave = 64 ] && echo -mwavefrontsize64 || echo -mno-wavefrontsize64)" \
      -O2 -ffp-contract=off -nogpulib -Wno-everything -I. -S -o - |
    awk 'BEGIN { print "; SPDX-License-Identifier: Apache-2.0"; print "; clang for gfx1100, see tests/emu/amd/semantics/regenerate_compiled_kernel.sh" }
         /^test:/ { on = 1; next } /^\t\.section/ { on = 0 } on && !/^\t\./ && !/^\.Lfunc/ { sub(/[ \t]*;.*/, ""); if (length) print }' > $out
done
