# SPDX-License-Identifier: Apache-2.0
"""Writes corpus/: small models of the ONNX node tests (package onnx 1.23.2), one a file, for the fuzz target."""
import os
import warnings

warnings.filterwarnings("ignore")
from onnx.backend.test.case.node import collect_testcases

here = os.path.dirname(os.path.abspath(__file__))
seen = set()
for case in sorted(collect_testcases(None), key=lambda c: c.name):
    ops = tuple(sorted({n.op_type for n in case.model.graph.node}))
    data = case.model.SerializeToString()
    if len(ops) == 1 and ops not in seen and len(data) < 600:
        seen.add(ops)
        with open(os.path.join(here, "corpus", case.name.removeprefix("test_") + ".onnx"), "wb") as f:
            f.write(data)
