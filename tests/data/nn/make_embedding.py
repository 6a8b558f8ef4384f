# SPDX-License-Identifier: Apache-2.0
"""Vectors of src/tensor/embedding.h, from torch 2.5.1: writes embedding.json."""
import torch
import torch.nn.functional as F

from vectors import Writer

w = Writer(7)
R = w.Real
none = {"padding_idx": None}
for shape in ((), (3,), (2, 3), (2, 0)):
    w.Case(f"embedding_{shape}", "embedding", [R(5, 3), w.Int(*shape, lo=0, hi=4)], lambda t, i: F.embedding(i, t), none)
for pad in (1, -1):
    w.Case(f"embedding_padding_{pad}", "embedding", [R(4, 2), torch.tensor([[0, 1, 3], [3, 1, 1]])], lambda t, i: F.embedding(i, t, padding_idx=pad), {"padding_idx": pad})
w.Case("embedding_i32", "embedding", [R(4, 2), w.Int(3, lo=0, hi=3, dtype=torch.int32)], lambda t, i: F.embedding(i, t), none)
infinite = R(4, 2)
infinite[1, 0] = float("inf")
infinite[2, 1] = float("nan")
w.Case("embedding_moves_infinities", "embedding", [infinite, torch.tensor([0, 1, 2, 3])], lambda t, i: F.embedding(i, t), none, grad=False)
for mode in ("sum", "mean", "max"):
    rows = torch.tensor([[0, 2, 4], [1, 1, 3]])
    w.Case(f"embedding_bag_{mode}", "embedding_bag", [w.Distinct(5, 3), rows if mode != "max" else torch.tensor([[0, 2, 4], [1, 0, 3]])],
           lambda t, i: F.embedding_bag(i, t, mode=mode), {"mode": mode, "padding_idx": None})
    w.Case(f"embedding_bag_padding_{mode}", "embedding_bag", [w.Distinct(5, 3), torch.tensor([[0, 2, 4], [2, 2, 2]])],
           lambda t, i: F.embedding_bag(i, t, mode=mode, padding_idx=2), {"mode": mode, "padding_idx": 2})
    w.Case(f"embedding_bag_offsets_{mode}", "embedding_bag_offsets", [w.Distinct(5, 3), torch.tensor([0, 2, 4, 3, 1, 0]), torch.tensor([0, 2, 2, 5])],
           lambda t, i, o: F.embedding_bag(i, t, o, mode=mode), {"mode": mode, "padding_idx": None})
w.Case("embedding_bag_weights", "embedding_bag_weighted", [R(5, 3), torch.tensor([[0, 2, 4], [1, 1, 3]]), R(2, 3)],
       lambda t, i, v: F.embedding_bag(i, t, mode="sum", per_sample_weights=v))
w.Case("one_hot", "one_hot", [w.Int(2, 3, lo=0, hi=3)], lambda i: F.one_hot(i, 4), {"classes": 4}, grad=False)
w.Case("one_hot_scalar", "one_hot", [torch.tensor(2)], lambda i: F.one_hot(i, 3), {"classes": 3}, grad=False)
w.Write("embedding.json")
