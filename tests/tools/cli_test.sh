#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The understudy program's face: help, exit codes and error texts.
# usage: cli_test.sh UNDERSTUDY VECTORS CODE_OBJECT
set -u
understudy=$1 vectors=$2 code_object=$3
failures=0

# check NAME EXPECTED_EXIT EXPECTED_TEXT COMMAND...: the text must occur in the output (both streams).
check() {
  local name=$1 want_exit=$2 want_text=$3
  shift 3
  local output status
  output=$("$@" 2>&1)
  status=$?
  if [[ $status -ne $want_exit ]]; then
    echo "$name: exit $status, expected $want_exit"; echo "$output" | tail -n 5; failures=$((failures + 1))
  elif ! grep -qF -- "$want_text" <<< "$output"; then
    echo "$name: output lacks: $want_text"; echo "$output" | tail -n 5; failures=$((failures + 1))
  fi
}

check "no command" 2 "usage: understudy COMMAND" "$understudy"
check "help" 0 "conform" "$understudy" --help
check "help of a command" 0 "usage: understudy conform" "$understudy" help conform
check "--help of a command" 0 "usage: understudy disasm" "$understudy" disasm --help
check "unknown command" 2 "no command 'dance'; \`understudy help\` lists them" "$understudy" dance
check "unknown flag" 2 "no flag '--nonsense'; see \`understudy conform --help\`" "$understudy" conform --nonsense "$vectors"
check "a flag of another command" 2 "no flag '--epochs=3'" "$understudy" conform --epochs=3 "$vectors"
check "a flag without its value" 2 "--gfx needs a value" "$understudy" conform "$vectors" --gfx
check "a value of the wrong kind" 2 "--epochs=many is not accepted" "$understudy" demo --epochs many
check "a flag and its value as two words" 0 "gfx1100" "$understudy" conform "$vectors" --gfx gfx1100 --nojson
check "demo on a GPU that does not exist" 2 "no AMD GPU 'vega', expected of gfx1100" "$understudy" demo --gpu=vega
check "trace" 0 "amdgpu_kernel" "$understudy" trace --target=gfx1100 --stage=llvm
check "trace: OpenCL C" 0 "__kernel" "$understudy" trace --target=opencl --stage=opencl
check "trace: HIP C++" 0 "amdgpu_flat_work_group_size" "$understudy" trace --target=hip --stage=hip
check "trace: C and costs" 0 "flops: 524288" "$understudy" trace --target=c --stage=result
kernel=tools/tutorial/reverse.ptx
check "ptx" 0 "u32[64]=iota: 63 62 61" "$understudy" ptx --block=64 --args=u32[64]=iota --schedule=3 "$kernel"
check "ptx with a check" 0 "is not ordered with line 26" "$understudy" ptx --block=64 --args=u32[64]=iota --check=races:warn "$kernel"
check "ptx, failing" 1 "fault: check failed: races: " "$understudy" ptx --block=64 --args=u32[64] --check=races "$kernel"
check "ptx as JSON" 0 '"check":"uninit"' "$understudy" ptx --block=64 --args=u32[64]=fresh --check=global:warn --json "$kernel"
check "ptx past the end" 1 "0 bytes past the end of 'argument 0'" "$understudy" ptx --block=64 --args=u32[60] "$kernel"
check "ptx without a file" 2 "expected one PTX file" "$understudy" ptx
check "ptx with wrong arguments" 2 "--args: 'u9[3]', expected a number, TYPE[N]" "$understudy" ptx --args=u9[3] "$kernel"
check "ptx with an unknown check" 2 "check 'race' is unknown, expected uninit" "$understudy" ptx --check=race "$kernel"
check "ptx of another file" 2 "understudy ptx: " "$understudy" ptx tests/data/onnx/digits.json
model=tests/data/onnx/digits.onnx
check "onnx" 0 "[3,10]" "$understudy" onnx --sizes=batch=3 "$model"
check "onnx on the mock machine, as JSON" 0 '"device":"AMD"' "$understudy" onnx --device=AMD --json "$model"
check "onnx without a model" 2 "expected one model" "$understudy" onnx
check "onnx of another file" 2 "understudy onnx: onnx: offset 0: ModelProto field 15: wire type 3" "$understudy" onnx tests/data/onnx/digits.json
check "onnx on no device" 2 "TPU" "$understudy" onnx --device=TPU "$model"
check "onnx with wrong sizes" 2 "--sizes: 'batch', expected NAME=NUMBER" "$understudy" onnx --sizes=batch "$model"
check "trace: fusion" 0 "computing it again would repeat a reduction" "$understudy" trace --fusion
check "trace: fusion as JSON" 0 '"reason": "Output"' "$understudy" trace --fusion --json
printf 'nonsense' > "$TEST_TMPDIR/call.txt"
check "trace: fusion of what is no call" 2 "call.txt: " "$understudy" trace --fusion "$TEST_TMPDIR/call.txt"
check "trace of a stage that is none" 2 "--stage=nonsense: expected one of kernel, choices" "$understudy" trace --stage=nonsense
check "tune: counted" 0 "values" "$understudy" tune --cache=off --target=gfx1100 --candidates=8 reduce
check "tune: as JSON" 0 '"timed_out": 0' "$understudy" tune --cache=off --cost=static --target=gfx942 --candidates=20 --json transpose
check "tune: an unknown kernel" 2 "no kernel waltz; there are matmul" "$understudy" tune --cache=off waltz
check "tune: an unknown cost" 2 "expected measured, counted or static" "$understudy" tune --cache=off --cost=cheap
check "tune: an unknown processor" 2 "gfx7" "$understudy" tune --cache=off --target=gfx7
check "tune: a device that counts nothing" 2 "CPU counts no instructions" "$understudy" tune --cache=off --cost=counted --candidates=2 reduce
check "conform without files" 2 "no FILE given" "$understudy" conform
check "conform of an absent file" 2 "absent.jsonl" "$understudy" conform absent.jsonl
check "conform of an unknown ISA" 2 "no vectors of gfx7" "$understudy" conform --gfx=gfx7 "$vectors"
ptx=tests/data/conformance/ptx/mma.jsonl
check "conform of PTX" 0 "on: emulator" "$understudy" conform "$ptx"
check "conform of PTX as JSON" 0 '"pass": 448' "$understudy" conform --json "$ptx"
check "conform of seeded PTX as JSON" 0 '"pass": 2026' "$understudy" conform --json tests/data/conformance/ptx/mma_seeded.jsonl
check "conform of places of fragments and of modules" 0 '"pass": 84' "$understudy" conform --json tests/data/conformance/ptx/wmma_fragments.jsonl tests/data/conformance/ptx/corpus.jsonl
check "conform of compressed PTX" 0 '"pass": 57' "$understudy" conform --json tests/data/ptx/matrix_move.jsonl.zst
check "conform of both" 2 "run them one after the other" "$understudy" conform "$ptx" "$vectors"
check "AMD's checks on PTX" 2 "--check is for AMD vectors" "$understudy" conform --check=all "$ptx"
printf '%s\n' '{"op":"add.u32 %d, %a, %b;","d":"r","dt":"u32","s":"rr","st":["u32","u32"]}' \
  '{"op":"frobnicate %d, %a;","d":"r","s":"r","st":["u32"]}' > "$TEST_TMPDIR/in.jsonl"
check "recording without a card" 2 "set USE_HW=1, or --emulated" "$understudy" conform --record -o "$TEST_TMPDIR/out.jsonl" "$TEST_TMPDIR/in.jsonl"
check "recording without a result" 2 "and -o OUT" "$understudy" conform --record --emulated "$TEST_TMPDIR/in.jsonl"
check "recording" 0 "1 recorded on emulator, 1 that it does not take" "$understudy" conform --record --emulated --samples=8 -o "$TEST_TMPDIR/out.jsonl" "$TEST_TMPDIR/in.jsonl"
check "what was recorded, a refusal among it" 0 '"pass": 2' "$understudy" conform --json "$TEST_TMPDIR/out.jsonl"
check "recorded from the emulator" 0 '"source":"emulator"' cat "$TEST_TMPDIR/out.jsonl"
sed -i 's/"out":\["[0-9a-f]*"/"out":["5a5a5a5a"/' "$TEST_TMPDIR/out.jsonl"
check "a difference in PTX" 1 "tuple 0 (lane 0), inputs " "$understudy" conform "$TEST_TMPDIR/out.jsonl"
check "no card" 2 "no-such-library" env USE_HW=1 UNDERSTUDY_LIBCUDA=no-such-library "$understudy" conform "$ptx"
check "list of PTX" 0 "PTX family" "$understudy" conform --list --gfx=ptx
check "list of PTX forms" 0 "add.sat.s32 d:T0, a:T0, b:T0: exact" "$understudy" conform --list --gfx=ptx --verbose
check "conform" 0 "gfx1100" "$understudy" conform --gfx=gfx1100 "$vectors"
check "disasm of a code object" 0 "s_endpgm" "$understudy" disasm "$code_object"
check "disasm of nothing" 2 "0 files given, expected one" "$understudy" disasm
head -c 200 "$code_object" > "$TEST_TMPDIR/cut.co"
check "disasm of a truncated code object" 2 "understudy disasm: " "$understudy" disasm "$TEST_TMPDIR/cut.co"
printf '\x80\x02\x02\x7e\x00\x00\xb0\xbf' > "$TEST_TMPDIR/raw.bin"
check "disasm of raw code" 0 "v_mov_b32_e32 v1, 0" "$understudy" disasm "$TEST_TMPDIR/raw.bin"
printf '\x80\x00\x86\xbe\x00\x00\xb0\xbf' > "$TEST_TMPDIR/raw4.bin"
check "disasm of gfx1201 code" 0 "s_endpgm" "$understudy" disasm --gfx=gfx1201 "$TEST_TMPDIR/raw4.bin"
printf '\x80\x02\x02\x7e\xfe\xff\x82\xbf\x00\x00\x81\xbf' > "$TEST_TMPDIR/raw9.bin"
check "disasm of gfx942 code has labels" 0 "// L_000000" "$understudy" disasm --gfx=gfx942 "$TEST_TMPDIR/raw9.bin"
check "disasm of an ISA without a decoder" 2 "ISA 'gfx7' has no decoder yet" "$understudy" disasm --gfx=gfx7 "$TEST_TMPDIR/raw.bin"
printf 'top: v_add_f32 v1, v2, v3\n s_branch top\n' > "$TEST_TMPDIR/good.s"
printf 's_nop 0\nv_add_f32 v1, v2\n' > "$TEST_TMPDIR/bad.s"
check "asm" 0 "000004: feff82bf" "$understudy" asm --gfx=gfx942 "$TEST_TMPDIR/good.s"
check "asm of a wrong line" 1 "bad.s:2:17: operand 3 is missing" "$understudy" asm "$TEST_TMPDIR/bad.s"
check "asm of an unknown ISA" 2 "--gfx=gfx7: no assembler for this ISA" "$understudy" asm --gfx=gfx7 "$TEST_TMPDIR/good.s"
check "conform --list" 0 "value oracle" "$understudy" conform --list --gfx=gfx950
check "demo with an argument" 2 "unexpected argument 'x'" "$understudy" demo x
check "demo without epochs" 2 "--epochs=0, expected 1 or more" "$understudy" demo --epochs=0
check "conform as JSON parses" 0 '"pass"' "$understudy" conform --json --gfx=gfx1100 "$vectors"
"$understudy" conform --json "$vectors" | python3 -c 'import json,sys; json.load(sys.stdin)' || failures=$((failures + 1))
"$understudy" disasm --json "$code_object" | python3 -c 'import json,sys; assert json.load(sys.stdin)["gfx"] == "gfx1100"' || failures=$((failures + 1))
exit $((failures > 0))
