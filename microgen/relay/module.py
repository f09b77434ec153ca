"""Modules of Relay: functions by name, and their text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from microgen.graph.ir.graph import Array
from microgen.relay import printer
from microgen.relay.expr import Expr, Function, Type


@dataclass(frozen=True, eq=False)
class IRModule:
    """Functions by name, in order. ``types`` has the type of every expression after
    ``infer_type`` has run; before that it is None."""

    functions: Mapping[str, Function]
    types: Mapping[Expr, Type] | None = field(default=None, repr=False)

    @classmethod
    def from_expr(cls, function: Function) -> IRModule:
        """A module whose only function is ``@main``."""
        return cls(MappingProxyType({"main": function}))

    def __getitem__(self, name: str) -> Function:
        return self.functions[name]

    def __str__(self) -> str:
        return show(self).rstrip("\n")


def show(module: IRModule) -> str:
    """The module's text, ending with a newline. Raises ModelError for functions nested too deep."""
    return printed(module)[0]


def printed(module: IRModule) -> tuple[str, dict[str, Array]]:
    """The module's text, and the arrays of its constants by the names that ``parse`` expects."""
    return printer.printed(module.functions, module.types or {})
