"""CMSIS-NN's results equal the numpy references byte for byte, in all of its three forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from microgen.target import board as boards
from tests.compiler.codegens.cmsis_nn import cases, harness
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = harness.NEEDS_TREE

# Boards for the plain, the DSP and the MVE form.
BOARDS = [
    pytest.param(name, marks=[NEEDS_NINJA, NEEDS_ARM])
    for name in ("mps2_an385", "mps2_an386", "mps3_an547")
]


@pytest.mark.parametrize("board", ["native", *BOARDS])
def test_every_op_equals_the_reference(board: str, tmp_path: Path) -> None:
    found = list(cases.all_cases(range(60)))
    examples = harness.accepted(found, boards.load(board))
    assert len(examples) > 0.9 * len(found)
    harness.check(examples, board, tmp_path)
