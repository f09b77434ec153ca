"""The constants in C. A comment at each one names the numbers of the model that it holds."""

from __future__ import annotations

from typing import Any

from microgen.base.names import cnames
from microgen.planner.program.plan import Pool
from microgen.planner.program.types import FirmwareConstant
from microgen.project.emit import layout, symbols, tables
from microgen.project.emit.unit import Unit


def constants(unit: Unit) -> dict[str, Any]:
    """Values of ``src/params.h.j2`` and ``src/params.c.j2``: the constants that are C arrays."""
    # The caller has the data of a pool that it passes: from a macro of the header.
    passed = {p.name for p in unit.plan.constants if p.pool in unit.passed_pools}
    held = unit.program.held_constants
    # The graph executor keeps its constants in its parameter file, except the constants that
    # modules get.
    own = [c for c in unit.program.constants if unit.graph is None or c.name in held]
    pools = [pool for pool in unit.plan.constant_pools if pool.is_internal and pool.nbytes]
    emitted = [c for c in own if c.name not in passed]
    return {
        **unit.common("PARAMS_"),
        "has_rows": any(map(tables.has_rows, emitted)),
        "constant_bytes": sum(constant.array.nbytes for constant in emitted),
        "alignment": unit.options.constant_alignment,
        "pools": [_pool(pool) for pool in pools],
        "constants": [_constant(c, unit) for c in emitted],
    }


def _pool(pool: Pool) -> dict[str, Any]:
    return {
        "attribute": _attribute(pool.name),
        "section": symbols.constant_section(pool.memory),
        "alignment": pool.alignment,
    }


def _attribute(pool: str) -> str:
    """The macro that places a constant in its section."""
    return f"TVM_CONSTANT_{pool.upper()}" if pool else "TVM_CONSTANT"


def _constant(constant: FirmwareConstant, unit: Unit) -> dict[str, Any]:
    shape = ",".join(map(str, constant.array.shape))
    sources = ", ".join(constant.transform.sources)
    # An identity needs no name of a transform in the comment.
    is_as_it_was = constant.transform.kind == "identity"
    source = sources if is_as_it_was else f"{constant.transform.kind} of {sources}"
    text = f"{constant.array.dtype.name}[{shape}] of {cnames.layer(constant.origin)}: {source}"
    place = unit.plan.constant_places.get(constant.name)
    attribute = _attribute(place.pool if place else "")
    symbol = unit.constants[constant.name]
    declared = tables.declared(constant, symbol)
    return {
        "symbol": symbol,
        "fields": tables.fields(constant),
        "declared": declared,
        "defined": layout.words(attribute, f"{declared} = {{"),
        "comment": layout.comment(text),
        "initialisers": tables.Initialisers(constant),
    }
