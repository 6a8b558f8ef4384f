# SPDX-License-Identifier: Apache-2.0
"""Vectors of src/tensor/linalg.h, from torch 2.5.1: writes linalg.json."""
import torch

from vectors import Writer

w = Writer(1)
R = w.Real


def Matmul():
    shapes = [((3,), (3,)), ((2, 3), (3, 4)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 2, 3), (3, 2)), ((3,), (2, 3, 2)),
              ((2, 1, 2, 3), (3, 3, 2)), ((2, 3, 4), (4,)), ((1, 1), (1, 1)), ((2, 0), (0, 3)), ((0, 3), (3, 2)),
              ((2, 5, 0), (0, 2)), ((7, 5), (5, 6))]
    for a, b in shapes:
        w.Case(f"matmul_{a}_{b}", "matmul", [R(*a), R(*b)], torch.matmul)
    w.Case("matmul_i32", "matmul", [w.Int(2, 3, dtype=torch.int32), w.Int(3, 2, dtype=torch.int32)], torch.matmul, grad=False)
    w.Case("matmul_i8_wraps", "matmul", [w.Int(3, 4, lo=-99, hi=99, dtype=torch.int8), w.Int(4, 2, lo=-99, hi=99, dtype=torch.int8)],
           torch.matmul, grad=False)
    a, b = R(4, 9, dtype=torch.float16), R(9, 3, dtype=torch.float16)
    w.Case("matmul_f16", "matmul", [a, b], lambda x, y: torch.matmul(x.double(), y.double()).half(), grad=False, tol=1e-6)
    a, b = R(4, 9, dtype=torch.bfloat16), R(9, 3, dtype=torch.bfloat16)
    w.Case("matmul_bf16", "matmul", [a, b], lambda x, y: torch.matmul(x.double(), y.double()).bfloat16(), grad=False, tol=1e-6)


def Products():
    w.Case("dot", "dot", [R(5), R(5)], torch.dot)
    w.Case("vdot", "vdot", [R(4), R(4)], torch.vdot)
    w.Case("inner_2d", "inner", [R(2, 3), R(4, 3)], torch.inner)
    w.Case("inner_3d", "inner", [R(2, 2, 3), R(3)], torch.inner)
    w.Case("inner_scalar", "inner", [R(), R(2, 3)], torch.inner)
    w.Case("outer", "outer", [R(3), R(4)], torch.outer)
    w.Case("mv", "mv", [R(3, 4), R(4)], torch.mv)
    w.Case("mm", "mm", [R(3, 4), R(4, 2)], torch.mm)
    w.Case("bmm", "bmm", [R(2, 3, 4), R(2, 4, 2)], torch.bmm)
    for beta, alpha in ((1, 1), (0.5, 2), (0, 1.5)):
        args = {"beta": beta, "alpha": alpha}
        ba = dict(beta=beta, alpha=alpha)
        g = beta != 0
        w.Case(f"addmm_{beta}_{alpha}", "addmm", [R(2), R(3, 4), R(4, 2)], lambda i, x, y: torch.addmm(i, x, y, **ba), args, grad=g)
        w.Case(f"addmv_{beta}_{alpha}", "addmv", [R(3), R(3, 4), R(4)], lambda i, x, y: torch.addmv(i, x, y, **ba), args, grad=g)
        w.Case(f"addr_{beta}_{alpha}", "addr", [R(3, 2), R(3), R(2)], lambda i, x, y: torch.addr(i, x, y, **ba), args, grad=g)
        w.Case(f"baddbmm_{beta}_{alpha}", "baddbmm", [R(3, 1), R(2, 3, 4), R(2, 4, 2)],
               lambda i, x, y: torch.baddbmm(i, x, y, **ba), args, grad=g)
        w.Case(f"addbmm_{beta}_{alpha}", "addbmm", [R(3, 2), R(2, 3, 4), R(2, 4, 2)],
               lambda i, x, y: torch.addbmm(i, x, y, **ba), args, grad=g)
    nan = torch.full((3, 2), float("nan"), dtype=torch.float64)
    w.Case("addmm_beta_0_ignores_nan", "addmm", [nan, R(3, 4), R(4, 2)], lambda i, x, y: torch.addmm(i, x, y, beta=0),
           {"beta": 0, "alpha": 1}, grad=False)
    w.Case("multi_dot", "multi_dot", [R(2, 5), R(5, 3), R(3, 4), R(4, 2)], lambda *m: torch.linalg.multi_dot(m))
    w.Case("multi_dot_vectors", "multi_dot", [R(5), R(5, 3), R(3)], lambda *m: torch.linalg.multi_dot(m))
    w.Case("kron", "kron", [R(2, 3), R(2, 2)], torch.kron)
    w.Case("kron_ranks", "kron", [R(3), R(2, 1, 2)], torch.kron)
    for n, a, b in ((0, (2, 3), (2,)), (1, (2, 3), (3, 2)), (2, (2, 3, 4), (3, 4, 2)), (2, (3, 2), (3, 2))):
        w.Case(f"tensordot_{n}_{a}_{b}", "tensordot", [R(*a), R(*b)], lambda x, y: torch.tensordot(x, y, dims=n), {"dims": n})
    axes = [[1, -3], [0, 2]]
    w.Case("tensordot_axes", "tensordot_axes", [R(3, 4, 2), R(4, 2, 3)], lambda x, y: torch.tensordot(x, y, dims=axes), {"axes": axes})
    w.Case("linear", "linear", [R(2, 3, 4), R(5, 4), R(5)], torch.nn.functional.linear)
    w.Case("linear_no_bias", "linear", [R(4), R(5, 4)], torch.nn.functional.linear)
    w.Case("linear_vector_weight", "linear", [R(3, 4), R(4)], torch.nn.functional.linear)
    w.Case("bilinear", "bilinear", [R(2, 3), R(2, 4), R(5, 3, 4), R(5)], torch.nn.functional.bilinear)
    w.Case("bilinear_batch", "bilinear", [R(2, 3, 2), R(2, 3, 3), R(2, 2, 3)], torch.nn.functional.bilinear)
    w.Case("trace", "trace", [R(3, 3)], torch.trace)
    w.Case("trace_wide", "trace", [R(2, 5)], torch.trace)
    w.Case("trace_tall_i32", "trace", [w.Int(4, 2, dtype=torch.int32)], torch.trace, grad=False)
    w.Case("cross", "cross", [R(2, 3), R(2, 3)], lambda x, y: torch.linalg.cross(x, y, dim=-1), {"dim": -1})
    w.Case("cross_dim", "cross", [R(3, 2, 1), R(3, 1, 4)], lambda x, y: torch.linalg.cross(x, y, dim=0), {"dim": 0})
    for n in (0, 1, 2, 5, -2):
        m = R(3, 3) + 3 * torch.eye(3, dtype=torch.float64)
        w.Case(f"matrix_power_{n}", "matrix_power", [m], lambda x: torch.linalg.matrix_power(x, n), {"n": n}, grad=n != 0)
    w.Case("matrix_power_batch", "matrix_power", [R(2, 2, 2)], lambda x: torch.linalg.matrix_power(x, 3), {"n": 3})


def Einsum():
    cases = [("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("ij->ji", (2, 3)), ("ij", (2, 3)), ("ji", (2, 3)),
             ("ii", (3, 3)), ("ii->i", (3, 3)), ("ij->", (2, 3)), ("ij->j", (2, 3)), ("i,j->ij", (2,), (3,)),
             ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)), ("...ij,...jk->...ik", (2, 1, 2, 3), (3, 3, 2)),
             ("...ij->...", (2, 2, 3)), ("i...->...", (3, 2, 2)), ("...i,...i", (2, 3), (2, 3)), ("ij,ij,ij->i", (2, 3), (2, 3), (2, 3)),
             ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)), ("ab,cd,bc->ad", (2, 3), (4, 2), (3, 4)), ("iij->j", (2, 2, 3)),
             ("ijj->ij", (2, 3, 3)), ("iji->j", (2, 3, 2)), ("aabb->ab", (2, 2, 3, 3)), (" i j , j -> i ", (2, 3), (3,)),
             ("bA,Ac->bc", (2, 3), (3, 2)), ("bA,Ac", (2, 3), (3, 2)), ("i,i->", (4,), (4,)), ("ij,kl->", (2, 2), (2, 3)),
             ("ij,j->i", (3, 1), (4,)), ("...,...->...", (2, 3), (3,)), ("a...b,b->a...", (2, 3, 4), (4,)), (",->", (), ()),
             ("i,->i", (3,), ()), ("bhqd,bhkd->bhqk", (1, 2, 3, 2), (1, 2, 4, 2)), ("...ab->ab", (2, 2, 3)),
             ("iii->i", (3, 3, 3)), ("i,i,i,i->i", (3,), (3,), (3,), (3,)), ("ij,j->", (0, 3), (3,)), ("ij,jk->ik", (2, 0), (0, 2))]
    for n, (eq, *shapes) in enumerate(cases):
        w.Case(f"einsum_{n}_{eq}", "einsum", [R(*s) for s in shapes], lambda *x: torch.einsum(eq, *x), {"equation": eq})
    w.Case("einsum_i64", "einsum", [w.Int(2, 3), w.Int(3, 2)], lambda x, y: torch.einsum("ij,jk->ki", x, y),
           {"equation": "ij,jk->ki"}, grad=False)


def Norms():
    x = R(2, 3, 2)
    x[0, 1, 1] = 0
    for p in (2, 1, 0, 3, 0.5, -1, float("inf"), -float("inf")):
        for dims, keep in ((None, False), ([1], True), ([0, 2], False)):
            # Powers below 1 have no slope at 0, and -1 and -inf meet it there.
            y = x if p >= 1 else x + (x == 0) * 1.25
            w.Case(f"vector_norm_{p}_{dims}", "vector_norm", [y],
                   lambda v: torch.linalg.vector_norm(v, p, dims, keep),
                   {"p": str(float(p)), "axes": dims or [], "keepdim": keep}, grad=p != 0)
    z = torch.zeros(2, 2, dtype=torch.float64)
    z[1, 0] = 3
    w.Case("vector_norm_at_zero", "vector_norm", [z], lambda v: torch.linalg.vector_norm(v, 2, [1]), {"p": "2", "axes": [1], "keepdim": False})
    w.Case("vector_norm_f16", "vector_norm", [R(5, dtype=torch.float16)], lambda v: torch.linalg.vector_norm(v.double()).half(),
           {"p": "2", "axes": [], "keepdim": False}, grad=False, tol=1e-3)


Matmul()
Products()
Einsum()
Norms()
w.Write("linalg.json")
