"""Slices that are read where their data is, because they are one run of its bytes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np

from microgen.compiler.passes.views import is_view, roots
from microgen.graph.ir.graph import Graph
from microgen.graph.ops.moves.slices import StridedSliceAttrs

# They read their operands elsewhere than a call's argument says, or give them another place.
_APART = ("branch", "concatenate", "external", "loop")


def with_sections(graph: Graph, whole_inputs: Collection[str]) -> Graph:
    """The graph with its ``sections``: the slices that need no call.

    The data of a section is live until the section's last reader. So a tensor has sections only if
    the bytes that are live at a time do not exceed the most of the graph without sections. Slices
    of inputs that are not in ``whole_inputs`` remain calls. Networks with state or several targets
    have no sections.
    """
    places = {node.place for node in graph.nodes}
    if graph.variables or graph.updates or len(places) != 1:
        return graph
    by_root = dict[str, dict[str, int]]()
    kept = {*graph.inputs, *graph.constants}.difference(whole_inputs)
    for name, root, offset in _candidates(graph):
        if root not in kept:
            by_root.setdefault(root, {})[name] = offset
    lives, sections = _Lives(graph), dict[str, int]()
    # The slices of a slice come first, because they prolong its life.
    for root, own in reversed(by_root.items()):
        if lives.prolonged(root, own):
            sections.update(own)
    return graph.replace(sections=sections)


def offsets(graph: Graph) -> dict[str, int]:
    """Tensor that is a section, or a view of one -> the number of bytes before it in the tensor
    whose bytes it has."""
    found: dict[str, int] = {}
    for node in graph.nodes if graph.sections else ():
        name, source = node.outputs[0], node.inputs[0] if node.inputs else ""
        if name in graph.sections:
            found[name] = found.get(source, 0) + graph.sections[name]
        elif source in found and is_view(node, graph):
            found[name] = found[source]
    return found


def _candidates(graph: Graph) -> Iterator[tuple[str, str, int]]:
    """Slices that are one run of bytes: name, the tensor with these bytes, and the run's offset."""
    bytes_of = roots(graph)
    apart = {bytes_of[name] for name in graph.results}
    for node in graph.nodes:
        if node.op in _APART:
            apart.update(bytes_of[name] for name in node.inputs)
    for node in graph.nodes:
        if isinstance(node.attrs, StridedSliceAttrs) and node.outputs[0] not in apart:
            offset = _offset(node.attrs, graph.types[node.inputs[0]].shape)
            if offset is not None:
                nbytes = graph.types[node.inputs[0]].dtype.nbytes
                yield node.outputs[0], bytes_of[node.inputs[0]], offset * nbytes


def _offset(attrs: StridedSliceAttrs, data: tuple[int, ...]) -> int | None:
    """The elements before a slice, if it is one run of elements; None otherwise."""
    rows = list(zip(attrs.begin, attrs.strides, attrs.shape, data, strict=True))
    cut = [axis for axis, (_, _, size, own) in enumerate(rows) if size != own]
    outer = rows[: cut[-1]] if cut else []
    is_run = all(size == 1 for _, _, size, _ in outer)
    is_forward = all(stride == 1 or size == 1 for _, stride, size, _ in rows)
    if not (is_run and is_forward) or 0 in attrs.shape:
        return None
    offset = 0
    for begin, _, _, own in rows:
        offset = offset * own + begin
    return offset


class _Lives:
    """The bytes that are live at each node. Inputs and outputs have bytes of the caller."""

    def __init__(self, graph: Graph) -> None:
        self.graph, bytes_of = graph, roots(graph)
        count = len(graph.nodes)
        self.last = {bytes_of[name]: count for name in graph.results}
        self.first: dict[str, int] = {}
        for i, node in enumerate(graph.nodes):
            self.first.update((name, i) for name in node.outputs if bytes_of[name] == name)
            for name in {bytes_of[name] for name in (*node.inputs, *node.outputs)}:
                self.last[name] = max(self.last.get(name, 0), i)
        foreign = {bytes_of[name] for name in graph.results}
        self.live = np.zeros(count + 2, np.int64)
        for name in self.first.keys() - foreign:
            self.live[self.first[name]] += graph.types[name].nbytes
            self.live[self.last[name] + 1] -= graph.types[name].nbytes
        self.live = np.cumsum(self.live)
        self.most = int(self.live.max())

    def prolonged(self, root: str, sections: Mapping[str, int]) -> bool:
        """Whether the sections of a tensor need no more bytes than their copies. They are sections
        from now on."""
        last = max(self.last[name] for name in (root, *sections))
        start = min(self.first[name] for name in sections)
        live = self.live[start : last + 1].copy()
        if root in self.first:
            live[self.last[root] + 1 - start :] += self.graph.types[root].nbytes
        for name in sections:
            own = slice(self.first[name] - start, self.last[name] + 1 - start)
            live[own] -= self.graph.types[name].nbytes
        if live.max(initial=0) > self.most:
            return False
        self.live[start : last + 1] = live
        self.last[root] = last
        return True
