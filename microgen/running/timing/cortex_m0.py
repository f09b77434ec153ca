"""Cortex-M0 and Cortex-M0+, from Arm's instruction timing tables; Cortex-M23 after them."""

from __future__ import annotations

from microgen.running.timing.core import CoreTimings, TimingRow
from microgen.running.timing.one_by_one import Sum

_M0 = "DDI 0432C, table 3-1"
_M0PLUS = "DDI 0484C, table 3-1"
_M23 = "fitted: as Cortex-M0+, with as many stages; divide assumed"
_MULTIPLIER = "multiplies take 1 cycle (32 in cores made with the small multiplier)"

_M0_ROWS = (
    TimingRow(r"bl", 4, _M0),
    TimingRow(r"b|bx|blx", 3, _M0),
    TimingRow(r"b(?!kpt|ics?$)\w\w", 1, _M0, taken=2),
    TimingRow(r"ldm.*|stm.*|push", 1, _M0, each=1),
    TimingRow(r"pop", 1, _M0, each=1, taken=3),
    TimingRow(r"ldr.*|str.*", 2, _M0),
    TimingRow(r"mrs|msr|dmb|dsb|isb", 4, _M0),
    TimingRow(r".*", 1, _M0, taken=2),
)
_M0PLUS_ROWS = (
    TimingRow(r"bl", 3, _M0PLUS),
    TimingRow(r"b|bx|blx", 2, _M0PLUS),
    TimingRow(r"b(?!kpt|ics?$)\w\w", 1, _M0PLUS, taken=1),
    TimingRow(r"ldm.*|stm.*|push", 1, _M0PLUS, each=1),
    TimingRow(r"pop", 1, _M0PLUS, each=1, taken=2),
    TimingRow(r"ldr.*|str.*", 2, _M0PLUS),
    TimingRow(r"mrs|msr|dmb|dsb|isb", 3, _M0PLUS),
    TimingRow(r".*", 1, _M0PLUS, taken=1),
)

CORTEX_M0 = CoreTimings("cortex-m0", "Cortex-M0", _M0_ROWS, Sum(), (_MULTIPLIER,))
CORTEX_M0PLUS = CoreTimings("cortex-m0plus", "Cortex-M0+", _M0PLUS_ROWS, Sum(), (_MULTIPLIER,))
CORTEX_M23 = CoreTimings(
    "cortex-m23",
    "Cortex-M23",
    (
        TimingRow(r"[su]div", 17, _M23),
        TimingRow(r"cbn?z", 1, _M23, taken=1),
        *(TimingRow(r.mnemonics, r.cycles, _M23, r.each, r.taken) for r in _M0PLUS_ROWS),
    ),
    Sum(),
    (_MULTIPLIER, "divides take 17 cycles"),
    is_fitted=True,
)
