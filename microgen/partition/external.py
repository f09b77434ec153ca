"""What the partitioner asks external code generators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from microgen.codegens.external import ExternalCodegen
from microgen.ir.graph import Graph, Node
from microgen.partition import kernel_graph, relay_module
from microgen.partition.relay_module import PartitionedModule
from microgen.relay.expr import Call, IRModule
from microgen.target.board import Board


@dataclass(frozen=True, slots=True)
class GeneratorRefusal:
    """Why the generator ``by`` does not compile ``what`` at ``where``: an operator or a pattern."""

    by: str
    what: str
    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what} is not for {self.by}: {self.why}"


def partition_module(
    module: IRModule,
    generators: Sequence[ExternalCodegen],
    *,
    name: str,
    composite: bool,
    merge_regions: bool,
) -> PartitionedModule:
    """See ``relay_module.partition_module``."""
    return relay_module.partition_module(
        module,
        [generator.support for generator in generators],
        name=name,
        composite=composite,
        merge_regions=merge_regions,
    )


def refusals_of(module: PartitionedModule | None, file: str) -> tuple[GeneratorRefusal, ...]:
    """The refusals of a Relay module's partition; ``file`` is the model's name."""
    if module is None:
        return ()
    return tuple(
        GeneratorRefusal(r.support, r.what, _where(r.expr, file), r.reason) for r in module.refusals
    )


def _where(expr: object, file: str) -> str:
    span = expr.span if isinstance(expr, Call) else None
    return str(span) if span else file


def partition_graph(
    graph: Graph,
    generators: Sequence[ExternalCodegen],
    board: Board,
    *,
    name: str,
    merge_regions: bool,
) -> tuple[Graph, tuple[GeneratorRefusal, ...]]:
    """The kernel graph with a node for each region that a generator takes, and their refusals."""
    asked = {g.name: _refuses(g, graph, board) for g in generators if g.takes_nodes}
    if not asked:
        return graph, ()
    done = kernel_graph.partition_graph(graph, asked, name=name, merge_regions=merge_regions)
    refusals = (GeneratorRefusal(r.by, r.node.op, str(r.node.origin), r.why) for r in done.refusals)
    return done.graph, tuple(refusals)


def _refuses(generator: ExternalCodegen, graph: Graph, board: Board) -> kernel_graph.Refuses:
    def refuses(node: Node) -> str | None:
        return generator.refusal(node, graph, board)

    return refuses
