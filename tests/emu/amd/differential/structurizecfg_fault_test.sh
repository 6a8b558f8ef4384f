#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The compiler's fault of compiler_fault_kernels.inc without GPU code and without the emulator: LLVM's IR
# interpreter on this host computes f right, and after LLVM's own passes wrongly for 4 to 7 (or rightly, with
# an LLVM that is corrected), and for no other argument.
set -eu
file=tests/emu/amd/differential/structurizecfg_fault.ll
want=$(for k in 0 1 2 3 4 5 6 7; do [ $k = 3 ] && echo "3 -> 92" || echo "$k -> 1234"; done)
right=$(lli-22 "$file")
[ "$right" = "$want" ] || { echo "without the pass: expected:" "$want" "got:" "$right"; exit 1; }
# Poison may be any value: 7777, so that what depends on it shows.
passed=$(opt-22 -S -passes='function(lower-switch,structurizecfg)' "$file" -o - |
  sed 's/phi i32 \(.*\)\[ poison,/phi i32 \1[ 7777,/' | lli-22 -)
[ "$(echo "$passed" | head -4)" = "$(echo "$want" | head -4)" ] || { echo "0 to 3 differ too:" "$passed"; exit 1; }
if [ "$passed" = "$want" ]; then
  echo "this LLVM is corrected"
else
  echo "structurizecfg loses the value:" "$passed"
fi
