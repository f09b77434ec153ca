"""The kernel of tree_ensemble against the reference."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from microgen import kernels
from microgen.graph.ops.trees.tree_ensemble import OP
from tests.kernels.conformance import conformance as c
from tests.kernels.trees.tree_cases import random_case, wide_case

WIDE = [
    wide_case(3, 9, 1),  # children of two bytes
    wide_case(300, 9, 1, "value"),  # splits of two bytes
    wide_case(2, 8, 2, "target"),
    wide_case(2, 7, 1),  # rows of indices of one byte
    wide_case(5, 14, 4, "value"),  # children of four bytes
]


def test_tree_ensemble_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*WIDE, *map(random_case, range(90))], tmp_path)


def test_tree_ensemble_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([WIDE[0], *map(random_case, range(9))], tmp_path)


def test_cases_have_tables_of_all_widths() -> None:
    cases = [*WIDE, *map(random_case, range(90))]
    widths = {tuple(t.type.dtype.nbytes for t in case.inputs[3:6]) for case in cases}
    assert {split for split, _, _ in widths} == {1, 2}
    assert {child for _, child, _ in widths} == {1, 2, 4}
    assert {tree for _, _, tree in widths} == {2, 4}
    (kernel,) = kernels.registry()[OP.name]
    fields = [dict(kernel.params(case.node, case.graph)) for case in cases]
    assert {each["leaf_form"] for each in fields} == {0, 1, 2, 3, 4, 5}
    assert {each["aggregate"] for each in fields} == {0, 1, 2}


@pytest.mark.parametrize(
    ("position", "value"), [(1, 90), (3, 90), (4, 250), (5, 65000), (2, 2**32 - 1)]
)
def test_numbers_outside_of_tables_are_refused(position: int, value: int) -> None:
    case = random_case(2)
    (kernel,) = kernels.registry()[OP.name]
    assert kernel.refusal(case.node, case.graph) is None
    inputs = list(case.inputs)
    inputs[position] = replace(inputs[position], array=np.full_like(inputs[position].array, value))
    wrong = replace(case, inputs=tuple(inputs))
    assert "numbers outside of 0 to" in str(kernel.refusal(wrong.node, wrong.graph))
