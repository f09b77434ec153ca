"""Reads, removes and places the annotations ``compiler_begin`` and ``compiler_end``."""

from __future__ import annotations

from types import MappingProxyType
from typing import TypeGuard

from microgen.relay.expr import Call, Expr, Op

BEGIN = Op("annotation.compiler_begin")
END = Op("annotation.compiler_end")

# The name for operators that no external compiler takes.
DEFAULT = "default"


def is_begin(expr: Expr) -> TypeGuard[Call]:
    """Whether a region begins at this expression."""
    return isinstance(expr, Call) and expr.op == BEGIN


def is_end(expr: Expr) -> TypeGuard[Call]:
    """Whether a region ends at this expression."""
    return isinstance(expr, Call) and expr.op == END


def is_mark(expr: Expr) -> TypeGuard[Call]:
    """Whether this is an annotation and not the computation of a value."""
    return is_begin(expr) or is_end(expr)


def compiler(mark: Call) -> str:
    """The compiler of the region that the annotation marks."""
    return str(mark.attrs["compiler"])


def begin(expr: Expr, target: str) -> Call:
    """``expr`` with the annotation of entering a region."""
    return Call(BEGIN, [expr], MappingProxyType({"compiler": target}))


def end(expr: Expr, target: str) -> Call:
    """``expr`` with the annotation of leaving a region."""
    return Call(END, [expr], MappingProxyType({"compiler": target}))


def bare(expr: Expr) -> Expr:
    """The expression without the annotations around it."""
    while is_mark(expr):
        expr = expr.args[0]
    return expr


def is_default(expr: Expr) -> TypeGuard[Call]:
    """Whether this is a "default" annotation, which is equivalent to none."""
    return is_mark(expr) and compiler(expr) == DEFAULT
