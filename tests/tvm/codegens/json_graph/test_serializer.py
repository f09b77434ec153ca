"""The form that TVM gives attributes, constants, tuples, lets and composite functions."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from microgen import relay
from microgen.base.errors import ModelError, UnsupportedError
from microgen.relay.expr import Call, Expr, Function, Let, Tuple, TupleGetItem, Var
from microgen.relay.module import IRModule
from microgen.tvm.codegens import json_graph
from microgen.tvm.codegens.json_graph import Serialized

_X = relay.var("x", shape=(1, 4, 2))


def _serialized(body: Expr, params: tuple[Var, ...] = (_X,)) -> Serialized:
    module = relay.infer_type(IRModule.from_expr(Function(params, body)))
    assert module.types is not None
    found = json_graph.serialize("f", module["main"], module.types)
    assert json_graph.loads(json_graph.dumps(found.graph)) == found.graph
    return found


def _attrs(body: Expr) -> dict[str, Any]:
    parsed = json.loads(json_graph.dumps(_serialized(body).graph))
    found: dict[str, Any] = parsed["nodes"][-1]["attrs"]
    return found


def test_attributes_are_texts_in_two_lists() -> None:
    assert _attrs(relay.sum(_X, axis=(0, 2), keepdims=True)) == {
        "num_inputs": "1",
        "num_outputs": "1",
        "axis": [["0", "2"]],
        "keepdims": [["1"]],
        "exclude": [["0"]],
        "dtype": [["float32"]],
        "shape": [[[1, 4, 1]]],
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1, "0.10000000000000001"), (6.0, "6"), (1e-5, "1.0000000000000001e-05"), (1e30, "1e+30")],
)
def test_floats_have_17_digits_as_cpp_streams_them(value: float, text: str) -> None:
    assert _attrs(relay.clip(_X, -1.0, value))["a_max"] == [[text]]


def test_an_attribute_named_as_what_every_node_has_is_its_type() -> None:
    assert _attrs(relay.cast(_X, "bool"))["dtype"] == [["uint1"]]
    assert _attrs(relay.cast(_X, "int8"))["dtype"] == [["int8"]]


def test_none_is_an_empty_text() -> None:
    assert _attrs(relay.nn.l2_normalize(_X, eps=1e-3, axis=None))["axis"] == [[""]]


def test_constants_are_named_in_the_order_of_visits_and_shared() -> None:
    first, second = relay.const(np.ones(2, np.float32)), relay.const(np.zeros(2, np.float32))
    body = relay.add(relay.multiply(_X, first), relay.add(second, first))
    found = _serialized(body)
    assert found.const_names == ("f_const_0", "f_const_1")
    assert found.constants[0] is first.data
    assert found.constants[1] is second.data
    assert [node.name for node in found.graph.nodes] == [
        *("x", "f_const_0", "multiply", "f_const_1", "add", "add")
    ]
    assert found.graph.nodes[4].inputs == ((3, 0, 0), (1, 0, 0))
    assert found.graph.arg_nodes == (0, 1, 3)


def test_parameters_come_first_used_or_not() -> None:
    unused = relay.var("y", shape=(7,), dtype="int8")
    graph = _serialized(relay.nn.relu(_X), (unused, _X)).graph
    assert [(n.name, n.shapes, n.dtypes) for n in graph.nodes[:2]] == [
        ("y", ((7,),), ("int8",)),
        ("x", ((1, 4, 2),), ("float32",)),
    ]
    assert graph.nodes[2].inputs == ((1, 0, 0),)


def test_results_that_are_tuples_have_an_entry_for_each_field() -> None:
    vectors = [relay.const(np.ones(4, np.float32)) for _ in range(4)]
    normed = relay.nn.batch_norm(_X, *vectors)
    graph = _serialized(Tuple([relay.nn.relu(normed[0]), normed[2], _X])).graph
    assert graph.nodes[5].shapes == ((1, 4, 2), (4,), (4,))
    assert graph.nodes[5].counts == {"num_inputs": "5", "num_outputs": "3"}
    assert graph.node_row_ptr == (0, 1, 2, 3, 4, 5, 8, 9)
    assert graph.heads == ((6, 0, 0), (5, 2, 0), (0, 0, 0))


def test_tuples_are_flattened_into_inputs() -> None:
    parts = relay.split(_X, 2, axis=1)
    graph = _serialized(relay.concatenate([parts[1], _X, parts[0]], axis=1)).graph
    assert graph.nodes[-1].inputs == ((1, 1, 0), (0, 0, 0), (1, 0, 0))


def test_a_parameter_may_be_a_tuple() -> None:
    pair = relay.var("p", relay.TupleType((relay.TensorType((2,), "float32"),) * 2))
    graph = _serialized(TupleGetItem(pair, 1), (pair,)).graph
    assert graph.heads == ((0, 1, 0),)
    assert graph.node_row_ptr == (0, 2)


def test_lets_are_what_they_bind() -> None:
    var = Var("v")
    graph = _serialized(Let(var, relay.nn.relu(_X), relay.add(var, var))).graph
    assert [node.name for node in graph.nodes] == ["x", "nn.relu", "add"]
    assert graph.nodes[2].inputs == ((1, 0, 0), (1, 0, 0))


def _composite(**attrs: Any) -> Expr:
    param = relay.var("p", shape=(1, 4, 2))
    return Call(Function([param], relay.nn.relu(relay.abs(param)), attrs=attrs), [_X])


def test_a_composite_function_is_one_node() -> None:
    attrs = {"Composite": "my.abs_relu", "PartitionedFromPattern": "abs_nn.relu_"}
    graph = _serialized(_composite(**attrs)).graph
    assert [node.name for node in graph.nodes] == ["x", "my.abs_relu"]
    assert graph.nodes[1].attrs == {"PartitionedFromPattern": ("abs_nn.relu_",)}


def test_deep_functions_need_no_stack() -> None:
    body: Expr = _X
    for _ in range(5000):
        body = relay.nn.relu(body)
    assert len(_serialized(body).graph.nodes) == 5001


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (_composite(Composite="my.x"), "calls a function without the attribute Partitioned"),
        (_composite(), "the call calls a function without the attribute Composite"),
        (relay.zeros((2,), "float32"), "zeros has no operands"),
        (relay.nn.pad(_X, ((0, 0), (1, 1), (0, 0))), "nn.pad has the attribute pad_width, a list"),
        (Tuple([Tuple([_X]), _X]), None),
        (TupleGetItem(Tuple([Tuple([_X]), _X]), 1), "no form for a value of type"),
        (Function([], _X), "no form for Function"),
    ],
)
def test_what_has_no_form_is_refused(body: Expr, what: str | None) -> None:
    if what is None:  # nested tuples are fine if they are only flattened
        assert _serialized(body).graph.heads == ((0, 0, 0), (0, 0, 0))
        return
    with pytest.raises(UnsupportedError, match=what) as found:
        _serialized(body)
    assert str(found.value).startswith("@f: ")


def test_a_free_variable_is_refused() -> None:
    with pytest.raises(ModelError, match="%x is free"):
        json_graph.serialize("f", Function([], relay.nn.relu(_X)), {})
