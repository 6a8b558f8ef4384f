#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the vectors of the reduce, scan, gather and sort families with PyTorch 2.5.1 (CPU).

    python3 make_vectors.py    # writes *.json beside itself

A case is {"name", "op", "args", "in", "out", "grad"}: tensors are {"t": dtype, "s": shape, "v": elements in row-major
order}; "grad" holds, for each input, the gradient of the sum over all float outputs of output * weight, where the i-th
element's weight is 0.5 + ((7 i + 3) mod 11) / 8; null where there is none. "cpu": run on CPU too, in the same types.
"""
import json
import math
import os
import sys

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "nn"))
import vectors  # noqa: E402
NAMES = {
    torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16", torch.int8: "i8",
    torch.uint8: "u8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64", torch.bool: "bool",
}
F32, F64, F16, BF16 = torch.float32, torch.float64, torch.float16, torch.bfloat16
I8, U8, I32, I64, BOOL = torch.int8, torch.uint8, torch.int32, torch.int64, torch.bool
gen = torch.Generator().manual_seed(20240817)
cases = {}
family = ""


def number(x):
    if isinstance(x, bool):
        return int(x)
    if isinstance(x, float):
        if math.isnan(x):
            return "nan"
        if math.isinf(x):
            return "inf" if x > 0 else "-inf"
        return int(x) if x == int(x) and not (x == 0 and math.copysign(1, x) < 0) else x
    return x


def pack(t):
    flat = t.detach().reshape(-1)
    if flat.dtype in (F16, BF16, F32):
        flat = flat.to(F64)
    # Nine digits tell all f32 apart.
    values = [number(v) for v in flat.tolist()]
    if t.dtype in (F16, BF16, F32):
        values = [float("%.9g" % v) if isinstance(v, float) else v for v in values]
    return {"t": NAMES[t.dtype], "s": list(t.shape), "v": values}


def weights(n):
    return torch.tensor([0.5 + ((7 * i + 3) % 11) / 8 for i in range(n)], dtype=F64)


def case(op, inputs, f, args=None, grad=True):
    for listen in vectors.LISTENERS:
        listen(family, op, inputs, f, args or {})
    ins = [t.detach().clone().requires_grad_(grad and t.is_floating_point()) for t in inputs]
    out = f(*ins)
    outs = list(out) if isinstance(out, (tuple, list)) else [out]
    count = len(cases.get(family, []))
    entry = {"name": op + " " + " ".join(NAMES[t.dtype] + "x".join(map(str, t.shape)) for t in inputs), "op": op,
             "args": args or {}, "in": [pack(t) for t in inputs], "out": [pack(t) for t in outs]}
    # Every third case runs on CPU too, in its own types.
    entry.update({"cpu": True, "own_types": True} if count % 3 == 0 else {"cpu": False})
    narrow = {F16: 2e-3, BF16: 2e-2, F32: 4e-6}
    entry["tol"] = max([narrow.get(t.dtype, 1e-9) for t in list(inputs) + outs])
    loss = None
    for o in outs:
        if o.is_floating_point() and o.requires_grad and o.numel() > 0:
            part = (o.reshape(-1).to(F64) * weights(o.numel())).sum()
            loss = part if loss is None else loss + part
    if loss is not None:
        loss.backward()
        entry["grad"] = [pack(t.grad)["v"] if t.grad is not None else None for t in ins]
    cases.setdefault(family, []).append(entry)


def rand(shape, dtype=F32, lo=-2.0, hi=2.0):
    if dtype == BOOL:
        return torch.rand(shape, generator=gen) < 0.5
    if not dtype.is_floating_point:
        return torch.randint(0 if dtype == U8 else -5, 6, shape, generator=gen).to(dtype)
    # Multiples of 1/64: short in text, exact in every type.
    return (torch.randint(int(lo * 64), int(hi * 64) + 1, shape, generator=gen).to(F64) / 64).to(dtype)


def ties(shape, dtype=F32):
    return torch.randint(-2, 3, shape, generator=gen).to(dtype)


def distinct(shape, dtype=F32):
    n = math.prod(shape)
    return ((torch.randperm(n, generator=gen).to(F64) - n // 2) / 8).to(dtype).reshape(shape)


NAN, INF = float("nan"), float("inf")
SPECIAL = torch.tensor([[1.0, NAN, -INF, 0.0], [INF, 2.0, INF, -0.0], [-INF, -INF, -INF, -INF], [NAN, NAN, 3.0, NAN]])


# --- reduce ---
family = "reduce"
SHAPES = [((3, 4), []), ((3, 4), [0]), ((3, 4), [1]), ((2, 3, 4), [0, 2]), ((2, 3, 4), [-2]), ((5,), [0]), ((), []),
          ((2, 0, 3), [1]), ((0, 3), [1])]


def dims(shape, d):
    return tuple(d) if d else tuple(range(len(shape)))


for shape, d in SHAPES:
    for keep in (False, True):
        a = {"dim": d, "keepdim": keep}
        dd = dims(shape, d)
        one = lambda f, t: f(t) if len(shape) == 0 else f(t)
        for dtype in (F32, BOOL) + ((F16, I32) if keep else ()):
            case("sum", [rand(shape, dtype)], lambda x: torch.sum(x, dd, keep), a)
        case("sum", [rand(shape, F16)], lambda x: torch.sum(x, dd, keep, dtype=F64), dict(a, dtype="f64"))
        case("sum", [rand(shape, I8)], lambda x: torch.sum(x, dd, keep, dtype=F32), dict(a, dtype="f32"))
        case("mean", [rand(shape, F64)], lambda x: torch.mean(x, dd, keep), a)
        case("mean", [rand(shape, I32)], lambda x: torch.mean(x, dd, keep, dtype=F32), dict(a, dtype="f32"))
        case("any", [rand(shape, BOOL)], lambda x: torch.any(x, dd, keep) if shape else torch.any(x), a)
        case("all", [rand(shape, I32)], lambda x: torch.all(x, dd, keep) if shape else torch.all(x), a)
        case("any", [ties(shape, F32)], lambda x: torch.any(x, dd, keep) if shape else torch.any(x), a, grad=False)
        case("logsumexp", [rand(shape, F32)], lambda x: torch.logsumexp(x, dd, keep), a)
        case("nansum", [torch.where(rand(shape) < -1, NAN, rand(shape))],
             lambda x: torch.nansum(x, dd, keep), a)
        case("nanmean", [torch.where(rand(shape) < -1, NAN, rand(shape))],
             lambda x: torch.nanmean(x, dd, keep), a)
        case("var", [rand(shape, F64)], lambda x: torch.var(x, dd, correction=1, keepdim=keep), dict(a, correction=1))
        case("var", [rand(shape, F32)], lambda x: torch.var(x, dd, correction=0.5, keepdim=keep),
             dict(a, correction=0.5))
        case("std", [rand(shape, F32)], lambda x: torch.std(x, dd, correction=0, keepdim=keep), dict(a, correction=0))
        case("var_mean", [rand(shape, F32)], lambda x: torch.var_mean(x, dd, correction=1, keepdim=keep),
             dict(a, correction=1))
        case("std_mean", [rand(shape, F64)], lambda x: torch.std_mean(x, dd, correction=1, keepdim=keep),
             dict(a, correction=1))
        if 0 not in shape:
            for t in (ties(shape), rand(shape, I32), rand(shape, BOOL)):
                case("amax", [t], lambda x: torch.amax(x, dd, keep), a)
                case("amin", [t], lambda x: torch.amin(x, dd, keep), a)
    case("count_nonzero", [ties(shape, F32)], lambda x: torch.count_nonzero(x, d if d else None), {"dim": d}, False)
    case("count_nonzero", [rand(shape, BOOL)], lambda x: torch.count_nonzero(x, d if d else None), {"dim": d})

for shape, d in [((3, 4), 0), ((3, 4), -1), ((2, 3, 4), 1), ((7,), 0), ((), 0), ((1, 5), 0)]:
    for keep in (False, True):
        a = {"dim": d, "keepdim": keep}
        for t in (ties(shape), ties(shape, F64), rand(shape, I32), rand(shape, U8), rand(shape, BOOL)):
            if t.dtype != BOOL:
                case("argmax", [t], lambda x: torch.argmax(x, d, keep), a, False)
                case("argmin", [t], lambda x: torch.argmin(x, d, keep), a, False)
            case("max", [t], lambda x: torch.max(x, d, keep), a)
            case("min", [t], lambda x: torch.min(x, d, keep), a)
        case("aminmax", [distinct(shape)], lambda x: torch.aminmax(x, dim=d, keepdim=keep), a, False)
    for dtype in (F32, F64):
        case("softmax", [rand(shape, dtype)], lambda x: torch.softmax(x, d), {"dim": d})
        case("log_softmax", [rand(shape, dtype)], lambda x: torch.log_softmax(x, d), {"dim": d})
    case("softmax", [rand(shape, F16)], lambda x: torch.softmax(x, d, dtype=F32), {"dim": d, "dtype": "f32"})
    case("prod", [ties(shape, F64)], lambda x: torch.prod(x, d), {"dim": [d], "keepdim": False})
    case("prod", [rand(shape, I32)], lambda x: torch.prod(x, d), {"dim": [d], "keepdim": False})
    t = rand(shape)
    if t.numel() > 1:
        t.reshape(-1)[1] = 0
    case("prod", [t], lambda x: torch.prod(x, d), {"dim": [d], "keepdim": False})
for shape in [(3, 4), (6,), ()]:
    case("argmax", [ties(shape)], lambda x: torch.argmax(x), {"keepdim": False}, False)
    case("argmin", [ties(shape, I32)], lambda x: torch.argmin(x), {"keepdim": False}, False)
case("prod", [rand((2, 0))], lambda x: torch.prod(x, 1), {"dim": [1], "keepdim": False})
for d in (0, 1):
    a = {"dim": d, "keepdim": False}
    case("max", [SPECIAL], lambda x: torch.max(x, d), a, False)
    case("min", [SPECIAL], lambda x: torch.min(x, d), a, False)
    case("argmax", [SPECIAL], lambda x: torch.argmax(x, d), a, False)
    case("logsumexp", [SPECIAL], lambda x: torch.logsumexp(x, d), {"dim": [d], "keepdim": False}, False)
    case("nansum", [SPECIAL], lambda x: torch.nansum(x, d), {"dim": [d], "keepdim": False}, False)
    case("all", [SPECIAL], lambda x: torch.all(x, d), {"dim": [d], "keepdim": False}, False)
    case("amax", [SPECIAL], lambda x: torch.amax(x, d), {"dim": [d], "keepdim": False}, False)

# --- scan ---
family = "scan"
for shape, d in [((5,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 4), -2), ((), 0), ((1,), 0), ((0,), 0), ((2, 0), 0),
                 ((33,), 0), ((70,), 0), ((2, 40), 1)]:
    a = {"dim": d}
    small = rand(shape, F32, -1, 1)
    for t in (rand(shape), rand(shape, F64), rand(shape, I32), rand(shape, BOOL), rand(shape, I8)):
        case("cumsum", [t], lambda x: torch.cumsum(x, d), a)
    case("cumsum", [rand(shape, F16)], lambda x: torch.cumsum(x, d, dtype=F32), dict(a, dtype="f32"))
    for t in (rand(shape, F64, 0.75, 1.25), rand(shape, I8)):
        case("cumprod", [t], lambda x: torch.cumprod(x, d), a)
    if small.numel() > 3:
        holes = rand(shape, F64, 0.5, 1.5)
        holes.reshape(-1)[2] = 0
        case("cumprod", [holes], lambda x: torch.cumprod(x, d), a)
        holes.reshape(-1)[3] = 0
        case("cumprod", [holes], lambda x: torch.cumprod(x, d), a)
    for t in (ties(shape), ties(shape, I32), rand(shape)):
        case("cummax", [t], lambda x: torch.cummax(x, d), a)
        case("cummin", [t], lambda x: torch.cummin(x, d), a)
    for t in (rand(shape), rand(shape, F64, -4, 4)):
        case("logcumsumexp", [t], lambda x: torch.logcumsumexp(x, d), a)
for d in (0, 1):
    case("cummax", [SPECIAL], lambda x: torch.cummax(x, d), {"dim": d}, False)
    case("cummin", [SPECIAL], lambda x: torch.cummin(x, d), {"dim": d}, False)
    case("logcumsumexp", [SPECIAL], lambda x: torch.logcumsumexp(x, d), {"dim": d}, False)
    case("cumsum", [SPECIAL], lambda x: torch.cumsum(x, d), {"dim": d}, False)
big = rand((2100,), F64)
case("cumsum", [big], lambda x: torch.cumsum(x, 0), {"dim": 0}, False)
case("cumsum", [rand((2100,), I32)], lambda x: torch.cumsum(x, 0), {"dim": 0})
for shape, d in [((5,), 0), ((3, 4), 0), ((3, 4), 1), ((1, 2), 0), ((0, 2), 0)]:
    for n in (0, 1, 2):
        case("diff", [rand(shape)], lambda x: torch.diff(x, n, d), {"n": n, "dim": d})
    case("diff", [rand(shape, BOOL)], lambda x: torch.diff(x, 1, d), {"n": 1, "dim": d})
case("diff", [rand((3, 4)), rand((3, 1)), rand((3, 2))], lambda x, p, q: torch.diff(x, 1, 1, p, q), {"n": 1, "dim": 1})
for shape, d in [((5,), 0), ((3, 4), 0), ((3, 4), 1), ((1, 3), 0)]:
    case("trapezoid", [rand(shape)], lambda y: torch.trapezoid(y, dx=0.5, dim=d), {"dx": 0.5, "dim": d})
    case("cumulative_trapezoid", [rand(shape)], lambda y: torch.cumulative_trapezoid(y, dx=0.5, dim=d),
         {"dx": 0.5, "dim": d})
    case("trapezoid", [rand(shape), rand((shape[d],))], lambda y, x: torch.trapezoid(y, x, dim=d), {"dim": d})
    case("cumulative_trapezoid", [rand(shape), rand(shape)], lambda y, x: torch.cumulative_trapezoid(y, x, dim=d),
         {"dim": d})

# --- gather ---
family = "gather"


def index(shape, n, dtype=I64):
    return torch.randint(0, n, shape, generator=gen).to(dtype)


for dtype in (F32, F64, F16, I32, BOOL):
    case("gather", [rand((4,), dtype), index((6,), 4)], lambda x, i: torch.gather(x, 0, i), {"dim": 0})
    case("gather", [rand((3, 4), dtype), index((2, 4), 3)], lambda x, i: torch.gather(x, 0, i), {"dim": 0})
    case("gather", [rand((3, 4), dtype), index((2, 5), 4)], lambda x, i: torch.gather(x, -1, i), {"dim": -1})
    case("gather", [rand((2, 3, 4), dtype), index((2, 5, 3), 3)], lambda x, i: torch.gather(x, 1, i), {"dim": 1})
    case("gather", [rand((2, 3), dtype), index((0, 3), 2)], lambda x, i: torch.gather(x, 0, i), {"dim": 0})
    case("gather", [rand((), dtype), index((), 1)], lambda x, i: torch.gather(x, 0, i), {"dim": 0})
    case("take", [rand((3, 4), dtype), torch.tensor([[0, -1, 5], [11, -12, 5]])], lambda x, i: torch.take(x, i))
    case("index_select", [rand((3, 4), dtype), torch.tensor([2, 0, 2], dtype=I32)],
         lambda x, i: torch.index_select(x, 0, i), {"dim": 0})
    case("index_select", [rand((2, 3, 4), dtype), torch.tensor([1, 1, 3, 0, 2])],
         lambda x, i: torch.index_select(x, 2, i), {"dim": 2})
case("index_select", [rand((3, 4)), torch.zeros(0, dtype=I64)], lambda x, i: torch.index_select(x, 0, i), {"dim": 0})
case("index_select", [rand((3, 4)), torch.tensor(1)], lambda x, i: torch.index_select(x, 0, i), {"dim": 0})
case("take", [rand(()), torch.tensor([0, 0])], lambda x, i: torch.take(x, i))
case("take_along_dim", [rand((3, 4)), index((1, 4), 3)], lambda x, i: torch.take_along_dim(x, i, 0), {"dim": 0})
case("take_along_dim", [rand((1, 4)), index((3, 2), 4)], lambda x, i: torch.take_along_dim(x, i, 1), {"dim": 1})
case("take_along_dim", [rand((3, 4)), index((5,), 12)], lambda x, i: torch.take_along_dim(x, i))
for dtype in (F32, F64, I32):
    for shape, d, m in [((3, 4), 0, 5), ((3, 4), 1, 2), ((2, 3, 4), 1, 4), ((4,), 0, 6)]:
        s = list(shape)
        s[d] = m
        i = index((m,), shape[d])
        case("index_add", [rand(shape, dtype), i, rand(s, dtype)], lambda x, i, y: torch.index_add(x, d, i, y), {"dim": d})
        case("index_add", [rand(shape, dtype), i, rand(s, dtype)],
             lambda x, i, y: torch.index_add(x, d, i, y, alpha=3), {"dim": d, "alpha": 3})
        case("index_fill", [rand(shape, dtype), i - 1], lambda x, i: torch.index_fill(x, d, i, 2),
             {"dim": d, "value": 2})
        k = min(m, shape[d])
        s[d] = k
        case("index_copy", [rand(shape, dtype), torch.randperm(shape[d], generator=gen)[:k], rand(s, dtype)],
             lambda x, i, y: torch.index_copy(x, d, i, y), {"dim": d})


def unique_index(shape, d, n):
    k = torch.argsort(torch.rand([n if a == d else e for a, e in enumerate(shape)], generator=gen), d)
    return k.narrow(d, 0, shape[d]).contiguous()


for dtype in (F32, F64, I32):
    for shape, ishape, d in [((3, 4), (2, 4), 0), ((3, 4), (3, 2), 1), ((2, 3, 4), (1, 3, 3), 1), ((5,), (4,), 0),
                             ((3, 4), (2, 0), 1)]:
        src_shape = [e + 1 for e in ishape]
        u, i = unique_index(ishape, d, shape[d]), index(ishape, shape[d])
        # Gradients of sources need source and index of one shape in PyTorch.
        a = {"dim": d}
        case("scatter", [rand(shape, dtype), u, rand(ishape, dtype)], lambda x, i, y: torch.scatter(x, d, i, y), a)
        case("scatter", [rand(shape, dtype), u, rand(src_shape, dtype)], lambda x, i, y: torch.scatter(x, d, i, y), a,
             False)
        case("scatter_value", [rand(shape, dtype), i], lambda x, i: torch.scatter(x, d, i, 3), dict(a, value=3))
        case("scatter_add", [rand(shape, dtype), i, rand(ishape, dtype)],
             lambda x, i, y: torch.scatter_add(x, d, i, y), a)
        for mode in ("sum", "prod", "mean", "amax", "amin"):
            for include in (True, False):
                x, y = (rand(shape, dtype), rand(ishape, dtype)) if dtype != F32 else (ties(shape), ties(ishape))
                # PyTorch 2.5 has no gradient of products where factors are 0, and without the place itself it still
                # counts that among the equal elements that share the gradient of an extremum.
                g = not (dtype == F32 and (mode == "prod" or (mode in ("amax", "amin") and not include)))
                case("scatter_reduce", [x, i, y],
                     lambda x, i, y: torch.scatter_reduce(x, d, i, y, mode, include_self=include),
                     dict(a, mode=mode, include_self=include), g)
case("scatter_add", [rand((3,)), index((200,), 3), rand((200,))], lambda x, i, y: torch.scatter_add(x, 0, i, y),
     {"dim": 0})
for shape in [(6,), (3, 4), (2, 3, 4), (), (0, 2)]:
    for size in (0, 3, 15):
        t = ties(shape)
        def Nonzero(x):
            nz = torch.nonzero(x)
            want = torch.full((size, len(shape)), -7, dtype=I64)
            k = min(size, nz.shape[0])
            if len(shape):
                want[:k] = nz[:k]
            return want
        case("nonzero_static", [t], Nonzero, {"size": size, "fill_value": -7}, False)
        m = rand(shape, BOOL)

        def select(x, mask):
            s = torch.masked_select(x, mask)
            k = min(size, s.shape[0])
            out = torch.cat([s[:k], torch.full((size - k,), 9).to(s.dtype)])
            return out, mask.sum()
        case("masked_select_static", [rand(shape), m], select, {"size": size, "fill_value": 9})
for right in (False, True):
    a = {"right": right}
    for n in (1, 2, 3, 4, 7, 8, 20):
        seq = torch.sort(ties((n,)))[0]
        case("searchsorted", [seq, rand((2, 5), F32, -3, 3)], lambda s, v: torch.searchsorted(s, v, right=right), a, False)
        case("searchsorted", [seq, ties((9,))], lambda s, v: torch.searchsorted(s, v, right=right), a, False)
    rows = torch.sort(rand((3, 6), I32), -1)[0]
    case("searchsorted", [rows, rand((3, 4), I32)], lambda s, v: torch.searchsorted(s, v, right=right), a, False)
    case("bucketize", [rand((3, 4)), torch.tensor([-1.0, 0.0, 0.5, 1.0])],
         lambda v, b: torch.bucketize(v, b, right=right), a, False)
    case("searchsorted", [torch.tensor([1.0, 2.0, INF]), torch.tensor([NAN, INF, -INF])],
         lambda s, v: torch.searchsorted(s, v, right=right), a, False)
for n in (0, 1, 9):
    x = index((n,), 5)
    case("bincount", [x], lambda x: torch.bincount(x, minlength=6), {"size": 6})
    if n == 0:  # PyTorch then answers in i64 whatever the weights
        continue
    case("bincount", [x, rand((n,))], lambda x, w: torch.bincount(x, w, minlength=6), {"size": 6}, False)
    case("bincount", [x, rand((n,), I32)], lambda x, w: torch.bincount(x, w, minlength=6), {"size": 6})
for bins, lo, hi in [(4, -1, 1), (5, 0, 0), (3, -2, 2)]:
    case("histc", [rand((40,))], lambda x: torch.histc(x, bins, lo, hi), {"bins": bins, "min": lo, "max": hi}, False)
case("histc", [torch.full((4,), 2.0)], lambda x: torch.histc(x, 4), {"bins": 4, "min": 0, "max": 0}, False)

# --- sort ---
family = "sort"
for shape, d in [((1,), 0), ((2,), 0), ((5,), 0), ((8,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 5), 1), ((), 0), ((0,), 0),
                 ((2, 0), 0), ((33,), 0), ((2, 20), -1)]:
    for descending in (False, True):
        a = {"dim": d, "descending": descending}
        kinds = (ties(shape), ties(shape, F64), rand(shape, I32), rand(shape, U8)) + (
            (rand(shape, F16), rand(shape, I64), rand(shape, BOOL), rand(shape, I8)) if descending else ())
        for t in kinds:
            case("sort", [t], lambda x: torch.sort(x, dim=d, descending=descending, stable=True), a)
    n = shape[d] if shape else 1
    for k in sorted({0, min(1, n), n // 2, n} if shape else {1}):
        for largest in (False, True):
            case("topk", [distinct(shape)], lambda x: torch.topk(x, k, d, largest), {"k": k, "dim": d, "largest": largest})
    if n > 0 and 0 not in shape:
        for k in sorted({1, (n + 1) // 2, n}):
            for keep in (False, True):
                case("kthvalue", [distinct(shape)], lambda x: torch.kthvalue(x, k, d, keep),
                     {"k": k, "dim": d, "keepdim": keep})
        for keep in (False, True):
            case("median", [distinct(shape)], lambda x: torch.median(x, d, keep), {"dim": d, "keepdim": keep})
            case("median", [distinct(shape, I32)], lambda x: torch.median(x, d, keep), {"dim": d, "keepdim": keep})
            case("nanmedian", [distinct(shape)], lambda x: torch.nanmedian(x, d, keep), {"dim": d, "keepdim": keep})
        case("median", [ties(shape)], lambda x: torch.median(x), {})
        case("nanmedian", [ties(shape)], lambda x: torch.nanmedian(x), {})
for d in (0, 1):
    for descending in (False, True):
        a = {"dim": d, "descending": descending}
        case("sort", [SPECIAL], lambda x: torch.sort(x, dim=d, descending=descending, stable=True), a, False)
        case("sort", [SPECIAL.to(F64)], lambda x: torch.sort(x, dim=d, descending=descending, stable=True), a, False)
    case("median_value", [SPECIAL], lambda x: torch.median(x, d)[0], {"dim": d}, False)
    case("nanmedian_value", [SPECIAL], lambda x: torch.nanmedian(x, d)[0], {"dim": d}, False)
case("msort", [ties((4, 3))], lambda x: torch.msort(x))

# --- create ---
family = "create"
for args in [(0, 5, 1), (2, 11, 3), (5, 0, -2), (0, 1, 0.25), (-1.5, 2, 0.7), (3, 3, 1), (1, 2, 0.1)]:
    for dtype in (F32, F64) + ((I32, I64) if all(a == int(a) for a in args) else ()):
        case("arange", [], lambda: torch.arange(*args, dtype=dtype), {"a": args, "dtype": NAMES[dtype]})
for args in [(0, 1, 5), (-2, 3, 6), (1, 1, 1), (0, 10, 1), (0, 1, 0), (0, 1, 7), (-1, 1, 33)]:
    case("linspace", [], lambda: torch.linspace(*args, dtype=F64), {"a": args, "dtype": "f64"})
    case("linspace", [], lambda: torch.linspace(*args), {"a": args, "dtype": "f32"})
    case("logspace", [], lambda: torch.logspace(*args, dtype=F64), {"a": args, "base": 10, "dtype": "f64"})
    case("logspace", [], lambda: torch.logspace(*args, base=2), {"a": args, "base": 2, "dtype": "f32"})
for n, m in [(3, 3), (2, 4), (4, 2), (0, 3), (1, 1)]:
    case("eye", [], lambda: torch.eye(n, m), {"n": n, "m": m})
    for o in (-2, -1, 0, 1, 3):
        case("tril_indices", [], lambda: torch.tril_indices(n, m, o), {"n": n, "m": m, "offset": o})
        case("triu_indices", [], lambda: torch.triu_indices(n, m, o), {"n": n, "m": m, "offset": o})
for inc in (False, True):
    for n in (None, 0, 1, 4):
        case("vander", [rand((3,))], lambda x: torch.vander(x, n, inc), {"n": n, "increasing": inc}, False)
    case("vander", [rand((3,), I32).to(I64)], lambda x: torch.vander(x, 3, inc), {"n": 3, "increasing": inc}, False)

total = 0
for name, list_of_cases in cases.items() if not vectors.LISTENERS else []:
    path = os.path.join(HERE, name + ".json")
    with open(path, "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in list_of_cases) + "\n]\n")
    total += len(list_of_cases)
    print(name, len(list_of_cases), os.path.getsize(path))
print(total)
