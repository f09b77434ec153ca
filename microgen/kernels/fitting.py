"""Which kernels can compute a node on a CPU, and why the others cannot."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ir.refusal import Refusal, of_node
from microgen.kernels import registry
from microgen.kernels.base import Implementation, Mismatch, Trait
from microgen.kernels.identity import KEPT, Same
from microgen.target.cpu import Cpu


@dataclass(frozen=True, slots=True)
class Fitting:
    """The ``kernels`` that can compute a node, and the ``refusals`` of the others for its op, both
    in the registry's order."""

    kernels: tuple[Implementation, ...]
    refusals: tuple[Refusal[Node], ...]

    def before(self, kernel: Implementation, op: str) -> tuple[Refusal[Node], ...]:
        """The refusals of kernels that precede ``kernel`` in the registry's list for ``op``."""
        order = _order(Same(registry()[op]))
        end = order[kernel.symbol]
        return tuple(refusal for refusal in self.refusals if order[refusal.by] < end)

    def named(self, symbol: str) -> Implementation | None:
        """The kernel of that name, None if it does not fit."""
        return next((kernel for kernel in self.kernels if kernel.symbol == symbol), None)


@functools.cache
def _order(kernels: Same[tuple[Implementation, ...]]) -> Mapping[str, int]:
    return {kernel.symbol: number for number, kernel in enumerate(kernels.value)}


def fitting(node: Node, graph: Graph, cpu: Cpu) -> Fitting:
    """The kernels for the node's op and for the form in which the model stores its weight."""
    return _fitting(node, Same(graph), cpu)


@functools.lru_cache(maxsize=KEPT)
def _fitting(node: Node, known: Same[Graph], cpu: Cpu) -> Fitting:
    graph = known.value
    fit: list[Implementation] = []
    refusals: list[Refusal[Node]] = []
    for kernel in _of_form(node, graph):
        why = refusal(kernel, node, graph, cpu)
        if why is None:
            fit.append(kernel)
        else:
            refusals.append(of_node(kernel.symbol, node, why))
    return Fitting(tuple(fit), tuple(refusals))


def least_scratch(node: Node, graph: Graph, cpu: Cpu) -> int:
    """The least bytes of scratch with which a kernel can compute the node; 0 if no kernel can.
    Plain kernels need no scratch and are the last of the registry.
    """
    least: list[int] = []
    key = node.op, graph.types[node.outputs[0]].dtype, cpu
    usual, kernels = _plain.get(key), _of_form(node, graph)[::-1]
    # Most layers of a network have the same plain kernel.
    for kernel in sorted(kernels, key=lambda one: one is not usual):
        if refusal(kernel, node, graph, cpu) is None:
            least.append(kernel.scratch(node, graph))
        # No kernel needs less, and a refusal may cost a proof.
        if 0 in least:
            _plain[key] = kernel
            break
    return min(least, default=0)


# The last kernels without scratch that fitted, by op, dtype and CPU.
_plain: dict[tuple[str, DType, Cpu], Implementation] = {}


def _of_form(node: Node, graph: Graph) -> list[Implementation]:
    is_int4 = not graph.int4.isdisjoint(node.inputs[1:2])
    return [one for one in registry().get(node.op, ()) if is_int4 or not one.takes_int4]


def refusal(kernel: Implementation, node: Node, graph: Graph, cpu: Cpu) -> str | None:
    """Why the kernel cannot compute the node on the CPU, None if it can."""
    missing = sorted(feature.value for feature in kernel.needs - cpu.features)
    judge = kernel.form if missing and kernel.form else kernel.refusal
    why = judge(node, graph)
    # A kernel for other dtypes or weights says so, which is more useful than the CPU's lack.
    if missing and not (isinstance(why, Mismatch) and why.trait < Trait.CPU):
        return Mismatch(Trait.CPU, f"{cpu.title} has no {', '.join(missing)}")
    return why
