#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes whole kernels that move data by bulk copies, tensor maps and clusters, without results, in the format of
tests/data/conformance/ptx/programs.jsonl with parameters of kind "tensormap" (README.md). A GPU fills them
(`understudy conform --record`, tools/hw/ptx_record); tests/data/ptx/copies.jsonl.zst holds the results.
Python 3.9, no packages.

    make_copies.py FILE"""
import base64
import itertools
import json
import struct
import sys

# CUtensorMapDataType: number, bytes, whether it is a float.
TYPES = {"u8": (0, 1, 0), "u16": (1, 2, 0), "u32": (2, 4, 0), "s32": (3, 4, 0), "u64": (4, 8, 0), "s64": (5, 8, 0),
         "f16": (6, 2, 1), "f32": (7, 4, 1), "f64": (8, 8, 1), "bf16": (9, 2, 1), "f32.ftz": (10, 4, 1),
         "tf32": (11, 4, 1), "tf32.ftz": (12, 4, 1)}
SPAN = {0: 16, 1: 32, 2: 64, 3: 128}

rows = []


def units(count, first=0x3c00, step=1):
    """All 16-bit units distinct; as numbers of every float type they are normal."""
    return b"".join(struct.pack("<H", (first + step * i) & 0xffff) for i in range(count))


def buffer(data):
    return {"kind": "buffer", "before": base64.b64encode(data).decode()}


def zeros(count):
    return buffer(bytes(count))


def add(name, ptx, params, grid=1, block=128):
    rows.append({"name": name, "ptx": ptx, "entry": "k", "grid": [grid, 1, 1], "block": [block, 1, 1],
                 "params": params})


# ---- pieces of kernels ------------------------------------------------------------------------------------
HEAD = """.version %s
.target %s
.address_size 64
%s.visible .entry k(%s)%s
{
  .reg .b64 %%d<16>; .reg .b32 %%r<24>; .reg .b16 %%h<4>; .reg .pred %%p<6>;
  .shared .align 1024 .b8 zone[%d];
  .shared .align 8 .b64 bar;
  mov.u32 %%r0, %%tid.x;
  mov.u32 %%r1, zone;
  mov.u32 %%r2, bar;
"""


def head(params, zone, version="8.0", target="sm_90", cluster=0, before=""):
    return HEAD % (version, target, before, ", ".join(params), " .reqnctapercluster %d" % cluster if cluster else "",
                   zone)


def fill(zone):
    """The whole zone 0xee."""
    return f"""  shl.b32 %r3, %r0, 2;
FILL:
  setp.ge.u32 %p0, %r3, {zone};
  @%p0 bra FILLED;
  add.u32 %r4, %r1, %r3;
  st.shared.b32 [%r4], 0xeeeeeeee;
  add.u32 %r3, %r3, 512;
  bra FILL;
FILLED:
"""


def take(zone, parameter):
    """The whole zone from a buffer."""
    return f"""  ld.param.u64 %d0, [{parameter}];
  shl.b32 %r3, %r0, 2;
TAKE:
  setp.ge.u32 %p0, %r3, {zone};
  @%p0 bra TAKEN;
  cvt.u64.u32 %d1, %r3;
  add.u64 %d1, %d1, %d0;
  ld.global.b32 %r5, [%d1];
  add.u32 %r4, %r1, %r3;
  st.shared.b32 [%r4], %r5;
  add.u32 %r3, %r3, 512;
  bra TAKE;
TAKEN:
"""


def give(zone, parameter, ranked=False):
    """The whole zone to a buffer, CTA by CTA, and behind it of each CTA the word in %r20."""
    rank = f"  mov.u32 %r6, %ctaid.x;\n  mul.wide.u32 %d1, %r6, {zone + 16};\n  add.u64 %d0, %d0, %d1;\n" if ranked else ""
    return f"""  ld.param.u64 %d0, [{parameter}];
{rank}  shl.b32 %r3, %r0, 2;
GIVE:
  setp.ge.u32 %p0, %r3, {zone};
  @%p0 bra GIVEN;
  cvt.u64.u32 %d1, %r3;
  add.u64 %d1, %d1, %d0;
  add.u32 %r4, %r1, %r3;
  ld.shared.b32 %r5, [%r4];
  st.global.b32 [%d1], %r5;
  add.u32 %r3, %r3, 512;
  bra GIVE;
GIVEN:
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra END;
  st.global.b32 [%d0+{zone}], %r20;
END:
"""


def wait(bar="%r2"):
    """%r20: 1 where the phase ended."""
    return f"""  mov.u32 %r7, 0;
  mov.u32 %r20, 0;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p2, [{bar}], 0;
  @%p2 mov.u32 %r20, 1;
  @%p2 bra WAITED;
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p3, %r7, 200;
  @%p3 bra WAIT;
WAITED:
"""


FIRST = "  fence.proxy.async;\n  bar.sync 0;\n  setp.ne.u32 %p1, %r0, 0;\n  @%p1 bra NOTFIRST;\n"
MAP = "  mov.b64 %d2, map;\n  cvta.param.u64 %d2, %d2;\n"


def init(expect):
    return (f"  mbarrier.init.shared.b64 [%r2], 1;\n  fence.mbarrier_init.release.cluster;\n  fence.proxy.async;\n"
            f"  mbarrier.arrive.expect_tx.shared.b64 %d3, [%r2], {expect};\n")


def braces(values):
    return "{" + ", ".join(str(v) for v in values) + "}"


# ---- tensor maps ------------------------------------------------------------------------------------------
def tensor(kind, dims, strides, **more):
    row = {"kind": "tensormap", "of": 1, "mode": "im2col" if "pixels" in more else "tiled", "type": TYPES[kind][0],
           "dims": dims, "strides": strides}
    row.update(more)
    return row


def packed(kind, dims):
    """Strides of a tensor without gaps (its rows are of 16 bytes' multiples)."""
    strides, at = [], TYPES[kind][1]
    for d in dims[:-1]:
        at *= d
        strides.append(at)
    return strides


def counts(box, steps):
    return [box[0]] + [-(-b // max(s, 1)) for b, s in zip(box[1:], steps[1:])]


def extent(m, size, steps):
    """Bytes of a row, rows, bytes from row to row."""
    slice_bytes = 16 * m.get("interleave", 0)
    if m["mode"] == "im2col":
        inner, outer = slice_bytes or m["channels"] * size, m["pixels"]
    else:
        n = counts(m["box"], steps)
        if slice_bytes:  # dimension 0 counts slices; of the dimension before the last one a box has one
            n[0] = -(-n[0] // max(steps[0], 1))
            n[-2] = 1
        inner, outer = n[0] * (slice_bytes or size), 1
        for c in n[1:]:
            outer *= c
    return inner, outer, inner if slice_bytes else max(inner, SPAN.get(m.get("swizzle", 0), 0) if m.get("swizzle") else 0)


def load(name, kind, m, coords, offsets=None, shift=0, data=None, zone=0, hint=False):
    size = TYPES[kind][1]
    rank = len(m["dims"])
    steps = m.get("steps", [1] * rank)
    inner, outer, pitch = extent(m, size, steps)
    zone = zone or (shift + pitch * outer + 127) // 128 * 128
    mode = "tile" if m["mode"] == "tiled" else "im2col"
    at = f"  add.u32 %r8, %r1, {shift};\n"
    policy = "  createpolicy.fractional.L2::evict_first.b64 %d4, 1.0;\n" if hint else ""
    text = (head([".param .align 64 .b8 map[128]", ".param .u64 t", ".param .u64 out"], zone) + fill(zone) + FIRST +
            init(inner * outer) + MAP + at + policy +
            f"  cp.async.bulk.tensor.{rank}d.shared::cluster.global.{mode}.mbarrier::complete_tx::bytes"
            f"{'.L2::cache_hint' if hint else ''} "
            f"[%r8], [%d2, {braces(coords)}], [%r2]{', ' + braces(offsets) if offsets is not None else ''}"
            f"{', %d4' if hint else ''};\n"
            "NOTFIRST:\n  bar.sync 0;\n" + wait() + give(zone, "out") + "  ret;\n}\n")
    add(name, text, [m, buffer(data if data is not None else units(4096)), zeros(zone + 16)])


def store(name, kind, m, coords, op="", shift=0, data=None, source=None):
    size = TYPES[kind][1]
    rank = len(m["dims"])
    steps = m.get("steps", [1] * rank)
    inner, outer, pitch = extent(m, size, steps)
    zone = (shift + pitch * outer + 127) // 128 * 128
    mode = "tile" if m["mode"] == "tiled" else "im2col_no_offs"
    what = "cp.reduce.async.bulk" if op else "cp.async.bulk"
    text = (head([".param .align 64 .b8 map[128]", ".param .u64 t", ".param .u64 in"], zone) + take(zone, "in") + FIRST +
            MAP + f"  add.u32 %r8, %r1, {shift};\n"
            f"  {what}.tensor.{rank}d.global.shared::cta{'.' + op if op else ''}.{mode}.bulk_group "
            f"[%d2, {braces(coords)}], [%r8];\n"
            "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\nNOTFIRST:\n  ret;\n}\n")
    source = source if source is not None else units(zone // 2, 0x4400)
    add(name, text, [m, buffer(data if data is not None else units(4096)), buffer(source[:zone])])


def tiled():
    # Every type: inside, beyond either end, both fills; in one to five dimensions.
    for kind, (_, size, is_float) in TYPES.items():
        width = 64 // size
        m = tensor(kind, [width * 2, 16], [128], box=[width, 4])
        for x, y in ((0, 0), (width // 2, 3), (-width // 4, -1), (width * 2 - width // 4, 14), (width * 2, 0)):
            for f in ((0, 1) if is_float else (0,)):
                load(f"tile.2d.{kind} at {x},{y} fill {f}", kind, dict(m, fill=f), [x, y])
        load(f"tile.1d.{kind}", kind, tensor(kind, [width * 8], [], box=[width]), [width + 16 // size])
        load(f"tile.1d.{kind} beyond", kind, tensor(kind, [width * 8], [], box=[width]), [width * 8 - 32 // size])
        if not is_float:
            load(f"tile.2d.{kind} NaN fill", kind, dict(m, fill=1), [0, 0])
    # Swizzles, with rows as wide as their span and shorter, at places of every 128 bytes of the pattern.
    for swizzle, kind in itertools.product((0, 1, 2, 3), ("u8", "f16", "u32", "f64")):
        size = TYPES[kind][1]
        for width in (16, 32, 48, 64, 96, 112, 128, 192):
            if swizzle and width > SPAN[swizzle] or width % size:
                continue
            m = tensor(kind, [192 // size, 24], [192], box=[width // size, 8], swizzle=swizzle)
            load(f"tile.2d.{kind} swizzle {swizzle}, rows of {width}", kind, m, [0, 2])
    for swizzle, shift in itertools.product((1, 2, 3), (128, 256, 384, 512, 640, 896)):
        m = tensor("u16", [64, 20], [128], box=[SPAN[swizzle] // 2, 9], swizzle=swizzle)
        load(f"tile.2d.u16 swizzle {swizzle}, at zone + {shift}", "u16", m, [0, 5], shift=shift)
        load(f"tile.2d.u16 swizzle {swizzle}, at zone + {shift}, short rows, outside", "u16",
             dict(m, box=[SPAN[swizzle] // 2 - 8, 9]), [-8, 15], shift=shift)
    # Steps between the elements of a box.
    for steps in ([1, 2], [1, 3], [2, 1], [1, 8]):
        for rows_of_box in (8, 7, 5):
            m = tensor("u16", [32, 32], [64], box=[16, rows_of_box], steps=steps)
            load(f"tile.2d.u16 steps {steps}, box of {rows_of_box}", "u16", m, [8, 3])
            load(f"tile.2d.u16 steps {steps}, box of {rows_of_box}, outside", "u16", m, [24, 27])
    # More dimensions.
    for kind in ("u8", "bf16", "f32", "s64"):
        size = TYPES[kind][1]
        w = 32 // size
        for f in ((0, 1) if TYPES[kind][2] else (0,)):
            d3 = [w, 6, 7]
            m = tensor(kind, d3, packed(kind, d3), box=[w // 2, 3, 4], fill=f)
            for c in ([0, 0, 0], [w // 2, 2, 1], [-w // 2, -1, -1], [w // 2, 5, 5], [0, 6, 0], [0, 1, -2]):
                load(f"tile.3d.{kind} at {c} fill {f}", kind, m, c)
            d4 = [w, 4, 3, 5]
            m = tensor(kind, d4, packed(kind, d4), box=[w, 2, 2, 3], fill=f, steps=[1, 1, 1, 2])
            for c in ([0, 0, 0, 0], [w // 2, 1, 1, 1], [-w // 2, 3, 2, 4], [0, -1, 0, -1]):
                load(f"tile.4d.{kind} at {c} fill {f}", kind, m, c)
            d5 = [w, 3, 3, 3, 4]
            m = tensor(kind, d5, packed(kind, d5), box=[w, 2, 2, 1, 2], fill=f, swizzle=1)
            for c in ([0, 0, 0, 0, 0], [0, 1, 1, 1, 1], [w // 2, 2, 2, 2, 3], [-w // 2, 0, -1, 0, -1], [0, 0, 0, 3, 0]):
                load(f"tile.5d.{kind} at {c} fill {f}", kind, m, c)
    # Gaps between rows, a base that is not the buffer's, a cache policy, L2 promotion.
    m = tensor("f16", [24, 10], [112], box=[16, 6], offset=48)
    load("tile.2d.f16 with gaps", "f16", m, [8, 2])
    load("tile.2d.f16 with gaps, outside", "f16", m, [16, 6])
    for promotion in (1, 2, 3):
        load(f"tile.2d.f16 promotion {promotion}", "f16", dict(m, promotion=promotion), [0, 1], hint=True)
    # What may not be encoded.
    ok = tensor("f32", [32, 16], [128], box=[16, 8])
    for name, change in {"box of 0": {"box": [0, 8]}, "box of 257": {"box": [16, 257]}, "stride of 24": {"strides": [24]},
                         "rows of 12 bytes": {"box": [3, 8]}, "step of 0": {"steps": [1, 0]},
                         "step of 9": {"steps": [1, 9]}, "rows wider than the swizzle": {"box": [16, 8], "swizzle": 1},
                         "address of 8": {"offset": 8}, "no elements": {"dims": [0, 16]},
                         "swizzle 7": {"swizzle": 7}, "interleave 3": {"interleave": 3}, "type 16": {"type": 16},
                         "fill 2": {"fill": 2}, "promotion 4": {"promotion": 4}}.items():
        load("tile.2d.f32 not encoded: " + name, "f32", dict(ok, **change), [0, 0], zone=1024)


def im2col():
    data = units(8192)
    for kind in ("u8", "f16", "f32", "u64", "tf32"):
        size = TYPES[kind][1]
        c = 64 // size
        for f in ((0, 1) if TYPES[kind][2] else (0,)):
            d = [c, 9, 4]
            m = tensor(kind, d, packed(kind, d), lower=[-1], upper=[-1], channels=c // 2, pixels=12, fill=f)
            for at, off in (([0, -1, 0], [0]), ([0, -1, 0], [2]), ([c // 4, 3, 1], [1]), ([0, 7, 3], [2]),
                            ([c // 2, 0, 2], [1])):
                load(f"im2col.3d.{kind} at {at} offset {off} fill {f}", kind, m, at, off, data=data)
            d = [c, 5, 4, 3]
            m = tensor(kind, d, packed(kind, d), lower=[-1, -1], upper=[-1, -1], channels=c // 4, pixels=16, fill=f)
            for at, off in (([0, -1, -1, 0], [0, 0]), ([0, -1, -1, 0], [1, 2]), ([c // 4, 2, 1, 1], [2, 0]),
                            ([0, 3, 2, 2], [1, 1]), ([-c // 4, 0, 0, 0], [2, 2])):
                load(f"im2col.4d.{kind} at {at} offset {off} fill {f}", kind, m, at, off, data=data)
    for lower, upper, steps in itertools.product(([-2, 0], [0, -1], [-1, -2]), ([0, 0], [-2, -1], [1, 0]),
                                                 ([1, 1, 1, 1], [1, 2, 1, 1], [1, 2, 3, 1], [1, 1, 1, 2])):
        d = [16, 6, 5, 4]
        m = tensor("f16", d, packed("f16", d), lower=lower, upper=upper, channels=16, pixels=20, steps=steps, swizzle=1)
        load(f"im2col.4d.f16 corners {lower} {upper} steps {steps}", "f16", m, [0, lower[0], lower[1], 0], [1, 1],
             data=data)
    for at, off in (([0, -1, 0, -1, 0], [0, 1, 2]), ([8, 1, 1, 0, 1], [2, 0, 1]), ([-8, 2, 2, 1, 1], [1, 1, 1])):
        d = [16, 4, 4, 3, 2]
        for swizzle in (0, 1):
            m = tensor("bf16", d, packed("bf16", d), lower=[-1, 0, -1], upper=[-1, -1, 0], channels=16, pixels=24,
                       fill=1, swizzle=swizzle)
            load(f"im2col.5d.bf16 at {at} offset {off} swizzle {swizzle}", "bf16", m, at, off, data=data)
    for swizzle in (1, 2, 3):
        d = [64, 6, 6, 2]
        for channels in sorted({8, SPAN[swizzle] // 2 - 8, SPAN[swizzle] // 2} - {0}):
            if channels:
                m = tensor("u16", d, packed("u16", d), lower=[0, 0], upper=[0, 0], channels=channels, pixels=10,
                           swizzle=swizzle)
                load(f"im2col.4d.u16 swizzle {swizzle}, {channels} channels", "u16", m, [8, 1, 2, 0], [1, 0],
                     data=units(16384))


def unaligned():
    """The first coordinate is no multiple of 16 bytes."""
    for kind, x in (("u8", 1), ("u8", 8), ("u16", 3), ("f32", 2), ("f32", -1), ("f64", 1), ("tf32", 30)):
        size = TYPES[kind][1]
        m = tensor(kind, [128 // size, 16], [128], box=[64 // size, 4])
        load(f"tile.2d.{kind} unaligned at {x}", kind, m, [x, 1])
        store(f"store.tile.2d.{kind} unaligned at {x}", kind, m, [x, 1])
    m = tensor("u32", [32, 16], [128], box=[16, 4])
    store("reduce.tile.2d.add.u32 unaligned", "u32", m, [1, 1], op="add")
    d = [32, 5, 4, 3]
    m = tensor("f16", d, packed("f16", d), lower=[-1, -1], upper=[-1, -1], channels=8, pixels=16)
    load("im2col.4d.f16 unaligned", "f16", m, [4, 0, 0, 0], [0, 0])
    store("store.im2col.4d.f16 unaligned", "f16", m, [4, 0, 0, 0])


def interleaved():
    """Dimension 0 is counted in slices of 16 or 32 bytes, whatever the type; the dimension before the last has one."""
    data = units(16384)
    for interleave, swizzle in ((1, 0), (2, 0), (2, 1), (1, 1)):
        s = 16 * interleave
        for kind in ("u8", "u16", "f32", "s64", "tf32"):
            b = 16 // TYPES[kind][1]  # the least box
            f = TYPES[kind][2]
            name = f"interleave {interleave} swizzle {swizzle}"
            m = tensor(kind, [12, 6, 5], [s, s * 80], box=[b, 3, 2], interleave=interleave, swizzle=swizzle, fill=f)
            for at in ([0, 0, 0], [3, 1, 1], [9, 2, 4], [-2, 0, -1], [0, -1, 0], [0, 6, 0]):
                load(f"tile.3d.{kind} {name} at {at}", kind, m, at, data=data)
            load(f"tile.3d.{kind} {name} steps", kind, dict(m, box=[2 * b, 3, 4], steps=[2, 1, 2]), [1, 0, 0], data=data)
            load(f"tile.3d.{kind} {name} steps of the one", kind, dict(m, steps=[1, 3, 1]), [1, 2, 0], data=data)
            m = tensor(kind, [7, 6, 5, 3], [s * 8, s * 48, s * 256], box=[b, 3, 2, 2], interleave=interleave,
                       swizzle=swizzle)
            for at in ([0, 0, 0, 0], [2, 1, 3, 1], [-3, 5, 4, 2]):
                load(f"tile.4d.{kind} {name} at {at}", kind, m, at, data=data)
            store(f"store.tile.4d.{kind} {name}", kind, m, [2, 1, 3, 1], data=data)
            store(f"store.tile.4d.{kind} {name} outside", kind, m, [3, 4, 1, 2], data=data)
            if kind in ("f32", "s64"):
                store(f"reduce.tile.4d.{kind} {name}", kind, m, [2, 1, 3, 1], op="add" if f else "max", data=data)
            m = tensor(kind, [6, 4, 3, 3, 2], [s * 6, s * 24, s * 80, s * 250], box=[b, 3, 2, 2, 2],
                       interleave=interleave, swizzle=swizzle)
            load(f"tile.5d.{kind} {name}", kind, m, [1, 1, 1, 1, 0], data=data)
            m = tensor(kind, [6, 5, 4, 2], [s * 6, s * 30, s * 120], lower=[-1, -1], upper=[-1, 0], channels=b, pixels=24,
                       interleave=interleave, swizzle=swizzle)
            for at, off in (([-1, -1, 0, 0], [0, 0]), ([-1, -1, 2, 0], [1, 2]), ([3, 1, 3, 1], [2, 0]), ([0, 0, 4, 0], [0, 0])):
                load(f"im2col.4d.{kind} {name} at {at} offset {off}", kind, m, at, off, data=data)
            load(f"im2col.4d.{kind} {name} steps, more channels", kind, dict(m, steps=[2, 1, 1, 1], channels=2 * b),
                 [-1, 0, 1, 0], [1, 1], data=data)
            store(f"store.im2col.4d.{kind} {name}", kind, m, [-1, -1, 2, 0], data=data)
    ok = tensor("u16", [12, 6, 5], [32, 320], box=[8, 3, 2], interleave=2)
    for name, change in {"2 dimensions": {"dims": [12, 6], "strides": [32], "box": [8, 3]},
                         "rows of 8 bytes": {"box": [4, 3, 2]}, "address of 16": {"offset": 16},
                         "stride of 48": {"strides": [48, 480]}, "a last stride of 336": {"strides": [32, 336]},
                         "swizzle 2": {"swizzle": 2}, "swizzle 3": {"swizzle": 3},
                         "16 bytes, swizzle 2": {"interleave": 1, "swizzle": 2},
                         "16 bytes, swizzle 3": {"interleave": 1, "swizzle": 3}}.items():
        m = dict(ok, **change)
        load("tile interleaved, " + name, "u16", m, [0] * len(m["dims"]), zone=2048, data=data)


def stores():
    # One coordinate below the tensor.
    for kind in ("u8", "f32"):
        size = TYPES[kind][1]
        m = tensor(kind, [128 // size, 16], [128], box=[64 // size, 4])
        for at in ([-16 // size, 0], [0, -1], [-128 // size, 0], [0, -4], [128 // size, 0], [0, 16], [-32 // size, -2]):
            store(f"store.tile.2d.{kind} below, {at}", kind, m, at)
    for kind, (_, size, _) in TYPES.items():
        width = 64 // size
        m = tensor(kind, [width * 2, 16], [128], box=[width, 4])
        for x, y in ((0, 0), (width // 2, 3), (-width // 4, -1), (width * 2 - width // 4, 14)):
            store(f"store.tile.2d.{kind} at {x},{y}", kind, m, [x, y])
    for swizzle, width in ((0, 64), (1, 32), (1, 16), (2, 64), (2, 48), (3, 128), (3, 80), (3, 32)):
        m = tensor("u16", [64, 20], [128], box=[width // 2, 9], swizzle=swizzle)
        for shift in (0, 128, 640):
            store(f"store.tile.2d.u16 swizzle {swizzle}, rows of {width}, from zone + {shift}", "u16", m, [0, 5],
                  shift=shift)
        store(f"store.tile.2d.u16 swizzle {swizzle}, rows of {width}, outside", "u16", m, [-8, 14])
    for steps in ([1, 2], [1, 3]):
        m = tensor("u32", [16, 32], [64], box=[8, 7], steps=steps)
        store(f"store.tile.2d.u32 steps {steps}", "u32", m, [4, 3])
        store(f"store.tile.2d.u32 steps {steps} outside", "u32", m, [12, 25])
    d = [16, 4, 3, 3, 2]
    for rank in (1, 3, 4, 5):
        dims = d[:rank]
        m = tensor("f16", dims, packed("f16", dims), box=[8, 2, 2, 1, 2][:rank])
        for c in ([0, 0, 0, 0, 0], [8, 1, 1, 2, 0], [-8, 3, -1, 1, 1]):
            store(f"store.tile.{rank}d.f16 at {c[:rank]}", "f16", m, c[:rank])
    for at in ([0, -1, -1, 0], [8, 2, 1, 1], [0, 0, 0, 0]):
        for steps in ([1, 1, 1, 1], [1, 2, 1, 1]):
            dims = [16, 5, 4, 3]
            m = tensor("u16", dims, packed("u16", dims), lower=[-1, -1], upper=[-1, 0], channels=8, pixels=16,
                       steps=steps)
            store(f"store.im2col.4d.u16 at {at} steps {steps}", "u16", m, at)
            m = tensor("u32", dims, packed("u32", dims), lower=[-1, 0], upper=[0, -1], channels=4, pixels=16, steps=steps)
            store(f"store.im2col.4d.u32 add at {at} steps {steps}", "u32", m, at, op="add")


SPECIAL32 = [0, 0x80000000, 1, 0x80000001, 0x7fffff, 0x800000, 0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000,
             0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0x40490fdb]
SPECIAL16 = [0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01,
             0x7f80, 0xff80, 0x7fc0, 0x7f81, 0x0080, 0x007f, 0x3f80, 0x4248, 0xc248]
SPECIAL64 = [0, 1 << 63, 1, 0xfffffffffffff, 0x10000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x7fefffffffffffff,
             0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000001, 0x7ff0000000000001,
             0x400921fb54442d18, 0xffffffffffffffff, 0x8000000000000001]


def specials(size, count, turn):
    """Every edge with every edge: one side by rows, the other by columns."""
    table = {2: SPECIAL16, 4: SPECIAL32, 8: SPECIAL64}[size]
    code = {2: "<H", 4: "<I", 8: "<Q"}[size]
    n = len(table)
    return b"".join(struct.pack(code, table[i % n if turn else i // n % n]) for i in range(count // size))


REDUCTIONS = {"add": ["u32", "s32", "u64", "f16", "bf16", "f32", "f64", "f32.ftz", "tf32", "tf32.ftz"],
              "min": ["u32", "s32", "u64", "s64", "f16", "bf16"], "max": ["u32", "s32", "u64", "s64", "f16", "bf16"],
              "inc": ["u32"], "dec": ["u32"], "and": ["u32", "s32", "u64"], "or": ["u32", "u64"],
              "xor": ["u32", "s32", "u64"]}


def reductions():
    for op, kinds in REDUCTIONS.items():
        for kind in kinds:
            size = TYPES[kind][1]
            m = tensor(kind, [128 // size, 16], [128], box=[64 // size, 8])
            store(f"reduce.tile.2d.{op}.{kind}", kind, m, [0, 0])
            store(f"reduce.tile.2d.{op}.{kind}, less and more", kind, m, [32 // size, 3], source=units(512, 0x3f00, -1))
            whole = tensor(kind, [128 // size, 32], [128], box=[128 // size, 32])
            store(f"reduce.tile.2d.{op}.{kind}, edges", kind, whole, [0, 0], data=specials(size, 4096, False),
                  source=specials(size, 4096, True))
            store(f"reduce.tile.2d.{op}.{kind}, outside", kind, dict(m, swizzle=2), [-(32 // size), 13])
    # Types that have no such reduction.
    for op, kind in (("min", "f32"), ("max", "f64"), ("and", "f16"), ("inc", "s32"), ("add", "u16"), ("add", "u8"),
                     ("add", "s64"), ("or", "s64"), ("xor", "f32"), ("dec", "u64"), ("and", "u16")):
        size = TYPES[kind][1]
        store(f"reduce.tile.2d.{op}.{kind} on a type without it", kind,
              tensor(kind, [128 // size, 16], [128], box=[64 // size, 8]), [0, 0])


# ---- bulk copies without a tensor -------------------------------------------------------------------------
def bulk():
    for size, start, to in ((16, 0, 0), (32, 16, 48), (48, 0, 16), (128, 128, 0), (1024, 512, 0), (2000, 32, 16),
                            (2048, 0, 0), (4080, 16, 16)):
        zone = (to + size + 127) // 128 * 128
        text = (head([".param .u64 t", ".param .u64 out"], zone) + fill(zone) + FIRST + init(size) +
                f"  ld.param.u64 %d2, [t];\n  add.u64 %d2, %d2, {start};\n  add.u32 %r8, %r1, {to};\n"
                f"  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r8], [%d2], {size}, [%r2];\n"
                "NOTFIRST:\n  bar.sync 0;\n" + wait() + give(zone, "out") + "  ret;\n}\n")
        add(f"bulk to shared, {size} bytes", text, [buffer(units(4096)), zeros(zone + 16)])
        text = (head([".param .u64 t", ".param .u64 in"], zone) + take(zone, "in") + FIRST +
                f"  ld.param.u64 %d2, [t];\n  add.u64 %d2, %d2, {start};\n  add.u32 %r8, %r1, {to};\n"
                f"  cp.async.bulk.global.shared::cta.bulk_group [%d2], [%r8], {size};\n"
                "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\nNOTFIRST:\n  ret;\n}\n")
        add(f"bulk to global, {size} bytes", text, [buffer(units(4096)), buffer(units(zone // 2, 0x4c00))])
    # Two copies on one barrier; a phase of many.
    zone = 1024
    text = (head([".param .u64 t", ".param .u64 out"], zone) + fill(zone) + FIRST + init(96) +
            "  ld.param.u64 %d2, [t];\n" + "".join(
                f"  add.u32 %r8, %r1, {to};\n  add.u64 %d5, %d2, {start};\n"
                f"  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r8], [%d5], {n}, [%r2];\n"
                for to, start, n in ((0, 64, 16), (512, 1024, 48), (256, 0, 32))) +
            "NOTFIRST:\n  bar.sync 0;\n" + wait() + give(zone, "out") + "  ret;\n}\n")
    add("bulk, three copies on a barrier", text, [buffer(units(4096)), zeros(zone + 16)])
    ops = [f"{o}.{t}" for o in ("and", "or", "xor") for t in ("b32", "b64")]
    ops += ["add.u32", "add.s32", "add.u64", "add.f32", "add.f64", "add.noftz.f16", "add.noftz.bf16", "inc.u32", "dec.u32"]
    ops += [f"{o}.{t}" for o in ("min", "max") for t in ("u32", "s32", "u64", "s64", "f16", "bf16")]
    for op in ops:
        size = {"16": 2, "32": 4, "64": 8}[op[-2:]]
        for name, there, here in (("", units(1024), units(1024, 0x4100)),
                                  ("less and more", units(1024), units(1024, 0x3e00, -1)),
                                  ("edges", specials(size, 2048, False), specials(size, 2048, True))):
            text = (head([".param .u64 t", ".param .u64 in"], 2048) + take(2048, "in") + FIRST +
                    "  ld.param.u64 %d2, [t];\n"
                    f"  cp.reduce.async.bulk.global.shared::cta.bulk_group.{op} [%d2], [%r1], 2048;\n"
                    "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\nNOTFIRST:\n  ret;\n}\n")
            add(f"bulk reduce {op} {name}".strip(), text, [buffer(there), buffer(here)])


# ---- clusters ---------------------------------------------------------------------------------------------
CLUSTER = "  barrier.cluster.arrive.release.aligned;\n  barrier.cluster.wait.acquire.aligned;\n"
INIT_ALL = ("  setp.ne.u32 %p1, %r0, 0;\n  @%p1 bra INITED;\n  mbarrier.init.shared.b64 [%r2], 1;\n"
            "  fence.mbarrier_init.release.cluster;\n  fence.proxy.async;\n"
            "  mbarrier.arrive.expect_tx.shared.b64 %d3, [%r2], {};\nINITED:\n")
PEER = ("  mov.u32 %r9, %cluster_ctarank;\n  mov.u32 %r10, %cluster_nctarank;\n  add.u32 %r11, %r9, {};\n"
        "  rem.u32 %r11, %r11, %r10;\n")  # %r9: own rank, %r11: the peer


def start(zone):
    """Each CTA's zone from its part of the buffer."""
    return ("  mov.u32 %r6, %ctaid.x;\n" + take(zone, "t").replace(
        "  shl.b32", f"  mul.wide.u32 %d1, %r6, {zone};\n  add.u64 %d0, %d0, %d1;\n  shl.b32", 1))


def clusters():
    zone = 2048
    params = [".param .u64 t", ".param .u64 out"]

    def run(name, size, body, grid=None, expect=None, before="", version="8.1", distance=1, waits=True, data=None, close=""):
        grid = grid or size
        waited = expect is not None and waits
        text = (head(params, zone, version=version, cluster=size, before=before) + start(zone) +
                (INIT_ALL.format(expect) if expect is not None else "") + "  fence.proxy.async;\n  bar.sync 0;\n" + CLUSTER +
                PEER.format(distance) + body + (wait() if waited else "  mov.u32 %r20, 0;\n") + close + CLUSTER +
                "  bar.sync 0;\n" + give(zone, "out", ranked=True) + "  ret;\n}\n")
        add(name, text, [buffer(data or units(grid * zone // 2)), zeros(grid * (zone + 16))], grid=grid)

    at = "  shl.b32 %r12, %r0, 4;\n  add.u32 %r12, %r12, %r1;\n"  # 16 bytes a thread
    mapa = at + "  mapa.shared::cluster.u32 %r13, %r12, %r11;\n"
    generic = at + ("  cvt.u64.u32 %d6, %r12;\n  cvta.shared.u64 %d6, %d6;\n  mapa.u64 %d7, %d6, %r11;\n")
    for size, distance in ((1, 0), (2, 1), (4, 1), (4, 3), (8, 5)):
        run(f"getctarank of mapa, cluster of {size}, distance {distance}", size, mapa +
            "  getctarank.shared::cluster.u32 %r14, %r13;\n  getctarank.shared::cluster.u32 %r15, %r12;\n"
            "  mapa.shared::cluster.u32 %r16, %r13, %r9;\n  getctarank.shared::cluster.u32 %r16, %r16;\n"
            "  mapa.shared::cluster.u32 %r17, %r1, %r11;\n  sub.u32 %r17, %r13, %r17;\n" + CLUSTER +
            "  st.shared.v4.b32 [%r12], {%r14, %r15, %r16, %r17};\n", distance=distance, grid=size * 2)
        run(f"getctarank of generic mapa, cluster of {size}, distance {distance}", size, generic +
            "  getctarank.u64 %r14, %d7;\n  getctarank.u64 %r15, %d6;\n  mapa.u64 %d8, %d7, %r9;\n"
            "  getctarank.u64 %r16, %d8;\n  sub.u64 %d8, %d8, %d6;\n  cvt.u32.u64 %r17, %d8;\n"
            "  isspacep.shared::cta %p1, %d7;\n  selp.u32 %r18, 1, 0, %p1;\n  isspacep.shared::cluster %p2, %d7;\n"
            "  selp.u32 %r17, 2, 0, %p2;\n  isspacep.global %p3, %d7;\n  selp.u32 %r19, 4, 0, %p3;\n"
            "  add.u32 %r17, %r17, %r18;\n  add.u32 %r17, %r17, %r19;\n" + CLUSTER +
            "  st.shared.v4.b32 [%r12], {%r14, %r15, %r16, %r17};\n", distance=distance)
    for size, distance in ((2, 1), (4, 3), (8, 2)):
        for width, regs in (("b8", 1), ("b16", 1), ("b32", 1), ("b64", 1), ("v2.b32", 2), ("v4.b32", 4), ("v2.b64", 2),
                            ("v4.b8", 4), ("v4.b16", 4)):
            reg = {"b8": "%r", "b16": "%h", "b32": "%r", "b64": "%d"}[width.split(".")[-1]]
            first = {"%r": 14, "%d": 8, "%h": 0}[reg]
            names = [f"{reg}{first + i}" for i in range(regs)]
            value = braces(names) if regs > 1 else names[0]
            run(f"ld.shared::cluster.{width}, cluster of {size}", size, mapa +
                f"  ld.shared::cluster.{width} {value}, [%r13];\n" + CLUSTER + f"  st.shared.{width} [%r12], {value};\n",
                distance=distance)
            run(f"st.shared::cluster.{width}, cluster of {size}", size, mapa +
                f"  ld.shared.{width} {value}, [%r12];\n" + CLUSTER + f"  st.shared::cluster.{width} [%r13], {value};\n",
                distance=distance)
            if size == 4:
                run(f"generic ld.{width} of a peer", size, generic + f"  ld.{width} {value}, [%d7];\n" + CLUSTER +
                    f"  st.shared.{width} [%r12], {value};\n", distance=distance)
                run(f"generic st.{width} to a peer", size, generic + f"  ld.shared.{width} {value}, [%r12];\n" + CLUSTER +
                    f"  st.{width} [%d7], {value};\n", distance=distance)
    atoms = [f"{o}.{t}" for o in ("and", "or", "xor", "exch") for t in ("b32", "b64")]
    atoms += ["add.u32", "add.s32", "add.u64", "add.f32", "add.f64", "add.noftz.f16x2", "inc.u32", "dec.u32"]
    atoms += [f"{o}.{t}" for o in ("min", "max") for t in ("u32", "s32", "u64", "s64")]
    atoms += ["cas.b32", "cas.b64", "add.noftz.f16", "cas.b16"]
    for op in atoms:
        bits = 32 if op.endswith("x2") else int(op[-2:])
        reg = {16: "%h", 32: "%r", 64: "%d"}[bits]
        a, b, c = {16: ("%h0", "%h1", "%h2"), 32: ("%r14", "%r15", "%r16"), 64: ("%d8", "%d9", "%d10")}[bits]
        # The operand is the thread's own word 8 bytes on; what was there goes 8 bytes on too.
        values = f"{b}, {c}" if op.startswith("cas") else b
        ready = f"  ld.shared.b{bits} {b}, [%r12+8];\n  ld.shared.b{bits} {c}, [%r12];\n" + CLUSTER
        run(f"atom.shared::cluster.{op}", 4, mapa + ready + f"  atom.shared::cluster.{op} {a}, [%r13], {values};\n" +
            f"  st.shared.b{bits} [%r12+8], {a};\n", distance=3)
        run(f"generic atom.{op} at a peer", 2, generic + ready + f"  atom.{op} {a}, [%d7], {values};\n" +
            f"  st.shared.b{bits} [%r12+8], {a};\n")
        if op[:4] not in ("exch", "cas."):
            run(f"red.shared::cluster.{op}", 8, mapa + ready + f"  red.shared::cluster.{op} [%r13], {b};\n", distance=5)
    run("atom.shared::cluster.add.u32 of everybody at one word", 4,
        "  mov.u32 %r13, 0;\n  mapa.shared::cluster.u32 %r14, %r1, %r13;\n  add.u32 %r15, %r0, %r9;\n"
        "  red.shared::cluster.add.u32 [%r14], %r15;\n  red.shared::cluster.max.u32 [%r14+4], %r15;\n"
        "  red.shared::cluster.xor.b32 [%r14+8], %r15;\n")
    # st.async and red.async: 128 threads, 16 bytes apart.
    for kind, regs in [(t, n) for t in ("b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64") for n in (1, 2, 4)]:
        if regs == 4 and kind[1:] == "64":
            continue
        nbytes = int(kind[1:]) // 8
        reg, first = ("%r", 14) if nbytes == 4 else ("%d", 8)
        vector = f".v{regs}" if regs > 1 else ""
        names = [f"{reg}{first + i}" for i in range(regs)]
        value = braces(names) if regs > 1 else names[0]
        for size, distance in ((2, 1), (4, 3)) if regs != 2 else ((2, 1),):
            run(f"st.async{vector}.{kind}, cluster of {size}", size, mapa + "  mapa.shared::cluster.u32 %r19, %r2, %r11;\n" +
                f"  ld.shared{vector}.{kind} {value}, [%r12];\n" + CLUSTER +
                f"  st.async.weak.shared::cluster.mbarrier::complete_tx::bytes{vector}.{kind} [%r13], {value}, [%r19];\n",
                expect=128 * nbytes * regs, distance=distance)
    reds = ["inc.u32", "dec.u32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32", "add.u32",
            "add.s32", "add.u64", "add.s64"]
    for op in reds:
        nbytes = int(op[-2:]) // 8
        b = "%r14" if nbytes == 4 else "%d8"
        for size, distance in ((2, 1), (4, 2)):
            run(f"red.async.{op}, cluster of {size}", size, mapa + "  mapa.shared::cluster.u32 %r19, %r2, %r11;\n" +
                f"  ld.shared.b{nbytes * 8} {b}, [%r12+8];\n" + CLUSTER +
                f"  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{op} [%r13], {b}, [%r19];\n",
                expect=128 * nbytes, distance=distance)
    # Bulk copies between CTAs, plain and reducing.
    one = "  setp.ne.u32 %p1, %r0, 0;\n  @%p1 bra ALL;\n"
    peers = ("  mapa.shared::cluster.u32 %r13, %r1, %r11;\n  mapa.shared::cluster.u32 %r19, %r2, %r11;\n")
    for size, distance in ((2, 1), (4, 3)):
        for nbytes in (16, 512, 1024):
            run(f"bulk to a peer, {nbytes} bytes, cluster of {size}", size, one + peers +
                "  add.u32 %r13, %r13, 1024;\n"
                f"  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r13], [%r1], {nbytes}, [%r19];\n"
                "ALL:\n", expect=nbytes, distance=distance)
    for op in ("and.b32", "or.b32", "xor.b32", "add.u32", "add.s32", "add.u64", "inc.u32", "dec.u32", "min.u32", "min.s32",
               "max.u32", "max.s32"):
        run(f"bulk reduce {op} at a peer", 2, one + peers + "  add.u32 %r13, %r13, 1024;\n"
            f"  cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{op} [%r13], [%r1], 768, [%r19];\n"
            "ALL:\n", expect=768)
    # One copy for several CTAs: each expects it where the mask has it.
    for size, mask in ((2, 3), (2, 2), (4, 5), (4, 15), (4, 8), (8, 0xa6)):
        lone = "  setp.ne.u32 %p1, %r0, 0;\n  setp.ne.or.u32 %p1, %r9, 0, %p1;\n  @%p1 bra ALL;\n"
        skip = (f"  mov.u32 %r14, {mask};\n  shr.u32 %r14, %r14, %r9;\n  and.b32 %r14, %r14, 1;\n  mov.u32 %r20, 2;\n"
                "  setp.eq.u32 %p4, %r14, 0;\n  @%p4 bra SKIP;\n")
        run(f"bulk multicast {mask:x}, cluster of {size}", size, lone + "  ld.param.u64 %d2, [t];\n"
            f"  mov.b16 %h0, {mask};\n  add.u32 %r13, %r1, 256;\n"
            "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
            "[%r13], [%d2], 512, [%r2], %h0;\nALL:\n" + skip, expect=512, close="SKIP:\n")
        m = tensor("u16", [32, 16], [64], box=[16, 8], swizzle=1)
        text = (head([".param .align 64 .b8 map[128]", ".param .u64 t", ".param .u64 out"], zone, cluster=size) +
                fill(zone) + INIT_ALL.format(256) + "  fence.proxy.async;\n  bar.sync 0;\n" + CLUSTER + PEER.format(1) + lone +
                MAP + f"  mov.b16 %h0, {mask};\n  add.u32 %r13, %r1, 384;\n"
                "  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
                "[%r13], [%d2, {8, 11}], [%r2], %h0;\nALL:\n" + skip + wait() + "SKIP:\n" + CLUSTER + "  bar.sync 0;\n" +
                give(zone, "out", ranked=True) + "  ret;\n}\n")
        add(f"tensor multicast {mask:x}, cluster of {size}", text, [m, buffer(units(4096)), zeros(size * (zone + 16))],
            grid=size)


# ---- tensormap.replace ------------------------------------------------------------------------------------
def replace():
    base = tensor("u16", [32, 24], [64], box=[16, 8])
    zone = 1024
    cases = [("global_address", "b64", None, "%d9", [16, 8], 2, base), ("box_dim", "b32", 0, 8, [8, 8], 2, base),
             ("box_dim", "b32", 1, 5, [16, 5], 2, base), ("global_dim", "b32", 0, 20, [16, 8], 2, base),
             ("global_dim", "b32", 1, 4, [16, 8], 2, base), ("global_stride", "b64", 0, 48, [16, 8], 2, base),
             ("global_stride", "b64", 0, 128, [16, 8], 2, base), ("element_stride", "b32", 1, 2, [16, 4], 2, base),
             ("swizzle_mode", "b32", None, 1, [16, 8], 2, base), ("swizzle_mode", "b32", None, 3, None, 2, base),
             ("swizzle_mode", "b32", None, 0, [16, 8], 2, dict(base, swizzle=1)),
             ("fill_mode", "b32", None, 1, [16, 8], 2, dict(base, type=TYPES["f16"][0])),
             ("fill_mode", "b32", None, 0, [16, 8], 2, dict(base, type=TYPES["f16"][0], fill=1)),
             ("interleave_layout", "b32", None, 0, [16, 8], 2, base)]
    f32 = tensor("f32", [16, 24], [64], box=[8, 8])
    for number in range(13):
        cases.append(("elemtype", "b32", None, number, None, {0: 1, 1: 2, 4: 8, 5: 8, 6: 2, 9: 8, 10: 2}.get(number, 4), f32))
    for space in ("shared::cta", "global"):
        for field, bits, ordinal, value, box, size, m in cases:
            box = box or m["box"]
            n = box[0] * box[1] * size
            where = "%r16" if space == "shared::cta" else "%d8"
            # A map in global memory is copied there first, then changed.
            copy = ("  setp.ge.u32 %p1, %r0, 32;\n  @%p1 bra COPIED;\n  shl.b32 %r14, %r0, 2;\n  cvt.u64.u32 %d5, %r14;\n"
                    "  add.u64 %d5, %d5, %d2;\n  ld.b32 %r15, [%d5];\n" +
                    ("  add.u32 %r17, %r16, %r14;\n  st.shared.b32 [%r17], %r15;\n" if space == "shared::cta" else
                     "  cvt.u64.u32 %d5, %r14;\n  add.u64 %d5, %d5, %d8;\n  st.global.b32 [%d5], %r15;\n") + "COPIED:\n")
            change = (f"  tensormap.replace.tile.{field}.{space}.b1024.{bits} [{where}], " +
                      (f"{ordinal}, " if ordinal is not None else "") + f"{value};\n")
            publish = ("  bar.sync 0;\n  setp.ge.u32 %p1, %r0, 32;\n  @%p1 bra PUBLISHED;\n"
                       "  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
                       "[%d8], [%r16], 128;\nPUBLISHED:\n  bar.sync 0;\n" if space == "shared::cta" else
                       "  bar.sync 0;\n  setp.ne.u32 %p1, %r0, 0;\n  @%p1 bra PUBLISHED;\n"
                       "  fence.proxy.tensormap::generic.release.gpu;\nPUBLISHED:\n  bar.sync 0;\n")
            text = (head([".param .align 64 .b8 map[128]", ".param .u64 t", ".param .u64 out"], zone, version="8.3",
                         target="sm_90a", before=".global .align 128 .b8 gmap[128];\n") +
                    "  .shared .align 128 .b8 smap[128];\n" + fill(zone) + MAP +
                    "  mov.u32 %r16, smap;\n  mov.u64 %d8, gmap;\n  ld.param.u64 %d9, [t];\n  add.u64 %d9, %d9, 192;\n" + copy +
                    "  bar.sync 0;\n  setp.ne.u32 %p1, %r0, 0;\n  @%p1 bra CHANGED;\n" + change + "CHANGED:\n" + publish + FIRST +
                    init(n) + "  fence.proxy.tensormap::generic.acquire.gpu [%d8], 128;\n"
                    "  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                    "[%r1], [%d8, {8, 19}], [%r2];\nNOTFIRST:\n  bar.sync 0;\n" + wait() + give(zone, "out") + "  ret;\n}\n")
            name = f"tensormap.replace.tile.{field}.{space} {ordinal if ordinal is not None else ''} {value}"
            add(name, text, [m, buffer(units(4096)), zeros(zone + 16)])


# ---- which space an address is in -------------------------------------------------------------------------
def spaces():
    """A word a place: bit i of it is the answer of question i."""
    questions = ["const", "global", "local", "shared", "shared::cta", "shared::cluster", "param", "param::entry"]
    ask = "".join(f"  isspacep.{q} %p1, %d5;\n  selp.u32 %r5, {1 << i}, 0, %p1;\n  or.b32 %r4, %r4, %r5;\n"
                  for i, q in enumerate(questions))
    places = [("mov.u64 %d4, g; cvta.global.u64 %d5, %d4;", 0), ("mov.u64 %d4, c; cvta.const.u64 %d5, %d4;", 0),
              ("mov.u64 %d4, c; cvta.const.u64 %d5, %d4;", 60), ("mov.u64 %d4, c; cvta.const.u64 %d5, %d4;", 64),
              ("mov.u64 %d4, c; cvta.const.u64 %d5, %d4;", -1), ("mov.u64 %d4, big; cvta.const.u64 %d5, %d4;", 32767),
              ("mov.u64 %d4, s; cvta.shared.u64 %d5, %d4;", 0), ("mov.u64 %d4, l; cvta.local.u64 %d5, %d4;", 0),
              ("mov.b64 %d4, out; cvta.param.u64 %d5, %d4;", 0), ("mov.b64 %d4, tail; cvta.param.u64 %d5, %d4;", 0),
              ("ld.param.u64 %d5, [out];", 0), ("mov.u64 %d5, 0;", 0), ("mov.u64 %d5, 16;", 0),
              ("mov.u64 %d4, 0; cvta.shared.u64 %d5, %d4;", 0), ("mov.u64 %d4, 0; cvta.local.u64 %d5, %d4;", 0),
              ("mov.u64 %d4, 0; cvta.const.u64 %d5, %d4;", 0), ("mov.u64 %d4, 0; cvta.global.u64 %d5, %d4;", 0),
              ("mov.u64 %d5, -1;", 0), ("mov.u64 %d5, 0x123456789abc;", 0)]
    body = ""
    for i, (make, add_) in enumerate(places):
        body += f"  {make}\n  add.s64 %d5, %d5, {add_};\n  mov.u32 %r4, 0;\n{ask}  st.global.b32 [%d0+{4 * i}], %r4;\n"
    text = (".version 8.3\n.target sm_90\n.address_size 64\n.global .align 8 .b8 g[64];\n.const .align 8 .b8 c[64] = {1, 2, 3};\n"
            ".const .align 8 .b8 big[32768];\n"
            ".visible .entry k(.param .u64 out, .param .u32 tail)\n{\n  .reg .b64 %d<16>; .reg .b32 %r<8>; .reg .pred %p<4>;\n"
            "  .shared .align 8 .b8 s[64];\n  .local .align 8 .b8 l[64];\n  ld.param.u64 %d0, [out];\n"
            "  cvta.to.global.u64 %d0, %d0;\n" + body + "  ret;\n}\n")
    add("isspacep of every space", text, [zeros(4 * len(places)), {"kind": "i32", "value": 7}], block=1)
    text = (".version 8.3\n.target sm_90\n.address_size 64\n.global .align 8 .b8 g[64];\n.const .align 16 .b32 c[8] = {11, 22, 33, 44, 55, 66, 77, 88};\n"
            ".visible .entry k(.param .u64 out)\n{\n  .reg .b64 %d<16>; .reg .b32 %r<8>; .reg .pred %p<4>;\n"
            "  ld.param.u64 %d0, [out];\n  mov.u64 %d4, c;\n  cvta.const.u64 %d5, %d4;\n  mov.u32 %r0, %tid.x;\n  shl.b32 %r1, %r0, 2;\n"
            "  cvt.u64.u32 %d1, %r1;\n  add.u64 %d2, %d5, %d1;\n  ld.b32 %r2, [%d2];\n  cvta.to.const.u64 %d6, %d2;\n  ld.const.b32 %r3, [%d6];\n"
            "  sub.u64 %d7, %d6, %d4;\n  cvt.u32.u64 %r4, %d7;\n"
            "  add.u64 %d3, %d0, %d1;\n  st.global.b32 [%d3], %r2;\n  st.global.b32 [%d3+32], %r3;\n  st.global.b32 [%d3+64], %r4;\n  ret;\n}\n")
    add("cvta.const there and back", text, [zeros(96)], block=8)


tiled()
unaligned()
interleaved()
im2col()
stores()
reductions()
bulk()
clusters()
replace()
spaces()
with open(sys.argv[1], "w") as out:
    for row in rows:
        out.write(json.dumps(row) + "\n")
