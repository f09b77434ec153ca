"""Cells that torch writes for each step become one recurrent layer."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

from microgen import frontends
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry

STEPS, FEATURES, CELLS = 6, 3, 4


class _Writer:
    """The nodes and constants of a model of LSTM cells."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def add(self, op: str, *inputs: str, **attributes: object) -> str:
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def constant(self, name: str, value: object, dtype: type = np.float32) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name


def model(*, hoists: bool, starts: bool) -> onnx.ModelProto:
    """An LSTM over x [steps, 1, features]. ``hoists``: the rows are multiplied at once. ``starts``:
    the states before the first step are inputs, otherwise zeros."""
    w, rng = _Writer(), np.random.default_rng(2)
    for name, columns in (("wx", FEATURES), ("wh", CELLS)):
        w.constant(name, rng.normal(size=(columns, 4 * CELLS)) * 0.6)
    for name in ("bx", "bh"):
        w.constant(name, rng.normal(size=4 * CELLS))
    w.constant("sizes", [CELLS] * 4, np.int64)
    states = ["h", "c"]
    if not starts:
        for name in states:
            w.constant(name, np.zeros((1, CELLS)))
    whole = w.add("Add", w.add("MatMul", "x", "wx"), "bx") if hoists else "x"
    h, c = states
    for step in range(STEPS):
        row = w.add("Gather", whole, w.constant(f"i{step}", step, np.int64), axis=0)
        ours = row if hoists else w.add("Gemm", row, "wx", "bx")
        total = w.add("Add", ours, w.add("Gemm", h, "wh", "bh"))
        gates = [f"g{step}_{i}" for i in range(4)]
        w.nodes.append(helper.make_node("Split", [total, "sizes"], gates, axis=1))
        take, keep, give = (w.add("Sigmoid", gates[i]) for i in (0, 1, 3))
        change = w.add("Tanh", gates[2])
        c = w.add("Add", w.add("Mul", keep, c), w.add("Mul", take, change))
        h = w.add("Mul", give, w.add("Tanh", c))
    ports = [("x", [STEPS, 1, FEATURES]), *((n, [1, CELLS]) for n in (states if starts else []))]
    inputs = [helper.make_tensor_value_info(n, 1, shape) for n, shape in ports]
    outputs = [helper.make_tensor_value_info(n, 1, [1, CELLS]) for n in (h, c)]
    graph = helper.make_graph(w.nodes, "cells", inputs, outputs, w.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("hoists", [False, True])
@pytest.mark.parametrize("starts", [False, True])
def test_lstm_cells_are_one_layer_and_equal_onnxruntime(
    tmp_path: Path, hoists: bool, starts: bool
) -> None:
    data = model(hoists=hoists, starts=starts).SerializeToString()
    (tmp_path / "m.onnx").write_bytes(data)
    graph = frontends.load(tmp_path / "m.onnx")
    assert Counter(node.op for node in graph.nodes)["nn.recurrent"] == 1
    assert not {node.op for node in graph.nodes} & {"tanh", "sigmoid"}
    rng = np.random.default_rng(1)
    given = {n: rng.normal(size=graph.types[n].shape).astype(np.float32) for n in graph.inputs}
    expected = onnxruntime.InferenceSession(data).run(None, given)
    found = evaluate(graph, given, registry())
    for name, array in zip(graph.outputs, expected, strict=True):
        np.testing.assert_allclose(found[name], array, rtol=2e-5, atol=2e-6)
