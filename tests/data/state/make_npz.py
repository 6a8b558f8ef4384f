# SPDX-License-Identifier: Apache-2.0
"""Archives of numpy.savez (NumPy 1.26 or later): arrays.npz holds every type that is read, scalars, empty arrays and three ranks;
fortran.npz, big_endian.npz, text.npz and compressed.npz are refused."""
import os

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))


def at(name):
    return os.path.join(here, name)


arrays = {t: np.array([0, 1, 100]).astype(t) for t in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8")}
arrays.update({
    "flags": np.array([True, False, True]), "scalar": np.array(2.25), "empty": np.zeros((0, 4), np.float32),
    "matrix": np.arange(6, dtype=np.float32).reshape(2, 3) / 4, "cube": np.arange(24, dtype=np.int64).reshape(2, 3, 4) - 12,
    "column": np.asfortranarray(np.array([[1.5], [-2.5]], np.float32)),
})
np.savez(at("arrays.npz"), **arrays)
np.savez(at("fortran.npz"), x=np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)))
np.savez(at("big_endian.npz"), x=np.arange(3, dtype=">f4"))
np.savez(at("text.npz"), x=np.array(["a", "bc"]))
np.savez_compressed(at("compressed.npz"), x=np.zeros(100, np.float32))
