"""Operators that change the shape or the order of elements, or that repeat them."""

from __future__ import annotations

import numpy as np

from microgen.frontends.relay.calls import RelayCall
from microgen.frontends.tensors import Tensor, Value
from microgen.graph.ops import budget
from microgen.graph.ops.cost import moved
from microgen.graph.ops.moves.layouts import BroadcastToAttrs, ConcatenateAttrs, TransposeAttrs
from microgen.graph.ops.quantization.conversions import CastAttrs


def _reshape(call: RelayCall) -> Tensor:
    """The inferred shape is used, because the attributes have several ways to state it."""
    return call.reshaped(call.tensor(0), call.output().shape)


def _transpose(call: RelayCall) -> Tensor:
    data, axes = call.tensor(0), call.attrs["axes"]
    rank = len(data.shape)
    order = tuple(a % rank for a in axes) if axes else tuple(reversed(range(rank)))
    if order == tuple(range(rank)):
        return data
    return call.emit("transpose", TransposeAttrs(order), (data,))


def _layout_transform(call: RelayCall) -> Tensor:
    return call.laid_out(call.tensor(0), call.attrs["src_layout"], call.attrs["dst_layout"])


def _concatenate(call: RelayCall) -> Tensor:
    parts = call.tensors(0)
    axis = call.attrs["axis"] % max(1, len(parts[0].shape))
    return call.emit("concatenate", ConcatenateAttrs(axis), parts)


def _stack(call: RelayCall) -> Tensor:
    shape = call.output().shape
    axis = call.attrs["axis"] % len(shape)
    single = (*shape[:axis], 1, *shape[axis + 1 :])
    parts = tuple(call.reshaped(part, single) for part in call.tensors(0))
    return call.emit("concatenate", ConcatenateAttrs(axis), parts)


def _broadcast_to(call: RelayCall) -> Tensor:
    return _broadcast(call, call.tensor(0), call.output().shape)


def _broadcast(call: RelayCall, data: Tensor, shape: tuple[int, ...]) -> Tensor:
    if data.shape == shape:
        return data
    return call.emit("broadcast_to", BroadcastToAttrs(shape), (data,))


def _filled(call: RelayCall) -> Value:
    """A constant filled with the number in the operator's name."""
    kind = call.output()
    budget.spend(moved(None, (), (kind,)), call.where)
    number = 1 if call.op == "ones" else 0
    return call.constant(np.full(kind.shape, number, kind.dtype.numpy), "filled", kind.quant)


def _full(call: RelayCall) -> Tensor:
    value, output = call.tensor(0), call.output()
    if value.dtype is not output.dtype:
        value = call.emit("cast", CastAttrs(), (value,), dtype=output.dtype, quant=output.quant)
    return _broadcast(call, value, output.shape)


def _tile(call: RelayCall) -> Tensor:
    """Repetitions become new axes, each before the axis that is repeated."""
    data, reps = call.tensor(0), tuple(call.attrs["reps"])
    rank = max(len(reps), len(data.shape))
    sizes = (1,) * (rank - len(data.shape)) + data.shape
    counts = (1,) * (rank - len(reps)) + reps
    apart = call.reshaped(data, [n for size in sizes for n in (1, size)])
    shape = tuple(n for pair in zip(counts, sizes, strict=True) for n in pair)
    return call.reshaped(_broadcast(call, apart, shape), call.output().shape)


_RESHAPES = ("reshape", "squeeze", "expand_dims", "nn.batch_flatten")

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
}
