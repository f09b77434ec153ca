"""The graphs in the notes, made from the notes' functions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from microgen import relay
from microgen.tvm.codegens import json_graph
from microgen.tvm.codegens.dnnl import codegen
from tests.relay import seed

_IMAGE = [1, 32, 56, 56]


def _attrs(shape: list[int], **others: Any) -> dict[str, Any]:
    return {"dtype": [["float32"]], "shape": [[shape]], **others}


def _input(name: str, shape: list[int]) -> dict[str, Any]:
    return {"op": "input", "name": name, "attrs": _attrs(shape)}


_CONV2D = {
    "nodes": [
        _input("dnnl_0_i0", _IMAGE),
        _input("dnnl_0_i1", [32, 32, 3, 3]),
        {
            "op": "kernel",
            "name": "nn.conv2d",
            "inputs": [[0, 0, 0], [1, 0, 0]],
            "attrs": {
                "num_outputs": "1",
                "num_inputs": "2",
                "channels": [[""]],
                "out_layout": [[""]],
                "groups": [["1"]],
                "padding": [["1", "1", "1", "1"]],
                "kernel_layout": [["OIHW"]],
                "strides": [["1", "1"]],
                "dilation": [["1", "1"]],
                "dtype": [["float32"]],
                "kernel_size": [[""]],
                "data_layout": [["NCHW"]],
                "out_dtype": [[""]],
                "shape": [[_IMAGE]],
            },
        },
    ],
    "arg_nodes": [0, 1],
    "heads": [[2, 0, 0]],
    "node_row_ptr": [0, 1, 2, 3],
}

_RELU = {
    "nodes": [
        _input("dnnl_2_i0", _IMAGE),
        {
            "op": "kernel",
            "name": "nn.relu",
            "inputs": [[0, 0, 0]],
            "attrs": {
                "num_outputs": "1",
                "shape": [[_IMAGE]],
                "num_inputs": "1",
                "dtype": [["float32"]],
            },
        },
    ],
    "arg_nodes": [0],
    "heads": [[1, 0, 0]],
    "node_row_ptr": [0, 1, 2],
}


@pytest.mark.parametrize(("number", "expected"), [(0, _CONV2D), (2, _RELU)])
def test_the_graphs_are_those_of_the_notes(number: int, expected: dict[str, Any]) -> None:
    module = relay.infer_type(relay.parse(seed.PARTITIONED))
    assert module.types is not None
    symbol = f"tvmgen_default_dnnl_main_{number}"
    found = codegen.serialize(symbol, module[symbol], module.types)
    parsed = json.loads(json_graph.dumps(found.graph))
    assert parsed.pop("symbol") == f"dnnl_{symbol}"
    assert parsed == expected
    assert found.const_names == ()


@pytest.mark.parametrize("expected", [_CONV2D, _RELU])
def test_the_notes_older_text_is_read(expected: dict[str, Any]) -> None:
    graph = json_graph.loads(json.dumps(expected, indent=2))
    assert graph.symbol is None
    assert json.loads(json_graph.dumps(graph)) == expected
