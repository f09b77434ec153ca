"""BATCH_MATMUL, from the bytes of a file to the attributes of a node."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from microgen.base.errors import ModelError, UnsupportedError
from microgen.graph.ops.dense.batch_matmul import BatchMatmulAttrs
from tests.frontends.tweaked import Network, activation, int8_constant, refusal
from tests.kernels.conformance.litert_oracle import interpreter_of, needs_litert
from tests.support.tflite_builder import OperatorSpec, TensorSpec


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


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(
    ("profile", "said"), [("litert", "all products are 0"), ("tflm", "the first scale for all")]
)
def test_a_scale_per_channel_is_refused(axis: int, profile: str, said: str) -> None:
    weight = int8_constant("c", 4, 4, scale=(0.25, 0.5, 0.75, 1.0), axis=axis)
    with pytest.raises(UnsupportedError, match=said):
        matmul(weight).load(profile)


@needs_litert
@pytest.mark.parametrize("adj_y", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_litert_computes_nothing_with_a_scale_per_channel(axis: int, adj_y: bool) -> None:
    """The outputs are the output's zero point, which means 0."""
    weight = int8_constant("c", 4, 4, scale=(0.25, 0.5, 0.75, 1.0), axis=axis)
    interpreter = interpreter_of(matmul(weight, adjY=adj_y).to_bytes())
    interpreter.set_tensor(0, np.full((2, 3, 4), 100, np.int8))
    interpreter.invoke()
    assert np.unique(interpreter.get_tensor(2)).tolist() == [3]


def test_matrices_that_do_not_fit_are_refused() -> None:
    said = refusal(matmul(int8_constant("c", 3, 4, scale=(0.25,))), ModelError)
    assert said.startswith('m.tflite: layer "y" (BATCH_MATMUL)')
    assert "rows of int8[2,3,4] have 4 elements and columns of int8[3,4] 3" in said
