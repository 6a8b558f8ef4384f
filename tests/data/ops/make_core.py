# SPDX-License-Identifier: Apache-2.0
"""Vectors of the methods of Tensor (src/tensor/tensor.h) and of what is made without inputs, with gradients: writes views.json
(shapes, joining, writing in place), core.json (elementwise operations, types, reductions as methods) and create_more.json (filled tensors) and sort_more.json (argsort).

From torch 2.5.1; where PyTorch has no such operation (steps below 0, bit patterns), from NumPy.
"""
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "nn"))
import vectors  # noqa: E402
from vectors import Writer  # noqa: E402

vectors.NAMES.update({torch.int16: "i16"})
F64 = torch.float64


class Numbered:
    """A writer that numbers the cases of an operation."""

    def __init__(self, seed):
        self.w = Writer(seed)
        self.count = {}

    def __call__(self, op, inputs, f, args=None, **kw):
        self.count[op] = self.count.get(op, 0) + 1
        self.w.Case(f"{op}_{self.count[op]}", op, inputs, f, args, **kw)

    def Write(self, name):
        self.w.Write(os.path.join(HERE, name))


# --- Shapes ---

C = Numbered(41)
R = C.w.Real
for shape, to in (((2, 6), (3, 4)), ((2, 3, 4), (-1, 4)), ((6,), (2, 1, 3)), ((), (1, 1)), ((0, 3), (3, 0)), ((1, 1), ())):
    for op in ("view", "reshape"):
        C(op, [R(*shape)], lambda x: getattr(x, op)(to), {"shape": list(to)})
C("view_as", [R(2, 6), R(4, 3)], lambda x, y: x.view_as(y), grad=False)
C("expand_as", [R(2, 1), R(2, 5)], lambda x, y: x.expand_as(y), grad=False)
for shape in ((2, 3, 4), (3,), ()):
    C("ravel", [R(*shape)], torch.ravel)
for shape, a, b in (((2, 3, 4), 0, -1), ((2, 3, 4), 1, 2), ((2, 3, 4, 5), 1, -2), ((), 0, -1), ((3, 2), 1, 1)):
    C("flatten", [R(*shape)], lambda x: torch.flatten(x, a, b), {"start": a, "end": b})
for shape, a in (((1, 3, 1), None), ((1, 3, 1), 0), ((1, 3, 1), -1), ((1, 3, 1), 1)):
    C("squeeze", [R(*shape)], lambda x: torch.squeeze(x) if a is None else torch.squeeze(x, a), {"axis": a})
for shape, a in (((3, 2), 0), ((3, 2), 2), ((3, 2), -2), ((), 0)):
    C("unsqueeze", [R(*shape)], lambda x: torch.unsqueeze(x, a), {"axis": a})
for shape, p in (((2, 3, 4), (2, 0, 1)), ((2, 3), (-1, 0)), ((2, 3, 4), (0, 1, 2)), ((2, 1, 3, 2), (3, 1, 0, 2))):
    C("permute", [R(*shape)], lambda x: x.permute(p), {"axes": list(p)})
for shape, a, b in (((2, 3), 0, 1), ((2, 3, 4), -1, 0), ((2, 3, 4), 1, 1)):
    for op in ("transpose", "swapaxes"):
        C(op, [R(*shape)], lambda x: getattr(torch, op)(x, a, b), {"a": a, "b": b})
for shape, to in (((2, 1), (2, 4)), ((3,), (2, 3)), ((1, 3, 1), (2, -1, 4)), ((), (2, 2)), ((1,), (0,))):
    C("expand", [R(*shape)], lambda x: x.expand(to), {"shape": list(to)})
for shape, to in (((2, 1), (2, 4)), ((3,), (2, 3)), ((), (3,))):
    C("broadcast_to", [R(*shape)], lambda x: torch.broadcast_to(x, to), {"shape": list(to)})
for shape, a in (((2, 3), [0]), ((2, 3), [-1]), ((2, 3, 4), [0, 2]), ((5,), [])):
    C("flip", [R(*shape)], lambda x: torch.flip(x, a), {"axes": a})
for shape, bounds in (((4, 5), [[1, 3], [0, 5]]), ((4, 5), [[0, 4], [2, 3]]), ((6,), [[2, 2]]), ((2, 3, 4), [[1, 2], [0, 2], [3, 4]])):
    C("shrink", [R(*shape)], lambda x: x[tuple(slice(a, b) for a, b in bounds)], {"bounds": bounds})
for shape, amounts, v in (((2, 3), [[1, 0], [0, 2]], 0.0), ((2, 3), [[0, 0], [-1, 1]], 1.5), ((3,), [[2, 2]], -4.0), ((2, 2), [[-1, 0], [0, -1]], 0.0)):
    flat = [n for pair in reversed(amounts) for n in pair]
    C("pad", [R(*shape)], lambda x: F.pad(x, flat, value=v), {"amounts": amounts, "value": v})
for shapes, a in ((((2, 3), (1, 3)), 0), (((2, 3), (2, 1), (2, 2)), -1), (((2, 3), (0, 3)), 0), (((3,),), 0)):
    C("cat", [R(*s) for s in shapes], lambda *t: torch.cat(t, a), {"axis": a})
for shape, n, a in (((2, 3), 2, 0), ((2, 3), 3, 1), ((2, 3), 2, -1), ((), 2, 0)):
    C("stack", [R(*shape) for _ in range(n)], lambda *t: torch.stack(t, a), {"axis": a})
C("contiguous", [R(3, 4)], lambda x: x.t().contiguous(), {})
C("clone", [R(3, 4)], lambda x: x.clone(), {})

FULL = {"slice": [None, None, 1]}


def Slice(a=None, b=None, s=1):
    return {"slice": [a, b, s]}


def Numpy(items):
    return tuple(slice(*i["slice"]) if isinstance(i, dict) else Ellipsis if i == "..." else i for i in items)


def Basic(x, items):
    """x[items] as NumPy reads it: through positions, so that steps may be negative and gradients flow."""
    at = np.arange(x.numel()).reshape(tuple(x.shape))[Numpy(items)]
    return x.reshape(-1)[torch.from_numpy(np.ascontiguousarray(at).reshape(-1))].reshape(at.shape)


def Written(x, items, v):
    at = np.arange(x.numel()).reshape(tuple(x.shape))[Numpy(items)]
    y = x.reshape(-1).clone()
    y[torch.from_numpy(np.ascontiguousarray(at).reshape(-1))] = v.expand(at.shape).reshape(-1)
    return y.reshape(x.shape)


for shape, items in (((4, 5), [1]), ((4, 5), [-1, 2]), ((4, 5), [Slice(1, 4, 2)]), ((7, 3), [Slice(None, None, -1)]), ((7, 3), [Slice(5, 0, -2), FULL]),
                     ((2, 3, 4), ["...", 1]), ((2, 3, 4), [0, "...", Slice(None, None, 3)]), ((4,), [None]), ((2, 3), [FULL, None, Slice(-2, None)]),
                     ((2, 3, 4), ["...", None, Slice(3, None, -1), 2]), ((5,), [Slice(3, 1)]), ((2, 3), [1, 2])):
    C("slice", [R(*shape)], lambda x: Basic(x, items), {"items": items})
for shape, items, v in (((4, 5), [1], (5,)), ((4, 5), [Slice(1, 4, 2)], (2, 5)), ((4, 5), [FULL, -1], (4,)), ((7,), [Slice(None, None, -2)], (4,)),
                        ((2, 3, 4), ["...", Slice(1, 3)], (2, 3, 2)), ((2, 3, 4), [0, FULL, Slice(3, 0, -1)], (3, 3)), ((3,), [Slice(1, 1)], (0,))):
    C("assign_index", [R(*shape), R(*v)], lambda x, y: Written(x, items, y), {"items": items}, grad=False)
C("assign", [R(2, 3), R(2, 3)], lambda x, y: y.clone(), grad=False)
C("assign_view", [R(2, 3), R(3, 2)], lambda x, y: y.t().clone(), {"axes": [1, 0]}, grad=False)
C("assign_view", [R(2, 3, 2), R(2, 2, 3)], lambda x, y: y.permute(1, 2, 0).clone(), {"axes": [2, 0, 1]}, grad=False)
i3, dup = torch.tensor([0, 2, 1]), torch.tensor([1, 1, 0, 1])
for shape, ts, v, acc in (((4, 3), [i3], (3, 3), False), ((4, 3), [i3, torch.tensor([2, 0, 1])], (3,), False), ((3, 2), [dup], (4, 2), True)):
    C("assign_index_by", [R(*shape)] + ts + [R(*v)], lambda x, *t: x.index_put(tuple(t[:-1]), t[-1], accumulate=acc),
      {"items": [{"t": k + 1} for k in range(len(ts))], "accumulate": acc}, grad=False)
C.Write("views.json")

# --- Elementwise, types, reductions ---

C = Numbered(42)
R = C.w.Real


def Away(x, from_zero=0.25):
    """Not at a corner."""
    return torch.where(x.abs() < from_zero, x.sign() * from_zero + (x == 0) * from_zero, x)


ONE = {"neg": torch.neg, "abs": torch.abs, "exp2": torch.exp2, "floor": torch.floor, "ceil": torch.ceil, "trunc": torch.trunc, "sign": torch.sign,
       "square": torch.square}
for op, f in ONE.items():
    C(op, [Away(R(2, 5))], f)
    C(op, [Away(R(3))], f)
for op in ("sqrt", "rsqrt", "log2", "reciprocal"):
    C(op, [R(2, 4, lo=0.25, hi=4)], getattr(torch, op))
    C(op, [R(3, lo=0.25, hi=4)], getattr(torch, op))
C("reciprocal", [Away(R(6), 0.5)], torch.reciprocal)
C("abs", [torch.tensor([0.0, 1.5, -2.0], dtype=F64)], torch.abs)
TWO = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div}
for op, f in TWO.items():
    low = {"div": 0.5}.get(op, -2)
    for a, b in (((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2, 2)), ((3,), ())):
        C(op, [R(*a), R(*b, lo=low)], f)
for op, f in {"maximum": torch.maximum, "minimum": torch.minimum}.items():
    # Ties share the gradient.
    C(op, [torch.tensor([1.0, 2, 3, 0.5], dtype=F64), torch.tensor([1.0, 3, 2, 0.5], dtype=F64)], f)
for rounding, op in (("floor", "floor_div"), ("trunc", "trunc_div")):
    a, b = Away(R(6)), Away(R(6), 0.5)
    C(op, [a, b], lambda x, y: torch.div(x, y, rounding_mode=rounding))
    C(op, [a, b[:1].clone()], lambda x, y: torch.div(x, y, rounding_mode=rounding))
for a, b in (((2, 3), (2, 3)), ((2, 3), (3,)), ((4,), ())):
    C("mod", [R(*a), Away(R(*b), 0.5)], torch.remainder)
C("mod", [C.w.Int(9, lo=-9, hi=9), torch.tensor([2, -3, 4, -5, 7, 1, -1, 3, -2])], torch.remainder, grad=False)
m = C.w.Int(2, 3, lo=0, hi=1).bool()
C("where", [m, R(2, 3), R(2, 3)], torch.where)
C("where", [m, R(3), R(2, 1)], torch.where)
C("where", [m, R(), R(2, 3)], torch.where)
C("where_number", [m, R(2, 3)], lambda k, x: torch.where(k, x, -1.5), {"value": -1.5})
for lo, hi in ((-1.0, 1.0), (None, 0.5), (-0.25, None)):
    C("clamp_bounds", [R(2, 5)], lambda x: torch.clamp(x, lo, hi), {"lo": lo, "hi": hi})
for weight in (0.25, -1.0, 2.0):
    C("lerp_number", [R(2, 3), R(2, 3)], lambda a, b: torch.lerp(a, b, weight), {"weight": weight})
for n in (2.5, -1.0):
    C("add_number", [R(2, 3)], lambda x: x + n, {"n": n})
    C("number_minus", [R(2, 3)], lambda x: n - x, {"n": n})
    C("mul_number", [R(2, 3)], lambda x: x * n, {"n": n})
    C("number_over", [R(2, 3, lo=0.5)], lambda x: n / x, {"n": n})
C("ldexp", [R(2, 3), torch.tensor([1.0, -2.0, 3.0], dtype=F64)], lambda x, e: x * 2.0 ** e)
for d in (torch.float32, torch.float16, torch.bfloat16):
    # Multiples of 1/64 in these types: nothing is rounded.
    C("cast", [R(2, 3)], lambda x: x.to(d), {"to": vectors.NAMES[d]})
C("cast", [R(4, dtype=torch.float32)], lambda x: x.double(), {"to": "f64"})
C("detach_product", [R(2, 3)], lambda x: x * x.detach())
C("gelu_method", [R(2, 5)], lambda x: F.gelu(x, approximate="tanh"))
# 64-bit patterns have more digits than a vector keeps.
for a, b in ((torch.int32, torch.float32), (torch.float32, torch.int32), (torch.int8, torch.uint8), (torch.uint8, torch.int8),
             (torch.float16, torch.int16), (torch.int16, torch.bfloat16), (torch.bfloat16, torch.float16)):
    x = R(6, dtype=a) if a.is_floating_point else R(6, dtype=b).view(a) if b.is_floating_point else C.w.Int(6).to(a)
    C("bitcast", [x], lambda v: v.view(b), {"to": vectors.NAMES[b]}, grad=False)
for axes, keep in (([], False), ([0], True), ([-1], False), ([0, 2], False)):
    a = {"axes": axes, "keepdim": keep}
    d = tuple(axes) if axes else (0, 1, 2)
    C("sum_method", [R(2, 3, 2)], lambda x: torch.sum(x, d, keep), a)
    C("mean_method", [R(2, 3, 2)], lambda x: torch.mean(x, d, keep), a)
    C("max_method", [C.w.Distinct(2, 3, 2)], lambda x: torch.amax(x, d, keep), a)
    C("min_method", [C.w.Distinct(2, 3, 2)], lambda x: torch.amin(x, d, keep), a)
    for correction in (0, 1):
        C("var_method", [R(2, 3, 2)], lambda x: torch.var(x, d, correction=correction, keepdim=keep), dict(a, correction=correction))
C("max_method", [torch.tensor([[1.0, 2, 2], [0.5, 0.5, -1]], dtype=F64)], lambda x: torch.amax(x, (1,)), {"axes": [1], "keepdim": False})
C("min_method", [torch.tensor([[1.0, 2, 2], [0.5, 0.5, -1]], dtype=F64)], lambda x: torch.amin(x, (0, 1)), {"axes": [], "keepdim": False})
for axis, keep in ((0, False), (1, True)):
    C("argmax_method", [C.w.Distinct(3, 4)], lambda x: torch.argmax(x, axis, keep), {"axis": axis, "keepdim": keep}, grad=False)
    C("prod_method", [Away(R(3, 4))], lambda x: torch.prod(x, axis, keep), {"axes": [axis], "keepdim": keep})
for axis in (0, -1):
    C("softmax_method", [R(3, 4)], lambda x: torch.softmax(x, axis), {"axis": axis})
    C("log_softmax_method", [R(3, 4)], lambda x: torch.log_softmax(x, axis), {"axis": axis})
C("matmul_method", [R(2, 3), R(3, 2)], torch.matmul)
C("matmul_method", [R(2, 2, 3), R(3)], torch.matmul)
C("layer_norm_method", [R(2, 3, 4)], lambda x: F.layer_norm(x, (4,)), {"axes": 1})
C("layer_norm_method", [R(2, 3, 4), R(3, 4), R(3, 4)], lambda x, w, b: F.layer_norm(x, (3, 4), w, b), {"axes": 2})
C("conv2d_method", [R(1, 2, 4, 4), R(2, 2, 3, 3), R(2)], F.conv2d)
C("conv2d_method", [R(2, 2, 3, 3), R(4, 1, 2, 2)], lambda x, w: F.conv2d(x, w, groups=2, stride=(1, 2), padding=(1, 0)),
  {"stride": [1, 2], "padding": [1, 0], "groups": 2})
C("cross_entropy_method", [R(4, 3), torch.tensor([0, 2, 1, 2])], F.cross_entropy)
C.Write("core.json")

# --- Sorting and creation ---

C = Numbered(43)
for shape, d in (((6,), 0), ((3, 4), 0), ((3, 4), -1)):
    for descending in (False, True):
        C("argsort", [C.w.Distinct(*shape)], lambda x: torch.argsort(x, dim=d, descending=descending, stable=True), {"dim": d, "descending": descending},
          grad=False)
        C("argsort", [C.w.Int(*shape, lo=-2, hi=2)], lambda x: torch.argsort(x, dim=d, descending=descending, stable=True),
          {"dim": d, "descending": descending}, grad=False)
C.Write("sort_more.json")
C = Numbered(44)
for value in (0, 1, 3, 2.5):
    for t in (torch.float64, torch.float32, torch.float16, torch.int32, torch.bool):
        if value == int(value) or t.is_floating_point:
            C("full", [], lambda: torch.full((2, 3), value, dtype=t), {"shape": [2, 3], "value": value, "dtype": vectors.NAMES[t]}, grad=False)
            C("full_like", [C.w.Int(2, 2).to(t)], lambda x: torch.full_like(x, value), {"value": value}, grad=False)
C("zeros", [], lambda: torch.zeros(2, 3), {"shape": [2, 3]}, grad=False)
C("ones", [], lambda: torch.ones(4), {"shape": [4]}, grad=False)
C("zeros_like", [C.w.Real(2, 3)], torch.zeros_like, grad=False)
C("ones_like", [C.w.Real(2, 3)], torch.ones_like, grad=False)
C("zeros_like", [C.w.Int(3)], torch.zeros_like, grad=False)
C("ones_like", [C.w.Int(3)], torch.ones_like, grad=False)
C.Write("create_more.json")
