# SPDX-License-Identifier: Apache-2.0
"""Vectors of src/tensor/random.h: writes random.json.

Threefry-2x32 with 20 rounds is written here from the paper (Salmon et al., 2011) in Python's integers and held to the known answers
of Random123 1.09; what the header says about each distribution is computed from its words in f64 by NumPy and torch 2.5.1.
"""
import math
import os
import sys

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "nn"))
import vectors  # noqa: E402
from vectors import Writer  # noqa: E402

vectors.NAMES.update({torch.uint32: "u32", torch.uint64: "u64"})
MASK = 0xFFFFFFFF


def Threefry(key, counter):
    """Two 32-bit words of two words each."""
    rotations = ((13, 15, 26, 6), (17, 29, 16, 24))
    schedule = [key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA]
    x = [(counter[0] + schedule[0]) & MASK, (counter[1] + schedule[1]) & MASK]
    for block in range(5):
        for r in rotations[block % 2]:
            x[0] = (x[0] + x[1]) & MASK
            x[1] = ((x[1] << r | x[1] >> (32 - r)) & MASK) ^ x[0]
        s = block + 1
        x = [(x[0] + schedule[s % 3]) & MASK, (x[1] + schedule[(s + 1) % 3] + s) & MASK]
    return x


assert Threefry((0, 0), (0, 0)) == [0x6B200159, 0x99BA4EFE]
assert Threefry((MASK, MASK), (MASK, MASK)) == [0x1CB996FC, 0xBB002BE7]
assert Threefry((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3)) == [0xC4923A9C, 0x483DF7A0]


def Words(seed, first, n, stride=1):
    out = [Threefry((seed & MASK, seed >> 32), (c & MASK, c >> 32)) for c in range(first, first + n * stride, stride)]
    return np.array([w[0] for w in out], dtype=np.uint64), np.array([w[1] for w in out], dtype=np.uint64)


def Unit(words):
    return (words >> np.uint64(8)).astype(np.float64) * 2.0**-24


def Unit64(w0, w1):
    return w0.astype(np.float64) * 2.0**-32 + (w1 >> np.uint64(11)).astype(np.float64) * 2.0**-53


def BoxMuller(u, w):
    return np.sqrt(-2 * np.log(1 - u)) * np.cos(2 * math.pi * w)


w = Writer(51)
FLOATS = {"f16": (torch.float16, 1e-3), "bf16": (torch.bfloat16, 8e-3), "f32": (torch.float32, 4e-6), "f64": (torch.float64, 1e-9)}
SEEDS = (7, 123456789123)
count = {}


def Case(op, inputs, value, args, tol, grad=False):
    count[op] = count.get(op, 0) + 1
    w.Case(f"{op}_{count[op]}", op, inputs, value if callable(value) else lambda *_: value, args, grad=grad, tol=max(tol, 1e-10))  # eleven digits
    w.cases[-1]["own_types"] = True


def Tensor(x, t, shape=None):
    y = torch.from_numpy(np.ascontiguousarray(x)).to(t)
    return y if shape is None else y.reshape(shape)


words = [np.random.default_rng(k).integers(0, 2**32, 8, dtype=np.uint64) for k in range(4)]
pairs = [Threefry((int(a), int(b)), (int(c), int(d))) for a, b, c, d in zip(*words)]
u32 = [torch.from_numpy(x.astype(np.uint32)) for x in words]
for op in ("threefry2x32", "threefry2x32_words"):
    Case(op, u32, lambda *_: [torch.from_numpy(np.array([p[k] for p in pairs], dtype=np.uint32)) for k in (0, 1)], {}, 0)
c64, k64 = (np.random.default_rng(k).integers(0, 2**53, 6, dtype=np.uint64) for k in (8, 9))
pairs64 = [Threefry((int(k) & MASK, int(k) >> 32), (int(c) & MASK, int(c) >> 32)) for c, k in zip(c64, k64)]
Case("threefry", [torch.from_numpy(c64), torch.from_numpy(k64)],
     lambda *_: [torch.from_numpy(np.array([p[k] for p in pairs64], dtype=np.uint32)) for k in (0, 1)], {}, 0)

for seed in SEEDS:
    for name, (t, tol) in FLOATS.items():
        w0, w1 = Words(seed, 0, 6)
        a = {"seed": seed, "shape": [2, 3], "dtype": name}
        Case("uniform", [], Tensor(Unit(w0), t, (2, 3)), dict(a, low=0, high=1), 0)
        Case("uniform", [], Tensor(Unit(w0) * 5 - 2, t, (2, 3)), dict(a, low=-2, high=3), tol)
        u, v = Unit(Words(seed, 0, 6, 2)[0]), Unit(Words(seed, 1, 6, 2)[0])
        Case("normal", [], Tensor(BoxMuller(u, v) * 0.5 + 1, t, (2, 3)), dict(a, mean=1, std=0.5), tol)
        # Some numbers are drawn before.
        first = 11
        w0, w1 = Words(seed, first, 6)
        g = dict(a, drawn=first)
        unit = Unit64(w0, w1) if name == "f64" else Unit(w0)
        Case("rand", [], Tensor(unit, t, (2, 3)), g, 0)
        normal = BoxMuller(Unit64(*Words(seed, first, 6)), Unit64(*Words(seed, first + 6, 6))) if name == "f64" else BoxMuller(Unit(w0), Unit(w1))
        Case("randn", [], Tensor(normal, t, (2, 3)), g, tol)
        Case("exponential", [], Tensor(-np.log1p(-unit) / 1.5, t, (2, 3)), dict(g, rate=1.5), tol)
        like = w.Real(2, 3).to(t)
        Case("rand_like", [like], Tensor(unit, t, (2, 3)), g, 0)
        Case("randn_like", [like], Tensor(normal, t, (2, 3)), g, tol)
        p = w.Real(2, 3, lo=0, hi=1).to(t)
        Case("bernoulli", [p], Tensor((unit < p.double().numpy().reshape(-1)).astype(np.float64), t, (2, 3)), g, 0)
        for rate in (0.0, 0.25, 1.0):
            keep = torch.from_numpy(w0.astype(np.int64) >= math.ceil(rate * 2**32)).reshape(2, 3)
            Case("dropout", [like], lambda x: torch.where(keep, x / (1 - rate), 0 * x) if rate < 1 else x * 0, dict(g, p=rate), tol, grad=name == "f64")
        # Cut off where the normal density's integral says.
        cdf = lambda x: 0.5 * math.erfc(-x / math.sqrt(2))  # noqa: E731
        lo, hi = 2 * cdf((-2 - 0.5) / 1.5) - 1, 2 * cdf((1 - 0.5) / 1.5) - 1
        z = torch.erfinv(torch.from_numpy(Unit(w0) * (hi - lo) + lo)) * 1.5 * math.sqrt(2) + 0.5
        Case("trunc_normal", [], z.to(t).reshape(2, 3), dict(g, mean=0.5, std=1.5, a=-2, b=1), max(tol, 8e-6))
        fan_in, fan_out = 3 * 2, 2 * 2
        g3 = dict(g, shape=[2, 3, 2])
        n = Words(seed, first, 12)
        u12 = Unit64(*n) if name == "f64" else Unit(n[0])
        n12 = BoxMuller(Unit64(*n), Unit64(*Words(seed, first + 12, 12))) if name == "f64" else BoxMuller(Unit(n[0]), Unit(n[1]))
        xavier, kaiming = math.sqrt(2 / (fan_in + fan_out)), math.sqrt(2 / (1 + 0.25)) / math.sqrt(fan_in)
        for op, deviation, extra in (("xavier", 1.5 * xavier, {"gain": 1.5}), ("kaiming", kaiming, {"a": 0.5})):
            bound = math.sqrt(3) * deviation
            Case(op + "_uniform", [], Tensor(u12 * 2 * bound - bound, t, (2, 3, 2)), dict(g3, **extra), tol)
            Case(op + "_normal", [], Tensor(n12 * deviation, t, (2, 3, 2)), dict(g3, **extra), tol)
        # Without a draw at the very edge of a weight's share, whose side is a matter of rounding.
        weights = w.Int(4, lo=1, hi=9).to(t)
        running = np.cumsum(weights.double().numpy())
        m = Words(seed, first, 5)
        u5 = Unit64(*m) if name == "f64" else Unit(m[0])
        if np.abs(u5[:, None] * running[-1] - running).min() > 1e-3:
            Case("multinomial", [weights], Tensor(np.searchsorted(running, u5 * running[-1], "right"), torch.int64), dict(g, samples=5, replace=True), 0)
        m = Words(seed, first, 4)
        clock = -np.log1p(-(Unit64(*m) if name == "f64" else Unit(m[0]))) / weights.double().numpy()
        Case("multinomial", [weights], Tensor(np.argsort(clock)[:3], torch.int64), dict(g, samples=3, replace=False), 0)
    for name, t in (("i64", torch.int64), ("i32", torch.int32), ("u8", torch.uint8), ("f32", torch.float32)):
        for low, high in ((0, 10), (-5, 7), (3, 4)) if name != "u8" else ((0, 10), (3, 4)):
            v = [low + (((int(a) << 32 | int(b)) * (high - low)) >> 64) for a, b in zip(*Words(seed, 11, 6))]
            Case("randint", [], torch.tensor(v).to(t).reshape(2, 3), {"seed": seed, "drawn": 11, "shape": [2, 3], "low": low, "high": high, "dtype": name}, 0)
    for name, t in (("i64", torch.int64), ("i32", torch.int32)):
        Case("randperm", [], Tensor(np.argsort(Words(seed, 11, 9)[0], kind="stable"), t), {"seed": seed, "drawn": 11, "n": 9, "dtype": name}, 0)
w.Write(os.path.join(HERE, "random.json"))
