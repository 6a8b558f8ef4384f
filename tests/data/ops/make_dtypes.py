# SPDX-License-Identifier: Apache-2.0
"""Every elementwise operation in every element type that it makes sense for, from torch 2.5.1, and from NumPy for the unsigned
types that PyTorch stores but hardly computes with: writes dtypes.json. A case is what the oracle answers; where it refuses
there is none."""
import os
import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "nn"))
import vectors  # noqa: E402
from vectors import Writer  # noqa: E402

warnings.simplefilter("ignore")
np.seterr(all="ignore")
vectors.NAMES.update({torch.int16: "i16", torch.float8_e4m3fn: "f8e4m3", torch.float8_e5m2: "f8e5m2",
                      torch.uint16: "u16", torch.uint32: "u32", torch.uint64: "u64"})
NP = {"u16": np.uint16, "u32": np.uint32, "u64": np.uint64}
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INTS = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
UNSIGNED = [torch.uint16, torch.uint32, torch.uint64]
w = Writer(23)


def Name(t):
    return vectors.NAMES[t]


def Bits(t):
    return {"bool": 1, "u8": 8, "i8": 8, "i16": 16, "u16": 16, "i32": 32, "u32": 32}.get(Name(t), 53)


def Values(t, kind="any", n=12):
    """Numbers that the type holds exactly. 64-bit integers stay below 2^53, which JSON readers keep."""
    if t in FLOATS:
        lo, hi = {"any": (-4, 4), "positive": (0.25, 4), "unit": (-0.9, 0.9), "exponent": (-3, 3)}[kind]
        return (torch.round(torch.tensor(w.rng.uniform(lo, hi, n)) * 16) / 16 + 0.0).to(t)
    if t == torch.bool:
        return torch.tensor(w.rng.integers(0, 2, n)).bool()
    signed = Name(t)[0] == "i"
    b = Bits(t) - (1 if signed and Bits(t) != 53 else 0)
    lo = -(1 << b) if signed else 0
    hi = (1 << b) - 1
    if b == 53:
        lo, hi = (-(1 << 52) if signed else 0), 1 << 52
    if kind == "exponent":
        v = w.rng.integers(0, 5, n)
    elif kind == "unit":
        v = w.rng.integers(0, 2, n)
    else:
        v = np.concatenate([w.rng.integers(-9 if signed else 0, 9, n - 4), [lo, hi, w.rng.integers(lo // 2, hi // 2), hi // 3]])
        if kind == "positive":
            v = np.maximum(np.abs(np.maximum(v, lo + 1)), 1)
    if t in UNSIGNED:
        return torch.from_numpy(v.astype(NP[Name(t)]))
    return torch.tensor(v.astype(np.int64)).to(t)


def Tolerance(t):
    return {torch.float16: 2e-3, torch.bfloat16: 1.6e-2, torch.float32: 2e-6}.get(t, 1e-9)


def Exact(out):
    """64-bit results beyond 2^53 do not survive as JSON numbers."""
    return all(not (Name(o.dtype) in ("i64", "u64") and (o.double().abs() > 2**53).any()) for o in out)


def Case(op, inputs, f, args=None, tol=None):
    name = "_".join([op] + [Name(x.dtype) for x in inputs])
    try:
        if any(x.dtype in UNSIGNED for x in inputs):
            got = torch.from_numpy(np.asarray(f(*[x.numpy() if x.dtype in UNSIGNED else x for x in inputs])))
        else:
            got = f(*inputs)
    except (RuntimeError, TypeError, NotImplementedError, AttributeError):
        return
    if got.dtype not in vectors.NAMES or not Exact([got]):
        return
    # Results in 8 and 16 bits are rounded once or twice: either is within a unit in the last place.
    w.Case(name, op, inputs, (lambda *_: got) if any(x.dtype in UNSIGNED for x in inputs) else f, args, grad=False, tol=tol or Tolerance(got.dtype))
    w.cases[-1]["own_types"] = True


UNARY = {
    "neg": (torch.neg, "any"), "abs": (torch.abs, "any"), "sqrt": (torch.sqrt, "positive"), "rsqrt": (torch.rsqrt, "positive"),
    "exp": (torch.exp, "exponent"), "exp2": (torch.exp2, "exponent"), "log": (torch.log, "positive"), "log2": (torch.log2, "positive"),
    "log10": (torch.log10, "positive"), "log1p": (torch.log1p, "positive"), "expm1": (torch.expm1, "exponent"), "sin": (torch.sin, "exponent"),
    "cos": (torch.cos, "exponent"), "tan": (torch.tan, "unit"), "asin": (torch.asin, "unit"), "acos": (torch.acos, "unit"),
    "atan": (torch.atan, "exponent"), "sinh": (torch.sinh, "exponent"), "cosh": (torch.cosh, "exponent"), "asinh": (torch.asinh, "exponent"),
    "atanh": (torch.atanh, "unit"), "erf": (torch.erf, "exponent"), "erfc": (torch.erfc, "exponent"), "tanh": (torch.tanh, "exponent"),
    "sigmoid": (torch.sigmoid, "exponent"), "relu": (torch.relu, "any"), "reciprocal": (torch.reciprocal, "positive"),
    "floor": (torch.floor, "any"), "ceil": (torch.ceil, "any"), "trunc": (torch.trunc, "any"), "sign": (torch.sign, "any"),
    "square": (torch.square, "any"), "logical_not": (torch.logical_not, "any"), "bitwise_not": (torch.bitwise_not, "any"),
    "isnan": (torch.isnan, "any"), "isinf": (torch.isinf, "any"), "isfinite": (torch.isfinite, "any"), "signbit": (torch.signbit, "any"),
    "frac": (torch.frac, "any"), "silu": (F.silu, "any"), "mish": (F.mish, "any"), "gelu": (F.gelu, "any"),
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), "any"), "selu": (F.selu, "any"), "softsign": (F.softsign, "any"),
    "log_sigmoid": (F.logsigmoid, "any"), "hardswish": (F.hardswish, "any"), "hardsigmoid": (F.hardsigmoid, "any"), "relu6": (F.relu6, "any"),
    "tanhshrink": (F.tanhshrink, "any"), "softplus": (lambda x: F.softplus(x), "any"),
}
NP_UNARY = {"abs": np.abs, "square": np.square, "logical_not": np.logical_not, "bitwise_not": np.invert, "neg": np.negative, "sign": np.sign,
            "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc}
BINARY = {
    "add": (torch.add, np.add, "any"), "sub": (torch.sub, np.subtract, "any"), "mul": (torch.mul, np.multiply, "any"),
    "div": (torch.div, None, "positive"), "floor_div": (lambda a, b: torch.div(a, b, rounding_mode="floor"), np.floor_divide, "positive"),
    "trunc_div": (lambda a, b: torch.div(a, b, rounding_mode="trunc"), np.floor_divide, "positive"), "remainder": (torch.remainder, np.remainder, "positive"),
    "fmod": (torch.fmod, np.fmod, "positive"), "maximum": (torch.maximum, np.maximum, "any"), "minimum": (torch.minimum, np.minimum, "any"),
    "pow": (torch.pow, None, "exponent"), "lt": (torch.lt, np.less, "any"), "le": (torch.le, np.less_equal, "any"), "gt": (torch.gt, np.greater, "any"),
    "ge": (torch.ge, np.greater_equal, "any"), "eq": (torch.eq, np.equal, "any"), "ne": (torch.ne, np.not_equal, "any"),
    "bitwise_and": (torch.bitwise_and, np.bitwise_and, "any"), "bitwise_or": (torch.bitwise_or, np.bitwise_or, "any"),
    "bitwise_xor": (torch.bitwise_xor, np.bitwise_xor, "any"), "shl": (torch.bitwise_left_shift, np.left_shift, "exponent"),
    "shr": (torch.bitwise_right_shift, np.right_shift, "exponent"), "logical_and": (torch.logical_and, np.logical_and, "any"),
    "logical_or": (torch.logical_or, np.logical_or, "any"), "logical_xor": (torch.logical_xor, np.logical_xor, "any"),
    "atan2": (torch.atan2, None, "any"), "hypot": (torch.hypot, None, "any"), "copysign": (torch.copysign, None, "any"),
    "logaddexp": (torch.logaddexp, None, "any"), "logaddexp2": (torch.logaddexp2, None, "any"), "xlogy": (torch.xlogy, None, "positive"),
    "fmax": (torch.fmax, np.fmax, "any"), "fmin": (torch.fmin, np.fmin, "any"),
}
for op, (f, kind) in UNARY.items():
    # Integers overflow inside PyTorch's x / (1 + |x|); here they are computed as f32.
    for t in FLOATS + ([] if op == "softsign" else INTS):
        Case(op, [Values(t, kind)], f)
    for t in UNSIGNED:
        if op in NP_UNARY:
            Case(op, [Values(t, kind)], NP_UNARY[op])
for op, (f, g, kind) in BINARY.items():
    for t in FLOATS + INTS + UNSIGNED:
        a, b = Values(t, "positive" if op in ("pow", "xlogy") and t in FLOATS else "any"), Values(t, kind)
        # A distance that the type has no bits for is not defined.
        if op in ("shl", "shr"):
            b = b % 5 if t not in UNSIGNED else b
        if t in UNSIGNED and g is None:
            continue
        Case(op, [a, b], g if t in UNSIGNED else f)
# Two types that meet: the result's type is PyTorch's.
for i, s in enumerate(FLOATS + INTS):
    for t in (FLOATS + INTS)[i + 1:]:
        Case("add", [Values(s), Values(t)], torch.add)
        Case("mul", [Values(s, "exponent"), Values(t, "exponent")], torch.mul)
# Conversions of values that both types have room for.
EIGHT = [torch.float8_e4m3fn, torch.float8_e5m2]
for s in FLOATS + INTS + UNSIGNED + EIGHT:
    for t in FLOATS + INTS + UNSIGNED + EIGHT:
        v = Values(s, "exponent") if s not in EIGHT else Values(torch.float32, "exponent").to(s)
        if t in UNSIGNED + [torch.uint8]:
            v = v.float().abs().to(s) if s not in UNSIGNED else v
        got = v.to(t)
        w.Case(f"cast_{Name(s)}_{Name(t)}", "cast", [v], lambda x: x.to(t), {"to": Name(t)}, grad=False, tol=1e-9)
        w.cases[-1]["own_types"] = True
for t in EIGHT:
    big = torch.tensor([0.0, 1.0, 0.017, 0.002, 1e-4, 3.3, 100.0, 240.0, 440.0, -448.0, 464.0, 500.0, 57344.0, 61440.0, 1e6, float("inf"), float("nan")])
    for s in (torch.float32, torch.float16, torch.bfloat16):
        v = big.to(s)
        got = v.to(t)
        w.Case(f"cast_edges_{Name(s)}_{Name(t)}", "cast", [v], lambda *_: got, {"to": Name(t)}, grad=False, tol=1e-9)
    everything = torch.arange(256, dtype=torch.int32).to(torch.uint8).view(t)
    got = everything.to(torch.float32)
    w.Case(f"cast_all_{Name(t)}", "cast", [everything], lambda *_: got, {"to": "f32"}, grad=False, tol=1e-9)
w.Write(os.path.join(os.path.dirname(os.path.abspath(__file__)), "dtypes.json"))
