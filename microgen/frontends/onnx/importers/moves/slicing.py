"""Operators that change the shape, join tensors, or return regular parts of one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from microgen.frontends.onnx import move_nodes
from microgen.frontends.onnx.importers import arguments
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ops.moves.layouts import ConcatenateAttrs


def _concat(node: OnnxNode) -> BuiltTensor:
    parts = node.tensors()
    axis = arguments.axis(node, len(parts[0].shape), 1)
    # Parts without elements are left out: exporters join shapes, and one may be empty.
    full = [part for part in parts if part.type.size]
    if not full or not parts[0].shape:
        raise node.invalid("joins nothing; tensors with axes and elements are expected")
    if len(full) == 1:
        return full[0]
    return node.emit("concatenate", ConcatenateAttrs(axis), full)


def _split(node: OnnxNode) -> Value:
    data = node.tensor(0)
    axis = arguments.axis(node, len(data.shape), 0)
    if not data.shape:
        raise node.invalid("splits a tensor without axes")
    # Before opset 13 the sizes are an attribute, then an input.
    sizes = _declared_sizes(node, axis) or node.ints_of("split", 1)
    if sizes is None:
        sizes = _parts(node, data.shape[axis])
    if sum(sizes) != data.shape[axis] or min(sizes, default=-1) < 0:
        raise node.invalid(f"splits {data.type} along axis {axis} into {list(sizes)}")
    if len(sizes) < len(node.outputs):
        raise node.invalid(f"has {len(node.outputs)} outputs for {len(sizes)} parts")
    # The last number is the end, at which no part begins.
    starts = np.cumsum((0, *sizes)).tolist()
    return tuple(
        move_nodes.cut(node, data, axis, start, size)
        for start, size, name in zip(starts, sizes, node.outputs, strict=False)
    )


def _declared_sizes(node: OnnxNode, axis: int) -> tuple[int, ...] | None:
    """The sizes that the model declares for all outputs along the axis."""
    shapes = [node.declared_for(1, k) for k in range(len(node.outputs))]
    sizes = [shape[axis] for shape in shapes if shape is not None and len(shape) > axis]
    return tuple(sizes) if len(sizes) == len(shapes) else None


def _parts(node: OnnxNode, size: int) -> tuple[int, ...]:
    """Equal parts; the last one is smaller if there is a remainder, which opset 18 allows."""
    count = int(node.attr("num_outputs", len(node.outputs)))
    if not 1 <= count <= size or (node.version < 18 and size % count):
        raise node.invalid(f"splits an axis of {size} elements into {count} equal parts")
    each = -(-size // count)
    return tuple(max(0, min(each, size - each * i)) for i in range(count))


def _slice(node: OnnxNode) -> BuiltTensor:
    """Source: the specification of Slice; starts and ends outside are moved to the nearest."""
    data = node.tensor(0)
    starts, ends = node.ints_of("starts", 1), node.ints_of("ends", 2)
    if starts is None or ends is None or len(starts) != len(ends):
        raise node.invalid("needs as many starts as ends")
    stated = node.ints_of("axes", 3)
    rank = len(data.shape)
    axes = arguments.axes(node, range(len(starts)) if stated is None else stated, rank)
    steps = node.ints_of("steps", 4) or (1,) * len(axes)
    if not len(axes) == len(starts) == len(steps) or 0 in steps:
        raise node.invalid(f"has {len(starts)} starts, the axes {axes} and the steps {steps}")
    begin, stride, shape = [0] * rank, [1] * rank, list(data.shape)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        begin[axis], shape[axis] = _within(data.shape[axis], start, end, step)
        # The step to the next element does not matter for one element, and may be huge.
        stride[axis] = step if shape[axis] > 1 else 1
    return move_nodes.sliced(node, data, begin, stride, shape)


def _within(size: int, start: int, end: int, step: int) -> tuple[int, int]:
    # Backwards, the end may be before the first element, which is -1 after clamping.
    low, high = (0, size) if step > 0 else (-1, size - 1)
    first = min(max(start + size if start < 0 else start, 0), high)
    last = min(max(end + size if end < 0 else end, low), high)
    return first, max(0, -(-(last - first) // step))


def _compress(node: OnnxNode) -> BuiltTensor:
    """Parts that a constant condition selects."""
    data, condition = node.tensor(0), node.constant_of(1, "conditions").ravel()
    if node.attr("axis", None) is None:
        data, axis = node.reshaped(data, (data.type.size,)), 0
    else:
        axis = arguments.axis(node, len(data.shape), 0)
    places = np.flatnonzero(condition)
    if not data.shape or (len(places) and places[-1] >= data.shape[axis]):
        raise node.invalid(f"selects {places.tolist()[-1:]} of {data.type} along axis {axis}")
    if not len(places):
        raise node.unsupported("selects nothing", supported="one part or more")
    return move_nodes.picked(node, data, axis, places)


def _reshape(node: OnnxNode) -> BuiltTensor:
    data, declared = node.tensor(0), node.declared_for(1)
    if declared is not None:
        return node.reshaped(data, declared)
    wanted = node.ints_of("shape", 1) or ()
    keeps = not node.attr("allowzero", 0)
    if any(w == 0 and i >= len(data.shape) for i, w in enumerate(wanted)) and keeps:
        raise node.invalid(f"has the shape {list(wanted)} for {data.type}")
    shape = [data.shape[i] if w == 0 and keeps else w for i, w in enumerate(wanted)]
    if shape.count(-1) > 1 or min(shape, default=0) < -1:
        raise node.invalid(f"has the shape {list(wanted)}; at most one -1 is expected")
    known = math.prod(w for w in shape if w != -1)
    if -1 in shape:
        if known < 1 or data.type.size % known:
            raise node.invalid(f"has the shape {list(wanted)} for {data.type}")
        shape[shape.index(-1)] = data.type.size // known
    return node.reshaped(data, shape)


def _flatten(node: OnnxNode) -> BuiltTensor:
    data = node.tensor(0)
    axis, rank = int(node.attr("axis", 1)), len(data.shape)
    if not -rank <= axis <= rank:
        raise node.invalid(f"has the axis {axis}, but the tensor has {rank} axes")
    axis += rank if axis < 0 else 0
    return node.reshaped(data, (math.prod(data.shape[:axis]), math.prod(data.shape[axis:])))


def _squeeze(node: OnnxNode) -> BuiltTensor:
    data, declared = node.tensor(0), node.declared_for(1)
    if declared is not None:
        return _declared(node, data, declared)
    stated, shape = node.ints_of("axes", 1), data.shape
    if stated is None:
        axes = tuple(axis for axis, size in enumerate(shape) if size == 1)
    else:
        axes = arguments.axes(node, stated, len(shape))
    if any(axis >= len(shape) or shape[axis] != 1 for axis in axes):  # a number has none
        raise node.invalid(f"removes the axes {list(axes)} of {data.type}; their sizes must be 1")
    return node.reshaped(data, [size for axis, size in enumerate(shape) if axis not in axes])


def _unsqueeze(node: OnnxNode) -> BuiltTensor:
    data, declared = node.tensor(0), node.declared_for(1)
    if declared is not None:
        return _declared(node, data, declared)
    stated = node.ints_of("axes", 1) or ()
    rank = len(data.shape) + len(stated)
    axes, sizes = arguments.axes(node, stated, rank), iter(data.shape)
    return node.reshaped(data, [1 if axis in axes else next(sizes) for axis in range(rank)])


def _declared(node: OnnxNode, data: BuiltTensor, shape: Sequence[int]) -> BuiltTensor:
    """The data under the shape that the model declares, which has other axes of size 1."""
    if [size for size in shape if size != 1] != [size for size in data.shape if size != 1]:
        raise node.invalid(f"makes {list(shape)} of {data.type}; only sizes of 1 may differ")
    return node.reshaped(data, shape)


IMPORTERS = {
    "Compress": _compress,
    "Concat": _concat,
    "Slice": _slice,
    "Split": _split,
    "Flatten": _flatten,
    "Reshape": _reshape,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
}
