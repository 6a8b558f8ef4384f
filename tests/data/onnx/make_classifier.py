# SPDX-License-Identifier: Apache-2.0
"""Writes digits.onnx, a small convolutional classifier of scikit-learn's handwritten digits (Debian's python3-sklearn
1.2 ships the data) trained with torch 2.5.1 and exported by torch.onnx.export, and digits.json: 100 digits that it was not trained
on, their classes, and the logits that torch gives. Run with a Python that has torch==2.5.1 and onnx==1.23.2."""
import gzip
import json
import os
import sys

import numpy as np
import onnx
import torch
from onnx.reference import ReferenceEvaluator
from torch import nn

DATA = "/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz"
here = os.path.dirname(os.path.abspath(__file__))
torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 16, 3, padding=1),
                                      nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.1))
        self.head = nn.Sequential(nn.Linear(16 * 4 * 4, 48), nn.GELU(), nn.Linear(48, 10))

    def forward(self, x):
        x = self.features(x)
        return self.head(x.view(x.size(0), -1))  # the batch size is computed in the graph


rows = np.loadtxt(gzip.open(DATA), delimiter=",")
pixels = torch.tensor(rows[:, :64] / 16, dtype=torch.float32).reshape(-1, 1, 8, 8)
labels = torch.tensor(rows[:, 64].astype(np.int64))
train, test = slice(0, 1697), slice(1697, 1797)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(20):
    for batch in torch.randperm(1697).split(64):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(pixels[train][batch]), labels[train][batch]).backward()
        optimizer.step()
net.eval()
path = os.path.join(here, "digits.onnx")
torch.onnx.export(net, (pixels[:2],), path, input_names=["image"], output_names=["logits"], opset_version=17,
                  dynamic_axes={"image": {0: "batch"}, "logits": {0: "batch"}})
with torch.no_grad():
    logits = net(pixels[test]).numpy()
reference = ReferenceEvaluator(onnx.load(path)).run(None, {"image": pixels[test].numpy()})[0]
assert np.abs(reference - logits).max() < 1e-3, np.abs(reference - logits).max()
with open(os.path.join(here, "digits.json"), "w") as f:
    json.dump({"pixels": (rows[test, :64]).astype(int).reshape(-1).tolist(), "classes": labels[test].tolist(),
               "logits": [round(float(v), 6) for v in logits.reshape(-1)]}, f, separators=(",", ":"))
print("right:", int((logits.argmax(1) == labels[test].numpy()).sum()), "of 100,", os.path.getsize(path), "bytes", file=sys.stderr)
