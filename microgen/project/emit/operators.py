"""The operators: each primitive function, wrapped around the bodies of its kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from microgen.base.names import cnames
from microgen.planner.program.types import PrimFunc, Program, Role
from microgen.project.emit import control, feeding, kernel_calls, layout, rolling
from microgen.project.emit.kernel_calls import declaration, kernel_call
from microgen.project.emit.unit import Unit


def operators(unit: Unit) -> dict[str, Any]:
    """Values of ``src/lib1.h.j2`` and ``src/lib1.c.j2``."""
    functions, layers = unit.program.kernel_functions, _layers(unit.program)
    return {
        **unit.common("LIB1_"),
        "headers": sorted(
            {
                *(c.header for c in unit.program.kernels),
                *rolling.headers(unit.program),
                *control.headers(unit.program),
            }
        ),
        "prototypes": [c.prototype for c in unit.program.shared_kernels if c.prototype],
        "parts": rolling.parts(unit.program),
        "functions": [
            *control.functions(unit),
            *(_function(f, unit, layers[f.name]) for f in functions),
        ],
        "has_control": any(function.control for function in functions),
        "declared": [_prototype(f, unit) for f in unit.program.functions],
        "fed": feeding.names(unit) if unit.program.feed else None,
    }


def _prototype(function: PrimFunc, unit: Unit) -> dict[str, Any]:
    name = unit.implementation(function.name)
    return {
        "name": name,
        "parameters": kernel_calls.declarations(function, name),
        "struct": kernel_calls.struct(name),
        "in_struct": [declaration(p) for p in function.in_struct],
        "can_fail": function.can_fail,
        "is_in_rows": function.rolling is not None,
        "is_fed": function.rolling is not None and function.rolling.feed is not None,
    }


def _layers(program: Program) -> dict[str, list[str]]:
    """The layers that each function computes, as text for comments."""
    layers: dict[str, list[str]] = {function.name: [] for function in program.functions}
    for call in program.calls:
        if call.function in layers:
            layers[call.function].append(cnames.layers(call.layers))
    return layers


def _function(function: PrimFunc, unit: Unit, layers: Sequence[str]) -> dict[str, Any]:
    members = kernel_calls.members(function)
    rows = rolling.loop(function, function.rolling, unit) if function.rolling else None
    return {
        **_prototype(function, unit),
        "comment": layout.comment(", ".join(layers), table=rows["map"] if rows else ()),
        # C compilers warn of unused parameters, so the operator names them.
        "unused": [p.name for p in function.parameters if p.role is Role.DEVICE],
        "body": [
            kernel_call(k, i, is_only=len(function.body) == 1, members=members)
            for i, k in enumerate(function.body)
        ],
        "is_one_kernel": len(function.body) == 1,
        "rolling": rows,
        "control": control.lines(function.control, members, unit) if function.control else (),
        "is_inner": False,
    }
