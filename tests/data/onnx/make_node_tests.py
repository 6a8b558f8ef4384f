#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes node_tests.zst: the node tests of the ONNX backend suite (package onnx 1.23.2, licence Apache-2.0, see README.md),
every case with its model, inputs and expected outputs, for tests/src/tensor/onnx/node_test.cc.

Run with a Python that has onnx==1.23.2, and the command zstd:  python make_node_tests.py OUTPUT_FOLDER

The file is one zstd frame of records, each: name, model, inputs, outputs; a name or message is a u32 length and its
bytes; inputs and outputs are a u32 count of values; a value is one byte (0 a TensorProto's message, 1 a sequence: a u32
count of values, 2 an optional without a value, 3 an input that is not given) and what belongs to it. Numbers are
little-endian. Cases whose model and data pass MOST bytes are left out and listed in left_out.txt.
"""
import struct
import subprocess
import sys
import warnings

import numpy as np

warnings.filterwarnings("ignore")
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

MOST = 400_000


def u32(n):
    return struct.pack("<I", n)


def blob(b):
    return u32(len(b)) + b


def value(x):
    if x is None:
        return b"\x02"
    if isinstance(x, onnx.TensorProto):
        return b"\x00" + blob(x.SerializeToString())
    if isinstance(x, onnx.SequenceProto):
        return value(numpy_helper.to_list(x))
    if isinstance(x, onnx.OptionalProto):
        return value(numpy_helper.to_optional(x))
    if isinstance(x, (list, tuple)):
        return b"\x01" + u32(len(x)) + b"".join(value(v) for v in x)
    return b"\x00" + blob(numpy_helper.from_array(np.asarray(x)).SerializeToString())


def main(folder):
    assert onnx.__version__ == "1.23.2", onnx.__version__
    records, left_out = [], []
    for case in sorted(collect_testcases(None), key=lambda c: c.name):
        ((inputs, outputs),) = case.data_sets
        assert (case.rtol, case.atol) == (1e-3, 1e-7), case.name
        record = blob(case.name.removeprefix("test_").encode()) + blob(case.model.SerializeToString())
        for values in (inputs, outputs):
            record += u32(len(values)) + b"".join(value(v) for v in values)
        if len(record) > MOST:
            left_out.append(f"{case.name} {len(record)}\n")
        else:
            records.append(record)
    open(folder + "/left_out.txt", "w").write("".join(left_out))
    subprocess.run(["zstd", "-q", "-f", "--ultra", "-22", "--long=27", "-", "-o", folder + "/node_tests.zst"],
                   input=b"".join(records), check=True)
    print(len(records), "cases,", len(left_out), "left out")


if __name__ == "__main__":
    main(sys.argv[1])
