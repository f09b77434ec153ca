"""The kernel of tree_ensemble against the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from microgen import kernels
from microgen.graph.ops.trees.tree_ensemble import OP
from microgen.kernels.trees import tree_levels, tree_ranks
from tests.kernels.conformance import conformance as c
from tests.kernels.trees.tree_cases import random_case, small_case, wide_case

WIDE = [
    wide_case(3, 9, 1),  # children of two bytes
    wide_case(300, 9, 1, "value"),  # splits of two bytes
    wide_case(2, 8, 2, "target"),
    wide_case(2, 7, 1),  # rows of indices of one byte
    wide_case(5, 14, 4, "value"),  # children of four bytes
]

COMPLETE = [
    wide_case(4, 3, 1, "value"),  # leaves as bits
    wide_case(4, 3, 30, "value"),
    wide_case(3, 8, 2, "row"),  # windows of values
    wide_case(9, 5, 4, "target"),
    wide_case(5, 4, 8, "vote"),
    wide_case(270, 9, 1, "vote"),  # splits of two bytes
    wide_case(2, 9, 1, "row"),  # codes of two bytes
]
EQUAL = [
    wide_case(6, 9, 1, "value", digits=1),
    wide_case(6, 9, 1, digits=1),
    wide_case(5, 14, 4, "value", digits=2),  # children of four bytes
]
SMALL = [small_case(k) for k in range(24)]


def test_tree_ensemble_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*WIDE, *map(random_case, range(90))], tmp_path)


def test_tree_ensemble_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([WIDE[0], *map(random_case, range(9))], tmp_path)


@pytest.fixture
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels take trees for which their tables are too large."""
    for module in (tree_levels, tree_ranks):
        monkeypatch.setattr(module, "_MORE", 1000)
    monkeypatch.setattr(tree_ranks, "_SLOWER", 1000)


@pytest.mark.usefixtures("any_size")
def test_tree_ensemble_kernels_of_small_and_of_complete_trees(tmp_path: Path) -> None:
    c.check([*SMALL, *COMPLETE, *EQUAL], tmp_path)


@pytest.mark.usefixtures("any_size")
def test_tree_ensemble_inlined_bodies_of_small_and_of_complete_trees(tmp_path: Path) -> None:
    c.check_inlined([*SMALL[:8], *COMPLETE[:4], *EQUAL[:2]], tmp_path)


def _fields(symbol: str, cases: Sequence[c.Case]) -> list[dict[str, object]]:
    """The parameters of the cases that a kernel computes."""
    kernel = kernels.named(OP.name, symbol)
    assert kernel is not None
    taken = [case for case in cases if kernel.refusal(case.node, case.graph) is None]
    return [dict(kernel.params(case.node, case.graph)) for case in taken]


def test_cases_have_tables_of_all_widths() -> None:
    cases = [*WIDE, *map(random_case, range(90))]
    widths = {tuple(t.type.dtype.nbytes for t in case.inputs[3:6]) for case in cases}
    assert {split for split, _, _ in widths} == {1, 2}
    assert {child for _, child, _ in widths} == {1, 2, 4}
    assert {tree for _, _, tree in widths} == {2, 4}
    fields = _fields("mg_tree_ensemble_f32", cases)
    assert {each["leaf_form"] for each in fields} == {0, 1, 2, 3, 4, 5}
    assert {each["is_lazy"] for each in fields} == {0, 1}
    assert any(each["is_lazy"] and each["below"] for each in fields)
    assert {each["aggregate"] for each in fields} == {0, 1, 2}


@pytest.mark.usefixtures("any_size")
def test_cases_have_all_forms_of_levels() -> None:
    fields = _fields(
        "mg_tree_ensemble_f32_levels", [*COMPLETE, *SMALL, *map(random_case, range(40))]
    )
    assert {each["code_form"] for each in fields} == {0, 1, 3, 4, 5, 6}
    assert {each["aggregate"] for each in fields} == {0, 1, 2}
    assert {each["levels"] for each in fields} >= {0, 1, 2, 3, 4, 5}
    assert {each["split_bytes"] for each in fields} == {1, 2}
    assert {each["code_bytes"] for each in fields} == {1, 2, 4}


@pytest.mark.usefixtures("any_size")
def test_cases_have_all_forms_of_ranks() -> None:
    cases = [*COMPLETE, *SMALL, *EQUAL, *map(random_case, range(40))]
    fields = _fields("mg_tree_ensemble_f32_ranks", cases)
    assert {each["code_form"] for each in fields} == {1, 2, 3, 4, 5}
    assert {each["aggregate"] for each in fields} == {0, 1, 2}
    assert {each["code_bytes"] for each in fields} == {1, 2}
    assert {each["split_bytes"] for each in fields} == {1, 2}
    assert {each["child_bytes"] for each in fields} == {1, 2, 4}
    assert any(each["below"] for each in fields)


def test_ranks_that_take_longer_than_the_walk_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    case, kernel = EQUAL[1], kernels.named(OP.name, "mg_tree_ensemble_f32_ranks")
    assert kernel is not None
    assert "more time than the walk" in str(kernel.refusal(case.node, case.graph))
    monkeypatch.setattr(tree_ranks, "_SLOWER", 1000)
    assert kernel.refusal(case.node, case.graph) is None


@pytest.mark.usefixtures("any_size")
def test_trees_that_stop_before_their_leaves_have_no_tables_of_levels() -> None:
    case, kernel = SMALL[0], kernels.named(OP.name, "mg_tree_ensemble_f32_levels")
    assert kernel is not None
    assert kernel.refusal(case.node, case.graph) is None
    inputs = list(case.inputs)
    trees = inputs[5].array.copy()
    trees[0, 1] = 0
    inputs[5] = replace(inputs[5], array=trees)
    short = replace(case, inputs=tuple(inputs))
    assert kernel.refusal(short.node, short.graph) is not None


@pytest.mark.parametrize(
    ("position", "value"), [(1, 90), (3, 90), (4, 250), (5, 65000), (2, 2**32 - 1)]
)
def test_numbers_outside_of_tables_are_refused(position: int, value: int) -> None:
    case = random_case(2)
    kernel = kernels.registry()[OP.name][-1]
    assert kernel.refusal(case.node, case.graph) is None
    inputs = list(case.inputs)
    inputs[position] = replace(inputs[position], array=np.full_like(inputs[position].array, value))
    wrong = replace(case, inputs=tuple(inputs))
    assert "numbers outside of 0 to" in str(kernel.refusal(wrong.node, wrong.graph))
