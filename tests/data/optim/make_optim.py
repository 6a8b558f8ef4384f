# SPDX-License-Identifier: Apache-2.0
"""Trajectories of optimisers and learning rates, from torch 2.5.1 (tinygrad 0.14.0 for LAMB; Muon, which torch 2.5
lacks, from its published definition in torch operations, in the parameter's type): writes optim.json.

The loss of every trajectory is sum_i w_i (a_i p_i - b_i)^2 / 2 + c_i p_i^3 / 3 over two parameters, with the same
data for all; see optim_test.cc.
"""
import json
import math
import os

import numpy as np
import torch

torch.set_num_threads(1)
STEPS = 12
rng = np.random.default_rng(7)
SHAPES = [(3, 4), (5, 2)]
R = lambda shape: (np.round(rng.uniform(-2, 2, shape) * 64) / 64)
DATA = [{"p": R(s), "a": R(s), "b": R(s), "w": np.abs(R(s)) + 0.25, "c": R(s) / 16} for s in SHAPES]


class Muon:
    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, adjust="original", steps=5):
        self.__dict__.update(locals())
        self.buf = [torch.zeros_like(p) for p in params]

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    @torch.no_grad()
    def step(self):
        for p, buf in zip(self.params, self.buf):
            g = p.grad
            buf.mul_(self.momentum).add_(g, alpha=1 - self.momentum)
            u = (1 - self.momentum) * g + self.momentum * buf if self.nesterov else buf.clone()
            rows, columns = u.shape
            x = u.T if rows > columns else u
            x = x / max(float(torch.linalg.norm(x)), 1e-7)
            for _ in range(self.steps):
                s = x @ x.T
                x = 3.4445 * x + (-4.7750 * s + 2.0315 * s @ s) @ x
            x = x.T if rows > columns else x
            k = math.sqrt(max(1, rows / columns)) if self.adjust == "original" else 0.2 * math.sqrt(max(rows, columns))
            p.mul_(1 - self.lr * self.weight_decay)
            p.sub_(self.lr * k * x)


O = torch.optim
CASES = [
    ("sgd", {"lr": 0.1}, O.SGD),
    ("sgd", {"lr": 0.05, "momentum": 0.9}, O.SGD),
    ("sgd", {"lr": 0.05, "momentum": 0.8, "dampening": 0.3, "weight_decay": 0.1}, O.SGD),
    ("sgd", {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}, O.SGD),
    ("sgd", {"lr": 0.01, "maximize": True}, O.SGD),
    ("adam", {"lr": 0.1}, O.Adam),
    ("adam", {"lr": 0.05, "beta1": 0.8, "beta2": 0.95, "eps": 1e-4, "weight_decay": 0.1}, O.Adam),
    ("adam", {"lr": 0.1, "amsgrad": True}, O.Adam),
    ("adamw", {"lr": 0.1}, O.AdamW),
    ("adamw", {"lr": 0.05, "weight_decay": 0.3, "amsgrad": True, "maximize": True}, O.AdamW),
    ("rmsprop", {"lr": 0.05}, O.RMSprop),
    ("rmsprop", {"lr": 0.02, "alpha": 0.9, "momentum": 0.7, "centered": True, "weight_decay": 0.05, "eps": 1e-3}, O.RMSprop),
    ("adagrad", {"lr": 0.2}, O.Adagrad),
    ("adagrad", {"lr": 0.3, "lr_decay": 0.1, "weight_decay": 0.05, "initial_accumulator_value": 0.2}, O.Adagrad),
    ("muon", {"lr": 0.05}, Muon),
    ("muon", {"lr": 0.05, "nesterov": False, "weight_decay": 0.0, "adjust": "match_rms_adamw", "momentum": 0.8}, Muon),
]


def Loss(ps, dtype):
    t = lambda v: torch.tensor(v, dtype=dtype)
    return sum((t(d["w"]) * (t(d["a"]) * p - t(d["b"])) ** 2).sum() / 2 + (t(d["c"]) * p**3).sum() / 3 for p, d in zip(ps, DATA))


def Numbers(x):
    return [float("%.17g" % v) for v in np.asarray(x, dtype=np.float64).reshape(-1)]


def Short(x):
    return [float("%.12g" % v) for v in np.asarray(x, dtype=np.float64).reshape(-1)]


out = {"data": [{k: {"s": list(v.shape), "v": Numbers(v)} for k, v in d.items()} for d in DATA], "trajectories": []}
for op, options, make in CASES:
    for dtype, name in ((torch.float64, "f64"), (torch.float32, "f32")):
        ps = [torch.tensor(d["p"], dtype=dtype, requires_grad=True) for d in DATA]
        kw = dict(options)
        if "beta1" in kw:
            kw["betas"] = (kw.pop("beta1"), kw.pop("beta2"))
        optimizer = make(ps, **kw)
        states = []
        for _ in range(STEPS):
            optimizer.zero_grad()
            Loss(ps, dtype).backward()
            optimizer.step()
            states.append(sum((Short(p.detach()) for p in ps), []))
        out["trajectories"].append({"op": op, "options": options, "t": name, "steps": states})

# LAMB from tinygrad, whose corrections of bias are float32: the tolerance is that of float32.
os.environ.setdefault("DEV", "PYTHON")
import tinygrad  # noqa: E402

for options in ({"lr": 0.05}, {"lr": 0.02, "beta1": 0.8, "beta2": 0.95, "eps": 1e-4, "weight_decay": 0.1}):
    T = lambda v: tinygrad.Tensor(v.astype(np.float32))
    ps = [T(d["p"]).realize().is_param_(True) for d in DATA]
    kw = {{"beta1": "b1", "beta2": "b2"}.get(k, k): v for k, v in options.items()}
    optimizer = tinygrad.nn.optim.LAMB(ps, **kw)
    states = []
    with tinygrad.helpers.Context(TRAINING=1):
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss = sum((T(d["w"]) * (T(d["a"]) * p - T(d["b"])) ** 2).sum() / 2 + (T(d["c"]) * p * p * p).sum() / 3 for p, d in zip(ps, DATA))
            loss.backward()
            optimizer.step()
            states.append(sum((Short(p.numpy()) for p in ps), []))
    out["trajectories"].append({"op": "lamb", "options": options, "t": "f32", "steps": states})

S = O.lr_scheduler
LR = 0.4


def Run(make, steps=30, lr=LR):
    p = torch.zeros(1, requires_grad=True)
    o = O.SGD([p], lr=lr, momentum=0.9)
    s = make(o)
    rates = []
    for _ in range(steps):
        rates.append(o.param_groups[0]["lr"])
        o.step()
        s.step()
    return Numbers(rates)


out["schedules"] = [
    {"op": op, "args": args, "rates": Run(make)}
    for op, args, make in [
        ("step", [7, 0.5], lambda o: S.StepLR(o, 7, 0.5)),
        ("multi_step", [[4, 11, 11, 20], 0.3], lambda o: S.MultiStepLR(o, [4, 11, 11, 20], 0.3)),
        ("exponential", [0.9], lambda o: S.ExponentialLR(o, 0.9)),
        ("constant", [0.25, 6], lambda o: S.ConstantLR(o, 0.25, 6)),
        ("linear", [0.1, 1.0, 8], lambda o: S.LinearLR(o, 0.1, 1.0, 8)),
        ("linear", [1.0, 0.0, 12], lambda o: S.LinearLR(o, 1.0, 0.0, 12)),
        ("polynomial", [15, 2.0], lambda o: S.PolynomialLR(o, 15, 2.0)),
        ("cosine", [10, 0.02], lambda o: S.CosineAnnealingLR(o, 10, 0.02)),
        ("cosine", [40, 0.0], lambda o: S.CosineAnnealingLR(o, 40, 0.0)),
        ("warm_restarts", [5, 1, 0.01], lambda o: S.CosineAnnealingWarmRestarts(o, 5, 1, 0.01)),
        ("warm_restarts", [4, 2, 0.0], lambda o: S.CosineAnnealingWarmRestarts(o, 4, 2, 0.0)),
        ("sequential", [], lambda o: S.SequentialLR(o, [S.LinearLR(o, 0.1, 1.0, 5), S.CosineAnnealingLR(o, 20)], [5])),
    ]
]
for options in ({}, {"pct_start": 0.25, "linear": True}, {"three_phase": True, "pct_start": 0.4, "div_factor": 10, "final_div_factor": 100}):
    kw = dict(options)
    if kw.pop("linear", False):
        kw["anneal_strategy"] = "linear"
    rates = Run(lambda o: S.OneCycleLR(o, max_lr=LR, total_steps=31, **kw))
    out["schedules"].append({"op": "one_cycle", "args": [31, options], "rates": rates})

out["plateau"] = []
for options in ({"patience": 2}, {"patience": 1, "cooldown": 2, "factor": 0.5, "maximize": True, "min_lr": 0.06},
                {"patience": 0, "threshold": 0.05, "absolute_threshold": True}):
    metrics = Numbers(np.round(np.cumsum(rng.uniform(-0.2, 0.18, 30)) * 1024) / 1024 + 1)
    p = torch.zeros(1, requires_grad=True)
    o = O.SGD([p], lr=LR)
    kw = dict(options)
    kw["mode"] = "max" if kw.pop("maximize", False) else "min"
    kw["threshold_mode"] = "abs" if kw.pop("absolute_threshold", False) else "rel"
    s = S.ReduceLROnPlateau(o, **kw)
    rates = []
    for m in metrics:
        s.step(m)
        rates.append(o.param_groups[0]["lr"])
    out["plateau"].append({"options": options, "metrics": metrics, "rates": Numbers(rates)})

out["clip"] = []
gs = [R((3, 4)), R((5,)), R(())]
for max_norm, norm in ((1.5, 2.0), (100.0, 2.0), (0.5, 1.0), (0.75, math.inf), (2.0, 3.0)):
    ps = [torch.zeros(g.shape, dtype=torch.float64, requires_grad=True) for g in gs]
    for p, g in zip(ps, gs):
        p.grad = torch.tensor(g)
    total = torch.nn.utils.clip_grad_norm_(ps, max_norm, norm)
    out["clip"].append({"max": max_norm, "norm": "inf" if norm == math.inf else norm, "total": float(total), "out": [Short(p.grad) for p in ps]})
out["gradients"] = [{"s": list(g.shape), "v": Numbers(g)} for g in gs]

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "optim.json"), "w") as f:
    json.dump(out, f, separators=(",", ":"))
    f.write("\n")
