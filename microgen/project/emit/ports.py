"""Inputs and outputs in the model's header: macros with their properties, and the values for its
helper functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from microgen.base.names import cnames
from microgen.graph.ir.graph import ArrayType, DType
from microgen.planner.program.kernel_call import ctype
from microgen.planner.program.plan import Pool
from microgen.planner.program.types import Port
from microgen.project.emit import layout, literals
from microgen.project.emit.unit import Unit

_MARGIN = 4  # columns in front of a statement


def described(port: Port, kind: str, unit: Unit) -> dict[str, Any]:
    """A port for the templates. ``kind`` is ``input`` or ``output``."""
    placed = unit.plan.by_name[port.buffer] if port.buffer else None
    prefix = f"{unit.prefix}_{port.name}".upper()
    pool = next((p for p in unit.plan.port_pools if p.port in (port.name, port.over)), None)
    macros = list(_macros(port, prefix))
    if pool and pool.port == port.name:
        # After the sizes of the port itself, which come first.
        macros[2:2] = _pool_macros(pool, port, prefix)
    return {
        "name": port.name,
        "aliases": port.second_names,
        "alias_sizes": [f"{unit.prefix}_{name}_SIZE".upper() for name in port.second_names],
        "kind": kind,
        "ctype": ctype(port.type.dtype),
        "macros": [name for name, _ in macros],
        "size": macros[0],
        "facts": macros[1:],
        "quantized": _quantized(port, unit) if _has_helpers(port.type) else "",
        "comment": f"{cnames.comment(port.public_name, 60)}: {port.type}{_fixed(port)}",
        "labels": [literals.text(each) for each in port.texts],
        "place": unit.field(port.buffer) if port.buffer else "",
        "is_passed": placed is not None and placed.pool in unit.passed_pools,
        "pool": placed.pool if placed else "",
        "is_overwritten": pool is not None,
        "is_const": kind == "input" and pool is None,
        "duty": _duty(port, kind, pool, unit) if pool else "",
    }


def _pool_macros(pool: Pool, port: Port, prefix: str) -> Iterator[tuple[str, str]]:
    """The macros of the buffer that the caller provides, if it is more than the port's memory."""
    if pool.before:
        yield f"{prefix}_HEADROOM", str(pool.before)
    if pool.nbytes != port.type.nbytes:
        yield f"{prefix}_BUFFER_SIZE", str(pool.nbytes)


def _duty(port: Port, kind: str, pool: Pool, unit: Unit) -> str:
    """The caller's duty, if a run stores other tensors in the port's buffer."""
    prefix = f"{unit.prefix}_{pool.port}".upper()
    if port.over:
        whole = f"{prefix}_{'SIZE' if pool.nbytes == port.type.nbytes else 'BUFFER_SIZE'}"
        # One buffer for both, so the caller must pass one pointer twice.
        return f"{port.name} must be the pointer {port.over}, to a buffer of {whole} bytes"
    if kind == "output":
        return (
            f"until {port.name} is written, a run keeps other tensors there: it must not overlap "
            "other buffers, and has no meaning before the run ends, or after an error"
        )
    front = f" and {prefix}_HEADROOM bytes in front of it" if pool.before else ""
    # With an output in the same buffer, overlapping is the purpose.
    other = "" if any(p.over for p in unit.program.outputs) else "; it must not overlap others"
    aligned = f"; it must be aligned to {pool.promised} bytes"
    return (
        f"a run overwrites {port.name}{front}: write it before every run{other}"
        f"{aligned if pool.promised > port.type.dtype.nbytes else ''}"
    )


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


def is_scaled(kind: ArrayType) -> bool:
    """Whether elements represent real numbers by one scale and one zero point."""
    return kind.quant is not None and kind.quant.is_per_tensor


def _has_helpers(kind: ArrayType) -> bool:
    """Whether ``value / scale + zero_point`` can be computed within int32."""
    return is_scaled(kind) and (kind.dtype.nbytes < DType.INT32.nbytes or not kind.zero_point)


def _quantized(port: Port, unit: Unit) -> str:
    """The return statement of ``tvmgen_<module>_quantize_<port>``."""
    # The helper clamps to the range of the dtype.
    limits = np.iinfo(port.type.dtype.numpy)
    facts = [f"{unit.prefix}_{port.name}_{fact}".upper() for fact in ("SCALE", "ZERO_POINT")]
    ends = [literals.scalar(int(end)) for end in (limits.min, limits.max)]
    head = f"return ({ctype(port.type.dtype)}){unit.prefix}_quantized"
    return layout.call(head, ["value", *facts, *ends], _MARGIN, end=";")


def _fixed(port: Port) -> str:
    """The header's note about an input that has only one possible value."""
    return f", always {list(port.fixed)}: not read" if port.fixed else ""
