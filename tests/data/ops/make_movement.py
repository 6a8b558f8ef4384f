# SPDX-License-Identifier: Apache-2.0
"""Vectors of src/tensor/movement_ops.h, rearrange.h and indexing.h: writes movement.json and indexing.json.

From torch 2.5.1 and einops 0.8.2.
"""
import os
import sys

import einops
import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "nn"))
from vectors import Writer  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
w = Writer(12)
R = w.Real
count = {}


def C(op, inputs, f, args=None, **kw):
    count[op] = count.get(op, 0) + 1
    w.Case(f"{op}_{count[op]}", op, inputs, f, args, **kw)


def Movement():
    for shape, axis, sizes in (((6,), 0, [2, 3]), ((2, 12), 1, [2, -1, 3]), ((2, 12, 5), -2, [3, 4]), ((0, 4), 0, [0, 3])):
        C("unflatten", [R(*shape)], lambda x: x.unflatten(axis, sizes), {"axis": axis, "sizes": sizes})
    for shape, a, b in (((2, 3, 4), [0], [2]), ((2, 3, 4), [-1, 0], [0, 1]), ((2, 3), [], []), ((2, 3, 4, 5), [3, 1], [0, 2])):
        C("movedim", [R(*shape)], lambda x: x.movedim(a, b), {"from": a, "to": b})
    for shape, k in (((), 1), ((3,), 2), ((2, 3), 3), ((2, 3, 4), 2)):
        for n in (1, 2, 3):
            C(f"atleast_{n}d", [R(*shape)], [torch.atleast_1d, torch.atleast_2d, torch.atleast_3d][n - 1])
    C("broadcast_tensors", [R(3, 1), R(4), R()], lambda *t: torch.broadcast_tensors(*t))
    for shape, a, s, n in (((5, 3), 0, 1, 3), ((5, 3), 1, -2, 2), ((4,), 0, 4, 0)):
        C("narrow", [R(*shape)], lambda x: x.narrow(a, s, n), {"axis": a, "start": s, "length": n})
    for shape, a, i in (((5, 3), 0, 1), ((5, 3), -1, -2), ((4,), 0, 3)):
        C("select", [R(*shape)], lambda x: x.select(a, i), {"axis": a, "index": i})
    for shape, size, a in (((7, 2), 3, 0), ((7, 2), 7, 0), ((2, 6), 2, -1), ((0, 2), 3, 0), ((4,), 9, 0)):
        C("split", [R(*shape)], lambda x: x.split(size, a), {"size": size, "axis": a})
    C("split_sizes", [R(7, 2)], lambda x: x.split([2, 0, 5], 0), {"sizes": [2, 0, 5], "axis": 0})
    for shape, n, a in (((7, 2), 3, 0), ((4, 6), 4, 1), ((3,), 5, 0), ((6,), 4, 0)):
        C("chunk", [R(*shape)], lambda x: x.chunk(n, a), {"n": n, "axis": a})
        C("tensor_split", [R(*shape)], lambda x: x.tensor_split(n, a), {"n": n, "axis": a})
    C("tensor_split_at", [R(7, 2)], lambda x: x.tensor_split([1, 3, 2, -1], 0), {"at": [1, 3, 2, -1], "axis": 0})
    C("unbind", [R(3, 2)], lambda x: x.unbind(1), {"axis": 1})
    for shape, a, size, step in (((7,), 0, 3, 1), ((7,), 0, 3, 2), ((2, 8, 3), 1, 4, 3), ((5, 6), -1, 6, 1), ((5,), 0, 1, 2), ((9, 2), 0, 2, 4),
                                 ((3, 4), 1, 0, 1), ((0, 3), 1, 2, 1)):
        C("unfold", [R(*shape)], lambda x: x.unfold(a, size, step), {"axis": a, "size": size, "step": step})
    C("unfold_twice", [R(5, 6)], lambda x: x.unfold(0, 2, 1).unfold(1, 3, 2))
    for shape, s, a in (((5,), [2], [0]), ((3, 4), [1, -1], [0, 1]), ((3, 4), [5], []), ((2, 3), [-7], [1]), ((3, 4), [1, 1], [0, 0])):
        C("roll", [R(*shape)], lambda x: torch.roll(x, s, a) if a else torch.roll(x, s[0]), {"shifts": s, "axes": a})
    for k in (-1, 0, 1, 2, 3, 5):
        C("rot90", [R(2, 3, 2)], lambda x: torch.rot90(x, k, [0, 2]), {"k": k, "from": 0, "to": 2})
    C("fliplr", [R(2, 3)], torch.fliplr)
    C("flipud", [R(3)], torch.flipud)
    for shape, r in (((2, 3), [2, 1]), ((3,), [2, 2]), ((2, 3), [2, 0]), ((), [3]), ((2, 3), [1, 2, 3])):
        C("repeat", [R(*shape)], lambda x: x.repeat(*r), {"repeats": r})
    for shape, r in (((2, 3), [2]), ((3,), [2, 2]), ((2, 3), [])):
        C("tile", [R(*shape)], lambda x: torch.tile(x, r), {"repeats": r})
    for shape, r, a in (((2, 3), 2, 1), ((2, 3), 3, 0), ((4,), 0, 0)):
        C("repeat_interleave", [R(*shape)], lambda x: x.repeat_interleave(r, a), {"repeats": r, "axis": a})
    C("repeat_interleave_flat", [R(2, 3)], lambda x: x.repeat_interleave(2), {"repeats": 2})
    C("repeat_interleave_list", [R(3, 2)], lambda x: x.repeat_interleave(torch.tensor([2, 0, 3]), 0), {"repeats": [2, 0, 3], "axis": 0})
    for mode in ("reflect", "replicate", "circular"):
        for shape, p in (((1, 2, 5), [2, 1]), ((1, 2, 5), [0, 3]), ((1, 2, 4, 5), [1, 2, 3, 0]), ((1, 1, 3, 3, 4), [1, 1, 2, 0, 1, 2])):
            C("pad_" + mode, [R(*shape)], lambda x: F.pad(x, p, mode=mode), {"pads": p})
    for shape, p, v in (((3,), [1, 2], 0.5), ((2, 3), [1, 0, 0, 2], -1.0), ((2, 3), [-1, 2], 3.0), ((4, 4), [-1, -1, -1, -2], 0.0)):
        C("pad_constant", [R(*shape)], lambda x: F.pad(x, p, value=v), {"pads": p, "value": v})
    for k in (-4, -2, 0, 1, 3):
        C("diag", [R(3)], lambda x: torch.diag(x, k), {"k": k})
        C("diag", [R(4, 3)], lambda x: torch.diag(x, k), {"k": k})
        C("tril", [R(4, 3)], lambda x: torch.tril(x, k), {"k": k})
        C("triu", [R(2, 3, 4)], lambda x: torch.triu(x, k), {"k": k})
        C("diagonal", [R(2, 3, 4)], lambda x: torch.diagonal(x, k, 0, 2), {"k": k, "a": 0, "b": 2})
        C("diagonal", [R(3, 2, 4)], lambda x: torch.diagonal(x, k, -1, -3), {"k": k, "a": -1, "b": -3})
        C("diag_embed", [R(2, 3)], lambda x: torch.diag_embed(x, k), {"k": k, "a": -2, "b": -1})
        C("diag_embed", [R(2, 3)], lambda x: torch.diag_embed(x, k, 0, 2), {"k": k, "a": 0, "b": 2})
    C("tril", [w.Int(3, 3, lo=0, hi=1).bool()], lambda x: torch.tril(x), {"k": 0}, grad=False)
    C("block_diag", [R(2, 3), R(3), R(), R(1, 2)], lambda *t: torch.block_diag(*t))
    C("hstack", [R(2), R(3)], lambda *t: torch.hstack(t))
    C("hstack", [R(2, 1), R(2, 3)], lambda *t: torch.hstack(t))
    C("vstack", [R(3), R(2, 3)], lambda *t: torch.vstack(t))
    C("dstack", [R(3), R(3)], lambda *t: torch.dstack(t))
    C("dstack", [R(2, 3), R(2, 3)], lambda *t: torch.dstack(t))
    C("column_stack", [R(3), R(3, 2)], lambda *t: torch.column_stack(t))
    for ind in ("ij", "xy"):
        C("meshgrid", [R(2), R(3)], lambda *t: torch.meshgrid(*t, indexing=ind), {"indexing": ind})
        C("meshgrid", [R(2), R(3), R()], lambda *t: torch.meshgrid(*t, indexing=ind), {"indexing": ind})
        C("meshgrid", [R(2)], lambda *t: torch.meshgrid(*t, indexing=ind), {"indexing": ind})
    C("cartesian_prod", [R(2), R(3)], lambda *t: torch.cartesian_prod(*t))


def Einops():
    for shape, p, s in (((2, 6, 4), "b t (h d) -> b h t d", {"h": 2}), ((2, 3, 4), "a b c -> (c a) b", {}), ((2, 3, 4), "a ... -> ... a", {}),
                        ((2, 3, 4, 5), "... (h w) -> w ... h", {"w": 5}), ((6,), "(a b) -> b a", {"a": 2}), ((1, 3, 1), "1 a 1 -> a", {}),
                        ((3,), "a -> 1 a ()", {}), ((2, 3), "a b -> a b", {}), ((4, 4, 3), "(h a) (w b) c -> h w (a b c)", {"a": 2, "b": 2}),
                        ((2, 3, 4), "b ... -> (... b)", {}), ((2, 3, 4), "... -> (...)", {}), ((2, 3), "... a -> a ...", {})):
        C("rearrange", [R(*shape)], lambda x: einops.rearrange(x, p, **s), {"pattern": p, "sizes": s})
    for shape, p, s in (((2, 3), "a b -> a k b", {"k": 3}), ((2, 3), "a b -> (a r) b", {"r": 2}), ((3,), "a -> a 2", {}), ((2, 3), "... b -> n b ...", {"n": 2})):
        C("einops_repeat", [R(*shape)], lambda x: einops.repeat(x, p, **s), {"pattern": p, "sizes": s})
    for red in ("sum", "mean", "max", "min", "prod"):
        for shape, p, s in (((4, 6), "(a 2) b -> a b", {}), ((2, 3, 4), "a b c -> c a", {}), ((2, 4), "a b -> ", {}), ((2, 3, 4), "a ... -> ...", {})):
            C("einops_reduce_" + red, [w.Distinct(*shape)], lambda x: einops.reduce(x, p, red, **s), {"pattern": p, "sizes": s})


Movement()
Einops()
C("split_sizes", [R(7, 2)], lambda x: x.split([2, 4, 1], 0), {"sizes": [2, 4, 1], "axis": 0})
C("tensor_split_at", [R(7, 2)], lambda x: x.tensor_split([1, 3, -1], 0), {"at": [1, 3, -1], "axis": 0})
w.Write(os.path.join(HERE, "movement.json"))

w = Writer(13)
R = w.Real
count = {}
FULL = {"slice": [None, None, 1]}


def Slice(a=None, b=None, s=1):
    return {"slice": [a, b, s]}


def Build(items, tensors):
    """The items as torch takes them: {"slice"}, {"t": number of a tensor}, {"mask"}, "...", None, ints."""
    out = []
    for i in items:
        if isinstance(i, dict) and "slice" in i:
            out.append(slice(*i["slice"]))
        elif isinstance(i, dict):
            out.append(tensors[i.get("t", i.get("mask"))])
        elif i == "...":
            out.append(Ellipsis)
        else:
            out.append(i)
    return tuple(out)


def Reads():
    i3, j3 = torch.tensor([0, 2, 1]), torch.tensor([-1, 0, 1])
    col = torch.tensor([[1], [0]])
    u8 = torch.tensor([1, 0, 1], dtype=torch.int32)
    cases = [
        ((3, 4, 5), [{"t": 1}], [i3]), ((3, 4, 5), [FULL, {"t": 1}], [i3]), ((3, 4, 5), ["...", {"t": 1}], [j3]),
        ((3, 4, 5), [{"t": 1}, {"t": 2}], [i3, j3]), ((3, 4, 5), [{"t": 1}, FULL, {"t": 2}], [i3, j3]), ((3, 4, 5), [FULL, {"t": 1}, {"t": 2}], [i3, j3]),
        ((3, 4, 5), [{"t": 1}, {"t": 2}], [i3, col]), ((3, 4, 5), [{"t": 1}, Slice(1, 3), {"t": 2}], [col, i3]),
        ((3, 4, 5, 2), [0, FULL, {"t": 1}], [i3]), ((3, 4, 5, 2), [FULL, {"t": 1}, 1, {"t": 2}], [i3, j3]), ((3, 4, 5), [{"t": 1}, None, {"t": 2}], [i3, j3]),
        ((3, 4, 5), [None, {"t": 1}], [i3]), ((3, 4, 5), [Slice(None, None, 2), {"t": 1}], [u8]), ((3, 4), [{"t": 1}], [torch.tensor(2)]),
        ((3, 4), [{"t": 1}], [torch.zeros(0, dtype=torch.int64)]), ((3, 0), [{"t": 1}], [i3]), ((5,), [{"t": 1}], [torch.tensor([[0, 4], [-5, 2]])]),
        ((3, 4, 5), ["...", {"t": 1}, {"t": 2}], [i3, col]), ((3, 3, 3), [{"t": 1}, {"t": 2}, {"t": 3}], [i3, j3, col]),
    ]
    for shape, items, ts in cases:
        C("index", [R(*shape)] + ts, lambda x, *t: x[Build(items, (x,) + t)], {"items": items})
    # Negative steps are NumPy's: torch flips.
    C("index_flip", [R(7, 2)], lambda x: x.flip(0)[::2], {"items": [Slice(None, None, -2)]})
    C("index_bool_values", [w.Int(4, lo=0, hi=1).bool(), torch.tensor([3, 0])], lambda x, t: x[t], {"items": [{"t": 1}]}, grad=False)
    for shape, mshape, items in (((3, 4), (3, 4), [{"mask": 1}]), ((3, 4, 2), (3, 4), [{"mask": 1}]), ((3, 4, 2), (4,), [FULL, {"mask": 1}]), ((5,), (5,), [{"mask": 1}])):
        m = w.Int(*mshape, lo=0, hi=1).bool()
        n = int(m.sum())
        C("index_mask", [R(*shape), m], lambda x, t: x[Build(items, (x, t))], {"items": items, "count": n})
        C("masked_select", [R(*mshape), m], lambda x, t: torch.masked_select(x, t), {"count": n})


def Writes():
    i3, j3 = torch.tensor([0, 2, 1]), torch.tensor([-1, 0, 1])
    dup = torch.tensor([1, 1, 0, 1])
    for shape, items, ts, v in (
            ((3, 4), [{"t": 1}], [i3], (3, 4)), ((3, 4), [{"t": 1}, {"t": 2}], [i3, j3], (3,)), ((3, 4), [FULL, {"t": 1}], [j3], (3, 3)), ((3, 4), [FULL, {"t": 1}], [j3], ()),
            ((3, 4, 5), [{"t": 1}, FULL, {"t": 2}], [i3, j3], (3, 4)), ((3, 4, 5), [1, {"t": 1}], [i3], (3, 5)), ((3, 4, 5), [Slice(0, 2), {"t": 1}, Slice(None, None, 2)], [i3], (2, 1, 3)),
            ((3, 4), [1], [], (4,)), ((3, 4), [Slice(1, None)], [], (2, 4)), ((5,), [{"t": 1}], [torch.zeros(0, dtype=torch.int64)], (0,))):
        for acc in (False, True):
            def Put(x, *rest):
                y, key = x.clone(), Build(items, (x,) + rest[:-1])
                if acc and ts:
                    # index_put_ takes index tensors alone: through the positions of the part.
                    at = torch.arange(x.numel()).reshape(x.shape)[key]
                    flat = y.reshape(-1).index_put((at.reshape(-1),), rest[-1].expand(at.shape).reshape(-1), accumulate=True)
                    return flat.reshape(x.shape)
                if acc:
                    y[key] = y[key] + rest[-1]
                else:
                    y[key] = rest[-1]
                return y
            C("index_put", [R(*shape)] + ts + [R(*v)], Put, {"items": items, "accumulate": acc})
    C("index_put", [R(3, 2), dup, R(4, 2)], lambda x, i, v: x.index_put((i,), v, accumulate=True), {"items": [{"t": 1}], "accumulate": True})
    C("index_put", [w.Int(3), dup, w.Int(4)], lambda x, i, v: x.index_put((i,), v, accumulate=True), {"items": [{"t": 1}], "accumulate": True}, grad=False)
    m = w.Int(3, 4, lo=0, hi=1).bool()
    C("index_put_mask", [R(3, 4), m, R(int(m.sum()))], lambda x, t, v: x.index_put((t,), v), {"count": int(m.sum())})
    C("index_put_mask_free", [R(3, 4, 2), m, R(2)], lambda x, t, v: x.index_put((t,), v))
    C("index_put_mask_free", [R(3, 4), m, R()], lambda x, t, v: x.index_put((t,), v))


Reads()
Writes()
w.Write(os.path.join(HERE, "indexing.json"))
