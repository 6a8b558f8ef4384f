#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what an NVIDIA GPU's tensor cores answer, through the driver API (libcuda.so.1) and PTX text.

    record_mma.py OUT.npz [--list]

Inputs are a counter-based stream (splitmix64), so that a reader needs only seed, class and form to have them
again; OUT.npz holds the result registers of each job under its index, and `jobs`, a JSON list that describes
them. Forms that the driver's compiler refuses are kept with its message. tests/data/conformance/ptx/
make_mma_more.py turns the result into test data."""
import ctypes
import json
import subprocess
import sys

import numpy as np

# ---- inputs ----------------------------------------------------------------------------------------------
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s32": 32, "s8": 8, "u8": 8, "s4": 4, "u4": 4,
        "b1": 1, "e4m3": 8, "e5m2": 8}
FORMAT = {"f16": (5, 10), "bf16": (8, 7), "tf32": (8, 23), "f32": (8, 23), "f64": (11, 52), "e4m3": (4, 3),
          "e5m2": (5, 2)}
STREAM = {"a": 0, "b": 1, "c": 2, "e": 3, "shared": 4}


def random_words(seed, stream, sample, count):
    index = np.arange(count, dtype=np.uint64) + np.uint64((STREAM[stream] << 24) + (sample << 32) + 1)
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + index * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def elements(kind, r, cls):
    """One element of type `kind` for each random word."""
    r = r.copy()
    u = np.uint64
    if kind not in FORMAT or cls == "bits":
        return r & u((1 << BITS[kind]) - 1) if BITS[kind] < 64 else r
    eb, mb = FORMAT[kind]
    bias, top = (1 << (eb - 1)) - 1, (1 << eb) - 1
    sign, man, pick = r & u(1), (r >> u(1)) & u((1 << mb) - 1), (r >> u(54)) & u(1023)
    narrow = u(bias - 3) + pick % u(7)
    if eb >= 8:
        wide = u(bias - 20) + pick % u(41)
    else:
        wide = pick % u(top if kind != "e4m3" else 16)
    if cls == "narrow":
        field = narrow
    elif cls == "wide":
        field = wide
    else:  # edge: zeros, denormals, the largest, ones, and now and then an infinity or a NaN
        choice, rare = pick % u(8), (pick // u(8)) % u(16)
        field = np.where(choice == 5, wide, narrow)
        field = np.where(choice <= 1, u(0), field)
        man = np.where(choice == 0, u(0), man)
        field = np.where(choice == 2, u(top - 1 if kind != "e4m3" else top), field)
        man = np.where(choice == 2, u((1 << mb) - 1 if kind != "e4m3" else 6), man)
        field = np.where(choice == 4, u(bias), field)
        man = np.where(choice == 4, u(0), man)
        special = (choice == 6) & (rare <= 1)
        field = np.where(special, u(top), field)
        man = np.where(special, np.where(rare == 0, u(0) if kind != "e4m3" else u(6), man | u(1)), man)
    if kind == "e4m3":
        man = np.where((field == u(15)) & (man == u(7)) & (cls != "edge"), u(6), man)
    return (sign << u(eb + mb)) | (field << u(mb)) | man


def registers(kind, regs, cls, seed, stream, sample, lanes=32):
    """uint32 (f64: uint64) [regs][lanes], elements from the low bits up."""
    width = 64 if kind == "f64" else 32
    per = width // BITS[kind]
    e = elements(kind, random_words(seed, stream, sample, regs * lanes * per), cls).reshape(regs, lanes, per)
    out = np.zeros((regs, lanes), np.uint64)
    for i in range(per):
        out |= e[:, :, i] << np.uint64(i * BITS[kind])
    return out if width == 64 else out.astype(np.uint32)


def metadata(kind, seed, sample, lanes=32):
    """Ordered indices: two of four, or for tf32 one of two."""
    r = random_words(seed, "e", sample, lanes * 8).reshape(lanes, 8)
    table = np.array([0x4, 0xE] if kind == "tf32" else [0x4, 0x8, 0xC, 0x9, 0xD, 0xE], np.uint64)
    out = np.zeros(lanes, np.uint64)
    for i in range(8):
        out |= table[((r[:, i] >> np.uint64(20)) % np.uint64(len(table))).astype(int)] << np.uint64(4 * i)
    return out.astype(np.uint32).reshape(1, lanes)


# ---- jobs ------------------------------------------------------------------------------------------------
def mma_regs(m, n, k, at, ct):
    """Registers of a, b, c."""
    w = 64 if at == "f64" else 32
    per = w // BITS[at]
    cw = 64 if ct == "f64" else 32
    return m * k // 32 // per, n * k // 32 // per, m * n // 32 * BITS[ct] // cw


def job(kind, op, types, regs, samples, classes, **more):
    return dict(kind=kind, op=op, types=types, regs=regs, samples=samples, classes=classes, **more)


def all_jobs():
    jobs = []
    floats = ["narrow", "wide", "edge"]

    def dense(m, n, k, dt, at, bt, ct, classes, extra="", samples=6, tail=""):
        a, b, c = mma_regs(m, n, k, at, ct)
        d = mma_regs(m, n, k, at, dt)[2]
        jobs.append(job("reg", f"mma.sync.aligned.m{m}n{n}k{k}.row.col{extra}.{dt}.{at}.{bt}.{ct}{tail}",
                        [dt, at, bt, ct], [a, b, c, d], samples, classes))

    for k in (8, 16):
        dense(16, 8, k, "f16", "f16", "f16", "f16", floats)
        dense(16, 8, k, "f32", "f16", "f16", "f32", floats)
        dense(16, 8, k, "f32", "bf16", "bf16", "f32", floats)
    for k in (4, 8):
        dense(16, 8, k, "f32", "tf32", "tf32", "f32", floats)
    dense(8, 8, 4, "f64", "f64", "f64", "f64", floats)
    for k in (4, 8, 16):
        dense(16, 8, k, "f64", "f64", "f64", "f64", floats)
    for k in (16, 32):
        for at in ("e4m3", "e5m2"):
            for bt in ("e4m3", "e5m2"):
                dense(16, 8, k, "f32", at, bt, "f32", floats)
                dense(16, 8, k, "f16", at, bt, "f16", floats)
    for at in ("s8", "u8"):
        for bt in ("s8", "u8"):
            for m, k in ((8, 16), (16, 16), (16, 32)):
                for sat in ("", ".satfinite"):
                    dense(m, 8, k, "s32", at, bt, "s32", ["bits"], sat, 3)
    for at in ("s4", "u4"):
        for bt in ("s4", "u4"):
            for m, k in ((8, 32), (16, 32), (16, 64)):
                for sat in ("", ".satfinite"):
                    dense(m, 8, k, "s32", at, bt, "s32", ["bits"], sat, 3)
    for o in ("xor", "and"):
        for m, k in ((8, 128), (16, 128), (16, 256)):
            dense(m, 8, k, "s32", "b1", "b1", "s32", ["bits"], "", 3, f".{o}.popc")
    for al in ("row", "col"):
        for bl in ("row", "col"):
            for dt, ct in (("f16", "f16"), ("f32", "f16"), ("f32", "f32")):
                jobs.append(job("reg", f"mma.sync.aligned.m8n8k4.{al}.{bl}.{dt}.f16.f16.{ct}", [dt, "f16", "f16", ct],
                                [2, 2, 4 if ct == "f16" else 8, 4 if dt == "f16" else 8], 6, floats))

    def sparse(k, dt, at, bt, ct, classes, selectors, extra="", samples=6, variant="::ordered_metadata"):
        a = mma_regs(16, 8, k // 2, at, ct)[0]
        b, c = mma_regs(16, 8, k, at, ct)[1:]
        d = mma_regs(16, 8, k, at, dt)[2]
        for s in selectors:
            jobs.append(job("reg", f"mma.sp{variant}.sync.aligned.m16n8k{k}.row.col{extra}.{dt}.{at}.{bt}.{ct}",
                            [dt, at, bt, ct], [a, b, c, d], samples, classes, selector=s))

    for k, sel in ((16, range(4)), (32, range(2))):
        sparse(k, "f16", "f16", "f16", "f16", ["narrow"], sel, samples=2)
        sparse(k, "f32", "f16", "f16", "f32", floats, sel, samples=3)
        sparse(k, "f32", "bf16", "bf16", "f32", floats, sel, samples=3)
    sparse(16, "f32", "f16", "f16", "f32", ["narrow"], [1], samples=2, variant="")
    for k, sel in ((8, range(4)), (16, range(2))):
        sparse(k, "f32", "tf32", "tf32", "f32", floats, sel, samples=3)
    for at, bt in (("s8", "s8"), ("s8", "u8"), ("u8", "s8"), ("u8", "u8")):
        for sat in ("", ".satfinite"):
            sparse(32, "s32", at, bt, "s32", ["bits"], range(2), sat, 2)
            sparse(64, "s32", at, bt, "s32", ["bits"], [0], sat, 2)
    for at, bt in (("s4", "s4"), ("s4", "u4"), ("u4", "s4"), ("u4", "u4")):
        for sat in ("", ".satfinite"):
            sparse(64, "s32", at, bt, "s32", ["bits"], range(2), sat, 2)
            sparse(128, "s32", at, bt, "s32", ["bits"], [0], sat, 2)
    for at in ("e4m3", "e5m2"):
        for bt in ("e4m3", "e5m2"):
            sparse(64, "f32", at, bt, "f32", floats, [0], samples=4)

    # One stored column of ones, B[k][n] = the digit n of k: the result names the column that was selected.
    for t, k, d, sel in (("s8", 32, "s32", range(2)), ("s8", 64, "s32", [0]), ("u4", 64, "s32", range(2)),
                         ("u4", 128, "s32", [0]), ("tf32", 8, "f32", range(4)), ("tf32", 16, "f32", range(2)),
                         ("e4m3", 64, "f32", [0])):
        sparse(k, d, t, t, d, ["onehot"], sel, samples=k // 2)

    # wmma.mma on registers of any contents.
    def wmma(shape, al, bl, op, types, regs, classes, samples=4):
        jobs.append(job("reg", op, types, regs, samples, classes))

    shapes = {"m16n16k16": (16, 16), "m32n8k16": (32, 8), "m8n32k16": (8, 32)}
    for shape, (m, n) in shapes.items():
        for al in ("row", "col"):
            for bl in ("row", "col"):
                for dt in ("f16", "f32"):
                    for ct in ("f16", "f32"):
                        wmma(shape, al, bl, f"wmma.mma.sync.aligned.{al}.{bl}.{shape}.{dt}.{ct}", [dt, "f16", "f16", ct],
                             [8, 8, 4 if ct == "f16" else 8, 4 if dt == "f16" else 8], floats, 2)
                wmma(shape, al, bl, f"wmma.mma.sync.aligned.{al}.{bl}.{shape}.f32.bf16.bf16.f32",
                     ["f32", "bf16", "bf16", "f32"], [m // 4, n // 4, 8, 8], floats, 2)
                for t in ("s8", "u8"):
                    for sat in ("", ".satfinite"):
                        wmma(shape, al, bl, f"wmma.mma.sync.aligned.{al}.{bl}.{shape}.s32.{t}.{t}.s32{sat}",
                             ["s32", t, t, "s32"], [m // 8, n // 8, 8, 8], ["bits"], 2)
    for al in ("row", "col"):
        for bl in ("row", "col"):
            wmma("", al, bl, f"wmma.mma.sync.aligned.{al}.{bl}.m16n16k8.f32.tf32.tf32.f32", ["f32", "tf32", "tf32", "f32"],
                 [4, 4, 8, 8], floats, 2)
            for rnd in ("", ".rn", ".rz", ".rm", ".rp"):
                wmma("", al, bl, f"wmma.mma.sync.aligned.{al}.{bl}.m8n8k4{rnd}.f64.f64.f64.f64",
                     ["f64", "f64", "f64", "f64"], [1, 1, 2, 2], floats, 4)
    for t in ("s4", "u4"):
        for sat in ("", ".satfinite"):
            wmma("", "row", "col", f"wmma.mma.sync.aligned.row.col.m8n8k32.s32.{t}.{t}.s32{sat}", ["s32", t, t, "s32"],
                 [1, 1, 2, 2], ["bits"], 2)
    for o in ("xor", "and"):
        wmma("", "row", "col", f"wmma.mma.{o}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", ["s32", "b1", "b1", "s32"],
             [1, 1, 2, 2], ["bits"], 2)

    # Fragments of wmma.load: element numbers, one bit a pass.
    for which in "abc":
        for layout in ("row", "col"):
            for shape, (m, n) in shapes.items():
                for t, regs in (("f16", {"a": 8, "b": 8, "c": 4}), ("bf16", {"a": m // 4, "b": n // 4}),
                                ("s8", {"a": m // 8, "b": n // 8}), ("u8", {"a": m // 8, "b": n // 8}),
                                ("f32", {"c": 8}), ("s32", {"c": 8})):
                    if which in regs:
                        rows, cols = {"a": (m, 16), "b": (16, n), "c": (m, n)}[which]
                        jobs.append(dict(kind="load", which=which, layout=layout, shape=shape, type=t, regs=regs[which],
                                         rows=rows, cols=cols))
            if which != "c":
                jobs.append(dict(kind="load", which=which, layout=layout, shape="m16n16k8", type="tf32", regs=4,
                                 rows=16 if which == "a" else 8, cols=8 if which == "a" else 16))
            else:
                jobs.append(dict(kind="load", which="c", layout=layout, shape="m16n16k8", type="f32", regs=8, rows=16, cols=16))
            jobs.append(dict(kind="load", which=which, layout=layout, shape="m8n8k4", type="f64",
                             regs=2 if which == "c" else 1, rows=4 if which == "b" else 8, cols=4 if which == "a" else 8))
        natural = {"a": "row", "b": "col", "c": "row"}[which]
        for shape, t, k in (("m8n8k32", "s4", 32), ("m8n8k128", "b1", 128)):
            jobs.append(dict(kind="load", which=which, layout=natural, shape=shape, type="s32" if which == "c" else t,
                             regs=2 if which == "c" else 1, rows=k if which == "b" else 8, cols=k if which == "a" else 8))

    # wgmma: shared memory of random elements, read through descriptors.
    def wgmma(k, dt, at, bt, classes, n=8, a_regs=False, desc_a=(0, 8, 16, 0), desc_b=(0, 8, 16, 0), scale_d=1, imm=(1, 1),
              trans=(0, 0), selector=None, sat="", samples=2, tail=""):
        jobs.append(dict(kind="wgmma", k=k, n=n, types=[dt, at, bt, dt], classes=classes, a_regs=a_regs, desc_a=desc_a,
                         desc_b=desc_b, scale_d=scale_d, imm=imm, trans=trans, selector=selector, sat=sat, tail=tail,
                         samples=samples))

    # desc = (swizzle, leading, stride in 16-byte units, base offset)
    core = (0, 8, 16, 0)
    kinds = [(16, "f32", "f16", "f16"), (16, "f16", "f16", "f16"), (16, "f32", "bf16", "bf16"), (8, "f32", "tf32", "tf32")]
    kinds += [(32, d, x, y) for d in ("f32", "f16") for x in ("e4m3", "e5m2") for y in ("e4m3", "e5m2")]
    for k, dt, at, bt in kinds:
        wgmma(k, dt, at, bt, floats, a_regs=False)
        wgmma(k, dt, at, bt, floats, a_regs=True, samples=3)
        wgmma(k, dt, at, bt, floats, a_regs=True, scale_d=0, samples=1)
        wgmma(k, dt, at, bt, ["narrow", "edge"], n=24, imm=(-1, 1), samples=1)
        wgmma(k, dt, at, bt, ["narrow", "edge"], a_regs=True, imm=(1, -1), samples=1)
        wgmma(k, dt, at, bt, ["narrow", "edge"], a_regs=True, imm=(-1, -1), samples=1)
        wgmma(k, dt, at, bt, ["narrow"], n=256, a_regs=True, samples=1)
        wgmma(2 * k, dt, at, bt, floats, a_regs=True, selector=0, samples=2)
        wgmma(2 * k, dt, at, bt, ["narrow"], selector=0, samples=1)
        if at in ("f16", "bf16", "tf32"):
            wgmma(2 * k, dt, at, bt, ["narrow"], a_regs=True, selector=1, samples=1)
    for x in ("s8", "u8"):
        for y in ("s8", "u8"):
            for sat in ("", ".satfinite"):
                wgmma(32, "s32", x, y, ["bits"], sat=sat)
                wgmma(32, "s32", x, y, ["bits"], sat=sat, a_regs=True, scale_d=0, samples=1)
                wgmma(64, "s32", x, y, ["bits"], sat=sat, a_regs=True, selector=0, samples=1)
    wgmma(256, "s32", "b1", "b1", ["bits"], tail=".and.popc")
    wgmma(256, "s32", "b1", "b1", ["bits"], tail=".and.popc", a_regs=True)
    # Layouts of shared memory: every swizzle, start addresses inside the pattern, both majors.
    for k, dt, at, bt in kinds[:2] + kinds[2:5]:
        for swizzle in range(4):
            for lead, stride in ((8, 16), (16, 64), (64, 32), (1, 64), (128, 8)):
                for start in (0, 2, 4, 8, 10):
                    for base in ((0,) if start != 8 else (0, 1, 3)):
                        d = (swizzle, lead, stride, base, start)
                        wgmma(k, dt, at, bt, ["narrow"], n=16, desc_a=d, desc_b=d, samples=1)
                        if BITS[at] == 16:
                            wgmma(k, dt, at, bt, ["narrow"], n=16, desc_a=d, desc_b=d, trans=(1, 1), samples=1)
    for swizzle in range(4):
        for n in (64, 128, 256):
            for trans in ((0, 0), (1, 1)):
                d = (swizzle, 64, 64, 0, 0)
                wgmma(16, "f32", "f16", "f16", ["narrow"], n=n, desc_a=d, desc_b=d, trans=trans, samples=1)
    return jobs


SHARED = 65536


# ---- PTX -------------------------------------------------------------------------------------------------
def reg_type(kind):
    return {"f64": "f64", "f32": "f32"}.get(kind, "b32")


def vector(name, count):
    return "{" + ", ".join(f"%{name}{i}" for i in range(count)) + "}"


HEAD = ".version 8.7\n.target sm_90a\n.address_size 64\n"


def build_reg(j):
    dt, at, bt, ct = j["types"]
    ra, rb, rc, rd = j["regs"]
    lines, off = [], 0
    decl = []
    for name, count, kind in (("a", ra, at), ("b", rb, bt), ("c", rc, ct)):
        t = reg_type("b32" if kind == "tf32" else kind)
        size = 8 if t == "f64" else 4
        decl.append(f".reg .{t} %{name}<{count}>;")
        for i in range(count):
            lines.append(f"ld.global.{t} %{name}{i}, [%in{size}+{off}];")
            off += 32 * size
    sparse = "selector" in j
    if sparse:
        decl.append(".reg .b32 %e0;")
        lines.append(f"ld.global.b32 %e0, [%in4+{off}];")
        off += 128
    t = reg_type(dt)
    size = 8 if t == "f64" else 4
    decl.append(f".reg .{t} %d<{rd}>;")
    op = f"{j['op']} {vector('d', rd)}, {vector('a', ra)}, {vector('b', rb)}, {vector('c', rc)}"
    if sparse:
        op += f", %e0, {j['selector']}"
    lines.append(op + ";")
    for i in range(rd):
        lines.append(f"st.global.{t} [%out{size}+{i * 32 * size}], %d{i};")
    in_bytes, out_bytes = off, rd * 32 * size
    text = HEAD + f"""
.visible .entry k(.param .u64 pin, .param .u64 pout) {{
.reg .b64 %in, %in4, %in8, %out, %out4, %out8, %t;
.reg .b32 %lane, %cta;
{chr(10).join(decl)}
ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout];
mov.u32 %lane, %tid.x; mov.u32 %cta, %ctaid.x;
mul.wide.u32 %t, %cta, {in_bytes}; add.u64 %in, %in, %t;
mul.wide.u32 %t, %cta, {out_bytes}; add.u64 %out, %out, %t;
mul.wide.u32 %t, %lane, 4; add.u64 %in4, %in, %t; add.u64 %out4, %out, %t;
mul.wide.u32 %t, %lane, 8; add.u64 %in8, %in, %t; add.u64 %out8, %out, %t;
{chr(10).join(lines)}
ret;
}}
"""
    return text, in_bytes, out_bytes


def onehot(j, index, column):
    """A's stored `column` is one; B's row k is k, split into digits of three bits by its column."""
    kind = j["types"][1]
    ra, rb, rc, _ = j["regs"]
    bits = BITS[kind]
    per = 32 // bits
    e4m3 = [0, 0x38, 0x40, 0x44, 0x48, 0x4A, 0x4C, 0x4E]
    encode = {"tf32": lambda v: int(np.float32(v).view(np.uint32)), "e4m3": lambda v: e4m3[v]}.get(kind, lambda v: v)
    a, b = np.zeros((ra, 32), np.uint32), np.zeros((rb, 32), np.uint32)
    for lane in range(32):
        for e in range(per):
            for r in range(ra):
                if (4 * (r >> 1) + lane % 4) * per + e == column:
                    a[r, lane] |= np.uint32(encode(1) << (bits * e))
            for r in range(rb):
                k, n = (4 * r + lane % 4) * per + e, lane // 4
                b[r, lane] |= np.uint32(encode((k >> (3 * n)) & 7 if n < 3 else 0) << (bits * e))
    return a.tobytes() + b.tobytes() + np.zeros((rc, 32), np.uint32).tobytes() + metadata(kind, index, column).tobytes()


def reg_inputs(j, index):
    dt, at, bt, ct = j["types"]
    ra, rb, rc, rd = j["regs"]
    if j["classes"] == ["onehot"]:
        return [onehot(j, index, s) for s in range(j["samples"])]
    blobs = []
    for ci, cls in enumerate(j["classes"]):
        for s in range(j["samples"]):
            seed, sample = index, ci * 64 + s
            blob = registers(at, ra, cls, seed, "a", sample).tobytes()
            blob += registers(bt, rb, cls, seed, "b", sample).tobytes()
            blob += registers(ct, rc, cls, seed, "c", sample).tobytes()
            if "selector" in j:
                blob += metadata(at, seed, sample).tobytes()
            blobs.append(blob)
    return blobs


def build_load(j):
    t = reg_type(j["type"])
    size = 8 if t == "f64" else 4
    bits = BITS[j["type"]]
    ld = j["cols"] if j["layout"] == "row" else j["rows"]
    in_bytes = j["rows"] * j["cols"] * bits // 8
    out_bytes = j["regs"] * 32 * size
    stores = "\n".join(f"st.global.{t} [%out+{i * 32 * size}], %d{i};" for i in range(j["regs"]))
    text = HEAD + f"""
.visible .entry k(.param .u64 pin, .param .u64 pout) {{
.reg .b64 %in, %out, %t; .reg .b32 %lane, %cta; .reg .{t} %d<{j['regs']}>;
ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout];
mov.u32 %lane, %tid.x; mov.u32 %cta, %ctaid.x;
mul.wide.u32 %t, %cta, {in_bytes}; add.u64 %in, %in, %t;
mul.wide.u32 %t, %cta, {out_bytes}; add.u64 %out, %out, %t;
mul.wide.u32 %t, %lane, {size}; add.u64 %out, %out, %t;
wmma.load.{j['which']}.sync.aligned.{j['layout']}.{j['shape']}.global.{j['type']} {vector('d', j['regs'])}, [%in], {ld};
{stores}
ret;
}}
"""
    return text, in_bytes, out_bytes


def load_inputs(j):
    rows, cols, bits = j["rows"], j["cols"], BITS[j["type"]]
    number = np.arange(rows * cols).reshape(rows, cols)
    flat = (number if j["layout"] == "row" else number.T).reshape(-1)
    blobs = []
    for plane in range(11):
        on = ((flat >> plane) & 1).astype(np.uint8)
        blobs.append(np.packbits(np.repeat(on, bits), bitorder="little").tobytes())
    return blobs


def descriptor(d):
    swizzle, lead, stride, base = d[:4]
    return (lead << 16) | (stride << 32) | (base << 49) | (swizzle << 62)


def wgmma_shape(j):
    dt, at = j["types"][:2]
    stored = j["k"] // 2 if j["selector"] is not None else j["k"]
    ra = 16 * stored * BITS[at] // 1024
    rd = j["n"] // 2 if dt != "f16" else j["n"] // 4
    return ra, rd


# Byte offsets of the operands in shared memory.
A_AT, B_AT = 0, SHARED // 2


def build_wgmma(j):
    dt, at, bt, _ = j["types"]
    ra, rd = wgmma_shape(j)
    t = reg_type(dt)
    sp = j["selector"] is not None
    name = f"wgmma.mma_async{'.sp' if sp else ''}.sync.aligned.m64n{j['n']}k{j['k']}.{dt}.{at}.{bt}{j['tail']}{j['sat']}"
    j["op"] = name
    a = vector("a", ra) if j["a_regs"] else "%da"
    tail = f", %e0, {j['selector']}" if sp else ""
    tail += ", %p"
    if dt in ("f16", "f32"):
        tail += f", {j['imm'][0]}, {j['imm'][1]}"
        if at in ("f16", "bf16"):
            tail += (f", {j['trans'][0]}" if not j["a_regs"] else "") + f", {j['trans'][1]}"
    start_a = j["desc_a"][4] if len(j["desc_a"]) > 4 else 0
    start_b = j["desc_b"][4] if len(j["desc_b"]) > 4 else 0
    loads, off = [], SHARED
    for i in range(ra if j["a_regs"] else 0):
        loads.append(f"ld.global.b32 %a{i}, [%in+{off}];")
        off += 512
    for i in range(rd):
        loads.append(f"ld.global.{t} %d{i}, [%in+{off}];")
        off += 512
    if sp:
        loads.append(f"ld.global.b32 %e0, [%in+{off}];")
        off += 512
    stores = "\n".join(f"st.global.{t} [%out+{i * 512}], %d{i};" for i in range(rd))
    text = HEAD + f"""
.extern .shared .align 1024 .b8 smem[];
.visible .entry k(.param .u64 pin, .param .u64 pout) {{
.reg .b64 %in, %raw, %out, %t, %da, %db, %s64; .reg .b32 %lane, %cta, %i, %v, %s, %e0, %sa; .reg .pred %p, %q;
.reg .b32 %a<{max(ra, 1)}>; .reg .{t} %d<{rd}>;
ld.param.u64 %raw, [pin]; ld.param.u64 %out, [pout];
mov.u32 %lane, %tid.x; mov.u32 %cta, %ctaid.x;
mul.wide.u32 %t, %cta, {off}; add.u64 %raw, %raw, %t;
mul.wide.u32 %t, %cta, {rd * 512}; add.u64 %out, %out, %t;
mul.wide.u32 %t, %lane, 4; add.u64 %in, %raw, %t; add.u64 %out, %out, %t;
mov.u32 %s, smem;
mov.u32 %i, 0;
L: cvt.u64.u32 %t, %i; add.u64 %t, %in, %t; ld.global.b32 %v, [%t];
shl.b32 %sa, %lane, 2; add.u32 %sa, %sa, %s; add.u32 %sa, %sa, %i; st.shared.b32 [%sa], %v;
add.u32 %i, %i, 512; setp.lt.u32 %q, %i, {SHARED}; @%q bra L;
fence.proxy.async; bar.sync 0;
{chr(10).join(loads)}
add.u32 %v, %s, {A_AT + 16 * start_a}; shr.u32 %v, %v, 4; and.b32 %v, %v, 16383; cvt.u64.u32 %da, %v;
or.b64 %da, %da, 0x{descriptor(j['desc_a']):x}U;
add.u32 %v, %s, {B_AT + 16 * start_b}; shr.u32 %v, %v, 4; and.b32 %v, %v, 16383; cvt.u64.u32 %db, %v;
or.b64 %db, %db, 0x{descriptor(j['desc_b']):x}U;
setp.ne.u32 %p, {j['scale_d']}, 0;
wgmma.fence.sync.aligned;
{name} {vector('d', rd)}, {a}, %db{tail};
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
{stores}
ret;
}}
"""
    return text, off, rd * 512


def wgmma_inputs(j, index):
    dt, at, bt, ct = j["types"]
    ra, rd = wgmma_shape(j)
    blobs = []
    for ci, cls in enumerate(j["classes"]):
        for s in range(j["samples"]):
            sample = ci * 64 + s
            half = SHARED // 2 // 128
            blob = registers(at, half // 4 * 4, cls, index, "shared", sample).tobytes()
            blob += registers(bt, half // 4 * 4, cls, index, "b", sample).tobytes()
            if j["a_regs"]:
                blob += registers(at, ra, cls, index, "a", sample, 128).tobytes()
            blob += registers(ct, rd, cls, index, "c", sample, 128).tobytes()
            if j["selector"] is not None:
                blob += metadata(at, index, sample, 128).tobytes()
            blobs.append(blob)
    return blobs


def build(j):
    return {"reg": build_reg, "load": build_load, "wgmma": build_wgmma}[j["kind"]](j)


def inputs(j, index):
    return load_inputs(j) if j["kind"] == "load" else (reg_inputs if j["kind"] == "reg" else wgmma_inputs)(j, index)


# ---- the driver ------------------------------------------------------------------------------------------
class Cuda:
    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")
        self.check(self.lib.cuInit(0))
        device = ctypes.c_int()
        self.check(self.lib.cuDeviceGet(ctypes.byref(device), 0))
        self.context = ctypes.c_void_p()
        self.check(self.lib.cuDevicePrimaryCtxRetain(ctypes.byref(self.context), device))
        self.check(self.lib.cuCtxSetCurrent(self.context))

    def check(self, code):
        if code:
            name = ctypes.c_char_p()
            self.lib.cuGetErrorName(code, ctypes.byref(name))
            raise RuntimeError(f"CUDA error {code} {name.value}")

    def run(self, text, blobs, in_bytes, out_bytes, threads, shared):
        log = ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER, ..._SIZE_BYTES
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), ctypes.c_void_p(8192))
        module = ctypes.c_void_p()
        code = self.lib.cuModuleLoadDataEx(ctypes.byref(module), text.encode() + b"\0", 2, options, values)
        if code:
            return None, log.value.decode(errors="replace")
        function = ctypes.c_void_p()
        self.check(self.lib.cuModuleGetFunction(ctypes.byref(function), module, b"k"))
        if shared:
            self.check(self.lib.cuFuncSetAttribute(function, 8, shared))
        data = b"".join(blobs)
        assert len(data) == in_bytes * len(blobs), (len(data), in_bytes, len(blobs))
        src, dst = ctypes.c_uint64(), ctypes.c_uint64()
        size = out_bytes * len(blobs)
        self.check(self.lib.cuMemAlloc_v2(ctypes.byref(src), ctypes.c_size_t(len(data))))
        self.check(self.lib.cuMemAlloc_v2(ctypes.byref(dst), ctypes.c_size_t(size)))
        self.check(self.lib.cuMemcpyHtoD_v2(src, data, ctypes.c_size_t(len(data))))
        args = (ctypes.c_void_p * 2)(ctypes.cast(ctypes.byref(src), ctypes.c_void_p),
                                     ctypes.cast(ctypes.byref(dst), ctypes.c_void_p))
        self.check(self.lib.cuLaunchKernel(function, len(blobs), 1, 1, threads, 1, 1, shared, None, args, None))
        self.check(self.lib.cuCtxSynchronize())
        out = np.empty(size, np.uint8)
        self.check(self.lib.cuMemcpyDtoH_v2(out.ctypes.data_as(ctypes.c_void_p), dst, ctypes.c_size_t(size)))
        self.lib.cuMemFree_v2(src)
        self.lib.cuMemFree_v2(dst)
        self.lib.cuModuleUnload(module)
        return out, ""


def child(path, first, last):
    """Jobs [first, last) in this process; stops at the first one that breaks the context. Returns its index."""
    jobs = all_jobs()
    cuda = Cuda()
    results, notes = {}, {}
    stopped = last
    for i in range(first, last):
        j = jobs[i]
        text, in_bytes, out_bytes = build(j)
        try:
            out, error = cuda.run(text, inputs(j, i), in_bytes, out_bytes, 128 if j["kind"] == "wgmma" else 32,
                                  SHARED if j["kind"] == "wgmma" else 0)
        except RuntimeError as e:
            notes[i] = str(e)
            stopped = i + 1
            break
        if out is None:
            notes[i] = error
        else:
            results[f"r{i}"] = out
    results["notes"] = np.frombuffer(json.dumps(notes).encode(), np.uint8)
    results["next"] = np.array(stopped)
    np.savez(path, **results)


def main():
    jobs = all_jobs()
    for i, j in enumerate(jobs):
        build(j)  # names wgmma's instructions
    if "--list" in sys.argv:
        total = 0
        for i, j in enumerate(jobs):
            text, in_bytes, out_bytes = build(j)
            blobs = inputs(j, i) if j["kind"] != "wgmma" or i % 50 == 0 else []
            assert all(len(b) == in_bytes for b in blobs), (j, in_bytes, [len(b) for b in blobs][:1])
            total += out_bytes * j.get("samples", 11) * len(j.get("classes", [0]))
        print(len(jobs), "jobs", total, "bytes")
        return
    if len(sys.argv) > 3:
        child(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
        return
    # Several processes: compiling takes most of the time, and a job that breaks its context ends only its own.
    workers, results, notes = 8, {}, {}
    running = []
    step = (len(jobs) + 4 * workers - 1) // (4 * workers)
    todo = [(f, min(f + step, len(jobs))) for f in range(0, len(jobs), step)]
    while todo or running:
        while todo and len(running) < workers:
            first, last = todo.pop(0)
            path = f"/tmp/record_{first}.npz"
            running.append((first, last, path, subprocess.Popen([sys.executable, __file__, path, str(first), str(last)])))
        first, last, path, process = running.pop(0)
        code = process.wait()
        if code:
            print("process of jobs", first, "to", last, "ended with", code, flush=True)
            continue
        part = np.load(path)
        results.update({key: part[key] for key in part.files if key[0] == "r"})
        notes.update(json.loads(part["notes"].tobytes()))
        if int(part["next"]) < last:
            todo.append((int(part["next"]), last))
    for i, error in notes.items():
        jobs[int(i)]["error"] = error
        if len(notes) < 400:
            print(i, jobs[int(i)].get("op", jobs[int(i)]["kind"]), error.strip().replace("\n", " ")[:150], flush=True)
    results["jobs"] = np.frombuffer(json.dumps(jobs).encode(), np.uint8)
    np.savez_compressed(sys.argv[1], **results)
    print(len(jobs), "jobs,", len(notes), "without result")


if __name__ == "__main__":
    main()
