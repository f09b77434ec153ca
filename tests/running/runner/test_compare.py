"""The first difference, its text, and how near layers come to their bounds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from microgen.graph.ir.beside import Expected
from microgen.graph.ir.graph import Array, Attrs, Node, Origin
from microgen.running.runner.compare import compare
from tests.running.runner import standin

MANIFEST = standin.manifest("native")


def expected(found: dict[str, Array], sample: int = 0) -> Iterator[tuple[int, Expected]]:
    """The expected values of four layers, and the tensors that were found."""
    ramp = np.arange(8, dtype=np.int8).reshape(2, 4)
    for call in range(4):
        name, values = f"layer{call}", ramp + np.int8(10 * call)
        node = Node("copy", (), (name,), Attrs(), Origin("m", f"model/copy{call}"))
        bound = np.zeros(values.shape)
        yield sample, Expected(node, name, values, bound, ("equal",), found.get(name))


def found() -> dict[str, Array]:
    return {one.tensor: one.values.copy() for _, one in expected({})}


def test_equal_layers_have_no_difference() -> None:
    result = compare(MANIFEST, [*expected(found()), *expected(found(), 1)])
    assert (result.first, result.compared, result.samples) == (None, 4, 2)
    assert result.is_exact


def test_the_first_differing_layer_and_element_are_named() -> None:
    wrong = found()
    wrong["layer2"][1, 1] -= 1
    wrong["layer2"][1, 3] += 7
    wrong["layer3"][0, 0] -= 50  # a later layer, so not the first difference
    first = compare(MANIFEST, [*expected(found()), *expected(wrong, 1)]).first
    assert first is not None
    assert (first.sample, first.call, first.index) == (1, 2, (1, 1))
    assert (first.found, first.expected) == (24, 25)
    assert str(first) == (
        'sample 1, call 2, layer "model/copy2": layer2[1,1] is 24, expected 25; '
        "2 of 8 elements differ, by 7 at most"
    )


def test_distances_do_not_wrap_around() -> None:
    _, one = next(expected(found()))
    low, high = (np.full((2, 4), limit, np.int8) for limit in (-128, 127))
    first = compare(MANIFEST, [(0, Expected(one.node, "layer0", low, one.bound, (), high))])
    assert first.first is not None
    assert first.first.largest == 255


def test_what_was_not_found_is_not_compared() -> None:
    some = found()
    del some["layer1"]
    result = compare(MANIFEST, expected(some), absent=["view"])
    assert (result.first, result.compared, result.absent) == (None, 3, ("view",))


def test_there_may_be_nothing_to_compare() -> None:
    result = compare(MANIFEST, expected({}))
    assert (result.first, result.compared, result.samples) == (None, 0, 0)


def _float(found: list[float], bound: float) -> tuple[int, Expected]:
    _, one = next(expected({}))
    values = np.array([1.0, np.inf, np.nan], np.float32)
    bounds = np.array([bound, 0, 0])
    array = np.array(found, np.float32)
    return 0, Expected(one.node, "layer0", values, bounds, ("equal", "2 ulp"), array)


def test_the_bound_and_how_near_the_layer_came_are_said() -> None:
    (held,) = compare(MANIFEST, [_float([1 + 2**-22, np.inf, np.nan], 2.0**-20)]).held
    assert (held.ratio, held.bound, held.rule) == (0.25, 2.0**-20, "2 ulp")
    assert held.to_json()["ratio"] == 0.25
    first = compare(MANIFEST, [_float([1 + 2**-19, np.inf, np.nan], 2.0**-20)]).first
    assert "expected 1 within 9.54e-07 (2 ulp)" in str(first)


@pytest.mark.parametrize("wrong", [[1, -np.inf, np.nan], [1, np.inf, 0], [np.nan, np.inf, np.nan]])
def test_special_values_are_the_same(wrong: list[float]) -> None:
    assert compare(MANIFEST, [_float(wrong, 0.5)]).first is not None


def test_where_anything_may_be_nothing_differs() -> None:
    result = compare(MANIFEST, [_float([7.0, np.inf, np.nan], np.inf)])
    assert result.first is None
    assert result.held[0].to_json()["bound"] is None
