"""Projects in which one function computes several layers, as a schedule may decide."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from microgen.compiler.codegens.base import Region
from microgen.compiler.codegens.builtin import Builtin
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ir.refusal import Refusal
from microgen.target.board import Board


def fuse(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """From now on the first ``count`` layers that the built-in kernels compute are one function."""
    alone = Builtin.claims

    def claims(self: Builtin, graph: Graph, board: Board) -> Sequence[Region | Refusal[Node]]:
        found = alone(self, graph, board)
        regions = [one for one in found if isinstance(one, Region)]
        nodes = tuple(node for region in regions[:count] for node in region.nodes)
        others = [one for one in found if not isinstance(one, Region)]
        return [Region(self.name, nodes), *regions[count:], *others]

    monkeypatch.setattr(Builtin, "claims", claims)
