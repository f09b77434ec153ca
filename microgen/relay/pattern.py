"""Patterns of expressions for tables of composites, like TVM's ``relay.dataflow_pattern``.

    conv = is_op("nn.conv2d")(wildcard(), is_constant())
    bias = conv.optional(lambda x: is_op("nn.bias_add")(x, is_constant()))
    pattern = is_op("nn.relu")(bias)

A pattern used twice in another pattern means one expression. Operands of ``add`` and ``multiply``
match in either order. Source: TVM v0.14, ``relay/ir/dataflow_matcher.cc``, without dominators,
functions, lets, and the association of ``multiply`` with ``divide``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from microgen.relay.expr import (
    Attrs,
    Call,
    Constant,
    Expr,
    Function,
    Op,
    TensorType,
    Tuple,
    TupleGetItem,
    Type,
    Var,
)
from microgen.relay.op.base import plain

_COMMUTATIVE = (Op("add"), Op("multiply"))


class Pattern:
    """Any pattern. Compared by identity."""

    def __call__(self, *args: Pattern | None) -> CallPattern:
        """A call of an expression that matches. With None as the only argument, its arguments may
        be any."""
        # TVM writes `is_op("nn.relu")(None)` for a call with any arguments.
        if args == (None,):
            return CallPattern(self, None)
        return CallPattern(self, tuple(a for a in args if a is not None))

    def __or__(self, other: Pattern) -> AltPattern:
        return AltPattern(self, other)

    def optional(self, option: Callable[[Pattern], Pattern]) -> AltPattern:
        """Either the pattern, or ``option`` applied to it."""
        return self | option(self)

    def has_attr(self, attrs: Mapping[str, Any]) -> AttrPattern:
        """The pattern, on calls and functions with these attributes."""
        return AttrPattern(self, MappingProxyType(dict(attrs)))

    def has_dtype(self, dtype: str) -> TypePattern:
        """The pattern, on tensors of this dtype."""
        return TypePattern(self, lambda t: isinstance(t, TensorType) and t.dtype == dtype)

    def has_shape(self, shape: Sequence[int]) -> TypePattern:
        """The pattern, on tensors of this shape."""
        wanted = tuple(shape)
        return TypePattern(self, lambda t: isinstance(t, TensorType) and t.shape == wanted)

    def has_type(self, type_: Type) -> TypePattern:
        """The pattern, on values of this type."""
        return TypePattern(self, lambda t: t == type_)


@dataclass(frozen=True, eq=False)
class WildcardPattern(Pattern):
    """Any expression."""


@dataclass(frozen=True, eq=False)
class OpPattern(Pattern):
    """An operator itself, not a call of it."""

    op: Op


@dataclass(frozen=True, eq=False)
class VarPattern(Pattern):
    """A variable, with this name if one is given."""

    name: str


@dataclass(frozen=True, eq=False)
class ConstantPattern(Pattern):
    """A constant, which becomes part of the composite function."""


@dataclass(frozen=True, eq=False)
class CallPattern(Pattern):
    """A call. If ``args`` is None, its arguments may be any."""

    op: Pattern
    args: tuple[Pattern, ...] | None


@dataclass(frozen=True, eq=False)
class TuplePattern(Pattern):
    """A tuple. If ``fields`` is None, its fields may be any."""

    fields: tuple[Pattern, ...] | None


@dataclass(frozen=True, eq=False)
class TupleGetItemPattern(Pattern):
    """A field of a tuple. If ``index`` is None, it may be any field."""

    value: Pattern
    index: int | None


@dataclass(frozen=True, eq=False)
class AltPattern(Pattern):
    """One pattern or, if it does not match, another one."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, eq=False)
class AttrPattern(Pattern):
    """A call or a function that has some attributes."""

    pattern: Pattern
    attrs: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class TypePattern(Pattern):
    """An expression whose type passes a test."""

    pattern: Pattern
    test: Callable[[Type], bool]


def below(pattern: Pattern) -> Sequence[Pattern]:
    """The patterns directly below this one, in the order of a composite function's parameters."""
    match pattern:
        case CallPattern(op, args):
            return (op, *(args or ()))
        case TuplePattern(fields):
            return fields or ()
        case TupleGetItemPattern(value):
            return (value,)
        case AltPattern(left, right):
            return (left, right)
        case AttrPattern(inner) | TypePattern(inner):
            return (inner,)
        case _:
            return ()


class _Matcher:
    """One attempt to match: the expression that each pattern means so far. Recursion is as deep as
    the pattern."""

    def __init__(self, types: Mapping[Expr, Type]) -> None:
        self._types = types
        self.matched: dict[Pattern, Expr] = {}  # in the order of success, for undoing

    def matches(self, pattern: Pattern, expr: Expr) -> bool:
        """Whether ``pattern`` matches. The bindings of failed parts are removed."""
        # A pattern in two places means one expression.
        if pattern in self.matched:
            return self.matched[pattern] == expr
        before = len(self.matched)
        if self._accepts(pattern, expr):
            self.matched[pattern] = expr
            return True
        self._undo(before)
        return False

    def _accepts(self, pattern: Pattern, expr: Expr) -> bool:
        match pattern, expr:
            case WildcardPattern(), _:
                return True
            case OpPattern(op), _:
                return expr == op
            case VarPattern(name), Var(hint):
                # Without a name it is any variable.
                return name in ("", hint)
            case ConstantPattern(), Constant():
                return True
            case CallPattern(), Call():
                return self._call(pattern, expr)
            case TuplePattern(fields), Tuple():
                return fields is None or self._all(fields, expr.fields)
            case TupleGetItemPattern(value, index), TupleGetItem():
                return index in (None, expr.index) and self.matches(value, expr.tuple_value)
            # The first one that matches, as in TVM, even if the other would match more.
            case AltPattern(left, right), _:
                return self.matches(left, expr) or self.matches(right, expr)
            case AttrPattern(inner, attrs), Call() | Function():
                return _has(expr.attrs, attrs) and self.matches(inner, expr)
            case TypePattern(inner, test), _:
                type_ = self._types.get(expr)
                return type_ is not None and test(type_) and self.matches(inner, expr)
        return False

    def _call(self, pattern: CallPattern, call: Call) -> bool:
        if not self.matches(pattern.op, call.op):
            return False
        if pattern.args is None or self._all(pattern.args, call.args):
            return True
        is_commutative = isinstance(pattern.op, OpPattern) and pattern.op.op in _COMMUTATIVE
        # ``_all`` has undone the bindings of the first order.
        return is_commutative and self._all(pattern.args[::-1], call.args)

    def _all(self, patterns: Sequence[Pattern], exprs: Sequence[Expr]) -> bool:
        before = len(self.matched)
        matches = len(patterns) == len(exprs) and all(map(self.matches, patterns, exprs))
        if not matches:
            self._undo(before)
        return matches

    def _undo(self, count: int) -> None:
        while len(self.matched) > count:
            self.matched.popitem()


def _has(attrs: Attrs, wanted: Attrs) -> bool:
    return all(k in attrs and plain(attrs[k]) == plain(v) for k, v in wanted.items())


def match(
    pattern: Pattern, expr: Expr, types: Mapping[Expr, Type] | None = None
) -> Mapping[Pattern, Expr] | None:
    """The expression that each part of the pattern means if it matches, otherwise None.

    ``types`` are a module's. Without them, patterns with a type match nothing.
    """
    matcher = _Matcher(types or {})
    return MappingProxyType(matcher.matched) if matcher.matches(pattern, expr) else None


def wildcard() -> WildcardPattern:
    """Any expression."""
    return WildcardPattern()


def is_op(name: str) -> OpPattern:
    """An operator: ``is_op("nn.relu")(wildcard())`` is a call of it."""
    return OpPattern(Op(name))


def is_var(name: str = "") -> VarPattern:
    """A variable, with this name if one is given."""
    return VarPattern(name)


def is_constant() -> ConstantPattern:
    """A constant."""
    return ConstantPattern()


def is_tuple(fields: Sequence[Pattern] | None) -> TuplePattern:
    """A tuple of these fields. With None, its fields may be any."""
    return TuplePattern(None if fields is None else tuple(fields))


def is_tuple_get_item(value: Pattern, index: int | None = None) -> TupleGetItemPattern:
    """A field of a tuple. With None, it may be any field."""
    return TupleGetItemPattern(value, index)


def has_attr(attrs: Mapping[str, Any], pattern: Pattern | None = None) -> AttrPattern:
    """A call with these attributes."""
    return (pattern or wildcard()).has_attr(attrs)


def has_dtype(dtype: str, pattern: Pattern | None = None) -> TypePattern:
    """A tensor of this dtype."""
    return (pattern or wildcard()).has_dtype(dtype)


def has_shape(shape: Sequence[int], pattern: Pattern | None = None) -> TypePattern:
    """A tensor of this shape."""
    return (pattern or wildcard()).has_shape(shape)
