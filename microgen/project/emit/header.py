"""The model's header: sizes, structures of pointers, the entry point."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from microgen.base.errors import UnsupportedError
from microgen.base.names import cnames
from microgen.planner.program.plan import Pool
from microgen.planner.program.types import Device
from microgen.project.emit import feeding, layout, ports
from microgen.project.emit.unit import Unit

_PER_LINE = 16  # bytes of a constant pool


def header(unit: Unit) -> dict[str, Any]:
    """Values of ``include/tvmgen.h.j2``.

    Raises UnsupportedError if two macros would have one name.
    """
    inputs = [ports.described(port, "input", unit) for port in unit.program.inputs]
    outputs = [ports.described(port, "output", unit) for port in unit.program.outputs]
    pools = [_pool(pool, unit) for pool in unit.plan.passed_pools]
    macros = [name for port in (*inputs, *outputs) for name in port["macros"]]
    macros += [pool["size_macro"] for pool in pools]
    macros += [f"{unit.prefix.upper()}_WORKSPACE_SIZE", *feeding.macros(unit)]
    _check_macros(macros)
    _drop_taken_aliases([*inputs, *outputs], macros)
    return {
        **unit.common(),
        "inputs": inputs,
        "outputs": outputs,
        "pools": pools,
        "structs": unit.structs,
        "duties": _duties([*inputs, *outputs]),
        "has_helpers": any(port["quantized"] for port in (*inputs, *outputs)),
        "has_workspace_io": unit.program.has_workspace_io,
        "workspace_owner": _owner(unit),
        "fed": feeding.names(unit) if unit.program.feed else None,
        "has_state": bool(unit.program.state),
        "has_modules": bool(unit.program.runtime_modules),
        "devices": [device(d) for d in unit.program.devices],
    }


def _duties(ports: list[dict[str, Any]]) -> str:
    """A comment about the caller's duties, if a run stores other tensors in the caller's
    buffers."""
    duties = [port["duty"] for port in ports if port["duty"]]
    return layout.comment("Of the caller's buffers:", more=duties) if duties else ""


def device(device: Device) -> dict[str, Any]:
    """A device for the templates: its field, target, context and hooks."""
    hooks = ("activate", "open", "close", "deactivate", "hooks")
    own = {field: getattr(device, field) for field in ("name", "context", *hooks, "driver")}
    return {**own, "target": cnames.comment(device.target)}


def _pool(pool: Pool, unit: Unit) -> dict[str, Any]:
    kind = "CONSTANT" if pool.is_constant else "WORKSPACE"
    macro = f"{unit.prefix}_{pool.name}_{kind}_POOL".upper()
    duty = "initialised with the bytes of" if pool.is_constant else "of"
    last = f"{macro}_DATA" if pool.is_constant else f"{macro}_SIZE bytes"
    return {
        "name": pool.name,
        "nbytes": pool.nbytes,
        "alignment": pool.alignment,
        "is_constant": pool.is_constant,
        "parameter": unit.passed_pools[pool.name],
        "size_macro": f"{macro}_SIZE",
        "data_macro": f"{macro}_DATA",
        "data": _data(pool, unit) if pool.is_constant else [],
        "comment": f"{duty} {last}, aligned to {pool.alignment}",
    }


def _data(pool: Pool, unit: Unit) -> list[str]:
    """The lines of an initialiser for a constant pool; gaps are zeros."""
    content = bytearray(pool.nbytes)
    arrays = {c.name: c.array for c in unit.program.constants}
    for place in unit.plan.constants:
        if place.pool == pool.name:
            array = arrays[place.name]
            # Boards are little-endian on every host.
            little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            content[place.offset : place.offset + place.nbytes] = little.tobytes()
    texts = [f"0x{byte:02x}" for byte in content]
    return [", ".join(texts[i : i + _PER_LINE]) for i in range(0, len(texts), _PER_LINE)]


def _owner(unit: Unit) -> str:
    """A sentence about the owner of the workspace's bytes: the caller or the firmware."""
    owed = sum(pool.nbytes for pool in unit.plan.passed_pools if not pool.is_constant)
    if not owed:
        return "part of the firmware, the caller provides nothing"
    linked = unit.plan.peak - owed
    inside = f"; {linked} bytes of it are linked in" if linked else ""
    return f"the caller provides the external pools, whose sizes are below{inside}"


def _drop_taken_aliases(ports: list[dict[str, Any]], macros: list[str]) -> None:
    """Remove the size macros of second names for which there is another macro of that name."""
    taken = Counter([*macros, *(name for port in ports for name in port["alias_sizes"])])
    for port in ports:
        port["alias_sizes"] = [name for name in port["alias_sizes"] if taken[name] == 1]


def _check_macros(macros: list[str]) -> None:
    twice = [name for name, count in Counter(macros).items() if count > 1]
    if twice:
        raise UnsupportedError(
            f"{twice[0]} would be defined twice",
            hint="give the pool another name, or the model's tensors",
        )
