"""A code generator that lowers each region once, for searches that lower most regions again."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from microgen.compiler.codegens.base import Choice, Codegen, Primitive, Region
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ir.refusal import Refusal
from microgen.target.board import Board


@dataclass(slots=True)
class Remembered:
    """Another generator, which lowers each region by itself, and the results for one board. Regions
    are the same if they have the same node objects."""

    codegen: Codegen
    name: str = field(init=False)
    made: dict[Hashable, tuple[Region, Graph, Primitive]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.name = self.codegen.name

    def claims(self, graph: Graph, board: Board) -> Sequence[Region | Refusal[Node]]:
        """The claims of the other generator."""
        return self.codegen.claims(graph, board)

    def lower(self, regions: Sequence[Region], graph: Graph, board: Board) -> Sequence[Primitive]:
        """The primitive functions of the regions."""
        return [self._lowered(region, graph, board) for region in regions]

    def _lowered(self, region: Region, graph: Graph, board: Board) -> Primitive:
        key = (id(graph), *map(id, region.nodes), *map(_of_choice, region.choices))
        if key not in self.made:
            (primitive,) = self.codegen.lower([region], graph, board)
            # Region and graph are kept, because an object that is gone could give its id to another
            # one.
            self.made[key] = region, graph, primitive
        _, _, primitive = self.made[key]
        return primitive


def _of_choice(choice: Choice) -> Hashable:
    own = choice.symbol, choice.is_shared, choice.in_place, choice.rows, choice.columns, choice.fed
    return (*map(id, choice.nodes), *own, choice.reason)
