#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# docs/fidelity.md is what the program prints.
# usage: fidelity_test.sh UNDERSTUDY
set -u
if ! diff <("$1" conform --list --markdown) docs/fidelity.md > "$TEST_TMPDIR/difference"; then
  head -n 20 "$TEST_TMPDIR/difference"
  echo "docs/fidelity.md is stale: understudy conform --list --markdown > docs/fidelity.md"
  exit 1
fi
