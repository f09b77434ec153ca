"""The stack of each kernel, as ``measured/stack_bytes.json`` has it, for cores and toolchains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from microgen.kernels import measured
from microgen.planner.program.types import Fields
from microgen.target import standing
from microgen.target.cpu import Cpu

# By part, such as "own", and by name. In bytes.
Rows: TypeAlias = Mapping[str, Mapping[str, int]]

RELEASES = {"gcc": 12, "llvm": 14}  # of the compilers whose code was measured
_WORD, _ALIGNMENT = 4, 8
_REGISTERS = 4  # arguments in registers, of Arm's cores; RISC-V's cores have more
_SHARED = 24  # registers that an operator saves around the call of an out-of-line form
# Added for a form that is compiled for a shape, if only the general form was measured. Such forms
# took up to 8 bytes more with GCC, and up to 208 with LLVM, which unrolls loops.
_SPECIALISED = {"gcc": 32, "llvm": 240}
# Frames differ with shapes and options of the compiler that were not measured, by 72 bytes of 1,000
# and by 48 of 450 in firmware of the tests. So a fraction, 1 / DOUBT, is reserved in addition.
DOUBT = 8
# For code whose stack is unknown: other code generators' functions, and new kernels. No kernel
# without an array for its data takes more.
UNKNOWN = 1024


def arguments(count: int) -> int:
    """The most bytes of stack for the arguments of one call."""
    nbytes = max(0, count - _REGISTERS) * _WORD
    return nbytes + -nbytes % _ALIGNMENT


def has_one_batch(params: Fields) -> bool:
    """Whether a kernel's parameters say that there is one batch."""
    return dict(params).get("batches") == 1


@dataclass(frozen=True)
class MeasuredColumn:
    """The measurements for a core and a toolchain, by name, in bytes."""

    # ``own`` operators that are compiled for their shapes, operators of ``one`` batch that take
    # less, ``shared`` out-of-line forms of kernels, and ``entry``, the code around operators
    rows: Rows
    # If there is no own form, its estimate is the out-of-line form plus this number of bytes.
    specialised: int = max(_SPECIALISED.values())

    def kernel(self, stem: str, *, is_shared: bool, one_batch: bool = False) -> int:
        """The most bytes of stack that a call of an operator takes if the kernel computes it,
        without the operator's own arguments."""
        general = self._of("shared", stem)
        if is_shared:
            return UNKNOWN if general is None else general + _SHARED
        own = self._of("one", stem) if one_batch else None
        own = self._of("own", stem) if own is None else own
        if own is None:
            return UNKNOWN if general is None else general + self.specialised
        return own

    @property
    def rolled(self) -> int:
        """The own stack of a function with rows, which depends on the number of its parts."""
        return self.entry("rolled") * 5 // 4

    def entry(self, name: str) -> int:
        """The stack of firmware without its operators, such as "c call"."""
        found = self._of("entry", name)
        return UNKNOWN if found is None else found

    def _of(self, part: str, name: str) -> int | None:
        return self.rows.get(part, {}).get(name)


@cache
def column(cpu: Cpu, toolchain: str) -> MeasuredColumn:
    """The measurement for the core and the toolchain. A core that was not measured gets the maximum
    of all cores that stand for it (``standing``), with any toolchain.
    """
    table = measured.load(measured.STACK_BYTES)
    by_column = table.by_column()
    own = by_column.get(f"{cpu.name} {toolchain}", {})
    # Networks were too large for some boards, so not every way to run them was measured.
    others = standing.cores(cpu, [name for name in table.cores if name != cpu.name])
    names = {core.name for core in others}
    most = _most([rows for column, rows in by_column.items() if column.partition(" ")[0] in names])
    found = own or most
    entry = {**most.get("entry", {}), **found.get("entry", {})}
    return MeasuredColumn({**found, "entry": entry}, _SPECIALISED[toolchain])


def _most(found: Sequence[Rows]) -> Rows:
    most: dict[str, dict[str, int]] = {}
    for rows in found:
        for part, numbers in rows.items():
            into = most.setdefault(part, {})
            for name, nbytes in numbers.items():
                into[name] = max(nbytes, into.get(name, 0))
    # A number for one batch is the most only if every column has one.
    every = [rows.get("one", {}).keys() for rows in found]
    ones = most.get("one", {})
    return {**most, "one": {n: b for n, b in ones.items() if all(n in keys for keys in every)}}
