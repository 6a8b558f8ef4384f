# SPDX-License-Identifier: Apache-2.0
"""Vectors of src/tensor/loss.h, from torch 2.5.1: writes loss.json."""
import torch
import torch.nn.functional as F

from vectors import Writer

w = Writer(6)
R = w.Real
REDUCTIONS = ("none", "mean", "sum")


def Signs(*shape):
    return (w.Int(*shape, lo=0, hi=1) * 2 - 1).to(torch.float64)


def Each(name, op, inputs, f, **args):
    """A case for each reduction. `inputs` is made anew by calling it."""
    for r in REDUCTIONS:
        w.Case(f"{name}_{r}", op, inputs(), lambda *x: f(*x, reduction=r, **args), dict(args, reduction=r))


def D(v):
    """torch has no gradient of class weights."""
    return None if v is None else v.detach()


def Pair():
    return [R(2, 3), R(2, 3)]


Each("mse", "mse", Pair, F.mse_loss)
Each("l1", "l1", Pair, F.l1_loss)
Each("smooth_l1", "smooth_l1", Pair, F.smooth_l1_loss, beta=1.0)
Each("smooth_l1_wide", "smooth_l1", Pair, F.smooth_l1_loss, beta=2.5)
Each("smooth_l1_zero", "smooth_l1", Pair, F.smooth_l1_loss, beta=0.0)
Each("huber", "huber", Pair, F.huber_loss, delta=1.0)
Each("huber_narrow", "huber", Pair, F.huber_loss, delta=0.5)

# Class indices: {N, C}, {C} and {N, C, d...}; weights, ignored classes, smoothing.
for shape in ((4, 3), (3,), (2, 3, 2), (2, 3, 2, 2)):
    c = 3
    target = [*shape[:1], *shape[2:]] if len(shape) > 1 else []
    for weighted in (False, True):
        for ignore in (-100, 1):
            for smoothing in (0.0, 0.2):
                t = w.Int(*target, lo=0, hi=c - 1)
                if len(target) and ignore == -100:
                    t.view(-1)[0] = -100
                if not len(target) and int(t) == ignore:
                    t = torch.tensor(0)
                inputs = [R(*shape), t] + ([R(c, lo=0.5)] if weighted else [])
                for r in REDUCTIONS:
                    args = {"reduction": r, "ignore_index": ignore, "label_smoothing": smoothing}
                    w.Case(f"cross_entropy_{shape}_{weighted}_{ignore}_{smoothing}_{r}", "cross_entropy", inputs,
                           lambda x, y, v=None: F.cross_entropy(x, y, D(v), ignore_index=ignore, label_smoothing=smoothing, reduction=r), args)
                    if smoothing == 0 and shape != (2, 3, 2, 2):
                        w.Case(f"nll_{shape}_{weighted}_{ignore}_{r}", "nll", [-R(*shape, lo=0.1)] + inputs[1:],
                               lambda x, y, v=None: F.nll_loss(x, y, D(v), ignore_index=ignore, reduction=r), args)
for shape in ((4, 3), (3,), (2, 3, 2)):
    for smoothing in (0.0, 0.3):
        for r in REDUCTIONS:
            p = R(*shape, lo=0, hi=1)
            w.Case(f"cross_entropy_probabilities_{shape}_{smoothing}_{r}", "cross_entropy", [R(*shape), p, R(3, lo=0.5)],
                   lambda x, y, v: F.cross_entropy(x, y, D(v), label_smoothing=smoothing, reduction=r),
                   {"reduction": r, "ignore_index": -100, "label_smoothing": smoothing})


def Unit(*s):
    return R(*s, lo=0.05, hi=0.95)


Each("bce", "bce", lambda: [Unit(2, 3), Unit(2, 3)], F.binary_cross_entropy)
Each("bce_weight", "bce", lambda: [Unit(2, 3), Unit(2, 3), R(3, lo=0.5)], lambda x, y, v, reduction: F.binary_cross_entropy(x, y, D(v), reduction=reduction))
edge = torch.tensor([0.0, 1.0, 0.0, 1.0], dtype=torch.float64)
w.Case("bce_at_the_edges", "bce", [edge, torch.tensor([0.0, 1.0, 1.0, 0.0], dtype=torch.float64)],
       lambda x, y: F.binary_cross_entropy(x, y, reduction="none"), {"reduction": "none"}, grad=False)
Each("bce_logits", "bce_logits", lambda: [R(2, 3, lo=-9, hi=9), Unit(2, 3)], F.binary_cross_entropy_with_logits)
zero = torch.tensor([0.0, 0.0, 60.0, -60.0, 800.0], dtype=torch.float64)
w.Case("bce_logits_edges", "bce_logits", [zero, torch.tensor([0.0, 1.0, 0.0, 1.0, 0.5], dtype=torch.float64)],
       lambda x, y: F.binary_cross_entropy_with_logits(x, y, reduction="none"), {"reduction": "none"})
for r in REDUCTIONS:
    w.Case(f"bce_logits_weights_{r}", "bce_logits", [R(2, 3), Unit(2, 3), R(3, lo=0.5), R(3, lo=0.5)],
           lambda x, y, v, p: F.binary_cross_entropy_with_logits(x, y, D(v), pos_weight=D(p), reduction=r), {"reduction": r})

for log_target in (False, True):
    def Target():
        t = Unit(3, 4)
        return t.log() if log_target else t
    for r in REDUCTIONS + ("batchmean",):
        w.Case(f"kl_div_{log_target}_{r}", "kl_div", [R(3, 4), torch.round(Target() * 64) / 64],
               lambda x, y: F.kl_div(x, y, reduction=r, log_target=log_target), {"reduction": r, "log_target": log_target})
w.Case("kl_div_zero_target", "kl_div", [R(3), torch.tensor([0.0, 0.5, 0.5], dtype=torch.float64)], lambda x, y: F.kl_div(x, y.detach(), reduction="sum"),
       {"reduction": "sum", "log_target": False}, grad=False)
for log_input in (True, False):
    for full in (True, False):
        for r in REDUCTIONS:
            w.Case(f"poisson_nll_{log_input}_{full}_{r}", "poisson_nll", [R(2, 3, lo=0.25), R(2, 3, lo=0.25, hi=5)],
                   lambda x, y: F.poisson_nll_loss(x, y, log_input=log_input, full=full, reduction=r),
                   {"log_input": log_input, "full": full, "reduction": r})
for full in (True, False):
    for shape in ((2, 3), (2, 1), (2,)):
        for r in REDUCTIONS:
            v = R(*shape, lo=0.25)
            w.Case(f"gaussian_nll_{full}_{shape}_{r}", "gaussian_nll", [R(2, 3), R(2, 3), v],
                   lambda x, y, s: F.gaussian_nll_loss(x, y, s, full=full, reduction=r), {"full": full, "reduction": r})
small = torch.tensor([0.0, 1e-9, 0.5], dtype=torch.float64)
w.Case("gaussian_nll_small_var", "gaussian_nll", [R(3), R(3), small], lambda x, y, s: F.gaussian_nll_loss(x, y, s, eps=1e-2, reduction="none"),
       {"full": False, "reduction": "none", "eps": 1e-2})

for r in REDUCTIONS:
    s = Signs(2, 3)
    w.Case(f"hinge_embedding_{r}", "hinge_embedding", [R(2, 3), s], lambda x, y: F.hinge_embedding_loss(x, y.detach(), 0.7, reduction=r), {"margin": 0.7, "reduction": r})
    s = Signs(4)
    w.Case(f"margin_ranking_{r}", "margin_ranking", [R(4), R(4), s], lambda x, y, z: F.margin_ranking_loss(x, y, z.detach(), 0.3, reduction=r), {"margin": 0.3, "reduction": r})
    s = Signs(4)
    w.Case(f"cosine_embedding_{r}", "cosine_embedding", [R(4, 3), R(4, 3), s], lambda x, y, z: F.cosine_embedding_loss(x, y, z.detach(), 0.1, reduction=r), {"margin": 0.1, "reduction": r})
    for p, swap in ((2.0, False), (2.0, True), (1.0, False)):
        w.Case(f"triplet_margin_{p}_{swap}_{r}", "triplet_margin", [R(3, 4), R(3, 4), R(3, 4)],
               lambda x, y, z: F.triplet_margin_loss(x, y, z, margin=1.5, p=p, swap=swap, reduction=r), {"margin": 1.5, "p": p, "swap": swap, "reduction": r})
    s = Signs(2, 3)
    w.Case(f"soft_margin_{r}", "soft_margin", [R(2, 3), s], lambda x, y: F.soft_margin_loss(x, y.detach(), reduction=r), {"reduction": r})
    for p in (1, 2):
        for weighted in (False, True):
            w.Case(f"multi_margin_{p}_{weighted}_{r}", "multi_margin", [R(4, 3), w.Int(4, lo=0, hi=2)] + ([R(3, lo=0.5)] if weighted else []),
                   lambda x, y, v=None: F.multi_margin_loss(x, y, p=p, margin=0.8, weight=None if v is None else v.detach(), reduction=r),
                   {"p": p, "margin": 0.8, "reduction": r})
    w.Case(f"multi_label_soft_margin_{r}", "multi_label_soft_margin", [R(2, 3), w.Int(2, 3, lo=0, hi=1).to(torch.float64), R(3, lo=0.5)],
           lambda x, y, v: F.multilabel_soft_margin_loss(x, y.detach(), D(v), reduction=r), {"reduction": r})
    labels, steps, lengths = torch.tensor([[1, 2, 2], [3, 1, 0]]), torch.tensor([5, 6]), torch.tensor([3, 2])
    w.Case(f"ctc_{r}", "ctc", [R(6, 2, 4), labels, steps, lengths],
           lambda x, y, a, b: F.ctc_loss(x.log_softmax(2), y, a, b, reduction=r), {"reduction": r, "blank": 0, "zero_infinity": False})
labels, steps, lengths = torch.tensor([[1, 1, 1], [2, 0, 0]]), torch.tensor([3, 4]), torch.tensor([3, 0])
w.Case("ctc_impossible_and_empty", "ctc", [R(4, 2, 4), labels, steps, lengths],
       lambda x, y, a, b: F.ctc_loss(x.log_softmax(2), y, a, b, blank=3, reduction="none", zero_infinity=True),
       {"reduction": "none", "blank": 3, "zero_infinity": True})
w.Write("loss.json")
