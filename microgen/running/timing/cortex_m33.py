"""Cortex-M33, fitted: Arm's manual (100230) has no table of timings."""

from __future__ import annotations

from dataclasses import replace

from microgen.running.timing.core import CoreTimings, Flash, TimingRow
from microgen.running.timing.cortex_m3 import CORTEX_M4
from microgen.running.timing.one_by_one import Neighbours

# Cycles of a taken branch; Cortex-M4 takes 1.
_REFILL = 2
_FIT = (
    "fitted to nRF5340 (docs/explanation/timing.md): Cortex-M4's timings, taken branches refill in "
    "2 cycles"
)


def _fitted(row: TimingRow) -> TimingRow:
    return replace(row, source=_FIT, taken=_REFILL if row.taken == 1 else row.taken)


CORTEX_M33 = CoreTimings(
    "cortex-m33",
    "Cortex-M33",
    tuple(_fitted(row) for row in CORTEX_M4.rows),
    Neighbours(),
    CORTEX_M4.assumptions[:1] + CORTEX_M4.assumptions[-1:],
    is_fitted=True,
    unaligned=1,
    flash=Flash(16, 256, 32),  # 128 bits, a cache of 8 KB for both, as in nRF5340
)
