# SPDX-License-Identifier: Apache-2.0
"""Vectors of src/tensor/pool.h, from torch 2.5.1: writes pool.json."""
import torch
import torch.nn.functional as F

from vectors import Writer

w = Writer(3)
R, D = w.Real, w.Distinct


def Args(**k):
    return {key: list(v) if isinstance(v, tuple) else v for key, v in k.items()}


MAX = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
AVG = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}
SHAPES = {1: (2, 2, 9), 2: (1, 2, 7, 6), 3: (1, 2, 4, 5, 4)}

MAX_CASES = [
    (1, dict(kernel_size=3)), (1, dict(kernel_size=3, stride=1)), (1, dict(kernel_size=3, stride=2, padding=1)),
    (1, dict(kernel_size=2, stride=4, ceil_mode=True)), (1, dict(kernel_size=3, stride=1, dilation=3)),
    (1, dict(kernel_size=4, stride=3, padding=2, ceil_mode=True)), (1, dict(kernel_size=2, stride=3, dilation=2, padding=1, ceil_mode=True)),
    (2, dict(kernel_size=2)), (2, dict(kernel_size=3, stride=2, padding=1)), (2, dict(kernel_size=(2, 3), stride=(1, 2))),
    (2, dict(kernel_size=3, stride=2, padding=1, ceil_mode=True)), (2, dict(kernel_size=2, stride=1, dilation=(2, 3))),
    (3, dict(kernel_size=2)), (3, dict(kernel_size=(2, 3, 2), stride=(2, 1, 2), padding=(0, 1, 1), ceil_mode=True)),
]
for i, (n, args) in enumerate(MAX_CASES):
    f = MAX[n]
    w.Case(f"max_pool{n}d_{i}", f"max_pool{n}d", [D(*SHAPES[n])], lambda x: f(x, **args), Args(**args))
    w.Case(f"max_pool{n}d_indices_{i}", f"max_pool{n}d_indices", [D(*SHAPES[n])], lambda x: f(x, return_indices=True, **args), Args(**args))
w.Case("max_pool2d_unbatched", "max_pool2d", [D(2, 4, 4)], lambda x: F.max_pool2d(x, 2), {"kernel_size": 2})
# Ties and NaN: the first largest element, the last NaN.
ties = torch.tensor([[1.0, 3, 3, 2, 2, 2], [5, 5, 5, 0, -1, 0]], dtype=torch.float64).reshape(1, 1, 2, 6)
w.Case("max_pool2d_indices_ties", "max_pool2d_indices", [ties], lambda x: F.max_pool2d(x, (2, 3), return_indices=True), {"kernel_size": [2, 3]}, grad=False)
nan = float("nan")
holes = torch.tensor([1.0, nan, 3, nan, 2, 4, -1, 0, nan], dtype=torch.float64).reshape(1, 1, 9)
w.Case("max_pool1d_nan", "max_pool1d_indices", [holes], lambda x: F.max_pool1d(x, 3, return_indices=True), {"kernel_size": 3}, grad=False)
low = torch.full((1, 1, 4), -float("inf"), dtype=torch.float64)
w.Case("max_pool1d_all_lowest", "max_pool1d_indices", [low], lambda x: F.max_pool1d(x, 2, return_indices=True), {"kernel_size": 2}, grad=False)
w.Case("max_pool2d_i32", "max_pool2d", [w.Int(1, 2, 4, 4, dtype=torch.int32)],
       lambda x: F.max_pool2d(x.double(), 3, 1, 1).int(), {"kernel_size": 3, "stride": 1, "padding": 1}, grad=False)

# Derivatives at ties: windows of few different numbers, overlapping, with padding, and NaNs among them.
for n, args in ((1, dict(kernel_size=3)), (1, dict(kernel_size=3, stride=1, padding=1)), (2, dict(kernel_size=2)),
                (2, dict(kernel_size=3, stride=2, padding=1)), (3, dict(kernel_size=2, stride=1))):
    tied = w.Int(*SHAPES[n], lo=0, hi=2).double()
    w.Case(f"max_pool{n}d_tied_{args['kernel_size']}_{args.get('stride')}", f"max_pool{n}d", [tied], lambda x: MAX[n](x, **args), Args(**args))
for n, size in ((1, 4), (1, 3), (2, (3, 4)), (2, (7, 2)), (3, 3)):
    f = {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}[n]
    tied = w.Int(*SHAPES[n], lo=0, hi=2).double()
    w.Case(f"adaptive_max_pool{n}d_tied_{size}", f"adaptive_max_pool{n}d", [tied], lambda x: f(x, size), Args(size=size))

AVG_CASES = [
    (1, dict(kernel_size=3)), (1, dict(kernel_size=3, stride=1, padding=1)), (1, dict(kernel_size=3, stride=1, padding=1, count_include_pad=False)),
    (1, dict(kernel_size=2, stride=4, ceil_mode=True)), (1, dict(kernel_size=4, stride=3, padding=2, ceil_mode=True)),
    (1, dict(kernel_size=4, stride=3, padding=2, ceil_mode=True, count_include_pad=False)),
    (2, dict(kernel_size=2)), (2, dict(kernel_size=3, stride=2, padding=1)), (2, dict(kernel_size=3, stride=2, padding=1, ceil_mode=True)),
    (2, dict(kernel_size=(3, 2), stride=(2, 1), padding=(1, 0), count_include_pad=False)), (2, dict(kernel_size=2, divisor_override=3)),
    (2, dict(kernel_size=3, stride=2, padding=1, ceil_mode=True, count_include_pad=False)),
    (3, dict(kernel_size=2)), (3, dict(kernel_size=(2, 3, 2), stride=(1, 2, 2), padding=(1, 1, 0), ceil_mode=True)),
    (3, dict(kernel_size=2, divisor_override=-5)),
]
for i, (n, args) in enumerate(AVG_CASES):
    f = AVG[n]
    w.Case(f"avg_pool{n}d_{i}", f"avg_pool{n}d", [R(*SHAPES[n])], lambda x: f(x, **args), Args(**args))

AA = {1: F.adaptive_avg_pool1d, 2: F.adaptive_avg_pool2d, 3: F.adaptive_avg_pool3d}
AM = {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}
for n, size in ((1, 3), (1, 4), (1, 1), (1, 9), (1, 12), (2, (7, 3)), (2, (3, 4)), (2, 1), (2, (None, 2)), (3, (2, 5, 2)), (3, (3, 2, 3))):
    args = {"size": [-1 if v is None else v for v in size] if isinstance(size, tuple) else size}
    f, g = AA[n], AM[n]
    w.Case(f"adaptive_avg_pool{n}d_{size}", f"adaptive_avg_pool{n}d", [R(*SHAPES[n])], lambda x: f(x, size), args)
    w.Case(f"adaptive_max_pool{n}d_{size}", f"adaptive_max_pool{n}d", [D(*SHAPES[n])], lambda x: g(x, size), args)
    w.Case(f"adaptive_max_pool{n}d_indices_{size}", f"adaptive_max_pool{n}d_indices", [D(*SHAPES[n])], lambda x: g(x, size, return_indices=True), args,
           grad=False)

for n, f, p, args in ((1, F.lp_pool1d, 2.0, dict(kernel_size=3)), (1, F.lp_pool1d, 3.0, dict(kernel_size=2, stride=3)),
                      (1, F.lp_pool1d, 1.0, dict(kernel_size=2, stride=4, ceil_mode=True)),
                      (2, F.lp_pool2d, 2.0, dict(kernel_size=(2, 3), stride=2)), (2, F.lp_pool2d, 1.5, dict(kernel_size=2, ceil_mode=True)),
                      (3, F.lp_pool3d, 2.0, dict(kernel_size=2))):
    w.Case(f"lp_pool{n}d_{p}", f"lp_pool{n}d", [R(*SHAPES[n], lo=0.25, hi=2) + 1 / 128], lambda x: f(x, p, **args), dict(Args(**args), p=p))

for n, un, args in ((1, F.max_unpool1d, dict(kernel_size=3)), (1, F.max_unpool1d, dict(kernel_size=2, stride=1)),
                    (2, F.max_unpool2d, dict(kernel_size=2)), (2, F.max_unpool2d, dict(kernel_size=3, stride=2, padding=1)),
                    (3, F.max_unpool3d, dict(kernel_size=2))):
    shape = {1: (2, 2, 6), 2: (1, 2, 6, 6), 3: (1, 1, 4, 4, 4)}[n]
    values, indices = MAX[n](D(*shape), return_indices=True, **args)
    distinct = args.get("stride") is None  # overlapping windows name a cell twice
    size = shape[2:]
    w.Case(f"max_unpool{n}d_{args['kernel_size']}_{args.get('stride')}", f"max_unpool{n}d", [values, indices],
           lambda v, i: un(v, i, output_size=size, **args), dict(Args(**args), output_size=list(size)), grad=distinct)
values, indices = F.max_pool2d(D(1, 1, 5, 5), 2, return_indices=True)
w.Case("max_unpool2d_output_size", "max_unpool2d", [values, indices], lambda v, i: F.max_unpool2d(v, i, 2, output_size=(5, 5)),
       {"kernel_size": 2, "output_size": [5, 5]})
values, indices = F.max_pool1d(D(2, 6), 2, return_indices=True)
w.Case("max_unpool1d_default_size", "max_unpool1d", [values, indices], lambda v, i: F.max_unpool1d(v, i, 2), {"kernel_size": 2})
w.Write("pool.json")
