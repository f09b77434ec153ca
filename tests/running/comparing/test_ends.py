"""Which samples are equal from end to end, whose layers are read, and what layers explain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from microgen.graph.ir.graph import ArrayType, DType, Graph, Node, Origin
from microgen.graph.ops.unary.functions import AbsAttrs
from microgen.running.comparing.ends import MOST, MOST_VAGUE, End, Ends, explained
from microgen.running.runner.compare import Comparison, Difference, Held


def _end(apart: float, bound: float) -> End:
    values = np.array([4.0, 1.0], np.float32)
    found = values + np.array([0, apart], np.float32)
    return End(found, values, np.array([0.0, bound]))


EQUAL, WITHIN, BEYOND, VAGUE = _end(0, 0), _end(0.5, 1), _end(2, 1), _end(3, np.inf)


def _ends(*each: End) -> Ends:
    return Ends([[end] for end in each])


def test_an_unlimited_bound_says_nothing_about_an_element_that_differs() -> None:
    ends = _ends(EQUAL, WITHIN, BEYOND, VAGUE, _end(0, np.inf))
    assert ends.unequal == (2, 3)
    assert ends.vague == {3}
    assert (ends.off, ends.ratio) == (0.75, 2)


@pytest.mark.parametrize(
    ("each", "chosen"),
    [
        ((WITHIN, BEYOND, VAGUE), (0, 1, 2)),  # few
        ((EQUAL, *[WITHIN] * MOST, EQUAL), (1,)),  # the largest difference
        ((EQUAL, *[WITHIN] * MOST, BEYOND, _end(9, 1)), (1 + MOST,)),  # the first beyond its bound
        ((*[EQUAL] * MOST, VAGUE, _end(2.5, np.inf)), (MOST, MOST + 1)),  # only layers can judge
        ((*[VAGUE] * (2 * MOST_VAGUE), BEYOND), (*range(MOST_VAGUE - 1), 2 * MOST_VAGUE)),
    ],
)
def test_layers_are_read_for_the_samples_that_need_it(
    each: Sequence[End], chosen: tuple[int, ...]
) -> None:
    assert _ends(*each).chosen(is_exact=False, in_sequence=False) == chosen
    before = tuple(range(chosen[-1] + 1))
    assert _ends(*each).chosen(is_exact=False, in_sequence=True) == before


def test_integers_are_read_for_one_sample() -> None:
    ends = _ends(EQUAL, BEYOND, _end(9, 0))
    assert ends.chosen(is_exact=True, in_sequence=False) == (1,)
    assert ends.chosen(is_exact=True, in_sequence=True) == (0, 1)


def _held(sample: int, tensor: str, ratio: float) -> Held:
    return Held(sample, None, tensor, tensor, "1 step", 1.0, ratio)


def _graph() -> Graph:
    kind = ArrayType((2,), DType.FLOAT32)
    node = Node("abs", ("x",), ("y",), AbsAttrs(), Origin("m", "y"))
    return Graph("m", ("x",), ("y",), (node,), {"x": kind, "y": kind}, {})


@pytest.mark.parametrize(
    ("held", "samples"),
    [
        (((0, "y", 0.5), (1, "y", 1.0)), {0, 1}),
        (((0, "t", 0.5), (0, "y", 0.0), (1, "y", 0.0)), {0}),  # of 1, no layer differs
        (((0, "t", 0.5), (1, "y", 1.0)), {1}),  # of 0, the output was not compared
    ],
)
def test_a_difference_needs_layers_that_differ_and_outputs_that_were_compared(
    held: Sequence[tuple[int, str, float]], samples: set[int]
) -> None:
    own = Comparison(tuple(_held(*one) for one in held), (), None)
    assert explained(_ends(BEYOND, BEYOND), _graph(), own) == samples


def test_nothing_is_explained_by_layers_beyond_their_bounds() -> None:
    first = Difference(0, None, "y", "y", (0,), 1.0, 2.0, 1, 2, 1.0)
    own = Comparison((_held(0, "y", 2.0),), (), first)
    assert not explained(_ends(BEYOND), _graph(), own)


def test_the_firmwares_roundings_explain_what_no_bound_limits() -> None:
    own = Comparison((_held(0, "y", 0.0),), (), None)
    assert explained(_ends(VAGUE), _graph(), own) == {0}
