#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates the AMD opcode tables (.inc) from the instruction facts in emu/amd/isa/data.

Usage: gen_tables.py [DATA_DIR [OUT_DIR]]
  DATA_DIR holds <gen>_opcodes.tsv and <gen>_encodings.tsv for RDNA3, RDNA4 and CDNA4 and cdna_*.tsv for CDNA2 and CDNA3
  (default: data/ beside this file),
  OUT_DIR receives opcodes.inc, data_types.inc, encodings.inc, cdna_*.inc and <gen>.inc (default: beside this file).

The facts are AMD's machine-readable ISA specification, reduced to one row an opcode and one row a layout.
What this script adds to them, and why, is in the sets below; everything else is mechanical.
"""
import os
import re
import sys

GENS = ["rdna3", "rdna4", "cdna2", "cdna3", "cdna4"]

# CDNA2 and CDNA3 have no specification of their own: their operands are CDNA4's (data/cdna4_opcodes.tsv) and, for opcodes
# that CDNA4 lacks or numbers otherwise, those of data/cdna_more_opcodes.tsv (from the CDNA2 and CDNA3 ISA manuals); which
# opcodes each generation has, with DPP and SDWA layouts, is in data/cdna_generations.tsv, and which bits they use in
# data/cdna_bits.tsv; probe_cdna.py makes both.
CDNA_TARGETS = {"cdna2": "gfx90a", "cdna3": "gfx942", "cdna4": "gfx950"}
# In the specification but unknown to MC: kept.
NOT_IN_MC = {("SOPP", 31), ("VOP3PX2", 45), ("VOP3PX2", 46)}
# One function, one mnemonic: assemblers call these by RDNA's names.
CDNA_RENAMED = {"V_MAD_MIX_F32": "V_FMA_MIX_F32", "V_MAD_MIXLO_F16": "V_FMA_MIXLO_F16",
                "V_MAD_MIXHI_F16": "V_FMA_MIXHI_F16"}

# The specification's row for an opcode of VOP3, VOP3SD and VOP3P describes its last layout. Where that is a DPP
# layout, src0 is a VGPR there (which tells, for an opcode of VOP3 alone, that it has DPP: the layouts' own
# opcode lists also name those that have none); in the plain layout the same field is any source.
NINE_BIT = {"src0", "src1", "src2", "vsrc0"}
ROW_OF_LAST_LAYOUT = {"VOP3", "VOP3SD", "VOP3P"}
# Instructions whose 9-bit source really is a VGPR in every layout.
VGPR_ONLY = {
    "V_READFIRSTLANE_B32": {"src0"},
    "V_READLANE_B32": {"src0"},
    "V_PERMLANE16_B32": {"src0"},
    "V_PERMLANEX16_B32": {"src0"},
    "V_PERMLANE16_VAR_B32": {"src0", "src1"},
    "V_PERMLANEX16_VAR_B32": {"src0", "src1"},
    "V_PERMLANE64_B32": {"src0"},
    "V_SWAP_B32": {"src0"},
    "V_SWAP_B16": {"src0"},
    "V_SWAPREL_B32": {"src0"},
    "V_MOVRELS_B32": {"src0"},
    "V_MOVRELSD_B32": {"src0"},
    "V_MOVRELSD_2_B32": {"src0"},
}

# Mnemonics whose _e32/_e64 suffix assemblers write otherwise than the specification's names say: an instruction with
# one encoding has none, the carry-in additions have both.
NO_SUFFIX = {
    "V_NOP", "V_PIPEFLUSH", "V_READFIRSTLANE_B32", "V_SWAP_B32", "V_SWAP_B16", "V_SWAPREL_B32", "V_PERMLANE64_B32",
    "V_DOT2ACC_F32_F16", "V_FMAMK_F32", "V_FMAAK_F32", "V_FMAMK_F16", "V_FMAAK_F16", "V_PK_FMAC_F16",
}
# VOP1 and VOP2 instructions without DPP, which the layouts' opcode lists name nevertheless: exchanges between lanes or
# registers, and multiply-adds whose DPP form no assembler knows.
NO_DPP = {"V_SWAP_B32", "V_SWAP_B16", "V_SWAPREL_B32", "V_PERMLANE64_B32", "V_FMAC_DX9_ZERO_F32", "V_PK_FMAC_F16",
          "V_READFIRSTLANE_B32", "V_NOP", "V_PIPEFLUSH"}
E64_SUFFIX = {"V_ADD_CO_CI_U32", "V_SUB_CO_CI_U32", "V_SUBREV_CO_CI_U32"}


def read_rows(path):
    with open(path, encoding="utf-8") as f:
        lines = [l.rstrip("\n") for l in f]
    return [l.split("\t") for l in lines[1:] if l]


def split_name(name, encoding):
    """('V_ADD_F32', 'E32') from 'V_ADD_F32_E32'."""
    m = re.match(r"(.*)_(E32|E64)$", name)
    base, suffix = (m.group(1), m.group(2)) if m else (name, "NONE")
    if base in NO_SUFFIX:
        suffix = "NONE"
    if base in E64_SUFFIX and encoding == "VOP3SD":
        suffix = "E64"
    return base, suffix


# Operands that the specification leaves out; in its format (field:format:bits:kind).
BARRIER_ID = "ssrc0:FMT_NUM_B32:32:OPR_SSRC_BARRIER_ID"
MISSING_OPERANDS = {
    "FLAT_ATOMIC_CSUB_U32": "addr:FMT_ANY:64:OPR_VGPR data:FMT_ANY:32:OPR_VGPR vdst:FMT_ANY:32:OPR_VGPR",  # RDNA3's manual has it
    "S_BARRIER_INIT": BARRIER_ID,
    "S_BARRIER_JOIN": BARRIER_ID,
    "S_WAITCNT": "simm16:FMT_NUM_B16:16:OPR_WAITCNT",
    "S_GET_BARRIER_STATE": BARRIER_ID + " sdst:FMT_NUM_B32:32:OPR_SDST",
}


def operands_of(text, base, encoding):
    out = []
    text = text or MISSING_OPERANDS.get(base, "")
    for item in text.split():
        field, fmt, bits, kind = item.split(":")
        fmt = re.sub(r"^FMT_(NUM_)?", "", fmt) or "ANY"
        kind = re.sub(r"^OPR_", "", kind) or "NONE"
        if kind == "VGPR" and encoding in ROW_OF_LAST_LAYOUT and field in NINE_BIT and \
                field not in VGPR_ONLY.get(base, ()):
            kind = "SRC"
        if base == "V_LDEXP_F16" and field in ("src1", "vsrc1"):
            fmt = "I16"  # the manual: D.f16 = S0.f16 * 2 ** S1.i16
        if encoding == "VINTERP" and kind == "VGPR" and field in NINE_BIT:
            kind = "SRC_NOLIT"  # a 9-bit source field, in which programs checked on hardware have scalar registers
        out.append((field.upper(), fmt, int(bits or 0), kind))
    return out


def has_dpp(text, base, suffix, encoding):
    """Whether a row's instruction has DPP layouts. Those with a 64-bit operand have none."""
    items = [item.split(":") for item in text.split()]
    if any(int(bits or 0) >= 64 and fmt != "FMT_NUM_M64" for _, fmt, bits, _ in items):
        return False
    if base in NO_DPP:
        return False
    if encoding in ROW_OF_LAST_LAYOUT and suffix != "E64":
        return any(field in ("src0", "vsrc0") and kind == "OPR_VGPR" for field, _, _, kind in items)
    return True


def layouts_of(data_dir, gen):
    """{(base encoding, opcode): set of layout suffixes such as LIT, DPP16, DPP8, SDWA}"""
    rows = read_rows(os.path.join(data_dir, gen + "_encodings.tsv"))
    names = {r[0] for r in rows}
    result = {}
    for r in rows:
        base, suffix = r[0], ""
        m = re.match(r"(.*?)_(SDST_LIT|LIT|DPP16|DPP8|SDWA_SDST|SDWA)$", r[0])
        if m and m.group(1) in names:
            base, suffix = m.group(1), m.group(2).replace("SDST_LIT", "LIT").replace("SDWA_SDST", "SDWA")
        for alias in ("_SDST",):
            if base.endswith(alias):
                base = base[: -len(alias)]
        for op in (r[4].split(",") if len(r) > 4 and r[4] else []):
            result.setdefault((base, int(op)), set())
            if suffix:
                result[(base, int(op))].add(suffix)
    return result


def cdna_rows(data_dir, gen):
    """([encoding, number, name, operands], {(encoding, number): layouts}, {base name: spelling}) of a CDNA generation."""
    target = CDNA_TARGETS[gen]
    facts = {(r[0], int(r[1])): (r[2], r[3] if len(r) > 3 else "")
             for r in read_rows(os.path.join(data_dir, "cdna4_opcodes.tsv"))}
    for r in read_rows(os.path.join(data_dir, "cdna_more_opcodes.tsv")):
        if target in r[2].split(","):
            facts[(r[0], int(r[1]))] = (r[3], r[4] if len(r) > 4 else "")
    probe = read_rows(os.path.join(data_dir, "cdna_generations.tsv"))
    column = 2 + list(CDNA_TARGETS.values()).index(target)
    rows, layouts, spellings = [], {}, {}
    for r in probe:
        if len(r) <= column or not r[column]:
            continue
        mnemonic, *extra = r[column].split()
        key = (r[0], int(r[1]))
        if key not in facts and r[0] == "VOP3":
            key = ("VOP3SD", int(r[1]))
        name, operands = facts[key]
        base = split_name(name, key[0])[0]
        base = name = CDNA_RENAMED.get(base, base)
        name += "".join("_" + e.upper() for e in extra if e in ("e32", "e64"))
        if base.lower() != mnemonic:
            spellings[base] = mnemonic
        rows.append([key[0], str(key[1]), name, operands])
        layouts[key] = {{"dpp": "DPP16", "sdwa": "SDWA"}[e] for e in extra if e in ("dpp", "sdwa")}
        if key[0] in ("SOP1", "SOP2", "SOPC", "VOP1", "VOP2", "VOPC"):
            layouts[key].add("LIT")
    if gen == "cdna4":
        rows += [[e, str(n), *facts[(e, n)]] for e, n in sorted(NOT_IN_MC)]
    return rows, layouts, spellings


def write(path, lines):
    with open(path, "w", encoding="utf-8") as f:
        f.write("// SPDX-License-Identifier: Apache-2.0\n")
        f.write("// Generated by emu/amd/isa/gen_tables.py; do not edit.\n")
        f.write("\n".join(lines) + "\n")


def main(argv):
    here = os.path.dirname(os.path.abspath(__file__))
    data_dir = argv[1] if len(argv) > 1 else os.path.join(here, "data")
    out_dir = argv[2] if len(argv) > 2 else here
    mnemonics, types, encodings, kinds, fields, spellings = set(), set(), set(), set(), set(), []
    for gen in GENS:
        if gen in CDNA_TARGETS:
            rows, layouts, spelled = cdna_rows(data_dir, gen)
            spellings += [(gen, base, text) for base, text in sorted(spelled.items())]
        else:
            rows, layouts = read_rows(os.path.join(data_dir, gen + "_opcodes.tsv")), layouts_of(data_dir, gen)
        lines = ["// AMD_INSN(encoding, opcode number, mnemonic, suffix, layouts, operand * 6)",
                 "// operand: (field, data type, bits, kind); AMD_NONE where there is none."]
        for row in sorted(rows, key=lambda r: (r[0], int(r[1]))):
            encoding, number, name = row[0], int(row[1]), row[2]
            base, suffix = split_name(name, encoding)
            if gen in CDNA_TARGETS:
                suffix = (re.findall(r"_(E32|E64)$", name) or ["NONE"])[0]  # MC's, whatever the lists above say
            ops = operands_of(row[3] if len(row) > 3 else "", base, encoding)
            # The halves of a VOPD pair are the instructions they are named after.
            base = base.replace("V_DUAL_", "V_") if encoding == "VOPD" else base
            mnemonics.add(base)
            encodings.add(encoding)
            types.update(o[1] for o in ops)
            kinds.update(o[3] for o in ops)
            fields.update(o[0] for o in ops)
            lay = layouts.get((encoding, number), set())
            if gen in CDNA_TARGETS:
                pass  # MC said so
            elif not has_dpp(row[3] if len(row) > 3 else "", base, suffix, encoding):
                lay = lay - {"DPP16", "DPP8"}
            elif suffix == "E64" and gen.startswith("rdna"):
                lay = lay | {"DPP16", "DPP8"}  # as its e32 form
            lay = "|".join("kLay" + l.capitalize() for l in sorted(lay)) or "0"
            if len(ops) > 6:
                raise SystemExit(f"{name}: more than six operands")
            cells = ["(%s, %s, %d, %s)" % o for o in ops] + ["AMD_NONE"] * (6 - len(ops))
            lines.append("AMD_INSN(%s, %d, %s, %s, %s, %s)" % (encoding, number, base, suffix, lay, ", ".join(cells)))
        write(os.path.join(out_dir, gen + ".inc"), lines)
    write(os.path.join(out_dir, "opcodes.inc"),
          ["// AMD_OPCODE(mnemonic): every mnemonic of every generation, without its _e32/_e64 suffix."] +
          ["AMD_OPCODE(%s)" % m for m in sorted(mnemonics)])
    write(os.path.join(out_dir, "encodings.inc"),
          ["// AMD_ENCODING(name): instruction layouts, without their literal, DPP and SDWA extensions."] +
          ["AMD_ENCODING(%s)" % e for e in sorted(encodings)])
    write(os.path.join(out_dir, "cdna_spellings.inc"),
          ["// AMD_SPELLING(generation, mnemonic, text): what assemblers write where that is not the mnemonic."] +
          ['AMD_SPELLING(k%s, %s, "%s")' % (gen.capitalize(), base, text) for gen, base, text in spellings])
    write(os.path.join(out_dir, "cdna_bits.inc"),
          ["// AMD_CDNA_BITS(layout, opcode number, generations, used, ignored, required): probe_cdna.py says what each is.",
           "// generations: bit 0 CDNA2, bit 1 CDNA3, bit 2 CDNA4."] +
          ["AMD_CDNA_BITS(%s, %s, %d, 0x%s, 0x%s, 0x%s)" % (
              r[0], r[1], sum(1 << list(CDNA_TARGETS.values()).index(t) for t in r[2].split(",")), r[3], r[4], r[5])
           for r in read_rows(os.path.join(data_dir, "cdna_bits.tsv"))])
    types.discard("NONE")
    write(os.path.join(out_dir, "data_types.inc"),
          ["// AMD_DATA_TYPE(name): how an instruction reads an operand's bits."] +
          ["AMD_DATA_TYPE(%s)" % t for t in sorted(types)])
    write(os.path.join(out_dir, "operand_fields.inc"),
          ["// AMD_FIELD(name), AMD_OPERAND_KIND(name): vocabulary of the operand columns of the tables.",
           "#ifdef AMD_FIELD"] + ["AMD_FIELD(%s)" % f for f in sorted(fields)] +
          ["#endif", "#ifdef AMD_OPERAND_KIND"] + ["AMD_OPERAND_KIND(%s)" % k for k in sorted(kinds - {"NONE"})] +
          ["#endif"])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
