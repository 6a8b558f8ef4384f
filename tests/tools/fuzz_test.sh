#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `understudy fuzz programs` from end to end: kernels that agree, a wrong compiler that is caught and reduced, errors.
# usage: fuzz_test.sh UNDERSTUDY
set -u
understudy=$1
failures=0
folder=$TEST_TMPDIR/kept
mkdir -p "$folder"

fail() { echo "$1"; failures=$((failures + 1)); }

output=$("$understudy" fuzz programs --runs=12 --targets=gfx1100 --levels=1 --waves=32 --keep="$folder" 2>&1)
[[ $? -eq 0 ]] || fail "kernels that agree: $output"
grep -q "12 kernels from seed 1, 12 runs on gfx1100" <<< "$output" || fail "the count of runs: $output"
json=$("$understudy" fuzz programs --runs=4 --seed=100 --targets=gfx1100 --levels=0 --json --keep="$folder")
python3 -c 'import json,sys; d = json.loads(sys.argv[1]); assert d["runs"] == 4 and d["seed"] == 100 and d["findings"] == [], d' "$json" ||
  fail "JSON: $json"

# A compiler that changes the meaning of device code: one more is added to a word.
cat > "$TEST_TMPDIR/wrong-clang" <<'EOF'
#!/bin/bash
for last; do :; done
case " $* " in *" amdgcn-amd-amdhsa "*) sed -i 's/word\[1\] \* 31u/word[1] * 31u + 1u/' "$last" ;; esac
exec clang-22 "$@"
EOF
chmod +x "$TEST_TMPDIR/wrong-clang"
output=$(UNDERSTUDY_CLANG=$TEST_TMPDIR/wrong-clang "$understudy" fuzz programs --runs=1 --seed=5 --targets=gfx1100 --levels=1 --waves=32 --keep="$folder" 2>&1)
[[ $? -eq 1 ]] || fail "a wrong compiler: exit code of: $output"
grep -q "difference: seed 5, gfx1100, -O1, wave32" <<< "$output" || fail "a wrong compiler: $output"
kept=$folder/program_5_gfx1100_O1_w32.c
[[ -f $kept ]] || fail "no $kept"
# All statements that the difference does not need are gone.
if grep -q "if (\|for (uint32_t k[0-9]\|switch (" <(sed -n '/^KERNEL/,$p' "$kept"); then fail "not reduced: $(cat "$kept")"; fi

check() {
  local name=$1 want=$2
  shift 2
  output=$("$@" 2>&1)
  [[ $? -eq 2 ]] || fail "$name: exit code of: $output"
  grep -qF -- "$want" <<< "$output" || fail "$name: $output"
}
check "an unknown property" "no property 'wishes'; there are: programs" "$understudy" fuzz wishes
check "an unknown target" "target 'gfx7' is none that the emulator runs" "$understudy" fuzz programs --targets=gfx7 --runs=1
check "a level that is none" "level 9, expected 0 to 3" "$understudy" fuzz programs --levels=9 --runs=1
check "levels that are no numbers" "--levels=high: expected numbers" "$understudy" fuzz programs --levels=high
check "no compiler" "no clang-22 in PATH" env PATH=/nowhere "$understudy" fuzz programs --runs=1
exit $((failures > 0))
