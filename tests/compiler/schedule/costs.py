"""A partition to schedule, with costs that a test can read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from microgen.compiler import codegens, partition, passes
from microgen.compiler.partition import Partition
from microgen.compiler.schedule.state import Worth
from microgen.graph.ir.graph import Graph, Node
from microgen.kernels.base import Implementation
from microgen.kernels.cost import Cost
from microgen.kernels.fitting import Fitting, fitting
from microgen.planner.program.ram import Ram
from microgen.target import board as boards
from microgen.target.board import Board
from microgen.target.cpu import Cpu
from tests.support.graphs import Builder

M4 = boards.load("mps2_an386")

# The kernels that there are: as many as a test can tell apart, in the registry's order.
KERNELS = frozenset(
    {
        *("mg_conv2d_1x1_s8_mve", "mg_conv2d_s8_mve", "mg_depthwise_conv2d_s8_mve"),
        *("mg_conv2d_1x1_s8_dsp", "mg_conv2d_s8_dsp", "mg_depthwise_conv2d_s8_dsp"),
        *("mg_conv2d_1x1_s8_portable", "mg_conv2d_s8_portable"),
        *("mg_depthwise_conv2d_s8_portable", "mg_depthwise_pointwise_s8"),
        *("mg_conv2d_s8", "mg_depthwise_conv2d_s8"),
    }
)

# Cycles of a call, bytes of an operator compiled for its shape, bytes of the out-of-line form.
Costs = Mapping[str, tuple[int, int, int]]
_STUB = 20  # bytes of an operator that calls an out-of-line form


def two_convolutions(filters: int = 8) -> Graph:
    """A 3x3 convolution and two different 1x1 convolutions."""
    b = Builder()
    first = b.conv(b.input(1, 8, 8, 4), filters)
    second = b.conv(first, filters, 1)
    return b.graph(b.conv(second, 12, 1))


def separable() -> Graph:
    """A depthwise convolution whose only reader is a 1x1 convolution."""
    b = Builder()
    return b.graph(b.conv(b.depthwise(b.input(1, 8, 8, 8)), 4, 1))


def parts_of(graph: Graph, board: Board = M4) -> Partition:
    return partition.assign(passes.run(graph), [codegens.registry()["builtin"]], board)


def no_ram(_parts: Partition, _worth: Worth) -> Ram:
    return Ram(100, least=90)


@pytest.fixture
def costs(monkeypatch: pytest.MonkeyPatch) -> Callable[[Costs], None]:
    """Sets the costs; kernels without any are not measured."""

    def use(known: Costs) -> None:
        def estimate(
            kernel: Implementation, _node: Node, _graph: Graph, _cpu: Cpu, *, shared: bool
        ) -> Cost | None:
            if kernel.symbol not in known:
                return None
            cycles, own, common = known[kernel.symbol]
            if shared:
                return Cost(2 * cycles, 2 * cycles, _STUB, common)
            return Cost(cycles, cycles, own)

        def few(node: Node, graph: Graph, cpu: Cpu) -> Fitting:
            found = fitting(node, graph, cpu)
            kept = tuple(kernel for kernel in found.kernels if kernel.symbol in KERNELS)
            return replace(found, kernels=kept)

        monkeypatch.setattr("microgen.compiler.schedule.options.estimate", estimate)
        monkeypatch.setattr("microgen.compiler.schedule.options.fitting", few)

    return use
