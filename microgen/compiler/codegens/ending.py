"""The place of a function's buffers for rows if its output may take the bytes of those that are not
used any more.

Buffers of the first layers are read for the last time before the last rows of the output are
written, because each layer is some rows behind the one before it. So they are at the beginning of
the scratch, in the order in which their use ends, and the end of the output may lie over them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from microgen.base.formats.c_layout import aligned
from microgen.compiler.codegens import placement
from microgen.compiler.codegens.placement import BufferSpan
from microgen.graph.ir.graph import Graph
from microgen.graph.rows.tiles import RowGroup


def placed(
    group: RowGroup, spans: Sequence[BufferSpan], graph: Graph
) -> tuple[dict[str | int, int], int, int | None]:
    """Offsets of the spans by key, their bytes together, and the number of bytes by which the
    output must begin before them to overlap with their beginning; None if they may not overlap, or
    if that would save nothing."""
    usual, usual_bytes = placement.placed(spans)
    ends = dict(_ends(group))
    if not ends:
        return usual, usual_bytes, None
    first = sorted((s for s in spans if s.key in ends), key=lambda span: ends[span.key])
    others = [span for span in spans if span.key not in ends]
    others.sort(key=lambda span: -span.nbytes)
    offsets, nbytes = placement.placed([*first, *others], largest_first=False)
    output = graph.types[group.nodes[-1].outputs[0]].nbytes
    # What no earlier end frees is in use until the last row is written.
    free = min((offsets[span.key] for span in others), default=nbytes)
    lag = max(0, output - free)
    for span in first:
        lag = max(lag, _written(group, ends[span.key], graph) - offsets[span.key])
    lag = aligned(lag, placement.ALIGNMENT)
    saves = min(nbytes, output - lag)
    if saves <= 0 or nbytes - saves >= usual_bytes:
        return usual, usual_bytes, None
    return offsets, nbytes, lag


def _ends(group: RowGroup) -> Iterator[tuple[str | int, int]]:
    """The buffers that the last layer does not read, whose bytes are live from one step to the
    next, each with the step in which it is used for the last time."""
    stages = [name for name in group.geometry.timings if name not in group.outside]
    # Other functions are not in the certificate's count of such bytes.
    if group.is_summed or any(group.geometry.timings[name].rows > 1 for name in stages):
        return
    last = {name for node in group.units[-1] for name in node.inputs}
    for name, buffer in group.geometry.buffers.items():
        # Padding is written until nobody reads the buffer, and rows until there are no more.
        if name not in last and buffer.rows > buffer.timing.rows:
            yield name, max(buffer.end, buffer.timing.end) - 1


def _written(group: RowGroup, step: int, graph: Graph) -> int:
    """The bytes of the output that are written before a step, whose last event writes the next
    ones: every other event of a step comes before it."""
    result = group.nodes[-1].outputs[0]
    timing, kind = group.geometry.timings[result], graph.types[result]
    times = min(timing.count, max(0, -(-(step - timing.first) // timing.period)))
    return times * timing.rows * (kind.nbytes // kind.shape[1])
