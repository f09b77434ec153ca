"""Functions of each element of one tensor, and casts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from microgen.frontends.onnx import numbers as n
from microgen.frontends.onnx import types
from microgen.frontends.onnx.nodes import EVAL, OnnxNode
from microgen.frontends.tensors import Tensor, Value
from microgen.graph.ir.graph import Attrs, DType
from microgen.graph.ops.moves.views import BitcastAttrs
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

Importer = Callable[[OnnxNode], Tensor]


def _float(op: str, attrs: Attrs) -> Importer:
    def importer(node: OnnxNode) -> Tensor:
        node.expect(node.tensor(0), DType.FLOAT32)
        return node.emit(op, attrs, (node.tensor(0),))

    return importer


def _real(function: str) -> Importer:
    return lambda node: n.real(node, function, node.tensor(0))


def _neg(node: OnnxNode) -> Tensor:
    data = node.tensor(0)
    node.expect(data, *n.NUMBERS)
    if n.is_float(data):
        return node.emit("negative", NegativeAttrs(), (data,))
    return n.arithmetic(node, "subtract", n.scalar(node, 0, data.dtype), data)


def _abs(node: OnnxNode) -> Tensor:
    """The least integer keeps its sign, as its negation does."""
    data = node.tensor(0)
    node.expect(data, *n.NUMBERS)
    if n.is_float(data):
        return node.emit("abs", AbsAttrs(), (data,))
    return data if data.dtype.numpy.kind == "u" else n.extremum(node, "maximum", data, _neg(node))


def _sign(node: OnnxNode) -> Tensor:
    data = node.tensor(0)
    node.expect(data, *n.NUMBERS)
    if n.is_float(data):
        return n.real(node, "sign", data)
    if data.dtype.numpy.kind == "i":
        data = n.extremum(node, "maximum", data, n.scalar(node, -1, data.dtype))
    return n.extremum(node, "minimum", data, n.scalar(node, 1, data.dtype))


def _cast(node: OnnxNode) -> Tensor:
    dtype = types.dtype(int(node.attr("to")), "its output", node.where)
    return n.cast(node, node.tensor(0), dtype)


def _cast_like(node: OnnxNode) -> Tensor:
    return n.cast(node, node.tensor(0), node.tensor(1).dtype)


def _bit_cast(node: OnnxNode) -> Tensor:
    """The same bits in another dtype of that size."""
    data = node.tensor(0)
    dtype = types.dtype(int(node.attr("to")), "its output", node.where)
    if dtype.nbytes != data.dtype.nbytes or dtype is DType.BOOL:
        raise node.unsupported(
            f"makes {dtype.value} of {data.type}", supported="numbers of the same size"
        )
    return node.emit("bitcast", BitcastAttrs(), (data,), dtype=dtype, quant=None)


def _identity(node: OnnxNode) -> Tensor:
    return node.tensor(0)


def _dropout(node: OnnxNode) -> Value:
    """The data and, if it is read, a mask of ones. Training drops elements at random, so only a
    ratio of 0 has one result."""
    data = node.tensor(0)
    training = node.optional_constant(2, "training mode")
    if training is not None and training.any():
        ratio = node.optional_constant(1, "ratio")
        if ratio is None or ratio.any():
            raise node.unsupported("drops elements at random, as in training", hint=EVAL)
    if len(node.outputs) < 2:
        return data
    dtype = np.bool_ if node.version >= 10 else data.dtype.numpy
    return data, node.constant(np.ones(data.shape, dtype), "mask")


def _binarizer(node: OnnxNode) -> Tensor:
    data = node.tensor(0)
    node.expect(data, *n.NUMBERS)
    threshold = n.scalar(node, float(node.attr("threshold", 0.0)), DType.FLOAT32)
    is_above = n.compared(node, "greater", n.cast(node, data, DType.FLOAT32), threshold)
    return n.cast(node, is_above, data.dtype)


IMPORTERS = {
    "Neg": _neg,
    "Abs": _abs,
    "Sign": _sign,
    "Cast": _cast,
    "CastLike": _cast_like,
    "BitCast": _bit_cast,
    "Identity": _identity,
    "Dropout": _dropout,
    "ai.onnx.ml.Binarizer": _binarizer,
    "Ceil": _float("ceil", CeilAttrs()),
    "Floor": _float("floor", FloorAttrs()),
    "Round": _float("round", RoundAttrs()),
    "Sqrt": _float("sqrt", SqrtAttrs()),
    "Exp": _float("exp", ExpAttrs()),
    "Log": _float("log", LogAttrs()),
    "Sin": _float("sin", SinAttrs()),
    "Cos": _float("cos", CosAttrs()),
    "Tanh": _float("tanh", TanhAttrs()),
    "Sigmoid": _float("sigmoid", SigmoidAttrs()),
    "Tan": _real("tan"),
    "Asin": _real("asin"),
    "Acos": _real("acos"),
    "Atan": _real("atan"),
    "Sinh": _real("sinh"),
    "Cosh": _real("cosh"),
    "Asinh": _real("asinh"),
    "Acosh": _real("acosh"),
    "Atanh": _real("atanh"),
    "Erf": _real("erf"),
    "Reciprocal": _real("reciprocal"),
}
