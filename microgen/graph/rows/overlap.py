"""The number of bytes by which the output of nodes in rows must begin before an input whose memory
it overwrites.

The last node writes rows of the output, one part after the other. Before it writes, all nodes
before it have finished the reads of the same step. Later reads of the input begin with the next
rows of each reader of the input: a node, or the copy into a buffer. So no byte is read after it was
overwritten if the output begins at least the largest difference before the input.

If the last node reads the input itself, its kernel reads and writes rows in one step. These must be
apart, or be where the kernel says that it may compute in place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from microgen.graph.ir.graph import Array, ArrayType, Graph
from microgen.graph.rows.geometry import Timing
from microgen.graph.rows.tiles import RowGroup


def of(group: RowGroup, graph: Graph, last: Mapping[str, int]) -> dict[str, int]:
    """The lag in bytes of each input, by tensor. ``last`` has the lags of the last node's kernel in
    one step, for the inputs whose rows the kernel may overwrite with its output.
    """
    return {name: _lag(name, group, graph, last.get(name)) for name in group.outside}


def by_tensor(inputs: Sequence[str], lags: Mapping[int, int]) -> dict[str, int]:
    """Lags by tensor instead of by position. An input that is read twice has a lag if all of its
    positions have the same lag.
    """
    stated: dict[str, list[int | None]] = {}
    for position, name in enumerate(inputs):
        stated.setdefault(name, []).append(lags.get(position))
    return {
        name: lag
        for name, (lag, *others) in stated.items()
        if lag is not None and all(other == lag for other in others)
    }


def _lag(name: str, group: RowGroup, graph: Graph, own: int | None) -> int:
    data, result = graph.types[name], group.nodes[-1].outputs[0]
    output, timing = graph.types[result], group.geometry.timings[result]
    first, end = _written(group, output, timing)
    steps = timing.first + np.arange(timing.count) * timing.period
    ahead = [_ahead(steps, end, *reader) for reader in _readers(name, group, graph)]
    lag = max(int(output.nbytes > data.nbytes), *ahead)
    window = group.windows[result].get(name)
    if window and name not in group.geometry.buffers:
        read = np.arange(timing.count) * window.stride * timing.rows * _row(data)
        lag = _beside(read, first, end, lag, own)
    # In whole elements of both tensors, so that both are aligned.
    unit = max(data.dtype.nbytes, output.dtype.nbytes)
    return -(-lag // unit) * unit


def _written(group: RowGroup, output: ArrayType, timing: Timing) -> tuple[Array, Array]:
    """The first byte of the output that is written each time, and the byte after the last one."""
    if group.is_summed:
        return np.zeros(timing.count, int), np.full(timing.count, output.nbytes)
    each = timing.rows * _row(output)
    first = np.arange(timing.count) * each
    return first, first + each


def _readers(name: str, group: RowGroup, graph: Graph) -> Iterator[tuple[Timing, int]]:
    """The timings of the input's readers, and the distance in bytes of their successive reads."""
    timings, row = group.geometry.timings, _row(graph.types[name])
    if name in timings:
        yield timings[name], timings[name].rows * row
        return
    for result, windows in group.windows.items():
        if name in windows:
            yield timings[result], timings[result].rows * windows[name].stride * row


def _ahead(steps: Array, end: Array, timing: Timing, each: int) -> int:
    """The most bytes by which rows written by the end of a step exceed the beginning of rows read
    later.
    """
    times = np.maximum((steps - timing.first) // timing.period + 1, 0)
    return int((end - times * each)[times < timing.count].max(initial=0))


def _beside(read: Array, first: Array, end: Array, lag: int, own: int | None) -> int:
    """The lag with which rows that are written and read in one step overlap only as the kernel
    allows.
    """
    if own is not None and lag <= own and bool((first == read).all()):
        return own
    return max(lag, int((end - read).max()))


def _row(kind: ArrayType) -> int:
    """Bytes of a row."""
    return kind.nbytes // kind.shape[1]
