#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The demo ends well, and its JSON holds what the tables show.
# usage: demo_test.sh UNDERSTUDY
set -u
output=$("$1" demo --json) || { echo "understudy demo failed:"; echo "$output"; exit 1; }
python3 - "$output" <<'PY'
import json, sys
d = json.loads(sys.argv[1])
assert d["ok"] is True
programs = d["tensors"]["programs"]
assert len(programs) == 18 and {p["device"] for p in programs} == {"CPU", "AMD", "CUDA (mock)"}
assert all(p["wave_instructions"] > 0 and p["packets"] > 0 for p in programs if p["device"] == "AMD")
assert d["training"]["test_accuracy"] > 0.9
assert len(d["opencl"]["kernels"]) == 2 and all(k["differences"] == 0 for k in d["opencl"]["kernels"])
report = d["fault"]["report"]
assert report["address"] == report["expected_address"]
assert "global_store" in report["instruction"] and report["lane"] == 13 and report["workgroup"][0] == 1
assert d["fault"]["differences_after"] == 0
PY
