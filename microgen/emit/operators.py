"""The operators: each primitive function, wrapped around the bodies of its kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from microgen.emit import layout, literals
from microgen.emit.unit import Unit
from microgen.names import cnames
from microgen.program.types import Inner, KernelCall, Parameter, PrimFunc, Program, Role, Value


def operators(unit: Unit) -> dict[str, Any]:
    """Values of ``src/lib1.h.j2`` and ``src/lib1.c.j2``."""
    functions, layers = unit.program.kernel_functions, _layers(unit.program)
    return {
        **unit.common("LIB1_"),
        "headers": sorted({code.header for code in unit.program.kernels}),
        "prototypes": [c.prototype for c in unit.program.shared_kernels if c.prototype],
        "functions": [_function(f, unit, layers[f.name]) for f in functions],
        "declared": [_prototype(f, unit) for f in unit.program.functions],
    }


def _prototype(function: PrimFunc, unit: Unit) -> dict[str, Any]:
    return {
        "name": unit.implementation(function.name),
        "parameters": [declaration(p) for p in function.parameters],
        "can_fail": function.can_fail,
    }


def _layers(program: Program) -> dict[str, list[str]]:
    """The layers that each function computes, as text for comments."""
    layers: dict[str, list[str]] = {function.name: [] for function in program.functions}
    for call in program.calls:
        if call.function in layers:
            layers[call.function].append(cnames.layers(call.layers))
    return layers


def _function(function: PrimFunc, unit: Unit, layers: Sequence[str]) -> dict[str, Any]:
    return {
        **_prototype(function, unit),
        "comment": layout.comment(", ".join(layers)),
        "unused": [p.name for p in function.parameters if p.role is Role.DEVICE],
        "body": [_kernel(k, i, function) for i, k in enumerate(function.body)],
        "is_one_kernel": len(function.body) == 1,
    }


def _kernel(kernel: KernelCall, index: int, function: PrimFunc) -> dict[str, Any]:
    is_only = len(function.body) == 1
    code = kernel.code
    params = "params" if is_only else f"params_{index}"
    given = (f"&{params}", [_argument(argument) for argument in kernel.args])
    inlined = (given[0], *given[1], *code.variant)
    return {
        "params_type": code.params,
        "callee": code.symbol if kernel.is_shared else code.body,
        "params_name": params,
        "fields": [f".{name} = {_initialiser(value)}" for name, value in kernel.params],
        "args": code.arguments(*given) if kernel.is_shared else inlined,
        "can_fail": kernel.can_fail,
        "returns_zero": kernel.is_shared and code.compact,
    }


def _argument(argument: str | Inner) -> str:
    if isinstance(argument, str):
        return argument
    return f"({argument.ctype} *)&scratch[{argument.offset}]"


def declaration(parameter: Parameter) -> str:
    """A parameter of an operator in C."""
    const = "const " if parameter.role in (Role.INPUT, Role.CONSTANT) else ""
    return f"{const}{parameter.ctype} *{parameter.name}"


def _initialiser(value: Value | tuple[Value, ...]) -> str:
    if isinstance(value, tuple):
        return "{" + ", ".join(map(literals.scalar, value)) + "}"
    return literals.scalar(value)
