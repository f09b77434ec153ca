"""Nodes that operators of ai.onnx.ml are composed of: rows of features, class labels, and the
functions of scores after them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from microgen.frontends.onnx import move_nodes
from microgen.frontends.onnx.composing import binary, cast, chosen, compared, number, total
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, DType
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.moves.indexed import TakeAttrs
from microgen.graph.ops.reductions.extremes import ArgMaxAttrs, MaxAttrs
from microgen.graph.ops.reductions.softmax import SoftmaxAttrs
from microgen.graph.ops.unary.functions import AbsAttrs, ExpAttrs, LogAttrs, NegativeAttrs
from microgen.graph.ops.unary.roots import SqrtAttrs
from microgen.graph.ops.unary.sigmoid import SigmoidAttrs

DOMAIN = "ai.onnx.ml"
NUMBERS = (DType.FLOAT32, DType.INT32, DType.INT64)
Labels = tuple[int, ...] | tuple[str, ...]


def floats_of(node: OnnxNode, position: int = 0) -> BuiltTensor:
    """An operand as float32 numbers."""
    return cast(node, node.tensor(position, *NUMBERS), DType.FLOAT32)


def rows_of(node: OnnxNode, position: int = 0) -> BuiltTensor:
    """An operand as float32 rows [rows, features]; a vector is one row."""
    data = floats_of(node, position)
    if not 1 <= len(data.shape) <= 2:
        raise node.invalid(f"has the input {data.type}; [rows, features] are expected")
    return data if len(data.shape) == 2 else node.reshaped(data, (1, *data.shape))


def numbers(node: OnnxNode, name: str) -> Array:
    """An attribute that is a list of floats, as float32; empty if it is absent."""
    values = node.attr(name, ())
    return np.asarray(values, np.float32).reshape(-1)


def texts(node: OnnxNode, name: str) -> tuple[str, ...]:
    """An attribute that is a list of strings; empty if it is absent."""
    values = node.attr(name, ())
    return tuple(str(each) for each in values)


def one_of(node: OnnxNode, name: str, default: str, known: Sequence[str]) -> str:
    """An attribute that is one of some words."""
    found = str(node.attr(name, default))
    if found not in known:
        raise node.unsupported(f"has the {name} {found!r}", supported=", ".join(known))
    return found


def expect_count(node: OnnxNode, what: str, found: int, expected: int) -> None:
    """ModelError unless there are as many of something as expected."""
    if found != expected:
        raise node.invalid(f"has {found} {what}; {expected} are expected")


def linear(node: OnnxNode, rows: BuiltTensor, weights: Array, bias: Array | None) -> BuiltTensor:
    """The products of rows and weights [outputs, features], plus a bias [outputs]."""
    if rows.shape[1] != weights.shape[1]:
        raise node.invalid(
            f"has coefficients for {weights.shape[1]} features; the input is {rows.type}"
        )
    constants = [node.constant(weights, "weights")]
    if bias is not None:
        constants.append(node.constant(bias, "bias"))
    attrs = DenseAttrs(Activation.UNLIMITED, Rounding.DOUBLE, keep_num_dims=False)
    return node.emit("nn.dense", attrs, (rows, *constants))


# Labels of classes.


def labels_of(node: OnnxNode, ints: str) -> Labels:
    """The labels of the classes: the attribute classlabels_strings, or the one called ``ints``."""
    names = texts(node, "classlabels_strings")
    whole = node.ints(ints, ())
    if bool(names) == bool(whole):
        raise node.invalid(f"has {len(names)} labels that are texts and {len(whole)} numbers")
    return names or whole


def labelled(node: OnnxNode, index: BuiltTensor, labels: Labels) -> BuiltTensor:
    """The int64 labels of classes, from an int64 tensor of their indices. If labels are texts, the
    result has the index of each, and names them."""
    if isinstance(labels[0], str):
        return replace(index, labels=tuple(map(str, labels)))
    if labels == tuple(range(len(labels))):
        return index
    values = node.constant(np.array(labels, np.int64), "labels")
    return node.emit("take", TakeAttrs(0), (values, index))


def best(node: OnnxNode, scores: BuiltTensor) -> BuiltTensor:
    """The int64 index of the greatest score of each row, the first of equal ones."""
    return node.emit("argmax", ArgMaxAttrs(1), (scores,), dtype=DType.INT64)


def above(node: OnnxNode, score: BuiltTensor, limit: float) -> BuiltTensor:
    """1 for each row of [rows, 1] whose score is greater than the limit, otherwise 0, int64."""
    is_more = compared(node, "greater", score, limit)
    return node.reshaped(cast(node, is_more, DType.INT64), score.shape[:1])


# Functions of scores [rows, classes].

TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


def transform_of(node: OnnxNode) -> str:
    """The attribute post_transform."""
    return one_of(node, "post_transform", "NONE", TRANSFORMS)


def transformed(node: OnnxNode, scores: BuiltTensor, transform: str) -> BuiltTensor:
    """The scores after a function of ``TRANSFORMS``. Source: ONNX Runtime, ml_common.h."""
    if transform == "LOGISTIC":
        return node.emit("sigmoid", SigmoidAttrs(), (scores,))
    if transform == "SOFTMAX":
        return node.emit("nn.softmax", SoftmaxAttrs(1.0), (scores,))
    if transform == "SOFTMAX_ZERO":
        return _softmax_zero(node, scores)
    return _probit(node, scores) if transform == "PROBIT" else scores


def _softmax_zero(node: OnnxNode, scores: BuiltTensor) -> BuiltTensor:
    """Softmax of the scores that are not 0; others remain 0."""
    greatest = node.emit("max", MaxAttrs((1,), True, from_infinity=True), (scores,))
    size = node.emit("abs", AbsAttrs(), (scores,))
    is_there = compared(node, "greater", size, float(np.float32(1e-7)))
    exps = node.emit("exp", ExpAttrs(), (binary(node, "subtract", scores, greatest),))
    zeros = move_nodes.broadcast(node, number(node, 0.0, DType.FLOAT32), scores.shape)
    added = total(node, chosen(node, is_there, exps, zeros), (1,), True)
    opposite = node.emit("negative", NegativeAttrs(), (greatest,))
    least = node.emit("exp", ExpAttrs(), (opposite,))
    others = binary(node, "multiply", scores, least)
    return binary(node, "divide", chosen(node, is_there, exps, others), added)


def _probit(node: OnnxNode, scores: BuiltTensor) -> BuiltTensor:
    """An approximation of the quantile of the normal distribution, in float32."""
    x = binary(node, "subtract", binary(node, "multiply", scores, 2.0), 1.0)
    below = binary(node, "subtract", number(node, 1.0, DType.FLOAT32), x)
    product = binary(node, "multiply", below, binary(node, "add", x, 1.0))
    log = node.emit("log", LogAttrs(), (product,))
    scale = np.float32(2) / (np.float32(math.pi) * np.float32(0.147))
    first = binary(node, "add", binary(node, "multiply", log, 0.5), float(scale))
    second = binary(node, "multiply", log, float(np.float32(1) / np.float32(0.147)))
    inner = binary(node, "subtract", binary(node, "multiply", first, first), second)
    outer = binary(node, "subtract", node.emit("sqrt", SqrtAttrs(), (inner,)), first)
    size = node.emit("sqrt", SqrtAttrs(), (outer,))
    is_less = compared(node, "less", x, 0.0)
    opposite = node.emit("negative", NegativeAttrs(), (size,))
    return binary(node, "multiply", chosen(node, is_less, opposite, size), math.sqrt(2))


def pair(node: OnnxNode, first: BuiltTensor, second: BuiltTensor) -> BuiltTensor:
    """The scores [rows, 2] of two classes."""
    return move_nodes.joined(node, (first, second), 1)


def complement(node: OnnxNode, score: BuiltTensor) -> BuiltTensor:
    """The scores of two classes, which add up to 1, from the second class's scores [rows, 1]."""
    rest = binary(node, "subtract", number(node, 1.0, DType.FLOAT32), score)
    return pair(node, rest, score)


def opposite(node: OnnxNode, score: BuiltTensor) -> BuiltTensor:
    """The scores of two classes, which add up to 0, from the second class's scores [rows, 1]."""
    return pair(node, node.emit("negative", NegativeAttrs(), (score,)), score)


def of_one(node: OnnxNode, score: BuiltTensor, transform: str, *, adds_up: bool) -> BuiltTensor:
    """The scores of two classes from the second class's scores [rows, 1]. The first class's score
    is 1 minus the second's or, without ``adds_up``, its negative. Both are probabilities with
    LOGISTIC, and other functions change nothing. UnsupportedError for PROBIT, for which ONNX
    Runtime does not write all scores."""
    if transform == "PROBIT":
        raise node.unsupported("has the post_transform PROBIT of one score", supported="NONE")
    if transform == "LOGISTIC":
        return transformed(node, opposite(node, score), transform)
    return complement(node, score) if adds_up else opposite(node, score)
