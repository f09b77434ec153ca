"""Why somebody does not compile a part of a model: one record, whoever refuses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from microgen.ir.graph import Node

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class Refusal(Generic[Part]):
    """Why ``by``, a codegen or a kernel, does not compile ``of``: a node of the kernel graph, or an
    expression of Relay.

    ``what`` is its operator or the pattern that it matched, ``where`` its place in the model, empty
    if nobody knows, and ``why`` the sentence that counts. ``details`` are the refusals for which a
    codegen refuses: those of its kernels.
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
        """Who and why, for whoever knows what and where."""
        return f"{self.by}: {self.why}"


def of_node(
    by: str, node: Node, why: str, details: tuple[Refusal[Node], ...] = ()
) -> Refusal[Node]:
    """The refusal of a node of the kernel graph."""
    return Refusal(by, node, node.op, str(node.origin), why, details)
