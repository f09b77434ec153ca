"""Calls of kernels inside operators, and the parameters of operators."""

from __future__ import annotations

from typing import Any

from microgen.emit import literals
from microgen.program.types import Inner, KernelCall, Parameter, Role, Value


def kernel_call(kernel: KernelCall, index: int = 0, *, is_only: bool = True) -> dict[str, Any]:
    """A kernel's call, which is number ``index`` of its function if it is not the only one."""
    code = kernel.code
    params = "params" if is_only else f"params_{index}"
    arguments = [f"&{params}", *map(argument, kernel.args)]
    if kernel.is_shared and code.compact:
        arguments = [*arguments[1:], arguments[0]]
    return {
        "params_type": code.params,
        "callee": code.symbol if kernel.is_shared else code.body,
        "params_name": params,
        "fields": [f".{name} = {_initialiser(value)}" for name, value in kernel.params],
        "args": [*arguments, *(() if kernel.is_shared else code.variant)],
        "can_fail": kernel.can_fail,
    }


def argument(argument: str | Inner) -> str:
    """An argument in C: a parameter's name, or a place in the scratch."""
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
