"""vision.multiclass_suppression: boxes with several classes, or chosen for each class by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Arrays, Attrs, DType, Types
from microgen.graph.ops import bounds
from microgen.graph.ops.base import OpDefinition, Operands, Shapes, expect_inputs
from microgen.graph.ops.constraints import activation_constraint
from microgen.graph.ops.cost import ReferenceCost
from microgen.graph.ops.detection.suppression import (
    NON_MAX_SUPPRESSION_COLUMNS,
    best_boxes,
    overlaps,
    row_errors,
    suppression_constraint,
)

_LARGEST = 2**24  # classes are float32 numbers in the output


@dataclass(frozen=True, slots=True)
class MulticlassSuppressionAttrs(Attrs):
    """Inputs: boxes float32 [n, 4] (ymin, xmin, ymax, xmax) and scores float32 [n, classes].
    Output: float32 [``most * each``, 7], rows as those of vision.non_max_suppression.

    If ``per_class`` is 0, at most ``most`` boxes are chosen by their best scores. Each has ``each``
    rows, with its best classes; if there are fewer classes, its last rows are 0. The number of the
    output is the number of boxes. Otherwise at most ``per_class`` boxes are chosen for each class,
    and the first ``most`` rows have the best of all of these. The number is that of rows.

    A box is chosen if its score is ``least_score`` or more, and if its intersection with each box
    that was chosen before, over their union, is at most ``overlap``.
    """

    most: int
    each: int
    per_class: int
    least_score: float
    overlap: float


def infer(attrs: MulticlassSuppressionAttrs, inputs: Types) -> Shapes:
    """The shape [most * each, 7]."""
    expect_inputs(inputs, 2, "boxes and scores")
    boxes, scores = inputs
    (count, *_) = boxes.shape or (0,)
    if boxes.shape != (count, 4) or len(scores.shape) != 2 or scores.shape[0] != count:
        raise ValueError(f"{boxes} and {scores} must be [n, 4] and [n, classes]")
    if min(attrs.most, attrs.each) < 1 or attrs.per_class < 0:
        raise ValueError(
            f"at most {attrs.most} boxes are chosen, {attrs.per_class} for each class, with "
            f"{attrs.each} classes each; 1 or more are expected"
        )
    return ((attrs.most * attrs.each, NON_MAX_SUPPRESSION_COLUMNS),)


def check(attrs: MulticlassSuppressionAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32 boxes and scores, and an overlap in (0, 1]."""
    boxes, scores = inputs
    if scores.shape[1] > _LARGEST:
        return f"there are {scores.shape[1]} classes; at most {_LARGEST} are accepted"
    return (
        suppression_constraint(attrs.overlap, attrs.least_score)
        or activation_constraint("input of boxes", boxes, (DType.FLOAT32,))
        or activation_constraint("input of scores", scores, (DType.FLOAT32,))
        or activation_constraint("output", outputs[0], (DType.FLOAT32,))
    )


def reference(attrs: MulticlassSuppressionAttrs, operands: Operands) -> Arrays:
    """Source: TFLite detection_postprocess.cc, NonMaxSuppressionMultiClassFastHelper and
    NonMaxSuppressionMultiClassRegularHelper."""
    boxes, scores = operands.inputs
    found = np.zeros(operands.output_types[0].shape, np.float32)
    if attrs.per_class:
        chosen = _by_class(attrs, boxes, scores)
        for row, (i, c) in enumerate(chosen):
            found[row, :6] = (*boxes[i], c, scores[i, c])
        found[:, 6] = len(chosen)
        return (found,)
    best = _chosen(attrs, boxes, scores.max(axis=1), attrs.most)
    for row, i in enumerate(best):
        classes = best_first(scores[i].tolist(), min(attrs.each, scores.shape[1]))
        for place, c in enumerate(classes):
            found[row * attrs.each + place, :6] = (*boxes[i], c, scores[i, c])
    found[:, 6] = len(best)
    return (found,)


def _by_class(
    attrs: MulticlassSuppressionAttrs, boxes: Array, scores: Array
) -> list[tuple[int, int]]:
    """The boxes and classes of the rows. Among equal scores, the lower class is first."""
    kept: list[tuple[int, int]] = []
    for c in range(scores.shape[1]):
        kept += [(i, c) for i in _chosen(attrs, boxes, scores[:, c], attrs.per_class)]
        # The sort is stable, so a box of a lower class precedes one with the same score.
        kept = sorted(kept, key=lambda pair: -float(scores[pair]))[: attrs.most]
    return kept


def _chosen(attrs: MulticlassSuppressionAttrs, boxes: Array, scores: Array, most: int) -> list[int]:
    is_high = scores >= np.float32(attrs.least_score)
    return best_boxes(boxes, scores, is_high, overlaps, attrs.overlap, most)


def best_first(values: Sequence[float], count: int) -> list[int]:
    """The places of the greatest ``count`` values, the greatest first.

    Equal values have the order that std::partial_sort of GNU's C++ library gives them, with which
    LiteRT is built: a heap of the first values, the least on top, which greater ones replace.
    """
    heap = list(range(count))
    # std::make_heap, from the last place that has another below it.
    for top in reversed(range(count // 2)):
        _sink(heap, values, top, count, heap[top])
    for place in range(count, len(values)):
        # Only a greater value replaces the least one, so of equal values the first ones remain.
        if count and values[place] > values[heap[0]]:
            _sink(heap, values, 0, count, place)
    # std::sort_heap: the least value goes to the end, again and again.
    for last in reversed(range(1, count)):
        place, heap[last] = heap[last], heap[0]
        _sink(heap, values, 0, last, place)
    return heap


def _sink(heap: list[int], values: Sequence[float], top: int, count: int, place: int) -> None:
    """Put a place into the heap of ``count`` places at ``top``, which is vacant: the lesser child
    moves up until the vacancy is at the bottom. The new place rises from there.
    """
    hole = top
    while 2 * hole + 1 < count:
        child = 2 * hole + 2
        if child == count or values[heap[child]] > values[heap[child - 1]]:
            child -= 1
        heap[hole], hole = heap[child], child
    while hole > top and values[heap[(hole - 1) // 2]] > values[place]:
        heap[hole], hole = heap[(hole - 1) // 2], (hole - 1) // 2
    heap[hole] = place


def cost(attrs: MulticlassSuppressionAttrs, inputs: Types, _outputs: Types) -> ReferenceCost:
    """Each box is compared with each that is chosen, for each class."""
    boxes, classes = inputs[1].shape
    rows = attrs.most * attrs.each
    chosen = min(boxes, attrs.per_class) * classes if attrs.per_class else min(boxes, attrs.most)
    steps = 200 * (chosen + 1) * boxes + 2000 * boxes * classes + 4000 * (rows + chosen)
    return ReferenceCost(64 * (boxes * classes + rows), steps)


OP = OpDefinition(
    "vision.multiclass_suppression",
    MulticlassSuppressionAttrs,
    infer,
    check,
    reference,
    cost=cost,
    bound=bounds.elementwise(row_errors, roundings=0),
)
