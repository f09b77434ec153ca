"""How kernels get their constants from a layer's weight, bias and scales.

A recipe states the kernel's sums, the scales from these sums to outputs, and the order in which the
kernel reads the weight. Each part is a value of its own; ``weighted`` combines them into kernels.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels.constant import Arguments, KernelConstant, Tables, WeightLayout
from microgen.kernels.identity import known_of

_INT32 = (("low", -(2**31)), ("high", 2**31 - 1))


def _no_arguments(_node: Node, _graph: Graph) -> Arguments:
    return ()


@dataclass(frozen=True, slots=True)
class WeightedSums:
    """The sums that a kernel computes."""

    # The kind of the transform that moves the data's zero point into the bias. Empty if the kernel
    # subtracts the zero point from the data, so that the bias is the model's.
    folding: str = ""
    arguments: Callable[[Node, Graph], Arguments] = _no_arguments  # further ones of that transform

    @property
    def is_raw(self) -> bool:
        """Whether products of weights and data are summed without the data's zero point."""
        return bool(self.folding)


CENTRED = WeightedSums()
RAW = WeightedSums("fold_zero")


@dataclass(frozen=True, slots=True)
class OutputScales:
    """The numbers that turn sums into outputs. A kernel gets them as bias, multiplier and shift."""

    # ``(recipe, node, graph)``: the tables made from the specified ones, with the model's weight
    tables: Callable[[Recipe, Node, Graph], Tables]
    # the reason why the node's scales or sums are not suitable for them
    refusal: Callable[[Recipe, Node, Graph], str | None] = lambda *_: None


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the constants of a kernel are made."""

    axis: int  # the weight's axis of output channels
    # The constants of the reference kernels: the model's weight and bias, and the specification's
    # multipliers and shifts.
    specified: Callable[[Node, Graph], Tables]
    sums: WeightedSums
    scales: OutputScales
    layout: WeightLayout

    def constants(self, node: Node, graph: Graph) -> Tables:
        """The constants of the kernel."""
        known, key = known_of(node, graph), ("tables", self._shared)
        if key not in known:
            known[key] = self.scales.tables(self, node, graph)
        tables: Tables = known[key]
        return tables._replace(weight=self.layout.of(tables.weight, node, graph))

    def refusal(self, node: Node, graph: Graph) -> str | None:
        """The reason why the kernel does not suit the node's scales or sums."""
        known, key = known_of(node, graph), ("refusal", self._shared)
        if key not in known:
            known[key] = self.scales.refusal(self, node, graph)
        found: str | None = known[key]
        return found

    @property
    def _shared(self) -> Hashable:
        """Everything but the layout, on which neither scales nor sums depend."""
        return self.scales, self.sums, self.axis, self.specified

    def folded(self, tables: Tables, node: Node, graph: Graph) -> Tables:
        """The tables with the bias that the sums need: the model's bias, minus the zero point's
        share if sums are raw."""
        if not self.sums.is_raw:
            return tables
        bias, zero = tables.bias, graph.types[node.inputs[0]].zero_point
        # A bias has arguments only if it was clamped; see ``narrow``.
        limits = bias.arguments or _INT32
        folded = KernelConstant(
            "bias",
            "int32_t",
            tables.weight.tensor,
            transform=self.sums.folding,
            arguments=(
                *(("axis", self.axis), ("zero", zero), *limits),
                *self.sums.arguments(node, graph),
            ),
            more=() if bias.is_absent else ((bias.tensor, "data"),),
        )
        return tables._replace(bias=folded)


def without(constant: KernelConstant) -> KernelConstant:
    """A constant of the same name and type that is NULL."""
    return KernelConstant(constant.name, constant.ctype)


def _specified(recipe: Recipe, node: Node, graph: Graph) -> Tables:
    return recipe.folded(recipe.specified(node, graph), node, graph)


SPECIFIED = OutputScales(_specified)


def replaced(constant: KernelConstant, kind: str, **arguments: float | int | str) -> KernelConstant:
    """The constant that another kind of transform makes, with these arguments in addition."""
    return dataclasses.replace(constant.updated(**arguments), transform=kind)
