# SPDX-License-Identifier: Apache-2.0
"""A convolutional network on scikit-learn's handwritten digits, trained by torch 2.5.1 from weights that a formula gives: writes
cnn.json (the loss of every step, the classes of the last 100 digits)."""
import json
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
HERE = os.path.dirname(os.path.abspath(__file__))
STEPS, BATCH, TEST = 24, 64, 100
table = np.loadtxt("/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz", delimiter=",")  # Debian's python3-sklearn
pixels = torch.tensor(table[:, :64].reshape(-1, 1, 8, 8) / 16)
labels = torch.tensor(table[:, 64].astype(np.int64))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(1, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8)
        self.conv2, self.fc = nn.Conv2d(8, 16, 3, padding=1, bias=False), nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(x.flatten(1))


net = Net().double()
# Element i of the k-th parameter: a low-discrepancy sequence in [-1/sqrt(fan in), 1/sqrt(fan in)).
for k, (name, p) in enumerate(net.named_parameters()):
    if name.startswith("bn1"):
        continue
    fan = p[0].numel() if p.dim() > 1 else p.numel()
    i = np.arange(p.numel(), dtype=np.float64)
    u = np.modf((i + 1) * 0.6180339887498949 + k * 0.37)[0]
    p.data = torch.tensor(((2 * u - 1) / np.sqrt(fan)).astype(np.float32).astype(np.float64).reshape(p.shape))
optimiser = torch.optim.Adam(net.parameters(), lr=0.01)
losses = []
for step in range(STEPS):
    x, y = pixels[step * BATCH:(step + 1) * BATCH], labels[step * BATCH:(step + 1) * BATCH]
    loss = F.cross_entropy(net(x), y)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    losses.append(float("%.12g" % loss.item()))
net.eval()
with torch.no_grad():
    logits = net(pixels[-TEST:])
guess = logits.argmax(1)
out = {"steps": STEPS, "batch": BATCH, "test": TEST, "learning_rate": 0.01, "losses": losses, "classes": guess.tolist(),
       "logits": [float("%.10g" % v) for v in logits.flatten().tolist()],
       "right": int((guess == labels[-TEST:]).sum())}
json.dump(out, open(os.path.join(HERE, "cnn.json"), "w"), separators=(",", ":"))
print(losses, out["right"])
