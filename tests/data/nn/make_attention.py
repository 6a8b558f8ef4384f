# SPDX-License-Identifier: Apache-2.0
"""Vectors of src/tensor/attention.h, from torch 2.5.1 (math kernel): writes attention.json."""
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from vectors import Writer

w = Writer(5)
R = w.Real
inf = float("inf")


def Sdpa(name, q, k, v, mask=None, **args):
    def f(a, b, c, m=None):
        with sdpa_kernel(SDPBackend.MATH):
            return F.scaled_dot_product_attention(a, b, c, attn_mask=m, **args)
    w.Case(f"sdpa_{name}", "sdpa", [q, k, v] + ([] if mask is None else [mask]), f, args)


Sdpa("plain", R(2, 3, 4), R(2, 5, 4), R(2, 5, 2))
Sdpa("matrix", R(3, 4), R(5, 4), R(5, 4))
Sdpa("heads", R(1, 2, 3, 4), R(1, 2, 3, 4), R(1, 2, 3, 4))
Sdpa("causal", R(1, 2, 4, 2), R(1, 2, 4, 2), R(1, 2, 4, 2), is_causal=True)
Sdpa("causal_wide", R(3, 2), R(5, 2), R(5, 2), is_causal=True)
Sdpa("causal_tall", R(1, 5, 2), R(1, 3, 2), R(1, 3, 2), is_causal=True)
Sdpa("scale", R(2, 3, 4), R(2, 5, 4), R(2, 5, 2), scale=0.3)
keep = torch.tensor([[1, 0, 1, 1], [0, 1, 0, 0], [1, 1, 1, 0]], dtype=torch.bool)
Sdpa("bool_mask", R(2, 3, 2), R(2, 4, 2), R(2, 4, 2), keep)
Sdpa("bool_mask_broadcast", R(2, 3, 2), R(2, 4, 2), R(2, 4, 2), keep[:1].reshape(1, 1, 4))
Sdpa("float_mask", R(2, 3, 2), R(2, 4, 2), R(2, 4, 2), R(3, 4))
dark = keep.clone()
dark[1] = False
Sdpa("row_that_sees_nothing", R(1, 3, 2), R(1, 4, 2), R(1, 4, 2), dark)
Sdpa("grouped_query", R(1, 4, 3, 2), R(1, 2, 5, 2), R(1, 2, 5, 2), enable_gqa=True)
Sdpa("multi_query_causal", R(2, 3, 4, 2), R(2, 1, 4, 2), R(2, 1, 4, 2), enable_gqa=True, is_causal=True)
q, k, v = (R(2, 3, 4, dtype=torch.float16) for _ in range(3))


def Half(a, b, c):
    return F.scaled_dot_product_attention(a.double(), b.double(), c.double()).half()


w.Case("sdpa_f16", "sdpa", [q, k, v], Half, {}, grad=False, tol=1e-3)


def Mha(name, n, rows, columns, e, heads, bias=True, attn_mask=None, padding=None, average=True):
    weights = [R(3 * e, e), R(e, e)] + ([R(3 * e), R(e)] if bias else [])
    masks = [m for m in (attn_mask, padding) if m is not None]

    def f(q, k, v, wi, wo, *rest):
        bi, bo = (rest[0], rest[1]) if bias else (None, None)
        rest = list(rest[2:] if bias else rest)
        am = rest.pop(0) if attn_mask is not None else None
        pm = rest.pop(0) if padding is not None else None
        t = lambda x: x.transpose(0, 1)
        y, a = F.multi_head_attention_forward(t(q), t(k), t(v), e, heads, wi, bi, None, None, False, 0.0, wo, bo, training=False,
                                              attn_mask=am, key_padding_mask=pm, need_weights=True, average_attn_weights=average)
        return [t(y), a]
    w.Case(f"mha_{name}", "mha", [R(n, rows, e), R(n, columns, e), R(n, columns, e)] + weights + masks, f,
           {"heads": heads, "bias": bias, "attn_mask": attn_mask is not None, "padding": padding is not None, "average": average})


Mha("plain", 2, 3, 4, 4, 2)
Mha("no_bias_by_head", 1, 3, 3, 4, 4, bias=False, average=False)
drop = torch.tensor([[0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0]], dtype=torch.bool)
Mha("bool_mask", 2, 3, 4, 4, 2, attn_mask=drop)
Mha("float_mask", 2, 3, 4, 4, 2, attn_mask=R(3, 4))
Mha("mask_by_head", 1, 3, 4, 4, 2, attn_mask=R(2, 3, 4))
pad = torch.tensor([[0, 0, 0, 1], [0, 0, 1, 1]], dtype=torch.bool)
Mha("padding", 2, 3, 4, 4, 2, padding=pad)
Mha("both_masks", 2, 3, 4, 4, 2, attn_mask=drop & False, padding=pad)
w.Write("attention.json")
