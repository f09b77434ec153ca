"""The errors of ONNX Runtime's kernels in addition to the ops' bounds.

IEEE 754 defines the result of one operation, and moves and choices have one result. So a tensor has
no slack if only such operators lead to it from tensors that the graph has, too. Others are

- stored integers: ONNX Runtime computes a quantized layer in floats, or in its own order, so it may
  round a tie the other way: by 1.
- floats: its functions are approximations whose errors are absolute where the references' are
  relative. The limits are the largest errors that were measured on a million arguments from -500 to
  500 (onnxruntime 1.32), rounded up to a power of two.
- recurrent layers: the same functions, followed through the layer's formula.
- Fourier transforms: see ``ort_fourier``.

Results that ONNX Runtime defines differently from LiteRT, whose definition microgen's ops have, are
no errors of a firmware. They are not compared, and a comparison says so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np
from onnx import ModelProto

from microgen.frontends.onnx.nodes import operator_name
from microgen.frontends.onnx.oracle import ort_fourier
from microgen.graph.ir.beside import Leeway
from microgen.graph.ir.graph import Array, DType, Node
from microgen.graph.ops import registry
from microgen.graph.ops.balls import Ball
from microgen.graph.ops.base import Inexact
from microgen.graph.ops.recurrent import recurrent
from microgen.graph.ops.recurrent.recurrent_steps import ActivationFormula
from microgen.graph.ops.unary.real_function import RealFunctionAttrs
from microgen.graph.qdq.wide_functions import MOST_OFF

# Comparisons, choices, moves, conversions, and functions of one rounding.
_EXACT = frozenset(
    {
        *("Abs", "Add", "And", "Cast", "Ceil", "Clip", "Compress", "Concat", "Constant"),
        *("ConstantOfShape", "DepthToSpace", "DequantizeLinear", "Div", "Equal", "Expand"),
        *("Flatten", "Floor", "Gather", "GatherElements", "GatherND", "GlobalMaxPool", "Greater"),
        *("GreaterOrEqual", "Identity", "LeakyRelu", "Less", "LessOrEqual", "Max", "MaxPool"),
        *("Min", "Mul", "Neg", "Not", "Or", "PRelu", "Pad", "QuantizeLinear", "Reciprocal"),
        *("ReduceMax", "ReduceMin", "Relu", "Reshape", "Round", "Shape", "Sign", "Slice"),
        *("SpaceToDepth", "Split", "Sqrt", "Squeeze", "Sub", "ThresholdedRelu", "Tile", "TopK"),
        *("Transpose", "Trilu", "Unsqueeze", "Where", "Xor"),
        *("com.microsoft.DequantizeLinear", "com.microsoft.QuantizeLinear"),
    }
)


def _exact(model: ModelProto, known: Collection[str]) -> frozenset[str]:
    """The tensors that exact operators compute from ``known`` tensors, constants and inputs."""
    tensors = {each.name for each in (*model.graph.initializer, *model.graph.input)}
    sound = {*tensors, *known, ""}
    for node in model.graph.node:
        if operator_name(node) in _EXACT and all(name in sound for name in node.input):
            tensors.update(node.output)
            sound.update(node.output)
    return frozenset(tensors)


_INTEGERS = frozenset(
    {
        *("add", "divide", "image.resize2d", "lookup", "mean", "multiply", "subtract", "sum"),
        *("nn.avg_pool2d", "nn.batch_matmul", "nn.conv2d", "nn.conv2d_transpose", "nn.dense"),
        *("nn.depthwise_conv2d", "nn.softmax", "qnn.rescale"),
    }
)
# Functions of int16 values have forms that are near the model's (``qdq/wide_functions.py``).
_NEAR = frozenset(
    {
        *("abs", "clip", "lookup", "negative", "nn.leaky_relu", "qnn.requantize", "sigmoid"),
        "tanh",
    }
)
_FLOATS: Mapping[str, float] = {
    "nn.elu": 2.0**-23,
    "log": 2.0**-22,
    "nn.hard_swish": 2.0**-22,
    "real_function": 2.0**-22,
    "sigmoid": 2.0**-22,
    "tanh": 2.0**-21,
}
# Functions that multiply their argument by an approximation.
_PRODUCTS = frozenset({"gelu", "gelu_tanh", "mish", "swish"})

# The graph composes normalizations from these, and ONNX Runtime computes normalizations with other
# roundings.
_COMPOSED: Mapping[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "divide": np.divide,
    "multiply": np.multiply,
    "subtract": np.add,
}
_ROUNDINGS = 8 * 2.0**-24  # of the magnitudes of the operands

# Axes of images along which an op interpolates, or may interpolate.
_PLACED: Mapping[str, slice] = {"image.resize2d": slice(1, -1), "resample": slice(None)}

# The errors of the functions of recurrent layers, relative to their alpha; see ``_off``.
_OF_FUNCTIONS: Mapping[str, float] = {
    "elu": _FLOATS["nn.elu"],
    "scaled_tanh": _FLOATS["tanh"],
    "sigmoid": _FLOATS["sigmoid"],
    "softplus": 2.0**-23,
    "tanh": _FLOATS["tanh"],
}


@dataclass(frozen=True, slots=True)
class OrtSlack:
    """The slack for the nodes of a model."""

    exact: Collection[str]  # tensors that have none
    operators: Mapping[str, str]  # tensor -> the operator that computes it

    def __call__(self, node: Node, inexact: Inexact) -> Leeway:
        """The slack of a node, and the elements that ONNX Runtime defines in another way."""
        departs, why = _departures(node, inexact)
        return Leeway(self._more(node, inexact), departs, why)

    def _more(self, node: Node, inexact: Inexact) -> Array | float:
        if _is_near(node, inexact):
            return float(MOST_OFF)
        if node.origin.layer in self.exact:
            return 0.0
        # Integers differ by at most one, if they were rounded.
        if inexact.expected[0].dtype.kind != "f":
            return float(_is_rounded(node, inexact))
        if self.operators.get(node.origin.layer) in ort_fourier.OPERATORS:
            return ort_fourier.slack(node, inexact)
        return _of_floats(node, inexact)


def of(model: ModelProto, known: Collection[str]) -> OrtSlack:
    """The slack for a model whose tensors ``known`` the graph has, too."""
    operators = {name: operator_name(node) for node in model.graph.node for name in node.output}
    return OrtSlack(_exact(model, known), operators)


def _is_near(node: Node, inexact: Inexact) -> bool:
    """Whether the node computes a function of int16 values, which is near the model's."""
    (output, *_), data = inexact.operands.output_types, inexact.operands.input_types[0]
    # Equal scales leave values as they are, and a clamp then has one result.
    is_clamp = node.op == "clip" and data.quant == output.quant
    return node.op in _NEAR and {data.dtype, output.dtype} == {DType.INT16} and not is_clamp


def _is_rounded(node: Node, inexact: Inexact) -> bool:
    """Whether the node computes stored integers of one or two bytes from others, and rounds."""
    (output, *_) = inexact.operands.output_types
    data = inexact.operands.inputs[0]
    is_stored = output.quant is not None and data.dtype.kind != "f"
    return is_stored and data.dtype.itemsize <= 2 and node.op in _INTEGERS


def _of_floats(node: Node, inexact: Inexact) -> Array | float:
    inputs = inexact.operands.inputs
    if inputs[0].dtype.kind != "f":
        return 0.0
    if node.op == "nn.recurrent":
        assert isinstance(node.attrs, recurrent.RecurrentAttrs)
        return recurrent.farther(node.attrs, inexact, _off)
    if node.op in _COMPOSED:
        with np.errstate(all="ignore"):
            return np.nan_to_num(_ROUNDINGS * _COMPOSED[node.op](*map(np.abs, inputs)))
    if node.op in _PLACED:
        return _of_places(inputs[0], _PLACED[node.op])
    error = _FLOATS.get(node.op, 0.0)
    return error if error == 0 else error * _relative_to(node, inputs[0], inexact.expected[0])


def _of_places(data: Array, axes: slice) -> float:
    """The slack of sampling. ONNX Runtime computes places between pixels in float32, by another
    formula. The weights of the pixels have the errors of the places, which are as large as the
    image.
    """
    largest = np.abs(data, where=np.isfinite(data), out=np.zeros_like(data)).max(initial=0)
    return _ROUNDINGS * int(max(data.shape[axes])) * float(largest)


def _relative_to(node: Node, data: Array, results: Array) -> Array | float:
    """The magnitude to which the error of a function is relative, at least 1: its result, or, if
    the function multiplies by its argument, the argument.
    """
    if node.op == "nn.hard_swish":
        return _sizes(data)
    if node.op == "log":
        return _sizes(results)
    if isinstance(node.attrs, RealFunctionAttrs):
        if node.attrs.function == "scaled_elu":
            # The error of exp is multiplied by alpha, also where exp(x) - 1 is nearly 0.
            return max(1.0, abs(node.attrs.alpha))
        is_product = node.attrs.function in _PRODUCTS
        return _sizes(data) if is_product else np.minimum(_sizes(data), _sizes(results))
    return 1.0


def _sizes(results: Array) -> Array:
    """The magnitudes of numbers, at least 1."""
    return np.nan_to_num(np.maximum(1.0, np.abs(results.astype(np.float64))), posinf=1.0)


def _off(function: ActivationFormula, result: Ball) -> Array | float:
    """The error of a function of a recurrent layer. ``softplus`` is log(1 + exp(x)), whose argument
    is rounded, so its error is relative to its result or to 1, whichever is greater.
    """
    error = _OF_FUNCTIONS.get(function.name, 0.0)
    if function.name == "softplus":
        return error * _sizes(result.value)
    return error * abs(function.alpha) if function.name in ("elu", "scaled_tanh") else error


# Results that ONNX Runtime defines differently.

Departure = tuple[Array, str]  # which elements, bool, and why


def _departures(node: Node, inexact: Inexact) -> tuple[Array | None, str]:
    """The elements of a node's result that ONNX Runtime defines in another way, and why; None if
    there are none."""
    rule = _RULES.get(node.op)
    if rule is None or inexact.operands.inputs[0].dtype.kind != "f":
        return None, ""
    where, why = rule(node, inexact)
    return (where, why) if where.any() else (None, "")


def _of_nan(node: Node, inexact: Inexact) -> Departure:
    """Extremes of NaN and numbers: ONNX Runtime returns NaN if it comes first, for example."""
    has_nan = np.isnan(inexact.operands.inputs[0]).astype(np.float32)
    greatest = {"min": "max", "argmin": "argmax"}.get(node.op, node.op)
    why = "LiteRT ignores NaN, ONNX Runtime only in some places"
    if greatest == "argmax":
        axis: int = node.attrs.axis  # type: ignore[attr-defined]
        has_any = has_nan.any(axis=axis, keepdims=True)
        shape = inexact.expected[0].shape
        return np.asarray(has_any).reshape(shape), why
    operands = dataclasses.replace(inexact.operands, inputs=(has_nan,))
    (has_any, *_) = registry()[greatest].reference(node.attrs, operands)
    return np.asarray(has_any > 0), why


def _of_products(_node: Node, inexact: Inexact) -> Departure:
    """Departures of hard swish, because LiteRT multiplies before it divides by 6, so the product
    may overflow."""
    overflows = np.isinf(inexact.expected[0]) & np.isfinite(inexact.operands.inputs[0])
    return np.asarray(overflows), "LiteRT's product overflows before it is divided by 6"


_OF_EXTREMES = ("argmax", "argmin", "max", "min", "nn.max_pool2d")
_RULES: Mapping[str, Callable[[Node, Inexact], Departure]] = {
    **dict.fromkeys(_OF_EXTREMES, _of_nan),
    "nn.hard_swish": _of_products,
}
