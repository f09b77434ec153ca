"""BATCH_MATMUL, from the bytes of a file to the attributes of a node."""

from __future__ import annotations

from itertools import product

import pytest

from microgen.errors import ModelError
from microgen.ops.batch_matmul import BatchMatmulAttrs
from tests.frontends.tweaked import Network, activation, int8_constant, refusal
from tests.tflite_builder import OperatorSpec, TensorSpec


def matmul(rhs: TensorSpec, **options: bool) -> Network:
    """int8[2,3,4] times ``rhs``."""
    return Network(
        (activation("x", 2, 3, 4), rhs, activation("y", 2, 3, 4)),
        (OperatorSpec("BATCH_MATMUL", ("x", rhs.name), ("y",), "BatchMatMulOptions", options),),
    )


@pytest.mark.parametrize("adj_y", [False, True])
def test_a_constant_operand_and_options(adj_y: bool) -> None:
    graph = matmul(int8_constant("c", 4, 4, scale=(0.25,)), adjY=adj_y).load()
    (node,) = graph.nodes
    assert (node.op, node.inputs) == ("nn.batch_matmul", ("x", "c"))
    assert node.attrs == BatchMatmulAttrs(False, adj_y)
    assert "c" in graph.constants


@pytest.mark.parametrize(("adj_x", "adj_y"), list(product((False, True), repeat=2)))
def test_two_computed_operands(adj_x: bool, adj_y: bool) -> None:
    network = matmul(activation("z", 2, 4, 4), adjX=adj_x, adjY=adj_y)
    network = network.replace(inputs=("x", "z")).with_tensor("x", shape=(2, 4, 4))
    graph = network.with_tensor("y", shape=(2, 4, 4)).load()
    (node,) = graph.nodes
    assert node.inputs == ("x", "z")
    assert node.attrs == BatchMatmulAttrs(adj_x, adj_y)


def test_options_may_be_absent() -> None:
    network = matmul(int8_constant("c", 4, 4, scale=(0.25,))).with_operator(options_type="")
    assert network.load().nodes[0].attrs == BatchMatmulAttrs(False, False)


def test_matrices_that_do_not_fit_are_refused() -> None:
    said = refusal(matmul(int8_constant("c", 3, 4, scale=(0.25,))), ModelError)
    assert said.startswith('m.tflite: layer "y" (BATCH_MATMUL)')
    assert "rows of int8[2,3,4] have 4 elements and columns of int8[3,4] 3" in said
