"""Messages to users about the kernels that do not compute a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ir.refusal import Refusal
from microgen.kernels import registry as kernels
from microgen.kernels.base import Implementation, Mismatch, Trait

_OWN = len(Trait)  # the rank of a refusal because of the node itself


def missing(node: Node, graph: Graph, refusals: Sequence[Refusal[Node]]) -> str:
    """The one reason why no kernel computes the node. A dtype, weights or rounding without a kernel
    come first."""
    here = [r for r in refusals if _rank(r) != Trait.CPU] or refusals
    furthest = max(map(_rank, here), default=Trait.DTYPE)
    rounding = getattr(node.attrs, "rounding", None)
    if furthest == Trait.DTYPE:
        return f"{_dtypes(node, graph)} has no {node.op} kernel"
    if furthest == Trait.ARITHMETIC and rounding:
        return f"{_dtypes(node, graph)} with {rounding.value!r} rounding has no {node.op} kernel"
    # Kernels of an op end with the one that requires least, so its reason is the easiest to remove.
    return next(r.why for r in reversed(here) if _rank(r) == furthest)


def by_loop(
    node: Node, refusals: Sequence[Refusal[Node]], chosen: Implementation | None = None
) -> tuple[Refusal[Node], ...]:
    """The closest refusal of each loop for the node's dtype, and for int4 if its weights are int4.
    Other requantizations of the chosen kernel's loop are left out. If no kernel was chosen, loops
    for other CPUs are left out, too."""
    entries = {kernel.symbol: kernel for kernel in kernels().get(node.op, ())}
    loops: dict[str, list[Refusal[Node]]] = {}
    for refusal in refusals:
        kernel = entries[refusal.by]
        if kernel.takes_int4 or _rank(refusal) > Trait.WEIGHTS:
            loops.setdefault(kernel.loop_name, []).append(refusal)
    if chosen:
        loops.pop(chosen.loop_name, None)
    closest = (replace(max(own, key=_rank), by=loop) for loop, own in loops.items())
    return tuple(r for r in closest if chosen or _rank(r) != Trait.CPU)


def _rank(refusal: Refusal[Node]) -> int:
    return refusal.why.trait if isinstance(refusal.why, Mismatch) else _OWN


def _dtypes(node: Node, graph: Graph) -> str:
    """The data's dtype, and the output's if it is another one."""
    data = graph.types[node.inputs[0]].dtype.value if node.inputs else ""
    output = graph.types[node.outputs[0]].dtype.value
    if not data:
        return f"{output} output"
    return f"{data} data" if data == output else f"{data} data with {output} output"
