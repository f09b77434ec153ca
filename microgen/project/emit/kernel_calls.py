"""Calls of kernels inside operators, and the parameters of operators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from microgen.planner.program.types import Inner, KernelCall, Parameter, PrimFunc, Role, Value
from microgen.project.emit import literals

STRUCT = "constants"  # the parameter that points to an operator's constants, if it has many


def kernel_call(
    kernel: KernelCall,
    index: int = 0,
    *,
    is_only: bool = True,
    members: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A kernel's call, which is number ``index`` in its function if the function calls several.
    ``members`` are the members of the function's structure of constants."""
    code = kernel.code
    params = "params" if is_only else f"params_{index}"
    passed = (f"&{params}", [argument(one, members) for one in kernel.args])
    # An inlined body takes the variant's constants after its arguments.
    inlined = (passed[0], *passed[1], *code.variant)
    return {
        "params_type": code.params,
        "callee": code.symbol if kernel.is_shared else code.body,
        "params_name": params,
        "fields": [f".{name} = {_initialiser(value)}" for name, value in kernel.params],
        "args": code.arguments(*passed) if kernel.is_shared else inlined,
        "can_fail": kernel.can_fail,
        "returns_zero": kernel.is_shared and code.compact,
    }


def argument(one: str | Inner, members: Mapping[str, str] | None = None) -> str:
    """An argument in C: a parameter's name, a member of the constants' structure, or a place in the
    scratch."""
    if isinstance(one, str):
        return (members or {}).get(one, one)
    return f"({one.ctype} *)&scratch[{one.offset}]"


def members(function: PrimFunc) -> dict[str, str]:
    """The C expressions with which an operator reads the constants in its structure, by the
    constants' names."""
    return {parameter.name: f"{STRUCT}->{parameter.name}" for parameter in function.in_struct}


def struct(name: str) -> str:
    """The type of the structure of the constants of the operator with this symbol."""
    return f"struct {name}_constants"


def parameters(function: PrimFunc) -> Iterator[Parameter | None]:
    """The C parameters of an operator. A parameter None means the structure of constants."""
    inside = function.in_struct
    for parameter in function.parameters:
        if parameter not in inside:
            yield parameter
        # The structure has the place of the first of its constants.
        elif parameter == inside[0]:
            yield None


def declarations(function: PrimFunc, name: str) -> list[str]:
    """The parameters in C of an operator with this symbol."""
    return [
        f"const {struct(name)} *{STRUCT}" if parameter is None else declaration(parameter)
        for parameter in parameters(function)
    ]


def declaration(parameter: Parameter) -> str:
    """A parameter of an operator in C."""
    const = "const " if parameter.role in (Role.INPUT, Role.CONSTANT) else ""
    return f"{const}{parameter.ctype} *{parameter.name}"


def _initialiser(value: Value | tuple[Value, ...]) -> str:
    if isinstance(value, tuple):
        return "{" + ", ".join(map(literals.scalar, value)) + "}"
    return literals.scalar(value)
