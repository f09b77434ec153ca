"""Decision trees: TreeEnsembleRegressor, TreeEnsembleClassifier and TreeEnsemble."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from microgen.frontends.onnx import ml_nodes
from microgen.frontends.onnx.composing import binary, chosen, compared, number
from microgen.frontends.onnx.ml_nodes import DOMAIN, Labels
from microgen.frontends.onnx.move_nodes import broadcast, cut
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.onnx.tree_lists import leaf_lists, node_lists
from microgen.frontends.onnx.tree_tables import TreeNodes, leaves_of, packed
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, DType
from microgen.graph.ops.trees.tree_ensemble import Aggregate, TreeEnsembleAttrs
from microgen.graph.ops.unary.functions import AbsAttrs

_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
_EXTREMES: dict[str, Aggregate] = {"MIN": "min", "MAX": "max"}
_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


def _summed(node: OnnxNode, given: TreeNodes, targets: int, aggregate: str = "SUM") -> BuiltTensor:
    """The sums, or other aggregates, of the leaves of all trees, float32 [rows, targets]."""
    rows = ml_nodes.rows_of(node)
    kind: Aggregate = _EXTREMES.get(aggregate, "sum")
    absent = {"sum": 0.0, "min": np.inf, "max": -np.inf}[kind]
    found = packed(node, given, targets, rows.shape[1], absent)
    attrs = TreeEnsembleAttrs(targets, found.above, kind, found.votes)
    tables = [node.constant(table, f"table{k}") for k, table in enumerate(found.tables)]
    return node.emit("tree_ensemble", attrs, (rows, *tables))


def _without_infinity(node: OnnxNode, scores: BuiltTensor) -> BuiltTensor:
    """The results with 0 in place of infinity, the extreme of no leaf, as ONNX Runtime returns
    them. Leaves are finite."""
    size = node.emit("abs", AbsAttrs(), (scores,))
    zeros = broadcast(node, number(node, 0.0, DType.FLOAT32), scores.shape)
    return chosen(node, compared(node, "equal", size, float("inf")), zeros, scores)


def _is_scored(given: TreeNodes, target: int) -> bool:
    """Whether every row reaches a leaf with this target."""
    return any(all(target in leaf for leaf in leaves_of(given, root)) for root in given.roots)


def _regressed(
    node: OnnxNode, given: TreeNodes, targets: int, aggregate: str, transform: str, base: Array
) -> BuiltTensor:
    result = _summed(node, given, targets, aggregate)
    if aggregate == "AVERAGE":
        result = binary(node, "divide", result, float(len(given.roots)))
    lacking = [target for target in range(targets) if not _is_scored(given, target)]
    if base.size:
        result = binary(node, "add", result, node.constant(_base_of(node, given, base), "base"))
    if lacking and aggregate in ("MIN", "MAX"):
        result = _without_infinity(node, result)
    # ONNX Runtime applies no other function to a single target.
    if targets == 1 and transform != "PROBIT":
        return result
    return ml_nodes.transformed(node, result, transform)


def _base_of(node: OnnxNode, given: TreeNodes, base: Array) -> Array:
    """The base values of targets that have leaves: ONNX Runtime adds them to scores only, and the
    result without a score is 0. UnsupportedError if that depends on the row."""
    named = {target for leaf in given.leaves for target in leaf}
    for target in sorted(named):
        if base[target] and not _is_scored(given, target):
            raise node.unsupported(
                f"has rows without a score of target {target}, and base_values",
                supported="leaves with all targets, or no base_values",
            )
    return np.array([value if k in named else 0 for k, value in enumerate(base)], np.float32)


def _regressor(node: OnnxNode) -> BuiltTensor:
    """Source: ONNX Runtime, tree_ensemble_aggregator.h."""
    targets = int(node.attr("n_targets", 0))
    if not 1 <= targets < 2**16:
        raise node.invalid(f"has {targets} targets; 1 or more are expected")
    given = node_lists(node, "target")
    aggregate = ml_nodes.one_of(node, "aggregate_function", "SUM", _AGGREGATES)
    base = _base_values(node)
    if base.size not in (0, targets):
        raise node.invalid(f"has {base.size} base_values for {targets} targets")
    return _regressed(node, given, targets, aggregate, ml_nodes.transform_of(node), base)


def _base_values(node: OnnxNode) -> Array:
    tensor = node.attr("base_values_as_tensor", None)
    return ml_nodes.numbers(node, "base_values") if tensor is None else np.ravel(tensor)


def _ensemble(node: OnnxNode) -> BuiltTensor:
    """TreeEnsemble of opset 5."""
    targets = int(node.attr("n_targets", 0))
    if not 1 <= targets < 2**16:
        raise node.invalid(f"has {targets} targets; 1 or more are expected")
    numbers = (int(node.attr("aggregate_function", 1)), int(node.attr("post_transform", 0)))
    for number_, known in zip(numbers, (_AGGREGATES, _TRANSFORMS), strict=True):
        if not 0 <= number_ < len(known):
            raise node.invalid(f"has the choice {number_}; 0 to {len(known) - 1} are expected")
    aggregate, transform = _AGGREGATES[numbers[0]], _TRANSFORMS[numbers[1]]
    if targets > 1 and transform in ("SOFTMAX", "LOGISTIC"):
        raise node.unsupported(
            f"has the post_transform {numbers[1]}, which is {transform} in ONNX and another "
            "function in ONNX Runtime",
            hint="give it the post_transform 0, and append a Softmax or Sigmoid to it",
        )
    nothing = np.zeros(0, np.float32)
    return _regressed(node, leaf_lists(node), targets, aggregate, transform, nothing)


def _classifier(node: OnnxNode) -> tuple[BuiltTensor, BuiltTensor]:
    """The labels, and the scores. Source: ONNX Runtime, tree_ensemble_aggregator.h."""
    labels = ml_nodes.labels_of(node, "classlabels_int64s")
    given = node_lists(node, "class")
    _expect_classes(node, given, len(labels))
    base = _base_values(node)
    sizes = (0, 1, 2) if len(labels) == 2 else (0, len(labels))
    if len(labels) < 2 or base.size not in sizes:
        raise node.unsupported(
            f"has {len(labels)} classes and {base.size} base_values",
            supported="two or more classes, and as many base_values or none",
        )
    if len(labels) == 2:
        return _of_two(node, given, labels, base)
    scores = _summed(node, given, len(labels))
    if base.size:
        scores = binary(node, "add", scores, node.constant(base, "base"))
    else:
        _expect_scored(node, given, range(len(labels)))
    label = ml_nodes.labelled(node, ml_nodes.best(node, scores), labels)
    return label, ml_nodes.transformed(node, scores, ml_nodes.transform_of(node))


def _expect_classes(node: OnnxNode, given: TreeNodes, count: int) -> None:
    wrong = {each for leaf in given.leaves for each in leaf if not 0 <= each < count}
    if wrong:
        raise node.invalid(f"has a leaf of the class {min(wrong)}, and labels of {count} classes")


def _expect_scored(node: OnnxNode, given: TreeNodes, classes: Sequence[int]) -> None:
    """UnsupportedError if some rows may have no score of a class that could be the greatest."""
    lacking = [each for each in classes if not _is_scored(given, each)]
    is_positive = all(value > 0 for leaf in given.leaves for value in leaf.values())
    # The score of a class without leaves is 0, and less than the others.
    if lacking and not is_positive:
        raise node.unsupported(
            f"has rows without a score of class {lacking[0]}, and weights that are not positive",
            supported="leaves with all classes, or positive weights",
        )


def _of_two(
    node: OnnxNode, given: TreeNodes, labels: Labels, base: Array
) -> tuple[BuiltTensor, BuiltTensor]:
    """Two classes, whose leaves have scores of the first, of the second, or of both."""
    named = sorted({each for leaf in given.leaves for each in leaf})
    for each in named:
        if not _is_scored(given, each):
            raise node.unsupported(
                f"has rows without a score of class {each}", supported="leaves with all classes"
            )
    if 1 in named and base.size == 2:
        raise node.unsupported(
            "has base_values of two classes, and leaves of the second one",
            supported="leaves of the first class, or no base_values",
        )
    places = {each: place for place, each in enumerate(named)}
    leaves = [{places[each]: value for each, value in leaf.items()} for leaf in given.leaves]
    scores = _summed(node, replace(given, leaves=leaves), len(named))
    first, second = (_column(node, scores, places.get(each)) for each in (0, 1))
    if base.size and 0 in named:
        first = binary(node, "add", first, float(base[0]))
    # Labels that are integers are the model's if only one class has leaves, otherwise 0 and 1.
    is_one, is_positive = len(named) == 1, _is_positive(given)
    limit = 0.5 if is_one and is_positive else 0.0
    index = ml_nodes.above(node, second if 1 in named else first, limit)
    is_text = isinstance(labels[0], str)
    label = ml_nodes.labelled(node, index, labels if is_one or is_text else (0, 1))
    transform = ml_nodes.transform_of(node)
    # ONNX Runtime returns 0, not the base value, for a class without leaves.
    if 1 in named or base.size == 2:
        both = ml_nodes.pair(node, first, second)
        return label, ml_nodes.transformed(node, both, transform)
    return label, ml_nodes.of_one(node, first, transform, adds_up=is_positive)


def _is_positive(given: TreeNodes) -> bool:
    return all(value >= 0 for leaf in given.leaves for value in leaf.values())


def _column(node: OnnxNode, scores: BuiltTensor, place: int | None) -> BuiltTensor:
    """One class's scores [rows, 1]; zeros if there are none."""
    if place is None:
        return _filled(node, cut(node, scores, 1, 0, 1), 0.0)
    return cut(node, scores, 1, place, 1)


def _filled(node: OnnxNode, like: BuiltTensor, value: float) -> BuiltTensor:
    return node.constant(np.full(like.shape, value, np.float32), "score")


IMPORTERS = {
    f"{DOMAIN}.TreeEnsemble": _ensemble,
    f"{DOMAIN}.TreeEnsembleClassifier": _classifier,
    f"{DOMAIN}.TreeEnsembleRegressor": _regressor,
}
