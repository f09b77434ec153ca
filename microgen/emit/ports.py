"""Inputs and outputs in the model's header: macros with their properties, and the values for its
helper functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from microgen.emit import layout, literals
from microgen.emit.unit import Unit
from microgen.ir.graph import DType, TensorType
from microgen.names import cnames
from microgen.program.element_types import ctype
from microgen.program.types import Port

_MARGIN = 4  # columns in front of a statement


def described(port: Port, kind: str, unit: Unit) -> dict[str, Any]:
    """A port for the templates. ``kind`` is ``input`` or ``output``."""
    placed = unit.plan.by_name[port.buffer] if port.buffer else None
    macros = list(_macros(port, f"{unit.prefix}_{port.name}".upper()))
    return {
        "name": port.name,
        "alias": port.alias,
        "alias_size": f"{unit.prefix}_{port.alias}_SIZE".upper() if port.alias else "",
        "kind": kind,
        "ctype": ctype(port.type.dtype),
        "macros": [name for name, _ in macros],
        "size": macros[0],
        "facts": macros[1:],
        "quantized": _quantized(port, unit) if _has_helpers(port.type) else "",
        "comment": f"{cnames.comment(port.tensor, 60)}: {port.type}{_fixed(port)}",
        "place": unit.field(port.buffer) if port.buffer else "",
        "is_passed": placed is not None and placed.pool in unit.passed_pools,
        "pool": placed.pool if placed else "",
    }


def _macros(port: Port, prefix: str) -> Iterator[tuple[str, str]]:
    """The macros and their values; the size in bytes comes first. A scalar has no shape."""
    kind = port.type
    yield f"{prefix}_SIZE", str(kind.nbytes)
    yield f"{prefix}_COUNT", str(kind.size)
    yield f"{prefix}_TYPE", ctype(kind.dtype)
    yield f"{prefix}_RANK", str(len(kind.shape))
    if kind.shape:
        yield f"{prefix}_SHAPE", f"{{{', '.join(map(str, kind.shape))}}}"
    if is_scaled(kind):
        yield f"{prefix}_SCALE", literals.decimal(kind.scale)
        yield f"{prefix}_ZERO_POINT", literals.negatable(kind.zero_point)


def is_scaled(kind: TensorType) -> bool:
    """Whether elements represent real numbers by one scale and one zero point."""
    return kind.quant is not None and kind.quant.is_per_tensor


def _has_helpers(kind: TensorType) -> bool:
    """Whether ``value / scale + zero_point`` can be computed within int32."""
    return is_scaled(kind) and (kind.dtype.nbytes < DType.INT32.nbytes or not kind.zero_point)


def _quantized(port: Port, unit: Unit) -> str:
    """What ``tvmgen_<module>_quantize_<port>`` returns."""
    limits = np.iinfo(port.type.dtype.numpy)
    facts = [f"{unit.prefix}_{port.name}_{fact}".upper() for fact in ("SCALE", "ZERO_POINT")]
    ends = [literals.scalar(int(end)) for end in (limits.min, limits.max)]
    head = f"return ({ctype(port.type.dtype)}){unit.prefix}_quantized"
    return layout.call(head, ["value", *facts, *ends], _MARGIN, end=";")


def _fixed(port: Port) -> str:
    """What the header says about an input that has only one possible value."""
    return f", always {list(port.fixed)}: not read" if port.fixed else ""
