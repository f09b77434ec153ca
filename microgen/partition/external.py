"""What the partitioner asks external code generators."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from microgen.codegens.external import ExternalCodegen
from microgen.ir.graph import Graph
from microgen.partition import kernel_graph, relay_module
from microgen.partition.relay_module import PartitionedModule
from microgen.partition.relay_regions import RelayRegions
from microgen.relay.expr import Call
from microgen.relay.module import IRModule
from microgen.target.board import Board

_SHOWN = 3  # reasons of an idle generator


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
    composite: bool,
    merge_regions: bool,
) -> tuple[Graph, tuple[GeneratorRefusal, ...]]:
    """The kernel graph with a node for each region that a generator takes, and their refusals.

    One that does not take nodes is asked for what they are in Relay; ``composite``: its patterns
    count, too.
    """
    asked = {g.name: _asked(g, graph, board, composite=composite) for g in generators}
    if not asked:
        return graph, ()
    done = kernel_graph.partition_graph(graph, asked, name=name, merge_regions=merge_regions)
    refusals = (GeneratorRefusal(r.by, r.node.op, str(r.node.origin), r.why) for r in done.refusals)
    return done.graph, tuple(refusals)


def _asked(
    generator: ExternalCodegen, graph: Graph, board: Board, *, composite: bool
) -> kernel_graph.Generator:
    if generator.takes_nodes:
        return kernel_graph.Generator(lambda node: generator.refusal(node, graph, board))
    regions = RelayRegions(generator.support, composite)
    return kernel_graph.Generator(lambda node: regions.refusal(node, graph), regions.function)


@dataclass(frozen=True, slots=True)
class Idle:
    """A generator that was asked for, and takes nothing of the model. ``reasons`` are its refusals'
    sentences, each once, behind what they are of; ``hint`` is what may help."""

    name: str
    reasons: tuple[str, ...]
    hint: str

    def __str__(self) -> str:
        shown = "; ".join(self.reasons[:_SHOWN]) or "it has no operator that the model has"
        more = len(self.reasons) - _SHOWN
        rest = f"; and {more} more" if more > 0 else ""
        return f"{self.name} takes nothing of the model: {shown}{rest} ({self.hint})"


def idle(
    generators: Sequence[ExternalCodegen],
    took: Collection[str],
    refusals: Sequence[GeneratorRefusal],
    *,
    composite: bool,
) -> tuple[Idle, ...]:
    """The generators that are not among those that ``took`` a part."""
    return tuple(
        Idle(g.name, _reasons(g.name, refusals), _hint(g, composite=composite))
        for g in generators
        if g.name not in took
    )


def _reasons(name: str, refusals: Sequence[GeneratorRefusal]) -> tuple[str, ...]:
    of: dict[str, dict[str, None]] = {}
    for refusal in refusals:
        if refusal.by == name:
            of.setdefault(refusal.why, {})[refusal.what] = None
    return tuple(f"{', '.join(what)}: {why}" for why, what in of.items())


def _hint(generator: ExternalCodegen, *, composite: bool) -> str:
    shows = "`microgen partition` shows where"
    if composite or not generator.support.patterns:
        return shows
    return f"{shows}; with --composite its patterns of several operators count, too"
