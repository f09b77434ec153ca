"""Gives each node to the first codegen that claims it, and keeps the reason of every refusal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from microgen.base.errors import UnsupportedError, short
from microgen.compiler.codegens.base import Codegen, Region
from microgen.compiler.passes.views import is_view, roots
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ir.refusal import Refusal
from microgen.target.board import Board


@dataclass(frozen=True, slots=True)
class Partition:
    """The graph, its regions in execution order, and why other codegens refused their nodes.

    Views belong to no region, because they cost nothing. ``planned`` are the graph's inputs and
    outputs whose bytes may hold other tensors before the output is written or after the input dies.
    Each has the number of bytes in front of it that may hold them, too. The caller feeds ``fed``
    rows of the only input at a time, so the first region has to read it in rows; 0: it passes whole
    inputs. If it ``copies_parts``, each tensor has a buffer of its own, so concatenations copy. If
    it ``is_overlaid``, an output lies in the buffer of an input, and is written as late as
    possible.
    """

    graph: Graph
    regions: tuple[Region, ...]
    refusals: tuple[Refusal[Node], ...]
    planned: Mapping[str, int] = field(default_factory=dict)
    fed: int = 0
    copies_parts: bool = False
    is_overlaid: bool = False


def assign(graph: Graph, codegens: Sequence[Codegen], board: Board) -> Partition:
    """Partition the graph among the codegens, in priority order.

    Raises UnsupportedError, with every reason, for a node that none takes, and for an external
    function that is not one step: on two targets, or with something outside between its nodes.
    """
    owner: dict[str, Region] = {}
    refusals: list[Refusal[Node]] = []
    for codegen in codegens:
        for claim in codegen.claims(graph, board):
            if isinstance(claim, Refusal):
                refusals.append(claim)
            # A region is taken whole or not at all, and the first claim wins.
            elif not any(_key(n) in owner or _key(n) in graph.sections for n in claim.nodes):
                owner.update((_key(node), claim) for node in claim.nodes)
    left = [n for n in graph.nodes if _key(n) not in owner and not is_view(n, graph)]
    if left:
        raise _unclaimed(left, refusals)
    # A region's call takes the place of its last node: all that it reads is computed by then.
    last_first = dict.fromkeys(owner[_key(n)] for n in reversed(graph.nodes) if _key(n) in owner)
    regions = tuple(reversed(last_first))
    for region in regions:
        if region.function:
            _check_function(region, graph)
    return Partition(graph, regions, tuple(r for r in refusals if _key(r.of) in owner))


def _key(node: Node) -> str:
    return node.outputs[0]


def _check_function(region: Region, graph: Graph) -> None:
    targets = dict.fromkeys(node.target for node in region.nodes)
    if len(targets) > 1:
        raise UnsupportedError(
            f"function {region.function!r} has nodes on {' and '.join(map(repr, targets))}",
            where=str(region.origin),
            hint="an external function is compiled for one target",
        )
    bytes_of = roots(graph)
    computed = {name for node in region.nodes for name in node.outputs}
    for node in graph.nodes[: graph.nodes.index(region.nodes[-1])]:
        is_outside = node not in region.nodes and not is_view(node, graph)
        if is_outside and any(bytes_of[name] in computed for name in node.inputs):
            raise UnsupportedError(
                f"reads a result of function {region.function!r} before the function has ended",
                where=str(node.origin),
                hint="move the nodes that read its results after all nodes of the function",
            )


def _unclaimed(left: Sequence[Node], refusals: Sequence[Refusal[Node]]) -> UnsupportedError:
    """The error for nodes that no codegen takes: the reason for the first node, and the names of
    the others. The details have every reason of every codegen."""
    first = _reasons(left[0], refusals)
    also = f"; nor {len(left) - 1} other layers (-v lists all)" if left[1:] else ""
    return UnsupportedError(
        f"no kernel computes it ({first[0].why if first else 'it has none'}){also}",
        where=f"{left[0].origin.file}: layer {_layer(left[0])}",
        hint="`microgen ops` lists what is supported",
        details=[line for node in left for line in _details(node, refusals)],
    )


def _layer(node: Node) -> str:
    return f'"{short(node.origin.layer)}" ({node.op})'


def _details(node: Node, refusals: Sequence[Refusal[Node]]) -> list[str]:
    return [
        f"{_layer(node)}: {refusal.by}: {why}"
        for refusal in _reasons(node, refusals)
        for why in [kernel.brief for kernel in refusal.details] or [refusal.why]
    ]


def _reasons(node: Node, refusals: Sequence[Refusal[Node]]) -> list[Refusal[Node]]:
    """Why the node is not taken, with the built-in kernels' reasons first."""
    # For a node of an external function the reasons of all nodes of that function are given.
    of_function = [r for r in refusals if node.function and r.of.function == node.function]
    found = of_function or [r for r in refusals if r.of is node]
    return sorted(found, key=lambda refusal: refusal.by != "builtin")
