"""The constants that kernels get as arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from microgen.graph.ir.graph import Array, Graph, Node, frozen

What = Literal["data", "scale"]
Arguments = tuple[tuple[str, float | int | str], ...]


@dataclass(frozen=True, slots=True)
class KernelConstant:
    """A read-only argument, computed from the model's own arrays."""

    name: str  # of the argument in C
    ctype: str
    tensor: str = ""  # empty: the kernel gets NULL
    what: What = "data"  # the tensor's data, or its scales: float32, one per channel
    transform: str = "identity"
    # The transform's arguments. They include numbers that a proof has found, so that nobody has to
    # search for them again.
    arguments: Arguments = ()
    # The data if no tensor of the graph has it; then ``tensor`` is a name of its own.
    array: Array | None = field(default=None, compare=False, repr=False)
    # Further sources, for example a bias that is folded into a table of scales.
    more: tuple[tuple[str, What], ...] = ()
    # The inner graph whose constants the tensors are, and the name that sets them apart from the
    # tensors of other graphs.
    inside: Graph | None = field(default=None, compare=False, repr=False)
    scope: str = ""

    @property
    def is_absent(self) -> bool:
        """Whether the kernel gets NULL here: the constant has no source."""
        return not self.tensor

    @property
    def sources(self) -> tuple[tuple[str, What], ...]:
        """The tensors with their used parts, in the order of the transform's sources."""
        own = ((self.tensor, self.what), *self.more)
        return tuple((f"{self.scope}{tensor}", what) for tensor, what in own)

    def updated(self, **arguments: float | int | str) -> KernelConstant:
        """The same constant with further or other arguments of its transform."""
        merged = {**dict(self.arguments), **arguments}
        return dataclasses.replace(self, arguments=tuple(merged.items()))

    def arrays(self, graph: Graph) -> tuple[Array, ...]:
        """The model's arrays from which the constant is computed."""
        if self.array is not None:
            return (frozen(self.array),)
        own = ((self.tensor, self.what), *self.more)
        return tuple(_source(tensor, what, self.inside or graph) for tensor, what in own)


def _source(tensor: str, what: What, graph: Graph) -> Array:
    if what == "data":
        return graph.constants[tensor]
    quant = graph.types[tensor].quant
    assert quant is not None, "it has scales"
    return quant.scales


class Tables(NamedTuple):
    """The constants of a kernel with weights, in the order of its C arguments. Kernels that need no
    bias, multiplier or shift get NULL for it."""

    weight: KernelConstant
    bias: KernelConstant
    multiplier: KernelConstant
    shift: KernelConstant


def _no_arguments(_node: Node, _graph: Graph) -> Arguments:
    return ()


@dataclass(frozen=True, slots=True)
class WeightLayout:
    """An order of weights in memory: the kind of the transform that makes it, the C type of its
    elements, and the transform's arguments for a node."""

    kind: str = "identity"
    ctype: str = "int8_t"
    arguments: Callable[[Node, Graph], Arguments] = _no_arguments

    def of(self, weight: KernelConstant, node: Node, graph: Graph) -> KernelConstant:
        """The node's weight in this order."""
        arguments = self.arguments(node, graph)
        return dataclasses.replace(
            weight, ctype=self.ctype, transform=self.kind, arguments=arguments
        )


AS_IS = WeightLayout()  # the model's
