# SPDX-License-Identifier: Apache-2.0
"""Writes test vectors of the network functions: inputs, arguments, PyTorch's results and PyTorch's gradients.

Used by the make_*.py beside it (torch 2.5.1, numpy 1.26 or later; CPU). A case is run in float64 unless its
inputs say otherwise. The gradients are those of sum(out[i] * weight(i)) over all float results, with the
weight that `Weights` gives an element by its position.

`LISTENERS` are told of every case, and then nothing is written (tests/data/ops/make_typed.py, which asks the
same functions in other element types).
"""
import json
import os

import numpy as np
import torch

torch.set_num_threads(1)

LISTENERS = []  # f(writer, op, inputs, function, args); writer: who is asked to write, or a family's name

NAMES = {
    torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16",
    torch.int64: "i64", torch.int32: "i32", torch.int8: "i8", torch.uint8: "u8", torch.bool: "bool",
}


def Weights(shape):
    n = int(np.prod(shape)) if len(shape) else 1
    k = torch.arange(n, dtype=torch.int64)
    return (0.5 + ((k * 7 + 3) % 11).to(torch.float64) / 8).reshape(shape)


def Number(x):
    x = float(x)
    if np.isnan(x):
        return "nan"
    if np.isinf(x):
        return "inf" if x > 0 else "-inf"
    return int(x) if x == int(x) and abs(x) < 2**53 else float("%.11g" % x)


def Dump(t):
    t = t.detach()
    return {"t": NAMES[t.dtype], "s": list(t.shape), "v": [Number(v) for v in t.reshape(-1).to(torch.float64).tolist()]}


class Writer:
    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        self.cases = []

    def Real(self, *shape, lo=-2.0, hi=2.0, dtype=torch.float64):
        """Random multiples of 1/64: exact in float32 and short as text."""
        v = np.round(self.rng.uniform(lo, hi, shape) * 64) / 64
        return torch.tensor(v, dtype=dtype)

    def Distinct(self, *shape, dtype=torch.float64):
        """A random order of distinct multiples of 1/16 around 0 (no ties for maxima)."""
        n = int(np.prod(shape))
        v = (self.rng.permutation(n) - n // 2) / 16 + 1 / 64
        return torch.tensor(v.reshape(shape), dtype=dtype)

    def Int(self, *shape, lo=-5, hi=5, dtype=torch.int64):
        return torch.tensor(self.rng.integers(lo, hi + 1, shape), dtype=dtype)

    def Case(self, name, op, inputs, f, args=None, grad=True, tol=None, cpu=True):
        """f(*inputs) gives a tensor or a list of them."""
        for listen in LISTENERS:
            listen(self, op, inputs, f, args or {})
        leaves = [x.clone().requires_grad_(True) if grad and x.is_floating_point() else x for x in inputs]
        out = f(*leaves)
        out = list(out) if isinstance(out, (list, tuple)) else [out]
        case = {"name": name, "op": op, "args": args or {}, "in": [Dump(x) for x in inputs], "out": [Dump(o) for o in out]}
        if tol is not None:
            case["tol"] = tol
        if not cpu:
            case["cpu"] = False
        if grad:
            loss = sum((o * Weights(o.shape).to(o.dtype)).sum() for o in out if o.requires_grad)
            wanted = [x for x in leaves if x.requires_grad]
            g = torch.autograd.grad(loss, wanted, allow_unused=True)
            by_id = {id(x): y for x, y in zip(wanted, g)}
            case["grad"] = [
                None if by_id.get(id(x)) is None else Dump(by_id[id(x)])["v"] for x in leaves
            ]
        assert all(c["name"] != name for c in self.cases), name
        self.cases.append(case)

    def Write(self, file):
        self.file = os.path.basename(file)
        if LISTENERS:
            return
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), file)
        with open(path, "w") as out:
            out.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in self.cases) + "\n]\n")
        print(file, len(self.cases), "cases,", os.path.getsize(path), "bytes")
