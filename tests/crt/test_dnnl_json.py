"""The C runtime of dnnl_json: what it takes, what it refuses, what memory it needs."""

from __future__ import annotations

import copy
import dataclasses
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgen.blob.payloads.json_runtime import JsonRuntime
from microgen.codegens import json_graph
from microgen.codegens.dnnl import reference, runtime
from tests.codegens.json_graph import test_notes as notes
from tests.crt import dnnl_json_cases as cases
from tests.crt.dnnl_json_cases import (
    FITTED,
    FLOAT32,
    INVALID,
    MALFORMED,
    NO_DATA,
    NO_MEMORY,
    NOT_RUN,
    NOT_SET,
    OFFSET,
    STRIDES,
    UNALIGNED,
    UNSUPPORTED,
    WRONG_COUNT,
    WRONG_TYPE,
    Case,
    Tensor,
)

Json = dict[str, Any]
RNG = np.random.default_rng(5)
IMAGE = RNG.standard_normal((1, 2, 4, 4)).astype(np.float32)
WEIGHT = RNG.standard_normal((4, 2, 3, 3)).astype(np.float32)
BIAS = RNG.standard_normal(4).astype(np.float32)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cases.compiled(tmp_path_factory.mktemp("dnnl"))


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


def network() -> Json:
    """A convolution with a bias and a clip, a branch, pooling; two results."""
    return {
        "symbol": "dnnl_f",
        "nodes": [
            leaf("input", "x", [1, 2, 4, 4]),
            leaf("const", "dnnl_f_const_0", [4, 2, 3, 3]),
            leaf("const", "dnnl_f_const_1", [4]),
            kernel(
                "dnnl.conv2d_bias_clip", [0, 1, 2], [1, 4, 4, 4], **CONV2D, a_min="-1", a_max="2.5"
            ),
            kernel("sigmoid", [3], [1, 4, 4, 4]),
            kernel("multiply", [3, 4], [1, 4, 4, 4]),
            kernel("nn.max_pool2d", [5], [1, 4, 2, 2], **POOL),
            kernel("nn.softmax", [6], [1, 4, 2, 2], axis="1"),
        ],
        "arg_nodes": [0, 1, 2],
        "heads": [[7, 0, 0], [6, 0, 0]],
        "node_row_ptr": list(range(9)),
    }


NAMES = ("dnnl_f_const_0", "dnnl_f_const_1")


def case_of(tree: Json, text: str | None = None) -> Case:
    """The network's arguments and constants, for a text that may be another."""
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


# What it takes


@pytest.mark.parametrize("size", [4, 56])
@pytest.mark.parametrize("text", [notes._CONV2D, notes._RELU], ids=["conv2d", "relu"])
def test_the_notes_graphs(driver: Path, text: Json, size: int) -> None:
    """As they are, and smaller."""
    tree = json.loads(json.dumps(text).replace("56, 56", f"{size}, {size}"))
    graph = json_graph.loads(json.dumps(tree))
    shapes = [node.shapes[0] for node in graph.nodes if node.op == "input"]
    inputs = [RNG.standard_normal(shape).astype(np.float32) for shape in shapes]
    cases.check(driver, [cases.Example(graph, inputs)], [reference.evaluate(graph, inputs, [])])


def test_the_network(driver: Path) -> None:
    graph = json_graph.loads(json.dumps(network()))
    example = cases.Example(graph, [IMAGE], [WEIGHT, BIAS])
    cases.check(driver, [example], [example.wanted])


def test_any_spelling_of_the_same_json(driver: Path) -> None:
    tree = network()
    wanted = outputs(driver, case_of(tree))
    backwards = dict(reversed(tree.items()))
    other_key = edited(lambda t: t["nodes"][4].update(attr=t["nodes"][4].pop("attrs")))
    unknown = edited(lambda t: t["nodes"][4]["attrs"].update(PartitionedFromPattern=[["x_"]]))
    short = edited(lambda t: t.update(heads=[[7, 0], [6, 0]]))
    nameless = edited(lambda t: t.pop("symbol"))
    uncounted = edited(lambda t: t["nodes"][4]["attrs"].pop("num_inputs"))
    for same in (backwards, other_key, unknown, short, nameless, uncounted):
        assert outputs(driver, case_of(same)) == wanted
    assert outputs(driver, case_of(tree, json.dumps(tree, indent=3))) == wanted
    escaped = json.dumps(tree).replace("nn.softmax", "nn.so\\u0066tmax").replace("nn.", "n\\u006e.")
    assert outputs(driver, case_of(tree, escaped)) == wanted


CHANGES: dict[str, Callable[[Json], Any]] = {
    "another operator": lambda t: t["nodes"][4].update(name="tanh"),
    "another bound": lambda t: t["nodes"][3]["attrs"].update(a_max=[["0.25"]]),
    "another activation": lambda t: t["nodes"][3].update(name="dnnl.conv2d_bias_relu"),
    "another axis": lambda t: t["nodes"][7]["attrs"].update(axis=[["-1"]]),
    "another input": lambda t: t["nodes"][5].update(inputs=[[4, 0, 0], [4, 0, 0]]),
    "another padding": lambda t: t["nodes"][3]["attrs"].update(padding=[["2", "1", "0", "1"]]),
    "another layout": lambda t: t["nodes"][6]["attrs"].update(layout=[["NCWH"]]),
    "another head": lambda t: t.update(heads=[[6, 0, 0], [7, 0, 0]]),
}


@pytest.mark.parametrize("what", CHANGES)
def test_the_json_is_what_runs(driver: Path, what: str) -> None:
    """The same code gives another result for another text: the one of that text."""
    tree = edited(CHANGES[what])
    graph = json_graph.loads(json.dumps(tree))
    example = cases.Example(graph, [IMAGE], [WEIGHT, BIAS])
    wanted = example.wanted
    if what != "another layout":
        cases.check(driver, [example], [wanted])
        assert outputs(driver, case_of(tree)) != outputs(driver, case_of(network()))
    else:  # rows for columns, twice: nothing changes
        assert outputs(driver, case_of(tree)) == outputs(driver, case_of(network()))


def test_a_result_may_be_an_input_a_constant_or_one_result_twice(driver: Path) -> None:
    tree = edited(lambda t: t.update(heads=[[0, 0, 0], [7, 0, 0], [2, 0, 0], [7, 0, 0], [3, 0, 0]]))
    graph = json_graph.loads(json.dumps(tree))
    example = cases.Example(graph, [IMAGE], [WEIGHT, BIAS])
    cases.check(driver, [example], [example.wanted])


def test_a_long_chain_needs_two_places(driver: Path) -> None:
    nodes = [leaf("input", "x", [5]), *(kernel("nn.relu", [i], [5]) for i in range(1023))]
    tree = {
        "nodes": nodes,
        "arg_nodes": [0],
        "heads": [[1023, 0, 0]],
        "node_row_ptr": list(range(1025)),
    }
    graph = json_graph.loads(json.dumps(tree))
    assert runtime.workspace_bytes(graph) == 64
    example = cases.Example(graph, [np.arange(5, dtype=np.float32)])
    cases.check(driver, [example], [example.wanted])
    tree["nodes"].append(kernel("nn.relu", [1023], [5]))
    tree["node_row_ptr"].append(1025)
    made = Case(JsonRuntime("f", json.dumps(tree)).dumps(), pool=1 << 20)
    assert codes(driver, made)[0] == UNSUPPORTED


# Memory


def test_memory_is_exactly_what_python_says(driver: Path) -> None:
    made = case_of(network())
    graph = json_graph.loads(json.dumps(network()))
    assert made.workspace == runtime.workspace_bytes(graph) == 3 * 256
    assert codes(driver, made) == (0, 0, 0)
    less = dataclasses.replace(made, pool=made.pool - 1)
    assert codes(driver, less) == (NO_MEMORY, NOT_RUN, NOT_RUN)
    less = dataclasses.replace(made, workspace=made.workspace - 1)
    assert codes(driver, less) == (0, 0, NO_MEMORY)


def test_every_smaller_pool_is_refused(driver: Path) -> None:
    made = case_of(network())
    every = [dataclasses.replace(made, pool=size) for size in range(made.pool)]
    assert {result.codes for result in cases.run(driver, every)} == {(NO_MEMORY, NOT_RUN, NOT_RUN)}


@pytest.mark.parametrize(("pointer_bytes", "expected"), [(4, 648), (8, 704)])
def test_the_pool_of_the_network(pointer_bytes: int, expected: int) -> None:
    graph = json_graph.loads(json.dumps(network()))
    assert runtime.pool_bytes(graph, pointer_bytes) == expected


# What it refuses


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
    """3 of 4 rows and columns: 1 or 2 windows."""
    tree["nodes"][6]["attrs"].update(
        pool_size=[["3", "3"]], ceil_mode=[["1"]], shape=[[[1, 4, 1, 1]]]
    )
    tree["nodes"][7]["attrs"].update(shape=[[[1, 4, 1, 1]]])


@pytest.mark.parametrize("what", REFUSED)
def test_refused_texts(driver: Path, what: str) -> None:
    code, edit = REFUSED[what]
    made = dataclasses.replace(case_of(edited(edit)), pool=1 << 14)
    assert codes(driver, made) == (code, NOT_RUN, NOT_RUN)


@pytest.mark.parametrize("key", ["nodes", "arg_nodes", "heads", "node_row_ptr"])
def test_a_part_may_not_be_missing_or_stand_twice(driver: Path, key: str) -> None:
    assert codes(driver, case_of(edited(lambda t: t.pop(key))))[0] == MALFORMED
    doubled = json.dumps(network())[:-1] + f', "{key}": {json.dumps(network()[key])}}}'
    assert codes(driver, case_of({}, doubled))[0] == MALFORMED


@pytest.mark.parametrize("key", ["strides", "shape", "dtype", "a_min"])
def test_an_attribute_may_not_stand_twice(driver: Path, key: str) -> None:
    text = json.dumps(network())
    value = json.dumps(network()["nodes"][3]["attrs"][key])
    doubled = text.replace('"a_max"', f'"{key}": {value}, "a_max"')
    assert doubled != text
    assert codes(driver, case_of({}, doubled))[0] == MALFORMED


def test_every_beginning_of_a_payload_is_refused(driver: Path) -> None:
    made = case_of(network())
    every = [dataclasses.replace(made, payload=made.payload[:n]) for n in range(len(made.payload))]
    assert {result.load for result in cases.run(driver, every)} == {MALFORMED}


def test_what_follows_is_left_alone(driver: Path) -> None:
    made = case_of(network())
    longer = dataclasses.replace(made, payload=made.payload + b"next")
    (result,) = cases.run(driver, [longer])
    assert (*result.codes, result.left) == (0, 0, 0, 4)


@pytest.mark.parametrize("names", [NAMES[:1], (*NAMES, "x"), NAMES[::-1], (NAMES[0], "")])
def test_names_of_constants_must_be_the_texts(driver: Path, names: tuple[str, ...]) -> None:
    made = case_of(network())
    text = JsonRuntime("f", json.dumps(network()), names).dumps()
    assert codes(driver, dataclasses.replace(made, payload=text))[0] == MALFORMED


def test_lengths_that_overflow(driver: Path) -> None:
    made = case_of(network())
    for at in (0, 9, len(made.payload) - 8 * 3 - sum(map(len, NAMES))):
        for value in (2**31, 2**32, 2**63, 2**64 - 1, len(made.payload)):
            damaged = made.payload[:at] + struct.pack("<Q", value) + made.payload[at + 8 :]
            assert codes(driver, dataclasses.replace(made, payload=damaged))[0] == MALFORMED


def test_an_output_that_is_not_computed(driver: Path) -> None:
    """Of a normalisation there is the first only."""
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
        assert codes(driver, Case(JsonRuntime("f", text).dumps(), flags=FITTED))[0] == code


# Constants and arguments


def _with(made: Case, field: str, i: int, tensor: Tensor | None) -> Case:
    tensors = list(getattr(made, field))
    tensors[i : i + 1] = [tensor] if tensor is not None else []
    return dataclasses.replace(made, **{field: tensors})


def test_constants_are_checked(driver: Path) -> None:
    made = case_of(network())
    first, second = made.constants
    assert codes(driver, _with(made, "constants", 0, second)) == (0, INVALID, NOT_RUN)
    other = Tensor(WEIGHT[:, :, :, :2], NAMES[0])
    assert codes(driver, _with(made, "constants", 0, other)) == (0, INVALID, NOT_RUN)
    other = Tensor(WEIGHT, NAMES[0], dtype=FLOAT32 & ~0xFF)
    assert codes(driver, _with(made, "constants", 0, other)) == (0, WRONG_TYPE, NOT_RUN)
    assert codes(driver, _with(made, "constants", 1, None)) == (0, 0, NOT_SET)
    more = dataclasses.replace(made, constants=[first, second, Tensor(BIAS, "x")])
    assert codes(driver, more) == (0, INVALID, NOT_RUN)


def test_arguments_are_checked(driver: Path) -> None:
    made = case_of(network())
    image, first, second = made.args
    assert codes(driver, _with(made, "args", 2, None)) == (0, 0, WRONG_COUNT)
    more = dataclasses.replace(made, args=[image, first, second, second])
    assert codes(driver, more) == (0, 0, WRONG_COUNT)
    for i in range(3):
        array = made.args[i].array
        for other in (array[..., None], array[0], array[..., :1], np.concatenate([array, array])):
            assert codes(driver, _with(made, "args", i, Tensor(other))) == (0, 0, INVALID)
        for dtype in (0 | 32 << 8 | 1 << 16, 2 | 16 << 8 | 1 << 16, 2 | 32 << 8 | 4 << 16):
            wrong = _with(made, "args", i, Tensor(array, dtype=dtype))
            assert codes(driver, wrong) == (0, 0, WRONG_TYPE)


@pytest.mark.parametrize("flag", [STRIDES, NO_DATA, UNALIGNED])
def test_odd_arguments_are_refused(driver: Path, flag: int) -> None:
    odd = dataclasses.replace(case_of(network()), flags=flag)
    assert codes(driver, odd) == (0, 0, INVALID)


def test_tensors_may_begin_behind_their_address(driver: Path) -> None:
    made = case_of(network())
    assert outputs(driver, dataclasses.replace(made, flags=OFFSET)) == outputs(driver, made)
