"""Weight-only quantization as ai-edge-quantizer writes it: DEQUANTIZE of a constant, then a float32
layer. The passes turn both into one layer, whose result LiteRT's is within the layer's bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgen.compiler import passes
from microgen.frontends.tflite.litert import LiteRT
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.graph.ops.base import Inexact, Operands
from tests.frontends.tweaked import Network
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.litert_oracle import FUSED, PADDING, needs_litert
from tests.kernels.weight_only.test_weight_only import dense, embedding, transposed, windowed
from tests.support.tflite_builder import OperatorSpec, TensorSpec, packed


def _weights(case: c.Case) -> TensorSpec:
    """The stored weights. The axis is the channels' even if there is one scale."""
    weight = case.inputs[1]
    quant = weight.type.quant
    assert quant is not None
    data, dtype = (packed(weight.array), "int4") if weight.is_int4 else (weight.array, "int8")
    scales, zeros = quant.scale, (0,) * len(quant.scale)
    return TensorSpec("w", weight.type.shape, dtype, data, scales, zeros, quant.axis or 0)


def _network(case: c.Case, code: str, options_type: str, **options: Any) -> Network:
    """The network of a case: DEQUANTIZE from "w" to "f", and a layer from "x" to "y"."""
    x, weight, *bias = case.inputs
    tensors = [
        TensorSpec("x", x.type.shape, x.type.dtype.value),
        _weights(case),
        TensorSpec("f", weight.type.shape, "float32"),
        TensorSpec("y", case.output_type.shape, "float32"),
        *(TensorSpec("b", tensor.type.shape, "float32", tensor.array) for tensor in bias),
    ]
    inputs = ["x", "f", *("b" for _ in bias)]
    if code == "GATHER":
        inputs = ["f", "x"]
    if code == "TRANSPOSE_CONV":
        shape = np.array(case.output_type.shape, np.int32)
        tensors.append(TensorSpec("s", (4,), "int32", shape))
        inputs = ["s", "f", "x", *inputs[2:]]
    layer = OperatorSpec(code, tuple(inputs), ("y",), options_type, options, version=3)
    return Network(tuple(tensors), (OperatorSpec("DEQUANTIZE", ("w",), ("f",), version=6), layer))


def _options(case: c.Case) -> dict[str, Any]:
    attrs: Any = case.attrs
    options = {"fusedActivationFunction": FUSED[attrs.activation]}
    if hasattr(attrs, "strides"):
        options |= {
            "padding": PADDING[attrs.padding],
            "strideH": attrs.strides[0],
            "strideW": attrs.strides[1],
        }
    if hasattr(attrs, "dilation"):
        options |= {
            "dilationHFactor": attrs.dilation[0],
            "dilationWFactor": attrs.dilation[1],
        }
    return options


def _dense(seed: int) -> Network:
    case = dense(seed)
    keep = {"keepNumDims": case.attrs.keep_num_dims}  # type: ignore[attr-defined]
    return _network(case, "FULLY_CONNECTED", "FullyConnectedOptions", **_options(case), **keep)


def _windowed(seed: int) -> Network:
    case = windowed(seed, depthwise=False, paddings=("SAME", "VALID"))
    if len(case.inputs) == 2:  # LiteRT's CONV_2D requires a bias
        zeros = c.Tensor(
            c.float32(np.random.default_rng(0), (case.output_type.shape[3],)).type,
            np.zeros(case.output_type.shape[3], np.float32),
            is_constant=True,
        )
        case = c.Case(
            case.name, case.op, case.attrs, (*case.inputs, zeros), None, case.output_dtype
        )
    return _network(case, "CONV_2D", "Conv2DOptions", **_options(case))


def _depthwise(seed: int) -> Network:
    case = windowed(seed, depthwise=True, paddings=("SAME", "VALID"))
    multiplier = {"depthMultiplier": case.attrs.depth_multiplier}  # type: ignore[attr-defined]
    options = {**_options(case), **multiplier}
    return _network(case, "DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions", **options)


def _transposed(seed: int) -> Network:
    case = transposed(seed)
    return _network(case, "TRANSPOSE_CONV", "TransposeConvOptions", **_options(case))


def _lookup(seed: int) -> Network:
    case = embedding(seed)
    return _network(case, "GATHER", "GatherOptions", axis=0)


LAYERS: dict[str, Callable[[int], Network]] = {
    "nn.dense_weight_only": _dense,
    "nn.conv2d_weight_only": _windowed,
    "nn.conv2d_transpose_weight_only": _transposed,
    "nn.depthwise_conv2d_weight_only": _depthwise,
    "nn.embedding": _lookup,
}


def _limit(graph: Graph, op: str, fed: Array, expected: Array, found: Array) -> Array:
    """The largest distance from ``expected`` that the op's bound allows."""
    (node,) = (each for each in graph.nodes if each.op == op)
    if node.inputs[0] != "x":  # behind a reshape
        fed = fed.reshape(graph.types[node.inputs[0]].shape)
    values = {**graph.constants, node.inputs[0]: fed}
    operands = Operands.of(node, graph, values)
    exact = tuple(np.zeros(array.shape) for array in operands.inputs)
    inexact = Inexact(operands, exact, (expected,), (found,))
    (limit,) = registry()[op].bound.of(node.attrs, inexact)
    return limit


@needs_litert
@pytest.mark.parametrize("op", LAYERS)
def test_layers_are_litert_s_within_their_bounds(op: str) -> None:
    for seed in range(24):
        network = LAYERS[op](seed)
        graph = passes.run(network.load())
        assert op in {node.op for node in graph.nodes}, seed
        kind = graph.types["x"]
        rng = np.random.default_rng(seed)
        fed = rng.normal(size=kind.shape).astype(np.float32)
        if op == "nn.embedding":
            rows = network.tensors[1].shape[0]
            fed = rng.integers(0, rows, kind.shape).astype(np.int32)
        ours = evaluate(graph, {"x": fed}, registry())["y"]
        (theirs,) = LiteRT().layers({"": network.to_bytes()}, [[fed]])
        distance = np.abs(ours.astype(np.float64) - theirs["y"])
        limit = _limit(graph, op, fed, ours, theirs["y"])
        assert (distance <= limit.reshape(distance.shape)).all(), seed


def test_weights_are_stored_once_as_the_file_has_them() -> None:
    graph = passes.run(_dense(1).load())
    (node,) = (each for each in graph.nodes if each.op == "nn.dense_weight_only")
    weight = node.inputs[1]
    assert graph.constants[weight].dtype == np.int8
    assert graph.int4 == {weight}
    assert not [name for name in graph.constants if name == "f"]
