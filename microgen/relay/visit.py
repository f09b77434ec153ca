"""Walks expressions without recursion, because graphs are deeper than Python's stack allows, and
rebuilds them with other operands."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from microgen.relay.expr import Call, Expr, Function, GlobalVar, Let, Op, Tuple, TupleGetItem

Node = TypeVar("Node", bound=Hashable)


def children(expr: Expr) -> Sequence[Expr]:
    """The expressions directly below ``expr``, in the order of evaluation.

    For a Let these are its value, its variable, its body.
    """
    match expr:
        case Call(op=Op() | GlobalVar()):
            return expr.args
        case Call():
            return (*expr.args, expr.op)
        case Tuple():
            return expr.fields
        case TupleGetItem():
            return (expr.tuple_value,)
        case Let():
            # The value first, because the variable gets its type.
            return (expr.value, expr.var, expr.body)
        case Function():
            return (*expr.params, expr.body)
        case _:
            return ()


def operands(expr: Expr) -> Sequence[Expr]:
    """Like ``children``, but without the bodies of functions."""
    return () if isinstance(expr, Function) else children(expr)


def aliases(root: Expr) -> dict[Expr, Expr]:
    """The body of each let, and the value of each variable that a let binds."""
    lets = [expr for expr in depth_first(root, operands) if isinstance(expr, Let)]
    return {**{let: let.body for let in lets}, **{let.var: let.value for let in lets}}


def post_order(root: Expr) -> Iterator[Expr]:
    """Every expression once, after its operands, including the bodies of inner functions."""
    return depth_first(root, children)


def depth_first(root: Node, below: Callable[[Node], Sequence[Node]]) -> Iterator[Node]:
    """Every node once, in an order in which the nodes ``below`` a node come before it."""
    seen: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            # Reversed, because a stack gives the last one first, and operands are evaluated in
            # order.
            stack.extend((child, False) for child in reversed(below(node)))


# The fields of an expression that can be replaced. A function keeps its parameters, and a let its
# variable, because their types would not follow.
_REPLACED: Mapping[type[Expr], tuple[str, ...]] = {
    Call: ("op", "args"),
    Tuple: ("fields",),
    TupleGetItem: ("tuple_value",),
    Let: ("value", "body"),
    Function: ("body",),
}


def rebuilt(expr: Expr, known: Mapping[Expr, Expr]) -> Expr:
    """``expr`` with its ``known`` children replaced; ``expr`` itself if it has none."""
    changes: dict[str, Any] = {}
    for name in _REPLACED.get(type(expr), ()):
        part = getattr(expr, name)
        old = [part] if isinstance(part, Expr) else part
        new = [known.get(e, e) for e in old]
        # Without a change the same object is returned, so shared expressions remain shared.
        if any(a is not b for a, b in zip(old, new, strict=True)):
            changes[name] = new[0] if isinstance(part, Expr) else new
    copied: Any = expr
    return dataclasses.replace(copied, **changes) if changes else expr


def values(expr: Expr) -> Sequence[Expr]:
    """The operands of a call, a tuple or a field of a tuple."""
    if isinstance(expr, Call):
        return expr.args
    return children(expr) if isinstance(expr, Tuple | TupleGetItem) else ()


def with_values(expr: Expr, new: Sequence[Expr]) -> Expr:
    """The same expression with other ``values``."""
    match expr:
        case Call():
            return dataclasses.replace(expr, args=new)
        case Tuple():
            return dataclasses.replace(expr, fields=new)
        case TupleGetItem():
            return dataclasses.replace(expr, tuple_value=new[0])
        case _:
            return expr
