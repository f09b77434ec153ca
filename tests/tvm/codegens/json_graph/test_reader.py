"""Texts that are not graphs are refused, each in one line that says where the error is."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgen.base.errors import MicrogenError, ModelError
from microgen.tvm.codegens import json_graph

_GRAPH: dict[str, Any] = {
    "symbol": "dnnl_f",
    "nodes": [
        {"op": "input", "name": "x", "attrs": {"dtype": [["float32"]], "shape": [[[2, 3]]]}},
        {
            "op": "const",
            "name": "dnnl_f_const_0",
            "attrs": {"dtype": [["float32"]], "shape": [[[3]]]},
        },
        {
            "op": "kernel",
            "name": "add",
            "inputs": [[0, 0, 0], [1, 0, 0]],
            "attrs": {
                "num_inputs": "2",
                "num_outputs": "1",
                "mode": [["a", "b"]],
                "dtype": [["float32"]],
                "shape": [[[2, 3]]],
            },
        },
    ],
    "arg_nodes": [0, 1],
    "heads": [[2, 0, 0]],
    "node_row_ptr": [0, 1, 2, 3],
}

_Path = tuple[str | int, ...]
_GONE = object()


def _changed(path: _Path, value: Any) -> str:
    graph = copy.deepcopy(_GRAPH)
    at: Any = graph
    for key in path[:-1]:
        at = at[key]
    if value is _GONE:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return json.dumps(graph)


_KERNEL: _Path = ("nodes", 2)
_ATTRS: _Path = (*_KERNEL, "attrs")
_CASES: list[tuple[_Path, Any, str]] = [
    (("extra",), 1, "the file has an unknown key 'extra'"),
    (("nodes",), _GONE, "the file has no field 'nodes'"),
    (("nodes",), {}, "nodes is an object, expected a list"),
    (("symbol",), 3, "symbol is a whole number, expected a text"),
    (("symbol",), "", "symbol is not a name"),
    (("heads",), [], "the file has no heads"),
    (("heads", 0), [3, 0, 0], "heads[0] names node 3, but 3 nodes"),
    (("heads", 0), [2, 1, 0], "heads[0] names output 1 of node 2, which has 1"),
    (("arg_nodes",), [0, 1, 2], "arg_nodes does not agree with the nodes"),
    (("arg_nodes",), [0, 1.0], "arg_nodes[1] is a number, expected a whole number"),
    (("node_row_ptr",), [0, 1, 2], "node_row_ptr does not agree with the nodes"),
    ((*_KERNEL, "op"), "null", "nodes[2].op is 'null', expected one of input, const, kernel"),
    ((*_KERNEL, "name"), "", "nodes[2].name is not a name"),
    ((*_KERNEL, "name"), "a\0b", "nodes[2].name is not a name"),
    ((*_KERNEL, "extra"), [], "nodes[2] has an unknown key 'extra'"),
    ((*_KERNEL, "attr"), {}, "nodes[2] has an unknown key 'attrs'"),
    ((*_KERNEL, "inputs"), _GONE, "nodes[2] is of op kernel and has 0 inputs"),
    (("nodes", 1, "inputs"), [[0, 0, 0]], "nodes[1] is of op const and has 1 inputs"),
    ((*_KERNEL, "inputs", 0), [2, 0, 0], "nodes[2].inputs[0] names node 2, but 2 nodes"),
    ((*_KERNEL, "inputs", 0), [0, 0, 1], "nodes[2].inputs[0] has version 1, expected 0"),
    ((*_KERNEL, "inputs", 0), [0], "nodes[2].inputs[0] has 1 numbers"),
    ((*_KERNEL, "inputs", 0), [-1, 0, 0], "nodes[2].inputs[0][0] is not a number from 0"),
    ((*_KERNEL, "inputs", 0), [True, 0, 0], "nodes[2].inputs[0][0] is true or false"),
    ((*_ATTRS, "num_inputs"), "3", "nodes[2].attrs counts num_inputs 3, num_outputs 1, expected"),
    ((*_ATTRS, "num_outputs"), _GONE, "nodes[2].attrs counts num_inputs 2, expected"),
    ((*_ATTRS, "num_outputs"), [["1"]], "nodes[2].attrs.num_outputs is a list"),
    (("nodes", 0, "attrs", "num_inputs"), "0", "nodes[0].attrs counts num_inputs 0, expected"),
    (("nodes", 0, "attrs", "axis"), [["0"]], "nodes[0].attrs has the attribute 'axis'"),
    ((*_ATTRS, "mode"), ["a"], "nodes[2].attrs.mode[0] is a text, expected a list"),
    ((*_ATTRS, "mode"), [["a"], ["b"]], "nodes[2].attrs.mode is not a list of one item"),
    ((*_ATTRS, "mode"), [[1]], "nodes[2].attrs.mode[0][0] is a whole number, expected a text"),
    ((*_ATTRS, "dtype"), [["float32", "float32"]], "has 1 shapes and 2 dtypes"),
    ((*_ATTRS, "dtype"), [["float33"]], "nodes[2].attrs.dtype has 'float33', which is not a dtype"),
    ((*_ATTRS, "dtype"), _GONE, "nodes[2].attrs has no field 'dtype'"),
    ((*_ATTRS, "shape"), [[]], "has 0 shapes and 1 dtypes"),
    ((*_ATTRS, "shape"), [[2, 3]], "nodes[2].attrs.shape[0][0] is a whole number"),
    (
        (*_ATTRS, "shape"),
        [[[2**31]]],
        "nodes[2].attrs.shape[0][0] has more than 32 axes, or one longer than",
    ),
    ((*_ATTRS, "shape"), [[[1] * 33]], "nodes[2].attrs.shape[0][0] has more than 32 axes"),
    ((*_ATTRS, "shape"), [[[2, -3]]], "nodes[2].attrs.shape[0][0][1] is not a number from 0"),
]


def test_the_graph_itself_is_read() -> None:
    graph = json_graph.loads(json.dumps(_GRAPH), "a.json")
    assert json.loads(json_graph.dumps(graph)) == _GRAPH
    assert graph.named("const") == ("dnnl_f_const_0",)


@pytest.mark.parametrize(("path", "value", "what"), _CASES)
def test_a_wrong_value_is_refused(path: _Path, value: Any, what: str) -> None:
    with pytest.raises(ModelError) as found:
        json_graph.loads(_changed(path, value), "a.json")
    assert str(found.value).startswith(f"a.json: {what}") or what in str(found.value)
    assert "\n" not in str(found.value)


def test_two_constants_of_one_name_are_refused() -> None:
    graph = copy.deepcopy(_GRAPH)
    graph["nodes"][0] = graph["nodes"][1]
    with pytest.raises(ModelError, match="has two constants of one name"):
        json_graph.loads(json.dumps(graph))


_NO_GRAPHS = {
    "nothing": "",
    "half": "{",
    "list": "[]",
    "null": "null",
    "deep": "[" * 100_000,
    "nan": '{"nodes": NaN}',
    "long": "9" * 10_000,
    "twice": json.dumps(_GRAPH).replace('"op": "const"', '"op": "const", "op": "const"'),
}


@pytest.mark.parametrize("text", _NO_GRAPHS.values(), ids=_NO_GRAPHS)
def test_what_is_no_graph_is_refused(text: str) -> None:
    with pytest.raises(ModelError):
        json_graph.loads(text)


def test_an_entry_may_lack_its_version_and_attrs_its_s() -> None:
    text = json.dumps(_GRAPH).replace("[1, 0, 0]", "[1, 0]").replace('"attrs"', '"attr"')
    assert json_graph.loads(text) == json_graph.loads(json.dumps(_GRAPH))


def _drop(text: str, rng: np.random.Generator) -> str:
    at, size = int(rng.integers(len(text))), int(rng.integers(1, 8))
    return text[:at] + text[at + size :]


def _digit(text: str, rng: np.random.Generator) -> str:
    at = [i for i, c in enumerate(text) if c.isdigit()]
    place = at[int(rng.integers(len(at)))]
    return text[:place] + str(rng.integers(-9, 100)) + text[place + 1 :]


def _twice(text: str, rng: np.random.Generator) -> str:
    start, end = sorted(int(n) for n in rng.integers(len(text), size=2))
    return text[:end] + text[start:end] + text[end:]


@pytest.mark.parametrize("mutate", [_drop, _digit, _twice])
def test_mutated_texts_are_graphs_or_refused(
    mutate: Callable[[str, np.random.Generator], str],
) -> None:
    rng, text = np.random.default_rng(5), json.dumps(_GRAPH)
    read = sum(_is_read(mutate(text, rng)) for _ in range(1500))
    assert read < 1500


def _is_read(text: str) -> bool:
    """Whether a text is a graph. It must survive writing and reading, or be refused in one line."""
    try:
        graph = json_graph.loads(text)
    except MicrogenError as error:
        if "\n" in str(error):
            raise AssertionError(str(error)) from error
        return False
    assert json_graph.loads(json_graph.dumps(graph)) == graph
    return True
