"""The code generator ``dnnl``: a module of the blob for each function, its graph as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from microgen.compiler.codegens.external import (
    ExternalCodegen,
    ExternalFunction,
    LoadedModule,
    Runtime,
    RuntimeFunction,
)
from microgen.relay.expr import Attrs, Call, Constant, Expr, Function, Op, Type
from microgen.relay.op.relations import pads
from microgen.target.board import Board
from microgen.tvm.codegens import json_graph
from microgen.tvm.codegens.dnnl import composites, runtime
from microgen.tvm.codegens.json_graph import JsonRuntime, Kernel, Serialized
from microgen.tvm.codegens.json_graph.serializer import composite_attr, texts

# Relay function -> the JSON graph of DNNL's runtime.
#
# Source: TVM v0.14, ``src/relay/backend/contrib/dnnl/codegen.cc``, DNNLJSONSerializer. Unlike
# there, the operands of a composite function are in the runtime's order, not in the order of its
# parameters, and a padding of one or two numbers becomes the four that the runtime reads.


def serialize(symbol: str, function: Function, types: Mapping[Expr, Type]) -> Serialized:
    """The graph of a function. Its own symbol is ``dnnl_<symbol>``, from which the names of its
    constants are made.

    Raises like ``json_graph.serialize``, and for a composite function that is not one of dnnl's.
    """
    return json_graph.serialize(f"dnnl_{symbol}", function, types, kernel_of)


def kernel_of(call: Call) -> Kernel:
    """The node of an operator or of a composite function. The node of a composite function has the
    attributes of its first operator and of a clip at its end."""
    if isinstance(call.op, Op):
        return Kernel(call.op.name, tuple(call.args), _texts(call.attrs))
    name = composite_attr(call, "Composite")
    assert isinstance(call.op, Function), "composite_attr has checked it"
    body = composites.body(name, call.op.body)
    arguments: dict[Expr, Expr] = dict(zip(call.op.params, call.args, strict=True))
    args = tuple(_bound(operand, arguments) for operand in body.operands)
    # No other activation has attributes.
    clip = body.activation if "_clip" in name else None
    return Kernel(name, args, {**_texts(body.root.attrs), **(texts(clip.attrs) if clip else {})})


def _texts(attrs: Attrs) -> Mapping[str, tuple[str, ...]]:
    if "padding" not in attrs:
        return texts(attrs)
    return texts({**attrs, "padding": pads(attrs["padding"])})


def _bound(operand: Expr, arguments: Mapping[Expr, Expr]) -> Expr:
    """The caller's argument for an operand of the body."""
    # A constant of the composite's body is not one of its parameters.
    if isinstance(operand, Constant):
        return operand
    if operand not in arguments:
        raise ValueError("calls a function with an operand that is not one of its parameters")
    return arguments[operand]


RUNTIME = Runtime(runtime.TYPE_KEY, "mg_dnnl_json", "dnnl/runtime_dnnl_json.h")


class Dnnl(ExternalCodegen):
    """TVM's codegen for DNNL: JSON graphs of float32 operators, run by reference kernels."""

    name = "dnnl"
    support = composites.SUPPORT
    runtimes = (RUNTIME,)
    payloads = MappingProxyType({RUNTIME.type_key: JsonRuntime.loads})

    def compile(
        self, functions: Sequence[ExternalFunction], board: Board
    ) -> Sequence[LoadedModule]:
        """A module for each function."""
        return [_module(function, board.cpu.pointer_bytes) for function in functions]


def _module(function: ExternalFunction, pointer_bytes: int) -> LoadedModule:
    assert function.relay is not None, "it takes no other nodes"
    # Before it is serialized, so that the error names the operator.
    runtime.check_function(function, function.relay)
    made = serialize(function.symbol, function.relay, function.types)
    runtime.check_graph(function, made.graph)
    payload = JsonRuntime(function.symbol, json_graph.dumps(made.graph), made.const_names)
    kernels = [node.name for node in made.graph.nodes if node.op == "kernel"]
    return LoadedModule(
        runtime=RUNTIME,
        functions=(
            RuntimeFunction(
                symbol=function.symbol,
                constants=tuple(zip(made.const_names, made.constants, strict=True)),
                workspace=runtime.workspace_bytes(made.graph),
                kernel=f"{runtime.TYPE_KEY} of {', '.join(kernels)}",
            ),
        ),
        payload=payload.dumps(),
        pool_bytes=runtime.pool_bytes(made.graph, pointer_bytes),
    )
