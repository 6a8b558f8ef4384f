#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Property: the committed opcode tables are what the generator makes of the facts beside it.
set -euo pipefail
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
python3 emu/amd/isa/gen_tables.py emu/amd/isa/data "$out"
status=0
for file in "$out"/*.inc; do
  if ! diff -q "$file" "emu/amd/isa/$(basename "$file")" > /dev/null; then
    echo "emu/amd/isa/$(basename "$file") differs from the generator's output; run emu/amd/isa/gen_tables.py" >&2
    status=1
  fi
done
[ "$(ls "$out"/*.inc | wc -l)" -ge 7 ] || { echo "the generator wrote too few tables" >&2; status=1; }
exit $status
