#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collects what the tests executed against which oracle, and keeps emu/amd/coverage/evidence.inc.

usage: evidence.py --check | --update | --add [LOGS [TABLE]]
  LOGS   the folder of test logs (default: bazel-testlogs); TABLE the .inc file

Tests print lines '@evidence KIND GFX MNEMONIC...' (tests/emu/amd/evidence). --check fails when an opcode of the table has lost an
oracle; --update writes the table anew. Both need the logs of a whole run. --add keeps the table and adds what the logs of some tests
show.
"""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GFX = ["gfx1100", "gfx1150", "gfx1200", "gfx90a", "gfx942", "gfx950"]
LETTERS = {"mc": "m", "vector": "v", "exact": "e", "solver": "s", "program": "p"}


def collect(logs):
    """{mnemonic: [set of letters for each of GFX]}"""
    found = {}
    for folder, _, files in os.walk(logs, followlinks=True):
        for name in files:
            if name != "test.log":
                continue
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as f:
                for line in f:
                    if not line.startswith("@evidence "):
                        continue
                    _, kind, gfx, *mnemonics = line.split()
                    if kind not in LETTERS or gfx not in GFX:
                        raise SystemExit(f"{folder}: unknown evidence '{kind} {gfx}'")
                    for m in mnemonics:
                        found.setdefault(m, [set() for _ in GFX])[GFX.index(gfx)].add(LETTERS[kind])
    return found


def read_table(path):
    table = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            if not line.startswith("AMD_EVIDENCE("):
                continue
            cells = [c.strip().strip('"') for c in line.strip()[len("AMD_EVIDENCE("):-1].split(",")]
            table[cells[0]] = [set(c) for c in cells[1:]]
    return table


def write_table(path, found):
    with open(path, "w", encoding="utf-8") as f:
        f.write("// SPDX-License-Identifier: Apache-2.0\n"
                "// Made by tools/evidence.py from the logs of the tests; do not edit.\n"
                "// AMD_EVIDENCE(opcode, %s): letters of oracles.inc.\n" % ", ".join(GFX))
        for m in sorted(found):
            f.write("AMD_EVIDENCE(%s, %s)\n" % (m, ", ".join('"%s"' % "".join(sorted(c)) for c in found[m])))


def main(argv):
    if not argv or argv[0] not in ("--check", "--update", "--add"):
        print(__doc__)
        return 2
    logs = argv[1] if len(argv) > 1 else os.path.join(ROOT, "bazel-testlogs")
    path = argv[2] if len(argv) > 2 else os.path.join(ROOT, "emu/amd/coverage/evidence.inc")
    found = collect(logs)
    if argv[0] == "--add":
        for m, cells in read_table(path).items():
            row = found.setdefault(m, [set() for _ in GFX])
            for cell, old in zip(row, cells):
                cell |= old
    if argv[0] != "--check":
        write_table(path, found)
        print(f"evidence: {sum(len(c) for row in found.values() for c in row)} entries for {len(found)} mnemonics")
        return 0
    table = read_table(path)
    lost, gained = [], 0
    for m in sorted(set(table) | set(found)):
        none = [set() for _ in GFX]
        for gfx, was, now in zip(GFX, table.get(m, none), found.get(m, none)):
            lost += [f"{m} on {gfx}: {letter}" for letter in sorted(was - now)]
            gained += len(now - was)
    for line in lost[:40]:
        print("evidence lost:", line)
    if len(lost) > 40:
        print(f"evidence lost: {len(lost) - 40} more")
    if gained:
        print(f"evidence: {gained} new entries; `tools/evidence.py --update` writes them down")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
