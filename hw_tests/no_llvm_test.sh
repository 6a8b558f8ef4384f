#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Neither the libraries that a binary needs nor the code linked into it are LLVM's or clang's.
# usage: no_llvm_test.sh BINARY...
set -u
failures=0
for binary in "$@"; do
  needed=$(readelf -d "$binary") || { echo "$binary: readelf failed"; exit 1; }
  if ! grep -q NEEDED <<< "$needed"; then
    echo "$binary: no NEEDED entries: not an executable of this machine?"; failures=$((failures + 1))
  fi
  if grep NEEDED <<< "$needed" | grep -qiE "llvm|clang|lld"; then
    echo "$binary needs:"; grep NEEDED <<< "$needed" | grep -iE "llvm|clang|lld"; failures=$((failures + 1))
  fi
  # Mangled names of namespace llvm, in symbols and in run-time type names.
  if grep -qaE "_ZNK?4llvm|N4llvm[0-9]" "$binary"; then
    echo "$binary holds code of namespace llvm"; failures=$((failures + 1))
  fi
done
exit $((failures != 0))
