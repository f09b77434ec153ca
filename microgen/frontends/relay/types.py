"""Relay's types as the graph's types, and the place where nodes run."""

from __future__ import annotations

from dataclasses import dataclass

from microgen.base.errors import UnsupportedError
from microgen.graph.builder import checked
from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.relay import expr as relay

# Plain int8 and int16 numbers: the stored value is the real one.
PLAIN = Quant((1.0,), (0,))
_SCALED = (DType.INT8, DType.INT16)


def type_of(found: relay.TensorType, where: str) -> ArrayType:
    """The graph's type for Relay's. UnsupportedError if no kernel has its dtype."""
    try:
        dtype = DType(found.dtype)
    except ValueError:
        known = ", ".join(d.value for d in DType)
        raise UnsupportedError(
            f"{found} has a dtype that no kernel has", where=where, hint=f"supported: {known}"
        ) from None
    quant = PLAIN if dtype in _SCALED else None
    return checked(ArrayType(found.shape, dtype, quant), where)


@dataclass(frozen=True, slots=True)
class NodePlace:
    """Where nodes run: the target's kind ("" is the host), and the external function that contains
    them ("" is none)."""

    target: str = ""
    function: str = ""
