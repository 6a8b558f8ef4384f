# SPDX-License-Identifier: Apache-2.0
"""Vectors of src/tensor/decomposition.h, from torch 2.5.1: writes decomposition.json."""
import torch

from vectors import Writer

w = Writer(9)
R = w.Real
L = torch.linalg


def Positive(x):
    return x @ x.mT + 0.5 * torch.eye(x.shape[-1], dtype=x.dtype)


for shape in ((1, 1), (3, 3), (2, 4, 4), (8, 8)):
    w.Case(f"inverse_{shape}", "inverse", [R(*shape) + torch.eye(shape[-1], dtype=torch.float64) * 0.5], L.inv)
    w.Case(f"det_{shape}", "det", [R(*shape)], L.det)
    w.Case(f"slogdet_{shape}", "slogdet", [R(*shape)], lambda x: list(L.slogdet(x)))
pivots = torch.tensor([[0.0, 2, 1], [1, 0, 0], [3, 0, 2]], dtype=torch.float64)
w.Case("inverse_needs_pivots", "inverse", [pivots], L.inv)
w.Case("det_needs_pivots", "det", [pivots], L.det)
singular = torch.tensor([[1.0, 2, 3], [2, 4, 6], [1, 0, 1]], dtype=torch.float64)
w.Case("det_singular", "det", [singular], L.det)
for a, b in (((3, 3), (3, 2)), ((3, 3), (3,)), ((2, 3, 3), (2, 3, 2)), ((2, 1, 3, 3), (3, 3, 1)), ((8, 8), (8, 3))):
    w.Case(f"solve_{a}_{b}", "solve", [R(*a), R(*b)], L.solve)
for shape in ((1, 1), (3, 3), (2, 4, 4), (7, 7)):
    for upper in (False, True):
        # The gradient of a symmetric function of the input, so that it does not matter which half is read.
        w.Case(f"cholesky_{shape}_{upper}", "cholesky_of_product", [R(*shape)], lambda x: L.cholesky(Positive(x), upper=upper), {"upper": upper})
for upper in (False, True):
    for unit in (False, True):
        w.Case(f"solve_triangular_{upper}_{unit}", "solve_triangular", [R(4, 4, lo=0.5), R(4, 2)],
               lambda a, b: L.solve_triangular(a, b, upper=upper, unitriangular=unit), {"upper": upper, "unit": unit})
    w.Case(f"solve_triangular_batch_{upper}", "solve_triangular", [R(2, 3, 3, lo=0.5), R(3, 1)],
           lambda a, b: L.solve_triangular(a, b.expand(2, 3, 1), upper=upper), {"upper": upper, "unit": False})
for shape in ((1, 1), (3, 3), (5, 3), (3, 5), (2, 4, 3), (8, 8)):
    # torch has no gradient of a wide complete QR.
    w.Case(f"qr_{shape}", "qr", [R(*shape)], lambda x: list(L.qr(x)), {"complete": False})
    w.Case(f"qr_complete_{shape}", "qr", [R(*shape)], lambda x: list(L.qr(x, mode="complete")), {"complete": True}, grad=False)
for shape in ((1, 1), (2, 2), (3, 3), (5, 3), (3, 5), (2, 4, 4), (8, 8), (16, 16)):
    # Values alone: the signs of the vectors are free.
    w.Case(f"svdvals_{shape}", "svdvals", [R(*shape)], L.svdvals, grad=len(shape) < 3 and shape[0] < 8 or shape == (2, 4, 4), cpu=shape != (16, 16))
    # Functions of u and vh that do not depend on the signs, with gradients through both.
    if len(shape) == 2 and shape[0] < 8:
        def Signless(x):
            u, s, vh = L.svd(x, full_matrices=False)
            return [u * u, u @ torch.diag(s.sqrt()) @ vh]
        w.Case(f"svd_signless_{shape}", "svd_signless", [R(*shape)], Signless, tol=1e-7)
rank_one = torch.tensor([[1.0, 2, 3], [2, 4, 6], [3, 6, 9], [0, 0, 0]], dtype=torch.float64)
w.Case("svd_rank_one", "svd_product", [rank_one], lambda x: [x, torch.eye(3, dtype=torch.float64), torch.eye(3, dtype=torch.float64)], grad=False)
w.Case("svd_product", "svd_product", [R(6, 3)], lambda x: [x, torch.eye(3, dtype=torch.float64), torch.eye(3, dtype=torch.float64)], grad=False)
w.Case("svd_f32", "svd_product", [R(4, 4, dtype=torch.float32)],
       lambda x: [x, torch.eye(4), torch.eye(4)], grad=False, tol=3e-6)
# Every step is a kernel of its own, so that few cases are enough for the compilers.
ON_CPU = ("inverse_(3, 3)", "inverse_(8, 8)", "det_needs_pivots", "slogdet_(3, 3)", "solve_(2, 1, 3, 3)_(3, 3, 1)", "cholesky_(3, 3)_True",
          "solve_triangular_False_True", "solve_triangular_batch_True", "qr_(5, 3)", "svd_product", "svd_f32", "svd_rank_one")
for case in w.cases:
    case["cpu"] = case["name"] in ON_CPU
w.Write("decomposition.json")
