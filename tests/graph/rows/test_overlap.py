"""Lags of functions in rows, checked by following the bytes that their steps read and write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from microgen import kernels
from microgen.compiler.codegens import registry
from microgen.compiler.codegens.base import Primitive, Region
from microgen.graph.ir.graph import Graph
from microgen.graph.rows import tiles
from microgen.graph.rows.tiles import RowGroup
from microgen.planner.program.rolling import BufferedRows, Event, RowCopy, Rows
from microgen.planner.program.types import Inner, Role
from microgen.target import board as boards
from tests.differential import evaluation
from tests.graph.rows.forced import in_rows
from tests.graph.rows.networks import generate
from tests.support import compiling

BOARD = boards.load("native")
OUTPUT = "out0"
NBYTES = {"int8_t": 1, "int16_t": 2, "float": 4}


@dataclass(frozen=True)
class Access:
    """What an event of one step does: the first byte that it reads of each whole tensor, and the
    first byte that it writes of the output and the one after its last."""

    reads: dict[str, int]
    writes: tuple[int, int] | None


def accesses(made: Primitive) -> Iterator[Access]:
    """What a function does, in order."""
    assert made.rolling is not None
    sizes = {p.name: NBYTES.get(p.ctype, 1) for p in made.parameters}
    for step in range(made.rolling.steps):
        for event in made.rolling.events:
            times, late = divmod(step - event.when.first, event.when.period)
            if not late and 0 <= times < event.when.count:
                yield _access(event, times, sizes, made.output_bytes[0])


def _access(event: Event, times: int, sizes: dict[str, int], whole: int) -> Access:
    if isinstance(event.rows, RowCopy):
        from_ = event.rows.rows
        return Access({from_.parameter: times * from_.stride * sizes[from_.parameter]}, None)
    reads, writes = {}, None
    for argument in event.rows.args:
        if argument == OUTPUT:
            writes = (0, whole)
        elif isinstance(argument, Rows):
            each = argument.stride * sizes[argument.parameter]
            if argument.parameter == OUTPUT:
                writes = (times * each, (times + 1) * each)
            else:
                reads[argument.parameter] = times * each
    return Access(reads, writes)


def expected(done: Sequence[Access], name: str, grows: bool, own: int | None) -> int:
    """The least lag of an input, from which bytes are read after others were written."""
    later, least = int(grows), None
    for access in reversed(done):
        if access.writes and least is not None:
            later = max(later, access.writes[1] - least)
        if name in access.reads:
            read = access.reads[name]
            least = read if least is None else min(least, read)
    both = [(a.reads[name], *a.writes) for a in done if name in a.reads and a.writes]
    is_beside = bool(both) and all(first == read for read, first, _ in both)
    if is_beside and own is not None and own >= later:
        return own
    return max(later, *(end - read for read, _, end in both), 0)


def over_scratch(made: Primitive) -> int:
    """The least lag of the scratch, of which no byte is used after the output took its place."""
    assert made.rolling is not None
    sizes = {p.name: NBYTES.get(p.ctype, 1) for p in made.parameters}
    places = {e.tensor: e.buffer.offset for e in made.rolling.events if e.buffer}
    done: list[tuple[int, int]] = []  # the first byte used, and the end of what is written then
    for step in range(made.rolling.steps):
        for event in made.rolling.events:
            times, late = divmod(step - event.when.first, event.when.period)
            if late or times < 0:
                continue
            used = []
            if event.buffer and step < max(event.when.end, event.buffer.end):
                used.append(event.buffer.offset)  # rows move, or padding is written
            written = 0
            if times < event.when.count:
                access = _access(event, times, sizes, made.output_bytes[0])
                written = access.writes[1] if access.writes else 0
                args = [] if isinstance(event.rows, RowCopy) else event.rows.args
                used += [places[one.tensor] for one in args if isinstance(one, BufferedRows)]
                used += [one.offset for one in args if isinstance(one, Inner)]
            done.append((min(used, default=made.scratch), written))
    least, found = made.scratch, 0
    for first, written in reversed(done):
        least = min(least, first)
        found = max(found, written - least if written else 0)
    return found


def own_lag(region: Region, group: RowGroup, name: str) -> int | None:
    """The lag that the kernel of the last node states for its rows."""
    tile = group.tiles[region.nodes[-1].outputs[0]]
    kernel = kernels.named(tile.node.op, region.choices[-1].symbol)
    assert kernel is not None
    stated = kernel.in_place(tile.node, tile.graph)
    found = {stated.get(i) for i, each in enumerate(tile.node.inputs) if each == name}
    return found.pop() if len(found) == 1 else None


def regions(seed: int) -> Iterator[tuple[Region, Graph]]:
    """Layers of a random network that follow one another, as functions with random rows."""
    case = generate(seed)
    parts = compiling.parts_of(evaluation.graph_of(case.net, case.outputs), "native")
    rng = np.random.default_rng(seed)
    for first in range(len(parts.regions)):
        for end in range(first + 1, len(parts.regions) + 1):
            found = in_rows(parts.regions[first:end], parts.graph, BOARD.cpu, rng)
            if found:
                yield found, parts.graph


@pytest.mark.sampled(1)
@pytest.mark.parametrize("first", range(0, 64, 16))
def test_a_lag_is_what_a_simulation_of_steps_finds(first: int) -> None:
    checked = 0
    for seed in range(first, first + 16):
        for region, graph in regions(seed):
            checked += _check(region, graph)
    assert checked > 20


def _check(region: Region, graph: Graph) -> int:
    """Checks the lags of a function. Returns how many are neither 0 nor those of whole tensors."""
    (made,) = registry()["builtin"].lower([region], graph, BOARD)
    group = tiles.of(region.nodes, graph, [choice.rows for choice in region.choices])
    done = list(accesses(made))
    names = [p.name for p in made.parameters]
    inputs = [p.name for p in made.parameters if p.role is Role.INPUT]
    assert {names[pair.input] for pair in made.in_place} - {"scratch"} == set(inputs)
    output = graph.types[made.outputs[0]]
    partial = 0
    for pair in made.in_place:
        assert names[pair.output] == OUTPUT
        if names[pair.input] == "scratch":
            # More than the least: buffers that keep no rows are not given away.
            assert over_scratch(made) <= pair.lag < output.nbytes
            continue
        tensor = made.inputs[inputs.index(names[pair.input])]
        data = graph.types[tensor]
        wanted = expected(
            done,
            names[pair.input],
            output.nbytes > data.nbytes,
            own_lag(region, group, tensor),
        )
        unit = max(data.dtype.nbytes, output.dtype.nbytes)
        assert pair.lag == -(-wanted // unit) * unit, (region.nodes[-1].outputs[0], pair)
        partial += 0 < pair.lag < output.nbytes
    return partial
