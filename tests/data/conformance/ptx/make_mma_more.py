#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns tools/hw/record_mma.py's recording into test data.

    make_mma_more.py RECORDING.npz OUT_DIR [--all]

mma_seeded.jsonl: a line for each instruction and class of inputs, with the seed that makes the inputs again (see
tests/emu/ptx/mma/seeded_inputs.h) and a hash of the result registers of each sample. mma_more.jsonl: a few samples
in full, in the format of mma.jsonl. wmma_fragments.jsonl: which element wmma.load puts where. With --all,
mma_seeded.jsonl holds the results too. Needs NumPy."""
import json
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../../tools/hw"))
import record_mma as recorder  # noqa: E402


def hash_words(words):
    """FNV-1a over 32-bit words; words: [samples][count]."""
    h = np.full(words.shape[0], 0xCBF29CE484222325, np.uint64)
    with np.errstate(over="ignore"):
        for i in range(words.shape[1]):
            h = (h ^ words[:, i].astype(np.uint64)) * np.uint64(0x100000001B3)
    return ["%016x" % v for v in h]


def hexes(array):
    return [["%x" % v for v in row] for row in array]


def main():
    recording, out_dir, everything = np.load(sys.argv[1]), sys.argv[2], "--all" in sys.argv
    jobs = json.loads(recording["jobs"].tobytes())
    seeded = open(os.path.join(out_dir, "mma_seeded.jsonl"), "w")
    more = open(os.path.join(out_dir, "mma_more.jsonl"), "w")
    fragments = open(os.path.join(out_dir, "wmma_fragments.jsonl"), "w")

    def dump(file, line):
        file.write(json.dumps(line, separators=(",", ":")) + "\n")

    shown, count = set(), 0
    for i, j in enumerate(jobs):
        if f"r{i}" not in recording or "error" in j:
            continue
        raw = recording[f"r{i}"]
        if j["kind"] == "load":
            bits = recorder.BITS[j["type"]]
            width = 64 if bits == 64 else 32
            planes = raw.view(np.uint64 if width == 64 else np.uint32).reshape(11, j["regs"], 32)
            number = np.zeros((j["regs"], 32, width // bits), int)
            for e in range(width // bits):
                for p in range(11):
                    number[:, :, e] += ((planes[p] >> planes.dtype.type(e * bits)).astype(np.int64) & 1) << p
            # One-bit elements come a word at a time: its first element says it all.
            if bits == 1:
                number = number[:, :, :1]
            dump(fragments, dict(op="wmma.load.%s.sync.aligned.%s.%s.%s" % (j["which"], j["layout"], j["shape"], j["type"]),
                                 rows=j["rows"], cols=j["cols"], elements=number.tolist()))
            continue
        lanes = 128 if j["kind"] == "wgmma" else 32
        samples = j["samples"] * len(j["classes"])
        regs = raw.size // samples // lanes // (8 if j["types"][0] == "f64" else 4)
        words = raw.view(np.uint32).reshape(samples, -1)
        for ci, cls in enumerate(j["classes"]):
            part = words[ci * j["samples"]:(ci + 1) * j["samples"]]
            line = dict(op=j["op"], seed=i, **{"class": cls}, types=j["types"], regs=j.get("regs", [0, 0, regs, regs]),
                        first=0 if cls == "onehot" else ci * 64)
            for key in ("selector", "a_regs", "desc_a", "desc_b", "scale_d", "imm", "trans", "n", "k"):
                if j.get(key) is not None:
                    line[key] = j[key]
            line["hash"] = hash_words(part)
            count += j["samples"]
            if everything:
                line["d"] = ["".join("%08x" % w for w in row) for row in part]
            dump(seeded, line)
        if j["kind"] == "reg" and j["classes"] != ["onehot"] and j["op"] not in shown and (
                "mma.sp" in j["op"] or "m8n8k4" in j["op"] or ".f16.e" in j["op"] or "wmma" in j["op"] and ".row.col" in j["op"]):
            shown.add(j["op"])
            dt, at, bt, ct = j["types"]
            for ci, cls in ((0, j["classes"][0]),):
                line = {"op": j["op"], "class": cls}
                for k, (name, kind) in enumerate((("a", at), ("b", bt), ("c", ct))):
                    line[name] = hexes(recorder.registers(kind, j["regs"][k], cls, i, name, ci * 64))
                d = words[ci * j["samples"]]
                line["d"] = hexes(d.view(np.uint64).reshape(-1, 32) if dt == "f64" else d.reshape(-1, 32))
                if "selector" in j:
                    line["e"] = hexes(recorder.metadata(at, i, ci * 64))[0]
                    line["selector"] = j["selector"]
                dump(more, line)
    print(count, "seeded samples")


if __name__ == "__main__":
    main()
