"""``struct TVMMetadata`` of a model, for programs that ask at run time."""

from __future__ import annotations

from typing import Any

from microgen.planner.program.types import Port
from microgen.project.emit import literals
from microgen.project.emit.signature import described
from microgen.project.emit.unit import Unit


def metadata(unit: Unit) -> dict[str, Any]:
    """Values of ``src/metadata.c.j2``. Pools that the caller passes are not in it."""
    return {
        **unit.common(),
        "inputs": [_tensor(port, unit) for port in unit.program.inputs],
        "outputs": [_tensor(port, unit) for port in unit.program.outputs],
    }


def _tensor(port: Port, unit: Unit) -> dict[str, Any]:
    return {"name": literals.string(port.tensor), **described(port.type, unit)}
