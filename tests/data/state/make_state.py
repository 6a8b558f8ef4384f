# SPDX-License-Identifier: Apache-2.0
"""Files of weights by their own packages (safetensors 0.8.0, gguf 0.19.0, torch 2.5.1): writes small.safetensors,
small.gguf (random blocks of each quantised type), gguf.json (the elements that the gguf package gives) and
gguf_many.json (the CRC-32 of the elements of many blocks that the test makes with the same generator)."""
import json
import os
import zlib

import gguf
import numpy as np
import torch
from safetensors.torch import save_file

here = os.path.dirname(os.path.abspath(__file__))
save_file(
    {
        "b.weight": torch.arange(6, dtype=torch.float32).reshape(2, 3) / 4, "a": torch.tensor([1, -2, 3]),
        "h\u00e9\"\n": torch.tensor([0.5, -1.5], dtype=torch.float16), "bf": torch.tensor([[2.5]], dtype=torch.bfloat16),
        "flag": torch.tensor([True, False, True]), "none": torch.zeros(0, 4), "d": torch.tensor(2.25, dtype=torch.float64),
        "u": torch.tensor([7, 255], dtype=torch.uint8), "i": torch.tensor([-5], dtype=torch.int32),
    },
    os.path.join(here, "small.safetensors"), metadata={"format": "pt"})

rng = np.random.default_rng(3)
Q = gguf.GGMLQuantizationType
w = gguf.GGUFWriter(os.path.join(here, "small.gguf"), "test")
w.add_uint32("test.count", 7)
w.add_string("test.text", "hello")
w.add_array("test.list", [1, 2, 3])
out = {}
# Where the f16 scales of a block lie; those of the later types as the offset of their upper bytes.
places = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}
upper = {name: [at + 1 for at in v] for name, v in places.items()}
upper.update({"Q8_K": [3], "IQ2_XXS": [1], "IQ2_XS": [1], "IQ3_XXS": [1], "IQ1_S": [1], "IQ4_NL": [1], "IQ3_S": [1], "IQ2_S": [1],
              "IQ4_XS": [1], "IQ1_M": [55], "TQ1_0": [53], "TQ2_0": [65], "MXFP4": [], "NVFP4": []})


def elements(raw, q):
    if q == Q.Q8_K:  # ggml's formula; the package has none
        return raw[:, :4].copy().view(np.float32) * raw[:, 4:260].copy().view(np.int8).astype(np.float32)
    return gguf.dequantize(raw, q).astype(np.float32)


def made(seed, n):
    out, state = bytearray(n), seed
    for i in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        out[i] = state >> 56
    return np.frombuffer(bytes(out), dtype=np.uint8)


BLOCKS = 600
many = {}
for name in upper:
    q = Q[name]
    block, size = gguf.GGML_QUANT_SIZES[q]
    raw = rng.integers(0, 256, (2, size), dtype=np.uint8)
    for at in places.get(name, []):
        raw[:, at:at + 2] = rng.uniform(-2, 2, (2, 1)).astype(np.float16).view(np.uint8)
    for at in [] if name in places else upper[name]:
        raw[:, at] &= 0xBF  # below 2: no infinities, no NaN
    w.add_tensor(name, raw, raw_dtype=q)
    out[name] = [float(v) for v in elements(raw, q).reshape(-1)]
    lots = made(int(q), BLOCKS * size).reshape(BLOCKS, size).copy()
    for at in upper[name]:
        lots[:, at] &= 0xBF
    with np.errstate(over="ignore"):
        many[name] = {"upper": upper[name], "crc": zlib.crc32(elements(lots, q).tobytes())}
w.add_tensor("F32", np.array([[1, 2, 3], [4, 5, 6.5]], dtype=np.float32))
w.add_tensor("F16", np.array([1.5, -2], dtype=np.float16))
out["F32"], out["F16"] = [1, 2, 3, 4, 5, 6.5], [1.5, -2]
w.write_header_to_file(); w.write_kv_data_to_file(); w.write_tensors_to_file(); w.close()
json.dump(out, open(os.path.join(here, "gguf.json"), "w"), separators=(",", ":"))
json.dump({"blocks": BLOCKS, "types": many}, open(os.path.join(here, "gguf_many.json"), "w"), indent=1)
