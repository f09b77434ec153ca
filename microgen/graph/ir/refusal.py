"""The record of a refusal: the reason why a codegen or a kernel does not compile a part of a
model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from microgen.graph.ir.graph import Node

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class Refusal(Generic[Part]):
    """The reason why ``by``, a codegen or a kernel, does not compile ``of``: a node of the kernel
    graph, or an expression of Relay.

    ``what`` is its operator or the pattern that it matched, ``where`` its place in the model, empty
    if that is not known, and ``why`` the reason as a sentence. ``details`` are the refusals of a
    codegen's kernels, if these are the reason.
    """

    by: str
    of: Part = field(repr=False)
    what: str
    where: str
    why: str
    details: tuple[Refusal[Part], ...] = ()

    def __str__(self) -> str:
        return f"{self.where}: {self.what} is not for {self.by}: {self.why}"

    @property
    def brief(self) -> str:
        """The refusing codegen or kernel and the reason, for a text that already names the operator
        and its place.
        """
        return f"{self.by}: {self.why}"


def of_node(
    by: str, node: Node, why: str, details: tuple[Refusal[Node], ...] = ()
) -> Refusal[Node]:
    """The refusal of a node of the kernel graph."""
    return Refusal(by, node, node.op, str(node.origin), why, details)
