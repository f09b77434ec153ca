"""vision.non_max_suppression: the boxes with the best scores that do not overlap better ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Inexact, Op, Operands, Shape
from microgen.graph.ops.constraints import activation_constraint
from microgen.graph.ops.cost import Cost

COLUMNS = 7  # the four corners, the class, the score, and the number of boxes


@dataclass(frozen=True, slots=True)
class NonMaxSuppressionAttrs(Attrs):
    """Inputs: boxes float32 [n, 4] (ymin, xmin, ymax, xmax), scores float32 [n], classes int32 [n].
    Output: float32 [``most``, 7], a row for each chosen box, best first: its corners, class and
    score, and the number of all chosen boxes. Other rows are 0, except for that number.

    A box is chosen if its score is ``least_score`` or more, and if its intersection with each box
    that was chosen before, over their union, is at most ``overlap``.
    """

    most: int
    least_score: float
    overlap: float


def infer(attrs: NonMaxSuppressionAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The shape [most, 7]."""
    if len(inputs) != 3:
        raise ValueError(f"there are {len(inputs)} inputs; boxes, scores and classes are expected")
    boxes, scores, classes = inputs
    (count, *_) = boxes.shape or (0,)
    if boxes.shape != (count, 4) or scores.shape != (count,) or classes.shape != (count,):
        raise ValueError(f"{boxes}, {scores} and {classes} must be [n, 4], [n] and [n]")
    if attrs.most < 1:
        raise ValueError(f"at most {attrs.most} boxes are chosen; 1 or more are expected")
    return ((attrs.most, COLUMNS),)


def check(
    attrs: NonMaxSuppressionAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """float32 boxes and scores, int32 classes, and an overlap in (0, 1]."""
    boxes, scores, classes = inputs
    return (
        suppression_constraint(attrs.overlap, attrs.least_score)
        or activation_constraint("input of boxes", boxes, (DType.FLOAT32,))
        or activation_constraint("input of scores", scores, (DType.FLOAT32,))
        or activation_constraint("input of classes", classes, (DType.INT32,))
        or activation_constraint("output", outputs[0], (DType.FLOAT32,))
    )


def suppression_constraint(overlap: float, least_score: float) -> str | None:
    """A sentence unless the overlap is in (0, 1] and the least score is finite."""
    if not 0 < overlap <= 1:
        return f"the overlap is {overlap:g}; it must be more than 0 and at most 1"
    if not np.isfinite(least_score):
        return f"the least score is {least_score:g}; it must be finite"
    return None


def reference(attrs: NonMaxSuppressionAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite detection_postprocess.cc, NonMaxSuppressionSingleClassHelper. Of equal scores
    the first one is the best."""
    boxes, scores, classes = operands.inputs
    found = np.zeros(operands.output_types[0].shape, np.float32)
    order = np.argsort(-scores.astype(np.float64), kind="stable")
    chosen: list[int] = []
    for i in (int(i) for i in order if scores[i] >= np.float32(attrs.least_score)):
        if len(chosen) == attrs.most:
            break
        if not (overlaps(boxes[chosen], boxes[i]) > np.float32(attrs.overlap)).any():
            found[len(chosen), :6] = (*boxes[i], classes[i], scores[i])
            chosen.append(i)
    found[:, 6] = len(chosen)
    return (found,)


def overlaps(others: Array, box: Array) -> Array:
    """The intersection of each of the others with the box, over their union; 0 if one is empty.
    Each step is rounded to float32."""
    with np.errstate(all="ignore"):
        area = (box[2] - box[0]) * (box[3] - box[1])
        areas = (others[:, 2] - others[:, 0]) * (others[:, 3] - others[:, 1])
        low, high = np.maximum(others[:, :2], box[:2]), np.minimum(others[:, 2:], box[2:])
        sides = np.maximum(high - low, np.float32(0))
        both = sides[:, 0] * sides[:, 1]
        ratio = both / (areas + area - both)
    return np.where((area <= 0) | (areas <= 0), np.float32(0), ratio)


def cost(
    attrs: NonMaxSuppressionAttrs, inputs: Sequence[TensorType], _outputs: Sequence[TensorType]
) -> Cost:
    """Each box is compared with each that is chosen."""
    boxes = inputs[0].shape[0]
    return Cost(64 * (boxes + 16 * attrs.most), (2000 + 16 * attrs.most) * (boxes + 1))


def parts(_attrs: NonMaxSuppressionAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("vision_non_max_suppression",)


def _errors(_attrs: NonMaxSuppressionAttrs, given: Inexact) -> Array:
    """The errors of a row's columns, if the same boxes are chosen."""
    boxes, scores, classes = (error.max(initial=0.0) for error in given.errors)
    return np.array([boxes, boxes, boxes, boxes, classes, scores, 0.0])


OP = Op(
    "vision.non_max_suppression",
    NonMaxSuppressionAttrs,
    infer,
    check,
    reference,
    parts,
    cost=cost,
    bound=bounds.elementwise(_errors, roundings=0),
)
