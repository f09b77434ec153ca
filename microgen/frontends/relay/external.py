"""Functions that external code generators compile: each call of such a function is one node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from microgen.base.errors import UnsupportedError
from microgen.frontends.relay.types import type_of
from microgen.graph.builder import BuiltTensor, GraphBuilder, Value, fields
from microgen.graph.ir.graph import Array, Graph, Node, Origin
from microgen.graph.ops.external import ExternalAttrs
from microgen.relay.expr import Expr, Function, TensorType, TupleType, Type
from microgen.relay.files import bind_params
from microgen.relay.module import IRModule

Converted = Callable[[IRModule], Graph]


def external(
    function: Function,
    symbol: str,
    args: Sequence[Value],
    *,
    module: IRModule,
    graph: GraphBuilder,
    name: str,
    origin: Origin,
    converted: Converted,
) -> Value:
    """The results of a call of ``function``, which becomes a node of ``graph``.

    Constant arguments become constants of the function. ``converted`` makes the graph of a module's
    @main. ``name`` is the name of the call's result. Raises the errors of ``converted``.
    """
    assert module.types is not None, "infer_type comes first"
    own = _alone(function, args, module.types)
    inside = converted(own)
    given = [tensor for value in args for tensor in fields(value) if tensor.value is None]
    types = own.types or {}
    result = module.types[function.body]
    names = iter(_names(name, result))
    outputs = [graph.declare(next(names), type_of(kind, str(origin))) for kind in _leaves(result)]
    codegen = str(function.attrs["Compiler"])
    attrs = ExternalAttrs(symbol, codegen, inside, own["main"], types)
    graph.nodes.append(
        Node(
            "external",
            tuple(tensor.name for tensor in given),
            tuple(tensor.name for tensor in outputs),
            attrs,
            origin,
            codegen,
            symbol,
        )
    )
    return _value(result, iter(outputs))


def _alone(function: Function, args: Sequence[Value], types: Mapping[Expr, Type]) -> IRModule:
    """A module whose @main is the function, with constant arguments bound."""
    own = IRModule(MappingProxyType({"main": function}), types)
    constants = _constants(function, args)
    return bind_params(own, constants) if constants else own


def _constants(function: Function, args: Sequence[Value]) -> Mapping[str, Array]:
    found: dict[str, Array] = {}
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
        found[param.name_hint] = known[0]
    return found


def _leaves(kind: Type) -> list[TensorType]:
    if isinstance(kind, TupleType):
        return [leaf for part in kind.fields for leaf in _leaves(part)]
    assert isinstance(kind, TensorType), "a function's result is first order"
    return [kind]


def _names(name: str, result: Type) -> list[str]:
    """Names of the results. A tuple's field is named after the call and the field's number."""
    if isinstance(result, TensorType):
        return [name]
    return [f"{name}.{i}" for i in range(len(_leaves(result)))]


def _value(kind: Type, tensors: Iterator[BuiltTensor]) -> Value:
    if isinstance(kind, TupleType):
        return tuple(_value(part, tensors) for part in kind.fields)
    return next(tensors)
