"""Loops and branches: each becomes one primitive function, which calls the functions of the layers
of the graphs inside."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.compiler.codegens.base import Primitive, Region
from microgen.compiler.control import functions
from microgen.compiler.control.inside import NAME, Inside, compiled
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ir.refusal import Refusal
from microgen.graph.ops.control.branch import BranchAttrs
from microgen.graph.ops.control.loop import LoopAttrs
from microgen.target.board import Board


class InnerGraphs:
    """The code generator of loops and branches. The built-in kernels compute the layers inside."""

    name = NAME

    def claims(
        self,
        graph: Graph,
        board: Board,
    ) -> Sequence[Region | Refusal[Node]]:
        """A region for each loop and branch. Raises UnsupportedError for a layer inside that no
        kernel computes."""
        found = [node for node in graph.nodes if isinstance(node.attrs, LoopAttrs | BranchAttrs)]
        for node in found:
            _inside(node, board)
        return [Region(self.name, (node,)) for node in found]

    def lower(self, regions: Sequence[Region], graph: Graph, board: Board) -> Sequence[Primitive]:
        """The primitive functions, one for each region."""
        return [
            functions.primitive(region.main, graph, _inside(region.main, board), board)
            for region in regions
        ]


def _inside(node: Node, board: Board) -> tuple[Inside, ...]:
    """The graphs of a node, compiled, in the order in which they are computed."""
    match node.attrs:
        case LoopAttrs(body, _, condition):
            first = () if condition is None else (compiled(condition, board, CODEGEN),)
            return (*first, compiled(body, board, CODEGEN))
        case BranchAttrs(then, otherwise):
            return compiled(then, board, CODEGEN), compiled(otherwise, board, CODEGEN)
    return ()


CODEGEN = InnerGraphs()
