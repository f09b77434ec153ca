"""Non-maximum suppression: the boxes that overlap no better one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Inexact, OpDefinition, Operands, Shapes, expect_inputs
from microgen.graph.ops.constraints import activation_constraint, dtype_constraint, first_of
from microgen.graph.ops.cost import ReferenceCost
from microgen.graph.ops.detection.partial_sort import best_first

NON_MAX_SUPPRESSION_COLUMNS = 7  # the four corners, the class, the score, and the number of boxes


@dataclass(frozen=True, slots=True)
class NonMaxSuppressionAttrs(Attrs):
    """vision.non_max_suppression: the boxes with the best scores that do not overlap better ones.

    Inputs: boxes float32 [n, 4] (ymin, xmin, ymax, xmax), scores float32 [n], classes int32 [n].
    Output: float32 [``most``, 7], a row for each chosen box, best first: its corners, class and
    score, and the number of all chosen boxes. Other rows are 0, except for that number.

    A box is chosen if its score is ``least_score`` or more, and if its intersection with each box
    that was chosen before, over their union, is at most ``overlap``.
    """

    most: int
    least_score: float
    overlap: float


def _non_max_suppression_infer(attrs: NonMaxSuppressionAttrs, inputs: Types) -> Shapes:
    """The shape [most, 7]."""
    expect_inputs(inputs, 3, "boxes, scores and classes")
    boxes, scores, classes = inputs
    (count, *_) = boxes.shape or (0,)
    if boxes.shape != (count, 4) or scores.shape != (count,) or classes.shape != (count,):
        raise ValueError(f"{boxes}, {scores} and {classes} must be [n, 4], [n] and [n]")
    if attrs.most < 1:
        raise ValueError(f"at most {attrs.most} boxes are chosen; 1 or more are expected")
    return ((attrs.most, NON_MAX_SUPPRESSION_COLUMNS),)


def _non_max_suppression_check(
    attrs: NonMaxSuppressionAttrs, inputs: Types, outputs: Types
) -> str | None:
    """float32 boxes and scores, int32 classes, and an overlap in (0, 1]."""
    return _constraint(attrs, inputs, outputs[0])


def _constraint(
    attrs: NonMaxSuppressionAttrs | MulticlassSuppressionAttrs, inputs: Types, output: ArrayType
) -> str | None:
    """float32, except for int32 classes; an overlap in (0, 1], and a finite least score."""
    if not 0 < attrs.overlap <= 1:
        return f"the overlap is {attrs.overlap:g}; it must be more than 0 and at most 1"
    if not np.isfinite(attrs.least_score):
        return f"the least score is {attrs.least_score:g}; it must be finite"
    dtypes = (DType.FLOAT32, DType.FLOAT32, DType.INT32)
    roles = zip(("boxes", "scores", "classes"), inputs, dtypes, strict=False)
    sentences = (activation_constraint(f"input of {role}", t, (kind,)) for role, t, kind in roles)
    return first_of(sentences) or activation_constraint("output", output, (DType.FLOAT32,))


def _non_max_suppression_reference(attrs: NonMaxSuppressionAttrs, operands: Operands) -> Arrays:
    # Source: TFLite detection_postprocess.cc, NonMaxSuppressionSingleClassHelper. Of equal scores
    # the first one is the best.
    boxes, scores, classes = operands.inputs
    result = np.zeros(operands.output_types[0].shape, np.float32)
    is_high = scores >= np.float32(attrs.least_score)
    chosen = best_boxes(boxes, scores, is_high, overlaps, attrs.overlap, attrs.most)
    for row, i in enumerate(chosen):
        result[row, :6] = (*boxes[i], classes[i], scores[i])
    result[:, 6] = len(chosen)
    return (result,)


def best_boxes(
    boxes: Array,
    scores: Array,
    is_high: Array,
    ratios: Callable[[Array, Array], Array],
    overlap: float,
    most: int,
) -> list[int]:
    """Up to ``most`` boxes with the best of the high scores, without those that overlap better
    boxes. If scores are equal, the first one is the best. ``ratios`` are the overlaps of several
    boxes with one.
    """
    # The negative of float32 is exact, and a stable sort keeps the first of equal scores first.
    left = np.argsort(-scores.astype(np.float64), kind="stable")
    left = left[is_high[left]]
    chosen: list[int] = []
    while left.size and len(chosen) < most:
        best, left = int(left[0]), left[1:]
        chosen.append(best)
        left = left[~(ratios(boxes[left], boxes[best]) > np.float32(overlap))]
    return chosen


def overlaps(others: Array, box: Array) -> Array:
    """The intersection of each of the other boxes with the box, divided by their union; 0 if a box
    is empty. Each step is rounded to float32."""
    with np.errstate(all="ignore"):
        area = (box[2] - box[0]) * (box[3] - box[1])
        areas = (others[:, 2] - others[:, 0]) * (others[:, 3] - others[:, 1])
        low, high = np.maximum(others[:, :2], box[:2]), np.minimum(others[:, 2:], box[2:])
        sides = np.maximum(high - low, np.float32(0))
        both = sides[:, 0] * sides[:, 1]
        ratio = both / (areas + area - both)
    return np.where((area <= 0) | (areas <= 0), np.float32(0), ratio)


def _non_max_suppression_cost(
    attrs: NonMaxSuppressionAttrs, inputs: Types, _outputs: Types
) -> ReferenceCost:
    """Each box is compared with each chosen box."""
    boxes = inputs[0].shape[0]
    return ReferenceCost(64 * (boxes + 16 * attrs.most), (2000 + 16 * attrs.most) * (boxes + 1))


def row_errors(_attrs: Attrs, inexact: Inexact) -> Array:
    """The errors of a row's columns, provided that the implementation chooses the same boxes.
    Classes have errors if they are an input."""
    boxes, scores, *classes = (error.max(initial=0.0) for error in inexact.errors)
    return np.array([*[boxes] * 4, *(classes or [0.0]), scores, 0.0])


NON_MAX_SUPPRESSION = OpDefinition(
    "vision.non_max_suppression",
    NonMaxSuppressionAttrs,
    _non_max_suppression_infer,
    _non_max_suppression_check,
    _non_max_suppression_reference,
    cost=_non_max_suppression_cost,
    bound=bounds.elementwise(row_errors, roundings=0),
)


ALL_CLASS_SUPPRESSION_COLUMNS = 3  # of a row: batch, class, box


@dataclass(frozen=True, slots=True)
class AllClassSuppressionAttrs(Attrs):
    """vision.all_class_non_max_suppression: for each class the boxes with the best scores, without
    those that overlap better ones of the same class.

    Inputs: float32 boxes [batches, boxes, 4] and scores [batches, classes, boxes]. A box is two
    opposite corners y, x, y, x, or, if it ``is_centred``, its centre x, y, width and height.

    A box is chosen if its score is greater than ``least_score`` (any number if that is None) and
    its intersection over union with no box that was chosen before is greater than ``overlap``. Of
    equal scores the first one is the best. Up to ``most`` boxes of a class are chosen.

    Output: int64, a row of three numbers for each chosen box, class by class, the best box first.
    The other rows are -1.
    """

    most: int
    overlap: float
    least_score: float | None
    is_centred: bool


def _all_class_suppression_infer(attrs: AllClassSuppressionAttrs, inputs: Types) -> Shapes:
    """As many rows as boxes may be chosen."""
    expect_inputs(inputs, 2, "boxes and scores")
    boxes, scores = (tensor.shape for tensor in inputs)
    if len(boxes) != 3 or len(scores) != 3 or boxes != (scores[0], scores[2], 4):
        raise ValueError(
            f"the inputs are {inputs[0]} and {inputs[1]}; boxes [batches, boxes, 4] and scores "
            "[batches, classes, boxes] are expected"
        )
    if not 1 <= attrs.most <= scores[2]:
        raise ValueError(f"up to {attrs.most} boxes are chosen of {scores[2]}")
    return ((scores[0] * scores[1] * attrs.most, ALL_CLASS_SUPPRESSION_COLUMNS),)


def _all_class_suppression_check(
    _attrs: AllClassSuppressionAttrs, inputs: Types, outputs: Types
) -> str | None:
    """float32 boxes and scores, int64 rows."""
    roles = zip(("boxes", "scores"), inputs, strict=True)
    sentences = (dtype_constraint(*each, (DType.FLOAT32,), is_plural=True) for each in roles)
    is_int64 = outputs[0].dtype is DType.INT64
    return first_of(sentences) or (None if is_int64 else f"the output is {outputs[0]}; it is int64")


def _all_class_suppression_reference(attrs: AllClassSuppressionAttrs, operands: Operands) -> Arrays:
    # Source: ONNX, NonMaxSuppression. Each step is rounded to float32.
    boxes, scores = operands.inputs
    result = np.full(operands.output_types[0].shape, -1, np.int64)
    rows = [
        (batch, klass, box)
        for batch, own in enumerate(boxes)
        for klass, each in enumerate(scores[batch])
        for box in _chosen(attrs, _corners(own, attrs.is_centred), each)
    ]
    result[: len(rows)] = np.array(rows, np.int64).reshape(-1, ALL_CLASS_SUPPRESSION_COLUMNS)
    return (result,)


def _corners(boxes: Array, is_centred: bool) -> Array:
    """The lowest and the highest corner of each box: [boxes, 4], two coordinates of each."""
    first, second = boxes[:, :2], boxes[:, 2:]
    if is_centred:
        half = second / np.float32(2)
        return np.concatenate([first - half, first + half], 1)
    # The corners are exchanged only if the second is less, as in C, so NaN stays in its place.
    is_less = second < first
    low, high = np.where(is_less, second, first), np.where(is_less, first, second)
    return np.concatenate([low, high], 1)


def _chosen(attrs: AllClassSuppressionAttrs, corners: Array, scores: Array) -> list[int]:
    """The boxes of a class, the best first."""
    least = attrs.least_score
    is_high = ~np.isnan(scores) if least is None else scores > np.float32(least)
    return best_boxes(corners, scores, is_high, _overlaps, attrs.overlap, attrs.most)


def _overlaps(others: Array, box: Array) -> Array:
    """The intersection of each of the other boxes with the box, divided by their union; -1 if they
    do not intersect."""
    with np.errstate(all="ignore"):
        sides = np.where(others[:, 2:] < box[2:], others[:, 2:], box[2:]) - np.where(
            others[:, :2] > box[:2], others[:, :2], box[:2]
        )
        both = sides[:, 0] * sides[:, 1]
        area = (box[2] - box[0]) * (box[3] - box[1])
        areas = (others[:, 2] - others[:, 0]) * (others[:, 3] - others[:, 1])
        union = areas + area - both
        is_there = (sides > 0).all(1) & (both > 0) & (area > 0) & (areas > 0) & (union > 0)
        return np.where(is_there, both / union, np.float32(-1))


def _all_class_suppression_cost(
    attrs: AllClassSuppressionAttrs, inputs: Types, outputs: Types
) -> ReferenceCost:
    """Each box of a class is compared with each chosen box."""
    scores = inputs[1].size
    nbytes = 64 * (scores + inputs[0].size) + 200 * outputs[0].size
    return ReferenceCost(nbytes, (4000 + 32 * attrs.most) * (scores + 1))


ALL_CLASS_SUPPRESSION = OpDefinition(
    "vision.all_class_non_max_suppression",
    AllClassSuppressionAttrs,
    _all_class_suppression_infer,
    _all_class_suppression_check,
    _all_class_suppression_reference,
    cost=_all_class_suppression_cost,
)


_LARGEST = 2**24  # classes are float32 numbers in the output


@dataclass(frozen=True, slots=True)
class MulticlassSuppressionAttrs(Attrs):
    """vision.multiclass_suppression: boxes with several classes, or chosen for each class by
    itself.

    Inputs: boxes float32 [n, 4] (ymin, xmin, ymax, xmax) and scores float32 [n, classes]. Output:
    float32 [``most * each``, 7], rows as those of vision.non_max_suppression.

    If ``per_class`` is 0, at most ``most`` boxes are chosen by their best scores. Each has ``each``
    rows, with its best classes; if there are fewer classes, its last rows are 0. The number of the
    output is the number of boxes. Otherwise at most ``per_class`` boxes are chosen for each class,
    and the first ``most`` rows have the best of all of these. In this case the number in the output
    is the number of rows.

    A box is chosen if its score is ``least_score`` or more, and if its intersection with each box
    that was chosen before, over their union, is at most ``overlap``.
    """

    most: int
    each: int
    per_class: int
    least_score: float
    overlap: float


def _multiclass_infer(attrs: MulticlassSuppressionAttrs, inputs: Types) -> Shapes:
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


def _multiclass_check(
    attrs: MulticlassSuppressionAttrs, inputs: Types, outputs: Types
) -> str | None:
    """float32 boxes and scores, and an overlap in (0, 1]."""
    classes = inputs[1].shape[1]
    if classes > _LARGEST:
        return f"there are {classes} classes; at most {_LARGEST} are accepted"
    return _constraint(attrs, inputs, outputs[0])


def _multiclass_reference(attrs: MulticlassSuppressionAttrs, operands: Operands) -> Arrays:
    # Source: TFLite detection_postprocess.cc, NonMaxSuppressionMultiClassFastHelper and
    # NonMaxSuppressionMultiClassRegularHelper.
    boxes, scores = operands.inputs
    result = np.zeros(operands.output_types[0].shape, np.float32)
    if attrs.per_class:
        chosen = _by_class(attrs, boxes, scores)
        for row, (i, c) in enumerate(chosen):
            result[row, :6] = (*boxes[i], c, scores[i, c])
        result[:, 6] = len(chosen)
        return (result,)
    best = _best(attrs, boxes, scores.max(axis=1), attrs.most)
    for row, i in enumerate(best):
        classes = best_first(scores[i].tolist(), min(attrs.each, scores.shape[1]))
        for place, c in enumerate(classes):
            result[row * attrs.each + place, :6] = (*boxes[i], c, scores[i, c])
    result[:, 6] = len(best)
    return (result,)


def _by_class(
    attrs: MulticlassSuppressionAttrs, boxes: Array, scores: Array
) -> list[tuple[int, int]]:
    """The boxes and classes of the rows. Among equal scores, the lower class is first."""
    kept: list[tuple[int, int]] = []
    for c in range(scores.shape[1]):
        kept += [(i, c) for i in _best(attrs, boxes, scores[:, c], attrs.per_class)]
        # The sort is stable, so a box of a lower class precedes one with the same score.
        kept = sorted(kept, key=lambda pair: -float(scores[pair]))[: attrs.most]
    return kept


def _best(attrs: MulticlassSuppressionAttrs, boxes: Array, scores: Array, most: int) -> list[int]:
    is_high = scores >= np.float32(attrs.least_score)
    return best_boxes(boxes, scores, is_high, overlaps, attrs.overlap, most)


def _multiclass_cost(
    attrs: MulticlassSuppressionAttrs, inputs: Types, _outputs: Types
) -> ReferenceCost:
    """Each box is compared with each chosen box, for each class."""
    boxes, classes = inputs[1].shape
    rows = attrs.most * attrs.each
    chosen = min(boxes, attrs.per_class) * classes if attrs.per_class else min(boxes, attrs.most)
    steps = 200 * (chosen + 1) * boxes + 2000 * boxes * classes + 4000 * (rows + chosen)
    return ReferenceCost(64 * (boxes * classes + rows), steps)


MULTICLASS_SUPPRESSION = OpDefinition(
    "vision.multiclass_suppression",
    MulticlassSuppressionAttrs,
    _multiclass_infer,
    _multiclass_check,
    _multiclass_reference,
    cost=_multiclass_cost,
    bound=bounds.elementwise(row_errors, roundings=0),
)


OPS = (NON_MAX_SUPPRESSION, ALL_CLASS_SUPPRESSION, MULTICLASS_SUPPRESSION)
