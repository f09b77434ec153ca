"""Loop and Scan: their iterations one after the other, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper

from microgen import frontends
from microgen.base.errors import MicrogenError
from microgen.frontends.model_format import Request
from microgen.graph.ir.graph import Array
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.graph.ops.control.loop import LoopAttrs
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


def _until(**changes: object) -> ModelProto:
    """Rounds whose number depends on data."""
    body = _body()
    del body.node[2]
    nodes = [node("ReduceSum", "v", "q", keepdims=0), node("Cast", "q", "d", to=TensorProto.BOOL)]
    body.node.extend(nodes)
    loop = helper.make_node("Loop", ["", "", "x"], ["y", "z"], body=body, name="ring", **changes)
    return model([loop], [X], [info("y", None)])


def _endless() -> ModelProto:
    loop = helper.make_node("Loop", ["", "", "x"], ["y", "z"], body=_body())
    return model([loop], [X], [info("y", None)])


def _changing(kind: str = "Concat", **attributes: object) -> ModelProto:
    """Rounds that depend on data and change a value."""
    body = _body()
    inputs = "v v" if kind == "Concat" else "v"
    body.node[0].CopyFrom(node(kind, inputs, "w", **attributes))
    loop = helper.make_node("Loop", ["n", "", "x"], ["y", "z"], body=body)
    return model([loop], [X, info("n", (), INT64)], [info("y", None)])


def _choosing(**attributes: object) -> ModelProto:
    """Branches of different outputs."""
    then = helper.make_graph([node("Neg", "x", "p")], "then", [], [info("p", (2,))])
    other = helper.make_graph(
        [node("Cast", "x", "q", **attributes)], "else", [], [info("q", (2,), INT64)]
    )
    nodes = [node("ReduceSum", "x", "s", keepdims=0), node("Cast", "s", "b", to=TensorProto.BOOL)]
    choice = helper.make_node("If", ["b"], ["y"], then_branch=then, else_branch=other)
    return model([*nodes, choice], [X], [info("y", None)])


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (_looping(3, _body("b")), 'reads the tensor "b", which nothing makes'),
        (_looping(0, _body()), 'the output "z": float32[0,2] has no elements'),
        (_until(), "depends on data; give the most rounds: --max-rounds y=N"),
        (_endless(), 'layer "y" (Loop, opset 20): never ends; supported: loops with an end'),
        (_changing(axis=0), "makes float32[4] of a value that is float32[2]; supported: such"),
        (_changing("Cast", to=INT64), "has a body that makes int64[2] of float32[2]"),
        (_choosing(to=INT64), "gives float32[2] or int64[2], as the data decide; supported: bran"),
    ],
)
def test_what_is_no_loop_is_refused(found: ModelProto, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(MicrogenError) as caught:
        frontends.load(written(found, tmp_path))
    assert sentence in str(caught.value)


def test_results_of_all_rounds_need_a_constant_number(tmp_path: Path) -> None:
    found = _until()
    found.graph.output.append(info("z", None))
    with pytest.raises(MicrogenError, match='the output "z", whose size depends on data'):
        frontends.load(written(found, tmp_path))


def test_the_most_rounds_are_given_by_a_name(tmp_path: Path) -> None:
    path = written(_until(), tmp_path)
    for name in ("y", "ring"):
        data = frontends.read(path, Request(max_rounds=[f"{name}=3"]))[1][".onnx"]
        assert isinstance(data, bytes)
        (tmp_path / "kept.onnx").write_bytes(data)
        (kept,) = frontends.load(tmp_path / "kept.onnx").nodes
        assert isinstance(kept.attrs, LoopAttrs)
        assert kept.attrs.rounds == 3
    for given, sentence in (
        (["y=3", "w=3"], 'has no loop "w" whose number of rounds depends on data; it has "y", "r'),
        (["y=0"], "'0' is not a number of rounds of 'y'"),
    ):
        with pytest.raises(MicrogenError) as caught:
            frontends.load(path, max_rounds=given)
        assert sentence in str(caught.value)
    with pytest.raises(MicrogenError, match="it has none: leave --max-rounds out"):
        frontends.load(written(_looping(3, _body()), tmp_path), max_rounds=["y=3"])


@pytest.mark.parametrize("text", ["[", "[1]", '["y"]', '["y=x"]', '["y=1", "y=2"]'])
def test_metadata_that_are_no_rounds_are_refused(text: str, tmp_path: Path) -> None:
    found = _until()
    found.metadata_props.add(key="microgen.max_rounds", value=text)
    with pytest.raises(MicrogenError, match=r'"microgen\.max_rounds", which is no list of loops'):
        frontends.load(written(found, tmp_path))


def test_a_loop_whose_read_values_do_not_change_is_none(tmp_path: Path) -> None:
    body = _body()
    body.node[0].input[:] = ["v", "v"]
    body.node[2].CopyFrom(node("Identity", "c", "d"))
    body.output[1].name, body.output[2].name = "v2", "w"
    body.node.append(node("Identity", "v", "v2"))
    loop = helper.make_node("Loop", ["n", "", "x"], ["p", ""], body=body)
    found = model([loop, node("Neg", "p", "y")], [X], [info("y", None)], {"n": np.int64(30)})
    assert [each.op for each in frontends.load(written(found, tmp_path)).nodes] == ["negative"]


def test_a_loop_of_constants_is_a_constant(tmp_path: Path) -> None:
    nodes = [node("Mul", "v two", "w"), node("Identity", "c", "d")]
    body = helper.make_graph(
        nodes,
        "body",
        [info("i", (), INT64), info("c", (), TensorProto.BOOL), info("v", ())],
        [info("d", (), TensorProto.BOOL), info("w", ())],
    )
    loop = helper.make_node("Loop", ["n", "", "one"], ["p"], body=body)
    constants = {"n": np.int64(20), "one": np.float32(1), "two": np.float32(2)}
    found = model([loop, node("Mul", "x p", "y")], [X], [info("y", None)], constants)
    graph = frontends.load(written(found, tmp_path))
    assert [each.op for each in graph.nodes] == ["multiply"]
    assert graph.constants["p"] == 2**20
