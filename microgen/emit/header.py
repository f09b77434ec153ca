"""The model's header: sizes, structures of pointers, the entry point."""

from __future__ import annotations

from typing import Any

from microgen import cnames
from microgen.emit.unit import Unit
from microgen.program import Device, Port


def header(unit: Unit) -> dict[str, Any]:
    """Values of ``include/tvmgen.h.j2``."""
    return {
        **unit.common(),
        "inputs": [_port(port, unit) for port in unit.program.inputs],
        "outputs": [_port(port, unit) for port in unit.program.outputs],
        "has_state": bool(unit.program.state),
        "run_parameters": _run_parameters(unit),
        "devices": [device(d) for d in unit.program.devices],
    }


def _run_parameters(unit: Unit) -> list[str]:
    """The parameters of the entry point: structures of pointers."""
    structures = ["inputs", "outputs", *(["devices"] if unit.program.devices else [])]
    return [f"struct {unit.prefix}_{name} *{name}" for name in structures]


def device(device: Device) -> dict[str, Any]:
    """A device as templates see it: its field, its target, its context and its hooks."""
    return {
        "name": device.name,
        "target": cnames.comment(device.target),
        "context": device.context,
        "activate": device.activate,
        "open": device.open,
        "close": device.close,
        "deactivate": device.deactivate,
        "hooks": device.hooks,
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
