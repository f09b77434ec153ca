"""The first stages of a model: which codegen compiles which node."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from microgen import frontends
from microgen.base.manifest import DeadChannelsRecord
from microgen.base.output import progress
from microgen.base.pieces import Content
from microgen.compiler import control, partition, passes
from microgen.compiler.codegens import selection
from microgen.compiler.codegens.base import Codegen
from microgen.compiler.codegens.external import ExternalCodegen
from microgen.compiler.partition import Partition, external, sections
from microgen.compiler.partition.external import Idle
from microgen.compiler.partition.relay_module import (
    PartitionedModule,
    Partitioning,
    partition_module,
)
from microgen.frontends.model_format import Request
from microgen.frontends.numerics import PROFILES
from microgen.graph.ir.graph import Graph
from microgen.graph.ir.refusal import Refusal
from microgen.graph.ops import budget
from microgen.options import Options
from microgen.pipeline import dead_channels
from microgen.target.board import Board


@dataclass(frozen=True, slots=True)
class Partitioned:
    """The first stages of a ``model`` with its ``options``: which codegen compiles which node.

    ``source`` is the graph from the frontend, ``files`` are the model's files that the project
    keeps. ``module``: the Relay module, step by step, if external generators partitioned one.
    ``refusals`` are the reasons why these generators refused parts of it. ``idle`` are the
    generators that took nothing. ``dead_channels`` are in the source and not in the partition.
    """

    model: Path
    options: Options
    codegens: Mapping[str, Codegen]
    source: Graph
    files: Mapping[str, Content]
    partition: Partition
    module: PartitionedModule | None = None
    refusals: tuple[Refusal[Any], ...] = ()
    idle: tuple[Idle, ...] = ()
    dead_channels: tuple[DeadChannelsRecord, ...] = ()


@budget.of_model()
def partitioned(model: Path, board: Board, options: Options) -> Partitioned:
    """The stages up to the partition."""
    options = replace(options, numerics=frontends.numerics_of(model, options.numerics))
    found = selection.chosen(options.codegen, options.codegen_option, options.codegen_path)
    generators = selection.external(found)
    how = Partitioning(options.name, options.composite, options.merge_regions)
    profile, kinds = PROFILES[options.numerics], options.target_map.kinds
    given = (options.signature, options.dim, options.bind, options.max_rounds, options.state)
    request = Request(profile, kinds, (), *given)
    source, files, module = _source(model, request, generators, how)
    graph = passes.run(source)
    removed = dead_channels.records(graph)
    refusals: tuple[Refusal[Any], ...] = external.refusals_of(module, model.name)
    # Generators that take Relay have already seen a Relay model in its original form.
    asked = [generator for generator in generators if generator.takes_nodes or module is None]
    graph, more = external.partition_graph(graph, asked, board, how)
    refusals = (*refusals, *more)
    if any(node.op in ("loop", "branch") for node in graph.nodes):
        # Before the built-in kernels, which compute the layers inside.
        found = {control.CODEGEN.name: control.CODEGEN, **found}
    if not (_copies(options) or options.output_overlay):
        whole = () if options.input_rows or _planned(graph, options) else graph.inputs
        graph = sections.with_sections(graph, whole)
    with progress.stage("partition"):
        parts = partition.assign(graph, list(found.values()), board)
    took = {region.codegen for region in parts.regions}
    idle = external.idle(generators, took, refusals, composite=options.composite)
    parts = replace(
        parts,
        planned=_planned(graph, options),
        fed=options.input_rows,
        copies_parts=_copies(options),
        is_overlaid=options.output_overlay,
    )
    return Partitioned(
        *(model, options, found, source, files, parts, module),
        *(refusals, idle, removed),
    )


def _copies(options: Options) -> bool:
    """Whether each tensor has a buffer of its own, as in TVM."""
    return options.executor == "graph" or options.planner == "on-demand"


def _planned(graph: Graph, options: Options) -> dict[str, int]:
    """The inputs and outputs that ``Partition.planned`` has."""
    if options.workspace_io:
        return dict.fromkeys((*graph.inputs, *graph.outputs), sys.maxsize)
    is_consumed = options.input_consumed or options.output_overlay
    return dict.fromkeys(graph.inputs if is_consumed else (), options.input_headroom)


@progress.stage("read")
def _source(
    model: Path, request: Request, generators: Sequence[ExternalCodegen], how: Partitioning
) -> tuple[Graph, Mapping[str, Content], PartitionedModule | None]:
    """The graph, the model's files, and, if generators partition it as Relay, its module."""
    relay = frontends.relay_module(model, request) if generators else None
    if relay is None:
        return *frontends.read(model, request), None
    supports = [generator.support for generator in generators]
    module = partition_module(relay, supports, how)
    names = [generator.name for generator in generators]
    request = replace(request, generators=names)
    return *frontends.partitioned(model, module.module, request), module
