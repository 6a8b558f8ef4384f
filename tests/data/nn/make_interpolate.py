# SPDX-License-Identifier: Apache-2.0
"""Vectors of src/tensor/interpolate.h, from torch 2.5.1: writes interpolate.json."""
import torch
import torch.nn.functional as F

from vectors import Writer

w = Writer(8)
R = w.Real
SHAPES = {1: (1, 2, 6), 2: (1, 2, 4, 6), 3: (1, 1, 3, 4, 2)}
MODES = {1: ("nearest", "nearest-exact", "linear", "area"), 2: ("nearest", "nearest-exact", "bilinear", "bicubic", "area"),
         3: ("nearest", "nearest-exact", "trilinear", "area")}
SIZES = {1: [(12,), (3,), (9,), (5,), (7,), (1,), (6,)], 2: [(8, 12), (2, 3), (6, 4), (5, 7), (4, 9)], 3: [(6, 8, 4), (2, 3, 5)]}


def Case(n, mode, align, **size):
    args = {k: (list(v) if isinstance(v, tuple) else v) for k, v in size.items()}
    corners = align if mode in ("linear", "bilinear", "bicubic", "trilinear") else None
    w.Case(f"{mode}_{n}d_{size}_{align}", "interpolate", [R(*SHAPES[n])],
           lambda x: F.interpolate(x, mode=mode, align_corners=corners, **size), dict(args, mode=mode, align_corners=align))


for n in (1, 2, 3):
    for mode in MODES[n]:
        for align in (False, True) if mode in ("linear", "bilinear", "bicubic", "trilinear") else (False,):
            for size in SIZES[n]:
                Case(n, mode, align, size=size)
for mode in ("nearest", "nearest-exact", "linear"):
    for factor in (2.0, 0.5, 1.5, 2.3, 0.7):
        Case(1, mode, False, scale_factor=factor)
        Case(1, mode, False, scale_factor=factor, recompute_scale_factor=True)
Case(2, "bilinear", False, scale_factor=(2.0, 1.5))
Case(2, "bicubic", True, scale_factor=(1.7, 0.6))
Case(2, "bicubic", False, scale_factor=3.0)
hole = R(1, 1, 4)
hole[0, 0, 2] = float("inf")
w.Case("nearest_keeps_infinities", "interpolate", [hole], lambda x: F.interpolate(x, size=6), {"size": [6], "mode": "nearest", "align_corners": False}, grad=False)

w.Case("pixel_shuffle", "pixel_shuffle", [R(2, 8, 2, 3)], lambda x: F.pixel_shuffle(x, 2), {"r": 2})
w.Case("pixel_shuffle_unbatched", "pixel_shuffle", [R(9, 1, 2)], lambda x: F.pixel_shuffle(x, 3), {"r": 3})
w.Case("pixel_unshuffle", "pixel_unshuffle", [R(2, 2, 4, 6)], lambda x: F.pixel_unshuffle(x, 2), {"r": 2})
w.Case("channel_shuffle", "channel_shuffle", [R(2, 6, 2, 1)], lambda x: F.channel_shuffle(x, 3), {"groups": 3}, grad=False)

for mode in ("bilinear", "nearest"):
    for padding in ("zeros", "border", "reflection"):
        for align in (False, True):
            w.Case(f"grid_sample_{mode}_{padding}_{align}", "grid_sample", [R(2, 2, 3, 4), R(2, 2, 3, 2, lo=-1.7, hi=1.7)],
                   lambda x, g: F.grid_sample(x, g, mode=mode, padding_mode=padding, align_corners=align),
                   {"mode": mode, "padding": padding, "align_corners": align})
w.Write("interpolate.json")
