"""Linear models: LinearRegressor and LinearClassifier."""

from __future__ import annotations

from microgen.frontends.onnx import ml_nodes
from microgen.frontends.onnx.ml_nodes import DOMAIN, Labels
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array


def _products(node: OnnxNode, outputs: int, bias: Array | None) -> BuiltTensor:
    """The products of rows and the coefficients [outputs, features], plus a bias."""
    rows, coefficients = ml_nodes.rows_of(node), ml_nodes.numbers(node, "coefficients")
    count = outputs * rows.shape[1]
    ml_nodes.expect_count(node, "coefficients", coefficients.size, count)
    return ml_nodes.linear(node, rows, coefficients.reshape(outputs, -1), bias)


def _regressor(node: OnnxNode) -> BuiltTensor:
    """Source: ONNX Runtime, linearregressor.cc."""
    targets, bias = int(node.attr("targets", 1)), ml_nodes.numbers(node, "intercepts")
    if targets < 1:
        raise node.invalid(f"has {targets} targets; 1 or more are expected")
    if bias.size not in (0, targets):
        raise node.invalid(f"has {bias.size} intercepts for {targets} targets")
    result = _products(node, targets, bias if bias.size else None)
    transform = ml_nodes.transform_of(node)
    # ONNX Runtime applies no other function to a single target.
    if targets == 1 and transform != "PROBIT":
        return result
    return ml_nodes.transformed(node, result, transform)


def _classifier(node: OnnxNode) -> tuple[BuiltTensor, BuiltTensor]:
    """The labels, and the scores. Source: ONNX Runtime, linearclassifier.cc."""
    labels, bias = (
        ml_nodes.labels_of(node, "classlabels_ints"),
        ml_nodes.numbers(node, "intercepts"),
    )
    transform = ml_nodes.transform_of(node)
    if not bias.size or (bias.size == 1 and len(labels) != 2):
        raise node.unsupported(
            f"has {bias.size} intercepts for {len(labels)} classes",
            supported="one for each class, or one for two classes",
        )
    scores = _products(node, bias.size, bias)
    if bias.size == 1:
        return _of_two(node, scores, labels, transform)
    if bias.size > len(labels):
        raise node.invalid(f"has {bias.size} intercepts for {len(labels)} classes")
    label = ml_nodes.labelled(node, ml_nodes.best(node, scores), labels)
    return label, ml_nodes.transformed(node, scores, transform)


def _of_two(
    node: OnnxNode, score: BuiltTensor, labels: Labels, transform: str
) -> tuple[BuiltTensor, BuiltTensor]:
    """Two classes with one score."""
    label = ml_nodes.labelled(node, ml_nodes.above(node, score, 0.0), labels)
    return label, ml_nodes.of_one(node, score, transform, adds_up=True)


IMPORTERS = {
    f"{DOMAIN}.LinearClassifier": _classifier,
    f"{DOMAIN}.LinearRegressor": _regressor,
}
