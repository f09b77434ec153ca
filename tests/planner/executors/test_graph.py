"""The graph executor's JSON: the seed's demo field for field, names, and shared storage."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from microgen.compiler import codegens, lowering, partition
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, DType, Graph, Node, Origin
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.moves.layouts import LayoutTransformAttrs, TransposeAttrs
from microgen.options import Options
from microgen.planner.executors import graph as executor
from microgen.planner.executors.graph import Tokens
from microgen.planner.program.types import Program, Storage
from microgen.target import board as boards
from tests.devices import networks
from tests.support.compiling import program_of

NAME = "tvmgen_default_fused_nn_conv2d_nn_bias_add_nn_relu"
LAYOUTS = (("data_layout", "NCHW"), ("kernel_layout", "OIHW"), ("out_layout", ""))
ORIGIN = Origin("x.relay", "layer")
BOARD = boards.load("native")


def lowered(graph: Graph) -> Program:
    known = codegens.registry()
    parts = partition.assign(graph, [known["builtin"]], BOARD)
    return lowering.lower(parts, known, BOARD, module="default", output_names=graph.outputs)


def built(graph: Graph) -> executor.ExecutorGraph:
    return executor.build(lowered(graph))


def seed_demo() -> Graph:
    """conv2d, bias_add and relu of the seed's notes, as the frontend reads them."""
    attrs = Conv2DAttrs((1, 1), (1, 1), (1, 1, 1, 1), Activation.RELU, Rounding.SINGLE)
    conv = Node("nn.conv2d", ("d", "w", "b1"), ("c",), attrs, ORIGIN, layouts=LAYOUTS)
    nodes = (
        _layout("NCHW", "NHWC", "d1", "d"),
        _layout("OIHW", "OHWI", "w1", "w"),
        conv,
        _layout("NHWC", "NCHW", "c", "out"),
    )
    image, shapes = (1, 56, 56, 32), {"d1": (1, 32, 56, 56), "w1": (32, 32, 3, 3), "b1": (32,)}
    shapes |= {"d": image, "w": (32, 3, 3, 32), "c": image, "out": (1, 32, 56, 56)}
    types = {name: ArrayType(shape, DType.FLOAT32) for name, shape in shapes.items()}
    return Graph("x", ("d1", "w1", "b1"), ("out",), nodes, types, {})


def _layout(source: str, target: str, data: str, out: str) -> Node:
    return Node("layout_transform", (data,), (out,), LayoutTransformAttrs(source, target), ORIGIN)


def expected_demo() -> dict[str, Any]:
    """The JSON in the notes, except for the hash."""
    nulls = [{"op": "null", "name": name, "inputs": []} for name in ("d1", "w1", "b1")]
    attrs = {
        "num_outputs": "1",
        "flatten_data": "0",
        "out_layout": "",
        "func_name": NAME,
        "num_inputs": "3",
        "kernel_layout": "OIHW",
        "data_layout": "NCHW",
    }
    inputs = [[0, 0, 0], [1, 0, 0], [2, 0, 0]]
    image = [1, 32, 56, 56]
    return {
        "nodes": [*nulls, {"op": "tvm_op", "name": NAME, "attrs": attrs, "inputs": inputs}],
        "arg_nodes": [0, 1, 2],
        "heads": [[3, 0, 0]],
        "attrs": {
            "dltype": ["list_str", ["float32"] * 4],
            "shape": ["list_shape", [image, [32, 32, 3, 3], [32], image]],
            "storage_id": ["list_int", [0, 1, 2, 3]],
        },
        "node_row_ptr": [0, 1, 2, 3, 4],
    }


def test_the_seeds_demo_but_for_the_hash() -> None:
    found = json.loads(built(seed_demo()).dumps())
    made = found["nodes"][3]["attrs"].pop("hash")
    assert found == expected_demo()
    assert len(made) == 16
    assert int(made, 16) >= 0


def test_the_hash_is_the_functions_meaning() -> None:
    (function,) = lowered(seed_demo()).functions
    assert executor.function_hash(function) == executor.function_hash(replace(function, name="f"))
    other = replace(function, target="cortex-m0")
    assert executor.function_hash(function) != executor.function_hash(other)


def chain(sizes: list[tuple[int, ...]]) -> Graph:
    """A chain of transpositions of tensors of these sizes."""
    names = [f"t{i}" for i in range(len(sizes))]
    nodes = tuple(
        Node("transpose", (a,), (b,), TransposeAttrs((1, 0)), ORIGIN)
        for a, b in itertools.pairwise(names)
    )
    types = {n: ArrayType(s, DType.INT32) for n, s in zip(names, sizes, strict=True)}
    return Graph("x", (names[0],), (names[-1],), nodes, types, {})


def test_a_storage_is_used_again_when_its_reader_has_run() -> None:
    found = built(chain([(2, 3), (3, 2), (2, 3), (3, 2), (2, 3)]))
    # The input is in 0 and t1 in 1. t2 cannot use 1, because t1 is read then, so it is in 2. t3
    # uses 1 again, and the output uses 2.
    assert found.storage_ids == (0, 1, 2, 1, 2)
    assert found.storage_bytes == (24, 24, 24)
    names = [node.name for node in found.nodes[1:]]
    function = "tvmgen_default_fused_transpose"
    assert names[:2] == [function, f"{function}_1"]  # two shapes make two functions
    # a function that is called again has another node name
    assert names[2:] == [f"{function}1", f"{function}_11"]
    assert [n.attrs["func_name"] for n in found.nodes[1:]] == [function, f"{function}_1"] * 2


def test_outputs_keep_their_storage() -> None:
    graph = chain([(2, 3), (3, 2), (2, 3), (3, 2)])
    found = built(graph.replace(outputs=("t1", "t3")))
    assert found.storage_ids == (0, 1, 2, 3)
    assert found.heads == ((1, 0, 0), (3, 0, 0))


def test_parameters_stand_before_their_first_reader() -> None:
    weights = np.arange(12, dtype=np.float32).reshape(3, 4)
    attrs = DenseAttrs(Activation.NONE, Rounding.SINGLE, keep_num_dims=False)
    types = {
        "x": ArrayType((1, 4), DType.FLOAT32),
        "w": ArrayType((3, 4), DType.FLOAT32),
        "y": ArrayType((1, 3), DType.FLOAT32),
    }
    node = Node("nn.dense", ("x", "w"), ("y",), attrs, ORIGIN)
    found = built(Graph("x", ("x",), ("y",), (node,), types, {"w": weights}))
    assert [(n.op, n.name) for n in found.nodes] == [
        ("null", "x"),
        ("null", "p0"),
        ("tvm_op", "tvmgen_default_fused_nn_dense"),
    ]
    assert found.nodes[2].inputs == ((0, 0, 0), (1, 0, 0))
    assert found.to_json()["arg_nodes"] == [0, 1]


@pytest.mark.parametrize(
    ("free", "wanted", "taken"),
    [
        ([100, 40, 60], 50, 2),  # the smallest one that is large enough
        ([10, 40], 50, 1),  # otherwise the largest one, which grows
        ([3], 50, None),  # far too small
        ([801], 50, None),  # far too large
        ([800], 50, 0),
    ],
)
def test_which_free_storage_is_taken(free: list[int], wanted: int, taken: int | None) -> None:
    tokens = Tokens()
    for token in [tokens.new(nbytes) for nbytes in free]:
        tokens.release(token)
    found = tokens.request(wanted)
    assert found.storage_id == (len(free) if taken is None else taken)
    assert found.nbytes == max(wanted, free[taken] if taken is not None else 0)
    assert found not in tokens.free


def test_the_context_of_a_device_is_no_input_of_its_node() -> None:
    on_device = program_of(networks.chain("npu0"), Options(targets=(networks.NPU,)))
    on_host = program_of(networks.chain(""))
    assert on_device.calls[0].args[-1].storage is Storage.DEVICE
    inputs = [executor.build(program).nodes[-1].inputs for program in (on_device, on_host)]
    assert inputs[0] == inputs[1]
