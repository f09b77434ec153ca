"""Models that ONNX Runtime takes though they are not quite as ONNX asks: nodes in any order, and
outputs of one element with another number of axes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper

from microgen import frontends
from microgen.base.errors import ModelError
from microgen.frontends.onnx.oracle.ort import OnnxRuntime
from microgen.graph.ir import text
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.interface import cli
from tests.frontends.onnx.models import FLOAT, info, model, written

X, Y = info("x", (2, 3)), info("y", (2, 3))
W = {"w": np.float32(2), "t": np.array(True)}


def _node(op: str, inputs: str, output: str, domain: str = "", **attributes: object) -> NodeProto:
    return helper.make_node(op, inputs.split(), [output], domain=domain, **attributes)


def _branch(nodes: list[NodeProto]) -> onnx.GraphProto:
    return helper.make_graph(nodes, "branch", [], [info("r", None)])


def _chosen(nodes: list[NodeProto]) -> NodeProto:
    """A branch that reads "a", which a node around it makes, and "q" of its own."""
    return _node("If", "t", "c", then_branch=_branch(nodes), else_branch=_branch(nodes))


PLAIN = [
    _node("Add", "x w", "a"),
    _node("Mul", "a w", "b"),
    _node("Sub", "b a", "c"),
    _node("Relu", "c", "y"),
]
INNER = [_node("Mul", "a a", "q"), _node("Add", "q a", "r")]
BRANCH = [_node("Add", "x w", "a"), _chosen(INNER), _node("Relu", "c", "y")]
CALL = [_node("F", "x", "a", "f"), _node("Relu", "a", "y")]
BODY = [_node("Mul", "p p", "q"), _node("Add", "q p", "r")]


def _model(nodes: Sequence[NodeProto], body: Sequence[NodeProto]) -> ModelProto:
    opsets = [helper.make_opsetid("", 20)]
    function = helper.make_function("f", "F", ["p"], ["r"], list(body), opsets)
    return model(list(nodes), [X], [Y], W, functions=[function], domains=["f"])


SORTED = {"plain": (PLAIN, BODY), "branch": (BRANCH, BODY), "function": (CALL, BODY)}
ANY_ORDER = {
    "plain": (PLAIN[::-1], BODY),
    "branch": ([BRANCH[2], _chosen(INNER[::-1]), BRANCH[0]], BODY),
    "function": (CALL[::-1], BODY[::-1]),
}


@pytest.mark.parametrize("kind", SORTED)
def test_nodes_in_any_order_are_the_network_that_they_form(kind: str, tmp_path: Path) -> None:
    found = _model(*ANY_ORDER[kind])
    graph = frontends.load(written(found, tmp_path))
    assert text.show(graph) == text.show(frontends.load(written(_model(*SORTED[kind]), tmp_path)))
    if OnnxRuntime().lacking():
        return
    data = np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32)
    (layers,) = OnnxRuntime().layers({".onnx": found.SerializeToString()}, [[data]])
    np.testing.assert_array_equal(layers["y"], evaluate(graph, {"x": data}, registry())["y"])


@pytest.mark.parametrize("seed", range(5))
def test_a_shuffled_network_is_sorted_as_it_was(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    names = ["x"]
    nodes = []
    for k in range(20):
        ends = [str(rng.choice(names[-4:])), str(rng.choice(names))]
        nodes.append(_node(str(rng.choice(["Add", "Mul", "Max"])), " ".join(ends), f"n{k}"))
        names.append(f"n{k}")
    nodes.append(_node("Sum", " ".join(names), "y"))
    shuffled = [nodes[k] for k in rng.permutation(len(nodes))]
    data = {"x": rng.normal(size=(2, 3)).astype(np.float32)}
    found = [
        evaluate(frontends.load(written(_model(each, BODY), tmp_path)), data, registry())["y"]
        for each in (nodes, shuffled)
    ]
    np.testing.assert_array_equal(*found)


def test_a_cycle_is_refused(tmp_path: Path) -> None:
    nodes = [_node("Add", "x b", "a"), _node("Relu", "a", "b"), _node("Relu", "b", "y")]
    with pytest.raises(ModelError, match=r'the tensor "[ab]" is computed from itself; nodes must'):
        frontends.load(written(_model(nodes, BODY), tmp_path))


def test_nodes_that_are_in_order_keep_it(tmp_path: Path) -> None:
    """Also if another order were possible, because layers are numbered in this one."""
    nodes = [_node("Relu", "x", "b"), _node("Neg", "x", "a"), _node("Add", "a b", "y")]
    graph = frontends.load(written(_model(nodes, BODY), tmp_path))
    assert [node.outputs[0] for node in graph.nodes] == ["b", "a", "y"]


def _sum(declared: Sequence[int | str] | None, kind: int = FLOAT, keep: int = 0) -> ModelProto:
    node = _node("ReduceSum", "x", "y", keepdims=keep)
    return model([node], [X], [info("y", declared, kind)])


@pytest.mark.parametrize(
    ("declared", "keep", "shown"),
    [([1], 0, "[1]"), (["n"], 0, "[n]"), ([1, 1, 1], 0, "[1,1,1]"), ([], 1, "[]"), ([1], 1, "[1]")],
)
def test_one_element_may_have_any_number_of_axes(
    declared: list[int | str], keep: int, shown: str, tmp_path: Path
) -> None:
    graph = frontends.load(written(_sum(declared, keep=keep), tmp_path))
    assert graph.types["y"].shape == (1, 1) * keep
    assert graph.notes == (
        f'the output "y" is declared {shown}, and its one element is computed as '
        f"{graph.types['y']}",
    )


@pytest.mark.parametrize(("declared", "keep"), [([], 0), ([1, 1], 1), (["n", 1], 1), (None, 0)])
def test_there_is_no_note_where_shapes_agree(
    declared: list[int | str] | None, keep: int, tmp_path: Path
) -> None:
    assert not frontends.load(written(_sum(declared, keep=keep), tmp_path)).notes


@pytest.mark.parametrize(
    ("declared", "kind"), [([2], FLOAT), ([1, 2], FLOAT), ([1], TensorProto.INT64)]
)
def test_other_shapes_and_types_are_refused(
    declared: list[int | str], kind: int, tmp_path: Path
) -> None:
    with pytest.raises(ModelError, match="but the model declares"):
        frontends.load(written(_sum(declared, kind), tmp_path))


def test_commands_print_the_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(_sum([1]), tmp_path)
    assert cli.main(["generate", str(path), "-b", "native", "-o", str(tmp_path / "p")]) == 0
    said = capsys.readouterr().err
    assert 'm.onnx: the output "y" is declared [1], and its one element is computed' in said
    assert cli.main(["inspect", str(path), "--json"]) == 0
    (note,) = json.loads(capsys.readouterr().out)["notes"]
    assert note in said
