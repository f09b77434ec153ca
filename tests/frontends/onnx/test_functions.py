"""Functions and branches take the place of the nodes that call them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import AttributeProto, FunctionProto, ModelProto, NodeProto, TensorProto, helper

from microgen import frontends
from microgen.base.errors import MicrogenError
from microgen.frontends.onnx import nodes
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.frontends.onnx.models import info, model, written

X, Y = info("x", (2, 3)), info("y", (2, 3))
OPSETS = [helper.make_opsetid("", 20), helper.make_opsetid("f", 1)]


def node(op: str, inputs: str, output: str, domain: str = "", **attributes: object) -> NodeProto:
    return helper.make_node(op, inputs.split(), [output], domain=domain, **attributes)


def referring(op: str, output: str, name: str, wanted: str) -> NodeProto:
    """A node without inputs whose attribute is that of the call."""
    found = helper.make_node(op, [], [output])
    found.attribute.add(name=name, ref_attr_name=wanted, type=AttributeProto.FLOAT)
    return found


def function(
    name: str, nodes: list[NodeProto], inputs: str = "a", **defaults: float
) -> FunctionProto:
    return helper.make_function(
        "f",
        name,
        inputs.split(),
        ["r"],
        nodes,
        OPSETS,
        [] if defaults else ["scale"],
        [helper.make_attribute(key, value) for key, value in defaults.items()],
    )


SCALED = [referring("Constant", "k", "value_float", "scale"), node("Mul", "a k", "r")]


def of(nodes: list[NodeProto], functions: list[FunctionProto], folder: Path) -> Graph:
    found = model(nodes, [X], [Y], functions=functions, domains=["f"])
    return frontends.load(written(found, folder))


def value(graph: Graph) -> Array:
    return evaluate(graph, {"x": np.ones((2, 3), np.float32)}, registry())["y"]


def test_names_show_the_calls(tmp_path: Path) -> None:
    outer = function("Outer", [node("Inner", "a", "t", "f", scale=3.0), node("Add", "t a", "r")])
    graph = of([node("Outer", "x", "y", "f")], [outer, function("Inner", SCALED)], tmp_path)
    assert [each.outputs for each in graph.nodes] == [("y/t",), ("y",)]
    assert graph.nodes[0].inputs == ("x", "y/t/k")
    assert value(graph).tolist() == [[4.0] * 3] * 2


def test_attributes_have_defaults(tmp_path: Path) -> None:
    one, two = node("Scale", "x", "t", "f"), node("Scale", "t", "y", "f", scale=5.0)
    graph = of([one, two], [function("Scale", SCALED, scale=2.0)], tmp_path)
    assert value(graph)[0, 0] == 10


def test_inputs_may_be_left_out(tmp_path: Path) -> None:
    weight = helper.make_tensor("k", TensorProto.FLOAT, [1, 1, 1, 1], [2.0])
    body = [helper.make_node("Constant", [], ["k"], value=weight), node("Conv", "a k b", "r")]
    call = helper.make_node("Filter", ["x", ""], ["y"], domain="f")
    ports = [info("x", (1, 1, 2, 2))], [info("y", None)]
    found = model([call], *ports, functions=[function("Filter", body, "a b")], domains=["f"])
    graph = frontends.load(written(found, tmp_path))
    assert [len(each.inputs) for each in graph.nodes if each.op == "nn.conv2d"] == [2]


def _doubling(depth: int) -> list[FunctionProto]:
    """Functions each of which calls the next one twice."""
    calls = [
        function(f"F{k}", [node(f"F{k + 1}", "a", "t", "f"), node(f"F{k + 1}", "t", "r", "f")])
        for k in range(depth)
    ]
    return [*calls, function(f"F{depth}", [node("Add", "a a", "r")])]


@pytest.mark.parametrize(
    ("functions", "sentence"),
    [
        pytest.param(
            *(_doubling(15), "the model's functions have more than 16384 nodes"),
            marks=pytest.mark.slow,
        ),
        (_doubling(40), "call one another more than 16 deep"),
        ([function("F0", [node("F0", "a", "r", "f")])], "call one another more than 16 deep"),
        ([function("F0", SCALED), function("F0", SCALED)], 'defines the function "F0" twice'),
        ([function("F0", [node("Add", "a b", "r")])], 'reads the tensor "b", which nothing makes'),
        ([function("F0", SCALED, "a a")], 'two tensors have the name "a"'),
        ([function("F0", [node("Add", "a a", "s")])], 'reads the tensor "r", which nothing makes'),
    ],
)
def test_bad_functions_are_refused(
    functions: list[FunctionProto], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(MicrogenError) as caught:
        of([node("F0", "x", "y", "f")], functions, tmp_path)
    assert sentence in str(caught.value)


def test_functions_may_have_so_many_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the slow case of bad functions, whose nodes take long to count."""
    assert nodes._MOST_NODES == 2**14
    monkeypatch.setattr(nodes, "_MOST_NODES", 2**8)
    calls = [node("F0", "x", "y", "f")]
    assert value(of(calls, _doubling(6), tmp_path))[0, 0] == 2.0**64
    with pytest.raises(MicrogenError, match="functions have more than 256 nodes"):
        of(calls, _doubling(8), tmp_path)


def _choosing(condition: bool | None) -> ModelProto:
    branches = {
        f"{word}_branch": helper.make_graph([node(op, "x w", "r")], word, [], [info("r", None)])
        for word, op in (("then", "Add"), ("else", "Mul"))
    }
    chooser = helper.make_node("If", ["c"], ["y"], **branches)
    constants = {"w": np.float32(3)} | ({} if condition is None else {"c": np.array(condition)})
    inputs = [X, info("c", (), TensorProto.BOOL)] if condition is None else [X]
    return model([chooser], inputs, [Y], constants)


@pytest.mark.parametrize(("condition", "expected"), [(True, 4), (False, 3)])
def test_a_known_condition_chooses_a_branch(condition: bool, expected: int, tmp_path: Path) -> None:
    graph = frontends.load(written(_choosing(condition), tmp_path))
    assert (len(graph.nodes), value(graph)[0, 0]) == (1, expected)


@pytest.mark.parametrize(("condition", "expected"), [(True, 4), (False, 3)])
def test_a_computed_condition_chooses_on_the_board(
    condition: bool, expected: int, tmp_path: Path
) -> None:
    graph = frontends.load(written(_choosing(None), tmp_path))
    assert [node.op for node in graph.nodes] == ["branch"]
    given = {name: np.ones(graph.types[name].shape, np.float32) for name in graph.inputs}
    given["c"] = np.array(condition)
    assert evaluate(graph, given, registry())[graph.outputs[0]][0, 0] == expected


def test_a_branch_knows_the_attributes_of_its_function(tmp_path: Path) -> None:
    then = helper.make_graph(
        [referring("Constant", "k", "value_float", "scale"), node("Mul", "a k", "t")],
        "then",
        [],
        [info("t", None)],
    )
    other = helper.make_graph([node("Add", "a a", "e")], "else", [], [info("e", None)])
    chooser = helper.make_node("If", ["c"], ["r"], then_branch=then, else_branch=other)
    truth = helper.make_node(
        "Constant", [], ["c"], value=helper.make_tensor("c", TensorProto.BOOL, [], [1])
    )
    graph = of([node("F0", "x", "y", "f", scale=7.0)], [function("F0", [truth, chooser])], tmp_path)
    assert value(graph)[0, 0] == 7
