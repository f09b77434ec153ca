"""The protocol of a code generator: claim nodes, lower a claimed region to a primitive function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from microgen.ir.graph import Graph, Node, Origin
from microgen.ir.refusal import Refusal
from microgen.kernels.base import KernelConstant
from microgen.program.external import Made
from microgen.program.types import InPlace, KernelCall, Parameter
from microgen.target.board import Board

LAYOUT_TRANSFORM = "layout_transform"


@dataclass(frozen=True, slots=True)
class Choice:
    """How a part of a region is computed.

    ``nodes`` follow one another: all but the last compute what only the next one reads. ``symbol``
    is the kernel. ``is_shared``: the operator calls the kernel's out-of-line form, and does not
    have a body compiled for its own shape. ``in_place``: the result may take the place of an input
    if the kernel allows it. ``reason`` says why this was chosen.
    """

    nodes: tuple[Node, ...]
    symbol: str
    is_shared: bool = False
    in_place: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Region:
    """Nodes that become one primitive function, in execution order, and the name of their compiler.
    All have the same place. ``choices`` say how the built-in kernels compute them, in execution
    order; other compilers have none."""

    codegen: str
    nodes: tuple[Node, ...]
    choices: tuple[Choice, ...] = ()

    @property
    def main(self) -> Node:
        """The last node that computes; the nodes around it change layouts."""
        computing = [node for node in self.nodes if node.op != LAYOUT_TRANSFORM]
        return (computing or self.nodes)[-1]

    @property
    def target(self) -> str:
        """The name of the target that computes it, empty for the host."""
        return self.main.target

    @property
    def function(self) -> str:
        """The global symbol of the external function, empty if it is not one."""
        return self.main.function

    @property
    def origin(self) -> Origin:
        """The origin of the main node, which names what the region computes."""
        return self.main.origin


@dataclass(frozen=True, slots=True)
class Primitive:
    """A primitive function that has no name yet, and the arguments of one call of it.

    ``words`` make the name. ``parameters`` are in C order. ``inputs``, ``constants`` and
    ``outputs`` are this call's arguments for the parameters of these roles, in order: tensor
    names, or how to compute the constant. ``output_bytes`` and ``scratch`` are in bytes.
    ``refusals`` are those of better kernels.
    ``made`` has the code if no kernel computes it. ``held`` are the constants that its module gets
    when it is loaded.
    """

    words: tuple[str, ...]
    target: str
    parameters: tuple[Parameter, ...]
    body: tuple[KernelCall, ...]
    inputs: tuple[str, ...]
    constants: tuple[KernelConstant, ...]
    outputs: tuple[str, ...]
    output_bytes: tuple[int, ...]
    scratch: int
    in_place: tuple[InPlace, ...]
    kernel: str
    reason: str
    refusals: tuple[Refusal[Node], ...]
    made: Made | None = None
    held: tuple[KernelConstant, ...] = ()


class Codegen(Protocol):
    """The interface of every code generator."""

    name: str

    def claims(self, graph: Graph, board: Board) -> Sequence[Region | Refusal[Node]]:
        """The regions that this codegen compiles, and a refusal for every other node."""
        ...

    def lower(self, regions: Sequence[Region], graph: Graph, board: Board) -> Sequence[Primitive]:
        """The primitive functions of regions that ``claims`` returned, one for each."""
        ...
