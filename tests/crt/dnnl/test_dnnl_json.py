"""The C runtime of dnnl_json: what it takes, the memory that it needs, and how it is called."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgen.tvm.codegens import json_graph
from microgen.tvm.codegens.dnnl import runtime
from microgen.tvm.codegens.json_graph import JsonRuntime
from tests.crt.dnnl import dnnl_json_cases as cases
from tests.crt.dnnl.dnnl_json_cases import (
    FLOAT32,
    INVALID,
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
from tests.crt.dnnl.dnnl_json_network import (
    BIAS,
    IMAGE,
    NAMES,
    RNG,
    WEIGHT,
    Json,
    case_of,
    codes,
    edited,
    kernel,
    leaf,
    network,
    outputs,
    tree_of,
)
from tests.tvm.codegens.json_graph import test_notes as notes

# What the runtime takes


@pytest.mark.parametrize("size", [4, 56])
@pytest.mark.parametrize("text", [notes._CONV2D, notes._RELU], ids=["conv2d", "relu"])
def test_the_notes_graphs(dnnl_driver: Path, text: Json, size: int) -> None:
    """They are run in their own size and in a smaller one."""
    tree = json.loads(json.dumps(text).replace("56, 56", f"{size}, {size}"))
    graph = json_graph.loads(json.dumps(tree))
    shapes = [node.shapes[0] for node in graph.nodes if node.op == "input"]
    inputs = [RNG.standard_normal(shape).astype(np.float32) for shape in shapes]
    example = cases.Example(graph, inputs)
    cases.check(dnnl_driver, [example], [example.wanted])


def test_the_network(dnnl_driver: Path) -> None:
    graph = json_graph.loads(json.dumps(network()))
    example = cases.Example(graph, [IMAGE], [WEIGHT, BIAS])
    cases.check(dnnl_driver, [example], [example.wanted])


def test_any_spelling_of_the_same_json(dnnl_driver: Path) -> None:
    tree = network()
    wanted = outputs(dnnl_driver, case_of(tree))
    backwards = dict(reversed(tree.items()))
    other_key = edited(lambda t: t["nodes"][4].update(attr=t["nodes"][4].pop("attrs")))
    unknown = edited(lambda t: t["nodes"][4]["attrs"].update(PartitionedFromPattern=[["x_"]]))
    short = edited(lambda t: t.update(heads=[[7, 0], [6, 0]]))
    nameless = edited(lambda t: t.pop("symbol"))
    uncounted = edited(lambda t: t["nodes"][4]["attrs"].pop("num_inputs"))
    for same in (backwards, other_key, unknown, short, nameless, uncounted):
        assert outputs(dnnl_driver, case_of(same)) == wanted
    assert outputs(dnnl_driver, case_of(tree, json.dumps(tree, indent=3))) == wanted
    escaped = json.dumps(tree).replace("nn.softmax", "nn.so\\u0066tmax").replace("nn.", "n\\u006e.")
    assert outputs(dnnl_driver, case_of(tree, escaped)) == wanted


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
def test_the_json_is_what_runs(dnnl_driver: Path, what: str) -> None:
    """The same code computes another result if the JSON changes: the right one for the new JSON."""
    tree = edited(CHANGES[what])
    graph = json_graph.loads(json.dumps(tree))
    example = cases.Example(graph, [IMAGE], [WEIGHT, BIAS])
    wanted = example.wanted
    if what != "another layout":
        cases.check(dnnl_driver, [example], [wanted])
        assert outputs(dnnl_driver, case_of(tree)) != outputs(dnnl_driver, case_of(network()))
    else:  # rows and columns are exchanged twice, so nothing changes
        assert outputs(dnnl_driver, case_of(tree)) == outputs(dnnl_driver, case_of(network()))


def test_a_result_may_be_an_input_a_constant_or_one_result_twice(dnnl_driver: Path) -> None:
    tree = edited(lambda t: t.update(heads=[[0, 0, 0], [7, 0, 0], [2, 0, 0], [7, 0, 0], [3, 0, 0]]))
    graph = json_graph.loads(json.dumps(tree))
    example = cases.Example(graph, [IMAGE], [WEIGHT, BIAS])
    cases.check(dnnl_driver, [example], [example.wanted])


def test_a_long_chain_needs_two_places(dnnl_driver: Path) -> None:
    nodes = [leaf("input", "x", [5]), *(kernel("nn.relu", [i], [5]) for i in range(1023))]
    tree = tree_of(nodes, [[1023, 0, 0]])
    graph = json_graph.loads(json.dumps(tree))
    assert runtime.workspace_bytes(graph) == 64
    example = cases.Example(graph, [np.arange(5, dtype=np.float32)])
    cases.check(dnnl_driver, [example], [example.wanted])
    tree["nodes"].append(kernel("nn.relu", [1023], [5]))
    tree["node_row_ptr"].append(1025)
    made = Case(JsonRuntime("f", json.dumps(tree)).dumps(), pool=1 << 20)
    assert codes(dnnl_driver, made)[0] == UNSUPPORTED


# Memory


def test_memory_is_exactly_what_python_says(dnnl_driver: Path) -> None:
    made = case_of(network())
    graph = json_graph.loads(json.dumps(network()))
    assert made.workspace == runtime.workspace_bytes(graph) == 3 * 256
    assert codes(dnnl_driver, made) == (0, 0, 0)
    less = dataclasses.replace(made, pool=made.pool - 1)
    assert codes(dnnl_driver, less) == (NO_MEMORY, NOT_RUN, NOT_RUN)
    less = dataclasses.replace(made, workspace=made.workspace - 1)
    assert codes(dnnl_driver, less) == (0, 0, NO_MEMORY)


def test_every_smaller_pool_is_refused(dnnl_driver: Path) -> None:
    made = case_of(network())
    every = [dataclasses.replace(made, pool=size) for size in range(made.pool)]
    found = {result.codes for result in cases.run(dnnl_driver, every)}
    assert found == {(NO_MEMORY, NOT_RUN, NOT_RUN)}


@pytest.mark.parametrize(("pointer_bytes", "expected"), [(4, 648), (8, 704)])
def test_the_pool_of_the_network(pointer_bytes: int, expected: int) -> None:
    graph = json_graph.loads(json.dumps(network()))
    assert runtime.pool_bytes(graph, pointer_bytes) == expected


# Constants and arguments


def _with(made: Case, field: str, i: int, tensor: Tensor | None) -> Case:
    tensors = list(getattr(made, field))
    tensors[i : i + 1] = [tensor] if tensor is not None else []
    return dataclasses.replace(made, **{field: tensors})


def test_constants_are_checked(dnnl_driver: Path) -> None:
    made = case_of(network())
    first, second = made.constants
    assert codes(dnnl_driver, _with(made, "constants", 0, second)) == (0, INVALID, NOT_RUN)
    other = Tensor(WEIGHT[:, :, :, :2], NAMES[0])
    assert codes(dnnl_driver, _with(made, "constants", 0, other)) == (0, INVALID, NOT_RUN)
    other = Tensor(WEIGHT, NAMES[0], dtype=FLOAT32 & ~0xFF)
    assert codes(dnnl_driver, _with(made, "constants", 0, other)) == (0, WRONG_TYPE, NOT_RUN)
    assert codes(dnnl_driver, _with(made, "constants", 1, None)) == (0, 0, NOT_SET)
    more = dataclasses.replace(made, constants=[first, second, Tensor(BIAS, "x")])
    assert codes(dnnl_driver, more) == (0, INVALID, NOT_RUN)


def test_arguments_are_checked(dnnl_driver: Path) -> None:
    made = case_of(network())
    image, first, second = made.args
    assert codes(dnnl_driver, _with(made, "args", 2, None)) == (0, 0, WRONG_COUNT)
    more = dataclasses.replace(made, args=[image, first, second, second])
    assert codes(dnnl_driver, more) == (0, 0, WRONG_COUNT)
    for i in range(3):
        array = made.args[i].array
        for other in (array[..., None], array[0], array[..., :1], np.concatenate([array, array])):
            assert codes(dnnl_driver, _with(made, "args", i, Tensor(other))) == (0, 0, INVALID)
        for dtype in (0 | 32 << 8 | 1 << 16, 2 | 16 << 8 | 1 << 16, 2 | 32 << 8 | 4 << 16):
            wrong = _with(made, "args", i, Tensor(array, dtype=dtype))
            assert codes(dnnl_driver, wrong) == (0, 0, WRONG_TYPE)


@pytest.mark.parametrize("flag", [STRIDES, NO_DATA, UNALIGNED])
def test_odd_arguments_are_refused(dnnl_driver: Path, flag: int) -> None:
    odd = dataclasses.replace(case_of(network()), flags=flag)
    assert codes(dnnl_driver, odd) == (0, 0, INVALID)


def test_tensors_may_begin_after_their_address(dnnl_driver: Path) -> None:
    made = case_of(network())
    offset = dataclasses.replace(made, flags=OFFSET)
    assert outputs(dnnl_driver, offset) == outputs(dnnl_driver, made)
