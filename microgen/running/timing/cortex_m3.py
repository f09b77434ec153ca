"""Cortex-M3 and Cortex-M4, from Arm's instruction timing tables."""

from __future__ import annotations

from microgen.running.timing.core import CoreTimings, TimingRow
from microgen.running.timing.one_by_one import Neighbours

_M3 = "DDI 0337I, table 3-1"
_M4 = "DDI 0439D, table 3-1"
_FPU = "DDI 0439D, table 7-1"

_DIVIDE = "divides take 7 cycles, the middle of 2 to 12, which depend on the operands"
_REFILL = (
    "a taken branch refills the pipeline (P, 1 to 3 cycles): 1 if its target is in the "
    "instruction, 2 if it is in a register or loaded, 1 more to a split instruction of 32 bits"
)
_LONG = "SMULL and UMULL take 4 of 3 to 5 cycles, SMLAL and UMLAL 5 of 4 to 7"
_SKIPPED = "an instruction that an IT block skips takes as long as one that it executes"


def _common(source: str) -> tuple[TimingRow, ...]:
    return (
        TimingRow(r"b|bl", 1, source, taken=1),
        TimingRow(r"b(?!x|fc|fi|ic|kpt)\w\w|cbn?z", 1, source, taken=1),
        TimingRow(r"bx|blx", 1, source, taken=2),
        TimingRow(r"tb[bh]", 3, source, taken=3),
        TimingRow(r"ldrd|strd", 3, source),
        TimingRow(r"ldm.*|pop", 1, source, each=1, taken=2),
        TimingRow(r"stm.*|push", 1, source, each=1),
        TimingRow(r"ldr.*", 2, source, taken=3),
        TimingRow(r"str.*", 2, source),
        TimingRow(r"[su]div", 7, source),
    )


_M3_ROWS = (
    *_common(_M3),
    TimingRow(r"ml[as]", 2, _M3),
    TimingRow(r"[su]mull", 4, _M3),
    TimingRow(r"[su]mlal", 5, _M3),
    TimingRow(r"mrs|msr", 2, _M3),
    TimingRow(r".*", 1, _M3, taken=2),
)
_M4_ROWS = (
    *_common(_M4),
    TimingRow(r"v(div|sqrt).*", 14, _FPU, latency=2, unit="fpu"),
    TimingRow(r"v(n?ml|fn?m)[as]\..*", 3, _FPU, latency=2, unit="fpu"),
    TimingRow(r"v(add|sub|n?mul|cvt\w*|rint\w*)(\..*)?", 1, _FPU, latency=2, unit="fpu"),
    TimingRow(r"v(ldm|stm).*|vpush|vpop", 1, _FPU, each=1),
    TimingRow(r"vldr|vstr", 1, _FPU, each=1),
    TimingRow(r"mrs|msr", 2, _M4),
    TimingRow(r".*", 1, _M4, taken=2),
)

CORTEX_M3 = CoreTimings(
    "cortex-m3",
    "Cortex-M3",
    _M3_ROWS,
    Neighbours(),
    (_DIVIDE, _REFILL, _LONG, _SKIPPED),
    unaligned=1,
)
CORTEX_M4 = CoreTimings(
    "cortex-m4", "Cortex-M4", _M4_ROWS, Neighbours(), (_DIVIDE, _REFILL, _SKIPPED), unaligned=1
)
