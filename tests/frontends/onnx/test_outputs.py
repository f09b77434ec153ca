"""The names of outputs: those of the model, whatever computes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import NodeProto, helper

from microgen import frontends
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.frontends.onnx.models import info, model, written

ADD = helper.make_node("Add", ["x", "w"], ["t"])


def same(source: str, name: str) -> NodeProto:
    """A node that gives its input another name, but computes nothing."""
    return helper.make_node("Reshape", [source, "s"], [name])


@pytest.mark.parametrize(
    ("nodes", "outputs", "ops"),
    [
        ([ADD, same("t", "y")], ["y"], ["add"]),
        ([ADD, same("t", "y")], ["y", "t"], ["add", "copy"]),
        ([ADD, same("t", "y"), same("t", "z")], ["y", "z"], ["add", "copy"]),
        ([ADD, same("x", "y")], ["t", "y"], ["add", "copy"]),
        ([ADD, same("w", "y")], ["t", "y"], ["add", "copy"]),
        ([ADD], ["t", "t"], ["add"]),
        ([ADD], ["t", "x"], ["add"]),
    ],
)
def test_outputs_have_their_names(
    nodes: list[NodeProto], outputs: list[str], ops: list[str], tmp_path: Path
) -> None:
    constants = {"w": np.ones(3, np.float32), "s": np.array([3])}
    found = model(nodes, [info("x", (3,))], [info(name, None) for name in outputs], constants)
    graph = frontends.load(written(found, tmp_path))
    assert list(graph.outputs) == outputs
    assert sorted(node.op for node in graph.nodes) == ops
    values = evaluate(graph, {"x": np.zeros(3, np.float32)}, registry())
    wanted = {"x": 0.0}
    assert all(values[name][0] == wanted.get(name, values[name][0]) for name in outputs)
