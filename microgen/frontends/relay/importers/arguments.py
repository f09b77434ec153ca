"""Reads attributes that several operators have."""

from __future__ import annotations

from microgen.frontends.relay.calls import RelayCall
from microgen.graph.builder import BuiltTensor
from microgen.graph.ops.base import Pads, Pair


def pads(call: RelayCall) -> Pads:
    """``padding``, of 1, 2 or 4 numbers, as (top, left, bottom, right)."""
    found = tuple(call.attrs["padding"])
    if len(found) == 1:
        return found * 4
    return (*found, *found) if len(found) == 2 else found


def pair(call: RelayCall, name: str) -> Pair:
    """An attribute of (height, width)."""
    height, width = call.attrs[name]
    return height, width


def axis(call: RelayCall, tensor: BuiltTensor, name: str = "axis") -> int:
    """An attribute that names an axis of a tensor, counted from the front."""
    rank, found = len(tensor.shape), call.attrs[name]
    if not -rank <= found < rank:
        raise call.invalid(f"has the {name} {found}; the tensor is {tensor.type}")
    return int(found % rank)


def axes(call: RelayCall, tensor: BuiltTensor) -> tuple[int, ...]:
    """The axes that ``axis`` and ``exclude`` of a reduction name, ascending."""
    rank, found = len(tensor.shape), call.attrs["axis"]
    if found is None or (found == () and not call.attrs["exclude"]):
        return tuple(range(rank))
    listed = {found} if isinstance(found, int) else set(found)
    if not all(-rank <= a < rank for a in listed):
        raise call.invalid(f"has the axes {sorted(listed)}; the tensor is {tensor.type}")
    chosen = {a % rank for a in listed}
    return tuple(a for a in range(rank) if (a in chosen) != call.attrs["exclude"])
