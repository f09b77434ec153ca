"""Walks expressions without recursion, because graphs are deeper than Python's stack allows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
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
    """Every expression once, after those below it, including the bodies of inner functions."""
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
            stack.extend((child, False) for child in reversed(below(node)))
