"""The memory plan as symbols in assembly."""

from __future__ import annotations

from typing import Any

from microgen.planner.program.plan import Pool
from microgen.project.emit import symbols
from microgen.project.emit.unit import Unit


def memory(unit: Unit) -> dict[str, Any]:
    """Values of ``src/memory.S.j2``: the pools that are part of the firmware."""
    pools = [p for p in unit.plan.used_pools if p.is_internal and not p.is_constant]
    return {
        **unit.common(),
        "file": f"{unit.module}_memory.S",
        "pools": [_pool(pool, unit) for pool in pools],
    }


def _pool(pool: Pool, unit: Unit) -> dict[str, Any]:
    return {
        "symbol": symbols.arena(unit.module, pool.name),
        "section": symbols.workspace_section(pool.memory),
        "nbytes": pool.nbytes,
        "alignment": pool.alignment,
        "is_shared": unit.shares_workspace and pool is unit.plan.pools[0],
        "buffers": [p for p in unit.plan.placements if p.pool == pool.name],
    }
