"""Loop and Scan: their iterations one after the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper

from microgen import frontends
from microgen.base.errors import MicrogenError
from microgen.frontends.onnx.importers import loops
from microgen.graph.ir.graph import Array
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.frontends.onnx.models import INT64, info, model, written

X = info("x", (2,))


def node(op: str, inputs: str, outputs: str, **attributes: object) -> NodeProto:
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def _body(condition: str = "c") -> GraphProto:
    """The sum of v and x, and v before it."""
    nodes = [
        node("Add", "v x", "w"),
        node("Identity", "v", "s"),
        node("Identity", condition, "d"),
    ]
    inputs = [info("i", (), INT64), info("c", (), TensorProto.BOOL), info("v", (2,))]
    outputs = [info("d", (), TensorProto.BOOL), info("w", (2,)), info("s", (2,))]
    return helper.make_graph(nodes, "body", inputs, outputs)


def _looping(count: int, body: GraphProto) -> ModelProto:
    loop = helper.make_node("Loop", ["n", "t", "x"], ["y", "z"], body=body)
    constants = {"n": np.int64(count), "t": np.array(True), "f": np.array(False)}
    return model([loop], [X], [info("y", None), info("z", None)], constants)


def _values(found: ModelProto, folder: Path) -> dict[str, Array]:
    graph = frontends.load(written(found, folder))
    return evaluate(graph, {"x": np.array([1, 2], np.float32)}, registry())


@pytest.mark.parametrize(("count", "condition", "ran"), [(3, "c", 3), (3, "f", 1)])
def test_a_loop_runs_its_iterations(count: int, condition: str, ran: int, tmp_path: Path) -> None:
    values = _values(_looping(count, _body(condition)), tmp_path)
    assert values["y"].tolist() == [1 + ran, 2 * (1 + ran)]
    assert values["z"].tolist() == [[1 + k, 2 * (1 + k)] for k in range(ran)]


def test_a_scan_goes_along_an_axis_in_both_directions(tmp_path: Path) -> None:
    nodes = [node("Add", "v r", "w"), node("Identity", "w", "s")]
    ports = [info("v", (2,)), info("r", (2,))], [info("w", (2,)), info("s", (2,))]
    body = helper.make_graph(nodes, "body", *ports)
    attributes = {"scan_input_axes": [1], "scan_output_axes": [1], "scan_input_directions": [1]}
    scan = node("Scan", "x m", "y z", body=body, num_scan_inputs=1, **attributes)
    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    values = _values(model([scan], [X], [info("y", None), info("z", None)], {"m": rows}), tmp_path)
    sums = np.cumsum(rows[:, ::-1], axis=1) + np.array([[1], [2]])
    assert values["z"].tolist() == sums.tolist()
    assert values["y"].tolist() == sums[:, -1].tolist()


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (_looping(41, _body()), "has more than 40 iterations"),
        (_looping(3, _body("b")), 'reads the tensor "b", which nothing makes'),
        (_looping(0, _body()), 'has the output "z"; supported: the first 1'),
    ],
)
def test_what_cannot_be_unrolled_is_refused(
    found: ModelProto, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loops, "_MOST", 40)
    with pytest.raises(MicrogenError) as caught:
        frontends.load(written(found, tmp_path))
    assert sentence in str(caught.value)


def test_a_computed_condition_is_refused(tmp_path: Path) -> None:
    body = _body()
    del body.node[2]
    nodes = [node("ReduceSum", "v", "q", keepdims=0), node("Cast", "q", "d", to=TensorProto.BOOL)]
    body.node.extend(nodes)
    with pytest.raises(MicrogenError, match="ends at a computed condition; supported: known"):
        frontends.load(written(_looping(3, body), tmp_path))
