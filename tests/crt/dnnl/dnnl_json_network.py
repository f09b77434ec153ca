"""A network of type dnnl_json for tests to edit, and its parts."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from microgen.tvm.codegens import json_graph
from microgen.tvm.codegens.json_graph import JsonRuntime
from tests.crt.dnnl import dnnl_json_cases as cases
from tests.crt.dnnl.dnnl_json_cases import Case

Json = dict[str, Any]
RNG = np.random.default_rng(5)
IMAGE = RNG.standard_normal((1, 2, 4, 4)).astype(np.float32)
WEIGHT = RNG.standard_normal((4, 2, 3, 3)).astype(np.float32)
BIAS = RNG.standard_normal(4).astype(np.float32)


def leaf(op: str, name: str, shape: list[int]) -> Json:
    return {"op": op, "name": name, "attrs": {"dtype": [["float32"]], "shape": [[shape]]}}


def kernel(name: str, inputs: list[int], shape: list[int], **attrs: Any) -> Json:
    wrapped = {key: [value if isinstance(value, list) else [value]] for key, value in attrs.items()}
    counts = {"num_inputs": str(len(inputs)), "num_outputs": "1"}
    types = {"dtype": [["float32"]], "shape": [[shape]]}
    entries = [[i, 0, 0] for i in inputs]
    return {"op": "kernel", "name": name, "inputs": entries, "attrs": counts | wrapped | types}


CONV2D = {
    "strides": ["1", "1"],
    "padding": ["1", "1", "1", "1"],
    "dilation": ["1", "1"],
    "groups": "1",
    "channels": "4",
    "kernel_size": ["3", "3"],
    "data_layout": "NCHW",
    "kernel_layout": "OIHW",
    "out_layout": "",
    "out_dtype": "",
}
POOL = {
    "pool_size": ["2", "2"],
    "strides": ["2", "2"],
    "dilation": ["1", "1"],
    "padding": ["0", "0", "0", "0"],
    "layout": "NCHW",
    "out_layout": "",
    "ceil_mode": "0",
}


def tree_of(nodes: Sequence[Json], heads: Sequence[Sequence[int]]) -> Json:
    """A graph of nodes with one result each."""
    return {
        "nodes": list(nodes),
        "arg_nodes": [i for i, node in enumerate(nodes) if node["op"] != "kernel"],
        "heads": list(heads),
        "node_row_ptr": list(range(len(nodes) + 1)),
    }


def network() -> Json:
    """A network of a convolution with bias and clip, a branch, and pooling, with two results."""
    nodes = [
        leaf("input", "x", [1, 2, 4, 4]),
        leaf("const", "dnnl_f_const_0", [4, 2, 3, 3]),
        leaf("const", "dnnl_f_const_1", [4]),
        kernel("dnnl.conv2d_bias_clip", [0, 1, 2], [1, 4, 4, 4], **CONV2D, a_min="-1", a_max="2.5"),
        kernel("sigmoid", [3], [1, 4, 4, 4]),
        kernel("multiply", [3, 4], [1, 4, 4, 4]),
        kernel("nn.max_pool2d", [5], [1, 4, 2, 2], **POOL),
        kernel("nn.softmax", [6], [1, 4, 2, 2], axis="1"),
    ]
    return {"symbol": "dnnl_f"} | tree_of(nodes, [[7, 0, 0], [6, 0, 0]])


NAMES = ("dnnl_f_const_0", "dnnl_f_const_1")


def case_of(tree: Json, text: str | None = None) -> Case:
    """A case with the network's arguments and constants, for a text that may differ from the
    network's."""
    made = cases.case(json_graph.loads(json.dumps(network())), [IMAGE], [WEIGHT, BIAS])
    text = json.dumps(tree) if text is None else text
    return dataclasses.replace(made, payload=JsonRuntime("f", text, NAMES).dumps())


def outputs(driver: Path, made: Case) -> tuple[bytes, ...]:
    (result,) = cases.run(driver, [made])
    assert result.codes == (0, 0, 0), result
    return result.outputs


def codes(driver: Path, made: Case) -> tuple[int, int, int]:
    (result,) = cases.run(driver, [made])
    assert not result.outputs or result.run == 0
    return result.codes


def edited(edit: Callable[[Json], Any]) -> Json:
    tree = copy.deepcopy(network())
    edit(tree)
    return tree
