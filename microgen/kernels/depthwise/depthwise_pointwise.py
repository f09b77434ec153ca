"""Kernels for a depthwise convolution and the 1x1 convolution that alone reads it.

Each pixel between them is in scratch memory only, so the tensor between them takes no memory. This
pays if the tensor is larger than the output of the 1x1 convolution.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels import base
from microgen.kernels.convolution import conv2d
from microgen.kernels.cost import estimate
from microgen.kernels.depthwise import depthwise_conv2d
from microgen.kernels.patterns import JOINT, members
from microgen.kernels.work import Cost
from microgen.target.cpu import Cpu

OP_NAME = JOINT.join((depthwise_conv2d.OP_NAME, conv2d.OP_NAME))


@dataclass(frozen=True, slots=True)
class _Pair:
    """The kernels of the two convolutions, whose loops the joint kernel contains."""

    depthwise: base.Implementation
    pointwise: base.Implementation

    def parts(self, node: Node) -> Iterator[tuple[str, base.Implementation, Node]]:
        """The names of the arguments' parts, the kernels and their nodes."""
        nodes = members(node)
        kernels = (self.depthwise, self.pointwise)
        yield from zip(("depthwise", "pointwise"), kernels, nodes, strict=True)

    def refusal(self, node: Node, graph: Graph) -> str | None:
        """Why one of the kernels does not compute its node."""
        refusals = (kernel.refusal(own, graph) for _, kernel, own in self.parts(node))
        return next(filter(None, refusals), None)

    def params(self, node: Node, graph: Graph) -> base.Fields:
        """The fields of both, each in its own structure."""
        return tuple(
            (f"{part}.{name}", value)
            for part, kernel, own in self.parts(node)
            for name, value in kernel.params(own, graph)
        )

    def constants(self, node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
        """The constants of both."""
        return tuple(
            dataclasses.replace(constant, name=f"{part}_{constant.name}")
            for part, kernel, own in self.parts(node)
            for constant in kernel.constants(own, graph)
        )

    def cost(self, node: Node, graph: Graph, cpu: Cpu, is_shared: bool) -> Cost | None:
        """The sum of both costs, which is close to the cost of the joined loops."""
        costs = [estimate(k, own, graph, cpu, shared=is_shared) for _, k, own in self.parts(node)]
        known = [cost for cost in costs if cost]
        if len(known) < len(costs):
            return None
        return Cost(
            instructions=sum(cost.instructions for cost in known),
            cycles=sum(cost.cycles for cost in known),
            code_bytes=sum(cost.code_bytes for cost in known),
            shared_bytes=sum(cost.shared_bytes for cost in known),
            cores=tuple(core for cost in known for core in cost.cores),
            waited=sum(cost.waited for cost in known),
            followed=sum(cost.followed for cost in known),
        )


def _pixel(node: Node, graph: Graph) -> int:
    """The scratch in bytes: the channels between the convolutions."""
    depthwise, _ = members(node)
    return graph.types[depthwise.outputs[0]].shape[3]


def _kernel(loop: str) -> base.Implementation:
    # A name without a requantization belongs to the kernel that rounds twice, see ``Layer.usual``.
    # The body takes one requantization for both convolutions.
    pair = _Pair(
        _named(f"mg_depthwise_conv2d_s8_{loop}", depthwise_conv2d.IMPLEMENTATIONS),
        _named(f"mg_conv2d_1x1_s8_{loop}", conv2d.IMPLEMENTATIONS),
    )
    return base.Implementation(
        symbol=f"mg_depthwise_pointwise_s8_{loop}",
        needs=pair.pointwise.needs,
        refusal=pair.refusal,
        params=pair.params,
        constants=pair.constants,
        scratch=_pixel,
        cost=pair.cost,
        family="depthwise_pointwise_s8",
        variant=pair.pointwise.variant,
    )


def _named(symbol: str, kernels: tuple[base.Implementation, ...]) -> base.Implementation:
    return next(kernel for kernel in kernels if kernel.symbol == symbol)


IMPLEMENTATIONS = (_kernel("dsp"), _kernel("portable"))
