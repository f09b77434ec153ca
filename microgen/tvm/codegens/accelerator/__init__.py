"""The codegen of the simulated accelerator: command streams, run between a device's hooks."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.compiler.codegens.external import (
    CSource,
    DeviceDriver,
    ExternalCodegen,
    ExternalFunction,
)
from microgen.graph.ir.graph import Graph, Node
from microgen.relay.transform import Support
from microgen.target.board import Board
from microgen.tvm.codegens.accelerator import commands, source


class Accelerator(ExternalCodegen):
    """A simulated int8 accelerator, which runs command streams between the hooks of a device.

    It computes with our reference kernels (``crt/src/accelerator/accelerator_compute.c``), so it
    takes the same nodes as these kernels, within limits of its own.
    """

    name = "accelerator"
    support = Support(name)
    takes_nodes = True
    needs_device_api = True
    driver = DeviceDriver("microgen/accelerator.h", "mg_accelerator", "mg_accelerator")

    def refusal(self, node: Node, graph: Graph, board: Board) -> str | None:  # noqa: ARG002
        """The reason why the accelerator does not compute the node: no kernel of it computes such a
        node, or the node exceeds a limit."""
        return commands.refusal(node, graph) or commands.limit_refusal(node, graph)

    def compile(self, functions: Sequence[ExternalFunction], board: Board) -> Sequence[CSource]:  # noqa: ARG002
        """One source file with all functions."""
        made = [source.compiled(function) for function in functions]
        code = "\n".join((source.HEAD, *(text for _, text in made)))
        return [CSource(functions=tuple(function for function, _ in made), code=code)]


CODEGEN = Accelerator()
