"""Walking expressions without recursion: graphs are deeper than Python's stack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from microgen.relay.expr import Call, Expr, Function, GlobalVar, Let, Op, Tuple, TupleGetItem


def children(expr: Expr) -> Sequence[Expr]:
    """The expressions right below ``expr``, in the order of evaluation.

    Those of a Let are its value, its variable, its body.
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


def post_order(root: Expr) -> Iterator[Expr]:
    """Every expression once, after those below it; bodies of inner functions included."""
    seen: set[Expr] = set()
    stack: list[tuple[Expr, bool]] = [(root, False)]
    while stack:
        expr, ready = stack.pop()
        if ready:
            yield expr
        elif expr not in seen:
            seen.add(expr)
            stack.append((expr, True))
            stack.extend((child, False) for child in reversed(children(expr)))
