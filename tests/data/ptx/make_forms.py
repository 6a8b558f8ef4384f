#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the PTX instruction forms to record, without results: one file a family, in the format of
tests/data/conformance/ptx/h200.jsonl. A GPU fills them (`understudy conform --record`, tools/hw/ptx_record);
tests/data/ptx holds the results, compressed by zstd. Python 3.9, no packages.

    make_forms.py FOLDER"""
import itertools
import json
import os
import random
import struct
import sys

BITS = {"u8": 8, "s8": 8, "b8": 8, "u16": 16, "s16": 16, "b16": 16, "f16": 16, "bf16": 16, "u32": 32, "s32": 32,
        "b32": 32, "f32": 32, "tf32": 32, "f16x2": 32, "bf16x2": 32, "u16x2": 32, "s16x2": 32, "sh": 32, "lane": 32,
        "u64": 64, "s64": 64, "b64": 64, "f64": 64, "pred": 1, "e4m3x2": 16, "e5m2x2": 16, "u8x4": 32, "s8x4": 32}
FULL = "0xffffffff"


def kind(t):
    if t == "pred":
        return "p"
    return "h" if BITS[t] == 16 else "l" if BITS[t] == 64 else "r"  # 8-bit values lie in 32-bit registers


class Family:
    def __init__(self):
        self.rows = []

    def add(self, op, dt, *st, **more):
        row = {"op": op, "d": kind(dt), "dt": dt, "s": "".join(kind(t) for t in st), "st": list(st)}
        row.update(more)
        self.rows.append(row)

    def exhaustive(self, op, dt, *st, steps=(1, 40503, 27644437), count=65536):
        """Operand k runs over i * steps[k]: with an odd step every 16-bit value once."""
        self.add(op, dt, *st, step=["%x" % s for s in steps[:len(st)]], count=count)

    def given(self, op, dt, *st, values):
        self.add(op, dt, *st, **{"in": [["%x" % v for v in column] for column in values]})


# ---- warp-wide instructions, converged and in branches ----------------------------------------------------
# Member masks whose lanes keep to themselves in segments of this width.
SEGMENTS = {0x0000ffff: 16, 0xffff0000: 16, 0x00ff00ff: 8, 0xff00ff00: 8, 0x0f0f0f0f: 4, 0xf0f0f0f0: 4,
            0x33333333: 2, 0xcccccccc: 2, 0x55555555: 1, 0xaaaaaaaa: 1, 0x00000003: 2, 0xc0000000: 2, 0xf00000ff: 4}
MASKS = [0x0000ffff, 0xffff0000, 0x55555555, 0xaaaaaaaa, 0x80000001, 0x7fffffff, 0x00000001, 0x80000000, 0x12345678,
         0x0f0f0f0f, 0xfffffffe, 0x00ffff00]


def by_mask(mask, inside, outside=""):
    """`inside` for lanes of the mask, `outside` for the others, in branches."""
    return (".reg .b32 n, g; .reg .pred in; mov.u32 n, %%laneid; mov.u32 g, 1; shl.b32 g, g, n; and.b32 g, g, 0x%x; "
            "setp.ne.u32 in, g, 0; @in bra INSIDE; %s bra.uni DONE; INSIDE: %s DONE: " % (mask, outside, inside))


def warp():
    f = Family()
    modes = ["up", "down", "bfly", "idx"]
    for mode in modes:
        for width in (1, 2, 4, 8, 16, 32):
            c = (32 - width) << 8 | (0 if mode == "up" else 31)
            f.add(f"shfl.sync.{mode}.b32 %d, %a, %b, 0x{c:x}, {FULL};", "b32", "b32", "lane")
            f.add(f"{{.reg .b32 x; .reg .pred q; shfl.sync.{mode}.b32 x|q, %a, %b, 0x{c:x}, {FULL}; selp.b32 %d, x, "
                  "0xdead, q;}", "b32", "b32", "sh")
        for c in (0x01, 0x07, 0x0c, 0x13, 0x1e, 0x0f07, 0x1e1e, 0x101f, 0x0a15, 0x1f00, 0x1f1f, 0x1515):
            f.add(f"{{.reg .b32 x; .reg .pred q; shfl.sync.{mode}.b32 x|q, %a, %b, 0x{c:x}, {FULL}; selp.b32 %d, x, "
                  "0xdead, q;}", "b32", "b32", "sh")
        for b in (0, 1, 5, 16, 31):
            f.add(f"shfl.sync.{mode}.b32 %d, %a, {b}, {0 if mode == 'up' else 31}, {FULL};", "b32", "b32")
        f.add(f"shfl.sync.{mode}.b32 %d, %a, %b, %c, {FULL};", "b32", "b32", "lane", "sh")
        for mask, width in SEGMENTS.items():
            c = (32 - width) << 8 | (0 if mode == "up" else 31)
            rest = ~mask & 0xffffffff
            # A butterfly may leave a segment downwards; a lane that does not take part must not be read.
            lane = f"and.b32 z, %b, {width - 1};" if mode == "bfly" else "mov.b32 z, %b;"
            code = by_mask(mask, f"shfl.sync.{mode}.b32 x|q, %a, z, 0x{c:x}, 0x{mask:x};",
                           f"shfl.sync.{mode}.b32 x|q, %a, z, 0x{c:x}, 0x{rest:x}; add.u32 x, x, 1;")
            f.add(f"{{.reg .b32 x, z; .reg .pred q; {lane} {code} selp.b32 %d, x, 0xdead, q;}}", "b32", "b32", "lane")
            code = by_mask(mask, f"shfl.sync.{mode}.b32 x|q, %a, z, 0x{c:x}, 0x{mask:x};", "mov.b32 x, 7; setp.eq.u32 q, x, 7;")
            f.add(f"{{.reg .b32 x, z; .reg .pred q; {lane} {code} selp.b32 %d, x, 0xbeef, q;}}", "b32", "b32", "sh")
    for vote in ("all", "any", "uni"):
        for neg in ("", "!"):
            f.add(f"{{.reg .pred q, w; setp.lt.s32 q, %a, 0; vote.sync.{vote}.pred w, {neg}q, {FULL}; selp.b32 %d, 1, 0, "
                  "w;}", "b32", "s32")
            for mask in MASKS:
                rest = ~mask & 0xffffffff
                code = by_mask(mask, f"vote.sync.{vote}.pred w, {neg}q, 0x{mask:x}; selp.b32 %d, 1, 0, w;",
                               f"vote.sync.{vote}.pred w, {neg}q, 0x{rest:x}; selp.b32 %d, 3, 2, w;" if rest else "")
                f.add(f"{{.reg .pred q, w; setp.{'lt.s32 q, %a, 0' if neg else 'ne.s32 q, %a, 77'}; {code}}}", "b32", "s32")
    for mask in MASKS:
        rest = ~mask & 0xffffffff
        for neg in ("", "!"):
            code = by_mask(mask, f"vote.sync.ballot.b32 %d, {neg}q, 0x{mask:x};", f"vote.sync.ballot.b32 %d, q, 0x{rest:x};")
            f.add(f"{{.reg .pred q; setp.lt.s32 q, %a, 0; {code}}}", "b32", "s32")
        for width in ("b32", "b64"):
            for keep in (0, 1, 3, 15):
                code = by_mask(mask, f"match.any.sync.{width} %d, x, 0x{mask:x};", f"match.any.sync.{width} %d, x, 0x{rest:x};")
                f.add(f"{{.reg .{width} x; and.{width} x, %a, {keep}; {code}}}", "b32", width)
                code = by_mask(mask, f"match.all.sync.{width} y|q, x, 0x{mask:x};", f"match.all.sync.{width} y|q, x, 0x{rest:x};")
                f.add(f"{{.reg .{width} x; .reg .b32 y; .reg .pred q; shr.{width} x, %a, {BITS[width] - 1 if keep else 0}; "
                      f"and.{width} x, x, {keep}; {code} selp.b32 y, y, 0xbad, q; mov.b32 %d, y;}}", "b32", width)
        for op, types in (("add", ("u32", "s32")), ("min", ("u32", "s32")), ("max", ("u32", "s32")), ("and", ("b32",)),
                          ("or", ("b32",)), ("xor", ("b32",))):
            for t in types:
                code = by_mask(mask, f"redux.sync.{op}.{t} %d, %a, 0x{mask:x};", f"redux.sync.{op}.{t} %d, %a, 0x{rest:x};")
                f.add(f"{{{code}}}", t, t)
        code = by_mask(mask, f"elect.sync x|q, 0x{mask:x};", f"elect.sync x|q, 0x{rest:x};")
        f.add(f"{{.reg .b32 x; .reg .pred q; {code} selp.b32 y, 0x100, 0, q; or.b32 %d, x, y;}}".replace(
            ".reg .b32 x;", ".reg .b32 x, y;"), "b32", "b32", samples=32)
        code = by_mask(mask, f"bar.warp.sync 0x{mask:x}; activemask.b32 %d;", f"bar.warp.sync 0x{rest:x}; mov.b32 %d, 0;")
        # Shared memory between lanes of a part, ordered by its barrier.
        lane = ".shared .b32 m[32]; .reg .b32 p, o; mov.u32 p, %laneid; shl.b32 p, p, 2; mov.u32 o, m; add.u32 p, p, o;"
        code = by_mask(mask, f"st.shared.b32 [p], %a; bar.warp.sync 0x{mask:x}; ld.shared.b32 %d, [m+{4 * ((mask & -mask).bit_length() - 1)}];",
                       f"st.shared.b32 [p], %a; bar.warp.sync 0x{rest:x}; ld.shared.b32 %d, [m+{4 * (rest.bit_length() - 1)}];")
        f.add(f"{{{lane} {code}}}", "b32", "b32")
    # Data-dependent branches, whose parts meet again before a warp-wide instruction of all lanes.
    for depth in (1, 2, 3, 4):
        code = ""
        for i in range(depth):
            code += (f"and.b32 y, x, {1 << i}; setp.ne.u32 q, y, 0; @q bra T{i}; mad.lo.u32 x, x, {2 * i + 3}, {i}; bra.uni J{i}; "
                     f"T{i}: xor.b32 x, x, {0x9e37 * (i + 1)}; J{i}: ")
        f.add(f"{{.reg .b32 x, y; .reg .pred q; mov.b32 x, %a; {code} bar.warp.sync {FULL}; shfl.sync.bfly.b32 %d, x, 1, 31, {FULL};}}",
              "b32", "b32")
        f.add(f"{{.reg .b32 x, y; .reg .pred q; mov.b32 x, %a; {code} bar.warp.sync {FULL}; redux.sync.add.u32 %d, x, {FULL};}}",
              "b32", "b32")
    for n in (3, 7, 31):
        f.add("{.reg .b32 x, i; .reg .pred q; and.b32 i, %b, " + str(n) + "; mov.b32 x, %a; LOOP: mad.lo.u32 x, x, 1664525, "
              "1013904223; sub.u32 i, i, 1; setp.ge.s32 q, i, 0; @q bra LOOP; bar.warp.sync 0xffffffff; shfl.sync.down.b32 %d, x, 3, 31, "
              "0xffffffff;}", "b32", "b32", "b32")
    for base_t in ("b32", "sh"):
        for n in (-31, -2, -1, 0, 1, 2, 5, 32):
            f.add(f"fns.b32 %d, %a, %b, {n};", "b32", base_t, "lane")
    return f


# ---- atomics, each thread on memory of its own --------------------------------------------------------------
SHARED = (".shared .align 16 .b8 m[1024]; .reg .b64 p; .reg .b32 o, n; mov.u32 o, m; mov.u32 n, %laneid; shl.b32 n, n, 5; "
          "add.u32 o, o, n; cvt.u64.u32 p, o;")
GENERIC = SHARED + " cvta.shared.u64 p, p;"
GLOBAL = ".reg .b64 p; mov.b64 p, %m;"
PLACES = (("global", GLOBAL, "global"), ("shared", SHARED, "shared"), ("", GENERIC, "generic"))


def atomic():
    f = Family()
    ops = [(o, t) for o in ("and", "or", "xor") for t in ("b32", "b64")]
    ops += [("add", t) for t in ("u32", "s32", "u64", "f32", "f64", "noftz.f16", "noftz.f16x2", "noftz.bf16", "noftz.bf16x2")]
    ops += [(o, t) for o in ("min", "max") for t in ("u32", "s32", "u64", "s64")]
    ops += [("inc", "u32"), ("dec", "u32"), ("exch", "b32"), ("exch", "b64")]
    for op, full in ops:
        t = full.split(".")[-1]
        b = f"b{BITS[t]}"
        for space, place, _ in PLACES:
            dot = f".{space}" if space else ""
            st, ld = f"st{dot}.{b} [p], %a;", f"ld{dot}.{b}"
            name = f"{op}.{full}"
            if b == "b64":
                f.add(f"{{{place} {st} atom{dot}.{name} %d, [p], %b;}}", t, t, t)
                f.add(f"{{{place} .reg .b64 x; {st} atom{dot}.{name} x, [p], %b; {ld} %d, [p];}}", t, t, t)
                if op != "exch":
                    f.add(f"{{{place} {st} red{dot}.{name} [p], %b; {ld} %d, [p];}}", t, t, t)
            else:
                pack = "mov.b64 %d, {x, y};" if b == "b32" else "mov.b32 %d, {x, y};"
                wide = "b64" if b == "b32" else "b32"
                f.add(f"{{{place} .reg .{b} x, y; {st} atom{dot}.{name} x, [p], %b; {ld} y, [p]; {pack}}}", wide, t, t)
                if op != "exch":
                    f.add(f"{{{place} {st} red{dot}.{name} [p], %b; {ld} %d, [p];}}", t, t, t)
    for space, place, _ in PLACES:
        dot = f".{space}" if space else ""
        for b, wide, pack in (("b16", "b32", "mov.b32 %d, {x, y};"), ("b32", "b64", "mov.b64 %d, {x, y};")):
            f.add(f"{{{place} .reg .{b} x, y; st{dot}.{b} [p], %a; atom{dot}.cas.{b} x, [p], %b, %c; ld{dot}.{b} y, [p]; {pack}}}",
                  wide, b, b, b)
            f.add(f"{{{place} .reg .{b} x, y; st{dot}.{b} [p], %a; atom{dot}.cas.{b} x, [p], %a, %b; ld{dot}.{b} y, [p]; {pack}}}",
                  wide, b, b)
        f.add(f"{{{place} st{dot}.b64 [p], %a; atom{dot}.cas.b64 %d, [p], %b, %c;}}", "b64", "b64", "b64", "b64")
        f.add(f"{{{place} .reg .b64 x; st{dot}.b64 [p], %a; atom{dot}.cas.b64 x, [p], %a, %b; ld{dot}.b64 y, [p]; add.u64 %d, x, y;}}"
              .replace(".reg .b64 x;", ".reg .b64 x, y;"), "b64", "b64", "b64")
        wide = (f"{{{place} .reg .b128 u, v, w, x; .reg .b64 y, z; mov.b128 u, {{%a, %b}}; mov.b128 v, {{%b, %c}}; mov.b128 w, {{%c, %a}}; "
                f"st{dot}.v2.b64 [p], {{%a, %b}}; ")
        for op in ("atom%s.exch.b128 x, [p], v;" % dot, "atom%s.cas.b128 x, [p], u, v;" % dot, "atom%s.cas.b128 x, [p], v, w;" % dot):
            f.add(wide + op + f" mov.b128 {{y, z}}, x; sub.u64 %d, y, z;}}", "b64", "b64", "b64", "b64")
            f.add(wide + op + f" ld{dot}.v2.b64 {{y, z}}, [p]; sub.u64 %d, y, z;}}", "b64", "b64", "b64", "b64")
    for sem, scope in itertools.product(("relaxed", "acquire", "release", "acq_rel"), ("cta", "cluster", "gpu", "sys")):
        f.add(f"{{{GLOBAL} .reg .b32 x, y; st.global.b32 [p], %a; atom.{sem}.{scope}.global.add.u32 x, [p], %b; ld.global.b32 y, [p]; "
              "mov.b64 %d, {x, y};}", "b64", "u32", "u32", samples=32)
        if sem in ("relaxed", "release"):
            f.add(f"{{{GLOBAL} st.global.b32 [p], %a; red.{sem}.{scope}.global.max.s32 [p], %b; ld.global.b32 %d, [p];}}", "b32", "s32",
                  "s32", samples=32)
    # NaNs with payloads, infinities and denormals on both sides.
    for t in ("f32", "f64", "noftz.f16", "noftz.bf16", "noftz.f16x2", "noftz.bf16x2"):
        e = t.split(".")[-1]
        one = e[:-2] if e.endswith("x2") else e
        edges = {"f32": EDGES32, "f64": EDGES64}.get(one) or EDGES[one]
        two = [p for i, p in enumerate(itertools.product(edges, edges)) if i % 2 == 0 or one == "f64"][:1024]
        two = two[:len(two) // 32 * 32]
        if e != one:
            two = [(a | b << 16, b | a << 16) for a, b in two]
        b = f"b{BITS[e]}"
        for space, place, _ in PLACES:
            dot = f".{space}" if space else ""
            f.given(f"{{{place} .reg .{b} x; st{dot}.{b} [p], %a; atom{dot}.add.{t} x, [p], %b; ld{dot}.{b} %d, [p];}}", e, e, e, values=list(zip(*two)))
    # Vectors of floats, in global memory: what the k-th element was, and becomes.
    for t, counts, ops in (("f32", (2, 4), ("add",)), ("f16", (2, 4, 8), ("add", "min", "max")), ("bf16", (2, 4, 8), ("add", "min", "max")),
                           ("f16x2", (2, 4), ("add", "min", "max")), ("bf16x2", (2, 4), ("add", "min", "max"))):
        b, noftz = f"b{BITS[t]}", "" if t == "f32" else ".noftz"
        wide = "b64" if b == "b32" else "b32"
        for n, op in itertools.product(counts, ops):
            names = [f"x{i}" for i in range(n)]
            if b == "b32":
                values = [("%a", "%b", "%c", "%e")[i % 4] for i in range(n)]
                others = [("%b", "%c", "%e", "%a")[i % 4] for i in range(n)]
            else:
                values = [("%a", "%b", "%c", "%e")[(i + i // 4) % 4] for i in range(n)]
                others = [("%c", "%e", "%a", "%b")[i % 4] for i in range(n)]
            start = f"{{{GLOBAL} .reg .{b} x<8>, y; "
            for i in range(n):
                start += f"st.global.{b} [p+{i * BITS[t] // 8}], {values[i]}; "
            vec = "{" + ", ".join(names) + "}"
            reg = "{" + ", ".join(others) + "}"
            pack = "mov.%s %%d, {x%d, y};" % (wide, 0)
            for k in range(n):
                pack = f"ld.global.{b} y, [p+{k * BITS[t] // 8}]; mov.{wide} %d, {{x{k}, y}};"
                f.add(start + f"atom.global.v{n}.{t}.{op}{noftz} {vec}, [p], {reg}; {pack}}}", wide, t, t, t, t, samples=32)
            f.add(start + f"red.global.v{n}.{t}.{op}{noftz} [p], {reg}; ld.global.{b} y, [p+{(n - 1) * BITS[t] // 8}]; mov.b{BITS[t]} %d, y;}}",
                  b, t, t, t, t, samples=32)
            f.add(start + f"atom.global.{op}{noftz}.v{n}.{t} {vec}, [p], {reg}; {pack}}}", wide, t, t, t, t, samples=32)
    return f


# ---- conversions, every value of up to 16 bits ---------------------------------------------------------------
def convert():
    f = Family()
    ints = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
    for src in ("u8", "s8", "u16", "s16"):
        count = 256 if BITS[src] == 8 else 65536
        add = f.exhaustive
        for dst in ints:
            if dst != src:
                add(f"cvt.{dst}.{src} %d, %a;", dst, src, count=count)
                add(f"cvt.sat.{dst}.{src} %d, %a;", dst, src, count=count)
        for dst in ("f16", "bf16", "f32", "f64"):
            for r in ("rn", "rz", "rm", "rp"):
                if dst in ("f32", "f64") and r in ("rm", "rp"):
                    continue  # exact
                for sat in ("", ".sat"):
                    add(f"cvt.{r}{sat}.{dst}.{src} %d, %a;", dst, src, count=count)
    for src in ("f16", "bf16"):
        for dst in ints:
            for r in ("rni", "rzi", "rmi", "rpi"):
                f.exhaustive(f"cvt.{r}.{dst}.{src} %d, %a;", dst, src)
            f.exhaustive(f"cvt.rzi.sat.{dst}.{src} %d, %a;", dst, src)
        for r in ("rni", "rzi", "rmi", "rpi"):
            f.exhaustive(f"cvt.{r}.{src}.{src} %d, %a;", src, src)
            f.exhaustive(f"cvt.{r}.sat.{src}.{src} %d, %a;", src, src)
        for sat in ("", ".sat"):
            f.exhaustive(f"cvt{sat}.f32.{src} %d, %a;", "f32", src)
            f.exhaustive(f"cvt{sat}.f64.{src} %d, %a;", "f64", src)
            f.exhaustive(f"cvt{sat}.{src}.{src} %d, %a;", src, src)
        f.exhaustive(f"cvt.ftz.f32.{src} %d, %a;", "f32", src)
        f.exhaustive(f"cvt.ftz.sat.f32.{src} %d, %a;", "f32", src)
        other = "bf16" if src == "f16" else "f16"
        for r in ("rn", "rz", "rm", "rp"):
            f.exhaustive(f"cvt.{r}.{other}.{src} %d, %a;", other, src)
            f.exhaustive(f"cvt.{r}.sat.{other}.{src} %d, %a;", other, src)
            f.exhaustive(f"cvt.{r}.relu.{other}.{src} %d, %a;", other, src)
    for e in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            f.exhaustive(f"cvt.rn{relu}.f16x2.{e} %d, %a;", "f16x2", e)
            f.exhaustive(f"{{.reg .b32 x; mov.b32 x, {{%a, %b}}; cvt.rn.satfinite{relu}.{e}.f16x2 %d, x;}}", e, "f16", "f16")
            # 65536 f32 values of every exponent; the second operand in another order.
            f.exhaustive(f"cvt.rn.satfinite{relu}.{e}.f32 %d, %a, %b;", e, "f32", "f32", steps=(0x10001, 0x9e3779b1))
    # Formats that came after sm_90.
    for e in ("e2m3x2", "e3m2x2", "e2m1x2"):
        f.exhaustive(f"cvt.rn.satfinite.{e}.f32 %d, %a, %b;" if e != "e2m1x2" else
                     f"{{.reg .b8 x; cvt.rn.satfinite.{e}.f32 x, %a, %b; cvt.u16.u8 %d, x;}}", "b16", "f32", "f32", steps=(0x10001, 0x9e3779b1))
        f.exhaustive(f"cvt.rn.f16x2.{e} %d, %a;" if e != "e2m1x2" else
                     f"{{.reg .b8 x; cvt.u8.u16 x, %a; cvt.rn.f16x2.{e} %d, x;}}", "f16x2", "b16")
    for r in ("rz", "rp"):
        f.exhaustive(f"cvt.{r}.satfinite.ue8m0x2.f32 %d, %a, %b;", "b16", "f32", "f32", steps=(0x10001, 0x9e3779b1))
    f.exhaustive("cvt.rn.bf16x2.ue8m0x2 %d, %a;", "bf16x2", "b16")
    f32 = [("f16", r, m) for r in ("rn", "rz", "rm", "rp") for m in ("", ".ftz", ".sat", ".ftz.sat")]
    f32 += [("f16", r, m) for r in ("rn", "rz") for m in (".relu", ".satfinite", ".relu.satfinite")]
    f32 += [("bf16", r, m) for r in ("rn", "rz", "rm", "rp") for m in ("", ".ftz", ".sat", ".relu", ".satfinite", ".relu.satfinite")]
    f32 += [("tf32", r, m) for r in ("rna", "rn", "rz") for m in ("", ".relu", ".satfinite", ".relu.satfinite")]
    for dst, r, m in f32:
        f.exhaustive(f"cvt.{r}{m}.{dst}.f32 %d, %a;", dst, "f32", steps=(0x10001,))
        if r in ("rn", "rna") or not m:
            f.exhaustive(f"cvt.{r}{m}.{dst}.f32 %d, %a;", dst, "f32", steps=(0x1000193,))
    payloads = EDGES32 + [0x7f800000 | v for v in (2, 0xfff, 0x1000, 0x1001, 0x1fff, 0x2000, 0x3000, 0x7fe000, 0x7fefff, 0x7ff000, 0x3fffff, 0x401000)]
    payloads += [v | 0x80000000 for v in payloads[len(EDGES32):]] + [0x7f7fe000, 0x7f7fefff, 0x7f7ff000, 0xff7fefff, 0xff7ff000]
    for r, m in (("rna", ""), ("rna", ".satfinite"), ("rn", ""), ("rz", ""), ("rn", ".relu"), ("rz", ".relu")):
        f.given(f"cvt.{r}{m}.tf32.f32 %d, %a;", "tf32", "f32", values=[payloads])
    for dst in ("f16", "bf16"):
        for m in ("", ".ftz", ".satfinite", ".relu", ".relu.satfinite"):
            f.given(f"cvt.rn{m}.{dst}.f32 %d, %a;", dst, "f32", values=[payloads])
    for dst in ("f16x2", "bf16x2"):
        for r, m in itertools.product(("rn", "rz"), ("", ".relu", ".satfinite", ".relu.satfinite")):
            f.exhaustive(f"cvt.{r}{m}.{dst}.f32 %d, %a, %b;", dst, "f32", "f32", steps=(0x10001, 0x9e3779b1))
    # Wider sources: edges and random values.
    for src in ("u32", "s32", "u64", "s64"):
        for dst in ints:
            for sat in ("", ".sat"):
                if dst != src:
                    f.add(f"cvt{sat}.{dst}.{src} %d, %a;", dst, src, samples=128)
        for dst in ("f16", "bf16", "f32", "f64"):
            for r, sat in itertools.product(("rn", "rz", "rm", "rp"), ("", ".sat")):
                f.add(f"cvt.{r}{sat}.{dst}.{src} %d, %a;", dst, src, samples=128)
    for src in ("f32", "f64"):
        for dst in ints:
            for r, m in itertools.product(("rni", "rzi", "rmi", "rpi"), ("", ".sat") + ((".ftz",) if src == "f32" else ())):
                f.add(f"cvt.{r}{m}.{dst}.{src} %d, %a;", dst, src, samples=160)
        for r, m in itertools.product(("rni", "rzi", "rmi", "rpi"), ("", ".sat") + ((".ftz", ".ftz.sat") if src == "f32" else ())):
            f.add(f"cvt.{r}{m}.{src}.{src} %d, %a;", src, src, samples=160)
        for m in ("", ".sat") + ((".ftz", ".ftz.sat") if src == "f32" else ()):
            f.add(f"cvt{m}.{src}.{src} %d, %a;", src, src, samples=160)
    for m in ("", ".sat", ".ftz", ".ftz.sat"):
        f.add(f"cvt{m}.f64.f32 %d, %a;", "f64", "f32", samples=160)
        for r in ("rn", "rz", "rm", "rp"):
            f.add(f"cvt.{r}{m}.f32.f64 %d, %a;", "f32", "f64", samples=160)
    for r, m in itertools.product(("rn", "rz", "rm", "rp"), ("", ".sat")):
        f.add(f"cvt.{r}{m}.f16.f64 %d, %a;", "f16", "f64", samples=160)
        f.add(f"cvt.{r}{m}.bf16.f64 %d, %a;", "bf16", "f64", samples=160)
    for t in ("u8", "s8", "u4", "s4", "u2", "s2"):
        f.add(f"cvt.pack.sat.{t}.s32.b32 %d, %a, %b, %c;", "b32", "s32", "s32", "b32")
    for t in ("u16", "s16"):
        f.add(f"cvt.pack.sat.{t}.s32 %d, %a, %b;", "b32", "s32", "s32")
    return f


# ---- 16-bit floats: 65536 pairs or triples, and every edge with every edge -----------------------------------
EDGES = {"f16": [0x0000, 0x0001, 0x03ff, 0x0400, 0x3bff, 0x3c00, 0x3c01, 0x4000, 0x7bff, 0x7c00, 0x7c01, 0x7dff, 0x7e00, 0x7fff, 0x3555, 0x5640],
         "bf16": [0x0000, 0x0001, 0x007f, 0x0080, 0x3f7f, 0x3f80, 0x3f81, 0x4000, 0x7f7f, 0x7f80, 0x7f81, 0x7fbf, 0x7fc0, 0x7fff, 0x3eab, 0x42c8]}
for name, top in (("f16", 0x8000), ("bf16", 0x8000)):
    EDGES[name] += [v | top for v in EDGES[name]]


def half():
    f = Family()
    for t in ("f16", "bf16"):
        e = EDGES[t]
        two = list(itertools.product(e, e))
        rng = random.Random(5)
        three = [(a, b, rng.choice(e)) for a, b in two]
        packed2 = [(a | rng.choice(e) << 16, b | rng.choice(e) << 16) for a, b in two]
        packed3 = [(a | rng.choice(e) << 16, b | rng.choice(e) << 16, c | rng.choice(e) << 16) for a, b, c in three]
        ftz = ("", ".ftz") if t == "f16" else ("",)
        names2 = [f"{op}{r}{z}{s}" for op in ("add", "sub", "mul") for r in ("", ".rn") for z in ftz for s in ("", ".sat")]
        names2 += [f"{op}{z}{n}{x}" for op in ("min", "max") for z in ftz for n in ("", ".NaN") for x in ("", ".xorsign.abs")]
        names3 = [f"fma.rn{z}{m}" for z in ftz for m in ("", ".sat", ".relu")] + [f"fma.rn.oob{m}" for m in ("", ".relu")]
        names1 = [f"{op}{z}" for op in ("neg", "abs") for z in ftz] + ["tanh.approx", "ex2.approx", "ex2.approx.ftz"]
        for name in names1:
            f.exhaustive(f"{name}.{t} %d, %a;", t, t)
            f.exhaustive(f"{{.reg .b32 x; mov.b32 x, {{%a, %b}}; {name}.{t}x2 %d, x;}}", t + "x2", t, t)
        for name in names2:
            f.exhaustive(f"{name}.{t} %d, %a, %b;", t, t, t)
            f.given(f"{name}.{t} %d, %a, %b;", t, t, t, values=list(zip(*two)))
            f.given(f"{name}.{t}x2 %d, %a, %b;", t + "x2", t + "x2", t + "x2", values=list(zip(*packed2)))
        for name in names3:
            f.exhaustive(f"{name}.{t} %d, %a, %b, %c;", t, t, t, t)
            f.given(f"{name}.{t} %d, %a, %b, %c;", t, t, t, t, values=list(zip(*three)))
            f.given(f"{name}.{t}x2 %d, %a, %b, %c;", t + "x2", t + "x2", t + "x2", t + "x2", values=list(zip(*packed3)))
        for cmp in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"):
            for z in ftz:
                f.given(f"setp.{cmp}{z}.{t} %d, %a, %b;", "pred", t, t, values=list(zip(*two)))
                f.given(f"set.{cmp}{z}.{t}.{t} %d, %a, %b;", t, t, t, values=list(zip(*two)))
                f.given(f"set.{cmp}{z}.u32.{t} %d, %a, %b;", "u32", t, t, values=list(zip(*two)))
                f.given(f"set.{cmp}{z}.{t}x2.{t}x2 %d, %a, %b;", t + "x2", t + "x2", t + "x2", values=list(zip(*packed2)))
                f.given(f"{{.reg .pred q, w; .reg .b32 x, y; setp.{cmp}{z}.{t}x2 q|w, %a, %b; selp.b32 x, 1, 0, q; selp.b32 y, 2, 0, w; "
                        "add.u32 %d, x, y;}", "u32", t + "x2", t + "x2", values=list(zip(*packed2)))
    return f


# ---- f32 and f64: NaN payloads, denormals, flushing -------------------------------------------------------------
def bits64(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def bits32(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


EDGES64 = [0, bits64(1.0), bits64(-1.5), bits64(3.0), 1, 0x000fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff, 0x7ff0000000000000,
           0x7ff0000000000001, 0x7ff8000000000000, 0x7fffffffffffffff, 0x7ff4000000abcdef, 0x7ff8000012345678, 0x3fd5555555555555, 0x4330000000000001]
EDGES64 += [v ^ 1 << 63 for v in EDGES64]
EDGES32 = [0, bits32(1.0), bits32(1.5), bits32(3.0), 1, 0x007fffff, 0x00800000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff,
           0x7fa00abc, 0x7fc01234, 0x3eaaaaab, 0x00400000, 0x00800001, 0x01000000, 0x4b000001, 0x33800000, 0x0b800000]
EDGES32 += [v | 0x80000000 for v in EDGES32]


def floats():
    f = Family()
    for t, e in (("f32", EDGES32), ("f64", EDGES64)):
        two = list(itertools.product(e, e))
        rng = random.Random(7)
        if t == "f32":
            two = [p for i, p in enumerate(two) if i % 4 == 0 or p[0] & 0x7f800000 == 0 or p[1] & 0x7f800000 == 0][:640]
        else:
            two = [p for i, p in enumerate(two) if i % 2 == 0 or p[0] & 0x7ff0000000000000 == 0x7ff0000000000000][:640]
        two = two[:len(two) // 32 * 32]
        three = [(a, b, rng.choice(e)) for a, b in two]
        pairs, triples, ones = list(zip(*two)), list(zip(*three)), [e]
        zs = ("", ".ftz") if t == "f32" else ("",)
        sats = ("", ".sat") if t == "f32" else ("",)
        for r, z in itertools.product(("rn", "rz", "rm", "rp"), zs):
            for s in sats:
                for op in ("add", "sub", "mul"):
                    f.given(f"{op}.{r}{z}{s}.{t} %d, %a, %b;", t, t, t, values=pairs)
                f.given(f"fma.{r}{z}{s}.{t} %d, %a, %b, %c;", t, t, t, t, values=triples)
            f.given(f"div.{r}{z}.{t} %d, %a, %b;", t, t, t, values=pairs)
            f.given(f"rcp.{r}{z}.{t} %d, %a;", t, t, values=ones)
            f.given(f"sqrt.{r}{z}.{t} %d, %a;", t, t, values=ones)
        mods = ("", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs") if t == "f32" else ("",)
        for op, z, m in itertools.product(("min", "max"), zs, mods):
            f.given(f"{op}{z}{m}.{t} %d, %a, %b;", t, t, t, values=pairs)
            if t == "f32" and "abs" in m or m in ("", ".NaN"):
                f.given(f"{op}{z}{m}.{t} %d, %a, %b, %c;", t, t, t, t, values=triples)
        for op, z in itertools.product(("abs", "neg"), zs):
            f.given(f"{op}{z}.{t} %d, %a;", t, t, values=ones)
        f.given(f"copysign.{t} %d, %a, %b;", t, t, t, values=pairs)
        for p in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
            f.given(f"testp.{p}.{t} %d, %a;", "pred", t, values=ones)
        for cmp, z in itertools.product(("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"), zs):
            f.given(f"setp.{cmp}{z}.{t} %d, %a, %b;", "pred", t, t, values=pairs)
            f.given(f"set.{cmp}{z}.f32.{t} %d, %a, %b;", "f32", t, t, values=pairs)
            f.given(f"set.{cmp}{z}.u32.{t} %d, %a, %b;", "u32", t, t, values=pairs)
            for b in ("and", "or", "xor"):
                f.add(f"{{.reg .pred q, w, c; .reg .b32 x, y; setp.lt.s32 c, %c, 0; setp.{cmp}.{b}{z}.{t} q|w, %a, %b, {'!' if b == 'xor' else ''}c; "
                      "selp.b32 x, 1, 0, q; selp.b32 y, 2, 0, w; add.u32 %d, x, y;}", "u32", t, t, "s32")
        f.given(f"selp.{t} %d, %a, %b, %c;", t, t, t, "pred", values=pairs + [[i % 2 for i in range(len(two))]])
    for z in ("", ".ftz"):
        for t in ("b32", "f32", "s32", "u32", "b64", "f64", "u64", "s64", "b16", "u16", "s16"):
            f.given(f"slct{z}.{t}.f32 %d, %a, %b, %c;", t, t, t, "f32", values=[
                [(i * 0x9e3779b97f4a7c15) % 2**BITS[t] for i in range(len(EDGES32))], [(i * 77 + 5) % 2**BITS[t] for i in range(len(EDGES32))], EDGES32])
    for t in ("b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"):
        f.add(f"slct.{t}.s32 %d, %a, %b, %c;", t, t, t, "s32")
    for op in ("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2"):
        for z in ("", ".ftz"):
            f.exhaustive(f"{op}.approx{z}.f32 %d, %a;", "f32", "f32", steps=(0x10001,))
    f.exhaustive("tanh.approx.f32 %d, %a;", "f32", "f32", steps=(0x10001,))
    for op in ("div.approx", "div.approx.ftz", "div.full", "div.full.ftz"):
        f.exhaustive(f"{op}.f32 %d, %a, %b;", "f32", "f32", "f32", steps=(0x10001, 0x9e3779b1))
    for op in ("rcp.approx.ftz", "rsqrt.approx", "rsqrt.approx.ftz"):
        f.exhaustive(f"{op}.f64 %d, %a;", "f64", "f64", steps=(0x0001000100010001,))
    for op, (x, y) in itertools.product(("add", "sub"), (("f32", "f16"), ("f32", "bf16"))):
        f.add(f"{op}.{x}.{y} %d, %a, %b;", x, y, x)
    return f


# ---- integers ------------------------------------------------------------------------------------------------------
def integer():
    f = Family()
    for lut in range(256):
        f.add(f"lop3.b32 %d, %a, %b, %c, 0x{lut:x};", "b32", "b32", "b32", "b32", samples=16)
    for lut, b in itertools.product((0x80, 0xfe, 0x96, 0xe8), ("and", "or")):
        f.add(f"{{.reg .b32 x; .reg .pred q, c; setp.lt.s32 c, %c, 0; lop3.{b}.b32 x|q, %a, %b, %c, 0x{lut:x}, c; selp.b32 %d, x, 0x55, q;}}",
              "b32", "b32", "b32", "b32")
    for t in ("u16", "s16", "u32", "s32", "u64", "s64"):
        cmps = ("eq", "ne", "lt", "le", "gt", "ge") + (("lo", "ls", "hi", "hs") if t[0] == "u" else ())
        for cmp in cmps:
            for b in ("and", "or", "xor"):
                f.add(f"{{.reg .pred q, w, c; .reg .b32 x, y; setp.lt.s32 c, %c, 0; setp.{cmp}.{b}.{t} q|w, %a, %b, c; selp.b32 x, 1, 0, q; "
                      "selp.b32 y, 2, 0, w; add.u32 %d, x, y;}", "u32", t, t, "s32", samples=32)
            f.add(f"set.{cmp}.u32.{t} %d, %a, %b;", "u32", t, t)
            f.add(f"set.{cmp}.s32.{t} %d, %a, %b;", "s32", t, t)
            f.add(f"set.{cmp}.f32.{t} %d, %a, %b;", "f32", t, t)
            f.add(f"{{.reg .pred c; setp.lt.s32 c, %c, 0; set.{cmp}.and.u32.{t} %d, %a, %b, !c;}}", "u32", t, t, "s32", samples=32)
        # A divisor of zero: what the hardware gives.
        for op in ("div", "rem"):
            zero = [(0x9e3779b97f4a7c15 * (i + 1) >> (i % 40)) % 2**BITS[t] for i in range(32)]
            zero[:4] = [0, 1, 2**BITS[t] - 1, 2**(BITS[t] - 1)]
            f.given(f"{op}.{t} %d, %a, %b;", t, t, t, values=[zero, [0] * 32])
            f.add(f"{op}.{t} %d, %a, %b;", t, t, t, samples=256)
        f.add(f"{{.reg .b{BITS[t]} x, y; min.{t} x, %a, %b; max.{t} y, %a, %b; sub.{t} %d, y, x;}}", t, t, t)
    for t in ("b16", "b32", "b64"):
        for op in ("shl.%s" % t, "shr.%s" % t, "shr.u%d" % BITS[t], "shr.s%d" % BITS[t]):
            f.add(f"{op} %d, %a, %b;", t, t, "sh", samples=128)
    for d, m in itertools.product(("l", "r"), ("clamp", "wrap")):
        f.add(f"shf.{d}.{m}.b32 %d, %a, %b, %c;", "b32", "b32", "b32", "sh", samples=128)
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        f.add(f"prmt.b32{mode} %d, %a, %b, %c;", "b32", "b32", "b32", "b32", samples=128)
    for t in ("u32", "s32", "u64", "s64"):
        f.add(f"bfe.{t} %d, %a, %b, %c;", t, t, "sh", "sh", samples=256)
        f.add(f"bfind.{t} %d, %a;", "u32", t)
        f.add(f"bfind.shiftamt.{t} %d, %a;", "u32", t)
    for t in ("b32", "b64"):
        f.add(f"bfi.{t} %d, %a, %b, %c, %e;", t, t, t, "sh", "sh", samples=256)
    for a, b in itertools.product(("u32", "s32"), repeat=2):
        f.add(f"dp4a.{a}.{b} %d, %a, %b, %c;", "s32" if "s32" in (a, b) else "u32", "u8x4" if a == "u32" else "s8x4",
              "u8x4" if b == "u32" else "s8x4", "b32")
        for h in ("lo", "hi"):
            f.add(f"dp2a.{h}.{a}.{b} %d, %a, %b, %c;", "s32" if "s32" in (a, b) else "u32", "u16x2", "u8x4", "b32")
    for t in ("u32", "s32"):
        for h in ("lo", "hi"):
            f.add(f"mul24.{h}.{t} %d, %a, %b;", t, t, t)
            f.add(f"mad24.{h}.{t} %d, %a, %b, %c;", t, t, t, t)
    f.add("mad24.hi.sat.s32 %d, %a, %b, %c;", "s32", "s32", "s32", "s32", samples=128)
    f.add("mad.hi.sat.s32 %d, %a, %b, %c;", "s32", "s32", "s32", "s32", samples=128)
    for t in ("u16x2", "s16x2"):
        for op in ("add", "min", "max") + (("min.relu", "max.relu") if t[0] == "s" else ()):
            f.add(f"{op}.{t} %d, %a, %b;", t, t, t, samples=128)
    # Chains of carries, and what a chain leaves when it ends.
    for n in (2, 3, 4):
        for op, w in itertools.product(("add", "sub"), ("u32", "u64", "s32", "s64")):
            regs = " ".join(f"x{i}," for i in range(n)).rstrip(",")
            code = f"{op}.cc.{w} x0, %a, %b; "
            for i in range(1, n):
                code += f"{op}c{'.cc' if i < n - 1 else ''}.{w} x{i}, {('%b', '%a', '%c')[i % 3]}, {('%c', '%b', '%a')[i % 3]}; "
            code += "".join(f"xor.b{BITS[w]} x0, x0, x{i}; " for i in range(1, n))
            f.add(f"{{.reg .b{BITS[w]} {regs}; {code} mov.b{BITS[w]} %d, x0;}}", w, w, w, w, samples=128)
    for w in ("u32", "s32", "u64", "s64"):
        for a, b in itertools.product(("lo", "hi"), repeat=2):
            f.add(f"{{.reg .b{BITS[w]} x, y; mad.{a}.cc.{w} x, %a, %b, %c; madc.{b}.{w} y, %a, %c, %b; xor.b{BITS[w]} %d, x, y;}}", w, w, w, w)
            f.add(f"{{.reg .b{BITS[w]} x, y, z; mad.{a}.cc.{w} x, %a, %b, %c; madc.{b}.cc.{w} y, %a, %c, %b; addc.{w} z, x, y; mov.b{BITS[w]} %d, z;}}",
                  w, w, w, w)
    return f


# ---- matrix moves: all elements distinct ---------------------------------------------------------------------------
def store_words(words, lanes_bytes):
    """Each lane writes its operands to shared memory m."""
    code = ".reg .b32 o, n; mov.u32 o, m; mov.u32 n, %%laneid; mul.lo.u32 n, n, %d; add.u32 n, n, o; " % lanes_bytes
    for i, (name, width) in enumerate(words):
        code += f"st.shared.b{width} [n+{i * width // 8}], {name}; "
    return code + "bar.warp.sync 0xffffffff; "


def distinct(words, bits, lanes=32):
    """Operands of 64 bits whose elements of `bits` bits all differ, as far as the type has values: word k of a lane is
    operand k, lanes follow each other in memory."""
    columns = [[] for _ in range(words)]
    for lane, k in itertools.product(range(lanes), range(words)):
        value, first = 0, (lane * words + k) * (64 // bits)
        for e in range(64 // bits):
            i = first + e
            if bits >= 16:
                element = (i * 0x9E3779B97F4A7C15 >> 13) if bits == 64 else (i * (40503 if bits == 16 else 0x9E3779B1) + 7)
            elif bits == 8:
                element = i * 167 + i // 256 + 13
            else:
                element = (i * 0x9E3779B97F4A7C15 + 1) % 2**64 >> 60 - i % 7
            value |= element % 2**bits << e * bits
        columns[k].append(value)
    return columns


def regs_of(prefix, n):
    return "{" + ", ".join(f"{prefix}{i}" for i in range(n)) + "}"


def matrix_moves():
    f = Family()
    wide = [("%a", 64), ("%b", 64)]
    for n, trans in itertools.product((1, 2, 4), ("", ".trans")):
        # Rows in the order of their lanes, and scattered.
        for scatter in (0, 1):
            address = "mov.u32 p, %laneid; " + ("mul.lo.u32 p, p, 13; and.b32 p, p, 31; " if scatter else "") + "shl.b32 p, p, 4; add.u32 p, p, o; "
            for k in range(n):
                f.given("{.shared .align 16 .b8 m[512]; .reg .b32 p, r<4>; " + store_words(wide, 16) + address +
                      f"ldmatrix.sync.aligned.m8n8.x{n}{trans}.shared.b16 {regs_of('r', n)}, [p]; mov.b32 %d, r{k};}}", "b32", "b64", "b64", values=distinct(2, 16))
                f.given("{.shared .align 16 .b8 m[512]; .reg .b32 p, o; mov.u32 o, m; " + address +
                      f".reg .b32 z; shl.b32 z, p, 0; st.shared.v4.b32 [p], {{%c, %c, %c, %c}}; bar.warp.sync 0xffffffff; "
                      f"stmatrix.sync.aligned.m8n8.x{n}{trans}.shared.b16 [p], {regs_of('', n).replace('0', '%a').replace('1', '%b').replace('2', '%c').replace('3', '%e') if n > 1 else '{%a}'}; "
                      f"bar.warp.sync 0xffffffff; mov.u32 p, %laneid; shl.b32 p, p, 4; add.u32 p, p, o; ld.shared.b32 %d, [p+{4 * k}];}}",
                      "b32", "b32", "b32", "b32", "b32", values=[[v >> s & 0xffffffff for v in column] for column in distinct(2, 16) for s in (0, 32)])
    f.add("movmatrix.sync.aligned.m8n8.trans.b16 %d, %a;", "b32", "b32", samples=64)
    return f


FRAGMENTS = {  # type: [(shape, registers of a, b, c/d as they are loaded)]
    "f16": ["m16n16k16", "m8n32k16", "m32n8k16"], "bf16": ["m16n16k16", "m8n32k16", "m32n8k16"],
    "u8": ["m16n16k16", "m8n32k16", "m32n8k16"], "s8": ["m16n16k16", "m8n32k16", "m32n8k16"],
    "s4": ["m8n8k32"], "u4": ["m8n8k32"], "b1": ["m8n8k128"], "tf32": ["m16n16k8"], "f64": ["m8n8k4"]}


def wmma():
    f = Family()

    def sizes(shape):
        m, rest = shape[1:].split("n")
        n, k = rest.split("k")
        return int(m), int(n), int(k)

    def element_bits(t):
        return {"s4": 4, "u4": 4, "b1": 1}.get(t) or BITS[t]

    def registers(which, t, shape):
        m, n, k = sizes(shape)
        rows, cols = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}[which]
        if t in ("f16",) and which in "ab":
            return 8  # two copies of each element
        if t == "f16":
            return 4
        bits = 64 if t == "f64" else 32
        return max(1, rows * cols * element_bits(t) // 32 // bits)

    def layouts(t):
        return ("row", "col") if t not in ("s4", "u4", "b1") else None

    accumulators = {"f16": ("f16", "f32"), "bf16": ("f32",), "tf32": ("f32",), "u8": ("s32",), "s8": ("s32",), "s4": ("s32",), "u4": ("s32",),
                    "b1": ("s32",), "f64": ("f64",)}
    seen = set()
    for t, shapes in FRAGMENTS.items():
        for shape in shapes:
            jobs = [("a", t, lay) for lay in (("row", "col") if layouts(t) else ("row",))]
            jobs += [("b", t, lay) for lay in (("row", "col") if layouts(t) else ("col",))]
            for acc in accumulators[t]:
                jobs += [("c", acc, "row"), ("c", acc, "col"), ("d", acc, "row"), ("d", acc, "col")]
            for which, et, lay in jobs:
                kk = shape
                if (which, et, lay, kk) in seen:
                    continue
                seen.add((which, et, lay, kk))
                m, n, k = sizes(shape)
                rows, cols = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}[which]
                tight = cols if lay == "row" else rows
                lines = rows if lay == "row" else cols
                nreg = registers(which, et, shape)
                reg = "f64" if et == "f64" else "f32" if et == "f32" else "b32"
                width = 64 if et == "f64" else 32
                # A stride with a gap where shared memory of 2 KiB allows it.
                gap = max(1, 128 // element_bits(et))
                for stride in (tight, tight + gap):
                    nbytes = (lines - 1) * stride * element_bits(et) // 8 + tight * element_bits(et) // 8
                    lane_bytes = (nbytes + 31) // 32
                    lane_bytes = 16 if lane_bytes <= 16 else 32 if lane_bytes <= 32 else 48 if lane_bytes <= 48 else 64
                    words = [("%a", 64), ("%b", 64), ("%c", 64), ("%e", 64)] * 2
                    words = words[:lane_bytes // 8]
                    if which != "d":
                        pre = (f".shared .align 32 .b8 m[{32 * lane_bytes}]; .reg .{reg} r<{nreg}>; " + store_words(words, lane_bytes))
                        # Operands used twice would not be distinct: the second time their bits are inverted.
                        if lane_bytes > 32:
                            pre = pre.replace("st.shared.b64 [n+32], %a;", "not.b64 y, %a; st.shared.b64 [n+32], y;").replace(
                                "st.shared.b64 [n+40], %b;", "not.b64 y, %b; st.shared.b64 [n+40], y;").replace(
                                "st.shared.b64 [n+48], %c;", "not.b64 y, %c; st.shared.b64 [n+48], y;").replace(
                                "st.shared.b64 [n+56], %e;", "not.b64 y, %e; st.shared.b64 [n+56], y;")
                            pre = ".reg .b64 y; " + pre
                        load = f"wmma.load.{which}.sync.aligned.{lay}.{shape}.shared.{et} {regs_of('r', nreg)}, [m], {stride}; "
                        for k0 in range(0, nreg, 1 if width == 64 else 2):
                            if width == 64:
                                out = f"mov.b64 %d, r{k0};"
                            elif nreg == 1:
                                out = "mov.b64 %d, {r0, r0};"
                            else:
                                out = f"mov.b64 %d, {{r{k0}, r{k0 + 1}}};"
                            operands = min(4, lane_bytes // 8)
                            f.given("{" + pre + load + out + "}", "b64", *["b64"] * operands, values=distinct(operands, element_bits(et)))
                    else:
                        mem = 32 * lane_bytes
                        pre = f".shared .align 32 .b8 m[{mem}]; .reg .{reg} r<{nreg}>; .reg .b32 n, o; .reg .b64 z; mov.u32 o, m; mov.u32 n, %laneid; "
                        pre += f"mul.lo.u32 n, n, {lane_bytes}; add.u32 n, n, o; mov.b64 z, -1; "
                        pre += "".join(f"st.shared.b64 [n+{i}], z; " for i in range(0, lane_bytes, 8)) + "bar.warp.sync 0xffffffff; "
                        fill = ""
                        names = ["%a", "%b", "%c", "%e"]
                        if width == 64:
                            fill = "".join(f"mov.b64 r{i}, {names[i]}; " for i in range(nreg))
                            types = ["b64"] * nreg
                        else:
                            fill = "".join(f"mov.b64 {{r{2 * i}, r{2 * i + 1}}}, {names[i]}; " for i in range(nreg // 2))
                            types = ["b64"] * (nreg // 2)
                        store = f"wmma.store.d.sync.aligned.{lay}.{shape}.shared.{et} [m], {regs_of('r', nreg)}, {stride}; bar.warp.sync 0xffffffff; "
                        for at in range(0, lane_bytes, 8):
                            f.given("{" + pre + fill + store + f"ld.shared.b64 %d, [n+{at}];}}", "b64", *types,
                                    values=distinct(len(types), element_bits(et)))
    return f




# ---- sums without a rounding modifier, which ptxas fuses with products or not -----------------------------------------
# x to v: registers of the type.
CONTRACTIONS = [
    "mul.ftz.f32 x, %a, %b; add.ftz.f32 %d, x, %c;",
    "mul.ftz.f32 x, %a, %b; add.f32 %d, x, %c;",
    "mul.f32 x, %a, %b; add.ftz.f32 %d, x, %c;",
    "mul.f32 x, %a, %b; add.sat.f32 %d, x, %c;",
    "mul.sat.f32 x, %a, %b; add.f32 %d, x, %c;",
    "mul.f32 x, %a, %b; add.f32 y, x, %c; add.f32 z, x, %e; xor.b32 %d, y, z;",
    "mul.f32 x, %a, %b; add.f32 y, x, %c; xor.b32 %d, y, x;",
    "mul.f32 x, %a, %b; add.f32 y, x, %c; mul.f32 z, x, %e; xor.b32 %d, y, z;",
    "mul.f32 x, %a, %b; mul.f32 y, %c, %e; add.f32 z, x, y; add.f32 w, x, %c; xor.b32 %d, z, w;",
    "mul.f32 x, %a, %b; mul.f32 y, %c, %e; add.f32 z, x, y; add.f32 w, y, %a; xor.b32 %d, z, w;",
    "mul.f32 x, %a, %b; mul.f32 y, %c, %e; add.f32 z, x, y; add.f32 w, x, %c; add.f32 u, y, %b; xor.b32 z, z, w; xor.b32 %d, z, u;",
    "mul.f32 x, %a, %b; mul.f32 y, %c, %e; add.f32 z, x, y; sub.f32 w, x, y; xor.b32 %d, z, w;",
    "mul.f32 x, %a, %b; mul.f32 y, %c, %e; add.f32 z, x, y; xor.b32 %d, z, x;",
    "mul.f32 x, %a, %b; mul.f32 y, %c, %e; add.f32 z, x, y; xor.b32 %d, z, y;",
    "mul.f32 x, %a, %b; mul.f32 y, %c, %e; mul.f32 z, %a, %e; add.f32 w, x, y; add.f32 %d, w, z;",
    "mul.f32 x, %a, %b; mul.f32 y, %c, %e; mul.f32 z, %a, %e; add.f32 w, x, y; add.f32 %d, z, w;",
    "mul.f32 x, %a, %b; mul.f32 y, x, %c; add.f32 %d, y, %e;",
    "mul.f32 x, %a, %b; add.f32 %d, x, x;",
    "mul.f32 x, %a, %b; add.f32 y, x, x; add.f32 z, x, %c; xor.b32 %d, y, z;",
    "mul.f32 x, %a, %b; neg.f32 y, x; sub.f32 %d, y, %c;",
    "mul.f32 x, %a, %b; neg.f32 y, x; add.f32 z, y, %c; add.f32 w, x, %e; xor.b32 %d, z, w;",
    "mul.f32 x, %a, %b; neg.f32 y, x; add.f32 z, y, %c; xor.b32 %d, z, y;",
    "mul.f32 x, %a, %b; abs.f32 y, x; add.f32 %d, y, %c;",
    "mul.f32 x, %a, %b; mov.b32 y, x; add.f32 %d, y, %c;",
    "mul.f32 x, %a, %b; fma.rn.f32 %d, %c, %e, x;",
    "mul.f32 x, %a, %b; fma.rn.f32 y, %c, %e, x; add.f32 z, x, %c; xor.b32 %d, y, z;",
    "mul.f32 x, %a, %b; add.rn.f32 y, x, %e; add.f32 z, x, %c; xor.b32 %d, y, z;",
    "mul.f32 x, %a, 0f40400000; add.f32 %d, x, %c;",
    "mul.f32 x, %a, %b; add.f32 %d, x, 0f3FC00000;",
    "mul.rz.f32 x, %a, %b; add.f32 %d, x, %c;",
    "div.full.f32 x, %a, %b; add.f32 %d, x, %c;",
    "div.full.f32 x, %a, %b; sub.f32 %d, %c, x;",
    "div.full.f32 x, %a, %b; sub.f32 %d, x, %c;",
    "div.full.f32 x, %a, %b; add.f32 y, x, %c; xor.b32 %d, x, y;",
    "div.full.ftz.f32 x, %a, %b; add.ftz.f32 %d, x, %c;",
    "div.full.f32 x, %a, %b; mul.f32 y, %c, %e; add.f32 %d, x, y;",
    "div.full.f32 x, %a, %b; mul.f32 y, %c, %e; add.f32 %d, y, x;",
    "div.approx.f32 x, %a, %b; add.f32 %d, x, %c;",
    "div.approx.f32 x, %a, %b; sub.f32 %d, %c, x;",
    "div.approx.ftz.f32 x, %a, %b; add.ftz.f32 %d, x, %c;",
    "rcp.approx.f32 x, %a; add.f32 %d, x, %c;",
    "rcp.approx.ftz.f32 x, %a; add.ftz.f32 %d, x, %c;",
    "rcp.approx.ftz.f32 x, %a; mul.ftz.f32 y, x, %b; add.ftz.f32 %d, y, %c;",
    "rsqrt.approx.f32 x, %a; add.f32 %d, x, %c;",
    "sqrt.approx.f32 x, %a; add.f32 %d, x, %c;",
    "ex2.approx.f32 x, %a; add.f32 %d, x, %c;",
    "lg2.approx.f32 x, %a; mul.f32 y, x, %b; add.f32 %d, y, %c;",
    "tanh.approx.f32 x, %a; mul.f32 y, x, %b; sub.f32 %d, %c, y;",
    "{.reg .pred p; mov.f32 y, %e; mul.f32 x, %a, %b; setp.gt.f32 p, %c, %e; @p add.f32 y, x, %c; mov.f32 %d, y;}",
    "{.reg .pred p; mov.f32 x, %e; setp.gt.f32 p, %c, %e; @p mul.f32 x, %a, %b; add.f32 %d, x, %c;}",
    "{.reg .pred p; setp.gt.f32 p, %c, %e; mul.f32 x, %a, %b; @p add.f32 y, x, %c; @!p sub.f32 y, %e, x; mov.f32 %d, y;}",
    "{.reg .pred p; mul.f32 x, %a, %b; setp.gt.f32 p, %c, %e; mov.f32 y, %c; @p bra $L; mov.f32 y, %e; $L: add.f32 %d, x, y;}",
]


def contraction():
    f = Family()

    def add(body, t):
        register = {16: ".b16", 32: ".b32", 64: ".b64"}[BITS[t]]
        f.add("{.reg %s x,y,z,w,u,v; %s}" % (register, body.replace("T", t)), t, t, t, t, t)

    for t in ("f32", "f64", "f16", "bf16", "f16x2", "bf16x2"):
        add("mul.T x, %a, %b; add.T %d, x, %c;", t)
        add("mul.T x, %a, %b; add.T %d, %c, x;", t)
        add("mul.T x, %a, %b; sub.T %d, x, %c;", t)
        add("mul.T x, %a, %b; sub.T %d, %c, x;", t)
        add("mul.T x, %a, %b; mul.T y, %c, %e; add.T %d, x, y;", t)
        add("mul.T x, %a, %b; mul.T y, %c, %e; sub.T %d, y, x;", t)
        add("mul.T x, %a, %b; neg.T y, x; add.T %d, y, %c;", t)
        if t != "f64":  # of two NaNs in an f64 sum, ptxas's order of operands decides
            add("mul.rn.T x, %a, %b; add.T %d, x, %c;", t)
            add("mul.T x, %a, %b; add.rn.T %d, x, %c;", t)
    for body in CONTRACTIONS:
        add(body, "f32")
    return f


FAMILIES = {"warp": warp, "atomic": atomic, "convert": convert, "half": half, "float": floats, "integer": integer,
            "matrix_move": matrix_moves, "wmma": wmma, "contraction": contraction}


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name, make in FAMILIES.items():
        rows, seen = [], set()
        for row in make().rows:
            text = json.dumps(row, separators=(",", ":"))
            if text not in seen:
                seen.add(text)
                rows.append(text)
        with open(os.path.join(folder, name + ".jsonl"), "w", encoding="utf-8") as out:
            out.write("\n".join(rows) + "\n")
        print(name, len(rows))


if __name__ == "__main__":
    main()
