"""TRANSPOSE_CONV, from the bytes of a file to the attributes of a node, and its refusals."""

from __future__ import annotations

import pytest

from microgen.errors import ModelError, UnsupportedError
from microgen.ops.base import Activation, Rounding
from microgen.ops.conv2d_transpose import Conv2DTransposeAttrs
from tests.frontends.tweaked import Network, activation, int8_constant, integers, refusal
from tests.ops.litert_oracle import FUSED
from tests.tflite_builder import OperatorSpec


def transpose_conv(*inputs: str | int, **options: int) -> Network:
    """TRANSPOSE_CONV of int8[1,4,4,2] with 3 filters of 3x3, stride 2, SAME, to int8[1,8,7,3]."""
    defaults = {"padding": 0, "strideH": 2, "strideW": 2}
    return Network(
        (
            integers("s", [1, 8, 7, 3]),
            int8_constant("w", 3, 3, 3, 2, scale=(0.25, 0.5, 0.125)),
            activation("x", 1, 4, 4, 2),
            integers("b", [1, -2, 3]),
            activation("y", 1, 8, 7, 3),
        ),
        (
            OperatorSpec(
                "TRANSPOSE_CONV",
                inputs or ("s", "w", "x", "b"),
                ("y",),
                "TransposeConvOptions",
                {**defaults, **options},
            ),
        ),
    )


def test_transpose_conv() -> None:
    graph = transpose_conv().load()
    (node,) = graph.nodes
    assert (node.op, node.inputs, graph.inputs) == ("nn.conv2d_transpose", ("x", "w", "b"), ("x",))
    assert node.attrs == Conv2DTransposeAttrs(
        (2, 2), "SAME", (8, 7), Activation.NONE, Rounding.DOUBLE
    )


@pytest.mark.parametrize("inputs", [("s", "w", "x"), ("s", "w", "x", -1)])
def test_the_bias_is_optional(inputs: tuple[str | int, ...]) -> None:
    (node,) = transpose_conv(*inputs).load().nodes
    assert node.inputs == ("x", "w")


@pytest.mark.parametrize("fused", list(Activation))
def test_fused_activations(fused: Activation) -> None:
    (node,) = transpose_conv(fusedActivationFunction=FUSED[fused]).load().nodes
    assert isinstance(node.attrs, Conv2DTransposeAttrs)
    assert node.attrs.activation is fused


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (
            transpose_conv().with_tensor("s", data=integers("", [1, 8, 8, 3]).data),
            "asks for the shape [1, 8, 8, 3], but its output is declared int8[1,8,7,3]",
        ),
        (
            transpose_conv(padding=1),
            "a convolution of the output's (8, 7) with kernel (3, 3), strides (2, 2) and padding "
            "VALID has (3, 3)",
        ),
        (transpose_conv("s", "w"), "has 2 inputs and 1 outputs; 3 or 4 and 1 are expected"),
        (transpose_conv(strideH=0), "has StrideH 0; at least 1 is expected"),
    ],
)
def test_contradictions(network: Network, said: str) -> None:
    assert said in refusal(network, ModelError)


def test_an_output_shape_that_is_not_known_is_refused() -> None:
    fed = transpose_conv().with_tensor("s", data=None).replace(inputs=("x", "s"))
    assert "needs it to be a constant" in refusal(fed, UnsupportedError)
