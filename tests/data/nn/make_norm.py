# SPDX-License-Identifier: Apache-2.0
"""Vectors of src/tensor/norm.h and softmax.h, from torch 2.5.1: writes norm.json."""
import torch
import torch.nn.functional as F

from vectors import Writer

w = Writer(4)
R = w.Real

for shape in ((4, 3), (2, 3, 4), (2, 3, 2, 3), (1, 2, 2, 2, 2)):
    c = shape[1]
    for training in (False, True):
        for affine in (False, True):
            extra = [R(c, lo=0.5), R(c)] if affine else []

            def BatchNorm(x, m, v, *wb):
                if not training:
                    return [F.batch_norm(x, m, v, *wb, training=False, momentum=0.3, eps=1e-3), m.detach(), v.detach()]
                m2, v2 = m.detach().clone(), v.detach().clone()
                y = F.batch_norm(x, m2, v2, *wb, training=True, momentum=0.3, eps=1e-3)
                return [y, m2, v2]
            # The statistics are results without a gradient.
            case = f"batch_norm_{shape}_{training}_{affine}"
            args = {"training": training, "momentum": 0.3, "eps": 1e-3}
            w.Case(case, "batch_norm", [R(*shape), R(c), R(c, lo=0.5)] + extra, BatchNorm, args, grad=False)

            def First(x, m, v, *wb):
                return F.batch_norm(x, m.detach().clone(), v.detach().clone(), *wb, training=training, momentum=0.3, eps=1e-3)
            w.Case(case + "_gradient", "batch_norm_output", [R(*shape), R(c), R(c, lo=0.5)] + extra, First, args)
w.Case("batch_norm_no_statistics", "batch_norm_fresh", [R(4, 3)], lambda x: F.batch_norm(x, None, None, training=True))

for normal in ((4,), (3, 4), (2, 3, 4)):
    shape = (2, 3, 4)
    n = {"shape": list(normal), "eps": 1e-4}
    w.Case(f"layer_norm_{normal}", "layer_norm", [R(*shape)], lambda x: F.layer_norm(x, normal, eps=1e-4), n)
    w.Case(f"layer_norm_affine_{normal}", "layer_norm", [R(*shape), R(*normal), R(*normal)], lambda x, a, b: F.layer_norm(x, normal, a, b, 1e-4), n)
    w.Case(f"rms_norm_{normal}", "rms_norm", [R(*shape)], lambda x: F.rms_norm(x, normal, eps=1e-4), n)
    w.Case(f"rms_norm_weight_{normal}", "rms_norm", [R(*shape), R(*normal)], lambda x, a: F.rms_norm(x, normal, a), dict(n, eps=-1))
w.Case("layer_norm_f16", "layer_norm", [R(2, 8, dtype=torch.float16)], lambda x: F.layer_norm(x.double(), (8,)).half(), {"shape": [8], "eps": 1e-5},
       grad=False, tol=1e-3)
for shape, groups in (((2, 4), 2), ((2, 4, 3), 4), ((2, 6, 2, 2), 3), ((2, 6, 2, 2), 1)):
    c = shape[1]
    args = {"groups": groups, "eps": 1e-5}
    w.Case(f"group_norm_{shape}_{groups}", "group_norm", [R(*shape)], lambda x: F.group_norm(x, groups), args)
    w.Case(f"group_norm_affine_{shape}_{groups}", "group_norm", [R(*shape), R(c), R(c)], lambda x, a, b: F.group_norm(x, groups, a, b), args)
w.Case("instance_norm", "instance_norm", [R(2, 3, 4)], lambda x: F.instance_norm(x))
w.Case("instance_norm_affine", "instance_norm", [R(2, 3, 2, 3), R(3), R(3)], lambda x, a, b: F.instance_norm(x, weight=a, bias=b))
for size in (1, 2, 3, 5):
    for shape in ((2, 4, 3), (1, 4, 2, 2)):
        w.Case(f"local_response_norm_{size}_{shape}", "local_response_norm", [R(*shape)], lambda x: F.local_response_norm(x, size, 0.5, 0.75, 1.5),
               {"size": size, "alpha": 0.5, "beta": 0.75, "k": 1.5})

for p in (2.0, 1.0, 3.0, float("inf")):
    for dim in (1, -1):
        w.Case(f"normalize_{p}_{dim}", "normalize", [R(2, 3, 4)], lambda x: F.normalize(x, p, dim), {"p": str(p), "dim": dim})
z = torch.zeros(2, 3, dtype=torch.float64)
z[1] = torch.tensor([3.0, 0, 4])
w.Case("normalize_zero", "normalize", [z], lambda x: F.normalize(x), {"p": "2", "dim": 1}, grad=False)
w.Case("cosine_similarity", "cosine_similarity", [R(2, 3, 4), R(2, 3, 4)], lambda a, b: F.cosine_similarity(a, b, 1), {"dim": 1})
w.Case("cosine_similarity_broadcast", "cosine_similarity", [R(2, 1, 4), R(3, 4)], lambda a, b: F.cosine_similarity(a, b, -1), {"dim": -1})
w.Case("cosine_similarity_zero", "cosine_similarity", [z, R(2, 3)], lambda a, b: F.cosine_similarity(a, b), {"dim": 1}, grad=False)
for p in (2.0, 1.0, 3.0):
    w.Case(f"pairwise_distance_{p}", "pairwise_distance", [R(3, 4), R(3, 4)], lambda a, b: F.pairwise_distance(a, b, p), {"p": p, "keepdim": False})
    w.Case(f"cdist_{p}", "cdist", [R(2, 3, 4), R(2, 2, 4)], lambda a, b: torch.cdist(a, b, p), {"p": p})
w.Case("pairwise_distance_keepdim", "pairwise_distance", [R(3, 4), R(4)], lambda a, b: F.pairwise_distance(a, b, keepdim=True), {"p": 2.0, "keepdim": True})

w.Case("softmin", "softmin", [R(2, 3, 2)], lambda x: F.softmin(x, 1), {"dim": 1})
w.Case("softmax2d", "softmax2d", [R(2, 3, 2, 2)], lambda x: torch.nn.Softmax2d()(x))
w.Case("softmax2d_unbatched", "softmax2d", [R(3, 2, 2)], lambda x: torch.nn.Softmax2d()(x))
for hard in (False, True):
    def Gumbel(logits, noise):
        soft = ((logits + noise) / 0.7).softmax(-1)
        if not hard:
            return soft
        one = torch.zeros_like(soft).scatter_(-1, soft.max(-1, keepdim=True)[1], 1.0)
        return one - soft.detach() + soft
    w.Case(f"gumbel_softmax_{hard}", "gumbel_softmax", [R(3, 4), R(3, 4)], Gumbel, {"tau": 0.7, "hard": hard})
w.Write("norm.json")
