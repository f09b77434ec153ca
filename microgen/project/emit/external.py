"""External functions: C that a code generator wrote, and calls of modules that are loaded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from microgen.base.errors import UnsupportedError
from microgen.base.names import cnames
from microgen.planner.program.external import (
    MODULE_POOL,
    CSource,
    ExternalModule,
    HeldConstant,
    Runtime,
)
from microgen.planner.program.types import PrimFunc, Role
from microgen.project.emit import layout, symbols
from microgen.project.emit.kernel_calls import declarations
from microgen.project.emit.signature import argument_types, described, held_type, tensor_parameters
from microgen.project.emit.unit import Unit, model_files, note_file
from microgen.relay.blob import writer

_SOURCES = "model/codegen/host/src"
_FIRST_LIBRARY = 2  # lib0.c is the runner, lib1.c the kernels' operators


def libraries(unit: Unit) -> dict[str, dict[str, Any]]:
    """For each C module, the name of its file below ``src`` -> values of ``src/external.c.j2``."""
    return {
        source(module, unit).removeprefix(f"{_SOURCES}/"): _library(module, made, unit)
        for module, made in unit.program.c_modules
    }


def source(module: ExternalModule, unit: Unit) -> str:
    """The path of a C module's source in the project."""
    owned = [own for own, _ in unit.program.c_modules]
    return f"{_SOURCES}/{unit.module}_lib{_FIRST_LIBRARY + owned.index(module)}.c"


def _library(module: ExternalModule, made: CSource, unit: Unit) -> dict[str, Any]:
    return {
        **unit.common(),
        "codegen": cnames.comment(module.codegen),
        "functions": [
            {"name": name, "implementation": unit.implementation(name)} for name in module.functions
        ],
        "unpacked": unit.options.unpacked,
        "code": made.code.rstrip("\n"),
    }


def modules(unit: Unit) -> dict[str, Any]:
    """Values of ``src/modules.c.j2``: the functions that loaded modules compute."""
    program = unit.program
    functions = [f for m, _ in program.runtime_modules for f in m.functions]
    held = [c for m, _ in program.runtime_modules for c in m.constants]
    return {
        **unit.common(),
        "blob": writer.symbol(unit.options.blob_prefix),
        "blob_bytes": len(unit.blob),
        "pool": symbols.arena(unit.module, MODULE_POOL),
        "pool_bytes": unit.plan.pool(MODULE_POOL).nbytes,
        "functions": [_function(program.function(name), unit) for name in functions],
        "constants": [_constant(c, unit) for c in held],
    }


def _function(function: PrimFunc, unit: Unit) -> dict[str, Any]:
    # A function of a module is lowered for one call, whose types it has.
    (call,) = (c for c in unit.program.calls if c.function == function.name)
    kinds = argument_types(call, function)
    tensors = [
        {"data": p.name, "is_const": p.role is Role.INPUT, **described(kind, unit)}
        for p, kind in zip(tensor_parameters(function), kinds, strict=True)
        if p.role in (Role.INPUT, Role.OUTPUT)
    ]
    device = [p.name for p in function.parameters if p.role is Role.DEVICE]
    return {
        "name": unit.implementation(function.name),
        "symbol": function.name,
        "comment": layout.comment(cnames.layers(call.layers)),
        "parameters": declarations(function, unit.implementation(function.name)),
        "tensors": tensors,
        "workspace": "scratch" if call.scratch else "NULL",
        "workspace_bytes": call.scratch,
        "device": device[0] if device else "NULL",
    }


def _constant(held: HeldConstant, unit: Unit) -> dict[str, Any]:
    constant = next(c for c in unit.program.constants if c.name == held.constant)
    return {
        "name": held.name,
        "address": unit.constant_address(constant.name),
        **described(held_type(constant), unit),
    }


def runtimes(units: Sequence[Unit]) -> tuple[Runtime, ...]:
    """Every runtime that the modules of a firmware need, sorted by type key. Raises
    UnsupportedError if two runtimes have the same key."""
    kinds = {c.runtime for unit in units for _, c in unit.program.runtime_modules}
    keys = Counter(runtime.type_key for runtime in kinds)
    for key in sorted(keys):
        if keys[key] > 1:
            raise UnsupportedError(
                f"{keys[key]} runtimes are to load modules of type {key!r}",
                where="--codegen",
                hint="a type key has one loader in a firmware: use one of the codegens",
            )
    return tuple(sorted(kinds, key=lambda runtime: runtime.type_key))


def loaders(units: Sequence[Unit]) -> dict[str, Any]:
    """Values of ``src/loaders.c.j2``."""
    needed = runtimes(units)
    return {
        "model": model_files(units),
        "note": note_file(units[0].module),
        "headers": sorted({runtime.header for runtime in needed}),
        "names": [f"runtime.module.loadbinary_{r.type_key}" for r in needed],
        "prefixes": [runtime.prefix for runtime in needed],
    }
