"""Calls of kernels inside operators, and the parameters of operators."""

from __future__ import annotations

from typing import Any

from microgen.planner.program.types import Inner, KernelCall, Parameter, Role, Value
from microgen.project.emit import literals


def kernel_call(kernel: KernelCall, index: int = 0, *, is_only: bool = True) -> dict[str, Any]:
    """A kernel's call, which is number ``index`` of its function if it is not the only one."""
    code = kernel.code
    params = "params" if is_only else f"params_{index}"
    given = (f"&{params}", [argument(one) for one in kernel.args])
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


def argument(one: str | Inner) -> str:
    """An argument in C: a parameter's name, or a place in the scratch."""
    if isinstance(one, str):
        return one
    return f"({one.ctype} *)&scratch[{one.offset}]"


def declaration(parameter: Parameter) -> str:
    """A parameter of an operator in C."""
    const = "const " if parameter.role in (Role.INPUT, Role.CONSTANT) else ""
    return f"{const}{parameter.ctype} *{parameter.name}"


def _initialiser(value: Value | tuple[Value, ...]) -> str:
    if isinstance(value, tuple):
        return "{" + ", ".join(map(literals.scalar, value)) + "}"
    return literals.scalar(value)
