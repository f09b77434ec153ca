"""The packed interface on boards: verified, run, and compared layer by layer; its cost."""

from __future__ import annotations

from pathlib import Path

import pytest

import microgen
from tests.support.places import DIGITS
from tests.support.tools import NEEDS_ARM, NEEDS_LLVM, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_ARM]


def _run(tmp_path: Path, board: str, **options: object) -> microgen.RunResult:
    project = tmp_path / "-".join(map(str, options.values()))
    microgen.generate(DIGITS, board, project, **options)
    return microgen.run(project, profile=True)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("board", ["mps2_an386", "mps3_an547"])
def test_conventions_cost_their_checks_and_nothing_in_the_operators(
    board: str, tmp_path: Path
) -> None:
    """docs/reference/calling-conventions.md states the numbers."""
    plain = _run(tmp_path, board, interface="c")
    half = _run(tmp_path, board, interface="packed", unpacked_api=True)
    packed = _run(tmp_path, board, interface="packed")
    totals, operators = [], []
    for result in (plain, half, packed):
        assert result.checks.ok
        assert result.instructions is not None
        assert result.per_call is not None
        totals.append(result.instructions[0])
        operators.append(sum(result.per_call[0]))
    assert max(operators) - min(operators) <= 10  # differences in the compiler's choices
    own = [total - inside for total, inside in zip(totals, operators, strict=True)]
    assert own[0] < 100
    assert 100 < own[1] - own[0] < 300
    assert 300 * 7 < own[2] - own[0] < 700 * 7


@pytest.mark.parametrize(
    "toolchain", ["gcc", pytest.param("llvm", marks=[NEEDS_LLVM, pytest.mark.slow])]
)
def test_layers_are_read_from_packed_operators(toolchain: str, tmp_path: Path) -> None:
    project = tmp_path / "p"
    microgen.generate(DIGITS, "mps3_an547", project, interface="packed", toolchain=toolchain)
    result = microgen.run(project, compare=True)
    assert result.verdicts
    assert all(verdict.ok for verdict in result.verdicts)
