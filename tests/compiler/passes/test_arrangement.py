"""Arrangements do to arrays what the reshapes and transposes do from which they are made."""

from __future__ import annotations

import math

import numpy as np
import pytest

from microgen.compiler.passes.arrangement import Arrangement
from microgen.graph.ir.graph import Array


def _applied(arranged: Arrangement, source: Array) -> Array:
    return source.reshape(arranged.sizes).transpose(arranged.order).reshape(arranged.shape)


def _factors(rng: np.random.Generator, size: int) -> tuple[int, ...]:
    found = []
    while size > 1:
        found.append(int(rng.choice([k for k in range(2, size + 1) if size % k == 0])))
        size //= found[-1]
    for _ in range(int(rng.integers(3))):
        found.insert(int(rng.integers(len(found) + 1)), 1)
    return tuple(found) or (1,)


def _chain(seed: int) -> tuple[Array, Array, Arrangement]:
    """A source, the result of a random chain of reshapes and transposes, and its arrangement."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.choice([1, 2, 3, 4, 6], int(rng.integers(1, 5))))
    source = np.arange(math.prod(shape)).reshape(shape)
    result, arranged = source, Arrangement.same(shape)
    for _ in range(int(rng.integers(1, 7))):
        if rng.integers(2):
            result = result.reshape(_factors(rng, result.size))
            arranged = arranged.reshaped(result.shape)
            continue
        axes = tuple(int(k) for k in rng.permutation(result.ndim))
        found = arranged.transposed(axes)
        if found is None:
            break
        arranged, result = found, result.transpose(axes).copy()
    return source, result, arranged


@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_a_chain_is_one_arrangement(first: int) -> None:
    for seed in range(first, first + 100):
        source, result, arranged = _chain(seed)
        np.testing.assert_array_equal(_applied(arranged, source), result)
        np.testing.assert_array_equal(_applied(arranged.merged(), source), result)
        np.testing.assert_array_equal(_applied(arranged.coalesced(), source), result)
        np.testing.assert_array_equal(source.reshape(-1)[arranged.indices()], result.reshape(-1))
        assert arranged.is_view == np.array_equal(source.reshape(-1), result.reshape(-1))
        moved = source
        for shape, axes in arranged.moves():
            moved = moved.reshape(shape).transpose(axes)
        np.testing.assert_array_equal(moved, result)


@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_the_inverse_makes_the_source(first: int) -> None:
    for seed in range(first, first + 100):
        source, result, arranged = _chain(seed)
        back = arranged.inverse()
        if back is not None:
            np.testing.assert_array_equal(_applied(back, result), source)
            both = arranged.then(back)
            assert both is None or both.is_view


@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_operands_are_broadcast_in_both_layouts(first: int) -> None:
    for seed in range(first, first + 100):
        source, result, arranged = _chain(seed)
        rng = np.random.default_rng(seed)
        shape = tuple(int(n) if rng.integers(2) else 1 for n in result.shape)
        like = arranged.like(shape)
        back = like.inverse() if like else None
        if like is not None and back is not None:
            operand = rng.integers(0, 9, shape)
            laid = _applied(back, operand)
            assert laid.shape == like.source
            np.testing.assert_array_equal(_applied(arranged, source + laid), result + operand)


def test_axes_of_size_1_have_places() -> None:
    arranged = Arrangement.transpose((1, 1, 8, 4), (0, 3, 1, 2))
    assert arranged.places() == (0, 3, 1, 2)
    assert arranged.reshaped((1, 4, 8)).places() == (0, 3, 2)
    assert arranged.reshaped((2, 2, 8)).places() == (None, None, 2)


def test_factors_that_do_not_divide_have_no_runs() -> None:
    arranged = Arrangement.same((4, 6)).reshaped((3, 8))
    assert arranged.transposed((1, 0)) is None
    assert arranged.inverse() is None
    assert Arrangement.same((0, 2)).transposed((1, 0)) is None
