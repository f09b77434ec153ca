"""The memory plan as symbols in assembly.

Several models may share a workspace, because they run one after the other. Each model has its pool
and its sids as symbols in a section without bytes. The linker puts these empty sections and the
section with the shared bytes at one address, so all pools begin where the bytes begin. No C file
names the symbols of two models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from microgen.planner.program.plan import Pool
from microgen.project.emit import symbols
from microgen.project.emit.unit import Unit, model_files, note_file

SHARED_FILE = "workspace.S"  # no file of a model has a name without its module's and a _


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
        # Only the first pool can be shared; all others are the model's own.
        "is_shared": unit.shares_workspace and pool is unit.plan.pools[0],
        "buffers": [p for p in unit.plan.placements if p.pool == pool.name],
    }


@dataclass(frozen=True, slots=True)
class Shared:
    """The memory that several models share: its ELF symbol, bytes, alignment, and the modules whose
    pools lie in it."""

    symbol: str
    nbytes: int
    alignment: int
    modules: tuple[str, ...]


def shared(units: Sequence[Unit]) -> Shared | None:
    """The workspace of the models that share one: the largest size and the widest alignment."""
    pools = {unit.module: unit.plan.pools[0] for unit in units if unit.shares_workspace}
    if not pools:
        return None
    return Shared(
        symbols.SHARED_WORKSPACE,
        # One model runs at a time, so the largest need is enough.
        max(pool.nbytes for pool in pools.values()),
        max(pool.alignment for pool in pools.values()),
        tuple(pools),
    )


def workspace(memory: Shared, units: Sequence[Unit]) -> dict[str, Any]:
    """Values of ``src/workspace.S.j2``."""
    return {
        "model": model_files(units),
        "note": note_file(units[0].module),
        "modules": ", ".join(memory.modules),
        "file": SHARED_FILE,
        "symbol": memory.symbol,
        "nbytes": memory.nbytes,
        "alignment": memory.alignment,
    }
