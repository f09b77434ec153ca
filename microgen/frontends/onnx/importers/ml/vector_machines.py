"""Support vector machines: SVMRegressor and SVMClassifier.

Source: ONNX Runtime, svmclassifier.cc and svmregressor.cc.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from microgen.frontends.onnx import distances, ml_nodes, move_nodes
from microgen.frontends.onnx.composing import binary, cast, chosen, compared, number
from microgen.frontends.onnx.ml_nodes import DOMAIN
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, DType
from microgen.graph.ops.unary.functions import ExpAttrs
from microgen.graph.ops.unary.sigmoid import TanhAttrs

_KERNELS = ("LINEAR", "POLY", "RBF", "SIGMOID")


@dataclass(frozen=True, slots=True)
class _Kernel:
    """A function of two rows."""

    kind: str
    gamma: float
    coef0: float
    degree: float

    def of(self, node: OnnxNode, rows: BuiltTensor, vectors: Array) -> BuiltTensor:
        """The function of each row and each vector, float32 [rows, vectors]."""
        if self.kind == "RBF":
            squares = distances.squared(node, rows, vectors)
            return node.emit("exp", ExpAttrs(), (binary(node, "multiply", squares, -self.gamma),))
        if self.kind == "LINEAR":
            return ml_nodes.linear(node, rows, vectors, None)
        products = ml_nodes.linear(node, rows, vectors, None)
        inner = binary(node, "multiply", products, self.gamma)
        if self.coef0:
            inner = binary(node, "add", inner, self.coef0)
        if self.kind == "SIGMOID":
            return node.emit("tanh", TanhAttrs(), (inner,))
        return self._power(node, inner)

    def _power(self, node: OnnxNode, base: BuiltTensor) -> BuiltTensor:
        if self.degree != int(self.degree) or not 1 <= self.degree <= 8:
            raise node.unsupported(
                f"has a polynomial of degree {self.degree:g}", supported="1, 2, ... 8"
            )
        result = base
        for _ in range(int(self.degree) - 1):
            result = binary(node, "multiply", result, base)
        return result


def _kernel_of(node: OnnxNode) -> _Kernel:
    kind = ml_nodes.one_of(node, "kernel_type", "LINEAR", _KERNELS)
    given = ml_nodes.numbers(node, "kernel_params")
    if given.size not in (0, 3):
        raise node.invalid(f"has {given.size} kernel_params; gamma, coef0 and degree are expected")
    return _Kernel(kind, *(map(float, given) if given.size else (0.0, 0.0, 0.0)))


def _vectors(node: OnnxNode, count: int, features: int) -> Array:
    values = ml_nodes.numbers(node, "support_vectors")
    ml_nodes.expect_count(node, "numbers in support_vectors", values.size, count * features)
    return values.reshape(count, features)


def _regressor(node: OnnxNode) -> BuiltTensor:
    rows, kernel = ml_nodes.rows_of(node), _kernel_of(node)
    count, rho = int(node.attr("n_supports", 0)), ml_nodes.numbers(node, "rho")
    coefficients = ml_nodes.numbers(node, "coefficients")
    ml_nodes.expect_count(node, "values of rho", rho.size, 1)
    if count > 0:
        ml_nodes.expect_count(node, "coefficients", coefficients.size, count)
        rows = kernel.of(node, rows, _vectors(node, count, rows.shape[1]))
    result = ml_nodes.linear(node, rows, coefficients[None], rho)
    if not node.attr("one_class", 0):
        return result
    is_inside = compared(node, "greater", result, 0.0)
    ones, others = (
        move_nodes.broadcast(node, number(node, sign, DType.FLOAT32), result.shape)
        for sign in (1.0, -1.0)
    )
    return chosen(node, is_inside, ones, others)


def _classifier(node: OnnxNode) -> tuple[BuiltTensor, BuiltTensor]:
    labels = ml_nodes.labels_of(node, "classlabels_ints")
    counts, classes = node.ints("vectors_per_class", ()), len(labels)
    if sum(counts) < 1:
        return _of_lines(node)
    if classes < 2 or len(counts) != classes or min(counts) < 0:
        raise node.invalid(f"has {len(counts)} vectors_per_class for {classes} classes")
    if ml_nodes.numbers(node, "prob_a").size:
        raise node.unsupported(
            "has probabilities, which ONNX Runtime finds by iteration until they change little",
            hint="convert with probability=False, or train probabilities of scores: "
            "CalibratedClassifierCV(SVC(), ensemble=False)",
        )
    scores = _pair_scores(node, counts)
    label = ml_nodes.labelled(node, _voted(node, scores, classes), labels)
    transform = ml_nodes.transform_of(node)
    if classes > 2:
        return label, ml_nodes.transformed(node, scores, transform)
    adds_up = transform != "NONE"
    return label, ml_nodes.of_one(node, scores, transform, adds_up=adds_up)


def _of_lines(node: OnnxNode) -> tuple[BuiltTensor, BuiltTensor]:
    """One weight for each class and feature, without support vectors."""
    labels, rows = ml_nodes.labels_of(node, "classlabels_ints"), ml_nodes.rows_of(node)
    coefficients, rho = ml_nodes.numbers(node, "coefficients"), ml_nodes.numbers(node, "rho")
    if len(labels) < 3 or not rho.size:
        raise node.unsupported(
            f"has {len(labels)} classes without support vectors", supported="three or more"
        )
    ml_nodes.expect_count(node, "coefficients", coefficients.size, len(labels) * rows.shape[1])
    bias = np.full(len(labels), rho[0], np.float32)
    scores = ml_nodes.linear(node, rows, coefficients.reshape(len(labels), -1), bias)
    label = ml_nodes.labelled(node, ml_nodes.best(node, scores), labels)
    return label, ml_nodes.transformed(node, scores, ml_nodes.transform_of(node))


def _pair_scores(node: OnnxNode, counts: tuple[int, ...]) -> BuiltTensor:
    """The score of each pair of classes, float32 [rows, pairs]. It is greater than 0 if the first
    class is the better one. The vectors of a class have a coefficient for each other class."""
    rows, vectors, classes = ml_nodes.rows_of(node), sum(counts), len(counts)
    coefficients = ml_nodes.numbers(node, "coefficients")
    ml_nodes.expect_count(node, "coefficients", coefficients.size, (classes - 1) * vectors)
    table, pairs = coefficients.reshape(classes - 1, vectors), _pairs(classes)
    rho = ml_nodes.numbers(node, "rho")
    ml_nodes.expect_count(node, "values of rho", rho.size, len(pairs))
    starts = np.concatenate([[0], np.cumsum(counts)])
    weights = np.zeros((len(pairs), vectors), np.float32)
    for row, (i, j) in zip(weights, pairs, strict=True):
        first, second = slice(starts[i], starts[i + 1]), slice(starts[j], starts[j + 1])
        row[first], row[second] = table[j - 1, first], table[i, second]
    values = _kernel_of(node).of(node, rows, _vectors(node, vectors, rows.shape[1]))
    return ml_nodes.linear(node, values, weights, rho)


def _pairs(classes: int) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(classes), 2))


def _voted(node: OnnxNode, scores: BuiltTensor, classes: int) -> BuiltTensor:
    """The index of the class that most pairs prefer, the first of equal ones."""
    pairs = _pairs(classes)
    first, second = (
        np.eye(classes, dtype=np.float32)[list(own)] for own in zip(*pairs, strict=True)
    )
    is_first = cast(node, compared(node, "greater", scores, 0.0), DType.FLOAT32)
    # Votes are small whole numbers, so products and sums of them are exact.
    weights = np.ascontiguousarray((first - second).T)
    return ml_nodes.best(node, ml_nodes.linear(node, is_first, weights, second.sum(axis=0)))


IMPORTERS = {
    f"{DOMAIN}.SVMClassifier": _classifier,
    f"{DOMAIN}.SVMRegressor": _regressor,
}
