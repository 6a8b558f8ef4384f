# SPDX-License-Identifier: Apache-2.0
"""Writes models/: small ONNX models (package onnx 1.23.2) for what the node tests do not have: functions, external data,
loops that end by their data, dimensions with names, initialisers below 8 bits, operator sets that are refused."""
import os

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models")


def info(name, shape, dtype=T.FLOAT):
    return h.make_tensor_value_info(name, dtype, shape)


def save(name, nodes, inputs, outputs, opset=21, initializers=(), **kw):
    graph = h.make_graph(nodes, name, inputs, outputs, list(initializers))
    imports = [h.make_opsetid("", opset)] + kw.pop("imports", [])
    model = h.make_model(graph, opset_imports=imports, ir_version=10, **kw)
    with open(os.path.join(folder, name + ".onnx"), "wb") as f:
        f.write(model.SerializeToString())


# y = x * alpha + b by a function; alpha is 2 by default, 3 in the second call.
scale = h.make_node("Constant", [], ["s"])
scale.attribute.append(onnx.AttributeProto(name="value_float", type=onnx.AttributeProto.FLOAT, ref_attr_name="alpha"))
body = [scale, h.make_node("Mul", ["x", "s"], ["m"]), h.make_node("Add", ["m", "b"], ["y"])]
function = h.make_function("local", "ScaleAdd", ["x", "b"], ["y"], body, [h.make_opsetid("", 21)],
                           attribute_protos=[h.make_attribute("alpha", 2.0)])
save("function", [h.make_node("ScaleAdd", ["x", "x"], ["t"], domain="local"),
                  h.make_node("ScaleAdd", ["t", "x"], ["y"], domain="local", alpha=3.0)],
     [info("x", [2])], [info("y", [2])], imports=[h.make_opsetid("local", 1)], functions=[function])


def external(name, location, offset, length):
    t = T(name="w", data_type=T.FLOAT, dims=[2, 2], data_location=T.EXTERNAL)
    for key, value in (("location", location), ("offset", str(offset)), ("length", str(length))):
        t.external_data.add(key=key, value=value)
    save(name, [h.make_node("MatMul", ["x", "w"], ["y"])], [info("x", ["n", 2])], [info("y", ["n", 2])], initializers=[t])


with open(os.path.join(folder, "weights.bin"), "wb") as f:
    f.write(b"skipped!" + np.array([[1, 2], [3, 4]], np.float32).tobytes())
external("external", "weights.bin", 8, 16)
external("external_outside", "../models/weights.bin", 8, 16)
external("external_short", "weights.bin", 16, 16)

# Doubles v while the sum of its elements is below 100; gives the turns' values too.
loop_body = h.make_graph(
    [h.make_node("Add", ["v", "v"], ["v2"]), h.make_node("ReduceSum", ["v2"], ["sum"], keepdims=0),
     h.make_node("Less", ["sum", "limit"], ["go"]), h.make_node("Identity", ["v2"], ["seen"])],
    "body", [info("i", [], T.INT64), info("c", [], T.BOOL), info("v", [2])],
    [info("go", [], T.BOOL), info("v2", [2]), info("seen", [2])])
save("loop", [h.make_node("Loop", ["", "start", "x"], ["y", "all"], body=loop_body)], [info("x", [2])],
     [info("y", [2]), info("all", ["turns", 2])],
     initializers=[numpy_helper.from_array(np.array(100, np.float32), "limit"), numpy_helper.from_array(np.array(True), "start")])

save("names", [h.make_node("Add", ["a", "b"], ["y"])], [info("a", ["n", 3]), info("b", ["n", 3])], [info("y", ["n", 3])])

packed = h.make_tensor("q", T.INT4, [5], np.array([-8, -1, 0, 3, 7]))  # a list, two elements an entry
raw = T(name="u", data_type=T.UINT2, dims=[5], raw_data=bytes([0b11100100, 0b01]))
save("narrow", [h.make_node("Cast", ["q"], ["qf"], to=T.FLOAT), h.make_node("Cast", ["u"], ["uf"], to=T.FLOAT),
                h.make_node("Add", ["qf", "x"], ["y"]), h.make_node("Identity", ["uf"], ["z"])],
     [info("x", [])], [info("y", [5]), info("z", [5])], opset=25, initializers=[packed, raw])

save("old_opset", [h.make_node("Add", ["a", "a"], ["y"], name="sum")], [info("a", [1])], [info("y", [1])], opset=6)
save("unknown", [h.make_node("Frobnicate", ["a"], ["y"], name="f")], [info("a", [1])], [info("y", [1])])
save("default", [h.make_node("Add", ["a", "w"], ["y"])], [info("a", [1]), info("w", [1])], [info("y", [1])],
     initializers=[numpy_helper.from_array(np.array([5], np.float32), "w")])

# Rows of any number: what each is, and what they are together; and a graph that asks for their number.
rng = np.random.default_rng(5)
weights = [numpy_helper.from_array((rng.integers(-8, 9, shape) / 4).astype(np.float32), name)
           for name, shape in (("w", (4, 3)), ("b", (3,)), ("table", (6, 3)))]
save("rows", [h.make_node("Gemm", ["x", "w", "b"], ["h"]), h.make_node("Relu", ["h"], ["r"]), h.make_node("Gather", ["table", "i"], ["t"]),
              h.make_node("Add", ["r", "t"], ["s"]), h.make_node("Softmax", ["s"], ["p"], axis=1), h.make_node("Concat", ["p", "r"], ["y"], axis=1),
              h.make_node("ReduceMean", ["p"], ["m"], keepdims=0, axes=[0]), h.make_node("ReduceMax", ["h"], ["most"], keepdims=1, axes=[0])],
     [info("x", ["n", 4]), info("i", ["n"], T.INT64)], [info("y", ["n", 6]), info("m", [3]), info("most", [1, 3])], opset=13,
     initializers=weights)
save("count", [h.make_node("Shape", ["x"], ["y"])], [info("x", ["n", 4])], [info("y", [2], T.INT64)])
