"""Reads attributes that several operators have."""

from __future__ import annotations

from microgen.frontends.relay.calls import RelayCall
from microgen.graph.builder import BuiltTensor
from microgen.graph.ops.base import Pads, Pair


def pads(call: RelayCall) -> Pads:
    """``padding``, of 1, 2 or 4 numbers, as (top, left, bottom, right)."""
    padding = tuple(call.attrs["padding"])
    if len(padding) == 1:
        return padding * 4
    return (*padding, *padding) if len(padding) == 2 else padding


def pair(call: RelayCall, name: str) -> Pair:
    """An attribute of (height, width)."""
    height, width = call.attrs[name]
    return height, width


def axis(call: RelayCall, tensor: BuiltTensor, name: str = "axis") -> int:
    """An attribute that names an axis of a tensor, counted from the front."""
    rank, number = len(tensor.shape), call.attrs[name]
    if not -rank <= number < rank:
        raise call.invalid(f"has the {name} {number}; the tensor is {tensor.type}")
    return int(number % rank)


def axes(call: RelayCall, tensor: BuiltTensor) -> tuple[int, ...]:
    """The axes that ``axis`` and ``exclude`` of a reduction name, ascending."""
    rank, number = len(tensor.shape), call.attrs["axis"]
    if number is None or (number == () and not call.attrs["exclude"]):
        return tuple(range(rank))
    listed = {number} if isinstance(number, int) else set(number)
    if not all(-rank <= a < rank for a in listed):
        raise call.invalid(f"has the axes {sorted(listed)}; the tensor is {tensor.type}")
    chosen = {a % rank for a in listed}
    return tuple(a for a in range(rank) if (a in chosen) != call.attrs["exclude"])
