# SPDX-License-Identifier: Apache-2.0
"""The steps of capture_bench.cc in tinygrad, eager and under TinyJit, on the same machine.

    DEV=CPU python3 tools/bench/peer_tinygrad_capture.py

Prints the median time of a step in microseconds (wall clock, synchronised) and the process's CPU time a step. Written for tinygrad 0.14 (PyPI);
needs clang.
"""
import os
import statistics
import time

os.environ.setdefault("DEV", "CPU")

import numpy as np  # noqa: E402
from tinygrad import Context, Device, GlobalCounters, Tensor, TinyJit, nn  # noqa: E402

BATCH, IN, HIDDEN, OUT = 32, 64, 64, 10


class Network:
    def __init__(self):
        self.first, self.second = nn.Linear(IN, HIDDEN), nn.Linear(HIDDEN, OUT)

    def __call__(self, x):
        return self.second(self.first(x).relu())


def measure(name, f, steps):
    for _ in range(4):
        f()
    Device[Device.DEFAULT].synchronize()
    times, cpu = [], time.process_time()
    GlobalCounters.reset()
    for _ in range(steps):
        begin = time.perf_counter()
        f()
        Device[Device.DEFAULT].synchronize()
        times.append((time.perf_counter() - begin) * 1e6)
    cpu = (time.process_time() - cpu) * 1e6 / steps
    print(f"{name:16} {statistics.median(times):10.1f} us  {cpu:10.1f} us CPU  {GlobalCounters.kernel_count / steps:.1f} kernels")


def main():
    net = Network()
    x = Tensor(np.sin(np.arange(BATCH * IN)).astype(np.float32).reshape(BATCH, IN)).realize()
    labels = Tensor((np.arange(BATCH) % OUT).astype(np.int32)).realize()
    optimizer = nn.optim.Adam(nn.state.get_parameters(net), lr=1e-3)

    def step(a, b):
        optimizer.zero_grad()
        loss = net(a).sparse_categorical_crossentropy(b).backward()
        return loss.realize(*optimizer.schedule_step())

    def infer(a):
        return net(a).realize()

    train_jit, infer_jit = TinyJit(step), TinyJit(infer)
    with Context(TRAINING=1):
        measure("train_eager", lambda: step(x, labels), 20)
        measure("train_captured", lambda: train_jit(x, labels), 200)
    measure("infer_eager", lambda: infer(x), 40)
    measure("infer_captured", lambda: infer_jit(x), 500)


if __name__ == "__main__":
    main()
