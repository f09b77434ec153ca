"""The protocol of a code generator: claim nodes, lower a claimed region to a primitive function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from microgen.graph.ir.graph import Graph, Node, Origin
from microgen.graph.ir.refusal import Refusal
from microgen.kernels.base import KernelConstant
from microgen.planner.program.control import Control
from microgen.planner.program.external import Made
from microgen.planner.program.rolling import PatchLoop, Rolling
from microgen.planner.program.steps import Step
from microgen.planner.program.types import InPlace, KernelCall, Parameter
from microgen.target.board import Board

LAYOUT_TRANSFORM = "layout_transform"


@dataclass(frozen=True, slots=True)
class Choice:
    """How a part of a region is computed.

    ``nodes`` are a chain: the result of each node except the last is read by the next node only.
    ``symbol`` is the kernel. ``is_shared``: the operator calls the kernel's out-of-line form, and
    does not have a body compiled for its own shape. ``in_place``: the result may take the place of
    an input if the kernel allows it. ``rows``: the number of rows of the result that it computes at
    a time; 0: all. If one choice of a region computes rows, all do, and the tensors between them
    never exist whole. ``fed``: the number of rows of the model's input that the caller passes at a
    time; 0: all. ``columns``: the node is in a patch, which computes so many columns of its result
    at a time, and whose last node is the next one without columns; 0: all.
    ``is_assembled``: the node is a concatenation whose parts are computed in its
    result's bytes, so nothing calls the kernel. ``reason`` says why this was chosen, ``refusals``
    why the kernels before it in the registry cannot compute the nodes.
    """

    nodes: tuple[Node, ...]
    symbol: str
    is_shared: bool = False
    in_place: bool = True
    rows: int = 0
    fed: int = 0
    columns: int = 0
    is_assembled: bool = False
    reason: str = ""
    refusals: tuple[Refusal[Node], ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Region:
    """Nodes that become one primitive function, in execution order, and the name of their compiler.
    All have the same place. ``choices`` say how the built-in kernels compute them, in execution
    order; other compilers have none."""

    codegen: str
    nodes: tuple[Node, ...]
    choices: tuple[Choice, ...] = ()

    @property
    def is_rolled(self) -> bool:
        """Whether rows are computed at a time."""
        return any(choice.rows for choice in self.choices)

    @property
    def is_assembled(self) -> bool:
        """Whether it is a concatenation whose parts are computed in its result's bytes."""
        return any(choice.is_assembled for choice in self.choices)

    @property
    def fed(self) -> int:
        """The number of rows of the model's input that the caller passes at a time; 0 if the region
        does not read the input in rows."""
        return max((choice.fed for choice in self.choices), default=0)

    @property
    def main(self) -> Node:
        """The last node that computes; the nodes around it change layouts."""
        # A region may be a change of layout only, which is then its main node.
        computing = [node for node in self.nodes if node.op != LAYOUT_TRANSFORM]
        return (computing or self.nodes)[-1]

    @property
    def target(self) -> str:
        """The name of the target that computes the region, empty for the host."""
        return self.main.target

    @property
    def function(self) -> str:
        """The global symbol of the external function, empty if it is not one."""
        return self.main.function

    @property
    def origin(self) -> Origin:
        """The origin of the main node, which names the layer that the region computes."""
        return self.main.origin


@dataclass(frozen=True, slots=True)
class Primitive:
    """A primitive function that has no name yet, and the arguments of one call of it.

    ``words`` make the name. ``parameters`` are in C order. ``inputs``, ``constants`` and
    ``outputs`` are this call's arguments for the parameters of these roles, in order: names of
    tensors, or descriptions of constants. ``output_bytes`` and ``scratch`` are in bytes. ``steps``
    are the layers that it computes, in order. ``made`` has the code if no kernel computes it,
    ``rolling`` if it computes rows in steps, and ``control`` if it calls other functions. ``held``
    are the constants that its module gets when it is loaded. ``patch`` has the loop if it is one
    row of a patch, which only a function that computes rows may call.
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
    steps: tuple[Step, ...]
    made: Made | None = None
    rolling: Rolling | None = None
    control: Control | None = None
    held: tuple[KernelConstant, ...] = ()
    patch: PatchLoop | None = None


def step(
    node: Node,
    graph: Graph,
    *,
    reads: Sequence[str],
    kernel: str,
    reason: str,
    refusals: Sequence[Refusal[Node]] = (),
) -> Step:
    """The step of a node whose first result is the function's output. ``reads`` are the tensors
    that it reads at run time, ``refusals`` the refusals of better kernels."""
    ins = ", ".join(str(graph.types[name]) for name in reads)
    outs = ", ".join(str(graph.types[name]) for name in node.outputs)
    return Step(
        op=node.op,
        origin=node.origin,
        tensor=node.outputs[0],
        tensor_type=graph.types[node.outputs[0]],
        summary=f"{ins or 'constant'} -> {outs}",
        kernel=kernel,
        reason=reason,
        refusals=tuple(refusal.brief for refusal in refusals),
    )


class Codegen(Protocol):
    """The interface of every code generator."""

    name: str

    def claims(self, graph: Graph, board: Board) -> Sequence[Region | Refusal[Node]]:
        """The regions that this codegen compiles, and a refusal for every other node."""
        ...

    def lower(self, regions: Sequence[Region], graph: Graph, board: Board) -> Sequence[Primitive]:
        """The primitive functions of regions that ``claims`` returned, one for each."""
        ...
