"""Turns variables to which new rows are joined into windows that slide in their own buffers."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from microgen.compiler.passes.changes import Changes
from microgen.graph.ir.graph import Array, ArrayType, Graph, Node
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from microgen.graph.ops.moves.slices import SlideAttrs, StridedSliceAttrs


def slide_windows(graph: Graph) -> Graph:
    """The graph in which streaming windows are nodes of their own, ``slide``.

    A network that streams joins its latest rows to the rows that a variable keeps, computes with
    all of them, and keeps the last. If it slices after it has joined, the window is the joined
    tensor: it has more rows than the variable, and the variable becomes as large. If it slices
    first and joins then, the window is the variable. In both cases nothing else may read the
    variable, so the window can be computed in the variable's place.
    """
    producers, uses = graph.producer_of(), graph.uses_of()
    readers = {name: node for node in graph.nodes for name in node.inputs}
    found: dict[str, _Window] = {}
    for variable, source in graph.updates.items():
        reader, maker = readers.get(variable), producers.get(source)
        # Another reader of the variable would find rows that have moved.
        if reader is None or maker is None or uses[variable] != 1:
            continue
        window = _sliced(variable, reader, maker, graph, uses) or _joined(
            variable, reader, maker, graph, uses
        )
        if window:
            found[variable] = window
    return _replaced(graph, found) if found else graph


@dataclass(frozen=True, slots=True)
class _Window:
    """A window: the concatenation that becomes a ``slide``, and the new rows."""

    join: Node
    rows: str
    axis: int


def _sliced(
    variable: str, reader: Node, maker: Node, graph: Graph, uses: dict[str, int]
) -> _Window | None:
    """The window if the reader joins and the maker keeps the last rows of the result."""
    window = _join(reader, variable, graph)
    if window is None or maker.inputs != reader.outputs or uses[maker.outputs[0]] != 1:
        return None
    return window if _keeps_last(maker, graph, window.axis) else None


def _joined(
    variable: str, reader: Node, maker: Node, graph: Graph, uses: dict[str, int]
) -> _Window | None:
    """The window if the reader keeps the last rows, and the maker joins them and the new ones."""
    kept = reader.outputs[0]
    window = _join(maker, kept, graph)
    if window is None or reader.inputs != (variable,) or uses[kept] != 1:
        return None
    is_whole = graph.types[variable] == graph.types[maker.outputs[0]]
    return window if is_whole and _keeps_last(reader, graph, window.axis) else None


def _join(node: Node, first: str, graph: Graph) -> _Window | None:
    """The window if the node joins ``first`` and a second tensor, and every row of the result
    follows the row before it in memory."""
    attrs = node.attrs
    if not isinstance(attrs, ConcatenateAttrs) or len(node.inputs) != 2 or any(node.place):
        return None
    if node.inputs[0] != first or node.inputs[1] == first:
        return None
    if math.prod(graph.types[first].shape[: attrs.axis]) != 1:
        return None
    return _Window(node, node.inputs[1], attrs.axis)


def _keeps_last(node: Node, graph: Graph, axis: int) -> bool:
    """Whether the node is a slice of the last rows, whole."""
    attrs = node.attrs
    if not isinstance(attrs, StridedSliceAttrs) or any(node.place):
        return False
    data = graph.types[node.inputs[0]].shape
    # The slice has the last rows if it begins as many rows before the end as it has.
    wanted = [0] * len(data)
    wanted[axis] = data[axis] - attrs.shape[axis]
    is_plain = all(step == 1 for step, n in zip(attrs.strides, attrs.shape, strict=True) if n > 1)
    same = (*data[:axis], attrs.shape[axis], *data[axis + 1 :]) == attrs.shape
    return is_plain and same and list(attrs.begin) == wanted


def _replaced(graph: Graph, found: dict[str, _Window]) -> Graph:
    changes, initial = Changes(graph), dict(graph.initial)
    updates = {v: n for v, n in graph.updates.items() if v not in found}
    named: dict[str, str] = {}
    for variable, window in found.items():
        whole = window.join.outputs[0]
        kind, name = graph.types[whole], variable
        if graph.types[variable] != kind:  # the window has more rows than the variable
            name = changes.tensor(f"{variable}#window", kind)
        named[variable], updates[name] = name, whole
        if variable in initial:
            initial[name] = _extended(initial.pop(variable), kind, window.axis)
        changes.changed[whole] = dataclasses.replace(
            window.join, op="slide", inputs=(name, window.rows), attrs=SlideAttrs(window.axis)
        )
    return changes.made(
        variables=tuple(named.get(name, name) for name in graph.variables),
        updates=updates,
        initial=initial,
    )


def _extended(values: Array, kind: ArrayType, axis: int) -> Array:
    """Initial values of the whole window."""
    missing = list(kind.shape)
    missing[axis] -= values.shape[axis]
    # The first rows are dropped before anything reads them, so their values do not matter.
    return np.concatenate([np.full(missing, values.flat[0], values.dtype), values], axis)
