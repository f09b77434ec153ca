"""Networks whose parts go to several codegens and to the built-in kernels."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

import microgen
from tests.byoc import mixed
from tests.tools import NEEDS_ARM, NEEDS_NINJA

BOARD = "mps2_an386"
CONVENTIONS: dict[str, dict[str, Any]] = {
    "c": {},
    "packed": {"interface": "packed"},
    "graph": {"executor": "graph"},
}
QUICK = (  # of all combinations, those that are not slow; True: merged regions and composites
    *(("native", "c", merged) for merged in (False, True)),
    *(("native", "packed", True), ("native", "graph", False)),
    *((BOARD, "c", True), (BOARD, "packed", False), (BOARD, "graph", True)),
)


def _combinations() -> Iterator[ParameterSet]:
    for one in itertools.product(("native", BOARD), CONVENTIONS, (False, True)):
        board, convention, merged = one
        marks = [NEEDS_ARM] if board == BOARD else []
        marks += [] if one in QUICK else [pytest.mark.slow]
        name = f"{board}-{convention}-{'merged' if merged else 'single'}"
        yield pytest.param(*one, marks=marks, id=name)


@NEEDS_NINJA
@pytest.mark.parametrize(("board", "convention", "merged"), _combinations())
def test_three_codegens_and_the_kernels(
    board: str, convention: str, merged: bool, tmp_path: Path
) -> None:
    options = {**CONVENTIONS[convention], "composite": merged, "merge_regions": merged}
    made = microgen.generate(
        mixed.network(), board, tmp_path / "p", codegen=mixed.CODEGENS, **options
    )
    taken = mixed.takers(made)
    assert taken.keys() == {"", *mixed.CODEGENS}
    assert made.idle == ()
    found = microgen.run(tmp_path / "p", compare=True, sanitize=board == "native")
    assert found.checks.ok, found.checks.to_text()
    assert [str(v) for v in found.verdicts if not (v.ok or v.is_skipped)] == []
    assert not all(v.is_skipped for v in found.verdicts)
