# SPDX-License-Identifier: Apache-2.0
"""Vectors of src/tensor/special.h: special.json (torch 2.5.1: values, gradients, types, special values) and special_points.json
(mpmath 1.3.0, 40 digits: numbers x, and f(x) as the nearest f64 and the rest)."""
import json
import os
import sys

import numpy as np
import torch
from mpmath import mp, mpf

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "nn"))
import vectors  # noqa: E402
from vectors import Writer  # noqa: E402

w = Writer(31)
R = w.Real
INF, NAN = float("inf"), float("nan")
S = torch.special
ONE = {
    "lgamma": (torch.lgamma, (0.2, 6)), "digamma": (torch.digamma, (0.2, 6)), "erfinv": (torch.erfinv, (-0.95, 0.95)),
    "erfcx": (S.erfcx, (-2, 4)), "ndtr": (S.ndtr, (-3, 3)), "log_ndtr": (S.log_ndtr, (-6, 3)), "ndtri": (S.ndtri, (0.05, 0.95)),
    "i0": (S.i0, (-4, 4)), "i0e": (S.i0e, (-4, 4)), "i1": (S.i1, (-4, 4)), "i1e": (S.i1e, (-4, 4)), "expit": (S.expit, (-4, 4)),
    "entr": (S.entr, (0.1, 3)),
}
EDGES = [0.0, 1.0, 2.0, -1.0, -2.0, 0.5, -0.5, -1.5, 1.25, 30.0, -30.0, 3.5, -2.75, INF, -INF, NAN]
for name, (f, (lo, hi)) in ONE.items():
    x = R(2, 5, lo=lo, hi=hi)
    x = torch.where(x == 0, torch.full_like(x, 0.25), x)  # PyTorch's i0e has a slope of -1 at 0
    w.Case(name, name, [x], f)
    w.Case(name + "_scalar", name, [R(lo=0.25, hi=0.75)], f)
    w.Case(name + "_empty", name, [R(0, 3)], f)
    # PyTorch's digamma is finite at negative infinity, its i1 NaN at the infinities.
    left_out = {"digamma": [-INF], "i1": [INF, -INF], "i0": [INF, -INF], "i0e": [INF, -INF], "i1e": [INF, -INF]}.get(name, [])
    w.Case(name + "_edges", name, [torch.tensor([e for e in EDGES if e not in left_out], dtype=torch.float64)], f, grad=False, tol=1e-8)
    w.Case(name + "_i32", name, [torch.tensor([1, 0], dtype=torch.int32)], lambda v: f(v.double()).float(), grad=False, tol=3e-7)
    for t, tol in ((torch.float16, 1e-3), (torch.bfloat16, 8e-3), (torch.float32, 1e-6)):
        w.Case(f"{name}_{t}"[:].replace("torch.", ""), name, [R(6, lo=max(lo, -0.9), hi=hi, dtype=t)], lambda v: f(v.double()).to(t), grad=False,
               tol=tol)
for name in ("lgamma", "digamma"):
    w.Case(name + "_negative", name, [torch.tensor([-0.25, -0.75, -1.25, -3.5, -7.125, -20.5], dtype=torch.float64)], ONE[name][0], tol=1e-8)
# PyTorch has NaN at infinity from the second derivative on, and no pole at negative integers.
for n in (0, 1, 2, 3, 6):
    w.Case(f"polygamma_{n}", "polygamma", [R(6, lo=0.3, hi=5)], lambda x: torch.polygamma(n, x), {"n": n}, tol=1e-7)
    w.Case(f"polygamma_{n}_edges", "polygamma", [torch.tensor([0.0, 0.5, 1.0, 12.5, NAN] + ([INF] if n < 2 else []), dtype=torch.float64)],
           lambda x: torch.polygamma(n, x), {"n": n}, grad=False, tol=1e-8)
w.Case("polygamma_negative", "polygamma", [torch.tensor([-0.25, -1.5, -2.75], dtype=torch.float64)], lambda x: torch.polygamma(1, x), {"n": 1},
       grad=False, tol=1e-8)
w.Case("polygamma_f16", "polygamma", [R(4, lo=0.5, hi=5, dtype=torch.float16)], lambda x: torch.polygamma(1, x.double()).half(), {"n": 1}, grad=False,
       tol=1e-3)
for p in (1, 2, 5):
    w.Case(f"mvlgamma_{p}", "mvlgamma", [R(5, lo=2.5, hi=6)], lambda x: torch.mvlgamma(x, p), {"p": p})
w.Case("xlog1py", "xlog1py", [R(2, 3), R(3, lo=-0.9, hi=3)], S.xlog1py)
w.Case("xlog1py_edges", "xlog1py", [torch.tensor([0.0, 0, 0, 1, 2], dtype=torch.float64), torch.tensor([-1.0, NAN, INF, -1.0, -2.0], dtype=torch.float64)],
       S.xlog1py, grad=False)
w.Write(os.path.join(HERE, "special.json"))
if vectors.LISTENERS:
    sys.exit()

# --- Exact values ---

mp.dps = 40
rng = np.random.default_rng(7)


def Reals(lo, hi, n, f32):
    v = rng.uniform(lo, hi, n)
    return [float(np.float32(x)) if f32 else float(x) for x in v]


def Powers(lo, hi, n, f32, sign=False):
    v = 2.0 ** rng.uniform(lo, hi, n) * (np.where(rng.uniform(0, 1, n) < 0.5, -1, 1) if sign else 1)
    return [float(np.float32(x)) if f32 else float(x) for x in v]


def Lgamma(x):
    return mp.re(mp.loggamma(x)) if x > 0 else mp.log(abs(mp.gamma(x)))


def LogNdtr(x):
    return mp.log(mp.erfc(-x / mp.sqrt(2)) / 2) if x < 5 else mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2)


def Erfcx(x):
    if x < 60:
        mp.dps = 60
        r = mp.exp(x * x) * mp.erfc(x)
        mp.dps = 40
        return r
    return sum((-1) ** k * mp.fac2(2 * k - 1) / (2 * x * x) ** k for k in range(12)) / (x * mp.sqrt(mp.pi))


def Inverse(y, upper):
    """z with erfc(z) = y, 0 < y <= 1; upper: y is small."""
    z = mp.erfinv(1 - y) if not upper else mp.sqrt(-mp.log(y))
    for _ in range(60):
        e = mp.erfc(z)
        step = (mp.log(e) - mp.log(y)) * e * mp.sqrt(mp.pi) / 2 * mp.exp(z * z)
        z += step
        if abs(step) < mpf(10) ** -36 * abs(z) + mpf(10) ** -400:
            break
    return z


def Erfinv(x):
    a = abs(x)
    z = mp.erfinv(a) if a < mpf("0.9") else Inverse(1 - a, True)
    return z if x > 0 else -z


def Ndtri(p):
    if p > mpf("0.05") and p < mpf("0.95"):
        return mp.sqrt(2) * mp.erfinv(2 * p - 1)
    z = mp.sqrt(2) * Inverse(2 * min(p, 1 - p), True)
    return -z if p < 0.5 else z


def Bessel(order, scaled):
    return lambda x: mp.besseli(order, x) * (mp.exp(-abs(x)) if scaled else 1)


def Points(*ranges):
    """(kind, lo, hi, n) each, half of them f32 numbers."""
    out = []
    for make, lo, hi, n in ranges:
        for f32 in (True, False):
            out += make(lo, hi, n, f32)
    return out


def Signed(lo, hi, n, f32):
    return Powers(lo, hi, n, f32, True)


GAMMA = Points((Reals, 0, 3.5, 60), (Reals, 0.9, 1.1, 15), (Reals, 1.9, 2.1, 15), (Reals, 3, 20, 40), (Powers, -120, 120, 40), (Reals, -6, 0, 40),
               (Reals, -40, 0, 20), (Signed, -90, -1, 15))
PLUS = Points((Reals, 0.001, 12, 40), (Powers, -3, 20, 20), (Reals, -6, 0, 15))
BESSEL = Points((Reals, -9, 9, 60), (Reals, -90, 90, 40), (Signed, -60, 3, 30), (Reals, 7.9, 8.1, 8))
WIDE = [float(v) for v in rng.uniform(80, 713, 30)]
ROWS = [
    ("lgamma", Lgamma, GAMMA),
    ("digamma", mp.digamma, GAMMA),
    ("polygamma1", lambda x: mp.polygamma(1, x), PLUS), ("polygamma2", lambda x: mp.polygamma(2, x), PLUS),
    ("polygamma5", lambda x: mp.polygamma(5, x), PLUS), ("polygamma12", lambda x: mp.polygamma(12, x), [x for x in PLUS if x > 0]),
    ("polygamma30", lambda x: mp.polygamma(30, x), [x for x in PLUS if x > 0.01]),
    ("erfinv", Erfinv, Points((Reals, -1, 1, 80), (Signed, -100, -1, 30)) + [s * float(1 - np.float32(2.0**-k)) for k in range(3, 25) for s in (1, -1)] +
     [1 - 2.0**-k for k in range(25, 54)]),
    ("erfcx", Erfcx, Points((Reals, -5, 5, 60), (Reals, -26, 0, 20), (Powers, -60, 60, 40), (Reals, 20, 35, 15))),
    ("ndtr", lambda x: mp.erfc(-x / mp.sqrt(2)) / 2, Points((Reals, -5, 5, 60), (Reals, -37, 0, 40), (Signed, -60, 2, 15))),
    ("log_ndtr", LogNdtr, Points((Reals, -5, 5, 60), (Reals, -50, 0, 30), (Reals, 0, 35, 20), (Signed, -60, 12, 20))),
    ("ndtri", Ndtri, Points((Reals, 0.001, 0.999, 80), (Powers, -140, -1, 40)) + [2.0**-k for k in range(150, 1000, 50)] + [1 - 2.0**-k for k in range(2, 54)]),
    ("i0", Bessel(0, False), BESSEL + WIDE), ("i0e", Bessel(0, True), BESSEL + WIDE), ("i1", Bessel(1, False), BESSEL + WIDE),
    ("i1e", Bessel(1, True), BESSEL + WIDE),
]
F32_LEAST = 2.0**-126
out = {}
for name, f, points in ROWS:
    xs, hi, lo = [], [], []
    for x in sorted(set(points)):
        if x == 0 or (x < 0 and x == int(x)) or (0 < abs(x) < F32_LEAST and float(np.float32(x)) == x):
            continue
        y = f(mpf(x))
        h = float(y)
        if abs(h) > 1e306 or (h != 0 and abs(h) < 1e-300):
            continue
        xs.append(x)
        hi.append(h)
        lo.append(float("%.3g" % float(y - mpf(h))))
    out[name] = {"x": xs, "hi": hi, "lo": lo}
with open(os.path.join(HERE, "special_points.json"), "w") as file:
    file.write("{\n" + ",\n".join('"%s": %s' % (k, json.dumps(v, separators=(",", ":"))) for k, v in out.items()) + "\n}\n")
print({k: len(v["x"]) for k, v in out.items()})
