"""Walks expressions without recursion, because graphs are deeper than Python's stack allows, and
rebuilds them with other operands."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TypeVar

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
            return (expr.value, expr.var, expr.body)
        case Function():
            return (*expr.params, expr.body)
        case _:
            return ()


def operands(expr: Expr) -> Sequence[Expr]:
    """Like ``children``, but without the bodies of functions."""
    return () if isinstance(expr, Function) else children(expr)


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


# Rebuilds an expression with other operands.


def rebuilt(expr: Expr, known: Mapping[Expr, Expr]) -> Expr:
    """``expr`` with its ``known`` children replaced; ``expr`` itself if it has none."""

    def new(old: Expr) -> Expr:
        return known.get(old, old)

    match expr:
        case Call(op, args) if _differ((op, *args), known):
            return Call(new(op), [new(a) for a in args], expr.attrs, expr.span)
        case Tuple(fields) if _differ(fields, known):
            return Tuple([new(f) for f in fields], expr.span)
        case TupleGetItem(value, index) if _differ([value], known):
            return TupleGetItem(new(value), index, expr.span)
        case Let(var, value, body) if _differ((value, body), known):
            return Let(var, new(value), new(body), expr.span)
        case Function() if _differ([expr.body], known):
            return Function(expr.params, new(expr.body), expr.ret_type, expr.attrs, expr.span)
        case _:
            return expr


def _differ(exprs: Sequence[Expr], known: Mapping[Expr, Expr]) -> bool:
    return any(known.get(e, e) is not e for e in exprs)


def values(expr: Expr) -> Sequence[Expr]:
    """The operands of a call, a tuple or a field of a tuple."""
    match expr:
        case Call():
            return expr.args
        case Tuple():
            return expr.fields
        case TupleGetItem():
            return (expr.tuple_value,)
        case _:
            return ()


def with_values(expr: Expr, new: Sequence[Expr]) -> Expr:
    """The same expression with other ``values``."""
    match expr:
        case Call():
            return Call(expr.op, new, expr.attrs, expr.span)
        case Tuple():
            return Tuple(new, expr.span)
        case TupleGetItem():
            return TupleGetItem(new[0], expr.index, expr.span)
        case _:
            return expr
