"""vision.all_class_non_max_suppression: for each class the boxes with the best scores, without
those that overlap better ones of the same class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops.base import Op, Operands, Shape
from microgen.graph.ops.cost import Cost

COLUMNS = 3  # of a row: batch, class, box


@dataclass(frozen=True, slots=True)
class AllClassSuppressionAttrs(Attrs):
    """Inputs: float32 boxes [batches, boxes, 4] and scores [batches, classes, boxes]. A box is two
    opposite corners y, x, y, x, or, if it ``is_centred``, its centre x, y, width and height.

    A box is chosen if its score is greater than ``least_score`` (any number if that is None) and
    its intersection over union with no box that was chosen before is greater than ``overlap``. Of
    equal scores the first one is the best. Up to ``most`` boxes of a class are chosen.

    Output: int64, a row of three numbers for each chosen box, class by class, the best box first.
    The other rows are -1."""

    most: int
    overlap: float
    least_score: float | None
    is_centred: bool


def infer(attrs: AllClassSuppressionAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """As many rows as boxes may be chosen."""
    if len(inputs) != 2:
        raise ValueError(f"there are {len(inputs)} inputs; boxes and scores are expected")
    boxes, scores = (tensor.shape for tensor in inputs)
    if len(boxes) != 3 or len(scores) != 3 or boxes != (scores[0], scores[2], 4):
        raise ValueError(
            f"the inputs are {inputs[0]} and {inputs[1]}; boxes [batches, boxes, 4] and scores "
            "[batches, classes, boxes] are expected"
        )
    if not 1 <= attrs.most <= scores[2]:
        raise ValueError(f"up to {attrs.most} boxes are chosen of {scores[2]}")
    return ((scores[0] * scores[1] * attrs.most, COLUMNS),)


def check(
    _attrs: AllClassSuppressionAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """float32 boxes and scores, int64 rows."""
    for role, tensor in zip(("boxes", "scores"), inputs, strict=True):
        if tensor.dtype is not DType.FLOAT32:
            return f"the {role} are {tensor}; they must be float32"
    return None if outputs[0].dtype is DType.INT64 else f"the output is {outputs[0]}; it is int64"


def reference(attrs: AllClassSuppressionAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: ONNX, NonMaxSuppression. Each step is rounded to float32."""
    boxes, scores = operands.inputs
    found = np.full(operands.output_types[0].shape, -1, np.int64)
    rows = [
        (batch, klass, box)
        for batch, own in enumerate(boxes)
        for klass, each in enumerate(scores[batch])
        for box in _chosen(attrs, _corners(own, attrs.is_centred), each)
    ]
    found[: len(rows)] = np.array(rows, np.int64).reshape(-1, COLUMNS)
    return (found,)


def _corners(boxes: Array, is_centred: bool) -> Array:
    """Lowest and highest corner: [boxes, 4] in an order in which both have two axes."""
    first, second = boxes[:, :2], boxes[:, 2:]
    if is_centred:
        half = second / np.float32(2)
        return np.concatenate([first - half, first + half], 1)
    # as in C, the first one unless the second is less
    return np.concatenate(
        [np.where(second < first, second, first), np.where(second < first, first, second)], 1
    )


def _chosen(attrs: AllClassSuppressionAttrs, corners: Array, scores: Array) -> Iterator[int]:
    """The boxes of a class, the best first."""
    kept: list[int] = []
    order = np.argsort(-scores.astype(np.float64), kind="stable")
    for box in (int(box) for box in order if _is_high(attrs, scores[box])):
        if len(kept) == attrs.most:
            return
        if not (_overlaps(corners[kept], corners[box]) > np.float32(attrs.overlap)).any():
            kept.append(box)
            yield box


def _is_high(attrs: AllClassSuppressionAttrs, score: float) -> bool:
    if attrs.least_score is None:
        return not np.isnan(score)
    return bool(score > np.float32(attrs.least_score))


def _overlaps(others: Array, box: Array) -> Array:
    """The intersection of each of the others with the box, over their union; -1 without one."""
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


def cost(
    attrs: AllClassSuppressionAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> Cost:
    """Each box of a class is compared with each that is chosen."""
    scores = inputs[1].size
    nbytes = 64 * (scores + inputs[0].size) + 200 * outputs[0].size
    return Cost(nbytes, (4000 + 32 * attrs.most) * (scores + 1))


def parts(_attrs: AllClassSuppressionAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("vision_all_class_non_max_suppression",)


OP = Op(
    "vision.all_class_non_max_suppression",
    AllClassSuppressionAttrs,
    infer,
    check,
    reference,
    parts,
    cost=cost,
)
