"""The memory plan as symbols, in assembler."""

from __future__ import annotations

from typing import Any

from microgen.emit.unit import Unit


def memory(unit: Unit) -> dict[str, Any]:
    """Values of ``src/memory.s.j2``."""
    return {
        **unit.common(),
        "file": f"{unit.module}_memory.s",
        "arena": unit.arena,
        "alignment": unit.plan.pools[0].alignment,
        "buffers": unit.plan.placements,
        "is_shared": unit.shares_workspace,
    }
