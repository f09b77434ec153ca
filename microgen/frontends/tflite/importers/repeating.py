"""Operators that repeat values, or fill a tensor with zeros."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from tflite.RangeOptions import RangeOptions
from tflite.TileOptions import TileOptions
from tflite.ZerosLikeOptions import ZerosLikeOptions

from microgen.frontends.tflite.importers.arguments import Importer, cut, integers
from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import MAX_BYTES, Array, ArrayType, DType
from microgen.graph.ops import budget
from microgen.graph.ops.base import Shape
from microgen.graph.ops.cost import elementwise
from microgen.graph.ops.moves.layouts import BroadcastToAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs


def _tile(layer: FileLayer) -> BuiltTensor:
    data, counts = layer.data(0), integers(layer, 1)
    if len(counts) != len(data.shape) or min(counts, default=1) < 1:
        raise layer.invalid(
            f"repeats {data.type} {cut(counts)} times; one number of 1 or more is expected for "
            "each axis"
        )
    steps, output = _steps(data.shape, counts), layer.output()
    if not steps:
        return layer.emit("reshape", ReshapeAttrs(data.shape), (data,), output)
    # Each step is a broadcast between two reshapes, which cost nothing.
    for step in steps:
        data = _repeated(layer, data, step, output if step is steps[-1] else None)
    return data


def _steps(shape: Shape, counts: Sequence[int]) -> list[tuple[int, ...]]:
    """The counts of each broadcast."""
    # A broadcast that repeats k axes reads its input along up to 2 k + 1 axes, or 2 k if nothing
    # comes before them. The kernel of broadcasts has six axes.
    repeated = [axis for axis, count in enumerate(counts) if count > 1]
    first = 3 if math.prod(shape[: min(repeated, default=0)]) == 1 else 2
    ends = [0, *range(first, len(repeated), 2), len(repeated)]
    groups = [repeated[begin:end] for begin, end in itertools.pairwise(ends)]
    return [
        tuple(count if axis in group else 1 for axis, count in enumerate(counts))
        for group in groups
        if group
    ]


def _repeated(
    layer: FileLayer, data: BuiltTensor, counts: Sequence[int], output: BuiltTensor | None
) -> BuiltTensor:
    """The data repeated along its axes."""
    # Each number of repetitions becomes an axis of its own, before the axis that is repeated.
    pairs = list(zip(counts, data.shape, strict=True))
    apart = tuple(n for count, size in pairs for n in ((size,) if count == 1 else (1, size)))
    wide = tuple(n for count, size in pairs for n in ((size,) if count == 1 else (count, size)))
    hint = f"{layer.output().name}/repeated"
    split = layer.emit("reshape", ReshapeAttrs(apart), (data,), hint=hint)
    spread = layer.emit("broadcast_to", BroadcastToAttrs(wide), (split,), hint=hint)
    final = tuple(count * size for count, size in pairs)
    return layer.emit("reshape", ReshapeAttrs(final), (spread,), output, hint=hint)


def _broadcast_args(layer: FileLayer) -> BuiltTensor:
    lhs, rhs = integers(layer, 0), integers(layer, 1)
    output = layer.plain_output()
    layer.expect(output, DType.INT32, DType.INT64)
    sizes = list(itertools.zip_longest(reversed(lhs), reversed(rhs), fillvalue=1))
    if any(left != right and 1 not in (left, right) for left, right in sizes):
        raise layer.invalid(f"has the shapes {cut(lhs)} and {cut(rhs)}, which do not broadcast")
    shape = [right if left == 1 else left for left, right in reversed(sizes)]
    # Shapes are fixed, so the result is a constant.
    return layer.define(np.array(shape).astype(output.dtype.numpy))


def _zeros_like(layer: FileLayer) -> BuiltTensor:
    data = layer.plain(0)
    # TensorFlow Lite Micro writes stored zeros and ignores the zero point: zeros_like.cc.
    of_micro = [DType.INT8] if layer.numerics.name == "tflm" else []
    layer.expect(data, DType.FLOAT32, DType.INT32, DType.INT64, *of_micro)
    return layer.define(np.zeros(data.shape, data.dtype.numpy))


def _range(layer: FileLayer) -> BuiltTensor:
    # Source: TFLite range.cc. A float is the sum of the one before it and the step.
    values = [layer.plain(position).value for position in range(3)]
    if any(value is None for value in values):
        raise layer.unsupported(
            "counts from, to or by a number that is computed, so that its shape is open",
            supported="three constants",
        )
    start, limit, step = (np.asarray(value) for value in values)
    layer.expect(layer.plain(0), DType.FLOAT32, DType.INT32, DType.INT64)
    is_possible = {each.size for each in (start, limit, step)} == {1} and step.item() != 0
    count = _count(start, limit, step) if is_possible else 0
    if count < 1:
        raise layer.invalid(f"counts from {start} to {limit} by {step}; no number is between")
    budget.spend(elementwise(None, (), (ArrayType((count,), DType.INT64),)), layer.where)
    terms = np.full(count, step.item(), start.dtype)
    terms[0] = start.item()
    with np.errstate(over="ignore", invalid="ignore"):
        return layer.define(np.add.accumulate(terms, dtype=terms.dtype))


def _count(start: Array, limit: Array, step: Array) -> int:
    """The number of values from ``start`` to ``limit``, at most 2**31 of them."""
    ends = [each.item() for each in (start, limit, step)]
    if start.dtype.kind != "f":
        return int(max(-((ends[0] - ends[1]) // ends[2]), 0))
    if not np.isfinite(ends).all() or (ends[1] - ends[0]) * ends[2] <= 0:
        return 0
    with np.errstate(over="ignore"):
        steps = np.ceil(np.abs((limit - start) / step)).item()
    return int(min(steps, MAX_BYTES))


IMPORTERS = {
    "BROADCAST_ARGS": Importer(_broadcast_args, (2,)),
    "RANGE": Importer(_range, (3,), optional=RangeOptions),
    "TILE": Importer(_tile, (2,), optional=TileOptions),
    "ZEROS_LIKE": Importer(_zeros_like, (1,), optional=ZerosLikeOptions),
}
