#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks LLVM MC which opcodes gfx90a, gfx942 and gfx950 have, and writes data/cdna_generations.tsv.

Usage: probe_cdna.py [LIBLLVM [OUT]]
  LIBLLVM: the shared library with the AMDGPU disassembler (default: libLLVM-22.so of Debian's llvm-22),
  OUT: the file to write (default: data/cdna_generations.tsv beside this file).

Every opcode number of every encoding is disassembled under operands drawn from values that are valid for many
instructions; a generation has the opcode if any draw is an instruction. The draws are seeded, so a second run writes the
same file. AMD's own tables (data/cdna4_opcodes.tsv) say what the operands are; this file says where the opcodes exist, how
they are spelled there, and whether they have a DPP and an SDWA layout there ("v_not_b32 dpp sdwa").
"""
import ctypes
import os
import random
import re
import struct
import sys

TARGETS = ["gfx90a", "gfx942", "gfx950"]
DRAWS = 120


class Mc:
    def __init__(self, path):
        lib = ctypes.CDLL(path)
        for part in ("TargetInfo", "TargetMC", "Disassembler"):
            getattr(lib, "LLVMInitializeAMDGPU" + part)()
        lib.LLVMCreateDisasmCPUFeatures.restype = ctypes.c_void_p
        lib.LLVMCreateDisasmCPUFeatures.argtypes = [ctypes.c_char_p] * 3 + [
            ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
        lib.LLVMDisasmInstruction.restype = ctypes.c_size_t
        lib.LLVMDisasmInstruction.argtypes = [
            ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t]
        self.lib = lib
        self.text = ctypes.create_string_buffer(512)
        self.context = {t: lib.LLVMCreateDisasmCPUFeatures(b"amdgcn-amd-amdhsa", t.encode(), b"", None, 0, None, None)
                        for t in TARGETS}

    def mnemonic(self, target, words):
        """(mnemonic, layout suffix or "") or None where MC refuses the words or doubts them."""
        data = struct.pack("<%dI" % len(words), *words).ljust(16, b"\0")
        if self.lib.LLVMDisasmInstruction(self.context[target], data, 16, 0, self.text, 512) == 0:
            return None
        text = self.text.value.decode().strip()
        if "/*" in text or "Warning" in text:
            return None
        return re.match(r"(.*?)(?:_(e32|e64|dpp|sdwa))?$", text.split()[0]).groups(default="")


def encodings(rng):
    """(encoding, number of opcodes, draw(opcode) -> words)"""
    pick = rng.choice

    def src9():
        return pick([0x100, 0x104, 0x108, 4, 0])

    def vop3(op):
        return [op << 16 | pick([0, 4, 8]), src9() | src9() << 9 | src9() << 18]

    def vector_src():
        return pick([0x102, 0x104, 4, 0xfa, 0xf9])  # VGPR, SGPR, DPP, SDWA

    def vector_word():
        return pick([0, 0xff00e404, 0xff015004, 0x06060604])  # a literal; two DPP words; an SDWA word

    yield "SOP1", 256, lambda op: [0xbe800000 | op << 8 | pick([0, 4, 8, 16]) | pick([0, 4, 8, 16]) << 16]
    yield "SOP2", 96, lambda op: [0x80000000 | op << 23 | pick([0, 4]) | pick([0, 8]) << 16 | pick([0, 4]) << 8]
    yield "SOPC", 128, lambda op: [0xbf000000 | op << 16 | 0x0404]
    yield "SOPK", 29, lambda op: [0xb0000000 | op << 23 | 4 << 16 | rng.getrandbits(16), 5]
    yield "SOPP", 128, lambda op: [0xbf800000 | op << 16 | pick([0, rng.getrandbits(16)])]
    yield "SMEM", 256, lambda op: [0xc0000000 | op << 18 | pick([0, 1]) << 17 | pick([0, 0x100, 4, 0x102, 0x302]),
                                   pick([0, 4, 16])]
    yield "VOP1", 256, lambda op: [0x7e000000 | op << 9 | vector_src() | pick([0, 4]) << 17, vector_word()]
    yield "VOP2", 62, lambda op: [op << 25 | vector_src() | 2 << 9 | pick([0, 4]) << 17, vector_word()]
    yield "VOPC", 256, lambda op: [0x7c000000 | op << 17 | vector_src() | 2 << 9, vector_word()]
    yield "VOP3", 896, lambda op: [0xd0000000 | vop3(op)[0], vop3(op)[1]]
    yield "VOP3P", 128, lambda op: [0xd3800000 | vop3(op)[0] | pick([0, 0x4000, 0x8000]) | pick([0, 64]),
                                    vop3(op)[1] | pick([0, 0x18000000, 0x08000000, 0x10000000])]
    yield "DS", 256, lambda op: [0xd8000000 | op << 17 | pick([0, 0x10000]),
                                 pick([0, 4, 0x04040404, 0x02020202, 0x00000404, 0x40404])]
    for segment, name in enumerate(["FLAT", "SCRATCH", "GLOBAL"]):
        yield name, 128, lambda op, s=segment: [
            0xdc000000 | op << 18 | s << 14 | pick([0, 0x10000, 0x2000]),
            pick([0, 4, 0x04000404]) | pick([0, 0x7f0000, 0x40000])]
    yield "MUBUF", 128, lambda op: [0xe0000000 | op << 18 | pick([0, 0x10000, 0x1000, 0x8000, 0x4000]),
                                    pick([0, 0x80000000]) | pick([0, 0x404])]
    yield "MTBUF", 16, lambda op: [0xe8000000 | op << 15 | 1 << 19 | 4 << 23, pick([0, 0x80000000]) | pick([0, 0x404])]
    yield "MIMG", 128, lambda op: [0xf0000000 | op << 18 | pick([0, 0x100, 0xf00, 0x2000, 0x1000]),
                                   pick([0, 0x404, 0x8000])]


def main(argv):
    here = os.path.dirname(os.path.abspath(__file__))
    mc = Mc(argv[1] if len(argv) > 1 else "/usr/lib/llvm-22/lib/libLLVM-22.so")
    out = argv[2] if len(argv) > 2 else os.path.join(here, "data", "cdna_generations.tsv")
    rng = random.Random(1)
    lines = ["\t".join(["encoding", "opcode"] + TARGETS)]
    for name, count, draw in encodings(rng):
        for op in range(count):
            found = {t: set() for t in TARGETS}
            layouts = {t: set() for t in TARGETS}
            for _ in range(DRAWS):
                words = draw(op)
                for t in TARGETS:
                    mnemonic = mc.mnemonic(t, words)
                    if mnemonic:
                        found[t].add(mnemonic[0])
                        layouts[t].update({mnemonic[1]} & {"dpp", "sdwa"})
            if any(len(f) > 1 for f in found.values()):
                raise SystemExit("%s opcode %d has several names: %s" % (name, op, found))
            if any(found.values()):
                lines.append("\t".join([name, str(op)] + [
                    " ".join(sorted(found[t]) + sorted(layouts[t])) for t in TARGETS]))
    with open(out, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
