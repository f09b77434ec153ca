"""The code generator ``dnnl``: a module of the blob for each function, its graph as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from microgen.compiler.codegens.external import (
    ExternalCodegen,
    ExternalFunction,
    LoadedModule,
    Runtime,
    RuntimeFunction,
)
from microgen.target.board import Board
from microgen.tvm.codegens import json_graph
from microgen.tvm.codegens.dnnl import limits, runtime, serializer, table
from microgen.tvm.codegens.json_graph import JsonRuntime

RUNTIME = Runtime(runtime.TYPE_KEY, "mg_dnnl_json", "dnnl/runtime_dnnl_json.h")


class Dnnl(ExternalCodegen):
    """TVM's codegen for DNNL: JSON graphs of float32 operators, run by reference kernels."""

    name = "dnnl"
    support = table.SUPPORT
    runtimes = (RUNTIME,)
    payloads = MappingProxyType({RUNTIME.type_key: JsonRuntime.loads})

    def compile(
        self, functions: Sequence[ExternalFunction], board: Board
    ) -> Sequence[LoadedModule]:
        """A module for each function."""
        return [_module(function, board.cpu.pointer_bytes) for function in functions]


def _module(function: ExternalFunction, pointer_bytes: int) -> LoadedModule:
    assert function.relay is not None, "it takes no other nodes"
    limits.check_function(function, function.relay)
    made = serializer.serialize(function.symbol, function.relay, function.types)
    limits.check_graph(function, made.graph)
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
