"""Operators that only change the shape of a tensor."""

from __future__ import annotations

import math
from collections.abc import Sequence

from microgen.frontends.onnx.importers import arguments
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Tensor


def _reshape(node: OnnxNode) -> Tensor:
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
    rest = math.prod(w for w in shape if w != -1)
    if -1 in shape:
        if rest < 1 or data.type.size % rest:
            raise node.invalid(f"has the shape {list(wanted)} for {data.type}")
        shape[shape.index(-1)] = data.type.size // rest
    return node.reshaped(data, shape)


def _flatten(node: OnnxNode) -> Tensor:
    data = node.tensor(0)
    axis, rank = int(node.attr("axis", 1)), len(data.shape)
    if not -rank <= axis <= rank:
        raise node.invalid(f"has the axis {axis}, but the tensor has {rank} axes")
    axis += rank if axis < 0 else 0
    return node.reshaped(data, (math.prod(data.shape[:axis]), math.prod(data.shape[axis:])))


def _squeeze(node: OnnxNode) -> Tensor:
    data, declared = node.tensor(0), node.declared_for(1)
    if declared is not None:
        return _declared(node, data, declared)
    given = node.ints_of("axes", 1)
    shape = data.shape
    if given is None:
        axes = tuple(axis for axis, size in enumerate(shape) if size == 1)
    else:
        axes = arguments.axes(node, given, len(shape))
    if any(axis >= len(shape) or shape[axis] != 1 for axis in axes):  # a number has none
        raise node.invalid(f"removes the axes {list(axes)} of {data.type}; their sizes must be 1")
    return node.reshaped(data, [size for axis, size in enumerate(shape) if axis not in axes])


def _unsqueeze(node: OnnxNode) -> Tensor:
    data, declared = node.tensor(0), node.declared_for(1)
    if declared is not None:
        return _declared(node, data, declared)
    given = node.ints_of("axes", 1) or ()
    rank = len(data.shape) + len(given)
    return node.reshaped(data, _widened(data.shape, arguments.axes(node, given, rank), rank))


def _declared(node: OnnxNode, data: Tensor, shape: Sequence[int]) -> Tensor:
    """The data under the shape that the model declares, which has other axes of size 1."""
    if [size for size in shape if size != 1] != [size for size in data.shape if size != 1]:
        raise node.invalid(f"makes {list(shape)} of {data.type}; only sizes of 1 may differ")
    return node.reshaped(data, shape)


def _widened(shape: Sequence[int], axes: Sequence[int], rank: int) -> list[int]:
    sizes = iter(shape)
    return [1 if axis in axes else next(sizes) for axis in range(rank)]


IMPORTERS = {
    "Flatten": _flatten,
    "Reshape": _reshape,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
}
