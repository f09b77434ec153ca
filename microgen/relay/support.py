"""What a code generator says it supports: predicates of operators, and patterns of several."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from microgen.relay.expr import Attrs, Constant, Expr, Type


@dataclass(frozen=True, slots=True)
class OperatorCall:
    """A call of an operator, as predicates see it: its attributes, the types of its arguments and
    of its result, and of each argument that is a constant that, else None."""

    op: str
    attrs: Attrs
    args: tuple[Type, ...]
    result: Type
    constants: tuple[Constant | None, ...]


Predicate = Callable[[OperatorCall], str | None]


@dataclass(frozen=True, slots=True)
class CompositePattern:
    """A pattern of operators that a generator takes as one, ``name``, such as "dnnl.conv2d_relu".

    ``check`` sees what matched, its root and the types of all expressions; it returns None, or a
    sentence that says why the generator does not take it.
    """

    name: str
    pattern: Any
    check: Callable[[Expr, Mapping[Expr, Type]], str | None]


@dataclass(frozen=True, slots=True)
class Support:
    """What the generator ``name`` takes: ``operators``, each with a predicate that returns None to
    take the call, or a sentence that says why not; and ``patterns``, the first that fits first."""

    name: str
    operators: Mapping[str, Predicate] = field(default_factory=dict)
    patterns: tuple[CompositePattern, ...] = ()
