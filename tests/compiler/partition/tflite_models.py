"""TFLite models with parts for several code generators."""

from __future__ import annotations

import numpy as np

from tests.support.tflite_builder import Array, OperatorSpec, TensorSpec, build_model

_RNG = np.random.default_rng(5)


def _f32(*shape: int) -> Array:
    return _RNG.standard_normal(shape).astype(np.float32)


def _image_tensors() -> list[TensorSpec]:
    return [
        TensorSpec("x", (1, 9, 8, 3), "float32"),
        TensorSpec("w", (4, 3, 3, 3), "float32", _f32(4, 3, 3, 3)),
        TensorSpec("b", (4,), "float32", _f32(4)),
        TensorSpec("c", (1, 5, 4, 4), "float32"),
        TensorSpec("wd", (1, 3, 3, 4), "float32", _f32(1, 3, 3, 4)),
        TensorSpec("bd", (4,), "float32", _f32(4)),
        TensorSpec("d", (1, 5, 4, 4), "float32"),
        TensorSpec("s", (1, 5, 4, 4), "float32"),
        TensorSpec("m", (1, 2, 2, 4), "float32"),
        TensorSpec("a", (1, 1, 1, 4), "float32"),
        TensorSpec("wf", (3, 4), "float32", _f32(3, 4)),
        TensorSpec("bf", (3,), "float32", _f32(3)),
        TensorSpec("shape", (2,), "int32", np.array([1, 4], np.int32)),
        TensorSpec("flat", (1, 4), "float32"),
        TensorSpec("f", (1, 3), "float32"),
        TensorSpec("y", (1, 3), "float32"),
    ]


def image() -> bytes:
    """Two float32 convolutions (one depthwise), pools, a branch, a dense layer and softmax."""
    same = {"padding": 0, "strideH": 2, "strideW": 2}
    depthwise = {"padding": 0, "strideH": 1, "strideW": 1, "depthMultiplier": 1}
    valid = {"padding": 1, "strideH": 2, "strideW": 2, "filterHeight": 2, "filterWidth": 2}
    relu, relu6 = {"fusedActivationFunction": 1}, {"fusedActivationFunction": 3}
    operators = [
        OperatorSpec("CONV_2D", ["x", "w", "b"], ["c"], "Conv2DOptions", {**same, **relu}),
        OperatorSpec(
            "DEPTHWISE_CONV_2D",
            ["c", "wd", "bd"],
            ["d"],
            "DepthwiseConv2DOptions",
            {**depthwise, **relu6},
        ),
        OperatorSpec("ADD", ["d", "c"], ["s"], "AddOptions", relu),
        OperatorSpec("MAX_POOL_2D", ["s"], ["m"], "Pool2DOptions", valid),
        OperatorSpec("AVERAGE_POOL_2D", ["m"], ["a"], "Pool2DOptions", valid),
        OperatorSpec("RESHAPE", ["a", "shape"], ["flat"], "ReshapeOptions", {}),
        OperatorSpec("FULLY_CONNECTED", ["flat", "wf", "bf"], ["f"], "FullyConnectedOptions", {}),
        OperatorSpec("SOFTMAX", ["f"], ["y"], "SoftmaxOptions", {"beta": 1.0}),
    ]
    return build_model(_image_tensors(), operators, ["x"], ["y"])


def elementwise() -> bytes:
    """relu(x + y) - x, its tanh, and the product of the two."""
    names = ("x", "y", "sum", "difference", "t", "z")
    tensors = [TensorSpec(name, (2, 6), "float32") for name in names]
    operators = [
        OperatorSpec("ADD", ["x", "y"], ["sum"], "AddOptions", {"fusedActivationFunction": 1}),
        OperatorSpec("SUB", ["sum", "x"], ["difference"], "SubOptions", {}),
        OperatorSpec("TANH", ["difference"], ["t"]),
        OperatorSpec("MUL", ["t", "difference"], ["z"], "MulOptions", {}),
    ]
    return build_model(tensors, operators, ["x", "y"], ["z"])


def mixed() -> bytes:
    """A float32 dense layer, an int8 one, and a float32 softmax."""
    weights = _RNG.integers(-127, 128, (4, 5)).astype(np.int8)
    tensors = [
        TensorSpec("x", (2, 6), "float32"),
        TensorSpec("w", (5, 6), "float32", _f32(5, 6)),
        TensorSpec("b", (5,), "float32", _f32(5)),
        TensorSpec("f", (2, 5), "float32"),
        TensorSpec("q", (2, 5), scale=(0.1,), zero_point=(3,)),
        TensorSpec("wq", (4, 5), data=weights, scale=(0.02,), zero_point=(0,)),
        TensorSpec("g", (2, 4), scale=(0.2,), zero_point=(-4,)),
        TensorSpec("h", (2, 4), "float32"),
        TensorSpec("y", (2, 4), "float32"),
    ]
    operators = [
        OperatorSpec("FULLY_CONNECTED", ["x", "w", "b"], ["f"], "FullyConnectedOptions", {}),
        OperatorSpec("QUANTIZE", ["f"], ["q"], "QuantizeOptions", {}),
        OperatorSpec("FULLY_CONNECTED", ["q", "wq"], ["g"], "FullyConnectedOptions", {}),
        OperatorSpec("DEQUANTIZE", ["g"], ["h"], "DequantizeOptions", {}),
        OperatorSpec("SOFTMAX", ["h"], ["y"], "SoftmaxOptions", {"beta": 1.0}),
    ]
    return build_model(tensors, operators, ["x"], ["y"])


MODELS = {"image": image(), "elementwise": elementwise(), "mixed": mixed()}
