"""The parts of a Relay op: arguments, attributes with TVM v0.14's defaults, a type relation."""

from __future__ import annotations

import difflib
import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from microgen.relay.expr import DTYPES, Attrs, TensorType, TupleType, Type


class AttributeKind(enum.Enum):
    """The kinds of values that attributes have. The enum's value is the text for the user."""

    INT = "an integer"
    FLOAT = "a number"
    BOOL = "True or False"
    STR = "a string"
    DTYPE = "the name of a dtype, or an empty string"
    INTS = "a list of integers"
    PAIR = "a list of two integers"  # (height, width)
    PADS = "a list of 1, 2 or 4 integers"  # 4: (top, left, bottom, right)
    PAIRS = "a list of pairs of integers"  # (before, after) for each axis
    SECTIONS = "an integer or a list of integers"
    FLOATS = "a list of numbers"


class _Required:
    def __repr__(self) -> str:
        return "required"


REQUIRED: Any = _Required()


@dataclass(frozen=True, slots=True)
class Field:
    """An attribute. ``default`` is the default of TVM's attribute struct, which the printer omits.
    ``built`` is the default of TVM's Python function if it differs. None is a valid value only if a
    default is None, or with ``nullable``."""

    name: str
    kind: AttributeKind
    default: Any = REQUIRED
    built: Any = REQUIRED
    nullable: bool = False

    def typed(self, value: Any) -> Any:
        """``value`` converted to this attribute's kind, or ValueError with a sentence."""
        if value is None and (self.nullable or self.default is None):
            return None
        typed = _typed(self.kind, value)
        if typed is None:
            raise ValueError(f"{self.name} is {shown(value)}, expected {self.kind.value}")
        return typed

    @property
    def fallback(self) -> Any:
        """The attribute's value if a text leaves it out."""
        return self.built if self.default is REQUIRED else self.default

    @property
    def built_default(self) -> Any:
        """The Python builder's value for an attribute that is not given."""
        return self.default if self.built is REQUIRED else self.built


def plain(value: Any) -> Any:
    """An attribute's value with lists as tuples and numpy's numbers as Python numbers."""
    if isinstance(value, list | tuple):
        return tuple(map(plain, value))
    return value.item() if isinstance(value, np.generic) else value


def shown(value: Any) -> str:
    """An attribute's value for an error message, short."""
    # Relay text writes tuples as lists.
    text = repr(list(value)) if isinstance(value, tuple) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _is_int(value: Any) -> bool:
    # A bool is an int in Python. Integers have 64 bits, as in TVM.
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63


def _is_ints(value: Any) -> bool:
    return isinstance(value, tuple) and all(map(_is_int, value))


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or _is_int(value)


def _is_pairs(value: Any) -> bool:
    return isinstance(value, tuple) and all(_is_ints(p) and len(p) == 2 for p in value)


_ACCEPTS: Mapping[AttributeKind, Callable[[Any], bool]] = {
    AttributeKind.INT: _is_int,
    AttributeKind.FLOAT: _is_number,
    # TVM prints truth values of some attributes as numbers.
    AttributeKind.BOOL: lambda v: isinstance(v, bool) or (_is_int(v) and v in (0, 1)),
    AttributeKind.STR: lambda v: isinstance(v, str),
    AttributeKind.DTYPE: lambda v: v == "" or v in DTYPES,
    AttributeKind.INTS: _is_ints,
    AttributeKind.PAIR: lambda v: _is_ints(v) and len(v) == 2,
    AttributeKind.PADS: lambda v: _is_ints(v) and len(v) in (1, 2, 4),
    AttributeKind.PAIRS: _is_pairs,
    AttributeKind.SECTIONS: lambda v: _is_int(v) or _is_ints(v),
    AttributeKind.FLOATS: lambda v: isinstance(v, tuple) and all(map(_is_number, v)),
}
_CONVERTS: Mapping[AttributeKind, Callable[[Any], Any]] = {
    AttributeKind.FLOAT: float,
    AttributeKind.BOOL: bool,
    AttributeKind.FLOATS: lambda v: tuple(map(float, v)),
}


def _typed(kind: AttributeKind, value: Any) -> Any:
    if not _ACCEPTS[kind](value):
        return None
    return _CONVERTS.get(kind, lambda v: v)(value)


Relation = Callable[[Attrs, Sequence[Any]], Type]


@dataclass(frozen=True, slots=True)
class RelayOp:
    """The definition of an op.

    ``relation(attrs, types)`` returns the type of the result from the types of the arguments, in
    order. It raises ValueError with a sentence that names the argument, the value found and the
    value expected. The caller has checked that the arguments in ``tuples`` are tuples, the
    arguments in ``either`` tuples or tensors, and all others tensors. ``positional`` is the order
    of arguments and attributes in TVM's Python function, if it is not ``args``, then ``fields``.
    (``fields`` are in the order of TVM's attribute struct, in which the printer writes them.)
    ``defaults`` are scalars that the Python builder uses for arguments that are not given.
    """

    name: str
    args: tuple[str, ...]
    fields: tuple[Field, ...]
    relation: Relation
    tuples: tuple[str, ...] = ()
    either: tuple[str, ...] = ()
    positional: tuple[str, ...] = ()
    defaults: Mapping[str, float] = field(default_factory=dict, hash=False)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Arguments and attributes in the order of the Python builder."""
        return self.positional or (*self.args, *(f.name for f in self.fields))

    def attributes(self, named: Attrs) -> Attrs:
        """Every attribute, typed, in the order of ``fields``.

        Raises ValueError for an attribute that is unknown, missing or of another kind.
        """
        names = [f.name for f in self.fields]
        for name in named:
            if name not in names:
                known = f"it has {', '.join(names)}" if names else "it has none"
                raise ValueError(f"has no attribute {name[:40]!r}, {known}")
        # In the order of the struct, in which the printer writes them.
        values = {f.name: named.get(f.name, f.fallback) for f in self.fields}
        missing = [name for name, value in values.items() if value is REQUIRED]
        if missing:
            raise ValueError(f"lacks {', '.join(missing)}")
        return MappingProxyType({f.name: f.typed(values[f.name]) for f in self.fields})

    def infer(self, attrs: Attrs, types: Sequence[Type]) -> Type:
        """The type of the result; ValueError with a sentence if the arguments do not fit."""
        if len(types) != len(self.args):
            wanted = ", ".join(self.args) or "none"
            raise ValueError(f"has {len(types)} arguments, expected {len(self.args)} ({wanted})")
        for name, type_ in zip(self.args, types, strict=True):
            expected = TupleType if name in self.tuples else TensorType
            if name not in self.either and not isinstance(type_, expected):
                word = "a tuple of tensors" if name in self.tuples else "a tensor"
                raise ValueError(f"{name} is {type_}, expected {word}")
        return self.relation(attrs, types)


def nearest(name: str, names: Iterable[str]) -> str:
    """A hint with the names most like ``name``, or an empty string."""
    # 80 characters, because the time of a comparison grows with the square of the length.
    close = difflib.get_close_matches(name[:80], list(names), n=3, cutoff=0.6)
    return f"nearest: {', '.join(close)}" if close else ""
