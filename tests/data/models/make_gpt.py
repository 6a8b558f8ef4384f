# SPDX-License-Identifier: Apache-2.0
"""A small GPT that writes like this repository's LICENSE, trained by torch 2.5.1: writes gpt.safetensors (f16 weights) and
gpt.json (its alphabet, what torch generates from a prompt, the logits of the prompt).

The names are those of nanoGPT's modules without the leading `transformer.`; weights are stored {out, in}."""
import json
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import save_file

torch.manual_seed(3)
torch.set_num_threads(1)
HERE = os.path.dirname(os.path.abspath(__file__))
text = open(os.path.join(HERE, "..", "..", "..", "LICENSE")).read()
text = " ".join(text.split())
alphabet = "".join(sorted(set(text)))
LAYERS, HEADS, WIDTH, CONTEXT = 3, 4, 64, 48


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attn = nn.ModuleDict({"c_attn": nn.Linear(WIDTH, 3 * WIDTH), "c_proj": nn.Linear(WIDTH, WIDTH)})
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(WIDTH, 4 * WIDTH), "c_proj": nn.Linear(4 * WIDTH, WIDTH)})

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (y.view(b, t, HEADS, WIDTH // HEADS).transpose(1, 2) for y in self.attn["c_attn"](self.ln_1(x)).split(WIDTH, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.attn["c_proj"](y.transpose(1, 2).reshape(b, t, WIDTH))
        return x + self.mlp["c_proj"](F.gelu(self.mlp["c_fc"](self.ln_2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(len(alphabet), WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.h = nn.ModuleList([Block() for _ in range(LAYERS)])
        self.ln_f = nn.LayerNorm(WIDTH)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.T


data = torch.tensor([alphabet.index(c) for c in text])
net = Gpt()
optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.01)
STEPS = 1500
for step in range(STEPS):
    for group in optimiser.param_groups:
        group["lr"] = 3e-3 * min(1, step / 100) * (1 - step / STEPS) + 1e-5
    at = torch.randint(0, len(data) - CONTEXT - 1, (24,))
    x = torch.stack([data[i:i + CONTEXT] for i in at])
    y = torch.stack([data[i + 1:i + CONTEXT + 1] for i in at])
    loss = F.cross_entropy(net(x).flatten(0, 1), y.flatten())
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    if step % 250 == 0:
        print(step, loss.item(), flush=True)
print("loss", loss.item())
# What is stored is what torch computes with from here on.
weights = {k: v.detach().half().contiguous() for k, v in net.state_dict().items()}
net.load_state_dict({k: v.float() for k, v in weights.items()})
save_file(weights, os.path.join(HERE, "gpt.safetensors"))
net = net.double().eval()
prompt = "You may reproduce"
tokens = [alphabet.index(c) for c in prompt]
margins = []
with torch.no_grad():
    logits = net(torch.tensor([tokens]))[0]
    while len(tokens) < CONTEXT:
        last = net(torch.tensor([tokens]))[0, -1]
        top = last.topk(2).values
        margins.append((top[0] - top[1]).item())
        tokens.append(last.argmax().item())
out = {"alphabet": alphabet, "layers": LAYERS, "heads": HEADS, "width": WIDTH, "context": CONTEXT, "prompt": prompt,
       "text": "".join(alphabet[t] for t in tokens), "least_margin": min(margins),
       "logits": [[float("%.7g" % v) for v in row] for row in logits.tolist()]}
json.dump(out, open(os.path.join(HERE, "gpt.json"), "w"), separators=(",", ":"))
print(out["text"], out["least_margin"], sum(v.numel() for v in weights.values()))
