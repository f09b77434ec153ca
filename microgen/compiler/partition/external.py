"""The partitioner's interface to external code generators."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from microgen.compiler.codegens.external import ExternalCodegen
from microgen.compiler.partition import kernel_graph
from microgen.compiler.partition.relay_module import PartitionedModule, Partitioning
from microgen.compiler.partition.relay_regions import RelayRegions
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ir.refusal import Refusal
from microgen.relay.expr import Expr
from microgen.target.board import Board

_SHOWN = 3  # the most reasons shown for an idle generator


def refusals_of(module: PartitionedModule | None, file: str) -> tuple[Refusal[Expr], ...]:
    """The refusals of a Relay module's partition. A refusal without a place gets ``file``, the name
    of the model."""
    refusals = module.refusals if module else ()
    return tuple(replace(r, where=r.where or file) for r in refusals)


def partition_graph(
    graph: Graph, generators: Sequence[ExternalCodegen], board: Board, how: Partitioning
) -> tuple[Graph, tuple[Refusal[Node], ...]]:
    """The kernel graph with a node for each region that a generator takes, and the refusals. A
    generator that takes Relay, not nodes, gets each node's form in Relay."""
    asked = {g.name: _asked(g, graph, board, composite=how.composite) for g in generators}
    if not asked:
        return graph, ()
    done = kernel_graph.partition_graph(graph, asked, how)
    return done.graph, done.refusals


def _asked(
    generator: ExternalCodegen, graph: Graph, board: Board, *, composite: bool
) -> kernel_graph.Generator:
    if generator.takes_nodes:
        return kernel_graph.Generator(lambda node: generator.refusal(node, graph, board))
    regions = RelayRegions(generator.support, composite)
    return kernel_graph.Generator(lambda node: regions.refusal(node, graph), regions.function)


@dataclass(frozen=True, slots=True)
class Idle:
    """A generator that the user named, but that takes nothing of the model. ``reasons`` has each
    sentence of its refusals once, with its operators. ``hint`` is advice."""

    name: str
    reasons: tuple[str, ...]
    hint: str

    def __str__(self) -> str:
        shown = "; ".join(self.reasons[:_SHOWN]) or "the model has none of its operators"
        more = len(self.reasons) - _SHOWN
        rest = f"; and {more} more" if more > 0 else ""
        return f"{self.name} takes nothing of the model: {shown}{rest} ({self.hint})"


def idle(
    generators: Sequence[ExternalCodegen],
    took: Collection[str],
    refusals: Sequence[Refusal[Any]],
    *,
    composite: bool,
) -> tuple[Idle, ...]:
    """The generators that took nothing. ``took`` has the names of the others."""
    return tuple(
        Idle(g.name, _reasons(g.name, refusals), _hint(g, composite=composite))
        for g in generators
        if g.name not in took
    )


def _reasons(name: str, refusals: Sequence[Refusal[Any]]) -> tuple[str, ...]:
    of: dict[str, dict[str, None]] = {}
    for refusal in refusals:
        if refusal.by == name:
            of.setdefault(refusal.why, {})[refusal.what] = None
    return tuple(f"{', '.join(what)}: {why}" for why, what in of.items())


def _hint(generator: ExternalCodegen, *, composite: bool) -> str:
    shows = "`microgen partition` shows where"
    if composite or not generator.support.patterns:
        return shows
    return f"{shows}; --composite also tries its patterns of several operators"
