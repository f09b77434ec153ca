"""Functions of one tensor's elements, and activations."""

from __future__ import annotations

import math

import numpy as np

from microgen.frontends.onnx import types
from microgen.frontends.onnx.composing import (
    NUMBERS,
    binary,
    cast,
    extremum,
    is_float,
    number,
    real,
)
from microgen.frontends.onnx.importers import Importer, direct
from microgen.frontends.onnx.nodes import EVAL, OnnxNode
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import DType
from microgen.graph.ops.moves.views import BitcastAttrs
from microgen.graph.ops.unary.activations import ClipAttrs, EluAttrs, HardSwishAttrs, LeakyReluAttrs
from microgen.graph.ops.unary.functions import (
    AbsAttrs,
    CeilAttrs,
    CosAttrs,
    ExpAttrs,
    FloorAttrs,
    LogAttrs,
    NegativeAttrs,
    RoundAttrs,
    SinAttrs,
)
from microgen.graph.ops.unary.roots import SqrtAttrs
from microgen.graph.ops.unary.sigmoid import SigmoidAttrs, TanhAttrs

_SELU = (1.67326319217681884765625, 1.05070102214813232421875)  # the defaults of alpha and gamma
# Operators that are the real function of their name in lower case, without further numbers.
_WITHOUT_NUMBERS = (
    *("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cosh", "Erf", "Mish", "Reciprocal"),
    *("Sinh", "Softplus", "Softsign", "Tan"),
)
_RANGES = {  # clamps that the op before may do itself
    (0.0, 6.0): Activation.RELU6,
    (-1.0, 1.0): Activation.RELU_N1_TO_1,
    (0.0, math.inf): Activation.RELU_UNLIMITED,
}
_LARGEST = float(np.finfo(np.float32).max)


def _real(function: str, **defaults: float) -> Importer:
    """The importer of a function whose parameters are the attributes with these names, in their
    order."""

    def importer(node: OnnxNode) -> BuiltTensor:
        # Keyword arguments keep their order, which is the order of the function's numbers.
        numbers = (float(node.attr(name, default)) for name, default in defaults.items())
        return real(node, function, node.tensor(0), *numbers)

    return importer


def _neg(node: OnnxNode) -> BuiltTensor:
    data = node.tensor(0, *NUMBERS)
    if is_float(data):
        return node.emit("negative", NegativeAttrs(), (data,))
    return binary(node, "subtract", number(node, 0, data.dtype), data)


def _abs(node: OnnxNode) -> BuiltTensor:
    data = node.tensor(0, *NUMBERS)
    if is_float(data):
        return node.emit("abs", AbsAttrs(), (data,))
    # The least integer keeps its sign, as its negation does.
    return data if data.dtype.numpy.kind == "u" else extremum(node, "maximum", data, _neg(node))


def _sign(node: OnnxNode) -> BuiltTensor:
    data = node.tensor(0, *NUMBERS)
    if is_float(data):
        return real(node, "sign", data)
    if data.dtype.numpy.kind == "i":
        # Whole numbers limited to -1 to 1 are their signs.
        data = extremum(node, "maximum", data, -1)
    return extremum(node, "minimum", data, 1)


def _cast(node: OnnxNode) -> BuiltTensor:
    dtype = types.dtype(int(node.attr("to")), "its output", node.where)
    return cast(node, node.tensor(0), dtype)


def _cast_like(node: OnnxNode) -> BuiltTensor:
    return cast(node, node.tensor(0), node.tensor(1).dtype)


def _bit_cast(node: OnnxNode) -> BuiltTensor:
    """The same bits, read as another dtype of the same size."""
    data = node.tensor(0)
    dtype = types.dtype(int(node.attr("to")), "its output", node.where)
    # A bool is 0 or 1, so not every byte is a bool.
    if dtype.nbytes != data.dtype.nbytes or dtype is DType.BOOL:
        raise node.unsupported(
            f"makes {dtype.value} of {data.type}", supported="numbers of the same size"
        )
    return node.emit("bitcast", BitcastAttrs(), (data,), dtype=dtype, quant=None)


def _identity(node: OnnxNode) -> BuiltTensor:
    return node.tensor(0)


def _dropout(node: OnnxNode) -> Value:
    """The data and, if it is read, a mask of ones."""
    data = node.tensor(0)
    training = node.optional_constant(2, "training mode")
    if training is not None and training.any():
        ratio = node.optional_constant(1, "ratio")
        # Training drops elements at random, so only a ratio of 0 has one result.
        # By default the ratio is 0.5.
        if ratio is None or ratio.any():
            raise node.unsupported("drops elements at random, as in training", hint=EVAL)
    if len(node.outputs) < 2:
        return data
    dtype = np.bool_ if node.version >= 10 else data.dtype.numpy
    return data, node.constant(np.ones(data.shape, dtype), "mask")


def _elu(node: OnnxNode) -> BuiltTensor:
    data, alpha = node.tensor(0, DType.FLOAT32), float(node.attr("alpha", 1.0))
    if alpha == 1:
        return node.emit("nn.elu", EluAttrs(), (data,))
    return real(node, "scaled_elu", data, alpha, 1.0, 1.0)


def _celu(node: OnnxNode) -> BuiltTensor:
    alpha = float(node.attr("alpha", 1.0))
    if not alpha:
        raise node.invalid("has the alpha 0, by which its input is divided")
    return real(node, "scaled_elu", node.tensor(0), alpha, alpha, 1.0)


def _selu(node: OnnxNode) -> BuiltTensor:
    alpha, gamma = (
        np.float32(node.attr(name, default))
        for name, default in zip(("alpha", "gamma"), _SELU, strict=True)
    )
    return real(node, "scaled_elu", node.tensor(0), float(gamma * alpha), 1.0, float(gamma))


def _gelu(node: OnnxNode) -> BuiltTensor:
    functions = {"none": "gelu", "tanh": "gelu_tanh"}
    approximate = node.attr("approximate", "none")
    if approximate not in functions:
        raise node.invalid(f"has the approximation {approximate!r}; none or tanh is expected")
    return real(node, functions[approximate], node.tensor(0))


def _leaky_relu(node: OnnxNode) -> BuiltTensor:
    alpha = float(np.float32(node.attr("alpha", 0.01)))
    return node.emit("nn.leaky_relu", LeakyReluAttrs(alpha), (node.tensor(0, DType.FLOAT32),))


def _relu(node: OnnxNode) -> BuiltTensor:
    data = node.tensor(0, *NUMBERS)
    if is_float(data):
        return node.emit("clip", ClipAttrs(Activation.RELU_UNLIMITED), (data,))
    return extremum(node, "maximum", data, 0)


def _limits(node: OnnxNode, data: BuiltTensor) -> tuple[BuiltTensor | None, BuiltTensor | None]:
    """The least and the greatest value; None for an absent limit. Before opset 11 they are
    attributes, whose defaults are the least and greatest finite numbers.
    """
    if node.version < 11:
        ends = (("min", -_LARGEST), ("max", _LARGEST))
        low, high = (float(node.attr(name, end)) for name, end in ends)
        return number(node, low, data.dtype), number(node, high, data.dtype)
    low_input, high_input = node.optional(1), node.optional(2)
    return (
        low_input and node.reshaped(low_input, ()),
        high_input and node.reshaped(high_input, ()),
    )


def _clip(node: OnnxNode) -> BuiltTensor:
    data = node.tensor(0, *NUMBERS)
    low, high = _limits(node, data)
    clipped = _clipped_floats(node, data, low, high) if is_float(data) else None
    if clipped is not None:
        return clipped
    # In this order the upper limit decides if the lower one is greater, as ONNX defines it.
    if low is not None:
        data = extremum(node, "maximum", data, low)
    return data if high is None else extremum(node, "minimum", data, high)


def _clipped_floats(
    node: OnnxNode, data: BuiltTensor, low: BuiltTensor | None, high: BuiltTensor | None
) -> BuiltTensor | None:
    """The clipped floats as one node, if both limits are constant numbers; otherwise None."""
    if any(limit is not None and limit.value is None for limit in (low, high)):
        return None
    least = -math.inf if low is None else float(low.value)  # type: ignore[arg-type]
    most = math.inf if high is None else float(high.value)  # type: ignore[arg-type]
    if math.isnan(least) or math.isnan(most):
        return None
    # The greatest float32 is the default limit of old opsets. It clamps infinity, unlike
    # RELU_UNLIMITED.
    activation = Activation.RELU if (least, most) == (0, _LARGEST) else _RANGES.get((least, most))
    if activation is not None:
        return node.emit("clip", ClipAttrs(activation), (data,))
    return real(node, "bounded", data, least, most)


IMPORTERS = {
    "Neg": _neg,
    "Abs": _abs,
    "Sign": _sign,
    "Cast": _cast,
    "CastLike": _cast_like,
    "BitCast": _bit_cast,
    "Identity": _identity,
    "Dropout": _dropout,
    "Ceil": direct("ceil", CeilAttrs(), DType.FLOAT32),
    "Floor": direct("floor", FloorAttrs(), DType.FLOAT32),
    "Round": direct("round", RoundAttrs(), DType.FLOAT32),
    "Sqrt": direct("sqrt", SqrtAttrs(), DType.FLOAT32),
    "Exp": direct("exp", ExpAttrs(), DType.FLOAT32),
    "Log": direct("log", LogAttrs(), DType.FLOAT32),
    "Sin": direct("sin", SinAttrs(), DType.FLOAT32),
    "Cos": direct("cos", CosAttrs(), DType.FLOAT32),
    "Tanh": direct("tanh", TanhAttrs(), DType.FLOAT32),
    "Sigmoid": direct("sigmoid", SigmoidAttrs(), DType.FLOAT32),
    "HardSwish": direct("nn.hard_swish", HardSwishAttrs(), DType.FLOAT32),
    **{name: _real(name.lower()) for name in _WITHOUT_NUMBERS},
    "Relu": _relu,
    "Clip": _clip,
    "LeakyRelu": _leaky_relu,
    "Elu": _elu,
    "Celu": _celu,
    "Selu": _selu,
    "Gelu": _gelu,
    "Swish": _real("swish", alpha=1.0),
    "Shrink": _real("shrink", lambd=0.5, bias=0.0),
    "HardSigmoid": _real("hard_sigmoid", alpha=0.2, beta=0.5),
    "ThresholdedRelu": _real("thresholded_relu", alpha=1.0),
}
