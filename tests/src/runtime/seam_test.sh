#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The seam is honest: the build graph below src/runtime holds no target of mockgpu or emu.
set -u
runtime="$1" broken="$2" targets="$3"
forbidden='^//(mockgpu|emu)[/:]'
fail() { echo "FAIL: $*"; exit 1; }

# The probe must be able to see: a list that is short, or in which a known breach stays hidden, proves nothing.
grep -q '^//src/runtime/amd:driver$' "$runtime" || fail "the dependencies of src/runtime are not listed in $runtime"
grep -q '^//src/runtime/os:host_syscalls.cc$' "$runtime" || fail "source files are not listed in $runtime"
[ "$(wc -l < "$targets")" -ge 10 ] || fail "src/runtime has $(wc -l < "$targets") targets, expected 10 at least"
grep -Eq "$forbidden" "$broken" || fail "a target that does depend on mockgpu shows none in $broken"

missing=$(sort "$targets" | comm -23 - <(sort "$runtime"))
[ -z "$missing" ] || fail "targets of src/runtime that tests/src/runtime/BUILD.bazel does not list: $missing"

if found=$(grep -E "$forbidden" "$runtime"); then
  fail "src/runtime depends on the mock machine or the emulator:
$found"
fi
echo "$(wc -l < "$runtime") dependencies of src/runtime, none in mockgpu or emu ($(grep -Ec "$forbidden" "$broken") in the control)"
