"""Cortex-M0 and Cortex-M0+, from Arm's instruction timing tables; Cortex-M23 after them."""

from __future__ import annotations

from microgen.running.timing.core import Core, Row
from microgen.running.timing.one_by_one import Sum

_M0 = "DDI 0432C, table 3-1"
_M0PLUS = "DDI 0484C, table 3-1"
_M23 = "fitted: as Cortex-M0+, with as many stages; divide assumed"
_MULTIPLIER = "multiplies take 1 cycle (32 in cores made with the small multiplier)"

_M0_ROWS = (
    Row(r"bl", 4, _M0),
    Row(r"b|bx|blx", 3, _M0),
    Row(r"b(?!kpt|ics?$)\w\w", 1, _M0, taken=2),
    Row(r"ldm.*|stm.*|push", 1, _M0, each=1),
    Row(r"pop", 1, _M0, each=1, taken=3),
    Row(r"ldr.*|str.*", 2, _M0),
    Row(r"mrs|msr|dmb|dsb|isb", 4, _M0),
    Row(r".*", 1, _M0, taken=2),
)
_M0PLUS_ROWS = (
    Row(r"bl", 3, _M0PLUS),
    Row(r"b|bx|blx", 2, _M0PLUS),
    Row(r"b(?!kpt|ics?$)\w\w", 1, _M0PLUS, taken=1),
    Row(r"ldm.*|stm.*|push", 1, _M0PLUS, each=1),
    Row(r"pop", 1, _M0PLUS, each=1, taken=2),
    Row(r"ldr.*|str.*", 2, _M0PLUS),
    Row(r"mrs|msr|dmb|dsb|isb", 3, _M0PLUS),
    Row(r".*", 1, _M0PLUS, taken=1),
)

CORTEX_M0 = Core("cortex-m0", "Cortex-M0", _M0_ROWS, Sum(), (_MULTIPLIER,))
CORTEX_M0PLUS = Core("cortex-m0plus", "Cortex-M0+", _M0PLUS_ROWS, Sum(), (_MULTIPLIER,))
CORTEX_M23 = Core(
    "cortex-m23",
    "Cortex-M23",
    (
        Row(r"[su]div", 17, _M23),
        Row(r"cbn?z", 1, _M23, taken=1),
        *(Row(r.mnemonics, r.cycles, _M23, r.each, r.taken) for r in _M0PLUS_ROWS),
    ),
    Sum(),
    (_MULTIPLIER, "divides take 17 cycles"),
    is_fitted=True,
)
