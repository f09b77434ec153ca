"""External functions made from Relay functions, as the partitioner makes them."""

from __future__ import annotations

from microgen import relay
from microgen.compiler.codegens.external import ExternalFunction
from microgen.graph.ir.graph import ArrayType, DType, Graph, Origin
from microgen.relay.expr import Expr, Function, TupleType, Type, Var
from microgen.relay.module import IRModule

ORIGIN = Origin("x.relay", "sum")


def of(symbol: str, params: list[Var], body: Expr) -> ExternalFunction:
    """The external function. Its graph has the right inputs and outputs, and no nodes."""
    module = relay.infer_type(IRModule.from_expr(Function(params, body)))
    assert module.types is not None
    main = module["main"]
    result = module.types[main.body]
    inputs = {f"i{i}": _tensor(module.types[p]) for i, p in enumerate(main.params)}
    fields = result.fields if isinstance(result, TupleType) else (result,)
    outputs = {f"o{i}": _tensor(t) for i, t in enumerate(fields)}
    graph = Graph("x", tuple(inputs), tuple(outputs), (), {**inputs, **outputs}, {})
    return ExternalFunction(symbol, graph, main, module.types, ORIGIN)


def _tensor(found: Type) -> ArrayType:
    assert isinstance(found, relay.TensorType)
    return ArrayType(found.shape, DType(found.dtype))
