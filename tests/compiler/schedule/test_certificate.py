"""The certificate: no schedule of a small network needs less, and the search finds the least."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from microgen import planner
from microgen.base.errors import MicrogenError
from microgen.base.manifest.schedule import ChoiceRecord, FunctionChoices, ScheduleRecord
from microgen.compiler import codegens, lowering
from microgen.compiler.partition import Partition
from microgen.compiler.schedule import certificate, division, file
from microgen.compiler.schedule.options import space
from microgen.compiler.schedule.state import scheduled
from microgen.graph.ir.graph import Graph, Node, Quant
from microgen.graph.ops.reductions.reduction import MeanAttrs
from microgen.graph.rows import patches, tiles
from microgen.kernels.fitting import fitting
from tests.compiler.schedule.costs import M4, parts_of
from tests.support.graphs import Builder, random_graph

ALIGNMENT = 16


def chain(seed: int) -> Graph:
    """Three random layers."""
    rng = np.random.default_rng(seed)
    b = Builder(seed)
    size = int(rng.integers(5, 13))
    data = b.input(1, size, size, int(rng.choice([1, 4, 8])))
    for _ in range(3):
        padding = "SAME" if rng.integers(2) else "VALID"
        if rng.integers(3) == 0:
            data = b.depthwise(data, padding=padding)
        else:
            kernel, stride = int(rng.choice([1, 3])), int(rng.choice([1, 1, 2]))
            data = b.conv(data, int(rng.choice([4, 8, 16])), kernel, stride=stride, padding=padding)
    return b.graph(data)


def residual() -> Graph:
    """A block whose input is added to its result, and a 1x1 convolution before and after it."""
    b = Builder()
    first = b.conv(b.input(1, 8, 8, 4), 8, 1)
    return b.graph(b.conv(b.add(first, b.conv(first, 8)), 16, 1))


def inverted(stride: int) -> Graph:
    """A 1x1 convolution to many channels, windows on them, and a 1x1 convolution to few."""
    b = Builder()
    wide = b.conv(b.input(1, 12, 12, 4), 16, 1)
    return b.graph(b.conv(b.conv(wide, 8, 3, stride=stride), 4, 1))


def stem(kernel: int, stride: int) -> Graph:
    """A convolution with windows, a depthwise one, and a 1x1 convolution to few channels."""
    b = Builder()
    wide = b.conv(b.input(1, 12, 12, 3), 16, kernel, stride=stride)
    return b.graph(b.conv(b.depthwise(wide), 4, 1))


def headed() -> Graph:
    """A 1x1 convolution to many channels, and their means."""
    b = Builder()
    wide = b.conv(b.depthwise(b.input(1, 6, 6, 8)), 64, 1)
    attrs = MeanAttrs((1, 2), keep_dims=True)
    return b.graph(b.node("mean", attrs, wide, quant=Quant((0.01,), (3,))))


def shortcut() -> Graph:
    """A block that halves the image, with a 1x1 convolution beside it."""
    b = Builder()
    data = b.input(1, 12, 12, 8)
    beside = b.conv(data, 16, 1, stride=2)
    return b.graph(b.add(b.conv(b.conv(data, 16, 3, stride=2), 16), beside))


GRAPHS = {
    "residual": residual(),
    "inverted": inverted(1),
    "inverted, strided": inverted(2),
    "stem": stem(3, 2),
    "stem, plain": stem(5, 1),
    "headed": headed(),
    "shortcut": shortcut(),
    **{f"chain{seed}": chain(seed) for seed in range(6)},
}


def planned(parts: Partition) -> int:
    """Bytes of workspace."""
    program = lowering.lower(
        parts, codegens.registry(), M4, module="m", output_names=parts.graph.outputs
    )
    return planner.plan(program).peak


def divisions(count: int) -> Iterator[list[tuple[int, int]]]:
    """All ways to divide so many layers into functions, as first layers and ends."""
    for cuts in itertools.product([False, True], repeat=count - 1):
        ends = [n + 1 for n, cut in enumerate(cuts) if cut] + [count]
        yield list(zip([0, *ends], ends, strict=False))


def functions(nodes: Sequence[Node], graph: Graph) -> Iterator[FunctionChoices]:
    """All ways to compute layers in one function."""
    if len(nodes) == 1:
        for kernels in _kernels(nodes[0], graph):
            yield FunctionChoices("builtin", (ChoiceRecord((nodes[0].outputs[0],), kernels),))
        return
    for rows, columns in _paces(nodes, graph):
        try:
            group = tiles.of(nodes, graph, rows, 0, columns)
        except ValueError:
            continue
        own = [group.tiles[node.outputs[0]] for node in nodes]
        for symbols in itertools.product(*(_kernels(one.node, one.graph) for one in own)):
            yield FunctionChoices(
                "builtin",
                tuple(
                    ChoiceRecord((node.outputs[0],), symbol, rows=each, columns=some)
                    for node, symbol, each, some in zip(nodes, symbols, rows, columns, strict=True)
                ),
            )


def _paces(
    nodes: Sequence[Node], graph: Graph
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All rows and columns at a time that the search could try."""
    with contextlib.suppress(ValueError):
        yield from ((rows, (0,) * len(nodes)) for rows in division.paces(nodes, graph))
    found = patches.possible(nodes, graph)
    lengths = {nodes[first].outputs[0]: end - first for first, end in found}
    ones = (1,) * len(nodes)
    yield from ((ones, columns) for columns in division.patched(nodes, graph, lengths))


def _kernels(node: Node, graph: Graph) -> list[str]:
    """The kernels that no other beats in memory: one that does cannot make a schedule smaller."""
    found = [
        (one.scratch(node, graph), one.in_place(node, graph).get(0, 1 << 30), one.symbol)
        for one in fitting(node, graph, M4.cpu).kernels
    ]
    useful: list[tuple[int, int, str]] = []
    for one in sorted(found):
        if all(one[1] < other[1] for other in useful):
            useful.append(one)
    return [symbol for _, _, symbol in useful]


def every(parts: Partition) -> Iterator[Partition]:
    """All schedules of a partition, by kernels that could be of use."""
    nodes = [region.nodes[0] for region in parts.regions]
    for division_ in divisions(len(nodes)):
        ways = [list(functions(nodes[first:end], parts.graph)) for first, end in division_]
        for chosen in itertools.product(*ways):
            try:
                yield file.applied(ScheduleRecord(functions=chosen), parts, M4.cpu).partition
            except MicrogenError:
                continue


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", GRAPHS)
def test_no_schedule_needs_less_and_the_search_finds_the_least(name: str) -> None:
    parts = parts_of(GRAPHS[name])
    peaks = [planned(one) for one in every(parts)]
    assert len(peaks) > 2, "there is nothing to choose"
    bound = certificate.bound(parts, M4.cpu, division.ROWS, division.MOST_LAYERS)
    found = space(parts, M4.cpu, prefers_shared=False)
    least = division.pieces(found, M4.cpu).least()
    assert bound <= least.nbytes <= min(peaks)
    gaps = ALIGNMENT * len(parts.regions)
    assert least.nbytes <= bound + gaps
    assert planned(scheduled(found, least.picks, {})) <= min(peaks) + gaps


@pytest.mark.parametrize("seed", range(12))
def test_random_networks_need_no_less(seed: int) -> None:
    parts = parts_of(random_graph(seed))
    found = space(parts, M4.cpu, prefers_shared=False)
    bound = certificate.bound(parts, M4.cpu, division.ROWS, division.MOST_LAYERS)
    for one in division.pieces(found, M4.cpu).front():
        assert bound <= one.nbytes <= planned(scheduled(found, one.picks, {}))


@pytest.mark.parametrize("fed", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_models_that_are_fed_need_no_less(seed: int, fed: int) -> None:
    parts = replace(parts_of(chain(seed)), fed=fed)
    bound = certificate.bound(parts, M4.cpu, division.ROWS, division.MOST_LAYERS)
    least = division.pieces(space(parts, M4.cpu, prefers_shared=False), M4.cpu).least()
    assert bound <= least.nbytes <= bound + ALIGNMENT * len(parts.regions)


def test_patches_need_less_than_rows() -> None:
    """The search finds them, and they compute the wide tensor several times."""
    parts = parts_of(GRAPHS["inverted"])
    front = list(division.pieces(space(parts, M4.cpu, prefers_shared=False), M4.cpu).front())
    used = [any(any(getattr(o, "columns", ())) for o in one.picks.values()) for one in front]
    assert used[-1]
    assert not used[0]
    assert min(one.nbytes for one in front) < 0.8 * min(
        one.nbytes for one, is_patched in zip(front, used, strict=True) if not is_patched
    )


def test_a_bound_that_rows_do_not_reach_is_that_of_whole_tensors() -> None:
    parts = parts_of(GRAPHS["residual"])
    assert certificate.bound(parts, M4.cpu, (), 1) == 2 * 8 * 8 * 8
