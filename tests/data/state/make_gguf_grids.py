# SPDX-License-Identifier: Apache-2.0
"""The lattice points of GGUF's IQ types as a table for src/tensor/state/gguf_grids.inc (gguf 0.19.0 has them):
prints it. A point is one number: its elements' places in the grid's list of levels, two bits each (eight
elements) or three bits each (four elements), the first element lowest."""
from gguf import quants

GRIDS = (("kGridIq2Xxs", quants.IQ2_XXS), ("kGridIq2Xs", quants.IQ2_XS), ("kGridIq2S", quants.IQ2_S),
         ("kGridIq3Xxs", quants.IQ3_XXS), ("kGridIq3S", quants.IQ3_S), ("kGridIq1S", quants.IQ1_S))

print("// SPDX-License-Identifier: Apache-2.0")
print("// Written by tests/data/state/make_gguf_grids.py.")
for name, t in GRIDS:
    t.init_grid()
    points, elements = t.grid_shape
    bits = 16 // elements if elements == 8 else 3
    level = {float(v): i for i, v in enumerate(t.grid_map)}
    codes = [sum(level[float(v)] << bits * i for i, v in enumerate(row)) for row in t.grid.reshape(points, elements)]
    print(f"constexpr uint16_t {name}[{points}] = {{")
    line = "   "
    for c in codes:
        word = f" {c},"
        if len(line) + len(word) > 110:
            print(line)
            line = "   "
        line += word
    print(line)
    print("};")
