"""The Python builder: ``relay.var``, ``relay.const``, and a function for every operator.

The functions of operators come from the registry. Their parameters have the names, the order and
the defaults of TVM's Python: ``relay.nn.conv2d(data, weight, strides=(1, 1), padding=(1, 1))``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from microgen.base.errors import ModelError
from microgen.relay.expr import (
    DTYPES,
    Call,
    Constant,
    Expr,
    Op,
    TensorType,
    Tuple,
    TupleGetItem,
    Type,
    Var,
)
from microgen.relay.op import registry
from microgen.relay.op.base import REQUIRED, AttributeKind, Field, RelayOp, nearest, plain
from microgen.relay.op.relations import pads


class TupleWrapper:
    """Several results of one operator: index it, iterate over it, or call ``astuple()``."""

    def __init__(self, value: Expr, size: int) -> None:
        self._value = value
        self._size = size

    def astuple(self) -> Expr:
        """The expression whose value is the tuple."""
        return self._value

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: int) -> TupleGetItem:
        if not -self._size <= index < self._size:
            raise IndexError(f"a tuple of {self._size} fields has no field {index}")
        return TupleGetItem(self._value, index % self._size)

    def __iter__(self) -> Iterator[TupleGetItem]:
        return (self[i] for i in range(self._size))


def var(
    name_hint: str,
    type_annotation: Type | None = None,
    shape: Sequence[int] | None = None,
    dtype: str = "float32",
) -> Var:
    """A variable of type ``type_annotation``, or with ``shape`` and ``dtype``."""
    if type_annotation is not None and shape is not None:
        raise ModelError(f"relay.var {name_hint!r} has both a type and a shape; give one")
    if shape is not None:
        type_annotation = TensorType(tuple(int(d) for d in shape), _dtype(dtype))
    return Var(name_hint, type_annotation)


def _dtype(name: str) -> str:
    if name not in DTYPES:
        raise ModelError(f"no dtype is named {name!r}", hint=nearest(str(name), DTYPES))
    return name


def const(value: Any, dtype: str | None = None) -> Constant:
    """A constant. Python numbers and lists become int32, float32 or bool unless ``dtype`` says
    otherwise; arrays keep their dtype."""
    array = np.array(value, _dtype(dtype) if dtype else None)
    if not dtype and not isinstance(value, np.ndarray | np.generic):
        # numpy makes 64-bit values of Python's numbers, TVM 32-bit ones.
        smaller = {"int64": "int32", "float64": "float32"}
        array = array.astype(smaller.get(array.dtype.name, array.dtype.name))
    _dtype(array.dtype.name)
    # Expressions may share it, and a module does not change.
    array.setflags(write=False)
    return Constant(array)


def _attribute(field: Field, value: Any) -> Any:
    """The value in the form of TVM's attributes. As in TVM's Python code, one number may stand for
    a pair, and a padding of one or two numbers for all four."""
    value = plain(value)
    # A bool is an int in Python.
    is_number = isinstance(value, int) and not isinstance(value, bool)
    match field.kind:
        case AttributeKind.PAIR if is_number:
            return (value, value)
        case AttributeKind.PADS if is_number:
            return (value,) * 4
        case AttributeKind.PADS if isinstance(value, tuple) and len(value) in (1, 2, 4):
            return pads(value)
        case AttributeKind.INTS if is_number:
            return (value,)
        case AttributeKind.DTYPE if value is None:
            return ""
    return value


def _operand(name: str, value: Any) -> Expr:
    match value:
        case Expr():
            return value
        case TupleWrapper():
            return value.astuple()
        case list() | tuple():
            return Tuple(tuple(_operand(name, v) for v in value))
        case bool() | int() | float() | np.generic():
            return const(value)
    raise ValueError(f"{name} is a {type(value).__name__}, expected an expression")


def _given(op: RelayOp, values: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    names = op.parameters
    if len(values) > len(names):
        raise ValueError(f"takes {len(names)} arguments, got {len(values)}")
    arguments = dict(zip(names, values, strict=False))
    for name in named:
        if name in arguments:
            raise ValueError(f"got {name} twice")
        if name not in names:
            raise ValueError(f"has no argument {name!r}, it has {', '.join(names)}")
    return {**arguments, **named}


def _call(op: RelayOp, values: tuple[Any, ...], named: dict[str, Any]) -> Call:
    arguments = {**op.defaults, **_given(op, values, named)}
    missing = [a for a in op.args if a not in arguments]
    if missing:
        raise ValueError(f"lacks {', '.join(missing)}")
    args = tuple(_operand(a, arguments[a]) for a in op.args)
    attrs = {f.name: _attribute(f, arguments.get(f.name, f.built_default)) for f in op.fields}
    # Required attributes that are missing are refused by `attributes`, which names all of them.
    chosen = {name: value for name, value in attrs.items() if value is not REQUIRED}
    return Call(Op(op.name), args, op.attributes(chosen))


def _results(call: Call) -> int:
    """The number of an operator's results if TVM unpacks them, otherwise 0."""
    assert isinstance(call.op, Op)
    if call.op.name == "nn.batch_norm":
        return 3
    if call.op.name == "split":
        parts = call.attrs["indices_or_sections"]
        return parts if isinstance(parts, int) else len(parts) + 1
    return 0


def build(name: str, *values: Any, **named: Any) -> Call | TupleWrapper:
    """A call of an operator. Raises ModelError for arguments that it does not take."""
    op = registry()[name]
    try:
        call = _call(op, values, named)
    except ValueError as error:
        raise ModelError(f"{name} {error}", where=f"relay.{name}") from error
    size = _results(call)
    return TupleWrapper(call, size) if size else call


class Namespace:
    """Operators whose names begin with a prefix, as functions."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def __getattr__(self, name: str) -> Callable[..., Any]:
        full = f"{self._prefix}{name}"
        if full not in registry():
            is_private = name.startswith("_")  # Python and its tools ask for such names
            hint = "" if is_private else nearest(full, registry())
            raise AttributeError(f"no operator is named {full!r}" + (hint and f"; {hint}"))
        return lambda *values, **named: build(full, *values, **named)

    def __dir__(self) -> list[str]:
        names = (n.removeprefix(self._prefix) for n in registry() if n.startswith(self._prefix))
        return [n for n in names if "." not in n]
