"""RV32IMAC as SiFive's E31 has it, from the manual of FE310-G000; other cores differ."""

from __future__ import annotations

from microgen.running.timing import operands
from microgen.running.timing.core import Core, Row
from microgen.running.timing.in_order import InOrder

_E31 = "SiFive FE310-G000 Manual, section 3.3"
_BRANCH = "SiFive FE310-G000 Manual, section 3.2: no cycles if predicted, which is assumed"
_FLOAT = "fitted: assumed, E31 has no FPU"

_ROWS = (
    Row(r"lw|c\.lw\w*|flw", 1, _E31, latency=2),
    Row(r"l[bh]u?", 1, _E31, latency=3),
    Row(r"mul\w*", 1, _E31, latency=5, unit="multiplier"),
    Row(r"(div|rem)u?", 1, _E31, latency=17, unit="multiplier"),
    Row(r"csr\w*", 1, _E31, latency=3),
    Row(r"f(div|sqrt).*", 20, _FLOAT, unit="alone"),
    Row(r"f(add|sub|mul|madd|msub|nmadd|nmsub|cvt)\..*", 1, _FLOAT, latency=4),
    Row(r"b\w+|j|jal|jalr|jr|ret", 1, _BRANCH),
    Row(r".*", 1, _E31),
)

E31 = Core(
    "sifive-e31",
    "SiFive E31 (RV32IMAC)",
    _ROWS,
    InOrder(1, busy=frozenset({"multiplier"}), read=operands.riscv),
    (
        "a multiply begins when the one before has ended",
        "divides take 17 cycles, the middle of 2 to 33",
        "branches are predicted",
    ),
    is_fitted=True,
)
