# SPDX-License-Identifier: Apache-2.0
"""Vectors of src/tensor/dynamic.h, from torch 2.5.1: writes dynamic.json."""
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "nn"))
from vectors import Writer  # noqa: E402

w = Writer(29)
NAN = float("nan")
few = [w.Int(3, 5, lo=0, hi=2), w.Int(7, lo=-2, hi=2, dtype=torch.int8), w.Int(2, 3, 2, lo=0, hi=1).bool(), w.Int(4, 4, lo=0, hi=2).double(),
       torch.tensor([0.0, NAN, 1.0, NAN, 0.0, -1.0]), torch.zeros(3, 2), torch.zeros(0, 4), torch.tensor(5.0), torch.tensor(0, dtype=torch.int32)]
for i, x in enumerate(few):
    w.Case(f"nonzero_{i}", "nonzero", [x], torch.nonzero, grad=False)
    if x.dim() > 0:
        w.Case(f"unique_{i}", "unique", [x], lambda v: list(torch.unique(v, return_inverse=True, return_counts=True)), grad=False)
for i, (x, m) in enumerate([(w.Real(3, 4), w.Int(3, 4, lo=0, hi=1).bool()), (w.Real(3, 4), w.Int(4, lo=0, hi=1).bool()),
                            (w.Real(4), w.Int(3, 4, lo=0, hi=1).bool()), (w.Real(5), torch.zeros(5).bool()), (w.Int(6), torch.ones(6).bool()),
                            (w.Real(0, 3), torch.zeros(0, 3).bool())]):
    w.Case(f"masked_select_{i}", "masked_select", [x, m], torch.masked_select, grad=x.is_floating_point())
w.Write(os.path.join(os.path.dirname(os.path.abspath(__file__)), "dynamic.json"))
