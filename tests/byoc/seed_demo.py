"""The notes' demo, and what it computes."""

from __future__ import annotations

import numpy as np
import pytest

from microgen import frontends
from microgen.graph.ir.graph import Array
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.support.places import SEED_DEMO


def samples(count: int) -> dict[str, Array]:
    """``count`` samples of each input of the demo."""
    graph = frontends.load(SEED_DEMO)
    rng = np.random.default_rng(5)
    shapes = {name: graph.types[name].shape for name in graph.inputs}
    return {
        name: rng.standard_normal((count, *shape)).astype(np.float32) * np.float32(0.5)
        for name, shape in shapes.items()
    }


def expected(inputs: dict[str, Array]) -> Array:
    """The demo's output for each sample, computed by the references."""
    graph = frontends.load(SEED_DEMO)
    count = len(next(iter(inputs.values())))
    values = [
        evaluate(graph, {name: array[i] for name, array in inputs.items()}, registry())
        for i in range(count)
    ]
    return np.stack([found[graph.outputs[0]] for found in values])


def by_onnxruntime(inputs: dict[str, Array]) -> Array:
    """The same output, computed by onnxruntime. Skips the test if onnx or onnxruntime is
    missing."""
    helper = pytest.importorskip("onnx").helper
    nodes = [
        helper.make_node("Conv", ["d1", "w1", "b1"], ["sums"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["sums"], ["y"]),
    ]
    given = [helper.make_tensor_value_info(n, 1, a.shape[1:]) for n, a in inputs.items()]
    graph = helper.make_graph(nodes, "twin", given, [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = pytest.importorskip("onnxruntime").InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    count = len(next(iter(inputs.values())))
    samples = ({name: array[i] for name, array in inputs.items()} for i in range(count))
    return np.stack([session.run(["y"], sample)[0] for sample in samples])


def close(found: Array, wanted: Array) -> bool:
    """Whether the arrays are equal to 1e-5 of the range."""
    return bool(np.abs(found - wanted).max() <= 1e-5 * np.ptp(wanted))
