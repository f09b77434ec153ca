"""The constants, each with a comment that says which of the model's numbers it holds."""

from __future__ import annotations

from typing import Any

from microgen import cnames
from microgen.emit import literals, symbols
from microgen.emit.unit import Unit
from microgen.program import Constant


def constants(unit: Unit) -> dict[str, Any]:
    """Values of ``src/params.h.j2`` and ``src/params.c.j2``."""
    return {
        **unit.common("PARAMS_"),
        "alignment": unit.options.constant_alignment,
        "constants": [_constant(c, unit) for c in unit.program.constants],
    }


def _constant(constant: Constant, unit: Unit) -> dict[str, Any]:
    shape = ",".join(map(str, constant.array.shape))
    source = ", ".join(constant.transform.sources)
    text = f"{constant.name}: {constant.array.dtype.name}[{shape}]"
    layer = cnames.comment(constant.origin)
    made = "" if constant.transform.kind == "identity" else f", {constant.transform.kind}"
    return {
        "ctype": constant.ctype,
        "symbol": symbols.constant(unit.module, constant.name),
        "size": constant.array.size,
        "comment": f'{text} of "{layer}"{made} from {source}',
        "initialisers": literals.table(constant.array, constant.ctype),
    }
