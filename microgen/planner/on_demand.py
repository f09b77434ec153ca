"""Separate bytes for every buffer, in program order, as in TVM's AOT allocator without reuse."""

from __future__ import annotations

from microgen.base.formats.c_layout import aligned
from microgen.planner.layout import Layout
from microgen.planner.lifetimes import Liveness, lower_bound


def place(liveness: Liveness, alignment: int) -> Layout:
    """One buffer after the other; nothing shares memory and nothing runs in place."""
    offsets = {}
    end = 0
    for buffer in liveness.buffers:
        offsets[buffer.name] = aligned(end, alignment)
        end = offsets[buffer.name] + buffer.nbytes
    return Layout(offsets, (), f"no reuse: {end - lower_bound(liveness)} bytes above the bound")
