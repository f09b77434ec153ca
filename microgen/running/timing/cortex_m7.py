"""Cortex-M7, fitted: Arm's manual (DDI 0489) has no table of timings."""

from __future__ import annotations

from microgen.running.timing.core import CoreTimings, Flash, TimingRow
from microgen.running.timing.in_order import InOrder

_DUAL = "fitted: assumed, two instructions a cycle on different units; compared as a whole"
_FIT = "fitted: assumed, compared as a whole (docs/explanation/timing.md)"
_DIVIDE = "fitted: 7 assumed, as on Cortex-M4"

_ROWS = (
    TimingRow(r"b|bl", 1, _FIT, taken=0, unit="branch"),
    TimingRow(r"b(?!x|fc|fi|ic|kpt)\w\w|cbn?z", 1, _FIT, taken=0, unit="branch"),
    TimingRow(r"bx|blx", 1, _FIT, taken=1, unit="branch"),
    TimingRow(r"tb[bh]", 3, _FIT, taken=4, unit="alone"),
    TimingRow(r"ldrd", 1, _DUAL, latency=2, unit="memory"),
    TimingRow(r"strd", 1, _DUAL, unit="memory"),
    TimingRow(r"ldm.*|pop|stm.*|push", 1, _FIT, each=1, taken=1, unit="alone"),
    TimingRow(r"ldr.*", 1, _DUAL, latency=2, taken=3, unit="memory"),
    TimingRow(r"str.*", 1, _DUAL, unit="memory"),
    TimingRow(r"[su]div", 7, _DIVIDE, unit="alone"),
    TimingRow(r"v(div|sqrt)\.f64", 28, _FIT, unit="alone"),
    TimingRow(r"v(div|sqrt).*", 14, _FIT, unit="alone"),
    TimingRow(r"v(n?ml|fn?m)[as]\.f64", 2, _FIT, latency=8, unit="fpu"),
    TimingRow(r"v(n?ml|fn?m)[as]\..*", 1, _FIT, latency=6, unit="fpu"),
    TimingRow(r"v(add|sub|n?mul|cvt\w*|rint\w*)(\..*)?", 1, _FIT, latency=3, unit="fpu"),
    TimingRow(r"v(ldm|stm).*|vpush|vpop", 1, _FIT, each=1, unit="alone"),
    TimingRow(r"v(ldr|str).*", 1, _DUAL, latency=2, unit="memory"),
    TimingRow(
        r"(ml[as]|[su]mull|[su]ml[as]\w+|sm[mu]\w+|mul)s?", 1, _DUAL, latency=2, unit="multiply"
    ),
    TimingRow(
        r"(s|u)(xt|sat|add|sub|sad)\w+|pkh\w+|[us]bf[xic]|bf[ic]|rev\w*", 1, _DUAL, unit="shift"
    ),
    TimingRow(r".*", 1, _DUAL, taken=4, unit="alu"),
)

CORTEX_M7 = CoreTimings(
    "cortex-m7",
    "Cortex-M7",
    _ROWS,
    InOrder(2, {"alu": 2}),
    ("branches are predicted", "divides take 7 cycles", "data in RAM is in TCM or in the cache"),
    is_fitted=True,
    flash=Flash(32, 512, 64),  # 256 bits, caches of 16 KB each, as in STM32H7
)
