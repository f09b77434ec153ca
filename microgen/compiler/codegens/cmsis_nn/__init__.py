"""CMSIS-NN: Arm's kernels for quantized networks, built from the user's source tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from microgen.base.errors import MicrogenError, UnsupportedError
from microgen.compiler.codegens.cmsis_nn import refusals, tree
from microgen.compiler.codegens.cmsis_nn.function import compiled
from microgen.compiler.codegens.cmsis_nn.tree import LibraryForm
from microgen.compiler.codegens.external import CSource, ExternalCodegen, ExternalFunction
from microgen.graph.ir.graph import Graph, Node
from microgen.relay.transform import Support
from microgen.target.board import Board

NAME = "cmsis-nn"
_INCLUDES = (
    '#include "arm_nnfunctions.h"',
    "",
    "#include <stdint.h>",
    "#include <tvm/runtime/crt/error_codes.h>",
)


@dataclass(frozen=True)
class CmsisNN(ExternalCodegen):
    """Arm's kernels (CMSIS-NN) for int8 operators, from a source tree of your own.

    ``path`` names the tree, None for the environment's.
    """

    path: str | None = None
    name: str = NAME
    takes_nodes: bool = True
    support: Support = field(default_factory=lambda: Support(NAME))

    def configured(self, options: Mapping[str, str]) -> CmsisNN:
        """The codegen with ``path``, the folder of CMSIS-NN's sources."""
        for key in options.keys() - {"path"}:
            raise MicrogenError(
                f"{self.name} has no option {key!r}",
                where="--codegen-option",
                hint="it has path, the folder of CMSIS-NN's sources",
            )
        return CmsisNN(options.get("path", self.path))

    def refusal(self, node: Node, graph: Graph, board: Board) -> str | None:  # noqa: ARG002
        """Why CMSIS-NN does not take the node; None if it does."""
        return refusals.refusal(node, graph)

    def compile(self, functions: Sequence[ExternalFunction], board: Board) -> Sequence[CSource]:
        """One C source, and the files of CMSIS-NN that it needs."""
        for function in functions:
            _check(function)
        form = LibraryForm.of(board.cpu)
        made = [compiled(function, form) for function in functions]
        called = (name for each in made for name in each.called)
        return [
            CSource(
                functions=tuple(each.function for each in made),
                code="\n".join([*_INCLUDES, "", *(each.code for each in made)]),
                files=tree.find(self.path).files(called),
                include_dirs=(tree.INCLUDE,),
            )
        ]


def _check(function: ExternalFunction) -> None:
    for node in function.graph.nodes:
        why = refusals.refusal(node, function.graph)
        if why:
            raise UnsupportedError(why, where=str(node.origin))


CODEGEN = CmsisNN()
