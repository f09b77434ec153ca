"""Layers of float32 data with int8 weights, and FULLY_CONNECTED of int16 data."""

from __future__ import annotations

import numpy as np
import pytest
from tflite.TensorType import TensorType as TensorTypeCode

from microgen.base.errors import MicrogenError, ModelError, UnsupportedError
from microgen.frontends.tflite.litert import LiteRT
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.graph.ops.convolution.conv2d import Conv2DHybridAttrs
from microgen.graph.ops.convolution.conv2d_transpose import Conv2DTransposeHybridAttrs
from microgen.graph.ops.dense.dense import DenseAttrs, DenseHybridAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DHybridAttrs
from tests.frontends.tweaked import Network, int8_constant, integers, refusal
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.support.tflite_builder import OperatorSpec, TensorSpec

WINDOW = {"padding": 0, "strideH": 2, "strideW": 1}


def floats(name: str, *shape: int) -> TensorSpec:
    return TensorSpec(name, shape, "float32")


def float_constant(name: str, *shape: int) -> TensorSpec:
    return TensorSpec(name, shape, "float32", np.ones(shape, np.float32))


def layer(code: str, options_type: str, weight: TensorSpec, **options: int) -> Network:
    """float32[1,4,4,2] with a bias of ones for 2 channels."""
    data, output = floats("x", 1, 4, 4, 2), floats("y", 1, 2, 4, 2)
    return Network(
        (data, weight, float_constant("b", 2), output),
        (OperatorSpec(code, ("x", "w", "b"), ("y",), options_type, options),),
    )


def conv2d(*scale: float) -> Network:
    weight = int8_constant("w", 2, 3, 3, 2, scale=scale)
    return layer("CONV_2D", "Conv2DOptions", weight, **WINDOW)


def depthwise(*scale: float) -> Network:
    weight = TensorSpec(
        "w", (1, 3, 3, 2), "int8", np.ones((1, 3, 3, 2), np.int8), scale, (0,) * len(scale), 3
    )
    return layer("DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions", weight, **WINDOW)


def dense(**options: int) -> Network:
    """float32[1,4,4,2] as 8 rows of 4 features, to 2 units."""
    weight = int8_constant("w", 2, 4, scale=(0.5, 0.25))
    network = layer("FULLY_CONNECTED", "FullyConnectedOptions", weight, **options)
    return network.with_tensor("y", shape=(8, 2))


@pytest.mark.parametrize("scale", [(0.5,), (0.5, 0.25)])
def test_conv2d(scale: tuple[float, ...]) -> None:
    (node,) = conv2d(*scale).load().nodes
    assert (node.op, node.inputs) == ("nn.conv2d_hybrid", ("x", "w", "b"))
    assert node.attrs == Conv2DHybridAttrs((2, 1), (1, 1), "SAME", Activation.NONE)


def test_depthwise_conv2d_with_a_scale_per_channel() -> None:
    (node,) = depthwise(0.5, 0.25).load().nodes
    assert (node.op, node.inputs) == ("nn.depthwise_conv2d_hybrid", ("x", "w", "b"))
    assert node.attrs == DepthwiseConv2DHybridAttrs((2, 1), (1, 1), "SAME", 1, Activation.NONE)
    said = refusal(depthwise(0.5), ModelError)
    assert "the hybrid depthwise convolution's weight has 1 scale; one per channel, 2" in said


@pytest.mark.parametrize("asymmetric", [False, True])
def test_fully_connected(asymmetric: bool) -> None:
    before, node = dense(asymmetricQuantizeInputs=asymmetric).load().nodes
    assert (before.op, node.op) == ("reshape", "nn.dense_hybrid")
    assert node.attrs == DenseHybridAttrs(Activation.NONE, asymmetric, keep_num_dims=False)


def test_an_integer_bias_is_refused() -> None:
    said = refusal(dense().with_tensor("b", dtype="int32"), ModelError)
    assert "the bias is int32[2]; of float32 data it must be float32" in said


def transposed(*scale: float) -> Network:
    window = {"padding": 0, "strideH": 2, "strideW": 1}
    return Network(
        (
            integers("s", [1, 4, 4, 2]),
            int8_constant("w", 2, 3, 3, 2, scale=scale),
            floats("x", 1, 2, 4, 2),
            floats("y", 1, 4, 4, 2),
        ),
        (OperatorSpec("TRANSPOSE_CONV", ("s", "w", "x"), ("y",), "TransposeConvOptions", window),),
    )


@pytest.mark.parametrize("scale", [(0.5,), (0.5, 0.25)])
def test_transpose_conv(scale: tuple[float, ...]) -> None:
    (node,) = transposed(*scale).load().nodes
    assert (node.op, node.inputs) == ("nn.conv2d_transpose_hybrid", ("x", "w"))
    assert node.attrs == Conv2DTransposeHybridAttrs((2, 1), "SAME", (4, 4), Activation.NONE)


def test_grouped_conv2d_has_a_scale_per_filter() -> None:
    def grouped(*scale: float) -> Network:
        weight = int8_constant("w", 2, 3, 3, 1, scale=scale)
        return layer("CONV_2D", "Conv2DOptions", weight, **WINDOW)

    (node,) = grouped(0.5, 0.25).load().nodes
    assert node.op == "nn.conv2d_hybrid"
    assert "has one scale for all" in refusal(grouped(0.5), ModelError)


def product(rows: tuple[int, ...], columns: TensorSpec, **options: bool) -> Network:
    """BATCH_MATMUL of float32 by int8 columns: 5 rows, 4 deep, 3 columns."""
    output = (*rows[:-2], 5, 3)
    operator = OperatorSpec("BATCH_MATMUL", ("x", "w"), ("y",), "BatchMatMulOptions", options)
    return Network((floats("x", *rows), columns, floats("y", *output)), (operator,))


@needs_litert
@pytest.mark.parametrize("asymmetric", [False, True])
@pytest.mark.parametrize("adj_x", [False, True])
@pytest.mark.parametrize("adj_y", [False, True])
@pytest.mark.parametrize("scale", [(0.02,), (0.01, 0.02, 0.3)])
@pytest.mark.parametrize("lead", [(), (1,)])
def test_matrix_products_are_litert_s(
    asymmetric: bool, adj_x: bool, adj_y: bool, scale: tuple[float, ...], lead: tuple[int, ...]
) -> None:
    """A hybrid FULLY_CONNECTED computes them, bit for bit."""
    shape = (*lead, *((3, 4) if adj_y else (4, 3)))
    axis = len(lead) + (0 if adj_y else 1)
    columns = int8_constant("w", *shape, scale=scale, axis=axis)
    rows = (*lead, *((4, 5) if adj_x else (5, 4)))
    options = {"adjX": adj_x, "adjY": adj_y, "asymmetricQuantizeInputs": asymmetric}
    network = product(rows, columns, **options)
    graph = network.load()
    assert graph.nodes[-1].op == "nn.dense_hybrid"
    x = np.random.default_rng(len(rows)).normal(size=rows).astype(np.float32)
    (found,) = LiteRT().layers({"": network.to_bytes()}, [[x]])
    ours = evaluate(graph, {"x": x}, registry())["y"]
    np.testing.assert_array_equal(found["y"], ours)


@pytest.mark.parametrize(
    ("network", "kind", "said"),
    [
        (
            product((2, 5, 4), int8_constant("w", 4, 3, scale=(0.5,))),
            UnsupportedError,
            "is a hybrid product of several matrices",
        ),
        (
            product((5, 4), int8_constant("w", 4, 3, scale=(0.5,) * 4)),
            ModelError,
            "with a scale for each index of axis 0; one for each column, axis 1",
        ),
        (
            product((5, 4), TensorSpec("w", (4, 3), "int8", None, (0.5,), (0,))).replace(
                inputs=("x", "w")
            ),
            UnsupportedError,
            'needs "w" to be a constant',
        ),
    ],
)
def test_hybrid_products_that_are_refused(
    network: Network, kind: type[MicrogenError], said: str
) -> None:
    assert said in refusal(network, kind)


def test_a_scale_per_channel_means_nothing_to_int8_products() -> None:
    network = product((5, 4), int8_constant("w", 4, 3, scale=(0.1, 0.2, 0.3), axis=1))
    for name in ("x", "y"):
        network = network.with_tensor(name, dtype="int8", scale=(0.5,), zero_point=(0,))
    assert "LiteRT reads 0 as its scale" in refusal(network, UnsupportedError)


def wide(bias: str, declared: int | None = None) -> Network:
    """int16[1,4] to 2 units, with a bias of that dtype."""
    options = {} if declared is None else {"quantizedBiasType": declared}
    inputs = ("x", "w", "b")
    return Network(
        (
            TensorSpec("x", (1, 4), "int16", None, (0.5,), (0,)),
            int8_constant("w", 2, 4, scale=(0.5,)),
            TensorSpec("b", (2,), bias, np.ones(2, bias)),
            TensorSpec("y", (1, 2), "int16", None, (0.5,), (0,)),
        ),
        (OperatorSpec("FULLY_CONNECTED", inputs, ("y",), "FullyConnectedOptions", options),),
    )


@pytest.mark.parametrize(
    ("bias", "declared"),
    [
        ("int64", None),
        ("int64", TensorTypeCode.INT64),
        ("int32", TensorTypeCode.INT32),
    ],
)
def test_sums_of_int16_data_are_rounded_real(bias: str, declared: int | None) -> None:
    (node,) = wide(bias, declared).load().nodes
    assert node.attrs == DenseAttrs(Activation.NONE, Rounding.REAL, keep_num_dims=False)


@pytest.mark.parametrize(
    ("bias", "declared", "said"),
    [
        ("int32", None, 'has a bias "b" of int32, but declares int64'),
        ("int32", TensorTypeCode.INT64, 'has a bias "b" of int32, but declares int64'),
        ("int64", TensorTypeCode.INT32, 'has a bias "b" of int64, but declares int32'),
    ],
)
def test_int16_biases_must_be_what_they_are_declared(
    bias: str, declared: int | None, said: str
) -> None:
    assert said in refusal(wide(bias, declared), UnsupportedError)


def test_biases_are_declared_as_integers() -> None:
    said = refusal(wide("int64", TensorTypeCode.INT8), ModelError)
    assert "declares biases of type 9; int32 (2) or int64 (4) is expected" in said
