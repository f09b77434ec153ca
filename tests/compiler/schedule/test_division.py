"""The division of a model's calls into single ones and functions with rows."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from microgen import planner
from microgen.compiler import codegens, lowering
from microgen.compiler.partition import Partition
from microgen.compiler.schedule import division
from microgen.compiler.schedule.division import CallRange, Division, Pieces
from microgen.compiler.schedule.options import space
from microgen.compiler.schedule.state import scheduled
from microgen.graph.ir.graph import Graph
from tests.compiler.schedule.costs import M4, parts_of
from tests.support.graphs import Builder


def chain() -> Graph:
    """Convolutions of which the first have large results."""
    b = Builder()
    data = b.conv(b.input(1, 16, 16, 4), 16)
    data = b.conv(b.depthwise(data), 8, 1)
    return b.graph(b.dense(b.conv(data, 8, 3, stride=2), 4))


def residual() -> Graph:
    """A residual block between two convolutions."""
    b = Builder()
    first = b.conv(b.input(1, 12, 12, 4), 8)
    return b.graph(b.conv(b.add(first, b.conv(b.conv(first, 8), 8)), 4, 1))


GRAPHS = {"chain": chain, "residual": residual}


def divided(parts: Partition) -> Pieces:
    return division.pieces(space(parts, M4.cpu, prefers_shared=False), M4.cpu)


def every(pieces: Pieces, end: int) -> Iterator[tuple[CallRange, ...]]:
    """All divisions of the regions before ``end``, with the options of each piece that no other
    option of the same regions beats."""
    if end == 0:
        yield ()
    for piece in _best(pieces.ending[end]):
        for before in every(pieces, piece.first):
            yield (*before, piece)


def _best(pieces: Sequence[CallRange]) -> Iterator[CallRange]:
    for _, same in itertools.groupby(sorted(pieces, key=lambda p: p.first), lambda p: p.first):
        least: list[CallRange] = []
        for piece in sorted(same, key=lambda p: (p.cycles, p.nbytes)):
            if not least or piece.nbytes < least[-1].nbytes:
                least.append(piece)
        yield from least


@pytest.mark.parametrize("name", GRAPHS)
def test_it_is_the_fastest_of_all_in_every_number_of_bytes(name: str) -> None:
    parts = parts_of(GRAPHS[name]())
    pieces = divided(parts)
    found = [Division(one) for one in every(pieces, len(parts.regions))]
    limits = sorted({one.nbytes for one in found})
    assert len(limits) > 2, "there is nothing to choose"
    for limit in limits:
        fastest = pieces.fastest(limit)
        assert fastest is not None
        assert fastest.nbytes <= limit
        assert fastest.cycles == min(one.cycles for one in found if one.nbytes <= limit)
    assert pieces.fastest(limits[0] - 1) is None
    assert pieces.least().nbytes == limits[0]


@pytest.mark.parametrize("name", GRAPHS)
def test_all_pieces_but_one_may_have_a_limit_of_their_own(name: str) -> None:
    parts = parts_of(GRAPHS[name]())
    pieces = divided(parts)
    found = [Division(one) for one in every(pieces, len(parts.regions))]
    limits = sorted({piece.nbytes for one in found for piece in one.pieces})
    for others in limits[:: len(limits) // 5]:
        fits = [one for one in found if sum(p.nbytes > others for p in one.pieces) <= 1]
        fastest = pieces.fastest(others=others)
        assert (fastest is None) == (not fits)
        if fastest:
            assert sum(piece.nbytes > others for piece in fastest.pieces) <= 1
            assert fastest.cycles == min(one.cycles for one in fits)


@pytest.mark.parametrize("name", GRAPHS)
def test_the_front_gets_slower_and_smaller(name: str) -> None:
    front = list(divided(parts_of(GRAPHS[name]())).front())
    assert [one.cycles for one in front] == sorted(one.cycles for one in front)
    assert [one.nbytes for one in front] == sorted({one.nbytes for one in front}, reverse=True)


@pytest.mark.parametrize("name", GRAPHS)
def test_functions_that_are_left_out_are_of_no_use(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = parts_of(GRAPHS[name]())
    found = divided(parts)
    monkeypatch.setattr(division._Pieces, "_enough", lambda *_: sys.maxsize)
    all_of_them = divided(parts)
    assert sum(map(len, found.ending)) < sum(map(len, all_of_them.ending))
    assert list(map(_numbers, found.front())) == list(map(_numbers, all_of_them.front()))
    assert _numbers(found.least()) == _numbers(all_of_them.least())


def _numbers(one: Division) -> list[tuple[int, int, int, int]]:
    return [(piece.first, piece.end, piece.nbytes, piece.cycles) for piece in one.pieces]


def test_an_input_whose_bytes_are_free_later_takes_the_first_results() -> None:
    """In the workspace the results may begin before it, in the caller's buffer they may not."""
    b = Builder()
    first = b.conv(b.input(1, 16, 16, 16), 12)
    parts = parts_of(b.graph(b.conv(b.conv(first, 4), 4)))
    (name,) = parts.graph.inputs
    nbytes = parts.graph.types[name].nbytes
    least = {
        before: divided(replace(parts, planned={name: before})).least().nbytes
        for before in (0, sys.maxsize)
    }
    assert nbytes < least[sys.maxsize] < least[0] <= divided(parts).least().nbytes + nbytes


@pytest.mark.parametrize("name", GRAPHS)
def test_a_plan_needs_no_less_and_little_more(name: str) -> None:
    parts = parts_of(GRAPHS[name]())
    found = space(parts, M4.cpu, prefers_shared=False)
    for one in division.pieces(found, M4.cpu).front():
        made = scheduled(found, one.picks, {})
        program = lowering.lower(
            made, codegens.registry(), M4, module="m", output_names=parts.graph.outputs
        )
        plan = planner.plan(program)
        assert one.nbytes <= plan.peak <= one.nbytes + 16 * len(program.calls)
        assert [len(call.steps) for call in program.calls] == [
            piece.end - piece.first for piece in one.pieces
        ]
