"""A graph inside a loop or a branch: its regions, the kernels that compute them, and which values
are computed in the places of the values of the next round."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from microgen.compiler import schedule
from microgen.compiler.codegens import builtin
from microgen.compiler.codegens.base import Codegen, Primitive, Region
from microgen.compiler.lowering import updates
from microgen.compiler.lowering.updates import Updates
from microgen.compiler.partition import assign
from microgen.graph.ir.graph import Graph
from microgen.kernels.identity import Same
from microgen.target.board import Board

NAME = "control"
_KEPT = 64  # graphs; searches lower the node that has them many times


@dataclass(frozen=True, slots=True)
class Inside:
    """A compiled graph: its ``regions`` in execution order with the primitive function of each, and
    the places of its variables' next values."""

    graph: Graph
    regions: tuple[Region, ...]
    primitives: tuple[Primitive, ...]
    updates: Updates


def compiled(graph: Graph, board: Board, control: Codegen) -> Inside:
    """The graph, whose loops and branches ``control`` compiles. Raises UnsupportedError for a layer
    that no kernel computes."""
    return _compiled(Same(graph), Same(board), Same(control))


@functools.lru_cache(maxsize=_KEPT)
def _compiled(known: Same[Graph], on: Same[Board], by: Same[Codegen]) -> Inside:
    graph, board, control = known.value, on.value, by.value
    parts = assign(graph, [control, builtin.CODEGEN], board)
    parts = schedule.fastest(parts, board.cpu)
    codegens: dict[str, Codegen] = {NAME: control, builtin.CODEGEN.name: builtin.CODEGEN}
    primitives = tuple(
        primitive
        for region in parts.regions
        for primitive in codegens[region.codegen].lower([region], graph, board)
    )
    places = updates.of(graph, parts.regions, primitives)
    return Inside(graph, parts.regions, primitives, places)
