"""Operators that return parts of a tensor: strided_slice, split, take."""

from __future__ import annotations

import numpy as np

from microgen.frontends.relay.calls import RelayCall
from microgen.frontends.relay.importers import arguments
from microgen.frontends.tensors import Tensor, Value
from microgen.graph.ir.graph import DType
from microgen.graph.ops.elementwise.extremum import MaximumAttrs, MinimumAttrs
from microgen.graph.ops.moves.indexed import TakeAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.graph.ops.quantization.conversions import CastAttrs


def _strided_slice(call: RelayCall) -> Tensor:
    """Source: TVM v0.14, topi/detail/strided_slice.h, StridedSliceCanonicalizeBegin.

    The inferred shape says how many elements there are; begin and step say where.
    """
    data, shape = call.tensor(0), call.output().shape
    rank = len(data.shape)
    begin, strides = [0] * rank, [1] * rank
    given = tuple(call.attrs["begin"])
    axes = call.attrs["axes"] or tuple(range(len(given)))
    steps = tuple(call.attrs["strides"] or ())
    for i, axis in enumerate(axes):
        size = data.shape[axis]
        step = (
            1 if call.attrs["slice_mode"] == "size" or not steps else steps[min(i, len(steps) - 1)]
        )
        start = given[i] + size if given[i] < 0 else given[i]
        limits = (0, size) if step > 0 else (-1, size - 1)
        begin[axis], strides[axis] = min(max(start, limits[0]), limits[1]), step
    return _slice(call, data, tuple(begin), tuple(strides), shape)


def _slice(
    call: RelayCall,
    data: Tensor,
    begin: tuple[int, ...],
    strides: tuple[int, ...],
    shape: tuple[int, ...],
) -> Tensor:
    if shape == data.shape and all(step == 1 for step in strides):
        return data
    attrs = StridedSliceAttrs(begin, strides, shape)
    return call.emit("strided_slice", attrs, (data,))


def _split(call: RelayCall) -> Value:
    data = call.tensor(0)
    axis, rank = arguments.axis(call, data), len(data.shape)
    found: list[Tensor] = []
    start = 0
    for i in range(_count(call)):
        shape = call.output(i).shape
        begin = tuple(start if a == axis else 0 for a in range(rank))
        found.append(_slice(call, data, begin, (1,) * rank, shape))
        start += shape[axis]
    return tuple(found)


def _count(call: RelayCall) -> int:
    sections = call.attrs["indices_or_sections"]
    return sections if isinstance(sections, int) else len(sections) + 1


def _take(call: RelayCall) -> Tensor:
    """Indices out of range move to the nearest end ("clip"), or are not checked ("fast")."""
    data, indices = call.tensor(0), call.tensor(1)
    mode = call.attrs["mode"]
    if mode not in ("clip", "fast"):
        raise call.unsupported(f"has the mode {mode!r}", supported='"clip" and "fast"')
    if call.attrs["axis"] is None:
        data, axis = call.reshaped(data, (data.type.size,)), 0
    else:
        axis = arguments.axis(call, data)
    if indices.dtype is not DType.INT32:
        call.expect(indices, DType.INT8, DType.INT16, DType.INT64)
        indices = call.emit("cast", CastAttrs(), (indices,), dtype=DType.INT32, quant=None)
    if mode == "clip":
        indices = _clipped(call, indices, data.shape[axis] - 1)
    batch_dims = call.attrs["batch_dims"]
    attrs = TakeAttrs(axis, batch_dims)
    return call.emit("take", attrs, (data, indices))


def _clipped(call: RelayCall, indices: Tensor, last: int) -> Tensor:
    first, end = (call.constant(np.array([i], np.int32), "bound") for i in (0, last))
    positive = call.emit("maximum", MaximumAttrs(), (indices, first))
    return call.emit("minimum", MinimumAttrs(), (positive, end))


IMPORTERS = {"strided_slice": _strided_slice, "split": _split, "take": _take}
