"""Cortex-M0 and Cortex-M0+, from Arm's instruction timing tables; Cortex-M23 after them."""

from __future__ import annotations

from microgen.running.timing.core import CoreTimings, TimingRow
from microgen.running.timing.one_by_one import Sum

_M0 = "DDI 0432C, table 3-1"
_M0PLUS = "DDI 0484C, table 3-1"
_M23 = "fitted: as Cortex-M0+, with as many stages; divide assumed"
_MULTIPLIER = "multiplies take 1 cycle (32 in cores made with the small multiplier)"


def _rows(source: str, refill: int) -> tuple[TimingRow, ...]:
    """The table of a core that takes ``refill`` cycles to fill its pipeline after a jump."""
    return (
        TimingRow(r"bl", 2 + refill, source),
        TimingRow(r"b|bx|blx", 1 + refill, source),
        TimingRow(r"b(?!kpt|ics?$)\w\w", 1, source, taken=refill),
        TimingRow(r"ldm.*|stm.*|push", 1, source, each=1),
        TimingRow(r"pop", 1, source, each=1, taken=1 + refill),
        TimingRow(r"ldr.*|str.*", 2, source),
        TimingRow(r"mrs|msr|dmb|dsb|isb", 2 + refill, source),
        TimingRow(r".*", 1, source, taken=refill),
    )


# Cortex-M0 has three stages, Cortex-M0+ two, so a jump costs a cycle less there.
_M0_ROWS, _M0PLUS_ROWS = _rows(_M0, 2), _rows(_M0PLUS, 1)

CORTEX_M0 = CoreTimings("cortex-m0", "Cortex-M0", _M0_ROWS, Sum(), (_MULTIPLIER,))
CORTEX_M0PLUS = CoreTimings("cortex-m0plus", "Cortex-M0+", _M0PLUS_ROWS, Sum(), (_MULTIPLIER,))
CORTEX_M23 = CoreTimings(
    "cortex-m23",
    "Cortex-M23",
    (
        TimingRow(r"[su]div", 17, _M23),
        TimingRow(r"cbn?z", 1, _M23, taken=1),
        *_rows(_M23, 1),
    ),
    Sum(),
    (_MULTIPLIER, "divides take 17 cycles"),
    is_fitted=True,
)
