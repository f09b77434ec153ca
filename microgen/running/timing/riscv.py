"""RV32IMAC as SiFive's E31 has it, from the manual of FE310-G000; other cores differ."""

from __future__ import annotations

from microgen.running.timing.core import CoreTimings, TimingRow
from microgen.running.timing.in_order import InOrder

_E31 = "SiFive FE310-G000 Manual, section 3.3"
_BRANCH = "SiFive FE310-G000 Manual, section 3.2: no cycles if predicted, which is assumed"
_FLOAT = "fitted: assumed, E31 has no FPU"

_ROWS = (
    TimingRow(r"lw|c\.lw\w*|flw", 1, _E31, latency=2),
    TimingRow(r"l[bh]u?", 1, _E31, latency=3),
    TimingRow(r"mul\w*", 1, _E31, latency=5, unit="multiplier"),
    TimingRow(r"(div|rem)u?", 1, _E31, latency=17, unit="multiplier"),
    TimingRow(r"csr\w*", 1, _E31, latency=3),
    TimingRow(r"f(div|sqrt).*", 20, _FLOAT, unit="alone"),
    TimingRow(r"f(add|sub|mul|madd|msub|nmadd|nmsub|cvt)\..*", 1, _FLOAT, latency=4),
    TimingRow(r"b\w+|j|jal|jalr|jr|ret", 1, _BRANCH),
    TimingRow(r".*", 1, _E31),
)

E31 = CoreTimings(
    "sifive-e31",
    "SiFive E31 (RV32IMAC)",
    _ROWS,
    InOrder(1, busy=frozenset({"multiplier"})),
    (
        "a multiply begins when the one before has ended",
        "divides take 17 cycles, the middle of 2 to 33",
        "branches are predicted",
    ),
    is_fitted=True,
)
