#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks LLVM MC which opcodes gfx90a, gfx942 and gfx950 have and which bits each opcode uses.

Usage: probe_cdna.py [LIBLLVM [OUT_DIR]]
  LIBLLVM: the shared library with the AMDGPU disassembler (default: libLLVM-22.so of Debian's llvm-22),
  OUT_DIR receives cdna_generations.tsv and cdna_bits.tsv (default: data/ beside this file).

cdna_generations.tsv: every opcode number of every encoding is disassembled under operands drawn from values that are valid for many
instructions; a generation has the opcode if any draw is an instruction. The draws are seeded, so a second run writes the
same file. AMD's own tables (data/cdna4_opcodes.tsv) say what the operands are; this file says where the opcodes exist, how
they are spelled there, which suffix the plain layout's mnemonic has, and whether there is a DPP and an SDWA layout
("v_not_b32 dpp e32 sdwa").

cdna_bits.tsv: for every opcode of a 64-bit layout, one valid instruction is found and each of its bits is flipped. `used`
are the bits whose flip changes the text, `ignored` those whose flip changes nothing, `required` those that are set and must
be; every other bit must be zero. Masks are of the 64-bit instruction, the first word lowest. Bits of operand fields are in
them too; a reader that knows the operands looks at the rest.
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

    def line(self, target, words):
        """The whole text, or None where MC refuses the words or doubts them."""
        data = struct.pack("<%dI" % len(words), *words).ljust(16, b"\0")
        if self.lib.LLVMDisasmInstruction(self.context[target], data, 16, 0, self.text, 512) != 8:
            return None
        text = self.text.value.decode().strip()
        return None if "/*" in text or "Warning" in text else text

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
        return pick([0, 0xff00e404, 0xff015004, 0x06060604, 0x00060604])  # a literal; two DPP words; two SDWA words

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


def layouts():
    """(layout, encoding, extra that the opcode's cell must name, opcode prefix mask, candidates(opcode) -> words)"""
    def vop3(top):
        def candidates(op):
            for mods in (0, 0x8000):
                for src0 in (0x104, 4, 0):
                    for src2 in (0x108, 8, 0):
                        for src1 in (0x104, 4, 0):
                            for dst in (0, 4):
                                yield [top | op << 16 | dst | mods, src0 | src1 << 9 | src2 << 18]
                                yield [top | op << 16 | dst | mods, src0 | src1 << 9 | src2 << 18 | 0x18000000]
                                yield [top | op << 16 | dst | mods, src0 | src1 << 9 | src2 << 18 | 0x08000000]
        return candidates

    def extended(top, shift, src0, words):
        def candidates(op):
            for word in words:
                yield [top | op << shift | src0 | (2 << 9 if shift != 9 else 0), word]
        return candidates

    def memory(top, shift, firsts, seconds):
        def candidates(op):
            for second in seconds:
                for first in firsts:
                    yield [top | op << shift | first, second]
        return candidates

    yield "VOP3", "VOP3", "", 0xffff0000, vop3(0xd0000000)
    yield "VOP3P", "VOP3P", "", 0xffff0000, vop3(0xd3800000)
    for enc, top, shift, prefix in (("VOP1", 0x7e000000, 9, 0xfe01ffff), ("VOP2", 0, 25, 0xfe0001ff),
                                    ("VOPC", 0x7c000000, 17, 0xfffe01ff)):
        yield enc + "_DPP", enc, "dpp", prefix, extended(top, shift, 0xfa, [0xff00e404, 0xff015004])
        yield enc + "_SDWA", enc, "sdwa", prefix, extended(top, shift, 0xf9, [0x00060604, 0x06060604, 0x06060004])
    yield "DS", "DS", "", 0xfdfe0000, memory(0xd8000000, 17, [0, 0x10000], [0, 4, 0x40404, 0x404, 0x04040404, 0x20202])
    for segment, name in enumerate(["FLAT", "SCRATCH", "GLOBAL"]):
        yield name, name, "", 0xfdfcc000, memory(0xdc000000 | segment << 14, 18, [0, 0x10000, 0x2000],
                                                 [0x7f0000, 0x7f0404, 0, 4])
    yield "MUBUF", "MUBUF", "", 0xfdfc0000, memory(0xe0000000, 18, [0, 0x4000, 0x10000, 0x1000], [0x404, 0, 0x80000404])
    yield "MTBUF", "MTBUF", "", 0xfc078000, memory(0xe8080000 | 4 << 23, 15, [0], [0x404, 0])
    yield "MIMG", "MIMG", "", 0xfdfc0000, memory(0xf0000000, 18, [0x1100, 0x100, 0, 0xf00, 0x3100, 0x1f00], [0x404, 0])
    yield "SMEM", "SMEM", "", 0xfffc0000, memory(0xc0000000, 18, [0x20000, 0, 0x20100], [0, 4])


def bits_of(mc, target, words, prefix):
    base = mc.line(target, words)
    used = ignored = required = 0
    for bit in range(64):
        if bit < 32 and prefix >> bit & 1:
            continue
        # MC has no text for these values of SDWA fields and fails on them: selector 7, dst_unused 3.
        flipped = list(words)
        flipped[bit // 32] ^= 1 << bit % 32
        if words[0] & 0x1ff == 0xf9 and words[0] >> 31 == 0:
            second = flipped[1]
            if 7 in (second >> 8 & 7, second >> 16 & 7, second >> 24 & 7) or second >> 11 & 3 == 3:
                used |= 1 << bit
                continue
        text = mc.line(target, flipped)
        if text is None:
            required |= (words[bit // 32] >> bit % 32 & 1) << bit
        elif text == base:
            ignored |= 1 << bit
        else:
            used |= 1 << bit
    return used, ignored, required


def write_bits(mc, path, cells):
    lines = ["\t".join(["layout", "opcode", "target", "used", "ignored", "required"])]
    for layout, encoding, extra, prefix, candidates in layouts():
        for (enc, op), names in sorted(cells.items(), key=lambda c: c[0][1]):
            if enc != encoding:
                continue
            masks = {}
            for target, name in zip(TARGETS, names):
                if not name or (extra and extra not in name.split()):
                    continue
                words = next((w for w in candidates(op) if mc.line(target, w)), None)
                if words is None:
                    raise SystemExit("%s opcode %d: no candidate is an instruction of %s" % (layout, op, target))
                masks.setdefault(bits_of(mc, target, words, prefix), []).append(target)
            for (used, ignored, required), targets in masks.items():
                lines.append("\t".join([layout, str(op), ",".join(targets), "%016x" % used, "%016x" % ignored,
                                        "%016x" % required]))
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


def main(argv):
    here = os.path.dirname(os.path.abspath(__file__))
    mc = Mc(argv[1] if len(argv) > 1 else "/usr/lib/llvm-22/lib/libLLVM-22.so")
    out = argv[2] if len(argv) > 2 else os.path.join(here, "data")
    rng = random.Random(1)
    lines = ["\t".join(["encoding", "opcode"] + TARGETS)]
    cells = {}
    for name, count, draw in encodings(rng):
        for op in range(count):
            found = {t: set() for t in TARGETS}
            extra = {t: set() for t in TARGETS}
            for _ in range(DRAWS):
                words = draw(op)
                for t in TARGETS:
                    mnemonic = mc.mnemonic(t, words)
                    if mnemonic:
                        found[t].add(mnemonic[0])
                        extra[t].update({mnemonic[1]} - {""})
            if any(len(f) > 1 for f in found.values()):
                raise SystemExit("%s opcode %d has several names: %s" % (name, op, found))
            if any(found.values()):
                cells[(name, op)] = [" ".join(sorted(found[t]) + sorted(extra[t])) for t in TARGETS]
                lines.append("\t".join([name, str(op)] + cells[(name, op)]))
    write_bits(mc, os.path.join(out, "cdna_bits.tsv"), cells)
    with open(os.path.join(out, "cdna_generations.tsv"), "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
