"""The model's header: sizes, structures of pointers, the entry point."""

from __future__ import annotations

from typing import Any

from microgen import cnames
from microgen.emit.unit import Unit
from microgen.program import Port


def header(unit: Unit) -> dict[str, Any]:
    """Values of ``include/tvmgen.h.j2``."""
    return {
        **unit.common(),
        "inputs": [_port(port, unit) for port in unit.program.inputs],
        "outputs": [_port(port, unit) for port in unit.program.outputs],
        "has_state": bool(unit.program.state),
    }


def _port(port: Port, unit: Unit) -> dict[str, Any]:
    return {
        "name": port.name,
        "nbytes": port.type.nbytes,
        "size_macro": f"{unit.prefix}_{port.name}_SIZE".upper(),
        "comment": f"{cnames.comment(port.tensor, 60)}: {port.type}{_fixed(port)}",
    }


def _fixed(port: Port) -> str:
    """What the header says of an input that has one value only."""
    return f", always {list(port.fixed)}: not read" if port.fixed else ""
