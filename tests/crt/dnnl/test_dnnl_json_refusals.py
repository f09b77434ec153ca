"""Texts and payloads that the C runtime of dnnl_json refuses, with their codes."""

from __future__ import annotations

import dataclasses
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from microgen.tvm.codegens.json_graph import JsonRuntime
from tests.crt.dnnl import dnnl_json_cases as cases
from tests.crt.dnnl.dnnl_json_cases import FITTED, MALFORMED, NOT_RUN, UNSUPPORTED, Case
from tests.crt.dnnl.dnnl_json_network import (
    CONV2D,
    NAMES,
    POOL,
    Json,
    case_of,
    codes,
    edited,
    kernel,
    leaf,
    network,
    tree_of,
)


def _node(i: int, edit: Callable[[Json], Any]) -> Callable[[Json], Any]:
    return lambda tree: edit(tree["nodes"][i])


def _attr(i: int, key: str, value: Any) -> Callable[[Json], Any]:
    return lambda tree: tree["nodes"][i]["attrs"].update({key: value})


def _no_attr(i: int, key: str) -> Callable[[Json], Any]:
    return lambda tree: tree["nodes"][i]["attrs"].pop(key)


REFUSED: dict[str, tuple[int, Callable[[Json], Any]]] = {
    "an unknown key": (MALFORMED, lambda t: t.update(metadata={})),
    "no heads": (MALFORMED, lambda t: t.update(heads=[])),
    "a head that is not there": (MALFORMED, lambda t: t.update(heads=[[8, 0, 0]])),
    "an output that is not there": (MALFORMED, lambda t: t.update(heads=[[7, 1, 0]])),
    "a head of one number": (MALFORMED, lambda t: t.update(heads=[[7]])),
    "an argument too few": (MALFORMED, lambda t: t["arg_nodes"].pop()),
    "an argument too many": (MALFORMED, lambda t: t["arg_nodes"].append(3)),
    "arguments in another order": (MALFORMED, lambda t: t["arg_nodes"].reverse()),
    "a row too few": (MALFORMED, lambda t: t["node_row_ptr"].pop()),
    "a row too many": (MALFORMED, lambda t: t["node_row_ptr"].append(9)),
    "a wrong row": (MALFORMED, lambda t: t["node_row_ptr"].__setitem__(3, 4)),
    "an unknown key of a node": (MALFORMED, _node(3, lambda n: n.update(x=1))),
    "no name": (MALFORMED, _node(3, lambda n: n.pop("name"))),
    "no attributes": (MALFORMED, _node(3, lambda n: n.pop("attrs"))),
    "both spellings": (MALFORMED, _node(3, lambda n: n.update(attr=n["attrs"]))),
    "a kernel without inputs": (MALFORMED, _node(4, lambda n: n.update(inputs=[]))),
    "an input with inputs": (MALFORMED, _node(0, lambda n: n.update(inputs=[[0, 0, 0]]))),
    "another op": (MALFORMED, _node(4, lambda n: n.update(op="tvm_op"))),
    "an operator that is not there": (UNSUPPORTED, _node(4, lambda n: n.update(name="nn.gelu"))),
    "an activation that is not there": (
        UNSUPPORTED,
        _node(3, lambda n: n.update(name="dnnl.conv2d_bias_gelu")),
    ),
    "two activations": (
        UNSUPPORTED,
        _node(3, lambda n: n.update(name="dnnl.conv2d_bias_relu_tanh")),
    ),
    "a bias twice": (UNSUPPORTED, _node(3, lambda n: n.update(name="dnnl.conv2d_bias_bias"))),
    "a composite function of another": (
        UNSUPPORTED,
        _node(3, lambda n: n.update(name="dnnl.conv3d_bias")),
    ),
    "an input that comes later": (MALFORMED, _node(4, lambda n: n.update(inputs=[[5, 0, 0]]))),
    "an input that is itself": (MALFORMED, _node(4, lambda n: n.update(inputs=[[4, 0, 0]]))),
    "an input's second output": (MALFORMED, _node(4, lambda n: n.update(inputs=[[3, 1, 0]]))),
    "too many inputs": (UNSUPPORTED, _node(4, lambda n: n.update(inputs=[[3, 0, 0]] * 6))),
    "an input too many": (MALFORMED, _node(4, lambda n: n.update(inputs=[[3, 0, 0]] * 2))),
    "a wrong number of inputs": (MALFORMED, _attr(4, "num_inputs", "2")),
    "a wrong number of outputs": (MALFORMED, _attr(4, "num_outputs", "2")),
    "two outputs": (MALFORMED, _attr(4, "shape", [[[1, 4, 4, 4], [1]]])),
    "no shape": (MALFORMED, _no_attr(4, "shape")),
    "no shapes": (MALFORMED, _attr(4, "shape", [[]])),
    "a plain shape": (MALFORMED, _attr(4, "shape", [1, 4, 4, 4])),
    "another shape": (MALFORMED, _attr(4, "shape", [[[1, 4, 4, 5]]])),
    "more axes": (MALFORMED, _attr(4, "shape", [[[1, 1, 4, 4, 4]]])),
    "far more axes": (UNSUPPORTED, _attr(4, "shape", [[[1] * 7]])),
    "an axis of 0": (MALFORMED, _attr(0, "shape", [[[1, 0, 4, 4]]])),
    "a negative axis": (MALFORMED, _attr(0, "shape", [[[1, -2, 4, 4]]])),
    "an axis of half": (MALFORMED, _attr(0, "shape", [[[1, 0.5, 4, 4]]])),
    "an axis of text": (MALFORMED, _attr(0, "shape", [[["1", 2, 4, 4]]])),
    "an axis beyond 32 bits": (MALFORMED, _attr(0, "shape", [[[2**32 + 1, 2, 4, 4]]])),
    "2^32 elements": (UNSUPPORTED, _attr(0, "shape", [[[2**16, 2**16]]])),
    "2^64 elements": (UNSUPPORTED, _attr(0, "shape", [[[2**16] * 4]])),
    "2^29 elements": (UNSUPPORTED, _attr(0, "shape", [[[2**29]]])),
    "no dtype": (MALFORMED, _no_attr(4, "dtype")),
    "another dtype": (UNSUPPORTED, _attr(4, "dtype", [["int8"]])),
    "two dtypes": (MALFORMED, _attr(4, "dtype", [["float32", "float32"]])),
    "another out_dtype": (UNSUPPORTED, _attr(3, "out_dtype", [["float16"]])),
    "no strides": (MALFORMED, _no_attr(3, "strides")),
    "strides of 0": (MALFORMED, _attr(3, "strides", [["0", "0"]])),
    "negative strides": (MALFORMED, _attr(3, "strides", [["-1", "-1"]])),
    "one stride": (MALFORMED, _attr(3, "strides", [["1"]])),
    "three strides": (MALFORMED, _attr(3, "strides", [["1", "1", "1"]])),
    "five strides": (MALFORMED, _attr(3, "strides", [["1"] * 5])),
    "unwrapped strides": (MALFORMED, _attr(3, "strides", ["1", "1"])),
    "strides wrapped twice": (MALFORMED, _attr(3, "strides", [[["1", "1"]]])),
    "two lists of strides": (MALFORMED, _attr(3, "strides", [["1", "1"], ["1", "1"]])),
    "strides of numbers": (MALFORMED, _attr(3, "strides", [[1, 1]])),
    "strides in words": (MALFORMED, _attr(3, "strides", [["one", "1"]])),
    "empty strides": (MALFORMED, _attr(3, "strides", [[]])),
    "huge strides": (UNSUPPORTED, _attr(3, "strides", [["65536", "1"]])),
    "more than huge strides": (MALFORMED, _attr(3, "strides", [["4294967297", "1"]])),
    "strides of another result": (MALFORMED, _attr(3, "strides", [["2", "1"]])),
    "no dilation": (MALFORMED, _attr(3, "dilation", [["0", "1"]])),
    "a huge dilation": (MALFORMED, _attr(3, "dilation", [["65535", "1"]])),
    "a huge padding": (MALFORMED, _attr(3, "padding", [["65535", "65535"]])),
    "three paddings": (MALFORMED, _attr(3, "padding", [["1", "1", "1"]])),
    "a negative padding": (MALFORMED, _attr(3, "padding", [["-1", "1", "1", "1"]])),
    "groups of 0": (MALFORMED, _attr(3, "groups", [["0"]])),
    "other groups": (MALFORMED, _attr(3, "groups", [["2"]])),
    "other channels": (MALFORMED, _attr(3, "channels", [["5"]])),
    "another kernel_size": (MALFORMED, _attr(3, "kernel_size", [["3", "2"]])),
    "a layout of five": (UNSUPPORTED, _attr(3, "data_layout", [["NCHW4c"]])),
    "a layout with a letter twice": (UNSUPPORTED, _attr(3, "data_layout", [["NCHH"]])),
    "a layout of other letters": (UNSUPPORTED, _attr(3, "kernel_layout", [["NCHW"]])),
    "a layout that asks for more channels": (MALFORMED, _attr(3, "data_layout", [["NHWC"]])),
    "another layout of the result": (MALFORMED, _attr(3, "out_layout", [["CNHW"]])),
    "a bound in words": (MALFORMED, _attr(3, "a_min", [["low"]])),
    "a bound that is no number": (MALFORMED, _attr(3, "a_min", [["nan"]])),
    "a bound beyond float32": (MALFORMED, _attr(3, "a_min", [["-1e39"]])),
    "no bound": (MALFORMED, _no_attr(3, "a_min")),
    "an empty bound": (MALFORMED, _attr(3, "a_min", [[""]])),
    "an axis that is not there": (MALFORMED, _attr(7, "axis", [["4"]])),
    "a negative axis that is not there": (MALFORMED, _attr(7, "axis", [["-5"]])),
    "the axis -0": (MALFORMED, _attr(7, "axis", [["-0"]])),
    "a pool of 0": (MALFORMED, _attr(6, "pool_size", [["0", "2"]])),
    "a pool beyond the image": (MALFORMED, _attr(6, "pool_size", [["6", "2"]])),
    "a pool of another result": (MALFORMED, _attr(6, "pool_size", [["1", "4"]])),
    "ceil_mode where it matters": (UNSUPPORTED, lambda t: _ceil(t)),
    "ceil_mode of 2": (MALFORMED, _attr(6, "ceil_mode", [["2"]])),
    "a constant of another name": (MALFORMED, _node(1, lambda n: n.update(name="w"))),
    "a constant too few": (MALFORMED, _node(2, lambda n: n.update(op="input"))),
    "a constant too many": (MALFORMED, _node(0, lambda n: n.update(op="const"))),
    "a bias of another size": (MALFORMED, _attr(2, "shape", [[[5]]])),
    "a bias of two axes": (MALFORMED, _attr(2, "shape", [[[2, 2]]])),
    "no nodes": (MALFORMED, lambda t: t.update(nodes=[])),
}


def _ceil(tree: Json) -> None:
    """Makes a window of 3 of 4 rows and columns: rounding decides between 1 and 2 windows."""
    tree["nodes"][6]["attrs"].update(
        pool_size=[["3", "3"]], ceil_mode=[["1"]], shape=[[[1, 4, 1, 1]]]
    )
    tree["nodes"][7]["attrs"].update(shape=[[[1, 4, 1, 1]]])


@pytest.mark.parametrize("what", REFUSED)
def test_refused_texts(dnnl_driver: Path, what: str) -> None:
    code, edit = REFUSED[what]
    made = dataclasses.replace(case_of(edited(edit)), pool=1 << 14)
    assert codes(dnnl_driver, made) == (code, NOT_RUN, NOT_RUN)


NORM = {"axis": "1", "epsilon": "1e-05", "center": "1", "scale": "1"}
PLAIN = {"transpose_a": "0", "transpose_b": "0"}
MISFITS: list[tuple[str, list[list[int]], list[int], dict[str, Any]]] = [
    ("add", [[2, 3], [3, 3]], [2, 3], {}),
    ("add", [[2, 3], [3, 3]], [3, 3], {}),
    ("multiply", [[3], [2]], [3], {}),
    ("add", [[2, 1], [1, 3]], [2, 1], {}),
    ("add", [[2, 3], [2, 3]], [1, 2, 3], {}),
    ("add", [[], [1]], [], {}),
    ("nn.dense", [[2, 3], [4, 5]], [2, 4], {}),
    ("nn.dense", [[2, 3], [4, 3]], [2, 3], {}),
    ("nn.dense", [[2, 3], [4, 3]], [1, 4], {}),
    ("nn.dense", [[2, 3], [4, 3, 1]], [2, 4], {}),
    ("nn.dense", [[], [4, 1]], [], {}),
    ("nn.dense", [[2, 3], [4, 3]], [2, 4], {"units": "5"}),
    ("dnnl.dense_bias", [[2, 3], [4, 3], [2]], [2, 4], {}),
    ("dnnl.dense_sum", [[2, 3], [4, 3], [4]], [2, 4], {}),
    ("dnnl.dense_bias_sum", [[2, 3], [4, 3], [4]], [2, 4], {}),
    ("nn.batch_matmul", [[2, 3, 4], [2, 3, 5]], [2, 3, 5], PLAIN),
    ("nn.batch_matmul", [[2, 3, 4], [3, 4, 5]], [2, 3, 5], PLAIN),
    ("nn.batch_matmul", [[2, 3, 4], [3, 4, 5]], [3, 3, 5], PLAIN),
    ("nn.batch_matmul", [[2, 3, 4], [2, 4, 5]], [2, 5, 3], PLAIN),
    ("nn.batch_matmul", [[2, 3, 4], [2, 4, 5]], [1, 3, 5], PLAIN),
    ("nn.batch_matmul", [[3, 4], [4, 5]], [3, 5], PLAIN),
    ("nn.batch_norm", [[2, 3], [3], [3], [3], [2]], [2, 3], NORM),
    ("nn.batch_norm", [[2, 3], [1, 3], [3], [3], [3]], [2, 3], NORM),
    ("nn.batch_norm", [[2, 3], [3], [3], [3], [3]], [3, 2], NORM),
    ("nn.batch_norm", [[2, 3], [3], [3], [3]], [2, 3], NORM),
    ("nn.softmax", [[2, 3]], [3, 2], {"axis": "0"}),
    ("nn.leaky_relu", [[2]], [3], {"alpha": "0.5"}),
    ("exp", [[2]], [2, 1], {}),
    ("nn.max_pool2d", [[1, 2, 4, 4]], [1, 3, 2, 2], POOL),
    ("nn.max_pool2d", [[1, 2, 4, 4]], [2, 2, 2, 2], POOL),
    ("nn.max_pool2d", [[2, 4, 4]], [2, 2, 2], POOL),
    ("nn.global_avg_pool2d", [[1, 2, 4, 4]], [1, 2, 1, 2], {"layout": "NCHW"}),
    ("nn.global_avg_pool2d", [[1, 2, 4, 4]], [1, 1, 1, 1], {"layout": "NCHW"}),
    ("nn.conv2d", [[1, 2, 4, 4], [4, 1, 3, 3]], [1, 4, 4, 4], CONV2D),
    ("nn.conv2d", [[1, 2, 4, 4], [4, 2, 3, 3]], [2, 4, 4, 4], CONV2D),
    ("nn.conv2d", [[1, 2, 4, 4], [5, 2, 3, 3]], [1, 4, 4, 4], CONV2D),
    ("nn.conv2d", [[1, 2, 4, 4], [4, 2, 3, 7]], [1, 4, 4, 4], CONV2D),
    ("nn.conv2d", [[1, 2, 4, 4], [4, 2, 9]], [1, 4, 4, 4], CONV2D),
    ("nn.conv2d", [[1, 4, 4, 4], [3, 2, 3, 3]], [1, 3, 4, 4], CONV2D | {"groups": "2"}),
]


@pytest.mark.parametrize(("name", "shapes", "out", "attrs"), MISFITS)
def test_shapes_that_do_not_fit_the_operator(
    dnnl_driver: Path, name: str, shapes: list[list[int]], out: list[int], attrs: dict[str, Any]
) -> None:
    count = len(shapes)
    leaves = [leaf("input", f"i{i}", shape) for i, shape in enumerate(shapes)]
    nodes = [*leaves, kernel(name, list(range(count)), out, **attrs)]
    tree = tree_of(nodes, [[count, 0, 0]])
    made = Case(JsonRuntime("f", json.dumps(tree)).dumps(), flags=FITTED)
    assert codes(dnnl_driver, made) == (MALFORMED, NOT_RUN, NOT_RUN)


@pytest.mark.parametrize("key", ["nodes", "arg_nodes", "heads", "node_row_ptr"])
def test_a_part_may_not_be_missing_or_stand_twice(dnnl_driver: Path, key: str) -> None:
    assert codes(dnnl_driver, case_of(edited(lambda t: t.pop(key))))[0] == MALFORMED
    doubled = json.dumps(network())[:-1] + f', "{key}": {json.dumps(network()[key])}}}'
    assert codes(dnnl_driver, case_of({}, doubled))[0] == MALFORMED


@pytest.mark.parametrize("key", ["strides", "shape", "dtype", "a_min"])
def test_an_attribute_may_not_stand_twice(dnnl_driver: Path, key: str) -> None:
    text = json.dumps(network())
    value = json.dumps(network()["nodes"][3]["attrs"][key])
    doubled = text.replace('"a_max"', f'"{key}": {value}, "a_max"')
    assert doubled != text
    assert codes(dnnl_driver, case_of({}, doubled))[0] == MALFORMED


def test_every_beginning_of_a_payload_is_refused(dnnl_driver: Path) -> None:
    made = case_of(network())
    every = [dataclasses.replace(made, payload=made.payload[:n]) for n in range(len(made.payload))]
    assert {result.load for result in cases.run(dnnl_driver, every)} == {MALFORMED}


def test_what_follows_is_left_alone(dnnl_driver: Path) -> None:
    made = case_of(network())
    longer = dataclasses.replace(made, payload=made.payload + b"next")
    (result,) = cases.run(dnnl_driver, [longer])
    assert (*result.codes, result.left) == (0, 0, 0, 4)


@pytest.mark.parametrize("names", [NAMES[:1], (*NAMES, "x"), NAMES[::-1], (NAMES[0], "")])
def test_names_of_constants_must_be_the_texts(dnnl_driver: Path, names: tuple[str, ...]) -> None:
    made = case_of(network())
    text = JsonRuntime("f", json.dumps(network()), names).dumps()
    assert codes(dnnl_driver, dataclasses.replace(made, payload=text))[0] == MALFORMED


def test_lengths_that_overflow(dnnl_driver: Path) -> None:
    made = case_of(network())
    for at in (0, 9, len(made.payload) - 8 * 3 - sum(map(len, NAMES))):
        for value in (2**31, 2**32, 2**63, 2**64 - 1, len(made.payload)):
            damaged = made.payload[:at] + struct.pack("<Q", value) + made.payload[at + 8 :]
            assert codes(dnnl_driver, dataclasses.replace(made, payload=damaged))[0] == MALFORMED


def test_an_output_that_is_not_computed(dnnl_driver: Path) -> None:
    """The runtime computes only the first output of a normalisation."""
    norm = kernel("nn.batch_norm", [0, 1, 1, 1, 1], [2, 3], axis="1", epsilon="1e-05")
    norm["attrs"].update(center=[["1"]], scale=[["1"]], num_outputs="3", dtype=[["float32"] * 3])
    norm["attrs"]["shape"] = [[[2, 3], [3], [3]]]
    tree = {
        "nodes": [leaf("input", "x", [2, 3]), leaf("input", "p", [3]), norm],
        "arg_nodes": [0, 1],
        "node_row_ptr": [0, 1, 2, 5],
    }
    expected = {0: 0, 1: UNSUPPORTED, 2: UNSUPPORTED, 3: MALFORMED}
    for output, code in expected.items():
        text = json.dumps(tree | {"heads": [[2, output, 0]]})
        assert codes(dnnl_driver, Case(JsonRuntime("f", text).dumps(), flags=FITTED))[0] == code
