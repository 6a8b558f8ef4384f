# SPDX-License-Identifier: Apache-2.0
"""state_dict, input and output (training mode, then state after it) of torch.nn modules, torch 2.5.1: writes
modules.json."""
import json
import os

import torch

torch.manual_seed(5)
torch.set_default_dtype(torch.float64)
N = torch.nn
out = []


def D(t):
    return {"t": "i64" if t.dtype == torch.int64 else "f64", "s": list(t.shape), "v": [float("%.12g" % v) for v in t.detach().double().reshape(-1).tolist()]}


for op, m, x in [
    ("linear", N.Linear(3, 4), torch.randn(2, 3)),
    ("conv1d", N.Conv1d(4, 6, 3, groups=2), torch.randn(2, 4, 7)),
    ("conv2d", N.Conv2d(2, 3, 3), torch.randn(1, 2, 5, 6)),
    ("conv3d", N.Conv3d(1, 2, 2, bias=False), torch.randn(1, 1, 3, 3, 3)),
    ("conv_transpose2d", N.ConvTranspose2d(3, 2, 3), torch.randn(1, 3, 3, 4)),
    ("batch_norm2d", N.BatchNorm2d(3), torch.randn(2, 3, 2, 2)),
    ("layer_norm", N.LayerNorm(5), torch.randn(2, 5)),
    ("group_norm", N.GroupNorm(2, 4), torch.randn(2, 4, 3)),
    ("instance_norm", N.InstanceNorm1d(3, affine=True), torch.randn(2, 3, 4)),
    ("rms_norm", N.RMSNorm(4), torch.randn(3, 4)),
    ("sequential", N.Sequential(N.Linear(3, 5), N.ReLU(), N.BatchNorm1d(5), N.Linear(5, 2)), torch.randn(4, 3)),
    ("rnn", N.RNN(3, 4), torch.randn(3, 2, 3)),
    ("gru", N.GRU(3, 4, bidirectional=True), torch.randn(3, 2, 3)),
    ("lstm", N.LSTM(3, 4, num_layers=2, batch_first=True), torch.randn(2, 3, 3)),
    ("attention", N.MultiheadAttention(4, 2, batch_first=True), torch.randn(2, 3, 4)),
]:
    state = [[k, D(v.clone())] for k, v in m.state_dict().items()]
    y = m(x, x, x) if op == "attention" else m(x)
    y = y[0] if isinstance(y, tuple) else y
    out.append({"op": op, "state": state, "x": D(x), "y": D(y), "after": [D(v) for v in m.state_dict().values()]})
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "modules.json"), "w") as f:
    json.dump(out, f, separators=(",", ":"))
    f.write("\n")
