"""Structural equality, and a structural hash that is stable across processes.

Two functions are equal if they differ only in the names of variables and in the places in
their texts. Sharing matters: a value used twice is not the same as two equal values.
"""

from __future__ import annotations

import hashlib

from microgen.relay.expr import (
    Attrs,
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    Op,
    TupleGetItem,
    Var,
)
from microgen.relay.literals import attr_text
from microgen.relay.module import IRModule
from microgen.relay.visit import children, post_order


def structural_equal(a: IRModule | Expr, b: IRModule | Expr) -> bool:
    """Whether two modules, or two expressions, have the same structure."""
    return _canonical(a) == _canonical(b)


def structural_hash(value: IRModule | Expr) -> int:
    """64 bits that depend only on the structure, on every machine and in every process."""
    digest = hashlib.blake2b("\n".join(_canonical(value)).encode(), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


def _canonical(value: IRModule | Expr) -> list[str]:
    """A line for each expression. It refers to earlier lines by number."""
    if isinstance(value, Expr):
        return _lines(value)
    lines = []
    for name, function in value.functions.items():
        lines += [f"@{name}", *_lines(function)]
    return lines


def _lines(root: Expr) -> list[str]:
    numbers: dict[Expr, str] = {}
    lines: list[str] = []
    for expr in post_order(root):
        # Equal leaves are the same leaf at all places.
        if isinstance(expr, Constant | Op | GlobalVar):
            numbers[expr] = _leaf(expr)
            continue
        parts = " ".join(numbers[child] for child in children(expr))
        numbers[expr] = f"%{len(lines)}"
        lines.append(f"{type(expr).__name__} {_own(expr)} ({parts})")
    return lines or [numbers[root]]


def _leaf(expr: Expr) -> str:
    match expr:
        case Constant(data):
            # 128 bits, so that equal digests mean equal data.
            content = hashlib.blake2b(data.tobytes(), digest_size=16).hexdigest()
            return f"<{expr.type} {content}>"
        case Op(name):
            return name
        case GlobalVar(name):
            return f"@{name}"
    raise TypeError(type(expr).__name__)


def _own(expr: Expr) -> str:
    """The expression without its children. A variable has a number instead of its name."""
    match expr:
        case Var():
            return str(expr.type_annotation)
        # `children` leaves such an operator out, so its name is written here.
        case Call(op=Op() | GlobalVar()):
            return f"{_leaf(expr.op)} {_attrs(expr.attrs)}"
        case Call():
            return _attrs(expr.attrs)
        case TupleGetItem():
            return str(expr.index)
        case Function():
            return f"{expr.ret_type} {_attrs(expr.attrs)}"
        case _:
            return ""


def _attrs(attrs: Attrs) -> str:
    # Sorted, because the order of attributes is not part of the structure.
    return ", ".join(f"{name}={attr_text(attrs[name])}" for name in sorted(attrs))
