"""Cortex-M55 and Cortex-M85, fitted: Arm's manuals (101051, 101924) have no table of timings."""

from __future__ import annotations

from microgen.running.timing.core import CoreTimings, Flash, TimingRow
from microgen.running.timing.in_order import InOrder

_BEATS = "Cortex-M55 (101051) computes two of a vector's four beats in a cycle; overlap fitted"
_LOOP = "low-overhead loops of Armv8.1-M (DDI 0553): the core remembers a loop's end; fitted"
_FIT = "fitted: assumed; single layers to compare with (docs/explanation/timing.md)"

_VECTORS = frozenset({"vmemory", "vmultiply", "valu"})


def _rows(beats: int) -> tuple[TimingRow, ...]:
    """The table of a core whose vector instructions take ``beats`` cycles."""
    many = r"(\.[suif]?\d+)?"
    return (
        TimingRow(r"le|letp", 0, _LOOP),
        TimingRow(r"wls\w*|dls\w*", 1, _LOOP, taken=2, unit="alone"),
        TimingRow(r"b|bl", 1, _FIT, taken=1, unit="branch"),
        TimingRow(r"b(?!x|fc|fi|ic|kpt)\w\w|cbn?z", 1, _FIT, taken=1, unit="branch"),
        TimingRow(r"bx|blx", 1, _FIT, taken=2, unit="branch"),
        TimingRow(r"tb[bh]", 3, _FIT, taken=2, unit="alone"),
        TimingRow(r"ldrd|strd", 1, _FIT, latency=2, unit="memory"),
        TimingRow(r"ldm.*|pop|stm.*|push", 1, _FIT, each=1, taken=2, unit="alone"),
        TimingRow(r"ldr.*", 1, _FIT, latency=2, taken=3, unit="memory"),
        TimingRow(r"str.*", 1, _FIT, unit="memory"),
        TimingRow(r"[su]div", 7, _FIT, unit="alone"),
        TimingRow(r"v(div|sqrt).*", 14, _FIT, unit="alone"),
        TimingRow(r"v(ld|st)[24].*", beats, _BEATS, latency=beats + 1, unit="vmemory"),
        TimingRow(r"v(ldr|str)[bhwd].*", beats, _BEATS, latency=beats + 1, unit="vmemory"),
        TimingRow(r"v(ldm|stm).*|vpush|vpop", 1, _FIT, each=1, unit="alone"),
        TimingRow(r"v(ldr|str).*", 1, _FIT, latency=2, unit="memory"),
        TimingRow(
            r"v(r?ml[as]|mul|q?r?dml|q?r?dmul|fm)\w*" + many,
            *(beats, _BEATS),
            latency=beats + 1,
            unit="vmultiply",
        ),
        TimingRow(r"vmrs|vmsr|vpst\w*|vpnot|vctp.*", 1, _FIT, unit="alu"),
        TimingRow(r"vmov", 1, _FIT, unit="alu"),
        TimingRow(r"v.*", beats, _BEATS, latency=beats, unit="valu"),
        TimingRow(
            r"(ml[as]|[su]mull|[su]ml[as]\w+|sm[mu]\w+|mul)s?", 1, _FIT, latency=2, unit="multiply"
        ),
        TimingRow(r".*", 1, _FIT, taken=2, unit="alu"),
    )


_ASSUMED = (
    "branches at the end of a low-overhead loop take no cycles",
    "vector instructions of different units overlap by one cycle",
    "data is in TCM, or in the cache",
)
CORTEX_M55 = CoreTimings(
    "cortex-m55",
    "Cortex-M55",
    _rows(2),
    InOrder(2, {"alu": 2}, is_narrow=True, overlap=_VECTORS),
    _ASSUMED,
    is_fitted=True,
    flash=Flash(32, 1024, 128),
)
CORTEX_M85 = CoreTimings(
    "cortex-m85",
    "Cortex-M85",
    _rows(2),
    InOrder(2, {"alu": 2}, overlap=_VECTORS),
    _ASSUMED,
    is_fitted=True,
    flash=Flash(32, 1024, 128),
)
