"""Attributes of operators, registered by name as in TVM: ``register_op_attr``.

The only kind is ``target.<codegen>``: a function that says whether the codegen takes a call of the
operator. ``relay.transform.AnnotateTarget("<codegen>")`` asks these functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar, overload

from microgen.base.errors import MicrogenError

_TARGET = "target."

Taker = Callable[[Any], object]
_Function = TypeVar("_Function", bound=Taker)

_takers: dict[str, dict[str, tuple[int, Taker]]] = {}  # codegen -> operator -> level, function


@overload
def register_op_attr(
    op_name: str, attr_key: str, value: None = None, level: int = 10
) -> Callable[[_Function], _Function]: ...
@overload
def register_op_attr(
    op_name: str, attr_key: str, value: _Function, level: int = 10
) -> _Function: ...
def register_op_attr(
    op_name: str, attr_key: str, value: _Function | None = None, level: int = 10
) -> _Function | Callable[[_Function], _Function]:
    """Register ``value`` as the attribute of an operator; without it, return a decorator that does.

    A later value replaces an earlier one of the same or a lower ``level``. The function gets the
    call as an ``OperatorCall`` and answers whether the codegen takes it.
    Raises MicrogenError for an attribute other than ``target.<codegen>``.
    """
    codegen = attr_key.removeprefix(_TARGET)
    if not attr_key.startswith(_TARGET) or not codegen:
        raise MicrogenError(
            f"{attr_key!r} is not an attribute of operators",
            where=f"register_op_attr({op_name!r}, ...)",
            hint=f"supported: {_TARGET}<codegen>",
        )

    def register(function: _Function) -> _Function:
        by_op = _takers.setdefault(codegen, {})
        # As TVM does: of equal levels, the later value replaces the earlier one.
        if op_name not in by_op or by_op[op_name][0] <= level:
            by_op[op_name] = level, function
        return function

    return register if value is None else register(value)


def takers(codegen: str) -> Mapping[str, Taker]:
    """Operator -> the function that says whether the codegen takes a call of it."""
    by_op = _takers.get(codegen, {})
    return MappingProxyType({name: function for name, (_, function) in by_op.items()})
