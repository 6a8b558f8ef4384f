# SPDX-License-Identifier: Apache-2.0
"""Vectors of src/tensor/elementwise_ops.h and activation.h, from torch 2.5.1: writes elementwise.json."""
import os
import sys

import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "nn"))
from vectors import Writer  # noqa: E402

w = Writer(11)
R = w.Real
INF, NAN = float("inf"), float("nan")
# Zeros are positive: the text of a vector has no sign of a zero (math_sweep_test.cc looks at those).
EDGES = [0.0, 3.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 80.0, -80.0, INF, -INF, NAN]


def Edges(dtype=torch.float64):
    return torch.tensor(EDGES, dtype=dtype)


def Pairs(dtype=torch.float64):
    e = Edges(dtype)
    return e.repeat_interleave(len(EDGES)), e.repeat(len(EDGES))


def Unary():
    ranges = {
        "expm1": (-3, 3), "log10": (0.1, 4), "log1p": (-0.9, 3), "tan": (-1.4, 1.4), "asin": (-0.95, 0.95), "acos": (-0.95, 0.95),
        "atan": (-3, 3), "sinh": (-3, 3), "cosh": (-3, 3), "asinh": (-3, 3), "acosh": (1.1, 4), "atanh": (-0.95, 0.95),
        "erf": (-3, 3), "erfc": (-3, 3), "sinc": (-3, 3), "logit": (0.05, 0.95), "frac": (-3, 3), "exp": (-3, 3),
        "log": (0.1, 4), "cos": (-9, 9), "sin": (-9, 9), "tanh": (-3, 3), "sigmoid": (-4, 4),
    }
    for name, (lo, hi) in ranges.items():
        f = torch.special.logit if name == "logit" else getattr(torch, name)
        w.Case(name, name, [R(2, 5, lo=lo, hi=hi)], f)
        w.Case(name + "_scalar", name, [R(lo=lo, hi=hi)], f)
        w.Case(name + "_empty", name, [R(0, 3)], f)
        w.Case(name + "_edges", name, [Edges()], f, grad=False)
        if name != "frac":
            x = w.Int(4, lo=0, hi=1, dtype=torch.int32)
            w.Case(name + "_i32", name, [x], lambda v: f(v.double()).float(), grad=False, tol=3e-7)
        x = R(6, lo=lo, hi=hi, dtype=torch.float16)
        w.Case(name + "_f16", name, [x], lambda v: f(v.double()).half() if name != "frac" else torch.frac(v), grad=False, tol=1e-3)
    for eps in (0.1, 0.0):
        w.Case(f"logit_eps_{eps}", "logit", [R(6, lo=0.05, hi=0.95)], lambda x: torch.special.logit(x, eps), {"eps": eps})
    w.Case("logit_eps_outside", "logit", [torch.tensor([-1.0, 0.0, 0.1, 0.5, 2.0], dtype=torch.float64)],
           lambda x: torch.special.logit(x, 0.2), {"eps": 0.2})
    for d in (0, 1, 3, -1, -2):
        x = R(12, lo=-300, hi=300)
        w.Case(f"round_{d}", "round", [x], lambda v: torch.round(v, decimals=d), {"decimals": d})
    w.Case("round_halves", "round", [torch.arange(-6, 7, dtype=torch.float64) / 2], lambda v: torch.round(v), {"decimals": 0})
    w.Case("round_edges", "round", [Edges()], lambda v: torch.round(v), {"decimals": 0}, grad=False)
    w.Case("round_ints", "round", [w.Int(3)], lambda v: torch.round(v), {"decimals": 0}, grad=False)
    for name in ("isinf", "isfinite", "signbit", "isnan"):
        w.Case(name, name, [Edges()], getattr(torch, name), grad=False)
        w.Case(name + "_i8", name, [w.Int(4, dtype=torch.int8)], getattr(torch, name), grad=False)
        w.Case(name + "_f16", name, [Edges(torch.float16)], getattr(torch, name), grad=False)
    w.Case("nan_to_num", "nan_to_num", [Edges(torch.float32)], torch.nan_to_num, {}, grad=False, cpu=False)
    w.Case("nan_to_num_given", "nan_to_num", [Edges()], lambda x: torch.nan_to_num(x, 3.0, 7.0, -8.0), {"nan": 3.0, "pos": 7.0, "neg": -8.0})


def Binary():
    two = {"atan2": torch.atan2, "hypot": torch.hypot, "copysign": torch.copysign, "logaddexp": torch.logaddexp,
           "logaddexp2": torch.logaddexp2, "xlogy": torch.xlogy, "remainder": torch.remainder, "fmod": torch.fmod,
           "fmax": torch.fmax, "fmin": torch.fmin, "maximum": torch.maximum, "minimum": torch.minimum, "pow": torch.pow}
    for name, f in two.items():
        pos = name in ("xlogy", "pow")
        a, b = (R(2, 3, lo=0.2, hi=3), R(3, lo=0.2, hi=3)) if pos else (R(2, 3), R(3))
        b = torch.where(b == 0, torch.ones_like(b), b)
        w.Case(name, name, [a, b], f)
        w.Case(name + "_columns", name, [a[:, :1].clone(), b], f)
        w.Case(name + "_scalars", name, [a[0, 0].clone(), b[1].clone()], f)
        w.Case(name + "_empty", name, [R(0, 3), b], f)
        x, y = Pairs()
        if name == "fmod" or name == "remainder":
            keep = torch.isfinite(x) & (y != 0)
            x, y = x[keep], y[keep]
        w.Case(name + "_edges", name, [x, y], f, grad=False, cpu=name != "pow")  # f32 overflows
    w.Case("pow_negative_base", "pow", [torch.tensor([-2.0, -2.0, -3.0, -0.5], dtype=torch.float64),
                                        torch.tensor([3.0, 2.0, -1.0, 4.0], dtype=torch.float64)], torch.pow, grad=False)
    zero = torch.tensor([0.0, 0.0, 0.0, 2.0], dtype=torch.float64)
    w.Case("pow_zero_base", "pow", [zero, torch.tensor([2.0, 1.0, 0.0, 0.0], dtype=torch.float64)], torch.pow)
    for e in (0.0, 1.0, 2.0, 3.0, -1.0, 0.5, 2.5, 7.0, -3.0):
        w.Case(f"pow_number_{e}", "pow_number", [R(5, lo=0.3, hi=3)], lambda x: torch.pow(x, e), {"e": e})
    for t in (torch.int8, torch.int32, torch.int64, torch.uint8):
        lo = 0 if t == torch.uint8 else -5
        a, b = w.Int(40, lo=lo, hi=7, dtype=t), w.Int(40, lo=0, hi=9, dtype=t)
        w.Case(f"pow_{t}", "pow", [a, b], torch.pow, grad=False)
        big = w.Int(12, lo=60, hi=99, dtype=t)
        w.Case(f"pow_wraps_{t}", "pow", [a[:12].clone(), big], torch.pow, grad=False, cpu=t != torch.int64)
    w.Case("pow_negative_exponent", "pow", [torch.tensor([1, -1, -1, 2, -3, 1]), torch.tensor([-1, -1, -2, -1, -2, -5])], torch.pow, grad=False)
    for name in ("remainder", "fmod"):
        for t in (torch.int8, torch.int32, torch.int64, torch.uint8):
            lo = 0 if t == torch.uint8 else -9
            a, b = w.Int(40, lo=lo, hi=9, dtype=t), w.Int(40, lo=lo, hi=9, dtype=t)
            b = torch.where(b == 0, torch.ones_like(b) * 3, b)
            w.Case(f"{name}_{t}", name, [a, b], two[name], grad=False)
    for name, f in (("logical_and", torch.logical_and), ("logical_or", torch.logical_or), ("logical_xor", torch.logical_xor)):
        w.Case(name, name, [w.Int(2, 6, lo=0, hi=2), torch.tensor([0.0, 1, 2, NAN, 0.0, 0.5], dtype=torch.float64)], f, grad=False)
        w.Case(name + "_bool", name, [w.Int(4, lo=0, hi=1).bool(), w.Int(4, lo=0, hi=1).bool()], f, grad=False)
    for name, f in (("bitwise_and", torch.bitwise_and), ("bitwise_or", torch.bitwise_or), ("bitwise_xor", torch.bitwise_xor),
                    ("shl", torch.bitwise_left_shift), ("shr", torch.bitwise_right_shift)):
        for t in (torch.int8, torch.int32, torch.int64, torch.uint8):
            shift = name in ("shl", "shr")
            a = w.Int(30, lo=0 if t == torch.uint8 else -100, hi=100, dtype=t)
            b = w.Int(30, lo=0, hi=6, dtype=t) if shift else w.Int(30, lo=0 if t == torch.uint8 else -100, hi=100, dtype=t)
            w.Case(f"{name}_{t}", name, [a, b], f, grad=False)
    w.Case("ldexp", "ldexp", [R(6), w.Int(6).double()], lambda x, e: torch.ldexp(x, e), grad=False)
    x = torch.tensor([-1.0, 0.0, 2.0, NAN], dtype=torch.float64)
    w.Case("heaviside", "heaviside", [x, torch.tensor(0.25, dtype=torch.float64)], torch.heaviside, grad=False)
    a, b = Pairs()
    for nan in (False, True):
        w.Case(f"isclose_{nan}", "isclose", [a, b], lambda p, q: torch.isclose(p, q, equal_nan=nan), {"nan": nan}, grad=False)
    near = R(20)
    w.Case("isclose_near", "isclose", [near, near * (1 + R(20) * 1e-5)], lambda p, q: torch.isclose(p, q), {"nan": False}, grad=False, cpu=False)
    w.Case("isclose_i32", "isclose", [w.Int(9, dtype=torch.int32), w.Int(9, dtype=torch.int32)], lambda p, q: torch.isclose(p, q), {"nan": False}, grad=False)
    w.Case("allclose", "allclose", [near, near + 1e-9], lambda p, q: torch.tensor(torch.allclose(p, q)), grad=False)
    w.Case("allclose_not", "allclose", [near, near + 1e-3], lambda p, q: torch.tensor(torch.allclose(p, q)), grad=False)


def Mixed():
    w.Case("clamp_numbers", "clamp_numbers", [torch.tensor([-2.0, -1.0, 0.3, 1.0, 2.0], dtype=torch.float64)],
           lambda x: torch.clamp(x, -1, 1), {"lo": -1, "hi": 1})
    w.Case("clamp_tensors", "clamp", [R(2, 4), R(4, lo=-1, hi=0), R(2, 1, lo=0, hi=1)], lambda x, lo, hi: torch.clamp(x, lo, hi))
    w.Case("clamp_low", "clamp", [R(4), R(4)], lambda x, lo: torch.clamp(x, min=lo))
    w.Case("clamp_crossed", "clamp", [R(4), R(4, lo=1, hi=2), R(4, lo=-2, hi=-1)], lambda x, lo, hi: torch.clamp(x, lo, hi), grad=False)
    m = w.Int(2, 4, lo=0, hi=1).bool()
    w.Case("masked_fill", "masked_fill", [R(2, 4), m], lambda x, k: x.masked_fill(k, 7.5), {"value": 7.5})
    w.Case("masked_fill_broadcast", "masked_fill", [R(3, 2, 4), m], lambda x, k: x.masked_fill(k, -1.0), {"value": -1.0})
    w.Case("masked_fill_tensor", "masked_fill_tensor", [R(2, 4), m, R()], lambda x, k, v: x.masked_fill(k, v))
    w.Case("lerp", "lerp", [R(2, 3), R(2, 3), R(3, lo=0, hi=1)], torch.lerp)
    w.Case("addcmul", "addcmul", [R(2, 3), R(3), R(2, 1)], lambda x, a, b: torch.addcmul(x, a, b, value=1.5), {"value": 1.5})
    w.Case("addcdiv", "addcdiv", [R(2, 3), R(3), R(2, 1, lo=0.5, hi=2)], lambda x, a, b: torch.addcdiv(x, a, b, value=-2), {"value": -2})


def Activations():
    def Act(name, f, args=None, lo=-4, hi=4):
        args = args or {}
        tag = name + "".join(f"_{v}" for v in args.values())
        tol = 1e-7 if name == "hardsigmoid" else None  # PyTorch's slope is the f32 nearest to 1/6
        w.Case(tag, name, [R(3, 6, lo=lo, hi=hi)], f, args, tol=tol)
        w.Case(tag + "_scalar", name, [R(lo=lo, hi=hi)], f, args, tol=tol)
        w.Case(tag + "_empty", name, [R(0, 2)], f, args)
        e = torch.tensor([0.0, 1, -1, 3, -3, 6, 0.5, -0.5, 30, -30], dtype=torch.float64)
        w.Case(tag + "_edges", name, [e], f, args, tol=tol)
        # This version's softshrink makes 0 of a NaN; later ones keep it, as all others do.
        limits = [INF, -INF] if name == "softshrink" else [INF, -INF, NAN]
        w.Case(tag + "_limits", name, [torch.tensor(limits, dtype=torch.float64)], f, args, grad=False)
        w.Case(tag + "_f16", name, [R(6, dtype=torch.float16)], lambda v: f(v.double()).half(), args, grad=False, tol=2e-3)

    Act("relu", F.relu)
    Act("relu6", F.relu6)
    Act("leaky_relu", lambda x: F.leaky_relu(x, 0.2), {"slope": 0.2})
    Act("rrelu_eval", lambda x: F.rrelu(x, 0.1, 0.3, False), {"lower": 0.1, "upper": 0.3})
    Act("elu", lambda x: F.elu(x, 1.5), {"alpha": 1.5})
    Act("celu", lambda x: F.celu(x, 1.5), {"alpha": 1.5})
    Act("selu", F.selu)
    Act("silu", F.silu)
    Act("mish", F.mish)
    Act("gelu", F.gelu)
    Act("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"))
    Act("quick_gelu", lambda x: x * torch.sigmoid(1.702 * x))
    Act("softplus", lambda x: F.softplus(x))
    Act("softplus_beta", lambda x: F.softplus(x, 2.0, 3.0), {"beta": 2.0, "threshold": 3.0})
    Act("softsign", F.softsign)
    Act("log_sigmoid", F.logsigmoid)
    Act("hardtanh", lambda x: F.hardtanh(x, -2.0, 1.5), {"min": -2.0, "max": 1.5})
    Act("hardsigmoid", F.hardsigmoid)
    Act("hardswish", F.hardswish)
    Act("hardshrink", lambda x: F.hardshrink(x, 0.5), {"lambda": 0.5})
    Act("softshrink", lambda x: F.softshrink(x, 0.5), {"lambda": 0.5})
    Act("tanhshrink", F.tanhshrink)
    Act("threshold", lambda x: F.threshold(x, 0.5, -7.0), {"threshold": 0.5, "value": -7.0})
    w.Case("prelu_one", "prelu", [R(2, 3), R(1)], F.prelu)
    w.Case("prelu_channels", "prelu", [R(2, 3, 4), R(3)], F.prelu)
    w.Case("prelu_vector", "prelu", [R(5), R(1)], F.prelu)
    w.Case("glu", "glu", [R(2, 6)], lambda x: F.glu(x), {"axis": -1})
    w.Case("glu_0", "glu", [R(4, 3)], lambda x: F.glu(x, 0), {"axis": 0})


Unary()
Binary()
Mixed()
Activations()
w.Write(os.path.join(os.path.dirname(os.path.abspath(__file__)), "elementwise.json"))
