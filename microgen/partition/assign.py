"""Gives each node to the first codegen that claims it, and keeps every refusal's reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from microgen.codegens.base import Codegen, Refusal, Region
from microgen.errors import UnsupportedError
from microgen.ir.graph import Graph, Node
from microgen.ops import registry as ops
from microgen.target.board import Board


@dataclass(frozen=True, slots=True)
class Partition:
    """The graph, its regions in execution order, and why other codegens did not take them.

    Views belong to no region: they cost nothing.
    """

    graph: Graph
    regions: tuple[Region, ...]
    refusals: tuple[Refusal, ...]


def assign(graph: Graph, codegens: Sequence[Codegen], board: Board) -> Partition:
    """Partition the graph among the codegens, in priority order.

    Raises UnsupportedError, with every reason, for a node that none takes.
    """
    owner: dict[str, Region] = {}
    refusals: list[Refusal] = []
    for codegen in codegens:
        for claim in codegen.claims(graph, board):
            if isinstance(claim, Refusal):
                refusals.append(claim)
            elif not any(_key(node) in owner for node in claim.nodes):
                owner.update((_key(node), claim) for node in claim.nodes)
    for node in graph.nodes:
        if _key(node) not in owner and not ops()[node.op].is_view:
            raise _unclaimed(node, refusals)
    # A region's call takes the place of its last node: all that it reads is computed by then.
    last_first = dict.fromkeys(owner[_key(n)] for n in reversed(graph.nodes) if _key(n) in owner)
    regions = tuple(reversed(last_first))
    return Partition(graph, regions, tuple(r for r in refusals if _key(r.node) in owner))


def _key(node: Node) -> str:
    return node.outputs[0]


def _unclaimed(node: Node, refusals: list[Refusal]) -> UnsupportedError:
    reasons = [f"{r.by}: {r.why}" for r in refusals if r.node is node]
    return UnsupportedError(
        f"no kernel computes this {node.op} ({'; '.join(reasons)})",
        where=str(node.origin),
        hint="`microgen ops` lists what is supported",
    )
