"""Functions that external code generators compile: each call of such a function is one node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from microgen.base.errors import UnsupportedError
from microgen.graph.builder import BuiltTensor, Value, fields
from microgen.graph.ir.graph import Array
from microgen.relay.expr import Expr, Function, TensorType, TupleType, Type
from microgen.relay.files import bind_params
from microgen.relay.module import IRModule


def alone(function: Function, args: Sequence[Value], types: Mapping[Expr, Type]) -> IRModule:
    """A module whose @main is the function, with constant arguments bound."""
    own = IRModule(MappingProxyType({"main": function}), types)
    constants = _constants(function, args)
    return bind_params(own, constants) if constants else own


def _constants(function: Function, args: Sequence[Value]) -> Mapping[str, Array]:
    arrays: dict[str, Array] = {}
    for param, value in zip(function.params, args, strict=True):
        parts = fields(value)
        known = [part.value for part in parts if part.value is not None]
        if not known:
            continue
        if not isinstance(value, BuiltTensor):
            raise UnsupportedError(
                f"an external function is given a tuple with constants as %{param.name_hint}",
                where=str(param.span or ""),
                hint="bind constants into the function, or pass them one by one",
            )
        arrays[param.name_hint] = known[0]
    return arrays


def leaves(name: str, result: Type) -> list[tuple[str, TensorType]]:
    """The tensors of a result, each with its name: the result's name, followed by the field's
    number if the result is a tuple."""
    if isinstance(result, TensorType):
        return [(name, result)]
    return [(f"{name}.{i}", leaf) for i, leaf in enumerate(_flat(result))]


def _flat(kind: Type) -> list[TensorType]:
    if isinstance(kind, TupleType):
        return [leaf for part in kind.fields for leaf in _flat(part)]
    assert isinstance(kind, TensorType), "a function's result is first order"
    return [kind]


def nested(kind: Type, tensors: Iterator[BuiltTensor]) -> Value:
    """The tensors in the tuples of a result's type."""
    if isinstance(kind, TupleType):
        return tuple(nested(part, tensors) for part in kind.fields)
    return next(tensors)
