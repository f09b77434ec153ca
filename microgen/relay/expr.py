"""Relay IR as data: expressions compared by identity, types by value, nothing mutable.

``Call.attrs`` of an operator has every attribute of that operator, including defaults, with the
types of ``op/base.py``. Shared expressions are shared objects: a module is a graph, not a tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from microgen.graph.ir.graph import Array

Attrs = Mapping[str, Any]

# Names as in TVM's text. The importer refuses types that the kernels lack, naming the place.
DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a text; lines and columns count from 1."""

    source: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class TensorType:
    """Shape and dtype (one of ``DTYPES``); a scalar has shape ()."""

    shape: tuple[int, ...]
    dtype: str

    def __str__(self) -> str:
        dims = ", ".join(map(str, self.shape))
        return f"Tensor[({dims}), {self.dtype}]" if self.shape else self.dtype


@dataclass(frozen=True, slots=True)
class TupleType:
    """Several values as one value."""

    fields: tuple[Type, ...]

    def __str__(self) -> str:
        comma = "," if len(self.fields) == 1 else ""
        return f"({', '.join(map(str, self.fields))}{comma})"


@dataclass(frozen=True, slots=True)
class FuncType:
    """The types of a function's parameters and of its result."""

    params: tuple[Type, ...]
    result: Type

    def __str__(self) -> str:
        return f"fn ({', '.join(map(str, self.params))}) -> {self.result}"


Type = TensorType | TupleType | FuncType


class Expr:
    """Any expression. Hashed and compared by identity."""

    __slots__ = ()


def _no_attrs() -> Attrs:
    return MappingProxyType({})


@dataclass(frozen=True, eq=False, slots=True)
class Var(Expr):
    """A parameter, or the name that a ``Let`` binds. ``name_hint`` is without the ``%``."""

    name_hint: str
    type_annotation: Type | None = None
    span: Span | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Constant(Expr):
    """Data that is part of the module."""

    # Not in the repr: weights would fill a message.
    data: Array = field(repr=False)
    span: Span | None = None

    @property
    def type(self) -> TensorType:
        """The shape and dtype of the data."""
        return TensorType(tuple(self.data.shape), self.data.dtype.name)


@dataclass(frozen=True, slots=True)
class Op(Expr):
    """An operator of the registry, identified by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class GlobalVar(Expr):
    """A function of the module, identified by its name without the ``@``."""

    name_hint: str


@dataclass(frozen=True, eq=False, slots=True)
class Call(Expr):
    """A call. ``op`` is an Op, a GlobalVar, a Function, or an expression whose value is one."""

    # Operands are not in the repr either, because it would show the whole graph below.
    op: Expr = field(repr=False)
    args: Sequence[Expr] = field(repr=False)
    attrs: Attrs = field(default_factory=_no_attrs)
    span: Span | None = None

    def __post_init__(self) -> None:
        # Callers may pass lists, but nothing in the IR is mutable.
        object.__setattr__(self, "args", tuple(self.args))


@dataclass(frozen=True, eq=False, slots=True)
class Tuple(Expr):
    """Several expressions as one value."""

    fields: Sequence[Expr] = field(repr=False)
    span: Span | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", tuple(self.fields))


@dataclass(frozen=True, eq=False, slots=True)
class TupleGetItem(Expr):
    """A field of a tuple, counted from 0."""

    tuple_value: Expr = field(repr=False)
    index: int
    span: Span | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Let(Expr):
    """The value of ``body``, in which ``var`` means ``value``."""

    var: Var
    value: Expr = field(repr=False)
    body: Expr = field(repr=False)
    span: Span | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Function(Expr):
    """A function. ``attrs`` are TVM's attributes (Primitive, Compiler, global_symbol, ...)."""

    params: Sequence[Var]
    body: Expr = field(repr=False)
    ret_type: Type | None = None
    attrs: Attrs = field(default_factory=_no_attrs)
    span: Span | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", tuple(self.params))

    def with_attr(self, name: str, value: Any) -> Function:
        """The function with one attribute added or changed."""
        return replace(self, attrs=MappingProxyType({**self.attrs, name: value}))
