# SPDX-License-Identifier: Apache-2.0
"""The operations of cpu_bench.cc in tinygrad on the same machine, on one thread.

    DEV=CPU python3 tools/bench/peer_tinygrad_kernels.py [name ...]

Prints a line an operation: the best time that its kernels took (CPU time of this thread). Written for
tinygrad 0.14 (PyPI); needs clang. BEAM=n in the environment lets tinygrad search.
"""
import os
import sys
import time

os.environ.setdefault("DEV", "CPU")
os.environ.setdefault("THREADS", "0")

import numpy as np  # noqa: E402
from tinygrad import Tensor, TinyJit, Device, dtypes  # noqa: E402

ROWS, COLUMNS = 8192, 4096


def numbers(shape, dtype=dtypes.float32):
    n = int(np.prod(shape))
    data = ((np.arange(n) * 37 % 1000) / 500.0 - 1.0).astype(np.float32).reshape(shape)
    return Tensor(data).cast(dtype).realize()


def cases():
    def product(n, ta=False, tb=False):
        return lambda a, b: (a.T if ta else a).matmul(b.T if tb else b)

    for n in (256, 512, 1000, 1024, 2048):
        yield f"Matmul/{n}", [(n, n)] * 2, product(n), dtypes.float32
    yield "MatmulTransposedA/1024", [(1024, 1024)] * 2, product(1024, ta=True), dtypes.float32
    yield "MatmulTransposedB/1024", [(1024, 1024)] * 2, product(1024, tb=True), dtypes.float32
    yield "MatmulF64/1024", [(1024, 1024)] * 2, product(1024), dtypes.float64
    yield "MatmulBF16/1024", [(1024, 1024)] * 2, product(1024), dtypes.bfloat16
    yield "MatmulBiasRelu/1024", [(1024, 1024), (1024, 1024), (1024,)], lambda a, b, c: (a @ b + c).relu(), dtypes.float32
    yield "MatrixVector/4096", [(4096, 4096), (4096, 1)], product(4096), dtypes.float32
    yield "Conv2d3x3/8x64x56x56", [(8, 64, 56, 56), (64, 64, 3, 3)], lambda x, w: x.conv2d(w, padding=1), dtypes.float32
    big = (ROWS, COLUMNS)
    yield "Add", [big] * 2, lambda a, b: a + b, dtypes.float32
    yield "Exp", [big], lambda a: a.exp(), dtypes.float32
    yield "GeluTanh", [big], lambda a: a.gelu(), dtypes.float32
    yield "GeluExact", [big], lambda a: a * 0.5 * (1 + (a * 2**-0.5).erf()), dtypes.float32
    yield "Transpose", [big], lambda a: a.T.contiguous(), dtypes.float32
    yield "SumAll", [big], lambda a: a.sum(), dtypes.float32
    yield "SumRows", [big], lambda a: a.sum(1), dtypes.float32
    yield "SumColumns", [big], lambda a: a.sum(0), dtypes.float32
    yield "MaxAll", [big], lambda a: a.max(), dtypes.float32
    yield "Softmax", [big], lambda a: a.softmax(), dtypes.float32
    yield "LayerNorm", [big], lambda a: a.layernorm(), dtypes.float32


def main():
    wanted = sys.argv[1:]
    for name, shapes, op, dtype in cases():
        if wanted and not any(w in name for w in wanted):
            continue
        inputs = [numbers(s, dtype) for s in shapes]
        run = TinyJit(lambda *xs: op(*xs).realize())
        best = float("inf")
        try:
            deadline = time.monotonic() + 4
            for i in range(40):
                # Kernels run on this thread or on one of the device's: the process's time counts both.
                start = time.process_time()
                run(*inputs)
                Device[Device.DEFAULT].synchronize()
                if i > 2:
                    best = min(best, time.process_time() - start)
                if time.monotonic() > deadline and i > 4:
                    break
            print(f"{name:26} {best * 1e3:10.3f} ms", flush=True)
        except Exception as e:  # what it cannot do is a line too
            print(f"{name:26} {type(e).__name__}: {e}", flush=True)


if __name__ == "__main__":
    main()
