"""Operators that move elements, or change the shape only."""

from __future__ import annotations

import numpy as np

from microgen.base.errors import UnsupportedError
from microgen.frontends.relay.calls import RelayCall
from microgen.frontends.relay.importers import arguments
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import DType
from microgen.graph.ops import budget
from microgen.graph.ops.base import Pair, Shape
from microgen.graph.ops.cost import moved
from microgen.graph.ops.elementwise.choices import MaximumAttrs, MinimumAttrs
from microgen.graph.ops.moves.indexed import TakeAttrs
from microgen.graph.ops.moves.layouts import BroadcastToAttrs, ConcatenateAttrs, TransposeAttrs
from microgen.graph.ops.moves.pads import MirrorPadAttrs, PadAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs


def _reshape(call: RelayCall) -> BuiltTensor:
    # The inferred shape is used, because the attributes have several ways to state it.
    return call.reshaped(call.tensor(0), call.output().shape)


def _transpose(call: RelayCall) -> BuiltTensor:
    data, axes = call.tensor(0), call.attrs["axes"]
    rank = len(data.shape)
    order = tuple(a % rank for a in axes) if axes else tuple(reversed(range(rank)))
    if order == tuple(range(rank)):
        return data
    return call.emit("transpose", TransposeAttrs(order), (data,))


def _layout_transform(call: RelayCall) -> BuiltTensor:
    return call.laid_out(call.tensor(0), call.attrs["src_layout"], call.attrs["dst_layout"])


def _concatenate(call: RelayCall) -> BuiltTensor:
    parts = call.tensors(0)
    axis = call.attrs["axis"] % max(1, len(parts[0].shape))
    return call.emit("concatenate", ConcatenateAttrs(axis), parts)


def _stack(call: RelayCall) -> BuiltTensor:
    shape = call.output().shape
    axis = call.attrs["axis"] % len(shape)
    single = (*shape[:axis], 1, *shape[axis + 1 :])
    parts = tuple(call.reshaped(part, single) for part in call.tensors(0))
    return call.emit("concatenate", ConcatenateAttrs(axis), parts)


def _broadcast_to(call: RelayCall) -> BuiltTensor:
    return _broadcast(call, call.tensor(0), call.output().shape)


def _broadcast(call: RelayCall, data: BuiltTensor, shape: tuple[int, ...]) -> BuiltTensor:
    if data.shape == shape:
        return data
    return call.emit("broadcast_to", BroadcastToAttrs(shape), (data,))


def _filled(call: RelayCall) -> Value:
    """A constant filled with the number in the operator's name."""
    kind = call.output()
    # Charged before the array exists, because the attributes may ask for any size.
    budget.spend(moved(None, (), (kind,)), call.where)
    number = 1 if call.op == "ones" else 0
    return call.constant(np.full(kind.shape, number, kind.dtype.numpy), "filled", kind.quant)


def _full(call: RelayCall) -> BuiltTensor:
    value, output = call.tensor(0), call.output()
    return _broadcast(call, call.cast(value, output.dtype, output.quant), output.shape)


def _tile(call: RelayCall) -> BuiltTensor:
    # Repetitions become new axes, each before the axis that is repeated. A broadcast along them and
    # a reshape give the result.
    data, reps = call.tensor(0), tuple(call.attrs["reps"])
    rank = max(len(reps), len(data.shape))
    sizes = (1,) * (rank - len(data.shape)) + data.shape
    counts = (1,) * (rank - len(reps)) + reps
    apart = call.reshaped(data, [n for size in sizes for n in (1, size)])
    shape = tuple(n for pair in zip(counts, sizes, strict=True) for n in pair)
    return call.reshaped(_broadcast(call, apart, shape), call.output().shape)


_RESHAPES = ("reshape", "squeeze", "expand_dims", "nn.batch_flatten")


def _strided_slice(call: RelayCall) -> BuiltTensor:
    # Source: TVM v0.14, topi/detail/strided_slice.h, StridedSliceCanonicalizeBegin.
    data, shape = call.tensor(0), call.output().shape
    rank = len(data.shape)
    # The inferred shape says how many elements there are; begin and step say where.
    begin, strides = [0] * rank, [1] * rank
    starts = tuple(call.attrs["begin"])
    axes = call.attrs["axes"] or tuple(range(len(starts)))
    steps = tuple(call.attrs["strides"] or (1,)) if call.attrs["slice_mode"] != "size" else (1,)
    for i, axis in enumerate(axes):
        size = data.shape[axis]
        step = steps[min(i, len(steps) - 1)]
        start = starts[i] + size if starts[i] < 0 else starts[i]
        limits = (0, size) if step > 0 else (-1, size - 1)
        begin[axis], strides[axis] = min(max(start, limits[0]), limits[1]), step
    return _slice(call, data, tuple(begin), tuple(strides), shape)


def _slice(
    call: RelayCall, data: BuiltTensor, begin: Shape, strides: Shape, shape: Shape
) -> BuiltTensor:
    if shape == data.shape and all(step == 1 for step in strides):
        return data
    attrs = StridedSliceAttrs(begin, strides, shape)
    return call.emit("strided_slice", attrs, (data,))


def _split(call: RelayCall) -> Value:
    data = call.tensor(0)
    axis, rank = arguments.axis(call, data), len(data.shape)
    parts: list[BuiltTensor] = []
    start = 0
    sections = call.attrs["indices_or_sections"]
    for i in range(sections if isinstance(sections, int) else len(sections) + 1):
        shape = call.output(i).shape
        begin = tuple(start if a == axis else 0 for a in range(rank))
        parts.append(_slice(call, data, begin, (1,) * rank, shape))
        start += shape[axis]
    return tuple(parts)


def _take(call: RelayCall) -> BuiltTensor:
    # Indices out of range move to the nearest end ("clip"), or are not checked ("fast").
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
        indices = call.cast(indices, DType.INT32)
    if mode == "clip":
        indices = _clipped(call, indices, data.shape[axis] - 1)
    return call.emit("take", TakeAttrs(axis, call.attrs["batch_dims"]), (data, indices))


def _clipped(call: RelayCall, indices: BuiltTensor, last: int) -> BuiltTensor:
    first, end = (call.constant(np.array([i], np.int32), "bound") for i in (0, last))
    positive = call.emit("maximum", MaximumAttrs(), (indices, first))
    return call.emit("minimum", MinimumAttrs(), (positive, end))


def _pad(call: RelayCall) -> BuiltTensor:
    data, mode = call.tensor(0), call.attrs["pad_mode"]
    if mode == "reflect":
        return _mirrored(call, data, repeats_edge=False)
    if mode != "constant":
        raise call.unsupported(f"has the pad_mode {mode!r}", supported='"constant" and "reflect"')
    number = call.constant_of(1, "a pad_value").astype(data.dtype.numpy).item()
    value = number if data.dtype is DType.FLOAT32 else int(number)
    return call.emit("nn.pad", PadAttrs(_widths(call), value), (data,))


def _mirror_pad(call: RelayCall) -> BuiltTensor:
    mode = call.attrs["mode"]
    if mode not in ("SYMMETRIC", "REFLECT"):
        raise call.unsupported(f"has the mode {mode!r}", supported='"SYMMETRIC" and "REFLECT"')
    return _mirrored(call, call.tensor(0), repeats_edge=mode == "SYMMETRIC")


def _mirrored(call: RelayCall, data: BuiltTensor, *, repeats_edge: bool) -> BuiltTensor:
    return call.emit("nn.mirror_pad", MirrorPadAttrs(_widths(call), repeats_edge), (data,))


def _widths(call: RelayCall) -> tuple[Pair, ...]:
    return tuple((before, after) for before, after in call.attrs["pad_width"])


def _on_device(call: RelayCall) -> Value:
    # ``frontends/relay/types.py`` reads the device when it places the call inside.
    return call.args[0]


def _device_copy(call: RelayCall) -> Value:
    raise UnsupportedError(
        "The AOT executor does not currently support device_copy", where=call.where
    )


IMPORTERS = {
    **dict.fromkeys(_RESHAPES, _reshape),
    "transpose": _transpose,
    "layout_transform": _layout_transform,
    "concatenate": _concatenate,
    "stack": _stack,
    "broadcast_to": _broadcast_to,
    "full": _full,
    "tile": _tile,
    "zeros": _filled,
    "ones": _filled,
    "strided_slice": _strided_slice,
    "split": _split,
    "take": _take,
    "nn.pad": _pad,
    "nn.mirror_pad": _mirror_pad,
    "on_device": _on_device,
    "device_copy": _device_copy,
}
