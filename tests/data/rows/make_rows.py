# SPDX-License-Identifier: Apache-2.0
"""What goes over a row several times, on rows of some length, from torch 2.5.1 in float64: writes rows.json.

Element i of the input is (i * 7919 % 4001 - 2000) / 256 and element i of weight and bias (i * 31 % 17 - 8) / 8 and
(i * 13 % 11 - 5) / 8: exact in float32. Of the result the named rows are kept.
"""
import json

import torch
import torch.nn.functional as F

OPS = {
    "softmax": lambda x, w, b: F.softmax(x, -1),
    "log_softmax": lambda x, w, b: F.log_softmax(x, -1),
    "layer_norm": lambda x, w, b: F.layer_norm(x, w.shape, w, b, 1e-5),
    "rms_norm": lambda x, w, b: F.rms_norm(x, w.shape, w, 1e-6),
    "standardise": lambda x, w, b: (x - x.mean(-1, keepdim=True)) / x.var(-1, keepdim=True).sqrt(),
    "softmax_gradient": lambda x, w, b: gradient(lambda y: F.softmax(y, -1) * w, x),
}


def gradient(f, x):
    y = x.clone().requires_grad_()
    f(y).sum().backward()
    return y.grad


cases = []
for rows, columns in ((70, 64), (66, 100), (64, 257), (5, 1000)):
    i = torch.arange(rows * columns)
    x = ((i * 7919 % 4001 - 2000).double() / 256).reshape(rows, columns)
    c = torch.arange(columns)
    w, b = (c * 31 % 17 - 8).double() / 8, (c * 13 % 11 - 5).double() / 8
    keep = [1, rows - 1]
    for name, op in OPS.items():
        y = op(x, w, b)[keep]
        cases.append({"op": name, "rows": rows, "columns": columns, "keep": keep,
                      "result": [float("%.12g" % v) for v in y.flatten().tolist()]})
with open("rows.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
