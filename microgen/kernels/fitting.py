"""Which kernels can compute a node on a CPU, and why the others cannot."""

from __future__ import annotations

from dataclasses import dataclass

from microgen.ir.graph import Graph, Node
from microgen.ir.refusal import Refusal, of_node
from microgen.kernels import registry
from microgen.kernels.base import Implementation, Mismatch, Trait
from microgen.target.cpu import Cpu


@dataclass(frozen=True, slots=True)
class Fitting:
    """The ``kernels`` that can compute a node, and the ``refusals`` of the others for its op, both
    in the registry's order."""

    kernels: tuple[Implementation, ...]
    refusals: tuple[Refusal[Node], ...]

    def before(self, kernel: Implementation, op: str) -> tuple[Refusal[Node], ...]:
        """The refusals of those that stand before a kernel of the op in the registry."""
        order = [other.symbol for other in registry()[op]]
        end = order.index(kernel.symbol)
        return tuple(refusal for refusal in self.refusals if order.index(refusal.by) < end)

    def named(self, symbol: str) -> Implementation | None:
        """The kernel of that name, None if it does not fit."""
        return next((kernel for kernel in self.kernels if kernel.symbol == symbol), None)


def fitting(node: Node, graph: Graph, cpu: Cpu) -> Fitting:
    """The kernels for the node's op and for the form in which the model stores its weight."""
    is_int4 = not graph.int4.isdisjoint(node.inputs[1:2])
    fit: list[Implementation] = []
    refusals: list[Refusal[Node]] = []
    for kernel in registry().get(node.op, ()):
        if kernel.takes_int4 and not is_int4:
            continue
        why = refusal(kernel, node, graph, cpu)
        if why is None:
            fit.append(kernel)
        else:
            refusals.append(of_node(kernel.symbol, node, why))
    return Fitting(tuple(fit), tuple(refusals))


def refusal(kernel: Implementation, node: Node, graph: Graph, cpu: Cpu) -> str | None:
    """Why the kernel cannot compute the node on the CPU, None if it can."""
    missing = sorted(feature.value for feature in kernel.needs - cpu.features)
    why = kernel.refusal(node, graph)
    if missing and not (isinstance(why, Mismatch) and why.trait < Trait.CPU):
        return Mismatch(Trait.CPU, f"{cpu.title} has no {', '.join(missing)}")
    return why
