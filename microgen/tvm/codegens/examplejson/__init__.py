"""examplejsoncompiler: the codegen of TVM's guide that makes text for a runtime to read.

docs/reference/examplejson.md has the format and the supported operators.
"""

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
from microgen.relay.transform.support import Support
from microgen.target.board import Board
from microgen.tvm.codegens.examplejson import relay, sizes, text
from microgen.tvm.codegens.examplejson.payload import ExampleJson

NAME = "examplejsoncompiler"
RUNTIME = Runtime("examplejson", "mg_examplejson", "examplejson/runtime_examplejson.h")


class ExampleJsonCodegen(ExternalCodegen):
    """TVM's guide's ExampleJSON: float32 add, subtract and multiply, interpreted on the board."""

    name = NAME
    support = Support(NAME, dict.fromkeys(relay.OPERATORS, relay.refusal))
    runtimes = (RUNTIME,)
    payloads = MappingProxyType({RUNTIME.type_key: ExampleJson.loads})

    def compile(
        self, functions: Sequence[ExternalFunction], board: Board
    ) -> Sequence[LoadedModule]:
        """One module, with a subgraph for each function."""
        subgraphs = relay.subgraphs(functions)
        made = tuple(
            RuntimeFunction(
                symbol=subgraph.symbol,
                workspace=sizes.workspace_bytes(subgraph),
                kernel=RUNTIME.type_key,
            )
            for subgraph in subgraphs
        )
        module = LoadedModule(
            runtime=RUNTIME,
            functions=made,
            payload=ExampleJson(text.show(subgraphs)).dumps(),
            pool_bytes=sizes.pool_bytes(subgraphs, board.cpu.pointer_bytes),
        )
        return [module]


CODEGEN = ExampleJsonCodegen()
