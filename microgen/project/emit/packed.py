"""The packed interface: a wrapper for each operator, the entry point, the registry, and
metadata for programs that query it at run time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from microgen.planner.program.types import Port, PrimFunc, Role
from microgen.project.emit import layout, literals
from microgen.project.emit.header import device
from microgen.project.emit.kernel_calls import STRUCT, parameters, struct
from microgen.project.emit.signature import Taken, described, taken_arguments
from microgen.project.emit.unit import Unit, model_files, note_file


def packed(unit: Unit) -> dict[str, Any]:
    """Values of ``src/packed.h.j2`` and ``src/packed.c.j2``."""
    return {
        **unit.common("PACKED_"),
        "uses_arena": unit.graph is not None and any(c.scratch for c in unit.program.calls),
        "arena": unit.arena,
        "devices": [device(d) for d in unit.program.devices],
        "functions": [_function(f, unit) for f in unit.program.functions],
    }


def _function(function: PrimFunc, unit: Unit) -> dict[str, Any]:
    takes = [_spec(taken, unit) for taken in taken_arguments(function, unit)]
    specs = f"{function.name}_takes[{len(takes)}] = {{"
    return {
        "name": function.name,
        "implementation": unit.implementation(function.name),
        "takes": takes,
        "defined": layout.words("static const mg_tensor_spec", specs),
        **_passed(function, unit),
        "device": _device(function, unit),
    }


def _device(function: PrimFunc, unit: Unit) -> dict[str, Any] | None:
    """The device that a function runs on. The function is called between its hooks."""
    # The context of a device is always the last parameter.
    last = function.parameters[-1]
    devices = {d.context: device(d) for d in unit.program.devices}
    return devices[last.name] if last.role is Role.DEVICE else None


def _passed(function: PrimFunc, unit: Unit) -> dict[str, Any]:
    """The arguments that the wrapper passes on, and the structure of the constants, if there is
    one."""
    texts = zip(function.parameters, _arguments(function, unit), strict=True)
    by_name = {parameter.name: text for parameter, text in texts}
    return {
        "arguments": [
            f"&{STRUCT}" if parameter is None else by_name[parameter.name]
            for parameter in parameters(function)
        ],
        "struct": layout.words(
            f"const {struct(unit.implementation(function.name))}", f"{STRUCT} = {{", indent=12
        ),
        "members": [f".{p.name} = {by_name[p.name]}" for p in function.in_struct],
    }


def _arguments(function: PrimFunc, unit: Unit) -> Iterator[str]:
    """The wrapper's own values in C: the data of each tensor, the scratch buffer, and the context
    of the device."""
    numbers = itertools.count()
    for parameter in function.parameters:
        if parameter.role is Role.SCRATCH and unit.graph is not None:
            # The graph has no such argument. All operators' scratch is at one place.
            call = next(c for c in unit.program.calls if c.function == function.name)
            yield unit.place(f"scratch_{call.index}")
        elif parameter.role is Role.DEVICE:
            yield "context"
        else:
            yield f"data[{next(numbers)}]"


def _spec(taken: Taken, unit: Unit) -> dict[str, Any]:
    spec = {"name": taken.name, **described(taken.type, unit)}
    return {**spec, "ndim": "MG_ANY_SHAPE"} if taken.any_shape else spec


def entry(unit: Unit) -> dict[str, Any]:
    """The values of ``src/lib0.c.j2`` for the packed entry point."""
    ports = (*unit.program.inputs, *unit.program.outputs)
    return {"takes": [{"name": p.name, **described(p.type, unit)} for p in ports]}


def registry(units: Sequence[Unit]) -> dict[str, Any]:
    """Values of ``src/registry.c.j2``: every packed function of these models by name."""
    entries = [
        f"{unit.prefix}_{name}"
        for unit in units
        if unit.graph is None
        for name in ("run", "get_c_metadata")
    ]
    # A firmware has one registry, because there is one TVMSystemLibEntryPoint.
    packed_units = [unit for unit in units if not unit.options.unpacked]
    operators = [f.name for unit in packed_units for f in unit.program.functions]
    count = len(entries) + len(operators)
    return {
        "model": model_files(units),
        "note": note_file(units[0].module),
        "headers": [f"{unit.prefix}.h" for unit in units]
        + [f"{unit.module}_packed.h" for unit in packed_units],
        "entries": entries,
        "operators": operators,
        "count": count,
        # TVM's registry begins with the count in two bytes, little-endian.
        "count_bytes": f"\\{count & 0xFF:03o}\\{count >> 8:03o}",
    }


def metadata(unit: Unit) -> dict[str, Any]:
    """Values of ``src/metadata.c.j2``, which has ``struct TVMMetadata``. Pools that the caller
    passes are not in it."""
    return {
        **unit.common(),
        "inputs": [_tensor(port, unit) for port in unit.program.inputs],
        "outputs": [_tensor(port, unit) for port in unit.program.outputs],
    }


def _tensor(port: Port, unit: Unit) -> dict[str, Any]:
    return {"name": literals.string(port.public_name), **described(port.type, unit)}
