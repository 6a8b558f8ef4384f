# SPDX-License-Identifier: Apache-2.0
"""Vectors of src/tensor/conv.h, from torch 2.5.1: writes conv.json."""
import itertools

import torch
import torch.nn.functional as F

from vectors import Writer

w = Writer(2)
R = w.Real


def Args(**k):
    return {key: list(v) if isinstance(v, tuple) else v for key, v in k.items()}


def Conv(name, n, x, k, bias=True, **args):
    out = k[0]
    f = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}[n]
    inputs = [R(*x), R(*k)] + ([R(out)] if bias else [])
    w.Case(f"conv{n}d_{name}", f"conv{n}d", inputs, lambda a, b, c=None: f(a, b, c, **args), Args(**args))


def Transpose(name, n, x, k, bias=True, **args):
    out = k[1] * args.get("groups", 1)
    f = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}[n]
    inputs = [R(*x), R(*k)] + ([R(out)] if bias else [])
    w.Case(f"conv_transpose{n}d_{name}", f"conv_transpose{n}d", inputs, lambda a, b, c=None: f(a, b, c, **args), Args(**args))


Conv("plain", 1, (2, 2, 7), (3, 2, 3))
Conv("unbatched", 1, (2, 7), (3, 2, 3), bias=False)
for s, p, d in itertools.product((1, 2, 3), (0, 2), (1, 2)):
    Conv(f"s{s}_p{p}_d{d}", 1, (1, 2, 8), (2, 2, 3), stride=s, padding=p, dilation=d)
Conv("k1_stride", 1, (1, 2, 7), (2, 2, 1), stride=3)
Conv("stride_past_kernel", 1, (1, 2, 11), (2, 2, 2), stride=4)
Conv("stride_equals_kernel", 1, (1, 2, 9), (2, 2, 3), stride=3)
Conv("stride_is_reach", 1, (1, 1, 11), (1, 1, 2), stride=3, dilation=2)
Conv("groups", 1, (1, 4, 6), (6, 2, 3), groups=2)
Conv("depthwise", 1, (1, 3, 6), (6, 1, 3), groups=3, padding=1)
Conv("same", 1, (1, 2, 6), (2, 2, 3), padding="same")
Conv("same_even", 1, (1, 2, 6), (2, 2, 4), padding="same", dilation=2)
Conv("valid", 1, (1, 2, 6), (2, 2, 3), padding="valid")
Conv("whole", 1, (1, 2, 5), (2, 2, 5))
Conv("no_batch_elements", 1, (0, 2, 5), (2, 2, 3))
Conv("plain", 2, (2, 2, 5, 6), (3, 2, 3, 2))
Conv("unbatched", 2, (2, 5, 4), (2, 2, 2, 3))
Conv("mixed", 2, (1, 4, 6, 7), (4, 2, 3, 2), stride=(2, 1), padding=(1, 2), dilation=(1, 3), groups=2)
Conv("same", 2, (1, 2, 4, 5), (2, 2, 3, 2), padding="same")
Conv("pointwise", 2, (2, 3, 3, 3), (4, 3, 1, 1))
Conv("stride2", 2, (1, 3, 7, 7), (4, 3, 3, 3), stride=2, padding=1)
Conv("depthwise", 2, (1, 3, 5, 5), (3, 1, 3, 3), groups=3, padding=1)
Conv("plain", 3, (1, 2, 4, 3, 4), (2, 2, 2, 2, 3))
Conv("mixed", 3, (1, 2, 5, 4, 4), (2, 1, 2, 3, 2), stride=(2, 1, 2), padding=(1, 0, 1), dilation=(2, 1, 1), groups=2)
for n, shape, k in ((1, (1, 2, 6), (2, 2, 3)), (2, (1, 2, 4, 5), (2, 2, 3, 2))):
    # {before, after} pairs, which torch has as a padding of its own.
    pairs = [[1, 0], [2, 1]][:n]
    flat = [v for p in reversed(pairs) for v in p]
    f = {1: F.conv1d, 2: F.conv2d}[n]
    w.Case(f"conv{n}d_pairs", f"conv{n}d", [R(*shape), R(*k), R(2)], lambda a, b, c: f(F.pad(a, flat), b, c), {"pairs": pairs})
x, k = R(1, 4, 6, 6, dtype=torch.float16), R(2, 4, 3, 3, dtype=torch.float16)
b = R(2, dtype=torch.float16)
w.Case("conv2d_f16_rounds_once", "conv2d", [x, k, b], lambda a, c, d: F.conv2d(a.double(), c.double(), d.double()).half(), grad=False, tol=2e-3)
w.Case("conv2d_i32", "conv2d", [w.Int(1, 2, 4, 4, dtype=torch.int32), w.Int(2, 2, 2, 2, dtype=torch.int32)],
       lambda a, c: F.conv2d(a.double(), c.double()).int(), grad=False)

Transpose("plain", 1, (2, 2, 4), (2, 3, 3))
Transpose("unbatched", 1, (2, 4), (2, 3, 3))
for s, p, d, e in ((2, 0, 1, 0), (2, 1, 1, 1), (3, 1, 2, 2), (1, 2, 1, 0), (1, 1, 3, 2), (2, 2, 2, 1)):
    Transpose(f"s{s}_p{p}_d{d}_e{e}", 1, (1, 2, 5), (2, 2, 3), stride=s, padding=p, dilation=d, output_padding=e)
Transpose("k1", 1, (1, 2, 4), (2, 2, 1), stride=2)
Transpose("groups", 1, (1, 4, 4), (4, 3, 3), groups=2, stride=2)
Transpose("plain", 2, (1, 2, 3, 3), (2, 2, 2, 3))
Transpose("mixed", 2, (1, 4, 3, 4), (4, 1, 3, 2), stride=(2, 3), padding=(1, 0), output_padding=(1, 2), dilation=(1, 2), groups=2)
Transpose("unet", 2, (1, 3, 3, 3), (3, 2, 2, 2), stride=2)
Transpose("plain", 3, (1, 2, 2, 3, 2), (2, 2, 2, 2, 2), stride=(1, 2, 1), padding=(0, 1, 0))

for k, s, p, d in (((2, 3), 1, 0, 1), ((2, 2), 2, 1, 1), ((3, 2), (1, 2), (2, 0), (2, 1)), ((1, 1), 3, 0, 1), ((2, 2), (2, 2), 0, 1), ((2, 2), 3, 1, 2)):
    args = Args(kernel=k, stride=s, padding=p, dilation=d)
    w.Case(f"im2col_{k}_{s}_{p}_{d}", "im2col", [R(2, 2, 5, 6)], lambda x: F.unfold(x, k, d, p, s), args)
    columns = F.unfold(torch.zeros(1, 2, 5, 6), k, d, p, s).shape
    w.Case(f"col2im_{k}_{s}_{p}_{d}", "col2im", [R(*columns)], lambda x: F.fold(x, (5, 6), k, d, p, s), dict(args, size=[5, 6]))
w.Case("im2col_unbatched", "im2col", [R(2, 4, 4)], lambda x: F.unfold(x, 2), Args(kernel=2, stride=1, padding=0, dilation=1))
w.Case("col2im_unbatched", "col2im", [R(8, 9)], lambda x: F.fold(x, (4, 4), 2), dict(Args(kernel=2, stride=1, padding=0, dilation=1), size=[4, 4]))
w.Write("conv.json")
