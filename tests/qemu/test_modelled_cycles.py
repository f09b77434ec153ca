"""``run --profile`` on a board of each core that QEMU runs."""

from __future__ import annotations

from pathlib import Path

import pytest

import microgen
from tests.support.tools import NEEDS_ARM, NEEDS_CC, NEEDS_NINJA, NEEDS_RISCV

DIGITS = Path(__file__).parents[2] / "examples" / "digits" / "digits_int8.tflite"
# Board, core, and cycles per instruction: at least, at most.
CASES = [
    ("microbit", "Cortex-M0", 1.2, 2.2),
    ("mps2_an385", "Cortex-M3", 1.2, 2.2),
    ("netduinoplus2", "Cortex-M4", 1.1, 2.2),
    ("mps2_an500", "Cortex-M7", 0.5, 1.2),
    ("mps2_an505", "Cortex-M33", 1.1, 2.0),
    ("mps3_an547", "Cortex-M55", 0.8, 2.0),
    ("qemu_riscv32", "SiFive E31 (RV32IMAC)", 1.1, 2.5),
]
_USUAL = ("microbit", "mps3_an547")


@pytest.mark.sampled(1)
@NEEDS_NINJA
@NEEDS_CC
@pytest.mark.parametrize(
    ("board", "core", "least", "most"),
    [
        pytest.param(
            *case,
            marks=[
                NEEDS_RISCV if case[0] == "qemu_riscv32" else NEEDS_ARM,
                *([] if case[0] in _USUAL else [pytest.mark.slow]),
            ],
        )
        for case in CASES
    ],
)
def test_cycles_are_in_proportion(
    board: str, core: str, least: float, most: float, tmp_path: Path
) -> None:
    microgen.generate(DIGITS, board, tmp_path / "p")
    result = microgen.run(tmp_path / "p", profile=True)
    modelled = result.modelled
    assert modelled is not None
    assert result.instructions is not None
    assert result.per_call is not None
    assert modelled.conditions.core.title == core
    ((costs,),) = modelled.rows
    assert least < costs[0].cycles / result.instructions[0] < most
    assert all(c.cycles > 0.4 * n for c, n in zip(costs[1:], result.per_call[0], strict=True))
    assert modelled.outside_calls(costs).cycles > 0
    weights = max(call.flash_bytes for call in costs[1:])
    assert 0 < weights <= costs[0].flash_bytes < 4 * result.instructions[0]
    conditions = modelled.conditions
    milliseconds = conditions.milliseconds(costs[0].cycles)
    assert milliseconds is None or milliseconds == 1000 * costs[0].cycles / conditions.clock_hz
