"""The taps of windows, compared with all places and taps tried one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from microgen.graph.ops.window import Along, cells_seen, taps


def _by_hand(along: Along) -> set[tuple[int, int, int]]:
    """The (tap, place, cell) of every tap that is on data."""
    pairs = itertools.product(range(along.kernel), range(along.places))
    every = ((k, p, p * along.stride + k * along.dilation - along.before) for k, p in pairs)
    return {found for found in every if 0 <= found[2] < along.size}


def _found(along: Along) -> set[tuple[int, int, int]]:
    return {
        (tap, place, cell)
        for tap, places, cells in along.inside()
        for place, cell in zip(range(along.places)[places], range(along.size)[cells], strict=True)
    }


@pytest.mark.parametrize("seed", range(4))
def test_every_tap_that_lies_on_data_is_found_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(250):
        along = Along(*(int(rng.integers(1, 8)) for _ in range(5)), int(rng.integers(0, 12)))
        assert _found(along) == _by_hand(along), along
        assert along.cells >= len(_found(along)), along
        assert {tap for tap, *_ in _found(along)} <= set(along.reaching), along


def test_cells_seen_are_those_of_rows_times_those_of_columns() -> None:
    rows, columns = Along(4, 4, 3, 1, 1, 1), Along(5, 3, 2, 2, 1, 0)
    data, seen = np.ones((1, 4, 5, 1), np.int64), np.zeros((1, 4, 3, 1), np.int64)
    for _, places, cells in taps(rows, columns):
        seen[places] += data[cells]
    np.testing.assert_array_equal(cells_seen(rows, columns), seen[0])
