# SPDX-License-Identifier: Apache-2.0
"""Files that torch.save 2.5.1 writes: a module's state_dict (module.pt), a training checkpoint (checkpoint.pt), every
element type and kind of view (types.pt), one tensor (single.pt), files that are refused (complex.pt, sparse.pt,
object.pt, old.pt, script.pt), and torch.json: the elements, shapes and scalars that torch.load gives."""
import collections
import json
import os

import torch

here = os.path.dirname(os.path.abspath(__file__))
torch.manual_seed(5)
expected = {}


def flat(prefix, x, tensors, scalars):
    if isinstance(x, torch.Tensor):
        x = x.detach()
        tensors.append({"name": prefix, "shape": list(x.shape), "dtype": str(x.dtype).removeprefix("torch."),
                        "values": [float(v) for v in x.to(torch.float64).reshape(-1).tolist()]})
    elif isinstance(x, dict):
        for k, v in x.items():
            flat(f"{prefix}.{k}" if prefix else str(k), v, tensors, scalars)
    elif isinstance(x, (list, tuple)):
        for k, v in enumerate(x):
            flat(f"{prefix}.{k}" if prefix else str(k), v, tensors, scalars)
    else:
        scalars[prefix] = str(x) if isinstance(x, torch.dtype) else x


def save(name, x, **kw):
    torch.save(x, os.path.join(here, name), **kw)


def keep(name, x):
    save(name, x)
    tensors, scalars = [], {}
    flat("", x, tensors, scalars)
    expected[name] = {"tensors": tensors, "scalars": scalars}


net = torch.nn.Sequential(collections.OrderedDict(
    conv=torch.nn.Conv2d(1, 2, 3), norm=torch.nn.BatchNorm2d(2), head=torch.nn.Linear(2, 3)))
keep("module.pt", net.state_dict())

optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
net.conv(torch.randn(2, 1, 5, 5)).square().mean().backward()
optimizer.step()
keep("checkpoint.pt", {"epoch": 3, "loss": 0.25, "best": None, "done": False, "name": "net\u00e9", "big": 1 << 40,
                       "minus": -7, "dtype": torch.float16, "model": net.state_dict(),
                       "optimizer": optimizer.state_dict(), "sizes": [1, (2, 3)], "shape": torch.Size([4, 5])})

base = torch.arange(24, dtype=torch.float32)
grid = base.reshape(4, 6)
keep("types.pt", {
    "f64": torch.tensor([1.5, -2.25], dtype=torch.float64), "f16": torch.tensor([0.5, -3], dtype=torch.float16),
    "bf16": torch.tensor([2.5, -1], dtype=torch.bfloat16), "u8": torch.tensor([0, 255], dtype=torch.uint8),
    "i8": torch.tensor([-128, 127], dtype=torch.int8), "i16": torch.tensor([-300, 300], dtype=torch.int16),
    "i32": torch.tensor([-70000], dtype=torch.int32), "i64": torch.tensor([-(1 << 40)]),
    "bool": torch.tensor([True, False, True]),
    "e4m3": torch.tensor([1.5, -448], dtype=torch.float8_e4m3fn), "e5m2": torch.tensor([0.25, 57344.0], dtype=torch.float8_e5m2),
    "scalar": torch.tensor(3.5), "none": torch.zeros(0, 3), "whole": grid, "transposed": grid.t(),
    "part": grid[1:3, 2:5], "steps": grid[::2, ::3], "row": base[6:12], "expanded": torch.tensor([[1.0], [2.0]]).expand(2, 3),
    "parameter": torch.nn.Parameter(torch.tensor([4.0]))})
keep("single.pt", torch.tensor([[1.0, 2.0]]))

save("complex.pt", {"z": torch.tensor([1j])})
save("sparse.pt", {"s": torch.eye(2).to_sparse()})
save("object.pt", {"f": os.path.join})
save("old.pt", {"a": torch.ones(1)}, _use_new_zipfile_serialization=False)
torch.jit.save(torch.jit.script(torch.nn.Linear(1, 1)), os.path.join(here, "script.pt"))
with open(os.path.join(here, "torch.json"), "w") as f:
    json.dump(expected, f)
