"""Tables of ways to tamper with a firmware, each with the check that has to notice it.

To add one, add a row to the table in ``headers.py``, ``symbols.py`` or ``code.py``; or write a
function there that changes an ``Elf32``, and put ``@TABLE.caught_by`` with the name of a check in
front of it. If its name begins with ``arm_`` or ``riscv_``, it is for these cores only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.tamper.elf32 import Elf32, Record

UNREADABLE = "unreadable"  # instead of a check: the file is refused


@dataclass(frozen=True)
class Tamper:
    """A way to change an ELF file. At least one of ``checks`` has to fail."""

    name: str
    checks: tuple[str, ...]
    apply: Callable[[Elf32], None]

    def boards(self, names: Sequence[str]) -> list[str]:
        """Those of the boards whose cores it is for."""
        is_of = {"arm_": lambda name: "riscv" not in name, "riscv_": lambda name: "riscv" in name}
        only = next((is_of[prefix] for prefix in is_of if self.name.startswith(prefix)), None)
        return [name for name in names if only is None or only(name)]


class Table:
    """Tampers in their order."""

    def __init__(self) -> None:
        self.tampers: list[Tamper] = []

    def caught_by(
        self, *checks: str
    ) -> Callable[[Callable[[Elf32], None]], Callable[[Elf32], None]]:
        """Adds the decorated function."""

        def add_row(function: Callable[[Elf32], None]) -> Callable[[Elf32], None]:
            self.tampers.append(Tamper(function.__name__, checks, function))
            return function

        return add_row

    def rows(self, *rows: tuple[str, str, Callable[[Elf32], object]]) -> None:
        """Adds rows of a name, a check and the change."""
        self.tampers += [Tamper(name, (check,), change) for name, check, change in rows]


def add(record: Record, **fields: int) -> None:
    """Add to fields of a record, named without their prefix."""
    for field, value in fields.items():
        name = record.name(field)
        record[name] = (record[name] + value) & 0xFFFFFFFF


def put(record: Record, **fields: int) -> None:
    """Set fields of a record, named without their prefix."""
    for field, value in fields.items():
        record[record.name(field)] = value
